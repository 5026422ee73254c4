//! Glass that refracts.

use super::*;
use crate::support::reference::Lens;

/// A lens that bends, but does not shine.
fn bending(bevel: f64, displacement: f64) -> Lens {
    Lens {
        bevel,
        displacement,
        dispersion: 0.0,
        rim_light: 0.0,
        light_angle: -core::f64::consts::FRAC_PI_4,
    }
}

fn bent(lens: Lens, glass: Glass) -> Glass {
    Glass {
        lens: Some(lens),
        ..glass
    }
}

/// A capsule, a square with small corners, one without, and one with four different ones.
#[test]
fn the_rim_shows_what_lies_beside() {
    let shapes = [
        ([6.0, 8.0, 42.0, 20.0], [10.0; 4]),
        ([56.0, 3.0, 33.0, 33.0], [3.0; 4]),
        ([10.0, 33.0, 30.0, 24.0], [0.0; 4]),
        ([48.0, 44.0, 40.0, 16.0], [0.0, 2.0, 8.0, 5.0]),
    ];
    let dispersed = Lens {
        dispersion: 0.6,
        ..bending(5.0, 7.0)
    };
    let shining = Lens {
        rim_light: 0.8,
        ..bending(20.0, -3.0)
    };
    let lenses = [bending(8.0, 5.0), bending(12.0, -6.0), dispersed, shining];
    let mut trees: Vec<Named> = Vec::new();
    for sigma in [0.0, 0.8, 2.0, 4.0, 9.0] {
        for glass in [Glass::new(sigma), super::open(sigma)] {
            let panes = shapes
                .into_iter()
                .zip(lenses)
                .map(|((place, radii), lens)| rounded(radii, pane(place, bent(lens, glass.clone()))));
            let name = format!("lens-{sigma}-{}", glass.sees_surroundings);
            trees.push((name, over_scene(panes)));
        }
    }
    assert_within(LDR, 1.5, &trees);
    assert_within(HDR, 1.0, &trees);
}

#[test]
fn lenses_turn_and_grow_with_their_glass() {
    let lens = Lens {
        dispersion: 0.5,
        rim_light: 0.3,
        ..bending(12.0, 8.0)
    };
    let glass = Glass {
        opacity: 0.9,
        ..Glass::new(3.0)
    };
    let pane = || rounded([7.0; 4], pane([24.0, 15.0, 45.0, 26.0], bent(lens, glass.clone())));
    let panes = [
        turned(0.6, pane()),
        turned(-2.0, scaled([1.2, 1.2], pane())),
        moved([0.3, -0.45], scaled([1.3, 0.7], pane())),
        scaled([-1.0, 1.0], pane()),
    ];
    let name = |index| format!("lens-transform-{index}");
    let trees: Vec<Named> = (0..).map(name).zip(panes.map(|pane| over_scene([pane]))).collect();
    assert_within(LDR, 2.0, &trees);
}

#[test]
fn a_profile_varies_what_is_refracted() {
    let ramp = Ramp {
        start: [0.0; 2],
        end: [1.0, 0.0],
        from: 0.2,
        to: 1.0,
    };
    let glass = Glass {
        ramp: Some(ramp),
        ..bent(bending(12.0, 7.0), Glass::new(8.0))
    };
    let pane = rounded([10.0; 4], pane([10.0, 7.0, 75.0, 45.0], glass));
    assert_within(LDR, 1.5, &[("lens-profile", over_scene([pane]))]);
}

/// Glass inside a faded group and inside a rounded one, and the own glass of a filtered node.
#[test]
fn groups_show_lenses() {
    let lens = Lens {
        rim_light: 0.3,
        ..bending(9.6, -6.0)
    };
    let glass = |sees_surroundings: bool| Glass {
        sees_surroundings,
        ..bent(lens, Glass::new(1.5))
    };
    let shown = |sees| rounded([8.0; 4], pane([14.0, 10.0, 44.0, 26.0], glass(sees)));
    let group = |filter: Filter, glass: Option<Glass>, inner: Option<Node>| {
        let boxes = [
            plain([4.0, 4.0, 30.0, 18.0], [0.9, 0.1, 0.0, 1.0]),
            plain([30.0, 20.0, 30.0, 18.0], [0.0, 0.6, 0.1, 0.7]),
        ];
        let group = Node {
            filter: Some(filter),
            glass,
            children: boxes.into_iter().chain(inner).collect(),
            ..rounded([10.0; 4], plain([12.0, 8.0, 70.0, 44.0], [0.0, 0.1, 0.4, 0.5]))
        };
        over_nothing([plain([0.0, 30.0, 30.0, 18.0], [0.8, 0.8, 0.1, 1.0]), group])
    };
    let trees = [
        ("faded", group(faded(0.8), None, Some(shown(false)))),
        ("faded-around", group(faded(0.8), None, Some(shown(true)))),
        ("rounded", group(curved(Filter::NEUTRAL), None, Some(shown(true)))),
        ("own", group(faded(0.8), Some(glass(true)), None)),
    ];
    let trees = trees.map(|(name, tree)| (format!("lens-{name}"), tree));
    assert_shown(LDR, &trees);
    assert_shown(HDR, &trees);
}

/// Of a pane that lies partly beyond the viewport, the rim shows what is mirrored at the viewport: also places beyond the pane.
#[test]
fn the_viewport_mirrors_what_a_lens_shows() {
    let lens = Lens {
        dispersion: 1.0,
        ..bending(3.0, 11.0)
    };
    let trees = [[8.0, -20.0], [-30.0, 12.0], [70.0, 50.0], [8.0, 12.0]].map(|origin: [f64; 2]| {
        let pane = pane([0.0, 0.0, 39.0, 24.0], bent(lens, super::open(7.0)));
        let nodes = [
            plain([4.0, 2.0, 44.0, 26.0], [0.9, 0.1, 0.0, 1.0]),
            plain([40.0, 30.0, 44.0, 26.0], [0.0, 0.6, 0.1, 0.7]),
            Node { origin, ..pane },
        ];
        let clear = [0.1, 0.2, 0.9, 1.0];
        let tree = Tree {
            clear,
            ..over_nothing(nodes)
        };
        (format!("lens-at-{origin:?}"), tree)
    });
    assert_shown(HDR, &trees);
}
