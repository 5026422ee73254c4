//! The available texture formats, under the names of WGSL, or names in its style for formats that it lacks.
//!
//! [`TABLE`] is the only list of them. The crate and the GPU decide which of its formats can be blurred.

use crate::numbers::Numbers::{self, Float16, Float32, Rg11b10Ufloat, Rgb10a2Uint, Rgb10a2Unorm};
use crate::numbers::Numbers::{Sint, Snorm, Uint, Unorm};
use bevy::render::render_resource::TextureFormat as Texture;

/// One texture format.
#[derive(Clone, Copy)]
pub struct Format {
    pub name: &'static str,
    pub texture: Texture,
    /// Which of red, green, blue and alpha is stored first, second and so on.
    channels: &'static [usize],
    numbers: Numbers,
}

const R: &[usize] = &[0];
const RG: &[usize] = &[0, 1];
const RGB: &[usize] = &[0, 1, 2];
const RGBA: &[usize] = &[0, 1, 2, 3];
const BGRA: &[usize] = &[2, 1, 0, 3];

/// All formats.
pub static TABLE: &[Format] = &[
    row("r8unorm", Texture::R8Unorm, R, Unorm(8)),
    row("rg8unorm", Texture::Rg8Unorm, RG, Unorm(8)),
    row("rgba8unorm", Texture::Rgba8Unorm, RGBA, Unorm(8)),
    row("rgba8unorm-srgb", Texture::Rgba8UnormSrgb, RGBA, Unorm(8)),
    row("bgra8unorm", Texture::Bgra8Unorm, BGRA, Unorm(8)),
    row("bgra8unorm-srgb", Texture::Bgra8UnormSrgb, BGRA, Unorm(8)),
    row("r16unorm", Texture::R16Unorm, R, Unorm(16)),
    row("rg16unorm", Texture::Rg16Unorm, RG, Unorm(16)),
    row("rgba16unorm", Texture::Rgba16Unorm, RGBA, Unorm(16)),
    row("r8snorm", Texture::R8Snorm, R, Snorm(8)),
    row("rg8snorm", Texture::Rg8Snorm, RG, Snorm(8)),
    row("rgba8snorm", Texture::Rgba8Snorm, RGBA, Snorm(8)),
    row("r16snorm", Texture::R16Snorm, R, Snorm(16)),
    row("rg16snorm", Texture::Rg16Snorm, RG, Snorm(16)),
    row("rgba16snorm", Texture::Rgba16Snorm, RGBA, Snorm(16)),
    row("r8uint", Texture::R8Uint, R, Uint(8)),
    row("rg8uint", Texture::Rg8Uint, RG, Uint(8)),
    row("rgba8uint", Texture::Rgba8Uint, RGBA, Uint(8)),
    row("r16uint", Texture::R16Uint, R, Uint(16)),
    row("rg16uint", Texture::Rg16Uint, RG, Uint(16)),
    row("rgba16uint", Texture::Rgba16Uint, RGBA, Uint(16)),
    row("r32uint", Texture::R32Uint, R, Uint(32)),
    row("rg32uint", Texture::Rg32Uint, RG, Uint(32)),
    row("rgba32uint", Texture::Rgba32Uint, RGBA, Uint(32)),
    row("r8sint", Texture::R8Sint, R, Sint(8)),
    row("rg8sint", Texture::Rg8Sint, RG, Sint(8)),
    row("rgba8sint", Texture::Rgba8Sint, RGBA, Sint(8)),
    row("r16sint", Texture::R16Sint, R, Sint(16)),
    row("rg16sint", Texture::Rg16Sint, RG, Sint(16)),
    row("rgba16sint", Texture::Rgba16Sint, RGBA, Sint(16)),
    row("r32sint", Texture::R32Sint, R, Sint(32)),
    row("rg32sint", Texture::Rg32Sint, RG, Sint(32)),
    row("rgba32sint", Texture::Rgba32Sint, RGBA, Sint(32)),
    row("r16float", Texture::R16Float, R, Float16),
    row("rg16float", Texture::Rg16Float, RG, Float16),
    row("rgba16float", Texture::Rgba16Float, RGBA, Float16),
    row("r32float", Texture::R32Float, R, Float32),
    row("rg32float", Texture::Rg32Float, RG, Float32),
    row("rgba32float", Texture::Rgba32Float, RGBA, Float32),
    row("rgb10a2unorm", Texture::Rgb10a2Unorm, RGBA, Rgb10a2Unorm),
    row("rgb10a2uint", Texture::Rgb10a2Uint, RGBA, Rgb10a2Uint),
    row("rg11b10ufloat", Texture::Rg11b10Ufloat, RGB, Rg11b10Ufloat),
];

const fn row(name: &'static str, texture: Texture, channels: &'static [usize], numbers: Numbers) -> Format {
    Format {
        name,
        texture,
        channels,
        numbers,
    }
}

impl Format {
    /// Whether its channels have 8 bits.
    pub fn has_eight_bits(&self) -> bool {
        matches!(self.numbers, Unorm(8))
    }
}

/// The format of this name.
pub fn named(name: &str) -> Option<&'static Format> {
    TABLE.iter().find(|format| format.name == name)
}

/// The format of a texture.
pub fn of(texture: Texture) -> Option<&'static Format> {
    TABLE.iter().find(|format| format.texture == texture)
}

impl Format {
    /// How many of red, green, blue and alpha it has.
    pub fn channels(&self) -> usize {
        self.channels.len()
    }

    pub fn has_alpha(&self) -> bool {
        self.channels.contains(&3)
    }

    /// Whether pictures in this format hold linear light, rather than the numbers of the file.
    pub fn holds_light(&self) -> bool {
        self.numbers.are_floats()
    }

    /// The bytes of a texel.
    pub fn size(&self) -> usize {
        self.numbers.size(self.channels.len())
    }

    /// Stores a texel. Integer formats store `largest` for 1.0, or their maximum if that is less.
    pub fn store(&self, texel: [f32; 4], largest: f64, bytes: &mut Vec<u8>) {
        let numbers = self.channels.iter().map(|channel| texel[*channel]);
        self.numbers.store(numbers, largest, bytes);
    }

    /// Loads a stored texel. Channels that the format does not have are 0, and alpha is 1; a single channel is grey.
    pub fn load(&self, bytes: &[u8], largest: f64) -> [f32; 4] {
        let mut stored = [0.0; 4];
        self.numbers.load(bytes, largest, &mut stored[..self.channels.len()]);
        if let [_] = self.channels {
            return [stored[0], stored[0], stored[0], 1.0];
        }
        let mut texel = [0.0, 0.0, 0.0, 1.0];
        for (channel, number) in self.channels.iter().zip(stored) {
            texel[*channel] = number;
        }
        texel
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_textures_are_unique() {
        for (index, format) in TABLE.iter().enumerate() {
            let is_same = |other: &Format| other.name == format.name || other.texture == format.texture;
            assert_eq!(TABLE.iter().position(is_same), Some(index), "{}", format.name);
        }
    }

    #[test]
    fn texels_are_as_large_as_the_gpu_has_them() {
        for format in TABLE {
            let size = format.texture.block_copy_size(None);
            assert_eq!(size, Some(format.size() as u32), "{}", format.name);
        }
    }

    #[test]
    fn what_is_stored_is_loaded() {
        let stored = [0.25, 0.75, 1.0, 1.0];
        for format in TABLE {
            let mut bytes = Vec::new();
            format.store(stored, 255.0, &mut bytes);
            assert_eq!(bytes.len(), format.size(), "{}", format.name);
            let loaded = format.load(&bytes, 255.0);
            let expected = match format.channels() {
                1 => [0.25, 0.25, 0.25, 1.0],
                2 => [0.25, 0.75, 0.0, 1.0],
                _ => stored,
            };
            for (loaded, expected) in loaded.into_iter().zip(expected) {
                assert!((loaded - expected).abs() <= 0.5 / 127.0, "{}: {loaded}", format.name);
            }
        }
    }

    #[test]
    fn what_is_out_of_range_is_the_nearest_that_is_not() {
        let cases = [
            ("r8unorm", 2.0, 1.0),
            ("r8unorm", f32::NAN, 0.0),
            ("r8snorm", -2.0, -1.0),
            ("r16sint", -1.0, -1.0),
            ("r16float", 1e9, 65504.0),
            ("rg11b10ufloat", -1.0, 0.0),
            ("rg11b10ufloat", 1e9, 65024.0),
        ];
        for (name, number, expected) in cases {
            let format = named(name).expect("it is in the table");
            let mut bytes = Vec::new();
            format.store([number; 4], 255.0, &mut bytes);
            assert_eq!(format.load(&bytes, 255.0)[0], expected, "{name}: {number}");
        }
    }

    #[test]
    fn integers_are_those_of_the_file() {
        let format = named("r32uint").expect("it is in the table");
        let mut bytes = Vec::new();
        format.store([200.0 / 255.0; 4], 255.0, &mut bytes);
        assert_eq!(bytes, [200, 0, 0, 0]);
    }
}
