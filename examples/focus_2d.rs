//! A two-dimensional scene that goes out of focus while the game is paused.
//!
//! ```text
//! cargo run --release --example focus_2d [-- --frames N --screenshot FILE]
//! ```
//!
//! You should see a planet with its moons and drifting stars, all sharp. Press space: the scene stands still and goes
//! softly out of focus within a third of a second, without a jump. The word "Paused" appears and is sharp, because the
//! user interface is drawn after the blur. Press space again: the scene comes back into focus just as softly and moves
//! on. This takes equally long at every frame rate, and looks the same at every window size, since the radius is a
//! percentage of the viewport's height. While the game runs the radius is 0, and the blur costs nothing.
//!
//! Without a user, the game is paused in the middle of the frames, so that the screenshot shows the pause.

mod common;

use bevy::math::ops;
use bevy::prelude::*;
use bevy_gaussian_blur::prelude::*;
use common::example;
use core::f32::consts::TAU;

/// The blur's radius during a pause, in percent of the viewport's height.
const PAUSED_RADIUS: f32 = 6.0;

/// How long the scene takes to go out of focus, in seconds.
const EASING_TIME: f32 = 0.35;

fn main() -> AppExit {
    example("Gaussian blur: focus", |app, unattended| {
        let pause_at = unattended.is_active().then_some(unattended.frames().div_ceil(2));
        app.insert_resource(ClearColor(Color::srgb(0.03, 0.04, 0.1)))
            .insert_resource(Schedule { pause_at })
            .init_resource::<Pause>()
            .add_systems(Startup, (spawn_camera_and_label, spawn_planets, spawn_stars))
            .add_systems(Update, (pause, (ease_blur, fade_label, revolve, drift)).chain());
    })
}

/// Whether the game is paused, and how far it has gone out of focus.
#[derive(Resource, Default)]
struct Pause {
    is_on: bool,
    /// From 0, in focus, to 1.
    progress: f32,
}

impl Pause {
    /// The progress with a soft start and end: the cubic "smoothstep".
    fn eased(&self) -> f32 {
        self.progress * self.progress * (3.0 - 2.0 * self.progress)
    }
}

/// When to pause without a user.
#[derive(Resource)]
struct Schedule {
    pause_at: Option<u32>,
}

#[derive(Component)]
struct PauseLabel;

/// Moves around the centre of the scene.
#[derive(Component)]
struct Orbit {
    radius: f32,
    /// Turns per second.
    speed: f32,
}

/// Moves to the left, and comes back on the right.
#[derive(Component)]
struct Drift {
    /// World units per second.
    speed: f32,
}

/// Half the width of the band in which stars drift.
const BAND: f32 = 1100.0;

fn spawn_camera_and_label(mut commands: Commands) {
    commands.spawn((
        Name::new("Camera"),
        Camera2d,
        GaussianBlur::new(0.0).with_unit(BlurUnit::ViewportHeight),
    ));
    commands
        .spawn(Node {
            width: percent(100),
            height: percent(100),
            flex_direction: FlexDirection::Column,
            align_items: AlignItems::Center,
            justify_content: JustifyContent::Center,
            ..default()
        })
        .with_children(|screen| {
            for (text, size) in [("Paused", 72.0), ("space: go on", 22.0)] {
                screen.spawn((
                    PauseLabel,
                    Text::new(text),
                    TextFont::from_font_size(size),
                    TextColor(Color::NONE),
                ));
            }
        });
}

fn spawn_planets(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<ColorMaterial>>,
) {
    let mut shape = |mesh: Mesh, colour: Color| (Mesh2d(meshes.add(mesh)), MeshMaterial2d(materials.add(colour)));
    commands.spawn(shape(Circle::new(120.0).into(), Color::srgb(0.95, 0.55, 0.2)));
    for (index, y) in [-70.0_f32, -30.0, 15.0, 60.0].into_iter().enumerate() {
        let width = 2.0 * ops::sqrt(120.0 * 120.0 - y * y) - 4.0;
        commands.spawn((
            shape(Rectangle::new(width, 9.0).into(), Color::srgb(0.75, 0.3, 0.15)),
            Transform::from_xyz(0.0, y, 0.1 + 0.01 * index as f32),
        ));
    }
    for index in 0..3 {
        let radius = 170.0 + 55.0 * index as f32;
        commands.spawn((
            shape(
                Annulus::new(radius - 1.0, radius + 1.0).into(),
                Color::srgb(0.3, 0.35, 0.5),
            ),
            Transform::from_xyz(0.0, 0.0, -0.5),
        ));
        for moon in 0..=index {
            let share = moon as f32 / (index + 1) as f32;
            commands.spawn((
                shape(
                    RegularPolygon::new(16.0 + 4.0 * index as f32, 3 + moon + index).into(),
                    Color::hsl(120.0 * index as f32 + 60.0 * share, 0.8, 0.65),
                ),
                Transform::from_rotation(Quat::from_rotation_z(TAU * share)),
                Orbit {
                    radius,
                    speed: 0.16 / (index + 1) as f32,
                },
            ));
        }
    }
}

fn spawn_stars(mut commands: Commands) {
    for index in 0..300 {
        // Multiples of irrational numbers are evenly spread without looking regular.
        let spread = |number: f32| (number * index as f32).fract();
        let depth = spread(0.618_034);
        commands.spawn((
            Sprite::from_color(
                Color::hsl(360.0 * spread(0.3), 0.4, 0.85),
                Vec2::splat(1.5 + 2.5 * depth),
            ),
            Transform::from_xyz(
                BAND * (2.0 * spread(0.754_877_7) - 1.0),
                800.0 * (spread(0.569_840_3) - 0.5),
                -1.0,
            ),
            Drift {
                speed: 10.0 + 50.0 * depth,
            },
        ));
    }
}

/// Pauses or resumes the game when the key is pressed.
fn pause(
    keys: Res<ButtonInput<KeyCode>>,
    schedule: Res<Schedule>,
    mut frame: Local<u32>,
    mut pause: ResMut<Pause>,
    mut game_time: ResMut<Time<Virtual>>,
) {
    *frame += 1;
    if !keys.just_pressed(KeyCode::Space) && schedule.pause_at != Some(*frame) {
        return;
    }
    pause.is_on = !pause.is_on;
    if pause.is_on {
        game_time.pause();
    } else {
        game_time.unpause();
    }
}

/// Eases into and out of focus at a speed that depends on time, not on frames. It uses real time, because the game's
/// time stands still in a pause.
fn ease_blur(time: Res<Time<Real>>, mut pause: ResMut<Pause>, mut blur: Single<&mut GaussianBlur>) {
    let step = time.delta_secs() / EASING_TIME;
    let change = if pause.is_on { step } else { -step };
    pause.progress = (pause.progress + change).clamp(0.0, 1.0);
    blur.radius = PAUSED_RADIUS * pause.eased();
}

fn fade_label(pause: Res<Pause>, mut labels: Query<&mut TextColor, With<PauseLabel>>) {
    for mut colour in &mut labels {
        colour.0 = Color::WHITE.with_alpha(pause.eased());
    }
}

fn revolve(time: Res<Time>, mut moons: Query<(&Orbit, &mut Transform)>) {
    for (orbit, mut transform) in &mut moons {
        transform.rotate_z(TAU * orbit.speed * time.delta_secs());
        let depth = transform.translation.z;
        transform.translation = (transform.rotation * Vec3::X * orbit.radius).with_z(depth);
    }
}

fn drift(time: Res<Time>, mut stars: Query<(&Drift, &mut Transform)>) {
    for (drift, mut transform) in &mut stars {
        let x = transform.translation.x - drift.speed * time.delta_secs();
        transform.translation.x = (x + BAND).rem_euclid(2.0 * BAND) - BAND;
    }
}
