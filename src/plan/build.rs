//! Zips the plans of two axes into passes.

use super::axis::Axis;
use super::{AxisPass, BlurPlan, Filtering, Fusion, Pass, PassKind, Surface};
use bevy::math::{URect, UVec2};

/// Where an axis pass reads and writes: the levels of its source and target, `None` for the outermost surfaces.
pub(super) type Levels = (Option<u32>, Option<u32>);

/// Kernels reach a multiple of this many texels. Every reach is a pipeline of its own, so few of them keep an animated
/// sigma from waiting for one. Where both convolutions are one pass, four texels are convolved at a time.
const REACH_STEP: usize = 2;
const REACH_STEP_OF_BOTH: usize = 4;

/// Zips two axes into passes.
pub(super) struct Builder {
    x: Axis,
    y: Axis,
    region: URect,
    plan: BlurPlan,
}

impl Builder {
    pub fn new(x: Axis, y: Axis, region: URect) -> Self {
        Self {
            x,
            y,
            region,
            plan: BlurPlan::default(),
        }
    }

    pub fn build(mut self, fusion: Fusion, filtering: Filtering) -> BlurPlan {
        let octaves = self.x.octaves().max(self.y.octaves());
        match (octaves, fusion) {
            (0, Fusion::None) => self.separable(),
            (0, Fusion::Tiled { direct: true }) => {
                let (x, y) = self.convolve_both((None, None), (None, None));
                self.push(PassKind::Blur, (Surface::Source, Surface::Destination), x, y);
            }
            (0, Fusion::Tiled { direct: false }) => {
                let level = self.intermediate(0);
                let (x, y) = self.convolve_both((None, Some(0)), (None, Some(0)));
                self.push(PassKind::Blur, (Surface::Source, level), x, y);
                self.finish(PassKind::Copy, level, Axis::keep, Axis::keep);
            }
            _ => {
                let low = self.downsample(octaves, fusion, filtering);
                let blurred = self.residual(octaves, low, fusion);
                self.finish(PassKind::Upsample, blurred, Axis::cubic_up, Axis::cubic_up);
            }
        }
        self.plan
    }

    /// One pass that changes nothing.
    pub fn copy(mut self) -> BlurPlan {
        self.finish(PassKind::Copy, Surface::Source, Axis::keep, Axis::keep);
        self.plan
    }

    /// Horizontally into an intermediate, vertically out of it.
    fn separable(&mut self) {
        let level = self.intermediate(0);
        let levels = (None, Some(0));
        let (x, y) = (convolve(&self.x, levels), self.y.keep(levels));
        self.push(PassKind::Horizontal, (Surface::Source, level), x, y);
        self.finish(PassKind::Vertical, level, Axis::keep, convolve);
    }

    /// From the source to the lowest level, along the axes that still have octaves to go.
    fn downsample(&mut self, octaves: u32, fusion: Fusion, filtering: Filtering) -> Surface {
        let (mut source, mut done) = (Surface::Source, 0);
        while done < octaves {
            let next = done + octaves_of_a_pass(done, octaves - done, fusion);
            let levels = |axis: &Axis| ((done > 0).then(|| axis.level(done)), Some(axis.level(next)));
            let may_filter = match source {
                Surface::Source => filtering.source,
                Surface::Intermediate(_) | Surface::Destination => filtering.intermediates,
            };
            let changes = |axis: &Axis| axis.level(done) < axis.level(next);
            let between = fusion == Fusion::None && may_filter && changes(&self.x) && changes(&self.y);
            let decimate = if between {
                Axis::decimate_between
            } else {
                Axis::decimate
            };
            let (x, y) = (decimate(&self.x, levels(&self.x)), decimate(&self.y, levels(&self.y)));
            let target = self.intermediate(next);
            self.push(PassKind::Downsample, (source, target), x, y);
            (source, done) = (target, next);
        }
        source
    }

    /// The convolutions at the low level, back and forth between two textures of one size.
    fn residual(&mut self, octaves: u32, low: Surface, fusion: Fusion) -> Surface {
        let levels = |axis: &Axis| {
            let level = Some(axis.level(octaves));
            (level, level)
        };
        let (levels_x, levels_y) = (levels(&self.x), levels(&self.y));
        let other = self.intermediate(octaves);
        let swap = |surface| if surface == low { other } else { low };
        if fusion != Fusion::None {
            let (x, y) = self.convolve_both(levels_x, levels_y);
            self.push(PassKind::Blur, (low, other), x, y);
            return other;
        }
        let mut current = low;
        if self.x.blurs() {
            let (x, y) = (convolve(&self.x, levels_x), self.y.keep(levels_y));
            self.push(PassKind::Horizontal, (current, swap(current)), x, y);
            current = swap(current);
        }
        if self.y.blurs() {
            let (x, y) = (self.x.keep(levels_x), convolve(&self.y, levels_y));
            self.push(PassKind::Vertical, (current, swap(current)), x, y);
            current = swap(current);
        }
        current
    }

    /// Both convolutions for one pass, with kernels of one length.
    fn convolve_both(&self, x: Levels, y: Levels) -> (AxisPass, AxisPass) {
        let reach = self.x.reach().max(self.y.reach()).next_multiple_of(REACH_STEP_OF_BOTH);
        (self.x.convolve(x, reach), self.y.convolve(y, reach))
    }

    /// The pass that writes the destination.
    fn finish(
        &mut self,
        kind: PassKind,
        source: Surface,
        x: fn(&Axis, Levels) -> AxisPass,
        y: fn(&Axis, Levels) -> AxisPass,
    ) {
        let levels = |axis: &Axis| {
            let level = axis.octaves();
            ((source != Surface::Source).then_some(level), None)
        };
        let (x, y) = (x(&self.x, levels(&self.x)), y(&self.y, levels(&self.y)));
        self.push(kind, (source, Surface::Destination), x, y);
    }

    fn intermediate(&mut self, octave: u32) -> Surface {
        self.plan.intermediates.push(self.size(octave));
        Surface::Intermediate(self.plan.intermediates.len() - 1)
    }

    fn size(&self, octave: u32) -> UVec2 {
        let length = |axis: &Axis| axis.extent(axis.level(octave)).length as u32;
        UVec2::new(length(&self.x), length(&self.y))
    }

    fn push(&mut self, kind: PassKind, (source, target): (Surface, Surface), x: AxisPass, y: AxisPass) {
        let (origin, size) = match target {
            Surface::Intermediate(index) => (UVec2::ZERO, self.plan.intermediates[index]),
            Surface::Source | Surface::Destination => (self.region.min, self.region.size()),
        };
        self.plan.passes.push(Pass {
            kind,
            source,
            target,
            origin,
            size,
            x,
            y,
        });
    }
}

fn convolve(axis: &Axis, levels: Levels) -> AxisPass {
    axis.convolve(levels, axis.reach().next_multiple_of(REACH_STEP))
}

/// How many of the octaves that are left the next pass does.
///
/// A third octave lets the tiles of a pass overlap so much that over the picture itself it costs what a small pass of its
/// own does: on an H200, from 3840x2160 by tiles of four rows, 42 us to an eighth, 36 us to a quarter, and 5 us for one
/// octave more there.
/// Passes over small levels are bound by their start, so few are better.
fn octaves_of_a_pass(done: u32, left: u32, fusion: Fusion) -> u32 {
    match fusion {
        Fusion::None => 1,
        Fusion::Tiled { .. } if done == 0 => left.min(2),
        Fusion::Tiled { .. } => left.div_ceil(left.div_ceil(3)),
    }
}
