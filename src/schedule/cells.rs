//! A spatial index of rectangles: a query for an overlap tests only rectangles nearby. Plain values.
//!
//! A frame is divided into cells, on levels of 1, 2 x 2, 4 x 4 cells and so on. A rectangle is stored on the finest level on
//! which it meets at most two cells along each axis. On every level, rectangles that overlap meet a common cell. So the cells
//! rule out only rectangles that cannot overlap; the query tests the others exactly.

use bevy::math::Rect;

/// The number of levels, and the side of the finest one, in cells.
const LEVELS: usize = 6;
const SIDE: usize = 1 << (LEVELS - 1);

/// The cells of all levels, one level after the other.
const CELLS: usize = first_cell(LEVELS);

/// The index of no rectangle.
const NONE: u32 = u32::MAX;

/// The first cell and the last one that a rectangle meets, along x and y.
type Spans = [[usize; 2]; 2];

/// Rectangles by the cells that they meet.
pub struct Cells {
    /// The start of the frame along x and y, and the number of finest cells per pixel.
    origin: [f32; 2],
    scale: [f32; 2],
    /// The rectangle that was added last to each cell.
    latest: Vec<u32>,
    /// Every rectangle, once for each cell, with the rectangle that was added to that cell before it.
    kept: Vec<(Rect, u32)>,
}

impl Cells {
    /// An empty index. Rectangles outside of the frame are allowed, but cost more.
    pub fn new(frame: Rect) -> Self {
        let (min, max) = (frame.min.to_array(), frame.max.to_array());
        Self {
            origin: min,
            scale: [0, 1].map(|axis| SIDE as f32 / (max[axis] - min[axis]).max(0.0)),
            latest: vec![NONE; CELLS],
            kept: Vec::new(),
        }
    }

    /// Adds a rectangle.
    pub fn add(&mut self, rect: Rect) {
        let finest = self.spans(rect);
        let is_small = |level: &usize| coarser(finest, *level).iter().all(|[first, last]| last - first <= 1);
        // On the level of a single cell everything is small.
        let level = (0..LEVELS).rev().find(is_small).unwrap_or(0);
        for cell in cells(level, coarser(finest, level)) {
            let before = core::mem::replace(&mut self.latest[cell], self.kept.len() as u32);
            self.kept.push((rect, before));
        }
    }

    /// Whether a stored rectangle overlaps this one.
    pub fn overlap(&self, rect: Rect) -> bool {
        if self.kept.is_empty() {
            return false;
        }
        let finest = self.spans(rect);
        let mut met = (0..LEVELS).flat_map(|level| cells(level, coarser(finest, level)));
        met.any(|cell| {
            let mut next = self.latest[cell];
            while let Some((kept, before)) = self.kept.get(next as usize) {
                if overlap(*kept, rect) {
                    return true;
                }
                next = *before;
            }
            false
        })
    }

    /// The finest cells that a rectangle meets. Parts outside of the frame meet the cells at its border. If `min` and `max` of
    /// the rectangle are exchanged, it meets the cell of `min`: every rectangle that overlaps it contains both.
    fn spans(&self, rect: Rect) -> Spans {
        let (min, max) = (rect.min.to_array(), rect.max.to_array());
        [0, 1].map(|axis| {
            // The cast saturates and turns NaN into 0, so it is monotonic.
            let cell = |place: f32| (((place - self.origin[axis]) * self.scale[axis]) as usize).min(SIDE - 1);
            let first = cell(min[axis]);
            let last = if max[axis].is_nan() { SIDE - 1 } else { cell(max[axis]) };
            [first, last.max(first)]
        })
    }
}

/// The first cell of a level.
const fn first_cell(level: usize) -> usize {
    ((1 << (2 * level)) - 1) / 3
}

/// The same cells on another level.
fn coarser(finest: Spans, level: usize) -> Spans {
    finest.map(|span| span.map(|cell| cell >> (LEVELS - 1 - level)))
}

/// The indices of some cells of a level.
fn cells(level: usize, [[left, right], [top, bottom]]: Spans) -> impl Iterator<Item = usize> {
    let row = move |y: usize| first_cell(level) + (y << level);
    (top..=bottom).flat_map(move |y| row(y) + left..=row(y) + right)
}

/// Whether two rectangles share more than an edge. A coordinate that is NaN may be anywhere.
pub fn overlap(a: Rect, b: Rect) -> bool {
    let is_apart = a.max.x <= b.min.x || b.max.x <= a.min.x || a.max.y <= b.min.y || b.max.y <= a.min.y;
    !is_apart
}
