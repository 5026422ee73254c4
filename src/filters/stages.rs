//! Decides what is painted on which page, and what is blurred there. Plain values.
//!
//! A filter has one or more *stages*. The picture of a stage shows the items of the group, or the result of the previous stage. The
//! stage paints *layers* of this picture, one over the other: shadows, and the picture itself, each with its own sigma. One stage
//! is enough for most filters, because the shadow of a blurred picture is itself a blur, with the sum of both variances. Filters
//! whose parts do not commute need more:
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

use super::extract::ExtractedFilter;
use super::frames::{Frame, frames};
use super::rects::{common, joined, pixels};
use super::stage::{BORDER, Content, Layer, Stage};
use crate::backdrop::extracted::Picture;
use crate::plan::{blurs, pack};
use bevy::math::{IRect, UVec2, Vec2};

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

/// What the items of a group paint, without inner groups.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Painted {
    /// The pixels in which they may paint.
    pub bounds: IRect,
    /// Whether any of them is glass.
    pub has_glass: bool,
}

/// Arranges the filters of one camera, given in stacking order with what each one's items paint. No side of a page exceeds
/// `limit`.
#[must_use]
pub fn arrange(filters: &[ExtractedFilter], painted: &[Painted], limit: u32) -> Arranged {
    let mut arranged = Arranged {
        stages: Vec::with_capacity(filters.len()),
        of_filter: Vec::with_capacity(filters.len()),
        parents: Vec::with_capacity(filters.len()),
        pages: Vec::new(),
    };
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
    /// The stages of every filter: the first, and one past the last.
    pub of_filter: Vec<(usize, usize)>,
    /// The innermost filter around every filter.
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

    /// Whether the result of a filter is visible.
    pub fn is_seen(&self, filter: usize) -> bool {
        self.result_of(filter).is_some_and(|stage| self.stages[stage].is_seen())
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
        // A group inside an invisible group is invisible, too.
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

    /// Groups that contain glass have a turn, and so do all groups around them.
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
                    None => viewport(&filter.picture),
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
            let stages = self.stages.iter().enumerate();
            let of_depth = stages.filter(|(_, stage)| stage.depth == depth && stage.is_seen());
            let of_depth: Vec<usize> = of_depth.map(|(index, _)| index).collect();
            let (frames, of_stage) = frames(&self.stages, &of_depth, limit);
            let sizes: Vec<UVec2> = frames.iter().map(Frame::size).collect();
            let packed = pack::pages(&sizes, limit);
            for (index, frame) in of_depth.into_iter().zip(of_stage) {
                let (page, place) = packed.places[frame];
                let Frame { rect, first, .. } = frames[frame];
                let view = self.stages[first].filter;
                let stage = &mut self.stages[index];
                (stage.page, stage.frame, stage.view) = (page, rect, view);
                stage.place = place + BORDER + (stage.rect.min - rect.min).as_uvec2();
            }
            self.pages.push(packed.textures);
        }
    }
}

/// The visible pixels of a camera's viewport.
pub fn viewport(picture: &Picture) -> IRect {
    let (seen, first) = (picture.seen(), picture.viewport.min.as_ivec2());
    IRect {
        min: seen.min.as_ivec2() - first,
        max: seen.max.as_ivec2() - first,
    }
}
