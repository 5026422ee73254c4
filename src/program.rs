//! Every program that a pass can run: its shader, the texels of its workgroups, and the numbers that it is
//! compiled for. Plain values: no GPU.
//!
//! Most programs come in two versions. One is compiled for a single kernel: compilers unroll loops whose ends they know,
//! which is worth a factor. The other serves *any* kernel, with loops that end where the uniform says. Those are few, so they
//! are there from the start, and a kernel that no blur has had before never has to be waited for.

use bevy::math::UVec2;

/// What a pass runs. The value in an [`Option`] is what the program is compiled for; `None` serves any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Program {
    /// Render: one texel as it is.
    CopyFragment,
    /// Render: alpha alone, as 1.
    OpaqueFragment,
    /// Render: the mean of what a texel of the next mip level covers.
    MipmapFragment,
    /// Render: half the resolution along both axes, with filtered fetches.
    DownsampleFragment,
    /// Render: a weighted sum of so many neighbouring texels along x and y.
    ConvolveFragment(Option<[u32; 2]>),
    /// Render: a blend of blurs, interpolated with the cubic B-spline.
    BlendFragment {
        /// With filtered fetches, or else texel by texel.
        filtered: bool,
        /// Where the weakest blurs come from.
        sums: Sums,
    },
    /// Render: the cubic B-spline.
    UpsampleFragment {
        /// With filtered fetches, or else texel by texel.
        filtered: bool,
    },
    /// Render: sums of rows of the sharp picture, each texel with its own sigma.
    GatherFragment {
        /// Of filtered fetches, or else texel by texel.
        filtered: bool,
    },
    /// Compute: goes to a coarser level.
    DownsampleCompute {
        /// Source texels per target texel along x and y.
        steps: Option<[u32; 2]>,
        /// What lies beyond the bounds. There are no images.
        beyond: Beyond,
    },
    /// Compute: both convolutions.
    ConvolveCompute {
        /// How many texels the kernels reach.
        reach: Option<u32>,
        /// What lies beyond the bounds.
        beyond: Beyond,
    },
    /// Compute: sums of the sharp picture, each texel with its own sigma.
    GatherCompute,
    /// Compute: a blend of blurs and [gathered](Sums::Gathered) sums, interpolated with the cubic B-spline.
    BlendCompute,
    /// Compute: the cubic B-spline, out of so many coarse rows at most.
    UpsampleCompute(Option<u32>),
}

/// Where a program that blends has the weakest blurs from, which are sums of the sharp picture's texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Sums {
    /// It sums texel by texel: those of [`Program::GatherFragment`] where sigma hardly varies, or else those of the picture.
    Texels,
    /// It sums filtered fetches of either.
    Filtered,
    /// From the texture that [`Program::GatherCompute`] has written.
    Gathered,
}

/// What a compute program is compiled to find beyond the bounds: the less, the faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Beyond {
    /// The outermost texels.
    Clamped,
    /// What any edge mode says.
    Folded,
    /// Images of the region, whose weights reach up to [`IMAGE_MARGIN`] texels farther than the kernel's.
    Images,
}

/// Which passes a plan may choose from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Tiling {
    /// Render passes. Each computes every target texel on its own: one octave or one convolution along one axis in a pass.
    #[default]
    None,
    /// Compute passes. Neighbouring texels share work through workgroup memory: up to three octaves in a pass, and both
    /// convolutions in one.
    Tiled {
        /// Whether compute passes may write the destination. If not, a render pass does.
        stores: bool,
    },
}

/// Which fetches may be filtered.
///
/// A filtered fetch does the work of four. But samplers keep only eight bits of the place between two texels: an axis that
/// is read at the very centres of texels can so catch 1/256 of a neighbour, which is seen where the picture is still sharp
/// along it. So only passes that change the resolution of both axes filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Filtering {
    /// Downsampling the texture to blur.
    pub source: bool,
    /// Downsampling intermediates.
    pub intermediates: bool,
    /// Upsampling.
    pub spline: bool,
}

/// The largest reach of a kernel, in texels. A kernel of two rho ends at the cutoff.
pub const MAX_REACH: u32 = 16;

/// How much farther the weights of images reach, in compute passes.
pub const IMAGE_MARGIN: u32 = 8;

/// The tile of [`Program::ConvolveCompute`]. Its threads each sum so many texels of a column, then so many of a row. The shaders
/// have a letter for each, and say so where a number is another.
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
/// The tile where every thread computes one texel.
const DOWNSAMPLE_ANY_TILE: UVec2 = UVec2::new(16, DOWNSAMPLE_THREADS / 16);

/// The tile of [`Program::UpsampleCompute`]: high and narrow, as textures lie in memory. A thread computes every
/// [`UPSAMPLE_THREADS_Y`]th row of a column.
const UPSAMPLE_TILE: UVec2 = UVec2::new(16, 64);
const UPSAMPLE_THREADS_Y: u32 = 16;

/// The tile of [`Program::GatherCompute`]. Its threads sum eight texels of a column and four of a row. A square of tiles may be
/// turned.
const GATHER_TILE: UVec2 = UVec2::new(64, 16);
const _: () = assert!(GATHER_TILE.x.is_multiple_of(GATHER_TILE.y));
const GATHER_THREADS: u32 = GATHER_TILE.x * GATHER_TILE.y / CONVOLVE_ACROSS;
// Four rows are read at a time.
const GATHER_DISTANCES: u32 = GATHER_REACH.next_multiple_of(4) + CONVOLVE_DOWN;
const GATHER_COLUMNS: u32 = GATHER_TILE.x + 2 * GATHER_REACH;
/// The farthest that a sum reaches, rounded up to what can be interleaved.
pub const GATHER_REACH: u32 = 10;
/// The rungs that a tile may be convolved with: those of all sigmas of which the sharp picture is summed. So many are below 1,
/// down to 2^(-29/12), and the others go up to 2^(10/8).
const GATHER_RUNGS_BELOW: u32 = 29;
const GATHER_RUNGS: u32 = GATHER_RUNGS_BELOW + 1 + 10;
const _: () = assert!(GATHER_COLUMNS.is_multiple_of(CONVOLVE_ACROSS));
const _: () = assert!(GATHER_COLUMNS * (GATHER_TILE.y / CONVOLVE_DOWN) <= GATHER_THREADS);
const _: () = assert!(GATHER_RUNGS <= 64 && GATHER_THREADS <= WORKGROUP_THREADS);
const GATHER_STRIPS: u32 = GATHER_TILE.y / CONVOLVE_DOWN;
const _: () = assert!(2 * GATHER_DISTANCES * GATHER_STRIPS <= GATHER_THREADS);
// Half floats; of each strip its rungs, and the weights and the rest of two convolutions; the most rungs of a strip.
const GATHER_BYTES_OF_STRIP: u32 = 8 + 2 * (2 * GATHER_DISTANCES * 8 + 16);
const _: () =
    assert!(GATHER_COLUMNS * GATHER_TILE.y * 8 + GATHER_STRIPS * GATHER_BYTES_OF_STRIP + 4 <= WORKGROUP_BYTES);

/// The tile of [`Program::BlendCompute`], two texels for each thread, and the coarse rows that it needs at most.
const BLEND_TILE: UVec2 = UVec2::new(16, 32);
const BLEND_THREADS_Y: u32 = BLEND_TILE.y / 2;
const BLEND_ROWS: u32 = (BLEND_TILE.y >> 1) + 4;
const _: () = assert!(LEAST_TILE_SIDE <= BLEND_TILE.x && BLEND_TILE.x * BLEND_THREADS_Y <= WORKGROUP_THREADS);
// Full floats of two layers, and which layers are needed.
const _: () = assert!(2 * BLEND_ROWS * BLEND_TILE.x * 16 + 16 <= WORKGROUP_BYTES);

/// The most threads of a workgroup, and the most bytes of its memory.
pub const WORKGROUP_THREADS: u32 = 256;
pub const WORKGROUP_BYTES: u32 = CONVOLVE_COLUMNS * CONVOLVE_TILE.y * 8 + CONVOLVE_THREADS * 4 + 4;
const _: () = assert!(CONVOLVE_THREADS <= WORKGROUP_THREADS && DOWNSAMPLE_THREADS <= WORKGROUP_THREADS);
const _: () = assert!(UPSAMPLE_TILE.x * UPSAMPLE_THREADS_Y <= WORKGROUP_THREADS);
/// The least width or height of a tile, by which dispatches are counted.
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
    const CONVOLVE_ANY: Self = Self::ConvolveCompute {
        reach: None,
        beyond: Beyond::Images,
    };
    const DOWNSAMPLE_ANY: Self = Self::DownsampleCompute {
        steps: None,
        beyond: Beyond::Folded,
    };

    /// The upsampling out of rows that are so many octaves coarser.
    #[must_use]
    pub const fn upsample_compute(octaves: u32) -> Self {
        match octaves {
            // The rows are the target's own: threads have nothing to share.
            0 => Self::UpsampleCompute(None),
            1 => Self::UpsampleCompute(Some((UPSAMPLE_TILE.y >> 1) + 4)),
            2 => Self::UpsampleCompute(Some((UPSAMPLE_TILE.y >> 2) + 4)),
            // Fewer rows would let no more tiles run at once.
            _ => Self::UpsampleCompute(Some((UPSAMPLE_TILE.y >> 3) + 4)),
        }
    }

    /// The version that serves any kernel.
    #[must_use]
    pub const fn for_any_kernel(self) -> Self {
        match self {
            Self::ConvolveFragment(_) => Self::ConvolveFragment(None),
            Self::DownsampleCompute { .. } => Self::DOWNSAMPLE_ANY,
            Self::ConvolveCompute { .. } => Self::CONVOLVE_ANY,
            Self::UpsampleCompute(_) => Self::UpsampleCompute(None),
            _ => self,
        }
    }

    /// The [`name`](Self::name) of every program.
    pub const NAMES: [&'static str; 13] = [
        Self::CopyFragment.name(),
        Self::OpaqueFragment.name(),
        Self::MipmapFragment.name(),
        Self::DownsampleFragment.name(),
        Self::ConvolveFragment(None).name(),
        Self::UpsampleFragment { filtered: true }.name(),
        Self::DOWNSAMPLE_ANY.name(),
        Self::CONVOLVE_ANY.name(),
        Self::UpsampleCompute(None).name(),
        Self::BlendFragment {
            filtered: true,
            sums: Sums::Filtered,
        }
        .name(),
        Self::GatherFragment { filtered: true }.name(),
        Self::GatherCompute.name(),
        Self::BlendCompute.name(),
    ];

    /// The name of its file in `src/shaders`, and of the entry point there.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::CopyFragment => "copy_fragment",
            Self::OpaqueFragment => "opaque_fragment",
            Self::MipmapFragment => "mipmap_fragment",
            Self::DownsampleFragment => "downsample_fragment",
            Self::ConvolveFragment(_) => "convolve_fragment",
            Self::UpsampleFragment { .. } => "upsample_fragment",
            Self::DownsampleCompute { .. } => "downsample_compute",
            Self::ConvolveCompute { .. } => "convolve_compute",
            Self::UpsampleCompute(_) => "upsample_compute",
            Self::BlendFragment { .. } => "blend_fragment",
            Self::GatherFragment { .. } => "gather_fragment",
            Self::GatherCompute => "gather_compute",
            Self::BlendCompute => "blend_compute",
        }
    }

    /// The texels that a workgroup writes, `None` for a program of a render pass.
    #[must_use]
    pub fn tile(self) -> Option<UVec2> {
        match self {
            Self::CopyFragment | Self::OpaqueFragment | Self::MipmapFragment | Self::DownsampleFragment => None,
            Self::ConvolveFragment(_) | Self::UpsampleFragment { .. } => None,
            Self::BlendFragment { .. } | Self::GatherFragment { .. } => None,
            // As many columns as the threads' source columns are enough for.
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

    /// Whether it runs in a compute pass.
    #[must_use]
    pub fn computes(self) -> bool {
        self.tile().is_some()
    }

    /// Whether it reads its source through a linearly filtering sampler.
    #[must_use]
    pub const fn filters(self) -> bool {
        matches!(
            self,
            Self::DownsampleFragment
                | Self::UpsampleFragment { filtered: true }
                | Self::BlendFragment { filtered: true, .. }
                | Self::GatherFragment { filtered: true }
        )
    }

    /// Whether it blends layers, which it reads from a texture of their own.
    #[must_use]
    pub const fn blends(self) -> bool {
        matches!(self, Self::BlendFragment { .. } | Self::BlendCompute)
    }

    /// Whether sigma varies from texel to texel.
    #[must_use]
    pub const fn varies(self) -> bool {
        self.blends() || matches!(self, Self::GatherFragment { .. } | Self::GatherCompute)
    }

    /// Where it has the weakest of the blurs from that it blends.
    #[must_use]
    pub const fn sums(self) -> Option<Sums> {
        match self {
            Self::BlendFragment { sums, .. } => Some(sums),
            Self::BlendCompute => Some(Sums::Gathered),
            _ => None,
        }
    }

    /// Whether it sums filtered fetches of the sharp picture.
    #[must_use]
    pub const fn sums_filtered(self) -> bool {
        matches!(self.sums(), Some(Sums::Filtered)) || matches!(self, Self::GatherFragment { filtered: true })
    }

    /// What it is compiled to find beyond the bounds.
    #[must_use]
    pub const fn beyond(self) -> Beyond {
        match self {
            Self::ConvolveCompute { beyond, .. } | Self::DownsampleCompute { beyond, .. } => beyond,
            // Render passes look for edges at every texel.
            _ => Beyond::Clamped,
        }
    }

    /// Whether what it writes has been packed as half floats before.
    #[must_use]
    pub const fn writes_packed(self) -> bool {
        matches!(self, Self::ConvolveCompute { .. })
    }

    /// Whether it is the version for any kernel of a program that has another one.
    #[must_use]
    pub const fn serves_any_kernel(self) -> bool {
        matches!(
            self,
            Self::ConvolveFragment(None)
                | Self::DownsampleCompute { steps: None, .. }
                | Self::ConvolveCompute { reach: None, .. }
                | Self::UpsampleCompute(None)
        )
    }

    /// The numbers that the shader is compiled for.
    #[must_use]
    pub fn numbers(self) -> Vec<(&'static str, u32)> {
        let mut numbers = match self {
            Self::CopyFragment | Self::OpaqueFragment | Self::MipmapFragment | Self::DownsampleFragment => Vec::new(),
            Self::UpsampleFragment { .. } | Self::ConvolveFragment(None) => Vec::new(),
            Self::BlendFragment { .. } | Self::GatherFragment { .. } => Vec::new(),
            Self::BlendCompute => vec![("THREADS_Y", BLEND_THREADS_Y), ("ROWS", BLEND_ROWS)],
            Self::GatherCompute => vec![
                ("THREADS", GATHER_THREADS),
                ("HALO", GATHER_REACH),
                ("DISTANCES", GATHER_DISTANCES),
                ("RUNGS", GATHER_RUNGS),
                ("RUNGS_BELOW", GATHER_RUNGS_BELOW),
            ],
            Self::ConvolveFragment(Some([x, y])) => vec![("TEXELS_X", x), ("TEXELS_Y", y)],
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
