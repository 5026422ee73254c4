//! A surface, and the layers that its group shows of it.

use super::rects::{FAR, NOWHERE, common, grown, joined, moved, within};
use crate::plan::{MAX_OCTAVES, blurs};
use bevy::math::{IRect, IVec2, URect, UVec2, UVec4, Vec2};

/// The width of the transparent border around a picture on a page.
pub const BORDER: u32 = 1;

/// The index of a surface among those of a camera.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SurfaceId(pub usize);

impl SurfaceId {
    /// The camera's picture.
    pub const CAMERA: Self = Self(0);
}

/// What a surface shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Items.
    Items,
    /// The layers of another surface.
    Layers(SurfaceId),
}

/// A surface as its group shows it: sharp or blurred, moved, or as a shadow.
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

/// Something to paint on. All rectangles are in pixels of the viewport, and may lie beyond it.
#[derive(Clone, Debug, PartialEq)]
pub struct Surface {
    /// The index of the filter. Of the camera's picture it means nothing.
    pub filter: usize,
    /// What is painted on it.
    pub content: Content,
    /// What its group shows of it, from the lowest layer to the topmost. The camera's picture has none.
    pub layers: Vec<Layer>,
    /// Whether what is painted on it is clipped to the filter's outline.
    pub is_outlined: bool,
    /// Whether the layers get the filter's colour functions.
    pub is_colored: bool,
    /// The opacity of the layers: 1 if there are several.
    pub opacity: f32,
    /// The surface on which the layers are painted.
    pub parent: SurfaceId,
    /// 0 for the camera's picture, otherwise the depth of the parent plus 1.
    pub depth: u32,
    /// Whether it is painted when its turn comes, because its group contains glass. All others are painted before the user
    /// interface.
    pub has_turn: bool,
    /// The pixels in which something may be painted.
    pub bounds: IRect,
    /// The part of `bounds` that can affect the visible result. The picture is transparent around it.
    pub painted: IRect,
    /// The pixels that are stored. Empty if the surface is invisible.
    pub rect: IRect,
    /// The index of its page among the pages of its depth.
    pub page: usize,
    /// The texel of the page where it begins.
    pub place: UVec2,
    /// The pixels that are painted with the same view.
    pub frame: IRect,
    /// The index of this view among those of the camera's frames.
    pub view: usize,
}

impl Surface {
    /// A surface for the items of a filter, without a place yet.
    #[must_use]
    pub fn new(filter: usize, layers: Vec<Layer>) -> Self {
        Self {
            filter,
            content: Content::Items,
            layers,
            is_outlined: false,
            is_colored: false,
            opacity: 1.0,
            parent: SurfaceId::CAMERA,
            depth: 1,
            has_turn: false,
            bounds: NOWHERE,
            painted: NOWHERE,
            rect: NOWHERE,
            page: 0,
            place: UVec2::ZERO,
            frame: NOWHERE,
            view: 0,
        }
    }

    /// Whether any of it is visible.
    #[must_use]
    pub fn is_seen(&self) -> bool {
        !self.rect.is_empty()
    }

    /// Where to paint on it: its whole frame.
    #[must_use]
    pub fn canvas(&self) -> Canvas {
        Canvas {
            origin: self.frame.min,
            size: self.frame.size().as_vec2(),
            to_texel: self.to_page(),
        }
    }

    /// From a pixel of the viewport to a texel of the page.
    #[must_use]
    pub fn to_page(&self) -> IVec2 {
        self.place.as_ivec2() - self.rect.min
    }

    /// From a pixel of the viewport to a texel of the blurred picture. This offset makes all coordinates positive. It is a multiple
    /// of the coarsest scale, so the grids of all levels are locked to the viewport, wherever the group is.
    #[must_use]
    pub fn to_blurred(&self) -> IVec2 {
        let shown = self.layers.iter().map(|layer| moved(layer.shown, -layer.offset));
        let all = shown.fold(self.painted, joined);
        let coarsest = IVec2::splat(1 << MAX_OCTAVES);
        -(all.min - 1).div_euclid(coarsest) * coarsest
    }

    /// Where its layers may paint something.
    #[must_use]
    pub fn outer(&self) -> IRect {
        let layers = self.layers.iter();
        layers.fold(NOWHERE, |all, layer| {
            joined(all, moved(grown(self.bounds, layer.reach()), layer.offset))
        })
    }

    /// Where its layers paint.
    #[must_use]
    pub fn shown(&self) -> IRect {
        self.layers.iter().fold(NOWHERE, |all, layer| joined(all, layer.shown))
    }

    /// A layer as it is painted if its blur is missing: the picture itself, sharp. Shadows are left out.
    #[must_use]
    pub fn unblurred(&self, layer: &Layer) -> Option<Layer> {
        let picture = moved(self.rect, layer.offset);
        layer.shadow.is_none().then_some(Layer {
            sigma: Vec2::ZERO,
            varies: false,
            shown: common(layer.shown, picture),
            ..*layer
        })
    }

    /// Finds the pixels that must be stored and that the layers must paint, if only these of the result are visible.
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
    #[must_use]
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
    #[must_use]
    pub fn blurs(&self) -> bool {
        blurs(self.sigma)
    }

    /// Whether it is blurred in a batch with others, out of a patch of the page. A blur that varies is not, because it reads every
    /// texel that it shows.
    #[must_use]
    pub fn is_batched(&self) -> bool {
        self.blurs() && !self.varies
    }

    /// How far it reaches beyond the picture.
    #[must_use]
    pub fn reach(&self) -> IVec2 {
        reach_of(self.sigma)
    }
}

/// How far a blur of a group reaches. Less than a 30,000th of a texel's weight lies beyond four standard deviations on either side:
/// 0.01/255.
#[must_use]
pub fn reach_of(sigma: Vec2) -> IVec2 {
    if !blurs(sigma) {
        return IVec2::ZERO;
    }
    (4.0 * sigma).ceil().min(Vec2::splat(FAR as f32)).as_ivec2()
}

/// A part of a texture to paint on. Its pixels are pixels of a camera's viewport.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Canvas {
    /// The first pixel.
    pub origin: IVec2,
    /// The number of pixels along x and y.
    pub size: Vec2,
    /// From a pixel to a texel.
    pub to_texel: IVec2,
}

impl Canvas {
    /// The viewport of a camera, which is a part of the camera's texture.
    #[must_use]
    pub fn of_camera(viewport: URect) -> Self {
        Self {
            origin: IVec2::ZERO,
            size: viewport.size().as_vec2(),
            to_texel: viewport.min.as_ivec2(),
        }
    }

    /// A page whose first texel is the first of these texels of a camera's texture.
    #[must_use]
    pub fn of_texels(texels: URect, viewport: URect) -> Self {
        let origin = texels.min.as_ivec2() - viewport.min.as_ivec2();
        Self {
            origin,
            size: texels.size().as_vec2(),
            to_texel: -origin,
        }
    }

    /// Its pixels.
    #[must_use]
    pub fn pixels(self) -> IRect {
        within(self.origin, self.size.as_ivec2())
    }

    /// Its texels: the position of the first, and the number along x and y.
    #[must_use]
    pub fn texels(self) -> UVec4 {
        let place = (self.origin + self.to_texel).as_uvec2();
        UVec4::from((place, self.size.as_uvec2()))
    }

    /// From one of its texels to the same pixel's texel in the texture of a camera with this viewport.
    #[must_use]
    pub fn to_screen(self, viewport: URect) -> IVec2 {
        viewport.min.as_ivec2() - self.to_texel
    }
}
