//! Settings, mostly sensible ones, some as only a mistake would choose them.

use super::*;
use proptest::prelude::*;
use proptest::sample::select;

/// Nonsensical numbers.
const HOSTILE: [f32; 16] = [
    f32::NAN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    -1.0,
    -0.0,
    0.0,
    1.0e-45,
    f32::MIN_POSITIVE,
    0.0299 * 3.0,
    0.0301 * 3.0,
    255.0,
    1.0e5,
    1.0e9,
    1.0e30,
    f32::MAX,
    f32::MIN,
];

/// A finite number of any magnitude.
pub fn magnitude() -> impl Strategy<Value = f32> {
    (-30..39_i32, 1.0..3.4_f32).prop_map(|(power, digit)| digit * 10_f32.powi(power))
}

/// Any number, often a sensible one. Boxed, because settings are made of many, and would together take most of a test's stack.
pub fn hostile() -> BoxedStrategy<f32> {
    prop_oneof![
        8 => 0.0..60.0_f32,
        3 => select(&HOSTILE[..]),
        2 => magnitude(),
        1 => any::<u32>().prop_map(f32::from_bits),
    ]
    .boxed()
}

fn edge() -> impl Strategy<Value = EdgeMode> {
    select(EdgeMode::ALL.to_vec())
}

fn aspect() -> impl Strategy<Value = Vec2> {
    let near_one = [0.0..2.0_f32, 0.0..2.0_f32];
    prop_oneof![
        6 => Just(Vec2::ONE),
        2 => near_one.prop_map(Vec2::from),
        1 => [hostile(), hostile()].prop_map(Vec2::from),
    ]
}

pub fn gaussian() -> impl Strategy<Value = GaussianBlur> {
    use BlurUnit::{LogicalPixels, PhysicalPixels, ViewportHeight};
    let unit = select(vec![LogicalPixels, PhysicalPixels, ViewportHeight]);
    (hostile(), unit, aspect(), edge()).prop_map(|(radius, unit, aspect, edge)| GaussianBlur {
        radius,
        unit,
        aspect,
        edge,
    })
}

/// A point inside a box, in shares, or far outside.
fn place() -> impl Strategy<Value = Vec2> {
    let share = || prop_oneof![8 => -0.5..1.5_f32, 1 => hostile()];
    [share(), share()].prop_map(Vec2::from)
}

/// Any profile but a mask.
pub fn profile() -> impl Strategy<Value = BlurProfile> {
    let number = || prop_oneof![8 => 0.0..1.5_f32, 1 => hostile()];
    let four = (place(), place(), number(), number());
    prop_oneof![
        1 => Just(BlurProfile::Uniform),
        3 => four.prop_map(|(start, end, from, to)| BlurProfile::Linear { start, end, from, to }),
        3 => (place(), place(), number(), number())
            .prop_map(|(center, direction, sharp, soft)| BlurProfile::Band { center, direction, sharp, soft }),
        3 => (place(), [number(), number(), number(), number()])
            .prop_map(|(center, [inner, outer, from, to])| BlurProfile::Radial { center, inner, outer, from, to }),
    ]
}

pub fn backdrop() -> impl Strategy<Value = BackdropBlur> {
    let sampling = select(vec![BackdropSampling::Inside, BackdropSampling::Surroundings]);
    let filter = || prop_oneof![3 => Just(1.0_f32), 1 => 0.0..3.0_f32, 1 => hostile()];
    let rest = prop_oneof![3 => Just([1.0, 0.0, 0.0]), 1 => [filter(), filter(), filter()]];
    let grain = prop_oneof![3 => Just(0.0_f32), 1 => hostile()];
    (gaussian(), sampling, [filter(), filter(), filter()], rest, grain).prop_map(
        |(blur, sampling, filters, rest, grain)| BackdropBlur {
            blur,
            sampling,
            colors: vec![
                ColorStep::HueRotate(60.0 * rest[2]),
                ColorStep::Saturate(filters[0]),
                ColorStep::Brightness(filters[1]),
                ColorStep::Sepia(rest[1] - 1.0),
                ColorStep::Contrast(rest[0]),
                ColorStep::Invert(rest[1]),
                ColorStep::Cover(Color::srgba(rest[0], 0.5, 0.2, filters[0] - 1.0)),
            ],
            opacity: filters[2],
            fallback: Color::NONE,
            grain,
        },
    )
}

/// A lens of glass, mostly in range.
pub fn lens() -> impl Strategy<Value = BackdropLens> {
    let share = || prop_oneof![1 => Just(0.0_f32), 4 => 0.0..1.0_f32, 1 => hostile()];
    let displacement = prop_oneof![6 => -40.0..40.0_f32, 1 => hostile()];
    (hostile(), displacement, share(), share(), -4.0..4.0_f32).prop_map(
        |(bevel, displacement, dispersion, rim_light, light_angle)| BackdropLens {
            bevel,
            displacement,
            dispersion,
            rim_light,
            light_angle,
        },
    )
}

/// From one texel up; seldom a long line.
pub fn size() -> impl Strategy<Value = [u32; 2]> {
    prop_oneof![
        2 => [1..9_u32, 1..9_u32],
        6 => [1..71_u32, 1..71_u32],
        1 => select(vec![[1, 1], [2048, 1], [1, 1500], [700, 3]]),
    ]
}

/// Mostly common formats, sometimes any writable one.
pub fn any_format() -> impl Strategy<Value = TextureFormat> {
    use TextureFormat::{R8Unorm, Rgba8Unorm, Rgba8UnormSrgb, Rgba16Float, Rgba32Float};
    prop_oneof![
        9 => select(vec![Rgba8UnormSrgb, Rgba8Unorm, Rgba16Float, R8Unorm, Rgba32Float]),
        1 => select(formats::all()),
    ]
}

/// A format that a camera can paint to, including multisampled ones.
pub fn canvas_format() -> impl Strategy<Value = TextureFormat> {
    use TextureFormat::{Bgra8UnormSrgb, Rgba8Unorm, Rgba8UnormSrgb, Rgba16Float};
    select(vec![Rgba8UnormSrgb, Rgba16Float, Rgba8Unorm, Bgra8UnormSrgb])
}

/// Left, top, width and height, on and around a small viewport.
pub fn finite_rect() -> impl Strategy<Value = [f32; 4]> {
    let place = || prop_oneof![4 => (0..60_i16).prop_map(f32::from), 1 => -40.0..100.0_f32];
    let side = || prop_oneof![4 => (1..60_i16).prop_map(f32::from), 1 => 0.0..300.0_f32];
    [place().boxed(), place().boxed(), side().boxed(), side().boxed()]
}
