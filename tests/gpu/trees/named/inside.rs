//! Glass inside groups: it sees the picture below the group, and over it what the group has painted so far.

use super::groups::{green, shadowed};
use super::*;

fn filters() -> [(&'static str, Filter); 5] {
    let all = Filter {
        sigma: [1.3; 2],
        opacity: 0.7,
        ..shadowed(colored([Step::Saturate(0.3)]))
    };
    [
        ("faded", faded(0.6)),
        ("soft", soft(2.0)),
        ("inverted", colored([Step::Invert(1.0)])),
        ("shadow", shadowed(Filter::NEUTRAL)),
        ("all", all),
    ]
}

fn large(glass: Glass) -> Node {
    rounded([4.0; 4], pane([20.0, 10.0, 50.0, 35.0], glass))
}

fn small(left: f64, glass: Glass) -> Node {
    rounded([2.0; 4], pane([left, 17.0, 20.0, 20.0], glass))
}

/// Glass between nodes, and glass over glass, of which one needs many levels.
#[test]
fn sees_below_the_group_and_what_the_group_has_painted() {
    let mut trees: Vec<Named> = Vec::new();
    for (name, filter) in filters() {
        let mut add = |kind: &str, children| {
            trees.push((format!("{kind}-{name}"), over_scene([group(filter.clone(), children)])))
        };
        let between = boxes().into_iter().chain([large(Glass::new(3.0)), green()]);
        add("glass", between.collect());
        let below = Glass {
            opacity: 0.8,
            ..Glass::new(3.0)
        };
        let over = [small(35.0, open(14.0)), small(47.0, Glass::new(3.0))];
        add(
            "over-glass",
            [large(below)].into_iter().chain(boxes()).chain(over).collect(),
        );
    }
    assert_within(LDR, 2.5, &trees);
    assert_within(HDR, 0.6, &trees);
}

/// In half floats: in eight bits, the rounding of so many layers would add up to three levels.
#[test]
fn in_groups_in_groups() {
    let mut trees: Vec<Named> = Vec::new();
    for (name, inner) in filters() {
        let deep = || boxes().into_iter().chain([small(30.0, Glass::new(3.0))]).collect();
        let children = vec![
            green(),
            group(inner.clone(), deep()),
            group(inner.clone(), vec![green()]),
            small(47.0, Glass::new(5.0)),
            group(soft(1.0), deep()),
        ];
        let nested = group(shadowed(faded(0.8)), children);
        trees.push((format!("nested-{name}"), over_scene([nested])));
        let deepest = group(soft(1.5), vec![group(faded(0.7), vec![group(inner, deep())])]);
        trees.push((format!("deep-{name}"), over_scene([deepest])));
    }
    assert_within(HDR, 0.6, &trees);
}
