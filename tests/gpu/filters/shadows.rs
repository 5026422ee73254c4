//! Shadows inside of groups, and shadows that move by parts of a pixel, against the float64 compositor.

use crate::backdrop::stage::{HDR, LDR};
use crate::support::reference::tree::{Filter, Node, Shadow, Transform, Tree};
use crate::support::reference::{Functions, Step};
use crate::trees::assert_shown;

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

fn with(shadows: Vec<Shadow>) -> Filter {
    Filter {
        shadows,
        ..Filter::NEUTRAL
    }
}

/// Stripes, and over them a group of a rounded card and a box beyond it that is not opaque.
fn card(filter: Filter) -> Tree {
    let stripe = |index: usize| Node::new([index as f64 * 12.0, 0.0], [6.0, 64.0], [0.9, 0.5, 0.1, 1.0]);
    let card = Node {
        radii: [9.0; 4],
        filter: Some(filter),
        children: vec![
            Node::new([6.0, 5.0], [14.0, 9.0], [0.9, 0.1, 0.1, 1.0]),
            Node::new([30.0, 20.0], [24.0, 18.0], [0.2, 0.6, 0.9, 0.5]),
        ],
        ..Node::new([22.0, 13.0], [44.0, 30.0], [0.8, 0.9, 0.8, 1.0])
    };
    Tree {
        size: [96, 64],
        clear: [0.3, 0.4, 0.5, 1.0],
        nodes: (0..8).map(stripe).chain([card]).collect(),
    }
}

fn assert_filters(filters: &[(&str, Filter)]) {
    let trees = filters
        .iter()
        .map(|(name, filter)| ((*name).into(), card(filter.clone())));
    let trees: Vec<(String, Tree)> = trees.collect();
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
    let deep = with(vec![inset([3.0, 4.0], 2.5)]);
    assert_filters(&[
        ("inset-soft", deep.clone()),
        ("inset-sharp", with(vec![inset([3.0, -2.0], 0.0)])),
        ("inset-far", with(vec![inset([60.0, 0.0], 1.5)])),
        ("inset-wide", with(vec![inset([-3.0, 1.0], 12.0)])),
        ("inset-glow", with(vec![glow])),
        (
            "inset-and-outer",
            with(vec![inset([2.0, 2.0], 2.0), shadow([4.0, 5.0], 3.0), glow]),
        ),
        (
            "inset-faded",
            Filter {
                opacity: 0.6,
                ..deep.clone()
            },
        ),
        (
            "inset-blurred",
            Filter {
                sigma: [2.0, 1.0],
                ..deep.clone()
            },
        ),
        (
            "inset-rounded",
            Filter {
                is_rounded: true,
                ..deep.clone()
            },
        ),
        (
            "inset-colored",
            Filter {
                functions: Functions(vec![Step::Saturate(0.3), Step::Brightness(1.2)]),
                ..deep
            },
        ),
    ]);
}

#[test]
fn by_parts_of_a_pixel() {
    let offsets = [[0.25, 0.0], [2.5, 3.75], [-4.515625, 1.984375], [0.0, -0.125]];
    let mut filters = Vec::new();
    for (index, offset) in offsets.into_iter().enumerate() {
        for sigma in [0.0, 1.0, 1.5, 3.0, 9.0] {
            filters.push((format!("moved-{index}-{sigma}"), with(vec![shadow(offset, sigma)])));
            filters.push((format!("moved-inset-{index}-{sigma}"), with(vec![inset(offset, sigma)])));
        }
    }
    let soft = Filter {
        sigma: [1.2, 0.0],
        ..with(vec![shadow([2.3, 1.6], 1.0), shadow([2.3, 1.6], 0.4)])
    };
    filters.push(("moved-soft".into(), soft));
    let filters: Vec<(&str, Filter)> = filters
        .iter()
        .map(|(name, filter)| (name.as_str(), filter.clone()))
        .collect();
    assert_filters(&filters);
}

/// A group whose scale makes whole offsets fractional.
#[test]
fn of_scaled_groups() {
    let mut tree = card(with(vec![shadow([3.0, 5.0], 2.0), inset([1.0, 1.0], 2.0)]));
    let card = tree.nodes.last_mut().expect("the card is there");
    card.transform = Transform {
        scale: [1.25, 0.75],
        ..Transform::NONE
    };
    assert_shown(LDR, &[("scaled-shadows".into(), tree)]);
}
