//! A surface, and the layers that its group shows of it.

use super::rects::{EVERYWHERE, FAR, NOWHERE, as_texels, common, grown, joined, moved, touched, within};
use super::scene::{Line, Shade, Shadow};
use super::shape::Shape;
use crate::plan::batch::BatchedBlur;
use crate::plan::{LEAST_SHIFTED, MAX_OCTAVES, blurs};
use crate::settings::EdgeMode;
use bevy::math::{IRect, IVec2, URect, UVec2, UVec4, Vec2};
use core::ops::Range;

/// The width of the transparent border around a picture on a page, unless it is as large as a texture can be.
pub const BORDER: u32 = 1;

/// The finest part of a pixel by which a layer is moved.
const FINEST: f32 = 1.0 / 64.0;

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
    /// What lies beyond the picture's borders. Unless the picture spreads beyond them, it ends at [`Surface::outline`].
    pub edge: EdgeMode,
    /// The offset from the picture to the place where it is shown, in whole pixels.
    pub offset: IVec2,
    /// The part of a pixel by which it is moved beyond that, from 0 to less than 1.
    pub fraction: Vec2,
    /// The colour in which its alpha is shown, `None` for the picture itself.
    pub shadow: Option<Shade>,
    /// The width of the line that is shown around its alpha, 0 if it is no line.
    pub width: f32,
    /// Whether the colour is shown where its alpha is not, inside of what has been painted before.
    pub is_inset: bool,
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
    /// What its group shows of it, from the lowest layer to the topmost: these among all layers of a tree. The camera's picture has
    /// none.
    pub layers: Range<usize>,
    /// The box in which its only layer is shown, with smooth edges. Of pixels that a border divides, the layer shows the next ones that
    /// lie inside as a whole: what is painted there covers them in part.
    pub outline: Option<Shape>,
    /// How the layer fades towards the sides of that box, in place of ending there: see [`Filter::fade`](super::scene::Filter::fade).
    pub fade: Option<[f32; 4]>,
    /// The only pixels of it that are read.
    pub limits: IRect,
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
    /// The width of the transparent border around them on the page: [`BORDER`], or 0.
    pub border: u32,
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
    pub fn new(filter: usize, layers: Range<usize>) -> Self {
        Self {
            filter,
            content: Content::Items,
            layers,
            outline: None,
            fade: None,
            limits: EVERYWHERE,
            is_colored: false,
            opacity: 1.0,
            parent: SurfaceId::CAMERA,
            depth: 1,
            has_turn: false,
            bounds: NOWHERE,
            painted: NOWHERE,
            rect: NOWHERE,
            border: BORDER,
            page: 0,
            place: UVec2::ZERO,
            frame: NOWHERE,
            view: 0,
        }
    }

    /// Whether any of it is visible.
    pub fn is_seen(&self) -> bool {
        !self.rect.is_empty()
    }

    /// Where to paint on it: its whole frame.
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

    /// From a pixel of the viewport to a texel of the blurred picture of a layer. This offset makes all coordinates positive. It is a
    /// multiple of the coarsest scale, so the grids of all levels are locked to the viewport, wherever the group is. Each layer has its
    /// own, because another one may be as far away as coordinates reach.
    pub fn to_blurred(&self, layer: &Layer) -> IVec2 {
        let coarsest = IVec2::splat(1 << MAX_OCTAVES);
        -(self.blurred(layer).min - MARGIN).div_euclid(coarsest) * coarsest
    }

    /// The pixels of its picture that a layer reads or shows.
    fn blurred(&self, layer: &Layer) -> IRect {
        joined(self.painted, moved(layer.shown, -layer.offset))
    }

    /// The blur of a layer that does not vary, as a part of a batch.
    pub fn item_of(&self, layer: &Layer) -> BatchedBlur {
        let to_blurred = self.to_blurred(layer);
        // Moved pixels may lie beyond `EVERYWHERE`, so nothing is cut off here.
        let texels = |pixels: IRect| as_texels(within(pixels.min + to_blurred, pixels.size()));
        let spreads = layer.edge.spreads();
        let shown = moved(layer.shown, -layer.offset);
        let (bounds, region) = if spreads {
            let (all, margin) = (self.blurred(layer), layer.margin());
            let bounds = IRect {
                min: all.min - margin,
                max: all.max + margin,
            };
            (bounds, shown)
        } else {
            (self.painted, common(grown(shown, IVec2::ONE), self.painted))
        };
        BatchedBlur {
            sigma: layer.sigma,
            shift: layer.fraction,
            edge: layer.edge,
            bounds: texels(bounds),
            region: texels(region),
            to_source: self.to_page() - to_blurred,
            patch: spreads.then(|| texels(self.painted)),
            border: self.border,
        }
    }

    /// Notes that something is painted on it.
    pub fn add(&mut self, bounds: IRect) {
        self.bounds = joined(self.bounds, common(bounds, self.limits));
    }

    /// Where its layers may paint something.
    pub fn outer(&self, layers: &[Layer]) -> IRect {
        let layers = layers[self.layers.clone()].iter().filter(|layer| !layer.is_inset);
        layers.fold(NOWHERE, |all, layer| {
            joined(all, moved(self.around(layer, self.bounds), layer.offset))
        })
    }

    /// A layer as it is painted if its blur is missing: the picture itself, sharp. Shadows are left out.
    pub fn unblurred(&self, layer: &Layer) -> Option<Layer> {
        let (sigma, varies) = (Vec2::ZERO, false);
        let sharp = Layer {
            sigma,
            varies,
            ..*layer
        };
        let picture = moved(self.around(&sharp, self.rect), layer.offset);
        let shown = common(layer.shown, picture);
        layer.shadow.is_none().then_some(Layer { shown, ..sharp })
    }

    /// Where a layer shows something of a picture with these pixels, before it is moved.
    fn around(&self, layer: &Layer, picture: IRect) -> IRect {
        match self.outline {
            Some(outline) if !layer.edge.spreads() => common(grown(picture, IVec2::ONE), touched(outline.bounds())),
            _ => layer.around(picture),
        }
    }

    /// Finds the pixels that must be stored and that the layers must paint, if only these of the result are visible.
    pub fn look_at(&mut self, layers: &mut [Layer], visible: IRect, limit: i32) {
        let layers = &mut layers[self.layers.clone()];
        // On both sides of a shadow: glass in the group sees as far beyond a clip on one side as on the other.
        let needed = layers.iter().fold(NOWHERE, |all, layer| {
            let [back, on] = [-layer.offset, layer.offset].map(|by| layer.reads(moved(visible, by)));
            joined(all, joined(back, on))
        });
        self.painted = common(self.bounds, needed);
        self.rect = self.painted;
        for index in 0..layers.len() {
            let shows = self.shows(&layers[index], &layers[0]);
            let layer = &mut layers[index];
            let shown = common(shows, moved(visible, -layer.offset));
            if layer.varies && layer.edge.spreads() {
                self.rect = joined(self.rect, shown);
            }
            layer.shown = moved(shown, layer.offset);
        }
        if layers.iter().all(|layer| layer.shown.is_empty()) {
            (self.rect, self.painted) = (NOWHERE, NOWHERE);
        }
        let side = self.rect.size().max_element();
        if side > limit {
            self.cut(layers, visible, limit);
        }
        self.border = if side + 2 * BORDER as i32 > limit { 0 } else { BORDER };
    }

    /// The pixels that a layer may paint, before it is moved. An inset shadow lies on the picture, which is the first layer.
    fn shows(&self, layer: &Layer, first: &Layer) -> IRect {
        if layer.is_inset {
            let picture = self.around(first, self.painted);
            return moved(picture, -layer.offset);
        }
        self.around(layer, self.painted)
    }

    /// Cuts a picture that is too large for a texture to the visible pixels, and as many around them as fit.
    fn cut(&mut self, layers: &mut [Layer], visible: IRect, limit: i32) {
        let spare = (limit - visible.size().max_element()).max(0) / 2;
        let kept = grown(visible, IVec2::splat(spare));
        let kept = common(kept, within(kept.min, IVec2::splat(limit)));
        self.rect = common(self.rect, kept);
        self.painted = common(self.painted, kept);
        for index in 0..layers.len() {
            let shows = self.shows(&layers[index], &layers[0]);
            let layer = &mut layers[index];
            let shows = if layer.varies { self.rect } else { shows };
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
            edge: EdgeMode::Transparent,
            offset: IVec2::ZERO,
            fraction: Vec2::ZERO,
            shadow: None,
            width: 0.0,
            is_inset: false,
            shown: NOWHERE,
        }
    }

    /// A shadow of this picture: its blur has the sum of both variances. Along an axis with too weak a blur of the shadow, it moves by
    /// whole pixels.
    pub fn cast(self, shadow: &Shadow) -> Self {
        // The square of a finite number may be infinite.
        let variance = self.sigma * self.sigma + shadow.sigma * shadow.sigma;
        let by = (shadow.offset / FINEST).round() * FINEST;
        let is_fine = shadow.sigma.cmpge(Vec2::splat(LEAST_SHIFTED));
        let whole = Vec2::select(is_fine, by.floor(), by.round());
        Self {
            offset: whole.as_ivec2(),
            fraction: Vec2::select(is_fine, by - whole, Vec2::ZERO),
            shadow: Some(shadow.shade),
            is_inset: shadow.is_inset,
            ..Self::new(variance.map(|variance| variance.sqrt().min(f32::MAX)))
        }
    }

    /// The line around this picture, which must be sharp.
    pub fn surrounded(self, line: &Line) -> Self {
        Self {
            width: line.width,
            shadow: Some(line.shade),
            ..self
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

    /// How many pixels around it are read of the result of its blur, at most, and stored beyond what it paints.
    pub fn margin(&self) -> IVec2 {
        if self.fraction == Vec2::ZERO {
            IVec2::ONE
        } else {
            MARGIN
        }
    }

    /// How far it reaches beyond the picture.
    pub fn reach(&self) -> IVec2 {
        reach_of(self.sigma) + self.fraction.ceil().as_ivec2() + self.width.ceil() as i32
    }

    /// Where it shows something of a picture with these pixels, before it is moved.
    fn around(&self, picture: IRect) -> IRect {
        if self.edge.spreads() {
            grown(picture, self.reach())
        } else {
            picture
        }
    }

    /// The pixels that it reads to show these.
    fn reads(&self, shown: IRect) -> IRect {
        let shifted = self.fraction.ceil().as_ivec2() + self.width.ceil() as i32;
        grown(shown, reads_of(self.sigma, self.edge) + shifted)
    }
}

/// The largest [`Layer::margin`]: the spline that moves a result reads two pixels beyond it, and blends in a third.
const MARGIN: IVec2 = IVec2::splat(3);

/// How far a blur of a group reaches. Less than a 30,000th of a texel's weight lies beyond four standard deviations on either side:
/// 0.01/255.
pub fn reach_of(sigma: Vec2) -> IVec2 {
    if !blurs(sigma) {
        return IVec2::ZERO;
    }
    (4.0 * sigma).ceil().min(Vec2::splat(FAR as f32)).as_ivec2()
}

/// How far a blur of a group reads: as far as it reaches, and from a border a pixel farther, or to the other side.
pub fn reads_of(sigma: Vec2, edge: EdgeMode) -> IVec2 {
    if edge.reads_far() && blurs(sigma) {
        return IVec2::splat(FAR);
    }
    reach_of(sigma) + IVec2::splat(i32::from(!edge.spreads()))
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
    pub fn of_camera(viewport: URect) -> Self {
        Self {
            origin: IVec2::ZERO,
            size: viewport.size().as_vec2(),
            to_texel: viewport.min.as_ivec2(),
        }
    }

    /// The part of a page, from this place on, that shows these texels of a camera's texture.
    pub fn of_texels(texels: URect, viewport: URect, place: UVec2) -> Self {
        let origin = texels.min.as_ivec2() - viewport.min.as_ivec2();
        Self {
            origin,
            size: texels.size().as_vec2(),
            to_texel: place.as_ivec2() - origin,
        }
    }

    /// Its pixels.
    pub fn pixels(self) -> IRect {
        within(self.origin, self.size.as_ivec2())
    }

    /// Its texels: the position of the first, and the number along x and y.
    pub fn texels(self) -> UVec4 {
        let place = (self.origin + self.to_texel).as_uvec2();
        UVec4::from((place, self.size.as_uvec2()))
    }

    /// From one of its texels to the same pixel's texel in the texture of a camera with this viewport.
    pub fn to_screen(self, viewport: URect) -> IVec2 {
        viewport.min.as_ivec2() - self.to_texel
    }
}
