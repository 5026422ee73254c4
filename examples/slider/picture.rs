//! A picture in place of the scene, from the command line or dropped on the window.

use crate::settings::{BlurredCamera, Settings};
use bevy::asset::RenderAssetUsages;
use bevy::camera::visibility::RenderLayers;
use bevy::core_pipeline::tonemapping::{DebandDither, Tonemapping};
use bevy::light::NotShadowCaster;
use bevy::prelude::*;
use bevy::render::render_resource::{Extent3d, TextureDimension, TextureFormat};
use bevy::window::FileDragAndDrop;
use half::f16;
use image::{DynamicImage, ImageReader, imageops::FilterType};
use std::path::Path;

/// The layer of the picture; the scene is on layer 0.
const PICTURE_LAYER: usize = 1;

/// How far in front of the camera the picture hangs.
const DISTANCE: f32 = 10.0;

/// Larger pictures are made smaller: no GPU has to take more.
const MAX_SIDE: u32 = 4096;

/// A picture that has been read.
pub struct Picture {
    image: Image,
    /// Width over height.
    aspect: f32,
    /// A picture in scene-referred light still has to be tonemapped.
    tonemapping: Tonemapping,
}

/// Reads a picture from a file.
pub fn read(path: &Path) -> Result<Picture, String> {
    let explain = |reason: String| format!("{}: {reason}", path.display());
    let reader = ImageReader::open(path).map_err(|error| explain(error.to_string()))?;
    let reader = reader
        .with_guessed_format()
        .map_err(|error| explain(error.to_string()))?;
    let mut picture = reader.decode().map_err(|error| explain(error.to_string()))?;
    if picture.width().max(picture.height()) > MAX_SIDE {
        picture = picture.resize(MAX_SIDE, MAX_SIDE, FilterType::Triangle);
    }
    let is_hdr = matches!(picture, DynamicImage::ImageRgb32F(_) | DynamicImage::ImageRgba32F(_));
    Ok(Picture {
        aspect: picture.width() as f32 / picture.height() as f32,
        image: to_texture(&picture, is_hdr),
        tonemapping: if is_hdr {
            Tonemapping::default()
        } else {
            Tonemapping::None
        },
    })
}

fn to_texture(picture: &DynamicImage, is_hdr: bool) -> Image {
    let extent = Extent3d {
        width: picture.width(),
        height: picture.height(),
        depth_or_array_layers: 1,
    };
    let (data, format) = if is_hdr {
        let halves = picture.to_rgba32f().into_raw().into_iter().map(f16::from_f32);
        let data = halves.flat_map(f16::to_le_bytes).collect();
        (data, TextureFormat::Rgba16Float)
    } else {
        (picture.to_rgba8().into_raw(), TextureFormat::Rgba8UnormSrgb)
    };
    Image::new(
        extent,
        TextureDimension::D2,
        data,
        format,
        RenderAssetUsages::RENDER_WORLD,
    )
}

/// Shows pictures in place of the scene.
pub struct PicturePlugin {
    first: std::sync::Mutex<Option<Picture>>,
}

impl PicturePlugin {
    /// With a picture to begin with, or the scene.
    pub fn new(first: Option<Picture>) -> Self {
        Self { first: first.into() }
    }
}

impl Plugin for PicturePlugin {
    fn build(&self, app: &mut App) {
        let first = self.first.lock().ok().and_then(|mut first| first.take());
        app.insert_resource(Waiting(first))
            .init_resource::<Complaint>()
            .add_systems(Update, (receive_files, hang_up, fit).chain());
    }
}

/// A picture on its way to the screen.
#[derive(Resource)]
struct Waiting(Option<Picture>);

/// Why the file that was dropped last is not shown.
#[derive(Resource, Default)]
pub struct Complaint(pub Option<String>);

/// The picture on the screen.
#[derive(Component)]
struct Canvas {
    aspect: f32,
}

fn receive_files(
    mut files: MessageReader<FileDragAndDrop>,
    mut waiting: ResMut<Waiting>,
    mut complaint: ResMut<Complaint>,
) {
    for file in files.read() {
        let FileDragAndDrop::DroppedFile { path_buf, .. } = file else {
            continue;
        };
        match read(path_buf) {
            Ok(picture) => {
                waiting.0 = Some(picture);
                complaint.0 = None;
            }
            Err(reason) => complaint.0 = Some(reason),
        }
    }
}

/// Hangs up a waiting picture in front of the camera, which from then on sees nothing else.
fn hang_up(
    mut commands: Commands,
    mut waiting: ResMut<Waiting>,
    mut settings: ResMut<Settings>,
    camera: Single<Entity, With<BlurredCamera>>,
    mut images: ResMut<Assets<Image>>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let Some(picture) = waiting.0.take() else {
        return;
    };
    // A picture is shown as it is.
    settings.bloom = false;
    let layer = RenderLayers::layer(PICTURE_LAYER);
    commands
        .entity(*camera)
        .despawn_children()
        .insert((layer.clone(), picture.tonemapping, DebandDither::Disabled))
        .with_child((
            Canvas { aspect: picture.aspect },
            layer,
            Mesh3d(meshes.add(Rectangle::new(1.0, 1.0))),
            MeshMaterial3d(materials.add(StandardMaterial {
                base_color_texture: Some(images.add(picture.image)),
                unlit: true,
                alpha_mode: AlphaMode::Blend,
                ..default()
            })),
            Transform::from_xyz(0.0, 0.0, -DISTANCE),
            NotShadowCaster,
        ));
}

/// Makes the picture as large as the camera's view allows.
fn fit(camera: Single<&Projection, With<BlurredCamera>>, mut canvases: Query<(&Canvas, &mut Transform)>) {
    let Projection::Perspective(view) = *camera else {
        return;
    };
    let height = 2.0 * DISTANCE * (0.5 * view.fov).tan();
    for (canvas, mut transform) in &mut canvases {
        let height = height.min(height * view.aspect_ratio / canvas.aspect);
        transform.scale = Vec3::new(height * canvas.aspect, height, 1.0);
    }
}
