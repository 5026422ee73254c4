//! The cost of blurs on the CPU, and a check that unchanged frames do not allocate.
//!
//! ```text
//! cargo bench --bench cpu                     everything
//! cargo bench --bench cpu -- camera filtered  the rows whose names contain one of these words
//! ```
//!
//! A time is the median time of a frame with the blurs, less the median time of a frame without them, in microseconds
//! per blur. It covers preparation, encoding and the work of the graphics library. Of blurs at rest, it covers the main
//! world: nothing else has work. Pictures are small, so that a software rasteriser has little to do.
//!
//! Of filters, it covers the GPU's work, too, if that takes longer: each is some draws of its own. So there is a row with the time
//! that the threads of the process run, on Linux. With a software rasteriser, these include its own.
//!
//! An allocation counts if a function of this crate makes it, directly or not. Allocations by the graphics library, for
//! its commands, do not count. The program fails if any counts.

mod allocations;
mod grouping;

#[path = "../../tests/gpu/support/mod.rs"]
#[expect(dead_code, unused_imports, reason = "the tests use more of this")]
mod support;

use bevy::camera::RenderTarget;
use bevy::prelude::*;
use bevy::render::render_resource::{TextureFormat, TextureUsages};
use bevy_gaussian_blur::prelude::*;
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Instant;
use support::headless::Headless;
use support::recording::{Settings, WantedRecordings, follow_recordings};
use support::{formats, inputs};

/// The number of timed frames, and of frames whose allocations are counted.
const TIMED: usize = 101;
const COUNTED: usize = 3;
/// The side of all pictures, in texels.
const SIDE: usize = 64;

/// Blurs of one kind.
struct Scene {
    name: &'static str,
    count: usize,
    spawn: fn(&mut Headless) -> Entity,
    /// Whether nothing is blurred in an unchanged frame. Then only the main world has work, and only its time is measured.
    rests: bool,
}

const SCENES: [Scene; 9] = [
    Scene {
        name: "camera",
        count: 1,
        spawn: camera,
        rests: false,
    },
    Scene {
        name: "cameras",
        count: 8,
        spawn: camera,
        rests: false,
    },
    Scene {
        name: "cameras",
        count: 64,
        spawn: camera,
        rests: false,
    },
    Scene {
        name: "still images",
        count: 300,
        spawn: still_image,
        rests: true,
    },
    Scene {
        name: "still images",
        count: 10_000,
        spawn: tiny_image,
        rests: true,
    },
    Scene {
        name: "still links of a chain",
        count: 1000,
        spawn: link,
        rests: true,
    },
    Scene {
        name: "moving links of a chain",
        count: 1000,
        spawn: moving_link,
        rests: false,
    },
    Scene {
        name: "images in every frame",
        count: 64,
        spawn: moving_image,
        rests: false,
    },
    Scene {
        name: "images in every frame",
        count: 300,
        spawn: moving_image,
        rests: false,
    },
];

/// How many blurs the benchmark's own render system records.
const RECORDED: usize = 64;

/// How many blurs are changed to check the counter of allocations, which takes its time for each.
const CHANGED: usize = 100;

/// Nodes with filters or glass.
struct Crowd {
    name: &'static str,
    count: usize,
    /// The node around all of them.
    root: fn() -> (Node, Visibility),
    /// Adds filters and glass, or takes them away: to or from the node around, and one of the nodes.
    change: fn(&mut World, Entity, Entity, bool),
}

/// Hidden nodes are not extracted, and neither are their filters. What is not laid out is not looked at.
const CROWDS: [Crowd; 5] = [
    Crowd {
        name: "filtered nodes",
        count: 300,
        root: || (whole(), Visibility::Visible),
        change: filter,
    },
    Crowd {
        name: "hidden filtered nodes",
        count: 2000,
        root: || (whole(), Visibility::Hidden),
        change: filter,
    },
    Crowd {
        name: "filtered nodes in a closed menu",
        count: 2000,
        root: || {
            let display = Display::None;
            (Node { display, ..whole() }, Visibility::Visible)
        },
        change: filter,
    },
    Crowd {
        name: "panes in a fading HUD",
        count: 40,
        root: || (whole(), Visibility::Visible),
        change: fading_pane,
    },
    Crowd {
        name: "rounded cards with a pane",
        count: 40,
        root: || (whole(), Visibility::Visible),
        change: card,
    },
];

fn whole() -> Node {
    Node {
        width: percent(100),
        height: percent(100),
        ..default()
    }
}

fn filter(world: &mut World, _root: Entity, node: Entity, is_there: bool) {
    match is_there {
        true => world.entity_mut(node).insert(UiFilter::from_sigma(1.0)),
        false => world.entity_mut(node).remove::<UiFilter>(),
    };
}

fn fading_pane(world: &mut World, root: Entity, node: Entity, is_there: bool) {
    match is_there {
        true => {
            world.entity_mut(root).insert(UiFilter::opacity(0.99));
            world.entity_mut(node).insert(BackdropBlur::from_sigma(1.0));
        }
        false => {
            world.entity_mut(root).remove::<UiFilter>();
            world.entity_mut(node).remove::<BackdropBlur>();
        }
    }
}

fn card(world: &mut World, _root: Entity, node: Entity, is_there: bool) {
    match is_there {
        true => {
            world.entity_mut(node).insert(UiFilter::rounded());
            world.spawn((whole(), BackdropBlur::from_sigma(1.0), ChildOf(node)));
        }
        false => {
            world.entity_mut(node).remove::<UiFilter>().despawn_children();
        }
    }
}

/// How often frames with blurs and frames without them are measured, and frames with filters.
const TURNS: usize = 3;
const FILTER_TURNS: usize = 9;

fn main() -> ExitCode {
    if let Err(reason) = support::headless::adapter() {
        eprintln!("{reason}");
        return ExitCode::FAILURE;
    }
    let mut headless = Headless::new(|app| {
        app.add_plugins(GaussianBlurPlugin::default());
        follow_recordings(app);
    });
    headless.warm_up();
    println!("| blurs | µs a blur | allocations a frame |\n|---|---|---|");
    let mut all = BTreeMap::new();
    for scene in SCENES.iter().filter(|scene| is_wanted(scene.name)) {
        let (time, found) = measure(&mut headless, scene);
        let allocations: usize = found.values().sum();
        println!(
            "| {} {} | {time:.2} | {} |",
            scene.count,
            scene.name,
            allocations / COUNTED
        );
        all.extend(found);
    }
    if is_wanted("recorded") {
        let (time, found) = measure_recorded(&mut headless);
        let allocations: usize = found.values().sum();
        println!(
            "| {RECORDED} recorded in every frame | {time:.2} | {} |",
            allocations / COUNTED
        );
        all.extend(found);
    }
    for crowd in CROWDS.iter().filter(|crowd| is_wanted(crowd.name)) {
        let [time, threads] = measure_crowd(&mut headless, crowd);
        let (count, name) = (crowd.count, crowd.name);
        println!("| {count} {name} | {time:.3} | – |");
        if threads.is_finite() {
            println!("| {count} {name}, on all threads | {threads:.3} | – |");
        }
    }
    if is_wanted("grouping") {
        grouping::print();
    }
    for (place, count) in &all {
        eprintln!("{count} allocations in {place}");
    }
    if all.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Whether the command line names a row, or none. Cargo adds options of its own.
fn is_wanted(name: &str) -> bool {
    let mut words = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .peekable();
    words.peek().is_none() || words.any(|word| name.contains(&word))
}

/// The time of a blur, and the allocations in unchanged frames.
fn measure(headless: &mut Headless, scene: &Scene) -> (f64, BTreeMap<String, usize>) {
    let entities: Vec<Entity> = (0..scene.count).map(|_| (scene.spawn)(headless)).collect();
    let (mut times, mut found) = ([(); 2].map(|()| Vec::new()), BTreeMap::new());
    // By turns, so that both see the same clocks and neighbours.
    for _ in 0..TURNS {
        for entity in &entities {
            let blur = GaussianBlur::from_sigma(8.0);
            headless.app.world_mut().entity_mut(*entity).insert(blur);
            if let Some(waiting) = headless.app.world_mut().entity_mut(*entity).take::<Waiting>() {
                headless.app.world_mut().entity_mut(*entity).insert(waiting.0);
            }
        }
        settle(headless);
        times[1].push(frame_time(headless, scene.rests));
        found = allocations_in(headless, COUNTED);
        // The targets stay: the graphics library looks at all textures in every pass.
        for entity in &entities {
            headless.app.world_mut().entity_mut(*entity).remove::<GaussianBlur>();
        }
        settle(headless);
        times[0].push(frame_time(headless, scene.rests));
    }
    // Check the counter: a changed blur is planned again, which allocates.
    for entity in entities.iter().take(CHANGED) {
        let blur = GaussianBlur::from_sigma(3.0);
        headless.app.world_mut().entity_mut(*entity).insert(blur);
    }
    assert!(!allocations_in(headless, 2).is_empty(), "plans take memory");
    for entity in entities {
        headless.app.world_mut().despawn(entity);
    }
    settle(headless);
    let [without, with] = times.map(median);
    ((with - without) / scene.count as f64, found)
}

/// The time of a recorded blur, and the allocations in unchanged frames.
fn measure_recorded(headless: &mut Headless) -> (f64, BTreeMap<String, usize>) {
    let images: Vec<_> = (0..RECORDED).map(|_| [picture(headless), picture(headless)]).collect();
    settle(headless);
    let without = frame_time(headless, false);
    let want = |headless: &mut Headless, sigma: f32| {
        let wanted = |[source, target]: &[Handle<Image>; 2]| (source.into(), target.into(), Settings::new(sigma));
        let wanted = WantedRecordings(images.iter().map(wanted).collect());
        headless.app.insert_resource(wanted);
    };
    want(headless, 8.0);
    settle(headless);
    let with = frame_time(headless, false);
    let found = allocations_in(headless, COUNTED);
    want(headless, 3.0);
    assert!(!allocations_in(headless, 2).is_empty(), "plans take memory");
    headless.app.insert_resource(WantedRecordings::default());
    settle(headless);
    ((with - without) / RECORDED as f64, found)
}

/// The time of a node with a filter or with glass, less the time of a node; and the same for the time that threads run.
fn measure_crowd(headless: &mut Headless, crowd: &Crowd) -> [f64; 2] {
    let (camera, count) = (camera(headless), crowd.count);
    let node = |index: usize| Node {
        position_type: PositionType::Absolute,
        left: px((index % 20 * 3) as f32),
        top: px((index / 20 % 15 * 4) as f32),
        width: px(2),
        height: px(3),
        ..default()
    };
    let world = headless.app.world_mut();
    let root = world.spawn(((crowd.root)(), UiTargetCamera(camera))).id();
    let nodes: Vec<Entity> = (0..count)
        .map(|index| {
            let components = (node(index), BackgroundColor(Color::WHITE), ChildOf(root));
            world.spawn(components).id()
        })
        .collect();
    let filtered = |headless: &mut Headless, is_filtered: bool| {
        for entity in &nodes {
            (crowd.change)(headless.app.world_mut(), root, *entity, is_filtered);
        }
        settle(headless);
    };
    // By turns, so that both see the same clocks and neighbours. Frames without filters, and with them.
    let mut times = [(); 2].map(|()| [(); 2].map(|()| Vec::new()));
    for turn in 0..2 * FILTER_TURNS {
        filtered(headless, turn % 2 == 1);
        let before = time_of_threads();
        let frame = frame_time(headless, false);
        let on_threads = (time_of_threads() - before) / TIMED as f64;
        for (times, time) in times.iter_mut().zip([frame, on_threads]) {
            times[turn % 2].push(time);
        }
    }
    for entity in [root, camera] {
        headless.app.world_mut().despawn(entity);
    }
    settle(headless);
    times.map(|times| {
        let [without, with] = times.map(median);
        (with - without) / count as f64
    })
}

/// How long the threads of this process have run, in microseconds; NaN where the system does not tell.
fn time_of_threads() -> f64 {
    let time_of = |thread: std::fs::DirEntry| -> Option<f64> {
        let figures = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        figures.split(' ').next()?.parse().ok()
    };
    match std::fs::read_dir("/proc/self/task") {
        Ok(threads) => threads.flatten().filter_map(time_of).sum::<f64>() / 1000.0,
        Err(_) => f64::NAN,
    }
}

/// The allocations in some frames.
fn allocations_in(headless: &mut Headless, frames: usize) -> BTreeMap<String, usize> {
    allocations::count(true);
    (0..frames).for_each(|_| headless.app.update());
    allocations::count(false);
    allocations::take()
}

/// Runs frames until everything is loaded, compiled and at rest.
fn settle(headless: &mut Headless) {
    headless.warm_up();
    let is_complete = |world: &mut World| world.resource::<BlurReadiness>().is_complete();
    assert!(headless.frames_until(1000, is_complete), "pipelines are compiled");
    headless.warm_up();
}

/// The median time of a frame, or of its part in the main world, in microseconds.
fn frame_time(headless: &mut Headless, in_main_world: bool) -> f64 {
    let times: Vec<f64> = (0..TIMED)
        .map(|_| {
            let start = Instant::now();
            if in_main_world {
                headless.app.main_mut().update();
            } else {
                headless.app.update();
            }
            start.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    median(times)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn picture(headless: &mut Headless) -> Handle<Image> {
    picture_of(headless, SIDE)
}

fn picture_of(headless: &mut Headless, side: usize) -> Handle<Image> {
    let picture = &inputs::patterns(side, side)[0];
    let mut image = formats::to_image(picture, TextureFormat::Rgba8UnormSrgb);
    image.texture_descriptor.usage |= TextureUsages::RENDER_ATTACHMENT;
    headless.add_image(image)
}

/// A camera with its own image.
fn camera(headless: &mut Headless) -> Entity {
    let target = picture(headless);
    let target = RenderTarget::Image(target.into());
    headless.app.world_mut().spawn((Camera2d, target)).id()
}

/// An image blur that is not active yet.
#[derive(Component)]
struct Waiting(BlurImage);

fn still_image(headless: &mut Headless) -> Entity {
    let image = BlurImage::new(picture(headless));
    headless.app.world_mut().spawn(Waiting(image)).id()
}

fn moving_image(headless: &mut Headless) -> Entity {
    let image = BlurImage::new(picture(headless)).with_update(BlurUpdate::EveryFrame);
    headless.app.world_mut().spawn(Waiting(image)).id()
}

/// The side of pictures of which there are thousands.
const TINY: usize = 4;

fn tiny_image(headless: &mut Headless) -> Entity {
    let image = BlurImage::new(picture_of(headless, TINY));
    headless.app.world_mut().spawn(Waiting(image)).id()
}

/// The last image of a chain.
#[derive(Resource)]
struct Link(Handle<Image>);

/// A link before the links that were spawned earlier: the longest way to sort a chain.
fn link(headless: &mut Headless) -> Entity {
    link_with(headless, BlurUpdate::OnChange)
}

fn moving_link(headless: &mut Headless) -> Entity {
    link_with(headless, BlurUpdate::EveryFrame)
}

fn link_with(headless: &mut Headless, update: BlurUpdate) -> Entity {
    let source = picture_of(headless, TINY);
    let last = headless.app.world_mut().remove_resource::<Link>();
    let target = last.map_or_else(|| picture_of(headless, TINY), |last| last.0);
    headless.app.insert_resource(Link(source.clone()));
    let image = BlurImage::new(source).with_target(target).with_update(update);
    headless.app.world_mut().spawn(Waiting(image)).id()
}
