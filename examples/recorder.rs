//! Glowing outlines of chosen meshes, by a blur that a render system of the example's own records.
//!
//! ```text
//! cargo run --release --example recorder [-- --frames N --screenshot FILE]
//! ```
//!
//! You should see a sphere, a cube and a ring, one after the other of them outlined by a glow that swells. It is as thick, as a
//! share of the window, in a small window as in a large one. A second camera draws what is chosen into a mask,
//! the recorder blurs that, and a material of the user interface puts the two together.

#[path = "common/unattended.rs"]
mod unattended;

use bevy::camera::{RenderTarget, visibility::RenderLayers};
use bevy::core_pipeline::{schedule::Core3d, upscaling::upscaling};
use bevy::prelude::*;
use bevy::render::camera::ExtractedCamera;
use bevy::render::extract_resource::{ExtractResource, ExtractResourcePlugin};
use bevy::render::render_asset::RenderAssets;
use bevy::render::render_resource::{AsBindGroup, TextureFormat};
use bevy::render::renderer::{RenderContext, ViewQuery};
use bevy::render::texture::GpuImage;
use bevy::render::{Render, RenderApp, RenderSystems};
use bevy::shader::ShaderRef;
use bevy_gaussian_blur::prelude::*;
use bevy_gaussian_blur::recorder::{BlurTexture, TextureBlur, TextureBlurRecorder, TextureBlurRequest, TextureBlurs};
use clap::Parser;
use unattended::{Unattended, fail};

/// The layer of what is outlined, and the place of the camera that draws it: before the other one.
const CHOSEN: usize = 1;
const MASK_CAMERA: isize = -1;

/// Glowing outlines.
#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    unattended: Unattended,
}

/// What is drawn, and what becomes of it.
#[derive(Resource, ExtractResource, Clone, Default)]
struct Outline {
    mask: Handle<Image>,
    glow: Handle<Image>,
    sigma: f32,
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

fn main() -> AppExit {
    let Arguments { unattended } = Arguments::parse();
    if let Err(reason) = unattended.check() {
        return fail(&reason);
    }
    let mut app = App::new();
    app.add_plugins((
        unattended.default_plugins("Gaussian blur: outlines"),
        GaussianBlurPlugin::default(),
    ))
    .add_plugins((
        UiMaterialPlugin::<OutlineMaterial>::default(),
        ExtractResourcePlugin::<Outline>::default(),
    ))
    .init_resource::<Outline>()
    .add_systems(Startup, (spawn_masks, spawn_scene).chain())
    .add_systems(Update, (fit_masks, choose));
    app.sub_app_mut(RenderApp)
        .init_resource::<OutlineBlur>()
        .add_systems(Render, prepare_outline.in_set(RenderSystems::PrepareBindGroups))
        // After the mask is drawn, and before the camera that shows the outline.
        .add_systems(Core3d, record_outline.after(upscaling));
    unattended.run(&mut app)
}

/// The blur, from frame to frame.
#[derive(Resource, Default)]
struct OutlineBlur(TextureBlur);

/// The mask and its blur on the GPU.
fn textures(outline: &Outline, images: &RenderAssets<GpuImage>) -> Option<[BlurTexture; 2]> {
    Some([images.get(&outline.mask)?.into(), images.get(&outline.glow)?.into()])
}

fn prepare_outline(
    mut blur: ResMut<OutlineBlur>,
    outline: Res<Outline>,
    images: Res<RenderAssets<GpuImage>>,
    mut blurs: TextureBlurs,
) {
    let Some([mask, glow]) = textures(&outline, &images) else {
        return;
    };
    if let Err(error) = blurs.prepare(
        &mut blur.0,
        &TextureBlurRequest::new(&mask, &glow, Vec2::splat(outline.sigma)),
    ) {
        error!("the outline: {error}");
    }
}

fn record_outline(
    camera: ViewQuery<&ExtractedCamera>,
    mut blur: ResMut<OutlineBlur>,
    outline: Res<Outline>,
    images: Res<RenderAssets<GpuImage>>,
    blurs: TextureBlurRecorder,
    mut context: RenderContext,
) {
    if camera.into_inner().order == MASK_CAMERA
        && let Some([mask, glow]) = textures(&outline, &images)
    {
        blurs.record(&mut blur.0, &mut context, &mask, &glow, None);
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

/// Makes the masks as large as the window. Materials have to be told of it.
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
            image.resize(bevy::image::ToExtents::to_extents(size));
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

/// Chooses one shape after the other, and lets the glow swell.
fn choose(
    mut commands: Commands,
    time: Res<Time>,
    window: Single<&Window>,
    mut outline: ResMut<Outline>,
    shapes: Query<(Entity, &Choice)>,
) {
    let turn = time.elapsed_secs() / 2.0;
    outline.sigma = window.physical_height() as f32 / 100.0 * EaseFunction::CubicOut.sample_clamped(turn.fract() * 2.0);
    for (entity, choice) in &shapes {
        let layers = RenderLayers::layer(0);
        let is_chosen = choice.0 == turn as usize % 3;
        commands
            .entity(entity)
            .insert(if is_chosen { layers.with(CHOSEN) } else { layers });
    }
}
