//! Records faults that must never happen, instead of ending the app: errors of the GPU, and repeated messages.

use super::prelude::*;
use bevy::core_pipeline::core_2d::Transparent2d;
use bevy::core_pipeline::core_3d::Transparent3d;
use bevy::render::RenderStartup;
use bevy::render::error_handler::{ErrorType, RenderError, RenderErrorHandler, RenderErrorPolicy};
use bevy::render::render_phase::ViewSortedRenderPhases;
use bevy::render::render_resource::PollType;
use bevy::render::settings::RenderCreation;

#[derive(Resource, Default)]
struct Faults(Vec<String>);

/// Starts recording errors of the GPU. Rendering goes on after each.
pub fn record(app: &mut App) {
    app.init_resource::<Faults>()
        .insert_resource(RenderErrorHandler(handle));
}

/// A device that [`lose_device`] loses is replaced; any other error is recorded, or ends an app that does not record.
fn handle(error: &RenderError, main_world: &mut World, _: &mut World) -> RenderErrorPolicy {
    if error.ty == ErrorType::DeviceLost && main_world.remove_resource::<IsLosing>().is_some() {
        return RenderErrorPolicy::Recover(RenderCreation::default());
    }
    let fault = format!("{:?}: {}", error.ty, error.description);
    match main_world.get_resource_mut::<Faults>() {
        Some(mut faults) => faults.0.push(fault),
        None => panic!("{fault}"),
    }
    RenderErrorPolicy::Ignore
}

/// The number of runs of [`RenderStartup`], one for each device.
#[derive(Resource, Default)]
struct Devices(usize);

/// Whether the device is about to be lost.
#[derive(Resource)]
struct IsLosing;

/// Lets Bevy make another device after [`lose_device`].
pub fn recover(app: &mut App) {
    app.sub_app_mut(RenderApp).init_resource::<Devices>().add_systems(
        RenderStartup,
        (|mut devices: ResMut<Devices>| devices.0 += 1, forget_draws),
    );
    app.insert_resource(RenderErrorHandler(handle));
}

/// Bevy 0.19 keeps the draws of some views when a device is lost, with the numbers of its pipelines. With the next device, these become the
/// numbers of others.
fn forget_draws(
    blended_2d: Option<ResMut<ViewSortedRenderPhases<Transparent2d>>>,
    blended_3d: Option<ResMut<ViewSortedRenderPhases<Transparent3d>>>,
) {
    blended_2d.into_iter().for_each(|mut views| views.clear());
    blended_3d.into_iter().for_each(|mut views| views.clear());
}

/// Loses the device, and renders frames until Bevy has made another one.
pub fn lose_device(headless: &mut Headless) {
    headless.app.insert_resource(IsLosing);
    let count = |headless: &Headless| headless.render_world().resource::<Devices>().0;
    let before = count(headless);
    let device = headless.render_world().resource::<RenderDevice>().clone();
    device.wgpu_device().destroy();
    // Bevy must know before the next frame: on a dead device some of its systems panic.
    let _ = device.poll(PollType::wait_indefinitely());
    for _ in 0..10_000 {
        headless.frame();
        if count(headless) > before {
            break;
        }
        // Another device is created in the background.
        sleep(Duration::from_millis(5));
    }
    assert_eq!(count(headless), before + 1, "Bevy makes another device, once");
    headless.frames(5);
}

/// Panics if the GPU has reported an error, or a validation layer has reported one about an object of this crate.
pub fn assert_none(app: &App) {
    let faults = &app.world().resource::<Faults>().0;
    assert!(faults.is_empty(), "the GPU reported: {faults:#?}");
    let validation = validation_messages();
    assert!(validation.is_empty(), "the validation layer reported: {validation:#?}");
}

/// The errors of a validation layer that name an object of this crate, in the message or in the lines about labels and objects
/// after it. Errors of Bevy's own draws do not count: every object and pass of the crate has a label of the crate.
pub fn validation_messages() -> Vec<String> {
    let of_crate = logs::all("gaussian_blur_").into_iter();
    let is_validation = |message: &String| {
        let names = ["[VUID", "[UNASSIGNED", "[SYNC", "[BestPractices"];
        let details = ["\tqueues: ", "\tcommand buffers: ", "\tobjects: "];
        names.iter().any(|name| message.contains(name)) || details.iter().any(|start| message.starts_with(start))
    };
    of_crate.filter(is_validation).collect()
}

/// The messages of one app, recognised by a name that all its entities have.
pub struct Messages {
    name: String,
    seen: usize,
}

impl Messages {
    pub fn of(name: &str) -> Self {
        let seen = logs::all(name).len();
        let name = name.to_owned();
        Self { name, seen }
    }

    /// The messages since the last call.
    pub fn news(&mut self) -> Vec<String> {
        let all = logs::all(&self.name);
        let news = all[self.seen..].to_vec();
        self.seen = all.len();
        news
    }

    /// Panics if one message has been logged more than once since the last call.
    pub fn assert_no_repetition(&mut self) {
        let mut news = self.news();
        news.sort_unstable();
        let repeated = news.windows(2).find(|pair| pair[0] == pair[1]);
        assert!(repeated.is_none(), "logged more than once: {}", news.join("\n"));
    }
}
