//! Renders the pictures that the examples, the tests and the documentation blur.
//!
//! ```text
//! cargo run -p render_assets
//! ```
//!
//! A toy harbour at dusk, drawn without a window by Bevy's PBR renderer and reflected in the water by a mirrored
//! camera, becomes `assets/scene.png` (1280x720, tonemapped sRGB) and `assets/scene.exr` (512x288, linear HDR
//! radiance whose lamps reach far beyond 1.0). `assets/sprite.png` (256x256) is two antialiased shapes with
//! straight alpha on a transparent ground. Nothing depends on time or on a random source.

mod buildings;
mod cameras;
mod harbour;
mod headless;
mod output;
mod sky;
mod sprite;
mod stage;
mod texture;

use bevy::prelude::*;
use headless::Headless;
use stage::Stage;

fn main() -> Result<(), String> {
    output::save("sprite.png", sprite::draw())?;
    let mut gpu = Headless::new();
    let [ldr, hdr] = build(&mut Stage::new(gpu.app.world_mut()));
    // The GPU light clusters miss the far lamps in the first frames.
    gpu.warm_up();
    let scene = output::halved(&gpu.read(&ldr)?, cameras::LDR_TARGET);
    output::save("scene.png", output::srgb(&scene))?;
    output::save("scene.exr", output::halved(&gpu.read(&hdr)?, cameras::HDR_TARGET))
}

/// Builds the harbour and its cameras; returns the LDR and the HDR target.
fn build(stage: &mut Stage) -> [Handle<Image>; 2] {
    sky::backdrop(stage);
    buildings::street(stage);
    harbour::quay(stage);
    harbour::freight(stage);
    stage.within(Transform::from_xyz(14.5, 0.0, -15.0), buildings::lighthouse);
    for (x, z, turn, color) in [
        (-4.6, -3.5, 0.25, 0xd8281c),
        (5.6, -4.0, -0.3, 0x2080c0),
        (20.0, -14.0, 0.5, 0xe8b020),
    ] {
        let place = Transform::from_xyz(x, 0.0, z).with_rotation(Quat::from_rotation_y(turn));
        stage.within(place, |stage| harbour::boat(stage, color));
    }
    let masts = [vec3(-4.1, 5.7, -3.6), vec3(6.1, 5.7, -3.9)];
    harbour::garland(stage, vec3(-6.6, 5.35, 6.6), masts[0], 0.7, 17);
    harbour::garland(stage, masts[0], masts[1], 1.0, 26);
    harbour::garland(stage, masts[1], vec3(2.9, 5.35, 6.6), 0.8, 19);
    cameras::point(stage)
}
