//! The cost of grouping panes of glass: 300 panes among 5000 items of a user interface, all in one group, so that every
//! pane is compared with all items before it.

#[allow(dead_code, reason = "filters form groups, too")]
#[path = "../../src/schedule/grouping.rs"]
mod batches;
#[path = "../../src/schedule/cells.rs"]
mod cells;

use batches::{Event, Painted, Reader, Sight, group};
use bevy::math::{FloatOrd, Rect, Vec2};
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
        let (readers, painted) = scene(scatters);
        let mut times: Vec<f64> = (0..TIMED).map(|_| time(&readers, &painted)).collect();
        times.sort_by(f64::total_cmp);
        println!("| {name} | {:.1} |", times[TIMED / 2]);
    }
}

fn count() -> usize {
    PANES[0] * PANES[1]
}

fn time(readers: &[Reader], painted: &[Painted]) -> f64 {
    let start = Instant::now();
    let groups = group(black_box(readers), black_box(painted));
    let time = start.elapsed().as_secs_f64() * 1e6;
    assert_eq!(groups.len(), 1, "no item is on a pane that is painted after it");
    assert!(matches!(&groups[0].event, Event::Blur(backdrops) if backdrops.len() == count()));
    time
}

/// The panes, and all painted items, including the glass. Each item is on a pane and is painted after it: right after it, or, if
/// `scatters`, at any later time.
fn scene(scatters: bool) -> (Vec<Reader>, Vec<Painted>) {
    let mut random = Random(1);
    let mut readers = Vec::new();
    let mut painted = Vec::new();
    let mut places: Vec<usize> = (0..count()).collect();
    if scatters {
        (1..count()).for_each(|last| places.swap(last, random.below(last + 1)));
    }
    for (panel, place) in places.iter().enumerate() {
        let corner = Vec2::new((place % PANES[0]) as f32, (place / PANES[0]) as f32) * STEP;
        let reads = Rect::from_corners(corner, corner + SIZE);
        let cut = panel as f32;
        readers.push(Reader {
            sight: Sight::Backdrop(panel),
            cut: FloatOrd(cut),
            reads: Some(reads),
        });
        painted.push((FloatOrd(cut + 0.25), Some(reads)));
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
            painted.push((FloatOrd(key), Some(Rect::from_corners(min, min + size))));
        }
    }
    painted.sort_by_key(|(key, _)| *key);
    (readers, painted)
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
