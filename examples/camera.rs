//! A camera's picture goes out of focus and comes back, over and over.
//!
//! ```text
//! cargo run --example camera
//! ```
//!
//! You should see a harbour at dusk that grows soft and sharp again every few seconds, without a jump.

use bevy::prelude::*;
use bevy_gaussian_blur::prelude::*;

fn main() {
    App::new()
        .add_plugins((DefaultPlugins, GaussianBlurPlugin::default()))
        .add_systems(Startup, setup)
        .add_systems(Update, ease)
        .run();
}

fn setup(mut commands: Commands, assets: Res<AssetServer>) {
    // The same component goes on a `Camera3d`.
    commands.spawn((Camera2d, GaussianBlur::default()));
    commands.spawn(Sprite::from_image(assets.load("scene.png")));
}

/// The radius may change in every frame. At radius 0 the picture is not blurred, and the blur costs nothing.
fn ease(time: Res<Time>, mut blurs: Query<&mut GaussianBlur>) {
    for mut blur in &mut blurs {
        blur.radius = 40.0 * (1.0 - ops::cos(time.elapsed_secs()));
    }
}
