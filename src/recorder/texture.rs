//! A texture for the recorder: one layer of one mip level.

use crate::errors::BlurError;
use crate::gpu::{ViewInfo, holds_shares, layer_view, texture_size};
use bevy::math::UVec2;
use bevy::render::render_resource::{
    Texture, TextureDimension, TextureFormat, TextureUsages, TextureView, TextureViewDimension,
};
use bevy::render::texture::{CachedTexture, GpuImage};
use bevy::render::view::ViewTarget;

/// One layer of one mip level of a texture, in a format: what a [`TextureBlur`](super::TextureBlur) reads or writes.
///
/// It holds reference-counted handles of the texture and the view, so cloning is cheap and does not allocate.
///
/// The texture must be two-dimensional with one sample per texel. It needs the usage `TEXTURE_BINDING` to be read, as a
/// source or a mask, and `RENDER_ATTACHMENT` to be written. With `STORAGE_BINDING` as well, compute passes write the
/// formats that they can store to, which is faster.
#[derive(Clone, Debug)]
pub struct BlurTexture {
    texture: Texture,
    view: TextureView,
    format: TextureFormat,
    /// The first mip level and the first array layer that the view shows.
    place: [u32; 2],
    /// How many levels and layers it shows.
    shown: [u32; 2],
    /// Whether it shows them as an array or a cube.
    is_array: bool,
}

impl BlurTexture {
    /// One layer of one mip level of a texture, from a view that shows just that, in this format.
    #[must_use]
    pub fn new(texture: &Texture, view: &TextureView, format: TextureFormat, mip_level: u32, array_layer: u32) -> Self {
        Self {
            texture: texture.clone(),
            view: view.clone(),
            format,
            place: [mip_level, array_layer],
            shown: [1, 1],
            is_array: false,
        }
    }

    /// One layer of one mip level of a texture, or one face of a cube, in this format: the texture's own, or another
    /// one that it was created with (`view_formats`). It creates a view, so keep the returned value.
    ///
    /// # Panics
    /// With wgpu's message if the texture has no such level or layer, or cannot be viewed in the format.
    #[must_use]
    pub fn of_layer(texture: &Texture, format: TextureFormat, mip_level: u32, array_layer: u32) -> Self {
        let view = layer_view(texture, (Some(format), None), [mip_level, array_layer]);
        Self::new(texture, &view, format, mip_level, array_layer)
    }

    /// The width and the height in texels.
    #[must_use]
    pub fn size(&self) -> UVec2 {
        (texture_size(&self.texture) >> UVec2::splat(self.place[0])).max(UVec2::ONE)
    }

    /// The format of the view.
    #[must_use]
    pub fn format(&self) -> TextureFormat {
        self.format
    }

    pub(super) fn view(&self) -> &TextureView {
        &self.view
    }

    pub(super) fn texture(&self) -> &Texture {
        &self.texture
    }

    pub(super) fn has_usage(&self, usage: TextureUsages) -> bool {
        self.texture.usage().contains(usage)
    }

    /// Whether both show the same texels.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        *self.texture == *other.texture && (self.place, self.shown) == (other.place, other.shown)
    }

    /// Whether they show texels of each other.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        let begins_before_end = |one: &Self, other: &Self, i: usize| one.place[i] < other.place[i] + other.shown[i];
        let meet = |i: usize| begins_before_end(self, other, i) && begins_before_end(other, self, i);
        *self.texture == *other.texture && meet(0) && meet(1)
    }
}

/// Everything that an image's view shows.
impl From<&GpuImage> for BlurTexture {
    fn from(image: &GpuImage) -> Self {
        let view = image.texture_view_descriptor.as_ref();
        let [level, layer] = view.map_or([0, 0], |view| [view.base_mip_level, view.base_array_layer]);
        let one = Self::new(&image.texture, &image.texture_view, image.view_format(), level, layer);
        // Of other textures, `check` says what they are.
        let Ok(shown) = ViewInfo::of_gpu(image) else {
            return one;
        };
        Self {
            shown: [shown.levels, shown.layers],
            is_array: shown.dimension != TextureViewDimension::D2,
            ..one
        }
    }
}

/// A transient texture: everything that its default view shows.
impl From<&CachedTexture> for BlurTexture {
    fn from(cached: &CachedTexture) -> Self {
        let texture = &cached.texture;
        Self {
            shown: [texture.mip_level_count(), texture.depth_or_array_layers()],
            is_array: texture.depth_or_array_layers() > 1,
            ..Self::new(texture, &cached.default_view, texture.format(), 0, 0)
        }
    }
}

/// The camera's picture, without multisampling, in the current one of its two textures.
impl From<&ViewTarget> for BlurTexture {
    fn from(target: &ViewTarget) -> Self {
        let format = target.main_texture_format();
        Self::new(target.main_texture(), target.main_texture_view(), format, 0, 0)
    }
}

/// What a blur requires of its textures.
impl BlurTexture {
    /// Whether a blur with this mask can read this texture and write `target`.
    pub(super) fn check(&self, target: &Self, mask: Option<&Self>) -> Result<(), BlurError> {
        self.check_usage("source", TextureUsages::TEXTURE_BINDING)?;
        target.check_usage("target", TextureUsages::RENDER_ATTACHMENT)?;
        // Both are the same, or they share no texel.
        if self.overlaps(target) && !self.is_same(target) {
            let (source, target) = (self.place, target.place);
            return Err(BlurError::OverlappingViews { source, target });
        }
        mask.map_or(Ok(()), |mask| mask.check_mask(target))
    }

    /// Whether it can be used as the `image` of a blur, `"source"` or `"target"`.
    fn check_usage(&self, image: &'static str, usage: TextureUsages) -> Result<(), BlurError> {
        let texture = &self.texture;
        if texture.dimension() != TextureDimension::D2 || texture.sample_count() != 1 {
            return Err(BlurError::NotTwoDimensional);
        }
        let [levels, layers] = self.shown;
        // A pass writes a single level, and reads the first one.
        if self.is_array || layers != 1 || levels != 1 && usage == TextureUsages::RENDER_ATTACHMENT {
            return Err(BlurError::WideView { image, levels, layers });
        }
        BlurError::check_usage(image, texture.usage(), usage)
    }

    /// Whether it can be the mask of a blur that writes `target`.
    fn check_mask(&self, target: &Self) -> Result<(), BlurError> {
        let format = self.format;
        if self.check_usage("mask", TextureUsages::TEXTURE_BINDING).is_err() || !holds_shares(format) {
            return Err(BlurError::UnsupportedMask { format });
        }
        if self.overlaps(target) {
            Err(BlurError::MaskIsTarget)
        } else {
            Ok(())
        }
    }
}
