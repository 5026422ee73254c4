//! A sigma that varies over the picture.
//!
//! Every texel of the result is a Gaussian of the sharp picture, with the texel's own sigma. The whole picture is
//! blurred with a few sigmas, which gives the **sigma levels**, and the last pass blends the ones around a texel's
//! sigma.
//!
//! All sigma levels share one chain of octaves, as at the top of [`plan`](super): a sigma level is a residual Gaussian
//! of one level of it. They lie in one texture, the **atlas**, so that the last pass reads two textures, however many
//! sigma levels there are.
//!
//! Where sigma is below the weakest sigma level, a pass sums texels of the sharp picture with each texel's own sigma,
//! and the last pass reads the sums from a third texture. The threads of a compute pass share reads. A render pass sums
//! only rows, and the last pass sums columns of these sums: where sigma hardly varies along a column, rows with their
//! own sigma are as good. Elsewhere the last pass sums along both axes.
//!
//! [`sigma_levels`] decides which sigmas the sigma levels have, and how they are blended.

use super::axis::{Axis, least_sigma};
use super::builder::{Axes, Level, PassBuilder, each, level_size};
use super::pass::{BlurPlan, Finish, Needed, PassKind, PlanRequest, SigmaLevel, SigmaLevels, TextureSlot};
use super::{pack, select_program, sigma_levels};
use crate::program::{Beyond, Program, Tiling};
use bevy::math::{IVec2, UVec2, Vec2};
use core::array;
use core::ops::Range;

/// One blur of the whole picture.
struct Blur {
    sigma: f64,
    /// The least and the largest share of the largest sigma at which texels read it.
    readers: (f32, f32),
    axes: [Axis; 2],
}

impl Blur {
    fn octaves(&self) -> [u32; 2] {
        self.axes.each_ref().map(Axis::octaves)
    }

    /// The texels of the tile at this corner that are read.
    fn needed(&self, corner: UVec2) -> Needed {
        let octaves = self.octaves();
        Needed {
            shares: self.readers,
            octaves,
            first: array::from_fn(|i| self.axes[i].extent(octaves[i]).start - corner[i] as i32),
            // A spline reads two texels on either side.
            around: [2; 2],
        }
    }
}

/// The passes of a blur for sigmas from 0 to the one of the request.
pub(super) fn blur(request: &PlanRequest) -> BlurPlan {
    let mut builder = PassBuilder::new(request, Vec2::ZERO);
    let most = request.sigma.max_element();
    let aspect = request.sigma / most;
    let lines = sigma_levels::lines(aspect);
    let blurs = blurs(&builder, most, aspect, &lines);
    let chain = chain(&mut builder, &blurs);
    let (tiles, atlas) = tiles(&mut builder, &blurs);
    let between = convolve(&mut builder, &blurs, &chain, (&tiles, atlas));
    let sums = gather(&mut builder, between);
    let sharp = sharp(&mut builder, sums);
    if request.overwrites() && request.means.opaque {
        // The last pass skips texels that are not blurred.
        builder.identity(PassKind::Blend, Program::OpaqueFragment, (sums, Level::RESULT));
    }
    let target = blend(&mut builder, sharp);
    let sigma_level = |(blur, tile): (&Blur, &Level)| SigmaLevel {
        sigma: blur.sigma,
        origin: tile.corner,
        axes: each(blur.axes.each_ref(), (*tile, target), Axis::upsample),
    };
    builder.plan.sigma_levels = Some(SigmaLevels {
        atlas: tiles[0].surface,
        gathered: sigma_levels::gathered(f64::from(most)),
        lines,
        cutoff: request.means.precision.cutoff(),
        sums: sums.surface,
        aspect,
        origin: match request.finish {
            Finish::Write => IVec2::ZERO,
            Finish::Defer => request.region.min.as_ivec2(),
        },
        levels: blurs.iter().zip(&tiles).map(sigma_level).collect(),
    });
    let axes = builder.axes(Vec2::ZERO, request.means.precision.rho());
    builder.finish(axes.each_ref(), target);
    builder.plan
}

/// The blurs of all rungs up to the largest sigma, from weak to strong.
fn blurs(builder: &PassBuilder, most: f32, aspect: Vec2, lines: &Range<f64>) -> Vec<Blur> {
    let largest = f64::from(most);
    let rho = least_sigma(builder.request.edge, builder.request.means.precision);
    let fixed = sigma_levels::fixed_sigmas(largest).map(|sigma| (sigma, sigma_levels::RHO));
    let (sigmas, rhos): (Vec<f64>, Vec<f64>) = fixed.chain([(largest, rho)]).unzip();
    let blur = |(rung, (sigma, rho)): (usize, (&f64, f64))| Blur {
        sigma: *sigma,
        readers: shares(sigma_levels::readers(&sigmas, rung, lines), most),
        axes: builder.axes(*sigma as f32 * aspect, rho),
    };
    sigmas.iter().zip(rhos).enumerate().map(blur).collect()
}

/// Sigmas as shares of the largest one, widened a little because shaders round.
fn shares((low, high): (f64, f64), largest: f32) -> (f32, f32) {
    let share = |sigma: f64| (sigma / f64::from(largest)) as f32;
    let rounding = sigma_levels::ROUNDING as f32;
    ((1.0 - rounding) * share(low), (1.0 + rounding) * share(high))
}

/// The levels that the sigma levels need, each downsampled from an earlier one.
fn chain(builder: &mut PassBuilder, blurs: &[Blur]) -> Vec<Level> {
    let deepest: Axes = array::from_fn(|i| {
        let axes = blurs.iter().map(|blur| &blur.axes[i]);
        axes.max_by_key(|axis| axis.octaves())
            .expect("at least one sigma level")
    });
    let mut wanted: Vec<[u32; 2]> = blurs.iter().map(Blur::octaves).collect();
    wanted.sort_by_key(|octaves| octaves[0] + octaves[1]);
    let mut chain = vec![Level::PICTURE];
    for goal in wanted {
        // Usually the level before: stronger blurs have no fewer octaves along either axis.
        let leads_there = |level: &&Level| level.octaves[0] <= goal[0] && level.octaves[1] <= goal[1];
        let nearest = chain
            .iter()
            .filter(leads_there)
            .max_by_key(|level| level.octaves[0] + level.octaves[1]);
        let mut level = *nearest.expect("the picture itself leads everywhere");
        while level.octaves != goal {
            let next = array::from_fn(|i| goal[i].min(level.octaves[i] + 1));
            level = builder.downsample(deepest, level, next);
            chain.push(level);
        }
    }
    chain
}

/// The tiles of all sigma levels in one texture, and its size.
fn tiles(builder: &mut PassBuilder, blurs: &[Blur]) -> (Vec<Level>, UVec2) {
    let size = |blur: &Blur| level_size(blur.axes.each_ref(), blur.octaves());
    let sizes: Vec<UVec2> = blurs.iter().map(size).collect();
    let (size, corners) = pack::atlas(&sizes);
    let surface = builder.texture(size);
    let tile = |(blur, corner): (&Blur, UVec2)| Level {
        octaves: blur.octaves(),
        surface,
        corner,
    };
    (blurs.iter().zip(corners).map(tile).collect(), size)
}

/// Blurs every sigma level into its tile. Returns the texture between the two convolutions, if there are two passes.
fn convolve(
    builder: &mut PassBuilder,
    blurs: &[Blur],
    chain: &[Level],
    (tiles, atlas): (&[Level], UVec2),
) -> Option<TextureSlot> {
    let level = |blur: &Blur| {
        let level = chain.iter().find(|level| level.octaves == blur.octaves());
        *level.expect("the chain leads past all sigma levels")
    };
    if builder.request.means.tiling != Tiling::None {
        for (blur, tile) in blurs.iter().zip(tiles) {
            // Sigma levels of one level share a program.
            let of_level = blurs.iter().filter(|other| other.octaves() == blur.octaves());
            let reaches = of_level.map(|other| builder.reach_of_both(other.axes.each_ref()));
            let reach = reaches.max().unwrap_or(0);
            let pass = builder.convolve_both(reach, blur.axes.each_ref(), (level(blur), *tile));
            pass.needed = Some(blur.needed(tile.corner));
        }
        return None;
    }
    let surface = builder.texture(atlas.max(builder.request.region.size()));
    let through = |tile: &Level| Level { surface, ..*tile };
    for (blur, tile) in blurs.iter().zip(tiles) {
        let pass = builder.convolve(0, blur.axes.each_ref(), (level(blur), through(tile)));
        let mut needed = blur.needed(tile.corner);
        // The second convolution reads along columns.
        needed.around[1] += blur.axes[1].reads_beyond();
        pass.needed = Some(needed);
    }
    for (blur, tile) in blurs.iter().zip(tiles) {
        let pass = builder.convolve(1, blur.axes.each_ref(), (through(tile), *tile));
        pass.needed = Some(blur.needed(tile.corner));
    }
    Some(surface)
}

/// The sums of the sharp picture, or of its rows. Sums of rows reuse the texture between the convolutions.
fn gather(builder: &mut PassBuilder, between: Option<TextureSlot>) -> Level {
    let PlanRequest { region, means, .. } = builder.request;
    let surface = between.unwrap_or_else(|| builder.texture(region.size()));
    let sums = Level::at(surface, [0; 2]);
    let program = select_program::gather(means.tiling, means.filtering);
    builder.identity(PassKind::Gather, program, (Level::PICTURE, sums));
    sums
}

/// The level from which the last pass takes the sharp picture. A pass cannot read the texture that it writes: in place,
/// it takes a copy of the picture, which it sums, or converts where nothing is blurred. A compute pass that does neither
/// takes the sums, and reads nothing.
fn sharp(builder: &mut PassBuilder, sums: Level) -> Level {
    let PlanRequest { means, .. } = builder.request;
    if !builder.request.overwrites() {
        return Level::PICTURE;
    }
    if means.tiling != Tiling::None && means.leaves_unchanged() {
        return sums;
    }
    let copy = Level::at(builder.texture(builder.request.region.size()), [0; 2]);
    // Its values are decoded as in the first pass of a blur.
    let program = Program::convolve_fragment(Some([1; 2]), Beyond::Clamped);
    builder.identity(PassKind::Copy, program, (Level::PICTURE, copy));
    copy
}

/// The last pass. Returns its target: a level, if the last step is deferred.
fn blend(builder: &mut PassBuilder, sharp: Level) -> Level {
    let PlanRequest {
        region, means, finish, ..
    } = builder.request;
    let target = match finish {
        Finish::Write => Level::RESULT,
        Finish::Defer => Level::at(builder.texture(region.size()), [0; 2]),
    };
    let reads_copy = sharp != Level::PICTURE;
    let program = select_program::blend(means.tiling, means.filtering, finish == Finish::Defer, reads_copy);
    builder.identity(PassKind::Blend, program, (sharp, target));
    target
}
