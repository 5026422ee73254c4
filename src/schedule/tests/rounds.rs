//! Tests rounds against examples and against their definition.

use super::super::cells::overlap;
use super::super::rounds::{After, Timeline};
use bevy::math::{FloatOrd, Rect, Vec2};
use proptest::prelude::*;
use proptest::sample::select;

const FRAME: Rect = Rect {
    min: Vec2::ZERO,
    max: Vec2::new(2000.0, 1000.0),
};

/// Something that happens: glass that reads its box and is painted there, or an item. `None` is anywhere, or reads nothing.
#[derive(Clone, Copy, Debug)]
enum Happens {
    Glass(Option<Rect>),
    Item(Option<Rect>),
}

use Happens::{Glass, Item};

fn square(x: f32) -> Option<Rect> {
    Some(Rect::new(x, 0.0, x + 10.0, 10.0))
}

/// The timeline of events on one surface.
fn timeline(events: &[Happens]) -> Timeline {
    let mut timeline = Timeline::default();
    for (index, event) in events.iter().enumerate() {
        let key = FloatOrd(index as f32);
        match *event {
            Glass(reads) => {
                let reader = timeline.read(vec![0], reads);
                timeline.paint(0, key, After::Batch(reader), reads.or(square(0.0)), true);
            }
            Item(bounds) => timeline.paint(0, key, After::Nothing, bounds, true),
        }
    }
    timeline.solve(1, FRAME);
    timeline
}

/// The batches of glass.
fn batches(events: &[Happens]) -> Vec<usize> {
    let timeline = timeline(events);
    let count = events.iter().filter(|event| matches!(event, Glass(_))).count();
    (0..count).map(|reader| timeline.batch(reader)).collect()
}

#[test]
fn panes_apart_are_one_batch() {
    assert_eq!(
        batches(&[
            Item(square(0.0)),
            Glass(square(0.0)),
            Item(square(0.0)),
            Item(square(20.0)),
            Glass(square(20.0))
        ]),
        [1, 1]
    );
    assert_eq!(
        batches(&[Glass(square(0.0)), Item(square(10.0)), Glass(square(20.0))]),
        [1, 1],
        "an edge is no overlap"
    );
}

#[test]
fn what_lies_on_glass_and_below_glass_divides_them() {
    assert_eq!(batches(&[Glass(square(0.0)), Glass(square(5.0))]), [1, 2]);
    let wide = Some(Rect::new(0.0, 0.0, 30.0, 5.0));
    assert_eq!(batches(&[Glass(square(0.0)), Item(wide), Glass(square(20.0))]), [1, 2]);
    assert_eq!(
        batches(&[Glass(square(0.0)), Item(None), Glass(square(20.0))]),
        [1, 2],
        "it may be anywhere"
    );
    let lost = Some(Rect {
        min: Vec2::NAN,
        max: Vec2::NAN,
    });
    assert_eq!(batches(&[Glass(square(0.0)), Item(lost), Glass(square(20.0))]), [1, 2]);
}

/// Forty cards of glass, each with a button of glass, need two batches, whatever their order.
#[test]
fn the_depth_counts_and_not_the_number() {
    let cards: Vec<Happens> = (0..40)
        .flat_map(|card| [Glass(square(20.0 * card as f32)), Glass(square(20.0 * card as f32))])
        .collect();
    assert_eq!(batches(&cards), [1, 2].repeat(40));
}

/// Frozen glass joins any batch. What lies below it may still be anywhere, and divides others.
#[test]
fn frozen_glass_does_not_hide_what_lies_below_it() {
    assert_eq!(
        batches(&[Glass(square(0.0)), Item(None), Glass(None), Glass(square(40.0))]),
        [1, 1, 2]
    );
}

/// Only what glass waits for is painted before it. Bevy paints the rest, in the last round.
#[test]
fn nothing_is_painted_early_without_need() {
    let events = [
        Item(square(0.0)),
        Item(square(50.0)),
        Glass(square(0.0)),
        Item(square(80.0)),
        Glass(square(5.0)),
    ];
    let rounds: Vec<usize> = timeline(&events).units.iter().map(|unit| unit.round).collect();
    assert_eq!(rounds, [0, 2, 1, 2, 2]);
}

/// The definition: whether what must come in order does, for all pairs of events.
fn assert_in_order(events: &[Happens], timeline: &Timeline) {
    let meet = |one: Option<Rect>, other: Option<Rect>| match (one, other) {
        (Some(one), Some(other)) => overlap(one, other),
        _ => true,
    };
    let mut readers = 0;
    // What was painted, in which round, and what was read, before which.
    let (mut painted, mut read) = (Vec::new(), Vec::new());
    for (event, unit) in events.iter().zip(&timeline.units) {
        let bounds = match *event {
            Item(bounds) => bounds,
            Glass(reads) => {
                let batch = timeline.batch(readers);
                readers += 1;
                assert!(unit.round >= batch);
                if reads.is_some() {
                    let below = painted
                        .iter()
                        .filter(|(bounds, _)| meet(*bounds, reads))
                        .map(|(_, round)| *round);
                    assert!(
                        below.max().is_none_or(|round: usize| round < batch),
                        "all that it reads is there"
                    );
                    read.push((reads, batch));
                }
                reads.or(square(0.0))
            }
        };
        let own = matches!(event, Glass(Some(_))).then(|| read.len().saturating_sub(1));
        for (reads, batch) in read
            .iter()
            .enumerate()
            .filter(|(place, _)| own != Some(*place))
            .map(|(_, read)| read)
        {
            assert!(!meet(bounds, *reads) || unit.round >= *batch, "nothing comes too early");
        }
        for (below, round) in &painted {
            assert!(
                !meet(bounds, *below) || unit.round >= *round,
                "what overlaps comes in order"
            );
        }
        painted.push((bounds, unit.round));
    }
}

/// The length of the longest chain of events that read or cover each other.
fn depth(events: &[Happens]) -> usize {
    let mut depths: Vec<(Option<Rect>, usize)> = Vec::new();
    for event in events {
        let (bounds, glass) = match *event {
            Item(bounds) => (bounds, 0),
            Glass(reads) => (reads.or(square(0.0)), 1),
        };
        let met = depths.iter().filter(|(below, _)| match (bounds, *below) {
            (Some(one), Some(other)) => overlap(one, other),
            _ => true,
        });
        let most = met.map(|(_, depth)| *depth).max().unwrap_or(0);
        depths.push((bounds, most + glass));
    }
    depths.into_iter().map(|(_, depth)| depth).max().unwrap_or(0)
}

/// The bounds of a box on whole pixels, anywhere, or with numbers of every kind.
fn bounds() -> impl Strategy<Value = Rect> {
    const ENDS: [f32; 5] = [f32::NEG_INFINITY, f32::INFINITY, f32::NAN, f32::MIN, f32::MAX];
    let pixels = [0_u16..60, 0..40, 1..5, 1..3].prop_map(|[x, y, width, height]| {
        let min = Vec2::new(f32::from(x), f32::from(y)) * 32.0;
        Rect::from_corners(min, min + Vec2::new(f32::from(width), f32::from(height)) * 32.0)
    });
    let free = [0.0_f32..2000.0, 0.0..1200.0, 1.0..90.0, 1.0..60.0]
        .prop_map(|[x, y, width, height]| Rect::new(x, y, x + width, y + height));
    let number = prop_oneof![4 => -100.0_f32..2200.0, 1 => select(&ENDS)];
    let anything =
        [number.clone(), number.clone(), number.clone(), number].prop_map(|[left, top, right, bottom]| Rect {
            min: Vec2::new(left, top),
            max: Vec2::new(right, bottom),
        });
    prop_oneof![20 => pixels, 20 => free, 1 => anything]
}

fn events() -> impl Strategy<Value = Vec<Happens>> {
    let event = prop_oneof![
        1 => proptest::option::weighted(0.9, bounds()).prop_map(Glass),
        4 => proptest::option::weighted(0.995, bounds()).prop_map(Item),
    ];
    prop_oneof![
        proptest::collection::vec(event.clone(), 0..60),
        proptest::collection::vec(event, 0..400)
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn rounds_are_those_of_the_definition(events in events()) {
        let timeline = timeline(&events);
        assert_in_order(&events, &timeline);
        let last = timeline.units.iter().map(|unit| unit.round).max().unwrap_or(0);
        prop_assert!(last <= depth(&events), "{last} rounds, and glass overlaps {} times", depth(&events));
    }
}

/// Thousands of items with hundreds of panes: as many rounds as glass lies on glass.
#[test]
fn large_scenes_have_few_rounds() {
    let mut events = Vec::new();
    for index in 0..5000_usize {
        let place = Vec2::new((index * 37 % 190) as f32 * 10.0, (index * 91 % 97) as f32 * 10.0);
        let rect = Some(Rect::from_corners(place, place + 8.0));
        events.push(if index % 16 == 0 { Glass(rect) } else { Item(rect) });
    }
    let last = timeline(&events).units.iter().map(|unit| unit.round).max();
    assert!(last.is_some_and(|last| last <= depth(&events)), "{last:?}");
}
