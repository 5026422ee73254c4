//! A pause that costs next to nothing: the picture of one frame is kept and eased out of focus, and the world behind it stops.
//!
//! ```text
//! cargo run --release --example freeze [-- --frames N --screenshot FILE]
//! ```
//!
//! You should see about 2000 moving boxes, and at the top the time of a frame: the whole frame, and its passes on the
//! GPU. Press Escape: within a third of a second the scene goes out of focus. Until the pause ends, both times are next
//! to nothing. Press Escape again: the scene moves at once, while it comes back into focus. Below the current times you
//! see the times of the last running and the last paused frame.
//!
//! Two cameras share one texture: the world's, and the user interface's, whose glass covers the viewport. Frozen glass
//! needs no world: as soon as its picture is kept, the world's camera is switched off. Without a user, the pause begins
//! after 30 frames.

mod common;
mod dusk;

use bevy::camera::Hdr;
use bevy::diagnostic::DiagnosticsStore;
use bevy::platform::time::Instant;
use bevy::prelude::*;
use bevy::window::PresentMode;
use bevy_gaussian_blur::prelude::*;
use common::example;
use core::time::Duration;
use dusk::{ScenePlugin, viewpoint};

/// The glass's radius during a pause, in logical pixels.
const PAUSED_RADIUS: f32 = 48.0;

/// How long the world takes to go out of focus, in seconds.
const EASING_TIME: f32 = 0.35;

/// The boxes along each side of a square.
const BOXES: i32 = 45;

/// The frame of the pause without a user.
const PAUSE_AT: u32 = 30;

fn main() -> AppExit {
    example("Gaussian blur: a frozen world", |app, unattended| {
        let pause_at = unattended
            .is_active()
            .then_some(PAUSE_AT.min(unattended.frames().div_ceil(2)));
        app.add_plugins(ScenePlugin)
            .insert_resource(Pause {
                at: pause_at,
                ..default()
            })
            .add_systems(Startup, (spawn_cameras, spawn_boxes, spawn_interface))
            .add_systems(Update, (turn, toggle, ease, show_times).chain())
            // Glass that has its picture needs no world, until it loses the picture.
            .add_observer(|_: On<FreezeTaken>, mut cameras: Query<&mut Camera, With<World3d>>| {
                set_world(&mut cameras, false);
            })
            .add_observer(|_: On<FreezeLost>, mut cameras: Query<&mut Camera, With<World3d>>| {
                set_world(&mut cameras, true);
            });
    })
}

/// Whether the game is paused.
#[derive(Resource, Default)]
struct Pause {
    /// When to pause without a user.
    at: Option<u32>,
    frame: u32,
    is_on: bool,
    /// The frames since the game was last paused or resumed.
    frames: u32,
    /// From 0, in focus, to 1.
    progress: f32,
}

/// The camera of the world.
#[derive(Component)]
struct World3d;

/// The glass over the world.
#[derive(Component)]
struct Glass;

/// The text with the times of a frame.
#[derive(Component)]
struct Times;

/// A box that turns.
#[derive(Component)]
struct Turning(f32);

fn spawn_cameras(mut commands: Commands) {
    commands.spawn((World3d, Camera3d::default(), viewpoint(9.0), Hdr, Msaa::Sample4));
    // It shares the texture of the world's camera: the same target, `Hdr` and `Msaa`, and no clear colour.
    commands.spawn((
        Camera2d,
        IsDefaultUiCamera,
        (Hdr, Msaa::Sample4),
        Camera {
            order: 1,
            clear_color: ClearColorConfig::None,
            ..default()
        },
    ));
}

fn spawn_boxes(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
    mut windows: Query<&mut Window>,
) {
    // With vertical synchronisation, every frame would take at least one refresh of the screen.
    windows
        .iter_mut()
        .for_each(|mut window| window.present_mode = PresentMode::AutoNoVsync);
    let mesh = meshes.add(Cuboid::from_length(0.2));
    for (x, z) in (0..BOXES).flat_map(|x| (0..BOXES).map(move |z| (x, z))) {
        let hue = (x * 37 + z * 91) as f32 % 360.0;
        let place = Vec3::new(x as f32 - 0.5 * BOXES as f32, 1.0, z as f32 - BOXES as f32) * Vec3::new(0.45, 1.0, 0.45);
        commands.spawn((
            Turning(0.02 * hue),
            Mesh3d(mesh.clone()),
            MeshMaterial3d(materials.add(Color::hsl(hue, 0.7, 0.5))),
            Transform::from_translation(place),
        ));
    }
}

fn spawn_interface(mut commands: Commands) {
    let whole = Node {
        width: percent(100),
        height: percent(100),
        justify_content: JustifyContent::Center,
        padding: UiRect::all(px(20)),
        ..default()
    };
    commands.spawn((Glass, BackdropBlur::new(0.0), whole));
    commands.spawn((
        Times,
        Text::default(),
        TextFont::from_font_size(20.0),
        GlobalZIndex(1),
        BackgroundColor(Color::BLACK.with_alpha(0.5)),
        Node {
            position_type: PositionType::Absolute,
            left: px(16),
            top: px(16),
            padding: UiRect::all(px(10)),
            ..default()
        },
    ));
}

fn turn(time: Res<Time>, mut boxes: Query<(&Turning, &mut Transform)>) {
    for (turning, mut transform) in &mut boxes {
        let angle = time.elapsed_secs() + turning.0;
        transform.translation.y = 1.0 + angle.sin();
        transform.rotation = Quat::from_euler(EulerRot::XYZ, angle, 0.7 * angle, 0.0);
    }
}

fn toggle(
    keys: Res<ButtonInput<KeyCode>>,
    mut pause: ResMut<Pause>,
    mut game_time: ResMut<Time<Virtual>>,
    glass: Single<Entity, With<Glass>>,
    mut world: Query<&mut Camera, With<World3d>>,
    mut commands: Commands,
) {
    pause.frame += 1;
    pause.frames += 1;
    if !keys.just_pressed(KeyCode::Escape) && pause.at != Some(pause.frame) {
        return;
    }
    (pause.is_on, pause.frames) = (!pause.is_on, 0);
    if pause.is_on {
        game_time.pause();
        commands.entity(*glass).insert(FreezeBlur);
    } else {
        game_time.unpause();
        commands.entity(*glass).remove::<FreezeBlur>();
        set_world(&mut world, true);
    }
}

/// Switches the world's camera on or off.
fn set_world(cameras: &mut Query<&mut Camera, With<World3d>>, is_active: bool) {
    cameras.iter_mut().for_each(|mut camera| camera.is_active = is_active);
}

/// Uses real time, because the game's time stands still in a pause.
fn ease(time: Res<Time<Real>>, mut pause: ResMut<Pause>, mut glass: Single<&mut BackdropBlur, With<Glass>>) {
    let step = time.delta_secs() / EASING_TIME;
    pause.progress = (pause.progress + if pause.is_on { step } else { -step }).clamp(0.0, 1.0);
    // The cubic "smoothstep": a soft start and end.
    let eased = pause.progress * pause.progress * (3.0 - 2.0 * pause.progress);
    glass.blur.radius = PAUSED_RADIUS * eased;
    glass.colors = vec![ColorStep::Brightness(1.0 - 0.3 * eased)];
}

/// Shows the times of this frame, of the last steady frame of the running game, and of the last steady frame of a pause.
fn show_times(
    store: Res<DiagnosticsStore>,
    pause: Res<Pause>,
    mut text: Single<&mut Text, With<Times>>,
    mut before: Local<Option<Instant>>,
    mut frame: Local<f64>,
    mut last: Local<[String; 2]>,
) {
    let now = Instant::now();
    let milliseconds = before
        .replace(now)
        .map_or(0.0, |before| (now - before).as_secs_f64() * 1e3);
    *frame += 0.2 * (milliseconds - *frame);
    let times = format!("frame {:.2} ms, GPU {}", *frame, gpu_time(&store, 4.0 * *frame));
    if pause.frames > 12 && pause.progress == f32::from(u8::from(pause.is_on)) {
        last[usize::from(pause.is_on)].clone_from(&times);
    }
    text.0 = format!(
        "{}: {times}\nlast running: {}\nlast paused: {}\nEscape: {}",
        if pause.is_on { "paused" } else { "running" },
        last[0],
        last[1],
        if pause.is_on { "go on" } else { "pause" }
    );
}

/// The sum of the GPU times that Bevy's diagnostics have recorded in the last `lately` milliseconds (at least 300). A span inside
/// another span is not counted twice.
fn gpu_time(store: &DiagnosticsStore, lately: f64) -> String {
    let lately = Duration::from_secs_f64(lately.max(300.0) * 1e-3);
    let passes: Vec<(&str, f64)> = store
        .iter()
        .filter(|figure| {
            let measured = figure.measurement();
            measured.is_some_and(|measured| measured.time.elapsed() < lately)
        })
        .filter_map(|figure| {
            let span = figure
                .path()
                .as_str()
                .strip_prefix("render/")?
                .strip_suffix("/elapsed_gpu")?;
            Some((span, figure.value()?))
        })
        .collect();
    let is_part = |span: &str| {
        let mut others = passes.iter().map(|(other, _)| *other);
        others.any(|other| span.strip_prefix(other).is_some_and(|rest| rest.starts_with('/')))
    };
    let whole = passes.iter().filter(|(span, _)| !is_part(span));
    match passes.len() {
        0 => "unknown".to_owned(),
        _ => format!("{:.2} ms", whole.map(|(_, time)| time).sum::<f64>()),
    }
}
