//! Every question to texture formats, adapters and devices. [`Capabilities::resolve`] turns the two ends of a blur into the
//! means of carrying it out, and is the only place where that can fail.

use crate::errors::BlurError;
use crate::kernel::Precision;
use crate::plan::Means;
use crate::program::{Filtering, LEAST_TILE_SIDE, Tiling, WORKGROUP_BYTES, WORKGROUP_THREADS};
use crate::settings::{BlurAlpha, BlurBackend};
use bevy::prelude::*;
use bevy::render::render_resource::{TextureFormat, TextureSampleType, TextureUsages};
use bevy::render::renderer::{RenderAdapter, RenderDevice};
use bevy::render::settings::WgpuFeatures;
use wgpu::{DownlevelFlags, TextureFormatFeatures};

/// The two ends of a blur, as far as they decide how it is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ends {
    /// The format of the source's view.
    pub source: TextureFormat,
    /// The format of the destination's view.
    pub destination: TextureFormat,
    /// How exact the result has to be.
    pub precision: Precision,
    /// What alpha means in source and destination.
    pub alpha: BlurAlpha,
    /// Whether compute passes may store to the destination's texture.
    pub has_storage: bool,
    /// Whether source and destination are one texture.
    pub in_place: bool,
}

/// How a blur between two ends is carried out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resolved {
    /// What the plan may choose from.
    pub means: Means,
    /// The format of what lies in between: neither precision nor range is lost there.
    pub intermediate: TextureFormat,
}

impl Resolved {
    /// How intermediates are used.
    #[must_use]
    pub fn intermediate_usages(&self) -> TextureUsages {
        let written = match self.means.tiling {
            Tiling::None => TextureUsages::RENDER_ATTACHMENT,
            // A render target is what drivers clear the fastest before it is first used.
            Tiling::Tiled { .. } => TextureUsages::RENDER_ATTACHMENT | TextureUsages::STORAGE_BINDING,
        };
        TextureUsages::TEXTURE_BINDING | written
    }
}

/// What the GPU at hand can do.
#[derive(Resource, Clone)]
pub struct Capabilities {
    device: RenderDevice,
    adapter: RenderAdapter,
    /// Whether compute passes may be used for what can be stored to.
    computes: bool,
}

impl Capabilities {
    /// Asks a device. What the adapter could do beyond the device's limits does not count.
    ///
    /// [`BlurBackend::Auto`] computes whatever can be stored: on every GPU that was measured, a software rasteriser among
    /// them, that was faster than render passes, also where a render pass has to follow for the destination.
    #[must_use]
    pub fn new(backend: BlurBackend, adapter: &RenderAdapter, device: &RenderDevice) -> Self {
        let (limits, flags) = (device.limits(), adapter.get_downlevel_capabilities().flags);
        let computes = flags.contains(DownlevelFlags::COMPUTE_SHADERS)
            && limits.max_storage_textures_per_shader_stage >= 1
            && limits.max_compute_workgroup_storage_size >= WORKGROUP_BYTES
            && limits.max_compute_invocations_per_workgroup >= WORKGROUP_THREADS
            && limits.max_compute_workgroup_size_x >= WORKGROUP_THREADS
            && limits.max_compute_workgroups_per_dimension >= limits.max_texture_dimension_2d / LEAST_TILE_SIDE;
        Self {
            device: device.clone(),
            adapter: adapter.clone(),
            computes: computes && backend != BlurBackend::Fragment,
        }
    }

    /// How a blur between these ends is carried out.
    ///
    /// # Errors
    /// [`BlurError::UnsupportedSource`], [`BlurError::UnsupportedTarget`] and [`BlurError::UnsupportedIntermediate`].
    pub fn resolve(&self, ends: &Ends) -> Result<Resolved, BlurError> {
        let source_filters = self
            .is_filtered(ends.source)
            .ok_or(BlurError::UnsupportedSource(ends.source))?;
        if !self.is_renderable(ends.destination) {
            return Err(BlurError::UnsupportedTarget(ends.destination));
        }
        let intermediate = if is_full_float(ends.source) || is_full_float(ends.destination) {
            TextureFormat::Rgba32Float
        } else {
            TextureFormat::Rgba16Float
        };
        if !self.is_renderable(intermediate) {
            return Err(BlurError::UnsupportedIntermediate(intermediate));
        }
        // The tiles of compute passes lie in workgroup memory as half floats.
        let tiling = if self.computes && intermediate == TextureFormat::Rgba16Float {
            Tiling::Tiled {
                stores: ends.has_storage && self.is_storable(ends.destination),
                apart: !ends.in_place,
            }
        } else {
            Tiling::None
        };
        let intermediates = self.is_filtered(intermediate) == Some(true);
        let filtering = Filtering {
            // Colour has to be multiplied by alpha before it is filtered.
            source: source_filters && ends.alpha != BlurAlpha::Straight,
            intermediates,
            // The eight bits that samplers keep of the place between two texels make lights that outshine what is around
            // them a thousand times wrong by a quarter of a percent of their peak.
            spline: intermediates && ends.precision == Precision::Standard,
        };
        Ok(Resolved {
            means: Means {
                precision: ends.precision,
                tiling,
                filtering,
            },
            intermediate,
        })
    }

    /// The usages that an image of the plugin's own needs, to be sampled and to take a blur.
    ///
    /// # Errors
    /// Images of this format cannot be blurred into images of this format.
    pub fn image_usages(&self, format: TextureFormat) -> Result<TextureUsages, BlurError> {
        if self.is_filtered(format).is_none() {
            return Err(BlurError::UnsupportedSource(format));
        }
        if !self.is_renderable(format) {
            return Err(BlurError::UnsupportedTarget(format));
        }
        let mut usages = TextureUsages::TEXTURE_BINDING | TextureUsages::COPY_DST | TextureUsages::RENDER_ATTACHMENT;
        if self.computes && self.is_storable(format) {
            usages |= TextureUsages::STORAGE_BINDING;
        }
        Ok(usages)
    }

    /// The largest width and height of a texture.
    #[must_use]
    pub fn largest_side(&self) -> u32 {
        self.device.limits().max_texture_dimension_2d
    }

    /// Whether textures of this format may be filtered, `None` if they hold no floating-point values.
    ///
    /// Some software rasterisers filter 8-bit textures with 8-bit arithmetic, which is off by up to 1/255 a fetch, so those
    /// are read texel by texel. Formats in sRGB are decoded before they are filtered, in full precision.
    fn is_filtered(&self, format: TextureFormat) -> Option<bool> {
        let eight_bit = matches!(
            format,
            TextureFormat::R8Unorm
                | TextureFormat::R8Snorm
                | TextureFormat::Rg8Unorm
                | TextureFormat::Rg8Snorm
                | TextureFormat::Rgba8Unorm
                | TextureFormat::Rgba8Snorm
                | TextureFormat::Bgra8Unorm
        );
        match format.sample_type(None, Some(self.device.features()))? {
            TextureSampleType::Float { filterable } => Some(filterable && !eight_bit),
            _ => None,
        }
    }

    /// Whether a pass can render to a texture of this format.
    fn is_renderable(&self, format: TextureFormat) -> bool {
        let usages = self.features(format).allowed_usages;
        format.has_color_aspect() && usages.contains(TextureUsages::RENDER_ATTACHMENT)
    }

    /// Whether a compute pass can store to a texture of this format: one of those that the shaders know.
    fn is_storable(&self, format: TextureFormat) -> bool {
        let known = matches!(
            format,
            TextureFormat::Rgba8Unorm | TextureFormat::Rgba16Float | TextureFormat::Rgba32Float
        );
        known
            && self
                .features(format)
                .allowed_usages
                .contains(TextureUsages::STORAGE_BINDING)
    }

    fn features(&self, format: TextureFormat) -> TextureFormatFeatures {
        let features = self.device.features();
        if features.contains(WgpuFeatures::TEXTURE_ADAPTER_SPECIFIC_FORMAT_FEATURES) {
            self.adapter.get_texture_format_features(format)
        } else {
            format.guaranteed_format_features(features)
        }
    }
}

/// What a picture of this format needs: formats that can hold more than 1 may hold lights.
#[must_use]
pub const fn precision_of(format: TextureFormat) -> Precision {
    match format {
        TextureFormat::R16Float
        | TextureFormat::Rg16Float
        | TextureFormat::Rgba16Float
        | TextureFormat::R32Float
        | TextureFormat::Rg32Float
        | TextureFormat::Rgba32Float
        | TextureFormat::Rg11b10Ufloat
        | TextureFormat::Rgb9e5Ufloat => Precision::Hdr,
        _ => Precision::Standard,
    }
}

/// Whether a format stores half floats, which some GPUs cut off instead of rounding.
#[must_use]
pub const fn is_half_float(format: TextureFormat) -> bool {
    matches!(
        format,
        TextureFormat::R16Float | TextureFormat::Rg16Float | TextureFormat::Rgba16Float
    )
}

const fn is_full_float(format: TextureFormat) -> bool {
    matches!(
        format,
        TextureFormat::R32Float | TextureFormat::Rg32Float | TextureFormat::Rgba32Float
    )
}
