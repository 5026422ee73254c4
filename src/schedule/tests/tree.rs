//! Filters get the surfaces that they need, as large as needed.

use super::super::layer::{Layer, Shadow};
use super::super::rects::{NOWHERE, common, grown, within};
use super::super::scene::{Filter, Item, Picture, Scene, What};
use super::super::tree::{Surface, SurfaceTree};
use crate::settings::BlurProfile;
use crate::sigma_field::SigmaField;
use bevy::color::LinearRgba;
use bevy::math::{Affine2, FloatOrd, IRect, IVec2, URect, UVec2, Vec2};
use bevy::prelude::Entity;
use core::ops::Range;
use proptest::prelude::*;

const SIZE: UVec2 = UVec2::new(400, 300);

const PICTURE: Picture = Picture {
    camera: Entity::PLACEHOLDER,
    size: SIZE,
    viewport: URect {
        min: UVec2::ZERO,
        max: SIZE,
    },
    is_light: false,
    dithers: false,
};

/// A filter of these nodes that only fades.
fn filter(nodes: Range<u32>) -> Filter {
    Filter {
        node: nodes.start,
        nodes,
        opacity: 0.5,
        ..Filter::neutral(Entity::PLACEHOLDER)
    }
}

fn shadow(offset: i32, sigma: f32) -> Shadow {
    Shadow {
        offset: Vec2::splat(offset as f32),
        sigma: Vec2::splat(sigma),
        color: LinearRgba::new(0.0, 0.0, 0.0, 1.0),
        is_glow: false,
        width: 0.0,
        is_inset: false,
    }
}

/// The surfaces of filters, in each of which one item is painted. Those in `with_glass` contain glass.
fn arrange(filters: &[Filter], painted: &[IRect], with_glass: &[usize], limit: u32) -> SurfaceTree {
    let items = filters.iter().zip(painted).map(|(filter, bounds)| Item {
        key: FloatOrd(filter.nodes.start as f32),
        bounds: Some(bounds.as_rect()),
        what: What::Other,
    });
    let mut items: Vec<Item> = items.collect();
    items.sort_by_key(|item| item.key);
    let mut tree = SurfaceTree::new(&Scene {
        picture: PICTURE,
        limit,
        is_flat: false,
        items: &items,
        backdrops: &[],
        filters,
    });
    for filter in with_glass {
        let surface = tree.items_of(*filter).expect("it is visible");
        tree.give_turn(surface);
    }
    tree.pack(limit);
    tree
}

fn of_one(filter: Filter, bounds: IRect) -> SurfaceTree {
    arrange(&[filter], &[bounds], &[], 4096)
}

const BOX: IRect = IRect {
    min: IVec2::new(100, 80),
    max: IVec2::new(180, 140),
};

#[test]
fn parts_that_do_not_commute_have_stages_of_their_own() {
    let count = |filter: Filter| of_one(filter, BOX).surfaces.len() - 1;
    let opaque = || Filter {
        opacity: 1.0,
        ..filter(0..2)
    };
    let shadows = || vec![shadow(4, 2.0)];
    let soft = Vec2::splat(3.0);
    let field = Some(SigmaField {
        profile: BlurProfile::Uniform,
        mask: None,
        size: Vec2::ONE,
        placement: Affine2::IDENTITY,
    });
    assert_eq!(count(filter(0..2)), 1);
    assert_eq!(
        count(Filter {
            sigma: soft,
            ..opaque()
        }),
        1
    );
    let both = Filter {
        sigma: soft,
        shadows: shadows(),
        ..opaque()
    };
    assert_eq!(count(both.clone()), 1, "a shadow of a blur is a blur");
    let faded = Filter {
        opacity: 0.5,
        ..both.clone()
    };
    assert_eq!(count(faded.clone()), 2, "shadows do not show through");
    assert_eq!(
        count(Filter {
            field: field.clone(),
            ..both
        }),
        2
    );
    assert_eq!(count(Filter { field, ..faded }), 3);
    let unseen = Filter {
        opacity: 0.0,
        ..filter(0..2)
    };
    assert_eq!(count(unseen), 0);
}

/// Glass gives a turn to its group and to all around it, and to no other.
#[test]
fn turns_reach_outwards() {
    let filters = [filter(0..9), filter(1..5), filter(2..3), filter(3..4), filter(6..8)];
    let tree = arrange(&filters, &[BOX; 5], &[3], 4096);
    let outer: Vec<Option<usize>> = (0..5).map(|filter| tree.around(filter).nth(1)).collect();
    assert_eq!(outer, [None, Some(0), Some(1), Some(1), Some(0)]);
    let has_turn = |filter| {
        tree.items_of(filter)
            .is_some_and(|surface| tree.surface(surface).has_turn)
    };
    let turns: Vec<bool> = (0..5).map(has_turn).collect();
    assert_eq!(turns, [true, true, false, true, false]);
    assert_eq!(tree.around(3).collect::<Vec<_>>(), [3, 1, 0]);
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
        let filters: Vec<Filter> = (0..count)
            .zip(&places)
            .map(|(index, (_, _, sigma, offset))| Filter {
                sigma: Vec2::splat(*sigma),
                shadows: vec![shadow(*offset, 1.0)],
                ..filter(nodes(index))
            })
            .collect();
        let bounds = |(min, size): (&[i32; 2], &[i32; 2])| {
            let min = IVec2::from(*min);
            IRect { min, max: min + IVec2::from(*size) }
        };
        let all: Vec<IRect> = places.iter().map(|(min, size, ..)| bounds((min, size))).collect();
        let tree = arrange(&filters, &all, &[], limit as u32);
        let viewport = IRect { min: IVec2::ZERO, max: SIZE.as_ivec2() };
        for surface in tree.surfaces[1..].iter().filter(|surface| surface.is_seen()) {
            for layer in &tree.layers[surface.layers.clone()] {
                let from = IRect { min: layer.shown.min - layer.offset, max: layer.shown.max - layer.offset };
                // A blur paints more texels than it reads, but none beyond its reach.
                let readable = if layer.blurs() { grown(surface.rect, layer.reach()) } else { surface.rect };
                prop_assert!(layer.shown.is_empty() || common(from, readable) == from, "{layer:?} of {surface:?}");
                let blurred = from.min + surface.to_blurred(layer);
                prop_assert!(layer.shown.is_empty() || blurred.cmpgt(IVec2::ZERO).all(), "{layer:?} of {surface:?}");
            }
            let page = tree.pages[surface.depth as usize - 1][surface.page];
            let end = surface.place + surface.rect.size().as_uvec2();
            prop_assert!(end.cmple(page).all() && page.max_element() <= limit as u32, "{surface:?} on {page}");
            let others = tree.surfaces[1..].iter().filter(|other| {
                other.is_seen() && (other.depth, other.page) == (surface.depth, surface.page) && !core::ptr::eq(*other, surface)
            });
            let texels = |surface: &Surface| {
                let min = surface.place.as_ivec2();
                IRect { min, max: min + surface.rect.size() }
            };
            for other in others {
                // A picture as large as a texture has none, and its blur reads nothing beyond it.
                let border = grown(texels(other), IVec2::splat(other.border as i32));
                prop_assert!(common(texels(surface), border) == NOWHERE, "{surface:?} and {other:?}");
                let is_shared = (surface.frame, surface.to_page()) == (other.frame, other.to_page());
                let of_frame = surface.canvas();
                let frame = within(of_frame.origin + of_frame.to_texel, of_frame.size.as_ivec2());
                prop_assert!(is_shared || common(frame, border) == NOWHERE, "{surface:?} and {other:?}");
            }
            prop_assert!(common(surface.frame, surface.rect) == surface.rect, "{surface:?}");
            if surface.content.is_none() && !is_nested {
                let reach = tree.layers[surface.layers.clone()].last().map_or(IVec2::ZERO, Layer::reach);
                let needed = common(all[surface.filter], grown(viewport, reach));
                let is_cut = grown(all[surface.filter], reach).size().max_element() > limit - 112;
                prop_assert!(is_cut || common(needed, surface.rect) == needed, "{needed:?} of {surface:?}");
            }
        }
    }
}

/// Icons side by side keep their relative positions on the page, so that one view serves them.
#[test]
fn pictures_close_together_share_a_frame() {
    let frames = |pitch: i32, glass: &[usize]| {
        let count = 40;
        let filters: Vec<Filter> = (0..count).map(|index| filter(index..index + 1)).collect();
        let bounds = |index: i32| within(IVec2::new(index % 8, index / 8) * pitch, IVec2::splat(20));
        let all: Vec<IRect> = (0..count as i32).map(bounds).collect();
        let tree = arrange(&filters, &all, glass, 512);
        let seen = tree.surfaces[1..].iter().filter(|surface| surface.is_seen());
        let views: Vec<usize> = seen.map(|surface| surface.view).collect();
        views
            .chunk_by(|one, other| one == other)
            .map(<[usize]>::len)
            .collect::<Vec<_>>()
    };
    assert_eq!(frames(21, &[]), [32, 8]);
    assert_eq!(frames(20, &[]), [1; 40], "a transparent texel must be between them");
    assert_eq!(frames(41, &[]), [8; 5], "too much is between rows");
    assert_eq!(frames(80, &[]), [1; 20], "too much is between them");
    assert_eq!(frames(21, &[3]), [3, 1, 29, 7], "glass has a turn of its own");
}
