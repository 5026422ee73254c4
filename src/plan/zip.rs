//! Zips the plans of two axes into passes.

use super::axis::{Axis, Levels, reach_of_both};
use super::pass::{AxisPass, Finish, Means, Pass, PassKind, Surface, beyond};
use super::rules;
use crate::program::{Filtering, Program, Tiling};
use bevy::math::{URect, UVec2};
use core::array;

/// Zips two axes into passes.
pub(super) struct Zip {
    axes: [Axis; 2],
    region: URect,
    tiling: Tiling,
    filtering: Filtering,
    finish: Finish,
    pub intermediates: Vec<UVec2>,
    pub passes: Vec<Pass>,
    pub left: Option<Pass>,
}

impl Zip {
    pub fn new(axes: [Axis; 2], region: URect, means: Means, finish: Finish) -> Self {
        Self {
            axes,
            region,
            tiling: means.tiling,
            filtering: means.filtering,
            finish,
            intermediates: Vec::new(),
            passes: Vec::new(),
            left: None,
        }
    }

    /// The passes of a blur.
    pub fn blur(mut self) -> Self {
        let octaves = self.octaves();
        let leaves = self.finish == Finish::Leave;
        match (octaves, self.tiling) {
            (0, Tiling::None) => self.separable(),
            (0, Tiling::Tiled { stores, apart }) if stores && apart && !leaves => {
                self.convolve_both((Surface::Source, Surface::Destination), [(None, None); 2]);
            }
            (0, Tiling::Tiled { .. }) => {
                let level = self.intermediate(0);
                self.convolve_both((Surface::Source, level), [(None, Some(0)); 2]);
                if leaves {
                    self.leave(level);
                } else {
                    self.copy_from(level);
                }
            }
            _ => {
                let low = self.downsample(octaves);
                let blurred = self.residual(octaves, low);
                if leaves {
                    self.leave(blurred);
                } else {
                    self.upsample(blurred);
                }
            }
        }
        self
    }

    /// One pass that changes nothing.
    pub fn copy(mut self) -> Self {
        if self.finish == Finish::Leave {
            let level = self.intermediate(0);
            let axes = self.each([(None, Some(0)); 2], Axis::keep);
            self.push(PassKind::Copy, Program::CopyFragment, (Surface::Source, level), axes);
            self.leave(level);
        } else {
            self.copy_from(Surface::Source);
        }
        self
    }

    fn octaves(&self) -> u32 {
        let [x, y] = self.axes.each_ref().map(Axis::octaves);
        x.max(y)
    }

    /// Horizontally into an intermediate, vertically out of it.
    fn separable(&mut self) {
        let level = self.intermediate(0);
        self.convolve(0, (Surface::Source, level), [(None, Some(0)); 2]);
        if self.finish == Finish::Leave {
            let other = self.intermediate(0);
            self.convolve(1, (level, other), [(Some(0), Some(0)); 2]);
            self.leave(other);
        } else {
            self.convolve(1, (level, Surface::Destination), [(Some(0), None); 2]);
        }
    }

    /// From the source to the lowest level, along the axes that still have octaves to go.
    fn downsample(&mut self, octaves: u32) -> Surface {
        let (mut source, mut done) = (Surface::Source, 0);
        while done < octaves {
            let next = done + rules::octaves_of_a_pass(done, octaves - done, self.tiling);
            let levels = self
                .axes
                .each_ref()
                .map(|axis| ((done > 0).then(|| axis.level(done)), Some(axis.level(next))));
            let steps = self
                .axes
                .each_ref()
                .map(|axis| 1 << (axis.level(next) - axis.level(done)));
            let may_filter = match source {
                Surface::Source => self.filtering.source,
                Surface::Intermediate(_) | Surface::Destination => self.filtering.intermediates,
            };
            let mut axes = self.each(levels, Axis::downsample);
            let program = rules::downsample(steps, self.tiling, may_filter, beyond(&axes));
            if program == Program::DownsampleFragment {
                axes = self.each(levels, Axis::downsample_filtered);
            }
            let target = self.intermediate(next);
            self.push(PassKind::Downsample, program, (source, target), axes);
            (source, done) = (target, next);
        }
        source
    }

    /// The convolutions at the low level, back and forth between two textures of one size.
    fn residual(&mut self, octaves: u32, low: Surface) -> Surface {
        let levels = self.axes.each_ref().map(|axis| {
            let level = Some(axis.level(octaves));
            (level, level)
        });
        let other = self.intermediate(octaves);
        if self.tiling != Tiling::None {
            self.convolve_both((low, other), levels);
            return other;
        }
        let (mut source, mut target) = (low, other);
        for axis in 0..2 {
            if self.axes[axis].blurs() {
                self.convolve(axis, (source, target), levels);
                (source, target) = (target, source);
            }
        }
        source
    }

    /// Convolves along one axis and leaves the other as it is.
    fn convolve(&mut self, along: usize, surfaces: (Surface, Surface), levels: [Levels; 2]) {
        let reach = rules::rounded_reach(self.axes[along].reach(), Tiling::None);
        let axes = array::from_fn(|i| {
            if i == along {
                self.axes[i].convolve(levels[i], reach)
            } else {
                self.axes[i].keep(levels[i])
            }
        });
        let kind = [PassKind::Horizontal, PassKind::Vertical][along];
        self.push(kind, rules::convolve(along, reach), surfaces, axes);
    }

    /// Both convolutions in one pass, with kernels of one length.
    fn convolve_both(&mut self, surfaces: (Surface, Surface), levels: [Levels; 2]) {
        let reach = reach_of_both(&self.axes, self.tiling);
        let axes = self.each(levels, |axis, levels| axis.convolve(levels, reach));
        let program = rules::convolve_both(reach, beyond(&axes));
        self.push(PassKind::Blur, program, surfaces, axes);
    }

    /// The spline from the lowest level to the destination.
    fn upsample(&mut self, source: Surface) {
        let octaves = self.axes.each_ref().map(Axis::octaves);
        let program = rules::upsample(octaves, self.tiling, self.filtering);
        let levels = octaves.map(|level| (Some(level), None));
        let axes = self.each(levels, Axis::upsample);
        self.push(PassKind::Upsample, program, (source, Surface::Destination), axes);
    }

    /// Leaves the last step to somebody who renders.
    fn leave(&mut self, source: Surface) {
        let octaves = self.axes.each_ref().map(Axis::octaves);
        let levels = octaves.map(|level| (Some(level), None));
        self.left = Some(Pass {
            kind: PassKind::Upsample,
            program: rules::upsample(octaves, Tiling::None, self.filtering),
            source,
            target: Surface::Destination,
            origin: self.region.min,
            size: self.region.size(),
            axes: self.each(levels, Axis::upsample),
            needed: None,
        });
    }

    /// An exact copy to the destination.
    fn copy_from(&mut self, source: Surface) {
        let level = (source != Surface::Source).then_some(0);
        let axes = self.each([(level, None); 2], Axis::keep);
        self.push(
            PassKind::Copy,
            Program::CopyFragment,
            (source, Surface::Destination),
            axes,
        );
    }

    fn each(&self, levels: [Levels; 2], pass: impl Fn(&Axis, Levels) -> AxisPass) -> [AxisPass; 2] {
        array::from_fn(|i| pass(&self.axes[i], levels[i]))
    }

    fn intermediate(&mut self, octave: u32) -> Surface {
        let length = |axis: &Axis| axis.extent(axis.level(octave)).length as u32;
        self.intermediates.push(self.axes.each_ref().map(length).into());
        Surface::Intermediate(self.intermediates.len() - 1)
    }

    fn push(&mut self, kind: PassKind, program: Program, (source, target): (Surface, Surface), axes: [AxisPass; 2]) {
        let (origin, size) = match target {
            Surface::Intermediate(index) => (UVec2::ZERO, self.intermediates[index]),
            Surface::Source | Surface::Destination => (self.region.min, self.region.size()),
        };
        self.passes.push(Pass {
            kind,
            program,
            source,
            target,
            origin,
            size,
            axes,
            needed: None,
        });
    }
}
