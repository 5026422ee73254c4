//! What a user may ask for: components, units, edge modes, events and errors. ECS and reflection only.

use bevy::prelude::*;
use core::fmt;
use wgpu::TextureFormat;

/// How many standard deviations a radius spans: `radius = 3 σ`.
///
/// It is the radius at which the classical separable filter ends, with 99.7 % of the Gaussian's weight inside.
pub const RADIUS_IN_SIGMAS: f32 = 3.0;

/// Blurs what this entity shows with a Gaussian.
///
/// On a camera it blurs the camera's picture; together with [`BlurImage`] it blurs an image. All fields may change in
/// any frame.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_gaussian_blur::prelude::*;
///
/// let blur = GaussianBlur::new(24.0).with_unit(BlurUnit::PhysicalPixels);
/// assert_eq!(blur.sigma(), 8.0);
/// assert_eq!(GaussianBlur::from_sigma(8.0).radius, 24.0);
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
pub struct GaussianBlur {
    /// The distance from a point at which 99.7 % of its blurred weight is inside: three standard deviations.
    ///
    /// Unit: [`unit`](Self::unit). Range: finite and at least 0. Default: 24. NaN, infinite and negative values mean
    /// "no blur" and are reported once. A blur with a standard deviation under 0.03 texels changes nothing and costs
    /// nothing.
    pub radius: f32,
    /// What the radius counts. Default: [`BlurUnit::LogicalPixels`].
    pub unit: BlurUnit,
    /// Scales the radius along x and y.
    ///
    /// Range: finite and at least 0; values outside mean "no blur" and are reported once. Default: [`Vec2::ONE`].
    /// [`Vec2::X`] blurs along x only.
    pub aspect: Vec2,
    /// What lies outside the viewport or image. Default: [`EdgeMode::Clamp`].
    pub edge: EdgeMode,
}

impl Default for GaussianBlur {
    fn default() -> Self {
        Self {
            radius: 24.0,
            unit: BlurUnit::LogicalPixels,
            aspect: Vec2::ONE,
            edge: EdgeMode::Clamp,
        }
    }
}

impl GaussianBlur {
    /// A blur of the given radius, which is three standard deviations, in logical pixels.
    #[must_use]
    pub fn new(radius: f32) -> Self {
        Self {
            radius,
            ..Self::default()
        }
    }

    /// A blur of the given standard deviation, as CSS `blur()` takes it, in logical pixels.
    #[must_use]
    pub fn from_sigma(sigma: f32) -> Self {
        Self::new(sigma * RADIUS_IN_SIGMAS)
    }

    /// The standard deviation: a third of the radius, in the same unit.
    #[must_use]
    pub fn sigma(&self) -> f32 {
        self.radius / RADIUS_IN_SIGMAS
    }

    /// The same blur with another [`unit`](Self::unit).
    #[must_use]
    pub fn with_unit(self, unit: BlurUnit) -> Self {
        Self { unit, ..self }
    }

    /// The same blur with another [`aspect`](Self::aspect).
    #[must_use]
    pub fn with_aspect(self, aspect: Vec2) -> Self {
        Self { aspect, ..self }
    }

    /// The same blur with another [`edge`](Self::edge) mode.
    #[must_use]
    pub fn with_edge(self, edge: EdgeMode) -> Self {
        Self { edge, ..self }
    }

    /// The standard deviations along x and y in physical pixels (texels).
    ///
    /// `scale_factor` is physical pixels per logical pixel, `height` the height in physical pixels of the viewport or
    /// image.
    ///
    /// # Errors
    /// [`BlurError::InvalidRadius`] and [`BlurError::InvalidAspect`] when a value is NaN, infinite or negative.
    pub fn sigma_in_texels(&self, scale_factor: f32, height: u32) -> Result<Vec2, BlurError> {
        let valid = |value: f32| value.is_finite() && value >= 0.0;
        if !valid(self.radius) {
            return Err(BlurError::InvalidRadius(self.radius));
        }
        if !(valid(self.aspect.x) && valid(self.aspect.y)) {
            return Err(BlurError::InvalidAspect(self.aspect));
        }
        let texels_per_unit = match self.unit {
            BlurUnit::LogicalPixels => scale_factor,
            BlurUnit::PhysicalPixels => 1.0,
            BlurUnit::ViewportHeight => height as f32 / 100.0,
        };
        Ok((self.sigma() * texels_per_unit * self.aspect).min(Vec2::splat(f32::MAX)))
    }
}

/// What a [`GaussianBlur::radius`] counts.
///
/// On an image a logical and a physical pixel are both a texel, and the viewport is the image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq, Hash)]
pub enum BlurUnit {
    /// Logical pixels: the same look at every DPI.
    #[default]
    LogicalPixels,
    /// Physical pixels of the render target.
    PhysicalPixels,
    /// Percent of the viewport's height, as [`Val::Vh`](bevy::prelude::Val) has it: the same look at every resolution.
    ViewportHeight,
}

/// What a blur sees beyond the border of its viewport or image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq, Hash)]
pub enum EdgeMode {
    /// The nearest texel of the border: `a a a a | a b c d | d d d d`.
    #[default]
    Clamp,
    /// The mirror image: `d c b a | a b c d | d c b a`.
    Mirror,
    /// The opposite side: `a b c d | a b c d | a b c d`.
    Wrap,
    /// Transparent black: all channels are 0.
    Transparent,
    /// Nothing: the outside is left out and the result is divided by the weight that lies inside.
    Renormalize,
}

/// When a camera's picture is blurred, and with it what stays sharp. Optional, next to [`GaussianBlur`] on a camera.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq, Hash)]
pub enum BlurStage {
    /// In scene-referred light, before bloom and tonemapping: bright lights grow into discs. Meant for HDR cameras.
    BeforeTonemapping,
    /// After all post-processing, under the user interface.
    #[default]
    AfterTonemapping,
    /// Over everything, the user interface included.
    AfterUi,
}

/// Blurs an image into an image. Needs a [`GaussianBlur`] on the same entity.
///
/// The images must be two-dimensional and of a float or normalised format that the GPU can render to.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_gaussian_blur::prelude::*;
///
/// fn blur_photo(mut commands: Commands, assets: Res<AssetServer>) {
///     let photo = assets.load("photo.png");
///     commands.spawn((GaussianBlur::from_sigma(8.0), BlurImage::new(photo)));
/// }
/// ```
#[derive(Component, Clone, Debug, PartialEq, Reflect)]
#[reflect(Component, Clone, Debug, PartialEq)]
pub struct BlurImage {
    /// The image to blur. While it loads the blur waits; when it is replaced, resized or modified the blur follows.
    pub source: Handle<Image>,
    /// Where the result goes. Default: `None`.
    ///
    /// With `None` the plugin allocates an image of the source's size and format, keeps it at that size and format,
    /// and fills its handle in here. An image of yours must have the source's size and
    /// [`TextureUsages::RENDER_ATTACHMENT`](wgpu::TextureUsages). The source itself may be the
    /// target. Of an image with mipmaps only the first level is read and written.
    pub target: Option<Handle<Image>>,
    /// What the alpha channel means. Default: [`BlurAlpha::Premultiplied`].
    pub alpha: BlurAlpha,
    /// When to blur. Default: [`BlurUpdate::OnChange`].
    pub update: BlurUpdate,
}

impl BlurImage {
    /// Blurs `source` into an image that the plugin allocates.
    #[must_use]
    pub fn new(source: Handle<Image>) -> Self {
        Self {
            source,
            target: None,
            alpha: BlurAlpha::default(),
            update: BlurUpdate::default(),
        }
    }

    /// Blurs `image` in place.
    #[must_use]
    pub fn in_place(image: Handle<Image>) -> Self {
        Self::new(image.clone()).with_target(image)
    }

    /// The same blur into an image of yours.
    #[must_use]
    pub fn with_target(self, target: Handle<Image>) -> Self {
        Self {
            target: Some(target),
            ..self
        }
    }

    /// The same blur with another meaning of alpha.
    #[must_use]
    pub fn with_alpha(self, alpha: BlurAlpha) -> Self {
        Self { alpha, ..self }
    }

    /// The same blur at other times.
    #[must_use]
    pub fn with_update(self, update: BlurUpdate) -> Self {
        Self { update, ..self }
    }
}

/// What the alpha channel of a blurred image means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq, Hash)]
pub enum BlurAlpha {
    /// Colour is already multiplied by alpha: all four channels are blurred alike.
    #[default]
    Premultiplied,
    /// Colour is independent of alpha, as in PNG files: it is multiplied before the blur and divided after it, so that
    /// the colour of transparent texels never shows.
    Straight,
    /// Alpha is ignored and written as 1.
    Opaque,
}

/// When an image is blurred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq, Hash)]
pub enum BlurUpdate {
    /// When the settings, the source asset or either texture changes.
    ///
    /// What the GPU writes into a source (a camera that renders to it, say) is no change of the asset: use
    /// [`EveryFrame`](Self::EveryFrame) there.
    #[default]
    OnChange,
    /// In every frame.
    EveryFrame,
    /// Once, as soon as the source is there, and again when [`BlurImage`] itself is changed.
    Once,
}

/// Triggered on an entity with [`BlurImage`] when its blur has been submitted to the GPU.
///
/// Commands submitted from now on see the result.
#[derive(EntityEvent, Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, PartialEq)]
pub struct BlurFinished {
    /// The entity that carries [`BlurImage`].
    pub entity: Entity,
}

/// Triggered on an entity with [`BlurImage`] when it cannot be blurred. It is triggered and logged once per cause.
#[derive(EntityEvent, Clone, Debug, PartialEq)]
pub struct BlurFailed {
    /// The entity that carries [`BlurImage`].
    pub entity: Entity,
    /// What is wrong.
    pub error: BlurError,
}

/// Why something is not blurred. Whatever was there before stays as it was.
#[derive(Clone, Debug, PartialEq)]
pub enum BlurError {
    /// A radius that is NaN, infinite or negative.
    InvalidRadius(f32),
    /// An aspect with a component that is NaN, infinite or negative.
    InvalidAspect(Vec2),
    /// The source image could not be loaded.
    SourceNotLoaded,
    /// A format that this GPU cannot sample as floating point.
    UnsupportedSource(TextureFormat),
    /// A format that this GPU cannot render to.
    UnsupportedTarget(TextureFormat),
    /// An image that is not a single two-dimensional layer without multisampling.
    NotTwoDimensional,
    /// An image without a usage flag that a blur needs.
    MissingUsage {
        /// `"source"` or `"target"`.
        image: &'static str,
        /// The name of the missing [`TextureUsages`](wgpu::TextureUsages) flag.
        usage: &'static str,
    },
    /// A target that is not as large as its source.
    SizeMismatch {
        /// The source's size in texels.
        source: UVec2,
        /// The target's size in texels.
        target: UVec2,
    },
    /// An intermediate texture or image larger than the GPU allows.
    TooLarge {
        /// The size that would be needed, in texels.
        size: UVec2,
        /// The largest width and height of a texture on this GPU.
        limit: u32,
    },
}

impl fmt::Display for BlurError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidRadius(radius) => {
                write!(f, "the blur radius is {radius}; it must be finite and at least 0")
            }
            Self::InvalidAspect(aspect) => {
                write!(
                    f,
                    "the blur aspect is {aspect}; both components must be finite and at least 0"
                )
            }
            Self::SourceNotLoaded => write!(f, "the image to blur could not be loaded"),
            Self::UnsupportedSource(format) => write!(
                f,
                "the image to blur has the format {format:?}, which this GPU cannot sample as floating point"
            ),
            Self::UnsupportedTarget(format) => write!(
                f,
                "the blur's target has the format {format:?}, which this GPU cannot render to"
            ),
            Self::NotTwoDimensional => write!(
                f,
                "a blurred image must be a single two-dimensional layer without multisampling"
            ),
            Self::MissingUsage { image, usage } => {
                write!(f, "the blur's {image} image needs TextureUsages::{usage}")
            }
            Self::SizeMismatch { source, target } => write!(
                f,
                "the blur's target is {}x{} texels; it must be as large as its source, {}x{}",
                target.x, target.y, source.x, source.y
            ),
            Self::TooLarge { size, limit } => write!(
                f,
                "the blur needs a texture of {}x{} texels; this GPU allows at most {limit}x{limit}",
                size.x, size.y
            ),
        }
    }
}

impl core::error::Error for BlurError {}

/// Which kind of GPU pass executes a blur.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq, Hash)]
pub enum BlurBackend {
    /// Compute passes for whatever they can store, and a render pass for a destination that they cannot. That was the
    /// faster way on every GPU that was measured. Where the GPU has no compute shaders, render passes.
    #[default]
    Auto,
    /// Render passes: every renderable format, every GPU, WebGL 2 included.
    Fragment,
    /// Compute passes wherever the GPU and the destination allow them, which is what [`Auto`](Self::Auto) chooses now.
    Compute,
}
