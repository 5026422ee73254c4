//! Glass inside of groups that are filtered (feature `ui`).
//!
//! Such glass is painted on the group's picture, which shows the group over nothing. What it sees is in no texture: what the camera
//! has painted below the group, with what the group has painted so far over it. So a picture of that is made, as large as the
//! glass reads, and the blur reads it in place of the camera's.
//!
//! The front end of filters says which glass that is, and paints the groups; this room knows nothing else of filters.

use super::encode_regions::BackdropDrawer;
use crate::diagnostics::label::BlurLabel;
use bevy::prelude::*;
use bevy::render::renderer::RenderContext;
use bevy::render::view::ViewTarget;

/// The filters with glass inside of their groups, in this frame.
#[derive(Resource, Default)]
pub struct FilterTurns(pub Vec<FilterTurn>);

/// A filter whose group is painted when what lies below it has been.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FilterTurn {
    /// The render world's entity of the camera.
    pub camera: Entity,
    /// The index of the filter.
    pub filter: usize,
    /// The first sort key that lies over it.
    pub cut: f32,
}

/// How the group of a filter is painted and blurred, by the filter's index.
#[derive(Resource)]
pub struct PaintGroup(pub fn(&Scene, usize, &mut RenderContext));

/// What a group is painted over.
pub struct Scene<'a> {
    /// The render world, in which nothing is changed.
    pub world: &'a World,
    /// The render world's entity of the camera.
    pub camera: Entity,
    /// What it paints into.
    pub target: &'a ViewTarget,
    /// Blurs the group's glass.
    pub drawer: &'a BackdropDrawer<'a>,
    /// What the blurs are timed under.
    pub label: Option<&'a BlurLabel>,
}
