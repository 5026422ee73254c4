//! Pictures that frozen blurs go on with ([`FreezeBlur`]): taking them, keeping them, and losing them.
//!
//! A picture is taken by a texture copy, at the blur's own place in the frame, so it needs no pipeline and is what the blur would
//! have read. From the next frame on the blur reads it instead of what the camera has painted. That is all that differs: the
//! plans, the pipelines and the numbers are those of the running world, which is why a frozen blur has the very bits of the last
//! one that was not, and may start in the frame in which it is asked for.
//!
//! How long a picture is kept is up to the main world: as long as the component is there that was added when it was taken. What
//! a render device held is lost with it. Then, and where there is no memory, the blur goes on unfrozen, and the game is told.

mod kept;
mod masks;

use crate::settings::{FreezeBlur, FreezeLost};
use crate::systems::BlurSystems;
use bevy::prelude::*;
use bevy::render::RenderApp;
use std::sync::{Arc, Mutex, PoisonError};

pub use kept::{Frozen, KeptPicture, Sheet, Wanted};
pub use masks::MaskRevisions;

/// Adds what frozen blurs need in the main world.
pub struct FreezePlugin;

impl Plugin for FreezePlugin {
    fn build(&self, app: &mut App) {
        let losses = Losses::default();
        app.insert_resource(losses.clone())
            .init_resource::<MaskRevisions>()
            .add_systems(PreUpdate, report_losses.in_set(BlurSystems::Report))
            .add_systems(PostUpdate, masks::follow_masks.in_set(BlurSystems::Collect));
        if let Some(render_app) = app.get_sub_app_mut(RenderApp) {
            render_app.insert_resource(losses);
        }
    }
}

/// The main world's entities whose pictures are lost, on their way there.
#[derive(Resource, Clone, Default)]
pub struct Losses(Arc<Mutex<Vec<Entity>>>);

impl Losses {
    /// Says that a picture is lost, and why.
    pub fn push(&self, entity: Entity, why: impl core::fmt::Display) {
        error!("the frozen blur of entity {entity} goes on unfrozen: {why}");
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(entity);
    }

    /// Says that a picture is lost with the render device.
    pub fn push_device(&self, entity: Entity) {
        self.push(entity, "its picture was lost with the render device");
    }
}

/// Turns losses into events.
fn report_losses(mut commands: Commands, losses: Res<Losses>, frozen: Query<(), With<FreezeBlur>>) {
    let lost = core::mem::take(&mut *losses.0.lock().unwrap_or_else(PoisonError::into_inner));
    for entity in lost.into_iter().filter(|entity| frozen.contains(*entity)) {
        commands.trigger(FreezeLost { entity });
    }
}
