//! How a blur treats alpha, in each mode, on a sprite with every kind of alpha.

use crate::support::alpha::{premultiplied, unpremultiplied};
use crate::support::bundled::{self, FORMAT};
use crate::support::images::{as_read, blurred};
use crate::support::prelude::*;
use crate::support::reference::varying_blur;

const SIGMAS: [f32; 4] = [0.0, 2.0, 8.0, 30.0];

/// The sprite must contain what these tests need: opaque, transparent and half transparent texels, and colour where it
/// is transparent or a border.
fn sprite(headless: &mut Headless) -> (Image, Picture) {
    let (image, picture) = bundled::load("sprite.png");
    let count = |holds: fn(f64) -> bool| picture.texels.iter().filter(|texel| holds(texel[3])).count();
    assert!(count(|alpha| alpha == 0.0) > 1000, "transparent texels");
    assert!(count(|alpha| alpha == 1.0) > 1000, "opaque texels");
    assert!(count(|alpha| alpha > 0.0 && alpha < 1.0) > 100, "texels between");
    let source = headless.add_image(image.clone());
    let picture = as_read(headless, &source, &picture, FORMAT);
    (image, picture)
}

fn reference(picture: &Picture, sigma: f32) -> Picture {
    gaussian_blur(picture, [f64::from(sigma); 2], EdgeMode::Clamp)
}

#[test]
fn straight_alpha() {
    let mut headless = warm(BlurBackend::Compute);
    let (image, picture) = sprite(&mut headless);
    for sigma in SIGMAS {
        let blur = GaussianBlur::from_sigma(sigma);
        let got = blurred(&mut headless, blur, image.clone(), BlurAlpha::Straight, HDR);
        let light = reference(&premultiplied(&picture), sigma);
        // An error of the colour counts as much as it shows.
        let name = format!("straight-{sigma}");
        let worst = assert_close(&name, &premultiplied(&got), &light, &RGBA, 0.6 / 255.0);
        println!("straight alpha, sigma {sigma}: worst error {:.3}/255", 255.0 * worst);
        let [got, divided] = [&got, &unpremultiplied(&light)].map(|picture| visible(picture, &light));
        assert_close(&format!("straight-colour-{sigma}"), &got, &divided, &RGBA, 0.6 / 255.0);
    }
}

/// The texels of which enough is left to compare their colours: others show next to nothing of an error.
fn visible(got: &Picture, light: &Picture) -> Picture {
    Picture::from_fn(got.width, got.height, |x, y| {
        if light.at(x, y)[3] > 0.5 {
            got.at(x, y)
        } else {
            [0.0; 4]
        }
    })
}

/// From what a transparent camera renders to what a sprite shows.
#[test]
fn multiplied_in_and_straight_out() {
    for backend in BACKENDS {
        let mut headless = warm(backend);
        let (_, picture) = sprite(&mut headless);
        let light = formats::quantised(&premultiplied(&picture), HDR);
        let along = linear([Vec2::new(0.3, 0.5), Vec2::new(0.8, 0.5)], [0.0, 1.0]);
        for (sigma, profile) in [
            (0.0, BlurProfile::Uniform),
            (2.0, BlurProfile::Uniform),
            (8.0, BlurProfile::Uniform),
            (30.0, BlurProfile::Uniform),
            (6.0, along),
        ] {
            let source = headless.add_image(to_image(&light, HDR));
            let image = BlurImage::new(source).with_alpha(BlurAlpha::Unpremultiply);
            let blur = GaussianBlur::from_sigma(sigma as f32);
            let target = headless
                .blur_with(blur, image, profile.clone())
                .expect("the blur succeeds");
            let got = headless.picture(&target);
            let (expected, tolerance) = match profile {
                BlurProfile::Uniform => (reference(&light, sigma as f32), 0.6 / 255.0),
                _ => {
                    let varying = varying_blur(&light, EdgeMode::Clamp, |x, _| {
                        let place = (x as f64 + 0.5) / light.width as f64;
                        [sigma * ((place - 0.3) / 0.5).clamp(0.0, 1.0); 2]
                    });
                    (varying, 2.0 / 255.0)
                }
            };
            let name = format!("unpremultiply-{backend:?}-{sigma}");
            assert_close(&name, &premultiplied(&got), &expected, &RGBA, tolerance);
            let [got, divided] = [&got, &unpremultiplied(&expected)].map(|picture| visible(picture, &expected));
            assert_close(&name, &got, &divided, &RGBA, 2.0 * tolerance);
        }
    }
}

/// In place, a picture or a part of it that is not blurred is converted as well, and once only.
#[test]
fn a_picture_is_unpremultiplied_in_place() {
    for backend in BACKENDS {
        let mut headless = warm(backend);
        let half = Picture::from_fn(30, 20, |_, _| [0.5, 0.25, 0.0, 0.5]);
        let expected = Picture::from_fn(30, 20, |_, _| [1.0, 0.5, 0.0, 0.5]);
        let along = linear([Vec2::new(0.3, 0.5), Vec2::new(0.8, 0.5)], [0.0, 1.0]);
        let profiles = [BlurProfile::Uniform, along];
        let cases = [0.0, 3.0, 6.0, 20.0]
            .into_iter()
            .flat_map(|sigma| profiles.clone().map(|profile| (sigma, profile)));
        for (sigma, profile) in cases {
            for update in [BlurUpdate::Once, BlurUpdate::OnChange] {
                let image = headless.add_image(to_image(&half, HDR));
                let blur = BlurImage::in_place(image.clone())
                    .with_alpha(BlurAlpha::Unpremultiply)
                    .with_update(update);
                let blur = (GaussianBlur::from_sigma(sigma), blur, profile.clone());
                let blur = headless.spawn(blur);
                headless.warm_up();
                headless.frames(5);
                let got = headless.picture(&image);
                let name = format!("in-place-{backend:?}-{update:?}-{sigma}-{profile:?}");
                assert_close(&name, &got, &expected, &RGBA, 0.1 / 255.0);
                headless.despawn(blur);
            }
        }
    }
}

/// Half-transparent white over white is white: a transparent camera's picture, blurred and shown by a sprite.
#[test]
fn a_transparent_picture_is_right_in_a_sprite() {
    let mut headless = warm(BlurBackend::Compute);
    let size = UVec2::splat(32);
    let [painted, shown] = [0; 2].map(|_| scene::target(&mut headless, size, HDR));
    let world = headless.app.world_mut();
    let camera = |order: isize, clear: Color, target: &Handle<Image>| {
        let camera = Camera {
            order,
            clear_color: ClearColorConfig::Custom(clear),
            ..default()
        };
        let target = bevy::camera::RenderTarget::Image(target.clone().into());
        (Camera2d, camera, target, Msaa::Off, RenderLayers::layer(order as usize))
    };
    world.spawn(camera(1, Color::NONE, &painted));
    world.spawn(camera(2, Color::WHITE, &shown));
    let pane = Sprite::from_color(Color::linear_rgba(1.0, 1.0, 1.0, 0.5), size.as_vec2());
    world.spawn((pane, RenderLayers::layer(1)));
    let blur = BlurImage::new(painted).with_alpha(BlurAlpha::Unpremultiply);
    let blurred = world.spawn((GaussianBlur::from_sigma(3.0), blur)).id();
    headless.warm_up();
    let image = headless
        .app
        .world()
        .get::<BlurImage>(blurred)
        .and_then(|blur| blur.target.clone());
    let sprite = Sprite::from_image(image.expect("the plugin allocates a target"));
    headless.spawn((sprite, RenderLayers::layer(2)));
    headless.warm_up();
    headless.frame();
    let got = headless.picture(&shown);
    let white = Picture::from_fn(got.width, got.height, |_, _| [1.0; 4]);
    assert_close("sprite-over-white", &got, &white, &RGB, 0.6 / 255.0);
}
