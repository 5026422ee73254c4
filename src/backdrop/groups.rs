//! Which panels are blurred together. Plain values.
//!
//! Panels come in the order in which they are painted. A group reads the picture at its *cut*: everything painted
//! before it is there, and nothing that is painted after it. A panel joins the group before it if nothing between that
//! group's cut and its own can touch what it reads: then it sees at that cut what it would have seen at its own.
//!
//! Everything is known by its sort key and not by its place in a list, which may change between preparing and drawing.

use bevy::math::{FloatOrd, Rect};

/// What a panel reads, and when.
#[derive(Clone, Copy, Debug)]
pub struct Reader {
    /// The index of the panel.
    pub panel: usize,
    /// The first sort key that it does not see.
    pub cut: f32,
    /// In pixels of the viewport.
    pub reads: Rect,
}

/// Something that is painted: its sort key, and its bounds in pixels of the viewport if they are known.
pub type Painted = (FloatOrd, Option<Rect>);

/// Panels that are blurred together.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The first sort key that none of them sees.
    pub cut: f32,
    /// Their indices, in the order in which they are painted.
    pub panels: Vec<usize>,
}

/// Forms groups. What reads is sorted by its cuts, and what is painted, glass included, by its keys.
#[must_use]
pub fn group(readers: &[Reader], painted: &[Painted]) -> Vec<Group> {
    let before = |cut: f32| painted.partition_point(|(key, _)| *key < FloatOrd(cut));
    let mut groups: Vec<Group> = Vec::new();
    for reader in readers {
        let touches = |(_, bounds): &Painted| bounds.is_none_or(|bounds| overlap(bounds, reader.reads));
        match groups.last_mut() {
            Some(group) if !painted[before(group.cut)..before(reader.cut)].iter().any(touches) => {
                group.panels.push(reader.panel);
            }
            _ => groups.push(Group {
                cut: reader.cut,
                panels: vec![reader.panel],
            }),
        }
    }
    groups
}

/// Whether two rectangles share more than an edge. What is NaN is taken to be anywhere.
fn overlap(a: Rect, b: Rect) -> bool {
    let is_apart = a.max.x <= b.min.x || b.max.x <= a.min.x || a.max.y <= b.min.y || b.max.y <= a.min.y;
    !is_apart
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(x: f32) -> Rect {
        Rect::new(x, 0.0, x + 10.0, 10.0)
    }

    fn reader(panel: usize, cut: f32, x: f32) -> Reader {
        Reader {
            panel,
            cut,
            reads: square(x),
        }
    }

    fn item(key: f32, x: f32) -> Painted {
        (FloatOrd(key), Some(square(x)))
    }

    /// The panels of the groups of two panels that lie side by side, with the items between them.
    fn of_two(items: &[Painted]) -> Vec<Vec<usize>> {
        let groups = group(&[reader(0, 1.5, 0.0), reader(1, 4.5, 20.0)], items);
        groups.into_iter().map(|group| group.panels).collect()
    }

    #[test]
    fn panels_apart_are_one_group() {
        let glass_and_nodes = [item(0.0, 20.0), item(1.95, 0.0), item(2.0, 0.0), item(4.95, 20.0)];
        assert_eq!(of_two(&glass_and_nodes), [[0, 1]]);
        assert_eq!(of_two(&[item(3.0, 10.0)]), [[0, 1]], "an edge is no overlap");
    }

    #[test]
    fn what_comes_between_divides_panels() {
        assert_eq!(of_two(&[item(3.0, 25.0)]), [[0], [1]]);
        assert_eq!(of_two(&[(FloatOrd(3.0), None)]), [[0], [1]], "nobody knows where it is");
        let lost = Rect {
            min: bevy::math::Vec2::NAN,
            max: bevy::math::Vec2::NAN,
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
        assert_eq!((groups[0].cut, &groups[0].panels[..]), (0.0, &[0][..]));
        assert_eq!((groups[1].cut, &groups[1].panels[..]), (1.0, &[1, 2][..]));
    }
}
