//! A picture in place of the scene: named on the command line, dropped on the window, or chosen in a page.

use crate::comparison::Comparison;
use crate::host;
use crate::settings::{BlurredCamera, Settings, TONEMAPPING};
use bevy::asset::RenderAssetUsages;
use bevy::camera::visibility::RenderLayers;
use bevy::core_pipeline::tonemapping::{DebandDither, Tonemapping};
use bevy::ecs::system::SystemParam;
use bevy::light::NotShadowCaster;
use bevy::prelude::*;
use bevy::render::render_resource::{Extent3d, TextureDimension, TextureFormat};

/// The layer of the picture; the scene is on layer 0.
const PICTURE_LAYER: usize = 1;

/// The distance of the picture from the camera.
const DISTANCE: f32 = 10.0;

/// The largest side of a picture. Larger pictures are scaled down: no GPU has to take more.
pub const MAX_SIDE: u32 = 4096;

/// A picture that has been read.
pub struct Picture {
    image: Image,
    /// Width over height.
    aspect: f32,
    /// A picture in scene-referred light still has to be tonemapped.
    tonemapping: Tonemapping,
}

impl Picture {
    /// A picture from its texels, row after row: four bytes each, in sRGB.
    pub fn new(size: UVec2, texels: Vec<u8>) -> Self {
        Self::of_format(size, texels, TextureFormat::Rgba8UnormSrgb, Tonemapping::None)
    }

    /// A picture in scene-referred light, from its texels: four half floats each.
    #[cfg_attr(
        target_arch = "wasm32",
        expect(dead_code, reason = "a page is given what a display shows")
    )]
    pub fn of_light(size: UVec2, texels: Vec<u8>) -> Self {
        Self::of_format(size, texels, TextureFormat::Rgba16Float, TONEMAPPING)
    }

    fn of_format(size: UVec2, texels: Vec<u8>, format: TextureFormat, tonemapping: Tonemapping) -> Self {
        let extent = Extent3d {
            width: size.x,
            height: size.y,
            depth_or_array_layers: 1,
        };
        let usages = RenderAssetUsages::RENDER_WORLD;
        Self {
            image: Image::new(extent, TextureDimension::D2, texels, format, usages),
            aspect: size.x as f32 / size.y as f32,
            tonemapping,
        }
    }
}

/// Shows pictures in place of the scene.
pub struct PicturePlugin {
    first: std::sync::Mutex<Option<Picture>>,
}

impl PicturePlugin {
    /// Starts with a picture, or with the scene.
    pub fn new(first: Option<Picture>) -> Self {
        Self { first: first.into() }
    }
}

impl Plugin for PicturePlugin {
    fn build(&self, app: &mut App) {
        let first = self.first.lock().ok().and_then(|mut first| first.take());
        app.insert_resource(Received(first.map(Ok)))
            .init_resource::<Complaint>()
            .add_systems(Update, (host::receive, hang_up, fit).chain());
    }
}

/// The last picture that was received, until it is shown, or the reason why there is none.
#[derive(Resource)]
pub struct Received(pub Option<Result<Picture, String>>);

/// The reason why the last file is not shown.
#[derive(Resource, Default)]
pub struct Complaint(pub Option<String>);

/// The picture on the screen.
#[derive(Component)]
struct Canvas {
    aspect: f32,
}

/// The assets of a picture on the screen.
#[derive(SystemParam)]
struct Stock<'w> {
    images: ResMut<'w, Assets<Image>>,
    meshes: ResMut<'w, Assets<Mesh>>,
    materials: ResMut<'w, Assets<StandardMaterial>>,
}

/// Places a new picture in front of the camera, which then sees only the picture.
fn hang_up(
    mut commands: Commands,
    mut received: ResMut<Received>,
    mut complaint: ResMut<Complaint>,
    (mut settings, comparison): (ResMut<Settings>, Res<Comparison>),
    camera: Single<Entity, With<BlurredCamera>>,
    mut stock: Stock,
) {
    // A comparison hides everything, and shows the scene again afterwards. Until then, the picture waits.
    if comparison.progress().is_some() {
        return;
    }
    let Some(received) = received.0.take() else {
        return;
    };
    let picture = match received {
        Ok(picture) => picture,
        Err(reason) => {
            complaint.0 = Some(reason);
            return;
        }
    };
    complaint.0 = None;
    // Show the picture unchanged.
    settings.bloom = false;
    let layer = RenderLayers::layer(PICTURE_LAYER);
    commands
        .entity(*camera)
        .despawn_children()
        .insert((layer.clone(), picture.tonemapping, DebandDither::Disabled))
        .with_child((
            Canvas { aspect: picture.aspect },
            layer,
            Mesh3d(stock.meshes.add(Rectangle::new(1.0, 1.0))),
            MeshMaterial3d(stock.materials.add(StandardMaterial {
                base_color_texture: Some(stock.images.add(picture.image)),
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
