//! A sigma that varies over the picture.
//!
//! Every texel is to be the Gaussian, of its own sigma, of the sharp picture. Blurs of a few sigmas are computed for the
//! whole picture, the **layers**, and the last pass blends those that a texel lies between.
//!
//! All layers share one chain of octaves, as at the top of [`plan`](super): a layer is a residual Gaussian of one level of
//! it. They lie in one texture, the **atlas**, so that the last pass reads two textures however many there are.
//!
//! Below the weakest layer texels of the sharp picture are summed, each with its own sigma, and the last pass finds the sums in
//! a third texture. Threads of a compute pass share reads. A render pass sums rows, and the last pass sums columns of those:
//! where sigma hardly varies along a column, rows with their own sigma are as good. Elsewhere the last pass sums both.
//!
//! Which sigmas layers have, and how they are blended, is the subject of [`ladder`].

use super::axis::{Axis, Levels, reach_of_both};
use super::pass::{AxisPass, Finish, Means, Needed, Pass, PassKind, Surface, beyond};
use super::rules;
use super::tile::{Blur, Layer, level_size, levels_of, shares};
use super::{ladder, pack};
use crate::program::{Program, Tiling};
use crate::settings::EdgeMode;
use bevy::math::{IVec2, URect, UVec2, Vec2};
use core::array;

/// What the last pass blends.
#[derive(Clone, Debug, PartialEq)]
pub struct Layers {
    /// The texture that holds all layers.
    pub atlas: Surface,
    /// The sigma up to which the sharp picture is summed, along the axis of the larger sigma.
    pub gathered: f64,
    /// After how many sigmas that sum ends.
    pub cutoff: f64,
    /// The texture of those sums, or of the sums of rows.
    pub sums: Surface,
    /// The sigmas along x and y as shares of the larger one.
    pub aspect: Vec2,
    /// The position of the target's first texel in the picture.
    pub origin: IVec2,
    /// The layers, from weak to strong.
    pub layers: Vec<Layer>,
}

/// A level of the chain: its octaves along both axes, and what holds it.
type Level = ([u32; 2], Surface);

/// Plans a blur whose sigma varies.
pub(super) struct Builder {
    region: URect,
    edge: EdgeMode,
    means: Means,
    finish: Finish,
    /// Whether the last pass writes what the first one reads.
    in_place: bool,
    /// The texture that layers are convolved through, if it takes two passes.
    between: Option<Surface>,
    pub intermediates: Vec<UVec2>,
    pub passes: Vec<Pass>,
    pub left: Option<Pass>,
    pub layers: Option<Layers>,
}

impl Builder {
    pub fn new(region: URect, edge: EdgeMode, means: Means, finish: Finish, in_place: bool) -> Self {
        Self {
            region,
            edge,
            means,
            finish,
            in_place,
            between: None,
            intermediates: Vec::new(),
            passes: Vec::new(),
            left: None,
            layers: None,
        }
    }

    /// The passes, for sigmas from 0 to this one.
    pub fn build(mut self, sigma: Vec2) -> Self {
        let most = sigma.max_element();
        let (largest, aspect) = (ladder::largest(most), sigma / most);
        let fixed = ladder::fixed_sigmas(largest).map(|sigma| (sigma, ladder::RHO));
        let rungs: Vec<(f64, f64)> = fixed.chain([(largest, self.means.precision.rho())]).collect();
        let sigmas: Vec<f64> = rungs.iter().map(|(sigma, _)| *sigma).collect();
        let blur = |(index, (sigma, rho)): (usize, &(f64, f64))| Blur {
            sigma: *sigma,
            readers: shares(ladder::readers(&sigmas, index), most),
            axes: self.axes(*sigma as f32 * aspect, *rho),
        };
        let blurs: Vec<Blur> = rungs.iter().enumerate().map(blur).collect();
        let chain = self.chain(&blurs);
        let (atlas, places) = self.blur(&blurs, &chain);
        let sums = self.gather();
        let sharp = self.sharp(sums);
        let target = self.blend(sharp);
        let layers = blurs.iter().zip(places);
        self.layers = Some(Layers {
            atlas,
            gathered: ladder::gathered(largest),
            cutoff: self.means.precision.cutoff(),
            sums,
            aspect,
            origin: target.map_or(IVec2::ZERO, |_| self.region.min.as_ivec2()),
            layers: layers.map(|(blur, place)| blur.layer(place, target)).collect(),
        });
        self
    }

    fn axes(&self, sigma: Vec2, rho: f64) -> [Axis; 2] {
        let ends = |i: usize| (self.region.min[i], self.region.max[i]);
        let axis = |i: usize| Axis::new(sigma[i], ends(i), self.edge, self.means.precision, rho);
        [axis(0), axis(1)]
    }

    /// The sums of the sharp picture, or of its rows. Those take the texture that layers are convolved through: nobody needs it
    /// any more.
    fn gather(&mut self) -> Surface {
        let program = rules::gather(self.means.tiling, self.means.filtering);
        let target = self.between.unwrap_or_else(|| self.intermediate(self.region.size()));
        self.enter(PassKind::Gather, program, target);
        target
    }

    /// What the last pass reads the sharp picture from. It cannot read what it writes: where that is the picture, it reads
    /// the sums, or a copy to sum.
    fn sharp(&mut self, sums: Surface) -> Surface {
        if !self.in_place {
            return Surface::Source;
        }
        if self.means.tiling != Tiling::None {
            return sums;
        }
        let copy = self.intermediate(self.region.size());
        self.enter(PassKind::Copy, rules::enter(), copy);
        copy
    }

    /// A pass from the picture to a texture that is as large as the region, or larger.
    fn enter(&mut self, kind: PassKind, program: Program, target: Surface) {
        let axes = self.axes(Vec2::ZERO, self.means.precision.rho());
        let axes = axes.each_ref().map(|axis| axis.keep((None, Some(0))));
        self.push(kind, program, (Surface::Source, target), UVec2::ZERO, axes);
        if let Some(pass) = self.passes.last_mut() {
            pass.size = self.region.size();
        }
    }

    /// The levels that the layers need, each out of the one before it.
    fn chain(&mut self, blurs: &[Blur]) -> Vec<Level> {
        let deepest: [&Axis; 2] = array::from_fn(|i| {
            let axes = blurs.iter().map(|blur| &blur.axes[i]);
            axes.max_by_key(|axis| axis.octaves()).expect("at least one layer")
        });
        let mut wanted: Vec<[u32; 2]> = blurs.iter().map(Blur::octaves).collect();
        wanted.sort_by_key(|octaves| octaves[0] + octaves[1]);
        let mut chain = vec![([0; 2], Surface::Source)];
        for goal in wanted {
            // As a rule that is the level before: stronger blurs have no fewer octaves along either axis.
            let leads_there = |(octaves, _): &&Level| octaves[0] <= goal[0] && octaves[1] <= goal[1];
            let nearest = chain
                .iter()
                .filter(leads_there)
                .max_by_key(|(octaves, _)| octaves[0] + octaves[1]);
            let (mut from, mut source) = *nearest.expect("the picture itself leads everywhere");
            while from != goal {
                let to = array::from_fn(|i| goal[i].min(from[i] + 1));
                source = self.downsample(deepest, (from, source), to);
                from = to;
                chain.push((from, source));
            }
        }
        chain
    }

    fn downsample(&mut self, axes: [&Axis; 2], (from, source): Level, to: [u32; 2]) -> Surface {
        let means = self.means;
        let levels: [Levels; 2] = array::from_fn(|i| ((source != Surface::Source).then_some(from[i]), Some(to[i])));
        let steps = array::from_fn(|i| 1 << (to[i] - from[i]));
        let may_filter = match source {
            Surface::Source => means.filtering.source,
            Surface::Intermediate(_) | Surface::Destination => means.filtering.intermediates,
        };
        let each = |pass: fn(&Axis, Levels) -> AxisPass| array::from_fn(|i| pass(axes[i], levels[i]));
        let mut passes = each(Axis::downsample);
        let program = rules::downsample(steps, means.tiling, may_filter, beyond(&passes));
        if program.filters() {
            passes = each(Axis::downsample_filtered);
        }
        let target = self.intermediate(array::from_fn(|i| axes[i].extent(to[i]).length as u32).into());
        self.push(PassKind::Downsample, program, (source, target), UVec2::ZERO, passes);
        target
    }

    /// Blurs every layer into its tile. Returns the texture of all tiles, and their first texels.
    fn blur(&mut self, blurs: &[Blur], chain: &[Level]) -> (Surface, Vec<UVec2>) {
        let sizes: Vec<UVec2> = blurs
            .iter()
            .map(|blur| level_size(&blur.axes, blur.octaves()))
            .collect();
        let (size, places) = pack::atlas(&sizes);
        let level = |blur: &Blur| {
            let level = chain.iter().find(|(octaves, _)| *octaves == blur.octaves());
            level.expect("the chain leads past all layers").1
        };
        // Layers of a level have one program.
        let tiling = self.means.tiling;
        let reach = |blur: &Blur| {
            let of_level = blurs.iter().filter(|other| other.octaves() == blur.octaves());
            of_level
                .map(|other| reach_of_both(&other.axes, tiling))
                .max()
                .unwrap_or(0)
        };
        let tiles: Vec<(&Blur, Surface, UVec2)> = blurs
            .iter()
            .zip(&places)
            .map(|(blur, place)| (blur, level(blur), *place))
            .collect();
        let atlas = self.intermediate(size);
        if self.means.tiling != Tiling::None {
            for (blur, source, place) in tiles {
                self.convolve_both(blur, reach(blur), (source, atlas), place);
            }
            return (atlas, places);
        }
        let between = self.intermediate(size.max(self.region.size()));
        self.between = Some(between);
        for (blur, source, place) in &tiles {
            self.convolve(0, blur, (*source, between), [UVec2::ZERO, *place]);
        }
        for (blur, _, place) in &tiles {
            self.convolve(1, blur, (between, atlas), [*place; 2]);
        }
        (atlas, places)
    }

    /// Convolves along one axis, between tiles with these first texels.
    fn convolve(&mut self, along: usize, blur: &Blur, (source, target): (Surface, Surface), firsts: [UVec2; 2]) {
        let reach = rules::rounded_reach(blur.axes[along].reach(), Tiling::None);
        let axes = array::from_fn(|i| {
            let (axis, levels) = (&blur.axes[i], levels_of(&blur.axes[i], source));
            let pass = if i == along {
                axis.convolve(levels, reach)
            } else {
                axis.keep(levels)
            };
            pass.moved(firsts[0][i] as i32, firsts[1][i] as i32)
        });
        let kind = [PassKind::Horizontal, PassKind::Vertical][along];
        let program = rules::convolve(along, reach);
        self.push_tile(kind, program, (source, target), (firsts[1], blur), axes);
        // Columns are read by convolving along them.
        if let (PassKind::Horizontal, Some(needed)) = (kind, self.last_needed()) {
            needed.around[1] += blur.axes[1].reads_beyond();
        }
    }

    fn convolve_both(&mut self, blur: &Blur, reach: usize, (source, atlas): (Surface, Surface), place: UVec2) {
        let axes = array::from_fn(|i| {
            let axis = &blur.axes[i];
            axis.convolve(levels_of(axis, source), reach).moved(0, place[i] as i32)
        });
        let program = rules::convolve_both(reach, beyond(&axes));
        self.push_tile(PassKind::Blur, program, (source, atlas), (place, blur), axes);
    }

    /// The last pass. Returns the level that it writes, if that is left to somebody else.
    fn blend(&mut self, sharp: Surface) -> Option<u32> {
        let Self {
            means, finish, region, ..
        } = *self;
        let axes = self.axes(Vec2::ZERO, self.means.precision.rho());
        let level = (sharp != Surface::Source).then_some(0);
        let program = rules::blend(means.tiling, means.filtering, finish == Finish::Leave, level.is_some());
        let kind = PassKind::Blend;
        if finish == Finish::Leave {
            let target = self.intermediate(region.size());
            let passes = axes.each_ref().map(|axis| axis.keep((level, Some(0))));
            self.push(kind, program, (sharp, target), UVec2::ZERO, passes);
            self.left = Some(Pass {
                kind: PassKind::Upsample,
                program: rules::upsample([0; 2], Tiling::None, means.filtering),
                source: target,
                target: Surface::Destination,
                origin: region.min,
                size: region.size(),
                axes: axes.each_ref().map(|axis| axis.upsample((Some(0), None))),
                needed: None,
            });
            return Some(0);
        }
        let passes = axes.each_ref().map(|axis| axis.keep((level, None)));
        self.push(kind, program, (sharp, Surface::Destination), region.min, passes);
        None
    }
}

/// Writing passes down.
impl Builder {
    fn intermediate(&mut self, size: UVec2) -> Surface {
        self.intermediates.push(size);
        Surface::Intermediate(self.intermediates.len() - 1)
    }

    /// A pass that writes all of an intermediate, or the region.
    fn push(
        &mut self,
        kind: PassKind,
        program: Program,
        (source, target): (Surface, Surface),
        origin: UVec2,
        axes: [AxisPass; 2],
    ) {
        let size = match target {
            Surface::Intermediate(index) => self.intermediates[index],
            Surface::Source | Surface::Destination => self.region.size(),
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

    /// A pass that writes the tile of a layer.
    fn push_tile(
        &mut self,
        kind: PassKind,
        program: Program,
        surfaces: (Surface, Surface),
        (origin, blur): (UVec2, &Blur),
        axes: [AxisPass; 2],
    ) {
        self.push(kind, program, surfaces, origin, axes);
        if let Some(pass) = self.passes.last_mut() {
            pass.size = level_size(&blur.axes, blur.octaves());
            pass.needed = Some(blur.needed(origin));
        }
    }

    fn last_needed(&mut self) -> Option<&mut Needed> {
        self.passes.last_mut()?.needed.as_mut()
    }
}
