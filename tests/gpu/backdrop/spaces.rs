//! Cameras that composite in other spaces than light: the colours of settings, and noise, get there.

use super::*;
use crate::support::formats::encode_srgb;
use bevy::camera::CompositingSpace;

/// A colour that no space holds as another one does.
const COLOUR: Srgba = Srgba::rgb(0.5, 0.25, 0.75);

/// Gives the cameras a space, and floats for the spaces that need them.
fn on_spaces(stage: &mut Stage, test: impl Fn(&mut Stage, &str, CompositingSpace)) {
    for (is_hdr, space) in [
        (false, CompositingSpace::Srgb),
        (true, CompositingSpace::Srgb),
        (true, CompositingSpace::Oklab),
        (true, CompositingSpace::Linear),
    ] {
        if is_hdr {
            stage.insert(Hdr);
        }
        stage.insert(space);
        test(stage, &format!("{space:?}, HDR {is_hdr}"), space);
    }
}

/// Asserts that a pixel has a colour, to a level of eight bits.
fn assert_colour(name: &str, got: &Picture, [x, y]: [usize; 2], expected: Srgba) {
    let got = got.at(x, y);
    let levels = [0, 1, 2].map(|channel| 255.0 * encode_srgb(got[channel]));
    let right = expected.to_f32_array_no_alpha().map(|value| 255.0 * f64::from(value));
    let is_near = (0..3).all(|channel| (levels[channel] - right[channel]).abs() <= 1.01);
    assert!(is_near, "{name}: the levels are {levels:?}, and {right:?} is right");
}

/// A box of 20 by 20 pixels.
fn square(left: f32, top: f32, colour: Color) -> (Node, BackgroundColor) {
    square_of([left, top, 20.0, 20.0], colour)
}

fn square_of([left, top, width, height]: [f32; 4], colour: Color) -> (Node, BackgroundColor) {
    (
        node(Vec2::new(left, top), Vec2::new(width, height)),
        BackgroundColor(colour),
    )
}

/// On a camera of encoded values, the colour was (.216, .051, .521) of light as a fallback, which is right, and (.038, .004, .235) as a
/// shadow.
#[test]
fn colours_of_settings_are_the_same_in_every_space() {
    on_one(Kind::Core2d, LDR, |stage| {
        let colour = Color::from(COLOUR);
        on_spaces(stage, |stage, name, space| {
            let cast = |shadow: DropShadow| UiFilter::default().with_shadow(shadow);
            let hard = DropShadow::new(Vec2::new(30.0, 0.0), 0.0, colour);
            let glow = DropShadow { is_glow: true, ..hard };
            let soft = DropShadow::new(Vec2::new(30.0, 0.0), 3.0, colour);
            let inset = DropShadow::new(Vec2::new(0.0, 10.0), 0.0, colour).inset();
            let colored = |step: ColorStep| UiFilter::default().with_color(step);
            let [_, got] = stage.shown(|ui| {
                ui.paint(square_of([0.0, 0.0, 203.0, 117.0], Color::BLACK));
                ui.paint((square(10.0, 5.0, Color::WHITE), cast(hard)));
                ui.paint((square(10.0, 30.0, Color::WHITE), cast(glow)));
                ui.paint((square(10.0, 55.0, Color::WHITE), cast(soft)));
                ui.paint((square(10.0, 80.0, Color::WHITE), cast(inset)));
                ui.paint((square(100.0, 5.0, Color::WHITE), colored(ColorStep::Cover(colour))));
                ui.paint((square(100.0, 30.0, Color::WHITE), colored(ColorStep::Tint(colour))));
            });
            for (of, place) in [
                ("a shadow", [50, 15]),
                ("a glow", [50, 40]),
                ("a soft shadow", [50, 65]),
                ("a shadow inside", [20, 84]),
            ] {
                assert_colour(&format!("{name}, {of}"), &got, place, COLOUR);
            }
            // Bevy stores colours of nodes as they are, so white is no white on such a camera, and colour functions do not act there.
            if space != CompositingSpace::Oklab {
                for (of, place) in [("a cover", [110, 15]), ("a tint", [110, 40])] {
                    assert_colour(&format!("{name}, {of}"), &got, place, COLOUR);
                }
            }
            stage.headless.app.insert_resource(BlurSwitch::Off);
            let glass = BackdropBlur::new(12.0).with_fallback(colour);
            let [_, got] = stage.shown(|ui| {
                ui.paint((node(Vec2::splat(10.0), Vec2::splat(40.0)), glass.clone()));
            });
            assert_colour(&format!("{name}, a fallback"), &got, [30, 30], COLOUR);
            stage.headless.app.insert_resource(BlurSwitch::On);
        });
    });
}

/// The levels of a channel that glass adds to a picture, in a box.
fn added([without, with]: &[Picture; 2], channel: usize) -> Vec<f64> {
    let levels = |picture: &Picture| -> Vec<f64> {
        let part = picture.crop([10, 10], [120, 80]);
        let levels = part.texels.iter().map(|texel| 255.0 * encode_srgb(texel[channel]));
        levels.collect()
    };
    let pairs = levels(with).into_iter().zip(levels(without));
    pairs.map(|(with, without)| with - without).collect()
}

/// Noise makes colours lighter and darker, by as much in every space, and as colourful as they are. A little of it left grey of a blue
/// scene on an Oklab camera.
#[test]
fn grain_leaves_colours_as_colourful_as_they_are() {
    on_one(Kind::Core2d, LDR, |stage| {
        on_spaces(stage, |stage, name, _| {
            let mut shown = |grain: f32| {
                let glass = BackdropBlur::new(0.0).with_grain(grain);
                stage.shown(|ui| ui.paint((node(Vec2::splat(10.0), Vec2::new(120.0, 80.0)), glass.clone())))
            };
            // Noise of 0.08 levels, and the rounding of formats.
            let faint = shown(0.01);
            for channel in 0..3 {
                let most = added(&faint, channel)
                    .into_iter()
                    .fold(0.0, |most, level| f64::max(most, level.abs()));
                assert!(
                    most < 2.5,
                    "{name}: a hundredth of the noise changes channel {channel} by {most}/255"
                );
            }
            let full = added(&shown(1.0), 1);
            let count = full.len() as f64;
            let mean = full.iter().sum::<f64>() / count;
            let deviation = (full.iter().map(|level| (level - mean).powi(2)).sum::<f64>() / count).sqrt();
            assert!(mean.abs() < 2.0, "{name}: the mean is {mean}/255");
            assert!(
                (4.0..12.0).contains(&deviation),
                "{name}: the standard deviation is {deviation}/255"
            );
        });
    });
}
