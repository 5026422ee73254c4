//! One layer of a blur whose sigma varies, on its own: how both axes are blurred, the tile that takes it, and who reads that.

use super::axis::{Axis, Levels};
use super::pass::{AxisPass, Needed, Surface};
use bevy::math::UVec2;
use core::array;

/// One blur of the whole picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// Its sigma, along the axis of the larger sigma.
    pub sigma: f64,
    /// The first texel of its tile.
    pub origin: UVec2,
    /// The splines from its tile to the target of the last pass.
    pub axes: [AxisPass; 2],
}

/// The plans of the two axes of a layer.
pub(super) struct Blur {
    pub sigma: f64,
    /// The shares of the largest sigma that read it.
    pub readers: (f32, f32),
    pub axes: [Axis; 2],
}

impl Blur {
    /// Its octaves along both axes.
    pub fn octaves(&self) -> [u32; 2] {
        self.axes.each_ref().map(Axis::octaves)
    }

    /// What is read of the tile that starts there.
    pub fn needed(&self, origin: UVec2) -> Needed {
        let first = |i: usize| self.axes[i].extent(self.octaves()[i]).first - origin[i] as i32;
        Needed {
            shares: self.readers,
            octaves: self.octaves(),
            first: [first(0), first(1)],
            // A spline reads two texels on either side.
            around: [2; 2],
        }
    }

    /// The layer, in a tile that starts there, as the last pass reads it.
    pub fn layer(&self, origin: UVec2, target: Option<u32>) -> Layer {
        let axis = |i: usize| {
            let axis = &self.axes[i];
            let first = target.map_or(0, |level| axis.extent(level).first);
            axis.upsample((Some(axis.octaves()), target))
                .moved(origin[i] as i32, -first)
        };
        Layer {
            sigma: self.sigma,
            origin,
            axes: [axis(0), axis(1)],
        }
    }
}

/// How a layer's last level is read from the surface that holds it, and written.
pub(super) fn levels_of(axis: &Axis, source: Surface) -> Levels {
    let level = Some(axis.octaves());
    (level.filter(|_| source != Surface::Source), level)
}

/// Sigmas as shares of the largest one, a little apart: shaders round.
pub(super) fn shares((low, high): (f64, f64), largest: f32) -> (f32, f32) {
    let share = |sigma: f64| (sigma / f64::from(largest)) as f32;
    (0.999 * share(low), 1.001 * share(high))
}

/// The texels of a level.
pub(super) fn level_size(axes: &[Axis; 2], levels: [u32; 2]) -> UVec2 {
    array::from_fn(|i| axes[i].extent(levels[i]).length as u32).into()
}
