//! A still scene for camera tests: rich in edges, with bright lights, seen by cameras that render to images.

use super::formats::stored_channels;
use super::prelude::*;
use bevy::camera::{RenderTarget, ScalingMode};
use bevy::core_pipeline::tonemapping::{DebandDither, Tonemapping};
use bevy::pbr::PbrPlugin;
use bevy::sprite_render::AlphaMode2d;

/// Which kind of camera looks at the scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Core2d,
    Core3d,
}

/// The number of physical pixels of the usual test target.
pub const SIZE: UVec2 = UVec2::new(203, 117);

/// Adds the plugins that Bevy needs to draw the scene for a kind of camera, and that test apps lack.
pub fn add_plugins(app: &mut App, kind: Kind) {
    if kind == Kind::Core3d {
        app.add_plugins(PbrPlugin::default());
    }
}

/// [`add_plugins`] as the setup of an app of the [pool](super::pool).
pub fn plugins(kind: Kind) -> fn(&mut App) {
    match kind {
        Kind::Core2d => |_| {},
        Kind::Core3d => |app| add_plugins(app, Kind::Core3d),
    }
}

/// Spawns the scene for one kind of camera, in an app with [its plugins](add_plugins). `brightness` scales its light.
pub fn spawn(headless: &mut Headless, kind: Kind, brightness: f64) {
    let [pattern, _] = inputs::patterns(96, 60);
    let picture = Picture::from_fn(96, 60, |x, y| {
        let texel = pattern.at(x, y);
        [
            texel[2] * brightness,
            texel[3] * brightness * 0.7,
            texel[0] * brightness * 0.4,
            1.0,
        ]
    });
    let pattern = headless.add_image(to_image(&picture, TextureFormat::Rgba16Float));
    let world = headless.app.world_mut();
    match kind {
        Kind::Core2d => spawn_quads_2d(world, &pattern, brightness as f32),
        Kind::Core3d => spawn_quads_3d(world, &pattern, brightness as f32),
    }
}

/// The position, the angle, the size and the colour of each quad.
fn placements(brightness: f32) -> [(Vec3, f32, Vec2, LinearRgba); 3] {
    [
        (
            Vec3::new(-40.0, 10.0, -2.0),
            0.3,
            Vec2::new(90.0, 50.0),
            LinearRgba::rgb(0.1, 0.5, 0.9),
        ),
        (
            Vec3::new(60.0, -30.0, -1.0),
            -0.5,
            Vec2::new(40.0, 70.0),
            LinearRgba::rgb(0.9, 0.2, 0.1),
        ),
        (
            Vec3::new(75.0, 35.0, 1.0),
            0.1,
            Vec2::new(9.0, 7.0),
            LinearRgba::rgb(1.0, 0.9, 0.8) * brightness,
        ),
    ]
}

fn spawn_quads_2d(world: &mut World, pattern: &Handle<Image>, brightness: f32) {
    for (position, angle, size, color) in placements(brightness) {
        let quad = quad_2d(world, size, Color::from(color).into());
        let transform = Transform::from_translation(position).with_rotation(Quat::from_rotation_z(angle));
        world.spawn((quad, transform));
    }
    let quad = image_quad(world, pattern.clone());
    world.spawn((quad, Transform::from_xyz(10.0, 5.0, 0.0)));
}

/// A quad that shows an image to two-dimensional cameras, one texel per pixel.
pub fn image_quad(world: &mut World, image: Handle<Image>) -> impl Bundle + use<> {
    let images = world.resource::<Assets<Image>>();
    let size = images.get(&image).expect("it was added").size_f32();
    quad_2d(world, size, image.into())
}

/// A mesh, not a sprite: the software driver of Debian 12 (Mesa 22.3) compiles the shader of Bevy 0.20's sprites anew for every
/// draw, with the values of its uniforms, and keeps the code when the device is dropped.
fn quad_2d(world: &mut World, size: Vec2, material: ColorMaterial) -> (Mesh2d, MeshMaterial2d<ColorMaterial>) {
    let mesh = world.resource_mut::<Assets<Mesh>>().add(Rectangle::from_size(size));
    // Blended, as sprites are.
    let material = ColorMaterial {
        alpha_mode: AlphaMode2d::Blend,
        ..material
    };
    let material = world.resource_mut::<Assets<ColorMaterial>>().add(material);
    (Mesh2d(mesh), MeshMaterial2d(material))
}

fn spawn_quads_3d(world: &mut World, pattern: &Handle<Image>, brightness: f32) {
    let quad = |world: &mut World, size: Vec2, position: Vec3, angle: f32, material: StandardMaterial| {
        let mesh = world.resource_mut::<Assets<Mesh>>().add(Rectangle::from_size(size));
        let material = world.resource_mut::<Assets<StandardMaterial>>().add(material);
        let transform = Transform::from_translation(position).with_rotation(Quat::from_rotation_z(angle));
        world.spawn((Mesh3d(mesh), MeshMaterial3d(material), transform));
    };
    let unlit = |color: LinearRgba| StandardMaterial {
        base_color: color.into(),
        unlit: true,
        ..default()
    };
    for (position, angle, size, color) in placements(brightness) {
        quad(world, size, position, angle, unlit(color));
    }
    let textured = StandardMaterial {
        base_color_texture: Some(pattern.clone()),
        ..unlit(LinearRgba::WHITE)
    };
    quad(world, Vec2::new(96.0, 64.0), Vec3::new(10.0, 5.0, 0.0), 0.0, textured);
}

/// An image that a camera can render to and that can be read back.
pub fn target(headless: &mut Headless, size: UVec2, format: TextureFormat) -> Handle<Image> {
    let mut image = Image::new_target_texture(size.x, size.y, format, None);
    image.texture_descriptor.usage |= TextureUsages::COPY_SRC;
    headless.add_image(image)
}

/// A camera that sees the scene pixel by pixel. Neither it nor its blur tonemaps or dithers, because tests compare pictures
/// with a reference to a fraction of a level. The module `dither` tests dithering.
pub fn camera(headless: &mut Headless, kind: Kind, target: &Handle<Image>, msaa: Msaa) -> Entity {
    let world = headless.app.world_mut();
    let orthographic = OrthographicProjection {
        scaling_mode: ScalingMode::WindowSize,
        near: -100.0,
        far: 100.0,
        ..OrthographicProjection::default_3d()
    };
    let mut camera = world.spawn((
        Camera {
            clear_color: ClearColorConfig::Custom(LinearRgba::rgb(0.05, 0.02, 0.1).into()),
            ..default()
        },
        RenderTarget::Image(target.clone().into()),
        Projection::Orthographic(orthographic),
        Tonemapping::None,
        DebandDither::Disabled,
        msaa,
    ));
    match kind {
        Kind::Core2d => camera.insert(Camera2d),
        Kind::Core3d => camera.insert(Camera3d::default()),
    };
    camera.id()
}

/// A part of a target.
pub fn viewport(position: impl Into<UVec2>, size: impl Into<UVec2>) -> Viewport {
    Viewport {
        physical_position: position.into(),
        physical_size: size.into(),
        ..default()
    }
}

/// A node at a fixed position.
pub fn node(origin: Vec2, size: Vec2) -> Node {
    Node {
        position_type: PositionType::Absolute,
        left: Val::Px(origin.x),
        top: Val::Px(origin.y),
        width: Val::Px(size.x),
        height: Val::Px(size.y),
        ..default()
    }
}

/// A node that covers its parent.
pub fn whole() -> Node {
    Node {
        width: Val::Percent(100.0),
        height: Val::Percent(100.0),
        ..default()
    }
}

/// Switches a camera on or off.
pub fn set_active(headless: &mut Headless, camera: Entity, is_active: bool) {
    headless.get_mut::<Camera>(camera).is_active = is_active;
}

/// The picture of a camera's target after everything has settled.
pub fn shot(headless: &mut Headless, target: &Handle<Image>) -> Picture {
    headless.warm_up();
    let pixels = headless.read_image(target);
    assert!(stored_channels(pixels.format).len() >= 3);
    to_picture(&pixels)
}
