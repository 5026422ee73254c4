//! Pictures that are painted with one view. Plain values.
//!
//! For small groups, a view and a viewport for each picture would cost more CPU time than everything else. So pictures that lie
//! close together keep their relative positions on the page: they form a *frame*, which takes one view and one viewport.
//!
//! Inside a frame, nothing clips a picture: it ends where its items end. So a picture that must be cut gets a separate frame.

use super::rects::{common, grown, joined};
use bevy::math::{IRect, IVec2, UVec2};

/// The width of the transparent border around a picture on a page, unless it is as large as a texture can be.
pub const BORDER: u32 = 1;

/// The most pictures in a frame: each is compared with all the others.
const MOST: usize = 32;

/// The most texels of a frame, as a multiple of the texels that its pictures take on their own.
const MOST_TEXELS: i64 = 2;

/// Pictures that keep their relative positions.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Their pixels, and those between them.
    pub rect: IRect,
    /// The index of the first picture.
    pub first: usize,
    /// The width of the border around it.
    border: u32,
    /// The texels that the pictures take on their own.
    texels: i64,
}

/// Finds frames for pictures: for each its pixels, the width of the border around it on a page, and whether its items stay inside it, so
/// that it can share a frame. Returns the frames, and the frame of each picture. No side of a frame exceeds `limit`, unless a picture's
/// does.
pub fn frames(pictures: impl Iterator<Item = (IRect, u32, bool)>, limit: u32) -> (Vec<Frame>, Vec<usize>) {
    let (mut frames, mut found) = (Vec::<Frame>::new(), Vec::new());
    // The frame that can take more pictures, and the pictures in it.
    let mut open = None;
    let mut shared: Vec<IRect> = Vec::with_capacity(MOST);
    for (first, (rect, border, shares)) in pictures.enumerate() {
        let joined = |open: usize| Some((open, frames[open].with(rect, &shared, limit)?));
        let joined = open.filter(|_| shares).and_then(joined);
        if let Some((open, all)) = joined {
            frames[open] = all;
            found.push(open);
        } else {
            if shares {
                open = Some(frames.len());
                shared.clear();
            }
            found.push(frames.len());
            frames.push(Frame {
                rect,
                first,
                border,
                texels: texels(rect),
            });
        }
        if shares {
            shared.push(rect);
        }
    }
    (frames, found)
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
