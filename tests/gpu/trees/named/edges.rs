//! Blurs of groups that end at the box of their node.

use super::*;
use crate::support::reference::{EdgeMode, Storage};

fn ending(edge: EdgeMode, sigma: [f64; 2]) -> Filter {
    Filter {
        sigma,
        edge,
        ..soft(0.0)
    }
}

/// A white group of boxes, some of which lie beyond the box of the node or across its border.
fn card([left, top, width, height]: [f64; 4], filter: Filter) -> Node {
    // Bevy lays nodes out on whole pixels.
    let of = |share: f64, length: f64| (share * length).round();
    let corner = [of(0.6, width), of(0.5, height), of(0.6, width), of(0.8, height)];
    Node {
        filter: Some(filter),
        children: vec![
            plain([0.0, 0.0, of(0.3, width), height], [0.9, 0.2, 0.1, 1.0]),
            plain(corner, [0.1, 0.7, 0.9, 0.7]),
            plain([-20.0, of(0.3, height), 28.0, 6.0], [0.2, 1.0, 0.2, 1.0]),
        ],
        ..plain([left, top, width, height], WHITE)
    }
}

fn over_black(node: Node) -> Tree {
    Tree {
        clear: [0.0, 0.0, 0.0, 1.0],
        ..over_nothing([node])
    }
}

/// The report that this answers: white on a black camera, over the whole screen, is grey at the border.
#[test]
fn screens_keep_their_border() {
    let white = |edge| {
        let filter = Some(ending(edge, [5.0; 2]));
        over_black(Node {
            filter,
            ..plain([0.0, 0.0, 96.0, 64.0], WHITE)
        })
    };
    assert_shown(LDR, &EdgeMode::ALL.map(|edge| (format!("white-{edge:?}"), white(edge))));
    for edge in [EdgeMode::Clamp, EdgeMode::Mirror, EdgeMode::Wrap, EdgeMode::Renormalize] {
        let texels = white(edge).picture(Storage::Half).texels;
        assert!(texels.iter().all(|texel| (texel[0] - 1.0).abs() < 1e-9), "{edge:?}");
    }
}

#[test]
fn groups_end_at_their_box() {
    let beside = shadow([3.0, 2.5], 2.0, [0.9, 0.1, 0.6, 0.7]);
    let mut trees: Vec<Named> = Vec::new();
    for edge in EdgeMode::ALL {
        let mut add = |name: &str, card| trees.push((format!("{name}-{edge:?}"), over_black(card)));
        for sigma in [[0.8; 2], [3.0, 0.0], [4.0, 7.0], [30.0; 2]] {
            let filter = || ending(edge, sigma);
            add(&format!("inside-{}", sigma[0]), card([17.0, 9.0, 50.0, 40.0], filter()));
            add(
                &format!("across-{}", sigma[0]),
                card([-9.0, 20.0, 70.0, 70.0], filter()),
            );
        }
        let place = [20.0, 12.0, 46.0, 34.0];
        let mut faded = casting([beside, inset(beside)], ending(edge, [3.0; 2]));
        faded.opacity = 0.8;
        add("shadows", card(place, faded));
        let curved = curved(ending(edge, [3.0; 2]));
        add("rounded", rounded([12.0; 4], card(place, curved)));
    }
    assert_shown(HDR, &trees);
    assert_shown(LDR, &trees);
}

#[test]
fn with_glass_and_groups_inside() {
    let mut outer = card([12.0, 8.0, 64.0, 44.0], ending(EdgeMode::Mirror, [2.5; 2]));
    outer.children.push(pane([10.0, 6.0, 30.0, 24.0], Glass::new(3.0)));
    let inner = |place| card(place, ending(EdgeMode::Clamp, [2.0; 2]));
    outer.children.push(inner([34.0, 16.0, 40.0, 20.0]));
    let turned = turned(0.4, inner([30.0, 20.0, 36.0, 24.0]));
    let trees = [("nested", outer), ("turned", turned)];
    assert_shown(LDR, &trees.map(|(name, node)| (name, over_black(node))));
}
