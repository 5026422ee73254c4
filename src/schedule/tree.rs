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
use super::frames::{Frame, frames};
use super::rects::{EVERYWHERE, NOWHERE, common, joined, pixels, touched, whole};
use super::region::Region;
use super::scene::{Filter, Scene, What};
use super::slot::node_of;
use super::surface::{Content, Layer, Surface, SurfaceId};
use crate::plan::{blurs, pack};
use crate::settings::EdgeMode;
use bevy::math::{FloatOrd, IRect, UVec2, Vec2};
use core::iter::once;
use core::ops::Range;

/// How a filtered group is painted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// On surfaces of its own.
    Filtered,
    /// On the surface around it.
    Flat,
    /// Not at all.
    Hidden,
}

/// The group of a filter.
#[derive(Clone, Debug, PartialEq)]
struct Group {
    /// Its surfaces; none if it is not filtered.
    surfaces: Range<usize>,
    /// The innermost filter around it.
    around: Option<usize>,
    role: Role,
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
        let camera = Surface {
            depth: 0,
            bounds: scene.picture.seen_pixels(),
            painted: scene.picture.seen_pixels(),
            rect: scene.picture.seen_pixels(),
            ..Surface::new(0, 0..0)
        };
        let most = scene.filters.len() + 1;
        let mut tree = Self {
            surfaces: Vec::with_capacity(most),
            layers: Vec::with_capacity(most),
            groups: Vec::with_capacity(most),
            ..Self::default()
        };
        tree.surfaces.push(camera);
        let takes = scene.backdrops.iter().filter(|backdrop| backdrop.takes());
        let mut takes: Vec<u32> = takes.filter_map(|backdrop| backdrop.node()).collect();
        takes.sort_unstable();
        for filter in scene.filters {
            tree.add(scene, filter, &takes);
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
        self.groups[filter].role == Role::Flat
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

    fn add(&mut self, scene: &Scene, filter: &Filter, takes: &[u32]) {
        let index = self.groups.len();
        let mut around = index.checked_sub(1);
        while let Some(outer) = around.filter(|outer| scene.filters[*outer].nodes.end <= filter.nodes.start) {
            around = self.groups[outer].around;
        }
        // Frozen glass takes its picture in the frame in which it is added, even if nothing of its group is visible yet.
        let takes_inside =
            takes.partition_point(|node| *node <= filter.node) < takes.partition_point(|node| *node < filter.nodes.end);
        let role = match around.map(|outer| self.groups[outer].role) {
            Some(Role::Hidden) => Role::Hidden,
            _ if filter.opacity <= 0.0 && (scene.is_flat || !takes_inside) => Role::Hidden,
            _ if scene.is_flat => Role::Flat,
            _ => Role::Filtered,
        };
        let first = self.surfaces.len();
        if role == Role::Filtered {
            self.add_surfaces(index, filter);
        }
        let surfaces = first..self.surfaces.len();
        let outside = around
            .and_then(|outer| self.items_of(outer))
            .unwrap_or(SurfaceId::CAMERA);
        let depth = self.surface(outside).depth + 1;
        for (place, above) in surfaces.clone().zip((0..surfaces.len()).rev()) {
            let surface = &mut self.surfaces[place];
            if place > first {
                surface.content = Content::Layers(SurfaceId(place - 1));
            }
            surface.parent = if above == 0 { outside } else { SurfaceId(place + 1) };
            surface.depth = depth + above as u32;
        }
        self.groups.push(Group { surfaces, around, role });
    }

    /// Finds where something is painted.
    fn find_bounds(&mut self, scene: &Scene) {
        let mut owners = Owners::new(scene.filters);
        for item in scene.items {
            let on = match item.what {
                What::Mark | What::Hole(_) | What::Result(_) => None,
                What::Glass(_) | What::Other => owners.surface(item.key, item.what, self),
            };
            let Some(owner) = on.filter(|on| *on != SurfaceId::CAMERA) else {
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
            self.surfaces[owner.0].add(bounds);
        }
        for (index, filter) in scene.filters.iter().enumerate().rev() {
            for surface in self.surfaces_of(index) {
                let outer = common(self.surfaces[surface].outer(&self.layers), self.clip(filter, surface));
                let parent = self.surfaces[surface].parent;
                if parent != SurfaceId::CAMERA {
                    self.surfaces[parent.0].add(outer);
                }
            }
        }
    }

    /// Finds what is visible of all surfaces.
    fn look(&mut self, scene: &Scene) {
        for (index, filter) in scene.filters.iter().enumerate() {
            for surface in self.surfaces_of(index).rev() {
                let around = self.surface(self.surfaces[surface].parent).painted;
                let visible = common(around, self.clip(filter, surface));
                self.surfaces[surface].look_at(&mut self.layers, visible, scene.limit as i32);
            }
        }
    }

    /// The pixels that a filter's clip leaves of a surface's layers: of those that are its result.
    fn clip(&self, filter: &Filter, surface: usize) -> IRect {
        let is_result = self.result_of(self.surfaces[surface].filter) == Some(SurfaceId(surface));
        pixels(filter.result_clip().filter(|_| is_result).map(Clip::bounds))
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
            let (frames, of_surface) = frames(&self.surfaces, &of_depth, limit);
            let sizes: Vec<UVec2> = frames.iter().map(Frame::size).collect();
            let packed = pack::pages(&sizes, limit);
            let first_view = self.frames.len();
            for (index, frame) in of_depth.into_iter().zip(of_surface) {
                let (page, place) = packed.places[frame];
                let Frame { rect, .. } = frames[frame];
                let surface = &mut self.surfaces[index];
                (surface.page, surface.frame, surface.view) = (page, rect, first_view + frame);
                surface.place = place + surface.border + (surface.rect.min - rect.min).as_uvec2();
            }
            self.frames.extend(frames.iter().map(|frame| SurfaceId(frame.first)));
            self.pages.push(packed.textures);
        }
    }
}

impl SurfaceTree {
    /// Adds the surfaces of a filter, from the innermost to the outermost.
    fn add_surfaces(&mut self, index: usize, filter: &Filter) {
        let picture = Layer {
            varies: filter.field.is_some() && blurs(filter.sigma),
            edge: filter.border.map_or(EdgeMode::Transparent, |border| border.edge),
            ..Layer::new(filter.sigma)
        };
        let of_kind = |is_inset: bool| {
            let shadows = filter.shadows.iter().rev();
            shadows.filter(move |shadow| shadow.is_inset == is_inset)
        };
        let [has_insets, has_shadows] = [true, false].map(|is_inset| of_kind(is_inset).next().is_some());
        let faded = self.surfaces.len();
        let border = filter.border.map(|border| border.shape);
        let casts = filter.line.is_some() || !filter.shadows.is_empty();
        if filter.fade.is_some() && (picture.blurs() || border.is_some() || casts) {
            // Everything else is done to the faded group.
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
            // They must not lie on anything below the picture.
            if !has_shadows && filter.line.is_none() && filter.opacity >= 1.0 {
                last = self.show(index, [last]);
            }
        }
        if let Some(line) = &filter.line {
            last = self.show(index, [last.surrounded(line), last]);
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
        self.surfaces[first].outline = border;
        if filter.outline.is_some() {
            (self.surfaces[faded].outline, self.surfaces[faded].fade) = (filter.outline, filter.fade);
        }
        if let Some(border) = border {
            // Also where nothing is painted, the picture ends at its border.
            for surface in &mut self.surfaces[faded..=first] {
                surface.limits = whole(border.bounds());
                surface.bounds = surface.limits;
            }
        } else if let Some(outline) = filter.outline.filter(|_| filter.fade.is_none()) {
            self.surfaces[first].limits = touched(outline.bounds());
        }
    }

    /// Adds a surface that shows the layers of the one before. Returns the picture, as the next one shows it.
    fn show(&mut self, index: usize, layers: impl IntoIterator<Item = Layer>) -> Layer {
        let first = self.layers.len();
        self.layers.extend(layers);
        let surface = Surface::new(index, first..self.layers.len());
        self.surfaces.push(surface);
        Layer::new(Vec2::ZERO)
    }
}

/// Walks over items, and finds the surface on which each is painted.
///
/// An item belongs to the node that its sort key names. It is painted on the first surface of the innermost group that contains the
/// node. But the glass of the group's own node, and the group's result, are painted on the surface around the group.
pub struct Owners<'a> {
    filters: &'a [Filter],
    next: usize,
    open: Vec<usize>,
}

impl<'a> Owners<'a> {
    /// For the filters of a scene.
    pub fn new(filters: &'a [Filter]) -> Self {
        Self {
            filters,
            next: 0,
            open: Vec::new(),
        }
    }

    /// The surface of an item, `None` if the item is hidden. Items must be passed in the order of their keys.
    pub fn surface(&mut self, key: FloatOrd, what: What, tree: &SurfaceTree) -> Option<SurfaceId> {
        let (node, filters) = (node_of(key), self.filters);
        for filter in self.around(node) {
            let is_own = match what {
                What::Glass(_) => filters[filter].is_of(node),
                What::Result(result) => result == filter,
                _ => false,
            };
            match tree.groups[filter].role {
                Role::Flat => {}
                _ if is_own => {}
                Role::Hidden => return None,
                Role::Filtered => return tree.items_of(filter),
            }
        }
        Some(SurfaceId::CAMERA)
    }

    /// The filters whose groups contain a node, from the innermost to the outermost. Nodes must be passed in their order.
    pub fn around(&mut self, node: i64) -> impl Iterator<Item = usize> + use<'_, 'a> {
        while let Some(filter) = self
            .filters
            .get(self.next)
            .filter(|filter| i64::from(filter.nodes.start) <= node)
        {
            self.close(i64::from(filter.nodes.start));
            self.open.push(self.next);
            self.next += 1;
        }
        self.close(node);
        self.open.iter().rev().copied()
    }

    /// Leaves the groups that end before a node.
    fn close(&mut self, node: i64) {
        let ended = |filter: &usize| i64::from(self.filters[*filter].nodes.end) <= node;
        while self.open.last().is_some_and(ended) {
            self.open.pop();
        }
    }
}
