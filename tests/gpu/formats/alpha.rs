//! The meaning of alpha in every format: opacity if there is any, an ordinary number among integers.

use super::*;
use crate::support::alpha::{premultiplied, unpremultiplied, weighted};
use crate::support::executors::Executor;
use crate::support::formats::Kind;

/// Whether alpha is an opacity.
fn has_opacity(format: TextureFormat) -> bool {
    formats::stored_channels(format).contains(&3) && !formats::is_integer(format)
}

/// Colours over the whole range of a format. Alpha has all values from 0 to 1, and regions of both ends; as an opacity
/// it is never negative.
fn translucent(format: TextureFormat, turn: usize) -> Picture {
    let picture = small_picture(turn);
    let (width, height) = (picture.width, picture.height);
    let noise = inputs::pink_noise(width, height);
    let opacity = |x: usize, y: usize| (1.6 * noise.values[y * width + x] - 0.3).clamp(0.0, 1.0);
    let with_opacity = Picture::from_fn(width, height, |x, y| {
        let [red, green, blue, _] = picture.at(x, y);
        [red, green, blue, opacity(x, y)]
    });
    let mut spread = Span::of(format).spread(&with_opacity);
    if formats::kind(format) == Kind::Snorm {
        for (texel, from) in spread.texels.iter_mut().zip(&with_opacity.texels) {
            texel[3] = from[3];
        }
    }
    spread
}

/// One blur of a picture in a format.
struct Trial {
    name: String,
    format: TextureFormat,
    /// As the format stores it.
    picture: Picture,
    sigma: f64,
    edge: EdgeMode,
}

impl Trial {
    fn blurred(&self, executor: &mut Executor, alpha: BlurAlpha) -> Picture {
        let blur = GaussianBlur::from_sigma(self.sigma as f32).with_edge(self.edge);
        executor.blurred(blur, &self.picture, self.format, alpha)
    }

    /// The expected result for a picture.
    fn reference(&self, picture: &Picture) -> Picture {
        gaussian_blur(picture, [self.sigma; 2], self.edge)
    }
}

/// Runs `check` with every executor for every format of some kind, strength after strength. Each has another of `edges`.
fn for_each(is_tested: fn(TextureFormat) -> bool, edges: &[EdgeMode], check: fn(&Trial, &mut Executor)) {
    let tested = formats::all().into_iter().filter(|format| is_tested(*format));
    let available = warm(BlurBackend::Fragment).available(&tested.collect::<Vec<_>>());
    for (index, format) in available.into_iter().enumerate() {
        for (step, sigma) in [0.8, 13.0].into_iter().enumerate() {
            if !is_turn(index, step, 2) {
                continue;
            }
            // Each of four formats has another strength or kind of passes, and the next four have another edge and picture.
            let other = index / 4 + step;
            let edge = edges[other % edges.len()];
            let mut trial = Trial {
                name: String::new(),
                format,
                picture: formats::quantised(&translucent(format, other), format),
                sigma,
                edge,
            };
            let turns = general_executors().enumerate();
            for (_, mut executor) in turns.filter(|(turn, _)| is_turn(index / 2, *turn, 2)) {
                trial.name = format!("{format:?}-{sigma}-{:?}-{}", edge, executor.name);
                check(&trial, &mut executor);
            }
        }
    }
}

#[test]
fn straight_in_every_format() {
    for_each(has_opacity, &EdgeMode::ALL, check_straight);
}

fn check_straight(trial: &Trial, executor: &mut Executor) {
    let (name, format) = (&trial.name, trial.format);
    let got = trial.blurred(executor, BlurAlpha::Straight);
    let light = trial.reference(&premultiplied(&trial.picture));
    let divided = unpremultiplied(&light);
    let span = Span::of(format);
    let tolerance = formats::tolerance(format, &span);
    let within = formats::within_storage(&got, &divided, format);
    // An error of the colour counts as much as it is visible. Both the dividend and the divisor may be off.
    let [shown, expected] = [&got, &within].map(|picture| span.unit(&weighted(picture, &light)));
    let colour = format!("straight-{name}");
    assert_close(&colour, &shown, &expected, &RGB, 2.0 * tolerance[0]);
    assert_close(&format!("opacity-{name}"), &shown, &expected, &[3], tolerance[3]);
}

#[test]
fn without_opacity_straight_is_premultiplied() {
    // If alpha counted as opacity, colours would not fade towards a transparent edge.
    for_each(|format| !has_opacity(format), &[EdgeMode::ALL[3]], check_numbers);
}

fn check_numbers(trial: &Trial, executor: &mut Executor) {
    let (name, format) = (&trial.name, trial.format);
    assert_eq!(trial.edge, EdgeMode::Transparent);
    let got = trial.blurred(executor, BlurAlpha::Straight);
    let expected = trial.reference(&trial.picture);
    let failure = format!("number-{name}");
    formats::assert_stored(&failure, &got, &expected, format, &Span::of(format));
    let premultiplied = trial.blurred(executor, BlurAlpha::Premultiplied);
    assert!(got == premultiplied, "{name}: not the same as premultiplied");
}

#[test]
fn opaque_in_every_format() {
    for_each(|_| true, &EdgeMode::ALL, check_opaque);
}

fn check_opaque(trial: &Trial, executor: &mut Executor) {
    let (name, format) = (&trial.name, trial.format);
    let got = trial.blurred(executor, BlurAlpha::Opaque);
    let span = Span::of(format);
    if formats::stored_channels(format).contains(&3) {
        let largest = span.high[3];
        let is_opaque = got.texels.iter().all(|texel| texel[3] == largest);
        assert!(is_opaque, "{name}: alpha is {largest}");
    }
    let mut expected = trial.reference(&trial.picture);
    for (texel, got) in expected.texels.iter_mut().zip(&got.texels) {
        texel[3] = got[3];
    }
    formats::assert_stored(&format!("opaque-{name}"), &got, &expected, format, &span);
}
