//! An image is blurred into another one, and both are shown side by side.
//!
//! ```text
//! cargo run --example image
//! ```
//!
//! You should see a badge with a star twice: sharp on the left, and soft on the right, with no dark fringe.

use bevy::prelude::*;
use bevy_gaussian_blur::prelude::*;

fn main() {
    App::new()
        .add_plugins((DefaultPlugins, GaussianBlurPlugin::default()))
        .add_systems(Startup, setup)
        .run();
}

fn setup(mut commands: Commands, assets: Res<AssetServer>) {
    commands.spawn(Camera2d);
    let sharp = assets.load("sprite.png");
    commands.spawn((Sprite::from_image(sharp.clone()), Transform::from_xyz(-150.0, 0.0, 0.0)));
    // A sprite is transparent beyond its border.
    let blur = GaussianBlur::from_sigma(6.0).with_edge(EdgeMode::Transparent);
    commands.spawn((blur, BlurImage::new(sharp))).observe(show);
}

/// The plugin has created an image for the result, which can be shown like any other image.
fn show(finished: On<BlurFinished>, blurs: Query<&BlurImage>, mut commands: Commands) {
    if let Some(soft) = blurs.get(finished.entity).ok().and_then(|blur| blur.target.clone()) {
        commands.spawn((Sprite::from_image(soft), Transform::from_xyz(150.0, 0.0, 0.0)));
    }
}
