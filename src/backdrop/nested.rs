//! Glass inside filtered groups (feature `ui`).
//!
//! Such glass is painted on the group's picture, which shows the group over nothing. But it sees what the group has painted so
//! far over what the camera has painted below the group, which no texture holds. So both are combined in a page, as large as
//! the texels that the glass reads, and the blur reads the page instead of the camera's picture.
//!
//! The front end of filters says which glass is nested, and paints the groups; this module knows nothing else of filters.

use super::encode_regions::BackdropDrawer;
use crate::diagnostics::label::BlurLabel;
use bevy::prelude::*;
use bevy::render::renderer::RenderContext;
use bevy::render::view::ViewTarget;

/// The filters with glass inside their groups, in this frame.
#[derive(Resource, Default)]
pub struct FilterTurns(pub Vec<FilterTurn>);

/// A filter whose group is painted as soon as everything below it is painted.
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
