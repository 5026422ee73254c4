//! Random blurs of small pictures: any strength, size, aspect, edge mode, profile and format.
//!
//! `BLUR_EXACTNESS_CASES` sets their number, `BLUR_EXACTNESS_SEED` the seed. A failure is shrunk. With `BLUR_WITHOUT_F16`, devices lack
//! the feature `SHADER_F16`, and run other programs.

use super::*;
use crate::profiles::{blurred, sigmas};
use crate::random::number;
use crate::support::difference::Difference;
use crate::support::formats::stored_channels;
use crate::support::reference::strong_blur;
use core::cell::RefCell;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};
use std::collections::BTreeMap;

const FORMATS: [TextureFormat; 5] = [
    TextureFormat::Rgba16Float,
    TextureFormat::Rgba32Float,
    TextureFormat::Rgba8Unorm,
    TextureFormat::Rgba8UnormSrgb,
    TextureFormat::R8Unorm,
];

/// How the radius varies: along a line through the middle of the box, in a direction in radians, or around a centre in shares of
/// the box.
#[derive(Clone, Copy, Debug)]
enum Vary {
    Not,
    Linear { direction: f32 },
    Radial { center: [f32; 2] },
}

#[derive(Clone, Debug)]
struct Case {
    size: [usize; 2],
    sigma: f32,
    aspect: Vec2,
    edge: EdgeMode,
    vary: Vary,
    format: TextureFormat,
    /// Four times the pattern, plus the number of places by which its channels are rotated.
    picture: usize,
}

fn side() -> impl Strategy<Value = usize> {
    prop_oneof![2 => Just(1_usize), 2 => 2..6_usize, 3 => (1..20_usize).prop_map(|half| 2 * half + 1), 3 => 6..41_usize]
}

fn case() -> impl Strategy<Value = Case> {
    // Uniform in the logarithm.
    let sigma = (0.02_f32.ln()..1e6_f32.ln()).prop_map(f32::exp);
    let weak = (0.02_f32.ln()..60_f32.ln()).prop_map(f32::exp);
    let aspect = prop_oneof![
        4 => Just(Vec2::ONE),
        1 => Just(Vec2::X),
        1 => Just(Vec2::Y),
        2 => (0.0..1.0_f32, 0.0..1.0_f32).prop_map(Vec2::from),
        1 => Just(Vec2::new(1.0, 0.002)),
        1 => Just(Vec2::new(0.002, 1.0)),
    ];
    let vary = prop_oneof![
        4 => Just(Vary::Not),
        1 => (0.0..core::f32::consts::TAU).prop_map(|direction| Vary::Linear { direction }),
        1 => [0.0..1.0_f32, 0.0..1.0_f32].prop_map(|center| Vary::Radial { center }),
    ];
    let sigma = prop_oneof![1 => sigma, 1 => weak];
    let what = ([side(), side()], select(&FORMATS[..]), 0..12_usize);
    (what, sigma, aspect, select(&EdgeMode::ALL[..]), vary).prop_map(
        |((size, format, picture), sigma, aspect, edge, vary)| Case {
            size,
            sigma,
            aspect,
            edge,
            vary,
            format,
            picture,
        },
    )
}

impl Case {
    /// Full contrast at a small scale, in four different channels.
    fn picture(&self) -> Picture {
        let [width, height] = self.size;
        let picture = match self.picture / 4 {
            2 => inputs::quad([0, 1, 2, 3].map(|seed| {
                inputs::Channel::from_fn(width, height, |x, y| {
                    let bits = (x * 7919 + y * 104_729 + seed * 1_299_709 + 1).wrapping_mul(2_654_435_761);
                    f64::from((bits >> 13) as u16) / f64::from(u16::MAX)
                })
            })),
            pattern => inputs::patterns(width, height)[pattern].clone(),
        };
        Picture::from_fn(width, height, |x, y| {
            let mut texel = picture.at(x, y);
            texel.rotate_left(self.picture % 4);
            texel
        })
    }

    /// A profile along which sigma differs by less than a texel from one texel to the next.
    fn profile(&self) -> BlurProfile {
        let extent = self.size.map(|side| side as f32);
        let from = |length: f32| (1.0 - 0.7 * length / self.sigma).max(0.0);
        match self.vary {
            Vary::Not => BlurProfile::Uniform,
            Vary::Linear { direction } => {
                let line = 0.4 * Vec2::from(extent) * Vec2::from_angle(direction);
                let share = line / Vec2::from(extent);
                linear([0.5 - share, 0.5 + share], [from(2.0 * line.length()), 1.0])
            }
            Vary::Radial { center } => BlurProfile::Radial {
                center: Vec2::from(center),
                inner: 0.1,
                outer: 0.9,
                from: 1.0,
                to: from(0.8 * extent[0].min(extent[1])),
            },
        }
    }

    /// Blurs the picture. Returns the largest error beyond the rounding of sRGB, and its position.
    fn check(&self, headless: &mut Headless) -> Difference {
        let picture = self.picture();
        let blur = GaussianBlur::from_sigma(self.sigma)
            .with_aspect(self.aspect)
            .with_edge(self.edge);
        let profile = self.profile();
        let aspect = [self.aspect.x, self.aspect.y].map(f64::from);
        let all = sigmas(&profile, self.size, f64::from(blur.sigma()));
        let image = headless.add_image(to_image(&picture, self.format));
        let stored = as_read(
            headless,
            &image,
            &formats::quantised(&picture, self.format),
            self.format,
        );
        let wanted = strong_blur(&stored, self.edge, |x, y| {
            aspect.map(|share| share * all[y * self.size[0] + x])
        });
        let got = blurred(headless, blur, plain(image), profile);
        let wanted = within_rounding(&got, &wanted, self.format);
        let channels = stored_channels(self.format);
        let only = |picture: &Picture| {
            Picture::from_fn(picture.width, picture.height, |x, y| {
                core::array::from_fn(|channel| {
                    f64::from(u8::from(channels.contains(&channel))) * picture.at(x, y)[channel]
                })
            })
        };
        worst_difference(&only(&got), &only(&wanted))
    }

    /// The allowed error, in 1/255, as in `exactness` and `profiles::exactness`, with the rounding of eight bits.
    fn tolerance(&self) -> f64 {
        let rounding = match self.format {
            TextureFormat::Rgba8Unorm | TextureFormat::R8Unorm => 0.4,
            _ => 0.0,
        };
        let blur = match self.vary {
            Vary::Not => 0.6,
            _ if self.sigma < 1.0 => 1.0,
            _ => 2.0,
        };
        blur + rounding
    }

    fn kind(&self) -> String {
        let vary = match self.vary {
            Vary::Not => "uniform",
            Vary::Linear { .. } => "linear",
            Vary::Radial { .. } => "radial",
        };
        format!("{:?}, {vary}", self.format)
    }
}

/// The worst error of each kind of case in 1/255, the number of cases, and the worst case.
type Worst = BTreeMap<String, (f64, usize, String)>;

fn walk(backend: BlurBackend) {
    let headless = warm(backend);
    let headless = RefCell::new(headless);
    let worst = RefCell::new(Worst::new());
    let (cases, seed) = (number("BLUR_EXACTNESS_CASES", 30), number("BLUR_EXACTNESS_SEED", 26));
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config {
        cases: cases as u32,
        failure_persistence: None,
        max_shrink_iters: 400,
        ..Config::default()
    };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let result = runner.run(&case(), |case| {
        let difference = case.check(&mut headless.borrow_mut());
        let (off, most) = (255.0 * difference.value, case.tolerance());
        let mut worst = worst.borrow_mut();
        let entry = worst.entry(case.kind()).or_default();
        entry.1 += 1;
        if off > entry.0 {
            (entry.0, entry.2) = (off, format!("{case:?}"));
        }
        prop_assert!(off <= most, "{off:.3}/255, more than {most}/255: {difference:?}");
        Ok(())
    });
    for (kind, (off, count, case)) in worst.borrow().iter() {
        println!("{backend:?}, {kind}: {off:.3}/255 in {count} cases, {case}");
    }
    if let Err(TestError::Fail(reason, case)) = result {
        panic!("{backend:?}, BLUR_EXACTNESS_SEED={seed}: {reason}\n{case:#?}");
    }
    let most = worst.borrow().values().map(|kind| kind.0).fold(0.0, f64::max);
    report::row(
        &format!("random blurs, {backend:?}"),
        &format!("{cases} cases, at most {most:.2}/255 off"),
    );
}

#[test]
fn random_blurs_are_the_gaussian() {
    walk(BlurBackend::Fragment);
    walk(BlurBackend::Compute);
}
