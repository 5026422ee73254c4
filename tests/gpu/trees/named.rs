//! Trees of the user interface that were once drawn wrongly, against the compositor.

use super::assert_shown;
use crate::backdrop::stage::{HDR, LDR};
use crate::support::reference::EdgeMode;
use crate::support::reference::tree::{Filter, Glass, Node, Transform, Tree};

const WHITE: [f64; 4] = [1.0; 4];

/// The edge modes with which a group ends at its box.
const ENDING: [EdgeMode; 4] = [EdgeMode::Clamp, EdgeMode::Mirror, EdgeMode::Renormalize, EdgeMode::Wrap];

fn tree(nodes: Vec<Node>) -> Tree {
    Tree {
        size: [96, 64],
        clear: [0.1, 0.2, 0.4, 1.0],
        nodes,
    }
}

fn soft(edge: EdgeMode, sigma: f64) -> Option<Filter> {
    Some(Filter {
        sigma: [sigma; 2],
        edge,
        ..Filter::NEUTRAL
    })
}

/// Whether a badge beyond the box is shown depends on the edge mode, and not on how strong the blur is, or on the switch.
#[test]
fn weak_blurs_end_where_strong_ones_do() {
    let mut trees = Vec::new();
    for edge in EdgeMode::ALL {
        for (sigma, opacity) in [(2.0, 1.0), (0.1, 1.0), (0.0, 1.0), (0.0, 0.9)] {
            let filter = soft(edge, sigma).map(|filter| Filter { opacity, ..filter });
            let node = Node {
                filter,
                children: vec![Node::new([36.0, -6.0], [14.0, 12.0], [1.0, 0.1, 0.1, 1.0])],
                ..Node::new([20.0, 20.0], [44.0, 26.0], WHITE)
            };
            trees.push((format!("badge-{edge:?}-{sigma}-{opacity}"), tree(vec![node])));
        }
    }
    assert_shown(LDR, &trees);
}

/// A blur that reads the other side of its box sees rows that a list cuts off.
#[test]
fn a_list_cuts_nothing_off_that_a_blur_reads() {
    let trees = EdgeMode::ALL.map(|edge| {
        let row = Node {
            filter: soft(edge, 3.0),
            children: vec![Node::new([0.0, 30.0], [50.0, 10.0], [0.0, 0.0, 0.0, 1.0])],
            ..Node::new([0.0, 0.0], [50.0, 40.0], WHITE)
        };
        let list = Node {
            clips: [true; 2],
            children: vec![row],
            ..Node::new([10.0, 10.0], [60.0, 16.0], [0.0; 4])
        };
        (format!("list-{edge:?}"), tree(vec![list]))
    });
    assert_shown(HDR, &trees);
}

/// A blur that is stretched with its node turns with it, without a step.
#[test]
fn unequal_scales_turn() {
    let angles = [0.0, 1e-5, 0.4, core::f64::consts::FRAC_PI_2 + 1e-5, 3.0];
    let turned = |angle: f64| {
        let transform = Transform {
            angle,
            scale: [2.0, 0.5],
            ..Transform::NONE
        };
        let node = |filter, glass| Node {
            transform,
            filter,
            glass,
            ..Node::new([30.0, 22.0], [34.0, 20.0], [0.9, 0.5, 0.1, 0.6])
        };
        let below = Node::new([0.0, 20.0], [96.0, 9.0], WHITE);
        let filtered = node(soft(EdgeMode::Transparent, 2.0), None);
        let glass = node(None, Some(Glass::new(2.0)));
        [("filter", filtered), ("glass", glass)]
            .map(|(name, node)| (format!("{name}-{angle}"), tree(vec![below.clone(), node])))
    };
    assert_shown(HDR, &angles.into_iter().flat_map(turned).collect::<Vec<_>>());
}

/// A border between pixels is a border: what ends at it keeps its light, and moves without a step.
#[test]
fn edges_lie_between_pixels() {
    let at = |edge: EdgeMode, offset: f64, scale: f64| Node {
        filter: soft(edge, 3.0),
        transform: Transform {
            offset: [offset, 0.5 * offset],
            scale: [scale; 2],
            ..Transform::NONE
        },
        children: vec![Node::new([10.0, 0.0], [12.0, 30.0], [0.1, 0.6, 0.2, 1.0])],
        ..Node::new([20.0, 16.0], [40.0, 30.0], WHITE)
    };
    let mut trees = Vec::new();
    for edge in ENDING {
        for (offset, scale) in [
            (0.0, 1.0),
            (0.2, 1.0),
            (0.45, 1.0),
            (0.55, 1.0),
            (0.9, 1.0),
            (0.0, 1.03),
            (0.3, 0.91),
        ] {
            trees.push((
                format!("between-{edge:?}-{offset}-{scale}"),
                tree(vec![at(edge, offset, scale)]),
            ));
        }
    }
    assert_shown(HDR, &trees);
    assert_shown(LDR, &trees);
    // An opaque white box stays white, wherever it is.
    for edge in ENDING {
        for step in 0..20 {
            let node = Node {
                children: Vec::new(),
                ..at(edge, 0.05 * f64::from(step), 1.0)
            };
            let white = tree(vec![node]).picture(crate::support::reference::Storage::Half);
            assert!(
                (white.at(25, 25)[0] - 1.0).abs() < 0.02,
                "{edge:?}: {:?}",
                white.at(25, 25)
            );
        }
    }
}

/// The glass of a group sees what lies below the first node of the group that has glass, whether that is drawn or not.
#[test]
fn the_first_pane_of_a_group_decides_even_if_it_is_neutral() {
    let pane = |x: f64, sigma: f64| Node {
        glass: Some(Glass::new(sigma)),
        ..Node::new([x, 10.0], [30.0, 40.0], [0.0; 4])
    };
    let trees = [0.0, 2.0].map(|sigma| {
        let between = Node::new([30.0, 20.0], [40.0, 20.0], [0.9, 0.8, 0.1, 1.0]);
        let group = Node {
            shares_backdrop: true,
            children: vec![pane(8.0, sigma), between, pane(50.0, 3.0)],
            ..Node::new([0.0; 2], [96.0, 64.0], [0.0; 4])
        };
        (format!("first-{sigma}"), tree(vec![group]))
    });
    assert_shown(LDR, &trees);
}

/// A group in another one shows nothing beyond the border of that one, and glass in it sees nothing there.
#[test]
fn glass_sees_nothing_beyond_the_border_around() {
    let trees = ENDING.map(|edge| {
        let pane = Node {
            glass: Some(Glass::new(7.0)),
            ..Node::new([-1.0, 6.0], [40.0, 30.0], [0.0; 4])
        };
        let inner = Node {
            filter: soft(edge, 0.0).map(|filter| Filter { opacity: 0.6, ..filter }),
            children: vec![pane],
            ..Node::new([0.0, -1.0], [40.0, 40.0], [0.02, 0.02, 0.9, 1.0])
        };
        let outer = Node {
            filter: soft(EdgeMode::Renormalize, 0.0).map(|filter| Filter { opacity: 0.9, ..filter }),
            children: vec![inner],
            ..Node::new([30.0, 10.0], [12.0, 44.0], [0.0; 4])
        };
        (format!("nested-{edge:?}"), tree(vec![outer]))
    });
    assert_shown(LDR, &trees);
    assert_shown(HDR, &trees);
}
