//! An animated scene at dusk: moving lights, glowing objects, and textures so fine that the slightest blur shows.

mod textures;

use bevy::light::{CascadeShadowConfigBuilder, NotShadowCaster};
use bevy::math::ops;
use bevy::prelude::*;
use core::f32::consts::{FRAC_PI_2, TAU};

/// Adds the scene to an app. Cameras are not included.
pub struct ScenePlugin;

impl Plugin for ScenePlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(GlobalAmbientLight {
            color: Color::srgb(0.6, 0.65, 1.0),
            brightness: 180.0,
            ..default()
        })
        .add_systems(Startup, (spawn_ground_and_sky, spawn_things, spawn_sun, spawn_lamps))
        .add_systems(Update, (spin, orbit));
    }
}

/// A camera's position in front of the scene, at a distance from its centre.
pub fn viewpoint(distance: f32) -> Transform {
    Transform::from_xyz(0.0, 2.6, distance).looking_at(Vec3::new(0.0, 1.9, 0.0), Vec3::Y)
}

/// Turns in place.
#[derive(Component)]
struct Spin {
    axis: Dir3,
    /// Radians per second.
    speed: f32,
}

/// Moves around the centre of the scene.
#[derive(Component)]
struct Orbit {
    radius: f32,
    height: f32,
    /// The start of its orbit, in turns.
    start: f32,
    /// Turns per second.
    speed: f32,
}

fn spawn_ground_and_sky(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
    mut images: ResMut<Assets<Image>>,
) {
    let mut ground = Mesh::from(Plane3d::default().mesh().size(80.0, 80.0));
    if let Some(bevy::mesh::VertexAttributeValues::Float32x2(coordinates)) = ground.attribute_mut(Mesh::ATTRIBUTE_UV_0)
    {
        for coordinate in coordinates {
            *coordinate = coordinate.map(|value| value * 16.0);
        }
    }
    commands.spawn((
        Name::new("Ground"),
        Mesh3d(meshes.add(ground)),
        MeshMaterial3d(materials.add(StandardMaterial {
            base_color_texture: Some(images.add(textures::paving())),
            perceptual_roughness: 0.6,
            ..default()
        })),
    ));
    commands.spawn((
        Name::new("Sky"),
        Mesh3d(meshes.add(Sphere::new(200.0).mesh().uv(64, 32))),
        MeshMaterial3d(materials.add(StandardMaterial {
            base_color_texture: Some(images.add(textures::sky())),
            unlit: true,
            cull_mode: None,
            ..default()
        })),
        // The poles of the mesh are on the z axis.
        Transform::from_rotation(Quat::from_rotation_x(-FRAC_PI_2)),
        NotShadowCaster,
    ));
}

fn spawn_things(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
    mut images: ResMut<Assets<Image>>,
) {
    let mut textured = |image: Image| {
        materials.add(StandardMaterial {
            base_color_texture: Some(images.add(image)),
            perceptual_roughness: 0.5,
            ..default()
        })
    };
    let zone_plate = textured(textures::zone_plate());
    let chequers = textured(textures::chequers());
    let stripes = textured(textures::stripes());
    let spin = |axis: Vec3, speed: f32| Spin {
        axis: Dir3::new(axis).unwrap_or(Dir3::Y),
        speed,
    };
    commands.spawn((
        Mesh3d(meshes.add(Cuboid::from_length(2.0))),
        MeshMaterial3d(zone_plate),
        Transform::from_xyz(0.0, 1.9, 0.0),
        spin(Vec3::new(0.3, 1.0, 0.1), 0.5),
    ));
    commands.spawn((
        Mesh3d(meshes.add(Sphere::new(0.9).mesh().uv(48, 24))),
        MeshMaterial3d(chequers.clone()),
        Transform::from_xyz(-3.0, 0.9, 0.8),
        spin(Vec3::Y, -0.6),
    ));
    commands.spawn((
        Mesh3d(meshes.add(Torus::new(0.45, 0.95))),
        MeshMaterial3d(chequers),
        Transform::from_xyz(3.0, 1.1, 0.8),
        spin(Vec3::new(1.0, 0.4, 0.0), 0.9),
    ));
    let column = meshes.add(Cylinder::new(0.35, 4.0));
    for index in 0..8 {
        // Behind the other objects, seen from the front.
        let turn = -0.5 * TAU * (index as f32 + 0.5) / 8.0;
        commands.spawn((
            Mesh3d(column.clone()),
            MeshMaterial3d(stripes.clone()),
            Transform::from_xyz(6.5 * ops::cos(turn), 2.0, 6.5 * ops::sin(turn)),
        ));
    }
}

fn spawn_sun(mut commands: Commands) {
    commands.spawn((
        DirectionalLight {
            color: Color::srgb(1.0, 0.6, 0.4),
            illuminance: 1500.0,
            shadow_maps_enabled: true,
            ..default()
        },
        Transform::from_xyz(-6.0, 5.0, -4.0).looking_at(Vec3::ZERO, Vec3::Y),
        CascadeShadowConfigBuilder {
            num_cascades: 1,
            maximum_distance: 30.0,
            ..default()
        }
        .build(),
    ));
}

fn spawn_lamps(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let mut glowing = |colour: Color, strength: f32| {
        materials.add(StandardMaterial {
            base_color: Color::BLACK,
            emissive: colour.to_linear() * strength,
            ..default()
        })
    };
    let lamp = meshes.add(Sphere::new(0.14));
    for index in 0..5 {
        let share = index as f32 / 5.0;
        let colour = Color::hsl(360.0 * share, 0.9, 0.6);
        commands.spawn((
            Mesh3d(lamp.clone()),
            MeshMaterial3d(glowing(colour, 40.0)),
            PointLight {
                color: colour,
                intensity: 120_000.0,
                range: 12.0,
                ..default()
            },
            Transform::default(),
            Orbit {
                radius: 2.2 + 1.6 * share,
                height: 0.7 + 2.4 * share,
                start: 0.37 * index as f32,
                speed: 0.12 - 0.04 * share,
            },
            NotShadowCaster,
        ));
    }
    let spark = meshes.add(Sphere::new(0.03));
    let spark_material = glowing(Color::srgb(1.0, 0.8, 0.5), 60.0);
    for index in 0..60 {
        let share = index as f32 / 60.0;
        commands.spawn((
            Mesh3d(spark.clone()),
            MeshMaterial3d(spark_material.clone()),
            Transform::default(),
            Orbit {
                radius: 2.0 + 6.0 * ops::sin(40.0 * share).abs(),
                height: 0.3 + 4.5 * (7.3 * share).fract(),
                start: 0.618 * index as f32,
                speed: 0.05 * ops::sin(13.0 * share),
            },
            NotShadowCaster,
        ));
    }
}

fn spin(time: Res<Time>, mut things: Query<(&Spin, &mut Transform)>) {
    for (spin, mut transform) in &mut things {
        transform.rotation = Quat::from_axis_angle(*spin.axis, spin.speed * time.elapsed_secs());
    }
}

fn orbit(time: Res<Time>, mut things: Query<(&Orbit, &mut Transform)>) {
    for (orbit, mut transform) in &mut things {
        let turn = TAU * (orbit.start + orbit.speed * time.elapsed_secs());
        let bob = 0.25 * ops::sin(3.0 * turn);
        transform.translation = Vec3::new(
            orbit.radius * ops::cos(turn),
            orbit.height + bob,
            orbit.radius * ops::sin(turn),
        );
    }
}
