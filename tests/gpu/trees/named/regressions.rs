//! Trees that were once drawn wrongly.

use super::*;
use crate::support::reference::{EdgeMode, Storage};

/// The edge modes with which a group ends at its box.
const ENDING: [EdgeMode; 4] = [EdgeMode::Clamp, EdgeMode::Mirror, EdgeMode::Renormalize, EdgeMode::Wrap];

fn ending(edge: EdgeMode, sigma: f64) -> Option<Filter> {
    Some(Filter { edge, ..soft(sigma) })
}

/// Whether a badge beyond the box is shown depends on the edge mode, and not on how strong the blur is, or on the switch.
#[test]
fn weak_blurs_end_where_strong_ones_do() {
    let mut trees = Vec::new();
    for edge in EdgeMode::ALL {
        for (sigma, opacity) in [(2.0, 1.0), (0.1, 1.0), (0.0, 1.0), (0.0, 0.9)] {
            let node = Node {
                filter: ending(edge, sigma).map(|filter| Filter { opacity, ..filter }),
                children: vec![plain([36.0, -6.0, 14.0, 12.0], [1.0, 0.1, 0.1, 1.0])],
                ..plain([20.0, 20.0, 44.0, 26.0], WHITE)
            };
            trees.push((format!("badge-{edge:?}-{sigma}-{opacity}"), over_nothing([node])));
        }
    }
    assert_shown(LDR, &trees);
    assert_switched_off(LDR, &trees);
}

/// A blur that reads the other side of its box sees rows that a list cuts off. Glass sees as far beyond the list on one side of a shadow
/// as on the other.
#[test]
fn a_list_cuts_nothing_off_that_a_blur_reads() {
    let list = |row: Node| {
        let list = Node {
            clips: [true; 2],
            children: vec![row],
            ..plain([10.0, 10.0, 60.0, 16.0], NOTHING)
        };
        over_nothing([list])
    };
    let black = |top: f64| plain([0.0, top, 50.0, 10.0], [0.0, 0.0, 0.0, 1.0]);
    let edges = EdgeMode::ALL.map(|edge| {
        let row = Node {
            filter: ending(edge, 3.0),
            children: vec![black(30.0)],
            ..plain([0.0, 0.0, 50.0, 40.0], WHITE)
        };
        (format!("list-{edge:?}"), list(row))
    });
    let sides = [-12.0, 12.0].map(|offset| {
        let dark = shadow([0.0, offset], 0.0, [0.0, 0.0, 0.0, 0.5]);
        let row = Node {
            filter: Some(casting([dark], Filter::NEUTRAL)),
            children: vec![black(0.0), black(30.0), pane([5.0, 12.0, 40.0, 16.0], open(3.0))],
            ..plain([0.0, -12.0, 50.0, 40.0], WHITE)
        };
        (format!("list-shadow-{offset}"), list(row))
    });
    let trees: Vec<Named> = edges.into_iter().chain(sides).collect();
    assert_shown(HDR, &trees);
}

/// A blur that is stretched with its node turns with it, without a step.
#[test]
fn unequal_scales_turn() {
    let angles = [0.0, 1e-5, 0.4, core::f64::consts::FRAC_PI_2 + 1e-5, 3.0];
    let shown = |angle: f64| {
        let stretched = |filter, glass| {
            let node = plain([30.0, 22.0, 34.0, 20.0], [0.9, 0.5, 0.1, 0.6]);
            turned(angle, scaled([2.0, 0.5], Node { filter, glass, ..node }))
        };
        let below = plain([0.0, 20.0, 96.0, 9.0], WHITE);
        let filtered = stretched(ending(EdgeMode::Transparent, 2.0), None);
        let glass = stretched(None, Some(Glass::new(2.0)));
        [("filter", filtered), ("glass", glass)]
            .map(|(name, node)| (format!("{name}-{angle}"), over_nothing([below.clone(), node])))
    };
    assert_shown(HDR, &angles.into_iter().flat_map(shown).collect::<Vec<_>>());
}

/// A border between pixels is a border: what ends at it keeps its light, and moves without a step.
#[test]
fn edges_lie_between_pixels() {
    let at = |edge: EdgeMode, offset: f64, scale: f64| {
        let node = Node {
            filter: ending(edge, 3.0),
            children: vec![plain([10.0, 0.0, 12.0, 30.0], [0.1, 0.6, 0.2, 1.0])],
            ..plain([20.0, 16.0, 40.0, 30.0], WHITE)
        };
        moved([offset, 0.5 * offset], scaled([scale; 2], node))
    };
    let places = [
        (0.0, 1.0),
        (0.2, 1.0),
        (0.45, 1.0),
        (0.55, 1.0),
        (0.9, 1.0),
        (0.0, 1.03),
        (0.3, 0.91),
    ];
    let mut trees = Vec::new();
    for (edge, (offset, scale)) in ENDING.into_iter().flat_map(|edge| places.map(|place| (edge, place))) {
        let name = format!("between-{edge:?}-{offset}-{scale}");
        trees.push((name, over_nothing([at(edge, offset, scale)])));
    }
    assert_shown(HDR, &trees);
    assert_shown(LDR, &trees);
    // An opaque white box stays white, wherever it is.
    for (edge, step) in ENDING
        .into_iter()
        .flat_map(|edge| (0..20).map(move |step| (edge, step)))
    {
        let node = Node {
            children: Vec::new(),
            ..at(edge, 0.05 * f64::from(step), 1.0)
        };
        let white = over_nothing([node]).picture(Storage::Half).at(25, 25);
        assert!((white[0] - 1.0).abs() < 0.02, "{edge:?}: {white:?}");
    }
}

/// The glass of a group sees what lies below the first node of the group that has glass, whether that is drawn or not.
#[test]
fn the_first_pane_of_a_group_decides_even_if_it_is_neutral() {
    let trees = [0.0, 2.0].map(|sigma| {
        let shown = |x: f64, sigma: f64| pane([x, 10.0, 30.0, 40.0], Glass::new(sigma));
        let between = plain([30.0, 20.0, 40.0, 20.0], [0.9, 0.8, 0.1, 1.0]);
        let group = Node {
            shares_backdrop: true,
            children: vec![shown(8.0, sigma), between, shown(50.0, 3.0)],
            ..plain([0.0, 0.0, 96.0, 64.0], NOTHING)
        };
        (format!("first-{sigma}"), over_nothing([group]))
    });
    assert_shown(LDR, &trees);
}

/// Glass in a filtered group is painted on the group's page. That it is not displayed does not make it the first on another one.
#[test]
fn a_pane_that_is_not_displayed_stays_in_its_filter() {
    let trees = ["nothing", "list", "menu"].map(|closed| {
        let list = Node {
            is_displayed: closed != "list",
            children: vec![pane([2.0, 2.0, 8.0, 8.0], Glass::new(2.0))],
            ..plain([2.0, 2.0, 16.0, 16.0], NOTHING)
        };
        let menu = Node {
            is_displayed: closed != "menu",
            filter: Some(super::faded(0.5)),
            children: vec![list],
            ..plain([4.0, 4.0, 24.0, 24.0], [0.1, 0.2, 0.9, 1.0])
        };
        let between = plain([30.0, 8.0, 40.0, 40.0], [0.9, 0.8, 0.1, 1.0]);
        let group = Node {
            shares_backdrop: true,
            children: vec![menu, between, pane([40.0, 16.0, 40.0, 20.0], Glass::new(3.0))],
            ..plain([0.0, 0.0, 96.0, 64.0], NOTHING)
        };
        (format!("closed-{closed}"), over_nothing([group]))
    });
    assert_shown(LDR, &trees);
}

/// The hole for the glass of a filtered node lies in the picture of this node, not in those of its neighbours on the page.
#[test]
fn holes_do_not_reach_neighbours() {
    let dark = shadow([3.0, 4.0], 2.0, [0.0, 0.0, 0.0, 0.8]);
    let icon = Node {
        filter: Some(casting([dark], Filter::NEUTRAL)),
        ..plain([30.0, 20.0, 16.0, 16.0], [0.9, 0.3, 0.1, 1.0])
    };
    let tooltip = Node {
        filter: Some(super::faded(0.9)),
        // So near to the icon that both are painted with one view.
        children: vec![plain([38.0, 14.0, 8.0, 12.0], [0.1, 0.9, 0.2, 1.0])],
        ..pane([10.0, 8.0, 70.0, 48.0], Glass::new(2.0))
    };
    let trees = [("hole", over_nothing([icon, tooltip]))];
    assert_shown(LDR, &trees);
    assert_shown(HDR, &trees);
}

/// A glow adds light to the picture of its group. Colour functions of the group change this light as well, and keep it.
#[test]
fn glows_in_colored_groups() {
    let glow = glowing(shadow([0.0; 2], 4.0, [0.8, 0.6, 0.4, 1.0]));
    let functions = [
        ("neutral", 0.99, 1.0),
        ("saturated", 1.2, 1.0),
        ("bright", 1.0, 1.2),
        ("dark", 0.5, 0.6),
    ];
    let mut trees = Vec::new();
    for (name, saturation, brightness) in functions {
        for alpha in [0.0, 0.01, 0.3, 1.0] {
            let light = Node {
                filter: Some(casting([glow], Filter::NEUTRAL)),
                ..plain([20.0, 10.0, 20.0, 12.0], WHITE)
            };
            let panel = Node {
                children: vec![light],
                ..plain([10.0, 10.0, 60.0, 40.0], [0.1, 0.2, 0.1, alpha])
            };
            let filter = colored([Step::Saturate(saturation), Step::Brightness(brightness)]);
            trees.push((
                format!("glow-{name}-{alpha}"),
                over_nothing([group(filter, vec![panel])]),
            ));
        }
    }
    assert_shown(LDR, &trees);
}

/// A filter that becomes slightly non-neutral changes the picture of a group with glass only slightly.
#[test]
fn groups_with_glass_do_not_pop_when_a_filter_leaves_neutral() {
    let [neutral, nearly] = [1.0, 0.999].map(|opacity| {
        let glass = rounded([4.0; 4], pane([20.0, 10.0, 50.0, 35.0], Glass::new(4.0)));
        let green = plain([60.0, 12.0, 12.0, 30.0], [0.2, 0.9, 0.3, 0.7]);
        let children = super::boxes().into_iter().chain([glass, green]).collect();
        super::over_scene([group(super::faded(opacity), children)])
    });
    let pictures = [&neutral, &nearly].map(|tree| tree.picture(Storage::Half));
    let change = super::worst_difference(&pictures[0], &pictures[1]).value;
    assert!(change < 1.0 / 255.0, "{change}");
    super::assert_within(LDR, 1.5, &[("neutral", neutral), ("nearly", nearly)]);
}

/// A group in another one shows nothing beyond the border of that one, and glass in it sees nothing there.
#[test]
fn glass_sees_nothing_beyond_the_border_around() {
    let trees = ENDING.map(|edge| {
        let inner = Node {
            filter: ending(edge, 0.0).map(|filter| Filter { opacity: 0.6, ..filter }),
            children: vec![pane([-1.0, 6.0, 40.0, 30.0], Glass::new(7.0))],
            ..plain([0.0, -1.0, 40.0, 40.0], [0.02, 0.02, 0.9, 1.0])
        };
        let outer = Node {
            filter: ending(EdgeMode::Renormalize, 0.0).map(|filter| Filter { opacity: 0.9, ..filter }),
            children: vec![inner],
            ..plain([30.0, 10.0, 12.0, 44.0], NOTHING)
        };
        (format!("nested-{edge:?}"), over_nothing([outer]))
    });
    assert_shown(LDR, &trees);
    assert_shown(HDR, &trees);
}

/// A card has left the screen, and its filter casts a shadow back onto it. Beyond the viewport the glass is not painted, but it still hides
/// the box shadow of its node: only what the box shadow paints around the box casts a shadow.
#[test]
fn glass_beyond_the_viewport_still_lies_over_its_shadow() {
    // A screen takes the stamps.
    drop(Screen::of_one_size(BlurBackend::Fragment, HDR));
    let stamp = stamps::all().iter().find(|stamp| stamp.name == "shadow").cloned();
    let card = |(left, top): (f64, f64), sigma: f64, is_inset: bool| {
        let cast = Shadow {
            is_inset,
            ..shadow([20.0 - 0.5 * left, 0.0], 0.0, WHITE)
        };
        let node = Node {
            radii: [stamps::RADIUS; 4],
            stamp: stamp.clone(),
            glass: Some(Glass::new(2.0)),
            filter: Some(casting([cast], soft(sigma))),
            ..plain([left, top, 26.0, 18.0], NOTHING)
        };
        (format!("card-{left}-{top}-{sigma}-{is_inset}"), over_nothing([node]))
    };
    let places = [(-29.0, 20.0), (-60.0, 20.0), (-13.0, 20.0), (20.0, -30.0)];
    let trees: Vec<Named> = places
        .into_iter()
        .flat_map(|place| {
            [(0.0, false), (1.0, false), (1.0, true)].map(|(sigma, is_inset)| card(place, sigma, is_inset))
        })
        .collect();
    assert_shown(HDR, &trees);
    assert_switched_off(HDR, &trees);
}
