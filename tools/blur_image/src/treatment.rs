//! How a picture is processed on the GPU, and which of its properties are lost.

use crate::arguments::Arguments;
use crate::choices::Depth;
use crate::formats::{self, Format};
use crate::output::Kind;
use crate::picture::Picture;
use crate::profile;
use bevy::prelude::{Handle, Image};
use bevy_gaussian_blur::prelude::{BlurAlpha, BlurImage};

/// How a picture is processed.
pub struct Treatment {
    pub format: &'static Format,
    pub alpha: BlurAlpha,
    /// The bits of a channel of the result.
    pub depth: Depth,
    /// Whether results of 8 bits are dithered.
    dither: bool,
}

impl Treatment {
    /// Follows the command line; the picture decides about options that are not given.
    pub fn choose(arguments: &Arguments, picture: &Picture, kind: Kind) -> Self {
        let depth = arguments.depth.unwrap_or(picture.depth);
        let format = arguments.format.unwrap_or_else(|| {
            let has_eight_bits = (picture.depth, depth, kind) == (Depth::Eight, Depth::Eight, Kind::Png);
            let name = if has_eight_bits {
                "rgba8unorm-srgb"
            } else {
                "rgba32float"
            };
            formats::named(name).expect("it is in the table")
        });
        Self {
            format,
            alpha: picture.alpha(arguments.edge, format),
            depth,
            dither: arguments.dither,
        }
    }

    /// The blur of a picture.
    pub fn image(&self, source: Handle<Image>) -> BlurImage {
        BlurImage::new(source).with_alpha(self.alpha).with_dither(self.dither)
    }

    /// The properties of the picture that a result of this kind cannot keep, as notes for the user.
    pub fn losses(&self, picture: &Picture, kind: Kind) -> Vec<&'static str> {
        let is_grey = picture.stays_grey(self.format);
        let profile = picture.profile.as_deref();
        let profile = profile.and_then(|profile| profile::loss(profile, kind, is_grey));
        let alpha = !self.format.has_alpha() && !picture.is_opaque();
        let alpha = alpha.then_some("its transparency is left out: the format has no alpha channel");
        let is_undithered = self.dither && self.depth == Depth::Eight && !self.format.has_eight_bits();
        let dither = is_undithered
            .then_some("it is not dithered: its textures have more than 8 bits; --format rgba8unorm-srgb has not");
        profile.into_iter().chain(alpha).chain(dither).collect()
    }
}
