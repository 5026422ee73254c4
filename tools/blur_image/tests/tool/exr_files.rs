//! EXR files that say more than colours.

use crate::common::{folder, run};
use exr::meta::attribute::Chromaticities;
use exr::prelude::*;
use std::path::Path;

/// A picture that differs in each channel, and of which the values at the border stand out.
fn value(Vec2(x, y): Vec2<usize>, size: Vec2<usize>, channel: usize) -> f32 {
    let is_border = x < 8 || y < 8 || x + 8 >= size.0 || y + 8 >= size.1;
    let inner = [x as f32 / 64.0, y as f32 / 64.0, 0.25][channel];
    if is_border { 4.0 } else { inner }
}

/// A channel of these numbers.
fn channel(name: &str, size: Vec2<usize>, number: impl Fn(Vec2<usize>) -> f32) -> AnyChannel<FlatSamples> {
    let places = (0..size.area()).map(|index| Vec2(index % size.0, index / size.0));
    AnyChannel::new(name, FlatSamples::F32(places.map(number).collect()))
}

fn layer(size: Vec2<usize>, channels: Vec<AnyChannel<FlatSamples>>) -> Layer<AnyChannels<FlatSamples>> {
    let channels = AnyChannels::sort(channels.into());
    Layer::new(size, LayerAttributes::default(), Encoding::FAST_LOSSLESS, channels)
}

/// Red, green and blue of a layer whose names begin like this.
fn colours(prefix: &str, size: Vec2<usize>) -> Vec<AnyChannel<FlatSamples>> {
    let channels = ["R", "G", "B"].iter().enumerate();
    let named = channels.map(|(index, name)| channel(&format!("{prefix}{name}"), size, |at| value(at, size, index)));
    named.collect()
}

fn write(path: &Path, layer: Layer<AnyChannels<FlatSamples>>, attributes: Option<ImageAttributes>) {
    let attributes = attributes.unwrap_or_else(|| ImageAttributes::with_size(layer.size));
    Image::new(attributes, layer)
        .write()
        .to_file(path)
        .expect("it can be written");
}

fn read(path: &Path) -> Image<Layer<AnyChannels<FlatSamples>>> {
    read_first_flat_layer_from_file(path).expect("the result is a picture")
}

/// The names of all channels, and the numbers of the first.
fn channels(image: &Image<Layer<AnyChannels<FlatSamples>>>) -> (Vec<String>, Vec<f32>) {
    let list = &image.layer_data.channel_data.list;
    let names = list.iter().map(|channel| channel.name.to_string()).collect();
    (names, list[0].sample_data.values_as_f32().collect())
}

#[test]
fn attributes_and_windows_are_kept_and_the_blur_reads_it_all() {
    let folder = folder("windows");
    let size = Vec2(64, 48);
    let mut overscan = layer(size, colours("", size));
    overscan.attributes.layer_position = Vec2(-8, -8);
    overscan.attributes.owner = Some("the owner".into());
    let (red, green) = (Vec2(0.7347, 0.2653), Vec2(0.0, 1.0));
    let (blue, white) = (Vec2(0.0001, -0.077), Vec2(0.32168, 0.33767));
    let attributes = ImageAttributes {
        chromaticities: Some(Chromaticities {
            red,
            green,
            blue,
            white,
        }),
        ..ImageAttributes::with_size((48, 32))
    };
    write(&folder.join("a.exr"), overscan, Some(attributes.clone()));
    let Some(_) = run(&folder, "a.exr out.exr --sigma 3", &[]) else {
        return;
    };
    let result = read(&folder.join("out.exr"));
    assert_eq!(result.attributes, attributes);
    assert_eq!(result.layer_data.attributes.layer_position, Vec2(-8, -8));
    assert_eq!(result.layer_data.attributes.owner, Some("the owner".into()));
    assert_eq!(result.layer_data.size, size);
    let (names, blues) = channels(&result);
    assert_eq!(names, ["B", "G", "R"]);
    // On the left border of the display window, half of the blur is the border of the data window.
    let step = blues[24 * 64 + 8];
    let weight = |distance: i32| (-0.5 * (f64::from(distance) / 3.0).powi(2)).exp();
    let (outside, all): (f64, f64) = ((-18..0).map(weight).sum(), (-18..=18).map(weight).sum());
    let expected = 0.25 + 3.75 * outside / all;
    assert!(
        (f64::from(step) - expected).abs() < 4.0 * 0.6 / 255.0,
        "{step} and not {expected}"
    );

    let output = run(&folder, "a.exr out.png --sigma 3", &[]).expect("there is a GPU");
    let told = String::from_utf8_lossy(&output.stderr);
    for note in [
        "its chromaticities are left out",
        "what lies outside its display window",
    ] {
        assert!(told.contains(note), "{told}");
    }
    let png = image::open(folder.join("out.png")).expect("the result is a picture");
    assert_eq!((png.width(), png.height()), (48, 32));
}

#[test]
fn one_channel_stays_one_channel() {
    let folder = folder("one_channel");
    let size = Vec2(24, 20);
    let number = |at: Vec2<usize>| at.0 as f32 * 100.0 - 500.0;
    for name in ["Y", "Z", "depth.Z"] {
        write(
            &folder.join("a.exr"),
            layer(size, vec![channel(name, size, number)]),
            None,
        );
        let Some(output) = run(&folder, "a.exr out.exr --radius 0 --json", &[]) else {
            return;
        };
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(told.contains(r#""format":"r32float""#), "{told}");
        let (names, numbers) = channels(&read(&folder.join("out.exr")));
        assert_eq!(names, [name.trim_start_matches("depth.")]);
        assert_eq!(numbers[24 * 3 + 7], 200.0, "{name}");
    }
}

#[test]
fn grey_with_alpha_stays_so() {
    let folder = folder("grey_alpha");
    let size = Vec2(24, 20);
    let channels_of = vec![channel("Y", size, |_| 0.25), channel("A", size, |_| 0.5)];
    write(&folder.join("a.exr"), layer(size, channels_of), None);
    let Some(_) = run(&folder, "a.exr out.exr --radius 5", &[]) else {
        return;
    };
    let (names, alphas) = channels(&read(&folder.join("out.exr")));
    assert_eq!(names, ["A", "Y"]);
    assert!((alphas[24 * 10 + 10] - 0.5).abs() < 1e-3);
    run(&folder, "a.exr out.tif --radius 5", &[]).expect("there is a GPU");
    let file = std::fs::File::open(folder.join("out.tif")).expect("it is there");
    let mut result = tiff::decoder::Decoder::new(file).expect("it is a picture");
    assert_eq!(result.get_tag_u32(tiff::tags::Tag::SamplesPerPixel).ok(), Some(2));
}

#[test]
fn the_chosen_layer_is_read() {
    let folder = folder("layers");
    let size = Vec2(24, 20);
    let background = colours("BG.Combined.", size).into_iter();
    let depth = channel("Z", size, |at| at.1 as f32 * 10.0);
    let beauty = background.clone().chain(colours("", size)).chain([depth]);
    write(&folder.join("a.exr"), layer(size, beauty.collect()), None);
    let told = |arguments: &str| {
        let output = run(&folder, &format!("a.exr out.exr --radius 0 {arguments}"), &[])?;
        let told = String::from_utf8_lossy(&output.stderr).contains("its layers Z, BG.Combined are left out");
        Some((channels(&read(&folder.join("out.exr"))), told))
    };
    let Some(((names, _), is_told)) = told("") else {
        return;
    };
    assert_eq!((names.join(""), is_told), ("BGR".to_owned(), true));
    let ((names, numbers), is_told) = told("--layer Z").expect("there is a GPU");
    assert_eq!((names.join(""), is_told), ("Z".to_owned(), false));
    assert_eq!(numbers[24 * 11], 110.0);
    let ((names, _), _) = told("--layer BG.Combined").expect("there is a GPU");
    assert_eq!(names.join(""), "BGR");
    write(&folder.join("a.exr"), layer(size, background.collect()), None);
    let ((names, _), is_told) = told("").expect("there is a GPU");
    assert_eq!((names.join(""), is_told), ("BGR".to_owned(), false));
}
