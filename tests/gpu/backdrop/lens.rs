//! Glass that refracts, against the float64 compositor.

use super::readiness::glass_pipelines;
use super::*;
use crate::support::compositor::{Layer, Panel};
use crate::support::reference::{Lens, encode_srgb};

/// A lens that bends, but does not shine.
fn bending(bevel: f32, displacement: f32) -> BackdropLens {
    BackdropLens {
        bevel,
        displacement,
        rim_light: 0.0,
        ..default()
    }
}

/// The lens if a logical pixel has `scale` physical ones.
fn expected(lens: &BackdropLens, scale: f64) -> Lens {
    Lens {
        bevel: f64::from(lens.bevel) * scale,
        displacement: f64::from(lens.displacement) * scale,
        dispersion: f64::from(lens.dispersion),
        rim_light: f64::from(lens.rim_light),
        light_angle: f64::from(lens.light_angle),
    }
}

fn panel(pane: &Pane, lens: &BackdropLens) -> Panel {
    Panel {
        lens: Some(expected(lens, 1.0)),
        ..pane.panel(1.0)
    }
}

/// Two physical pixels per logical one, and a region in place of a node.
#[test]
fn regions_refract_at_every_scale() {
    on_one(Kind::Core2d, LDR, |stage| {
        stage.set_scale_factor(2.0);
        let lens = BackdropLens {
            bevel: 9.0,
            displacement: 5.0,
            ..BackdropLens::default()
        };
        for layer in [BackdropLayer::BelowUi, BackdropLayer::AboveUi] {
            stage.clear();
            let pane = Pane::new([12.0, 8.0, 70.0, 40.0], glass(2.0)).with_radii([12.0; 4]);
            let rect = Rect::from_corners(pane.origin, pane.origin + pane.size);
            let region = BackdropRegion {
                layer,
                ..BackdropRegion::new(stage.glass.camera, rect).with_corners(Vec4::from_array(pane.radii))
            };
            stage.spawn((region, pane.glass.clone(), lens));
            let layer = Layer::glass(Panel {
                lens: Some(expected(&lens, 2.0)),
                ..pane.panel(2.0)
            });
            stage.check("lens-region", &[layer]);
        }
    });
}

/// Where the glass is flat, it has the bits of glass without a lens; and a lens that neither bends nor shines is none.
#[test]
fn flat_glass_keeps_its_bits() {
    on_one(Kind::Core2d, HDR, |stage| {
        let pane = Pane::new([20.0, 15.0, 150.0, 80.0], glass(5.0)).with_radii([20.0; 4]);
        stage.show(|ui| {
            ui.spawn(pane.bundle());
        });
        let bits = |stage: &mut Stage, lens: BackdropLens| {
            stage.headless.warm_up();
            let entity = stage.headless.app.world_mut();
            let glass = entity
                .query_filtered::<Entity, With<BackdropBlur>>()
                .iter(entity)
                .last();
            let glass = glass.expect("it was spawned");
            entity.entity_mut(glass).insert(lens);
            stage.headless.warm_up();
            stage.pictures()
        };
        let neutral = bits(stage, bending(24.0, 0.0));
        assert!(neutral[0] == neutral[1], "a lens that changes nothing");
        let bent = bits(stage, bending(12.0, 8.0));
        assert!(bent[0] != bent[1], "a lens");
        let [flat, bent] = bent.map(|picture| picture.crop([40, 35], [110, 40]));
        assert!(flat == bent, "within the rim");
    });
}

/// From no lens to one, in steps of a 20th of a pixel: encoded values change by less than 1/255 in a step. In a picture of floats,
/// since the rounding to eight bits adds up to one level to any change.
#[test]
fn a_growing_displacement_does_not_pop() {
    on_one(Kind::Core2d, HDR, |stage| {
        for sigma in [10.0, 12.0, 16.0] {
            let pane = Pane::new([10.0, 10.0, 180.0, 96.0], glass(sigma)).with_radii([30.0; 4]);
            stage.show(|ui| ui.pane(&pane));
            stage.headless.warm_up();
            let encoded = |stage: &Stage| {
                let [_, picture] = stage.pictures();
                let values = picture
                    .texels
                    .iter()
                    .flat_map(|texel| texel.map(|value| encode_srgb(value.min(1.0))));
                values.collect::<Vec<f64>>()
            };
            let first = encoded(stage);
            let mut before = first.clone();
            // The pipelines of lenses compile before the first is seen.
            stage.change(0, bending(24.0, 0.0));
            stage.headless.warm_up();
            let mut worst = 0.0_f64;
            for step in 0..=40 {
                stage.change(0, bending(24.0, 0.05 * step as f32));
                stage.headless.frame();
                let now = encoded(stage);
                let change = before.iter().zip(&now).map(|(before, now)| (before - now).abs());
                worst = change.fold(worst, f64::max);
                before = now;
            }
            println!("sigma {sigma}: {:.2}/255 a step", 255.0 * worst);
            assert!(worst < 1.0 / 255.0, "{worst} a step, sigma {sigma}");
            assert!(first != before, "the lens is seen");
        }
    });
}

/// A checkerboard of light and dark texels.
fn checkerboard(stage: &mut Stage, cell: usize) -> Handle<Image> {
    let picture = Picture::from_fn(203, 117, |x, y| {
        let value = if (x / cell + y / cell).is_multiple_of(2) {
            1.0
        } else {
            0.0
        };
        [value, value, value, 1.0]
    });
    stage.headless.add_image(to_image(&picture, LDR))
}

/// The largest change of the mean of a block of 8 x 8 pixels that are all inside a pane.
fn shimmer(before: &Picture, now: &Picture, panel: &Panel) -> f64 {
    let mut worst = 0.0_f64;
    for (left, top) in (0..14).flat_map(|row| (0..25).map(move |column| (8 * column, 8 * row))) {
        let block = || (top..top + 8).flat_map(|y| (left..left + 8).map(move |x| (x, y)));
        if block().all(|(x, y)| panel.is_inside(x, y)) {
            let mean = |picture: &Picture| block().map(|(x, y)| picture.at(x, y)[1]).sum::<f64>() / 64.0;
            worst = worst.max((mean(now) - mean(before)).abs());
        }
    }
    worst
}

/// A pane that moves by a quarter of a pixel in each frame.
#[test]
fn a_slow_pane_does_not_shimmer() {
    on_one(Kind::Core2d, HDR, |stage| {
        for (cell, sigma, displacement) in [
            (1, 1.0, 12.0),
            (2, 2.0, 12.0),
            (4, 6.0, 12.0),
            (1, 1.0, -12.0),
            (4, 6.0, -12.0),
        ] {
            let image = checkerboard(stage, cell);
            let whole = node(Vec2::ZERO, Vec2::new(203.0, 117.0));
            let pane = Pane::new([20.0, 12.0, 140.0, 80.0], glass(sigma)).with_radii([24.0; 4]);
            let lens = bending(24.0, displacement);
            stage.show(|ui| {
                ui.spawn((whole.clone(), ImageNode::new(image.clone())));
                ui.pane_of((pane.bundle(), lens));
            });
            stage.headless.warm_up();
            let [_, mut before] = stage.pictures();
            let mut worst = 0.0_f64;
            for step in 1..=16 {
                let moved = pane.clone().moved(0.25 * step as f32, 0.125 * step as f32);
                stage.change(0, moved.transform());
                stage.headless.frame();
                let [_, now] = stage.pictures();
                worst = worst.max(shimmer(&before, &now, &panel(&moved, &lens)));
                before = now;
            }
            println!(
                "cells of {cell}, sigma {sigma}, {displacement}: {:.2}/255",
                worst * 255.0
            );
            assert!(
                worst < 1.5 / 255.0,
                "cells of {cell}, sigma {sigma}, {displacement}: {worst}"
            );
        }
    });
}

/// Lenses compile when the first of them is spawned, visible or not, and for both dynamic ranges.
#[test]
fn lenses_compile_with_the_first_of_them() {
    let mut headless = warm(BlurBackend::Compute);
    let view = View::new(&mut headless, Kind::Core2d, UVec2::splat(64), LDR);
    let glass = (Node::default(), Visibility::Hidden, BackdropBlur::new(0.0));
    let glass = headless.spawn(glass);
    headless.warm_up();
    let flat = glass_pipelines(&headless);
    headless.insert(glass, BackdropLens::default());
    headless.frame();
    let all = glass_pipelines(&headless);
    assert!(all > flat && flat > 0, "{flat} pipelines, then {all}");
    view.insert(&mut headless, Hdr);
    headless.warm_up();
    assert_eq!(glass_pipelines(&headless), all, "both dynamic ranges are there");
}
