//! The kept pictures of frozen blurs ([`FreezeBlur`](crate::FreezeBlur)), of cameras and of glass: taking, keeping and losing them.
//!
//! A picture is taken by a texture copy, when it is the blur's turn in the frame. So it needs no pipeline and is
//! exactly what the blur would have read. From the next frame on, the blur reads the kept picture instead of what the
//! camera has painted. Nothing else differs: plans, pipelines and numbers are the same. So a frozen blur equals the last
//! unfrozen one bit for bit, and may start in the frame in which it is added.
//!
//! Each world has one map of freezes. The main world's, [`Freezes`], says which freezes exist, and what is known of their pictures.
//! The render world's, [`KeptPictures`], follows it, and holds the pictures with all that belongs to them. What differs between the
//! two is reported in every frame until they agree, so nothing depends on a message that arrives in time:
//!
//! | the main world knows | the render world has | then |
//! |---|---|---|
//! | an untaken freeze | its picture | `FreezeTaken` |
//! | a freeze whose picture is taken | no picture: its device was lost | `FreezeLost` |
//! | an untaken or a taken freeze | no memory for it | `FreezeLost` |
//! | a freeze that it does not see, or whose blurs are switched off | a picture | it is dropped; `FreezeLost` if it was known |

mod freezes;
mod kept;
mod picture;

use crate::mailbox::Mailbox;
use crate::profiles::follow_profiles;
use crate::settings::FreezeBlur;
use crate::systems::BlurSystems;
use bevy::prelude::*;
use bevy::render::{ExtractSchedule, GpuResourceAppExt, Render, RenderApp, RenderSystems};
use freezes::Freezes;

pub use freezes::FrozenBlur;
pub use kept::{KeptPictures, extract_freezes};
pub use picture::{Shot, Wanted};

/// Adds frozen blurs to an app.
pub fn plugin(app: &mut App) {
    let reports = Mailbox::<freezes::FreezeReport>::default();
    app.insert_resource(reports.clone())
        .init_resource::<Freezes>()
        .add_observer(|frozen: On<Insert, FreezeBlur>, mut freezes: ResMut<Freezes>| freezes.start(frozen.entity))
        .add_observer(|thawed: On<Remove, FreezeBlur>, mut freezes: ResMut<Freezes>| freezes.end(thawed.entity))
        .add_systems(PreUpdate, freezes::read_reports.in_set(BlurSystems::Report))
        .add_systems(PostUpdate, freezes::look_at_freezes.in_set(BlurSystems::Collect));
    let Some(render_app) = app.get_sub_app_mut(RenderApp) else {
        return;
    };
    render_app
        .insert_resource(reports)
        .init_gpu_resource::<KeptPictures>()
        .add_systems(ExtractSchedule, extract_freezes.after(follow_profiles))
        .add_systems(
            Render,
            (
                kept::count_pictures
                    .after(RenderSystems::PrepareBindGroups)
                    .before(RenderSystems::Render),
                kept::report_pictures.in_set(RenderSystems::Cleanup),
            ),
        );
}

#[cfg(test)]
mod tests;
