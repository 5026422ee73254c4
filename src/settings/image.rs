//! How an image is blurred, and what becomes of it.

use super::strength::GaussianBlur;
use crate::errors::BlurError;
use bevy::prelude::*;
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// Blurs an image into an image, by the [`GaussianBlur`] of the same entity.
///
/// The images must be two-dimensional and hold colours, in any [format](#formats). Of an image with several layers (an
/// array, or the faces of a cube) each is blurred alone: what is beyond the edge of a face is not taken from its neighbours.
/// A source whose view shows one layer or one mip level of a texture is that layer or level.
///
/// What a camera paints into the source is blurred in the same frame, when the last camera that paints it is done; cameras
/// of a higher order show the result. (A camera with a schedule other than `Core2d` and `Core3d` is only known to be done
/// when all cameras are.)
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
/// Source and target may differ in their formats: numbers stay what they are, and end where the target's end. What a device
/// cannot read or write is an [error](crate::BlurError) that names the format and what is missing; those of 16 bits, say,
/// need the feature `TEXTURE_FORMAT_16BIT_NORM`, and `Rg11b10Ufloat` as a target `RG11B10UFLOAT_RENDERABLE`.
///
/// Integers are numbers too, of which not even alpha is an opacity. They are rounded to the nearest one. Blurs compute with
/// floats, so of integers above 2²⁴ the first 24 bits are exact; copies, where there is nothing to blur, always are.
///
#[doc = include_str!("../formats/table.md")]
#[derive(Component, Clone, Debug, Default, PartialEq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
#[require(GaussianBlur, BlurRevision)]
pub struct BlurImage {
    /// The image to blur. While it loads the blur waits; when it is replaced, resized or modified the blur follows.
    pub source: Handle<Image>,
    /// Where the result goes. Default: `None`.
    ///
    /// With `None` the plugin allocates an image of the source's size and format, with as many layers and mip levels, fills
    /// its handle in here, and fits it to the source whenever a blur is due. Where the format cannot be rendered to, it has
    /// the nearest one that can. A clone of the component gets a target of its own. The image is the plugin's as long as this
    /// component stays on its entity; after that it is yours, and never fitted, wherever you name it as a target.
    ///
    /// An image of yours must have the source's size, as many layers, and
    /// [`TextureUsages::RENDER_ATTACHMENT`](wgpu::TextureUsages), and no other blur may write it. The source itself may be
    /// the target.
    ///
    /// A target that is fitted to another size is another texture. Sprites and nodes of Bevy's user interface follow it;
    /// meshes go on showing the old one, because Bevy binds the textures of a material only when the material changes. Where a
    /// source may change its size, let an observer write the material:
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
    /// If the target has mip levels, those below the first are made anew after every blur: each is the mean of the one
    /// before it, with [`BlurAlpha::Straight`] weighted by alpha. That takes
    /// [`TextureUsages::TEXTURE_BINDING`](wgpu::TextureUsages).
    pub target: Option<Handle<Image>>,
    /// What the alpha channel means. Default: [`BlurAlpha::Straight`].
    pub alpha: BlurAlpha,
    /// When to blur. Default: [`BlurUpdate::OnChange`].
    pub update: BlurUpdate,
    /// Whether the result is dithered where its format has eight bits for numbers from 0 to 1. Default: `false`.
    ///
    /// A strong blur makes gradients of less than a level over dozens of texels, which eight bits show as bands. Dithered,
    /// each channel of a colour is one of the two levels around its value, and that value on average: the noise of Bevy's
    /// [`DebandDither`](bevy::core_pipeline::tonemapping::DebandDither), which stands still. Mip levels are dithered too.
    ///
    /// Alpha never is, nor what is only copied because there is nothing to blur. For a mask, or other data, leave it off. It
    /// has no effect on targets of other formats: floats, integers, numbers with a sign, and those with more bits have no
    /// bands to speak of.
    pub dither: bool,
}

impl BlurImage {
    /// Blurs `source` into an image that the plugin allocates.
    #[must_use]
    pub fn new(source: Handle<Image>) -> Self {
        Self {
            source,
            ..Self::default()
        }
    }

    /// Blurs `image` in place.
    ///
    /// With [`BlurUpdate::OnChange`] the plugin keeps a copy of the picture as it was before the blur, in a texture of the
    /// same size: a radius that is eased blurs that again, and not what is blurred already. With the other updates each blur
    /// takes what the image holds, as it should where a camera paints the image.
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

    /// The same blur with or without dithering.
    #[must_use]
    pub fn with_dither(self, dither: bool) -> Self {
        Self { dither, ..self }
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
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub enum BlurAlpha {
    /// Colour is independent of alpha, as in PNG files and in what Bevy's sprites and user interface show: it is multiplied
    /// by alpha before the blur and divided after it, so that the colour of transparent texels never shows.
    ///
    /// Where neither image has an alpha channel, or either holds integers, this is [`Premultiplied`](Self::Premultiplied).
    ///
    /// The multiplication costs the first pass little with compute passes; render passes read the source texel by texel
    /// instead of four texels at a time.
    #[default]
    Straight,
    /// Colour is already multiplied by alpha, as in what cameras render, or alpha is no opacity: all four channels are
    /// blurred alike. The cheapest.
    Premultiplied,
    /// Alpha is ignored and written as 1, or the largest integer of a format of integers. As cheap as [`Premultiplied`](Self::Premultiplied).
    Opaque,
}

/// When an image is blurred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq, Hash)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub enum BlurUpdate {
    /// When the settings, the source asset or either texture changes.
    ///
    /// What the GPU writes into a source (a camera that renders to it, say) is no change of the asset: use
    /// [`EveryFrame`](Self::EveryFrame) there.
    #[default]
    OnChange,
    /// In every frame.
    EveryFrame,
    /// Once, as soon as the source is there, and again when [`BlurImage`] itself is changed
    /// ([`set_changed`](DetectChangesMut::set_changed) suffices).
    ///
    /// Nothing else makes a blur due: whatever becomes of the source and of [`GaussianBlur`], the picture stays as it is,
    /// and as large. A source that is written by another blur is there when that blur has been carried out.
    Once,
}

/// How many blurs a [`BlurImage`] has asked for so far: it counts up when the settings or the source change, with
/// [`BlurUpdate::Once`] when [`BlurImage`] does or its target was made anew. The plugin keeps it; [`BlurFinished`] refers to it.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq, Hash)]
pub struct BlurRevision(pub(crate) u64);

impl BlurRevision {
    /// The number of the blur that was asked for last, from 1 on; 0 before the first.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// Triggered on an entity with [`BlurImage`] when its blur has been submitted to the GPU.
///
/// Commands submitted from now on see the result. Settings may have changed since: `revision` says which blur this is.
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
    /// The [`BlurRevision`] that has been carried out.
    pub revision: u64,
    /// The settings that have been carried out.
    pub blur: GaussianBlur,
}

/// Triggered on an entity with [`BlurImage`] when it cannot be blurred. It is triggered and logged once per cause.
#[derive(EntityEvent, Clone, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, PartialEq)]
pub struct BlurFailed {
    /// The entity that carries [`BlurImage`].
    pub entity: Entity,
    /// What is wrong.
    pub error: BlurError,
}
