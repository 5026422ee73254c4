//! A town that looks like a model of itself: sharp along a band, and increasingly blurred above and below it.
//!
//! ```text
//! cargo run --release --example tilt_shift [-- --frames N --screenshot FILE]
//! ```
//!
//! You should see a little town from above, with cars in its streets. Only a band across the middle is in focus, as in
//! a photograph of a miniature. Drag up and down: the band follows the pointer. Drag to the left or right: it tilts.
//! Turn the mouse wheel: the blur grows or shrinks. Nothing jumps at the edge of the band, no object has a halo, and
//! the texels in the band do not change at all.

mod common;

use bevy::input::mouse::{AccumulatedMouseMotion, AccumulatedMouseScroll};
use bevy::math::ops;
use bevy::prelude::*;
use bevy_gaussian_blur::prelude::*;
use common::example;

/// The largest radius, in percent of the window's height.
const LARGEST_RADIUS: f32 = 12.0;

/// The blocks of the town along each side, and their distance.
const BLOCKS: i32 = 13;
const BLOCK: f32 = 6.0;

/// How much of a block is street.
const STREET: f32 = 1.6;

fn main() -> AppExit {
    example("Gaussian blur: tilt-shift", |app, _| {
        app.insert_resource(ClearColor(Color::srgb(0.55, 0.7, 0.85)))
            .insert_resource(GlobalAmbientLight {
                brightness: 500.0,
                ..default()
            })
            .init_resource::<Band>()
            .add_systems(Startup, (spawn_camera, spawn_ground, spawn_houses, spawn_cars))
            .add_systems(Update, ((drag, scroll, focus).chain(), drive));
    })
}

/// The position of the band.
#[derive(Resource)]
struct Band {
    /// Its middle, as a share of the window's height.
    height: f32,
    /// How steep it is, in radians.
    angle: f32,
}

impl Default for Band {
    fn default() -> Self {
        Self {
            height: 0.55,
            angle: 0.0,
        }
    }
}

/// Drives along an axis, and comes back at the other end.
#[derive(Component)]
struct Car {
    along: Vec3,
    speed: f32,
}

/// Multiples of an irrational number are evenly spread without looking regular.
fn spread(index: i32, number: f32) -> f32 {
    (number * index as f32).rem_euclid(1.0)
}

fn spawn_camera(mut commands: Commands) {
    commands.spawn((
        Name::new("Camera"),
        Camera3d::default(),
        // Far away, with a long lens, as in a photograph of a model.
        Projection::from(PerspectiveProjection { fov: 0.3, ..default() }),
        Transform::from_xyz(-38.0, 62.0, 72.0).looking_at(Vec3::new(0.0, 0.0, 1.0), Vec3::Y),
        GaussianBlur::new(5.0).with_unit(BlurUnit::ViewportHeight),
        BlurProfile::default(),
    ));
    commands.spawn((
        DirectionalLight {
            shadow_maps_enabled: true,
            illuminance: 11_000.0,
            ..default()
        },
        Transform::from_xyz(3.0, 5.0, 1.5).looking_at(Vec3::ZERO, Vec3::Y),
    ));
}

/// The centres of all blocks, each with a number.
fn blocks() -> impl Iterator<Item = (i32, Vec3)> {
    let half = (BLOCKS - 1) as f32 / 2.0;
    (0..BLOCKS * BLOCKS).map(move |index| {
        let place = Vec2::new((index % BLOCKS) as f32, (index / BLOCKS) as f32) - half;
        (index, BLOCK * Vec3::new(place.x, 0.0, place.y))
    })
}

fn spawn_ground(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let mut paint = |red, green, blue| {
        materials.add(StandardMaterial {
            base_color: Color::srgb(red, green, blue),
            perceptual_roughness: 0.9,
            ..default()
        })
    };
    let [street, lawn, line] = [paint(0.25, 0.25, 0.27), paint(0.35, 0.55, 0.25), paint(0.9, 0.9, 0.85)];
    let plane = meshes.add(Plane3d::default().mesh().size(200.0, 200.0));
    commands.spawn((Mesh3d(plane), MeshMaterial3d(street)));
    let lot = meshes.add(Cuboid::new(BLOCK - STREET, 0.1, BLOCK - STREET));
    let dash = meshes.add(Cuboid::new(0.6, 0.02, 0.06));
    for (_, center) in blocks() {
        commands.spawn((
            Mesh3d(lot.clone()),
            MeshMaterial3d(lawn.clone()),
            Transform::from_translation(center),
        ));
        for step in 0..4 {
            let place = center + Vec3::new(1.5 * step as f32 - 2.25, 0.01, BLOCK / 2.0);
            commands.spawn((
                Mesh3d(dash.clone()),
                MeshMaterial3d(line.clone()),
                Transform::from_translation(place),
            ));
        }
    }
}

fn spawn_houses(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let mut paint = |hue: f32, saturation: f32, lightness: f32| {
        materials.add(StandardMaterial {
            base_color: Color::hsl(hue, saturation, lightness),
            perceptual_roughness: 0.8,
            ..default()
        })
    };
    let walls: Vec<_> = (0..6)
        .map(|index| paint(30.0 + 25.0 * index as f32, 0.35, 0.78))
        .collect();
    let roofs: Vec<_> = (0..4).map(|index| paint(4.0 + 7.0 * index as f32, 0.6, 0.42)).collect();
    let (window, leaf) = (paint(210.0, 0.4, 0.25), paint(110.0, 0.45, 0.3));
    let wall = meshes.add(Cuboid::new(1.0, 1.0, 1.0));
    let roof = meshes.add(Cone::new(0.75, 1.0).mesh().resolution(4));
    let tree = meshes.add(Sphere::new(0.35));
    for (block, center) in blocks() {
        for corner in 0..4 {
            let index = 4 * block + corner;
            let side = Vec3::new(
                [-1.05, 1.05][corner as usize % 2],
                0.0,
                [-1.05, 1.05][corner as usize / 2],
            );
            let place = center + side;
            if spread(index, 0.618_034) > 0.85 {
                for (x, z) in [(-0.4, 0.3), (0.45, -0.35), (0.1, 0.6)] {
                    let place = place + Vec3::new(x, 0.4, z);
                    commands.spawn((
                        Mesh3d(tree.clone()),
                        MeshMaterial3d(leaf.clone()),
                        Transform::from_translation(place),
                    ));
                }
                continue;
            }
            let size = Vec3::new(1.3, 0.9 + 2.2 * spread(index, 0.754_877_7).powi(2), 1.3);
            let colour = walls[index as usize % walls.len()].clone();
            commands
                .spawn((Transform::from_translation(place), Visibility::default()))
                .with_children(|house| {
                    house.spawn((
                        Mesh3d(wall.clone()),
                        MeshMaterial3d(colour),
                        Transform::from_xyz(0.0, size.y / 2.0, 0.0).with_scale(size),
                    ));
                    house.spawn((
                        Mesh3d(roof.clone()),
                        MeshMaterial3d(roofs[index as usize % roofs.len()].clone()),
                        Transform::from_xyz(0.0, size.y + 0.35, 0.0)
                            .with_rotation(Quat::from_rotation_y(core::f32::consts::FRAC_PI_4))
                            .with_scale(Vec3::new(1.35, 0.7, 1.35)),
                    ));
                    for (x, z) in [(-0.3, 0.66), (0.3, 0.66)] {
                        house.spawn((
                            Mesh3d(wall.clone()),
                            MeshMaterial3d(window.clone()),
                            Transform::from_xyz(x, 0.6 * size.y, z).with_scale(Vec3::new(0.25, 0.3, 0.02)),
                        ));
                    }
                });
        }
    }
}

fn spawn_cars(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let body = meshes.add(Cuboid::new(0.8, 0.3, 0.4));
    for index in 0..140 {
        let (lane, is_across) = (index % (BLOCKS - 1), index % 2 == 0);
        let street = BLOCK * (lane as f32 - (BLOCKS - 2) as f32 / 2.0);
        let forward = if index % 4 < 2 { 1.0 } else { -1.0 };
        let start = BLOCK * BLOCKS as f32 * (spread(index, 0.569_840_3) - 0.5);
        let aside = street + 0.35 * forward;
        let (along, place) = if is_across {
            (Vec3::X, Vec3::new(start, 0.25, aside))
        } else {
            (Vec3::Z, Vec3::new(aside, 0.25, start))
        };
        let turn = if is_across { 0.0 } else { core::f32::consts::FRAC_PI_2 };
        commands.spawn((
            Mesh3d(body.clone()),
            MeshMaterial3d(materials.add(Color::hsl(360.0 * spread(index, 0.3), 0.8, 0.5))),
            Transform::from_translation(place).with_rotation(Quat::from_rotation_y(turn)),
            Car {
                along: along * forward,
                speed: 1.5 + 1.5 * spread(index, 0.41),
            },
        ));
    }
}

/// The band follows the pointer while it is dragged.
fn drag(
    buttons: Res<ButtonInput<MouseButton>>,
    motion: Res<AccumulatedMouseMotion>,
    window: Single<&Window>,
    mut band: ResMut<Band>,
) {
    if !buttons.pressed(MouseButton::Left) {
        return;
    }
    band.angle = (band.angle + motion.delta.x / window.width()).clamp(-0.7, 0.7);
    if let Some(place) = window.cursor_position() {
        band.height = place.y / window.height();
    }
}

fn scroll(wheel: Res<AccumulatedMouseScroll>, mut blur: Single<&mut GaussianBlur>) {
    if wheel.delta.y != 0.0 {
        blur.radius = (blur.radius + 0.5 * wheel.delta.y.signum()).clamp(0.0, LARGEST_RADIUS);
    }
}

fn focus(band: Res<Band>, mut profile: Single<&mut BlurProfile>) {
    **profile = BlurProfile::Band {
        center: Vec2::new(0.5, band.height),
        direction: Vec2::new(ops::cos(band.angle), ops::sin(band.angle)),
        sharp: 0.08,
        soft: 0.4,
    };
}

fn drive(time: Res<Time>, mut cars: Query<(&Car, &mut Transform)>) {
    let half = BLOCK * BLOCKS as f32 / 2.0;
    for (car, mut transform) in &mut cars {
        transform.translation += car.along * car.speed * time.delta_secs();
        let way = transform.translation.dot(car.along);
        if way > half {
            transform.translation -= car.along * 2.0 * half;
        }
    }
}
