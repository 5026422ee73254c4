//! Sprites with soft shadows and glows, in front of a background that is out of focus.
//!
//! ```text
//! cargo run --release --example sprites [-- --frames N --screenshot FILE]
//! ```
//!
//! You should see three badges that sway: the left one with a soft shadow, the middle one with a glow, and the right one with
//! both. No shadow and no glow is cut off at the border of its sprite. Behind them drift soft discs of light, which move less
//! than the badges do. A flower sways over the middle badge and under the right one. It is translucent, but its petals do not show
//! through each other, and they cast one shadow.
//!
//! A shadow and a glow are sprites: they show a blur of the badge's image that may spread into its padding. The background is
//! blurred as one picture. Its sprites are on a render layer with a camera, and the blur is on that camera. The flower is painted
//! into an image by a camera of its own. A blur with a radius of 0 converts the image for the sprite that shows it, and another one is
//! its shadow.

mod common;

use bevy::camera::visibility::RenderLayers;
use bevy::camera::{ImageRenderTarget, RenderTarget};
use bevy::math::ops;
use bevy::prelude::*;
use bevy::render::render_resource::TextureFormat;
use bevy_gaussian_blur::prelude::*;
use common::example;
use core::f32::consts::TAU;

/// The render layer of the background.
const BACKGROUND: RenderLayers = RenderLayers::layer(1);

/// The render layer of the flower.
const FLOWER: RenderLayers = RenderLayers::layer(2);

fn main() -> AppExit {
    example("Gaussian blur: sprites", |app, _| {
        app.insert_resource(ClearColor(Color::srgb(0.09, 0.12, 0.2)))
            .add_systems(Startup, (spawn_cameras, spawn_background, spawn_badges, spawn_flower))
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
    for (x, z, below) in [
        (-280.0, 1.0, &[SHADOW][..]),
        (0.0, 1.0, &[GLOW]),
        (280.0, 3.0, &[SHADOW, GLOW]),
    ] {
        let sprite = commands
            .spawn((
                Sprite::from_image(badge.clone()),
                Transform::from_xyz(x, 0.0, z),
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

/// The flower as one picture at its place among the badges.
fn spawn_flower(
    mut commands: Commands,
    mut images: ResMut<Assets<Image>>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<ColorMaterial>>,
    window: Single<&Window>,
) {
    let petal = meshes.add(Ellipse::new(90.0, 34.0));
    for index in 0..6 {
        let turn = Quat::from_rotation_z(TAU / 6.0 * index as f32);
        let place = Vec3::new(0.0, -60.0, 0.1 * index as f32) + turn * Vec3::X * 80.0;
        commands.spawn((
            Mesh2d(petal.clone()),
            MeshMaterial2d(materials.add(Color::hsl(300.0 + 12.0 * index as f32, 0.7, 0.6))),
            Transform::from_translation(place).with_rotation(turn),
            Sway(200.0),
            FLOWER,
        ));
    }
    let (size, scale_factor) = (window.physical_size(), window.scale_factor());
    let image = || Image::new_target_texture(size.x, size.y, TextureFormat::Rgba8UnormSrgb, None);
    let [painted, shown, blurred] = [(); 3].map(|()| images.add(image()));
    let target = ImageRenderTarget {
        handle: painted.clone(),
        scale_factor,
    };
    let first = Camera {
        order: -2,
        clear_color: ClearColorConfig::Custom(Color::NONE),
        ..default()
    };
    commands.spawn((Camera2d, first, RenderTarget::Image(target), FLOWER));
    // What a transparent camera paints is multiplied by alpha, and sprites are not. A radius of 0 only converts.
    let flower = BlurImage::new(painted).with_alpha(BlurAlpha::Unpremultiply);
    let soft = GaussianBlur::from_sigma(SHADOW.sigma * scale_factor);
    commands.spawn((GaussianBlur::new(0.0), flower.clone().with_target(shown.clone())));
    commands.spawn((soft, flower.with_target(blurred.clone())));
    let sprites = [
        (shown, Color::WHITE.with_alpha(0.8), Vec3::ZERO),
        (blurred, SHADOW.color, SHADOW.offset),
    ];
    for (image, color, offset) in sprites {
        let sprite = Sprite {
            color,
            custom_size: Some(window.size()),
            ..Sprite::from_image(image)
        };
        commands.spawn((sprite, Transform::from_translation(offset + Vec3::Z * 2.0)));
    }
}

fn sway(time: Res<Time>, mut swaying: Query<(&Sway, &mut Transform)>, mut before: Local<f32>) {
    let now = ops::sin(0.15 * TAU * time.elapsed_secs());
    for (Sway(pixels), mut transform) in &mut swaying {
        transform.translation.x += pixels * (now - *before);
    }
    *before = now;
}
