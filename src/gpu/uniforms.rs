//! The uniforms of a job, all in one buffer: the mirrors of `BlurPass` in `shaders/common/pass.wgsl`, and, if sigma varies, of
//! `shaders/profile/sigma_levels.wgsl` and `shaders/profile/sigma_field.wgsl`, which come first.

use crate::plan::pass::{AxisPass, BORDER, MAX_WEIGHTS, Needed, Pass, TextureSlot};
use crate::plan::{BlurPlan, SIGMA_LEVELS, SigmaLevel, SigmaLevels};
use crate::sigma_field::Shares;
use bevy::math::UVec2;
use bytemuck::{Pod, Zeroable};
use core::array;
use core::mem::offset_of;

/// The numbers of one axis' filter.
type Table = [f32; MAX_WEIGHTS];

/// `Needed` in WGSL.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct NeededUniform {
    pub(super) shares: [f32; 2],
    pub(super) scale: [f32; 2],
    pub(super) first: [i32; 2],
    pub(super) around: [i32; 2],
}

/// `BlurPass` in WGSL. Pairs are x and y.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct PassUniform {
    pub(super) step: [i32; 2],
    pub(super) shift: [i32; 2],
    pub(super) bounds_min: [i32; 2],
    pub(super) bounds_max: [i32; 2],
    pub(super) reach_min: [i32; 2],
    pub(super) reach_max: [i32; 2],
    pub(super) edge: [u32; 2],
    pub(super) octaves: [u32; 2],
    pub(super) normalize: [u32; 2],
    pub(super) margin: [i32; 2],
    pub(super) images: [u32; 2],
    pub(super) origin: [i32; 2],
    pub(super) size: [i32; 2],
    pub(super) texel_size: [f32; 2],
    pub(super) needed: NeededUniform,
    pub(super) tables: [Table; 2],
    pub(super) padding: [f32; 28],
}

// The rules of WGSL's uniform address space: arrays and structs have offsets and sizes that are multiples of 16 bytes.
const _: () = assert!(offset_of!(PassUniform, needed).is_multiple_of(16));
const _: () = assert!(offset_of!(PassUniform, tables).is_multiple_of(16));
const _: () = assert!(MAX_WEIGHTS.is_multiple_of(4));
const _: () = assert!(2 * BORDER <= MAX_WEIGHTS);

// Dynamic offsets are multiples of 256 bytes.
const _: () = assert!(size_of::<PassUniform>().is_multiple_of(256));

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

/// Where the shares and the sigma levels lie, and how many bytes they take.
pub const SHARES_AT: u64 = 0;
pub const SIGMA_LEVELS_AT: u64 = aligned(size_of::<Shares>());
const VARYING_BYTES: u64 = SIGMA_LEVELS_AT + aligned(size_of::<SigmaLevelsUniform>());

/// Offsets of uniforms are multiples of 256 bytes.
const fn aligned(bytes: usize) -> u64 {
    bytes.next_multiple_of(256) as u64
}

/// The most passes that one dispatch executes: of sigma levels, and of the items of a batch. The latter fill the
/// guaranteed size of a uniform.
pub const MERGED_SIGMA_LEVELS: usize = 4;
pub const MERGED_ITEMS: usize = (16 << 10) / size_of::<PassUniform>();

/// The uniforms of all passes of a plan and of its deferred steps, with padding, for a source texture of `source_size`
/// texels.
pub fn uniform_bytes(plan: &BlurPlan, source_size: UVec2) -> Vec<u8> {
    let uniform = |pass: &Pass| match pass.source {
        TextureSlot::Intermediate(index) => PassUniform::new(pass, plan.intermediates[index]),
        TextureSlot::Source | TextureSlot::Destination => PassUniform::new(pass, source_size),
    };
    let mut uniforms: Vec<PassUniform> = plan.passes.iter().chain(&plan.deferred).map(uniform).collect();
    uniforms.resize_with(uniform_count(plan), PassUniform::zeroed);
    bytemuck::cast_slice(&uniforms).to_vec()
}

/// All uniforms of a plan, except the shares. `largest` is the sigma of its strongest sigma level.
pub fn buffer_bytes(plan: &BlurPlan, source_size: UVec2, largest: f32) -> Vec<u8> {
    let mut bytes = vec![0; bytes_before(plan) as usize];
    if let Some(sigma_levels) = &plan.sigma_levels
        && let TextureSlot::Intermediate(atlas) = sigma_levels.atlas
    {
        let size = plan.intermediates[atlas].as_vec2().to_array();
        let uniform = SigmaLevelsUniform::new(sigma_levels, largest, size);
        let at = SIGMA_LEVELS_AT as usize;
        bytes[at..at + size_of_val(&uniform)].copy_from_slice(bytemuck::bytes_of(&uniform));
    }
    bytes.extend(uniform_bytes(plan, source_size));
    bytes
}

/// The dynamic offset of the uniform of a pass or of a deferred step.
pub fn offset_of_pass(plan: &BlurPlan, index: usize) -> u32 {
    bytes_before(plan) as u32 + (index * size_of::<PassUniform>()) as u32
}

/// The bytes before the first pass.
fn bytes_before(plan: &BlurPlan) -> u64 {
    if plan.sigma_levels.is_some() { VARYING_BYTES } else { 0 }
}

fn uniform_count(plan: &BlurPlan) -> usize {
    // A dispatch of several passes always binds the largest possible number of uniforms.
    let most = if plan.passes.iter().any(|pass| pass.is_batched) {
        MERGED_ITEMS
    } else if plan.sigma_levels.is_some() {
        MERGED_SIGMA_LEVELS
    } else {
        1
    };
    plan.passes.len() + plan.deferred.len() + most - 1
}

impl PassUniform {
    /// The uniform of a pass that reads a texture of `source_size` texels.
    fn new(pass: &Pass, source_size: UVec2) -> Self {
        let axes = pass.axes.each_ref();
        let number = |axis: &AxisPass, i: usize| axis.table.get(i).map_or(0.0, |number| *number as f32);
        Self {
            step: axes.map(|axis| axis.step),
            shift: axes.map(|axis| axis.shift),
            bounds_min: axes.map(|axis| axis.bounds.0),
            bounds_max: axes.map(|axis| axis.bounds.1),
            reach_min: axes.map(|axis| axis.reach.0),
            reach_max: axes.map(|axis| axis.reach.1),
            edge: axes.map(|axis| axis.edge.number()),
            octaves: axes.map(|axis| axis.octaves),
            normalize: axes.map(|axis| axis.normalize.into()),
            margin: axes.map(|axis| axis.images.map_or(0, |images| images.margin)),
            images: axes.map(|axis| axis.images.map_or(0, |images| images.start)),
            origin: pass.origin.as_ivec2().to_array(),
            size: pass.size.as_ivec2().to_array(),
            texel_size: source_size.as_vec2().recip().to_array(),
            needed: pass
                .needed
                .as_ref()
                .map_or_else(NeededUniform::default, NeededUniform::new),
            tables: axes.map(|axis| array::from_fn(|i| number(axis, i))),
            padding: [0.0; 28],
        }
    }
}

impl NeededUniform {
    fn new(needed: &Needed) -> Self {
        Self {
            shares: needed.shares.into(),
            scale: needed.octaves.map(|octaves| (octaves as f32).exp2()),
            first: needed.first,
            around: needed.around,
        }
    }
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
