//! Blurs of groups that end at the box of their node, against the float64 compositor.

use crate::backdrop::stage::{HDR, LDR};
use crate::support::reference::EdgeMode;
use crate::support::reference::tree::{Filter, Glass, Node, Shadow, Transform, Tree};
use crate::trees::assert_shown;

fn soft(edge: EdgeMode, sigma: [f64; 2]) -> Filter {
    Filter {
        sigma,
        edge,
        ..Filter::NEUTRAL
    }
}

/// A group of boxes, some of which lie beyond the box of the node or across its border.
fn group(origin: [f64; 2], size: [f64; 2], filter: Filter) -> Node {
    // Bevy lays nodes out on whole pixels.
    let [width, height] = size;
    let of = |share: f64, length: f64| (share * length).round();
    Node {
        filter: Some(filter),
        children: vec![
            Node::new([0.0, 0.0], [of(0.3, width), height], [0.9, 0.2, 0.1, 1.0]),
            Node::new(
                [of(0.6, width), of(0.5, height)],
                [of(0.6, width), of(0.8, height)],
                [0.1, 0.7, 0.9, 0.7],
            ),
            Node::new([-20.0, of(0.3, height)], [28.0, 6.0], [0.2, 1.0, 0.2, 1.0]),
        ],
        ..Node::new(origin, size, [1.0, 1.0, 1.0, 1.0])
    }
}

fn tree(nodes: Vec<Node>) -> Tree {
    Tree {
        size: [96, 64],
        clear: [0.0, 0.0, 0.0, 1.0],
        nodes,
    }
}

/// The report that this answers: white on a black camera, over the whole screen, is grey at the border.
#[test]
fn screens_keep_their_border() {
    let white = |edge| Node {
        filter: Some(soft(edge, [5.0; 2])),
        ..Node::new([0.0; 2], [96.0, 64.0], [1.0; 4])
    };
    let trees = EdgeMode::ALL.map(|edge| (format!("white-{edge:?}"), tree(vec![white(edge)])));
    assert_shown(LDR, &trees);
    for edge in [EdgeMode::Clamp, EdgeMode::Mirror, EdgeMode::Wrap, EdgeMode::Renormalize] {
        let picture = tree(vec![white(edge)]).picture(crate::support::reference::Storage::Half);
        assert!(
            picture.texels.iter().all(|texel| (texel[0] - 1.0).abs() < 1e-9),
            "{edge:?}"
        );
    }
}

#[test]
fn groups_end_at_their_box() {
    let shadow = Shadow {
        offset: [3.0, 2.5],
        sigma: [2.0; 2],
        color: [0.9, 0.1, 0.6, 0.7],
        is_glow: false,
        is_inset: false,
    };
    let mut trees = Vec::new();
    for edge in EdgeMode::ALL {
        for sigma in [[0.8; 2], [3.0, 0.0], [4.0, 7.0], [30.0; 2]] {
            let inside = group([17.0, 9.0], [50.0, 40.0], soft(edge, sigma));
            let across = group([-9.0, 20.0], [70.0, 70.0], soft(edge, sigma));
            trees.push((format!("inside-{edge:?}-{}", sigma[0]), tree(vec![inside])));
            trees.push((format!("across-{edge:?}-{}", sigma[0]), tree(vec![across])));
        }
        let filter = Filter {
            shadows: vec![
                shadow,
                Shadow {
                    is_inset: true,
                    ..shadow
                },
            ],
            opacity: 0.8,
            ..soft(edge, [3.0; 2])
        };
        trees.push((
            format!("shadows-{edge:?}"),
            tree(vec![group([20.0, 12.0], [46.0, 34.0], filter)]),
        ));
        let rounded = Filter {
            is_rounded: true,
            ..soft(edge, [3.0; 2])
        };
        let rounded = Node {
            radii: [12.0; 4],
            ..group([20.0, 12.0], [46.0, 34.0], rounded)
        };
        trees.push((format!("rounded-{edge:?}"), tree(vec![rounded])));
    }
    assert_shown(HDR, &trees);
    assert_shown(LDR, &trees);
}

#[test]
fn with_glass_and_groups_inside() {
    let mut outer = group([12.0, 8.0], [64.0, 44.0], soft(EdgeMode::Mirror, [2.5; 2]));
    outer.children.push(Node {
        glass: Some(Glass::new(3.0)),
        ..Node::new([10.0, 6.0], [30.0, 24.0], [0.0; 4])
    });
    outer
        .children
        .push(group([34.0, 16.0], [40.0, 20.0], soft(EdgeMode::Clamp, [2.0; 2])));
    let mut turned = group([30.0, 20.0], [36.0, 24.0], soft(EdgeMode::Clamp, [2.0; 2]));
    turned.transform = Transform {
        angle: 0.4,
        ..Transform::NONE
    };
    assert_shown(
        LDR,
        &[
            ("nested".into(), tree(vec![outer])),
            ("turned".into(), tree(vec![turned])),
        ],
    );
}
