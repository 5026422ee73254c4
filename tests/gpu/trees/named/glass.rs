//! Glass: alone, side by side, one over the other, and in every order.

use super::*;
use crate::support::reference::EdgeMode;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_3};

/// Five boxes side by side, no two of which touch, two of them at the viewport's border.
pub const PLACES: [[f64; 4]; 5] = [
    [3.0, 4.0, 28.0, 24.0],
    [34.0, 0.0, 29.0, 27.0],
    [66.0, 6.0, 27.0, 21.0],
    [9.0, 31.0, 38.0, 24.0],
    [52.0, 30.0, 44.0, 34.0],
];

/// Glass that sees its inside, and glass that sees its surroundings.
fn of_both_kinds(sigma: f64) -> [(&'static str, Glass); 2] {
    [("inside", Glass::new(sigma)), ("around", open(sigma))]
}

/// Later panes that read their surroundings see the glass of earlier ones. No octave, one, two, and more than there are texels.
#[test]
fn every_edge_and_sampling() {
    let mut trees: Vec<Named> = Vec::new();
    for (name, glass) in [0.8, 2.2, 4.0, 9.0, 40.0].map(of_both_kinds).concat() {
        let panes = PLACES.into_iter().zip(EdgeMode::ALL).map(|(place, edge)| {
            let glass = glass.clone();
            pane(place, Glass { edge, ..glass })
        });
        trees.push((format!("edges-{name}-{}", glass.sigma[0]), over_scene(panes)));
    }
    assert_within(LDR, ROUNDED_ONCE, &trees);
}

/// Only the upper pane sees a box between two panes, even if the box only touches pixels that the pane reads.
#[test]
fn glass_over_glass() {
    let second = Glass {
        opacity: 0.8,
        ..Glass::new(9.0)
    };
    let first = pane([10.0, 8.0, 52.0, 35.0], Glass::new(3.0));
    let second = pane([28.0, 20.0, 57.0, 30.0], second);
    let third = pane([43.0, 12.0, 28.0, 40.0], open(1.2));
    let lower = plain([38.0, 25.0, 15.0, 10.0], WHITE);
    let upper = plain([72.0, 30.0, 3.0, 15.0], GREEN);
    let stacked = over_scene([first.clone(), second.clone(), third.clone()]);
    let between = over_scene([first, lower, second, upper, third]);
    assert_within(LDR, 2.0, &[("stacked", stacked), ("between", between)]);
}

/// A pile of glass, in half floats: eight bits would round again on every floor.
#[test]
fn eight_panes_in_a_pile() {
    let floor = |floor: i32| {
        let at = 4.0 + 3.0 * f64::from(floor);
        rounded([6.0; 4], pane([at, at, 44.0, 32.0], Glass::new(1.5)))
    };
    assert_within(HDR, 0.6, &[("pile", over_scene((0..8).map(floor)))]);
}

#[test]
fn turned_scaled_and_mirrored() {
    let angles = [
        turned(0.4, pane([8.0, 7.0, 38.0, 17.0], Glass::new(3.0))),
        turned(-1.1, rounded([5.0; 4], pane([58.0, 20.0, 30.0, 20.0], Glass::new(6.0)))),
        turned(2.7, pane([12.0, 38.0, 34.0, 15.0], open(4.0))),
        turned(FRAC_PI_2, pane([60.0, 2.0, 28.0, 10.0], Glass::new(2.0))),
    ];
    // The sigma grows along each axis as the box does.
    let scales = [
        scaled(
            [1.3, 0.8],
            rounded([2.0, 5.0, 7.0, 0.0], pane([10.0, 8.0, 30.0, 16.0], Glass::new(3.0))),
        ),
        scaled(
            [-1.2, 1.5],
            rounded([1.0, 5.0, 7.0, 10.0], pane([60.0, 10.0, 24.0, 20.0], Glass::new(2.0))),
        ),
        scaled(
            [0.5, -0.8],
            rounded([0.0, 6.0, 2.0, 5.0], pane([28.0, 40.0, 32.0, 16.0], Glass::new(4.0))),
        ),
    ];
    let both = [
        turned(0.5, scaled([1.4, 0.7], pane([14.0, 10.0, 30.0, 16.0], Glass::new(3.0)))),
        turned(
            FRAC_PI_3,
            scaled([-0.8, 1.3], pane([56.0, 22.0, 24.0, 20.0], open(5.0))),
        ),
    ];
    // Parent and pane share their centre, about which the parent turns and grows.
    let child = rounded([5.0; 4], pane([10.0, 5.0, 40.0, 24.0], Glass::new(4.0)));
    let parent = Node {
        children: vec![child],
        ..plain([18.0, 14.0, 60.0, 34.0], NOTHING)
    };
    let parent = turned(0.3, scaled([1.1; 2], parent));
    let trees = [
        ("turned", over_scene(angles)),
        ("scaled", over_scene(scales)),
        ("both", over_scene(both)),
        ("with-its-parent", over_scene([parent])),
    ];
    assert_within(LDR, rounded_twice(), &trees);
}

#[test]
fn corners_and_places_between_pixels() {
    let radii = [
        [2.0, 6.0, 9.0, 11.0],
        [0.0, 7.0, 0.0, 5.0],
        [200.0; 4],
        [1.0, 0.5, 2.0, 12.0],
        [13.0, 1.0, 13.0, 1.0],
    ];
    let offsets = [[0.4, 0.3], [0.75, 0.1], [-0.2, 0.6], [0.25, -0.3], [-0.6, -0.8]];
    let panes = || {
        let all = PLACES.into_iter().zip(radii);
        all.map(|(place, radii)| rounded(radii, pane(place, Glass::new(5.0))))
    };
    let between = panes().zip(offsets).map(|(pane, offset)| moved(offset, pane));
    let trees = [("radii", over_scene(panes())), ("between", over_scene(between))];
    assert_within(LDR, rounded_twice(), &trees);
}

/// Some lie partly beyond, and one covers more than the viewport.
#[test]
fn beyond_the_viewport() {
    let mut trees: Vec<Named> = Vec::new();
    for sampling in 0..2 {
        let glass = |sigma: f64| of_both_kinds(sigma)[sampling].1.clone();
        let panes = [
            rounded([10.0; 4], pane([-20.0, 14.0, 40.0, 25.0], glass(4.0))),
            pane([70.0, -12.0, 45.0, 30.0], glass(7.0)),
            turned(0.1, pane([34.0, 40.0, 28.0, 150.0], glass(2.0))),
        ];
        trees.push((format!("beyond-{sampling}"), over_scene(panes)));
        let all = turned(0.2, pane([-250.0, -150.0, 650.0, 450.0], glass(12.0)));
        trees.push((format!("beyond-all-{sampling}"), over_scene([all])));
    }
    assert_within(LDR, rounded_twice(), &trees);
}

#[test]
fn slivers() {
    let mut trees: Vec<Named> = Vec::new();
    for sampling in 0..2 {
        let glass = |sigma: f64| of_both_kinds(sigma)[sampling].1.clone();
        let panes = [
            pane([10.0, 10.0, 1.0, 40.0], glass(6.0)),
            pane([16.0, 30.0, 45.0, 1.0], glass(6.0)),
            pane([40.0, 20.0, 1.0, 1.0], glass(3.0)),
            pane([60.0, 15.0, 2.0, 3.0], glass(20.0)),
            pane([70.0, 10.0, 3.0, 45.0], glass(2.0)),
            turned(0.3, pane([18.0, 44.0, 44.0, 5.0], glass(9.0))),
        ];
        trees.push((format!("slivers-{sampling}"), over_scene(panes)));
    }
    assert_within(LDR, ROUNDED_ONCE, &trees);
    // No pixel's centre is covered.
    let thin = scaled([0.3, 1.0], pane([30.0, 10.0, 1.0, 40.0], Glass::new(6.0)));
    let between = over_scene([moved([0.4, 0.0], thin)]);
    assert_shown(LDR, &[("between-centres", between)]);
}

/// Overflow clips along both axes or one of them, turned boxes as well; a node may ignore it.
#[test]
fn overflow_clips() {
    let shown = |clips: [bool; 2], pane: &Node| {
        let mut pane = pane.clone();
        pane.origin = [pane.origin[0] - 15.0, pane.origin[1] - 10.0];
        over_scene([Node {
            clips,
            children: vec![pane],
            ..plain([15.0, 10.0, 55.0, 30.0], NOTHING)
        }])
    };
    let panes = [
        rounded([7.0; 4], pane([30.0, 20.0, 60.0, 35.0], Glass::new(4.0))),
        turned(0.7, pane([25.0, 12.0, 35.0, 30.0], Glass::new(3.0))),
        scaled([1.2, 0.8], pane([5.0, 15.0, 30.0, 35.0], open(5.0))),
    ];
    let is_free = true;
    let [plain, ..] = panes.clone();
    let trees = [
        ("plain", shown([true; 2], &panes[0])),
        ("turned", shown([true; 2], &panes[1])),
        ("scaled", shown([true; 2], &panes[2])),
        ("x", shown([true, false], &panes[0])),
        ("y", shown([false, true], &panes[1])),
        ("free", shown([true; 2], &Node { is_free, ..plain })),
    ];
    assert_within(
        LDR,
        ROUNDED_ONCE,
        &trees.map(|(name, tree)| (format!("clipped-{name}"), tree)),
    );
}

/// Panes of a group see what lies below the first of them: neither each other nor what is between them.
#[test]
fn panes_of_a_group_do_not_see_each_other() {
    let children = vec![
        pane([10.0, 7.0, 35.0, 25.0], Glass::new(4.0)),
        plain([25.0, 15.0, 20.0, 20.0], [0.9, 0.8, 0.1, 1.0]),
        pane([30.0, 17.0, 35.0, 25.0], open(3.0)),
        pane([50.0, 27.0, 30.0, 20.0], Glass::new(6.0)),
    ];
    let group = Node {
        shares_backdrop: true,
        children,
        ..plain([0.0, 0.0, 96.0, 64.0], NOTHING)
    };
    let below = plain([15.0, 10.0, 50.0, 30.0], [0.1, 0.7, 0.3, 0.8]);
    assert_within(LDR, 1.5, &[("shared", over_scene([below, group]))]);
}

/// Letters that touch a pane with their feet alone come after it.
#[test]
fn letters_touch_a_pane_with_their_feet() {
    stamps::take(&mut warm(BlurBackend::Compute));
    let text = stamps::all().iter().find(|stamp| stamp.name == "text");
    let text = text.expect("there is a stamp of text").clone();
    let [width, height] = text.size;
    let letters = Node {
        stamp: Some(text),
        ..plain([20.0, 20.0, width, height], NOTHING)
    };
    // The second pane sees the letters, so they are not simply painted last.
    let trees = [30.0, 31.0, 32.0].map(|top| {
        let first = pane([12.0, top, 64.0, 20.0], Glass::new(3.0));
        let second = pane([12.0, 6.0, 64.0, 18.0], Glass::new(2.0));
        (format!("feet-{top}"), over_scene([first, letters.clone(), second]))
    });
    assert_shown(HDR, &trees);
}
