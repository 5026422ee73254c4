//! The methods, and their properties.

use crate::kernels::{BoxKernel, radius};
use bevy_gaussian_blur::prelude::BlurBackend;
use clap::ValueEnum;

/// A way to blur, or only to copy, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum Method {
    CopyFragment,
    CopyCompute,
    CopyTransfer,
    Box,
    #[value(name = "direct-2d")]
    Direct2d,
    #[value(name = "direct-2d-table")]
    Direct2dTable,
    Separable,
    SeparableBilinear,
    NaiveCompute,
    OursFragment,
    /// Compute passes for the intermediate textures, a render pass for the destination: as on cameras.
    OursMixed,
    OursCompute,
    /// As `OursFragment`, with a sigma that grows from 0 over the picture.
    ProfileFragment,
    ProfileMixed,
    ProfileCompute,
}

impl Method {
    pub fn name(self) -> &'static str {
        match self {
            Self::CopyFragment => "copy-fragment",
            Self::CopyCompute => "copy-compute",
            Self::CopyTransfer => "copy-transfer",
            Self::Box => "box",
            Self::Direct2d => "direct-2d",
            Self::Direct2dTable => "direct-2d-table",
            Self::Separable => "separable",
            Self::SeparableBilinear => "separable-bilinear",
            Self::NaiveCompute => "naive-compute",
            Self::OursFragment => "ours-fragment",
            Self::OursMixed => "ours-mixed",
            Self::OursCompute => "ours-compute",
            Self::ProfileFragment => "profile-fragment",
            Self::ProfileMixed => "profile-mixed",
            Self::ProfileCompute => "profile-compute",
        }
    }

    /// The copy of the same kind, which the method is compared with.
    pub fn copy(self) -> Self {
        match self {
            Self::CopyTransfer => Self::CopyTransfer,
            Self::CopyCompute | Self::NaiveCompute | Self::OursCompute | Self::ProfileCompute => Self::CopyCompute,
            _ => Self::CopyFragment,
        }
    }

    /// Whether it writes its result in a compute pass.
    pub fn is_compute(self) -> bool {
        self.copy() == Self::CopyCompute
    }

    /// Whether it only copies.
    pub fn is_copy(self) -> bool {
        self.copy() == self
    }

    /// The backend, if the method is ours.
    pub fn backend(self) -> Option<BlurBackend> {
        match self {
            Self::OursFragment | Self::ProfileFragment => Some(BlurBackend::Fragment),
            Self::OursMixed | Self::ProfileMixed | Self::OursCompute | Self::ProfileCompute => {
                Some(BlurBackend::Compute)
            }
            _ => None,
        }
    }

    /// All methods that are ours.
    pub fn ours() -> impl Iterator<Item = Self> {
        let all = Self::value_variants().iter().copied();
        all.filter(|method| method.backend().is_some())
    }

    /// Whether sigma varies over the picture.
    pub fn varies(self) -> bool {
        matches!(self, Self::ProfileFragment | Self::ProfileMixed | Self::ProfileCompute)
    }

    /// The number of texels that it fetches per written texel, or `None` if the number does not grow with sigma.
    pub fn fetches(self, sigma: f64) -> Option<f64> {
        let r = f64::from(radius(sigma));
        match self {
            Self::Box => Some(2.0 * (2.0 * f64::from(BoxKernel::new(sigma).radius) + 3.0)),
            Self::Direct2d | Self::Direct2dTable => Some((2.0 * r + 1.0).powi(2)),
            Self::Separable | Self::NaiveCompute => Some(2.0 * (2.0 * r + 1.0)),
            Self::SeparableBilinear => Some(2.0 * (r + 1.0)),
            _ => None,
        }
    }
}
