//! The sizes of tiles, workgroups and their memory, and the numbers that shaders are compiled with.

use super::{Beyond, Cell, Cores, Program};
use bevy::math::UVec2;

/// The largest reach of a kernel, in texels. A kernel of two rho ends at the cutoff.
pub const MAX_REACH: u32 = 16;

/// How much farther the weights of images reach, in compute passes.
pub const IMAGE_MARGIN: u32 = 8;

/// How many neighbouring texels [`Program::ConvolveFragment`] reads at once across an edge.
const CONVOLVE_AT_ONCE: u32 = 4;

/// The tiles of [`Program::ConvolveCompute`]. Each thread sums `CONVOLVE_DOWN` texels of a column, then
/// `CONVOLVE_ACROSS` of a row. The shaders hold four sums in a matrix, and fail to compile with other numbers.
///
/// A tile also sums columns on either side of it: the farther a kernel reaches, the wider a tile should be. On levels,
/// with fewer texels, smaller tiles are faster, because more of them run at once.
const CONVOLVE_TILE: UVec2 = UVec2::new(64, 16);
const CONVOLVE_WIDE_TILE: UVec2 = UVec2::new(128, 8);
const CONVOLVE_WIDE_FROM: u32 = 12;
const CONVOLVE_LEVEL_TILE: UVec2 = UVec2::new(64, 8);
const CONVOLVE_DOWN: u32 = 8;
const CONVOLVE_ACROSS: u32 = 4;
/// The distances of reads from the texels that a thread sums, including those of images.
const CONVOLVE_DISTANCES: u32 = MAX_REACH + IMAGE_MARGIN + CONVOLVE_DOWN;
const _: () = assert!(MAX_REACH.is_multiple_of(CONVOLVE_ACROSS) && IMAGE_MARGIN.is_multiple_of(CONVOLVE_ACROSS));
const _: () = assert!(sums_all_columns(CONVOLVE_TILE, CONVOLVE_WIDE_FROM - CONVOLVE_ACROSS));
const _: () = assert!(sums_all_columns(CONVOLVE_WIDE_TILE, MAX_REACH));
const _: () = assert!(sums_all_columns(CONVOLVE_LEVEL_TILE, MAX_REACH + IMAGE_MARGIN));

/// Whether a tile has enough threads, and not too many, and whether it fits in workgroup memory: half floats, the
/// weights on all sides of both axes, and the kind of the tile.
const fn sums_all_columns(tile: UVec2, halo: u32) -> bool {
    let columns = tile.x + 2 * halo;
    let (threads, bytes) = (
        convolve_threads(tile),
        columns * tile.y * 8 + 8 * CONVOLVE_DISTANCES * 4 + 4,
    );
    let has_threads = columns * (tile.y / CONVOLVE_DOWN) <= threads && threads <= WORKGROUP_THREADS;
    // The results are stored sixteen columns at a time.
    has_threads && bytes <= WORKGROUP_BYTES && tile.x.is_multiple_of(16)
}

/// Each thread sums as many texels of a row.
const fn convolve_threads(tile: UVec2) -> u32 {
    tile.x * tile.y / CONVOLVE_ACROSS
}

/// The tile of [`Program::ConvolveHalvesCompute`]: each thread sums the rows of a column, and there are as many columns as threads
/// suffice for, in runs of a row for each thread. Few threads wait at a barrier, and long runs read little twice.
const HALVES_THREADS: u32 = 128;
const HALVES_ROWS: u32 = CONVOLVE_DOWN;
const _: () = assert!(halves_tile(MAX_REACH).x + 2 * MAX_REACH <= HALVES_THREADS);
// Half floats, with rows a little longer than the threads.
const _: () = assert!((HALVES_THREADS + 8) * HALVES_ROWS * 8 <= WORKGROUP_BYTES);

const fn halves_tile(reach: u32) -> UVec2 {
    let threads_of_row = HALVES_THREADS / HALVES_ROWS;
    let columns = HALVES_THREADS - 2 * reach;
    // More texels of a row than these do not stay in registers.
    let run = columns / threads_of_row;
    let run = if run < HALVES_LONGEST_RUN {
        run
    } else {
        HALVES_LONGEST_RUN
    };
    UVec2::new(run * threads_of_row, HALVES_ROWS)
}
const HALVES_LONGEST_RUN: u32 = 7;

/// The threads of [`Program::DownsampleCompute`], one for each source column of a tile.
const DOWNSAMPLE_THREADS: u32 = 128;
/// The most and the fewest rows of its tiles.
const DOWNSAMPLE_MOST_ROWS: u32 = 8;
const DOWNSAMPLE_LEAST_ROWS: u32 = 1;
/// The tile if every thread computes one texel.
const DOWNSAMPLE_ANY_TILE: UVec2 = UVec2::new(16, DOWNSAMPLE_THREADS / 16);

/// The tile of [`Program::UpsampleCompute`]: high and narrow, like the memory layout of textures. Two threads share
/// [`UPSAMPLE_WALK`] rows of a column, which lie in one cell of the level, or in whole ones.
const UPSAMPLE_TILE: UVec2 = UVec2::new(16, 64);
/// With one octave, a tile needs many coarse rows, and a lower one is faster, unless a cell shares the loads.
const UPSAMPLE_TILE_OF_OCTAVE: UVec2 = UVec2::new(16, 32);
const UPSAMPLE_WALK: u32 = 1 << UPSAMPLE_WALK_OCTAVES;
const UPSAMPLE_WALK_OCTAVES: u32 = 4;
/// The threads if every texel is computed on its own.
const UPSAMPLE_ANY_THREADS: u32 = 256;

/// The most octaves with which the texels of a cell share loads. With more octaves, loads are few beside texels.
const SHARING_OCTAVES: u32 = 2;

/// The tile of [`Program::BlurUpsampleCompute`], and how far its threads walk.
const BLUR_UPSAMPLE_TILE: UVec2 = UVec2::splat(64);
const BLUR_UPSAMPLE_THREADS: u32 = 256;
const BLUR_UPSAMPLE_WALK: u32 = 2 * BLUR_UPSAMPLE_TILE.x * BLUR_UPSAMPLE_TILE.y / BLUR_UPSAMPLE_THREADS;
/// The fewest octaves with which convolving some texels of a level again in every tile is faster than a pass.
const BLUR_UPSAMPLE_OCTAVES: u32 = 4;
const _: () = assert!(BLUR_UPSAMPLE_THREADS <= WORKGROUP_THREADS);
const _: () = assert!(blur_upsample_bytes(1 << BLUR_UPSAMPLE_OCTAVES, MAX_REACH) <= WORKGROUP_BYTES);

/// How many texels of a row share reads of the level: four always lie in one cell.
const BLUR_UPSAMPLE_SHARING: u32 = 4;

/// How many texels of the blurred level a tile needs along an axis, and how many texels of the level it reads to blur them.
const fn blur_upsample_sides(cell: u32, reach: u32) -> [u32; 2] {
    let side = BLUR_UPSAMPLE_TILE.x / cell + 3;
    [side, side + 2 * reach]
}

/// The texels that a tile has room for: of the level, then of the interpolated rows and, behind them, the blurred level.
const fn blur_upsample_room(cell: u32, reach: u32) -> u32 {
    let [side, staged] = blur_upsample_sides(cell, reach);
    let (level, rows) = (staged * staged, side * (BLUR_UPSAMPLE_TILE.x + 1 + side));
    if level > rows { level } else { rows }
}

/// Half floats of these, and of the sums of columns, and full floats for each row.
const fn blur_upsample_bytes(cell: u32, reach: u32) -> u32 {
    let [side, staged] = blur_upsample_sides(cell, reach);
    (blur_upsample_room(cell, reach) + side * staged) * 8 + BLUR_UPSAMPLE_TILE.y * 16
}

/// The tile of [`Program::GatherCompute`]. Each thread sums eight texels of a column and four of a row. A square of
/// tiles may be transposed.
const GATHER_TILE: UVec2 = UVec2::new(64, 16);
const _: () = assert!(GATHER_TILE.x.is_multiple_of(GATHER_TILE.y));
const GATHER_THREADS: u32 = GATHER_TILE.x * GATHER_TILE.y / CONVOLVE_ACROSS;
// Four rows are read at a time.
const GATHER_DISTANCES: u32 = GATHER_REACH.next_multiple_of(4) + CONVOLVE_DOWN;
const GATHER_COLUMNS: u32 = GATHER_TILE.x + 2 * GATHER_REACH;
/// The farthest reach of a sum, rounded up so that rows of a tile can be interleaved.
pub const GATHER_REACH: u32 = 10;
/// The rungs that a tile may be convolved with: all rungs of sigmas for which the sharp picture is summed. This many
/// are below 1, down to 2^(-29/12), and the others go up to 2^(10/8).
const GATHER_RUNGS_BELOW: u32 = 29;
const GATHER_RUNGS: u32 = GATHER_RUNGS_BELOW + 1 + 10;
const _: () = assert!(GATHER_COLUMNS.is_multiple_of(CONVOLVE_ACROSS));
const _: () = assert!(GATHER_COLUMNS * (GATHER_TILE.y / CONVOLVE_DOWN) <= GATHER_THREADS);
const _: () = assert!(GATHER_RUNGS <= 64 && GATHER_THREADS <= WORKGROUP_THREADS);
const GATHER_STRIPS: u32 = GATHER_TILE.y / CONVOLVE_DOWN;
const _: () = assert!(2 * GATHER_DISTANCES * GATHER_STRIPS <= GATHER_THREADS);
// Half floats; for each strip its rungs, and the weights and their slopes of two convolutions; the most rungs of a
// strip.
const GATHER_BYTES_OF_STRIP: u32 = 8 + 2 * (2 * GATHER_DISTANCES * 8 + 16);
const _: () =
    assert!(GATHER_COLUMNS * GATHER_TILE.y * 8 + GATHER_STRIPS * GATHER_BYTES_OF_STRIP + 4 <= WORKGROUP_BYTES);

/// The tile of [`Program::BlendCompute`], two texels for each thread, and the most coarse rows that it needs.
const BLEND_TILE: UVec2 = UVec2::new(16, 32);
const BLEND_THREADS_Y: u32 = BLEND_TILE.y / 2;
const BLEND_ROWS: u32 = (BLEND_TILE.y >> 1) + 4;
const _: () = assert!(LEAST_TILE_SIDE <= BLEND_TILE.x && BLEND_TILE.x * BLEND_THREADS_Y <= WORKGROUP_THREADS);
// Full floats of two sigma levels, and a bit for each sigma level.
const _: () = assert!(2 * BLEND_ROWS * BLEND_TILE.x * 16 + 16 <= WORKGROUP_BYTES);

/// The most threads of a workgroup, and the most bytes of its memory.
pub const WORKGROUP_THREADS: u32 = 256;
pub const WORKGROUP_BYTES: u32 = 16 << 10;
const _: () = assert!(DOWNSAMPLE_THREADS <= WORKGROUP_THREADS);
const _: () = assert!(UPSAMPLE_ANY_THREADS <= WORKGROUP_THREADS);
/// The least width or height of a tile. It limits the number of workgroups in a dispatch.
pub const LEAST_TILE_SIDE: u32 = DOWNSAMPLE_LEAST_ROWS;
const _: () = assert!(LEAST_TILE_SIDE <= DOWNSAMPLE_ANY_TILE.y && LEAST_TILE_SIDE <= UPSAMPLE_TILE.x);
// Downsampling keeps a padded row of half floats, upsampling half floats of the rows that one octave needs, and full
// floats for each row.
const _: () = assert!((DOWNSAMPLE_THREADS + 16) * DOWNSAMPLE_MOST_ROWS * 8 <= WORKGROUP_BYTES);
const _: () =
    assert!(upsample_room(UPSAMPLE_TILE, Cell { sharing: 2, rows: 2 }) * 8 + UPSAMPLE_TILE.y * 16 <= WORKGROUP_BYTES);

/// The texels of the coarse rows that a tile needs, interpolated horizontally. If reads are shared, each row has one more.
const fn upsample_room(tile: UVec2, cell: Cell) -> u32 {
    (tile.y / cell.rows + 4) * (tile.x + if cell.sharing > 1 { 1 } else { 0 })
}

/// The rows of a tile that downsamples by this step. With more rows, fewer source texels are read twice, but the code of
/// the larger steps becomes long. The fewer rows, the sooner a tile of a level is done.
const fn downsample_rows(step: u32, of_level: bool) -> u32 {
    match (step, of_level) {
        (2, false) => DOWNSAMPLE_MOST_ROWS,
        (_, false) => 6,
        (8, true) => DOWNSAMPLE_LEAST_ROWS,
        (_, true) => 2,
    }
}

impl Program {
    /// The program that upsamples from a level that is coarser by these octaves.
    pub fn upsample_compute(octaves: [u32; 2], cores: Cores) -> Self {
        let shares = cores != Cores::Software && octaves[0] == octaves[1] && octaves[0] <= SHARING_OCTAVES;
        let cell = |rows| Cell {
            sharing: if shares { 1 << octaves[0] } else { 1 },
            rows,
        };
        match octaves[1] {
            // The rows are the target's own: threads have nothing to share.
            0 => Self::UpsampleCompute(None),
            octaves => Self::UpsampleCompute(Some(cell(1 << octaves.min(UPSAMPLE_WALK_OCTAVES)))),
        }
    }

    /// The program that convolves a level that is coarser by these octaves, with kernels of this reach, and upsamples from it, if
    /// that is faster than two passes.
    #[must_use]
    pub fn blur_upsample_compute(octaves: [u32; 2], reach: u32, cores: Cores) -> Option<Self> {
        let is_small = octaves[0] == octaves[1] && octaves[0] >= BLUR_UPSAMPLE_OCTAVES;
        let cell = BLUR_UPSAMPLE_WALK.min(1 << octaves[0].min(31));
        (is_small && cores != Cores::Software).then_some(Self::BlurUpsampleCompute {
            cell_and_reach: Some([cell, reach]),
        })
    }

    /// The texels that a workgroup writes, `None` for a program of a render pass.
    pub fn tile(self) -> Option<UVec2> {
        match self {
            Self::CopyFragment | Self::OpaqueFragment | Self::MipmapFragment | Self::DownsampleFragment => None,
            Self::ConvolveFragment { .. } | Self::UpsampleFragment { .. } => None,
            Self::BlendFragment { .. } | Self::GatherFragment { .. } => None,
            // As many columns as the threads' source columns suffice for.
            Self::DownsampleCompute {
                steps: Some([x, y]),
                of_level,
                ..
            } => {
                let columns = (DOWNSAMPLE_THREADS - (5 * (x - 1) + 1)) / x + 1;
                Some(UVec2::new(columns, downsample_rows(y, of_level)))
            }
            Self::DownsampleCompute { steps: None, .. } => Some(DOWNSAMPLE_ANY_TILE),
            Self::ConvolveCompute { reach: None, .. } | Self::ConvolveCompute { of_level: true, .. } => {
                Some(CONVOLVE_LEVEL_TILE)
            }
            Self::ConvolveCompute {
                reach: Some(CONVOLVE_WIDE_FROM..),
                ..
            } => Some(CONVOLVE_WIDE_TILE),
            Self::ConvolveCompute { reach: Some(_), .. } => Some(CONVOLVE_TILE),
            Self::ConvolveHalvesCompute(reach) => Some(halves_tile(reach)),
            Self::UpsampleCompute(Some(Cell { sharing: 1, rows: 2 })) => Some(UPSAMPLE_TILE_OF_OCTAVE),
            Self::UpsampleCompute(_) => Some(UPSAMPLE_TILE),
            Self::BlurUpsampleCompute { .. } => Some(BLUR_UPSAMPLE_TILE),
            Self::GatherCompute => Some(GATHER_TILE),
            Self::BlendCompute => Some(BLEND_TILE),
        }
    }

    /// How many workgroups write this many texels, `None` for a program of a render pass. The tiles of
    /// [`Self::UpsampleCompute`] and [`Self::BlurUpsampleCompute`] begin at a cell, which may begin before the first texel.
    pub fn workgroups(self, texels: UVec2) -> Option<UVec2> {
        let before = match self {
            Self::UpsampleCompute(Some(cell)) => UVec2::new(cell.sharing, cell.rows) - 1,
            Self::BlurUpsampleCompute { cell_and_reach } => {
                UVec2::splat(cell_and_reach.map_or(BLUR_UPSAMPLE_WALK, |numbers| numbers[0]) - 1)
            }
            _ => UVec2::ZERO,
        };
        let tile = self.tile()?;
        let texels = texels + before;
        Some(UVec2::new(texels.x.div_ceil(tile.x), texels.y.div_ceil(tile.y)))
    }

    /// The numbers that the shader is compiled with.
    pub fn numbers(self) -> Vec<(&'static str, u32)> {
        let mut numbers = match self {
            Self::CopyFragment | Self::OpaqueFragment | Self::MipmapFragment | Self::DownsampleFragment => Vec::new(),
            Self::UpsampleFragment { .. } | Self::ConvolveFragment { texels: None, .. } => Vec::new(),
            Self::BlendFragment { .. } | Self::GatherFragment { .. } => Vec::new(),
            Self::BlendCompute => vec![("THREADS_Y", BLEND_THREADS_Y), ("ROWS", BLEND_ROWS)],
            Self::GatherCompute => vec![
                ("THREADS", GATHER_THREADS),
                ("HALO", GATHER_REACH),
                ("DISTANCES", GATHER_DISTANCES),
                ("RUNGS", GATHER_RUNGS),
                ("RUNGS_BELOW", GATHER_RUNGS_BELOW),
            ],
            Self::ConvolveFragment {
                texels: Some([x, y]), ..
            } => {
                vec![
                    ("TEXELS_X", x),
                    ("TEXELS_Y", y),
                    ("AT_ONCE", x.max(y).min(CONVOLVE_AT_ONCE)),
                ]
            }
            Self::DownsampleCompute { steps: None, .. } => vec![("THREADS", DOWNSAMPLE_THREADS)],
            Self::DownsampleCompute {
                steps: Some([x, y]), ..
            } => {
                vec![("THREADS", DOWNSAMPLE_THREADS), ("STEP_X", x), ("STEP_Y", y)]
            }
            Self::ConvolveCompute { reach, beyond, .. } => {
                let margin = if beyond == Beyond::Images { IMAGE_MARGIN } else { 0 };
                let reach = reach.unwrap_or(MAX_REACH);
                let threads = self.tile().map_or(0, convolve_threads);
                vec![
                    ("THREADS", threads),
                    ("REACH", reach),
                    ("HALO", reach + margin),
                    ("DISTANCES", CONVOLVE_DISTANCES),
                ]
            }
            Self::UpsampleCompute(None) => vec![("THREADS", UPSAMPLE_ANY_THREADS)],
            Self::UpsampleCompute(Some(cell)) => {
                let tile = self.tile().unwrap_or_default();
                vec![
                    ("THREADS", 2 * tile.element_product() / UPSAMPLE_WALK),
                    ("CELL", cell.rows),
                    ("SHARING", cell.sharing),
                    ("ROOM", upsample_room(tile, cell)),
                ]
            }
            Self::BlurUpsampleCompute { cell_and_reach } => {
                // The least cell and the largest reach need the most memory.
                let [cell, reach] = cell_and_reach.unwrap_or([1 << BLUR_UPSAMPLE_OCTAVES, MAX_REACH]);
                vec![
                    ("THREADS", BLUR_UPSAMPLE_THREADS),
                    ("CELL", cell),
                    ("SHARING", BLUR_UPSAMPLE_SHARING),
                    ("REACH", reach),
                    ("ROOM", blur_upsample_room(cell, reach)),
                ]
            }
            Self::ConvolveHalvesCompute(reach) => vec![("THREADS", HALVES_THREADS), ("REACH", reach)],
        };
        if matches!(self, Self::ConvolveCompute { .. } | Self::GatherCompute) {
            numbers.extend([("DOWN", CONVOLVE_DOWN), ("ACROSS", CONVOLVE_ACROSS)]);
        }
        if let Some(tile) = self.tile() {
            numbers.extend([("WIDTH", tile.x), ("HEIGHT", tile.y)]);
        }
        numbers
    }
}
