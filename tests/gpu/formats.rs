//! Images of every format are the Gaussian, as exactly as the format allows.

mod alpha;
mod conversions;
mod numbers;
mod read_only;
mod special;

use crate::support::cases::SIGMAS;
use crate::support::executors::{Case, check, general_executors, special_executors};
use crate::support::formats::Span;
use crate::support::prelude::*;

/// Strengths that take each kind of plan: within the resolution of the image, and at a coarser one; then at the change between them,
/// and at a far coarser one, which read and write the format as the first two do.
const FEW_SIGMAS: [f64; 4] = [0.8, 13.0, 2.9, 60.0];

/// A small picture of odd size whose channels alternate, so that formats of one channel see them all.
fn small_picture(turn: usize) -> Picture {
    let patterns = inputs::patterns(53, 35);
    let picture = &patterns[turn / 4 % 2];
    Picture::from_fn(53, 35, |x, y| {
        let mut texel = picture.at(x, y);
        texel.rotate_left(turn % 4);
        texel
    })
}

/// The most common formats.
const COMMON: [TextureFormat; 4] = [
    TextureFormat::Rgba8Unorm,
    TextureFormat::Rgba8UnormSrgb,
    TextureFormat::Rgba16Float,
    TextureFormat::Rgba32Float,
];

/// Every format, with every kind of plan; the most common ones with every strength, which take turns with the shaders for their
/// kernels: these differ in their loops, and formats in how loops begin and end. The edges take turns, too.
#[test]
fn every_format() {
    let available = warm(BlurBackend::Fragment).available(&formats::all());
    let small: Vec<Picture> = (0..8).map(small_picture).collect();
    let [first, second] = inputs::patterns(101, 59);
    for (index, format) in available.into_iter().enumerate() {
        let common = COMMON.iter().position(|common| *common == format);
        let every = SIGMAS.map(|sigma| (&first, sigma)).into_iter();
        let every: Vec<_> = every.chain([1.5, 5.9, 47.0].map(|sigma| (&second, sigma))).collect();
        let mut cases = Vec::new();
        for (turn, edge) in EdgeMode::ALL.into_iter().enumerate() {
            let few = FEW_SIGMAS.into_iter().take(if is_full() { 4 } else { 2 }).enumerate();
            let few = few.map(|(step, sigma)| (&small[(index + 3 * turn + step) % small.len()], sigma));
            let blurs: Vec<_> = if common.is_some() { every.clone() } else { few.collect() };
            let chosen = blurs.into_iter().enumerate();
            let chosen = chosen.filter(|(step, _)| is_turn(index + step, turn, EdgeMode::ALL.len()));
            cases.extend(chosen.map(|(step, (picture, sigma))| (step, Case::new(picture, format, sigma, edge))));
        }
        let all: Vec<Case> = cases.iter().map(|(_, case)| *case).collect();
        let mut worst = check(&all, general_executors());
        if let Some(common) = common {
            cases.retain(|(step, _)| is_turn(*step, common, COMMON.len()));
            let turns: Vec<Case> = cases.into_iter().map(|(_, case)| case).collect();
            worst = worst.max(check(&turns, special_executors()));
        }
        println!("{format:?}: worst error {:.3}/255 of its range", worst * 255.0);
    }
}

/// Integers of 32 bits, with numbers that floats hold exactly.
#[test]
fn integers_up_to_24_bits() {
    let limit = 2.0_f64.powi(24);
    let (unsigned, signed) = (Span::new(0.0, limit), Span::new(-limit, limit));
    let cases = [
        (TextureFormat::R32Uint, unsigned),
        (TextureFormat::Rgba32Uint, unsigned),
        (TextureFormat::R32Sint, signed),
        (TextureFormat::Rgba32Sint, signed),
    ];
    for (index, (format, span)) in cases.into_iter().enumerate() {
        for (step, sigma) in FEW_SIGMAS.into_iter().enumerate() {
            let (picture, edge) = (
                small_picture(index + step),
                EdgeMode::ALL[(index + step) % EdgeMode::ALL.len()],
            );
            let case = Case {
                span,
                ..Case::new(&picture, format, sigma, edge)
            };
            check(&[case], general_executors());
        }
    }
}
