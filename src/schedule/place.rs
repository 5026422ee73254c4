//! Where glass is painted, what it sees there, and which of it shares a blur.

use super::clip::{Clip, both};
use super::region::Region;
use super::rounds::{After, Index, Timeline};
use super::scene::{Backdrop, FIRST, LAST, Scene, Slot, What, node_of};
use super::tree::{SurfaceId, SurfaceTree};
use crate::plan::batch::BatchedBlur;
use bevy::math::{FloatOrd, IVec2, URect, UVec2};
use bevy::platform::collections::HashMap;
use bevy::prelude::Entity;
use core::ops::Range;

/// Glass with its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placed {
    /// The surface that it is painted on.
    pub on: SurfaceId,
    /// The first sort key that it does not see.
    pub cut: FloatOrd,
    /// Its texels.
    pub region: Region,
    /// Its clip: the texels end at the bounds.
    pub clip: Option<Clip>,
    /// Its opacity, with that of its own node's filter.
    pub opacity: f32,
    /// If it is on the surface of a group: the page on which it is put together what the glass sees, and where it begins there.
    pub seen: (usize, UVec2),
}

impl Placed {
    /// From a texel of the camera's picture to the same texel of what it sees.
    pub fn to_source(self) -> IVec2 {
        match self.on {
            SurfaceId::CAMERA => IVec2::ZERO,
            _ => self.seen.1.as_ivec2() - self.region.looks_at().min.as_ivec2(),
        }
    }
}

/// Where glass makes a hole: it lies over its node's shadow, but the shadow is on the picture of the node's group, and the glass below
/// that picture. Also the hole of glass that is not painted, beyond the viewport, may be moved into view.
pub type Holes = Vec<Option<SurfaceId>>;

/// Finds the place of all glass, and of the holes that it makes.
pub fn place(scene: &Scene, tree: &SurfaceTree) -> (Vec<Option<Placed>>, Holes) {
    let mut placed = vec![None; scene.backdrops.len()];
    let mut holes = vec![None; scene.backdrops.len()];
    for (backdrop, place) in scene.backdrops.iter().zip(&mut placed) {
        if backdrop.node().is_none() {
            *place = place_in(scene, tree, backdrop, SurfaceId::CAMERA, backdrop.clip, 1.0);
        }
    }
    // What shares a backdrop on one surface has the cut of the first.
    let mut cuts: HashMap<(Entity, SurfaceId), FloatOrd> = HashMap::default();
    for item in scene.items {
        let What::Glass(index) = item.what else {
            continue;
        };
        let (backdrop, node) = (&scene.backdrops[index], node_of(item.key));
        let (mut clip, mut opacity) = (backdrop.clip, 1.0);
        for filter in tree.around_node(node) {
            let of = &scene.filters[filter];
            // The clip of its own node applies inside the node's group.
            if of.is_of(node) {
                clip = of.clip;
                if !tree.is_flat(filter) {
                    opacity = of.opacity;
                    holes[index] = tree.items_of(filter).filter(|surface| tree.surface(*surface).is_seen());
                }
            } else if tree.is_flat(filter) {
                clip = both(clip, of.result_clip());
            }
        }
        let Some(on) = tree.surface_of(scene.filters, item.key, item.what) else {
            continue;
        };
        let own = Slot::Cut.key(node as u32);
        let shared = backdrop.shares.map(|shares| *cuts.entry((shares, on)).or_insert(own));
        if let Some(new) = place_in(scene, tree, backdrop, on, clip, opacity) {
            let cut = shared.unwrap_or(new.cut);
            placed[index] = Some(Placed { cut, ..new });
        }
    }
    (placed, holes)
}

/// Glass on a surface, under a clip and with a further opacity. `None` if it is neither painted nor takes a picture.
fn place_in(
    scene: &Scene,
    tree: &SurfaceTree,
    backdrop: &Backdrop,
    on: SurfaceId,
    clip: Option<Clip>,
    opacity: f32,
) -> Option<Placed> {
    let surface = tree.surface(on);
    let region = Region::new(backdrop, &scene.picture, clip, surface.rect)?;
    let opacity = backdrop.opacity * opacity;
    let is_painted = opacity > 0.0 && !region.painted.is_empty();
    let takes = backdrop.takes() && surface.is_seen();
    (is_painted || takes).then(|| Placed {
        on,
        cut: backdrop.node().map_or(FIRST, |node| Slot::Cut.key(node)),
        region,
        clip,
        opacity,
        seen: (0, UVec2::ZERO),
    })
}

/// The blur of a backdrop, as a part of a batch.
pub fn item_of(backdrop: &Backdrop, placed: &Placed) -> BatchedBlur {
    BatchedBlur {
        sigma: backdrop.sigma,
        edge: backdrop.edge,
        bounds: placed.region.reads,
        region: placed.region.sampled,
        to_source: placed.to_source(),
        ..BatchedBlur::default()
    }
}

/// Lets backdrops share a blur if they see their surroundings in the same picture, are blurred alike, and one blur that covers both is no
/// larger than two. Returns the blurs, and the index of every backdrop's blur.
pub fn share<'a>(backdrops: impl Iterator<Item = (&'a Backdrop, &'a Placed)>) -> (Vec<BatchedBlur>, Vec<usize>) {
    let (mut items, mut places) = (Vec::new(), Vec::new());
    let mut are_shared: Vec<bool> = Vec::new();
    for (backdrop, placed) in backdrops {
        let item = item_of(backdrop, placed);
        let fits = |(other, is_shared): (&BatchedBlur, &bool)| *is_shared && backdrop.is_open && joins(other, &item);
        let place = items.iter().zip(&are_shared).position(fits).unwrap_or_else(|| {
            items.push(item);
            are_shared.push(backdrop.is_open);
            items.len() - 1
        });
        let joined: &mut BatchedBlur = &mut items[place];
        joined.bounds = joined.bounds.union(item.bounds);
        joined.region = joined.region.union(item.region);
        places.push(place);
    }
    (items, places)
}

/// Whether both are blurred alike, and one blur that covers both is no larger than two.
fn joins(one: &BatchedBlur, other: &BatchedBlur) -> bool {
    let area = |texels: URect| u64::from(texels.width()) * u64::from(texels.height());
    let is_alike = (one.sigma, one.edge, one.to_source) == (other.sigma, other.edge, other.to_source);
    is_alike && area(one.bounds.union(other.bounds)) <= area(one.bounds) + area(other.bounds)
}

/// Whether an item paints anything.
pub fn paints(what: What, tree: &SurfaceTree, placed: &[Option<Placed>], holes: &Holes) -> bool {
    match what {
        What::Mark => false,
        What::Other => true,
        What::Glass(backdrop) => placed.get(backdrop).is_some_and(Option::is_some),
        What::Hole(backdrop) => holes.get(backdrop).is_some_and(Option::is_some),
        What::Result(filter) => tree.is_seen(filter),
    }
}

/// The rounds in which glass is blurred, and painted.
#[derive(Default)]
pub struct GlassRounds {
    timeline: Timeline,
    /// The backdrops that are blurred, by their readers, and the round in which each is painted.
    glass: Vec<(usize, usize)>,
    /// The last round.
    pub last: usize,
}

/// What is painted in every round: the sort keys on surfaces.
pub type Runs = Vec<Vec<(SurfaceId, Range<FloatOrd>)>>;

impl GlassRounds {
    /// The rounds of regions, in their order: each is painted on all below it.
    pub fn of_regions(scene: &Scene, placed: &[Option<Placed>], regions: &[usize]) -> Self {
        let mut rounds = Self::default();
        for (index, placed) in regions.iter().filter_map(|index| Some((*index, placed[*index]?))) {
            let after = After::Batch(rounds.read(scene, index, &placed, vec![0]));
            let painted = scene.picture.in_viewport(placed.region.painted);
            rounds.timeline.paint(0, FIRST, after, Some(painted), true);
        }
        rounds.solve(scene, 1);
        rounds
    }

    /// The rounds of everything on the camera's picture and on surfaces with a turn.
    pub fn of_nodes(scene: &Scene, tree: &SurfaceTree, (placed, holes): (&[Option<Placed>], &Holes)) -> (Self, Runs) {
        let mut nodes = Self::default();
        let all = scene.backdrops.iter().zip(placed).enumerate();
        let cuts = all.filter_map(|(index, (backdrop, placed))| {
            let is_read = backdrop.node().is_some() && !backdrop.is_plain;
            Some((placed.as_ref().filter(|_| is_read)?.cut, index))
        });
        let mut cuts: Vec<(FloatOrd, usize)> = cuts.collect();
        if cuts.is_empty() {
            return (nodes, vec![vec![(SurfaceId::CAMERA, FIRST..LAST)]]);
        }
        cuts.sort_by_key(|(cut, _)| *cut);
        nodes.add_all(scene, tree, (placed, holes), &cuts);
        nodes.solve(scene, tree.surfaces.len());
        let runs = nodes.find_runs(tree);
        (nodes, runs)
    }

    /// Adds the blur of a backdrop, which reads these surfaces.
    fn read(&mut self, scene: &Scene, backdrop: usize, placed: &Placed, surfaces: Vec<Index>) -> Index {
        self.glass.push((backdrop, 0));
        let reads = placed.region.sees.map(|texels| scene.picture.in_viewport(texels));
        self.timeline.read(surfaces, reads)
    }

    /// Finds the rounds of what has been added, on so many surfaces.
    fn solve(&mut self, scene: &Scene, surfaces: usize) {
        self.last = self.timeline.solve(surfaces, scene.picture.seen_pixels().as_rect());
        for unit in &self.timeline.units {
            if let After::Batch(reader) = unit.after {
                self.glass[reader].1 = unit.round;
            }
        }
    }

    /// The events in the order in which they would happen one by one. The result of a group with a turn is painted when its last node
    /// is, but over what was painted before its first one: nothing else of the surface lies between.
    fn add_all(
        &mut self,
        scene: &Scene,
        tree: &SurfaceTree,
        (placed, holes): (&[Option<Placed>], &Holes),
        cuts: &[(FloatOrd, usize)],
    ) {
        let mut open: Vec<(usize, SurfaceId, FloatOrd)> = Vec::new();
        let mut cuts = cuts.iter().peekable();
        let mut readers = vec![None; placed.len()];
        let has_turn = |surface: SurfaceId| tree.surface(surface).has_turn;
        let shown = |filter: usize| tree.result_of(filter).map(|result| tree.shown(result).as_rect());
        let content = |filter: usize| {
            tree.items_of(filter)
                .map_or(After::Nothing, |items| After::Surface(items.0))
        };
        // Bevy paints the items between two own ones as one.
        let mut is_new = true;
        for item in scene.items {
            let is_over = |filter: usize| i64::from(scene.filters[filter].nodes.end) <= node_of(item.key);
            while let Some((filter, on, key)) = open.pop_if(|(filter, ..)| is_over(*filter)) {
                self.timeline.paint(on.0, key, content(filter), shown(filter), true);
                is_new = true;
            }
            while let Some((_, index)) = cuts.next_if(|(cut, _)| *cut <= item.key) {
                if let Some(placed) = &placed[*index] {
                    let below = tree.below(placed.on).chain([SurfaceId::CAMERA]);
                    let below = below.map(|surface| surface.0).collect();
                    readers[*index] = Some(self.read(scene, *index, placed, below));
                }
            }
            let owner = tree.surface_of(scene.filters, item.key, item.what);
            let owner = owner.filter(|_| paints(item.what, tree, placed, holes));
            let is_due = |on: &SurfaceId| *on == SurfaceId::CAMERA || has_turn(*on) && tree.surface(*on).is_seen();
            let is_own = item.what != What::Other;
            is_new |= is_own;
            if let Some(on) = owner.filter(is_due) {
                let mut paint = |after, bounds| self.timeline.paint(on.0, item.key, after, bounds, is_new);
                match item.what {
                    What::Other => paint(After::Nothing, item.bounds),
                    What::Glass(index) => {
                        let painted = placed[index].map(|placed| scene.picture.in_viewport(placed.region.painted));
                        paint(readers[index].map_or(After::Nothing, After::Batch), painted);
                    }
                    What::Hole(index) => paint(After::Nothing, Some(scene.backdrops[index].shape.bounds())),
                    What::Result(filter) if tree.result_of(filter).is_some_and(has_turn) => {
                        open.push((filter, on, item.key));
                    }
                    What::Result(filter) => paint(After::Nothing, shown(filter)),
                    What::Mark => {}
                }
            }
            is_new = is_own;
        }
        for (filter, on, key) in open.into_iter().rev() {
            self.timeline.paint(on.0, key, content(filter), shown(filter), true);
        }
    }

    /// Joins the units of a round that follow each other on a surface.
    fn find_runs(&self, tree: &SurfaceTree) -> Runs {
        let mut runs = vec![Vec::new(); self.last + 1];
        // The round and the start of the run that is open on each surface.
        let mut open: Vec<Option<(usize, FloatOrd)>> = vec![None; tree.surfaces.len()];
        for unit in &self.timeline.units {
            match open[unit.on] {
                Some((round, _)) if round == unit.round => {}
                Some((round, start)) => {
                    runs[round].push((SurfaceId(unit.on), start..unit.key));
                    open[unit.on] = Some((unit.round, unit.key));
                }
                None => open[unit.on] = Some((unit.round, FIRST)),
            }
        }
        open[0].get_or_insert((self.last, FIRST));
        for (on, run) in open.into_iter().enumerate() {
            if let Some((round, start)) = run {
                runs[round].push((SurfaceId(on), start..LAST));
            }
        }
        runs
    }

    /// The backdrops that are blurred before this round is painted.
    pub fn batch(&self, round: usize) -> impl Iterator<Item = usize> {
        let readers = self.glass.iter().enumerate();
        let of_round = readers.filter(move |(reader, _)| self.timeline.batch(*reader) == round);
        of_round.map(|(_, (backdrop, _))| *backdrop)
    }

    /// The backdrops that are painted in this round.
    pub fn painted(&self, round: usize) -> impl Iterator<Item = usize> {
        let of_round = self.glass.iter().filter(move |(_, painted)| *painted == round);
        of_round.map(|(backdrop, _)| *backdrop)
    }

    /// Whether any of these backdrops is painted in a later round.
    pub fn is_late(&self, backdrops: &[usize], round: usize) -> bool {
        let is_late = |(backdrop, painted): &(usize, usize)| *painted > round && backdrops.contains(backdrop);
        self.glass.iter().any(is_late)
    }

    /// The round in which a surface with a turn is complete.
    pub fn end_of(&self, tree: &SurfaceTree, surface: SurfaceId) -> usize {
        let items = tree.items_of(tree.surface(surface).filter);
        items.map_or(0, |items| self.timeline.end(items.0))
    }
}

#[cfg(test)]
mod tests {
    use super::super::scene::Picture;
    use super::super::shape::Shape;
    use super::*;
    use crate::settings::{BackdropBlur, BackdropSampling, EdgeMode};
    use bevy::math::Rect;

    /// Glass of 100 by 50 pixels on a large picture, at some place along x.
    fn glass(x: f32, sampling: BackdropSampling, radius: f32) -> (Backdrop, Placed) {
        let picture = Picture {
            camera: Entity::PLACEHOLDER,
            size: UVec2::new(4000, 1000),
            viewport: URect::new(0, 0, 4000, 1000),
            is_light: false,
            dithers: false,
        };
        let shape = Shape::of_rect(Rect::new(x, 475.0, x + 100.0, 525.0));
        let settings = BackdropBlur::from_sigma(0.5 * radius).with_sampling(sampling);
        let backdrop = Backdrop::plain(shape, &settings, &picture);
        let region = Region::new(&backdrop, &picture, None, picture.seen_pixels());
        let placed = Placed {
            on: SurfaceId::CAMERA,
            cut: FloatOrd(0.0),
            region: region.expect("it lies in the viewport"),
            clip: None,
            opacity: 1.0,
            seen: (0, UVec2::ZERO),
        };
        (backdrop, placed)
    }

    fn shared(glass: &[(Backdrop, Placed)]) -> (Vec<BatchedBlur>, Vec<usize>) {
        share(glass.iter().map(|(backdrop, placed)| (backdrop, placed)))
    }

    fn items_of(glass: &[(Backdrop, Placed)]) -> Vec<usize> {
        shared(glass).1
    }

    #[test]
    fn panels_that_see_the_same_share_a_blur() {
        let open = |x: f32| glass(x, BackdropSampling::Surroundings, 40.0);
        assert_eq!(
            items_of(&[open(500.0), open(620.0), open(3000.0), open(740.0)]),
            [0, 0, 1, 0]
        );
        let (both, _) = shared(&[open(500.0), open(620.0)]);
        assert_eq!(both[0].region, URect::new(500, 475, 720, 525));
        let reads = |x: f32| open(x).1.region.reads;
        assert_eq!(both[0].bounds, reads(500.0).union(reads(620.0)));
        // Others do not see the same: they end at their edges, or are blurred in another way.
        let inside = |x: f32| glass(x, BackdropSampling::Inside, 40.0);
        assert_eq!(items_of(&[inside(500.0), inside(590.0), open(500.0)]), [0, 1, 2]);
        assert_eq!(
            items_of(&[open(500.0), glass(620.0, BackdropSampling::Surroundings, 41.0)]),
            [0, 1]
        );
        let (mut backdrop, placed) = open(620.0);
        backdrop.edge = EdgeMode::Clamp;
        assert_eq!(items_of(&[open(500.0), (backdrop, placed)]), [0, 1], "another edge");
    }
}
