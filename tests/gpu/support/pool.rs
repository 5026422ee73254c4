//! Warm apps, which tests take and give back: an app takes a second to start.
//!
//! An app that comes back loses all that the test has spawned. Then it must hold what it held at its start: every test that takes
//! one is a check for leaks as well. Tests of start, end, loss, memory and readiness start apps of their own, and so do tests that
//! need other plugins than the [setup](warm_with).

use super::counters::Held;
use super::prelude::*;
use super::process::give_memory_back;
use super::recording;
use bevy::app::SubApps;
use bevy::ecs::resource::IsResource;
use bevy::ecs::schedule::Schedules;
use bevy::render::render_asset::RenderAssetBytesPerFrame;
use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

/// An app ends when it holds this many pipelines. Bevy and the driver keep all that they have ever compiled, and on a software
/// rasteriser each takes some megabytes.
const PIPELINES: i64 = 100;

/// The most pipelines of all apps that wait for a test. Those that have waited longest end.
const WAITING: i64 = 170;

/// Within this many frames, everything that is not used is released.
const FRAMES: usize = 20;

/// How much more Bevy may hold than at the start: its caches keep some of what they have seen last. Leaks of several tests add up to
/// more. It keeps many bind groups; those that leak hold textures, which count.
const CACHED: [(&str, i64); 3] = [("textures", 8), ("texture views", 16), ("image assets", 8)];

/// This crate keeps the buffer that it fills with the settings of glass and filters, for those that come next.
const KEPT: [&str; 2] = ["gaussian_blur_paint of ", "gaussian_blur_colors of "];

static IDLE: Mutex<Vec<Idle>> = Mutex::new(Vec::new());

/// What an app was at its start.
pub struct Start {
    /// The kind of its passes, and the address of its setup.
    kind: (BlurBackend, usize),
    entities: HashSet<Entity>,
    resources: usize,
    systems: usize,
    held: Held,
}

struct Idle {
    start: Start,
    apps: SubApps,
    pipelines: i64,
}

/// An app with the blur, whose outcomes are [recorded](outcomes::record).
pub fn warm(backend: BlurBackend) -> Headless {
    warm_with(backend, |_| {})
}

/// The same after a function that adds plugins.
pub fn warm_with(backend: BlurBackend, setup: fn(&mut App)) -> Headless {
    let kind = (backend, setup as usize);
    let idle = {
        let mut all = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        let found = all.iter().rposition(|idle| idle.start.kind == kind);
        found.map(|index| all.remove(index))
    };
    if let Some(Idle { start, apps, .. }) = idle {
        let mut app = App::empty();
        *app.sub_apps_mut() = apps;
        return Headless::warm(app, start);
    }
    let mut headless = gpu_with(backend, |app| {
        outcomes::record(app);
        setup(app);
    });
    headless.warm_up();
    let start = Start::new(&headless.app, kind);
    let app = core::mem::replace(&mut headless.app, App::empty());
    Headless::warm(app, start)
}

/// A setup that publishes figures.
pub fn with_figures(app: &mut App) {
    app.add_plugins(GaussianBlurDiagnosticsPlugin);
}

/// Takes an app back from a test, unless the test has failed. Panics if something that the test has spawned is still held. Returns whether
/// the app waits for another test, and no other one has ended for it.
pub fn give_back(headless: &mut Headless, start: Start) -> bool {
    if thread::panicking() {
        return false;
    }
    let is_changed = start.is_changed(&headless.app);
    start.clear(&mut headless.app);
    let mut more = Vec::new();
    for _ in 0..FRAMES {
        headless.frame();
        more = start.left_behind(&headless.app);
        if more.is_empty() {
            break;
        }
    }
    assert!(
        more.is_empty(),
        "the test has left something behind, or those before it: {more:?}"
    );
    outcomes::forget(&mut headless.app);
    let pipelines = pipelines(&headless.app);
    if is_changed || pipelines > PIPELINES {
        return false;
    }
    let apps = core::mem::take(headless.app.sub_apps_mut());
    let ended = {
        let mut all = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(Idle { start, apps, pipelines });
        let mut later = 0;
        let is_kept = |idle: &&Idle| {
            later += idle.pipelines;
            later <= WAITING
        };
        let kept = all.iter().rev().take_while(is_kept).count();
        let ended = all.len() - kept;
        all.drain(..ended).collect::<Vec<Idle>>()
    };
    ended.is_empty()
}

/// The turn of a test that comes to hold half a gigabyte and more, most of it in a software driver: such tests run one at a time. All apps
/// that wait end.
pub fn turn_of_large() -> MutexGuard<'static, ()> {
    static LARGE: Mutex<()> = Mutex::new(());
    let turn = LARGE.lock().unwrap_or_else(PoisonError::into_inner);
    let ended = core::mem::take(&mut *IDLE.lock().unwrap_or_else(PoisonError::into_inner));
    drop(ended);
    give_memory_back();
    turn
}

/// The pipelines that an app has compiled.
fn pipelines(app: &App) -> i64 {
    let held = Held::by(app);
    held.of("render pipelines") + held.of("compute pipelines")
}

impl Start {
    fn new(app: &App, kind: (BlurBackend, usize)) -> Self {
        let entities = entities(app.world());
        Self {
            kind,
            resources: resources(app.world()),
            systems: systems(app),
            entities: entities.collect(),
            held: Held::by(app),
        }
    }

    /// Whether a test has added a resource or a system.
    fn is_changed(&self, app: &App) -> bool {
        resources(app.world()) > self.resources || systems(app) > self.systems
    }

    /// What an app holds that it did not hold at its start: of this crate, anything; of all others, more than Bevy's caches.
    fn left_behind(&self, app: &App) -> Vec<String> {
        let now = Held::by(app);
        let is_more = |(name, cached): &(&str, i64)| now.of(name) > self.held.of(name) + cached;
        let cached = CACHED.into_iter().filter(is_more);
        let of_others = cached.map(|(name, _)| format!("{name}: {}, then {}", self.held.of(name), now.of(name)));
        let own = now.allocations_since(&self.held, "gaussian_blur").into_iter();
        own.filter(|name| !KEPT.iter().any(|kept| name.starts_with(kept)))
            .chain(of_others)
            .collect()
    }

    /// Despawns everything that a test has spawned, and resets the resources that tests change.
    fn clear(&self, app: &mut App) {
        let world = app.world_mut();
        let spawned: Vec<Entity> = entities(world)
            .filter(|entity| !self.entities.contains(entity))
            .collect();
        for entity in spawned {
            // Its parent may have taken it along.
            if let Ok(entity) = world.get_entity_mut(entity) {
                entity.despawn();
            }
        }
        world.insert_resource(UiScale::default());
        world.insert_resource(BlurSwitch::On);
        world.insert_resource(RenderAssetBytesPerFrame::default());
        recording::forget(app);
    }
}

fn entities(world: &World) -> impl Iterator<Item = Entity> {
    let all = world.iter_entities().filter(|entity| !entity.contains::<IsResource>());
    all.map(|entity| entity.id())
}

fn resources(world: &World) -> usize {
    world
        .iter_entities()
        .filter(|entity| entity.contains::<IsResource>())
        .count()
}

fn systems(app: &App) -> usize {
    let worlds = app.sub_apps().iter().map(|app| app.world());
    let schedules = worlds.filter_map(|world| world.get_resource::<Schedules>());
    schedules
        .flat_map(|schedules| schedules.iter())
        .map(|(_, schedule)| schedule.systems_len())
        .sum()
}
