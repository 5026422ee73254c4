//! The uniforms of passes in bytes: the mirror of `BlurPass` in `shaders/common/pass.wgsl`.

use crate::plan::BlurPlan;
use crate::plan::pass::{AxisPass, BORDER, MAX_WEIGHTS, Needed, Pass, TextureSlot};
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

/// The size of these uniforms in bytes.
pub fn uniform_size(plan: &BlurPlan) -> u64 {
    (uniform_count(plan) * size_of::<PassUniform>()) as u64
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
