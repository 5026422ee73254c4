//! What the GPU tests share.
#![expect(dead_code, reason = "every test binary uses another part of this")]

pub mod difference;
pub mod formats;
pub mod headless;
pub mod inputs;
pub mod reference;

use bevy::prelude::App;
use bevy_gaussian_blur::prelude::*;
use headless::Headless;
use reference::{Edge, Picture};

/// All edge modes, with the reference's name for each.
pub const EDGES: [(EdgeMode, Edge); 5] = [
    (EdgeMode::Clamp, Edge::Clamp),
    (EdgeMode::Mirror, Edge::Mirror),
    (EdgeMode::Wrap, Edge::Wrap),
    (EdgeMode::Transparent, Edge::Transparent),
    (EdgeMode::Renormalize, Edge::Renormalize),
];

/// An app with the blur, or `None` where there is no GPU.
///
/// With `BLUR_REQUIRE_GPU` in the environment, as the test script sets it, a missing GPU is a failure.
pub fn gpu(setup: impl FnOnce(&mut App)) -> Option<Headless> {
    let with_blur = |app: &mut App| {
        app.add_plugins(GaussianBlurPlugin::default());
        setup(app);
    };
    match Headless::new(with_blur) {
        Ok(headless) => Some(headless),
        Err(reason) if std::env::var_os("BLUR_REQUIRE_GPU").is_some() => panic!("{reason}"),
        Err(reason) => {
            eprintln!("SKIPPED, nothing was tested: {reason}");
            None
        }
    }
}

/// Panics, leaving pictures behind, if `got` differs from `expected` by more than `tolerance` in one of `channels`.
/// Returns the worst difference.
pub fn assert_close(name: &str, got: &Picture, expected: &Picture, channels: &[usize], tolerance: f64) -> f64 {
    let only = |picture: &Picture| {
        Picture::from_fn(picture.width, picture.height, |x, y| {
            let texel = picture.at(x, y);
            core::array::from_fn(|channel| {
                if channels.contains(&channel) {
                    texel[channel]
                } else {
                    0.0
                }
            })
        })
    };
    let (got, expected) = (only(got), only(expected));
    let worst = difference::worst_difference(&got, &expected);
    if worst.value > tolerance {
        let folder = difference::write_failure(name, &got, &expected);
        panic!(
            "{name}: {worst:?} is {:.3}/255, more than {:.3}/255; see {}",
            worst.value * 255.0,
            tolerance * 255.0,
            folder.display()
        );
    }
    worst.value
}
