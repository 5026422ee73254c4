//! The render world: when each blur of a frame is recorded. That depends on the cameras that paint its inputs.

use super::request::Requests;
use bevy::camera::NormalizedRenderTarget;
use bevy::core_pipeline::schedule::{Core2d, Core3d};
use bevy::ecs::schedule::ScheduleLabel;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::camera::{ExtractedCamera, SortedCameras};

/// When each request of this frame is recorded, in the order of the requests.
#[derive(Resource, Default)]
pub struct Times(Vec<Time>);

impl Times {
    /// The time of each request.
    pub fn all(&self) -> impl Iterator<Item = Time> {
        self.0.iter().copied()
    }

    /// For each request, whether a camera paints an input in this frame.
    pub fn are_painted(&self) -> impl Iterator<Item = bool> {
        self.0.iter().map(|time| *time != Time::BeforeCameras)
    }
}

/// A time in a frame. Times of cameras are numbered in the order in which cameras render.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Time {
    BeforeCameras,
    After { index: usize, camera: Entity },
    AfterCameras,
}

/// Finds out when the inputs of every blur are complete.
pub fn find_times(
    requested: Res<Requests>,
    sorted: Res<SortedCameras>,
    cameras: Query<&ExtractedCamera>,
    mut times: ResMut<Times>,
    mut painted: Local<HashMap<AssetId<Image>, Time>>,
) {
    painted.clear();
    for (index, camera) in sorted.0.iter().enumerate() {
        let Some(NormalizedRenderTarget::Image(target)) = &camera.target else {
            continue;
        };
        let has_hook = cameras
            .get(camera.entity)
            .is_ok_and(|camera| camera.schedule == Core2d.intern() || camera.schedule == Core3d.intern());
        let time = match camera.entity {
            camera if has_hook => Time::After { index, camera },
            _ => Time::AfterCameras,
        };
        let latest = painted.entry(target.handle.id()).or_insert(time);
        *latest = time.max(*latest);
    }
    times.0.clear();
    for request in &requested.ordered {
        let times_of_inputs = request.inputs().filter_map(|input| painted.get(&input));
        let time = times_of_inputs.max().copied().unwrap_or(Time::BeforeCameras);
        // Blurs that read its target must not run earlier.
        let target = painted.entry(request.target).or_insert(time);
        *target = time.max(*target);
        times.0.push(time);
    }
}
