//! All steps of a camera, in the order in which they run.
//!
//! - Groups without glass come first, the innermost before those around them: they see nothing of the camera's picture.
//! - What the camera paints below a cut is painted before the blurs at the cut; Bevy's own pass paints what is left.
//! - A group with glass inside has a *turn*, as soon as everything below its result is painted. It is painted in pieces: each ends at
//!   the cut of glass, or at the result of an inner group with a turn. What glass inside a group sees is no texture: it is the group
//!   so far over what the camera has painted below. So both are combined on a page of its own, which the blur reads.

use super::grouping::{Cut, Event, Painted, Reader, Sight, group};
use super::place::{Placed, keys_of, paints, place};
use super::rects::{as_texels, common, moved, pixels};
use super::scene::{Order, Scene, What};
use super::slot::{Slot, node_of};
use super::surface::{Content, SurfaceId};
use super::tree::{Owners, SurfaceTree};
use bevy::math::{FloatOrd, URect};
use bevy::platform::collections::HashSet;
use core::ops::Range;

/// What is painted, blurred and copied for a camera.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// The surfaces.
    pub tree: SurfaceTree,
    /// Glass by its index in the scene, `None` if it is neither painted nor takes a picture.
    pub placed: Vec<Option<Placed>>,
    /// All batches.
    pub batches: Vec<Batch>,
    draws: Vec<Draw>,
    /// All steps.
    pub steps: Vec<Step>,
    /// The steps that are measured together, in their order.
    pub sections: Vec<Section>,
    /// The first sort key that Bevy's pass paints.
    pub bevy_from: FloatOrd,
}

/// Blurs that run at once.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// What they read.
    pub from: Source,
    /// Where their levels lie.
    pub pages: LevelPages,
    /// The blurs.
    pub blurs: Blurs,
}

/// What a batch reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The camera's picture.
    Camera,
    /// A page of a depth.
    Page(u32, usize),
    /// What glass inside a group sees.
    Seen,
}

/// The pages on which the levels of a batch lie. They are read until the next batch with the same pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LevelPages {
    /// What is blurred there is painted before anything else is blurred there. Glass that shares a backdrop has a number of its own,
    /// since other glass is blurred before the last of it is painted. All others have the number 0.
    Glass(usize),
    /// Of a page: what is blurred there is painted after other pages are blurred.
    Page(u32, usize),
}

/// The blurs of a batch.
#[derive(Clone, Debug, PartialEq)]
pub enum Blurs {
    /// Of backdrops.
    Glass(Vec<usize>),
    /// Of layers of surfaces, by their indices among all layers.
    Layers(Vec<(SurfaceId, usize)>),
}

/// A step.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// One render pass.
    Pass {
        /// What is painted on.
        on: Target,
        /// Whether it is cleared before.
        clears: bool,
        /// What is painted.
        draws: Range<usize>,
    },
    /// Copies what glass inside a group sees of the camera's picture.
    Copy(usize),
    /// Frozen glass keeps what it sees now.
    Take(usize),
    /// Runs a batch.
    Blur(usize),
    /// Bevy paints the rest.
    Bevy,
}

/// What a pass paints on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The camera's picture.
    Camera,
    /// A page of a depth.
    Page(u32, usize),
    /// What a backdrop inside a group sees.
    Seen(usize),
}

/// What is painted in a pass.
#[derive(Clone, Debug, PartialEq)]
pub enum Draw {
    /// The items of a surface with these sort keys.
    Items {
        /// The surface.
        on: SurfaceId,
        /// The sort keys.
        keys: Range<FloatOrd>,
        /// The only texels that may change.
        scissor: Option<URect>,
    },
    /// The layers of a surface, on its parent.
    Layers(SurfaceId),
    /// Removes what lies outside of the outline of a surface's filter.
    Outside(SurfaceId),
    /// A region of the viewport.
    Glass(usize),
    /// The groups around glass, as far as they are painted.
    Seen(usize),
}

/// Steps that are measured together.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// What they are measured as, if they are.
    pub label: Option<Label>,
    /// The steps.
    pub steps: Range<usize>,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Label {
    /// Regions under the user interface.
    BelowUi,
    /// Groups without glass.
    Groups,
    /// Glass among the nodes, and groups with glass.
    Nodes,
    /// Regions over the user interface.
    AboveUi,
}

impl Default for Schedule {
    /// Bevy paints everything.
    fn default() -> Self {
        Self {
            tree: SurfaceTree::default(),
            placed: Vec::new(),
            batches: Vec::new(),
            draws: Vec::new(),
            steps: Vec::new(),
            sections: Vec::new(),
            bevy_from: FIRST,
        }
    }
}

impl Schedule {
    /// Plans a scene.
    #[must_use]
    pub fn new(scene: &Scene) -> Self {
        let mut tree = SurfaceTree::new(scene);
        let placed = place(scene, &tree);
        for (placed, backdrop) in placed.iter().zip(scene.backdrops) {
            if let Some(placed) = placed
                && placed.on != SurfaceId::CAMERA
                && !backdrop.is_plain
            {
                tree.give_turn(placed.on);
            }
        }
        tree.pack(scene.limit);
        let mut planner = Planner {
            scene,
            keys: keys_of(scene, &tree, &placed),
            ends: ends_of(scene, &tree, &placed),
            scissored: scissored(scene, &tree),
            cleared: HashSet::default(),
            schedule: Self {
                tree,
                placed,
                ..Self::default()
            },
        };
        planner.regions(Label::BelowUi, |order| matches!(order, Order::BelowUi(_)));
        planner.groups();
        planner.nodes();
        planner.regions(Label::AboveUi, |order| matches!(order, Order::AboveUi(_)));
        planner.schedule
    }

    /// Whether an item paints anything.
    #[must_use]
    pub fn paints(&self, what: What) -> bool {
        paints(what, &self.tree, &self.placed)
    }

    /// What a pass paints.
    #[must_use]
    pub fn draws(&self, draws: &Range<usize>) -> &[Draw] {
        &self.draws[draws.clone()]
    }

    /// Glass that is painted or takes a picture, by its index.
    pub fn glass(&self) -> impl Iterator<Item = (usize, &Placed)> {
        let placed = self.placed.iter().enumerate();
        placed.filter_map(|(index, placed)| Some((index, placed.as_ref()?)))
    }

    /// The glass inside groups.
    pub fn nested(&self) -> impl Iterator<Item = &Placed> {
        let placed = self.placed.iter().flatten();
        placed.filter(|placed| placed.on != SurfaceId::CAMERA)
    }
}

/// Sort keys before and after all others.
const FIRST: FloatOrd = FloatOrd(f32::NEG_INFINITY);
const LAST: FloatOrd = FloatOrd(f32::INFINITY);

/// Where the painting of each surface is interrupted, in order: at the cuts of glass, and at the results of groups with a turn.
fn ends_of(scene: &Scene, tree: &SurfaceTree, placed: &[Option<Placed>]) -> Vec<Vec<(FloatOrd, Sight)>> {
    let mut ends = vec![Vec::new(); tree.surfaces.len()];
    for (index, backdrop) in scene.backdrops.iter().enumerate() {
        if let (Some(placed), Some(_), false) = (&placed[index], backdrop.node(), backdrop.is_plain) {
            ends[placed.on.0].push((placed.cut, Sight::Backdrop(index)));
        }
    }
    for (index, filter) in scene.filters.iter().enumerate() {
        if let Some(result) = tree.result_of(index).map(|result| tree.surface(result))
            && result.has_turn
            && result.is_seen()
        {
            ends[result.parent.0].push((Slot::Result.key(filter.nodes.start), Sight::Filter(index)));
        }
    }
    for ends in &mut ends {
        ends.sort_by_key(|(key, _)| *key);
    }
    ends
}

/// The sort keys of the flat groups whose items are drawn under a scissor.
fn scissored(scene: &Scene, tree: &SurfaceTree) -> Vec<Range<FloatOrd>> {
    let filters = scene.filters.iter().enumerate();
    let flat = filters.filter(|(index, filter)| tree.is_flat(*index) && filter.missing_clip().is_some());
    flat.map(|(_, filter)| Slot::Cut.key(filter.nodes.start)..Slot::Cut.key(filter.nodes.end))
        .collect()
}

struct Planner<'a> {
    scene: &'a Scene<'a>,
    /// The sort keys of what is painted on each surface.
    keys: Vec<Vec<FloatOrd>>,
    /// Where the painting of each surface is interrupted.
    ends: Vec<Vec<(FloatOrd, Sight)>>,
    scissored: Vec<Range<FloatOrd>>,
    /// The pages that have been cleared.
    cleared: HashSet<(u32, usize)>,
    schedule: Schedule,
}

impl Planner<'_> {
    /// Regions have no sort keys, so their places in the list are their cuts. Only their own glass is painted between them, right
    /// after each cut. A batch is blurred as a whole and then painted, so the next one sees it.
    fn regions(&mut self, label: Label, is_in: impl Fn(Order) -> bool) {
        let backdrops = self.scene.backdrops;
        let placed = self.schedule.glass().map(|(index, _)| index);
        let mut regions: Vec<usize> = placed.filter(|index| is_in(backdrops[*index].order)).collect();
        regions.sort_unstable_by_key(|index| (backdrops[*index].order, backdrops[*index].entity));
        let place = |cut: usize| FloatOrd(cut as f32);
        let of_region = |(cut, index): (usize, &usize)| {
            let region = self.schedule.placed[*index]?.region;
            let reader = Reader {
                sight: Sight::Backdrop(*index),
                cut: place(2 * cut),
                reads: region.sees.map(|texels| self.scene.picture.in_viewport(texels)),
            };
            let painted = self.scene.picture.in_viewport(region.painted);
            Some((reader, (place(2 * cut + 1), Some(painted))))
        };
        let (readers, painted): (Vec<Reader>, Vec<Painted>) = regions.iter().enumerate().filter_map(of_region).unzip();
        let start = self.schedule.steps.len();
        for cut in group(&readers, &painted) {
            if let Event::Blur(backdrops) = cut.event {
                self.blur_glass(&backdrops, Source::Camera);
                self.pass(Target::Camera, backdrops.into_iter().map(Draw::Glass));
            }
        }
        self.section(Some(label), start..self.schedule.steps.len());
    }

    /// The groups without glass, the innermost first: one pass for each page.
    fn groups(&mut self) {
        let start = self.schedule.steps.len();
        for depth in (1..=self.schedule.tree.pages.len() as u32).rev() {
            let pages = 0..self.schedule.tree.pages[depth as usize - 1].len();
            let surfaces = |tree: &SurfaceTree, page| tree.at_once(depth, page).collect::<Vec<_>>();
            for page in pages.clone() {
                let surfaces = surfaces(&self.schedule.tree, page);
                let draws: Vec<Draw> = surfaces.iter().flat_map(|surface| self.content_of(*surface)).collect();
                if !draws.is_empty() {
                    self.pass(Target::Page(depth, page), draws);
                }
            }
            for page in pages {
                let surfaces = surfaces(&self.schedule.tree, page);
                self.blur_layers(&surfaces, Source::Page(depth, page), LevelPages::Page(depth, page));
            }
        }
        self.section(Some(Label::Groups), start..self.schedule.steps.len());
    }

    /// What is painted on a surface, all of it.
    fn content_of(&self, on: SurfaceId) -> impl Iterator<Item = Draw> + use<> {
        let surface = self.schedule.tree.surface(on);
        let content = match surface.content {
            Content::Items => Draw::Items {
                on,
                keys: FIRST..LAST,
                scissor: None,
            },
            Content::Layers(of) => Draw::Layers(of),
        };
        let outside = surface.outline.map(|_| Draw::Outside(on));
        [Some(content), outside].into_iter().flatten()
    }

    /// Everything that is painted on the camera's picture.
    fn nodes(&mut self) {
        let (start, mut drawn) = (self.schedule.steps.len(), FIRST);
        let mut first_blur = None;
        for Cut { at, event } in self.cuts_of_nodes() {
            self.camera_items(drawn..at);
            drawn = at;
            first_blur.get_or_insert(self.schedule.steps.len());
            match event {
                Event::Blur(backdrops) => self.blur_glass(&backdrops, Source::Camera),
                Event::Turn(filter) => self.turn(filter),
            }
        }
        let first_blur = first_blur.unwrap_or(start);
        self.section(None, start..first_blur);
        self.section(Some(Label::Nodes), first_blur..self.schedule.steps.len());
        let start = self.schedule.steps.len();
        // Bevy's pass sets no scissor.
        let flat = self.scissored.iter().map(|keys| keys.end).max();
        if let Some(end) = flat.filter(|end| drawn < *end) {
            self.camera_items(drawn..end);
            drawn = end;
        }
        self.schedule.bevy_from = drawn;
        self.schedule.steps.push(Step::Bevy);
        self.section(None, start..self.schedule.steps.len());
    }

    /// The batches of the glass on the camera's picture, and the groups with a turn.
    fn cuts_of_nodes(&self) -> Vec<Cut> {
        let (scene, schedule) = (self.scene, &self.schedule);
        let reads = |sight: &Sight| match sight {
            Sight::Backdrop(backdrop) => schedule.placed[*backdrop].and_then(|placed| placed.region.sees),
            Sight::Filter(_) => None,
        };
        let ends = self.ends[SurfaceId::CAMERA.0].iter();
        let readers = ends.map(|(cut, sight)| Reader {
            sight: *sight,
            cut: *cut,
            reads: reads(sight).map(|texels| scene.picture.in_viewport(texels)),
        });
        let readers: Vec<Reader> = readers.collect();
        if readers.is_empty() {
            return Vec::new();
        }
        let mut owners = Owners::new(scene.filters);
        let tree = &schedule.tree;
        let on_camera = scene.items.iter().filter_map(|item| {
            let owner = owners.of(item.key, item.what, tree);
            let bounds = match item.what {
                _ if owner != Some(SurfaceId::CAMERA) => return None,
                What::Mark | What::Hole(_) => return None,
                What::Other => item.bounds,
                What::Glass(backdrop) => Some(scene.picture.in_viewport(schedule.placed[backdrop]?.region.painted)),
                What::Result(filter) => Some(tree.shown(tree.result_of(filter)?).as_rect()),
            };
            Some((item.key, bounds))
        });
        group(&readers, &on_camera.collect::<Vec<_>>())
    }

    /// Paints and blurs all surfaces of a filter with a turn, the first of them in pieces.
    fn turn(&mut self, filter: usize) {
        for index in self.schedule.tree.surfaces_of(filter) {
            let id = SurfaceId(index);
            let surface = self.schedule.tree.surface(id);
            if !surface.is_seen() {
                return;
            }
            let (depth, page) = (surface.depth, surface.page);
            match surface.content {
                Content::Items => self.pieces(id),
                Content::Layers(of) => self.pass(Target::Page(depth, page), [Draw::Layers(of)]),
            }
            self.blur_layers(&[id], Source::Page(depth, page), LevelPages::Glass(0));
        }
    }

    fn pieces(&mut self, on: SurfaceId) {
        let mut painted = FIRST;
        for (end, sight) in core::mem::take(&mut self.ends[on.0]) {
            self.piece(on, painted..end);
            painted = end;
            match sight {
                Sight::Backdrop(backdrop) => {
                    self.schedule.steps.push(Step::Copy(backdrop));
                    self.pass(Target::Seen(backdrop), [Draw::Seen(backdrop)]);
                    self.blur_glass(&[backdrop], Source::Seen);
                }
                Sight::Filter(filter) => self.turn(filter),
            }
        }
        self.piece(on, painted..LAST);
    }

    /// Paints some items of a group; after the last of them, its outline clips it. What is read later must have been cleared.
    fn piece(&mut self, on: SurfaceId, keys: Range<FloatOrd>) {
        let surface = self.schedule.tree.surface(on);
        let (depth, page) = (surface.depth, surface.page);
        let outside = surface.outline.filter(|_| keys.end == LAST).map(|_| Draw::Outside(on));
        let items = self.has_items(on, &keys).then_some(Draw::Items {
            on,
            keys,
            scissor: None,
        });
        if items.is_some() || outside.is_some() || !self.cleared.contains(&(depth, page)) {
            self.pass(Target::Page(depth, page), items.into_iter().chain(outside));
        }
    }

    fn has_items(&self, on: SurfaceId, keys: &Range<FloatOrd>) -> bool {
        let all = &self.keys[on.0];
        all.partition_point(|key| *key < keys.start) < all.partition_point(|key| *key < keys.end)
    }

    /// Paints items on the camera's picture, those of flat groups under the clips of these groups.
    fn camera_items(&mut self, keys: Range<FloatOrd>) {
        let ends = self.scissored.iter().flat_map(|keys| [keys.start, keys.end]);
        let mut ends: Vec<FloatOrd> = ends.filter(|end| keys.start < *end && *end < keys.end).collect();
        ends.push(keys.end);
        ends.sort_unstable();
        ends.dedup();
        let mut start = keys.start;
        let mut draws = Vec::new();
        for end in ends {
            let keys = start..end;
            start = end;
            if self.has_items(SurfaceId::CAMERA, &keys) {
                let scissor = self.scissor_at(keys.start);
                draws.push(Draw::Items {
                    on: SurfaceId::CAMERA,
                    keys,
                    scissor,
                });
            }
        }
        if !draws.is_empty() {
            self.pass(Target::Camera, draws);
        }
    }

    /// The scissor of the item at a sort key: the clips of all flat groups around it.
    fn scissor_at(&self, key: FloatOrd) -> Option<URect> {
        let node = node_of(key);
        let filters = self.scene.filters.iter().enumerate();
        let around = filters.filter(|(index, filter)| {
            let contains = i64::from(filter.nodes.start) <= node && node < i64::from(filter.nodes.end);
            contains && self.schedule.tree.is_flat(*index)
        });
        let clips = around.filter_map(|(_, filter)| filter.missing_clip());
        let all = clips.map(|clip| pixels(Some(clip.bounds()))).reduce(common)?;
        let (visible, offset) = (
            self.scene.picture.seen_pixels(),
            self.scene.picture.viewport.min.as_ivec2(),
        );
        Some(as_texels(moved(common(all, visible), offset)))
    }

    /// Blurs backdrops, after those that keep a picture have taken it.
    fn blur_glass(&mut self, backdrops: &[usize], from: Source) {
        let takes = backdrops.iter().filter(|index| self.scene.backdrops[**index].takes());
        self.schedule.steps.extend(takes.map(|index| Step::Take(*index)));
        let is_blurred = |index: &usize| {
            let placed = self.schedule.placed[*index].as_ref();
            let is_plain = self.scene.backdrops[*index].is_plain;
            placed.is_some_and(|placed| !placed.region.painted.is_empty() && !is_plain)
        };
        let blurred: Vec<usize> = backdrops.iter().copied().filter(is_blurred).collect();
        let mut backdrops = backdrops.iter().map(|index| &self.scene.backdrops[*index]);
        let shares = backdrops.any(|backdrop| backdrop.shares.is_some());
        let number = if shares { self.schedule.batches.len() + 1 } else { 0 };
        if !blurred.is_empty() {
            self.blur(from, LevelPages::Glass(number), Blurs::Glass(blurred));
        }
    }

    /// Blurs the layers of some surfaces of a page, if any are blurred.
    fn blur_layers(&mut self, surfaces: &[SurfaceId], from: Source, pages: LevelPages) {
        let mut blurred = Vec::new();
        for surface in surfaces {
            let tree = &self.schedule.tree;
            let is_blurred = |layer: &usize| tree.layers[*layer].blurs() && !tree.layers[*layer].shown.is_empty();
            let layers = tree.surface(*surface).layers.clone().filter(is_blurred);
            blurred.extend(layers.map(|layer| (*surface, layer)));
        }
        if !blurred.is_empty() {
            self.blur(from, pages, Blurs::Layers(blurred));
        }
    }

    fn blur(&mut self, from: Source, pages: LevelPages, blurs: Blurs) {
        let schedule = &mut self.schedule;
        schedule.steps.push(Step::Blur(schedule.batches.len()));
        schedule.batches.push(Batch { from, pages, blurs });
    }

    /// Adds a pass, or continues the pass before if it is on the same target. The first pass on a page clears it.
    fn pass(&mut self, target: Target, new: impl IntoIterator<Item = Draw>) {
        let clears = match target {
            Target::Page(depth, page) => self.cleared.insert((depth, page)),
            Target::Camera | Target::Seen(_) => false,
        };
        let schedule = &mut self.schedule;
        let first = schedule.draws.len();
        schedule.draws.extend(new);
        let end = schedule.draws.len();
        match schedule.steps.last_mut() {
            Some(Step::Pass { on, draws, .. }) if *on == target && draws.end == first => draws.end = end,
            _ => schedule.steps.push(Step::Pass {
                on: target,
                clears,
                draws: first..end,
            }),
        }
    }

    fn section(&mut self, label: Option<Label>, steps: Range<usize>) {
        if !steps.is_empty() {
            self.schedule.sections.push(Section { label, steps });
        }
    }
}
