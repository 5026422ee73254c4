//! Which backdrops are blurred together.
//!
//! Backdrops come in the order in which they are painted. A batch reads the picture at its *cut*: everything painted
//! before it is there, and nothing that is painted after it. A backdrop joins the batch before it if nothing between that
//! batch's cut and its own can touch what it reads: then it sees at that cut what it would have seen at its own.

use super::cells::{Cells, overlap};
use bevy::math::{FloatOrd, Rect};

/// Who reads what has been painted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sight {
    /// A backdrop, by its index.
    Backdrop(usize),
    /// A filter with glass inside its group, by the filter's index. The group is painted at its cut, which no backdrop shares.
    Filter(usize),
}

/// A backdrop or a filter, with what it reads, and when.
#[derive(Clone, Copy, Debug)]
pub struct Reader {
    /// The backdrop or the filter.
    pub sight: Sight,
    /// The first sort key that it does not see.
    pub cut: FloatOrd,
    /// In pixels of the viewport. `None` if it reads nothing painted in this frame: a backdrop then fits into any batch.
    pub reads: Option<Rect>,
}

/// Something that is painted: its sort key, and its bounds in pixels of the viewport if they are known.
pub type Painted = (FloatOrd, Option<Rect>);

/// What is done at a cut.
#[derive(Clone, Debug, PartialEq)]
pub struct Cut {
    /// The first sort key that is not seen.
    pub at: FloatOrd,
    /// What happens there.
    pub event: Event,
}

/// What happens at a cut.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// These backdrops are blurred, given in the order in which they are painted.
    Blur(Vec<usize>),
    /// The group of this filter is painted.
    Turn(usize),
}

impl Cut {
    fn of(reader: &Reader) -> Self {
        Self {
            at: reader.cut,
            event: match reader.sight {
                Sight::Backdrop(backdrop) => Event::Blur(vec![backdrop]),
                Sight::Filter(filter) => Event::Turn(filter),
            },
        }
    }
}

/// Forms batches. `readers` must be sorted by cut, and `painted`, which includes glass, by sort key.
#[must_use]
pub fn group(readers: &[Reader], painted: &[Painted]) -> Vec<Cut> {
    let mut cuts: Vec<Cut> = Vec::new();
    let read = readers.iter().filter_map(|reader| reader.reads);
    let frame = read.reduce(|all, reads| all.union(reads)).unwrap_or_default();
    // The bounds of what is painted between the cut of the last batch and the cut of its last backdrop, and whether some of them are
    // unknown.
    let mut over = Cells::new(frame);
    let mut is_anywhere = false;
    let mut start = 0;
    for reader in readers {
        let end = painted.partition_point(|(key, _)| *key < reader.cut);
        let new = &painted[start..end];
        start = end;
        let touches = |reads: Rect| {
            let touches = |(_, bounds): &Painted| bounds.is_none_or(|bounds| overlap(bounds, reads));
            is_anywhere || new.iter().any(touches) || over.overlap(reads)
        };
        match (cuts.last_mut().map(|cut| &mut cut.event), reader.sight) {
            (Some(Event::Blur(backdrops)), Sight::Backdrop(backdrop)) if !reader.reads.is_some_and(touches) => {
                backdrops.push(backdrop);
                is_anywhere |= new.iter().any(|(_, bounds)| bounds.is_none());
                new.iter()
                    .filter_map(|(_, bounds)| *bounds)
                    .for_each(|bounds| over.add(bounds));
            }
            _ => {
                over.clear();
                is_anywhere = false;
                cuts.push(Cut::of(reader));
            }
        }
    }
    cuts
}
