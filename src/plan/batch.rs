//! Several plans as one, with their levels side by side on pages.
//!
//! The passes of different plans are independent, but each would be a separate GPU pass with its own textures. So the
//! first passes of all plans write to one page, the second ones to another, and so on. The batch then takes as many GPU
//! passes as its longest plan, no pass reads the page that it writes, and no texture belongs to a single plan.
//!
//! A pass addresses whole texels of its source and target, so moving a level only changes offsets. A level is also cut
//! down to the texels that later steps read and, if the picture is transparent around a patch, to the texels that
//! the patch reaches, with a border of zeros. Reads beyond that border are clamped to it.
//!
//! Plans that compute the same texels of the same source share them: the blur, the shadows and the glow of one group go down
//! the same levels, and only the convolutions of the lowest ones differ.

use super::BlurPlan;
use super::pack;
use super::pass::{AxisPass, Pass, TextureSlot, Weighting, beyond};
use crate::settings::EdgeMode;
use bevy::math::{IRect, IVec2, URect, UVec2, Vec2};
use core::ops::Range;

/// A blur of a part of a picture, whose last step is deferred.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BatchedBlur {
    /// The standard deviations along x and y, in texels. Where both are too small, this is a copy.
    pub sigma: Vec2,
    /// How far the result is moved ([`BlurPlan::shifted`]).
    pub shift: Vec2,
    /// What lies beyond the bounds.
    pub edge: EdgeMode,
    /// The texels that may be read.
    pub bounds: URect,
    /// The texels for which the last step will run: not empty, and inside the bounds.
    pub region: URect,
    /// The offset from a texel of the picture to the same texel of the source. All rectangles count texels of the picture.
    pub to_source: IVec2,
    /// The only texels that are not transparent, if the edge is transparent: not empty, and inside the bounds. Beyond them and their
    /// border the source may hold anything.
    pub patch: Option<URect>,
    /// How many transparent texels the source has around the patch: 1, or 0 if it has no room for them, which costs more.
    pub border: u32,
}

/// Merges the plans of blurs. Their deferred steps come in the order of the blurs. No side of a page exceeds `limit` texels
/// unless a level does.
pub fn together(items: &[BatchedBlur], plans: &[BlurPlan], limit: u32) -> BlurPlan {
    let both = || items.iter().zip(plans);
    let stored: Vec<Vec<Stored>> = both().map(|(item, plan)| stored_texels(item, plan)).collect();
    let longest = stored.iter().map(Vec::len).max().unwrap_or(0);
    let mut places: Vec<Option<Place>> = vec![None; items.len()];
    let mut whole = BlurPlan::default();
    for step in 0..longest {
        let mut levels: Vec<SharedLevel> = Vec::new();
        for (index, (item, plan)) in both().enumerate() {
            let Some((texels, reads_zeros)) = stored[index].get(step) else {
                continue;
            };
            let pass = from_place(&plan.passes[step], places[index].as_ref());
            let pass = if step == 0 { read_by(item, pass) } else { pass };
            SharedLevel::add(&mut levels, index, clamped(pass, *reads_zeros), texels.as_irect());
        }
        let sizes: Vec<UVec2> = levels.iter().map(|level| level.texels.size().as_uvec2()).collect();
        let packed = pack::pages(&sizes, limit);
        let first_page = whole.intermediates.len();
        let mut passes = Vec::new();
        for (level, (page, corner)) in levels.into_iter().zip(packed.places) {
            let place = Place {
                page: TextureSlot::Intermediate(first_page + page),
                corner,
                texels: level.texels,
            };
            passes.push(to_place(level.pass, &place));
            for (index, offset) in level.items {
                let texels = moved(level.texels, -offset);
                places[index] = Some(Place { texels, ..place });
            }
        }
        passes.sort_by_key(|pass| (pass.target, pass.program.computes(), pass.program));
        whole.intermediates.extend(packed.textures);
        whole.passes.extend(passes);
    }
    let deferred = both().zip(&places).flat_map(|((item, plan), place)| {
        Some(Pass {
            origin: item.region.min,
            size: item.region.size(),
            ..from_place(plan.deferred.first()?, Some(place.as_ref()?))
        })
    });
    whole.deferred = deferred.collect();
    whole
}

/// A level, for every item whose plan computes it.
struct SharedLevel {
    /// The pass that writes it, in the texels of the first item.
    pass: Pass,
    /// What is stored of it.
    texels: IRect,
    /// The items, and the offset from a texel of an item to the same texel of the first one.
    items: Vec<(usize, IVec2)>,
}

impl SharedLevel {
    /// Adds these texels of an item's level to the levels of a step: to the same level of another item, unless that would store more
    /// texels than two levels.
    fn add(levels: &mut Vec<Self>, item: usize, pass: Pass, texels: IRect) {
        let area = |texels: IRect| i64::from(texels.width()) * i64::from(texels.height());
        let shared = levels.iter_mut().find_map(|level| {
            let offset = level.pass.offset_from(&pass)?;
            let moved = moved(texels, offset);
            let all = level.texels.union(moved);
            let is_shared = area(all) <= area(level.texels) + area(moved) && level.pass.computes_as(&pass);
            is_shared.then_some((level, offset, all))
        });
        match shared {
            Some((level, offset, all)) => {
                level.texels = all;
                level.items.push((item, offset));
            }
            None => levels.push(Self {
                pass,
                texels,
                items: vec![(item, IVec2::ZERO)],
            }),
        }
    }
}

impl Pass {
    /// The offset from a target texel of another pass to the target texel of this pass that lies at the same place of the source, if
    /// both have the same grid.
    fn offset_from(&self, other: &Self) -> Option<IVec2> {
        let along = |i: usize| {
            let (axis, other) = (&self.axes[i], &other.axes[i]);
            let offset = other.shift.checked_sub(axis.shift)?;
            (axis.step == other.step && offset % axis.step == 0).then(|| offset / axis.step)
        };
        (self.source == other.source).then_some(())?;
        Some(IVec2::new(along(0)?, along(1)?))
    }

    /// Whether it computes the same as another pass with its grid, wherever both write it.
    fn computes_as(&self, other: &Self) -> bool {
        let is_alike = |i: usize| {
            let [one, other] = [&self.axes[i], &other.axes[i]].map(|axis| {
                let weights = (axis.filter, axis.reach, axis.images, &axis.table);
                (axis.bounds, axis.edge, axis.normalize, axis.octaves, weights)
            });
            one == other
        };
        self.program == other.program && is_alike(0) && is_alike(1)
    }
}

/// The place of a level, as an item sees it.
#[derive(Clone, Copy, Debug)]
struct Place {
    page: TextureSlot,
    /// The texel of the page where it begins.
    corner: UVec2,
    /// The texels of the level that are stored.
    texels: IRect,
}

impl Place {
    /// The shift from the level's own texels to the page's.
    fn shift(&self) -> IVec2 {
        self.corner.as_ivec2() - self.texels.min
    }
}

fn moved(texels: IRect, by: IVec2) -> IRect {
    IRect {
        min: texels.min + by,
        max: texels.max + by,
    }
}

/// The same pass with its source in this place, if it is not the picture.
fn from_place(pass: &Pass, place: Option<&Place>) -> Pass {
    let Some(place) = place else {
        return pass.clone();
    };
    let shift = place.shift();
    let axis = |i: usize| {
        let mut axis = pass.axes[i].clone();
        let (low, high) = (place.texels.min[i], place.texels.max[i]);
        axis.bounds = (axis.bounds.0.max(low), axis.bounds.1.min(high));
        axis.moved(shift[i], 0)
    };
    Pass {
        source: place.page,
        axes: [axis(0), axis(1)],
        ..pass.clone()
    }
}

/// The same pass with its target in this place.
fn to_place(pass: Pass, place: &Place) -> Pass {
    let (shift, [x, y]) = (place.shift(), pass.axes);
    Pass {
        target: place.page,
        origin: place.corner,
        size: place.texels.size().as_uvec2(),
        axes: [x.moved(0, shift.x), y.moved(0, shift.y)],
        ..pass
    }
}

/// The texels of its target that a pass stores, and whether the outermost texels of its source are zero, along x and y.
type Stored = (URect, [bool; 2]);

/// The stored texels of every pass: the needed ones, cut down to the texels that the patch reaches and a border of one
/// texel.
fn stored_texels(item: &BatchedBlur, plan: &BlurPlan) -> Vec<Stored> {
    let needed = needed_texels(item, plan);
    // The deferred step reads the last level with a spline, which does not clamp.
    let last = needed.len().saturating_sub(1);
    // The texels of a pass' source that can be non-zero, and all that it stores, along x and y.
    let mut filled = item.patch.map_or([None, None], |patch| ranges(patch).map(Some));
    let mut source = filled
        .clone()
        .map(|filled| filled.map_or(0..0, |filled| grown(filled, item.border)));
    let mut all = Vec::with_capacity(needed.len());
    for (index, (pass, needed)) in plan.passes.iter().zip(needed).enumerate() {
        let reads_zeros = [0, 1].map(|i| {
            filled[i]
                .as_ref()
                .is_some_and(|filled| ends_in_zeros(&source[i], filled))
        });
        let is_known = |i: usize| filled[i].clone().filter(|_| reads_zeros[i]);
        filled = [0, 1].map(|i| is_known(i).map(|filled| pass.axes[i].reached(filled)));
        source = ranges(needed);
        if index < last {
            source = [0, 1].map(|i| cut(source[i].clone(), filled[i].clone()));
        }
        let texels = texels_of(&source);
        all.push((texels, reads_zeros));
    }
    all
}

fn ranges(texels: URect) -> [Range<i32>; 2] {
    [0, 1].map(|i| texels.min[i] as i32..texels.max[i] as i32)
}

fn texels_of([x, y]: &[Range<i32>; 2]) -> URect {
    URect::new(x.start as u32, y.start as u32, x.end as u32, y.end as u32)
}

/// With more texels at either end.
fn grown(texels: Range<i32>, by: u32) -> Range<i32> {
    texels.start - by as i32..texels.end + by as i32
}

/// Whether the outermost texels are zero, if only some are filled: those extend beyond the filled ones on both sides, or lie
/// elsewhere.
fn ends_in_zeros(all: &Range<i32>, filled: &Range<i32>) -> bool {
    let surrounds = all.start < filled.start && filled.end < all.end;
    surrounds || all.end <= filled.start || filled.end <= all.start
}

/// The needed texels that are filled, if that is known, with one more at either end. At least one texel.
fn cut(needed: Range<i32>, filled: Option<Range<i32>>) -> Range<i32> {
    let Some(filled) = filled.map(|filled| grown(filled, 1)) else {
        return needed;
    };
    let start = filled.start.clamp(needed.start, needed.end - 1);
    start..filled.end.clamp(start + 1, needed.end)
}

/// Makes a pass that reads the picture read the source of an item.
fn read_by(item: &BatchedBlur, mut pass: Pass) -> Pass {
    let borders = item
        .patch
        .map(|patch| ranges(patch).map(|texels| grown(texels, item.border)));
    pass.axes = [0, 1].map(|i| {
        let mut axis = pass.axes[i].clone();
        if let Some(borders) = &borders {
            axis.bounds = (borders[i].start, borders[i].end);
        }
        axis.moved(item.to_source[i], 0)
    });
    pass
}

/// Clamps reads where the outermost texels of the source are zero: the cheapest way to read zeros beyond them.
fn clamped(mut pass: Pass, reads_zeros: [bool; 2]) -> Pass {
    for (axis, reads_zeros) in pass.axes.iter_mut().zip(reads_zeros) {
        if reads_zeros {
            axis.edge = EdgeMode::Clamp;
        }
    }
    let program = pass.program.finding(beyond(&pass.axes));
    Pass { program, ..pass }
}

/// The texels of every pass' target that later steps read.
fn needed_texels(item: &BatchedBlur, plan: &BlurPlan) -> Vec<URect> {
    let Some(deferred) = plan.deferred.first() else {
        return Vec::new();
    };
    let mut needed = Vec::with_capacity(plan.passes.len());
    let (mut reader, mut texels) = (deferred, item.region);
    for pass in plan.passes.iter().rev() {
        debug_assert_eq!(
            pass.target, reader.source,
            "every pass reads what the one before it wrote"
        );
        let targets = ranges(texels);
        let read = |i: usize| reader.axes[i].read(targets[i].clone());
        texels = texels_of(&[read(0), read(1)]);
        needed.push(texels);
        reader = pass;
    }
    needed.reverse();
    needed
}

impl AxisPass {
    /// The target texels that read any of these.
    fn reached(&self, texels: Range<i32>) -> Range<i32> {
        match self.filter {
            Weighting::Taps | Weighting::Weights => {
                let first = texels.start - self.shift - self.reach.1;
                let last = texels.end - 1 - self.shift - self.reach.0;
                -(-first).div_euclid(self.step)..last.div_euclid(self.step) + 1
            }
            Weighting::Spline | Weighting::Mean(_) => i32::MIN..i32::MAX,
        }
    }

    /// The texels inside the bounds that are read for these target texels.
    fn read(&self, targets: Range<i32>) -> Range<i32> {
        let (low, high) = self.bounds;
        let position = |target: i32| target * self.step + self.shift;
        let (first, last) = (position(targets.start), position(targets.end - 1));
        let (first, last) = match self.filter {
            Weighting::Spline if self.octaves == 0 => (first >> 1, last >> 1),
            Weighting::Spline => {
                let texel = |position: i32| position >> (self.octaves + 1);
                (texel(first) - 1 + self.reach.0, texel(last) + 2 + self.reach.1)
            }
            Weighting::Taps | Weighting::Weights => {
                let margin = self.images.map_or(0, |images| images.margin);
                (first + self.reach.0 - margin, last + self.reach.1 + margin)
            }
            Weighting::Mean(_) => (low, high - 1),
        };
        let is_inside = first >= low && last < high;
        // Normalisation and folding depend on both ends of the bounds.
        if self.normalize || self.edge.is_periodic() && !is_inside {
            return low..high;
        }
        first.clamp(low, high - 1)..last.clamp(low, high - 1) + 1
    }
}
