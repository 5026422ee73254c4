//! Pictures that are painted with one view. Plain values.
//!
//! For small groups, a view and a viewport for each picture would cost more CPU time than everything else. So pictures that lie
//! close together keep their relative positions on the page: they form a *frame*, which takes one view and one viewport.
//!
//! Inside a frame, nothing clips a picture: it ends where its items end. So a picture that must be cut gets a separate frame.

use super::rects::{EVERYWHERE, common, grown, joined};
use super::surface::{BORDER, Content, Surface};
use bevy::math::{IRect, IVec2, UVec2};

/// The most pictures in a frame: each is compared with all the others.
const MOST: usize = 32;

/// The most texels of a frame, as a multiple of the texels that its pictures take on their own.
const MOST_TEXELS: i64 = 2;

/// Pictures that keep their relative positions.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Their pixels, and those between them.
    pub rect: IRect,
    /// The index of the first picture's surface.
    pub first: usize,
    /// The width of the border around it.
    border: u32,
    /// The texels that the pictures take on their own.
    texels: i64,
}

/// Finds frames for the pictures of some surfaces of the same depth, by their indices. Returns the frames, and the frame of each
/// picture. No side of a frame exceeds `limit`, unless a picture's does.
pub fn frames(surfaces: &[Surface], of: &[usize], limit: u32) -> (Vec<Frame>, Vec<usize>) {
    let mut frames: Vec<Frame> = Vec::new();
    let mut found = Vec::with_capacity(of.len());
    // The frame that can take more pictures, and the pictures in it.
    let mut open = None;
    let mut pictures: Vec<IRect> = Vec::with_capacity(MOST);
    for index in of {
        let surface = &surfaces[*index];
        let shares = can_share(surface);
        let joined = |open: usize| Some((open, frames[open].with(surface.rect, &pictures, limit)?));
        let shared = open.filter(|_| shares).and_then(joined);
        if let Some((open, all)) = shared {
            frames[open] = all;
            found.push(open);
        } else {
            if shares {
                open = Some(frames.len());
                pictures.clear();
            }
            found.push(frames.len());
            frames.push(Frame {
                rect: surface.rect,
                first: *index,
                border: surface.border,
                texels: texels(surface.rect),
            });
        }
        if shares {
            pictures.push(surface.rect);
        }
    }
    (frames, found)
}

/// Whether a picture can share a frame: its items stay inside it. A picture with a turn is painted separately.
fn can_share(surface: &Surface) -> bool {
    let is_whole = surface.limits == EVERYWHERE && surface.painted == surface.bounds;
    surface.content == Content::Items && !surface.has_turn && is_whole && surface.border == BORDER
}

impl Frame {
    /// The size that it takes on a page.
    pub fn size(&self) -> UVec2 {
        grown(self.rect, IVec2::splat(self.border as i32)).size().as_uvec2()
    }

    /// The frame with one more picture, if this touches none of the pictures in it and leaves few texels between them.
    fn with(&self, picture: IRect, pictures: &[IRect], limit: u32) -> Option<Self> {
        let all = Self {
            rect: joined(self.rect, picture),
            texels: self.texels + texels(picture),
            ..self.clone()
        };
        let fits = all.size().max_element() <= limit && texels(all.rect) <= MOST_TEXELS * all.texels;
        let border = bordered(picture);
        let touches = |other: &IRect| !common(border, *other).is_empty();
        (fits && pictures.len() < MOST && !pictures.iter().any(touches)).then_some(all)
    }
}

fn bordered(rect: IRect) -> IRect {
    grown(rect, IVec2::splat(BORDER as i32))
}

/// How many texels a rectangle takes on a page.
fn texels(rect: IRect) -> i64 {
    let size = bordered(rect).size().as_i64vec2();
    size.x * size.y
}
