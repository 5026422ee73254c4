//! The compositor itself, against facts that need no GPU.

use super::pane::{Pane, Square};
use super::stage::{HDR, LDR};
use super::{PLACES, glass};
use crate::support::compositor::compose;
use crate::support::difference::worst_difference;
use crate::support::formats::{decode_srgb, encode_srgb};
use crate::support::inputs;
use crate::support::reference::{Picture, gaussian_blur};
use bevy_gaussian_blur::prelude::*;
use std::f64::consts::PI;

/// A picture of one colour.
fn flat(texel: [f64; 4]) -> Picture {
    Picture::new(60, 40, vec![texel; 60 * 40])
}

#[test]
fn glass_over_everything_is_the_blurred_picture() {
    let [picture, _] = inputs::patterns(60, 40);
    for sampling in [BackdropSampling::Inside, BackdropSampling::Surroundings] {
        let pane = Pane::new([0.0, 0.0, 60.0, 40.0], glass(5.0).with_sampling(sampling));
        let got = compose(&picture, &[pane.layer()], HDR);
        let expected = gaussian_blur(&picture, [5.0; 2], EdgeMode::Mirror);
        // The format stores half floats.
        assert!(worst_difference(&got, &expected).value < 1e-3, "{sampling:?}");
    }
}

#[test]
fn a_rounded_box_has_its_area() {
    let radii = [0.0, 1.5, 11.0, 15.0];
    let pane = Pane::new(
        [8.0, 5.0, 40.0, 30.0],
        glass(0.0).with_color(ColorStep::Brightness(0.0)),
    )
    .with_radii(radii);
    let got = compose(&flat([1.0; 4]), &[pane.layer()], LDR);
    let covered: f64 = got.texels.iter().map(|texel| 1.0 - texel[0]).sum();
    let squares: f64 = radii.iter().map(|radius| f64::from(radius * radius)).sum();
    let area = 40.0 * 30.0 - (1.0 - PI / 4.0) * squares;
    assert!((covered - area).abs() < 0.005 * area, "{covered} instead of {area}");
    assert!(got.texels.iter().all(|texel| texel[3] == 1.0), "alpha is no colour");
    // Top left, top right, bottom right, bottom left: the larger a radius, the more of the picture below is visible.
    let corners = [(8, 5), (47, 5), (47, 34), (8, 34)].map(|(x, y)| got.at(x, y)[0]);
    assert!(corners[0] == 0.0 && (0.3..0.5).contains(&corners[1]), "{corners:?}");
    assert!(corners[2] == 1.0 && corners[3] == 1.0, "{corners:?}");
}

#[test]
fn colours_change_as_in_a_browser() {
    let texel = |glass: BackdropBlur, texel: [f64; 4], format| {
        let pane = Pane::new([10.0, 10.0, 20.0, 20.0], glass);
        compose(&flat(texel), &[pane.layer()], format).at(20, 20)
    };
    let near = |got: [f64; 4], expected: [f64; 4]| {
        let is_near = got
            .iter()
            .zip(expected)
            .all(|(got, expected)| (got - expected).abs() < 2e-3);
        assert!(is_near, "{got:?} instead of {expected:?}");
    };
    let green = [0.0, 1.0, 0.0, 1.0];
    let grey = decode_srgb(0.715);
    near(
        texel(glass(2.0).with_color(ColorStep::Saturate(0.0)), green, LDR),
        [grey, grey, grey, 1.0],
    );
    near(
        texel(glass(2.0).with_color(ColorStep::Saturate(3.0)), green, LDR),
        green,
    );
    let half = decode_srgb(0.5);
    near(
        texel(glass(2.0).with_color(ColorStep::Brightness(0.5)), green, LDR),
        [0.0, half, 0.0, 1.0],
    );
    // Light is bounded where the format is.
    let light = [0.25, 4.0, 1.0, 1.0];
    let brighter = light.map(|value| decode_srgb(1.5 * encode_srgb(value)));
    let bright = texel(glass(2.0).with_color(ColorStep::Brightness(1.5)), light, HDR);
    near(
        bright.map(|value| 0.1 * value),
        [brighter[0], brighter[1], brighter[2], 1.0].map(|value| 0.1 * value),
    );
    // The functions act on colours that are not multiplied by alpha.
    let faint = texel(
        glass(2.0).with_color(ColorStep::Brightness(0.5)),
        [0.0, 0.25, 0.0, 0.25],
        LDR,
    );
    near(faint, [0.0, 0.25 * half, 0.0, 0.25]);
}

#[test]
fn opacity_mixes_all_channels() {
    let below = [0.2, 0.4, 0.6, 0.8];
    let pane = Pane::new(
        [0.0, 0.0, 60.0, 40.0],
        glass(1.0).with_color(ColorStep::Brightness(0.0)).with_opacity(0.25),
    );
    let got = compose(&flat(below), &[pane.layer()], HDR).at(30, 20);
    let expected = [0.15, 0.3, 0.45, 0.8];
    let is_near = got
        .iter()
        .zip(expected)
        .all(|(got, expected)| (got - expected).abs() < 1e-3);
    assert!(is_near, "{got:?} instead of {expected:?}");
    let square = Square::new([0.0, 0.0, 60.0, 40.0], [1.0, 0.0, 0.0, 0.5]);
    let got = compose(&flat([0.0, 0.5, 0.0, 0.5]), &[square.layer()], HDR).at(0, 0);
    assert_eq!(got, [0.5, 0.25, 0.0, 0.75]);
}

#[test]
fn places_do_not_touch() {
    for (index, [left, top, width, height]) in PLACES.into_iter().enumerate() {
        for [other_left, other_top, other_width, other_height] in PLACES.into_iter().skip(index + 1) {
            let apart = |start: f32, length: f32, other: f32, other_length: f32| {
                start + length + 2.0 <= other || other + other_length + 2.0 <= start
            };
            assert!(apart(left, width, other_left, other_width) || apart(top, height, other_top, other_height));
        }
    }
}
