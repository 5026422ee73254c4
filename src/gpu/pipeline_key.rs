//! Pipelines: their keys, layouts and descriptors.

use super::uniforms::{MERGED_ITEMS, MERGED_SIGMA_LEVELS, PassUniform, SigmaLevelsUniform};
use crate::formats::dither::Dither;
use crate::formats::table::{Format, Rounding, Sample};
use crate::formats::{Ends, Resolved};
use crate::plan::pass::{BORDER, MAX_WEIGHTS, Stage};
use crate::plan::{SIGMA_LEVELS, SIGMAS_APART};
use crate::program::{Beyond, Program, Sums};
use crate::settings::BlurAlpha;
use crate::sigma_field::Shares;
use bevy::camera::CompositingSpace;
use bevy::prelude::*;
use bevy::render::render_resource::binding_types::{sampler, texture_2d, texture_storage_2d, uniform_buffer_sized};
use bevy::render::render_resource::{
    BindGroupLayoutDescriptor, BindGroupLayoutEntry, BufferSize, CachedComputePipelineId, CachedRenderPipelineId,
    SamplerBindingType, ShaderStages, StorageTextureAccess, TextureFormat, TextureSampleType,
};
use bevy::shader::ShaderDefVal;

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
    /// How alpha is changed on its way out: not at all if it is premultiplied.
    alpha_output: BlurAlpha,
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

/// The bindings of all passes, by their numbers in the shaders.
pub mod bindings {
    pub const UNIFORM: u32 = 0;
    pub const SOURCE: u32 = 1;
    pub const SAMPLER: u32 = 2;
    /// The texture that a compute pass stores to.
    pub const STORED: u32 = 3;
    pub const SIGMA_LEVELS: u32 = 4;
    pub const ATLAS: u32 = 5;
    pub const SHARES: u32 = 6;
    pub const MASK: u32 = 7;
    pub const SUMS: u32 = 8;
}

/// A pipeline that has been queued.
#[derive(Clone, Copy, Debug)]
pub enum Queued {
    Render(CachedRenderPipelineId),
    Compute(CachedComputePipelineId),
}

impl PipelineKey {
    /// A pipeline that reads and writes levels, in half floats or not.
    fn between_levels(program: Program, target: TextureFormat, in_halves: bool) -> Self {
        Self {
            program,
            target,
            reads: Sample::Float,
            makes_finite: false,
            premultiplies: false,
            alpha_output: BlurAlpha::Premultiplied,
            converts_copies: false,
            dither: Dither::Off,
            in_halves,
            leaves_unchanged: false,
            keeps_format: false,
            converts: None,
            skips: false,
            merges: false,
        }
    }

    /// The pipeline of a stage of a blur.
    pub fn new(stage: Stage, ends: &Ends, resolved: &Resolved) -> Self {
        let (program, means, level) = (stage.program, resolved.means, resolved.intermediate);
        let mut key = Self {
            skips: stage.skips,
            merges: stage.merges,
            ..Self::between_levels(program, level, level == TextureFormat::Rgba16Float)
        };
        // What is copied stays as it is, straight alpha included.
        let copies = stage.is_first && program == Program::CopyFragment;
        if stage.is_first {
            let source = Format::find(ends.source);
            key.reads = source.map_or(Sample::Float, |format| format.sample());
            key.makes_finite = !copies && source.is_some_and(|format| may_be_infinite(format, program));
            key.premultiplies = !copies && resolved.alpha == BlurAlpha::Straight && resolved.has_alpha;
        }
        if stage.is_last {
            key.target = ends.destination;
            key.alpha_output = match resolved.alpha {
                BlurAlpha::Straight if copies => BlurAlpha::Premultiplied,
                BlurAlpha::Straight => BlurAlpha::Unpremultiply,
                alpha => alpha,
            };
            key.dither = if copies { Dither::Off } else { ends.dither };
            // Where source and target differ in the meaning of alpha, nothing is copied as it is.
            key.converts_copies = means.converts && program.blends();
            key.leaves_unchanged = means.leaves_unchanged() && program.blends();
            let is_format = key.reads == Sample::Float && ends.source == ends.destination;
            let may_keep = copies || program.blends();
            key.keeps_format = stage.is_first && may_keep && !means.converts && is_format;
        }
        let converts = program == Program::MipmapFragment && ends.spaces[0] != ends.spaces[1];
        key.converts = converts.then_some(ends.spaces);
        key
    }

    /// The last step that a front end does itself, on a picture of this format. The front end also dithers.
    pub(super) fn deferred(filtered: bool, target: TextureFormat) -> Self {
        let in_halves = !Format::find(target).is_some_and(|format| format.is_wide());
        Self::between_levels(Program::UpsampleFragment { filtered }, target, in_halves)
    }

    /// The same pipeline with the version of the program that serves any kernel.
    pub fn for_any_kernel(self) -> Self {
        Self {
            program: self.program.for_any_kernel(),
            ..self
        }
    }

    /// The [`bindings`] that it has.
    pub fn bindings(&self) -> impl Iterator<Item = u32> {
        use bindings::{ATLAS, MASK, SAMPLER, SHARES, SIGMA_LEVELS, STORED, SUMS, UNIFORM};
        let (program, skips) = (self.program, self.skips);
        let is_bound = move |binding: &u32| match *binding {
            SAMPLER => program.filters(),
            STORED => program.computes(),
            SIGMA_LEVELS | MASK => program.varies(),
            ATLAS | SUMS => program.blends(),
            SHARES => program.varies() || skips,
            _ => true,
        };
        (UNIFORM..=SUMS).filter(is_bound)
    }

    /// The layout of its bind groups.
    pub fn layout(&self) -> BindGroupLayoutDescriptor {
        use bindings::{ATLAS, MASK, SAMPLER, SHARES, SIGMA_LEVELS, SOURCE, STORED, SUMS};
        let program = self.program;
        let stage = if program.computes() {
            ShaderStages::COMPUTE
        } else {
            ShaderStages::FRAGMENT
        };
        let uniform = |size: usize| uniform_buffer_sized(false, BufferSize::new(size as u64));
        let float = |filterable| texture_2d(TextureSampleType::Float { filterable });
        let entry = |binding: u32| match binding {
            SOURCE => match self.reads {
                Sample::Float if program.blends() => float(program.sums_filtered()),
                Sample::Float => float(program.filters()),
                Sample::Uint => texture_2d(TextureSampleType::Uint),
                Sample::Sint => texture_2d(TextureSampleType::Sint),
            },
            SAMPLER => sampler(SamplerBindingType::Filtering),
            STORED => texture_storage_2d(self.target, StorageTextureAccess::WriteOnly),
            SIGMA_LEVELS => uniform(size_of::<SigmaLevelsUniform>()),
            SHARES => uniform(size_of::<Shares>()),
            MASK => float(false),
            ATLAS => float(program.filters()),
            SUMS => float(program.sums_filtered()),
            _ => uniform_buffer_sized(true, self.uniform_size()),
        };
        let entries = self.bindings().map(|binding| entry(binding).build(binding, stage));
        let entries: Vec<BindGroupLayoutEntry> = entries.collect();
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

    /// Whether its sums may exceed what half floats can hold.
    fn may_exceed(&self) -> bool {
        let is_divided = !self.in_halves || self.alpha_output == BlurAlpha::Unpremultiply;
        is_divided
            || match self.program {
                // Infinities stay infinities.
                Program::CopyFragment => false,
                // The shader limits its results. Intermediate sums are no larger than the summed values.
                Program::GatherCompute | Program::ConvolveHalvesCompute(_) => false,
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
        let is_changed = self.alpha_output == BlurAlpha::Unpremultiply || self.dither != Dither::Off;
        let is_rounded = self.program.convolves_both() && !is_changed;
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
            ("UNPREMULTIPLY", self.alpha_output == BlurAlpha::Unpremultiply),
            ("CONVERTS_COPIES", self.converts_copies),
            ("OPAQUE", self.alpha_output == BlurAlpha::Opaque),
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
