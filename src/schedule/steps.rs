//! All steps of a camera, in the order in which they run.
//!
//! - Groups without glass come first, the innermost before those around them: they see nothing of the camera's picture.
//! - Everything else comes in [rounds](super::rounds). A round paints on the pages of groups with glass inside, the innermost first, and
//!   then on the camera's picture. Then the batch of the next round is blurred. Bevy's own pass paints what the last round leaves.
//! - What glass inside a group sees is no texture: it is the group so far over what the camera has painted below. So both are combined
//!   on a page, beside what other glass of the batch sees.

use super::place::{GlassRounds, Holes, Placed, paints, place};
use super::rects::{as_texels, common, moved, pixels};
use super::scene::{FIRST, GlassOrder, LAST, Scene, Slot, What, node_of};
use super::tree::{SurfaceId, SurfaceTree};
use crate::plan::pack;
use crate::plan::pack::PageSet;
use bevy::math::{FloatOrd, URect, UVec2};
use bevy::platform::collections::HashSet;
use core::ops::Range;

/// What is painted, blurred and copied for a camera. By default, nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schedule {
    /// The surfaces.
    pub tree: SurfaceTree,
    /// Glass by its index in the scene, `None` if it is neither painted nor takes a picture.
    pub placed: Vec<Option<Placed>>,
    /// The surfaces on which glass makes holes, by its index.
    pub holes: Holes,
    /// All batches.
    pub batches: Vec<Batch>,
    /// All steps.
    pub steps: Vec<Step>,
    /// The steps that are measured together, in their order.
    pub sections: Vec<Section>,
    /// The sizes of the pages that hold what glass inside groups sees.
    pub seen: Vec<UVec2>,
    /// The sort keys of what Bevy's pass paints, in order.
    pub bevys: Vec<Range<FloatOrd>>,
}

/// Blurs that run at once.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// What they read.
    pub from: PaintTexture,
    /// Where their levels lie. They are read until the next batch with the same pages.
    pub pages: PageSet,
    /// The blurs.
    pub blurs: Blurs,
}

/// A texture with pictures, which a pass paints on, or a batch reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaintTexture {
    /// The camera's picture.
    Camera,
    /// A page of a depth.
    Page(u32, usize),
    /// A page that holds what glass inside groups sees.
    Seen(usize),
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
        on: PaintTexture,
        /// Whether it is cleared before.
        clears: bool,
        /// What is painted.
        draws: Vec<Draw>,
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

impl Schedule {
    /// Plans a scene.
    pub fn new(scene: &Scene) -> Self {
        let mut tree = SurfaceTree::new(scene);
        let (placed, holes) = place(scene, &tree);
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
            scissored: scissored(scene, &tree),
            cleared: HashSet::default(),
            schedule: Self {
                tree,
                placed,
                holes,
                ..Self::default()
            },
        };
        planner.regions(Label::BelowUi, |order| matches!(order, GlassOrder::BelowUi(_)));
        planner.groups();
        planner.nodes();
        planner.regions(Label::AboveUi, |order| matches!(order, GlassOrder::AboveUi(_)));
        planner.schedule
    }

    /// Whether an item paints anything.
    pub fn paints(&self, what: What) -> bool {
        paints(what, &self.tree, &self.placed, &self.holes)
    }

    /// Whether Bevy's pass paints the item of the camera's picture with this sort key.
    pub fn is_bevys(&self, key: FloatOrd) -> bool {
        let next = self.bevys.partition_point(|keys| keys.end <= key);
        self.bevys.get(next).is_some_and(|keys| keys.start <= key)
    }

    /// Glass that is painted or takes a picture, by its index.
    pub fn glass(&self) -> impl Iterator<Item = (usize, &Placed)> {
        let placed = self.placed.iter().enumerate();
        placed.filter_map(|(index, placed)| Some((index, placed.as_ref()?)))
    }
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
    scissored: Vec<Range<FloatOrd>>,
    /// The pages that have been cleared.
    cleared: HashSet<(u32, usize)>,
    schedule: Schedule,
}

impl Planner<'_> {
    /// Regions see what is below them, other regions included.
    fn regions(&mut self, label: Label, is_in: impl Fn(GlassOrder) -> bool) {
        let backdrops = self.scene.backdrops;
        let placed = self.schedule.glass().map(|(index, _)| index);
        let mut regions: Vec<usize> = placed.filter(|index| is_in(backdrops[*index].order)).collect();
        regions.sort_unstable_by_key(|index| (backdrops[*index].order, backdrops[*index].entity));
        let rounds = GlassRounds::of_regions(self.scene, &self.schedule.placed, &regions);
        let start = self.schedule.steps.len();
        for round in 1..=rounds.last {
            let blurred: Vec<usize> = rounds.batch(round).collect();
            self.blur_glass(&blurred, PaintTexture::Camera, rounds.is_late(&blurred, round));
            self.pass(PaintTexture::Camera, rounds.painted(round).map(Draw::Glass));
        }
        self.section(Some(label), start..self.schedule.steps.len());
    }

    /// The groups without glass: one pass for each page.
    fn groups(&mut self) {
        let start = self.schedule.steps.len();
        for page in self.pages() {
            self.page(page, false, 0, |_| [FIRST..LAST], |_, _| true);
        }
        self.section(Some(Label::Groups), start..self.schedule.steps.len());
    }

    /// All pages of groups, the innermost first.
    fn pages(&self) -> Vec<(u32, usize)> {
        let depths = self.schedule.tree.pages.iter().enumerate().rev();
        let pages = depths.flat_map(|(depth, pages)| (0..pages.len()).map(move |page| (depth as u32 + 1, page)));
        pages.collect()
    }

    /// Everything that is painted on the camera's picture, and groups with glass.
    fn nodes(&mut self) {
        let start = self.schedule.steps.len();
        let glass = (&*self.schedule.placed, &self.schedule.holes);
        let (nodes, rounds) = GlassRounds::of_nodes(self.scene, &self.schedule.tree, glass);
        let mut first_blur = start;
        let pages = self.pages();
        for (round, runs) in rounds.iter().enumerate() {
            let runs_of = |surface: SurfaceId| {
                let of_surface = runs.iter().filter(move |(on, _)| *on == surface);
                of_surface.map(|(_, keys)| keys.clone())
            };
            for page in &pages {
                self.page(*page, true, round, runs_of, |tree, on| nodes.end_of(tree, on) == round);
            }
            if round == nodes.last {
                break;
            }
            let on_camera = runs.iter().filter(|(on, _)| *on == SurfaceId::CAMERA);
            self.camera_items(on_camera.map(|(_, keys)| keys.clone()));
            if round == 0 {
                first_blur = self.schedule.steps.len();
            }
            self.batch(&nodes, round + 1);
        }
        self.section(None, start..first_blur);
        self.section(Some(Label::Nodes), first_blur..self.schedule.steps.len());
        self.bevy(rounds.last().map_or(&[], Vec::as_slice));
    }

    /// What Bevy paints of the last round.
    fn bevy(&mut self, runs: &[(SurfaceId, Range<FloatOrd>)]) {
        let start = self.schedule.steps.len();
        let on_camera = runs.iter().filter(|(on, _)| *on == SurfaceId::CAMERA);
        let mut left: Vec<Range<FloatOrd>> = on_camera.map(|(_, keys)| keys.clone()).collect();
        // Bevy's pass sets no scissor.
        if let Some(end) = self.scissored.iter().map(|keys| keys.end).max() {
            let below = left.iter().filter(|keys| keys.start < end);
            self.camera_items(below.map(|keys| keys.start..keys.end.min(end)));
            left.retain(|keys| end < keys.end);
            left.iter_mut().for_each(|keys| keys.start = keys.start.max(end));
        }
        self.schedule.bevys = left;
        self.schedule.steps.push(Step::Bevy);
        self.section(None, start..self.schedule.steps.len());
    }

    /// Paints the items of a round on a page, or the layers of what is complete before, and blurs the layers of the surfaces that are
    /// complete then.
    fn page<Runs: IntoIterator<Item = Range<FloatOrd>>>(
        &mut self,
        (depth, page): (u32, usize),
        has_turn: bool,
        round: usize,
        runs_of: impl Fn(SurfaceId) -> Runs,
        is_complete: impl Fn(&SurfaceTree, SurfaceId) -> bool,
    ) {
        let tree = &self.schedule.tree;
        let (mut draws, mut complete) = (Vec::new(), Vec::new());
        for on in tree.on_page(depth, page, has_turn) {
            let is_complete = is_complete(tree, on);
            complete.extend(is_complete.then_some(on));
            let items = |keys| Draw::Items {
                on,
                keys,
                scissor: None,
            };
            match tree.surface(on).content {
                None => draws.extend(runs_of(on).into_iter().map(items)),
                Some(before) => draws.extend(is_complete.then_some(Draw::Layers(before))),
            }
        }
        if !draws.is_empty() {
            self.pass(PaintTexture::Page(depth, page), draws);
        } else if !complete.is_empty() {
            self.clear(depth, page);
        }
        self.blur_layers(&complete, depth, page, round);
    }

    /// Blurs the glass of a batch. What glass inside groups sees is put together before, side by side.
    fn batch(&mut self, nodes: &GlassRounds, round: usize) {
        let is_nested =
            |index: &usize| self.schedule.placed[*index].is_some_and(|placed| placed.on != SurfaceId::CAMERA);
        let (nested, on_camera): (Vec<usize>, Vec<usize>) = nodes.batch(round).partition(is_nested);
        self.blur_glass(&on_camera, PaintTexture::Camera, nodes.is_late(&on_camera, round));
        let of =
            |index: &usize| self.schedule.placed[*index].map_or(UVec2::ZERO, |placed| placed.region.looks_at().size());
        let packed = pack::pages(&nested.iter().map(of).collect::<Vec<_>>(), self.scene.limit);
        for (index, place) in nested.iter().zip(&packed.places) {
            let Some(placed) = &mut self.schedule.placed[*index] else {
                continue;
            };
            placed.seen = *place;
            let below: Vec<SurfaceId> = self.schedule.tree.below(placed.on).collect();
            for surface in below {
                let surface = self.schedule.tree.surface(surface);
                self.clear(surface.depth, surface.page);
            }
        }
        for (page, size) in packed.textures.into_iter().enumerate() {
            let on_page = nested.iter().zip(&packed.places).filter(|(_, place)| place.0 == page);
            let glass: Vec<usize> = on_page.map(|(index, _)| *index).collect();
            self.schedule.steps.extend(glass.iter().map(|index| Step::Copy(*index)));
            self.pass(PaintTexture::Seen(page), glass.iter().map(|index| Draw::Seen(*index)));
            self.blur_glass(&glass, PaintTexture::Seen(page), nodes.is_late(&glass, round));
            if self.schedule.seen.len() <= page {
                self.schedule.seen.push(size);
            }
            self.schedule.seen[page] = self.schedule.seen[page].max(size);
        }
    }

    /// Clears a page on which nothing has been painted.
    fn clear(&mut self, depth: u32, page: usize) {
        if !self.cleared.contains(&(depth, page)) {
            self.pass(PaintTexture::Page(depth, page), []);
        }
    }

    /// Paints items on the camera's picture, those of flat groups under the clips of these groups.
    fn camera_items(&mut self, runs: impl Iterator<Item = Range<FloatOrd>>) {
        let mut draws = Vec::new();
        for keys in runs {
            let ends = self.scissored.iter().flat_map(|keys| [keys.start, keys.end]);
            let mut ends: Vec<FloatOrd> = ends.filter(|end| keys.start < *end && *end < keys.end).collect();
            ends.push(keys.end);
            ends.sort_unstable();
            ends.dedup();
            let mut start = keys.start;
            draws.extend(ends.into_iter().map(|end| Draw::Items {
                on: SurfaceId::CAMERA,
                scissor: self.scissor_at(start),
                keys: core::mem::replace(&mut start, end)..end,
            }));
        }
        if !draws.is_empty() {
            self.pass(PaintTexture::Camera, draws);
        }
    }

    /// The scissor of the item at a sort key: the clips of all flat groups around it.
    fn scissor_at(&self, key: FloatOrd) -> Option<URect> {
        let (filters, tree) = (self.scene.filters, &self.schedule.tree);
        let around = tree.around_node(node_of(key)).filter(|filter| tree.is_flat(*filter));
        let clips = around.filter_map(|filter| filters[filter].missing_clip());
        let all = clips.map(|clip| pixels(Some(clip.bounds()))).reduce(common)?;
        let picture = &self.scene.picture;
        let visible = common(all, picture.seen_pixels());
        Some(as_texels(moved(visible, picture.viewport.min.as_ivec2())))
    }

    /// Blurs backdrops, after those that keep a picture have taken it. Some may be painted in a later round.
    fn blur_glass(&mut self, backdrops: &[usize], from: PaintTexture, is_late: bool) {
        let takes = backdrops.iter().filter(|index| self.scene.backdrops[**index].takes());
        self.schedule.steps.extend(takes.map(|index| Step::Take(*index)));
        let is_blurred = |index: &usize| {
            let placed = self.schedule.placed[*index].as_ref();
            let is_plain = self.scene.backdrops[*index].is_plain;
            placed.is_some_and(|placed| !placed.region.painted.is_empty() && !is_plain)
        };
        let blurred: Vec<usize> = backdrops.iter().copied().filter(is_blurred).collect();
        let pages = match from {
            // Some of the glass is painted in a later round.
            _ if is_late => PageSet("glass of later rounds", [self.schedule.batches.len() as u32, 0]),
            PaintTexture::Seen(page) => PageSet("glass", [page as u32 + 1, 0]),
            PaintTexture::Camera | PaintTexture::Page(..) => PageSet("glass", [0; 2]),
        };
        if !blurred.is_empty() {
            self.blur(from, pages, Blurs::Glass(blurred));
        }
    }

    /// Blurs the layers of the surfaces of a page that are complete in a round, if any are blurred.
    fn blur_layers(&mut self, surfaces: &[SurfaceId], depth: u32, page: usize, round: usize) {
        let mut blurred = Vec::new();
        for surface in surfaces {
            let tree = &self.schedule.tree;
            let is_blurred = |layer: &usize| tree.layers[*layer].blurs() && !tree.layers[*layer].shown.is_empty();
            let layers = tree.surface(*surface).layers.clone().filter(is_blurred);
            blurred.extend(layers.map(|layer| (*surface, layer)));
        }
        if !blurred.is_empty() {
            let pages = PageSet("blurs of groups", [depth << 16 | page as u32, round as u32]);
            self.blur(PaintTexture::Page(depth, page), pages, Blurs::Layers(blurred));
        }
    }

    fn blur(&mut self, from: PaintTexture, pages: PageSet, blurs: Blurs) {
        let schedule = &mut self.schedule;
        schedule.steps.push(Step::Blur(schedule.batches.len()));
        schedule.batches.push(Batch { from, pages, blurs });
    }

    /// Adds a pass, or continues the pass before if it is on the same target. The first pass on a page clears it.
    fn pass(&mut self, target: PaintTexture, new: impl IntoIterator<Item = Draw>) {
        let clears = match target {
            PaintTexture::Page(depth, page) => self.cleared.insert((depth, page)),
            PaintTexture::Camera | PaintTexture::Seen(_) => false,
        };
        let steps = &mut self.schedule.steps;
        match steps.last_mut() {
            Some(Step::Pass { on, draws, .. }) if *on == target => draws.extend(new),
            _ => steps.push(Step::Pass {
                on: target,
                clears,
                draws: new.into_iter().collect(),
            }),
        }
    }

    fn section(&mut self, label: Option<Label>, steps: Range<usize>) {
        if !steps.is_empty() {
            self.schedule.sections.push(Section { label, steps });
        }
    }
}
