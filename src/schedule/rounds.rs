//! In which round each part of a user interface is painted, so that as much as possible is blurred at once.
//!
//! Glass reads what is painted before its cut. A *round* paints, and then blurs everything whose backdrop is there. So a schedule has
//! two kinds of passes in every round: one for each page and for the camera, and those of one batch. Events come in the order in which
//! they would happen one by one: something is painted, or something is read.
//!
//! - What overlaps is painted in its order: no *unit* comes in an earlier round than one below it.
//! - What is read is painted before: the reader's *batch* runs after the rounds of all units below that it reads. Nothing that is painted
//!   after it in order, where it reads, comes in a round before its batch.
//!
//! The first walk finds the earliest round of everything. So the number of rounds is the length of the longest chain in which each one
//! reads or covers the one before, and at every second step is read: the depth in which glass overlaps, with what lies between, not the
//! number of panes. For a batch is one number higher than the round of some unit that it reads; that unit's round is 0, or that of an
//! event before it which it overlaps; and so on, down to round 0. A second walk, backwards, moves to the last round whatever nobody waits
//! for, where Bevy's own pass paints it.

use super::cells::{Cells, overlap};
use bevy::math::{FloatOrd, Rect};
use core::ops::Range;

/// A number of a unit, a reader or a surface in a timeline.
pub type Index = usize;

/// What decides the first round of a unit, beside what it overlaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// Nothing. It may as well be painted later than necessary.
    Nothing,
    /// The batch of a reader.
    Batch(Index),
    /// Everything on a surface.
    Surface(Index),
}

/// Items that are painted at once on a surface.
#[derive(Clone, Debug)]
pub struct Unit {
    /// The surface.
    pub on: Index,
    /// The sort key of the first item.
    pub key: FloatOrd,
    /// What must come before.
    pub after: After,
    /// Where it is painted.
    pub round: usize,
    bounds: Range<usize>,
}

/// What reads a part of some surfaces.
#[derive(Clone, Debug)]
struct Reader {
    surfaces: Vec<Index>,
    reads: Option<Rect>,
    batch: usize,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Unit(Index),
    Reader(Index),
}

/// Events in their order, and then their rounds.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// What is painted.
    pub units: Vec<Unit>,
    readers: Vec<Reader>,
    bounds: Vec<Option<Rect>>,
    events: Vec<Event>,
    /// The last round of every surface.
    ends: Vec<usize>,
}

impl Timeline {
    /// Adds a unit, or to the last one: something that is painted inside of these bounds, or anywhere.
    pub fn paint(&mut self, on: Index, key: FloatOrd, after: After, bounds: Option<Rect>, is_new: bool) {
        self.bounds.push(bounds);
        let end = self.bounds.len();
        match (self.units.last_mut(), self.events.last()) {
            (Some(last), Some(Event::Unit(_))) if !is_new && last.on == on => last.bounds.end = end,
            _ => {
                self.events.push(Event::Unit(self.units.len()));
                let (round, bounds) = (0, end - 1..end);
                self.units.push(Unit {
                    on,
                    key,
                    after,
                    round,
                    bounds,
                });
            }
        }
    }

    /// Adds a reader of a part of these surfaces. `None` reads nothing that is painted. Returns its number.
    pub fn read(&mut self, surfaces: Vec<Index>, reads: Option<Rect>) -> Index {
        self.events.push(Event::Reader(self.readers.len()));
        let batch = 1;
        self.readers.push(Reader { surfaces, reads, batch });
        self.readers.len() - 1
    }

    /// After which round each reader is blurred, plus one.
    pub fn batch(&self, reader: Index) -> usize {
        self.readers[reader].batch
    }

    /// The last round in which anything is painted on a surface.
    pub fn end(&self, surface: Index) -> usize {
        self.ends[surface]
    }

    /// Finds the rounds of everything on so many surfaces, the first of which is the camera's, inside of a frame. Returns the last one.
    pub fn solve(&mut self, surfaces: usize, frame: Rect) -> usize {
        self.ends = vec![0; surfaces];
        self.find_first(surfaces, frame);
        let (units, readers) = (self.units.iter(), self.readers.iter());
        let rounds = units.map(|unit| unit.round).chain(readers.map(|reader| reader.batch));
        let last = rounds.max().unwrap_or(0);
        self.ends[0] = last;
        self.put_off(surfaces, frame);
        last
    }

    /// The earliest rounds.
    fn find_first(&mut self, surfaces: usize, frame: Rect) {
        let [mut painted, mut read] = [(); 2].map(|()| ByRound::none(surfaces, frame));
        for event in &self.events {
            match *event {
                Event::Unit(index) => {
                    let unit = &mut self.units[index];
                    let mut round = match unit.after {
                        After::Nothing => 0,
                        After::Batch(reader) => self.readers[reader].batch,
                        After::Surface(surface) => self.ends[surface],
                    };
                    let bounds = &self.bounds[unit.bounds.clone()];
                    for bounds in bounds {
                        round = painted[unit.on].highest(round, *bounds);
                        round = read[unit.on].highest(round, *bounds);
                    }
                    unit.round = round;
                    self.ends[unit.on] = self.ends[unit.on].max(round);
                    // Below the first batch, everything comes in order.
                    if round > 0 {
                        bounds.iter().for_each(|bounds| painted[unit.on].add(round, *bounds));
                    }
                }
                Event::Reader(index) => {
                    let reader = &mut self.readers[index];
                    if let Some(reads) = reader.reads {
                        let rounds = reader.surfaces.iter().map(|on| painted[*on].highest(0, Some(reads)));
                        reader.batch = 1 + rounds.max().unwrap_or(0);
                        for on in &reader.surfaces {
                            read[*on].add(reader.batch, Some(reads));
                        }
                    }
                }
            }
        }
    }

    /// Moves what nothing waits for to the last round of its surface.
    fn put_off(&mut self, surfaces: usize, frame: Rect) {
        let mut later = ByRound::none(surfaces, frame);
        for event in self.events.iter().rev() {
            match *event {
                Event::Unit(index) => {
                    let unit = &mut self.units[index];
                    let (first, last, later) = (unit.round, self.ends[unit.on], &mut later[unit.on]);
                    let bounds = &self.bounds[unit.bounds.clone()];
                    if unit.after == After::Nothing {
                        let mut round = last;
                        for bounds in bounds {
                            if round == first {
                                break;
                            }
                            round = later.lowest(round, *bounds);
                        }
                        unit.round = round;
                    }
                    if unit.round < last {
                        bounds.iter().for_each(|bounds| later.add(unit.round, *bounds));
                    }
                }
                Event::Reader(index) => {
                    let reader = &self.readers[index];
                    for on in reader.surfaces.iter().filter(|_| reader.reads.is_some()) {
                        later[*on].add(reader.batch - 1, reader.reads);
                    }
                }
            }
        }
    }
}

/// Rectangles on a surface, by round.
struct ByRound {
    frame: Rect,
    rounds: Vec<Rects>,
}

/// Rectangles, of which the first few are in a list.
#[derive(Default)]
struct Rects {
    few: Vec<Rect>,
    many: Option<Cells>,
    /// Whether there is one that may be anywhere.
    are_anywhere: bool,
}

impl ByRound {
    /// The most rectangles in a list.
    const FEW: usize = 24;

    /// None, for each of so many surfaces.
    fn none(surfaces: usize, frame: Rect) -> Vec<Self> {
        let none = |_| Self {
            frame,
            rounds: Vec::new(),
        };
        (0..surfaces).map(none).collect()
    }

    fn add(&mut self, round: usize, bounds: Option<Rect>) {
        if self.rounds.len() <= round {
            self.rounds.resize_with(round + 1, Rects::default);
        }
        let rects = &mut self.rounds[round];
        match bounds {
            None => rects.are_anywhere = true,
            Some(bounds) if rects.few.len() < Self::FEW => rects.few.push(bounds),
            Some(bounds) => rects.many.get_or_insert_with(|| Cells::new(self.frame)).add(bounds),
        }
    }

    /// The highest round of what overlaps these bounds, but at least `least`.
    fn highest(&self, least: usize, bounds: Option<Rect>) -> usize {
        let higher = self.rounds.iter().enumerate().skip(least + 1).rev();
        let mut met = higher.filter(|(_, rects)| rects.overlap(bounds));
        met.next().map_or(least, |(round, _)| round)
    }

    /// The lowest round of what overlaps these bounds, but at most `most`.
    fn lowest(&self, most: usize, bounds: Option<Rect>) -> usize {
        let lower = self.rounds.iter().enumerate().take(most);
        let mut met = lower.filter(|(_, rects)| rects.overlap(bounds));
        met.next().map_or(most, |(round, _)| round)
    }
}

impl Rects {
    fn overlap(&self, bounds: Option<Rect>) -> bool {
        let Some(bounds) = bounds else {
            return self.are_anywhere || !self.few.is_empty();
        };
        let is_in_list = self.few.iter().any(|rect| overlap(*rect, bounds));
        self.are_anywhere || is_in_list || self.many.as_ref().is_some_and(|many| many.overlap(bounds))
    }
}
