//! The sizes of tiles, workgroups and their memory, and the numbers that shaders are compiled with.

use super::{Beyond, Program};
use bevy::math::UVec2;

/// The largest reach of a kernel, in texels. A kernel of two rho ends at the cutoff.
pub const MAX_REACH: u32 = 16;

/// How much farther the weights of images reach, in compute passes.
pub const IMAGE_MARGIN: u32 = 8;

/// How many neighbouring texels [`Program::ConvolveFragment`] reads at once across an edge.
const CONVOLVE_AT_ONCE: u32 = 4;

/// The tile of [`Program::ConvolveCompute`]. Each thread sums `CONVOLVE_DOWN` texels of a column, then
/// `CONVOLVE_ACROSS` of a row. The shaders have one variable for each sum, and fail to compile with another number.
const CONVOLVE_TILE: UVec2 = UVec2::new(64, 16);
const CONVOLVE_DOWN: u32 = 8;
const CONVOLVE_ACROSS: u32 = 4;
const CONVOLVE_COLUMNS: u32 = CONVOLVE_TILE.x + 2 * (MAX_REACH + IMAGE_MARGIN);
const CONVOLVE_THREADS: u32 = CONVOLVE_TILE.x * CONVOLVE_TILE.y / CONVOLVE_ACROSS;
const _: () = assert!(CONVOLVE_COLUMNS * (CONVOLVE_TILE.y / CONVOLVE_DOWN) <= CONVOLVE_THREADS);
const _: () = assert!(MAX_REACH.is_multiple_of(CONVOLVE_ACROSS) && IMAGE_MARGIN.is_multiple_of(CONVOLVE_ACROSS));

/// The threads of [`Program::DownsampleCompute`], one for each source column of a tile, and the rows of its tiles.
const DOWNSAMPLE_THREADS: u32 = 128;
const DOWNSAMPLE_ROWS: u32 = 6;
/// The tile if every thread computes one texel.
const DOWNSAMPLE_ANY_TILE: UVec2 = UVec2::new(16, DOWNSAMPLE_THREADS / 16);

/// The tile of [`Program::UpsampleCompute`]: high and narrow, like the memory layout of textures. A thread computes
/// every [`UPSAMPLE_THREADS_Y`]th row of a column.
const UPSAMPLE_TILE: UVec2 = UVec2::new(16, 64);
const UPSAMPLE_THREADS_Y: u32 = 16;

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
pub const WORKGROUP_BYTES: u32 = CONVOLVE_COLUMNS * CONVOLVE_TILE.y * 8 + CONVOLVE_THREADS * 4 + 4;
const _: () = assert!(CONVOLVE_THREADS <= WORKGROUP_THREADS && DOWNSAMPLE_THREADS <= WORKGROUP_THREADS);
const _: () = assert!(UPSAMPLE_TILE.x * UPSAMPLE_THREADS_Y <= WORKGROUP_THREADS);
/// The least width or height of a tile. It limits the number of workgroups in a dispatch.
pub const LEAST_TILE_SIDE: u32 = DOWNSAMPLE_ROWS;
const _: () = assert!(LEAST_TILE_SIDE <= DOWNSAMPLE_ANY_TILE.y && LEAST_TILE_SIDE <= UPSAMPLE_TILE.x);
// Each thread lays out one weight of the images, of two axes with four tables each.
const _: () = assert!(8 * (MAX_REACH + IMAGE_MARGIN + CONVOLVE_DOWN) <= CONVOLVE_THREADS);
// The results of a convolution are stored sixteen columns at a time.
const _: () = assert!(CONVOLVE_THREADS == 16 * CONVOLVE_TILE.y);
// Downsampling keeps a padded row of half floats, upsampling full floats of the rows that one octave needs.
const _: () = assert!((DOWNSAMPLE_THREADS + 16) * DOWNSAMPLE_ROWS * 8 <= WORKGROUP_BYTES);
const _: () = assert!((UPSAMPLE_TILE.y / 2 + 4) * UPSAMPLE_TILE.x * 16 <= WORKGROUP_BYTES);

impl Program {
    /// The program that upsamples from rows that are coarser by this many octaves.
    #[must_use]
    pub const fn upsample_compute(octaves: u32) -> Self {
        match octaves {
            // The rows are the target's own: threads have nothing to share.
            0 => Self::UpsampleCompute(None),
            1 => Self::UpsampleCompute(Some((UPSAMPLE_TILE.y >> 1) + 4)),
            2 => Self::UpsampleCompute(Some((UPSAMPLE_TILE.y >> 2) + 4)),
            // With fewer rows, no more tiles could run at once.
            _ => Self::UpsampleCompute(Some((UPSAMPLE_TILE.y >> 3) + 4)),
        }
    }

    /// The texels that a workgroup writes, `None` for a program of a render pass.
    #[must_use]
    pub fn tile(self) -> Option<UVec2> {
        match self {
            Self::CopyFragment | Self::OpaqueFragment | Self::MipmapFragment | Self::DownsampleFragment => None,
            Self::ConvolveFragment { .. } | Self::UpsampleFragment { .. } => None,
            Self::BlendFragment { .. } | Self::GatherFragment { .. } => None,
            // As many columns as the threads' source columns suffice for.
            Self::DownsampleCompute {
                steps: Some([step, _]), ..
            } => {
                let columns = (DOWNSAMPLE_THREADS - (5 * (step - 1) + 1)) / step + 1;
                Some(UVec2::new(columns, DOWNSAMPLE_ROWS))
            }
            Self::DownsampleCompute { steps: None, .. } => Some(DOWNSAMPLE_ANY_TILE),
            Self::ConvolveCompute { .. } => Some(CONVOLVE_TILE),
            Self::UpsampleCompute(_) => Some(UPSAMPLE_TILE),
            Self::GatherCompute => Some(GATHER_TILE),
            Self::BlendCompute => Some(BLEND_TILE),
        }
    }

    /// The numbers that the shader is compiled with.
    #[must_use]
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
            Self::ConvolveCompute { reach, beyond } => {
                let reach = reach.unwrap_or(MAX_REACH);
                let halo = reach + if beyond == Beyond::Images { IMAGE_MARGIN } else { 0 };
                vec![("THREADS", CONVOLVE_THREADS), ("REACH", reach), ("HALO", halo)]
            }
            Self::UpsampleCompute(rows) => {
                let threads = ("THREADS_Y", UPSAMPLE_THREADS_Y);
                rows.map_or(vec![threads], |rows| vec![threads, ("ROWS", rows)])
            }
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
