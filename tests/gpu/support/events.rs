//! Records the entities on which events are triggered.

use super::prelude::*;
use core::marker::PhantomData;

#[derive(Resource)]
struct Heard<E>(Vec<Entity>, PhantomData<E>);

/// Starts recording one kind of event.
pub fn listen<E: EntityEvent>(app: &mut App) {
    app.insert_resource(Heard::<E>(Vec::new(), PhantomData));
    app.add_observer(|event: On<E>, mut heard: ResMut<Heard<E>>| heard.0.push(event.event_target()));
}

/// All entities so far, in their order as identifiers.
pub fn heard<E: EntityEvent>(headless: &Headless) -> Vec<Entity> {
    let mut entities = headless.app.world().resource::<Heard<E>>().0.clone();
    entities.sort_unstable();
    entities
}

/// Those since the last call.
pub fn take_heard<E: EntityEvent>(headless: &mut Headless) -> Vec<Entity> {
    let entities = heard::<E>(headless);
    headless.app.world_mut().resource_mut::<Heard<E>>().0.clear();
    entities
}
