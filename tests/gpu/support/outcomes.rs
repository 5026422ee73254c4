//! Records the events that image blurs trigger.

use super::prelude::*;
use bevy::render::error_handler::RenderErrorHandler;

/// The outcomes of image blurs, in order.
#[derive(Resource, Default)]
struct Outcomes(Vec<(Entity, Result<(), BlurError>)>);

/// Starts recording. An error of the GPU, at which Bevy would end the app, ends the test.
pub fn record(app: &mut App) {
    app.init_resource::<Outcomes>();
    app.insert_resource(RenderErrorHandler(|error, _, _| panic!("{}", error.description)));
    app.add_observer(|event: On<BlurFinished>, mut outcomes: ResMut<Outcomes>| {
        outcomes.0.push((event.entity, Ok(())));
    });
    app.add_observer(|event: On<BlurFailed>, mut outcomes: ResMut<Outcomes>| {
        outcomes.0.push((event.entity, Err(event.error.clone())));
    });
}

/// Runs frames. Returns the outcomes that they reported: each frame reports what the frames before it rendered.
pub fn frames(headless: &mut Headless, count: usize) -> Vec<(Entity, Result<(), BlurError>)> {
    headless.frames(count);
    core::mem::take(&mut headless.app.world_mut().resource_mut::<Outcomes>().0)
}

/// Runs frames and counts the blurs that finished. None may fail.
pub fn finished(headless: &mut Headless, count: usize) -> usize {
    let outcomes = frames(headless, count);
    assert!(outcomes.iter().all(|(_, outcome)| outcome.is_ok()), "{outcomes:?}");
    outcomes.len()
}

/// Runs frames and returns all failures. No blur may finish.
pub fn failures(headless: &mut Headless, count: usize) -> Vec<BlurError> {
    let outcomes = frames(headless, count).into_iter();
    outcomes
        .map(|(_, outcome)| outcome.expect_err("this blur cannot finish"))
        .collect()
}

/// Forgets the outcomes so far.
pub fn forget(app: &mut App) {
    app.world_mut().resource_mut::<Outcomes>().0.clear();
}
