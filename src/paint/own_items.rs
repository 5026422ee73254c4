//! What the crate's own items in the phases of Bevy's user interface are (feature `ui`).

use crate::schedule::What;
use bevy::prelude::*;
use bevy::render::render_phase::{DrawFunctionId, PhaseItemExtraIndex};
use bevy::ui_render::TransparentUi;

/// The own items of this frame, by their numbers: the index of the camera, and what each is.
#[derive(Resource, Default)]
pub struct OwnItems {
    items: Vec<(usize, What)>,
    draw_function: Option<DrawFunctionId>,
}

impl OwnItems {
    /// Removes all items. The next ones have this draw function.
    pub fn start(&mut self, draw_function: DrawFunctionId) {
        self.items.clear();
        self.draw_function = Some(draw_function);
    }

    /// Adds an item of a camera. Returns its number.
    pub fn add(&mut self, camera: usize, what: What) -> u32 {
        self.items.push((camera, what));
        self.items.len() as u32 - 1
    }

    /// An own item of a phase: the index of its camera, and what it is.
    #[must_use]
    pub fn get(&self, item: &TransparentUi) -> Option<(usize, What)> {
        match item.extra_index {
            PhaseItemExtraIndex::DynamicOffset(number) if Some(item.draw_function) == self.draw_function => {
                self.items.get(number as usize).copied()
            }
            _ => None,
        }
    }

    /// What any item of a phase is.
    #[must_use]
    pub fn what(&self, item: &TransparentUi) -> What {
        self.get(item).map_or(What::Other, |(_, what)| what)
    }
}
