//! Each frame shows its own settings, although pipelines compile in the background and rendering is pipelined: no frame
//! is sharp because a kernel is new.

mod held;
mod start;

use crate::support::headless::label_of;
use crate::support::prelude::*;
use crate::support::twins::tolerance;
use bevy::render::render_resource::PipelineCache;
use std::collections::HashMap;

/// Small, because there are thousands of pictures to compare.
const SIZE: UVec2 = UVec2::new(40, 25);

/// A sharp picture and its blur, as indices into the images of a shot.
struct Pair {
    name: &'static str,
    sharp: usize,
    blurred: usize,
}

/// Two cameras, with and without a blur, and an image that is blurred in every frame.
struct Show {
    live: Live,
    pairs: Vec<Pair>,
    /// The cameras whose dynamic range changes.
    toggled: [Entity; 2],
    blurred: Vec<Entity>,
    /// The settings of each frame.
    asked: HashMap<usize, GaussianBlur>,
}

impl Show {
    fn new(backend: BlurBackend) -> Self {
        Self::of(Live::new(backend, |_| {}))
    }

    fn of(mut live: Live) -> Self {
        scene::spawn(&mut live.headless, Kind::Core2d, 1.0);
        let mut show = Self {
            live,
            pairs: Vec::new(),
            toggled: [Entity::PLACEHOLDER; 2],
            blurred: Vec::new(),
            asked: HashMap::new(),
        };
        show.toggled = show.add_cameras("ldr", LDR);
        for camera in show.add_cameras("hdr", HDR) {
            show.live.headless.insert(camera, Hdr);
        }
        let [pattern, _] = inputs::patterns(33, 21);
        let source = show.live.headless.add_image(to_image(&pattern, HDR));
        let target = show.live.headless.add_image(to_image(&pattern, HDR));
        show.add_pair("image", [&source, &target]);
        let image = plain(source).with_target(target).with_update(BlurUpdate::EveryFrame);
        let entity = show.live.headless.spawn((GaussianBlur::new(0.0), image));
        show.blurred.push(entity);
        show
    }

    fn add_pair(&mut self, name: &'static str, images: [&Handle<Image>; 2]) {
        let [sharp, blurred] = [2 * self.pairs.len(), 2 * self.pairs.len() + 1];
        images.into_iter().for_each(|image| self.live.watch(image));
        self.pairs.push(Pair { name, sharp, blurred });
    }

    fn add_cameras(&mut self, name: &'static str, format: TextureFormat) -> [Entity; 2] {
        let views = [(); 2].map(|()| View::new(&mut self.live.headless, Kind::Core2d, SIZE, format));
        self.add_pair(name, [&views[0].target, &views[1].target]);
        self.blurred.push(views[1].camera);
        views.map(|view| view.camera)
    }

    /// Simulates a frame with other settings.
    fn frame(&mut self, blur: GaussianBlur) {
        for entity in &self.blurred {
            self.live.headless.insert(*entity, blur);
        }
        let frame = self.live.frame();
        self.asked.insert(frame, blur);
    }

    fn toggle_dynamic_range(&mut self) {
        for camera in self.toggled {
            let is_hdr = self.live.headless.app.world().entity(camera).contains::<Hdr>();
            self.live.headless.set(camera, Hdr, !is_hdr);
        }
    }

    /// Compares every shot with the settings of its frame. Returns the number of blurred pictures.
    fn check(&self, shots: &[Shot]) -> usize {
        let mut checked = 0;
        for shot in shots {
            let Some(blur) = self.asked.get(&shot.frame) else {
                continue;
            };
            for pair in &self.pairs {
                let name =
                    format!("{} in frame {}, {blur:?}", pair.name, shot.frame).replace([' ', '{', '}', ':', ','], "");
                checked += usize::from(check_pair(&name, shot, pair, blur));
            }
        }
        checked
    }
}

/// Compares a blur with the Gaussian of its sharp picture. Returns whether there was a picture.
fn check_pair(name: &str, shot: &Shot, pair: &Pair, blur: &GaussianBlur) -> bool {
    let [Some(sharp), Some(blurred)] = [pair.sharp, pair.blurred].map(|index| &shot.images[index]) else {
        panic!("{name}: an image is missing");
    };
    let is_flat = sharp.is_flat();
    if blur.radius > 1.0 && !is_flat {
        assert!(sharp.bytes != blurred.bytes, "{name}: the picture is sharp");
    }
    let picture = to_picture(blurred);
    let expected = reference(&to_picture(sharp), blur);
    let expected = within_rounding(&picture, &expected, blurred.format);
    // With HDR, the reference starts from a picture that the target has rounded: as much again.
    let tolerance = 2.0 * tolerance(blurred.format, 1.0);
    assert_close(name, &picture, &expected, &RGBA, tolerance);
    !is_flat
}

fn reference(sharp: &Picture, blur: &GaussianBlur) -> Picture {
    let sigma = (blur.sigma() * blur.aspect).to_array().map(f64::from);
    gaussian_blur(sharp, sigma, blur.edge)
}

#[test]
fn every_frame_shows_what_was_asked_for() {
    let aspects = [Vec2::ONE, Vec2::X, Vec2::new(1.0, 0.5), Vec2::new(0.3, 1.0)];
    let stride = if is_full() { 1 } else { 4 };
    for backend in one_backend() {
        let mut show = Show::new(backend);
        show.live.wait_until_ready();
        show.live.shots();
        let mut checked = 0;
        for step in (0..=800).step_by(stride) {
            if step >= 200 && step % 60 == 0 {
                show.toggle_dynamic_range();
            }
            let blur = GaussianBlur::new(step as f32 * 0.5)
                .with_aspect(aspects[step / 27 % aspects.len()])
                .with_edge(EdgeMode::ALL[step / 19 % EdgeMode::ALL.len()]);
            show.frame(blur);
            checked += show.check(&show.live.shots());
        }
        println!("{backend:?}: {checked} blurred pictures");
        assert!(checked > 2000 / stride, "{checked} pictures were blurred");
    }
}

#[test]
fn the_first_frame_of_a_first_blur_is_blurred() {
    for backend in one_backend() {
        let mut live = Live::new(backend, |_| {});
        scene::spawn(&mut live.headless, Kind::Core2d, 1.0);
        let views = [(); 2].map(|()| View::new(&mut live.headless, Kind::Core2d, SIZE, LDR));
        views.iter().for_each(|view| live.watch(&view.target));
        live.wait_until_ready();
        live.wait_until_seen();
        let blur = GaussianBlur::new(24.0);
        views[1].insert(&mut live.headless, blur);
        let first = live.frame();
        live.frames(5);
        let pair = Pair {
            name: "first",
            sharp: 0,
            blurred: 1,
        };
        let shots = live.shots();
        assert!(shots.iter().any(|shot| shot.frame == first), "the frame was rendered");
        for shot in shots.iter().filter(|shot| shot.frame >= first) {
            let name = format!("first-{backend:?}-{}", shot.frame);
            assert!(check_pair(&name, shot, &pair, &blur), "there is something to blur");
        }
    }
}

#[test]
fn until_blurs_are_ready_an_older_one_or_none_is_shown() {
    let mut show = Show::new(BlurBackend::Compute);
    let mut radii = vec![0.0];
    for step in 0..60 {
        let radius = 3.0 + 0.5 * step as f32;
        radii.push(radius);
        show.frame(GaussianBlur::new(radius));
        let is_ready = show.live.is_ready();
        for shot in show.live.shots() {
            for pair in &show.pairs {
                let (Some(sharp), Some(blurred)) = (&shot.images[pair.sharp], &shot.images[pair.blurred]) else {
                    continue;
                };
                let got = to_picture(blurred);
                let is_one = |radius: &f32| {
                    let expected = reference(&to_picture(sharp), &GaussianBlur::new(*radius));
                    let expected = within_rounding(&got, &expected, blurred.format);
                    let worst = worst_difference(&got, &expected);
                    worst.value <= 2.0 * tolerance(blurred.format, 1.0)
                };
                assert!(
                    radii.iter().rev().any(is_one),
                    "{} in frame {}: neither sharp nor blurred as it was asked for",
                    pair.name,
                    shot.frame
                );
            }
        }
        if is_ready && step > 10 {
            break;
        }
    }
}

#[test]
fn few_pipelines_come_before_the_ready_signal() {
    for backend in one_backend() {
        let with_all = |app: &mut App| {
            app.insert_resource(BlurCompilation::default());
        };
        let mut headless = gpu_with(backend, with_all);
        assert!(
            !readiness(&headless).is_ready(),
            "nothing is there before the first frame"
        );
        let view = View::new(&mut headless, Kind::Core2d, SIZE, LDR);
        assert!(headless.frames_until(20, |world| world.resource::<BlurReadiness>().is_ready()));
        let first = pipelines(&headless);
        // For the camera's own format, and for its format with HDR: eight programs that blur, and one that paints frozen
        // pictures.
        assert!((1..=2 * 9).contains(&first.len()), "{backend:?}: {first:?}");

        // A picture that is blurred once needs no others.
        let [pattern, _] = inputs::patterns(33, 21);
        let source = headless.add_image(to_image(&pattern, HDR));
        let single = headless.blur(GaussianBlur::new(9.0), plain(source));
        assert!(single.is_ok(), "{single:?}");
        headless.warm_up();
        let general = pipelines(&headless);
        assert!(general.len() <= first.len() + 10, "{backend:?}: {general:?}");

        view.insert(&mut headless, GaussianBlur::new(9.0));
        headless.frame();
        assert!(!readiness(&headless).is_complete(), "its kernels are new");
        assert!(headless.frames_until(20, |world| world.resource::<BlurReadiness>().is_complete()));
        let own = pipelines(&headless).len();
        assert!(own > general.len(), "{backend:?}: it is as fast as it will be");
        // The kernels for other strengths follow one by one, and are no more than these.
        for radius in (0..400).map(|step| step as f32) {
            view.insert(&mut headless, GaussianBlur::new(radius));
            headless.frame();
        }
        let all = pipelines(&headless).len();
        println!(
            "{backend:?}: {} pipelines before, {own} for a strength, {all} in all",
            first.len()
        );
        assert!((own + 1..=100).contains(&all), "{backend:?}: {all}");
        for radius in (0..400).map(|step| step as f32 + 0.5) {
            view.insert(&mut headless, GaussianBlur::new(radius));
            headless.frame();
        }
        assert_eq!(
            pipelines(&headless).len(),
            all,
            "{backend:?}: nothing is left to compile"
        );
    }
}

#[test]
fn the_run_condition_follows_the_signal() {
    #[derive(Resource, Default)]
    struct Runs(usize);
    let count = |mut runs: ResMut<Runs>| runs.0 += 1;
    let mut headless = gpu_with(BlurBackend::Compute, |app| {
        app.init_resource::<Runs>().add_systems(Last, count.run_if(blurs_ready));
    });
    View::new(&mut headless, Kind::Core2d, SIZE, LDR);
    assert!(headless.frames_until(20, |world| world.resource::<BlurReadiness>().is_ready()));
    let before = headless.app.world().resource::<Runs>().0;
    headless.frame();
    assert_eq!(headless.app.world().resource::<Runs>().0, before + 1);
}

fn readiness(headless: &Headless) -> BlurReadiness {
    headless.app.world().resource::<BlurReadiness>().clone()
}

/// The labels of this crate's pipelines.
fn pipelines(headless: &Headless) -> Vec<String> {
    labels_of(headless.render_world().resource())
        .map(String::from)
        .collect()
}

fn labels_of(cache: &PipelineCache) -> impl Iterator<Item = &str> {
    let labels = cache.pipelines().filter_map(|pipeline| label_of(&pipeline.descriptor));
    labels.filter(|label| label.starts_with("gaussian_blur"))
}
