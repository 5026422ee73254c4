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
type Blurred = With<GaussianBlur>;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::Requests;

    #[test]
    fn pipelines_of_a_visible_blur_are_awaited() {
        let mut app = App::new();
        app.add_message::<RequestRedraw>()
            .init_resource::<BlurReadiness>()
            .init_resource::<Requests>()
            .add_plugins(RedrawPlugin);
        let requested = |app: &mut App| {
            app.update();
            let mut redraws = app.world_mut().resource_mut::<Messages<RequestRedraw>>();
            redraws.drain().count()
        };
        assert_eq!(requested(&mut app), 0, "there is no blur");
        let blur = app.world_mut().spawn(GaussianBlur::default()).id();
        assert_eq!(requested(&mut app), 1, "it is not ready");
        app.world_mut().despawn(blur);
        assert_eq!(requested(&mut app), 0, "it has gone");
    }
}
