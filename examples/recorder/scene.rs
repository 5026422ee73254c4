//! The outlined shapes, the camera that draws the selected one into a mask, and the material that shows the outline.

use super::{MASK_CAMERA, Outline};
use bevy::camera::{RenderTarget, visibility::RenderLayers};
use bevy::image::ToExtents;
use bevy::prelude::*;
use bevy::render::render_resource::{AsBindGroup, TextureFormat};
use bevy::shader::ShaderRef;

/// The render layer of the outlined mesh.
const CHOSEN: usize = 1;

pub struct ScenePlugin;

impl Plugin for ScenePlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(UiMaterialPlugin::<OutlineMaterial>::default())
            .init_resource::<Outline>()
            .add_systems(Startup, (spawn_masks, spawn_scene).chain())
            .add_systems(Update, (fit_masks, choose));
    }
}

#[derive(Asset, AsBindGroup, TypePath, Clone)]
struct OutlineMaterial {
    #[uniform(0)]
    colour: LinearRgba,
    #[texture(1)]
    #[sampler(2)]
    mask: Handle<Image>,
    #[texture(3)]
    #[sampler(4)]
    glow: Handle<Image>,
}

impl UiMaterial for OutlineMaterial {
    fn fragment_shader() -> ShaderRef {
        "outline.wgsl".into()
    }
}

fn spawn_masks(
    mut commands: Commands,
    mut outline: ResMut<Outline>,
    mut images: ResMut<Assets<Image>>,
    mut materials: ResMut<Assets<OutlineMaterial>>,
) {
    let mut image = || images.add(Image::new_target_texture(64, 64, TextureFormat::Rgba8UnormSrgb, None));
    (outline.mask, outline.glow) = (image(), image());
    let material = materials.add(OutlineMaterial {
        colour: LinearRgba::rgb(1.0, 0.45, 0.05),
        mask: outline.mask.clone(),
        glow: outline.glow.clone(),
    });
    let everywhere = Node {
        width: percent(100),
        height: percent(100),
        ..default()
    };
    commands.spawn((everywhere, MaterialNode(material)));
}

/// Keeps the masks as large as the window. Marks the material as changed, so that it binds the resized images.
fn fit_masks(
    window: Single<&Window>,
    outline: Res<Outline>,
    mut images: ResMut<Assets<Image>>,
    mut materials: ResMut<Assets<OutlineMaterial>>,
) {
    let size = window.physical_size().max(UVec2::ONE);
    for handle in [&outline.mask, &outline.glow] {
        if images.get(handle).is_some_and(|image| image.size() != size)
            && let Some(mut image) = images.get_mut(handle)
        {
            image.resize(size.to_extents());
            materials.iter_mut().for_each(drop);
        }
    }
}

#[derive(Component)]
struct Choice(usize);

fn spawn_scene(
    mut commands: Commands,
    outline: Res<Outline>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let eye = Transform::from_xyz(0.0, 2.2, 7.0).looking_at(Vec3::ZERO, Vec3::Y);
    commands.spawn((Camera3d::default(), eye));
    let mask = Camera {
        order: MASK_CAMERA,
        clear_color: Color::NONE.into(),
        ..default()
    };
    let target = RenderTarget::from(outline.mask.clone());
    commands.spawn((Camera3d::default(), eye, mask, target, RenderLayers::layer(CHOSEN)));
    commands.spawn((
        DirectionalLight::default(),
        Transform::from_xyz(2.0, 5.0, 3.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
    let shapes: [Mesh; 3] = [
        Sphere::new(0.9).into(),
        Cuboid::from_length(1.4).into(),
        Torus::new(0.5, 1.0).into(),
    ];
    for (index, shape) in shapes.into_iter().enumerate() {
        let material = materials.add(Color::hsl(200.0 + 50.0 * index as f32, 0.4, 0.5));
        let place = Transform::from_xyz(2.6 * (index as f32 - 1.0), 0.0, 0.0).with_rotation(Quat::from_rotation_x(0.6));
        commands.spawn((
            Choice(index),
            Mesh3d(meshes.add(shape)),
            MeshMaterial3d(material),
            place,
        ));
    }
}

/// Selects one shape after the other, and lets the glow swell.
fn choose(
    mut commands: Commands,
    time: Res<Time>,
    window: Single<&Window>,
    mut outline: ResMut<Outline>,
    shapes: Query<(Entity, &Choice)>,
) {
    let turn = time.elapsed_secs() / 2.0;
    let swelling = 1.0 - (1.0 - (2.0 * turn.fract()).min(1.0)).powi(3);
    outline.sigma = window.physical_height() as f32 / 100.0 * swelling;
    for (entity, choice) in &shapes {
        let layers = RenderLayers::layer(0);
        let is_chosen = choice.0 == turn as usize % 3;
        commands
            .entity(entity)
            .insert(if is_chosen { layers.with(CHOSEN) } else { layers });
    }
}
