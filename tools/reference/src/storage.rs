//! What a texture makes of the numbers that are stored in it.

use crate::color::{decode_srgb, encode_srgb};
use std::sync::LazyLock;

/// How a picture is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Storage {
    /// Eight bits of light encoded as sRGB, and of alpha as it is.
    Srgb8,
    /// What [`Self::Srgb8`] rounds, with every number off by so many levels, unless it is a level: that is stored as it is.
    Off(f64),
    /// The same with every number off by a part of these levels, up or down, which depends on the number and on a seed.
    Scattered(f64, u64),
    /// Half floats.
    Half,
    /// Half floats, where everything that is painted covers a 2,048th less: GPUs interpolate the distance from the edge of a box so
    /// roughly that a box on whole pixels may do that.
    ThinHalf,
}

/// The light of each of the 256 levels.
static LIGHT: LazyLock<[f64; 256]> = LazyLock::new(|| core::array::from_fn(|level| decode_srgb(level as f64 / 255.0)));

/// The light from which on each level but the first is stored.
static STARTS: LazyLock<[f64; 255]> =
    LazyLock::new(|| core::array::from_fn(|level| decode_srgb((level as f64 + 0.5) / 255.0)));

impl Storage {
    /// Whether values are at most 1.
    #[must_use]
    pub fn is_bounded(self) -> bool {
        matches!(self, Self::Srgb8 | Self::Off(_) | Self::Scattered(..))
    }

    /// How much of a pixel is covered by what covers all of it.
    #[must_use]
    pub fn coverage(self) -> f64 {
        if self == Self::ThinHalf { 2047.0 / 2048.0 } else { 1.0 }
    }

    /// The nearest texel that can be stored.
    #[must_use]
    pub fn stored(self, [red, green, blue, alpha]: [f64; 4]) -> [f64; 4] {
        match self {
            Self::Srgb8 => {
                let [red, green, blue] =
                    [red, green, blue].map(|value| LIGHT[STARTS.partition_point(|start| *start <= value)]);
                [red, green, blue, (alpha.clamp(0.0, 1.0) * 255.0).round() / 255.0]
            }
            Self::Off(0.0) => [red, green, blue, alpha].map(|value| value.clamp(0.0, 1.0)),
            Self::Off(levels) => encoded([red, green, blue, alpha], |level| off(level, levels)),
            Self::Scattered(levels, seed) => encoded([red, green, blue, alpha], |level| {
                off(level, levels * share_of(level, seed))
            }),
            Self::Half | Self::ThinHalf => [red, green, blue, alpha].map(half),
        }
    }
}

/// A texel whose numbers from 0 to 1, as they are encoded, are changed.
fn encoded([red, green, blue, alpha]: [f64; 4], change: impl Fn(f64) -> f64) -> [f64; 4] {
    let [red, green, blue] = [red, green, blue].map(|value| decode_srgb(change(encode_srgb(value.clamp(0.0, 1.0)))));
    [red, green, blue, change(alpha.clamp(0.0, 1.0))]
}

/// A number from 0 to 1 that is so many of 255 levels off, unless it is a level.
fn off(value: f64, levels: f64) -> f64 {
    let level = 255.0 * value;
    if (level - level.round()).abs() < 1e-6 {
        return value;
    }
    ((level + levels) / 255.0).clamp(0.0, 1.0)
}

/// A number from -1 to 1 that looks random.
fn share_of(value: f64, seed: u64) -> f64 {
    let mixed = (value.to_bits() ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xd1b5_4a32_d192_ed03);
    let mixed = (mixed ^ mixed >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

/// The nearest half float: eleven bits of mantissa, and the smallest exponent of normal numbers is -14.
fn half(value: f64) -> f64 {
    if value == 0.0 {
        return 0.0;
    }
    let exponent = value.abs().log2().floor().max(-14.0);
    let step = 2.0_f64.powi(exponent as i32 - 10);
    ((value / step).round_ties_even() * step).clamp(-65504.0, 65504.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_the_nearest() {
        for step in 0..=2000 {
            let value = f64::from(step) / 2000.0;
            let nearest = decode_srgb((encode_srgb(value) * 255.0).round() / 255.0);
            assert_eq!(
                Storage::Srgb8.stored([value, 2.0, -1.0, 0.3]),
                [nearest, 1.0, 0.0, 77.0 / 255.0]
            );
        }
    }

    /// What is rounded to the nearest level lies between what is half a level off in both directions.
    #[test]
    fn levels_are_within_half_a_level() {
        for step in 0..=1000 {
            let texel = [f64::from(step) / 1000.0; 4];
            let [low, rounded, high] =
                [Storage::Off(-0.5), Storage::Srgb8, Storage::Off(0.5)].map(|storage| storage.stored(texel));
            for channel in 0..4 {
                assert!(
                    low[channel] <= rounded[channel] + 1e-9 && rounded[channel] <= high[channel] + 1e-9,
                    "{step}"
                );
            }
        }
        let level = Storage::Srgb8.stored([0.3; 4]);
        assert_eq!(Storage::Off(0.5).stored(level), level);
        assert_eq!(Storage::Off(0.0).stored([0.3, 2.0, -1.0, 0.5]), [0.3, 1.0, 0.0, 0.5]);
    }

    #[test]
    fn half_floats_have_eleven_bits() {
        assert_eq!(half(1.0 + 1.0 / 1024.0), 1.0 + 1.0 / 1024.0);
        assert_eq!(half(1.0 + 1.0 / 4096.0), 1.0);
        assert_eq!(half(-1e9), -65504.0);
        assert_eq!(half(7e-8), 2.0_f64.powi(-24));
        assert_eq!(half(0.0), 0.0);
    }
}
