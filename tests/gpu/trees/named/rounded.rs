//! Groups that are clipped to the rounded box of their node.

use super::*;

/// A card whose content is larger than the card.
fn card(opacity: f64, radii: [f64; 4], more: Option<Node>) -> Node {
    let content = plain([-15.0, -15.0, 85.0, 65.0], [0.9, 0.2, 0.1, 1.0]);
    Node {
        radii,
        filter: Some(curved(faded(opacity))),
        children: [content].into_iter().chain(more).collect(),
        ..plain([20.0, 12.0, 45.0, 30.0], [0.0; 4])
    }
}

/// Upright, turned and scaled; alone and faded.
#[test]
fn groups_end_at_the_curve() {
    let mut trees: Vec<Named> = Vec::new();
    for opacity in [1.0, 0.5] {
        let card = || card(opacity, [2.0, 9.0, 15.0, 0.0], None);
        let cards = [
            ("upright", card()),
            ("turned", turned(0.4, card())),
            ("scaled", scaled([1.2, 0.8], card())),
        ];
        trees.extend(cards.map(|(name, card)| (format!("{name}-{opacity}"), over_scene([card]))));
    }
    assert_within(LDR, 1.5, &trees);
    assert_within(HDR, 0.6, &trees);
}

/// Glass inside a rounded group is cut by its curve.
#[test]
fn glass_inside_is_cut_by_the_curve() {
    let inverted = Glass {
        functions: Functions(vec![Step::Invert(1.0)]),
        ..Glass::new(4.0)
    };
    let glass = pane([-10.0, -10.0, 75.0, 55.0], inverted);
    let tree = over_scene([card(1.0, [12.0; 4], Some(glass))]);
    assert_within(LDR, 1.5, &[("glass-in-a-curve", tree)]);
}
