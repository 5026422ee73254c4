//! Where the crate's own items lie among the items of Bevy's user interface.
//!
//! Bevy's sort keys are the place of a node in the stack of all nodes, plus an offset: -0.1 for the node's shadow, 0 for its
//! background, more for everything else. Glass lies between the shadow and the background. But its cut lies halfway to the node
//! before: the node's own shadow fills the box, and the glass must not see it.

use bevy::math::FloatOrd;

/// A place of an own item at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// What lies below glass and groups ends here. A mark ends Bevy's batches.
    Cut,
    /// Glass, and the hole that it makes in the picture of its own node's group.
    Glass,
    /// The result of a group, over the glass of its own node.
    Result,
    /// The result of a group without its node: over everything that the node itself paints.
    Content,
}

impl Slot {
    /// The sort key of an own item of the node at this place in the stack.
    pub fn key(self, stack_index: u32) -> FloatOrd {
        let offset = match self {
            Self::Cut => -0.5,
            Self::Glass => -0.05,
            Self::Result => -0.04,
            Self::Content => 0.4,
        };
        FloatOrd(stack_index as f32 + offset)
    }
}

/// Sort keys before and after all others.
pub const FIRST: FloatOrd = FloatOrd(f32::NEG_INFINITY);
pub const LAST: FloatOrd = FloatOrd(f32::INFINITY);

/// The place in the stack of the node to which an item with this sort key belongs. Items of other crates may have negative keys.
pub fn node_of(FloatOrd(key): FloatOrd) -> i64 {
    (key + 0.5).floor() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_lie_in_order_at_their_nodes() {
        let shadow = |node: u32| FloatOrd(node as f32 - 0.1);
        for node in (0..1000).chain(65_000..65_537) {
            let keys = [
                Slot::Cut.key(node),
                shadow(node),
                Slot::Glass.key(node),
                Slot::Result.key(node),
                FloatOrd(node as f32),
                Slot::Content.key(node),
            ];
            assert!(keys.is_sorted_by(|one, other| one < other), "{keys:?}");
            assert!(keys.iter().all(|key| node_of(*key) == i64::from(node)), "{keys:?}");
        }
        assert_eq!(node_of(FloatOrd(-3.2)), -3);
    }
}
