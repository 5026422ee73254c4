//! What users of the API may do without a second thought: omit components, clone them, share them, order systems by
//! them.

mod components;
mod egui;
mod meshes;
mod reports;
mod sprites;
mod stacks;
mod systems;
mod views;

use crate::support::images::blurred_into_own;
use crate::support::prelude::*;
use bevy::reflect::{PartialReflect, Reflect};
use std::fmt::Debug;

const FORMAT: TextureFormat = TextureFormat::Rgba16Float;

/// Two pictures of one size.
fn pictures(width: usize, height: usize) -> [Picture; 2] {
    inputs::patterns(width, height)
}

fn image(picture: &Picture) -> Image {
    to_image(picture, FORMAT)
}

#[test]
fn an_axis_of_aspect_zero_stays_sharp_at_every_radius() {
    let blur = GaussianBlur::new(f32::MAX)
        .with_aspect(Vec2::X)
        .with_edge(EdgeMode::Wrap);
    for unit in [
        BlurUnit::LogicalPixels,
        BlurUnit::PhysicalPixels,
        BlurUnit::ViewportHeight,
    ] {
        for (scale_factor, height) in [(1.0, 100), (4.0, 8192)] {
            let sigma = blur.with_unit(unit).sigma_in_texels(scale_factor, height);
            let sigma = sigma.expect("the radius is finite");
            assert!(sigma.x.is_finite() && sigma.x > 1e6, "{unit:?}: {sigma}");
            assert_eq!(sigma.y, 0.0, "{unit:?}");
        }
    }
    let mut headless = warm(BlurBackend::Compute);
    let [picture, _] = pictures(64, 33);
    let stored = formats::quantised(&picture, FORMAT);
    // On a periodic image the widest blur is the mean.
    let mean_of_row = |y: usize| {
        let mut mean = [0.0; 4];
        for x in 0..stored.width {
            let texel = stored.at(x, y);
            mean.iter_mut().zip(texel).for_each(|(sum, value)| *sum += value / 64.0);
        }
        mean
    };
    let expected = Picture::from_fn(64, 33, |_, y| mean_of_row(y));
    let got = blurred_into_own(&mut headless, blur, &picture, FORMAT);
    assert_close("aspect-zero", &got, &expected, &RGBA, 0.6 / 255.0);
}

/// Panics unless reflection clones, compares and prints a value as its own traits do.
fn assert_reflects<T: Reflect + PartialEq + Debug>(value: &T) {
    let reflected: &dyn PartialReflect = value;
    let copy = reflected.reflect_clone().expect("it can be cloned");
    let copy: &dyn Reflect = &*copy;
    assert_eq!(copy.downcast_ref::<T>(), Some(value));
    assert_eq!(reflected.reflect_partial_eq(copy.as_partial_reflect()), Some(true));
    assert_eq!(format!("{reflected:?}"), format!("{value:?}"));
}

#[test]
fn events_and_errors_reflect() {
    let entity = Entity::PLACEHOLDER;
    let blur = GaussianBlur::new(7.0);
    assert_reflects(&BlurFinished {
        entity,
        revision: 3,
        blur,
    });
    let errors = [
        BlurError::InvalidRadius(-1.0),
        BlurError::InvalidAspect(Vec2::NEG_X),
        BlurError::NotTwoDimensional,
        BlurError::SharedTarget { other: entity },
    ];
    for error in errors {
        assert_reflects(&error);
        assert_reflects(&BlurFailed { entity, error });
    }
}
