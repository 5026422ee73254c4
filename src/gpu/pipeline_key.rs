//! Pipelines: their keys, layouts and descriptors.

use super::profile_bindings;
use super::uniforms::{MERGED_ITEMS, MERGED_SIGMA_LEVELS, PassUniform};
use crate::formats::dither::Dither;
use crate::formats::table::{Format, Rounding, Sample};
use crate::formats::{Ends, Resolved};
use crate::plan::pass::{BORDER, MAX_WEIGHTS, Stage};
use crate::plan::{SIGMA_LEVELS, SIGMAS_APART};
use crate::program::{Beyond, Program, Sums};
use crate::settings::BlurAlpha;
use bevy::camera::CompositingSpace;
use bevy::prelude::*;
use bevy::render::render_resource::binding_types::{sampler, texture_2d, texture_storage_2d, uniform_buffer_sized};
use bevy::render::render_resource::{
    BindGroupLayoutDescriptor, BufferSize, CachedComputePipelineId, CachedRenderPipelineId, SamplerBindingType,
    ShaderStages, StorageTextureAccess, TextureFormat, TextureSampleType,
};
use bevy::shader::ShaderDefVal;

/// How a value's alpha is changed when it leaves a blur.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum AlphaOutput {
    Keep,
    Unpremultiply,
    Opaque,
}

/// Everything that distinguishes one pipeline from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PipelineKey {
    /// What it runs.
    pub program: Program,
    /// The format of the target's view.
    pub target: TextureFormat,
    /// The type of the texels that it reads.
    reads: Sample,
    /// Whether it reads the picture itself, in a format whose values may be infinite or NaN.
    makes_finite: bool,
    /// Whether it reads straight alpha.
    premultiplies: bool,
    alpha_output: AlphaOutput,
    /// Whether texels that are not blurred are converted like the others.
    converts_copies: bool,
    dither: Dither,
    /// Whether intermediate textures hold half floats.
    in_halves: bool,
    /// Whether texels that do not change need not be written, because it writes to the picture itself.
    leaves_unchanged: bool,
    /// Whether it writes the format that it reads.
    keeps_format: bool,
    /// The spaces between which it converts colours.
    converts: Option<[CompositingSpace; 2]>,
    /// Whether it leaves out texels that no later pass reads.
    pub skips: bool,
    /// Whether one dispatch executes several consecutive passes, of sigma levels from one level or of the items of a
    /// batch. None of them reads the target of another one.
    pub merges: bool,
}

/// A pipeline that has been queued.
#[derive(Clone, Copy, Debug)]
pub enum Queued {
    Render(CachedRenderPipelineId),
    Compute(CachedComputePipelineId),
}

impl PipelineKey {
    /// The pipeline of a stage of a blur.
    pub fn new(stage: Stage, ends: &Ends, resolved: &Resolved) -> Self {
        let copies = stage.is_first && stage.program == Program::CopyFragment;
        // Straight alpha is not converted where it is copied.
        let is_straight = resolved.alpha == BlurAlpha::Straight && !copies;
        // Where source and target differ in the meaning of alpha, nothing is copied as it is.
        let means = resolved.means;
        let blends_last = stage.program.blends() && stage.is_last;
        let source = if stage.is_first {
            Format::find(ends.source)
        } else {
            None
        };
        let reads = source.map_or(Sample::Float, |format| format.sample());
        let target = if stage.is_last {
            ends.destination
        } else {
            resolved.intermediate
        };
        Self {
            program: stage.program,
            target,
            reads,
            makes_finite: !copies && source.is_some_and(|format| may_be_infinite(format, stage.program)),
            premultiplies: stage.is_first && is_straight && resolved.has_alpha,
            alpha_output: match resolved.alpha {
                _ if !stage.is_last => AlphaOutput::Keep,
                BlurAlpha::Unpremultiply => AlphaOutput::Unpremultiply,
                BlurAlpha::Straight if is_straight => AlphaOutput::Unpremultiply,
                BlurAlpha::Opaque => AlphaOutput::Opaque,
                BlurAlpha::Straight | BlurAlpha::Premultiplied => AlphaOutput::Keep,
            },
            converts_copies: means.converts && blends_last,
            dither: if stage.is_last && !copies {
                ends.dither
            } else {
                Dither::Off
            },
            in_halves: resolved.intermediate == TextureFormat::Rgba16Float,
            leaves_unchanged: blends_last && means.leaves_unchanged(),
            keeps_format: (stage.program.blends() || copies)
                && !means.converts
                && stage.is_last
                && stage.is_first
                && reads == Sample::Float
                && ends.source == ends.destination,
            converts: (stage.program == Program::MipmapFragment && ends.spaces[0] != ends.spaces[1])
                .then_some(ends.spaces),
            skips: stage.skips,
            merges: stage.merges,
        }
    }

    /// The last step that a front end does itself, on a picture of this format.
    pub(super) fn deferred(filtered: bool, target: TextureFormat) -> Self {
        Self {
            program: Program::UpsampleFragment { filtered },
            target,
            reads: Sample::Float,
            makes_finite: false,
            premultiplies: false,
            alpha_output: AlphaOutput::Keep,
            converts_copies: false,
            // The front end dithers what it writes.
            dither: Dither::Off,
            in_halves: !Format::find(target).is_some_and(|format| format.is_wide()),
            leaves_unchanged: false,
            keeps_format: false,
            converts: None,
            skips: false,
            merges: false,
        }
    }

    /// The same pipeline with the version of the program that serves any kernel.
    pub fn for_any_kernel(self) -> Self {
        Self {
            program: self.program.for_any_kernel(),
            ..self
        }
    }

    /// The bind group layout: uniform, source, the sampler if filtered, and the texture that a compute pass stores to.
    pub fn layout(&self) -> BindGroupLayoutDescriptor {
        let filterable = self.program.filters();
        let stage = if self.program.computes() {
            ShaderStages::COMPUTE
        } else {
            ShaderStages::FRAGMENT
        };
        let uniform = uniform_buffer_sized(true, self.uniform_size());
        let source = match self.reads {
            Sample::Float if self.program.blends() => TextureSampleType::Float {
                filterable: self.program.sums_filtered(),
            },
            Sample::Float => TextureSampleType::Float { filterable },
            Sample::Uint => TextureSampleType::Uint,
            Sample::Sint => TextureSampleType::Sint,
        };
        let mut entries = vec![uniform.build(0, stage), texture_2d(source).build(1, stage)];
        if filterable {
            entries.push(sampler(SamplerBindingType::Filtering).build(2, stage));
        }
        if self.program.computes() {
            entries.push(texture_storage_2d(self.target, StorageTextureAccess::WriteOnly).build(3, stage));
        }
        entries.extend(profile_bindings::layout(self.program, self.skips, stage));
        BindGroupLayoutDescriptor::new("gaussian_blur_layout", &entries)
    }

    /// The most passes that a dispatch executes.
    pub fn most_passes(&self) -> usize {
        match (self.merges, self.skips) {
            (false, _) => 1,
            (true, true) => MERGED_SIGMA_LEVELS,
            (true, false) => MERGED_ITEMS,
        }
    }

    /// How many bytes of uniforms are bound.
    pub fn uniform_size(&self) -> Option<BufferSize> {
        BufferSize::new((self.most_passes() * size_of::<PassUniform>()) as u64)
    }

    /// Whether bind groups for one pipeline fit the other.
    pub fn binds_like(&self, other: &Self) -> bool {
        let stored = |key: &Self| key.program.computes().then_some(key.target);
        let binds = |key: &Self| {
            let program = key.program;
            let varies = (key.skips, key.most_passes(), program.varies(), program.sums());
            (program.filters(), varies, key.reads, stored(key))
        };
        binds(self) == binds(other)
    }

    /// Whether its sums may exceed what half floats can hold.
    fn may_exceed(&self) -> bool {
        let is_divided = !self.in_halves || self.alpha_output == AlphaOutput::Unpremultiply;
        is_divided
            || match self.program {
                // Infinities stay infinities.
                Program::CopyFragment => false,
                // The shader limits its results. Intermediate sums are no larger than the summed values.
                Program::GatherCompute => false,
                // No weight is negative, and the shader limits what it divides.
                program if program.weighs_positively() => false,
                // No weight is negative, and the shader detects the picture's infinities in packed values.
                Program::DownsampleCompute { .. } => false,
                Program::ConvolveCompute { .. } => {
                    self.program.serves_any_kernel() || self.program.beyond() != Some(Beyond::Clamped)
                }
                _ => true,
            }
    }

    /// Its name.
    pub(super) fn label(&self) -> String {
        format!("gaussian_blur_{}", self.program.name())
    }

    /// The shader definitions that it is compiled with.
    pub(super) fn definitions(&self, round_packed: bool) -> Vec<ShaderDefVal> {
        let target = Format::find(self.target);
        let writes = target.map_or(Sample::Float, |format| format.sample());
        let rounding = target.map_or(Rounding::None, |format| format.rounding());
        // Packed values are half floats already, unless they are changed on their way out.
        let is_changed = self.alpha_output == AlphaOutput::Unpremultiply || self.dither != Dither::Off;
        let is_rounded = self.program.writes_packed() && !is_changed;
        let [from, to] = self.converts.map_or([None; 2], |spaces| spaces.map(Some));
        let ends_at_levels = self.dither != Dither::Off && Dither::of_target(self.target) != Dither::Off;
        let beyond = self.program.beyond();
        // Render passes that serve any kernel have no loops of their own for edges.
        let has_loops = self.program.computes() || !self.program.serves_any_kernel();
        let folds = beyond.is_some_and(|beyond| beyond != Beyond::Clamped) && has_loops;
        let flags = [
            ("ANY_KERNEL", self.program.serves_any_kernel()),
            ("CLAMPED", beyond == Some(Beyond::Clamped)),
            ("FOLDED", folds),
            ("IMAGES", beyond == Some(Beyond::Images) && has_loops),
            ("FILTERED", self.program.filters()),
            ("SUMS_FILTERED", self.program.sums_filtered()),
            ("GATHERED", self.program.sums() == Some(Sums::Gathered)),
            ("MAKES_FINITE", self.makes_finite),
            ("HALF_FLOAT", self.in_halves),
            ("PREMULTIPLY", self.premultiplies),
            ("UNPREMULTIPLY", self.alpha_output == AlphaOutput::Unpremultiply),
            ("CONVERTS_COPIES", self.converts_copies),
            ("OPAQUE", self.alpha_output == AlphaOutput::Opaque),
            ("DITHER_STORED", self.dither == Dither::Stored),
            ("DITHER_ENCODED", self.dither == Dither::Encoded),
            ("ENDS_AT_LEVELS", ends_at_levels),
            ("ROUND_TO_HALF", rounding == Rounding::Half && !is_rounded),
            ("ROUND_TO_PACKED", rounding == Rounding::Packed),
            ("MAY_EXCEED", self.may_exceed()),
            ("FINITE", self.program.weighs_positively() && !self.may_exceed()),
            ("ROUND_PACKED", round_packed),
            ("LEAVES_UNCHANGED", self.leaves_unchanged),
            ("KEEPS_FORMAT", self.keeps_format),
            ("CONVERTS", self.converts.is_some()),
            ("FROM_SRGB", from == Some(CompositingSpace::Srgb)),
            ("FROM_OKLAB", from == Some(CompositingSpace::Oklab)),
            ("TO_SRGB", to == Some(CompositingSpace::Srgb)),
            ("TO_OKLAB", to == Some(CompositingSpace::Oklab)),
            ("SKIPS", self.skips),
            ("MERGES", self.merges),
            ("COMPUTE", self.program.computes()),
            ("SOURCE_UINT", self.reads == Sample::Uint),
            ("SOURCE_SINT", self.reads == Sample::Sint),
            ("TARGET_UINT", writes == Sample::Uint),
            ("TARGET_SINT", writes == Sample::Sint),
            ("INTEGERS", self.reads == writes && writes != Sample::Float),
        ];
        let flags = flags.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| name);
        let stored = target.and_then(|format| format.storage_definition());
        let stored = stored.filter(|_| self.program.computes());
        let sizes = [("TABLE_VECTORS", MAX_WEIGHTS as u32 / 4), ("BORDER", BORDER as u32)];
        let mut numbers: Vec<(&str, u32)> = sizes.into_iter().chain(self.program.numbers()).collect();
        if self.program.varies() {
            numbers.extend([("SIGMA_LEVELS", SIGMA_LEVELS as u32), ("SIGMAS_APART", SIGMAS_APART)]);
        }
        if self.merges {
            numbers.push(("MERGED", self.most_passes() as u32));
        }
        if let Rounding::Integer {
            largest: [colour, alpha],
        } = rounding
        {
            numbers.extend([("LARGEST_COLOUR", colour), ("LARGEST_ALPHA", alpha)]);
        }
        let numbers = numbers
            .into_iter()
            .map(|(name, number)| ShaderDefVal::UInt(name.into(), number));
        flags.chain(stored).map(Into::into).chain(numbers).collect()
    }
}

/// Whether a program checks for infinities when it reads. Those that convolve both axes omit the check for integers
/// only: without it, compilers generate slower code.
fn may_be_infinite(format: Format, program: Program) -> bool {
    match program {
        _ if program.convolves_both() => format.sample() == Sample::Float,
        _ => format.may_be_infinite(),
    }
}

/// The layout of the input of a deferred step: a uniform with a dynamic offset, a level, and a sampler if the level is
/// read with filtered fetches.
pub fn deferred_layout(filtered: bool, target: TextureFormat) -> BindGroupLayoutDescriptor {
    PipelineKey::deferred(filtered, target).layout()
}

/// The shader definitions of `uniform/spline.wgsl` in a deferred step.
pub fn deferred_definitions(filtered: bool, target: TextureFormat) -> Vec<ShaderDefVal> {
    PipelineKey::deferred(filtered, target).definitions(false)
}
