//! Colour functions and opacity, of glass and of groups.

use super::glass::PLACES;
use super::*;
use Step::{Brightness, Contrast, Cover, HueRotate, Invert, Matrix, Saturate, Sepia, Tint};

/// Five panes side by side, with these functions and opacities. Without a blur the colours still change.
fn panes(name: &str, looks: [(&[Step], f64); 5]) -> [Named; 3] {
    [0.0, 3.0, 12.0].map(|sigma| {
        let panes = PLACES.into_iter().zip(looks).map(|(place, (steps, opacity))| {
            let glass = Glass {
                functions: Functions(steps.to_vec()),
                opacity,
                ..Glass::new(sigma)
            };
            rounded([5.0; 4], pane(place, glass))
        });
        (format!("{name}-{sigma}"), over_scene(panes))
    })
}

#[test]
fn saturation_brightness_and_opacity_of_glass() {
    let trees = panes(
        "saturation",
        [
            (&[Saturate(0.0)], 1.0),
            (&[Saturate(1.6)], 1.0),
            (&[Brightness(0.5)], 1.0),
            (&[], 0.4),
            (&[Brightness(1.3), Saturate(0.6)], 0.7),
        ],
    );
    assert_within(LDR, 2.0, &trees);
}

#[test]
fn contrast_invert_and_hue_of_glass() {
    let trees = panes(
        "contrast",
        [
            (&[Contrast(0.4)], 1.0),
            (&[Contrast(1.3)], 1.0),
            (&[Invert(1.0)], 1.0),
            (&[Invert(0.3)], 0.6),
            (&[Saturate(0.6), HueRotate(70.0)], 1.0),
        ],
    );
    assert_within(LDR, 2.0, &trees);
    assert_within(HDR, 0.6, &trees);
}

/// One filter at a time, and all of them.
#[test]
fn every_filter_of_a_group() {
    let dark = shadow([5.0, 6.0], 3.0, [0.0, 0.02, 0.1, 0.8]);
    let glow = glowing(shadow([0.0; 2], 4.0, [0.1, 0.6, 0.3, 0.9]));
    let (sepia, hue, bright) = (Sepia(0.6), HueRotate(140.0), Brightness(1.05));
    let along_x = Filter {
        sigma: [4.0, 0.0],
        ..Filter::NEUTRAL
    };
    let all = Filter {
        sigma: [1.3; 2],
        opacity: 0.9,
        ..colored([Saturate(1.5), Contrast(0.8), HueRotate(-40.0)])
    };
    let rows = [[0.0, 0.8, 0.0, 0.1], [0.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 0.0]];
    let filters = [
        ("blur", soft(3.0)),
        ("weak", soft(0.7)),
        ("strong", soft(6.0)),
        ("along-x", along_x),
        ("opacity", faded(0.5)),
        ("saturation", colored([Saturate(0.3)])),
        ("brightness", colored([Brightness(1.4)])),
        ("contrast", colored([Contrast(1.7)])),
        ("invert", colored([Invert(0.8)])),
        ("hue", colored([HueRotate(120.0)])),
        ("sepia", colored([Sepia(0.7)])),
        ("tint", colored([Tint([0.9, 0.5, 1.3])])),
        ("cover", colored([Cover([1.0, 0.9, 0.2, 0.4])])),
        ("matrix", colored([Matrix(rows)])),
        ("sepia-hue", colored([sepia, hue])),
        ("hue-sepia", colored([hue, sepia])),
        ("eight", colored([sepia, hue, bright, hue, sepia, bright, hue, bright])),
        ("shadow", casting([dark], Filter::NEUTRAL)),
        ("glow", casting([glow], Filter::NEUTRAL)),
        ("faded-shadow", casting([dark], faded(0.6))),
        ("all", casting([dark, glow], all)),
    ];
    let trees = filters.map(|(name, filter)| (format!("filter-{name}"), over_scene([group(filter, boxes())])));
    assert_within(LDR, 1.5, &trees);
    assert_within(HDR, 0.6, &trees);
}
