//! Blurs whose radius varies over the picture, against the Gaussian of each texel's own sigma.

mod cameras;
mod exactness;
mod glass;
mod images;
mod masks;
mod smoothness;

use crate::support::prelude::*;
use crate::support::reference::{Ramp, varying_blur};
pub use masks::stretched;

/// The share of a profile at a position in a box, as documented, computed in double precision.
pub fn share(profile: &BlurProfile, size: [f64; 2], place: [f64; 2]) -> f64 {
    let pair = |v: Vec2| [f64::from(v.x), f64::from(v.y)];
    // The offset in texels from a position that is given in shares of the box.
    let from = |v: Vec2| [0, 1].map(|i| place[i] - pair(v)[i] * size[i]);
    let dot = |a: [f64; 2], b: [f64; 2]| a[0] * b[0] + a[1] * b[1];
    let mix = |from: f32, to: f32, t: f64| f64::from(from) + (f64::from(to) - f64::from(from)) * t.clamp(0.0, 1.0);
    // From 0 to 1 between two distances; a step if the second one is no larger.
    let ramp = |distance: f64, start: f64, end: f64| match end > start {
        true => (distance - start) / (end - start),
        false => f64::from(u8::from(distance >= start)),
    };
    let raw = match *profile {
        BlurProfile::Uniform => 1.0,
        BlurProfile::Linear {
            start,
            end,
            from: a,
            to: b,
        } => {
            let ramp = Ramp {
                start: pair(start),
                end: pair(end),
                from: a.into(),
                to: b.into(),
            };
            ramp.share(size, place)
        }
        BlurProfile::Band {
            center,
            direction,
            sharp,
            soft,
        } => {
            let [x, y] = pair(direction);
            let across = [-y / x.hypot(y), x / x.hypot(y)];
            let extent = across[0].abs() * size[0] + across[1].abs() * size[1];
            let distance = dot(from(center), across).abs() / extent;
            ramp(distance, f64::from(sharp), f64::from(sharp) + f64::from(soft))
        }
        BlurProfile::Radial {
            center,
            inner,
            outer,
            from: a,
            to: b,
        } => {
            let [x, y] = from(center);
            let distance = x.hypot(y) / size[0].min(size[1]);
            mix(a, b, ramp(distance, f64::from(inner), f64::from(outer)))
        }
        BlurProfile::Mask(_) => panic!("a mask has its own reference"),
    };
    raw.clamp(0.0, 1.0)
}

/// The sigmas of all texels of a box.
pub fn sigmas(profile: &BlurProfile, size: [usize; 2], sigma: f64) -> Vec<f64> {
    let extent = size.map(|side| side as f64);
    let centres = (0..size[1]).flat_map(|y| (0..size[0]).map(move |x| [x as f64 + 0.5, y as f64 + 0.5]));
    centres.map(|place| sigma * share(profile, extent, place)).collect()
}

/// A picture, each texel blurred with its own sigma, multiplied by `aspect` along x and y.
pub fn expected(picture: &Picture, sigmas: &[f64], aspect: [f64; 2], edge: EdgeMode) -> Picture {
    // One sigma: row by row and column by column, in a fraction of the time.
    if sigmas.iter().all(|sigma| *sigma == sigmas[0]) {
        return gaussian_blur(picture, aspect.map(|share| share * sigmas[0]), edge);
    }
    varying_blur(picture, edge, |x, y| {
        aspect.map(|share| share * sigmas[y * picture.width + x])
    })
}

/// Blurs an image once, with a profile, and returns the pixels of the target.
pub fn blurred(headless: &mut Headless, blur: GaussianBlur, image: BlurImage, profile: BlurProfile) -> Picture {
    let target = headless.blur_with(blur, image, profile).expect("the blur succeeds");
    headless.picture(&target)
}

/// The worst difference between two pictures in each channel, in 1/255, over the texels that `counts` selects by index.
pub fn worst(got: &Picture, expected: &Picture, counts: impl Fn(usize) -> bool) -> [f64; 4] {
    let mut worst = [0.0_f64; 4];
    let texels = got.texels.iter().zip(&expected.texels).enumerate();
    for (_, (got, expected)) in texels.filter(|(index, _)| counts(*index)) {
        for channel in 0..4 {
            let difference = (got[channel] - expected[channel]).abs() * 255.0;
            assert!(!difference.is_nan());
            worst[channel] = worst[channel].max(difference);
        }
    }
    worst
}

/// One profile of every kind, but for masks.
pub fn profiles() -> [(&'static str, BlurProfile); 4] {
    [
        (
            "linear",
            linear([Vec2::new(0.1, 0.15), Vec2::new(0.9, 0.8)], [0.0, 1.0]),
        ),
        (
            "falling",
            linear([Vec2::new(0.5, 0.1), Vec2::new(0.5, 0.9)], [1.0, 0.2]),
        ),
        (
            "band",
            BlurProfile::Band {
                center: Vec2::new(0.5, 0.4),
                direction: Vec2::new(1.0, 0.2),
                sharp: 0.1,
                soft: 0.4,
            },
        ),
        (
            "radial",
            BlurProfile::Radial {
                center: Vec2::new(0.4, 0.55),
                inner: 0.1,
                outer: 0.7,
                from: 0.0,
                to: 1.0,
            },
        ),
    ]
}

/// The format of most tests: its precision loses nothing relevant.
pub const FORMAT: TextureFormat = TextureFormat::Rgba16Float;
