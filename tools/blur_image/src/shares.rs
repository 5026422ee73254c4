//! Which share of the radius each position of a picture gets.

use crate::choices::Depth;
use crate::decode::{self, Selection};
use crate::formats;
use crate::gpu::Gpu;
use crate::input::Input;
use crate::picture::Picture;
use bevy::math::Vec2;
use bevy_gaussian_blur::prelude::BlurProfile;
use std::path::PathBuf;

/// The value of `--profile`.
#[derive(Clone, Debug, PartialEq)]
pub enum Shares {
    /// A profile that needs no picture.
    Computed(BlurProfile),
    /// The path of a mask.
    Mask(PathBuf),
}

/// The default numbers of a profile.
const LINEAR: [f32; 6] = [0.5, 0.0, 0.5, 1.0, 0.0, 1.0];
const BAND: [f32; 6] = [0.5, 0.5, 1.0, 0.0, 0.1, 0.4];
const RADIAL: [f32; 6] = [0.5, 0.5, 0.15, 0.6, 0.0, 1.0];

impl Shares {
    /// Reads a profile.
    ///
    /// # Errors
    /// The reason why it is not one.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
        let profile = match kind {
            "linear" => {
                let [x, y, to_x, to_y, from, to] = numbers(rest, LINEAR)?;
                let (start, end) = (Vec2::new(x, y), Vec2::new(to_x, to_y));
                BlurProfile::Linear { start, end, from, to }
            }
            "band" => {
                let [x, y, direction_x, direction_y, sharp, soft] = numbers(rest, BAND)?;
                BlurProfile::Band {
                    center: Vec2::new(x, y),
                    direction: Vec2::new(direction_x, direction_y),
                    sharp,
                    soft,
                }
            }
            "radial" => {
                let [x, y, inner, outer, from, to] = numbers(rest, RADIAL)?;
                let center = Vec2::new(x, y);
                BlurProfile::Radial {
                    center,
                    inner,
                    outer,
                    from,
                    to,
                }
            }
            "mask" if !rest.is_empty() => return Ok(Self::Mask(rest.into())),
            "mask" => return Err("a mask is a file: mask:FILE".to_owned()),
            _ => return Err("it is linear, band, radial or mask:FILE".to_owned()),
        };
        profile.check().map_err(|error| error.to_string())?;
        Ok(Self::Computed(profile))
    }

    /// Decodes the mask, if there is one.
    ///
    /// # Errors
    /// The mask cannot be read.
    pub fn open(&self) -> Result<Profile, String> {
        match self {
            Self::Computed(profile) => Ok(Profile::Ready(profile.clone())),
            Self::Mask(path) => {
                let input = Input::File(path.clone());
                let picture = decode::read(&input, &Selection::default())?;
                Ok(Profile::Decoded(input, picture))
            }
        }
    }
}

/// A profile whose mask is decoded before any result replaces its file.
pub enum Profile {
    Decoded(Input, Picture),
    Ready(BlurProfile),
}

impl Profile {
    /// What the user should know about the file of the mask.
    pub fn notes(&self) -> Vec<String> {
        match self {
            Self::Decoded(input, mask) => {
                let notes = mask.origin.notes.iter();
                notes.map(|note| format!("{input}: {note}")).collect()
            }
            Self::Ready(_) => Vec::new(),
        }
    }

    /// The profile, with its mask on the GPU.
    ///
    /// # Errors
    /// The mask does not fit the GPU.
    pub fn on(&mut self, gpu: &mut Gpu) -> Result<BlurProfile, String> {
        match self {
            Self::Ready(profile) => Ok(profile.clone()),
            Self::Decoded(input, mask) => {
                let name = if mask.depth == Depth::Eight {
                    "r8unorm"
                } else {
                    "r32float"
                };
                let format = formats::named(name).ok_or("there is no format for masks")?;
                gpu.check(input, mask.size, format)?;
                // The values of the file are the shares, whether it holds light or encoded colours.
                let profile = BlurProfile::Mask(gpu.add(mask.numbers(format)));
                *self = Self::Ready(profile.clone());
                Ok(profile)
            }
        }
    }
}

/// The numbers between commas: either all `N`, or the defaults for an empty text.
fn numbers<const N: usize>(text: &str, default: [f32; N]) -> Result<[f32; N], String> {
    if text.is_empty() {
        return Ok(default);
    }
    let numbers: Vec<f32> = text
        .split(',')
        .map(|number| number.trim().parse().map_err(|_| format!("{number:?} is not a number")))
        .collect::<Result<_, _>>()?;
    let count = numbers.len();
    numbers
        .try_into()
        .map_err(|_| format!("{N} numbers are expected, and not {count}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_are_read() {
        assert_eq!(Shares::parse("mask:a b.png"), Ok(Shares::Mask("a b.png".into())));
        let band = BlurProfile::Band {
            center: Vec2::new(0.5, 0.25),
            direction: Vec2::new(1.0, -0.5),
            sharp: 0.0,
            soft: 0.75,
        };
        assert_eq!(Shares::parse("band:.5,.25, 1,-.5,0,.75"), Ok(Shares::Computed(band)));
        for text in ["linear", "band", "radial"] {
            assert!(matches!(Shares::parse(text), Ok(Shares::Computed(_))), "{text}");
        }
        for text in [
            "",
            "mask",
            "mask:",
            "lens",
            "linear:1",
            "band:0,0,0,0,0,0",
            "radial:1,2,3,4,5,NaN",
        ] {
            assert!(Shares::parse(text).is_err(), "{text}");
        }
    }
}
