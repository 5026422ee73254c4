//! The bytes of a pass as the shaders read them: the mirror of `BlurPass` in `shaders/common.wgsl`.

use crate::plan::{AxisPass, BORDER, BlurPlan, Filter, MAX_WEIGHTS, Pass, Surface};
use crate::settings::EdgeMode;
use bevy::math::UVec2;
use bytemuck::{Pod, Zeroable};
use core::array;
use core::mem::offset_of;

/// Numbers of one axis: (offset, weight) pairs of taps, weights of texels, or the weights inside a region.
type Table = [f32; MAX_WEIGHTS];

/// `BlurPass` in WGSL. Pairs are x and y.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct PassUniform {
    step: [i32; 2],
    shift: [i32; 2],
    bounds_min: [i32; 2],
    bounds_max: [i32; 2],
    reach_min: [i32; 2],
    reach_max: [i32; 2],
    edge: [u32; 2],
    octaves: [u32; 2],
    normalize: [u32; 2],
    origin: [i32; 2],
    size: [i32; 2],
    texel_size: [f32; 2],
    tables: [Table; 2],
}

// The rules of WGSL's uniform address space: arrays start at multiples of 16 bytes, and both tables are
// `array<vec4<f32>, 12>`.
const _: () = assert!(offset_of!(PassUniform, tables).is_multiple_of(16));
const _: () = assert!(size_of::<Table>() == 12 * 16);
const _: () = assert!(2 * BORDER <= MAX_WEIGHTS);

/// The distance of two uniforms in their buffer: dynamic offsets are multiples of 256 bytes.
pub const UNIFORM_STRIDE: usize = size_of::<PassUniform>().next_multiple_of(256);

/// The uniforms of all passes of a plan, [`UNIFORM_STRIDE`] apart, for a source texture of `source_size` texels.
#[must_use]
pub fn uniform_bytes(plan: &BlurPlan, source_size: UVec2) -> Vec<u8> {
    let mut bytes = vec![0; UNIFORM_STRIDE * plan.passes.len()];
    for (slot, pass) in bytes.chunks_mut(UNIFORM_STRIDE).zip(&plan.passes) {
        let uniform = match pass.source {
            Surface::Intermediate(index) => PassUniform::new(pass, plan.intermediates[index]),
            Surface::Source | Surface::Destination => PassUniform::new(pass, source_size),
        };
        slot[..size_of::<PassUniform>()].copy_from_slice(bytemuck::bytes_of(&uniform));
    }
    bytes
}

impl PassUniform {
    /// The uniform of a pass that reads a texture of `source_size` texels.
    fn new(pass: &Pass, source_size: UVec2) -> Self {
        let axes = [&pass.x, &pass.y];
        Self {
            step: axes.map(|axis| axis.step),
            shift: axes.map(|axis| axis.shift),
            bounds_min: axes.map(|axis| axis.bounds.0),
            bounds_max: axes.map(|axis| axis.bounds.1),
            reach_min: axes.map(|axis| reach(axis).0),
            reach_max: axes.map(|axis| reach(axis).1),
            edge: axes.map(|axis| edge_index(axis.edge)),
            octaves: axes.map(|axis| match &axis.filter {
                Filter::Taps(_) | Filter::Weights { .. } => 0,
                Filter::CubicUp { octaves, .. } => *octaves,
            }),
            normalize: axes.map(|axis| u32::from(is_normalized(axis))),
            origin: pass.origin.as_ivec2().to_array(),
            size: pass.size.as_ivec2().to_array(),
            texel_size: source_size.as_vec2().recip().to_array(),
            tables: axes.map(table),
        }
    }
}

/// The first and the last texel that a filter reads, from its centre.
fn reach(axis: &AxisPass) -> (i32, i32) {
    match &axis.filter {
        Filter::Taps(taps) => {
            let first = taps.iter().map(|tap| tap.offset.floor() as i32).min();
            let last = taps.iter().map(|tap| tap.offset.ceil() as i32).max();
            (first.unwrap_or(0), last.unwrap_or(0))
        }
        Filter::Weights { first, weights } => (*first, first + weights.len() as i32 - 1),
        Filter::CubicUp { .. } => (0, 0),
    }
}

fn edge_index(edge: EdgeMode) -> u32 {
    match edge {
        EdgeMode::Clamp => 0,
        EdgeMode::Mirror => 1,
        EdgeMode::Wrap => 2,
        EdgeMode::Transparent => 3,
        EdgeMode::Renormalize => 4,
    }
}

fn is_normalized(axis: &AxisPass) -> bool {
    match &axis.filter {
        Filter::Taps(_) | Filter::Weights { .. } => axis.edge == EdgeMode::Renormalize,
        Filter::CubicUp { inside, .. } => !inside.is_empty(),
    }
}

fn table(axis: &AxisPass) -> Table {
    let numbers: Vec<f32> = match &axis.filter {
        Filter::Taps(taps) => taps
            .iter()
            .flat_map(|tap| [tap.offset as f32, tap.weight as f32])
            .collect(),
        Filter::Weights { weights, .. } => weights.iter().map(|&weight| weight as f32).collect(),
        Filter::CubicUp { inside, .. } => inside.iter().map(|&weight| weight as f32).collect(),
    };
    array::from_fn(|i| numbers.get(i).copied().unwrap_or(0.0))
}
