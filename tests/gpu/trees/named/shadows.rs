//! Shadows inside of groups, and shadows that move by parts of a pixel.

use super::*;

/// A dark shadow.
fn dark(offset: [f64; 2], sigma: f64) -> Shadow {
    super::shadow(offset, sigma, [0.02, 0.0, 0.1, 0.8])
}

fn with(shadows: impl Into<Vec<Shadow>>) -> Filter {
    casting(shadows, Filter::NEUTRAL)
}

/// Stripes, and over them a group of a rounded card and a box beyond it that is not opaque, after a change.
fn card(filter: Filter, change: impl Fn(Node) -> Node) -> Tree {
    let card = Node {
        filter: Some(filter),
        children: vec![
            plain([6.0, 5.0, 14.0, 9.0], [0.9, 0.1, 0.1, 1.0]),
            plain([30.0, 20.0, 24.0, 18.0], [0.2, 0.6, 0.9, 0.5]),
        ],
        ..plain([22.0, 13.0, 44.0, 30.0], [0.8, 0.9, 0.8, 1.0])
    };
    over_stripes([0.9, 0.5, 0.1, 1.0], [change(rounded([9.0; 4], card))])
}

fn assert_filters(filters: Vec<(String, Filter)>) {
    let trees = filters
        .into_iter()
        .map(|(name, filter)| (name, card(filter, |card| card)));
    let trees: Vec<Named> = trees.collect();
    assert_shown(LDR, &trees);
    assert_shown(HDR, &trees);
}

#[test]
fn into_the_group() {
    let glow = Shadow {
        color: [0.2, 0.9, 0.3, 0.7],
        ..glowing(inset(dark([0.0; 2], 3.0)))
    };
    let deep = |filter: Filter| casting([inset(dark([3.0, 4.0], 2.5))], filter);
    let blurred = Filter {
        sigma: [2.0, 1.0],
        ..Filter::NEUTRAL
    };
    let filters = [
        ("soft", deep(Filter::NEUTRAL)),
        ("sharp", with([inset(dark([3.0, -2.0], 0.0))])),
        ("far", with([inset(dark([60.0, 0.0], 1.5))])),
        ("wide", with([inset(dark([-3.0, 1.0], 12.0))])),
        ("glow", with([glow])),
        (
            "and-outer",
            with([inset(dark([2.0, 2.0], 2.0)), dark([4.0, 5.0], 3.0), glow]),
        ),
        ("faded", deep(super::faded(0.6))),
        ("blurred", deep(blurred)),
        ("rounded", deep(curved(Filter::NEUTRAL))),
        ("colored", deep(colored([Step::Saturate(0.3), Step::Brightness(1.2)]))),
    ];
    assert_filters(filters.map(|(name, filter)| (format!("inset-{name}"), filter)).into());
}

#[test]
fn by_parts_of_a_pixel() {
    let offsets = [[0.25, 0.0], [2.5, 3.75], [-4.515625, 1.984375], [0.0, -0.125]];
    let mut filters = Vec::new();
    for (index, offset) in offsets.into_iter().enumerate() {
        for sigma in [0.0, 1.0, 1.5, 3.0, 9.0] {
            filters.push((format!("moved-{index}-{sigma}"), with([dark(offset, sigma)])));
            filters.push((
                format!("moved-inset-{index}-{sigma}"),
                with([inset(dark(offset, sigma))]),
            ));
        }
    }
    let soft = Filter {
        sigma: [1.2, 0.0],
        ..with([dark([2.3, 1.6], 1.0), dark([2.3, 1.6], 0.4)])
    };
    filters.push(("moved-soft".into(), soft));
    assert_filters(filters);
}

/// A group whose scale makes whole offsets fractional.
#[test]
fn of_scaled_groups() {
    let filter = with([dark([3.0, 5.0], 2.0), inset(dark([1.0, 1.0], 2.0))]);
    let tree = card(filter, |card| scaled([1.25, 0.75], card));
    assert_shown(LDR, &[("scaled-shadows", tree)]);
}
