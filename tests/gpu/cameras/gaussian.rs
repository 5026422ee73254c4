//! Blurred cameras against the float64 reference of the same frame without a blur.

use super::*;
use crate::support::scene::SIZE;
use crate::support::twins::assert_gaussian_with;
use bevy::camera::CameraOutputMode;
use bevy::core_pipeline::tonemapping::Tonemapping;
use bevy::render::render_resource::BlendState;

/// A setup of a camera.
#[derive(Clone, Copy, Debug)]
struct Setup {
    kind: Kind,
    hdr: bool,
    msaa: Msaa,
    stage: BlurStage,
}

impl Setup {
    fn format(self) -> TextureFormat {
        if self.hdr { HDR } else { LDR }
    }

    fn spawn_scene(self, headless: &mut Headless) {
        scene::spawn(headless, self.kind, if self.hdr { 20.0 } else { 1.0 });
    }

    fn spawn(self, headless: &mut Headless) -> (Entity, Handle<Image>) {
        self.spawn_scene(headless);
        self.spawn_camera(headless)
    }

    fn spawn_camera(self, headless: &mut Headless) -> (Entity, Handle<Image>) {
        let target = scene::target(headless, SIZE, self.format());
        let camera = scene::camera(headless, self.kind, &target, self.msaa);
        headless.insert(camera, self.stage);
        headless.set(camera, Hdr, self.hdr);
        (camera, target)
    }

    /// Compares the picture of a new camera of this setup with the blur of its picture without a blur.
    fn check(self, headless: &mut Headless, backend: BlurBackend) {
        let (camera, target) = self.spawn_camera(headless);
        let sharp = scene::shot(headless, &target);
        for sigma in [1.5, 8.0, 40.0] {
            let blur = GaussianBlur::from_sigma(sigma);
            headless.insert(camera, blur);
            let got = scene::shot(headless, &target);
            let name = format!("{self:?}-{sigma}-{backend:?}").replace([' ', '{', '}', ':'], "");
            let sigma = f64::from(blur.sigma());
            assert_gaussian_with(&name, &got, &sharp, [sigma, sigma], EdgeMode::Clamp, self.format());
        }
        headless.despawn(camera);
    }
}

/// Checks all sample counts and all stages of one kind of camera, one camera after the other in one app.
fn check_setups(kind: Kind, hdr: bool) {
    for backend in one_backend() {
        let mut headless = warm_with(backend, scene::plugins(kind));
        let stages = [
            BlurStage::BeforeTonemapping,
            BlurStage::AfterTonemapping,
            BlurStage::AfterUi,
        ];
        let setup = |msaa, stage| Setup { kind, hdr, msaa, stage };
        setup(Msaa::Off, stages[0]).spawn_scene(&mut headless);
        for msaa in [Msaa::Off, Msaa::Sample4] {
            for stage in stages {
                setup(msaa, stage).check(&mut headless, backend);
            }
        }
    }
}

#[test]
fn every_setup_in_two_dimensions() {
    check_setups(Kind::Core2d, false);
}

#[test]
fn every_setup_in_two_dimensions_and_a_high_dynamic_range() {
    check_setups(Kind::Core2d, true);
}

#[test]
fn every_setup_in_three_dimensions() {
    check_setups(Kind::Core3d, false);
}

#[test]
fn every_setup_in_three_dimensions_and_a_high_dynamic_range() {
    check_setups(Kind::Core3d, true);
}

#[test]
fn the_stage_decides_what_is_blurred() {
    let reinhard = |picture: &Picture| {
        Picture::from_fn(picture.width, picture.height, |x, y| {
            let [r, g, b, a] = picture.at(x, y);
            [r / (1.0 + r), g / (1.0 + g), b / (1.0 + b), a]
        })
    };
    for kind in [Kind::Core2d, Kind::Core3d] {
        let mut headless = warm_with(BlurBackend::Compute, scene::plugins(kind));
        let setup = Setup {
            kind,
            hdr: true,
            msaa: Msaa::Off,
            stage: BlurStage::BeforeTonemapping,
        };
        let (camera, target) = setup.spawn(&mut headless);
        let scene = scene::shot(&mut headless, &target);
        let blur = GaussianBlur::from_sigma(7.0);
        let sigma = [f64::from(blur.sigma()); 2];
        let expected = [
            (
                BlurStage::BeforeTonemapping,
                reinhard(&gaussian_blur(&scene, sigma, EdgeMode::Clamp)),
            ),
            (
                BlurStage::AfterTonemapping,
                gaussian_blur(&reinhard(&scene), sigma, EdgeMode::Clamp),
            ),
        ];
        for (stage, expected) in expected {
            headless.insert(camera, (blur, stage, Tonemapping::Reinhard));
            let got = scene::shot(&mut headless, &target);
            // Reinhard is computed per channel in half floats.
            assert_close(&format!("{kind:?}-{stage:?}"), &got, &expected, &RGB, 1.0 / 255.0);
        }
    }
}

#[test]
fn the_user_interface_is_sharp_unless_the_stage_says_otherwise() {
    for kind in [Kind::Core2d, Kind::Core3d] {
        let mut headless = warm_with(BlurBackend::Compute, scene::plugins(kind));
        let setup = Setup {
            kind,
            hdr: false,
            msaa: Msaa::Off,
            stage: BlurStage::AfterUi,
        };
        let (camera, target) = setup.spawn(&mut headless);
        let node = node(Vec2::new(20.0, 30.0), Vec2::new(50.0, 25.0));
        let white = BackgroundColor(Color::WHITE);
        headless.spawn((node, white, UiTargetCamera(camera)));
        let sharp = scene::shot(&mut headless, &target);
        assert_eq!(sharp.at(21, 31), [1.0; 4], "the node is drawn");
        assert_ne!(sharp.at(19, 31), [1.0; 4], "the node is where it should be");

        let blur = GaussianBlur::from_sigma(5.0);
        headless.insert(camera, blur);
        let got = scene::shot(&mut headless, &target);
        let sigma = [f64::from(blur.sigma()); 2];
        assert_gaussian_with("ui-blurred", &got, &sharp, sigma, EdgeMode::Clamp, LDR);

        headless.insert(camera, BlurStage::AfterTonemapping);
        let got = scene::shot(&mut headless, &target);
        for (x, y) in [(20, 30), (69, 30), (20, 54), (69, 54), (40, 40)] {
            assert_eq!(got.at(x, y), [1.0; 4], "the node is sharp at {x}, {y}");
        }
    }
}

/// Two cameras on one target: one draws everywhere, the other one blurs in a viewport with odd borders.
#[test]
fn a_viewport_has_its_own_edges_and_leaves_the_outside_alone() {
    for (kind, hdr, backend) in [
        (Kind::Core2d, false, BlurBackend::Compute),
        (Kind::Core3d, false, BlurBackend::Fragment),
        (Kind::Core2d, true, BlurBackend::Fragment),
        (Kind::Core3d, true, BlurBackend::Compute),
    ] {
        let mut headless = warm_with(backend, scene::plugins(kind));
        let setup = Setup {
            kind,
            hdr,
            msaa: Msaa::Off,
            stage: BlurStage::AfterTonemapping,
        };
        let (_, target) = setup.spawn(&mut headless);
        let over = scene::camera(&mut headless, kind, &target, Msaa::Off);
        let (origin, size) = (UVec2::new(13, 7), UVec2::new(101, 83));
        headless.set(over, Hdr, hdr);
        let mut over_mut = headless.app.world_mut().entity_mut(over);
        over_mut.insert(Camera {
            order: 1,
            clear_color: ClearColorConfig::None,
            // The camera's own picture, with transparent parts, not blended over previous contents.
            output_mode: CameraOutputMode::Write {
                blend_state: Some(BlendState::REPLACE),
                clear_color: ClearColorConfig::None,
            },
            viewport: Some(viewport(origin, size)),
            ..default()
        });
        let sharp = scene::shot(&mut headless, &target);
        let inside = |x: usize, y: usize| {
            (origin.x as usize..(origin + size).x as usize).contains(&x)
                && (origin.y as usize..(origin + size).y as usize).contains(&y)
        };
        let [start, extent] = [origin, size].map(|it| it.to_array().map(|side| side as usize));
        let crop = |picture: &Picture| picture.crop(start, extent);
        for edge in EdgeMode::ALL {
            for sigma in [2.0, 21.0] {
                let blur = GaussianBlur::from_sigma(sigma).with_edge(edge);
                headless.insert(over, blur);
                let got = scene::shot(&mut headless, &target);
                for y in 0..got.height {
                    for x in (0..got.width).filter(|&x| !inside(x, y)) {
                        assert_eq!(got.at(x, y), sharp.at(x, y), "{kind:?}: {x}, {y} is outside");
                    }
                }
                let sigma = [f64::from(blur.sigma()); 2];
                let name = format!("viewport-{kind:?}-{hdr}-{edge:?}-{}", blur.sigma());
                assert_gaussian_with(&name, &crop(&got), &crop(&sharp), sigma, edge, setup.format());
            }
        }
    }
}
