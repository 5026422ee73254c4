//! What the panel edits, and how it gets to the camera.

use bevy::camera::Hdr;
use bevy::post_process::bloom::Bloom;
use bevy::prelude::*;
use bevy_gaussian_blur::prelude::*;

/// The largest radius on the slider.
pub const MAX_RADIUS: f32 = 400.0;

/// The camera whose blur is edited.
#[derive(Component)]
pub struct BlurredCamera;

/// What the panel edits.
#[derive(Resource, Clone, PartialEq)]
pub struct Settings {
    /// Whether the camera has a blur at all.
    pub is_on: bool,
    pub blur: GaussianBlur,
    pub stage: BlurStage,
    /// Whether the camera renders in high dynamic range.
    pub hdr: bool,
    /// Whether bright things bloom, in high dynamic range.
    pub bloom: bool,
    pub msaa: Msaa,
}

impl Settings {
    pub fn new(radius: f32) -> Self {
        Self {
            is_on: true,
            blur: GaussianBlur::new(radius),
            stage: BlurStage::default(),
            hdr: true,
            bloom: true,
            msaa: Msaa::default(),
        }
    }
}

/// Switches the blur off and on, even while the panel is too blurred to be read.
pub fn toggle_by_key(keys: Res<ButtonInput<KeyCode>>, mut settings: ResMut<Settings>) {
    if keys.just_pressed(KeyCode::KeyB) {
        settings.is_on = !settings.is_on;
    }
}

/// Brings the camera up to date.
pub fn apply(mut commands: Commands, settings: Res<Settings>, camera: Single<Entity, With<BlurredCamera>>) {
    let mut camera = commands.entity(*camera);
    camera.insert((settings.stage, settings.msaa));
    if settings.is_on {
        camera.insert(settings.blur);
    } else {
        camera.remove::<GaussianBlur>();
    }
    if settings.hdr {
        camera.insert(Hdr);
    } else {
        camera.remove::<Hdr>();
    }
    if settings.hdr && settings.bloom {
        camera.insert(Bloom::NATURAL);
    } else {
        camera.remove::<Bloom>();
    }
}
