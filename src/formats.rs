//! All queries of texture formats ([`table`]), adapters and devices. [`Capabilities::resolve`] turns the two ends of a blur
//! into the means to execute it, and is the only place where this can fail.

pub mod dither;
pub mod table;

use crate::errors::{BlurError, FormatCapability};
use crate::kernel::Precision;
use crate::plan::Means;
use crate::program::workgroups::{LEAST_TILE_SIDE, WORKGROUP_BYTES, WORKGROUP_THREADS};
use crate::program::{Cores, Filtering, Tiling};
use crate::settings::{BlurAlpha, BlurBackend};
use bevy::camera::CompositingSpace;
use bevy::core_pipeline::tonemapping::{DebandDither, Tonemapping};
use bevy::ecs::query::QueryData;
use bevy::prelude::*;
use bevy::render::camera::ExtractedCamera;
use bevy::render::render_resource::{Texture, TextureFormat, TextureSampleType, TextureUsages};
use bevy::render::renderer::{RenderAdapter, RenderDevice};
use bevy::render::settings::WgpuFeatures;
use bevy::render::view::ExtractedView;
use dither::Dither;
use table::Format;
use wgpu::{AdapterInfo, Backend, DeviceType, DownlevelFlags, TextureFormatFeatures};

/// The properties of a blur's source and destination that decide how it is executed.
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
    /// How the colours of the result are dithered. Copies are exact.
    pub dither: Dither,
    /// Whether compute passes may store to the destination's texture.
    pub has_storage: bool,
    /// Whether source and destination are one texture.
    pub in_place: bool,
    /// The colour spaces of source and destination. Only a pass from one size to another converts between them.
    pub spaces: [CompositingSpace; 2],
}

/// No conversion.
pub const SAME_SPACES: [CompositingSpace; 2] = [CompositingSpace::Linear; 2];

impl Ends {
    /// From one texture to another.
    pub fn new(source: TextureFormat, destination: TextureFormat) -> Self {
        Self {
            source,
            destination,
            precision: precision_of(source),
            alpha: BlurAlpha::Premultiplied,
            dither: Dither::Off,
            has_storage: false,
            in_place: false,
            spaces: SAME_SPACES,
        }
    }

    /// From a camera's picture to the same picture. `is_light`: whether the picture holds light, because it is not
    /// tonemapped.
    pub fn of_camera(format: TextureFormat, is_light: bool) -> Self {
        // A camera would have to request storage usage, and cameras share a texture only if their usages are equal.
        let ends = Self::new(format, format);
        Self {
            // Tonemapped values are between 0 and 1 in every format.
            precision: if is_light { ends.precision } else { Precision::Standard },
            in_place: true,
            ..ends
        }
    }
}

/// The formats of most cameras' pictures: the format of windows and usual images, and the one with a high dynamic range.
pub const USUAL_PICTURES: [TextureFormat; 2] = [TextureFormat::Rgba8UnormSrgb, TextureFormat::Rgba16Float];

/// The components that decide how a camera finishes its picture, in the main world.
#[derive(QueryData)]
pub struct CameraFinish {
    tonemapping: Option<&'static Tonemapping>,
    dither: Option<&'static DebandDither>,
}

impl CameraFinishItem<'_, '_> {
    /// Whether the picture still holds light, and is not tonemapped.
    pub fn is_light(&self) -> bool {
        !self.tonemapping.is_some_and(Tonemapping::is_enabled)
    }

    /// Whether the camera dithers its picture if the output has eight bits.
    pub fn dithers(&self) -> bool {
        self.dither == Some(&DebandDither::Enabled)
    }
}

/// The components that describe the values of a camera's picture.
#[derive(QueryData)]
pub struct CameraPicture {
    pub camera: &'static ExtractedCamera,
    pub view: &'static ExtractedView,
}

impl CameraPictureItem<'_, '_> {
    /// The space in which the camera composites.
    pub fn space(&self) -> Option<CompositingSpace> {
        self.camera.compositing_space
    }

    /// The picture's format, and its format with the other dynamic range. The next frame may use either.
    pub fn formats(&self) -> [TextureFormat; 2] {
        let other = match self.space() {
            _ if !self.camera.hdr => USUAL_PICTURES[1],
            Some(CompositingSpace::Srgb) => TextureFormat::Rgba8Unorm,
            _ => USUAL_PICTURES[0],
        };
        [self.view.target_format, other]
    }
}

/// How to execute a blur between two ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resolved {
    /// The means that the plan may use.
    pub means: Means,
    /// The format of intermediates. They lose neither precision nor range.
    pub intermediate: TextureFormat,
    /// What alpha means, given the formats of the two ends.
    pub alpha: BlurAlpha,
    /// Whether texels of the source can have an alpha other than 1.
    pub has_alpha: bool,
}

impl Resolved {
    /// The usages of intermediates.
    pub fn intermediate_usages(&self) -> TextureUsages {
        let written = match self.means.tiling {
            Tiling::None => TextureUsages::RENDER_ATTACHMENT,
            // Drivers clear render targets fastest before their first use.
            Tiling::Tiled { .. } => TextureUsages::RENDER_ATTACHMENT | TextureUsages::STORAGE_BINDING,
        };
        TextureUsages::TEXTURE_BINDING | written
    }
}

/// Whether the adapter is a software rasteriser: llvmpipe, SwiftShader, WARP. Browsers report this with WebGL 2 only.
pub fn is_software(adapter: &AdapterInfo) -> bool {
    adapter.device_type == DeviceType::Cpu
}

/// The capabilities of the GPU.
#[derive(Resource, Clone)]
pub struct Capabilities {
    pub device: RenderDevice,
    adapter: RenderAdapter,
    /// Whether the GPU is a software rasteriser.
    pub is_software: bool,
    /// For targets of these precisions blurs may use compute passes, at least for their intermediate textures.
    computes: &'static [Precision],
    cores: Cores,
}

impl Capabilities {
    /// Queries a device. The limits of the device count, not those of the adapter.
    ///
    /// [`BlurBackend::Auto`] uses compute passes for every storable texture. On every measured GPU they were faster than
    /// render passes, even if a render pass has to follow for the destination. Software rasterisers gain nothing from
    /// workgroup memory: on them, render passes were faster for eight bits, and compute passes for half floats.
    pub fn new(backend: BlurBackend, adapter: &RenderAdapter, device: &RenderDevice) -> Self {
        let (limits, flags) = (device.limits(), adapter.get_downlevel_capabilities().flags);
        // Compute passes pack half floats, which llvmpipe cannot do on every processor.
        let can_compute = flags.contains(DownlevelFlags::COMPUTE_SHADERS | DownlevelFlags::SHADER_F16_IN_F32)
            && limits.max_storage_textures_per_shader_stage >= 1
            && limits.max_compute_workgroup_storage_size >= WORKGROUP_BYTES
            && limits.max_compute_invocations_per_workgroup >= WORKGROUP_THREADS
            && limits.max_compute_workgroup_size_x >= WORKGROUP_THREADS
            && limits.max_compute_workgroups_per_dimension >= limits.max_texture_dimension_2d / LEAST_TILE_SIDE;
        let is_software = is_software(&adapter.get_info());
        Self {
            device: device.clone(),
            adapter: adapter.clone(),
            is_software,
            computes: match backend {
                _ if !can_compute => &[],
                BlurBackend::Fragment => &[],
                BlurBackend::Auto if is_software => &[Precision::Hdr],
                BlurBackend::Auto | BlurBackend::Compute => &[Precision::Standard, Precision::Hdr],
            },
            cores: match backend {
                // With `Compute`, software rasterisers run the programs for GPUs, too.
                BlurBackend::Auto if is_software => Cores::Software,
                _ if device.features().contains(WgpuFeatures::SHADER_F16) => Cores::GpuWithHalves,
                _ => Cores::Gpu,
            },
        }
    }

    /// Returns how to execute a blur between these ends.
    ///
    /// # Errors
    /// [`BlurError::UnsupportedSource`], [`BlurError::UnsupportedTarget`] and [`BlurError::UnsupportedIntermediate`].
    pub fn resolve(&self, ends: &Ends) -> Result<Resolved, BlurError> {
        let source = self.readable(ends.source)?;
        let destination = self.writable(ends.destination)?;
        let intermediate = if source.is_wide() || destination.is_wide() {
            TextureFormat::Rgba32Float
        } else {
            TextureFormat::Rgba16Float
        };
        self.check(intermediate, TextureUsages::RENDER_ATTACHMENT)
            .map_err(|lacks| BlurError::UnsupportedIntermediate {
                format: intermediate,
                lacks,
            })?;
        // The tiles of compute passes lie in workgroup memory as half floats.
        let tiling = if self.computes.contains(&destination.precision()) && intermediate == TextureFormat::Rgba16Float {
            Tiling::Tiled {
                stores: ends.has_storage && self.is_storable(destination),
                cores: self.cores,
            }
        } else {
            Tiling::None
        };
        let alpha = match ends.alpha {
            BlurAlpha::Straight | BlurAlpha::Unpremultiply
                if !(source.has_opacity() || destination.has_opacity()) || source.sample() != destination.sample() =>
            {
                BlurAlpha::Premultiplied
            }
            alpha => alpha,
        };
        let intermediates = self.is_filtered(intermediate);
        let filtering = Filtering {
            // Colour has to be multiplied by alpha before it is filtered.
            source: self.is_filtered(ends.source)
                && source.filters_exactly()
                && !(alpha == BlurAlpha::Straight && source.has_opacity()),
            intermediates,
            // Samplers keep eight bits of the position between two texels. A light a thousand times as bright as its
            // surroundings is then wrong by a quarter of a percent of its peak.
            spline: intermediates && ends.precision == Precision::Standard,
        };
        Ok(Resolved {
            means: Means {
                precision: ends.precision,
                tiling,
                filtering,
                opaque: alpha == BlurAlpha::Opaque && destination.channels() == 4,
                in_place: ends.in_place,
                converts: alpha == BlurAlpha::Unpremultiply,
            },
            intermediate,
            alpha,
            has_alpha: source.has_opacity(),
        })
    }

    /// The format and the usages of the target that the plugin allocates for a source of this format: the same format, or
    /// its [stand-in](Format::stand_in) if it is not renderable.
    ///
    /// # Errors
    /// Images of this format cannot be blurred.
    pub fn own_target(&self, source: TextureFormat) -> Result<(TextureFormat, TextureUsages), BlurError> {
        let known = self.readable(source)?;
        let target = self.writable(source).or_else(|_| self.writable(known.stand_in()))?;
        let mut usages = TextureUsages::TEXTURE_BINDING | TextureUsages::COPY_DST | TextureUsages::RENDER_ATTACHMENT;
        if self.computes.contains(&target.precision()) && self.is_storable(target) {
            usages |= TextureUsages::STORAGE_BINDING;
        }
        Ok((target.texture, usages))
    }

    /// Checks that shaders can read single layers of a texture. `image` is what
    /// [`UnreadableLayers`](BlurError::UnreadableLayers) calls it.
    ///
    /// # Errors
    /// `UnreadableLayers`.
    pub fn check_layers(&self, image: &'static str, texture: &Texture) -> Result<(), BlurError> {
        check_layers(self.adapter.get_info().backend, image, texture.depth_or_array_layers())
    }

    /// The largest width and height of a texture.
    pub fn largest_side(&self) -> u32 {
        self.device.limits().max_texture_dimension_2d
    }

    /// The format, if a blur can read it.
    fn readable(&self, format: TextureFormat) -> Result<Format, BlurError> {
        self.check(format, TextureUsages::TEXTURE_BINDING)
            .map_err(|lacks| BlurError::UnsupportedSource { format, lacks })
    }

    /// The format, if a blur can write it, at least with render passes.
    fn writable(&self, format: TextureFormat) -> Result<Format, BlurError> {
        self.check(format, TextureUsages::RENDER_ATTACHMENT)
            .map_err(|lacks| BlurError::UnsupportedTarget { format, lacks })
    }

    /// The format, if its textures support a usage.
    fn check(&self, texture: TextureFormat, usage: TextureUsages) -> Result<Format, FormatCapability> {
        let format = Format::find(texture).ok_or(FormatCapability::Colour)?;
        let missing = texture.required_features() - self.device.features();
        if !missing.is_empty() {
            return Err(FormatCapability::Feature(missing));
        }
        match usage {
            _ if self.features(texture).allowed_usages.contains(usage) => Ok(format),
            TextureUsages::RENDER_ATTACHMENT => Err(FormatCapability::Rendering),
            _ => Err(FormatCapability::Sampling),
        }
    }

    /// Whether samplers may filter textures of this format.
    fn is_filtered(&self, format: TextureFormat) -> bool {
        let filterable = TextureSampleType::Float { filterable: true };
        format.sample_type(None, Some(self.device.features())) == Some(filterable)
    }

    /// Whether a compute pass can store to a texture of this format: the device and the shaders must support it.
    fn is_storable(&self, format: Format) -> bool {
        let usages = self.features(format.texture).allowed_usages;
        format.storage_definition().is_some() && usages.contains(TextureUsages::STORAGE_BINDING)
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

/// wgpu binds the whole array in place of one layer on OpenGL: the shader then reads black.
fn check_layers(backend: Backend, image: &'static str, layers: u32) -> Result<(), BlurError> {
    if backend == Backend::Gl && layers > 1 {
        return Err(BlurError::UnreadableLayers { image, layers });
    }
    Ok(())
}

/// The precision that a picture of this format needs.
pub fn precision_of(format: TextureFormat) -> Precision {
    Format::find(format).map_or(Precision::Standard, |format| format.precision())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_are_refused_where_shaders_cannot_read_them() {
        for backend in Backend::ALL {
            for (image, layers) in [("source", 2), ("target", 6)] {
                let refused = (backend == Backend::Gl).then_some(BlurError::UnreadableLayers { image, layers });
                assert_eq!(check_layers(backend, image, layers).err(), refused, "{backend:?}");
            }
            assert_eq!(check_layers(backend, "source", 1), Ok(()), "{backend:?}");
        }
    }
}
