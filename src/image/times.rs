//! The render world: when each blur of a frame is recorded. That depends on the cameras that paint its inputs.

use super::request::{Requests, Time};
use bevy::camera::NormalizedRenderTarget;
use bevy::core_pipeline::schedule::{Core2d, Core3d};
use bevy::ecs::schedule::ScheduleLabel;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::camera::{ExtractedCamera, SortedCameras};

/// Finds out when the inputs of every blur are complete.
pub fn find_times(
    mut requested: ResMut<Requests>,
    sorted: Res<SortedCameras>,
    cameras: Query<&ExtractedCamera>,
    mut painted: Local<HashMap<AssetId<Image>, (Time, bool)>>,
) {
    painted.clear();
    let Requests { ordered, times, .. } = &mut *requested;
    times.clear();
    if ordered.is_empty() {
        return;
    }
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
        let latest = painted.entry(target.handle.id()).or_insert((time, true));
        latest.0 = time.max(latest.0);
    }
    for request in ordered {
        let known = request.spec.inputs().filter_map(|input| painted.get(&input));
        let (time, is_painted) = known.fold((Time::BeforeCameras, false), |(time, is_painted), known| {
            (time.max(known.0), is_painted || known.1)
        });
        // Blurs that read its target must not run earlier.
        let target = painted.entry(request.spec.target).or_insert((time, false));
        target.0 = time.max(target.0);
        times.push((time, is_painted));
    }
}
