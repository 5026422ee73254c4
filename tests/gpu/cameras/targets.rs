//! Targets that change their size, format or camera.

use super::*;
use crate::support::late_targets;
use bevy::image::ToExtents;

/// Sizes that grow and shrink, including odd ones.
fn size_in(frame: u32) -> UVec2 {
    UVec2::new(100 + (frame * 37) % 61, 50 + (frame * 23) % 41)
}

fn resize(twins: &mut Twins, size: UVec2) {
    let targets = [twins.sharp.target.clone(), twins.blurred.target.clone()];
    let world = twins.headless.app.world_mut();
    for target in &targets {
        // Bevy's own event comes at the end of the frame, one frame too late for the camera.
        world.write_message(AssetEvent::<Image>::Modified { id: target.id() });
    }
    let mut images = world.resource_mut::<Assets<Image>>();
    for target in &targets {
        let mut image = images.get_mut(target).expect("a target");
        image.resize(size.to_extents());
    }
}

fn retarget(twins: &mut Twins, size: UVec2, format: TextureFormat) {
    let [one, other] = [(); 2].map(|()| scene::target(&mut twins.headless, size, format));
    twins.sharp.retarget(&mut twins.headless, one, 1.0);
    twins.blurred.retarget(&mut twins.headless, other, 1.0);
    twins.headless.frame();
    let camera = twins.headless.app.world().get::<Camera>(twins.blurred.camera);
    assert_eq!(camera.expect("a camera").physical_target_size(), Some(size));
}

#[test]
fn a_target_is_resized_in_every_frame() {
    for (kind, sigma) in [(Kind::Core2d, 3.0_f32), (Kind::Core3d, 14.0)] {
        let mut twins = Twins::new(kind, SIZE, LDR);
        twins.blur(GaussianBlur::from_sigma(sigma));
        twins.headless.warm_up();
        for frame in 0..60 {
            resize(&mut twins, size_in(frame));
            twins.headless.frame();
            let pixels = twins.pixels();
            assert_eq!(UVec2::new(pixels.width, pixels.height), size_in(frame));
            let name = format!("resized-{kind:?}-{frame}");
            twins.assert_blurred(&name, [f64::from(sigma); 2]);
        }
        for size in [UVec2::new(1, 1), UVec2::new(2, 90), UVec2::new(700, 1), SIZE] {
            resize(&mut twins, size);
            twins.headless.frame();
            twins.assert_blurred(&format!("resized-{size}"), [f64::from(sigma); 2]);
        }
    }
}

/// Of other sizes, too: in each the blur goes on, and is none at radius 0.
#[test]
fn targets_have_any_format_a_camera_can_render_to() {
    const SIZES: [UVec2; 4] = [UVec2::new(131, 71), UVec2::new(64, 100), SIZE, UVec2::new(203, 40)];
    let blended = [
        TextureFormat::Rgba8Unorm,
        TextureFormat::Bgra8Unorm,
        TextureFormat::Bgra8UnormSrgb,
        HDR,
    ];
    // The two-dimensional quads are blended, which the format must support.
    let plain = [
        TextureFormat::R16Float,
        TextureFormat::R32Float,
        TextureFormat::Rgba32Float,
        TextureFormat::R8Unorm,
    ];
    let opaque: Vec<TextureFormat> = blended.into_iter().chain(plain).collect();
    for (kind, formats) in [(Kind::Core2d, blended.to_vec()), (Kind::Core3d, opaque)] {
        let mut twins = Twins::new(kind, SIZE, LDR);
        twins.blur(sigma(11.0));
        for (format, size) in formats.into_iter().zip(SIZES.into_iter().cycle()) {
            retarget(&mut twins, size, format);
            twins.headless.warm_up();
            for strength in [11.0_f32, 1.2, 0.0, 11.0] {
                twins.blur(sigma(strength));
                frames(&mut twins, 2);
                let name = format!("format-{kind:?}-{size}-{format:?}-{strength}");
                if strength == 0.0 {
                    twins.assert_identical(&name);
                } else {
                    let worst = twins.assert_blurred(&name, [f64::from(strength); 2]);
                    println!("{name}: {:.3}/255", worst * 255.0);
                }
            }
        }
    }
}

/// A blurred camera moves to the smaller target of another one.
fn move_beside(name: &str, kind: Kind, give: impl FnOnce(&mut Headless, Entity, &Handle<Image>)) {
    let mut twins = Twins::with(kind, UVec2::new(60, 48), LDR, late_targets::follow);
    let large = scene::target(&mut twins.headless, UVec2::new(200, 160), LDR);
    let world = scene::camera(&mut twins.headless, kind, &large, Msaa::Off);
    let blur = GaussianBlur::from_sigma(3.0);
    let order = |headless: &mut Headless, camera: Entity, order: isize| {
        let mut settings = headless.app.world_mut().get_mut::<Camera>(camera);
        settings.as_mut().expect("a camera").order = order;
    };
    order(&mut twins.headless, world, -1);
    twins.headless.insert(world, blur);
    twins.blur(blur);
    twins.headless.warm_up();
    give(&mut twins.headless, world, &twins.blurred.target);
    frames(&mut twins, 4);
    // The last camera clears the picture, so it shows its own blur alone.
    twins.assert_blurred(&format!("{name}-{kind:?}"), [3.0; 2]);
}

/// Bevy keeps the size of the old target until the camera's projection changes.
#[test]
fn a_camera_moves_to_the_smaller_target_of_another_one() {
    for kind in [Kind::Core2d, Kind::Core3d] {
        move_beside("shared", kind, |headless, camera, target| {
            let shared = RenderTarget::Image(target.clone().into());
            headless.insert(camera, shared);
        });
    }
}

/// For one frame, the camera still has the size of its old target.
#[test]
fn a_camera_is_given_another_target_at_the_end_of_a_frame() {
    for kind in [Kind::Core2d, Kind::Core3d] {
        move_beside("shared-late", kind, late_targets::give);
    }
}
