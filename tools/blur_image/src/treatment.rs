//! How a picture is processed on the GPU, and which of its properties are lost.

use crate::arguments::Arguments;
use crate::choices::Depth;
use crate::formats::{self, Format};
use crate::frame::Frame;
use crate::output::Kind;
use crate::picture::Picture;
use crate::png;
use crate::profile;
use bevy::prelude::{Handle, Image};
use bevy_gaussian_blur::prelude::{BlurAlpha, BlurImage};
use std::borrow::Cow;

/// How a picture is processed.
pub struct Treatment {
    pub format: &'static Format,
    pub alpha: BlurAlpha,
    /// The bits of a channel of the result.
    pub depth: Depth,
    /// Whether results of 8 bits are dithered.
    dither: bool,
}

/// A picture, over black if its alpha would hide light in a file of this kind, and a note that says so.
pub fn lit(picture: &Picture, kind: Kind) -> (Cow<'_, Picture>, Option<&'static str>) {
    let keeps_light = match kind {
        Kind::Exr => true,
        Kind::Tiff => picture.origin.is_associated,
        Kind::Png => false,
    };
    if keeps_light || !picture.has_light_without_alpha() {
        return (Cow::Borrowed(picture), None);
    }
    let note = "it has light where its alpha is 0, which only EXR keeps: the result shows it over black, without alpha";
    (Cow::Owned(picture.over_black()), Some(note))
}

impl Treatment {
    /// Follows the command line; the picture decides about options that are not given.
    pub fn choose(arguments: &Arguments, picture: &Picture, kind: Kind) -> Self {
        let depth = arguments.depth.unwrap_or(match (kind, picture.depth) {
            (Kind::Png, Depth::Float) => Depth::Sixteen,
            (_, depth) => depth,
        });
        let has_eight_bits = (picture.depth, depth) == (Depth::Eight, Depth::Eight)
            && kind != Kind::Exr
            && picture.origin.curve.is_none();
        let is_number = picture.depth == Depth::Float && picture.is_grey && picture.is_opaque();
        let format = arguments.format.unwrap_or_else(|| {
            let name = match (has_eight_bits, is_number) {
                (true, _) => "rgba8unorm-srgb",
                (false, true) => "r32float",
                (false, false) => "rgba32float",
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

    /// What a result of this kind does not keep of the picture and its file, as notes for the user.
    pub fn losses(&self, picture: &Picture, kind: Kind) -> Vec<String> {
        let origin = &picture.origin;
        let mut losses = origin.notes.clone();
        let is_grey = picture.stays_grey(self.format);
        let frame = origin.frame.as_ref().filter(|_| kind != Kind::Exr);
        let is_undithered = self.dither && self.depth == Depth::Eight && !self.format.has_eight_bits();
        let holds_more = picture.depth == Depth::Float || origin.curve.is_some() && kind != Kind::Png;
        let is_cut = holds_more && (kind == Kind::Png || self.depth != Depth::Float) && kind != Kind::Exr;
        let colours = || picture.texels.iter().flat_map(|texel| &texel[..3]);
        if kind != Kind::Png {
            losses.extend(png::losses(&origin.chunks));
        }
        let notes = [
            (kind != Kind::Tiff && !origin.tags.is_empty())
                .then_some("its resolution and its owner are left out, as far as it names them: only TIFF keeps them"),
            profile::loss(origin, kind, self.depth, is_grey),
            frame.is_some_and(Frame::has_primaries).then_some(
                "its chromaticities are left out: only EXR keeps them; its colours are taken for those of sRGB",
            ),
            frame
                .is_some_and(|frame| frame.shown().size() != picture.size)
                .then_some("what lies outside its display window is blurred, and then left out: only EXR keeps it"),
            (!self.format.has_alpha() && !picture.is_opaque())
                .then_some("its transparency is left out: the format has no alpha channel"),
            (is_cut && colours().any(|number| *number < 0.0 || *number > 1.0))
                .then_some("numbers below 0 and above 1 are cut off: only floats in TIFF and EXR keep them"),
            colours()
                .any(|number| number.is_nan())
                .then_some("its NaN are blurred as 0"),
            is_undithered
                .then_some("it is not dithered: its textures have more than 8 bits; --format rgba8unorm-srgb has not"),
        ];
        losses.extend(notes.into_iter().flatten().map(str::to_owned));
        losses
    }
}
