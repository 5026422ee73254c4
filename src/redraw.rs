//! Asks for the next frame while a blur is on its way.
//!
//! Reactive apps, with `WinitSettings::desktop_app()`, draw only when something happens. What a blur does from frame to frame must not
//! wait for the next click.

use crate::gpu::BlurReadiness;
use crate::image::ImagesAwaited;
#[cfg(feature = "ui")]
use crate::settings::UiFilter;
use crate::settings::{BackdropBlur, GaussianBlur};
use crate::systems::BlurSystems;
use bevy::ecs::message::Messages;
use bevy::prelude::*;
use bevy::window::RequestRedraw;

/// Adds the requests for frames to an app.
pub struct RedrawPlugin;

impl Plugin for RedrawPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(PostUpdate, request_redraw.after(BlurSystems::Collect));
    }
}

#[cfg(feature = "ui")]
type Blurred = Or<(With<GaussianBlur>, With<BackdropBlur>, With<UiFilter>)>;
#[cfg(not(feature = "ui"))]
type Blurred = Or<(With<GaussianBlur>, With<BackdropBlur>)>;

/// Requests a frame while images are blurred, pixels are on their way, or pipelines compile.
fn request_redraw(
    images: ImagesAwaited,
    readiness: Res<BlurReadiness>,
    blurred: Query<(), Blurred>,
    redraws: Option<ResMut<Messages<RequestRedraw>>>,
) {
    let are_compiling = !readiness.is_ready() && !blurred.is_empty();
    if let Some(mut redraws) = redraws
        && (are_compiling || images.are_awaited())
    {
        redraws.write(RequestRedraw);
    }
}
