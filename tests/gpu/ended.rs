//! Apps that have ended keep nothing. Otherwise a game that loses its device and gets another one would keep the first.

use crate::support::prelude::*;
use crate::support::process::{self, Process};
use bevy::render::RenderStartup;
use bevy::render::renderer::RenderInstance;
use std::sync::{Arc, Mutex, PoisonError};

const APPS: usize = 18;

/// One in this many apps runs as games do, which takes longer.
const PIPELINED: usize = 5;

/// Bevy, the allocator and the driver fill their caches during this many apps.
const FIRST_APPS: usize = 10;

/// The most that the process may grow from then on: 2 MiB and two mappings for each of the others. An app without this crate
/// leaves a third of a MiB in Bevy and in the driver; a leaked device takes several MiB, and three mappings per shader.
const MOST: Process = Process {
    resident: 16 * 1024,
    mappings: 16,
};

const SIZE: UVec2 = UVec2::splat(36);

/// The instance of an app, whose report counts the objects on the GPU.
#[derive(Resource, Clone, Default)]
struct Instance(Arc<Mutex<Option<wgpu::Instance>>>);

impl Instance {
    fn add_to(&self, app: &mut App) {
        app.sub_app_mut(RenderApp).insert_resource(self.clone()).add_systems(
            RenderStartup,
            |kept: Res<Instance>, instance: Res<RenderInstance>| {
                let mut kept = kept.0.lock().unwrap_or_else(PoisonError::into_inner);
                *kept = Some(wgpu::Instance::clone(&instance));
            },
        );
    }

    /// Panics if an object of the app is still on the GPU.
    fn assert_empty(&self, name: &str) {
        let instance = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let report = instance.as_ref().expect("the app has rendered").generate_report();
        let hub = report.expect("wgpu renders, not a browser").hub;
        let held = [
            ("devices", hub.devices),
            ("queues", hub.queues),
            ("render pipelines", hub.render_pipelines),
            ("compute pipelines", hub.compute_pipelines),
            ("shader modules", hub.shader_modules),
            ("bind groups", hub.bind_groups),
            ("textures", hub.textures),
            ("buffers", hub.buffers),
        ];
        let kept: Vec<String> = held
            .iter()
            .filter(|(_, report)| !report.is_empty())
            .map(|(what, report)| format!("{} {what}", report.num_allocated))
            .collect();
        assert!(kept.is_empty(), "{name} has ended, and there are {kept:?}");
    }
}

/// A blurred camera, glass before another one, and a blurred image, in a new app. Returns the image.
fn populate(headless: &mut Headless) -> Entity {
    scene::spawn(headless, Kind::Core2d, 1.0);
    let [blurred, glass] = [(); 2].map(|()| View::new(headless, Kind::Core2d, SIZE, LDR));
    blurred.insert(headless, GaussianBlur::new(5.0));
    let node = Node {
        position_type: PositionType::Absolute,
        width: px(20),
        height: px(15),
        ..default()
    };
    let pane = (node, UiTargetCamera(glass.camera), BackdropBlur::new(5.0));
    headless.spawn(pane);
    let source = headless.add_image(to_image(&inputs::patterns(36, 36)[0], LDR));
    let image = plain(source).with_update(BlurUpdate::EveryFrame);
    spawn(headless, GaussianBlur::new(5.0), image)
}

/// Creates an app that renders every frame to its end, and drops it.
fn lockstep(instance: &Instance) {
    let mut headless = gpu_with(BlurBackend::Fragment, |app| instance.add_to(app));
    let image = populate(&mut headless);
    headless.warm_up();
    let shown = headless.read_image(&target_of(&headless, image));
    assert!(shown.bytes.iter().any(|byte| *byte != 0), "the image is blurred");
}

/// The same with an app that runs as games do.
fn pipelined(instance: &Instance) {
    let setup = |app: &mut App| {
        app.insert_resource(BlurCompilation { per_frame: 0 });
        instance.add_to(app);
    };
    let mut live = Live::new(BlurBackend::Fragment, setup);
    populate(&mut live.headless);
    live.wait_until_ready();
    live.frames(3);
}

#[test]
fn nothing_is_kept() {
    // In this process, memory of other tests would count. With more than one arena, glibc keeps memory that threads have freed.
    let output = process::alone(module_path!(), "many_apps")
        .env("MALLOC_ARENA_MAX", "1")
        .output()
        .expect("it ran once already");
    let log = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    println!("{}", log[0]);
    eprintln!("{}", log[1]);
    assert!(output.status.success(), "some apps are kept");
}

#[test]
#[ignore = "run by the test above"]
fn many_apps() {
    let mut curve = Vec::new();
    for index in 0..APPS {
        let instance = Instance::default();
        let (mode, run): (&str, fn(&Instance)) = if index % PIPELINED == 0 {
            ("pipelined", pipelined)
        } else {
            ("lockstep", lockstep)
        };
        run(&instance);
        instance.assert_empty(&format!("app {index}, {mode},"));
        drop(instance);
        let held = Process::now();
        println!("app {index}, {mode}, has ended: {held:?}");
        curve.extend(held);
    }
    let Some(after_first) = curve.get(FIRST_APPS) else {
        eprintln!("NOT TESTED: this system does not say what a process holds");
        return;
    };
    let last = &curve[APPS - 5..];
    let least = |of: fn(&Process) -> i64| last.iter().map(of).min().expect("some are left");
    let grown = Process {
        resident: least(|process| process.resident) - after_first.resident,
        mappings: least(|process| process.mappings) - after_first.mappings,
    };
    report::row(
        &format!("what {APPS} apps that have ended leave, from app {FIRST_APPS} on"),
        &format!("{} KiB, {} mappings", grown.resident, grown.mappings),
    );
    assert!(
        grown.resident <= MOST.resident && grown.mappings <= MOST.mappings,
        "{grown:?} is more than {MOST:?}: {curve:?}"
    );
}
