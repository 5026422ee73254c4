//! Tests batches against examples and against their definition.

use super::super::cells::overlap;
use super::super::grouping::{Cut, Event, Painted, Reader, Sight, group};
use bevy::math::{FloatOrd, Rect, Vec2};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

fn square(x: f32) -> Rect {
    Rect::new(x, 0.0, x + 10.0, 10.0)
}

fn reader(backdrop: usize, cut: f32, x: f32) -> Reader {
    Reader {
        sight: Sight::Backdrop(backdrop),
        cut: FloatOrd(cut),
        reads: Some(square(x)),
    }
}

fn item(key: f32, x: f32) -> Painted {
    (FloatOrd(key), Some(square(x)))
}

/// The backdrops of the groups of two backdrops that lie side by side, with the items between them.
fn of_two(items: &[Painted]) -> Vec<Vec<usize>> {
    let groups = group(&[reader(0, 1.5, 0.0), reader(1, 4.5, 20.0)], items);
    groups.into_iter().map(|cut| backdrops_of(&cut)).collect()
}

fn backdrops_of(cut: &Cut) -> Vec<usize> {
    match &cut.event {
        Event::Blur(backdrops) => backdrops.clone(),
        Event::Turn(_) => Vec::new(),
    }
}

#[test]
fn panels_apart_are_one_group() {
    let backdrops_and_nodes = [item(0.0, 20.0), item(1.95, 0.0), item(2.0, 0.0), item(4.95, 20.0)];
    assert_eq!(of_two(&backdrops_and_nodes), [[0, 1]]);
    assert_eq!(of_two(&[item(3.0, 10.0)]), [[0, 1]], "an edge is no overlap");
}

#[test]
fn what_comes_between_divides_panels() {
    assert_eq!(of_two(&[item(3.0, 25.0)]), [[0], [1]]);
    assert_eq!(of_two(&[(FloatOrd(3.0), None)]), [[0], [1]], "it may be anywhere");
    let lost = Rect {
        min: Vec2::NAN,
        max: Vec2::NAN,
    };
    assert_eq!(of_two(&[(FloatOrd(3.0), Some(lost))]), [[0], [1]]);
}

#[test]
fn a_panel_does_not_see_its_own_shadow() {
    assert_eq!(of_two(&[item(4.9, 25.0)]), [[0, 1]]);
}

#[test]
fn stacked_panels_are_groups_of_their_own() {
    let readers = [reader(0, 0.0, 0.0), reader(1, 1.0, 5.0), reader(2, 2.0, 30.0)];
    let glass = [item(0.5, 0.0), item(1.5, 5.0), item(2.5, 30.0)];
    let groups = group(&readers, &glass);
    assert_eq!(groups.len(), 2);
    assert_eq!((groups[0].at, backdrops_of(&groups[0])), (FloatOrd(0.0), vec![0]));
    assert_eq!((groups[1].at, backdrops_of(&groups[1])), (FloatOrd(1.0), vec![1, 2]));
}

/// Frozen glass joins any group. What lies below it may still be anywhere, and divides others.
#[test]
fn frozen_glass_does_not_hide_what_lies_below_it() {
    let frozen = Reader {
        reads: None,
        ..reader(1, 2.5, 20.0)
    };
    let readers = [reader(0, 0.5, 0.0), frozen, reader(2, 3.5, 40.0)];
    let painted = [item(0.95, 0.0), (FloatOrd(2.05), None), item(2.95, 20.0)];
    let groups = group(&readers, &painted).into_iter().map(|cut| backdrops_of(&cut));
    assert_eq!(groups.collect::<Vec<_>>(), [vec![0, 1], vec![2]]);
}

/// The definition of batches, item by item.
fn by_definition(readers: &[Reader], painted: &[Painted]) -> Vec<Cut> {
    let mut cuts: Vec<Cut> = Vec::new();
    for reader in readers {
        let touches = |bounds: Option<Rect>| {
            reader
                .reads
                .is_some_and(|reads| bounds.is_none_or(|bounds| overlap(bounds, reads)))
        };
        let divides = |at: FloatOrd| {
            painted
                .iter()
                .any(|(key, bounds)| at <= *key && *key < reader.cut && touches(*bounds))
        };
        let last = cuts.last_mut().filter(|cut| !divides(cut.at));
        match (last.map(|cut| &mut cut.event), reader.sight) {
            (Some(Event::Blur(backdrops)), Sight::Backdrop(backdrop)) => backdrops.push(backdrop),
            (_, sight) => cuts.push(Cut {
                at: reader.cut,
                event: match sight {
                    Sight::Backdrop(backdrop) => Event::Blur(vec![backdrop]),
                    Sight::Filter(filter) => Event::Turn(filter),
                },
            }),
        }
    }
    cuts
}

/// The bounds of a box that may be rotated.
fn rotated() -> impl Strategy<Value = Rect> {
    let numbers = (
        0.0_f32..2000.0,
        0.0_f32..1200.0,
        0.0_f32..80.0,
        0.0_f32..40.0,
        0.0_f32..6.3,
    );
    numbers.prop_map(|(x, y, width, height, angle)| {
        let corners = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
        let turned = corners.map(|at| {
            Vec2::new(x, y) + Vec2::from_angle(angle).rotate(0.5 * Vec2::new(width, height) * Vec2::from(at))
        });
        turned[1..]
            .iter()
            .fold(Rect::from_corners(turned[0], turned[0]), |all, at| all.union_point(*at))
    })
}

/// A box of whole pixels, which often has an edge in common with another one.
fn on_pixels() -> impl Strategy<Value = Rect> {
    [0_u16..60, 0..40, 1..5, 1..3].prop_map(|[x, y, width, height]| {
        let min = Vec2::new(f32::from(x), f32::from(y)) * 32.0;
        Rect::from_corners(min, min + Vec2::new(f32::from(width), f32::from(height)) * 32.0)
    })
}

/// Any four numbers: sides may be exchanged, infinite, beyond the viewport, or NaN.
fn anything() -> impl Strategy<Value = Rect> {
    const ENDS: [f32; 5] = [f32::NEG_INFINITY, f32::INFINITY, f32::NAN, f32::MIN, f32::MAX];
    let number = prop_oneof![4 => -100.0_f32..2200.0, 1 => select(&ENDS)];
    [number.clone(), number.clone(), number.clone(), number].prop_map(|[left, top, right, bottom]| Rect {
        min: Vec2::new(left, top),
        max: Vec2::new(right, bottom),
    })
}

fn bounds() -> impl Strategy<Value = Rect> {
    prop_oneof![20 => rotated(), 20 => on_pixels(), 1 => anything()]
}

/// Every ninth reader is a filter.
fn sight(index: usize) -> Sight {
    if index % 9 == 8 {
        return Sight::Filter(index);
    }
    Sight::Backdrop(index)
}

/// Up to 60 backdrops, and up to 400 items on up to 60 layers. In some of these worlds bounds are of every kind, and a few
/// items divide everything; in others few backdrops lie where the items are, and most form one group.
fn world() -> impl Strategy<Value = (Vec<Reader>, Vec<Painted>)> {
    let items = prop_oneof![
        proptest::collection::vec((0_u8..120, proptest::option::weighted(0.99, bounds())), 0..400),
        proptest::collection::vec((0_u8..120, rotated().prop_map(Some)), 0..40),
        proptest::collection::vec((0_u8..120, on_pixels().prop_map(|bounds| Some(moved(bounds)))), 0..400),
    ];
    // A frozen one reads nothing.
    let reads = proptest::option::weighted(0.9, bounds());
    let backdrops = proptest::collection::vec((0_u8..120, reads), 0..60);
    (backdrops, items).prop_map(|(mut backdrops, mut items)| {
        backdrops.sort_by_key(|(key, _)| *key);
        items.sort_by_key(|(key, _)| *key);
        let readers = backdrops.into_iter().enumerate().map(|(index, (key, reads))| Reader {
            sight: sight(index),
            cut: FloatOrd(f32::from(key) * 0.5),
            reads,
        });
        let painted = items
            .into_iter()
            .map(|(key, bounds)| (FloatOrd(f32::from(key) * 0.5), bounds));
        (readers.collect(), painted.collect())
    })
}

/// Moves a box to where few backdrops are.
fn moved(bounds: Rect) -> Rect {
    let by = Vec2::new(1900.0, 900.0);
    Rect {
        min: bounds.min + by,
        max: bounds.max + by,
    }
}

#[test]
fn groups_are_those_of_the_definition() {
    let config = Config {
        cases: 2000,
        failure_persistence: None,
        ..Config::default()
    };
    // The worlds are always the same.
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let outcome = runner.run(&world(), |(readers, painted)| {
        prop_assert_eq!(group(&readers, &painted), by_definition(&readers, &painted));
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}
