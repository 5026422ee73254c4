//! Several plans as one, with their levels side by side on pages.
//!
//! The passes of different plans do not depend on each other, but each would be a pass of the GPU's with textures of its own.
//! So what the first pass of every plan writes lies on one page, what the second one writes on another, and so on. Then
//! the whole takes as many passes of the GPU's as its longest plan, no pass reads the page that it writes, and the textures
//! change with none of the plans.
//!
//! All that a pass knows of its source and target are whole texels, so moving a level to another place is arithmetic.
//! A level is also cut down to the texels that somebody reads in the end.

use super::BlurPlan;
use super::pass::{AxisPass, Filter, Pass, Surface};
use crate::settings::EdgeMode;
use bevy::math::{IVec2, URect, UVec2};
use core::array;
use core::cmp::Reverse;
use core::ops::Range;

/// A plan whose last step is left, and the texels of the picture for which somebody does that step.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// What is planned.
    pub plan: &'a BlurPlan,
    /// Not empty, and inside the plan's region.
    pub region: URect,
}

/// Puts plans together. What they leave comes in the order of the parts. No side of a page exceeds `limit` texels if no
/// level does.
#[must_use]
pub fn together(parts: &[Part], limit: u32) -> BlurPlan {
    let kept: Vec<Vec<URect>> = parts.iter().map(kept_texels).collect();
    let longest = kept.iter().map(Vec::len).max().unwrap_or(0);
    let mut places: Vec<Vec<Place>> = vec![Vec::new(); parts.len()];
    let mut whole = BlurPlan::default();
    for step in 0..longest {
        let sizes = kept.iter().map(|texels| texels.get(step).map(URect::size));
        let packed = pack(&sizes.flatten().collect::<Vec<UVec2>>(), limit);
        let first_page = whole.intermediates.len();
        let mut packed_places = packed.places.into_iter();
        let mut passes = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            let Some(texels) = kept[index].get(step) else {
                continue;
            };
            let (page, corner) = packed_places.next().unwrap_or_default();
            let place = Place {
                page: Surface::Intermediate(first_page + page),
                corner,
                texels: *texels,
            };
            passes.push(moved(&part.plan.passes[step], places[index].last(), &place));
            places[index].push(place);
        }
        passes.sort_by_key(|pass| (pass.target.index(), pass.program.computes(), pass.program));
        whole.intermediates.extend(packed.pages);
        whole.passes.extend(passes);
    }
    let left = parts.iter().zip(&places).flat_map(|(part, places)| {
        let left = part.plan.left.first()?;
        Some(Pass {
            origin: part.region.min,
            size: part.region.size(),
            ..read_from(left, places.last()?)
        })
    });
    whole.left = left.collect();
    whole
}

/// Where a level lies.
#[derive(Clone, Copy, Debug)]
struct Place {
    page: Surface,
    /// The texel of the page where it begins.
    corner: UVec2,
    /// Which texels of the level are there.
    texels: URect,
}

impl Place {
    /// What turns the level's own texels into the page's.
    fn shift(&self) -> IVec2 {
        self.corner.as_ivec2() - self.texels.min.as_ivec2()
    }
}

impl Surface {
    fn index(self) -> usize {
        match self {
            Self::Intermediate(index) => index,
            Self::Source | Self::Destination => 0,
        }
    }
}

/// The same pass between other places.
fn moved(pass: &Pass, source: Option<&Place>, target: &Place) -> Pass {
    let from = source.map_or_else(|| pass.clone(), |place| read_from(pass, place));
    let shift = target.shift();
    let axes = array::from_fn(|i| AxisPass {
        shift: from.axes[i].shift - shift[i] * from.axes[i].step,
        ..from.axes[i].clone()
    });
    Pass {
        target: target.page,
        origin: target.corner,
        size: target.texels.size(),
        axes,
        ..from
    }
}

/// The same pass out of another place.
fn read_from(pass: &Pass, source: &Place) -> Pass {
    let shift = source.shift();
    let axes = array::from_fn(|i| {
        let axis = pass.axes[i].clone();
        let (first, end) = (source.texels.min[i] as i32, source.texels.max[i] as i32);
        let positions = match axis.filter {
            // Positions are halves of texels of the picture.
            Filter::Spline => shift[i] << (axis.octaves + 1),
            Filter::Taps | Filter::Weights | Filter::Mean(_) => shift[i],
        };
        AxisPass {
            shift: axis.shift + positions,
            bounds: (axis.bounds.0.max(first) + shift[i], axis.bounds.1.min(end) + shift[i]),
            ..axis
        }
    });
    Pass {
        source: source.page,
        axes,
        ..pass.clone()
    }
}

/// For every pass the texels of its target that are read in the end.
fn kept_texels(part: &Part) -> Vec<URect> {
    let Some(left) = part.plan.left.first() else {
        return Vec::new();
    };
    let mut kept = Vec::with_capacity(part.plan.passes.len());
    let (mut reader, mut texels) = (left, part.region);
    for pass in part.plan.passes.iter().rev() {
        debug_assert_eq!(
            pass.target, reader.source,
            "every pass reads what the one before it wrote"
        );
        let read = |i: usize| reader.axes[i].read(texels.min[i] as i32..texels.max[i] as i32);
        let (x, y) = (read(0), read(1));
        texels = URect::new(x.start as u32, y.start as u32, x.end as u32, y.end as u32);
        kept.push(texels);
        reader = pass;
    }
    kept.reverse();
    kept
}

impl AxisPass {
    /// The texels inside the bounds that are read for these target texels.
    fn read(&self, targets: Range<i32>) -> Range<i32> {
        let (low, high) = self.bounds;
        let position = |target: i32| target * self.step + self.shift;
        let (first, last) = (position(targets.start), position(targets.end - 1));
        let (first, last) = match self.filter {
            Filter::Spline if self.octaves == 0 => (first >> 1, last >> 1),
            Filter::Spline => {
                let texel = |position: i32| position >> (self.octaves + 1);
                (texel(first) - 1, texel(last) + 2)
            }
            Filter::Taps | Filter::Weights => {
                let margin = self.images.map_or(0, |images| images.margin);
                (first + self.reach.0 - margin, last + self.reach.1 + margin)
            }
            Filter::Mean(_) => (low, high - 1),
        };
        let is_inside = first >= low && last < high;
        let may_fold = matches!(self.edge, EdgeMode::Mirror | EdgeMode::Wrap);
        // The normalisation counts from both ends.
        if self.normalize || may_fold && !is_inside {
            return low..high;
        }
        first.clamp(low, high - 1)..last.clamp(low, high - 1) + 1
    }
}

/// Rectangles in pages.
#[derive(Debug, Default)]
struct Packed {
    pages: Vec<UVec2>,
    /// The page of every rectangle, and its corner there.
    places: Vec<(usize, UVec2)>,
}

/// Packs rectangles in rows of falling height, into pages as square as they come, on as many as it takes.
fn pack(sizes: &[UVec2], limit: u32) -> Packed {
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|index| Reverse(sizes[*index].y));
    let widest = sizes.iter().map(|size| size.x).max().unwrap_or(0);
    let side = (sizes.iter().map(|size| area(*size)).sum::<u64>() as f64).sqrt() as u32;
    let width = rounded(side.max(widest)).min(limit.max(widest));
    let mut packed = Packed {
        pages: Vec::new(),
        places: vec![(0, UVec2::ZERO); sizes.len()],
    };
    let (mut corner, mut row_end) = (UVec2::ZERO, 0);
    for index in order {
        let size = sizes[index];
        if corner.x + size.x > width {
            corner = UVec2::new(0, row_end);
        }
        if packed.pages.is_empty() || corner.y + size.y > limit && corner != UVec2::ZERO {
            packed.pages.push(UVec2::ZERO);
            (corner, row_end) = (UVec2::ZERO, 0);
        }
        let page = packed.pages.len() - 1;
        packed.places[index] = (page, corner);
        row_end = row_end.max(corner.y + size.y);
        corner.x += size.x;
        packed.pages[page] = packed.pages[page].max(UVec2::new(corner.x, row_end));
    }
    let page_size = |size: &UVec2| UVec2::new(rounded(size.x), rounded(size.y)).min((*size).max(UVec2::splat(limit)));
    packed.pages = packed.pages.iter().map(page_size).collect();
    packed
}

/// Somewhat more, so that it stays what it is while sizes change a little: a multiple of an eighth to a quarter of itself.
fn rounded(side: u32) -> u32 {
    let step = (side.next_power_of_two() / 8).max(32);
    side.next_multiple_of(step)
}

fn area(size: UVec2) -> u64 {
    u64::from(size.x) * u64::from(size.y)
}
