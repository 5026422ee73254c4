//! Which backdrops are blurred together. Plain values.
//!
//! Backdrops come in the order in which they are painted. A group reads the picture at its *cut*: everything painted
//! before it is there, and nothing that is painted after it. A backdrop joins the group before it if nothing between that
//! group's cut and its own can touch what it reads: then it sees at that cut what it would have seen at its own.
//!
//! Everything is identified by its sort key, not by its index in a list, which may change between preparing and drawing.

use super::cells::{Cells, overlap};
use bevy::math::{FloatOrd, Rect};

/// A reader of what has been painted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sight {
    /// A backdrop, by its index.
    Backdrop(usize),
    /// A filter with glass inside its group, by the filter's index. The group is painted at its cut, which no backdrop shares.
    #[cfg(feature = "ui")]
    Filter(usize),
}

/// A backdrop or a filter, with what it reads, and when.
#[derive(Clone, Copy, Debug)]
pub struct Reader {
    /// The backdrop or the filter.
    pub sight: Sight,
    /// The first sort key that it does not see.
    pub cut: f32,
    /// In pixels of the viewport. `None` if it reads nothing painted in this frame: a backdrop then fits into any group.
    pub reads: Option<Rect>,
}

/// Something that is painted: its sort key, and its bounds in pixels of the viewport if they are known.
pub type Painted = (FloatOrd, Option<Rect>);

/// Backdrops that are blurred together, or a filter.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The first sort key that none of them sees.
    pub cut: f32,
    /// Their indices, in the order in which they are painted.
    pub backdrops: Vec<usize>,
    /// The index of a filter whose group is painted here. `backdrops` is then empty.
    pub filter: Option<usize>,
}

impl Group {
    /// The group of one backdrop that needs no cut.
    #[cfg(feature = "ui")]
    pub fn of_backdrop(backdrop: usize) -> Self {
        Self {
            cut: 0.0,
            backdrops: vec![backdrop],
            filter: None,
        }
    }

    /// The group of one reader.
    fn of(reader: &Reader) -> Self {
        let (backdrops, filter) = match reader.sight {
            Sight::Backdrop(backdrop) => (vec![backdrop], None),
            #[cfg(feature = "ui")]
            Sight::Filter(filter) => (Vec::new(), Some(filter)),
        };
        Self {
            cut: reader.cut,
            backdrops,
            filter,
        }
    }
}

/// Forms groups. `readers` must be sorted by cut, and `painted`, which includes glass, by sort key.
#[must_use]
pub fn group(readers: &[Reader], painted: &[Painted]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let read = readers.iter().filter_map(|reader| reader.reads);
    let frame = read.reduce(|all, reads| all.union(reads)).unwrap_or_default();
    // The bounds of what is painted between the cut of the last group and the cut of its last backdrop, and whether some of them are
    // unknown.
    let mut over = Cells::new(frame);
    let mut is_anywhere = false;
    let mut start = 0;
    for reader in readers {
        let end = painted.partition_point(|(key, _)| *key < FloatOrd(reader.cut));
        let new = &painted[start..end];
        start = end;
        let touches = |reads: Rect| {
            let touches = |(_, bounds): &Painted| bounds.is_none_or(|bounds| overlap(bounds, reads));
            is_anywhere || new.iter().any(touches) || over.overlap(reads)
        };
        match (groups.last_mut(), reader.sight) {
            (Some(group), Sight::Backdrop(backdrop))
                if group.filter.is_none() && !reader.reads.is_some_and(touches) =>
            {
                group.backdrops.push(backdrop);
                is_anywhere |= new.iter().any(|(_, bounds)| bounds.is_none());
                new.iter()
                    .filter_map(|(_, bounds)| *bounds)
                    .for_each(|bounds| over.add(bounds));
            }
            _ => {
                over.clear();
                is_anywhere = false;
                groups.push(Group::of(reader));
            }
        }
    }
    groups
}
