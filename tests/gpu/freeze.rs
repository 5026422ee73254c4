//! Frozen blurs keep the picture of one frame, to the bit, whatever happens to the scene.

mod absence;
mod cameras;
mod changes;
pub mod glass;
mod losses;
mod stages;

use crate::support::counters::figure;
use crate::support::prelude::*;
use bevy::camera::CameraMainTextureUsages;
use bevy_gaussian_blur::diagnostics::TEXTURE_BYTES;

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

/// Asserts that the blurred camera shows these bits.
fn assert_bits(name: &str, twins: &Twins, expected: &Pixels) {
    let got = twins.pixels();
    assert_eq!(
        (got.width, got.height, differing(&got, expected)),
        (expected.width, expected.height, 0),
        "{name}: some bytes differ"
    );
}

/// The number of bytes in which two pictures differ.
fn differing(one: &Pixels, other: &Pixels) -> usize {
    let pairs = one.bytes.iter().zip(&other.bytes);
    pairs.filter(|(one, other)| one != other).count()
}

/// The plugin's figure for the bytes of its textures.
fn bytes_held(headless: &Headless) -> u64 {
    figure(headless.app.world(), &TEXTURE_BYTES).unwrap_or(0.0) as u64
}

/// Freezes entities.
fn freeze(headless: &mut Headless, all: &[Entity]) {
    all.iter().for_each(|entity| headless.insert(*entity, FreezeBlur));
}

/// Usages of a camera's textures that cannot be copied, and so are not frozen.
fn without_copies() -> CameraMainTextureUsages {
    CameraMainTextureUsages(TextureUsages::RENDER_ATTACHMENT | TextureUsages::TEXTURE_BINDING)
}
