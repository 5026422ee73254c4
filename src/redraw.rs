//! Asks for the next frame while a blur is on its way.
//!
//! Reactive apps, with `WinitSettings::desktop_app()`, draw only when something happens. What a blur does from frame to frame must not
//! wait for the next click. The render world knows what a frame lacks, and which pictures it has taken, only when it has rendered it.
//! So a frame in which blurs or cameras differ asks for another one, until what is reported of it has been read.

use crate::gpu::BlurReadiness;
use crate::image::Requests;
#[cfg(feature = "ui")]
use crate::settings::{BackdropBlur, BackdropLens, BackdropRegion, UiFilter};
use crate::settings::{BlurImage, BlurProfile, BlurSwitch, FreezeBlur, GaussianBlur};
use crate::systems::BlurSystems;
use bevy::asset::LoadState;
use bevy::camera::{CompositingSpace, Hdr, RenderTarget};
use bevy::core_pipeline::tonemapping::{DebandDither, Tonemapping};
use bevy::ecs::message::Messages;
use bevy::prelude::*;
use bevy::render::{Extract, ExtractSchedule, Render, RenderApp, RenderSystems};
#[cfg(feature = "ui")]
use bevy::ui::UiGlobalTransform;
use bevy::window::RequestRedraw;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many frames may pass without a rendered one. A renderer that has stopped is not waited for.
const PATIENCE: u64 = 8;

/// Adds the requests for frames to an app.
pub fn plugin(app: &mut App) {
    let frames = Frames::default();
    // Without a renderer nothing is on its way.
    let Some(render_app) = app.get_sub_app_mut(RenderApp) else {
        return;
    };
    render_app
        .insert_resource(frames.clone())
        .add_systems(ExtractSchedule, begin_frame)
        // All that is reported of the frame has been.
        .add_systems(Render, end_frame.in_set(RenderSystems::PostCleanup));
    app.insert_resource(frames)
        .add_systems(First, next_frame)
        .add_systems(PostUpdate, request_redraw.after(BlurSystems::Collect));
}

/// The number of the current frame of a world, and what is known of earlier ones.
#[derive(Resource, Clone, Default)]
struct Frames {
    current: u64,
    /// The newest frame of which all reports are read.
    read: u64,
    rendered: Arc<AtomicU64>,
    /// The last frame that differed from the one before.
    changed: u64,
    /// How many blurs there were, and whether all pipelines were compiled.
    last: (usize, bool),
}

impl Frames {
    /// Whether the current frame needs another one, with so many blurs.
    fn await_report(&mut self, count: usize, have_changed: bool, are_ready: bool) -> bool {
        // Pictures that are taken with the last pipeline are reported after it.
        if have_changed || self.last != (count, are_ready) {
            (self.changed, self.last) = (self.current, (count, are_ready));
        }
        let has_stopped = self.read > 0 && self.current - self.read > PATIENCE;
        count > 0 && (self.read < self.changed || !are_ready) && !has_stopped
    }
}

fn next_frame(mut frames: ResMut<Frames>) {
    frames.current += 1;
    frames.read = frames.rendered.load(Ordering::Acquire);
}

fn begin_frame(mut frames: ResMut<Frames>, main: Extract<Res<Frames>>) {
    frames.current = main.current;
}

fn end_frame(frames: Res<Frames>) {
    frames.rendered.store(frames.current, Ordering::Release);
}

#[cfg(feature = "ui")]
type Blurred = Or<(With<GaussianBlur>, With<BackdropBlur>, With<UiFilter>)>;
#[cfg(not(feature = "ui"))]
type Blurred = With<GaussianBlur>;

/// What may need pipelines that the frame before did not, or show frozen glass, so that its picture is taken.
type BlurChanged = Or<(
    Changed<GaussianBlur>,
    Changed<BlurProfile>,
    Changed<FreezeBlur>,
    UiChanged,
)>;

#[cfg(feature = "ui")]
type UiChanged = Or<(
    Changed<BackdropBlur>,
    Changed<BackdropLens>,
    Changed<UiFilter>,
    (
        With<FreezeBlur>,
        Or<(
            Changed<InheritedVisibility>,
            Changed<BackdropRegion>,
            Changed<UiGlobalTransform>,
        )>,
    ),
)>;
#[cfg(not(feature = "ui"))]
type UiChanged = Changed<GaussianBlur>;

type CameraChanged = Or<(
    Changed<Camera>,
    Changed<RenderTarget>,
    Changed<Hdr>,
    Changed<CompositingSpace>,
    Changed<Tonemapping>,
    Changed<DebandDither>,
)>;

/// What may differ from the frame before: all blurs, those and the cameras that have changed, and profiles that may load.
type Reasons<'w, 's> = (
    Query<'w, 's, (), Blurred>,
    Query<'w, 's, (), BlurChanged>,
    Query<'w, 's, (), (With<Camera>, CameraChanged)>,
    Query<'w, 's, &'static BlurProfile, Without<BlurImage>>,
);

/// Requests a frame while images are blurred, pixels are on their way, pipelines compile, or the render world has not said
/// what it lacks.
fn request_redraw(
    mut frames: ResMut<Frames>,
    (all, changed, cameras, profiles): Reasons,
    switch: Res<BlurSwitch>,
    server: Res<AssetServer>,
    images: Res<Requests>,
    readiness: Res<BlurReadiness>,
    redraws: Option<ResMut<Messages<RequestRedraw>>>,
) {
    let have_changed = !changed.is_empty() || !cameras.is_empty() || switch.is_changed();
    let is_awaited = frames.await_report(all.iter().len(), have_changed, readiness.is_ready());
    let loads = |mask| matches!(server.get_load_state(mask), Some(LoadState::Loading));
    if let Some(mut redraws) = redraws
        && (is_awaited || images.are_awaited || profiles.iter().filter_map(BlurProfile::mask).any(loads))
    {
        redraws.write(RequestRedraw);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever a frame needs, and however late the render world is: the frames that are asked for end with the one that reads
    /// what happened in the first frame with all pipelines.
    #[test]
    fn an_app_at_rest_asks_for_the_frames_until_its_report_is_read() {
        for delay in [1, 2_u64] {
            for compiling in [0, 1, 5_u64] {
                // Something is used for the first time in frame 10. Its pipelines are known in the frame that renders it.
                let mut frames = Frames::default();
                let mut asked = Vec::new();
                for frame in 1..60 {
                    (frames.current, frames.read) = (frame, u64::saturating_sub(frame, delay));
                    let are_ready = frames.read > 0 && !(10..10 + compiling).contains(&frames.read);
                    if frames.await_report(1, frame == 10, are_ready) && frame >= 10 {
                        asked.push(frame);
                    }
                }
                // A change of readiness is followed by the frame that reads it, and that one's report.
                let last = match compiling {
                    0 => 9 + delay,
                    _ => 9 + compiling + 2 * delay,
                };
                let expected: Vec<u64> = (10..=last).collect();
                assert_eq!(asked, expected, "{delay} frames late, {compiling} compile");
            }
        }
    }

    #[test]
    fn only_what_can_come_is_awaited() {
        let asks = |read, count, have_changed, are_ready| {
            let mut frames = Frames {
                current: 20,
                read,
                changed: 5,
                last: (1, true),
                ..default()
            };
            frames.await_report(count, have_changed, are_ready)
        };
        assert!(!asks(18, 1, false, true), "nothing has changed");
        assert!(asks(18, 1, true, true), "something has");
        assert!(asks(18, 2, false, true), "a blur was enabled");
        assert!(!asks(18, 0, false, true), "there is no blur");
        assert!(asks(18, 1, false, false), "pipelines compile");
        assert!(!asks(3, 1, false, false), "the renderer has stopped");
        assert!(asks(0, 1, false, false), "it is about to begin");
    }
}
