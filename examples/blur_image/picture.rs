//! Pictures between files and textures.
//!
//! PNG and JPEG files hold sRGB-encoded values and straight alpha, EXR files linear light and premultiplied alpha.
//! Colour profiles are not looked at.

use crate::arguments::{Edge, Format};
use crate::headless::Pixels;
use crate::output::Kind;
use bevy::asset::RenderAssetUsages;
use bevy::math::UVec2;
use bevy::prelude::Image;
use bevy::render::render_resource::{Extent3d, TextureDimension, TextureFormat};
use bevy_gaussian_blur::prelude::BlurAlpha;
use half::f16;
use image::codecs::openexr::OpenExrEncoder;
use image::codecs::png::PngEncoder;
use image::{DynamicImage, ImageDecoder, ImageReader, Limits, Rgba32FImage};
use std::io::{Seek, Write};
use std::path::Path;

/// The largest picture that any GPU takes, 16384x16384 in 32-bit floats, fills this many bytes.
const MOST_BYTES: u64 = 4 << 30;

/// A picture as a file has it.
pub struct Picture {
    texels: DynamicImage,
    /// Linear light, not sRGB-encoded.
    linear: bool,
    /// Colour is multiplied by alpha.
    premultiplied: bool,
}

impl Picture {
    /// Reads a file.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub fn read(path: &Path) -> Result<Self, String> {
        let failed = |reason: String| format!("cannot read {}: {reason}", path.display());
        let reader = ImageReader::open(path).and_then(ImageReader::with_guessed_format);
        let mut reader = reader.map_err(|error| failed(error.to_string()))?;
        let mut limits = Limits::no_limits();
        limits.max_alloc = Some(MOST_BYTES);
        reader.limits(limits);
        let decode = || {
            let mut decoder = reader.into_decoder()?;
            let orientation = decoder.orientation()?;
            let mut texels = DynamicImage::from_decoder(decoder)?;
            texels.apply_orientation(orientation);
            Ok(texels)
        };
        let texels = decode().map_err(|error: image::ImageError| {
            failed(format!("it must be a sound PNG, JPEG or EXR picture ({error})"))
        })?;
        let linear = matches!(texels, DynamicImage::ImageRgb32F(_) | DynamicImage::ImageRgba32F(_));
        Ok(Self {
            texels,
            linear,
            premultiplied: linear,
        })
    }

    /// The picture in what was read back from the GPU.
    pub fn from_pixels(pixels: &Pixels, alpha: BlurAlpha) -> Self {
        let values: Vec<f32> = match pixels.format {
            TextureFormat::Rgba16Float => {
                let halves = pixels.bytes.chunks_exact(2);
                halves
                    .map(|bytes| f16::from_le_bytes([bytes[0], bytes[1]]).to_f32())
                    .collect()
            }
            TextureFormat::Rgba32Float => {
                let floats = pixels.bytes.chunks_exact(4);
                floats
                    .map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
                    .collect()
            }
            _ => pixels.bytes.iter().map(|byte| f32::from(*byte) / 255.0).collect(),
        };
        let texels = Rgba32FImage::from_raw(pixels.width, pixels.height, values).expect("all texels were read");
        Self {
            texels: DynamicImage::ImageRgba32F(texels),
            linear: matches!(pixels.format, TextureFormat::Rgba16Float | TextureFormat::Rgba32Float),
            premultiplied: alpha == BlurAlpha::Premultiplied,
        }
    }

    pub fn size(&self) -> UVec2 {
        UVec2::new(self.texels.width(), self.texels.height())
    }

    /// What the alpha of the blurred picture means.
    pub fn alpha(&self, edge: Edge) -> BlurAlpha {
        let opaque = !self.texels.color().has_alpha() || self.texels.to_rgba32f().pixels().all(|texel| texel[3] == 1.0);
        match (opaque && edge != Edge::Transparent, self.premultiplied) {
            (true, _) => BlurAlpha::Opaque,
            (false, true) => BlurAlpha::Premultiplied,
            (false, false) => BlurAlpha::Straight,
        }
    }

    /// The picture as a texture.
    pub fn to_image(&self, format: Format) -> Image {
        let bytes = match format {
            Format::Rgba8UnormSrgb | Format::Rgba8Unorm if self.linear => self.encoded().iter().map(to_byte).collect(),
            Format::Rgba8UnormSrgb | Format::Rgba8Unorm => self.texels.to_rgba8().into_raw(),
            Format::Rgba16Float => {
                let halves = self.in_linear_light().into_raw().into_iter();
                // What is larger would become infinite.
                let halves = halves.map(|value| f16::from_f32(value.clamp(-65504.0, 65504.0)));
                halves.flat_map(f16::to_le_bytes).collect()
            }
            Format::Rgba32Float => {
                let floats = self.in_linear_light().into_raw().into_iter();
                floats.flat_map(f32::to_le_bytes).collect()
            }
        };
        let size = Extent3d {
            width: self.texels.width(),
            height: self.texels.height(),
            depth_or_array_layers: 1,
        };
        let usages = RenderAssetUsages::default();
        Image::new(size, TextureDimension::D2, bytes, format.texture(), usages)
    }

    /// Encodes the picture as a file.
    ///
    /// # Errors
    /// Why that failed.
    pub fn write(&self, file: impl Write + Seek, kind: Kind) -> Result<(), String> {
        let linear = self.with_alpha_of(kind);
        let opaque = linear.texels.to_rgba32f().pixels().all(|texel| texel[3] >= 1.0);
        let written = match kind {
            Kind::Png => {
                let bytes = linear.encoded().iter().map(to_byte).collect();
                let texels = image::RgbaImage::from_raw(linear.texels.width(), linear.texels.height(), bytes);
                let texels = DynamicImage::ImageRgba8(texels.expect("four bytes each"));
                let texels = if opaque { texels.to_rgb8().into() } else { texels };
                texels.write_with_encoder(PngEncoder::new(file))
            }
            Kind::Exr if opaque => {
                let texels = DynamicImage::ImageRgb32F(linear.texels.to_rgb32f());
                texels.write_with_encoder(OpenExrEncoder::new(file))
            }
            Kind::Exr => linear.texels.write_with_encoder(OpenExrEncoder::new(file)),
        };
        written.map_err(|error| error.to_string())
    }

    /// The picture in linear light, with alpha as files of this kind have it.
    fn with_alpha_of(&self, kind: Kind) -> Self {
        let premultiplied = kind == Kind::Exr;
        let mut texels = self.in_linear_light();
        for texel in texels.pixels_mut().filter(|_| premultiplied != self.premultiplied) {
            let [.., alpha] = texel.0;
            let factor = match premultiplied {
                true => alpha,
                false if alpha > 0.0 => 1.0 / alpha,
                false => 0.0,
            };
            texel.0[..3].iter_mut().for_each(|value| *value *= factor);
        }
        Self {
            texels: DynamicImage::ImageRgba32F(texels),
            linear: true,
            premultiplied,
        }
    }

    fn in_linear_light(&self) -> Rgba32FImage {
        let mut texels = self.texels.to_rgba32f();
        if !self.linear {
            change_colour(&mut texels, decode_srgb);
        }
        texels
    }

    fn encoded(&self) -> Rgba32FImage {
        let mut texels = self.texels.to_rgba32f();
        if self.linear {
            change_colour(&mut texels, encode_srgb);
        }
        texels
    }
}

fn change_colour(texels: &mut Rgba32FImage, change: impl Fn(f32) -> f32) {
    for texel in texels.pixels_mut() {
        texel.0[..3].iter_mut().for_each(|value| *value = change(*value));
    }
}

fn to_byte(value: &f32) -> u8 {
    (value.clamp(0.0, 1.0) * 255.0).round() as u8
}

/// The sRGB encoding of linear light.
fn encode_srgb(linear: f32) -> f32 {
    if linear <= 0.003_130_8 {
        12.92 * linear
    } else {
        1.055 * linear.powf(1.0 / 2.4) - 0.055
    }
}

/// The linear light of an sRGB value.
fn decode_srgb(encoded: f32) -> f32 {
    if encoded <= 0.040_45 {
        encoded / 12.92
    } else {
        ((encoded + 0.055) / 1.055).powf(2.4)
    }
}
