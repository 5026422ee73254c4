//! What is painted on which page, and what is blurred there. Plain values.
//!
//! A filter is one or more *stages*. A stage has a picture: what the items of the group paint, or the result of the stage before
//! it. It shows *layers* of that picture, one over the other: shadows, and the picture itself, each blurred in its own way. One
//! stage does for most filters, since the shadow of a blur is a blur itself, of the sum of both variances. More are needed
//! where the parts do not commute:
//!
//! - a blur that varies has shadows: these are blurs of its result;
//! - opacity fades a group that has shadows: they must not show through it.
//!
//! # Where
//!
//! All rectangles are in pixels of the viewport, and may lie beyond it: what is outside is blurred into what is seen. From the
//! innermost group outwards it is known where something is painted. From the outermost one inwards it is known what of that can
//! be seen. A page has the texels that are painted, with a border of one transparent texel: a blur shows more than it reads. Only
//! a blur that varies reads all that it shows.

use super::extract::ExtractedFilter;
use super::rects::{FAR, NOWHERE, common, grown, joined, moved, pixels};
use crate::backdrop::canvas::Canvas;
use crate::plan::{blurs, pack};
use bevy::math::{IRect, IVec2, UVec2, Vec2};

/// The width of the transparent border around a picture on a page.
const BORDER: u32 = 1;

/// The most octaves of a level on the viewport's grid: as many as levels have.
const COARSEST: u32 = 15;

/// What the picture of a stage shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// The items of the group.
    Items,
    /// The layers of another stage.
    Stage(usize),
}

/// A picture as it is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layer {
    /// The standard deviations along x and y.
    pub sigma: Vec2,
    /// Whether they vary over the picture.
    pub varies: bool,
    /// Where it is shown, from where the picture is.
    pub offset: IVec2,
    /// The colour in which its alpha is shown, `None` for the picture itself.
    pub shadow: Option<[f32; 4]>,
    /// The pixels that show it. Empty if nothing is seen.
    pub shown: IRect,
}

/// A step of a filter that takes a picture of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// The index of the filter.
    pub filter: usize,
    /// What the picture shows.
    pub content: Content,
    /// From the lowest to the topmost.
    pub layers: Vec<Layer>,
    /// Whether the picture is coloured.
    pub is_colored: bool,
    /// How much is seen of the layers, which are one if there are several.
    pub opacity: f32,
    /// The stage on whose picture the layers are painted, `None` for the camera's.
    pub parent: Option<usize>,
    /// How many stages its layers go through until they are on the camera's picture, 1 for none.
    pub depth: u32,
    /// The pixels in which something may be painted.
    bounds: IRect,
    /// The ones that matter. Around them the picture is transparent.
    pub painted: IRect,
    /// The pixels of the picture that the page holds. Empty if nothing is seen.
    pub rect: IRect,
    /// Whether it is painted when its turn comes, since there is glass in its group. All others come before the user interface.
    pub has_turn: bool,
    /// The page of its depth on which the picture lies.
    pub page: usize,
    /// The texel of the page where it begins.
    pub place: UVec2,
}

impl Stage {
    fn new(filter: usize, layers: Vec<Layer>) -> Self {
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
        }
    }

    /// Whether anything of it is seen.
    pub fn is_seen(&self) -> bool {
        !self.rect.is_empty()
    }

    /// Its picture, as something to paint on.
    pub fn canvas(&self) -> Canvas {
        Canvas {
            origin: self.rect.min,
            size: self.rect.size().as_vec2(),
            to_texel: self.to_page(),
        }
    }

    /// From a pixel of the viewport to a texel of the page.
    pub fn to_page(&self) -> IVec2 {
        self.place.as_ivec2() - self.rect.min
    }

    /// From a pixel of the viewport to a texel of the picture that is blurred. No number is negative there, and all levels lie on
    /// the viewport's grid, wherever the group is.
    pub fn to_blurred(&self) -> IVec2 {
        let shown = self.layers.iter().map(|layer| moved(layer.shown, -layer.offset));
        let all = shown.fold(self.painted, joined);
        let coarsest = IVec2::splat(1 << COARSEST);
        -(all.min - 1).div_euclid(coarsest) * coarsest
    }

    /// Where its layers may paint something.
    fn outer(&self) -> IRect {
        let layers = self.layers.iter();
        layers.fold(NOWHERE, |all, layer| {
            joined(all, moved(grown(self.bounds, layer.reach()), layer.offset))
        })
    }

    /// Finds the pixels that matter if these of the result are seen.
    fn look_at(&mut self, visible: IRect, limit: i32) {
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

    /// What is too large for a texture is cut to what is seen.
    fn cut(&mut self, visible: IRect, limit: i32) {
        let spare = (limit - visible.size().max_element()).max(0) / 2;
        let kept = grown(visible, IVec2::splat(spare));
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
    fn new(sigma: Vec2) -> Self {
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

    /// How far it shows something. Less than a 30,000th of what a texel holds lies beyond four standard deviations on either
    /// side: 0.01/255.
    pub fn reach(&self) -> IVec2 {
        if !self.blurs() {
            return IVec2::ZERO;
        }
        (4.0 * self.sigma).ceil().min(Vec2::splat(FAR as f32)).as_ivec2()
    }
}

/// The stages of a filter, from the innermost to the outermost. An invisible group has none.
fn stages_of(index: usize, filter: &ExtractedFilter) -> Vec<Stage> {
    if filter.opacity <= 0.0 {
        return Vec::new();
    }
    let varies = filter.profile.is_some() && blurs(filter.sigma);
    let has_shadows = !filter.shadows.is_empty();
    let picture = Layer {
        varies,
        ..Layer::new(filter.sigma)
    };
    let mut stages = Vec::new();
    let mut last = if varies && has_shadows {
        stages.push(Stage {
            is_colored: true,
            ..Stage::new(index, vec![picture])
        });
        Layer::new(Vec2::ZERO)
    } else {
        picture
    };
    if has_shadows {
        let shadow = |shadow: &super::extract::Shadow| Layer {
            offset: shadow.offset,
            shadow: Some(shadow.color),
            ..Layer::new((last.sigma * last.sigma + Vec2::splat(shadow.sigma * shadow.sigma)).map(f32::sqrt))
        };
        let mut layers: Vec<Layer> = filter.shadows.iter().rev().map(shadow).collect();
        layers.push(last);
        stages.push(Stage {
            is_colored: stages.is_empty(),
            ..Stage::new(index, layers)
        });
        last = Layer::new(Vec2::ZERO);
    }
    if stages.is_empty() || filter.opacity < 1.0 {
        stages.push(Stage {
            is_colored: stages.is_empty(),
            opacity: filter.opacity,
            ..Stage::new(index, vec![last])
        });
    }
    stages
}

/// What the own items of a group paint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Painted {
    /// Where.
    pub bounds: IRect,
    /// Whether there is glass among them.
    pub has_glass: bool,
}

/// The stages of the filters of one camera, which come in stacking order. `painted` says what their own items paint. No side of
/// a picture exceeds `limit`, if the viewport does not.
#[must_use]
pub fn arrange(filters: &[ExtractedFilter], painted: &[Painted], limit: u32) -> Arranged {
    let mut arranged = Arranged::default();
    for (index, filter) in filters.iter().enumerate() {
        arranged.add(index, filter, filters);
    }
    arranged.find_turns(painted);
    arranged.find_bounds(filters, painted);
    arranged.look(filters, limit);
    arranged.pack(limit);
    arranged
}

/// The stages of the filters of one camera.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arranged {
    /// The stages of a filter follow each other, from the innermost to the outermost.
    pub stages: Vec<Stage>,
    /// For every filter its first stage, and the first that is not its own.
    pub of_filter: Vec<(usize, usize)>,
    /// The filter around each.
    pub parents: Vec<Option<usize>>,
    /// The sizes of the pages of every depth, from 1 on.
    pub pages: Vec<Vec<UVec2>>,
}

impl Arranged {
    /// The stage whose layers are the result of a filter.
    pub fn result_of(&self, filter: usize) -> Option<usize> {
        let (first, end) = *self.of_filter.get(filter)?;
        (first < end).then(|| end - 1)
    }

    /// The stage that shows the items of a filter.
    pub fn items_of(&self, filter: usize) -> Option<usize> {
        let (first, end) = *self.of_filter.get(filter)?;
        (first < end).then_some(first)
    }

    /// Whether a filter is painted when its turn comes.
    pub fn has_turn(&self, filter: usize) -> bool {
        self.items_of(filter).is_some_and(|stage| self.stages[stage].has_turn)
    }

    /// A filter and those around it, from the innermost to the outermost.
    pub fn around(&self, filter: usize) -> impl Iterator<Item = usize> {
        core::iter::successors(Some(filter), |filter| self.parents[*filter])
    }

    fn add(&mut self, index: usize, filter: &ExtractedFilter, filters: &[ExtractedFilter]) {
        let mut around = index.checked_sub(1);
        while let Some(outer) = around.filter(|outer| filters[*outer].nodes.end <= filter.nodes.start) {
            around = self.parents[outer];
        }
        self.parents.push(around);
        // What is in a group that is not seen is not seen either.
        let is_in_hidden = around.is_some_and(|outer| self.items_of(outer).is_none());
        let new = if is_in_hidden {
            Vec::new()
        } else {
            stages_of(index, filter)
        };
        let (first, count) = (self.stages.len(), new.len());
        let outside = around.and_then(|outer| self.items_of(outer));
        let depth = outside.map_or(1, |stage| self.stages[stage].depth + 1);
        for (i, stage) in new.into_iter().enumerate() {
            let is_last = i + 1 == count;
            self.stages.push(Stage {
                content: i.checked_sub(1).map_or(Content::Items, |i| Content::Stage(first + i)),
                parent: if is_last { outside } else { Some(first + i + 1) },
                depth: depth + (count - 1 - i) as u32,
                ..stage
            });
        }
        self.of_filter.push((first, first + count));
    }

    /// What has glass inside has a turn, and so has all around it.
    fn find_turns(&mut self, painted: &[Painted]) {
        for (index, _) in painted.iter().enumerate().filter(|(_, painted)| painted.has_glass) {
            for filter in self.around(index).collect::<Vec<_>>() {
                let (first, end) = self.of_filter[filter];
                self.stages[first..end]
                    .iter_mut()
                    .for_each(|stage| stage.has_turn = true);
            }
        }
    }

    fn find_bounds(&mut self, filters: &[ExtractedFilter], painted: &[Painted]) {
        for index in (0..filters.len()).rev() {
            let (first, end) = self.of_filter[index];
            if first == end {
                continue;
            }
            self.stages[first].bounds = joined(self.stages[first].bounds, painted[index].bounds);
            for stage in first + 1..end {
                self.stages[stage].bounds = self.stages[stage - 1].outer();
            }
            let outer = common(self.stages[end - 1].outer(), pixels(filters[index].clip));
            if let Some(parent) = self.stages[end - 1].parent {
                self.stages[parent].bounds = joined(self.stages[parent].bounds, outer);
            }
        }
    }

    fn look(&mut self, filters: &[ExtractedFilter], limit: u32) {
        for (index, filter) in filters.iter().enumerate() {
            let (first, end) = self.of_filter[index];
            let clip = pixels(filter.clip);
            for stage in (first..end).rev() {
                let visible = match self.stages[stage].parent {
                    Some(parent) => self.stages[parent].painted,
                    None => viewport(filter),
                };
                let visible = if stage + 1 == end {
                    common(visible, clip)
                } else {
                    visible
                };
                self.stages[stage].look_at(visible, limit as i32);
            }
        }
    }

    /// Finds places for the pictures of every depth.
    fn pack(&mut self, limit: u32) {
        let deepest = self.stages.iter().map(|stage| stage.depth).max().unwrap_or(0);
        for depth in 1..=deepest {
            let of_depth = |stage: &&mut Stage| stage.depth == depth && stage.is_seen();
            let stages: Vec<&mut Stage> = self.stages.iter_mut().filter(of_depth).collect();
            let size = |stage: &&mut Stage| stage.rect.size().as_uvec2() + 2 * BORDER;
            let sizes: Vec<UVec2> = stages.iter().map(size).collect();
            let packed = pack::pages(&sizes, limit);
            for (stage, (page, place)) in stages.into_iter().zip(packed.places) {
                (stage.page, stage.place) = (page, place + BORDER);
            }
            self.pages.push(packed.textures);
        }
    }
}

fn viewport(filter: &ExtractedFilter) -> IRect {
    let seen = filter.picture.seen();
    IRect {
        min: seen.min.as_ivec2() - filter.picture.viewport.min.as_ivec2(),
        max: seen.max.as_ivec2() - filter.picture.viewport.min.as_ivec2(),
    }
}
