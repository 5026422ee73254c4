//! How a blur treats alpha, in each mode, on a sprite with every kind of alpha.

use crate::support::bundled::{self, FORMAT};
use crate::support::headless::Headless;
use crate::support::images::{as_read, blurred};
use crate::support::pool::warm;
use crate::support::reference::{Picture, gaussian_blur, varying_blur};
use crate::support::{assert_close, formats, scene};
use bevy::camera::visibility::RenderLayers;
use bevy::prelude::*;
use bevy::render::render_resource::TextureFormat;
use bevy_gaussian_blur::prelude::*;

const SIGMAS: [f32; 3] = [2.0, 8.0, 30.0];

/// Applies `change` to every texel.
fn map(picture: &Picture, change: impl Fn([f64; 4]) -> [f64; 4]) -> Picture {
    let texels = picture.texels.iter().map(|texel| change(*texel)).collect();
    Picture::new(picture.width, picture.height, texels)
}

fn premultiplied([red, green, blue, alpha]: [f64; 4]) -> [f64; 4] {
    [red * alpha, green * alpha, blue * alpha, alpha]
}

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

#[test]
fn straight_alpha() {
    let Some(mut headless) = warm(BlurBackend::Compute) else {
        return;
    };
    let (image, picture) = sprite(&mut headless);
    for sigma in SIGMAS {
        let blur = GaussianBlur::from_sigma(sigma);
        let target = TextureFormat::Rgba16Float;
        let got = blurred(&mut headless, blur, image.clone(), BlurAlpha::Straight, target);
        let light = gaussian_blur(&map(&picture, premultiplied), [f64::from(sigma); 2], EdgeMode::Clamp);
        // An error of the colour counts as much as it shows.
        let shown = map(&got, premultiplied);
        let worst = assert_close(&format!("straight-{sigma}"), &shown, &light, &[0, 1, 2, 3], 0.6 / 255.0);
        println!("straight alpha, sigma {sigma}: worst error {:.3}/255", 255.0 * worst);
        let visible = |picture: &Picture| {
            Picture::from_fn(picture.width, picture.height, |x, y| {
                let [red, green, blue, alpha] = picture.at(x, y);
                if light.at(x, y)[3] > 0.5 {
                    [red, green, blue, alpha]
                } else {
                    [0.0; 4]
                }
            })
        };
        let divided = map(&light, |[red, green, blue, alpha]| {
            let alpha_or_one = if alpha > 0.0 { alpha } else { 1.0 };
            [red / alpha_or_one, green / alpha_or_one, blue / alpha_or_one, alpha]
        });
        let name = format!("straight-colour-{sigma}");
        assert_close(&name, &visible(&got), &visible(&divided), &[0, 1, 2, 3], 0.6 / 255.0);
    }
}

#[test]
fn straight_alpha_in_eight_bits() {
    let Some(mut headless) = warm(BlurBackend::Compute) else {
        return;
    };
    let (image, picture) = sprite(&mut headless);
    for sigma in SIGMAS {
        let blur = GaussianBlur::from_sigma(sigma);
        let got = blurred(&mut headless, blur, image.clone(), BlurAlpha::Straight, FORMAT);
        let expected = gaussian_blur(&picture, [f64::from(sigma); 2], EdgeMode::Clamp);
        let worst = assert_close(&format!("alpha-{sigma}"), &got, &expected, &[3], 1.0 / 255.0);
        println!(
            "the sprite's alpha, sigma {sigma}: worst error {:.3}/255",
            255.0 * worst
        );
    }
}

#[test]
fn premultiplied_alpha() {
    let Some(mut headless) = warm(BlurBackend::Compute) else {
        return;
    };
    let (image, picture) = sprite(&mut headless);
    for sigma in SIGMAS {
        let blur = GaussianBlur::from_sigma(sigma);
        let target = TextureFormat::Rgba16Float;
        let got = blurred(&mut headless, blur, image.clone(), BlurAlpha::Premultiplied, target);
        let expected = gaussian_blur(&picture, [f64::from(sigma); 2], EdgeMode::Clamp);
        assert_close(
            &format!("premultiplied-{sigma}"),
            &got,
            &expected,
            &[0, 1, 2, 3],
            0.6 / 255.0,
        );
    }
}

#[test]
fn opaque() {
    let Some(mut headless) = warm(BlurBackend::Compute) else {
        return;
    };
    let (image, picture) = sprite(&mut headless);
    for sigma in SIGMAS.into_iter().chain([0.0]) {
        let blur = GaussianBlur::from_sigma(sigma);
        let target = TextureFormat::Rgba16Float;
        let got = blurred(&mut headless, blur, image.clone(), BlurAlpha::Opaque, target);
        assert!(
            got.texels.iter().all(|texel| texel[3] == 1.0),
            "sigma {sigma}: alpha is 1"
        );
        let expected = gaussian_blur(&picture, [f64::from(sigma); 2], EdgeMode::Clamp);
        assert_close(&format!("opaque-{sigma}"), &got, &expected, &[0, 1, 2], 0.6 / 255.0);
    }
}

/// Divides colour by alpha. Without alpha there is no colour.
fn unpremultiplied([red, green, blue, alpha]: [f64; 4]) -> [f64; 4] {
    let divisor = if alpha > 0.0 { alpha } else { f64::INFINITY };
    [red / divisor, green / divisor, blue / divisor, alpha]
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
    for backend in [BlurBackend::Fragment, BlurBackend::Compute] {
        let Some(mut headless) = warm(backend) else {
            return;
        };
        let (_, picture) = sprite(&mut headless);
        let format = TextureFormat::Rgba16Float;
        let light = formats::quantised(&map(&picture, premultiplied), format);
        let along = BlurProfile::Linear {
            start: Vec2::new(0.3, 0.5),
            end: Vec2::new(0.8, 0.5),
            from: 0.0,
            to: 1.0,
        };
        for (sigma, profile) in [
            (0.0, BlurProfile::Uniform),
            (2.0, BlurProfile::Uniform),
            (8.0, BlurProfile::Uniform),
            (30.0, BlurProfile::Uniform),
            (6.0, along),
        ] {
            let source = headless.add_image(formats::to_image(&light, format));
            let image = BlurImage::new(source).with_alpha(BlurAlpha::Unpremultiply);
            let blur = GaussianBlur::from_sigma(sigma as f32);
            let target = headless
                .blur_with(blur, image, profile.clone())
                .expect("the blur succeeds");
            let got = formats::to_picture(&headless.read_image(&target));
            let expected = match profile {
                BlurProfile::Uniform => gaussian_blur(&light, [sigma; 2], EdgeMode::Clamp),
                _ => varying_blur(&light, EdgeMode::Clamp, |x, _| {
                    let place = (x as f64 + 0.5) / light.width as f64;
                    [sigma * ((place - 0.3) / 0.5).clamp(0.0, 1.0); 2]
                }),
            };
            let tolerance = match profile {
                BlurProfile::Uniform => 0.6 / 255.0,
                _ => 2.0 / 255.0,
            };
            let name = format!("unpremultiply-{backend:?}-{sigma}");
            assert_close(&name, &map(&got, premultiplied), &expected, &[0, 1, 2, 3], tolerance);
            let divided = map(&expected, unpremultiplied);
            let (got, divided) = (visible(&got, &expected), visible(&divided, &expected));
            assert_close(&name, &got, &divided, &[0, 1, 2, 3], 2.0 * tolerance);
        }
    }
}

/// In place, a picture or a part of it that is not blurred is converted as well, and once only.
#[test]
fn a_picture_is_unpremultiplied_in_place() {
    for backend in [BlurBackend::Fragment, BlurBackend::Compute] {
        let Some(mut headless) = warm(backend) else {
            return;
        };
        let format = TextureFormat::Rgba16Float;
        let half = Picture::from_fn(30, 20, |_, _| [0.5, 0.25, 0.0, 0.5]);
        let expected = Picture::from_fn(30, 20, |_, _| [1.0, 0.5, 0.0, 0.5]);
        let along = BlurProfile::Linear {
            start: Vec2::new(0.3, 0.5),
            end: Vec2::new(0.8, 0.5),
            from: 0.0,
            to: 1.0,
        };
        let profiles = [BlurProfile::Uniform, along];
        let cases = [0.0, 3.0, 6.0, 20.0]
            .into_iter()
            .flat_map(|sigma| profiles.clone().map(|profile| (sigma, profile)));
        for (sigma, profile) in cases {
            for update in [BlurUpdate::Once, BlurUpdate::OnChange] {
                let image = headless.add_image(formats::to_image(&half, format));
                let blur = BlurImage::in_place(image.clone())
                    .with_alpha(BlurAlpha::Unpremultiply)
                    .with_update(update);
                let blur = (GaussianBlur::from_sigma(sigma), blur, profile.clone());
                let blur = headless.app.world_mut().spawn(blur).id();
                headless.warm_up();
                for _ in 0..5 {
                    headless.frame();
                }
                let got = formats::to_picture(&headless.read_image(&image));
                let name = format!("in-place-{backend:?}-{update:?}-{sigma}-{profile:?}");
                assert_close(&name, &got, &expected, &[0, 1, 2, 3], 0.1 / 255.0);
                headless.app.world_mut().despawn(blur);
            }
        }
    }
}

/// Half-transparent white over white is white: a transparent camera's picture, blurred and shown by a sprite.
#[test]
fn a_transparent_picture_is_right_in_a_sprite() {
    let Some(mut headless) = warm(BlurBackend::Compute) else {
        return;
    };
    let size = UVec2::splat(32);
    let format = TextureFormat::Rgba16Float;
    let [painted, shown] = [0; 2].map(|_| scene::target(&mut headless, size, format));
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
    headless.app.world_mut().spawn((sprite, RenderLayers::layer(2)));
    headless.warm_up();
    headless.frame();
    let got = formats::to_picture(&headless.read_image(&shown));
    let white = Picture::from_fn(got.width, got.height, |_, _| [1.0; 4]);
    assert_close("sprite-over-white", &got, &white, &[0, 1, 2], 0.6 / 255.0);
}
