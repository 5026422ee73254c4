//! All surfaces of a camera, and what is painted on which.
//!
//! A filter has one or more *surfaces*. The first one shows the items of the group, each other one the layers of the one before:
//! shadows, and the picture itself, one over the other, each with its own sigma. One surface is enough for most filters, because the
//! shadow of a blurred picture is itself a blur, with the sum of both variances. Filters whose parts do not commute need more:
//!
//! - a blur that varies, with shadows: the shadows are blurs of its result;
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
use super::rects::{EVERYWHERE, NOWHERE, common, pixels, touched};
use super::region::Region;
use super::scene::{Filter, Scene, Shadow, What};
use super::slot::node_of;
use super::surface::{Content, Layer, Surface, SurfaceId};
use crate::plan::{blurs, pack};
use crate::settings::EdgeMode;
use bevy::math::{FloatOrd, UVec2, Vec2};
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

/// The surfaces of a camera.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SurfaceTree {
    /// The camera's picture, and then the surfaces of all filters. Those of a filter follow each other, each on the next one.
    pub surfaces: Vec<Surface>,
    /// The surfaces of every filter; none if it is not filtered.
    pub of_filter: Vec<Range<usize>>,
    /// The innermost filter around every filter.
    pub parents: Vec<Option<usize>>,
    roles: Vec<Role>,
    /// The first surface of every frame.
    pub frames: Vec<SurfaceId>,
    /// The sizes of the pages of every depth, from 1 on.
    pub pages: Vec<Vec<UVec2>>,
}

impl SurfaceTree {
    /// The surfaces of a scene, with the pixels that they store, but without places on pages.
    #[must_use]
    pub fn new(scene: &Scene) -> Self {
        let camera = Surface {
            depth: 0,
            bounds: scene.picture.seen_pixels(),
            painted: scene.picture.seen_pixels(),
            rect: scene.picture.seen_pixels(),
            ..Surface::new(0, Vec::new())
        };
        let mut tree = Self {
            surfaces: vec![camera],
            ..Self::default()
        };
        let mut takes: Vec<u32> = scene
            .backdrops
            .iter()
            .filter(|it| it.takes())
            .filter_map(|it| it.node())
            .collect();
        takes.sort_unstable();
        for filter in scene.filters {
            tree.add(scene, filter, &takes);
        }
        tree.find_bounds(scene);
        tree.look(scene);
        tree
    }

    /// A surface.
    #[must_use]
    pub fn surface(&self, SurfaceId(index): SurfaceId) -> &Surface {
        &self.surfaces[index]
    }

    /// The surface whose layers are the result of a filter.
    #[must_use]
    pub fn result_of(&self, filter: usize) -> Option<SurfaceId> {
        let of_filter = self.of_filter.get(filter)?;
        (!of_filter.is_empty()).then(|| SurfaceId(of_filter.end - 1))
    }

    /// The surface that shows the items of a filter.
    #[must_use]
    pub fn items_of(&self, filter: usize) -> Option<SurfaceId> {
        let of_filter = self.of_filter.get(filter)?;
        (!of_filter.is_empty()).then_some(SurfaceId(of_filter.start))
    }

    /// Whether the result of a filter is visible.
    #[must_use]
    pub fn is_seen(&self, filter: usize) -> bool {
        self.result_of(filter)
            .is_some_and(|surface| self.surface(surface).is_seen())
    }

    /// A filter and those around it, from the innermost to the outermost.
    pub fn around(&self, filter: usize) -> impl Iterator<Item = usize> {
        core::iter::successors(Some(filter), |filter| self.parents[*filter])
    }

    /// Whether a group is painted on the surface around it.
    #[must_use]
    pub fn is_flat(&self, filter: usize) -> bool {
        self.roles[filter] == Role::Flat
    }

    /// The visible surfaces of a page without a turn.
    pub fn at_once(&self, depth: u32, page: usize) -> impl Iterator<Item = SurfaceId> {
        let surfaces = self.surfaces.iter().enumerate();
        let of_page = surfaces.filter(move |(_, surface)| (surface.depth, surface.page) == (depth, page));
        let at_once = of_page.filter(|(_, surface)| surface.is_seen() && !surface.has_turn);
        at_once.map(|(index, _)| SurfaceId(index))
    }

    fn add(&mut self, scene: &Scene, filter: &Filter, takes: &[u32]) {
        let index = self.of_filter.len();
        let mut around = index.checked_sub(1);
        while let Some(outer) = around.filter(|outer| scene.filters[*outer].nodes.end <= filter.nodes.start) {
            around = self.parents[outer];
        }
        // Frozen glass takes its picture in the frame in which it is added, even if nothing of its group is visible yet.
        let takes_inside = takes.partition_point(|node| *node <= filter.nodes.start)
            < takes.partition_point(|node| *node < filter.nodes.end);
        let role = match around.map(|outer| self.roles[outer]) {
            Some(Role::Hidden) => Role::Hidden,
            _ if filter.opacity <= 0.0 && (scene.is_flat || !takes_inside) => Role::Hidden,
            _ if scene.is_flat => Role::Flat,
            _ => Role::Filtered,
        };
        let new = match role {
            Role::Filtered => surfaces_of(index, filter),
            Role::Flat | Role::Hidden => Vec::new(),
        };
        let outside = around
            .and_then(|outer| self.items_of(outer))
            .unwrap_or(SurfaceId::CAMERA);
        let depth = self.surface(outside).depth + 1;
        let (first, count) = (self.surfaces.len(), new.len());
        for (place, surface) in new.into_iter().enumerate() {
            let is_last = place + 1 == count;
            let previous = place.checked_sub(1).map(|previous| SurfaceId(first + previous));
            self.surfaces.push(Surface {
                content: previous.map_or(Content::Items, Content::Layers),
                parent: if is_last { outside } else { SurfaceId(first + place + 1) },
                depth: depth + (count - 1 - place) as u32,
                ..surface
            });
        }
        self.parents.push(around);
        self.roles.push(role);
        self.of_filter.push(first..first + count);
    }

    /// Finds where something is painted.
    fn find_bounds(&mut self, scene: &Scene) {
        let mut owners = Owners::new(scene.filters);
        for item in scene
            .items
            .iter()
            .filter(|item| !matches!(item.what, What::Mark | What::Hole(_) | What::Result(_)))
        {
            let Some(owner) = owners
                .of(item.key, item.what, self)
                .filter(|owner| *owner != SurfaceId::CAMERA)
            else {
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
            for surface in self.of_filter[index].clone() {
                let is_last = surface + 1 == self.of_filter[index].end;
                let outer = common(
                    self.surfaces[surface].outer(),
                    pixels(filter.result_clip().filter(|_| is_last).map(Clip::bounds)),
                );
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
            for surface in self.of_filter[index].clone().rev() {
                let visible = self.surface(self.surfaces[surface].parent).painted;
                let is_last = surface + 1 == self.of_filter[index].end;
                let clip = filter.result_clip().filter(|_| is_last);
                let visible = common(visible, pixels(clip.map(Clip::bounds)));
                self.surfaces[surface].look_at(visible, scene.limit as i32);
            }
        }
    }

    /// Gives a turn to the groups with glass on this surface, and to all around them.
    pub fn give_turn(&mut self, SurfaceId(surface): SurfaceId) {
        let filters: Vec<usize> = self.around(self.surfaces[surface].filter).collect();
        for filter in filters {
            for surface in self.of_filter[filter].clone() {
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

/// The surfaces of a filter, from the innermost to the outermost.
fn surfaces_of(index: usize, filter: &Filter) -> Vec<Surface> {
    let picture = Layer {
        varies: filter.profile.is_some() && blurs(filter.sigma),
        edge: filter.border.map_or(EdgeMode::Transparent, |border| border.edge),
        ..Layer::new(filter.sigma)
    };
    let (insets, shadows): (Vec<&Shadow>, Vec<&Shadow>) =
        filter.shadows.iter().rev().partition(|shadow| shadow.is_inset);
    let is_alone = insets.is_empty() && shadows.is_empty();
    let mut stack = Stack {
        index,
        surfaces: Vec::new(),
        last: picture,
    };
    // Shadows of a blur that is no Gaussian of the group are blurs of its result.
    if (picture.varies || !picture.edge.spreads()) && !is_alone {
        stack.push(vec![picture]);
    }
    if !insets.is_empty() {
        let picture = [stack.last];
        let insets = insets.into_iter().map(|shadow| stack.shadow(shadow));
        stack.push(picture.into_iter().chain(insets).collect());
        // They must not lie on anything below the picture.
        stack.push_if(shadows.is_empty() && filter.opacity >= 1.0);
    }
    if !shadows.is_empty() {
        let shadows = shadows.into_iter().map(|shadow| stack.shadow(shadow));
        let layers = shadows.chain([stack.last]).collect();
        stack.push(layers);
    }
    stack.push_if(stack.surfaces.is_empty() || filter.opacity < 1.0);
    let mut surfaces = stack.surfaces;
    if let Some(last) = surfaces.last_mut() {
        last.opacity = filter.opacity;
    }
    let limits = filter.outline.map(|outline| touched(outline.bounds()));
    let border = filter.border.map(|border| pixels(Some(border.rect)));
    let first = &mut surfaces[0];
    (first.is_colored, first.outline) = (true, filter.outline);
    first.limits = common(limits.unwrap_or(EVERYWHERE), border.unwrap_or(EVERYWHERE));
    // Also where nothing is painted, the picture ends at its border.
    first.bounds = border.map_or(NOWHERE, |_| first.limits);
    surfaces
}

/// Surfaces of a filter, each of which shows the layers of the one before.
struct Stack {
    index: usize,
    surfaces: Vec<Surface>,
    /// The picture, as the next surface shows it.
    last: Layer,
}

impl Stack {
    fn push(&mut self, layers: Vec<Layer>) {
        self.surfaces.push(Surface::new(self.index, layers));
        self.last = Layer::new(Vec2::ZERO);
    }

    fn push_if(&mut self, is_needed: bool) {
        if is_needed {
            self.push(vec![self.last]);
        }
    }

    /// A shadow of the picture: its blur has the sum of both variances.
    fn shadow(&self, shadow: &Shadow) -> Layer {
        Layer {
            shadow: Some(shadow.color),
            is_inset: shadow.is_inset,
            ..Layer::new(with_both(self.last.sigma, shadow.sigma))
        }
        .moved(shadow)
    }
}

/// The standard deviations of two blurs, one after the other.
fn with_both(one: Vec2, other: Vec2) -> Vec2 {
    // The square of a finite number may be infinite.
    (one * one + other * other).map(|variance| variance.sqrt().min(f32::MAX))
}

/// Walks over items, and finds the surface on which each is painted.
///
/// An item belongs to the node that its sort key names. It is painted on the first surface of the innermost group that contains the
/// node. But glass and the result of the group's own node are painted on the surface around the group.
pub struct Owners<'a> {
    filters: &'a [Filter],
    next: usize,
    open: Vec<usize>,
}

impl<'a> Owners<'a> {
    /// For the filters of a scene.
    #[must_use]
    pub fn new(filters: &'a [Filter]) -> Self {
        Self {
            filters,
            next: 0,
            open: Vec::new(),
        }
    }

    /// The surface of an item, `None` if the item is hidden. Items must be passed in the order of their keys.
    pub fn of(&mut self, key: FloatOrd, what: What, tree: &SurfaceTree) -> Option<SurfaceId> {
        let (node, filters) = (node_of(key), self.filters);
        for filter in self.around(node) {
            let is_own =
                matches!(what, What::Glass(_) | What::Result(_)) && i64::from(filters[filter].nodes.start) == node;
            match tree.roles[filter] {
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
