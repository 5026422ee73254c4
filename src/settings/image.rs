//! How an image is blurred, and the events that report it.

use super::strength::{BlurUnit, GaussianBlur};
use crate::errors::BlurError;
use bevy::asset::HandleTemplate;
use bevy::ecs::template::OptionTemplate;
use bevy::prelude::*;

/// Blurs an image into an image, with the [`GaussianBlur`] of the same entity.
///
/// The images must be two-dimensional and hold colours, in any [format](#formats). Each layer of an image with several
/// (an array, or the faces of a cube) is blurred alone: no face reads its neighbours. A source may be one layer or one
/// mip level of a texture, if its view shows just that.
///
/// What a camera paints into the source is blurred in the same frame, after the last camera that paints it. Cameras of
/// a higher order show the result. (A camera with a schedule other than `Core2d` and `Core3d` counts as done only after
/// all cameras.)
///
/// If another blur writes the source, this one comes after it in the same frame. It waits for the other one's first
/// result as long as the other one waits for its own source, but not if the other one has failed.
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
///
/// # Formats
///
/// Source and target may have different formats: values keep their meaning, and are clamped to the range of the target.
/// If a device cannot read or write a format, the [error](crate::BlurError) names the format and what is missing.
/// Formats of 16 bits, for example, need the feature `TEXTURE_FORMAT_16BIT_NORM`, and `Rg11b10Ufloat` as a target needs
/// `RG11B10UFLOAT_RENDERABLE`.
///
/// Integers are blurred as numbers, including their alpha, and rounded to the nearest one. Blurs compute with floats,
/// so the first 24 bits of integers above 2²⁴ are exact. Copies, where there is nothing to blur, are always exact.
///
#[doc = include_str!("../formats/table.md")]
#[derive(Component, FromTemplate, Clone, Debug, Default, PartialEq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
#[require(GaussianBlur, BlurRevision)]
#[must_use]
pub struct BlurImage {
    /// The image to blur. The blur waits while it loads, and follows when it is replaced, resized or modified.
    pub source: Handle<Image>,
    /// Where the result goes. Default: `None`.
    ///
    /// With `None` the plugin allocates an image of the source's format, and of its size or that of the
    /// [region](Self::region) with its [padding](Self::padding), with as many layers and mip levels.
    /// It puts the handle here. If the source is replaced or resized, the image is fitted to it at the next blur. If the format
    /// cannot be rendered to, the image has the nearest format that can. A clone of the component gets its own target.
    /// When you remove this component, or despawn its entity, the image stays as it is and is yours: as the target of another
    /// blur it counts as an image of your own.
    ///
    /// Your own image must have that size, as many layers as the source, and
    /// [`TextureUsages::RENDER_ATTACHMENT`](wgpu::TextureUsages), and no other blur may write it. It may be the source
    /// itself. A blur whose entity is disabled does not hold its image: another one may write it meanwhile.
    ///
    /// A target that is fitted to another size is another texture. Sprites and UI nodes follow it. Meshes keep showing
    /// the old one, because Bevy binds the textures of a material only when the material changes. If a source may
    /// change its size, let an observer write the material:
    ///
    /// ```
    /// # use bevy::prelude::*;
    /// # use bevy_gaussian_blur::prelude::*;
    /// type Shown<'a> = (&'a BlurImage, &'a MeshMaterial2d<ColorMaterial>);
    ///
    /// fn show(finished: On<BlurFinished>, blurs: Query<Shown>, mut materials: ResMut<Assets<ColorMaterial>>) {
    ///     if let Ok((image, material)) = blurs.get(finished.entity)
    ///         && let Some(mut material) = materials.get_mut(&material.0)
    ///     {
    ///         material.texture = image.target.clone();
    ///     }
    /// }
    /// ```
    ///
    /// If the target has mip levels, those below the first are made again after every blur: each is the mean of the
    /// level before it, weighted by alpha with [`BlurAlpha::Straight`]. That needs
    /// [`TextureUsages::TEXTURE_BINDING`](wgpu::TextureUsages).
    #[template(built_in)]
    pub target: Option<Handle<Image>>,
    /// The texels of the source that are blurred, and the only ones that are read: what lies around them, such as the other
    /// cells of an atlas, is beyond the [edge](GaussianBlur::edge). Default: `None`, all of them.
    ///
    /// Range: not empty, and inside the source, otherwise the blur [fails](BlurFailed). Radii in
    /// [`ViewportHeight`](crate::BlurUnit::ViewportHeight) are percent of the region's height, and a
    /// [`BlurProfile`](crate::BlurProfile) covers the region. A blur in place takes all of its image.
    ///
    /// ```
    /// # use bevy::prelude::*;
    /// # use bevy_gaussian_blur::prelude::*;
    /// fn soften(atlas: Handle<Image>, layout: &TextureAtlasLayout, cell: usize) -> BlurImage {
    ///     BlurImage::new(atlas).with_region(layout.textures[cell])
    /// }
    /// ```
    pub region: Option<URect>,
    /// The number of transparent texels on every side into which the blur may spread, so that a shadow or a glow is not cut
    /// off: the target is larger by twice as many. Default: 0.
    ///
    /// [`padding_for`](Self::padding_for) says how many are enough. Whatever the blur's [edge](GaussianBlur::edge), what
    /// lies beyond the region is transparent then. Range: the target must not exceed the largest texture of the GPU,
    /// otherwise the blur [fails](BlurFailed). Padding costs a copy of the region.
    pub padding: u32,
    /// What the alpha channel means. Default: [`BlurAlpha::Straight`].
    pub alpha: BlurAlpha,
    /// When to blur. Default: [`BlurUpdate::OnChange`].
    pub update: BlurUpdate,
    /// Whether the result is dithered where its format has eight bits for numbers from 0 to 1. Default: `false`.
    ///
    /// A strong blur makes gradients of less than one level over dozens of texels, which eight bits show as bands. With
    /// dithering, each colour channel is one of the two levels around its value, and equal to the value on average. The
    /// noise is the same as in Bevy's [`DebandDither`](bevy::core_pipeline::tonemapping::DebandDither), and stands still.
    /// Mip levels are dithered too.
    ///
    /// Alpha is never dithered, nor is a copy, where there is nothing to blur. Leave this off for masks and other data.
    /// It has no effect on other formats: floats, integers, signed numbers, and numbers of more than eight bits, which
    /// have no visible bands.
    pub dither: bool,
}

/// How many standard deviations from an edge a blur is visible: beyond, less than 1/100 of a grey level is left.
const VISIBLE_SIGMAS: f32 = 4.0;

impl BlurImage {
    /// Blurs `source` into an image that the plugin allocates.
    pub fn new(source: Handle<Image>) -> Self {
        Self {
            source,
            ..Self::default()
        }
    }

    /// Blurs `image` in place.
    ///
    /// With [`BlurUpdate::OnChange`] the plugin keeps a copy of the picture as it was before the blur, in a texture of
    /// the same size. So an eased radius blurs the sharp picture again, not the blurred one. With the other updates
    /// each blur takes what the image holds, which is right where a camera paints the image.
    pub fn in_place(image: Handle<Image>) -> Self {
        Self::new(image.clone()).with_target(image)
    }

    /// The same blur into an image of your own.
    pub fn with_target(self, target: Handle<Image>) -> Self {
        Self {
            target: Some(target),
            ..self
        }
    }

    /// The same blur of some [texels](Self::region) of the source.
    pub fn with_region(self, region: URect) -> Self {
        Self {
            region: Some(region),
            ..self
        }
    }

    /// The same blur with another [padding](Self::padding).
    pub fn with_padding(self, padding: u32) -> Self {
        Self { padding, ..self }
    }

    /// The [padding](Self::padding) beyond which nothing of a blur is visible: four standard deviations, rounded up.
    ///
    /// The radius counts as texels. A radius in [`ViewportHeight`](crate::BlurUnit::ViewportHeight), which depends on the image,
    /// must be [converted](GaussianBlur::sigma_in_texels) first. If it is out of range, there is no blur, and the padding is 0.
    ///
    /// ```
    /// # use bevy_gaussian_blur::prelude::*;
    /// assert_eq!(BlurImage::padding_for(&GaussianBlur::from_sigma(4.0)), 16);
    /// ```
    #[must_use]
    pub fn padding_for(blur: &GaussianBlur) -> u32 {
        let texels = blur.with_unit(BlurUnit::PhysicalPixels);
        let sigma = texels.sigma_in_texels(1.0, 1).unwrap_or_default();
        (VISIBLE_SIGMAS * sigma.max_element()).ceil() as u32
    }

    /// The same blur with another meaning of alpha.
    pub fn with_alpha(self, alpha: BlurAlpha) -> Self {
        Self { alpha, ..self }
    }

    /// The same blur with or without dithering.
    pub fn with_dither(self, dither: bool) -> Self {
        Self { dither, ..self }
    }

    /// The same blur at other times.
    pub fn with_update(self, update: BlurUpdate) -> Self {
        Self { update, ..self }
    }
}

/// What `BlurImage::new("photo.png")` and `BlurImage::in_place("photo.png")` call in `bsn!`.
impl BlurImageTemplate {
    /// As [`BlurImage::new`], of an image or its path.
    #[must_use]
    pub fn new(source: impl Into<HandleTemplate<Image>>) -> Self {
        Self {
            source: source.into(),
            ..Self::default()
        }
    }

    /// As [`BlurImage::in_place`], of an image or its path.
    #[must_use]
    pub fn in_place(image: impl Into<HandleTemplate<Image>>) -> Self {
        let source = image.into();
        let target = OptionTemplate::Some(source.clone_template());
        Self {
            target,
            ..Self::new(source)
        }
    }
}

/// A blur whose result is to be read back.
#[derive(Component)]
pub struct WantsPixels;

/// What the alpha channel of a blurred image means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq, Hash)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub enum BlurAlpha {
    /// Colour is independent of alpha, as in PNG files and in what Bevy's sprites and UI show. The blur multiplies it
    /// by alpha first and divides it by alpha last, so the colour of transparent texels never shows. What a camera renders
    /// needs [`Unpremultiply`](Self::Unpremultiply) instead, even if a sprite shows it.
    ///
    /// If neither image has an alpha channel, or one of them holds integers, this is
    /// [`Premultiplied`](Self::Premultiplied).
    ///
    /// With compute passes, the multiplication costs the first pass little. Render passes have to read the source texel
    /// by texel instead of four texels at a time.
    #[default]
    Straight,
    /// Colour is multiplied by alpha in source and target, or alpha is not an opacity: all four channels are blurred alike.
    /// The cheapest.
    Premultiplied,
    /// Colour is multiplied by alpha in the source, and not in the target: for what a transparent camera renders and a sprite
    /// or an `ImageNode` shows. Those multiply by alpha themselves, and would darken what is multiplied already:
    /// half-transparent white over white would be 0.75.
    ///
    /// The blur divides colour by alpha last, also where there is nothing to blur. As cheap as
    /// [`Premultiplied`](Self::Premultiplied), and the same as it where [`Straight`](Self::Straight) is.
    Unpremultiply,
    /// Alpha is ignored and written as 1, or as the largest integer of an integer format. As cheap as
    /// [`Premultiplied`](Self::Premultiplied).
    Opaque,
}

/// When an image is blurred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq, Hash)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub enum BlurUpdate {
    /// When the settings, the source asset or either texture changes, and in every frame in which a camera paints the
    /// source or a [mask](crate::BlurProfile::Mask), unless the blur is in place.
    ///
    /// What your own render systems write into a source is not noticed: use [`EveryFrame`](Self::EveryFrame) there.
    #[default]
    OnChange,
    /// In every frame.
    EveryFrame,
    /// Once, as soon as the source is loaded, and again when [`BlurImage`] itself changes
    /// ([`set_changed`](DetectChangesMut::set_changed) suffices).
    ///
    /// Nothing else starts a blur: the result keeps its contents and its size, whatever happens to the source and to
    /// [`GaussianBlur`]. A source that another blur writes counts as loaded when that blur has been submitted.
    Once,
}

/// How many blurs a [`BlurImage`] has requested so far. The plugin counts it up when the settings change or the asset of the source does;
/// with [`BlurUpdate::Once`], when [`BlurImage`] changes or its target was made again. [`BlurFinished`] refers to it.
///
/// A source that a camera renders, or another blur writes, changes on the GPU in every frame without a new revision:
/// [`BlurFinished`] is then triggered in every frame, with the same revision. So is a blur with [`BlurUpdate::EveryFrame`].
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq, Hash)]
pub struct BlurRevision(pub(crate) u64);

impl BlurRevision {
    /// The number of the last requested blur, from 1 on; 0 before the first.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// Triggered on an entity with [`BlurImage`] when its blur has been submitted to the GPU.
///
/// Commands submitted from now on see the result. Settings may have changed since: `revision` says which blur has
/// finished.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_gaussian_blur::prelude::*;
/// # use bevy_gaussian_blur::BlurRevision;
/// fn show(finished: On<BlurFinished>, blurs: Query<(&BlurImage, &BlurRevision)>) {
///     if let Ok((image, asked_for)) = blurs.get(finished.entity)
///         && asked_for.get() == finished.revision
///     {
///         info!("{:?} is what the settings say now", image.target);
///     }
/// }
/// ```
#[derive(EntityEvent, Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, PartialEq)]
pub struct BlurFinished {
    /// The entity that carries [`BlurImage`].
    pub entity: Entity,
    /// The [`BlurRevision`] that has been submitted.
    pub revision: u64,
    /// The settings that have been submitted.
    pub blur: GaussianBlur,
}

/// Triggered on an entity with [`BlurImage`] when it cannot be blurred. It is triggered and logged once per cause.
///
/// The target then stays as it is. Only where the radius, the aspect or the profile is out of range, which means "no blur", the image is
/// copied, and [`BlurFinished`] is triggered as well.
#[derive(EntityEvent, Clone, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, PartialEq)]
pub struct BlurFailed {
    /// The entity that carries [`BlurImage`].
    pub entity: Entity,
    /// What is wrong.
    pub error: BlurError,
}
