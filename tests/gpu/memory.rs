//! A picture that stands still takes no more memory from frame to frame: neither here nor in a software driver, whose memory no
//! counter of wgpu's sees.

use crate::support::prelude::*;
use crate::support::process::{self, Process};
use crate::support::recording::{Recording, Settings, add_recorder};

const SIZE: UVec2 = UVec2::new(20, 12);

/// With this radius, pictures are reduced once.
const RADIUS: f32 = 12.0;

/// Caches fill during the first frames after all has compiled.
const FIRST: usize = 50;
const FRAMES: usize = 300;

/// The most KiB that the process may grow by after the first frames.
const MOST: i64 = 30 * 1024;

/// Spawns what is blurred in every frame.
type Spawn = Box<dyn Fn(&mut Headless)>;

fn camera(blur: impl Bundle + Clone) -> Spawn {
    Box::new(move |headless| {
        View::new(headless, Kind::Core2d, SIZE, LDR).insert(headless, blur.clone());
    })
}

/// A node on a camera of its own.
fn node(components: impl Bundle + Clone) -> Spawn {
    Box::new(move |headless| {
        let camera = View::new(headless, Kind::Core2d, SIZE, LDR).camera;
        let node = Node {
            width: percent(80),
            height: percent(80),
            ..default()
        };
        let white = BackgroundColor(Color::WHITE.with_alpha(0.5));
        let world = headless.app.world_mut();
        world.spawn((node, white, UiTargetCamera(camera), components.clone()));
    })
}

fn picture(headless: &mut Headless) -> Handle<Image> {
    let [width, height] = SIZE.to_array().map(|side| side as usize);
    headless.add_image(to_image(&inputs::patterns(width, height)[0], LDR))
}

fn image(headless: &mut Headless) {
    let image = plain(picture(headless)).with_update(BlurUpdate::EveryFrame);
    spawn(headless, GaussianBlur::new(RADIUS), image);
}

fn recorder(headless: &mut Headless) {
    let [source, target] = [(); 2].map(|()| picture(headless));
    let mut recording = Recording::new(&source, &target, Settings::new(5.0));
    recording.most = usize::MAX;
    headless.recordings().0 = vec![recording];
}

/// One of every front end.
fn front_ends() -> Vec<(String, Spawn)> {
    let blur = GaussianBlur::new(RADIUS);
    let mut all = vec![
        ("a camera".to_owned(), camera(blur)),
        ("an image".to_owned(), Box::new(image) as Spawn),
        ("a recorder".to_owned(), Box::new(recorder)),
    ];
    for (name, profile) in crate::profiles::profiles() {
        all.push((format!("a camera, {name}"), camera((blur, profile))));
    }
    let masked = Box::new(move |headless: &mut Headless| {
        let mask = BlurProfile::Mask(picture(headless));
        camera((blur, mask))(headless);
    });
    all.push(("a camera with a mask".to_owned(), masked));
    all.extend([
        ("glass".to_owned(), node(BackdropBlur::new(RADIUS))),
        ("a filter".to_owned(), node(UiFilter::blur(RADIUS))),
    ]);
    all
}

/// Runs the frames of an app with these front ends. Returns by how many KiB the process grew after the first of them; `None` if
/// the system does not say it.
fn growth<'a>(backend: BlurBackend, front_ends: impl IntoIterator<Item = &'a (String, Spawn)>) -> Option<i64> {
    let mut headless = gpu_with(backend, |app| {
        outcomes::record(app);
        add_recorder(app);
        // As in games: kernels get pipelines of their own.
        app.insert_resource(BlurCompilation::default());
    });
    scene::spawn(&mut headless, Kind::Core2d, 1.0);
    for (_, spawn) in front_ends {
        spawn(&mut headless);
    }
    headless.warm_up();
    headless.frames(FIRST);
    let before = Process::now()?.resident;
    headless.frames(FRAMES - FIRST);
    Some(Process::now()?.resident - before)
}

#[test]
fn frames_take_no_memory() {
    // In this process, memory of other tests would count.
    let mut alone = process::alone(module_path!(), "three_hundred_frames_of_each");
    // Here, optimised shaders save more time than they take to compile.
    let output = alone.env_remove("GALLIVM_PERF").output().expect("it ran once already");
    println!("{}", String::from_utf8_lossy(&output.stdout));
    eprintln!("{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "some frames take memory");
}

#[test]
#[ignore = "run by the test above"]
fn three_hundred_frames_of_each() {
    let front_ends = front_ends();
    for (turn, backend) in BACKENDS.into_iter().enumerate() {
        // Front ends have one kind of passes each, which take turns; with `BLUR_FULL`, both.
        let all = front_ends.iter().enumerate();
        let front_ends = all.filter(|(index, _)| is_turn(*index, turn, BACKENDS.len()));
        let front_ends: Vec<_> = front_ends.map(|(_, front_end)| front_end).collect();
        let Some(grown) = growth(backend, front_ends.iter().copied()) else {
            eprintln!("NOT TESTED: this system does not say what a process holds");
            return;
        };
        println!("{backend:?}, all of them at once: {grown} KiB");
        if grown > MOST {
            let alone = front_ends.into_iter().map(|one| (&one.0, growth(backend, [one])));
            let alone: Vec<_> = alone.collect();
            panic!("{backend:?}: {grown} KiB; each alone: {alone:#?}");
        }
    }
}
