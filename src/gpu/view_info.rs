//! What a view shows of an image: its format, its size, its layers and its mip levels. Which images may be masks.

use crate::errors::BlurError;
use bevy::asset::RenderAssetUsages;
use bevy::image::{Image, ToExtents};
use bevy::math::UVec2;
use bevy::render::render_resource::{
    TexelCopyTextureInfo, Texture, TextureDescriptor, TextureDimension, TextureFormat, TextureId, TextureSampleType,
    TextureUsages, TextureView, TextureViewDescriptor, TextureViewDimension,
};
use bevy::render::texture::GpuImage;

/// Some layers of some mip levels of a texture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ViewInfo {
    pub format: TextureFormat,
    /// The size of the first visible level.
    pub size: UVec2,
    /// How the layers are arranged: as one, as several, or as the faces of cubes.
    pub dimension: TextureViewDimension,
    pub layers: u32,
    pub levels: u32,
}

impl ViewInfo {
    /// What the view of an image asset will show.
    ///
    /// # Errors
    /// [`BlurError::NotTwoDimensional`]
    pub fn of_asset(image: &Image) -> Result<Self, BlurError> {
        Self::new(&image.texture_descriptor, image.texture_view_descriptor.as_ref())
    }

    /// What the view of an image on the GPU shows.
    ///
    /// # Errors
    /// [`BlurError::NotTwoDimensional`]
    pub fn of_gpu(image: &GpuImage) -> Result<Self, BlurError> {
        Self::new(&image.texture_descriptor, image.texture_view_descriptor.as_ref())
    }

    fn new(texture: &TextureDescriptor, view: Option<&TextureViewDescriptor>) -> Result<Self, BlurError> {
        use TextureViewDimension::{Cube, CubeArray, D1, D2, D2Array, D3};
        let layered = if texture.size.depth_or_array_layers == 1 {
            D2
        } else {
            D2Array
        };
        let dimension = view.and_then(|view| view.dimension).unwrap_or(layered);
        let view = view.cloned().unwrap_or_default();
        let rest = texture.size.depth_or_array_layers.saturating_sub(view.base_array_layer);
        let layers = match dimension {
            D1 | D3 => return Err(BlurError::NotTwoDimensional),
            D2 => 1,
            Cube => 6,
            D2Array | CubeArray => view.array_layer_count.unwrap_or(rest),
        };
        if texture.dimension != TextureDimension::D2 || texture.sample_count != 1 {
            return Err(BlurError::NotTwoDimensional);
        }
        let level = view.base_mip_level;
        let rest = texture.mip_level_count.saturating_sub(level);
        Ok(Self {
            format: view.format.unwrap_or(texture.format),
            size: side(texture, level),
            dimension,
            layers,
            levels: view.mip_level_count.unwrap_or(rest),
        })
    }

    /// An image without pixels whose view has these properties.
    pub fn image(&self, label: &'static str) -> Image {
        let mut size = self.size.to_extents();
        size.depth_or_array_layers = self.layers;
        let (dimension, usages) = (TextureDimension::D2, RenderAssetUsages::default());
        let mut image = Image::new_uninit(size, dimension, self.format, usages);
        image.texture_descriptor.label = Some(label);
        image.texture_descriptor.mip_level_count = self.levels;
        if self.dimension != TextureViewDimension::D2 {
            image.texture_view_descriptor = Some(TextureViewDescriptor {
                label: Some(label),
                dimension: Some(self.dimension),
                ..Default::default()
            });
        }
        image
    }

    /// The view without the levels below the one that has one texel.
    pub fn with_possible_levels(self) -> Self {
        let possible = self.size.max_element().max(1).ilog2() + 1;
        Self {
            levels: self.levels.min(possible),
            ..self
        }
    }

    /// The size of one of the visible levels, counted from the first.
    pub fn level_size(&self, level: u32) -> UVec2 {
        (self.size >> UVec2::splat(level)).max(UVec2::ONE)
    }
}

fn side(texture: &TextureDescriptor, level: u32) -> UVec2 {
    UVec2::new(texture.size.width >> level, texture.size.height >> level).max(UVec2::ONE)
}

/// A view of each layer of one of the visible levels, counted from the first.
pub fn layers_of(image: &GpuImage, viewed: &ViewInfo, level: u32) -> Vec<TextureView> {
    if (viewed.layers, viewed.levels, viewed.dimension) == (1, 1, TextureViewDimension::D2) {
        return vec![image.texture_view.clone()];
    }
    let own = image.texture_view_descriptor.clone().unwrap_or_default();
    let place = |layer: u32| [own.base_mip_level + level, own.base_array_layer + layer];
    let views = (0..viewed.layers).map(|layer| layer_view(&image.texture, (own.format, own.usage), place(layer)));
    views.collect()
}

/// The format and the usages of a view. `None` means that the view inherits them from its texture.
type ViewKind = (Option<TextureFormat>, Option<TextureUsages>);

/// A view of one layer of one mip level of a texture, of those with these numbers.
pub fn layer_view(texture: &Texture, (format, usage): ViewKind, [level, layer]: [u32; 2]) -> TextureView {
    texture.create_view(&TextureViewDescriptor {
        label: Some("gaussian_blur_layer"),
        format,
        usage,
        dimension: Some(TextureViewDimension::D2),
        base_mip_level: level,
        mip_level_count: Some(1),
        base_array_layer: layer,
        array_layer_count: Some(1),
        ..Default::default()
    })
}

/// The origin of the first layer of the first visible level.
pub fn first_part(image: &GpuImage) -> TexelCopyTextureInfo<'_> {
    let view = image.texture_view_descriptor.as_ref();
    let mut part = image.texture.as_image_copy();
    part.mip_level = view.map_or(0, |view| view.base_mip_level);
    part.origin.z = view.map_or(0, |view| view.base_array_layer);
    part
}

/// The texels of a texture along x and y.
pub fn texture_size(texture: &wgpu::Texture) -> UVec2 {
    UVec2::new(texture.width(), texture.height())
}

/// The texels of a texture from this one on.
pub fn part_from(texture: &wgpu::Texture, origin: UVec2) -> TexelCopyTextureInfo<'_> {
    let mut part = texture.as_image_copy();
    (part.origin.x, part.origin.y) = (origin.x, origin.y);
    part
}

/// Whether a mask may have this format: floats or normalised integers.
pub fn holds_shares(format: TextureFormat) -> bool {
    matches!(format.sample_type(None, None), Some(TextureSampleType::Float { .. }))
}

/// The view of a mask, for a blur that writes this texture.
///
/// # Errors
/// [`BlurError::UnsupportedMask`] and [`BlurError::MaskIsTarget`].
pub(super) fn view_of_mask(mask: &GpuImage, target: TextureId) -> Result<TextureView, BlurError> {
    let format = mask.view_format();
    let is_bound = mask.texture_descriptor.usage.contains(TextureUsages::TEXTURE_BINDING);
    let is_flat = ViewInfo::of_gpu(mask).is_ok_and(|viewed| viewed.dimension == TextureViewDimension::D2);
    if !(holds_shares(format) && is_bound && is_flat) {
        return Err(BlurError::UnsupportedMask { format });
    }
    // The GPU cannot read from a texture that it renders to.
    if mask.texture.id() == target {
        return Err(BlurError::MaskIsTarget);
    }
    Ok(mask.texture_view.clone())
}
