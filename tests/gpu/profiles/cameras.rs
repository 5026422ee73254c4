//! Cameras whose blur varies: viewports, formats, stages, units and edges.

use super::*;
use crate::support::scene::SIZE;
use crate::support::twins::tolerance;

const FORMATS: [TextureFormat; 3] = [LDR, TextureFormat::Rgba8Unorm, HDR];

/// Interpolation between sigma levels may add an error of 1.5/255 of the peak, where the scene has noise.
fn assert_varying(name: &str, got: &Picture, sharp: &Picture, all: &[f64], edge: EdgeMode, format: TextureFormat) {
    let wanted = expected(sharp, all, [1.0; 2], edge);
    let wanted = within_rounding(got, &wanted, format);
    let peak = wanted.texels.iter().flatten().copied().fold(1.0, f64::max);
    assert_close(name, got, &wanted, &RGBA, tolerance(format, peak) + peak * 1.5 / 255.0);
    for (index, sigma) in all.iter().enumerate() {
        if *sigma < 0.03 {
            assert_eq!(got.texels[index], sharp.texels[index], "{name}: texel {index} is sharp");
        }
    }
}

#[test]
fn cameras_are_blurred_in_place() {
    for (turn, backend) in [BlurBackend::Compute, BlurBackend::Fragment].into_iter().enumerate() {
        let flat = FORMATS.map(|format| (Kind::Core2d, format));
        let all = flat.into_iter().chain([(Kind::Core3d, LDR)]);
        for (index, (kind, format)) in all.enumerate() {
            let mut headless = warm_with(backend, scene::plugins(kind));
            scene::spawn(&mut headless, kind, 1.0);
            let View { camera, target } = View::new(&mut headless, kind, SIZE, format);
            headless.set(camera, Hdr, format == HDR);
            let sharp = scene::shot(&mut headless, &target);
            for (number, (name, profile)) in profiles().into_iter().enumerate() {
                for (step, sigma) in [1.5_f32, 9.0].into_iter().enumerate() {
                    if !is_turn(index + number + step, turn, 2) {
                        continue;
                    }
                    let blur = GaussianBlur::from_sigma(sigma);
                    headless.insert(camera, (blur, profile.clone()));
                    let got = scene::shot(&mut headless, &target);
                    let all = sigmas(&profile, [sharp.width, sharp.height], f64::from(blur.sigma()));
                    let name = format!("profile-{backend:?}-{kind:?}-{format:?}-{name}-{sigma}");
                    assert_varying(&name, &got, &sharp, &all, EdgeMode::Clamp, format);
                }
            }
            let mut camera_mut = headless.app.world_mut().entity_mut(camera);
            camera_mut.remove::<BlurProfile>();
            camera_mut.insert(GaussianBlur::from_sigma(9.0));
            let uniform = scene::shot(&mut headless, &target);
            let all = vec![9.0; sharp.texels.len()];
            assert_varying("without a profile", &uniform, &sharp, &all, EdgeMode::Clamp, format);
        }
    }
}

#[test]
fn the_box_of_a_camera_is_its_viewport() {
    let viewport = viewport(UVec2::new(37, 21), UVec2::new(111, 71));
    // Render passes add up columns along which sigma hardly varies, and from one to the next.
    let across = linear([Vec2::ZERO, Vec2::X], [0.1, 0.3]);
    let profiles = [
        (BlurBackend::Compute, profiles()[0].1.clone()),
        (BlurBackend::Fragment, across),
    ];
    let ways = profiles.iter().flat_map(|way| EdgeMode::ALL.map(|edge| (way, edge)));
    for ((backend, profile), edge) in ways {
        let mut twins = Twins::by(*backend, Kind::Core2d, SIZE, LDR);
        let mut cameras = twins.headless.app.world_mut().query::<&mut Camera>();
        for mut camera in cameras.iter_mut(twins.headless.app.world_mut()) {
            camera.viewport = Some(viewport.clone());
        }
        let blur = GaussianBlur::from_sigma(7.0).with_edge(edge);
        twins.blur((blur, profile.clone()));
        twins.headless.warm_up();
        let [sharp, got] = [&twins.sharp, &twins.blurred].map(|view| view.picture(&twins.headless));
        let inside = |picture: &Picture| picture.crop([37, 21], [111, 71]);
        let all = sigmas(profile, [111, 71], 7.0);
        let format = LDR;
        assert_varying(
            &format!("profile-{edge:?}-{backend:?}"),
            &inside(&got),
            &inside(&sharp),
            &all,
            edge,
            format,
        );
        for (index, (got, sharp)) in got.texels.iter().zip(&sharp.texels).enumerate() {
            let [x, y] = [index % row_length(), index / row_length()];
            if !(37..148).contains(&x) || !(21..92).contains(&y) {
                assert_eq!(got, sharp, "{backend:?}, {edge:?}: ({x}, {y}) is outside");
            }
        }
    }
}

/// While a viewport shrinks, textures that are larger than needed serve it; when it grows, new ones have room. What lies beyond the
/// needed texels, which other pictures have written, is not read.
#[test]
fn textures_may_be_larger_than_a_varying_blur_needs() {
    let apps = BACKENDS
        .into_iter()
        .flat_map(|backend| [FORMATS[0], FORMATS[2]].map(|format| (backend, format)));
    for (turn, (backend, format)) in apps.enumerate() {
        let mut headless = gpu_with(backend, |app| scene::add_plugins(app, Kind::Core2d));
        scene::spawn(&mut headless, Kind::Core2d, 1.0);
        let [sharp, blurred] = [(); 2].map(|()| View::new(&mut headless, Kind::Core2d, SIZE, format));
        if format == HDR {
            for view in [&sharp, &blurred] {
                view.insert(&mut headless, Hdr);
            }
        }
        let mut show = |size: UVec2, blur: Option<(GaussianBlur, BlurProfile)>| {
            for view in [&sharp, &blurred] {
                let mut camera = headless.get_mut::<Camera>(view.camera);
                camera.viewport = Some(viewport(UVec2::ZERO, size));
            }
            if let Some(blur) = blur {
                blurred.insert(&mut headless, blur);
                headless.warm_up();
            }
            headless.frame();
            let of = [size.x, size.y].map(|side| side as usize);
            [&sharp, &blurred].map(|view| view.picture(&headless).crop([0; 2], of))
        };
        for (number, (name, profile)) in profiles().into_iter().enumerate() {
            for (step, sigma) in [1.5_f32, 9.0].into_iter().enumerate() {
                if !is_turn(number + 2 * step, turn, 4) {
                    continue;
                }
                let blur = GaussianBlur::from_sigma(sigma);
                show(UVec2::new(111, 71), Some((blur, profile.clone())));
                let sizes = [[104, 70], [97, 66], [120, 80], [121, 81], [109, 75]];
                for size in sizes.map(UVec2::from) {
                    let [sharp, got] = show(size, None);
                    let all = sigmas(&profile, [sharp.width, sharp.height], f64::from(sigma));
                    let name = format!("larger-{backend:?}-{format:?}-{name}-{sigma}-{size}");
                    assert_varying(&name, &got, &sharp, &all, EdgeMode::Clamp, format);
                }
            }
        }
    }
}

/// Texels per row of the whole picture.
fn row_length() -> usize {
    SIZE.x as usize
}

#[test]
fn aspects_and_light_vary_too() {
    let mut headless = warm_with(BlurBackend::Compute, scene::plugins(Kind::Core3d));
    scene::spawn(&mut headless, Kind::Core3d, 20.0);
    let target = scene::target(&mut headless, SIZE, HDR);
    let camera = scene::camera(&mut headless, Kind::Core3d, &target, Msaa::Sample4);
    headless.insert(camera, (Hdr, BlurStage::BeforeTonemapping));
    let sharp = scene::shot(&mut headless, &target);
    for aspect in [Vec2::X, Vec2::Y, Vec2::new(1.0, 0.3), Vec2::new(0.1, 1.0)] {
        for (name, profile) in profiles() {
            let blur = GaussianBlur::from_sigma(11.0).with_aspect(aspect);
            headless.insert(camera, (blur, profile.clone()));
            let got = scene::shot(&mut headless, &target);
            let all = sigmas(&profile, [sharp.width, sharp.height], 11.0);
            let aspect = [f64::from(aspect.x), f64::from(aspect.y)];
            let wanted = expected(&sharp, &all, aspect, EdgeMode::Clamp);
            let peak = wanted.texels.iter().flatten().copied().fold(1.0, f64::max);
            let name = format!("profile-light-{aspect:?}-{name}");
            assert_close(&name, &got, &wanted, &RGBA, peak * 1.5 / 255.0);
        }
    }
}
