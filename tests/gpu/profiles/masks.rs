//! Shares from an image.

use super::*;
use crate::support::scene::SIZE;

/// A mask stretched over a box, interpolated linearly between the centres of its texels.
pub fn stretched(mask: &Picture, size: [usize; 2]) -> Vec<f64> {
    let along = |texels: usize, side: usize, at: usize| {
        let position = (at as f64 + 0.5) * texels as f64 / side as f64 - 0.5;
        let clamp = |texel: f64| texel.clamp(0.0, texels as f64 - 1.0) as usize;
        (
            clamp(position.floor()),
            clamp(position.floor() + 1.0),
            position - position.floor(),
        )
    };
    let share = |x: usize, y: usize| {
        let ((x0, x1, tx), (y0, y1, ty)) = (along(mask.width, size[0], x), along(mask.height, size[1], y));
        let row = |y: usize| (1.0 - tx) * mask.at(x0, y)[0] + tx * mask.at(x1, y)[0];
        (1.0 - ty) * row(y0) + ty * row(y1)
    };
    (0..size[1])
        .flat_map(|y| (0..size[0]).map(move |x| (x, y)))
        .map(|(x, y)| share(x, y))
        .collect()
}

/// A mask that is 0 on the left and 1 on the right, with something painted in between.
fn painted(width: usize, height: usize) -> Picture {
    let noise = inputs::pink_noise(width, height);
    Picture::from_fn(width, height, |x, y| {
        let ramp = (2.0 * x as f64 / width as f64 - 0.5).clamp(0.0, 1.0);
        [ramp * noise.values[y * width + x], 0.3, 0.9, 1.0]
    })
}

#[test]
fn a_mask_says_how_much() {
    let [picture, _] = inputs::patterns(120, 90);
    let stored = formats::quantised(&picture, FORMAT);
    for (turn, backend) in BACKENDS.into_iter().enumerate() {
        let mut headless = warm(backend);
        let all = [
            TextureFormat::Rgba8Unorm,
            LDR,
            TextureFormat::R8Unorm,
            TextureFormat::Rgba32Float,
        ];
        for (number, format) in all.into_iter().enumerate() {
            for (step, size) in [[7, 5], [1, 1], [240, 180]].into_iter().enumerate() {
                if !is_turn(number + step, turn, 2) {
                    continue;
                }
                let mask = painted(size[0], size[1]);
                let shares = stretched(&formats::quantised(&mask, format), [120, 90]);
                let image = headless.add_image(to_image(&mask, format));
                let source = headless.add_image(to_image(&picture, FORMAT));
                let profile = BlurProfile::Mask(image);
                let got = blurred(&mut headless, GaussianBlur::from_sigma(8.0), plain(source), profile);
                let sigmas: Vec<f64> = shares.iter().map(|share| 8.0 * share).collect();
                let wanted = expected(&stored, &sigmas, [1.0; 2], EdgeMode::Clamp);
                let off = worst(&got, &wanted, |_| true);
                assert!(
                    off.iter().all(|off| *off <= 10.0),
                    "{backend:?}, {format:?}, {size:?}: {off:?}"
                );
                let sharp = worst(&got, &stored, |index| sigmas[index] < 0.03);
                assert_eq!(sharp, [0.0; 4], "{backend:?}, {format:?}, {size:?}");
            }
        }
    }
}

#[test]
fn a_camera_waits_for_its_mask() {
    let mut headless = warm(BlurBackend::Compute);
    scene::spawn(&mut headless, Kind::Core2d, 1.0);
    let View { camera, target } = View::new(&mut headless, Kind::Core2d, SIZE, LDR);
    let sharp = scene::shot(&mut headless, &target);
    let mask = headless.reserve_image();
    let bundle = (GaussianBlur::from_sigma(5.0), BlurProfile::Mask(mask.clone()));
    headless.insert(camera, bundle);
    assert!(scene::shot(&mut headless, &target) == sharp, "there is no mask yet");
    let image = to_image(&Picture::new(1, 1, vec![[1.0; 4]]), TextureFormat::R8Unorm);
    headless.insert_image(&mask, image);
    let got = scene::shot(&mut headless, &target);
    let wanted = expected(&sharp, &vec![5.0; sharp.texels.len()], [1.0; 2], EdgeMode::Clamp);
    let wanted = within_rounding(&got, &wanted, LDR);
    let off = worst(&got, &wanted, |_| true);
    assert!(off.iter().all(|off| *off <= 0.6), "{off:?}");
}

#[test]
fn a_mask_that_is_no_longer_named_is_freed() {
    let mut headless = warm_with(BlurBackend::Compute, scene::plugins(Kind::Core2d));
    scene::spawn(&mut headless, Kind::Core2d, 1.0);
    let [picture, _] = inputs::patterns(61, 47);
    let mask = || to_image(&painted(7, 5), FORMAT);
    let source = headless.add_image(to_image(&picture, FORMAT));
    let canvas = scene::target(&mut headless, SIZE, FORMAT);
    let masks = [(); 3].map(|()| headless.add_image(mask()));
    let ids = masks.each_ref().map(Handle::id);
    let [of_camera, of_single, of_image] = masks.map(BlurProfile::Mask);
    let blur = GaussianBlur::from_sigma(4.0);
    let camera = scene::camera(&mut headless, Kind::Core2d, &canvas, Msaa::Off);
    headless.insert(camera, (blur, of_camera));
    let image = plain(source);
    let single = spawn(&mut headless, blur, image.clone().with_update(BlurUpdate::Once));
    headless.insert(single, of_single);
    let image = spawn(&mut headless, blur, image);
    headless.insert(image, of_image);
    headless.warm_up();
    // None blurs any more.
    let world = headless.app.world_mut();
    world.entity_mut(camera).insert(GaussianBlur::new(0.0));
    world.entity_mut(image).insert(GaussianBlur::new(0.0));
    headless.warm_up();
    for entity in [camera, single, image] {
        headless.remove::<BlurProfile>(entity);
    }
    headless.warm_up();
    let assets = headless.app.world().resource::<Assets<Image>>();
    assert_eq!(
        ids.map(|id| assets.contains(id)),
        [false; 3],
        "masks that are still held"
    );
}
