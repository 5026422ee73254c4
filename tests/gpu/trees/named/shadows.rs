//! Shadows inside of groups, and shadows that move by parts of a pixel.

use super::{Named, assert_shown, colored, plain, rounded, scaled};
use crate::backdrop::stage::{HDR, LDR};
use crate::support::reference::Step;
use crate::support::reference::tree::{Filter, Node, Shadow, Tree};

fn shadow(offset: [f64; 2], sigma: f64) -> Shadow {
    Shadow {
        offset,
        sigma: [sigma; 2],
        color: [0.02, 0.0, 0.1, 0.8],
        is_glow: false,
        is_inset: false,
    }
}

fn inset(offset: [f64; 2], sigma: f64) -> Shadow {
    Shadow {
        is_inset: true,
        ..shadow(offset, sigma)
    }
}

fn with(shadows: impl Into<Vec<Shadow>>) -> Filter {
    Filter {
        shadows: shadows.into(),
        ..Filter::NEUTRAL
    }
}

/// Stripes, and over them a group of a rounded card and a box beyond it that is not opaque, after a change.
fn card(filter: Filter, change: impl Fn(Node) -> Node) -> Tree {
    let stripe = |index: usize| plain([index as f64 * 12.0, 0.0, 6.0, 64.0], [0.9, 0.5, 0.1, 1.0]);
    let card = Node {
        filter: Some(filter),
        children: vec![
            plain([6.0, 5.0, 14.0, 9.0], [0.9, 0.1, 0.1, 1.0]),
            plain([30.0, 20.0, 24.0, 18.0], [0.2, 0.6, 0.9, 0.5]),
        ],
        ..plain([22.0, 13.0, 44.0, 30.0], [0.8, 0.9, 0.8, 1.0])
    };
    Tree {
        clear: [0.3, 0.4, 0.5, 1.0],
        ..super::over_nothing((0..8).map(stripe).chain([change(rounded([9.0; 4], card))]))
    }
}

fn assert_filters(filters: Vec<(String, Filter)>) {
    let trees = filters
        .into_iter()
        .map(|(name, filter)| (name, card(filter, |card| card)));
    let trees: Vec<Named> = trees.collect();
    assert_shown(LDR, &trees);
    assert_shown(HDR, &trees);
}

#[test]
fn into_the_group() {
    let glow = Shadow {
        is_glow: true,
        color: [0.2, 0.9, 0.3, 0.7],
        ..inset([0.0; 2], 3.0)
    };
    let deep = |filter: Filter| Filter {
        shadows: vec![inset([3.0, 4.0], 2.5)],
        ..filter
    };
    let rounded = Filter {
        is_rounded: true,
        ..Filter::NEUTRAL
    };
    let blurred = Filter {
        sigma: [2.0, 1.0],
        ..Filter::NEUTRAL
    };
    let filters = [
        ("soft", deep(Filter::NEUTRAL)),
        ("sharp", with([inset([3.0, -2.0], 0.0)])),
        ("far", with([inset([60.0, 0.0], 1.5)])),
        ("wide", with([inset([-3.0, 1.0], 12.0)])),
        ("glow", with([glow])),
        (
            "and-outer",
            with([inset([2.0, 2.0], 2.0), shadow([4.0, 5.0], 3.0), glow]),
        ),
        ("faded", deep(super::faded(0.6))),
        ("blurred", deep(blurred)),
        ("rounded", deep(rounded)),
        ("colored", deep(colored([Step::Saturate(0.3), Step::Brightness(1.2)]))),
    ];
    assert_filters(filters.map(|(name, filter)| (format!("inset-{name}"), filter)).into());
}

#[test]
fn by_parts_of_a_pixel() {
    let offsets = [[0.25, 0.0], [2.5, 3.75], [-4.515625, 1.984375], [0.0, -0.125]];
    let mut filters = Vec::new();
    for (index, offset) in offsets.into_iter().enumerate() {
        for sigma in [0.0, 1.0, 1.5, 3.0, 9.0] {
            filters.push((format!("moved-{index}-{sigma}"), with([shadow(offset, sigma)])));
            filters.push((format!("moved-inset-{index}-{sigma}"), with([inset(offset, sigma)])));
        }
    }
    let soft = Filter {
        sigma: [1.2, 0.0],
        ..with([shadow([2.3, 1.6], 1.0), shadow([2.3, 1.6], 0.4)])
    };
    filters.push(("moved-soft".into(), soft));
    assert_filters(filters);
}

/// A group whose scale makes whole offsets fractional.
#[test]
fn of_scaled_groups() {
    let filter = with([shadow([3.0, 5.0], 2.0), inset([1.0, 1.0], 2.0)]);
    let tree = card(filter, |card| scaled([1.25, 0.75], card));
    assert_shown(LDR, &[("scaled-shadows".into(), tree)]);
}
