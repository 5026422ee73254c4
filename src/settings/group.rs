//! Glass that shares a backdrop.

use bevy::prelude::*;
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// On a node: the glass in its subtree, and its own, shares one backdrop.
///
/// All of it sees what lies below the first of it: neither each other nor the group's other nodes. Neighbours that see their
/// surroundings are then mirror images, and a list of cards that overlap is blurred at once, at the cost of one blur. A descendant
/// with `GlobalZIndex` leaves the group. Inside a filtered group ([`UiFilter`](crate::UiFilter)), the glass of that group shares a
/// backdrop of its own. Of nested groups, the innermost counts.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq, Hash)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub struct BackdropGroup;
