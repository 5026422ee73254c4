//! Pictures that frozen blurs go on with ([`FreezeBlur`](crate::FreezeBlur)): taking them, keeping them, and losing them.
//!
//! A picture is taken by a texture copy, at the blur's own place in the frame, so it needs no pipeline and is what the blur would
//! have read. From the next frame on the blur reads it instead of what the camera has painted. That is all that differs: the
//! plans, the pipelines and the numbers are those of the running world, which is why a frozen blur has the very bits of the last
//! one that was not, and may start in the frame in which it is asked for.
//!
//! How long a picture is kept is up to the main world: as long as the component is there that was added when it was taken. What
//! a render device held is lost with it. Then, and where there is no memory, the blur goes on unfrozen, and the game is told.

mod kept;
mod losses;
mod masks;

use crate::systems::BlurSystems;
use bevy::prelude::*;
use bevy::render::RenderApp;

pub use kept::{Frozen, Sheet, Wanted};
pub use losses::Losses;
pub use masks::MaskRevisions;

/// Adds what frozen blurs need in the main world.
pub struct FreezePlugin;

impl Plugin for FreezePlugin {
    fn build(&self, app: &mut App) {
        let losses = Losses::default();
        app.insert_resource(losses.clone())
            .init_resource::<MaskRevisions>()
            .add_systems(PreUpdate, losses::report_losses.in_set(BlurSystems::Report))
            .add_systems(PostUpdate, masks::follow_masks.in_set(BlurSystems::Collect));
        if let Some(render_app) = app.get_sub_app_mut(RenderApp) {
            render_app.insert_resource(losses);
        }
    }
}
