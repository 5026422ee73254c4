//! The additional inputs of passes with a varying sigma: the mirror of `shaders/profile/sigma_levels.wgsl` and
//! `shaders/profile/sigma_field.wgsl`, the buffers that hold them, and the textures beside them.

use crate::plan::pass::{AxisPass, BORDER, TextureSlot};
use crate::plan::{BlurPlan, SIGMA_LEVELS, SigmaLevel, SigmaLevels};
use crate::program::Program;
use crate::sigma_field::Shares;
use bevy::render::render_resource::binding_types::{texture_2d, uniform_buffer_sized};
use bevy::render::render_resource::{
    BindGroupLayoutEntry, BindingResource, Buffer, BufferDescriptor, BufferSize, BufferUsages, ShaderStages,
    TextureSampleType, TextureView,
};
use bevy::render::renderer::{RenderDevice, RenderQueue};
use bytemuck::{Pod, Zeroable};
use core::array;
use core::mem::offset_of;

/// The first binding after the ones that every pass has.
const SIGMA_LEVELS_BINDING: u32 = 4;
const ATLAS_BINDING: u32 = 5;
const SHARES_BINDING: u32 = 6;
const MASK_BINDING: u32 = 7;
const SUMS_BINDING: u32 = 8;

/// `SigmaLevel` in WGSL. Pairs are x and y.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct SigmaLevelUniform {
    pub(super) shift: [i32; 2],
    pub(super) octaves: [u32; 2],
    pub(super) origin: [i32; 2],
    pub(super) size: [i32; 2],
    pub(super) normalize: [u32; 2],
    pub(super) sigma: f32,
    pub(super) log_sigma: f32,
}

/// The weights inside the region at both ends of an axis: none exceeds 1, and two share a word.
type Borders = [u32; BORDER];

/// `SigmaLevels` in WGSL.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct SigmaLevelsUniform {
    pub(super) aspect: [f32; 2],
    pub(super) texel_size: [f32; 2],
    pub(super) origin: [i32; 2],
    pub(super) largest: f32,
    pub(super) gathered: f32,
    pub(super) cutoff: f32,
    pub(super) count: u32,
    pub(super) lines: [f32; 2],
    pub(super) levels: [SigmaLevelUniform; SIGMA_LEVELS],
    pub(super) tables: [[Borders; 2]; SIGMA_LEVELS],
}

// The rules of WGSL's uniform address space, and the least uniform size that WebGL 2 guarantees.
const _: () = assert!(offset_of!(SigmaLevelsUniform, levels).is_multiple_of(16));
const _: () = assert!(size_of::<SigmaLevelUniform>().is_multiple_of(16));
const _: () = assert!(size_of::<Borders>().is_multiple_of(16));
const _: () = assert!(size_of::<SigmaLevelsUniform>() <= 16 << 10);
// `blend_compute` has a bit for each sigma level, in two words.
const _: () = assert!(SIGMA_LEVELS <= 64);

/// The layout of the additional bindings of a program with a varying sigma, or of one that
/// [skips](crate::plan::pass::Stage::skips).
pub fn layout(program: Program, skips: bool, stage: ShaderStages) -> Vec<BindGroupLayoutEntry> {
    let uniform = |size: usize| uniform_buffer_sized(false, BufferSize::new(size as u64));
    let texture = |filterable| texture_2d(TextureSampleType::Float { filterable });
    let mut entries = Vec::new();
    if program.varies() || skips {
        entries.push(uniform(size_of::<Shares>()).build(SHARES_BINDING, stage));
    }
    if program.varies() {
        entries.push(uniform(size_of::<SigmaLevelsUniform>()).build(SIGMA_LEVELS_BINDING, stage));
        entries.push(texture(false).build(MASK_BINDING, stage));
    }
    if program.blends() {
        entries.push(texture(program.filters()).build(ATLAS_BINDING, stage));
        entries.push(texture(program.sums_filtered()).build(SUMS_BINDING, stage));
    }
    entries
}

impl SigmaLevelsUniform {
    pub(super) fn new(sigma_levels: &SigmaLevels, largest: f32, atlas_size: [f32; 2]) -> Self {
        debug_assert!(sigma_levels.levels.len() <= SIGMA_LEVELS);
        let of = |index: usize| sigma_levels.levels.get(index);
        Self {
            aspect: sigma_levels.aspect.to_array(),
            texel_size: atlas_size.map(f32::recip),
            origin: sigma_levels.origin.to_array(),
            largest,
            gathered: sigma_levels.gathered as f32,
            cutoff: sigma_levels.cutoff as f32,
            count: sigma_levels.levels.len() as u32,
            lines: [sigma_levels.lines.start as f32, sigma_levels.lines.end as f32],
            levels: array::from_fn(|i| of(i).map_or_else(SigmaLevelUniform::zeroed, SigmaLevelUniform::new)),
            tables: array::from_fn(|i| of(i).map_or([[0; BORDER]; 2], borders)),
        }
    }
}

impl SigmaLevelUniform {
    fn new(sigma_level: &SigmaLevel) -> Self {
        let axes = sigma_level.axes.each_ref();
        Self {
            shift: axes.map(|axis| axis.shift),
            octaves: axes.map(|axis| axis.octaves),
            origin: axes.map(|axis| axis.bounds.0),
            size: axes.map(|axis| axis.bounds.1 - axis.bounds.0),
            normalize: axes.map(|axis| axis.normalize.into()),
            sigma: sigma_level.sigma as f32,
            log_sigma: sigma_level.sigma.ln() as f32,
        }
    }
}

fn borders(sigma_level: &SigmaLevel) -> [Borders; 2] {
    let number = |axis: &AxisPass, i: usize| {
        let weight = axis.table.get(i).copied().unwrap_or(0.0);
        (weight * f64::from(u16::MAX)).round() as u32
    };
    let pair = |axis: &AxisPass, i: usize| number(axis, 2 * i) | number(axis, 2 * i + 1) << 16;
    sigma_level
        .axes
        .each_ref()
        .map(|axis| array::from_fn(|i| pair(axis, i)))
}

/// The buffers of a job with a varying sigma.
pub struct Blend {
    pub sigma_levels: Buffer,
    pub shares: Buffer,
    /// The shares that were written last.
    written: Option<Shares>,
}

impl Blend {
    pub fn new(device: &RenderDevice) -> Self {
        let buffer = |label: &'static str, size: usize| {
            device.create_buffer(&BufferDescriptor {
                label: Some(label),
                size: size as u64,
                usage: BufferUsages::UNIFORM | BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        };
        Self {
            sigma_levels: buffer("gaussian_blur_sigma_levels", size_of::<SigmaLevelsUniform>()),
            shares: buffer("gaussian_blur_shares", size_of::<Shares>()),
            written: None,
        }
    }

    /// Writes the sigma levels that a plan blends, up to the largest sigma.
    pub fn write_sigma_levels(&self, plan: &BlurPlan, largest: f32, queue: &RenderQueue) {
        if let Some(sigma_levels) = &plan.sigma_levels
            && let TextureSlot::Intermediate(index) = sigma_levels.atlas
        {
            let size = plan.intermediates[index].as_vec2().to_array();
            let uniform = SigmaLevelsUniform::new(sigma_levels, largest, size);
            queue.write_buffer(&self.sigma_levels, 0, bytemuck::bytes_of(&uniform));
        }
    }

    /// Updates the uniform of the shares.
    pub fn write_shares(&mut self, shares: &Shares, queue: &RenderQueue) {
        if self.written != Some(*shares) {
            queue.write_buffer(&self.shares, 0, bytemuck::bytes_of(shares));
            self.written = Some(*shares);
        }
    }

    /// The bindings for the [`layout`] of a program: the atlas, the mask and the sums are textures. The shares are always bound.
    pub fn bindings<'a>(&'a self, program: Program, views: [&'a TextureView; 3]) -> Vec<(u32, BindingResource<'a>)> {
        let [atlas, mask, sums] = views.map(|view| BindingResource::TextureView(view));
        let mut bindings = vec![(SHARES_BINDING, self.shares.as_entire_binding())];
        if program.varies() {
            bindings.push((SIGMA_LEVELS_BINDING, self.sigma_levels.as_entire_binding()));
            bindings.push((MASK_BINDING, mask));
        }
        if program.blends() {
            bindings.push((ATLAS_BINDING, atlas));
            bindings.push((SUMS_BINDING, sums));
        }
        bindings
    }
}
