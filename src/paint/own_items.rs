//! What the crate's own items in the phases of Bevy's user interface are.

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

    /// All items, by their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (usize, What)> {
        self.items.iter().copied()
    }

    /// What any item of a phase is.
    pub fn what(&self, item: &TransparentUi) -> What {
        let is_own = Some(item.draw_function) == self.draw_function;
        let number = number_of(item).filter(|_| is_own);
        let own = number.and_then(|number| self.items.get(number));
        own.map_or(What::Other, |(_, what)| *what)
    }
}

/// The number of an own item.
pub fn number_of(item: &TransparentUi) -> Option<usize> {
    match item.extra_index {
        PhaseItemExtraIndex::DynamicOffset(number) => Some(number as usize),
        _ => None,
    }
}
