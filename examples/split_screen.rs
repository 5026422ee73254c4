//! Two views of one scene in one window, each with its own blur.
//!
//! ```text
//! cargo run --release --example split_screen [-- --frames N --screenshot FILE]
//! ```
//!
//! You should see the same moving scene twice, with a thin divider between the halves:
//! - on the left, a weak blur after tonemapping. Everything is equally out of focus, and a small lamp fades away, since
//!   its light has been clipped at white before it is blurred;
//! - on the right, a stronger blur in the camera's HDR picture, before bloom and tonemapping. Lamps and sparks are much
//!   brighter than white there, so they grow into shining discs, as in an unfocused photograph.
//!
//! No light leaks across the divider: each half is blurred as if nothing were beside it. The labels and the divider
//! stay sharp, because the user interface is drawn after both stages. Resize the window: both halves follow.

mod common;
mod dusk;

use bevy::camera::{Hdr, Viewport};
use bevy::post_process::bloom::Bloom;
use bevy::prelude::*;
use bevy_gaussian_blur::prelude::*;
use common::example;
use dusk::{ScenePlugin, viewpoint};

fn main() -> AppExit {
    example("Gaussian blur: split screen", |app, _| {
        app.add_plugins(ScenePlugin)
            .add_systems(Startup, spawn_views)
            .add_systems(PreUpdate, divide_window);
    })
}

/// Which half of the window a camera shows.
#[derive(Component, Clone, Copy, PartialEq)]
enum Half {
    Left,
    Right,
}

fn spawn_views(mut commands: Commands) {
    let left = commands
        .spawn((
            Name::new("Left"),
            Half::Left,
            Camera3d::default(),
            viewpoint(12.0),
            GaussianBlur::new(12.0),
        ))
        .id();
    let right = commands
        .spawn((
            Name::new("Right"),
            Half::Right,
            Camera3d::default(),
            Camera { order: 1, ..default() },
            viewpoint(12.0),
            Hdr,
            Bloom::NATURAL,
            GaussianBlur::new(30.0),
            BlurStage::BeforeTonemapping,
        ))
        .id();
    spawn_label(&mut commands, left, "radius 12, after tonemapping");
    spawn_label(&mut commands, right, "radius 30, HDR, before tonemapping");
    // The left half's user interface ends at its viewport; its border there is the divider.
    commands.spawn((
        UiTargetCamera(left),
        Node {
            position_type: PositionType::Absolute,
            right: px(0),
            width: px(3),
            height: percent(100),
            ..default()
        },
        BackgroundColor(Color::WHITE),
    ));
}

fn spawn_label(commands: &mut Commands, camera: Entity, text: &str) {
    commands.spawn((
        UiTargetCamera(camera),
        Node {
            position_type: PositionType::Absolute,
            left: px(12),
            top: px(12),
            padding: UiRect::axes(px(10), px(6)),
            ..default()
        },
        BackgroundColor(Color::BLACK.with_alpha(0.6)),
        children![(Text::new(text), TextFont::from_font_size(18.0))],
    ));
}

/// Gives each camera its half of the window.
fn divide_window(window: Single<Ref<Window>>, mut cameras: Query<(&Half, &mut Camera)>) {
    let size = window.physical_size();
    if !window.is_changed() && cameras.iter().all(|(_, camera)| camera.viewport.is_some()) {
        return;
    }
    let middle = size.x / 2;
    for (half, mut camera) in &mut cameras {
        let (start, end) = match half {
            Half::Left => (0, middle),
            Half::Right => (middle, size.x),
        };
        // A minimised window has no size, but a viewport must have one.
        camera.is_active = end > start && size.y > 0;
        if camera.is_active {
            camera.viewport = Some(Viewport {
                physical_position: UVec2::new(start, 0),
                physical_size: UVec2::new(end - start, size.y),
                ..default()
            });
        }
    }
}
