//! Frozen blurs keep the picture of one frame, to the bit, whatever happens to the scene.

mod absence;
mod cameras;
mod changes;
mod glass;
mod losses;
mod stages;

use crate::support::headless::{Headless, Pixels};
use crate::support::twins::View;
use bevy::diagnostic::DiagnosticsStore;
use bevy::prelude::*;
use bevy_gaussian_blur::diagnostics::TEXTURE_BYTES;
use bevy_gaussian_blur::prelude::*;

/// Moves everything in the scene, depending only on the number of the frame.
pub fn stir(headless: &mut Headless, frame: u32) {
    let world = headless.app.world_mut();
    let mut things = world.query_filtered::<&mut Transform, Or<(With<Mesh2d>, With<Mesh3d>)>>();
    for mut transform in things.iter_mut(world) {
        let depth = transform.translation.z;
        let angle = 0.37 * frame as f32 + depth;
        transform.translation = Vec3::new(60.0 * angle.sin(), 30.0 * (1.3 * angle).cos(), depth);
        transform.rotation = Quat::from_rotation_z(0.5 * angle);
    }
}

/// A frame of the moving scene.
fn step(headless: &mut Headless, frame: u32) {
    stir(headless, frame);
    headless.frame();
}

/// Asserts that a view shows these bits.
fn assert_bits(name: &str, view: &View, headless: &Headless, expected: &Pixels) {
    let got = view.pixels(headless);
    let differing = got
        .bytes
        .iter()
        .zip(&expected.bytes)
        .filter(|(one, other)| one != other);
    assert_eq!(
        (got.width, got.height, differing.count()),
        (expected.width, expected.height, 0),
        "{name}: some bytes differ"
    );
}

/// The plugin's figure for the bytes of its textures.
fn bytes_held(headless: &Headless) -> u64 {
    let store = headless.app.world().resource::<DiagnosticsStore>();
    store
        .get(&TEXTURE_BYTES)
        .and_then(|figure| figure.value())
        .unwrap_or(0.0) as u64
}

/// The entities on which a loss was triggered.
#[derive(Resource, Default)]
pub struct Lost(pub Vec<Entity>);

/// Starts recording losses.
pub fn record_losses(app: &mut App) {
    app.init_resource::<Lost>()
        .add_observer(|lost: On<FreezeLost>, mut all: ResMut<Lost>| all.0.push(lost.entity));
}
