//! Groups in clips, under transforms, and beyond the viewport.

use super::groups::shadowed;
use super::*;

/// The overflow of the filtered node clips the group before the filter; the overflow of its ancestors clips the result.
#[test]
fn clips() {
    let whole = |filter: Option<Filter>| Node {
        filter,
        origin: [-24.0, -18.0],
        ..group(Filter::NEUTRAL, boxes())
    };
    let list = |filter, child| {
        over_scene([Node {
            clips: [true; 2],
            filter,
            children: vec![child],
            ..plain([24.0, 18.0, 35.0, 18.0], NOTHING)
        }])
    };
    let filter = Some(shadowed(soft(1.0)));
    let trees = [
        ("clip-outside", list(None, whole(filter.clone()))),
        ("clip-inside", list(filter, whole(None))),
    ];
    assert_within(LDR, 1.5, &trees);
}

/// The scale of a node also scales the lengths of its filter. Its rotation does not turn them.
#[test]
fn transforms_and_scales() {
    let turned = turned(0.5, scaled([0.8; 2], group(shadowed(soft(1.0)), boxes())));
    assert_within(LDR, 1.5, &[("turned", over_scene([turned]))]);
}

/// Content beyond the viewport is blurred into it.
#[test]
fn beyond_the_viewport() {
    let beyond = |origin: [f64; 2], offset: [f64; 2], filter: Filter| {
        let mut filter = shadowed(filter);
        filter.shadows[0].offset = offset;
        let group = group(filter, boxes());
        (format!("beyond-{origin:?}"), over_scene([Node { origin, ..group }]))
    };
    let near = [[40.0, 0.0], [-50.0, 10.0], [0.0, -30.0], [55.0, 30.0]];
    let near = near.map(|origin| beyond(origin, [-12.0, 0.0], soft(5.0)));
    // Of the last one, only the shadow is seen.
    let mut trees = Vec::from(near);
    trees.push(beyond([80.0, 0.0], [-40.0, 0.0], Filter::NEUTRAL));
    assert_within(LDR, 1.5, &trees);
}

/// Stripes with a clipped list over them, in which a filtered row has these children.
fn list(filter: Filter, scrolled: f64, children: Vec<Node>) -> Tree {
    let stripe = |index: i32| {
        let [yellow, blue] = [[0.9, 0.7, 0.1, 1.0], [0.1, 0.2, 0.8, 1.0]];
        let color = if index % 3 == 0 { yellow } else { blue };
        plain([0.0, f64::from(index) * 7.0, 96.0, 4.0], color)
    };
    let row = Node {
        filter: Some(filter),
        children,
        ..plain([2.0, scrolled, 56.0, 26.0], [0.7, 0.1, 0.1, 0.5])
    };
    let list = Node {
        clips: [true; 2],
        children: vec![row],
        ..plain([12.0, 10.0, 60.0, 40.0], [0.2, 0.2, 0.2, 0.3])
    };
    Tree {
        clear: [0.4, 0.4, 0.4, 1.0],
        ..over_nothing((0..9).map(stripe).chain([list]))
    }
}

/// Filters of which the first does not reach beyond a pixel, and the last reaches farther on one side than on the other.
fn row_filters() -> [(&'static str, Filter); 4] {
    let with = |offset, sigma, filter| casting([shadow(offset, sigma, [0.0, 0.0, 0.0, 0.8])], filter);
    [
        ("faded", faded(0.8)),
        ("soft", soft(1.5)),
        ("shadowed", with([2.0, -3.0], 1.0, soft(1.5))),
        ("hard", with([2.0, 4.0], 0.0, faded(0.8))),
    ]
}

/// A tooltip with `OverrideClip` in a row of a list is visible beyond the list, as without a filter.
#[test]
fn tooltips_of_filtered_rows() {
    let trees = row_filters().map(|(name, filter)| {
        let tooltip = Node {
            is_free: true,
            ..plain([40.0, -6.0, 34.0, 12.0], [0.1, 0.9, 0.3, 0.9])
        };
        (format!("tooltip-{name}"), list(filter, 20.0, vec![tooltip]))
    });
    assert_shown(LDR, &trees);
}

/// A pane in a filtered row mirrors at its box, cut by the clip of the list, which is grown by the reach of the row's filter.
#[test]
fn glass_in_rows_of_a_scrolled_list() {
    let mut trees: Vec<Named> = Vec::new();
    for (name, filter) in row_filters() {
        for scrolled in [-17.0, -3.0, 8.0, 20.0, 29.0, 36.0] {
            for glass in [Glass::new(3.0), super::open(3.0)] {
                let name = format!("scrolled-{name}-{scrolled}-{}", glass.sees_surroundings);
                let pane = pane([6.0, 2.0, 40.0, 22.0], glass);
                trees.push((name, list(filter.clone(), scrolled, vec![pane])));
            }
        }
    }
    assert_shown(LDR, &trees);
}
