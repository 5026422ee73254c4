//! Where a backdrop is painted among everything else. Plain values.

#[cfg(feature = "ui")]
use bevy::prelude::Entity;

/// Where a backdrop is painted among everything else.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PaintOrder {
    /// A region under the user interface, by its order.
    BelowUi(i32),
    /// A node.
    #[cfg(feature = "ui")]
    Ui {
        /// Its place in the stack of all nodes.
        stack_index: u32,
        /// The render world's entity of its item in the phase, of this frame only.
        item: Entity,
    },
    /// A region over the user interface, by its order.
    AboveUi(i32),
}

#[cfg(feature = "ui")]
impl PaintOrder {
    /// The place in the stack of all nodes.
    pub fn stack_index(self) -> Option<u32> {
        match self {
            Self::Ui { stack_index, .. } => Some(stack_index),
            Self::BelowUi(_) | Self::AboveUi(_) => None,
        }
    }

    /// The entity of the item in the phase.
    pub fn item(self) -> Option<Entity> {
        match self {
            Self::Ui { item, .. } => Some(item),
            Self::BelowUi(_) | Self::AboveUi(_) => None,
        }
    }
}
