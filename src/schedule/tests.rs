//! Tests schedules against examples, against their definition, and by properties.

mod price;
mod rounds;
mod steps;
mod tree;

use super::scene::{Glass, GlassOrder};
use super::shape::Shape;
use crate::settings::{BackdropBlur, BlurSwitch};
use bevy::prelude::Entity;

impl<'a> Glass<'a> {
    /// Above the user interface, at a scale of 1, with nothing but settings.
    pub fn plain(shape: Shape, settings: &'a BackdropBlur) -> Self {
        Self {
            entity: Entity::PLACEHOLDER,
            order: GlassOrder::AboveUi(0),
            shape,
            clip: None,
            settings,
            profile: None,
            lens: None,
            scale: 1.0,
            freeze: None,
            switch: BlurSwitch::On,
            shares: None,
            is_hidden: false,
        }
    }
}
