//! The settings that the panel edits, and the system that applies them to the camera.

use bevy::camera::Hdr;
use bevy::core_pipeline::tonemapping::Tonemapping;
use bevy::post_process::bloom::Bloom;
use bevy::prelude::*;
use bevy_gaussian_blur::prelude::*;

/// The largest radius on the slider.
pub const MAX_RADIUS: f32 = 400.0;

/// A tonemapping without lookup tables, which would be a large part of the page's download.
pub const TONEMAPPING: Tonemapping = Tonemapping::SomewhatBoringDisplayTransform;

/// The camera whose blur is edited.
#[derive(Component)]
pub struct BlurredCamera;

/// The settings that the panel edits.
#[derive(Resource, Clone, PartialEq)]
pub struct Settings {
    /// Whether the camera has a blur at all.
    pub is_on: bool,
    pub blur: GaussianBlur,
    pub profile: Shape,
    pub stage: BlurStage,
    /// Whether the camera renders in high dynamic range.
    pub hdr: bool,
    /// Whether bright things bloom, in high dynamic range.
    pub bloom: bool,
    pub msaa: Msaa,
    /// Whether the panel is hidden.
    pub is_panel_hidden: bool,
}

/// Which share of the radius each place gets: one profile of each kind that needs no image.
#[derive(Clone, Copy, PartialEq)]
pub enum Shape {
    Uniform,
    Linear,
    Band,
    Radial,
}

impl Shape {
    fn profile(self) -> BlurProfile {
        match self {
            Self::Uniform => BlurProfile::Uniform,
            Self::Linear => BlurProfile::Linear {
                start: Vec2::new(0.5, 0.2),
                end: Vec2::new(0.5, 0.9),
                from: 0.0,
                to: 1.0,
            },
            Self::Band => BlurProfile::Band {
                center: Vec2::splat(0.5),
                direction: Vec2::X,
                sharp: 0.1,
                soft: 0.4,
            },
            Self::Radial => BlurProfile::Radial {
                center: Vec2::splat(0.5),
                inner: 0.15,
                outer: 0.8,
                from: 0.0,
                to: 1.0,
            },
        }
    }
}

impl Settings {
    pub fn new(radius: f32) -> Self {
        Self {
            is_on: true,
            blur: GaussianBlur::new(radius),
            profile: Shape::Uniform,
            stage: BlurStage::default(),
            hdr: true,
            bloom: true,
            msaa: Msaa::default(),
            is_panel_hidden: false,
        }
    }
}

/// Switches the blur off and on, even while the panel is too blurred to be read.
pub fn toggle_by_key(keys: Res<ButtonInput<KeyCode>>, mut settings: ResMut<Settings>) {
    if keys.just_pressed(KeyCode::KeyB) {
        settings.is_on = !settings.is_on;
    }
}

/// Run condition: the panel is shown.
pub fn has_panel(settings: Res<Settings>) -> bool {
    !settings.is_panel_hidden
}

/// Applies the settings to the camera.
pub fn apply(mut commands: Commands, settings: Res<Settings>, camera: Single<Entity, With<BlurredCamera>>) {
    let mut camera = commands.entity(*camera);
    camera.insert((settings.stage, settings.profile.profile(), settings.msaa));
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
