//! Which program a pass runs. Plans use these rules, and so does the list of all programs.

use super::pass::{Finish, PlanRequest};
use crate::program::workgroups::IMAGE_MARGIN;
use crate::program::{Beyond, Cores, Filtering, Program, Sums, Tiling};
use crate::settings::EdgeMode;
use core::ops::RangeInclusive;

/// Every reach is a separate program, so there should be few. Beyond this one, and across edges, the reaches of render
/// passes are rounded up to even numbers: one texel more at either end costs little there.
const LAST_ODD_REACH: usize = 8;

/// Where both convolutions are one pass, four texels are convolved at a time.
const REACH_STEP_OF_BOTH: usize = 4;

/// The most octaves, along x and y together, of a level on which programs for single kernels are faster: those of a short
/// reach, and others. On a smaller level, the program that serves any kernel is faster, because its code is short.
const MOST_OCTAVES_OF_SHORT: u32 = 4;
const MOST_OCTAVES_OF_LONG: u32 = 2;
const LONGEST_SHORT_REACH: usize = 8;

/// The texels of pictures for which three octaves in the first pass are faster if they save a pass. A larger picture takes longer to
/// read in overlapping tiles than a pass takes to start. One of a few tiles waits for the slowest of them.
const TEXELS_FOR_THREE: RangeInclusive<u32> = 1 << 16..=1 << 22;

/// The largest picture, in texels, and the longest reach on any larger one, for which a convolution in the upsample of every tile is
/// faster than a pass. A pass takes some time to start; a tile convolves again what lies around it, which grows with the reach.
const TEXELS_TO_CONVOLVE_IN_TILES: u32 = 1 << 22;
const REACH_TO_CONVOLVE_IN_TILES: usize = 12;

/// How many of the remaining octaves the next pass does.
///
/// With a third octave, the tiles of a pass overlap so much that on a large picture itself the octave costs more than a
/// small extra pass. Passes over small levels take little more than the time to start, so fewer passes are better. But blurs
/// of one batch have to agree on their first octaves, to share them, and tiles at an edge that folds take long.
pub fn octaves_of_a_pass(done: u32, left: u32, request: &PlanRequest) -> u32 {
    let cores = match request.means.tiling {
        Tiling::None => return 1,
        Tiling::Tiled { cores, .. } => cores,
    };
    let size = request.region.size();
    let has_three = cores != Cores::Software
        && (request.edge, request.finish) == (EdgeMode::Clamp, Finish::Write)
        && TEXELS_FOR_THREE.contains(&size.x.saturating_mul(size.y));
    match done {
        0 if has_three && left.is_multiple_of(3) => 3,
        0 => left.min(2),
        _ => left.div_ceil(left.div_ceil(3)),
    }
}

/// Goes to a coarser level, by this many source texels per target texel along x and y.
pub fn downsample(steps: [u32; 2], of_level: bool, tiling: Tiling, may_filter: bool, beyond: Beyond) -> Program {
    match tiling {
        Tiling::Tiled { .. } => Program::DownsampleCompute {
            steps: Some(steps),
            of_level,
            beyond,
        },
        Tiling::None if may_filter && steps == [2; 2] => Program::DownsampleFragment,
        // The width of five convolved boxes of `step` texels.
        Tiling::None => Program::convolve_fragment(Some(steps.map(|step| 5 * (step - 1) + 1)), beyond),
    }
}

/// The reach, in texels, of the program that serves a kernel of this reach: the same or a little larger.
pub fn rounded_reach(reach: usize, tiling: Tiling, beyond: Beyond) -> usize {
    match tiling {
        Tiling::None if reach <= LAST_ODD_REACH && beyond == Beyond::Clamped => reach,
        Tiling::None => reach.next_multiple_of(2),
        Tiling::Tiled { .. } => reach.next_multiple_of(REACH_STEP_OF_BOTH),
    }
}

/// Convolves along one axis, 0 for x and 1 for y, with a kernel of a [`rounded_reach`].
pub fn convolve(axis: usize, reach: usize, beyond: Beyond) -> Program {
    let mut texels = [1; 2];
    texels[axis] = 2 * reach as u32 + 1;
    Program::convolve_fragment(Some(texels), beyond)
}

/// Convolves a level that is coarser by these octaves along both axes at once, with kernels of a [`rounded_reach`], or
/// of a [`reach_with_images`].
pub fn convolve_both(reach: usize, octaves: [u32; 2], beyond: Beyond, tiling: Tiling) -> Program {
    let most = if reach <= LONGEST_SHORT_REACH {
        MOST_OCTAVES_OF_SHORT
    } else {
        MOST_OCTAVES_OF_LONG
    };
    let octaves = octaves[0] + octaves[1];
    let single = (octaves <= most).then_some(reach as u32);
    let has_halves = matches!(tiling, Tiling::Tiled { cores, .. } if cores == Cores::GpuWithHalves);
    match single.filter(|_| has_halves && beyond == Beyond::Clamped) {
        Some(reach) => Program::ConvolveHalvesCompute(reach),
        None => Program::convolve_compute(single, octaves > 0, beyond),
    }
}

/// The reach of a program that convolves both axes at once, for kernels of this reach, and images that reach farther.
pub fn reach_with_images(reach: usize, images: usize, tiling: Tiling) -> usize {
    let reach = reach.max(images.saturating_sub(IMAGE_MARGIN as usize));
    rounded_reach(reach, tiling, Beyond::Images)
}

/// Sums the sharp picture where sigma is small, or its rows.
pub fn gather(tiling: Tiling, filtering: Filtering) -> Program {
    match tiling {
        Tiling::Tiled { .. } => Program::GatherCompute,
        Tiling::None => Program::GatherFragment {
            filtered: filtering.source,
        },
    }
}

/// Blends sigma levels with the sharp picture, the source or a copy of it, and writes the destination, or an
/// intermediate if the last step is deferred.
pub fn blend(tiling: Tiling, filtering: Filtering, defers: bool, reads_copy: bool) -> Program {
    let filtered = filtering.spline;
    let may_filter = if reads_copy {
        filtering.intermediates
    } else {
        filtering.source
    };
    match tiling {
        Tiling::Tiled { stores, .. } if stores || defers => Program::BlendCompute,
        Tiling::Tiled { .. } => Program::BlendFragment {
            filtered,
            sums: Sums::Gathered,
        },
        Tiling::None => Program::BlendFragment {
            filtered,
            sums: if filtered && may_filter {
                Sums::Filtered
            } else {
                Sums::Texels
            },
        },
    }
}

/// Interpolates a level that is coarser by these octaves along x and y, and writes the destination.
pub fn upsample(octaves: [u32; 2], tiling: Tiling, filtering: Filtering) -> Program {
    match tiling {
        Tiling::Tiled { stores: true, cores } => Program::upsample_compute(octaves, cores),
        _ => Program::UpsampleFragment {
            filtered: filtering.spline && octaves[0] > 0 && octaves[1] > 0,
        },
    }
}

/// Convolves a level that is coarser by these octaves, and interpolates it in the same pass, if that is faster.
pub fn blur_and_upsample(octaves: [u32; 2], reach: usize, request: &PlanRequest) -> Option<Program> {
    let size = request.region.size();
    let is_small = size.x.saturating_mul(size.y) <= TEXELS_TO_CONVOLVE_IN_TILES;
    match request.means.tiling {
        Tiling::Tiled { stores: true, cores } if is_small || reach <= REACH_TO_CONVOLVE_IN_TILES => {
            Program::blur_upsample_compute(octaves, reach as u32, cores)
        }
        _ => None,
    }
}
