//! Sprites with soft shadows and glows, in front of a background that is out of focus.
//!
//! ```text
//! cargo run --release --example sprites [-- --frames N --screenshot FILE]
//! ```
//!
//! You should see three badges that sway: the left one with a soft shadow, the middle one with a glow, and the right one with
//! both. No shadow and no glow is cut off at the border of its sprite. Behind them drift soft discs of light, which move less
//! than the badges do.
//!
//! A shadow and a glow are sprites: they show a blur of the badge's image that may spread into its padding. The background is
//! blurred as one picture. Its sprites are on a render layer with a camera, and the blur is on that camera.

mod common;

use bevy::camera::visibility::RenderLayers;
use bevy::math::ops;
use bevy::prelude::*;
use bevy_gaussian_blur::prelude::*;
use common::example;
use core::f32::consts::TAU;

/// The render layer of the background.
const BACKGROUND: RenderLayers = RenderLayers::layer(1);

fn main() -> AppExit {
    example("Gaussian blur: sprites", |app, _| {
        app.insert_resource(ClearColor(Color::srgb(0.09, 0.12, 0.2)))
            .add_systems(Startup, (spawn_cameras, spawn_background, spawn_badges))
            .add_systems(Update, sway);
    })
}

/// Moves to and fro by this many pixels.
#[derive(Component)]
struct Sway(f32);

/// What lies below a badge, at an offset, and in a colour by which the blur is multiplied.
#[derive(Clone, Copy)]
struct Below {
    sigma: f32,
    offset: Vec3,
    color: Color,
}

const SHADOW: Below = Below {
    sigma: 7.0,
    offset: Vec3::new(10.0, -14.0, -0.1),
    color: Color::srgba(0.0, 0.0, 0.0, 0.7),
};

const GLOW: Below = Below {
    sigma: 16.0,
    offset: Vec3::new(0.0, 0.0, -0.2),
    color: Color::srgb(1.6, 1.3, 0.7),
};

/// The background's camera paints first. The other one paints over it, because it clears nothing.
fn spawn_cameras(mut commands: Commands) {
    let first = Camera { order: -1, ..default() };
    commands.spawn((Camera2d, first, BACKGROUND, GaussianBlur::new(20.0)));
    let over_it = Camera {
        clear_color: ClearColorConfig::None,
        ..default()
    };
    commands.spawn((Camera2d, over_it));
}

fn spawn_background(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<ColorMaterial>>,
) {
    for disc in 0..40 {
        // The golden ratio spreads them evenly.
        let share = |by: f32| (disc as f32 * by).fract();
        let place = Vec3::new(
            1500.0 * share(0.618_034) - 750.0,
            800.0 * share(0.381_966 * 1.7) - 400.0,
            0.0,
        );
        commands.spawn((
            Mesh2d(meshes.add(Circle::new(10.0 + 40.0 * share(0.27)))),
            MeshMaterial2d(materials.add(Color::hsl(360.0 * share(0.13), 0.6, 0.45))),
            Transform::from_translation(place),
            Sway(30.0),
            BACKGROUND,
        ));
    }
}

fn spawn_badges(mut commands: Commands, assets: Res<AssetServer>) {
    let badge = assets.load("sprite.png");
    for (x, below) in [(-280.0, &[SHADOW][..]), (0.0, &[GLOW]), (280.0, &[SHADOW, GLOW])] {
        let sprite = commands
            .spawn((
                Sprite::from_image(badge.clone()),
                Transform::from_xyz(x, 0.0, 1.0),
                Sway(90.0),
            ))
            .id();
        for below in below.iter().copied() {
            let blur = GaussianBlur::from_sigma(below.sigma);
            let image = BlurImage::new(badge.clone())
                .with_padding(BlurImage::padding_for(&blur))
                .with_update(BlurUpdate::Once);
            commands.spawn((blur, image)).observe(
                move |finished: On<BlurFinished>, blurs: Query<&BlurImage>, mut commands: Commands| {
                    let blurred = blurs.get(finished.entity).ok();
                    let Some(image) = blurred.and_then(|blurred| blurred.target.clone()) else {
                        return;
                    };
                    let color = below.color;
                    let sprite_below = Sprite {
                        color,
                        ..Sprite::from_image(image)
                    };
                    let place = Transform::from_translation(below.offset);
                    commands.spawn((sprite_below, place, ChildOf(sprite)));
                },
            );
        }
    }
}

fn sway(time: Res<Time>, mut swaying: Query<(&Sway, &mut Transform)>, mut before: Local<f32>) {
    let now = ops::sin(0.15 * TAU * time.elapsed_secs());
    for (Sway(pixels), mut transform) in &mut swaying {
        transform.translation.x += pixels * (now - *before);
    }
    *before = now;
}
