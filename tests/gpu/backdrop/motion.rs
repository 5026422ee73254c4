//! Glass that is dragged over a still picture.

use super::*;

/// How much a pixel may flicker, as a share of the contrast.
const FLICKER: f64 = 0.006;
const SIGMAS: [f32; 3] = [1.6, 4.0, 9.0];

/// The difference of the brightest and the darkest value of each colour.
fn contrast(picture: &Picture) -> [f64; 3] {
    core::array::from_fn(|channel| {
        let values = || picture.texels.iter().map(|texel| texel[channel]);
        values().fold(f64::MIN, f64::max) - values().fold(f64::MAX, f64::min)
    })
}

/// Drags a pane by four pixels in steps of a quarter, and compares each step with the reference. Returns the pictures.
fn dragged(stage: &mut Stage, name: &str, pane: &Pane) -> Vec<Picture> {
    stage.show(|ui| ui.pane(pane));
    stage.check(name, &[pane.layer()]);
    let mut pictures = Vec::new();
    for step in 0..=16 {
        // Never right at the centre of a pixel.
        let offset = 0.25 * step as f32 + 0.03;
        let moved = pane.clone().moved(offset, 0.5 * offset);
        stage.change(0, moved.transform());
        stage.headless.frame();
        stage.compare(&format!("{name}-{step}"), &[moved.layer()]);
        let [_, picture] = stage.pictures();
        pictures.push(picture);
    }
    pictures
}

/// Asserts that pixels do not change which are at least `depth` inside the box in all pictures.
fn assert_still(name: &str, pane: &Pane, depth: f32, pictures: &[Picture], contrast: [f64; 3]) {
    let inner = |start: f32, length: f32, travel: f32| {
        let (first, last) = (start + depth + travel + 1.0, start + length - depth - 1.0);
        (first.ceil() as usize)..(last.floor() as usize)
    };
    let columns = inner(pane.origin.x, pane.size.x, 4.0);
    let rows = inner(pane.origin.y, pane.size.y, 2.0);
    assert!(columns.len() > 10 && rows.len() > 10, "{name}: nothing is deep inside");
    let mut worst = 0.0_f64;
    for (x, y) in rows.flat_map(|y| columns.clone().map(move |x| (x, y))) {
        for (channel, contrast) in contrast.iter().copied().enumerate().take(3) {
            let values = || pictures.iter().map(|picture| picture.at(x, y)[channel]);
            let change = values().fold(f64::MIN, f64::max) - values().fold(f64::MAX, f64::min);
            assert!(
                change <= FLICKER * contrast,
                "{name}: {x}, {y} flickers by {change}, the contrast is {contrast}"
            );
            worst = worst.max(change / contrast.max(1e-9));
        }
    }
    println!("{name}: {:.3} % of the contrast", worst * 100.0);
}

#[test]
fn what_is_seen_through_dragged_glass_does_not_flicker() {
    on_one(Kind::Core2d, HDR, |stage| {
        for sigma in SIGMAS {
            for sampling in [BackdropSampling::Surroundings, BackdropSampling::Inside] {
                let pane = Pane::new([8.0, 6.0, 180.0, 104.0], glass(sigma).with_sampling(sampling));
                let name = format!("dragged-{sampling:?}-{sigma}");
                let pictures = dragged(stage, &name, &pane);
                let [plain, _] = stage.pictures();
                // The pixels that a box mirrors at its border move with it.
                let is_inside = sampling == BackdropSampling::Inside;
                let depth = if is_inside { 3.5 * sigma } else { 0.0 };
                assert_still(&stage.name(&name), &pane, depth, &pictures, contrast(&plain));
            }
        }
    });
}
