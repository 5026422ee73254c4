//! The device, and the textures of one size and format that the classical methods read and write.

use crate::options::Format;
use crate::support::formats;
use crate::support::headless::Headless;
use crate::support::reference::Picture;
use bevy::image::Image;
use bevy::render::render_resource::Texture;
use bevy::render::renderer::{RenderAdapterInfo, RenderDevice, RenderQueue};
use wgpu::{Extent3d, TextureDescriptor, TextureDimension, TextureFormat, TextureUsages, TextureView};

/// The format between the two passes of a separable blur.
pub const INTERMEDIATE: TextureFormat = TextureFormat::Rgba16Float;

/// A device and its name.
#[derive(Clone)]
pub struct Gpu {
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    pub name: String,
    pub driver: String,
    /// Whether the CPU does the work.
    pub is_software: bool,
}

impl Gpu {
    /// The device of an app.
    ///
    /// # Errors
    /// A line that says why its work cannot be timed.
    pub fn of(headless: &Headless) -> Result<Self, String> {
        let world = headless.render_world();
        let device = world.resource::<RenderDevice>().wgpu_device().clone();
        let queue: &wgpu::Queue = world.resource::<RenderQueue>();
        let info = world.resource::<RenderAdapterInfo>();
        let name = info.name.clone();
        let timestamps = wgpu::Features::TIMESTAMP_QUERY | wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS;
        if !device.features().contains(timestamps) {
            return Err(format!(
                "{name} has no timestamps between passes, so nothing can be measured on it"
            ));
        }
        Ok(Self {
            device,
            queue: queue.clone(),
            driver: format!("{} {} ({})", info.driver, info.driver_info, info.backend),
            is_software: info.device_type == wgpu::DeviceType::Cpu,
            name,
        })
    }

    /// Whether a sampler can interpolate between texels of this format.
    pub fn filters(&self, format: Format) -> bool {
        let features = self.device.features();
        format != Format::Rgba32Float || features.contains(wgpu::Features::FLOAT32_FILTERABLE)
    }
}

/// A texture and its view.
pub struct Surface {
    pub texture: Texture,
    pub view: TextureView,
}

impl Surface {
    fn new(gpu: &Gpu, label: &str, size: [u32; 2], format: TextureFormat, usage: TextureUsages) -> Self {
        let texture = gpu.device.create_texture(&TextureDescriptor {
            label: Some(label),
            size: extent(size),
            mip_level_count: 1,
            sample_count: 1,
            dimension: TextureDimension::D2,
            format,
            usage,
            view_formats: &[],
        });
        Self {
            view: texture.create_view(&Default::default()),
            texture: texture.into(),
        }
    }
}

/// The targets of one kind of pass. A texture that several kinds of pass can write may be slower, so each kind has its own.
pub struct Written {
    pub intermediate: Surface,
    pub target: Surface,
}

/// All textures of one size and format.
pub struct Stage {
    pub gpu: Gpu,
    pub size: [u32; 2],
    pub format: Format,
    pub source: Surface,
    pub by_fragment: Written,
    /// `None` for a format that compute passes cannot write.
    pub by_compute: Option<Written>,
    pub by_transfer: Surface,
}

impl Stage {
    pub fn new(gpu: &Gpu, size: [u32; 2], format: Format) -> Self {
        let texel = format.texture_format();
        let surface = |label, format, usage| Surface::new(gpu, label, size, format, usage);
        let written = |usage: TextureUsages| Written {
            intermediate: surface("intermediate", INTERMEDIATE, usage | TextureUsages::TEXTURE_BINDING),
            target: surface("target", texel, usage | TextureUsages::COPY_SRC),
        };
        let copied = TextureUsages::TEXTURE_BINDING | TextureUsages::COPY_DST | TextureUsages::COPY_SRC;
        Self {
            gpu: gpu.clone(),
            size,
            format,
            source: surface("source", texel, copied),
            by_fragment: written(TextureUsages::RENDER_ATTACHMENT),
            by_compute: format.has_storage().then(|| written(TextureUsages::STORAGE_BINDING)),
            by_transfer: surface("target", texel, copied),
        }
    }

    /// Puts a picture of this size into the source.
    pub fn show(&self, image: &Image) {
        let bytes = image.data.as_deref().unwrap_or_default();
        let layout = wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(bytes.len() as u32 / self.size[1]),
            rows_per_image: None,
        };
        let texture = self.source.texture.as_image_copy();
        self.gpu.queue.write_texture(texture, bytes, layout, extent(self.size));
    }
}

/// A picture of any size, tiled from a small one: the time of a blur does not depend on the contents.
pub fn tiled(tile: &Picture, size: [u32; 2], format: Format) -> Image {
    let mut image = formats::to_image(tile, format.texture_format());
    let bytes = image.data.take().unwrap_or_default();
    let tile_row = bytes.len() / tile.height;
    let row = tile_row / tile.width * size[0] as usize;
    let rows = bytes.chunks(tile_row).cycle().take(size[1] as usize);
    image.data = Some(rows.flat_map(|bytes| bytes.iter().copied().cycle().take(row)).collect());
    image.texture_descriptor.size = extent(size);
    image
}

fn extent(size: [u32; 2]) -> Extent3d {
    Extent3d {
        width: size[0],
        height: size[1],
        depth_or_array_layers: 1,
    }
}
