//! Groups that fade towards sides of their node.

use super::*;
use crate::support::reference::Storage;

/// A group that reaches beyond its node, which clips it or not.
fn list(filter: Filter, is_clipped: bool) -> Node {
    Node {
        filter: Some(filter),
        clips: [is_clipped; 2],
        children: vec![
            plain([-8.0, 4.0, 40.0, 12.0], [0.9, 0.1, 0.1, 1.0]),
            plain([14.0, 10.0, 30.0, 40.0], [0.2, 0.6, 0.9, 0.5]),
        ],
        ..plain([22.0, 13.0, 44.0, 34.0], [0.8, 0.9, 0.8, 1.0])
    }
}

fn shown(node: Node) -> Tree {
    over_stripes([0.9, 0.5, 0.1, 1.0], [node])
}

fn fade(fade: [f64; 4]) -> Filter {
    fading(fade, Filter::NEUTRAL)
}

fn fading(fade: [f64; 4], filter: Filter) -> Filter {
    Filter { fade, ..filter }
}

fn assert_lists<const N: usize>(lists: [(&str, Node); N]) {
    let trees: [Named; N] = lists.map(|(name, list)| (format!("fade-{name}"), shown(list)));
    assert_shown(LDR, &trees);
    assert_shown(HDR, &trees);
}

#[test]
fn groups_fade_towards_their_sides() {
    let askew = list(fade([8.0, 12.0, 0.0, 5.0]), false);
    assert_lists([
        ("left", list(fade([10.0, 0.0, 0.0, 0.0]), true)),
        ("top", list(fade([0.0, 10.0, 0.0, 0.0]), true)),
        ("right", list(fade([0.0, 0.0, 10.0, 0.0]), true)),
        ("bottom", list(fade([0.0, 0.0, 0.0, 10.0]), true)),
        ("ends", list(fade([0.0, 12.0, 0.0, 9.0]), true)),
        ("ends-meet", list(fade([0.0, 30.0, 0.0, 50.0]), true)),
        ("corners", list(fade([12.0; 4]), false)),
        ("beyond", list(fade([0.0, 12.0, 0.0, 0.0]), false)),
        ("thin", list(fade([0.6, 0.3, 1.0, 0.75]), true)),
        ("turned", turned(0.4, scaled([1.2, 0.9], askew))),
    ]);
}

/// A shadow, a blur and colours are those of the faded group; opacity fades it further.
#[test]
fn everything_else_is_done_to_the_faded_group() {
    let both = |filter: Filter| fading([0.0, 12.0, 0.0, 9.0], filter);
    let blurred = |edge: EdgeMode, filter: Filter| Filter {
        sigma: [2.5; 2],
        edge,
        ..both(filter)
    };
    let shadow = shadow([4.0, 3.0], 2.0, [0.3, 0.0, 0.2, 0.8]);
    let cast = both(casting([shadow], Filter::NEUTRAL));
    let faded = Filter {
        opacity: 0.5,
        ..cast.clone()
    };
    let (inside, glow) = (inset(shadow), glowing(shadow));
    let colors = || colored([Step::Sepia(0.7), Step::Invert(1.0)]);
    let light = Node {
        children: vec![list(casting([glow], Filter::NEUTRAL), false)],
        ..list(both(colored([Step::Brightness(0.7)])), false)
    };
    let filters = [
        ("shadow", cast),
        ("inset", both(casting([inside, shadow], Filter::NEUTRAL))),
        ("blur", blurred(EdgeMode::Transparent, Filter::NEUTRAL)),
        ("border", blurred(EdgeMode::Mirror, Filter::NEUTRAL)),
        ("colours", both(colors())),
        ("blurred-colours", blurred(EdgeMode::Transparent, colors())),
        ("opacity", faded),
    ];
    assert_lists(filters.map(|(name, filter)| (name, list(filter, false))));
    assert_lists([("glow-inside", light)]);
}

/// Glass in the group fades with it, glass of the node itself does not; rounded and faded groups lie in each other.
#[test]
fn with_glass_and_groups_inside() {
    let both = || fade([6.0, 12.0, 0.0, 9.0]);
    let mut with_glass = list(both(), true);
    with_glass.children.push(pane([6.0, 2.0, 30.0, 30.0], Glass::new(2.0)));
    let own = Node {
        glass: Some(Glass::new(2.0)),
        color: [0.0; 4],
        ..list(both(), true)
    };
    let mut nested = list(both(), false);
    nested.children.push(Node {
        origin: [10.0, 8.0],
        ..list(both(), true)
    });
    assert_lists([
        ("glass", with_glass),
        ("own-glass", own),
        ("rounded", rounded([12.0; 4], list(curved(both()), false))),
        ("nested", nested),
    ]);
}

/// A length that grows from 0 moves no pixel of a clipped list at once: by at most a quarter in every eighth of a pixel.
#[test]
fn a_length_grows_without_a_jump() {
    let picture = |length: f64| shown(list(fade([0.0, length, 0.0, 0.0]), true)).picture(Storage::Half);
    let mut before = picture(0.0);
    for step in 1..=40 {
        let now = picture(f64::from(step) / 8.0);
        let most = super::worst_difference(&before, &now).value;
        assert!(most <= 0.25, "step {step}: {most}");
        before = now;
    }
}
