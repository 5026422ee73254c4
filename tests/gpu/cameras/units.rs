//! The units of a radius, and its scale along the axes.

use super::*;
use crate::support::twins::assert_gaussian_with;

/// Lets both cameras render to targets of `size` physical pixels.
fn retarget(twins: &mut Twins, size: UVec2, scale_factor: f32) {
    let [one, other] = [(); 2].map(|()| scene::target(&mut twins.headless, size, LDR));
    twins.headless.frame();
    twins.sharp.retarget(&mut twins.headless, one, scale_factor);
    twins.blurred.retarget(&mut twins.headless, other, scale_factor);
}

/// The mean of every block of `factor` by `factor` texels.
fn shrunk(picture: &Picture, factor: usize) -> Picture {
    Picture::from_fn(picture.width / factor, picture.height / factor, |x, y| {
        let mut sums = [0.0; 4];
        for offset in 0..factor * factor {
            let texel = picture.at(x * factor + offset % factor, y * factor + offset / factor);
            sums.iter_mut().zip(texel).for_each(|(sum, value)| *sum += value);
        }
        sums.map(|sum| sum / (factor * factor) as f64)
    })
}

#[test]
fn logical_pixels_look_the_same_at_every_scale_factor() {
    for kind in [Kind::Core2d, Kind::Core3d] {
        let mut twins = Twins::new(kind, SIZE, LDR);
        let blur = GaussianBlur::from_sigma(8.0);
        assert_eq!(blur.unit, BlurUnit::LogicalPixels, "the default");
        twins.blur(blur);
        let mut pictures = Vec::new();
        for scale in [1, 2] {
            retarget(&mut twins, SIZE * scale, scale as f32);
            twins.headless.warm_up();
            twins.assert_blurred(&format!("logical-{kind:?}-{scale}"), [8.0 * f64::from(scale); 2]);
            pictures.push(shrunk(&twins.blurred.picture(&twins.headless), scale as usize));
        }
        // Each scale rasterises the edges of the scene differently. This shows most at the border, which repeats them.
        let name = format!("scale-factor-{kind:?}");
        let [one, two] = [0, 1].map(|index| pictures[index].without_border(24));
        let worst = assert_close(&name, &two, &one, &RGB, 2.5 / 255.0);
        println!("{name}: {:.3}/255 apart", worst * 255.0);
    }
}

#[test]
fn a_scale_factor_that_changes_is_followed() {
    let mut twins = Twins::new(Kind::Core2d, SIZE, LDR);
    twins.blur(GaussianBlur::from_sigma(3.0));
    twins.headless.warm_up();
    for scale in [1.5_f32, 0.5, 4.0, 1.0] {
        let targets = [&twins.sharp, &twins.blurred].map(|view| view.target.clone());
        let [one, other] = targets;
        twins.sharp.retarget(&mut twins.headless, one, scale);
        twins.blurred.retarget(&mut twins.headless, other, scale);
        twins.headless.warm_up();
        twins.assert_blurred(&format!("scaled-{scale}"), [3.0 * f64::from(scale); 2]);
    }
}

/// Neither physical pixels nor shares of the viewport's height know the scale factor. The latter look the same at every resolution.
#[test]
fn other_units_do_not_know_the_scale_factor() {
    for kind in [Kind::Core2d, Kind::Core3d] {
        let mut twins = Twins::new(kind, SIZE, LDR);
        for (size, scale) in [
            (SIZE, 1.0),
            (SIZE * 2, 1.0),
            (SIZE * 2, 2.0),
            (UVec2::new(90, 121), 1.0),
        ] {
            retarget(&mut twins, size, scale);
            for (unit, sigma) in [
                (BlurUnit::PhysicalPixels, 20.0 / 3.0),
                (BlurUnit::ViewportHeight, 0.2 * f64::from(size.y) / 3.0),
            ] {
                twins.blur(GaussianBlur::new(20.0).with_unit(unit));
                twins.headless.warm_up();
                twins.assert_blurred(&format!("{unit:?}-{kind:?}-{size}-{scale}"), [sigma; 2]);
            }
        }
    }
}

#[test]
fn the_viewport_counts_and_not_the_target() {
    let mut twins = Twins::new(Kind::Core2d, SIZE, LDR);
    let (origin, size) = (UVec2::new(31, 20), UVec2::new(77, 45));
    twins.insert(Camera {
        viewport: Some(viewport(origin, size)),
        ..default()
    });
    twins.blur(GaussianBlur::new(20.0).with_unit(BlurUnit::ViewportHeight));
    twins.headless.warm_up();
    let [origin, size] = [origin, size].map(|it| it.to_array().map(|side| side as usize));
    let sharp = twins.sharp.picture(&twins.headless).crop(origin, size);
    let got = twins.blurred.picture(&twins.headless).crop(origin, size);
    let sigma = [0.2 * 45.0 / 3.0; 2];
    assert_gaussian_with("viewport-height", &got, &sharp, sigma, EdgeMode::Clamp, LDR);
}

#[test]
fn the_aspect_divides_the_radius_between_the_axes() {
    for kind in [Kind::Core2d, Kind::Core3d] {
        let mut twins = Twins::new(kind, SIZE, LDR);
        for aspect in [Vec2::X, Vec2::Y, Vec2::new(1.0, 0.25), Vec2::new(0.1, 3.0)] {
            for sigma in [2.0_f32, 10.0] {
                twins.blur(GaussianBlur::from_sigma(sigma).with_aspect(aspect));
                twins.headless.warm_up();
                let name = format!("aspect-{kind:?}-{aspect}-{sigma}");
                twins.assert_blurred(&name, (aspect * sigma).to_array().map(f64::from));
            }
        }
    }
}
