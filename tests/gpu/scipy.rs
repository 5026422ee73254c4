//! The reference of all other tests, and the GPU itself, against values that `scipy.ndimage` computed.

use crate::support::images::blurred_into_own;
use crate::support::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
struct Data {
    width: usize,
    height: usize,
    input: Vec<f64>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    mode: String,
    sigma: [f64; 2],
    output: Vec<f64>,
}

fn data() -> Data {
    let text = include_str!("../data/scipy_reference.json");
    let data: Data = serde_json::from_str(text).expect("the data have the form that their script writes");
    for mode in ["nearest", "reflect", "wrap", "constant", "renormalize"] {
        let cases = data.cases.iter().filter(|case| case.mode == mode).count();
        assert!(cases >= 4, "only {cases} cases of the mode {mode}");
    }
    data
}

/// This crate's name for a mode of scipy.
fn edge(mode: &str) -> EdgeMode {
    match mode {
        "nearest" => EdgeMode::Clamp,
        "reflect" => EdgeMode::Mirror,
        "wrap" => EdgeMode::Wrap,
        "constant" => EdgeMode::Transparent,
        "renormalize" => EdgeMode::Renormalize,
        other => panic!("scipy's mode {other} is unknown here"),
    }
}

/// The same values with another factor in every channel, so that no channel can replace another.
fn picture(data: &Data, values: &[f64]) -> Picture {
    let texels = values
        .iter()
        .map(|value| [1.0, 0.5, 0.25, 0.75].map(|share| share * value));
    Picture::new(data.width, data.height, texels.collect())
}

#[test]
fn the_reference_agrees_with_scipy() {
    let data = data();
    let input = picture(&data, &data.input);
    for case in &data.cases {
        let got = gaussian_blur(&input, case.sigma, edge(&case.mode));
        let name = format!("scipy-{}-{:?}", case.mode, case.sigma);
        assert_close(&name, &got, &picture(&data, &case.output), &RGBA, 1e-7);
    }
}

#[test]
fn the_gpu_agrees_with_scipy() {
    let mut headless = warm(BlurBackend::Compute);
    let data = data();
    let input = picture(&data, &data.input);
    let mut worst = 0.0_f64;
    for case in &data.cases {
        let [x, y] = case.sigma.map(|sigma| sigma as f32);
        let blur = GaussianBlur::from_sigma(x)
            .with_aspect(bevy::math::Vec2::new(1.0, y / x))
            .with_edge(edge(&case.mode));
        let got = blurred_into_own(&mut headless, blur, &input, TextureFormat::Rgba32Float);
        let name = format!("gpu-scipy-{}-{:?}", case.mode, case.sigma);
        let expected = picture(&data, &case.output);
        worst = worst.max(assert_close(&name, &got, &expected, &RGBA, 0.6 / 255.0));
    }
    println!("the GPU against scipy: worst error {:.3}/255", worst * 255.0);
}
