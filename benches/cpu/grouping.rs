//! The cost of grouping panes of glass: 300 panes among 5000 items of a user interface, all in one group, so that every
//! pane is compared with all items before it.

#[path = "../../src/schedule/cells.rs"]
mod cells;
#[allow(dead_code, reason = "groups of filters have surfaces, too")]
#[path = "../../src/schedule/rounds.rs"]
mod rounds;

use bevy::math::{FloatOrd, Rect, Vec2};
use rounds::{After, Timeline};
use std::hint::black_box;
use std::time::Instant;

/// Panes along x and y, their size, and the distance between two, in pixels.
const PANES: [usize; 2] = [20, 15];
const SIZE: Vec2 = Vec2::new(88.0, 64.0);
const STEP: Vec2 = Vec2::new(96.0, 72.0);
const ITEMS: usize = 5000;
/// The number of timed runs.
const TIMED: usize = 501;

/// Prints a row for each of two orders in which the items are painted.
pub fn print() {
    println!("\n| grouping {} panes among {ITEMS} items | µs |\n|---|---|", count());
    for (name, scatters) in [
        ("each pane, and what is on it", false),
        ("panes and items scattered", true),
    ] {
        let events = scene(scatters);
        let mut times: Vec<f64> = (0..TIMED).map(|_| time(&events)).collect();
        times.sort_by(f64::total_cmp);
        println!("| {name} | {:.1} |", times[TIMED / 2]);
    }
}

fn count() -> usize {
    PANES[0] * PANES[1]
}

fn time(events: &[(f32, Rect, bool)]) -> f64 {
    let start = Instant::now();
    let mut timeline = Timeline::default();
    let mut is_new = true;
    for (key, rect, is_glass) in black_box(events) {
        let mut after = After::Nothing;
        if *is_glass {
            after = After::Batch(timeline.read(vec![0], Some(*rect)));
        }
        timeline.paint(0, FloatOrd(*key), after, Some(*rect), is_new || *is_glass);
        is_new = *is_glass;
    }
    let frame = Rect::from_corners(Vec2::ZERO, Vec2::new(1920.0, 1080.0));
    let last = timeline.solve(1, frame);
    let time = start.elapsed().as_secs_f64() * 1e6;
    assert_eq!(last, 1, "no item is on a pane that is painted after it");
    time
}

/// The panes and all items, with their sort keys, and whether they are glass. Each item is on a pane and is painted after it: right after
/// it, or, if `scatters`, at any later time.
fn scene(scatters: bool) -> Vec<(f32, Rect, bool)> {
    let mut random = Random(1);
    let mut events = Vec::new();
    let mut places: Vec<usize> = (0..count()).collect();
    if scatters {
        (1..count()).for_each(|last| places.swap(last, random.below(last + 1)));
    }
    for (panel, place) in places.iter().enumerate() {
        let corner = Vec2::new((place % PANES[0]) as f32, (place / PANES[0]) as f32) * STEP;
        let reads = Rect::from_corners(corner, corner + SIZE);
        let cut = panel as f32;
        events.push((cut, reads, true));
        for item in 0..(panel + 1) * ITEMS / count() - panel * ITEMS / count() {
            let size = Vec2::new(random.within(4.0..60.0), random.within(4.0..20.0));
            let left_over = SIZE - size;
            let min = corner + Vec2::new(random.within(0.0..left_over.x), random.within(0.0..left_over.y));
            let later = if scatters {
                random.within(0.0..count() as f32 - cut)
            } else {
                0.0
            };
            let key = cut + later + 0.3 + 0.01 * item as f32;
            events.push((key, Rect::from_corners(min, min + size), false));
        }
    }
    events.sort_by_key(|(key, ..)| FloatOrd(*key));
    events
}

/// Pseudo-random numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn below(&mut self, end: usize) -> usize {
        self.next() as usize % end
    }

    fn within(&mut self, range: core::ops::Range<f32>) -> f32 {
        range.start + (range.end - range.start) * self.next() as f32 / (1_u64 << 31) as f32
    }
}
