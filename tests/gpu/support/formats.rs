//! Pictures of numbers to and from the bytes of texture formats.
//!
//! Values are those that a shader sees: sRGB formats hold linear light here and encoded bytes there.

use super::headless::Pixels;
use super::reference::Picture;
use bevy::asset::RenderAssetUsages;
use bevy::prelude::*;
use bevy::render::render_resource::{Extent3d, TextureDimension, TextureFormat, TextureUsages};
use half::f16;

/// How one channel is stored.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Unorm8,
    Srgb8,
    Unorm16,
    Half,
    Float,
}

/// The channels of a format in memory order, as indices into RGBA, and their kind.
fn channels(format: TextureFormat) -> (&'static [usize], Kind) {
    match format {
        TextureFormat::R8Unorm => (&[0], Kind::Unorm8),
        TextureFormat::Rg8Unorm => (&[0, 1], Kind::Unorm8),
        TextureFormat::Rgba8Unorm => (&[0, 1, 2, 3], Kind::Unorm8),
        TextureFormat::Rgba8UnormSrgb => (&[0, 1, 2, 3], Kind::Srgb8),
        TextureFormat::Bgra8Unorm => (&[2, 1, 0, 3], Kind::Unorm8),
        TextureFormat::Bgra8UnormSrgb => (&[2, 1, 0, 3], Kind::Srgb8),
        TextureFormat::R16Unorm => (&[0], Kind::Unorm16),
        TextureFormat::Rgba16Unorm => (&[0, 1, 2, 3], Kind::Unorm16),
        TextureFormat::R16Float => (&[0], Kind::Half),
        TextureFormat::Rg16Float => (&[0, 1], Kind::Half),
        TextureFormat::Rgba16Float => (&[0, 1, 2, 3], Kind::Half),
        TextureFormat::R32Float => (&[0], Kind::Float),
        TextureFormat::Rg32Float => (&[0, 1], Kind::Float),
        TextureFormat::Rgba32Float => (&[0, 1, 2, 3], Kind::Float),
        _ => panic!("{format:?} is packed"),
    }
}

/// The channels of RGBA that a format holds.
pub fn stored_channels(format: TextureFormat) -> Vec<usize> {
    match format {
        TextureFormat::Rgb10a2Unorm => vec![0, 1, 2, 3],
        TextureFormat::Rg11b10Ufloat => vec![0, 1, 2],
        _ => channels(format).0.to_vec(),
    }
}

/// The sRGB encoding of linear light.
pub fn encode_srgb(linear: f64) -> f64 {
    if linear <= 0.003_130_8 {
        12.92 * linear
    } else {
        1.055 * linear.powf(1.0 / 2.4) - 0.055
    }
}

/// The linear light of an sRGB value.
pub fn decode_srgb(encoded: f64) -> f64 {
    if encoded <= 0.040_45 {
        encoded / 12.92
    } else {
        ((encoded + 0.055) / 1.055).powf(2.4)
    }
}

/// An image asset that holds `picture` as exactly as its format can.
pub fn to_image(picture: &Picture, format: TextureFormat) -> Image {
    let bytes = picture.texels.iter().flat_map(|texel| encode(*texel, format)).collect();
    let size = Extent3d {
        width: picture.width as u32,
        height: picture.height as u32,
        depth_or_array_layers: 1,
    };
    let mut image = Image::new(size, TextureDimension::D2, bytes, format, RenderAssetUsages::default());
    image.texture_descriptor.usage |= TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC;
    image
}

/// The picture that the bytes of a texture hold. Channels that the format lacks are 0, alpha 1.
pub fn to_picture(pixels: &Pixels) -> Picture {
    let texel = pixels.bytes.len() / (pixels.width * pixels.height) as usize;
    let texels = pixels.bytes.chunks(texel).map(|bytes| decode(bytes, pixels.format));
    Picture::new(pixels.width as usize, pixels.height as usize, texels.collect())
}

/// The picture as a format stores it.
pub fn quantised(picture: &Picture, format: TextureFormat) -> Picture {
    let texels = picture
        .texels
        .iter()
        .map(|texel| decode(&encode(*texel, format), format));
    Picture::new(picture.width, picture.height, texels.collect())
}

fn encode(texel: [f64; 4], format: TextureFormat) -> Vec<u8> {
    if format == TextureFormat::Rgb10a2Unorm {
        let field = |value: f64, largest: f64| (value.clamp(0.0, 1.0) * largest).round() as u32;
        let [r, g, b] = [texel[0], texel[1], texel[2]].map(|value| field(value, 1023.0));
        return (r | g << 10 | b << 20 | field(texel[3], 3.0) << 30)
            .to_le_bytes()
            .to_vec();
    }
    if format == TextureFormat::Rg11b10Ufloat {
        let field = |value: f64, mantissa: u32| u32::from(f16::from_f64(value.max(0.0)).to_bits() >> (10 - mantissa));
        return (field(texel[0], 6) | field(texel[1], 6) << 11 | field(texel[2], 5) << 22)
            .to_le_bytes()
            .to_vec();
    }
    let (order, kind) = channels(format);
    let byte = |value: f64| vec![(value.clamp(0.0, 1.0) * 255.0).round() as u8];
    let one = |channel: &usize| match kind {
        Kind::Srgb8 if *channel < 3 => byte(encode_srgb(texel[*channel].clamp(0.0, 1.0))),
        Kind::Unorm8 | Kind::Srgb8 => byte(texel[*channel]),
        Kind::Unorm16 => ((texel[*channel].clamp(0.0, 1.0) * 65535.0).round() as u16)
            .to_le_bytes()
            .to_vec(),
        Kind::Half => f16::from_f64(texel[*channel]).to_le_bytes().to_vec(),
        Kind::Float => (texel[*channel] as f32).to_le_bytes().to_vec(),
    };
    order.iter().flat_map(one).collect()
}

fn decode(bytes: &[u8], format: TextureFormat) -> [f64; 4] {
    let mut texel = [0.0, 0.0, 0.0, 1.0];
    let word = || u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    if format == TextureFormat::Rgb10a2Unorm {
        let field = |shift: u32, mask: u32| f64::from((word() >> shift) & mask) / f64::from(mask);
        return [field(0, 1023), field(10, 1023), field(20, 1023), field(30, 3)];
    }
    if format == TextureFormat::Rg11b10Ufloat {
        let field =
            |shift: u32, mask: u32, up: u32| f64::from(f16::from_bits((((word() >> shift) & mask) << up) as u16));
        return [field(0, 0x7ff, 4), field(11, 0x7ff, 4), field(22, 0x3ff, 5), 1.0];
    }
    let (order, kind) = channels(format);
    for (bytes, &channel) in bytes.chunks(bytes.len() / order.len()).zip(order) {
        texel[channel] = match kind {
            Kind::Srgb8 if channel < 3 => decode_srgb(f64::from(bytes[0]) / 255.0),
            Kind::Unorm8 | Kind::Srgb8 => f64::from(bytes[0]) / 255.0,
            Kind::Unorm16 => f64::from(u16::from_le_bytes([bytes[0], bytes[1]])) / 65535.0,
            Kind::Half => f16::from_le_bytes([bytes[0], bytes[1]]).to_f64(),
            Kind::Float => f64::from(f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])),
        };
    }
    texel
}
