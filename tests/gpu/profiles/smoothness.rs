//! No seams, no loss of light, and no pops.

use super::*;

const SIZE: [usize; 2] = [160, 120];

fn falling(start: f32) -> BlurProfile {
    linear([Vec2::new(start, 0.1), Vec2::new(start + 0.6, 0.9)], [0.0, 1.0])
}

fn ring(x: f32) -> BlurProfile {
    BlurProfile::Radial {
        center: Vec2::new(x, 0.5),
        inner: 0.05,
        outer: 0.6,
        from: 0.0,
        to: 1.0,
    }
}

/// The blurred picture and its reference, in 32-bit floats: nothing is rounded at the end.
fn both(headless: &mut Headless, picture: &Picture, profile: &BlurProfile, sigma: f64, edge: EdgeMode) -> [Picture; 2] {
    let source = headless.add_image(to_image(picture, FORMAT));
    let black = Picture::new(picture.width, picture.height, vec![[0.0; 4]; picture.texels.len()]);
    let target = headless.add_image(to_image(&black, TextureFormat::Rgba32Float));
    let blur = GaussianBlur::from_sigma(sigma as f32).with_edge(edge);
    let image = plain(source).with_target(target);
    let got = blurred(headless, blur, image, profile.clone());
    let stored = formats::quantised(picture, FORMAT);
    let all = sigmas(profile, [picture.width, picture.height], sigma);
    [got, expected(&stored, &all, [1.0; 2], edge)]
}

/// The differences of neighbouring pixels along x and y.
fn slopes(picture: &Picture) -> Vec<[f64; 4]> {
    let difference = |a: [f64; 4], b: [f64; 4]| core::array::from_fn(|channel| a[channel] - b[channel]);
    let at = |x: usize, y: usize| picture.at(x, y);
    let across = (0..picture.height).flat_map(|y| (1..picture.width).map(move |x| (x, y)));
    let down = (1..picture.height).flat_map(|y| (0..picture.width).map(move |x| (x, y)));
    let across = across.map(|(x, y)| difference(at(x, y), at(x - 1, y)));
    let down = down.map(|(x, y)| difference(at(x, y), at(x, y - 1)));
    across.chain(down).collect()
}

#[test]
fn ramps_and_flat_fields_have_no_seam() {
    let [width, height] = SIZE;
    let picture = Picture::from_fn(width, height, |x, y| {
        let (x, y) = (x as f64 / width as f64, y as f64 / height as f64);
        [x, y, 0.5 * (x + y), 0.7]
    });
    for backend in one_backend() {
        let mut headless = warm(backend);
        for (profile, sigma) in [falling(0.2), ring(0.5)]
            .iter()
            .flat_map(|profile| [(profile, 3.0), (profile, 25.0)])
        {
            let [got, wanted] = both(&mut headless, &picture, profile, sigma, EdgeMode::Clamp);
            let pairs = slopes(&got).into_iter().zip(slopes(&wanted));
            let worst = pairs
                .flat_map(|(a, b)| (0..4).map(move |i| (a[i] - b[i]).abs() * 255.0))
                .fold(0.0, f64::max);
            println!("{backend:?}, sigma {sigma}: {worst:.3}/255 between neighbours");
            // Half floats have a maximum of a quarter of this.
            assert!(worst <= 0.3, "{backend:?}, {profile:?}, sigma {sigma}: {worst}/255");
        }
    }
}

#[test]
fn light_is_kept_as_the_reference_keeps_it() {
    let [picture, other] = inputs::patterns(SIZE[0], SIZE[1]);
    for backend in one_backend() {
        let mut headless = warm(backend);
        for (profile, picture) in [falling(0.2), ring(0.5)]
            .iter()
            .flat_map(|p| [(p, &picture), (p, &other)])
        {
            let [got, wanted] = both(&mut headless, picture, profile, 20.0, EdgeMode::Mirror);
            for channel in 0..4 {
                let mean = |picture: &Picture| {
                    let sum: f64 = picture.texels.iter().map(|texel| texel[channel]).sum();
                    sum / picture.texels.len() as f64
                };
                let off = (mean(&got) - mean(&wanted)).abs() * 255.0;
                assert!(off <= 0.1, "{backend:?}, {profile:?}, channel {channel}: {off}/255");
            }
        }
    }
}

#[test]
fn nothing_pops_when_the_profile_moves() {
    let pink = inputs::pink_noise(SIZE[0], SIZE[1]);
    let scene = inputs::quad([
        pink.clone(),
        inputs::step(SIZE[0], SIZE[1]),
        inputs::diagonal_step(SIZE[0], SIZE[1]),
        pink.inverted(),
    ]);
    for backend in one_backend() {
        let mut headless = warm(backend);
        for profile in [falling as fn(f32) -> BlurProfile, ring] {
            let mut last: Option<[Picture; 2]> = None;
            for step in 0..8 {
                let next = both(
                    &mut headless,
                    &scene,
                    &profile(0.3 + 0.003 * step as f32),
                    15.0,
                    EdgeMode::Clamp,
                );
                if let Some([got, wanted]) = &last {
                    let mut pop = 0.0_f64;
                    for (index, texel) in next[0].texels.iter().enumerate() {
                        let [before, wanted] = [got.texels[index], wanted.texels[index]];
                        let expected = next[1].texels[index];
                        for (channel, value) in texel.iter().enumerate() {
                            let change = (value - before[channel]).abs();
                            let own = (expected[channel] - wanted[channel]).abs();
                            pop = pop.max((change - own) * 255.0);
                        }
                    }
                    println!("{backend:?}, step {step}: {pop:.3}/255");
                    assert!(pop <= 0.5, "{backend:?}, step {step}: {pop}/255");
                }
                last = Some(next);
            }
        }
    }
}

#[test]
fn a_growing_radius_does_not_pop() {
    let pink = inputs::pink_noise(SIZE[0], SIZE[1]);
    let scene = inputs::quad([pink.clone(), pink.clone().inverted(), pink.clone(), pink]);
    let mut headless = warm(BlurBackend::Compute);
    let mut last: Option<Picture> = None;
    // From sigma 2 to 4, where every sigma level of an octave begins; with BLUR_FULL up to 10.
    let steps = if is_full() { 160 } else { 75 };
    for step in 0..steps {
        let sigma = 2.0 * 1.01_f64.powi(step);
        let source = headless.add_image(to_image(&scene, FORMAT));
        let got = blurred(
            &mut headless,
            GaussianBlur::from_sigma(sigma as f32),
            plain(source),
            falling(0.1),
        );
        if let Some(last) = &last {
            let change = worst(&got, last, |_| true).into_iter().fold(0.0, f64::max);
            assert!(change <= 1.5, "sigma {sigma}: {change}/255");
        }
        last = Some(got);
    }
}
