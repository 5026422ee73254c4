//! Targets that cameras are given at the end of a frame. Bevy looks at their sizes in the next frame: until then, a camera believes
//! in the size of its old target.

use super::prelude::*;
use bevy::camera::RenderTarget;

/// A camera, and its target from the end of the frame on.
#[derive(Resource)]
struct LateTarget(Entity, RenderTarget);

/// Adds the system that gives targets.
pub fn follow(app: &mut App) {
    app.add_systems(Last, give_target);
}

fn give_target(mut commands: Commands, late: Option<Res<LateTarget>>) {
    if let Some(late) = late {
        commands.entity(late.0).insert(late.1.clone());
        commands.remove_resource::<LateTarget>();
    }
}

/// Gives a camera a target at the end of the next frame.
pub fn give(headless: &mut Headless, camera: Entity, target: &Handle<Image>) {
    let target = RenderTarget::Image(target.clone().into());
    headless.app.insert_resource(LateTarget(camera, target));
}
