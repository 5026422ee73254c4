//! All surfaces of a camera, and what is painted on which.
//!
//! A filter has one or more *surfaces*. The first one shows the items of the group, each other one the layers of the one before:
//! shadows, and the picture itself, one over the other, each with its own sigma. One surface is enough for most filters, because the
//! shadow of a blurred picture is itself a blur, with the sum of both variances. Filters whose parts do not commute need more:
//!
//! - a blur that varies, with shadows: the shadows are blurs of its result;
//! - a line around a blurred group, or with shadows: it is that of its result, and shadows fall from both;
//! - opacity, with shadows: they must not show through the faded group.
//!
//! # Where
//!
//! All rectangles are in pixels of the viewport, and may lie beyond it: a blur brings outside pixels into view. A first walk, from
//! the innermost group outwards, finds where something is painted. A second walk, from the outermost group inwards, finds which of
//! these pixels affect the visible result. A page holds only these, with a border of one transparent texel, although a blur paints
//! beyond them. But a blur that varies reads every texel that it paints, so the page holds all of these.

use super::clip::Clip;
use super::frames::{BORDER, Frame, frames};
use super::layer::{Layer, MARGIN};
use super::rects::{
    Canvas, EVERYWHERE, NOWHERE, as_texels, common, grown, joined, moved, pixels, touched, whole, within,
};
use super::region::Region;
use super::scene::{Backdrop, Filter, Scene, What, node_of};
use super::shape::Shape;
use crate::plan::batch::BatchedBlur;
use crate::plan::{MAX_OCTAVES, blurs, pack};
use bevy::math::{FloatOrd, IRect, IVec2, UVec2, Vec2};
use core::iter::once;
use core::ops::Range;

/// The index of a surface among those of a camera.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SurfaceId(pub usize);

impl SurfaceId {
    /// The camera's picture.
    pub const CAMERA: Self = Self(0);
}

/// Something to paint on. All rectangles are in pixels of the viewport, and may lie beyond it. By default it is empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// The index of the filter. Of the camera's picture it means nothing.
    pub filter: usize,
    /// The surface whose layers are painted on it. `None` if items are.
    pub content: Option<SurfaceId>,
    /// What its group shows of it, from the lowest layer to the topmost: these among all layers of a tree. The camera's picture has
    /// none.
    pub layers: Range<usize>,
    /// The box in which its only layer is shown, with smooth edges. Of pixels that a border divides, the layer shows the next ones that
    /// lie inside as a whole: what is painted there covers them in part.
    pub outline: Option<Shape>,
    /// How the layer fades towards the sides of that box, in place of ending there: see [`Filter::fade`](super::scene::Filter::fade).
    pub fade: Option<[f32; 4]>,
    /// The only pixels of it that are read, `None` if all are.
    pub limits: Option<IRect>,
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
    /// Whether any of it is visible.
    pub fn is_seen(&self) -> bool {
        !self.rect.is_empty()
    }

    /// Whether its picture can share a frame: its items stay inside it. A picture with a turn is painted separately.
    fn can_share(&self) -> bool {
        let is_whole = self.limits.is_none() && self.painted == self.bounds;
        self.content.is_none() && !self.has_turn && is_whole && self.border == BORDER
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

    /// A layer as it is painted if its blur is missing: the picture itself, sharp. Shadows are left out.
    pub fn unblurred(&self, layer: &Layer) -> Option<Layer> {
        let mut sharp = Layer {
            sigma: Vec2::ZERO,
            varies: false,
            ..*layer
        };
        sharp.shown = common(layer.shown, moved(self.around(&sharp, self.rect), layer.offset));
        layer.shadow.is_none().then_some(sharp)
    }

    /// Where a layer shows something of a picture with these pixels, before it is moved.
    fn around(&self, layer: &Layer, picture: IRect) -> IRect {
        match self.outline {
            Some(outline) if !layer.edge.spreads() => common(grown(picture, IVec2::ONE), touched(outline.bounds())),
            _ => layer.around(picture),
        }
    }

    /// Finds the pixels that must be stored and that the layers must paint, if only these of the result are visible.
    fn look_at(&mut self, layers: &mut [Layer], visible: IRect, limit: i32) {
        // On both sides of a shadow: glass in the group sees as far beyond a clip on one side as on the other.
        let needed = layers.iter().fold(NOWHERE, |all, layer| {
            let [back, on] = [-layer.offset, layer.offset].map(|by| layer.reads(moved(visible, by)));
            joined(all, joined(back, on))
        });
        self.painted = common(self.bounds, needed);
        self.rect = self.painted;
        self.show(layers, visible, false);
        for layer in layers.iter().filter(|layer| layer.varies && layer.edge.spreads()) {
            self.rect = joined(self.rect, layer.shown);
        }
        if layers.iter().all(|layer| layer.shown.is_empty()) {
            (self.rect, self.painted) = (NOWHERE, NOWHERE);
        }
        let side = self.rect.size().max_element();
        if side > limit {
            // A picture that is too large for a texture: the visible pixels, and as many around them as fit.
            let spare = (limit - visible.size().max_element()).max(0) / 2;
            let kept = grown(visible, IVec2::splat(spare));
            let kept = common(kept, within(kept.min, IVec2::splat(limit)));
            self.rect = common(self.rect, kept);
            self.painted = common(self.painted, kept);
            self.show(layers, visible, true);
        }
        self.border = if side + 2 * BORDER as i32 > limit { 0 } else { BORDER };
    }

    /// Finds the pixels that the layers must paint.
    fn show(&self, layers: &mut [Layer], visible: IRect, is_cut: bool) {
        for index in 0..layers.len() {
            let (first, layer) = (layers[0], &mut layers[index]);
            let shows = match layer {
                // A blur that varies shows no more of a picture that is cut than is stored.
                _ if is_cut && layer.varies => self.rect,
                // An inset shadow lies on the picture, which is the first layer.
                _ if layer.is_inset() => moved(self.around(&first, self.painted), -layer.offset),
                _ => self.around(layer, self.painted),
            };
            layer.shown = moved(common(shows, moved(visible, -layer.offset)), layer.offset);
        }
    }
}

/// The group of a filter.
#[derive(Clone, Debug, PartialEq)]
struct Group {
    /// The places of its nodes, as in its filter: here they lie close together, because every item looks for its group.
    nodes: Range<u32>,
    /// Its surfaces; none if it is not filtered.
    surfaces: Range<usize>,
    /// The innermost filter around it.
    around: Option<usize>,
    /// Whether it is painted on the surface around it. A group that is neither flat nor filtered is hidden.
    is_flat: bool,
}

/// The surfaces of a camera.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SurfaceTree {
    /// The camera's picture, and then the surfaces of all filters. Those of a filter follow each other, each on the next one.
    pub surfaces: Vec<Surface>,
    /// The layers of all surfaces.
    pub layers: Vec<Layer>,
    groups: Vec<Group>,
    /// The first surface of every frame.
    pub frames: Vec<SurfaceId>,
    /// The sizes of the pages of every depth, from 1 on.
    pub pages: Vec<Vec<UVec2>>,
}

impl SurfaceTree {
    /// The surfaces of a scene, with the pixels that they store, but without places on pages.
    pub fn new(scene: &Scene) -> Self {
        let seen = scene.picture.seen_pixels();
        let camera = Surface {
            bounds: seen,
            painted: seen,
            rect: seen,
            ..Surface::default()
        };
        let most = scene.filters.len() + 1;
        let mut tree = Self {
            surfaces: Vec::with_capacity(most),
            layers: Vec::with_capacity(most),
            groups: Vec::with_capacity(most),
            ..Self::default()
        };
        tree.surfaces.push(camera);
        for filter in scene.filters {
            tree.add(scene, filter);
        }
        tree.find_bounds(scene);
        tree.look(scene);
        tree
    }

    /// A surface.
    pub fn surface(&self, SurfaceId(index): SurfaceId) -> &Surface {
        &self.surfaces[index]
    }

    /// The surfaces of a filter; none if it is not filtered.
    pub fn surfaces_of(&self, filter: usize) -> Range<usize> {
        self.groups.get(filter).map_or(0..0, |group| group.surfaces.clone())
    }

    /// The surface whose layers are the result of a filter.
    pub fn result_of(&self, filter: usize) -> Option<SurfaceId> {
        self.surfaces_of(filter).last().map(SurfaceId)
    }

    /// The surface that shows the items of a filter.
    pub fn items_of(&self, filter: usize) -> Option<SurfaceId> {
        self.surfaces_of(filter).next().map(SurfaceId)
    }

    /// The pixels that the layers of a surface paint.
    pub fn shown(&self, surface: SurfaceId) -> IRect {
        let layers = &self.layers[self.surface(surface).layers.clone()];
        layers.iter().fold(NOWHERE, |all, layer| joined(all, layer.shown))
    }

    /// Whether the result of a filter is visible.
    pub fn is_seen(&self, filter: usize) -> bool {
        self.result_of(filter)
            .is_some_and(|surface| self.surface(surface).is_seen())
    }

    /// A filter and those around it, from the innermost to the outermost.
    pub fn around(&self, filter: usize) -> impl Iterator<Item = usize> {
        core::iter::successors(Some(filter), |filter| self.groups[*filter].around)
    }

    /// Whether a group is painted on the surface around it.
    pub fn is_flat(&self, filter: usize) -> bool {
        self.groups[filter].is_flat
    }

    fn is_hidden(&self, filter: usize) -> bool {
        !self.is_flat(filter) && self.surfaces_of(filter).is_empty()
    }

    /// The filters whose groups contain a node, from the innermost to the outermost.
    pub fn around_node(&self, node: i64) -> impl Iterator<Item = usize> {
        // A group that has begun and not ended is the last one that has begun, or around it.
        let begun = self
            .groups
            .partition_point(|group| i64::from(group.nodes.start) <= node);
        let last = begun.checked_sub(1).into_iter();
        let begun = last.flat_map(|last| self.around(last));
        begun.filter(move |filter| node < i64::from(self.groups[*filter].nodes.end))
    }

    /// The surface on which an item is painted, `None` if the item is hidden.
    ///
    /// An item belongs to the node that its sort key names. It is painted on the first surface of the innermost group that contains the
    /// node. But the glass of the group's own node, and the group's result, are painted on the surface around the group.
    pub fn surface_of(&self, filters: &[Filter], key: FloatOrd, what: What) -> Option<SurfaceId> {
        let node = node_of(key);
        let is_inside = |filter: &usize| match what {
            What::Glass(_) => !filters[*filter].is_of(node),
            What::Result(result) => result != *filter,
            What::Other | What::Mark | What::Hole(_) => true,
        };
        let around = self.around_node(node).filter(is_inside);
        let owner = around.into_iter().find(|filter| !self.is_flat(*filter));
        owner.map_or(Some(SurfaceId::CAMERA), |filter| self.items_of(filter))
    }

    /// A surface with items, and those on which the groups around it are painted, without the camera's.
    pub fn below(&self, surface: SurfaceId) -> impl Iterator<Item = SurfaceId> {
        let around = (surface != SurfaceId::CAMERA).then(|| self.around(self.surface(surface).filter));
        around.into_iter().flatten().filter_map(|filter| self.items_of(filter))
    }

    /// The visible surfaces of a page, with or without a turn.
    pub fn on_page(&self, depth: u32, page: usize, has_turn: bool) -> impl Iterator<Item = SurfaceId> {
        let surfaces = self.surfaces.iter().enumerate();
        let of_page = surfaces.filter(move |(_, surface)| (surface.depth, surface.page) == (depth, page));
        let seen = of_page.filter(move |(_, surface)| surface.is_seen() && surface.has_turn == has_turn);
        seen.map(|(index, _)| SurfaceId(index))
    }

    fn add(&mut self, scene: &Scene, filter: &Filter) {
        let index = self.groups.len();
        let start = i64::from(filter.nodes.start);
        let around = self.around_node(start).next();
        // Frozen glass takes its picture in the frame in which it is added, even if nothing of its group is visible yet.
        let is_inside = |node: u32| filter.node < node && node < filter.nodes.end;
        let takes = |backdrop: &Backdrop| backdrop.takes() && backdrop.node().is_some_and(is_inside);
        let is_hidden = around.is_some_and(|outer| self.is_hidden(outer))
            || filter.opacity <= 0.0 && (scene.is_flat || !scene.backdrops.iter().any(takes));
        let first = self.surfaces.len();
        if !is_hidden && !scene.is_flat {
            self.add_surfaces(index, filter);
        }
        let surfaces = first..self.surfaces.len();
        let outside = around
            .and_then(|outer| self.items_of(outer))
            .unwrap_or(SurfaceId::CAMERA);
        let depth = self.surface(outside).depth + 1;
        for (place, above) in surfaces.clone().zip((0..surfaces.len()).rev()) {
            let surface = &mut self.surfaces[place];
            surface.content = (place > first).then(|| SurfaceId(place - 1));
            surface.parent = if above == 0 { outside } else { SurfaceId(place + 1) };
            surface.depth = depth + above as u32;
        }
        let is_flat = scene.is_flat && !is_hidden;
        self.groups.push(Group {
            nodes: filter.nodes.clone(),
            surfaces,
            around,
            is_flat,
        });
    }

    /// Finds where something is painted.
    fn find_bounds(&mut self, scene: &Scene) {
        for item in scene.items {
            if !matches!(item.what, What::Glass(_) | What::Other) {
                continue;
            }
            let on = self.surface_of(scene.filters, item.key, item.what);
            let Some(SurfaceId(on)) = on.filter(|on| *on != SurfaceId::CAMERA) else {
                continue;
            };
            let bounds = match item.what {
                What::Glass(backdrop) => {
                    let backdrop = &scene.backdrops[backdrop];
                    let region = Region::new(backdrop, &scene.picture, backdrop.clip, EVERYWHERE);
                    region.map_or(NOWHERE, |region| touched(scene.picture.in_viewport(region.painted)))
                }
                _ => item.bounds.map_or(EVERYWHERE, touched),
            };
            self.add_bounds(on, bounds);
        }
        for index in (0..scene.filters.len()).rev() {
            for surface in self.surfaces_of(index) {
                let shown = &self.surfaces[surface];
                let layers = self.layers[shown.layers.clone()]
                    .iter()
                    .filter(|layer| !layer.is_inset());
                let outer = layers.fold(NOWHERE, |all, layer| {
                    joined(all, moved(shown.around(layer, shown.bounds), layer.offset))
                });
                let clip = self.clip_of(scene.filters, SurfaceId(surface));
                let (SurfaceId(parent), outer) = (shown.parent, common(outer, pixels(clip.map(Clip::bounds))));
                if shown.parent != SurfaceId::CAMERA {
                    self.add_bounds(parent, outer);
                }
            }
        }
    }

    /// Notes that something is painted on a surface.
    fn add_bounds(&mut self, surface: usize, bounds: IRect) {
        let surface = &mut self.surfaces[surface];
        surface.bounds = joined(surface.bounds, common(bounds, surface.limits.unwrap_or(EVERYWHERE)));
    }

    /// Finds what is visible of all surfaces.
    fn look(&mut self, scene: &Scene) {
        for index in 0..scene.filters.len() {
            for surface in self.surfaces_of(index).rev() {
                let around = self.surface(self.surfaces[surface].parent).painted;
                let clip = self.clip_of(scene.filters, SurfaceId(surface));
                let visible = common(around, pixels(clip.map(Clip::bounds)));
                let surface = &mut self.surfaces[surface];
                let layers = &mut self.layers[surface.layers.clone()];
                surface.look_at(layers, visible, scene.limit as i32);
            }
        }
    }

    /// The clip of a surface's layers: of those that are the result of their filter.
    pub fn clip_of(&self, filters: &[Filter], surface: SurfaceId) -> Option<Clip> {
        let filter = self.surface(surface).filter;
        let is_result = self.result_of(filter) == Some(surface);
        filters[filter].result_clip().filter(|_| is_result)
    }

    /// Gives a turn to the groups with glass on this surface, and to all around them.
    pub fn give_turn(&mut self, SurfaceId(surface): SurfaceId) {
        let filters: Vec<usize> = self.around(self.surfaces[surface].filter).collect();
        for filter in filters {
            for surface in self.surfaces_of(filter) {
                self.surfaces[surface].has_turn = true;
            }
        }
    }

    /// Finds places for the surfaces of every depth.
    pub fn pack(&mut self, limit: u32) {
        let deepest = self.surfaces.iter().map(|surface| surface.depth).max().unwrap_or(0);
        for depth in 1..=deepest {
            let surfaces = self.surfaces.iter().enumerate();
            let of_depth = surfaces.filter(|(_, surface)| surface.depth == depth && surface.is_seen());
            let of_depth: Vec<usize> = of_depth.map(|(index, _)| index).collect();
            let pictures = of_depth.iter().map(|index| &self.surfaces[*index]);
            let pictures = pictures.map(|surface| (surface.rect, surface.border, surface.can_share()));
            let (frames, of_surface) = frames(pictures, limit);
            let sizes: Vec<UVec2> = frames.iter().map(Frame::size).collect();
            let packed = pack::pages(&sizes, limit);
            let first_view = self.frames.len();
            for (index, frame) in of_depth.iter().zip(of_surface) {
                let (page, place) = packed.places[frame];
                let Frame { rect, .. } = frames[frame];
                let surface = &mut self.surfaces[*index];
                (surface.page, surface.frame, surface.view) = (page, rect, first_view + frame);
                surface.place = place + surface.border + (surface.rect.min - rect.min).as_uvec2();
            }
            self.frames
                .extend(frames.iter().map(|frame| SurfaceId(of_depth[frame.first])));
            self.pages.push(packed.textures);
        }
    }

    /// Adds the surfaces of a filter, from the innermost to the outermost. Each shows some layers of the one before, from the lowest to
    /// the topmost. In the table, the picture is the group with all that is done to it above:
    ///
    /// | layers | when |
    /// |---|---|
    /// | the picture, faded | it fades, and has a blur, a border, shadows or a line |
    /// | the picture, blurred | its blur varies or ends at a border, and it casts; or it is blurred and has a line, but no insets |
    /// | the picture, insets | it has insets |
    /// | the picture | it has insets, and none of what follows: they must not lie on what is below the picture |
    /// | the line, the picture | it has a line |
    /// | shadows, the picture | it has shadows |
    /// | the picture, with the opacity | it has an opacity, or nothing but colours |
    fn add_surfaces(&mut self, index: usize, filter: &Filter) {
        let picture = Layer {
            varies: filter.field.is_some() && blurs(filter.sigma),
            edge: filter.edge,
            ..Layer::new(filter.sigma)
        };
        let of_kind = |is_inset: bool| {
            let shadows = filter.shadows.iter().rev();
            shadows.filter(move |shadow| shadow.is_inset == is_inset)
        };
        let [has_insets, has_shadows] = [true, false].map(|is_inset| of_kind(is_inset).next().is_some());
        let casts = filter.line.is_some() || !filter.shadows.is_empty();
        let faded = self.surfaces.len();
        if filter.fade.is_some() && (picture.blurs() || filter.border.is_some() || casts) {
            self.show(index, [Layer::new(Vec2::ZERO)]);
        }
        let first = self.surfaces.len();
        // The picture, as the next surface shows it.
        let mut last = picture;
        // Shadows of a blur that is no Gaussian of the group are blurs of its result, and so is a line around any blur.
        let is_special = picture.varies || !picture.edge.spreads();
        if is_special && casts || picture.blurs() && filter.line.is_some() && !has_insets {
            last = self.show(index, [picture]);
        }
        if has_insets {
            last = self.show(index, once(last).chain(of_kind(true).map(|shadow| last.cast(shadow))));
            if !has_shadows && filter.line.is_none() && filter.opacity >= 1.0 {
                last = self.show(index, [last]);
            }
        }
        if let Some(line) = &filter.line {
            last = self.show(index, [last.cast(line), last]);
        }
        if has_shadows {
            last = self.show(index, of_kind(false).map(|shadow| last.cast(shadow)).chain([last]));
        }
        if first == self.surfaces.len() || filter.opacity < 1.0 {
            self.show(index, [last]);
        }
        if let Some(last) = self.surfaces.last_mut() {
            last.opacity = filter.opacity;
        }
        self.surfaces[first].is_colored = true;
        self.surfaces[first].outline = filter.border;
        if filter.outline.is_some() {
            (self.surfaces[faded].outline, self.surfaces[faded].fade) = (filter.outline, filter.fade);
        }
        if let Some(border) = filter.border {
            // Also where nothing is painted, the picture ends at its border.
            for surface in &mut self.surfaces[faded..=first] {
                surface.bounds = whole(border.bounds());
                surface.limits = Some(surface.bounds);
            }
        } else if let Some(outline) = filter.outline.filter(|_| filter.fade.is_none()) {
            self.surfaces[first].limits = Some(touched(outline.bounds()));
        }
    }

    /// Adds a surface that shows the layers of the one before. Returns the picture, as the next one shows it.
    fn show(&mut self, index: usize, layers: impl IntoIterator<Item = Layer>) -> Layer {
        let first = self.layers.len();
        self.layers.extend(layers);
        self.surfaces.push(Surface {
            filter: index,
            layers: first..self.layers.len(),
            opacity: 1.0,
            ..Surface::default()
        });
        Layer::new(Vec2::ZERO)
    }
}
