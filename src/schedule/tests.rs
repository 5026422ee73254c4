//! Tests schedules against examples, against their definition, and by properties.

mod price;
mod rounds;
mod steps;
mod tree;

use super::scene::{Backdrop, Picture};
use super::shape::Shape;
use crate::settings::BackdropBlur;
use bevy::prelude::Entity;

impl Backdrop {
    /// At a scale of 1, with nothing but settings.
    pub fn plain(shape: Shape, settings: &BackdropBlur, picture: &Picture) -> Self {
        Self::new(Entity::PLACEHOLDER, (settings, None), None, (shape, 1.0), picture)
    }
}
