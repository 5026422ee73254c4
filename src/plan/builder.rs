//! Builds plans: levels of the picture, and passes between them.

use super::axis::{Axis, Levels};
use super::pass::{AxisPass, BlurPlan, Finish, Means, Pass, PassKind, PlanRequest, TextureSlot, beyond};
use super::select_program;
use crate::program::{Beyond, Program, Tiling};
use bevy::math::{UVec2, Vec2};
use core::array;

/// The axes that a pass works along.
pub(super) type Axes<'a> = [&'a Axis; 2];

/// The levels that a pass reads and writes.
pub(super) type Between = (Level, Level);

/// The picture at a resolution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Level {
    /// Octaves by which it is coarser along x and y.
    pub octaves: [u32; 2],
    /// The surface that holds it.
    pub surface: TextureSlot,
    /// Its first texel there.
    pub corner: UVec2,
}

impl Level {
    /// The picture itself.
    pub const PICTURE: Self = Self::at(TextureSlot::Source, [0; 2]);
    /// The result.
    pub const RESULT: Self = Self::at(TextureSlot::Destination, [0; 2]);

    /// A level that fills a surface, or starts at its origin.
    pub const fn at(surface: TextureSlot, octaves: [u32; 2]) -> Self {
        Self {
            octaves,
            surface,
            corner: UVec2::ZERO,
        }
    }

    /// Its octaves along an axis, `None` for the source and the destination.
    fn along(&self, axis: usize) -> Option<u32> {
        matches!(self.surface, TextureSlot::Intermediate(_)).then_some(self.octaves[axis])
    }
}

/// A plan in progress.
pub(super) struct PassBuilder {
    pub request: PlanRequest,
    /// See [`BlurPlan::shifted`].
    pub shift: Vec2,
    pub plan: BlurPlan,
}

impl PassBuilder {
    pub fn new(request: &PlanRequest, shift: Vec2) -> Self {
        Self {
            request: *request,
            shift,
            plan: BlurPlan::default(),
        }
    }

    /// The axes for a sigma, with the most octaves that leave at least `rho` texels of the lowest level.
    pub fn axes(&self, sigma: Vec2, rho: f64) -> [Axis; 2] {
        let PlanRequest {
            region, edge, means, ..
        } = self.request;
        [0, 1].map(|i| {
            let axis = Axis::new(sigma[i], (region.min[i], region.max[i]), edge, means.precision, rho);
            axis.shifted(self.shift[i], sigma[i], means.precision)
        })
    }

    /// Allocates a texture.
    pub fn texture(&mut self, size: UVec2) -> TextureSlot {
        self.plan.intermediates.push(size);
        TextureSlot::Intermediate(self.plan.intermediates.len() - 1)
    }

    /// Allocates a level.
    pub fn level(&mut self, axes: Axes, octaves: [u32; 2]) -> Level {
        Level::at(self.texture(level_size(axes, octaves)), octaves)
    }

    /// The result itself, or a new level.
    pub fn result_or_level(&mut self, writes_result: bool, axes: Axes, octaves: [u32; 2]) -> Level {
        if writes_result {
            Level::RESULT
        } else {
            self.level(axes, octaves)
        }
    }

    /// Goes to a coarser level.
    pub fn downsample(&mut self, axes: Axes, source: Level, octaves: [u32; 2]) -> Level {
        let Means { tiling, filtering, .. } = self.request.means;
        let may_filter = match source.surface {
            TextureSlot::Source => filtering.source,
            TextureSlot::Intermediate(_) | TextureSlot::Destination => filtering.intermediates,
        };
        let ends = (source, self.level(axes, octaves));
        let steps = array::from_fn(|i| 1 << (octaves[i] - source.octaves[i]));
        let mut numbers = each(axes, ends, Axis::downsample);
        let of_level = source.octaves != [0; 2];
        let program = select_program::downsample(steps, of_level, tiling, may_filter, beyond(&numbers));
        if program.filters() {
            numbers = each(axes, ends, Axis::downsample_filtered);
        }
        let pass = self.pass(PassKind::Downsample, program, axes, ends, numbers);
        self.plan.passes.push(pass);
        ends.1
    }

    /// Convolves along one axis, 0 for x and 1 for y, and leaves the other one as it is.
    pub fn convolve(&mut self, along: usize, axes: Axes, ends: Between) -> &mut Pass {
        let numbers = |reach: usize| {
            let mut numbers = each(axes, ends, |axis, levels| axis.convolve(levels, reach));
            numbers[1 - along] = each(axes, ends, Axis::identity)[1 - along].clone();
            numbers
        };
        let reach = axes[along].reach();
        let reach = select_program::rounded_reach(reach, Tiling::None, beyond(&numbers(reach)));
        let numbers = numbers(reach);
        let kind = [PassKind::Horizontal, PassKind::Vertical][along];
        let program = select_program::convolve(along, reach, beyond(&numbers));
        let pass = self.pass(kind, program, axes, ends, numbers);
        self.plan.passes.push_mut(pass)
    }

    /// The reach of the program that convolves along both axes at once.
    pub fn reach_of_both(&self, axes: Axes) -> usize {
        let most = |reach: fn(&Axis) -> usize| axes.map(reach).into_iter().max().unwrap_or(0);
        select_program::reach_with_images(most(Axis::reach), most(Axis::images_reach), self.request.means.tiling)
    }

    /// Convolves along both axes at once, with kernels of one reach.
    pub fn convolve_both(&mut self, reach: usize, axes: Axes, ends: Between) -> &mut Pass {
        let numbers = each(axes, ends, |axis, levels| axis.convolve(levels, reach));
        let tiling = self.request.means.tiling;
        let program = select_program::convolve_both(reach, ends.0.octaves, beyond(&numbers), tiling);
        let pass = self.pass(PassKind::Blur, program, axes, ends, numbers);
        self.plan.passes.push_mut(pass)
    }

    /// Convolves the lowest level and interpolates it, in one pass that writes the result. Returns whether such a pass can do that, and
    /// is faster than two.
    pub fn blur_and_upsample(&mut self, axes: Axes, low: Level) -> bool {
        let ends = (low, Level::RESULT);
        let reach = self.reach_of_both(axes);
        let program = select_program::blur_and_upsample(low.octaves, reach, &self.request);
        let writes = self.request.finish == Finish::Write && self.shift == Vec2::ZERO;
        let Some(program) = program.filter(|_| writes && !self.request.edge.is_normalized()) else {
            return false;
        };
        let convolved = each(axes, (low, low), |axis, levels| axis.convolve(levels, reach));
        if beyond(&convolved) != Beyond::Clamped {
            return false;
        }
        let mut numbers = each(axes, ends, Axis::upsample);
        for (axis, convolved) in numbers.iter_mut().zip(convolved) {
            (axis.reach, axis.table) = (convolved.reach, convolved.table);
        }
        let pass = self.pass(PassKind::Upsample, program, axes, ends, numbers);
        self.plan.passes.push(pass);
        true
    }

    /// Reads and writes at the resolution of the picture, texel by texel.
    pub fn identity(&mut self, kind: PassKind, program: Program, ends: Between) {
        let axes = self.axes(Vec2::ZERO, self.request.means.precision.rho());
        let axes = axes.each_ref();
        let pass = self.pass(kind, program, axes, ends, each(axes, ends, Axis::identity));
        self.plan.passes.push(pass);
    }

    /// Adds the last pass, which writes a blurred level to the destination, unless the level is the destination. Or defers this
    /// pass to the front end.
    pub fn finish(&mut self, axes: Axes, blurred: Level) {
        let Means { tiling, filtering, .. } = self.request.means;
        let ends = (blurred, Level::RESULT);
        let upsample = |tiling| {
            let program = select_program::upsample(blurred.octaves, tiling, filtering);
            self.pass(
                PassKind::Upsample,
                program,
                axes,
                ends,
                each(axes, ends, Axis::upsample),
            )
        };
        match self.request.finish {
            Finish::Defer => self.plan.deferred = vec![upsample(Tiling::None)],
            Finish::Write if blurred == Level::RESULT => {}
            Finish::Write if blurred.octaves == [0; 2] => self.identity(PassKind::Copy, Program::CopyFragment, ends),
            Finish::Write => self.plan.passes.push(upsample(tiling)),
        }
    }

    fn pass(&self, kind: PassKind, program: Program, axes: Axes, ends: Between, numbers: [AxisPass; 2]) -> Pass {
        let (source, target) = ends;
        let region = self.request.region;
        let (origin, size) = match target.surface {
            TextureSlot::Intermediate(_) => (target.corner, level_size(axes, target.octaves)),
            TextureSlot::Source | TextureSlot::Destination => (region.min, region.size()),
        };
        Pass {
            kind,
            program,
            source: source.surface,
            target: target.surface,
            origin,
            size,
            axes: numbers,
            needed: None,
            is_batched: false,
        }
    }
}

/// The numbers of a pass along each axis.
pub(super) fn each(axes: Axes, (source, target): Between, pass: impl Fn(&Axis, Levels) -> AxisPass) -> [AxisPass; 2] {
    array::from_fn(|i| {
        let numbers = pass(axes[i], (source.along(i), target.along(i)));
        numbers.moved(source.corner[i] as i32, target.corner[i] as i32)
    })
}

/// The texels of a level.
pub(super) fn level_size(axes: Axes, octaves: [u32; 2]) -> UVec2 {
    let length = |i: usize| axes[i].extent(octaves[i]).len() as u32;
    UVec2::new(length(0), length(1))
}
