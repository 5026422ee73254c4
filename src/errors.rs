//! The errors of blurs, and how to report each of them once.

use bevy::asset::RenderAssetUsages;
use bevy::prelude::*;
use core::fmt;
use core::mem::discriminant;
use thiserror::Error;
use wgpu::{TextureFormat, TextureUsages};

/// Why something is not blurred. The previous contents stay as they were, but for a [`BlurImage`](crate::BlurImage) whose radius, aspect
/// or profile is out of range: it is copied.
#[derive(Clone, Debug, Error, PartialEq, Reflect)]
#[reflect(opaque, Clone, Debug, PartialEq)]
#[non_exhaustive]
// A field named `source` would be the cause of the error. As `r#source`, it is the image to blur.
pub enum BlurError {
    /// A radius that is NaN, infinite or negative.
    #[error("the blur radius is {0}; it must be finite and at least 0")]
    InvalidRadius(f32),
    /// An aspect with a component that is NaN, infinite or negative.
    #[error("the blur aspect is {0}; both components must be finite and at least 0")]
    InvalidAspect(Vec2),
    /// A sigma with a component that is NaN, infinite or negative.
    #[error("the sigma of the blur is {0}; both components must be finite and at least 0")]
    InvalidSigma(Vec2),
    /// A profile with a number that is NaN or infinite, or a band without a direction.
    #[error(
        "the blur profile has a number that is NaN or infinite, or a band without a direction; numbers must be finite, and \
        directions must not be 0"
    )]
    InvalidProfile,
    /// The source image could not be loaded.
    #[error("the image to blur could not be loaded")]
    SourceNotLoaded,
    /// The mask of a profile could not be loaded.
    #[error("the mask of the blur profile could not be loaded")]
    MaskNotLoaded,
    /// A mask that is not two-dimensional with one layer, lacks `TEXTURE_BINDING`, or holds neither floats nor
    /// normalised integers.
    #[error(
        "the mask of the blur profile has the format {format:?}; it must be two-dimensional, with one layer, hold \
        floats or normalised integers, and have TextureUsages::TEXTURE_BINDING"
    )]
    UnsupportedMask {
        /// The format of the mask's view.
        format: TextureFormat,
    },
    /// A mask that is the blur's own target.
    #[error("the mask of the blur profile is the image that the blur writes; it must be another image")]
    MaskIsTarget,
    /// A source in a format that cannot be blurred.
    #[error("the image to blur has the format {format:?}, {lacks}")]
    UnsupportedSource {
        /// The format of the source's view.
        format: TextureFormat,
        /// What is missing.
        lacks: FormatCapability,
    },
    /// A target in a format that cannot be written.
    #[error("the blur's target has the format {format:?}, {lacks}")]
    UnsupportedTarget {
        /// The format of the target's view.
        format: TextureFormat,
        /// What is missing.
        lacks: FormatCapability,
    },
    /// The GPU cannot render to intermediate textures of the format that source and target require. WebGL 2 needs an
    /// extension to render to floats.
    #[error("a blur of these formats needs intermediate textures of the format {format:?}, {lacks}")]
    UnsupportedIntermediate {
        /// The format of the intermediate textures.
        format: TextureFormat,
        /// What is missing.
        lacks: FormatCapability,
    },
    /// An image that is a volume, a line, or multisampled.
    #[error("a blurred image must be two-dimensional, with one layer or several, and not multisampled")]
    NotTwoDimensional,
    /// An image without a usage flag that a blur needs.
    #[error("the blur's {image} image needs TextureUsages::{usage}")]
    MissingUsage {
        /// `"source"`, `"target"`, or `"camera"` for a camera's main texture.
        image: &'static str,
        /// The name of the missing [`TextureUsages`](wgpu::TextureUsages) flag.
        usage: &'static str,
    },
    /// An image with `RenderAssetUsages::MAIN_WORLD` alone: it never reaches the GPU.
    #[error(
        "the blur's {image} image has RenderAssetUsages::MAIN_WORLD alone and never reaches the GPU; it needs \
        RenderAssetUsages::RENDER_WORLD"
    )]
    NotOnGpu {
        /// `"source"`, `"mask"` or `"target"`.
        image: &'static str,
    },
    /// A view that shows more than one layer or more than one mip level, where a blur takes just one.
    #[error(
        "the view of the blur's {image} shows {levels} mip levels of {layers} layers; it must show one level of one \
        layer as a two-dimensional texture, as views of BlurTexture::of_layer do"
    )]
    WideView {
        /// `"source"` or `"target"`.
        image: &'static str,
        /// The mip levels that it shows.
        levels: u32,
        /// The layers that it shows.
        layers: u32,
    },
    /// A source and a target that are different views of one texture and share texels.
    #[error("the blur's source and target are views of one texture that overlap: from mip level {} of layer {} on, and from \
        mip level {} of layer {} on; they must be the same, or share no texel", .source[0], .source[1], .target[0], .target[1])]
    OverlappingViews {
        /// The first mip level and the first layer that the source shows.
        r#source: [u32; 2],
        /// The first mip level and the first layer that the target shows.
        target: [u32; 2],
    },
    /// Bounds that do not contain the region, or reach beyond the source.
    #[error("the blur's bounds are {bounds:?}; they must contain the region, {region:?}, and lie in the source of {}x{} texels", .source.x, .source.y)]
    InvalidBounds {
        /// The texels that may be read.
        bounds: URect,
        /// The texels that are written.
        region: URect,
        /// The source's size in texels.
        r#source: UVec2,
    },
    /// A region of an image that is empty, or reaches beyond the source.
    #[error("the region to blur is {region:?}; it must not be empty, and lie in the source of {}x{} texels", .source.x, .source.y)]
    InvalidRegion {
        /// The texels to blur.
        region: URect,
        /// The source's size in texels.
        r#source: UVec2,
    },
    /// A region or padding for a blur in place, which takes all of its image.
    #[error("a blur in place has a region or padding; it must take all of its image, or have another target")]
    RegionInPlace,
    /// Textures of another format, size or usage than the blur was prepared for, or one texture where it was prepared for
    /// two, or two where it was prepared for one.
    #[error(
        "the source and the target differ from those that the blur was prepared for, in format, size or usage, or in being \
        one texture; prepare the blur for the textures that it records"
    )]
    NotAsPrepared,
    /// A target that is not as large as its source, or as the region of the source with its padding.
    #[error("the blur's target is {}x{} texels; it must be as large as what is blurred, {}x{}", .target.x, .target.y, .source.x, .source.y)]
    SizeMismatch {
        /// The size of what is blurred in texels, padding included.
        r#source: UVec2,
        /// The target's size in texels.
        target: UVec2,
    },
    /// A target with another number of layers than its source.
    #[error("the blur's target has {target} layers; it must have as many as its source, {source}")]
    LayerMismatch {
        /// The layers that the source's view shows.
        r#source: u32,
        /// The layers that the target's view shows.
        target: u32,
    },
    /// An image with several layers on an API whose shaders cannot read one of them: WebGL 2 and OpenGL ES, as wgpu uses them.
    #[error(
        "the blur's {image} image has {layers} layers; with WebGL 2 and OpenGL ES it must have one, because shaders cannot read \
        single layers there; WebGPU, Vulkan, Metal and DirectX can"
    )]
    UnreadableLayers {
        /// `"source"`, `"mask"`, or `"target"` for a target whose mip levels are made of one another.
        image: &'static str,
        /// The layers of its texture.
        layers: u32,
    },
    /// A target that another blur writes already.
    #[error("the blur of entity {other} already writes the blur's target; give each blur its own target")]
    SharedTarget {
        /// The entity of the blur that wrote it first.
        other: Entity,
    },
    /// An intermediate texture or image larger than the GPU allows.
    #[error("the blur needs a texture of {}x{} texels; this GPU allows at most {limit}x{limit}", .size.x, .size.y)]
    TooLarge {
        /// The size that would be needed, in texels.
        size: UVec2,
        /// The largest width and height of a texture on this GPU.
        limit: u32,
    },
    /// The GPU has no memory left for a texture that the blur needs, or for its texels on their way to the CPU. The blur
    /// tries again in every frame in which it is due, and resumes when there is room.
    #[error("the GPU has no memory left for a texture of {}x{} texels of {format:?} that the blur needs", .size.x, .size.y)]
    OutOfMemory {
        /// The size of that texture, in texels.
        size: UVec2,
        /// Its format.
        format: TextureFormat,
    },
}

/// What a format, a device or a GPU lacks.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum FormatCapability {
    /// The format holds depths, stencils or planes of video, not colours.
    Colour,
    /// Features that the device does not have, or that the app has not enabled.
    Feature(wgpu::Features),
    /// The GPU cannot read textures of the format.
    Sampling,
    /// The GPU cannot render to textures of the format.
    Rendering,
}

impl fmt::Display for FormatCapability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Colour => write!(f, "which holds no colours"),
            Self::Feature(features) => write!(f, "which needs the feature {features} that the device does not have"),
            Self::Sampling => write!(f, "which this GPU cannot read"),
            Self::Rendering => write!(f, "which this GPU cannot render to"),
        }
    }
}

impl BlurError {
    /// Checks that a texture has a usage. `image` is what [`MissingUsage`](Self::MissingUsage) calls the texture.
    ///
    /// # Errors
    /// `MissingUsage` with the first of the needed usages that is missing.
    pub(crate) fn check_usage(image: &'static str, has: TextureUsages, needed: TextureUsages) -> Result<(), Self> {
        match (needed - has).iter_names().next() {
            Some((usage, _)) => Err(Self::MissingUsage { image, usage }),
            None => Ok(()),
        }
    }

    /// Checks that an image asset reaches the GPU. `image` is what [`NotOnGpu`](Self::NotOnGpu) calls it.
    ///
    /// # Errors
    /// `NotOnGpu`.
    pub(crate) fn check_reach(image: &'static str, usage: RenderAssetUsages) -> Result<(), Self> {
        if usage.contains(RenderAssetUsages::RENDER_WORLD) {
            Ok(())
        } else {
            Err(Self::NotOnGpu { image })
        }
    }

    /// Whether two failures have one cause: they say the same, or differ in a number that may be eased.
    fn is_like(&self, other: &Self) -> bool {
        let may_be_eased = matches!(
            self,
            Self::InvalidRadius(_)
                | Self::InvalidAspect(_)
                | Self::InvalidSigma(_)
                | Self::InvalidBounds { .. }
                | Self::TooLarge { .. }
                | Self::OutOfMemory { .. }
        );
        self == other || may_be_eased && discriminant(self) == discriminant(other)
    }
}

/// Reports a failure only when it is new: not if the last attempt failed in the same way.
#[derive(Clone, Debug, Default)]
pub struct Reported(Option<Box<BlurError>>);

impl Reported {
    /// The failure of an outcome, if it must be reported. After a success every failure is new.
    pub fn news(&mut self, outcome: Result<(), BlurError>) -> Option<BlurError> {
        let Err(error) = outcome else {
            self.0 = None;
            return None;
        };
        if self.0.as_ref().is_some_and(|known| known.is_like(&error)) {
            return None;
        }
        self.0 = Some(Box::new(error.clone()));
        Some(error)
    }

    /// Whether the last attempt failed.
    pub fn is_failing(&self) -> bool {
        self.0.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_news_once_until_it_is_over() {
        let mut reported = Reported::default();
        let radius = |value| Err(BlurError::InvalidRadius(value));
        assert!(reported.news(Ok(())).is_none());
        assert!(reported.news(radius(-1.0)).is_some());
        assert!(reported.news(radius(-2.0)).is_none(), "the same kind: it may be eased");
        let size = |side| {
            let (source, target) = (UVec2::splat(side), UVec2::ONE);
            Err(BlurError::SizeMismatch { source, target })
        };
        assert!(reported.news(size(2)).is_some());
        assert!(reported.news(size(2)).is_none(), "the same images");
        assert!(reported.news(size(3)).is_some(), "other images");
        assert!(reported.news(Err(BlurError::SourceNotLoaded)).is_some(), "another kind");
        assert!(reported.news(radius(-1.0)).is_some(), "the first kind again");
        assert!(reported.news(Ok(())).is_none());
        assert!(reported.news(radius(-1.0)).is_some(), "anew after a success");
    }
}
