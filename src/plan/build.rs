//! Zips the plans of two axes into passes.

use super::axis::Axis;
use super::{AxisPass, BlurPlan, Fusion, Pass, PassKind, Surface};
use bevy::math::{URect, UVec2};

/// Where an axis pass reads and writes: the levels of its source and target, `None` for the outermost surfaces.
pub(super) type Levels = (Option<u32>, Option<u32>);

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

    pub fn build(mut self, fusion: Fusion) -> BlurPlan {
        let octaves = self.x.octaves().max(self.y.octaves());
        match (octaves, fusion) {
            (0, Fusion::None) => self.separable(),
            (0, Fusion::Tiled) => {
                self.finish(PassKind::Blur, Surface::Source, Axis::convolve, Axis::convolve);
            }
            _ => {
                let low = self.downsample(octaves, fusion);
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
        self.push(
            PassKind::Horizontal,
            (Surface::Source, level),
            self.x.convolve((None, Some(0))),
            self.y.keep((None, Some(0))),
        );
        self.finish(PassKind::Vertical, level, Axis::keep, Axis::convolve);
    }

    /// From the source to the lowest level, along the axes that still have octaves to go.
    fn downsample(&mut self, octaves: u32, fusion: Fusion) -> Surface {
        let most = match fusion {
            Fusion::None => 1,
            Fusion::Tiled => 2,
        };
        let (mut source, mut done) = (Surface::Source, 0);
        while done < octaves {
            let next = (done + most).min(octaves);
            let levels = |axis: &Axis| ((done > 0).then(|| axis.level(done)), Some(axis.level(next)));
            let (x, y) = (self.x.decimate(levels(&self.x)), self.y.decimate(levels(&self.y)));
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
        let keep = [self.x.keep(levels(&self.x)), self.y.keep(levels(&self.y))];
        let blur = [self.x.convolve(levels(&self.x)), self.y.convolve(levels(&self.y))];
        let other = self.intermediate(octaves);
        let swap = |surface| if surface == low { other } else { low };
        let [keep_x, keep_y] = keep;
        let [blur_x, blur_y] = blur;
        if fusion == Fusion::Tiled {
            self.push(PassKind::Blur, (low, other), blur_x, blur_y);
            return other;
        }
        let mut current = low;
        if self.x.blurs() {
            self.push(PassKind::Horizontal, (current, swap(current)), blur_x, keep_y);
            current = swap(current);
        }
        if self.y.blurs() {
            self.push(PassKind::Vertical, (current, swap(current)), keep_x, blur_y);
            current = swap(current);
        }
        current
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
