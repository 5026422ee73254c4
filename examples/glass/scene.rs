//! The scene behind the glass: a harbour at dusk, rising balloons and turning badges.

use bevy::camera::ScalingMode;
use bevy::math::ops;
use bevy::prelude::*;
use core::f32::consts::TAU;

/// The size of the picture of the harbour, in world units.
const SIZE: Vec2 = Vec2::new(1280.0, 720.0);

/// The height that a balloon rises through before it comes back from below.
const RISE: f32 = 800.0;

/// Adds the scene and its camera.
pub struct HarbourPlugin;

impl Plugin for HarbourPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Startup, (spawn_harbour, spawn_balloons, spawn_badges))
            .add_systems(Update, (rise, turn));
    }
}

/// Rises and sways.
#[derive(Component)]
struct Balloon {
    x: f32,
    /// Its start on the way up, in world units.
    start: f32,
    /// World units per second.
    speed: f32,
}

/// Turns in place.
#[derive(Component)]
struct Turn {
    /// Turns per second.
    speed: f32,
}

fn spawn_harbour(mut commands: Commands, assets: Res<AssetServer>) {
    commands.spawn((
        Name::new("Camera"),
        Camera2d,
        // The picture fills windows of all sizes.
        Projection::Orthographic(OrthographicProjection {
            scaling_mode: ScalingMode::AutoMax {
                max_width: SIZE.x,
                max_height: SIZE.y,
            },
            ..OrthographicProjection::default_2d()
        }),
    ));
    commands.spawn(Sprite::from_image(assets.load("scene.png")));
}

fn spawn_balloons(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<ColorMaterial>>,
) {
    let circle = meshes.add(Circle::new(1.0));
    for index in 0..36 {
        // Multiples of irrational numbers are evenly spread without looking regular.
        let spread = |number: f32| (number * index as f32).fract();
        let radius = 10.0 + 22.0 * spread(0.414_213_6);
        let colour = Color::hsl(360.0 * spread(0.618_034), 0.85, 0.6);
        commands.spawn((
            Mesh2d(circle.clone()),
            MeshMaterial2d(materials.add(colour)),
            Transform::from_xyz(0.0, 0.0, 1.0 + 0.01 * index as f32).with_scale(Vec3::splat(radius)),
            Balloon {
                x: SIZE.x * (spread(0.754_877_7) - 0.5),
                start: RISE * spread(0.569_840_3),
                speed: 1.5 * radius,
            },
        ));
    }
}

fn spawn_badges(mut commands: Commands, assets: Res<AssetServer>) {
    let image = assets.load("sprite.png");
    for (index, (x, y)) in [(-300.0, 60.0), (40.0, -120.0), (420.0, 100.0)].into_iter().enumerate() {
        commands.spawn((
            Sprite {
                image: image.clone(),
                custom_size: Some(Vec2::splat(170.0)),
                ..default()
            },
            Transform::from_xyz(x, y, 2.0 + index as f32),
            Turn {
                speed: 0.1 - 0.08 * index as f32,
            },
        ));
    }
}

fn rise(time: Res<Time>, mut balloons: Query<(&Balloon, &mut Transform)>) {
    for (balloon, mut transform) in &mut balloons {
        let way = balloon.start + balloon.speed * time.elapsed_secs();
        transform.translation.x = balloon.x + 24.0 * ops::sin(0.02 * way);
        transform.translation.y = way.rem_euclid(RISE) - 0.5 * RISE;
    }
}

fn turn(time: Res<Time>, mut badges: Query<(&Turn, &mut Transform)>) {
    for (turn, mut transform) in &mut badges {
        transform.rotation = Quat::from_rotation_z(TAU * turn.speed * time.elapsed_secs());
    }
}
