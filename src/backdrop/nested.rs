//! Glass inside filtered groups (feature `ui`).
//!
//! Such glass is painted on the group's picture, which shows the group over nothing. But it sees what the group has painted so
//! far over what the camera has painted below the group, which no texture holds. So both are combined in a page, as large as
//! the texels that the glass reads, and the blur reads the page instead of the camera's picture.
//!
//! The front end of filters says which glass is nested, and paints the groups; this module knows nothing else of filters.

use super::encode_regions::BackdropDrawer;
use crate::diagnostics::label::BlurLabel;
use bevy::math::FloatOrd;
use bevy::prelude::*;
use bevy::render::renderer::RenderContext;
use bevy::render::view::ViewTarget;
use core::ops::Range;

/// The filtered groups of this frame that are in no other group, by camera and then in stacking order.
#[derive(Resource, Default)]
pub struct OutermostGroups(pub Vec<OutermostGroup>);

/// A filtered group that is in no other.
#[derive(Clone, Debug, PartialEq)]
pub struct OutermostGroup {
    /// The render world's entity of the camera.
    pub camera: Entity,
    /// The index of the filter.
    pub filter: usize,
    /// The sort keys of its items.
    pub keys: Range<f32>,
    /// The sort key of the item that paints the result.
    pub result: f32,
    /// Whether it contains glass. It is then painted as soon as everything below it is painted.
    pub has_turn: bool,
}

impl OutermostGroup {
    /// Whether the item with this sort key is painted on the group's picture, rather than on the camera's.
    pub fn hides(&self, FloatOrd(key): FloatOrd) -> bool {
        self.keys.contains(&key) && key != self.result
    }
}

/// How the group of a filter is painted and blurred, by the filter's index.
#[derive(Resource)]
pub struct PaintGroup(pub fn(&Scene, usize, &mut RenderContext));

/// What a group is painted over.
pub struct Scene<'a> {
    /// The render world, for reading only.
    pub world: &'a World,
    /// The render world's entity of the camera.
    pub camera: Entity,
    /// What it paints into.
    pub target: &'a ViewTarget,
    /// Blurs the group's glass.
    pub drawer: &'a BackdropDrawer<'a>,
    /// The label under which the blurs are timed.
    pub label: Option<&'a BlurLabel>,
}
