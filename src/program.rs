//! Every program that a pass can run: its shader, the texels of its workgroups, and the numbers that it is compiled
//! with. Plain values: no GPU.
//!
//! Programs with loops over a kernel come in two versions. One is compiled for a single kernel: compilers unroll loops
//! with constant ends, which is much faster. The other serves *any* kernel, with loops that end where the uniform says.
//! There are few of those, so they are compiled from the start, and a blur never has to wait for a new kernel.

pub mod workgroups;

use core::mem::discriminant;

/// The program of a pass. The value in an [`Option`] is a constant that the program is compiled with; `None` serves any
/// value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Program {
    /// Render: one texel as it is.
    CopyFragment,
    /// Render: alpha alone, as 1.
    OpaqueFragment,
    /// Render: the mean of the texels that a texel of the next mip level covers.
    MipmapFragment,
    /// Render: half the resolution along both axes, with filtered fetches.
    DownsampleFragment,
    /// Render: a weighted sum of neighbouring texels.
    ConvolveFragment {
        /// How many along x and y.
        texels: Option<[u32; 2]>,
        /// What it finds beyond the bounds. [`Beyond::Images`] includes [`Beyond::Folded`].
        beyond: Beyond,
    },
    /// Render: a blend of blurs, interpolated with the cubic B-spline.
    BlendFragment {
        /// With filtered fetches, or else texel by texel.
        filtered: bool,
        /// The source of the weakest blurs.
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
        /// Whether it reads a level, which has fewer texels than the picture.
        of_level: bool,
        /// What it finds beyond the bounds. There are no images.
        beyond: Beyond,
    },
    /// Compute: both convolutions.
    ConvolveCompute {
        /// The reach of the kernels, in texels. On small levels, the program for any kernel is the fastest.
        reach: Option<u32>,
        /// Whether it reads a level.
        of_level: bool,
        /// What it finds beyond the bounds.
        beyond: Beyond,
    },
    /// Compute: both convolutions, partly with half floats, where the outermost texels lie beyond the bounds. For kernels of this
    /// reach.
    ConvolveHalvesCompute(u32),
    /// Compute: sums of the sharp picture, each texel with its own sigma.
    GatherCompute,
    /// Compute: a blend of blurs and [gathered](Sums::Gathered) sums, interpolated with the cubic B-spline.
    BlendCompute,
    /// Compute: the cubic B-spline.
    UpsampleCompute(Option<Cell>),
    /// Compute: both convolutions of a small level, and the cubic B-spline through the result.
    BlurUpsampleCompute {
        /// The texels of a cell along either axis, or as many as a thread walks, and the reach of the kernels.
        cell_and_reach: Option<[u32; 2]>,
    },
}

/// The texels that lie between the same texels of a coarse level, for a program that interpolates them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cell {
    /// The columns that share their reads of the level, or 1.
    pub sharing: u32,
    /// The rows, or as many as a thread walks if there are more.
    pub rows: u32,
}

/// Where a blending program gets the weakest blurs, which are sums of texels of the sharp picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Sums {
    /// It sums texel by texel: the texels of [`Program::GatherFragment`] where sigma hardly varies, or else those of
    /// the picture.
    Texels,
    /// It sums filtered fetches of either.
    Filtered,
    /// It reads the texture that [`Program::GatherCompute`] has written.
    Gathered,
}

/// What a program can find beyond the bounds: the fewer cases, the faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Beyond {
    /// The outermost texels.
    Clamped,
    /// Texels or zeros, as the edge mode says.
    Folded,
    /// Images of the region, whose weights reach up to [`IMAGE_MARGIN`](workgroups::IMAGE_MARGIN) texels beyond the
    /// kernel's.
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
        /// What executes them.
        cores: Cores,
    },
}

/// What executes compute passes: it decides which of several programs with the same results is the fastest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Cores {
    /// A software rasteriser: only products count.
    #[default]
    Software,
    /// A GPU: loads and starts count, too.
    Gpu,
    /// A GPU that computes with half floats.
    GpuWithHalves,
}

/// Which fetches may be filtered.
///
/// A filtered fetch does the work of four. But samplers keep only eight bits of the position between two texels. On an
/// axis that is read at the very centres of texels, a fetch can pick up 1/256 of a neighbour, which is visible where
/// the picture is still sharp along that axis. So only passes that change the resolution of both axes filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Filtering {
    /// Downsampling the texture to blur.
    pub source: bool,
    /// Downsampling intermediates.
    pub intermediates: bool,
    /// Upsampling.
    pub spline: bool,
}

impl Program {
    const CONVOLVE_FRAGMENT_ANY: Self = Self::ConvolveFragment {
        texels: None,
        beyond: Beyond::Images,
    };
    const CONVOLVE_ANY: Self = Self::ConvolveCompute {
        reach: None,
        of_level: false,
        beyond: Beyond::Images,
    };
    const DOWNSAMPLE_ANY: Self = Self::DownsampleCompute {
        steps: None,
        of_level: false,
        beyond: Beyond::Folded,
    };
    const BLEND_FRAGMENT: Self = Self::BlendFragment {
        filtered: true,
        sums: Sums::Filtered,
    };
    const BLUR_UPSAMPLE_ANY: Self = Self::BlurUpsampleCompute { cell_and_reach: None };

    /// The version that serves any kernel.
    pub const fn for_any_kernel(self) -> Self {
        match self {
            Self::ConvolveFragment { .. } => Self::CONVOLVE_FRAGMENT_ANY,
            Self::DownsampleCompute { .. } => Self::DOWNSAMPLE_ANY,
            Self::ConvolveCompute { .. } | Self::ConvolveHalvesCompute(_) => Self::CONVOLVE_ANY,
            Self::UpsampleCompute(_) => Self::UpsampleCompute(None),
            Self::BlurUpsampleCompute { .. } => Self::BLUR_UPSAMPLE_ANY,
            _ => self,
        }
    }

    /// One program of each shader, and the name of the shader and of its entry point.
    pub const SHADERS: [(Self, &str); 15] = [
        (Self::CopyFragment, "copy_fragment"),
        (Self::OpaqueFragment, "opaque_fragment"),
        (Self::MipmapFragment, "mipmap_fragment"),
        (Self::DownsampleFragment, "downsample_fragment"),
        (Self::CONVOLVE_FRAGMENT_ANY, "convolve_fragment"),
        (Self::UpsampleFragment { filtered: true }, "upsample_fragment"),
        (Self::DOWNSAMPLE_ANY, "downsample_compute"),
        (Self::CONVOLVE_ANY, "convolve_compute"),
        (Self::ConvolveHalvesCompute(0), "convolve_halves_compute"),
        (Self::UpsampleCompute(None), "upsample_compute"),
        (Self::BLUR_UPSAMPLE_ANY, "blur_upsample_compute"),
        (Self::BLEND_FRAGMENT, "blend_fragment"),
        (Self::GatherFragment { filtered: true }, "gather_fragment"),
        (Self::GatherCompute, "gather_compute"),
        (Self::BlendCompute, "blend_compute"),
    ];

    /// The path of its shader in `src/shaders`, without the extension.
    pub fn path(self) -> String {
        let folder = if self.varies() { "profile" } else { "uniform" };
        format!("{folder}/{}", self.name())
    }

    /// The name of its shader, and of its entry point.
    pub fn name(self) -> &'static str {
        let is_it = |(program, _): &&(Self, _)| discriminant(program) == discriminant(&self);
        Self::SHADERS.iter().find(is_it).map_or("", |(_, name)| name)
    }

    /// Whether it runs in a compute pass.
    pub fn computes(self) -> bool {
        self.tile().is_some()
    }

    /// Whether it reads its source through a linearly filtering sampler.
    pub const fn filters(self) -> bool {
        matches!(
            self,
            Self::DownsampleFragment
                | Self::UpsampleFragment { filtered: true }
                | Self::BlendFragment { filtered: true, .. }
                | Self::GatherFragment { filtered: true }
        )
    }

    /// Whether it blends sigma levels, which it reads from a separate texture.
    pub const fn blends(self) -> bool {
        matches!(self, Self::BlendFragment { .. } | Self::BlendCompute)
    }

    /// Whether sigma varies from texel to texel.
    pub const fn varies(self) -> bool {
        self.blends() || matches!(self, Self::GatherFragment { .. } | Self::GatherCompute)
    }

    /// Where it gets the weakest of the blurs that it blends.
    pub const fn sums(self) -> Option<Sums> {
        match self {
            Self::BlendFragment { sums, .. } => Some(sums),
            Self::BlendCompute => Some(Sums::Gathered),
            _ => None,
        }
    }

    /// Whether it sums filtered fetches of the sharp picture.
    pub const fn sums_filtered(self) -> bool {
        matches!(self.sums(), Some(Sums::Filtered)) || matches!(self, Self::GatherFragment { filtered: true })
    }

    /// The same computation where it can find something else beyond the bounds.
    pub fn finding(self, beyond: Beyond) -> Self {
        match self {
            Self::ConvolveFragment { texels, .. } => Self::convolve_fragment(texels, beyond),
            Self::ConvolveCompute { reach, of_level, .. } => Self::convolve_compute(reach, of_level, beyond),
            Self::DownsampleCompute { steps, of_level, .. } => Self::DownsampleCompute {
                steps,
                of_level,
                beyond,
            },
            other => other,
        }
    }

    /// [`Self::ConvolveFragment`].
    pub fn convolve_fragment(texels: Option<[u32; 2]>, beyond: Beyond) -> Self {
        let beyond = if beyond == Beyond::Clamped {
            beyond
        } else {
            Beyond::Images
        };
        Self::ConvolveFragment { texels, beyond }
    }

    /// [`Self::ConvolveCompute`].
    pub const fn convolve_compute(reach: Option<u32>, of_level: bool, beyond: Beyond) -> Self {
        match reach {
            Some(_) => Self::ConvolveCompute {
                reach,
                of_level,
                beyond,
            },
            None => Self::CONVOLVE_ANY,
        }
    }

    /// What it can find beyond the bounds, `None` if it checks that itself.
    pub const fn beyond(self) -> Option<Beyond> {
        match self {
            Self::ConvolveFragment { beyond, .. }
            | Self::ConvolveCompute { beyond, .. }
            | Self::DownsampleCompute { beyond, .. } => Some(beyond),
            Self::ConvolveHalvesCompute(_) => Some(Beyond::Clamped),
            _ => None,
        }
    }

    /// Whether it convolves along both axes at once. Then it writes values that were packed as half floats before.
    #[must_use]
    pub const fn convolves_both(self) -> bool {
        matches!(self, Self::ConvolveCompute { .. } | Self::ConvolveHalvesCompute(_))
    }

    /// Whether it interpolates a level, in which all is finite, with weights that are never negative.
    #[must_use]
    pub const fn weighs_positively(self) -> bool {
        matches!(self, Self::UpsampleCompute(Some(_)) | Self::BlurUpsampleCompute { .. })
    }

    /// Whether it is the version for any kernel of a program with several versions.
    pub const fn serves_any_kernel(self) -> bool {
        matches!(
            self,
            Self::ConvolveFragment { texels: None, .. }
                | Self::DownsampleCompute { steps: None, .. }
                | Self::ConvolveCompute { reach: None, .. }
                | Self::UpsampleCompute(None)
                | Self::BLUR_UPSAMPLE_ANY
        )
    }
}
