//! A lake between hills at night, over which paper lanterns rise: layers at several depths, and lights in motion.

use crate::PERIOD;
use bevy::asset::RenderAssetUsages;
use bevy::camera::Hdr;
use bevy::camera::ScalingMode;
use bevy::core_pipeline::tonemapping::{DebandDither, Tonemapping};
use bevy::math::ops;
use bevy::mesh::{Indices, PrimitiveTopology};
use bevy::post_process::bloom::Bloom;
use bevy::prelude::*;
use bevy::render::render_resource::{Extent3d, TextureDimension, TextureFormat};
use bevy_gaussian_blur::prelude::*;
use core::f32::consts::TAU;

/// Half of the width of all that is drawn: the window's at its widest, and what the swaying camera shows besides.
const HALF_WIDTH: f32 = 900.0;
/// The level of the lake.
const WATER: f32 = -110.0;

/// Adds the scene and its camera to an app.
pub struct LakePlugin;

impl Plugin for LakePlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(
            Startup,
            (spawn_camera, spawn_sky, spawn_hills, spawn_houses, spawn_lanterns),
        )
        .add_systems(Update, (sway, rise));
    }
}

/// A layer at a distance: 0 moves with the camera, and 1 stands still before it.
#[derive(Component)]
struct Depth(f32);

/// A lantern that rises, or its reflection.
#[derive(Component)]
struct Lantern {
    column: f32,
    /// Its place in the circle of all lanterns, from 0 to 1.
    start: f32,
    size: f32,
    is_reflection: bool,
}

fn spawn_camera(mut commands: Commands) {
    let scaling_mode = ScalingMode::AutoMax {
        max_width: 1280.0,
        max_height: 800.0,
    };
    commands.spawn((
        Camera2d,
        Hdr,
        Bloom::NATURAL,
        Tonemapping::TonyMcMapface,
        DebandDither::Enabled,
        Projection::Orthographic(OrthographicProjection {
            scaling_mode,
            ..OrthographicProjection::default_2d()
        }),
        GaussianBlur::new(60.0),
        BlurProfile::default(),
    ));
}

/// A number from 0 to 1: multiples of an irrational number are evenly spread without looking regular.
fn spread(index: usize, number: f32) -> f32 {
    (number * (index + 1) as f32).fract()
}

fn spawn_sky(mut commands: Commands, mut images: ResMut<Assets<Image>>) {
    let size = UVec2::new(1, 256);
    let sky = paint(size, |texel| {
        let height = 1.0 - texel.y as f32 / 255.0;
        let [zenith, horizon] = [vec3(0.004, 0.008, 0.035), vec3(0.16, 0.07, 0.16)];
        zenith.lerp(horizon, (1.0 - height).powi(3)).extend(1.0)
    });
    let mut sprite = Sprite::from_image(images.add(sky));
    sprite.custom_size = Some(vec2(2.0 * HALF_WIDTH, 560.0));
    commands.spawn((sprite, Transform::from_xyz(0.0, WATER + 280.0, 0.0), Depth(0.0)));
    for star in 0..90 {
        let place = vec3(
            HALF_WIDTH * (2.0 * spread(star, 0.618_034) - 1.0),
            60.0 + 330.0 * spread(star, 0.754_878),
            0.1,
        );
        let size = 1.0 + 1.6 * spread(star, 0.569_84);
        let sprite = Sprite::from_color(Color::WHITE.with_alpha(0.75), Vec2::splat(size));
        commands.spawn((sprite, Transform::from_translation(place), Depth(0.02)));
    }
    let moon = paint(UVec2::splat(128), |texel| disc(texel, 128.0));
    let moon = images.add(moon);
    let sprite = Sprite {
        image: moon,
        color: LinearRgba::rgb(1.3, 1.25, 1.1).into(),
        custom_size: Some(Vec2::splat(84.0)),
        ..default()
    };
    commands.spawn((sprite, Transform::from_xyz(330.0, 215.0, 0.2), Depth(0.03)));
}

/// A white disc with a soft border.
fn disc(texel: UVec2, size: f32) -> Vec4 {
    let distance = (texel.as_vec2() + 0.5).distance(Vec2::splat(0.5 * size));
    Vec4::ONE.with_w((0.5 * size - 1.0 - distance).clamp(0.0, 1.0))
}

/// The height of a chain of hills, from 0 to 1.
fn hill(x: f32, seed: f32) -> f32 {
    let wave = |length: f32, shift: f32| 0.5 + 0.5 * ops::sin(x / length + shift * seed);
    0.55 * wave(170.0, 1.7) + 0.3 * wave(71.0, 2.9) + 0.15 * wave(29.0, 5.3)
}

fn spawn_hills(mut commands: Commands, mut meshes: ResMut<Assets<Mesh>>, mut materials: ResMut<Assets<ColorMaterial>>) {
    // From far to near: depth, height, how far up the foot is, and colour.
    let chains = [
        (0.08, 150.0, 60.0, Color::srgb(0.26, 0.18, 0.34)),
        (0.16, 120.0, 34.0, Color::srgb(0.17, 0.13, 0.28)),
        (0.28, 84.0, 12.0, Color::srgb(0.09, 0.08, 0.19)),
    ];
    let white = materials.add(ColorMaterial::from_color(Color::WHITE));
    for (index, (depth, height, foot, color)) in chains.into_iter().enumerate() {
        let profile = move |x: f32| foot + height * hill(x, index as f32 + 1.0);
        let near = 0.3 + 0.1 * index as f32;
        let chain = meshes.add(strip(profile, times(color, 1.0), times(color, 1.6)));
        let mirrored = meshes.add(strip(move |x| -0.6 * profile(x), times(color, 0.35), times(color, 0.7)));
        for mesh in [chain, mirrored] {
            let place = Transform::from_xyz(0.0, WATER, near);
            commands.spawn((Mesh2d(mesh), MeshMaterial2d(white.clone()), place, Depth(depth)));
        }
    }
    let water = strip(
        |_| -400.0,
        LinearRgba::rgb(0.003, 0.005, 0.018),
        LinearRgba::rgb(0.06, 0.03, 0.08),
    );
    let place = Transform::from_xyz(0.0, WATER, 0.15);
    commands.spawn((
        Mesh2d(meshes.add(water)),
        MeshMaterial2d(white.clone()),
        place,
        Depth(0.0),
    ));
    // The near shore is a frame at the bottom of the picture.
    let shore = strip(
        |x| 70.0 + 36.0 * hill(0.7 * x, 8.0),
        LinearRgba::rgb(0.002, 0.003, 0.008),
        LinearRgba::BLACK,
    );
    let place = Transform::from_xyz(0.0, -440.0, 3.0);
    commands.spawn((Mesh2d(meshes.add(shore)), MeshMaterial2d(white), place, Depth(0.7)));
}

/// A darker or lighter color.
fn times(color: Color, factor: f32) -> LinearRgba {
    (color.to_linear() * factor).with_alpha(1.0)
}

/// What lies between the line y = 0 and a profile, with a colour at each.
fn strip(profile: impl Fn(f32) -> f32, at_profile: LinearRgba, at_line: LinearRgba) -> Mesh {
    const STEPS: u32 = 180;
    let (mut positions, mut colors, mut indices) = (Vec::new(), Vec::new(), Vec::new());
    for step in 0..=STEPS {
        let x = HALF_WIDTH * (2.0 * step as f32 / STEPS as f32 - 1.0);
        positions.extend([[x, 0.0, 0.0], [x, profile(x), 0.0]]);
        colors.extend([at_line.to_f32_array(), at_profile.to_f32_array()]);
        if step < STEPS {
            indices.extend([0, 2, 1, 1, 2, 3].map(|corner| 2 * step + corner));
        }
    }
    Mesh::new(PrimitiveTopology::TriangleList, RenderAssetUsages::RENDER_WORLD)
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, positions)
        .with_inserted_attribute(Mesh::ATTRIBUTE_COLOR, colors)
        .with_inserted_indices(Indices::U32(indices))
}

/// Houses along the far shore, with lit windows.
fn spawn_houses(mut commands: Commands) {
    let block = |commands: &mut Commands, color: Color, place: Vec3, size: Vec2, depth: f32| {
        commands.spawn((
            Sprite::from_color(color, size),
            Transform::from_translation(place),
            Depth(depth),
        ));
    };
    for house in 0..34 {
        let x = -840.0 + 50.0 * house as f32 + 16.0 * spread(house, 0.618_034);
        let (width, height) = (
            24.0 + 18.0 * spread(house, 0.754_878),
            20.0 + 34.0 * spread(house, 0.324_718),
        );
        let wall = Color::srgb(0.05, 0.05, 0.12);
        block(
            &mut commands,
            wall,
            vec3(x, WATER + 0.5 * height, 0.7),
            vec2(width, height),
            0.34,
        );
        let roof = Transform::from_xyz(x, WATER + height, 0.69)
            .with_rotation(Quat::from_rotation_z(TAU / 8.0))
            .with_scale(Vec3::splat(0.72));
        commands.spawn((Sprite::from_color(wall, Vec2::splat(width)), roof, Depth(0.34)));
        for window in 0..6 {
            if spread(7 * house + window, 0.414_214) > 0.55 {
                continue;
            }
            let at = vec2((window % 2) as f32 - 0.5, (window / 2) as f32);
            let place = vec2(x + 9.0 * at.x, WATER + 9.0 + 11.0 * at.y);
            if place.y > WATER + height - 5.0 {
                continue;
            }
            let light = Color::from(LinearRgba::rgb(2.6, 1.25, 0.35));
            block(&mut commands, light, place.extend(0.72), vec2(4.0, 5.0), 0.34);
            let mirrored = light.with_alpha(0.22);
            block(
                &mut commands,
                mirrored,
                vec3(place.x, 2.0 * WATER - place.y, 0.72),
                vec2(3.0, 11.0),
                0.34,
            );
        }
    }
}

fn spawn_lanterns(mut commands: Commands, mut images: ResMut<Assets<Image>>) {
    let paper = images.add(paint(UVec2::new(64, 80), |texel| {
        // Wider at the top, and brighter at the bottom, where the flame is.
        let (x, y) = ((texel.x as f32 + 0.5) / 32.0 - 1.0, (texel.y as f32 + 0.5) / 80.0);
        let half = 0.62 + 0.3 * ops::sin((1.0 - y).min(0.8) * 2.0);
        let alpha = ((half - x.abs()) * 20.0).clamp(0.0, 1.0) * ((1.0 - (2.0 * y - 1.0).abs()) * 20.0).clamp(0.0, 1.0);
        let rib = if (texel.x + 2) % 16 < 2 { 0.75 } else { 1.0 };
        let flame = ops::exp(-3.5 * (1.0 - y)) + 0.22;
        (Vec3::new(1.0, 0.42, 0.1) * flame * rib + Vec3::new(0.3, 0.2, 0.06) * ops::exp(-9.0 * (1.0 - y))).extend(alpha)
    }));
    for index in 0..42 {
        // Few near ones, many far ones.
        let near = spread(index, 0.618_034).powi(3);
        let size = 9.0 + 62.0 * near;
        let lantern = |is_reflection| Lantern {
            column: 760.0 * (2.0 * spread(index, 0.754_878) - 1.0),
            start: spread(index, 0.569_84),
            size,
            is_reflection,
        };
        let strength = 3.2 - 1.4 * near;
        let sprite = |light: f32, alpha: f32, stretch: f32| Sprite {
            image: paper.clone(),
            color: LinearRgba::new(light, light, light, alpha).into(),
            custom_size: Some(vec2(size, 1.25 * size * stretch)),
            ..default()
        };
        let depth = Depth(0.2 + 0.6 * near);
        commands.spawn((
            sprite(strength, 1.0, 1.0),
            Transform::from_xyz(0.0, 0.0, 1.0 + near),
            lantern(false),
            depth,
        ));
        if near < 0.3 {
            let depth = Depth(0.2 + 0.6 * near);
            commands.spawn((
                sprite(strength, 0.3, 2.2),
                Transform::from_xyz(0.0, 0.0, 0.8),
                lantern(true),
                depth,
            ));
        }
    }
}

/// An image from a linear colour for each texel.
fn paint(size: UVec2, color: impl Fn(UVec2) -> Vec4) -> Image {
    let texels = (0..size.element_product()).map(|index| color(uvec2(index % size.x, index / size.x)));
    let bytes = texels.flat_map(|texel| Srgba::from(LinearRgba::from_vec4(texel)).to_u8_array());
    let extent = Extent3d {
        width: size.x,
        height: size.y,
        depth_or_array_layers: 1,
    };
    let format = TextureFormat::Rgba8UnormSrgb;
    Image::new(
        extent,
        TextureDimension::D2,
        bytes.collect(),
        format,
        RenderAssetUsages::RENDER_WORLD,
    )
}

/// How far the camera is from the middle.
fn camera(time: &Time) -> f32 {
    90.0 * ops::sin(TAU * time.elapsed_secs() / PERIOD)
}

/// Layers that are near move farther.
fn sway(time: Res<Time>, mut layers: Query<(&Depth, &mut Transform), Without<Lantern>>, mut last: Local<f32>) {
    let now = camera(&time);
    for (depth, mut transform) in &mut layers {
        transform.translation.x -= depth.0 * (now - *last);
    }
    *last = now;
}

fn rise(time: Res<Time>, mut lanterns: Query<(&Lantern, &Depth, &mut Transform)>) {
    let turns = time.elapsed_secs() / PERIOD;
    for (lantern, depth, mut transform) in &mut lanterns {
        // After a period, each lantern is where it was: it has risen once through all heights.
        let share = (lantern.start + turns).fract();
        let height = 30.0 + 480.0 * share * (0.6 + 0.4 * share);
        let drift = 14.0 * ops::sin(TAU * (turns + 3.0 * lantern.start));
        let near = lantern.size / 71.0;
        let above = height - 260.0 * near * (1.0 - share);
        transform.translation.x = lantern.column + drift - depth.0 * camera(&time);
        transform.translation.y = WATER + if lantern.is_reflection { -0.6 * height } else { above };
        // It appears out of the dark, and vanishes into it.
        let seen = (8.0 * share).min(8.0 * (1.0 - share)).min(1.0);
        transform.scale = Vec3::splat(seen.max(0.001));
    }
}
