//! A step of a filter: a picture, and the layers that it shows. Plain values.

use super::rects::{FAR, NOWHERE, common, grown, joined, moved, within};
use crate::backdrop::canvas::Canvas;
use crate::plan::{MAX_OCTAVES, blurs};
use bevy::math::{IRect, IVec2, UVec2, Vec2};

/// The width of the transparent border around a picture on a page.
pub const BORDER: u32 = 1;

/// What the picture of a stage shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// The items of the group.
    Items,
    /// The layers of another stage.
    Stage(usize),
}

/// A picture as its stage shows it: sharp or blurred, moved, or as a shadow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layer {
    /// The standard deviations along x and y.
    pub sigma: Vec2,
    /// Whether sigma varies over the picture.
    pub varies: bool,
    /// The offset from the picture to the place where it is shown.
    pub offset: IVec2,
    /// The colour in which its alpha is shown, `None` for the picture itself.
    pub shadow: Option<[f32; 4]>,
    /// The pixels that it paints. Empty if it is invisible.
    pub shown: IRect,
}

/// A step of a filter, with its own picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// The index of the filter.
    pub filter: usize,
    /// What the picture shows.
    pub content: Content,
    /// From the lowest to the topmost.
    pub layers: Vec<Layer>,
    /// Whether this stage applies the filter's colour functions.
    pub is_colored: bool,
    /// The opacity of the layers: 1 if there are several.
    pub opacity: f32,
    /// The stage on whose picture the layers are painted, `None` for the camera's.
    pub parent: Option<usize>,
    /// 1 if the layers are painted on the camera's picture, otherwise the depth of the parent plus 1.
    pub depth: u32,
    /// The pixels in which something may be painted.
    pub bounds: IRect,
    /// The part of `bounds` that can affect the visible result. The picture is transparent around it.
    pub painted: IRect,
    /// The pixels of the picture that the page holds. Empty if the stage is invisible.
    pub rect: IRect,
    /// Whether it is painted when its turn comes, because its group contains glass. All others are painted before the user
    /// interface.
    pub has_turn: bool,
    /// The index of the picture's page among the pages of its depth.
    pub page: usize,
    /// The texel of the page where the picture begins.
    pub place: UVec2,
    /// The pixels of its frame: the pictures that are painted with the same view.
    pub frame: IRect,
    /// The index of the filter that owns this view.
    pub view: usize,
}

impl Stage {
    /// A stage that shows the items of a filter, without a place yet.
    pub fn new(filter: usize, layers: Vec<Layer>) -> Self {
        Self {
            filter,
            content: Content::Items,
            layers,
            is_colored: false,
            opacity: 1.0,
            parent: None,
            depth: 1,
            bounds: NOWHERE,
            painted: NOWHERE,
            rect: NOWHERE,
            has_turn: false,
            page: 0,
            place: UVec2::ZERO,
            frame: NOWHERE,
            view: filter,
        }
    }

    /// Whether any of it is visible.
    pub fn is_seen(&self) -> bool {
        !self.rect.is_empty()
    }

    /// The canvas for painting its picture: the whole frame.
    pub fn canvas(&self) -> Canvas {
        Canvas {
            origin: self.frame.min,
            size: self.frame.size().as_vec2(),
            to_texel: self.to_page(),
        }
    }

    /// From a pixel of the viewport to a texel of the page.
    pub fn to_page(&self) -> IVec2 {
        self.place.as_ivec2() - self.rect.min
    }

    /// From a pixel of the viewport to a texel of the blurred picture. This offset makes all coordinates positive. It is a multiple
    /// of the coarsest scale, so the grids of all levels are locked to the viewport, wherever the group is.
    pub fn to_blurred(&self) -> IVec2 {
        let shown = self.layers.iter().map(|layer| moved(layer.shown, -layer.offset));
        let all = shown.fold(self.painted, joined);
        let coarsest = IVec2::splat(1 << MAX_OCTAVES);
        -(all.min - 1).div_euclid(coarsest) * coarsest
    }

    /// Where its layers may paint something.
    pub fn outer(&self) -> IRect {
        let layers = self.layers.iter();
        layers.fold(NOWHERE, |all, layer| {
            joined(all, moved(grown(self.bounds, layer.reach()), layer.offset))
        })
    }

    /// A layer as it is painted if its blur is missing: the picture itself, sharp. Shadows are left out.
    pub fn unblurred(&self, layer: &Layer) -> Option<Layer> {
        let picture = moved(self.rect, layer.offset);
        layer.shadow.is_none().then_some(Layer {
            sigma: Vec2::ZERO,
            varies: false,
            shown: common(layer.shown, picture),
            ..*layer
        })
    }

    /// Finds the pixels that the picture must hold and that the layers must paint, if only these of the result are visible.
    pub fn look_at(&mut self, visible: IRect, limit: i32) {
        let needed = self.layers.iter().fold(NOWHERE, |all, layer| {
            joined(all, grown(moved(visible, -layer.offset), layer.reach()))
        });
        self.painted = common(self.bounds, needed);
        self.rect = self.painted;
        for layer in &mut self.layers {
            let seen = moved(visible, -layer.offset);
            let shown = common(grown(self.painted, layer.reach()), seen);
            if layer.varies {
                self.rect = joined(self.rect, shown);
            }
            layer.shown = moved(shown, layer.offset);
        }
        if self.layers.iter().all(|layer| layer.shown.is_empty()) {
            self.rect = NOWHERE;
        }
        let limit = limit - 2 * BORDER as i32;
        if self.rect.size().max_element() > limit {
            self.cut(visible, limit);
        }
    }

    /// Cuts a picture that is too large for a texture to the visible pixels, and as many around them as fit.
    fn cut(&mut self, visible: IRect, limit: i32) {
        let spare = (limit - visible.size().max_element()).max(0) / 2;
        let kept = grown(visible, IVec2::splat(spare));
        let kept = common(kept, within(kept.min, IVec2::splat(limit)));
        self.rect = common(self.rect, kept);
        self.painted = common(self.painted, kept);
        for layer in &mut self.layers {
            let shows = if layer.varies {
                self.rect
            } else {
                grown(self.painted, layer.reach())
            };
            layer.shown = moved(common(moved(layer.shown, -layer.offset), shows), layer.offset);
        }
    }
}

impl Layer {
    /// The picture itself, blurred, without a place yet.
    pub fn new(sigma: Vec2) -> Self {
        Self {
            sigma,
            varies: false,
            offset: IVec2::ZERO,
            shadow: None,
            shown: NOWHERE,
        }
    }

    /// Whether it is blurred.
    pub fn blurs(&self) -> bool {
        blurs(self.sigma)
    }

    /// Whether it is blurred in a batch with others, out of a patch of the page. A blur that varies is not, because it reads every
    /// texel that it shows.
    pub fn is_batched(&self) -> bool {
        self.blurs() && !self.varies
    }

    /// How far it reaches beyond the picture. Less than a 30,000th of a texel's weight lies beyond four standard deviations on
    /// either side: 0.01/255.
    pub fn reach(&self) -> IVec2 {
        if !self.blurs() {
            return IVec2::ZERO;
        }
        (4.0 * self.sigma).ceil().min(Vec2::splat(FAR as f32)).as_ivec2()
    }
}
