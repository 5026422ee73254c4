//! Groups in groups, over nothing, on several cameras, hidden and transparent.

use super::*;
use crate::support::reference::tree::Visibility;

pub fn shadowed(filter: Filter) -> Filter {
    casting([shadow([4.0, 3.0], 2.0, [0.0, 0.0, 0.0, 0.7])], filter)
}

pub fn green() -> Node {
    plain([60.0, 12.0, 12.0, 30.0], [0.2, 0.9, 0.3, 0.7])
}

#[test]
fn filters_in_filters() {
    let hue = Filter {
        sigma: [1.0; 2],
        ..colored([Step::HueRotate(90.0)])
    };
    let nested = [
        ("faded-in-faded", faded(0.6), faded(0.5)),
        ("soft-in-faded", faded(0.6), soft(2.0)),
        ("shadow-in-soft", soft(2.0), shadowed(Filter::NEUTRAL)),
        ("soft-in-shadow", shadowed(faded(0.8)), soft(2.0)),
        ("soft-in-soft", soft(2.0), hue),
    ];
    let trees = nested.map(|(name, outer, inner)| {
        let inner = group(inner, boxes());
        (name, over_scene([group(outer, vec![inner, green()])]))
    });
    assert_within(LDR, 1.5, &trees);
}

/// Glass on a filtered node lies under the group, and glass over a group sees it.
#[test]
fn glass_on_and_over_groups() {
    let filter = shadowed(soft(1.0));
    let own = Node {
        glass: Some(Glass::new(3.0)),
        ..group(filter.clone(), boxes())
    };
    let over = pane([20.0, 10.0, 50.0, 35.0], Glass::new(3.0));
    let trees = [
        ("glass-on-a-group", over_scene([own])),
        ("glass-over-a-group", over_scene([group(filter, boxes()), over])),
    ];
    assert_within(LDR, 2.5, &trees);
    assert_within(HDR, 0.6, &trees);
}

/// On a camera with a transparent clear colour, a filtered group keeps its alpha.
#[test]
fn over_nothing_groups_keep_their_alpha() {
    let filters = [
        ("faded", faded(0.5)),
        ("soft", soft(2.0)),
        ("shadow", shadowed(Filter::NEUTRAL)),
    ];
    let trees = filters.map(|(name, filter)| {
        let tree = over_nothing([group(filter, boxes())]);
        let clear = NOTHING;
        (format!("over-nothing-{name}"), Tree { clear, ..tree })
    });
    assert_within(LDR, 1.5, &trees);
}

/// Several cameras, each with its own filters, one with glass inside. Of the two blurs of one camera, only the stronger begins at a lower
/// resolution, so passes of two kinds write one page.
#[test]
fn cameras_have_their_own_groups() {
    let glass = pane([20.0, 10.0, 50.0, 35.0], Glass::new(3.0));
    let inside = boxes().into_iter().chain([glass]).collect();
    let trees: [Named<&str>; 3] = [
        (
            "soft",
            over_scene([group(soft(1.5), boxes()), group(soft(12.0), vec![green()])]),
        ),
        ("shadow", over_scene([group(shadowed(faded(0.6)), inside)])),
        ("nothing", over_scene([])),
    ];
    assert_within(LDR, 2.5, &trees[..2]);
    assert_shown(LDR, &trees);
}

/// The filter of a hidden node applies to visible children. Groups that are transparent are invisible.
#[test]
fn hidden_and_transparent() {
    let filter = shadowed(soft(1.0));
    let visible = Node {
        visibility: Visibility::Visible,
        children: boxes(),
        ..plain([0.0, 0.0, 96.0, 64.0], NOTHING)
    };
    let hidden = Node {
        visibility: Visibility::Hidden,
        color: [1.0; 4],
        ..group(filter.clone(), vec![visible])
    };
    assert_within(LDR, 1.5, &[("hidden", over_scene([hidden]))]);
    let opacity = 0.0;
    let transparent = over_scene([group(Filter { opacity, ..filter }, boxes())]);
    super::beside::assert_within(LDR, 0.0, &[("transparent", transparent)]);
}

/// Many groups side by side, of which those close together are painted with one view. One texel lies between neighbours. A list cuts
/// the last column off.
#[test]
fn icons_side_by_side() {
    let filters = [
        faded(0.6),
        soft(1.2),
        shadowed(Filter::NEUTRAL),
        colored([Step::HueRotate(100.0)]),
        Filter {
            opacity: 0.8,
            ..soft(2.0)
        },
        faded(0.7),
        Filter::NEUTRAL,
    ];
    let icon = |index: usize| {
        let [column, row] = [index % 11, index / 11].map(|step| step as f64);
        let inside = Node {
            filter: (index % 7 == 5).then(|| soft(0.9)),
            children: vec![rounded([3.0; 4], plain([1.0, 2.0, 5.0, 4.0], [1.0, 1.0, 1.0, 0.7]))],
            ..plain([0.0, 0.0, 7.0, 7.0], [0.9 - 0.08 * column, 0.1 + 0.2 * row, 0.5, 0.9])
        };
        Node {
            filter: Some(filters[index % 7].clone()).filter(|filter| *filter != Filter::NEUTRAL),
            children: vec![inside],
            ..plain([2.0 + 8.0 * column, 6.0 + 8.0 * row, 7.0, 7.0], NOTHING)
        }
    };
    let list = Node {
        clips: [true; 2],
        children: (0..55).map(icon).collect(),
        ..plain([0.0, 0.0, 86.0, 64.0], NOTHING)
    };
    let trees = [("icons", over_scene([list]))];
    assert_within(LDR, 2.5, &trees);
    assert_within(HDR, 0.6, &trees);
}
