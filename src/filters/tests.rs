//! Filters get the stages that they need, with pictures as large as needed, and distinct items.

use super::extract::{ExtractedFilter, PlacedProfile, Shadow};
use super::queue::items;
use super::rects::{NOWHERE, common, grown, within};
use super::stage::{Content, Layer, Stage};
use super::stages::{Arranged, Painted, arrange};
use crate::backdrop::extracted::Picture;
use crate::settings::{BlurProfile, ColorFunctions};
use bevy::math::{Affine2, IRect, IVec2, URect, UVec2, Vec2};
use bevy::prelude::Entity;
use core::ops::Range;
use proptest::prelude::*;

const SIZE: UVec2 = UVec2::new(400, 300);

/// A filter of these nodes that only fades.
fn filter(nodes: Range<u32>) -> ExtractedFilter {
    ExtractedFilter {
        entity: Entity::PLACEHOLDER,
        picture: Picture {
            camera: Entity::PLACEHOLDER,
            size: SIZE,
            viewport: URect::from_corners(UVec2::ZERO, SIZE),
            is_light: false,
            dithers: false,
        },
        nodes,
        clip: None,
        item: Entity::PLACEHOLDER,
        view: Entity::PLACEHOLDER,
        sigma: Vec2::ZERO,
        profile: None,
        functions: ColorFunctions::NEUTRAL,
        shadows: Vec::new(),
        opacity: 0.5,
    }
}

fn shadow(offset: i32, sigma: f32) -> Shadow {
    Shadow {
        offset: IVec2::splat(offset),
        sigma,
        color: [0.0, 0.0, 0.0, 1.0],
    }
}

fn painted(bounds: IRect) -> Painted {
    Painted {
        bounds,
        has_glass: false,
    }
}

fn of_one(filter: ExtractedFilter, bounds: IRect) -> Arranged {
    arrange(&[filter], &[painted(bounds)], 4096)
}

const BOX: IRect = IRect {
    min: IVec2::new(100, 80),
    max: IVec2::new(180, 140),
};

#[test]
fn parts_that_do_not_commute_have_stages_of_their_own() {
    let count = |filter: ExtractedFilter| of_one(filter, BOX).stages.len();
    let opaque = || ExtractedFilter {
        opacity: 1.0,
        ..filter(0..2)
    };
    let shadows = || vec![shadow(4, 2.0)];
    let soft = Vec2::splat(3.0);
    let profile = Some(PlacedProfile {
        profile: BlurProfile::Uniform,
        size: Vec2::ONE,
        placement: Affine2::IDENTITY,
    });
    assert_eq!(count(filter(0..2)), 1);
    assert_eq!(
        count(ExtractedFilter {
            sigma: soft,
            ..opaque()
        }),
        1
    );
    let both = ExtractedFilter {
        sigma: soft,
        shadows: shadows(),
        ..opaque()
    };
    assert_eq!(count(both.clone()), 1, "a shadow of a blur is a blur");
    let faded = ExtractedFilter {
        opacity: 0.5,
        ..both.clone()
    };
    assert_eq!(count(faded.clone()), 2, "shadows do not show through");
    assert_eq!(
        count(ExtractedFilter {
            profile: profile.clone(),
            ..both
        }),
        2
    );
    assert_eq!(count(ExtractedFilter { profile, ..faded }), 3);
    let unseen = ExtractedFilter {
        opacity: 0.0,
        ..filter(0..2)
    };
    assert_eq!(count(unseen), 0);
}

/// Glass gives a turn to its group and to all around it, and to no other.
#[test]
fn turns_reach_outwards() {
    let filters = [filter(0..9), filter(1..5), filter(2..3), filter(3..4), filter(6..8)];
    let with_glass = Painted {
        bounds: BOX,
        has_glass: true,
    };
    let painted = [painted(BOX), painted(BOX), painted(BOX), with_glass, painted(BOX)];
    let arranged = arrange(&filters, &painted, 4096);
    assert_eq!(arranged.parents, [None, Some(0), Some(1), Some(1), Some(0)]);
    let turns: Vec<bool> = (0..5).map(|filter| arranged.has_turn(filter)).collect();
    assert_eq!(turns, [true, true, false, true, false]);
    assert_eq!(arranged.around(3).collect::<Vec<_>>(), [3, 1, 0]);
}

proptest! {
    /// A picture holds everything that is painted and can reach visible pixels, and its layers paint nothing beyond their reach. No
    /// two pictures of a page overlap, and none is larger than a texture may be, even if the viewport is as large as that.
    #[test]
    fn pictures_hold_what_is_seen(
        places in proptest::collection::vec(([-200_i32..500, -200_i32..400], [0_i32..300, 0_i32..300], 0.0_f32..30.0, -40_i32..40), 1..6),
        is_nested in any::<bool>(),
        limit in prop_oneof![Just(512), 400..404_i32],
    ) {
        let count = places.len() as u32;
        let nodes = |index: u32| if is_nested { index..2 * count - index } else { 2 * index..2 * index + 1 };
        let filters: Vec<ExtractedFilter> = (0..count)
            .zip(&places)
            .map(|(index, (_, _, sigma, offset))| ExtractedFilter {
                sigma: Vec2::splat(*sigma),
                shadows: vec![shadow(*offset, 1.0)],
                ..filter(nodes(index))
            })
            .collect();
        let bounds = |(min, size): (&[i32; 2], &[i32; 2])| {
            let min = IVec2::from(*min);
            painted(IRect { min, max: min + IVec2::from(*size) })
        };
        let all: Vec<Painted> = places.iter().map(|(min, size, ..)| bounds((min, size))).collect();
        let arranged = arrange(&filters, &all, limit as u32);
        let viewport = IRect { min: IVec2::ZERO, max: SIZE.as_ivec2() };
        for stage in arranged.stages.iter().filter(|stage| stage.is_seen()) {
            for layer in &stage.layers {
                let from = IRect { min: layer.shown.min - layer.offset, max: layer.shown.max - layer.offset };
                // A blur paints more texels than it reads, but none beyond its reach.
                let readable = if layer.blurs() { grown(stage.rect, layer.reach()) } else { stage.rect };
                prop_assert!(layer.shown.is_empty() || common(from, readable) == from, "{layer:?} of {stage:?}");
                let blurred = from.min + stage.to_blurred();
                prop_assert!(layer.shown.is_empty() || blurred.cmpgt(IVec2::ZERO).all(), "{layer:?} of {stage:?}");
            }
            let page = arranged.pages[stage.depth as usize - 1][stage.page];
            let end = stage.place + stage.rect.size().as_uvec2();
            prop_assert!(end.cmple(page).all() && page.max_element() <= limit as u32, "{stage:?} on {page}");
            let others = arranged.stages.iter().filter(|other| {
                other.is_seen() && (other.depth, other.page) == (stage.depth, stage.page) && !core::ptr::eq(*other, stage)
            });
            let texels = |stage: &Stage| {
                let min = stage.place.as_ivec2();
                IRect { min, max: min + stage.rect.size() }
            };
            for other in others {
                let border = grown(texels(other), IVec2::ONE);
                prop_assert!(common(texels(stage), border) == NOWHERE, "{stage:?} and {other:?}");
                let is_shared = (stage.frame, stage.to_page()) == (other.frame, other.to_page());
                let of_frame = stage.canvas();
                let frame = within(of_frame.origin + of_frame.to_texel, of_frame.size.as_ivec2());
                prop_assert!(is_shared || common(frame, border) == NOWHERE, "{stage:?} and {other:?}");
            }
            prop_assert!(common(stage.frame, stage.rect) == stage.rect, "{stage:?}");
            if stage.content == Content::Items && !is_nested {
                let reach = stage.layers.last().map_or(IVec2::ZERO, Layer::reach);
                let needed = common(all[stage.filter].bounds, grown(viewport, reach));
                let is_cut = grown(all[stage.filter].bounds, reach).size().max_element() > limit - 112;
                prop_assert!(is_cut || common(needed, stage.rect) == needed, "{needed:?} of {stage:?}");
            }
        }
    }
}

/// Icons side by side keep their relative positions on the page, so that one view serves them.
#[test]
fn pictures_close_together_share_a_frame() {
    let frames = |pitch: i32, glass: Option<usize>| {
        let count = 40;
        let filters: Vec<ExtractedFilter> = (0..count).map(|index| filter(index..index + 1)).collect();
        let bounds = |index: i32| within(IVec2::new(index % 8, index / 8) * pitch, IVec2::splat(20));
        let all: Vec<Painted> = (0..count as usize)
            .map(|index| Painted {
                bounds: bounds(index as i32),
                has_glass: glass == Some(index),
            })
            .collect();
        let arranged = arrange(&filters, &all, 512);
        let views: Vec<usize> = arranged.stages.iter().map(|stage| stage.view).collect();
        views
            .chunk_by(|one, other| one == other)
            .map(<[usize]>::len)
            .collect::<Vec<_>>()
    };
    assert_eq!(frames(21, None), [32, 8]);
    assert_eq!(frames(20, None), [1; 40], "a transparent texel must be between them");
    assert_eq!(frames(41, None), [8; 5], "too much is between rows");
    assert_eq!(frames(80, None), [1; 40], "too much is between them");
    assert_eq!(frames(21, Some(3)), [3, 1, 29, 7], "glass has a turn of its own");
}

/// The worlds number their entities separately, so a node and its entities in the render world may have the same number.
#[test]
fn items_of_groups_are_distinct() {
    let numbers = || 0..3u32;
    for (entity, item, view) in numbers().flat_map(|entity| numbers().map(move |item| (entity, item, (item + 1) % 3))) {
        let [entity, item, view] = [entity, item, view].map(Entity::from_raw_u32).map(Option::unwrap);
        let filter = ExtractedFilter {
            entity,
            item,
            view,
            ..filter(2..5)
        };
        let all: Vec<_> = items(&[filter]).map(|(_, entities, _)| entities).collect();
        assert!(
            all.len() == 3 && all[0] != all[1] && all[1] != all[2] && all[2] != all[0],
            "{all:?}"
        );
    }
}

/// Groups that begin or end at the same place share one mark.
#[test]
fn there_is_one_mark_at_a_place() {
    let count = |nodes: &[(u32, u32)]| {
        let filters: Vec<ExtractedFilter> = nodes.iter().map(|(start, end)| filter(*start..*end)).collect();
        items(&filters).count() - filters.len()
    };
    assert_eq!(count(&[(0, 1)]), 2);
    assert_eq!(count(&[(0, 1), (1, 2), (2, 3)]), 4, "side by side");
    assert_eq!(count(&[(0, 9), (4, 9)]), 3, "two end together");
    assert_eq!(count(&[(0, 9), (2, 4), (5, 6)]), 6, "apart");
    let keys: Vec<f32> = items(&[filter(0..9), filter(2..9)]).map(|(key, ..)| key).collect();
    let around = filter(0..9).keys();
    assert!(
        around.contains(&keys[0]) && around.contains(&keys[1]) && around.end <= keys[2],
        "{keys:?}"
    );
}
