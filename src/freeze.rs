//! The kept pictures of frozen blurs ([`FreezeBlur`](crate::FreezeBlur)): taking, keeping and losing them.
//!
//! A picture is taken by a texture copy, when it is the blur's turn in the frame. So it needs no pipeline and is
//! exactly what the blur would have read. From the next frame on, the blur reads the kept picture instead of what the
//! camera has painted. Nothing else differs: plans, pipelines and numbers are the same. So a frozen blur equals the last
//! unfrozen one bit for bit, and may start in the frame in which it is added.
//!
//! The main world decides how long a picture is kept: as long as its `FreezeBlur` component exists. Pictures are lost
//! with their render device. After such a loss, and if there is no memory for a picture, the blur continues unfrozen,
//! and the game gets an event.

mod kept;
mod main_world;

use crate::systems::BlurSystems;
use bevy::prelude::*;
use bevy::render::RenderApp;

pub use kept::{Frozen, Sheet, Wanted};
pub use main_world::{FreezeNumbers, Losses, MaskRevisions, count_changes};

/// Adds the main-world side of frozen blurs.
pub struct FreezePlugin;

impl Plugin for FreezePlugin {
    fn build(&self, app: &mut App) {
        let losses = Losses::default();
        app.insert_resource(losses.clone())
            .init_resource::<MaskRevisions>()
            .add_systems(PreUpdate, main_world::report_news.in_set(BlurSystems::Report))
            .init_resource::<FreezeNumbers>()
            .add_observer(main_world::number_freeze)
            .add_observer(main_world::forget_number)
            .add_systems(PostUpdate, count_changes.in_set(BlurSystems::Collect));
        if let Some(render_app) = app.get_sub_app_mut(RenderApp) {
            render_app.insert_resource(losses);
        }
    }
}
