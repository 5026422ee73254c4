//! Cameras of every kind: dynamic ranges, samples, viewports, scale factors, transparent targets, and cameras with a
//! blur.

use super::stage::SIZE;
use super::*;
use crate::support::compositor::{Layer, assert_composed, compose, tolerance};
use crate::support::formats::quantised;
use crate::support::late_targets;

const AROUND: BackdropSampling = BackdropSampling::Surroundings;

/// Panes with everything that glass can do, one over the other.
fn mixture() -> [Pane; 4] {
    [
        Pane::new([15.0, 10.0, 90.0, 60.0], glass(2.5)).with_radii([4.0, 10.0, 16.0, 22.0]),
        Pane::new([70.0, 35.0, 90.0, 50.0], glass(6.0).with_sampling(AROUND)).turned(0.3),
        Pane::new(
            [120.0, 15.0, 70.0, 60.0],
            glass(3.0)
                .with_color(ColorStep::Saturate(1.5))
                .with_color(ColorStep::Brightness(0.8)),
        ),
        Pane::new([30.0, 60.0, 130.0, 45.0], glass(9.0).with_opacity(0.7)).with_radii([15.0; 4]),
    ]
}

fn check(stage: &mut Stage, name: &str, panes: &[Pane]) {
    stage.show(|ui| ui.panes(panes));
    stage.check(name, &layers(panes));
}

#[test]
fn several_samples() {
    for format in [LDR, HDR] {
        on_one(Kind::Core3d, format, |stage| {
            stage.insert(Msaa::Sample4);
            check(stage, &format!("samples-{format:?}"), &mixture());
        });
    }
}

/// Cameras with other dynamic ranges and other targets in one app, some of them without glass.
#[test]
fn cameras_of_several_kinds_in_one_app() {
    on_one(Kind::Core2d, LDR, |stage| {
        let panes = mixture();
        let hdr = [(); 2].map(|()| {
            let view = View::new(&mut stage.headless, Kind::Core2d, SIZE / 2, HDR);
            view.insert(&mut stage.headless, Hdr);
            view
        });
        let small = [Pane::new([10.0, 10.0, 70.0, 40.0], glass(3.0)).with_radii([9.0; 4])];
        stage.show(|ui| ui.panes(&panes));
        stage.add(hdr[1].camera, true, &|ui| ui.panes(&small));
        stage.check("among-others", &layers(&panes));
        let [below, got] = [&hdr[0], &hdr[1]].map(|view| view.picture(&stage.headless));
        assert_composed(&stage.name("among-others-hdr"), &got, &below, &layers(&small), HDR);
        // An inactive camera resumes with the changes that were made meanwhile.
        set_active(&mut stage.headless, stage.glass.camera, false);
        stage.headless.frame();
        let changed = Pane::new([15.0, 10.0, 90.0, 60.0], glass(7.0));
        stage.change(0, changed.bundle());
        stage.headless.frame();
        set_active(&mut stage.headless, stage.glass.camera, true);
        stage.headless.frame();
        let [_, second, third, fourth] = panes;
        stage.compare("resumed", &layers(&[changed, second, third, fourth]));
    });
}

/// The scale of the whole interface and the scale factor of the target also scale the radius.
#[test]
fn scales() {
    let panes = [
        Pane::new([7.0, 5.0, 40.0, 20.0], glass(1.5)).with_radii([2.0, 4.0, 6.0, 9.0]),
        Pane::new([30.0, 14.0, 30.0, 20.0], glass(3.0).with_sampling(AROUND)),
        Pane::new([12.0, 22.0, 30.0, 12.0], glass(2.0))
            .scaled(1.2, 0.8)
            .turned(0.2)
            .moved(0.2, -0.1),
    ];
    on_one(Kind::Core2d, LDR, |stage| {
        stage.show(|ui| ui.panes(&panes));
        for (interface, target) in [(2.0, 1.0), (1.0, 3.0), (1.5, 2.0), (1.0, 1.0)] {
            stage.headless.app.insert_resource(UiScale(interface));
            stage.set_scale_factor(target);
            let scale = f64::from(interface * target);
            let layers: Vec<Layer> = panes.iter().map(|pane| Layer::glass(pane.panel(scale))).collect();
            stage.check(&format!("scale-{interface}-{target}"), &layers);
        }
    });
}

/// All four channels are mixed where a part of the picture is transparent, as behind a transparent window.
#[test]
fn a_transparent_target() {
    for format in [LDR, HDR] {
        on_one(Kind::Core2d, format, |stage| {
            stage.insert(Camera {
                clear_color: ClearColorConfig::Custom(Color::NONE),
                ..default()
            });
            let [_, pattern] = inputs::patterns(60, 40);
            let image = stage.headless.add_image(to_image(&pattern, LDR));
            let quad = scene::image_quad(stage.headless.app.world_mut(), image);
            stage.spawn((quad, Transform::from_xyz(-60.0, 20.0, 2.0)));
            stage.headless.warm_up();
            let [plain, _] = stage.pictures();
            let alpha = |least: f64, most: f64| plain.texels.iter().any(|texel| (least..=most).contains(&texel[3]));
            assert!(
                alpha(0.0, 0.0) && alpha(0.1, 0.9) && alpha(1.0, 1.0),
                "some is seen through"
            );
            // `Stage::show` would remove the image.
            let panes = mixture();
            let [plain, glass] = [stage.plain.camera, stage.glass.camera];
            stage.add(plain, false, &|ui| ui.panes(&panes));
            stage.add(glass, true, &|ui| ui.panes(&panes));
            stage.check(&format!("transparent-{format:?}"), &layers(&panes));
            let edges = one_of_each_edge(super::glass(4.0));
            check(stage, &format!("transparent-edges-{format:?}"), &edges);
        });
    }
}

/// A blur of the camera comes before the glass, or after it.
#[test]
fn next_to_a_blur_of_the_camera() {
    for kind in [Kind::Core2d, Kind::Core3d] {
        on_one(kind, LDR, |stage| {
            let panes = mixture();
            stage.insert(GaussianBlur::from_sigma(2.0));
            check(stage, "after-a-blur", &panes);
            for camera in [stage.plain.camera, stage.glass.camera] {
                stage.headless.remove::<GaussianBlur>(camera);
            }
            let over = (GaussianBlur::from_sigma(2.0), BlurStage::AfterUi);
            stage.glass.insert(&mut stage.headless, over);
            stage.headless.warm_up();
            let [plain, got] = stage.pictures();
            let composed = compose(&plain, &layers(&panes), LDR);
            let expected = gaussian_blur(&quantised(&composed, LDR), [2.0; 2], EdgeMode::Clamp);
            let expected = within_rounding(&got, &expected, LDR);
            let name = stage.name("before-a-blur");
            assert_close(&name, &got, &expected, &RGBA, tolerance(LDR, 1.0));
        });
    }
}

/// The target changes its size: the new target shows the panes.
#[test]
fn a_target_is_resized() {
    on_one(Kind::Core2d, LDR, |stage| {
        let panes = [
            Pane::new([15.0, 10.0, 90.0, 60.0], glass(3.0)),
            Pane::new([60.0, 30.0, 120.0, 70.0], glass(6.0).with_sampling(AROUND)),
        ];
        check(stage, "size", &panes);
        for size in [UVec2::new(170, 90), UVec2::new(250, 130), UVec2::new(61, 200), SIZE] {
            let [plain, glass] = [(); 2].map(|()| scene::target(&mut stage.headless, size, LDR));
            stage.plain.retarget(&mut stage.headless, plain, 1.0);
            stage.glass.retarget(&mut stage.headless, glass, 1.0);
            stage.headless.warm_up();
            stage.compare(&format!("size-{size}"), &layers(&panes));
        }
    });
}

/// For one frame, the camera still has the size of its old target, which is larger than its new one.
#[test]
fn a_camera_is_given_another_target_at_the_end_of_a_frame() {
    for backend in one_backend() {
        let setup = late_targets::follow;
        let mut stage = Stage::with(backend, Kind::Core2d, LDR, setup);
        let large = SIZE * 2;
        let world = View::new(&mut stage.headless, Kind::Core2d, large, LDR);
        let below = Camera { order: -1, ..default() };
        world.insert(&mut stage.headless, below);
        // Solid, because the camera's picture is blended over the picture of the other one.
        let panes = [
            Pane::new([15.0, 10.0, 90.0, 60.0], glass(3.0)),
            Pane::new([60.0, 30.0, 120.0, 70.0], glass(6.0).with_sampling(AROUND)),
        ];
        stage.show(|ui| ui.panes(&panes));
        let whole = Pane::new([0.0, 0.0, large.x as f32, large.y as f32], glass(3.0));
        stage.add(world.camera, true, &|ui| {
            ui.pane(&whole);
            ui.pane_of((whole.bundle(), FreezeBlur));
            {
                let filtered = ui.spawn((whole.node(), UiFilter::from_sigma(2.0)));
                ui.pane_in(filtered, (whole.node(), glass(4.0).with_sampling(AROUND)));
            }
        });
        let rect = Rect::from_corners(Vec2::ZERO, large.as_vec2());
        for region in [BackdropLayer::BelowUi, BackdropLayer::AboveUi] {
            let region = BackdropRegion::new(world.camera, rect).with_layer(region);
            stage.spawn((region, glass(5.0)));
        }
        stage.headless.warm_up();
        let target = stage.glass.target.clone();
        late_targets::give(&mut stage.headless, world.camera, &target);
        stage.headless.frames(4);
        // The last camera clears the picture.
        stage.check("given", &layers(&panes));
    }
}
