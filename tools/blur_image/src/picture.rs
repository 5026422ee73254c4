//! Pictures between files and textures.

use crate::choices::Depth;
use crate::curve::Curve;
use crate::formats::{self, Format};
use crate::frame::Frame;
use crate::meaning::{LIGHT, Meaning};
use crate::png::Chunk;
use bevy::asset::RenderAssetUsages;
use bevy::math::{URect, UVec2};
use bevy::prelude::Image;
use bevy::render::render_resource::{Extent3d, TextureDimension};
use bevy_gaussian_blur::prelude::{BlurAlpha, EdgeMode};
use std::borrow::Cow;
use std::rc::Rc;
use tiff::tags::{Tag, ValueBuffer};

/// The darkest light that eight bits with the curve of sRGB tell from black. Filters of renderers leave less of it behind edges.
const LEAST_LIGHT: f32 = 0.5 / 255.0 / 12.92;

/// A decoded picture.
#[derive(Clone)]
pub struct Picture {
    pub size: UVec2,
    /// Red, green, blue and alpha, row by row; 1.0 is white.
    pub texels: Vec<[f32; 4]>,
    pub meaning: Meaning,
    /// The numbers of a channel in the file.
    pub depth: Depth,
    /// Whether the file has one channel for all three colours.
    pub is_grey: bool,
    pub origin: Rc<Origin>,
}

/// What a file says beside the texels of its picture.
#[derive(Default)]
pub struct Origin {
    /// The ICC profile.
    pub profile: Option<Vec<u8>>,
    /// Whether the numbers of the file are linear light.
    pub is_light: bool,
    /// Whether a TIFF file multiplies colour by alpha.
    pub is_associated: bool,
    /// The tags of a TIFF file that a TIFF result keeps.
    pub tags: Vec<(Tag, ValueBuffer)>,
    /// The curve of a PNG file that has another than that of sRGB. The texels are light.
    pub curve: Option<Curve>,
    /// The chunks of a PNG file that a PNG result keeps.
    pub chunks: Vec<Chunk>,
    /// The frame of an EXR file.
    pub frame: Option<Frame>,
    /// What was left out or changed when the file was read, as notes for the user.
    pub notes: Vec<String>,
}

impl Picture {
    pub fn is_opaque(&self) -> bool {
        self.texels.iter().all(|[.., alpha]| *alpha >= 1.0)
    }

    /// The channels of a texel that are information.
    pub fn channels(&self) -> &'static [usize] {
        match (self.is_grey, self.is_opaque()) {
            (true, true) => &[0],
            (true, false) => &[0, 3],
            (false, true) => &[0, 1, 2],
            (false, false) => &[0, 1, 2, 3],
        }
    }

    /// Whether there is light without alpha, as of a flame, which files with straight alpha cannot hold.
    pub fn has_light_without_alpha(&self) -> bool {
        let is_lit =
            |[colours @ .., alpha]: &[f32; 4]| *alpha <= 0.0 && colours.iter().any(|light| *light > LEAST_LIGHT);
        self.meaning == LIGHT && self.texels.iter().any(is_lit)
    }

    /// This picture of light over black.
    pub fn over_black(&self) -> Self {
        let mut over = self.clone();
        for texel in &mut over.texels {
            texel[3] = 1.0;
        }
        over
    }

    /// The part that viewers show, if there is more.
    pub fn shown(&self) -> Cow<'_, Self> {
        let whole = URect::from_corners(UVec2::ZERO, self.size);
        match self.origin.frame.as_ref().map(Frame::shown) {
            Some(shown) if shown != whole => {
                let rows = self.texels.chunks_exact(self.size.x as usize);
                let rows = rows.skip(shown.min.y as usize).take(shown.height() as usize);
                let columns = shown.min.x as usize..shown.max.x as usize;
                Cow::Owned(Self {
                    size: shown.size(),
                    texels: rows.flat_map(|row| &row[columns.clone()]).copied().collect(),
                    origin: self.origin.clone(),
                    ..*self
                })
            }
            _ => Cow::Borrowed(self),
        }
    }

    /// The texels, converted to another meaning.
    pub fn texels_as(&self, meaning: Meaning) -> impl Iterator<Item = [f32; 4]> {
        self.texels
            .iter()
            .map(move |texel| self.meaning.convert(meaning, *texel))
    }

    /// What the alpha of the blurred picture means.
    pub fn alpha(&self, edge: EdgeMode, format: &Format) -> BlurAlpha {
        if !format.has_alpha() {
            // The channels are plain numbers.
            return BlurAlpha::Premultiplied;
        }
        match (
            self.is_opaque() && edge != EdgeMode::Transparent,
            self.meaning.premultiplied,
        ) {
            (true, _) => BlurAlpha::Opaque,
            (false, true) => BlurAlpha::Premultiplied,
            (false, false) => BlurAlpha::Straight,
        }
    }

    /// The picture as a texture.
    pub fn to_image(&self, format: &Format) -> Image {
        let meaning = Meaning {
            linear: format.holds_light(),
            ..self.meaning
        };
        self.to_image_as(meaning, format)
    }

    /// The same with the numbers of the file.
    pub fn numbers(&self, format: &Format) -> Image {
        self.to_image_as(self.meaning, format)
    }

    fn to_image_as(&self, meaning: Meaning, format: &Format) -> Image {
        let mut bytes = Vec::with_capacity(self.texels.len() * format.size());
        for texel in self.texels_as(meaning) {
            format.store(texel, self.depth.largest(), &mut bytes);
        }
        let size = Extent3d {
            width: self.size.x,
            height: self.size.y,
            depth_or_array_layers: 1,
        };
        let usages = RenderAssetUsages::default();
        Image::new(size, TextureDimension::D2, bytes, format.texture, usages)
    }

    /// This picture with the texels of its blurred image. `None` if the image has no known format or no data.
    pub fn blurred(&self, image: &Image, alpha: BlurAlpha) -> Option<Self> {
        // This may differ from the requested format, because not every GPU can render to every format.
        let format = formats::of(image.texture_descriptor.format)?;
        let texels = image.data.as_ref()?.chunks_exact(format.size());
        let texels = texels.map(|texel| format.load(texel, self.depth.largest()));
        Some(Self {
            size: self.size,
            texels: texels.collect(),
            meaning: Meaning {
                linear: format.holds_light(),
                premultiplied: alpha == BlurAlpha::Premultiplied && self.meaning.premultiplied,
            },
            depth: self.depth,
            is_grey: self.stays_grey(format),
            origin: self.origin.clone(),
        })
    }

    /// Whether the result is grey if this picture is blurred in a texture of this format.
    pub fn stays_grey(&self, format: &Format) -> bool {
        match format.channels() {
            1 => true,
            2 => false,
            _ => self.is_grey,
        }
    }
}
