//! A lost device. Bevy creates another one if its error handler says so. Every blur must then come back by itself, as
//! it was.
//!
//! The scene has meshes and nodes: Bevy 0.19 keeps its sprites' buffers of the old device, and panics on the new one.

use crate::freeze::stir;
use crate::support::events::{heard, listen};
use crate::support::faults;
use crate::support::prelude::*;
use crate::support::recording::{Settings, Shown as End, WantedRecordings, follow_recordings};

/// Every kind of blur, and the images that show it.
struct Shown {
    headless: Headless,
    images: Vec<(&'static str, Handle<Image>)>,
    sources: Vec<Handle<Image>>,
}

fn recover(app: &mut App) {
    outcomes::record(app);
    follow_recordings(app);
    scene::add_plugins(app, Kind::Core3d);
    faults::recover(app);
}

impl Shown {
    fn new(backend: BlurBackend) -> Self {
        let headless = gpu_with(backend, recover);
        let (images, sources) = (Vec::new(), Vec::new());
        Self {
            headless,
            images,
            sources,
        }
    }

    fn view(&mut self, kind: Kind, name: &'static str) -> View {
        let view = View::new(&mut self.headless, kind, scene::SIZE, LDR);
        self.images.push((name, view.target.clone()));
        view
    }

    /// Adds a few nodes to a camera without a scene.
    fn add_nodes(&mut self, camera: Entity) {
        for (place, colour) in [
            (10.0, Color::WHITE),
            (45.0, Color::srgb(0.9, 0.2, 0.1)),
            (80.0, Color::BLACK),
        ] {
            let node = node(Vec2::new(place, place * 0.5), Vec2::new(40.0, 30.0));
            let world = self.headless.app.world_mut();
            world.spawn((node, BackgroundColor(colour), UiTargetCamera(camera)));
        }
    }

    fn add_source(&mut self) -> Handle<Image> {
        let picture = to_image(&inputs::patterns(60, 45)[1], LDR);
        let source = self.headless.add_image(picture);
        self.sources.push(source.clone());
        source
    }

    fn pictures(&self) -> Vec<Vec<u8>> {
        let read = |(_, image): &(_, Handle<Image>)| self.headless.read_image(image).bytes;
        self.images.iter().map(read).collect()
    }

    /// Loses the device twice, and compares the pictures, within the steps of their format.
    fn check(&mut self, name: &str) {
        self.headless.warm_up();
        let before = self.pictures();
        for loss in 1..3 {
            faults::lose_device(&mut self.headless);
            self.headless.warm_up();
            let after = self.pictures();
            for ((image, _), (before, after)) in self.images.iter().zip(before.iter().zip(&after)) {
                assert!(before.iter().any(|byte| *byte != before[0]), "{image}: nothing is seen");
                // The programs for a kernel round differently, and which of them compiles first is not defined.
                let is_close = before
                    .iter()
                    .zip(after)
                    .all(|(before, after)| before.abs_diff(*after) <= 1);
                assert!(is_close, "{name}: {image} came back different, loss {loss}");
            }
            let readiness = self.headless.app.world().resource::<BlurReadiness>();
            assert!(readiness.is_ready(), "{name}: blurs are not ready again");
        }
        report::row("lost devices", &format!("{name}: 2 losses, the same pictures again"));
    }
}

/// Runs a test with [one kind of passes](one_backend).
fn on_one(name: &str, build: impl Fn(&mut Shown)) {
    for backend in one_backend() {
        let mut shown = Shown::new(backend);
        build(&mut shown);
        shown.check(&format!("{name}, {backend:?}"));
    }
}

#[test]
fn images_come_back() {
    on_one("images", |shown| {
        let blur = GaussianBlur::from_sigma(5.0);
        let updates = [
            ("an image on changes", BlurUpdate::OnChange),
            ("an image in every frame", BlurUpdate::EveryFrame),
            ("an image once", BlurUpdate::Once),
        ];
        for (name, update) in updates {
            let source = shown.add_source();
            let entity = spawn(&mut shown.headless, blur, plain(source).with_update(update));
            shown.headless.frame();
            shown.images.push((name, target_of(&shown.headless, entity)));
        }
        let chained = shown.images[2].1.clone();
        let entity = spawn(&mut shown.headless, blur, plain(chained));
        shown.headless.frame();
        shown.images.push(("a chain", target_of(&shown.headless, entity)));
        let in_place = shown.add_source();
        let image = plain(in_place.clone()).with_target(in_place.clone());
        spawn(&mut shown.headless, blur, image);
        shown.images.push(("an image in place", in_place));
    });
}

#[test]
fn recorded_blurs_come_back() {
    on_one("recorded blurs", |shown| {
        let mut wanted = Vec::new();
        for (name, sigma) in [("a weak recorded blur", 1.0), ("a strong recorded blur", 14.0)] {
            let (source, target) = (shown.add_source(), shown.add_source());
            wanted.push((End::from(&source), End::from(&target), Settings::new(sigma)));
            shown.images.push((name, target));
        }
        shown.headless.app.insert_resource(WantedRecordings(wanted));
    });
}

/// A blur that is released before a device is lost starts again, too.
#[test]
fn a_released_blur_starts_again() {
    for backend in one_backend() {
        let mut shown = Shown::new(backend);
        let (source, target) = (shown.add_source(), shown.add_source());
        let wanted = (End::from(&source), End::from(&target), Settings::new(5.0));
        shown.headless.app.insert_resource(WantedRecordings(vec![wanted]));
        shown.headless.warm_up();
        let before = shown.headless.read_image(&target).bytes;
        let mut recordings = shown.headless.recordings();
        recordings.0[0].rests_after = 0;
        recordings.0[0].blur.release();
        shown.headless.frame();
        faults::lose_device(&mut shown.headless);
        shown.headless.recordings().0[0].rests_after = usize::MAX;
        shown.headless.warm_up();
        let after = shown.headless.read_image(&target).bytes;
        let is_close = before.iter().zip(&after).all(|(one, other)| one.abs_diff(*other) <= 1);
        assert!(is_close, "{backend:?}: it came back different");
    }
}

/// What is wrong with a request has nothing to do with the device.
#[test]
fn an_error_is_not_said_again() {
    for backend in one_backend() {
        let mut shown = Shown::new(backend);
        let (source, target) = (shown.add_source(), shown.add_source());
        let outside = Settings {
            region: Some(URect::new(2, 2, 20, 20)),
            bounds: Some(URect::new(4, 0, 40, 30)),
            ..Settings::new(5.0)
        };
        let wanted = |settings: &Settings| vec![(End::from(&source), End::from(&target), settings.clone())];
        shown.headless.app.insert_resource(WantedRecordings(wanted(&outside)));
        shown.headless.warm_up();
        faults::lose_device(&mut shown.headless);
        let errors = |shown: &mut Shown| shown.headless.recordings().0[0].errors.len();
        assert_eq!(errors(&mut shown), 1, "{backend:?}: once");
        // It is over, and comes back: that is said.
        for settings in [Settings::new(5.0), outside] {
            shown.headless.app.insert_resource(WantedRecordings(wanted(&settings)));
            shown.headless.warm_up();
        }
        assert_eq!(errors(&mut shown), 2, "{backend:?}: twice");
    }
}

#[test]
fn cameras_of_meshes_come_back() {
    on_one("cameras of meshes", |shown| {
        scene::spawn(&mut shown.headless, Kind::Core3d, 1.0);
        for (name, radius) in [("a weak camera", 2.0), ("a strong camera", 40.0)] {
            let view = shown.view(Kind::Core3d, name);
            view.insert(&mut shown.headless, GaussianBlur::new(radius));
        }
        let view = shown.view(Kind::Core3d, "a region");
        let region = BackdropRegion::new(view.camera, Rect::new(20.0, 15.0, 120.0, 90.0));
        shown.headless.spawn((region, BackdropBlur::new(20.0)));
    });
}

#[test]
fn interfaces_come_back() {
    on_one("interfaces", |shown| {
        let view = shown.view(Kind::Core2d, "a camera blurred after its nodes");
        view.insert(&mut shown.headless, (GaussianBlur::new(20.0), BlurStage::AfterUi));
        shown.add_nodes(view.camera);
        let view = shown.view(Kind::Core2d, "glass among nodes");
        shown.add_nodes(view.camera);
        let glass = BackdropBlur::new(20.0).with_color(ColorStep::Brightness(0.8));
        let pane = (
            node(Vec2::new(20.0, 15.0), Vec2::new(90.0, 60.0)),
            UiTargetCamera(view.camera),
            glass.clone(),
        );
        shown.headless.spawn(pane);
        show_filters(shown, glass.clone());
        let view = shown.view(Kind::Core2d, "a region above nodes");
        shown.add_nodes(view.camera);
        let region = BackdropRegion::new(view.camera, Rect::new(20.0, 15.0, 120.0, 90.0));
        shown.headless.spawn((region, glass));
    });
}

/// Filters among nodes, one with glass inside.
fn show_filters(shown: &mut Shown, glass: BackdropBlur) {
    let view = shown.view(Kind::Core2d, "filters among nodes, with glass inside");
    shown.add_nodes(view.camera);
    let filter = UiFilter::shadow(vec2(3.0, 3.0), 6.0, Color::BLACK).with_radius(3.0);
    let group = (
        node(Vec2::new(20.0, 15.0), Vec2::new(90.0, 60.0)),
        UiTargetCamera(view.camera),
        filter.clone(),
    );
    let inside = |place: f32| {
        (
            node(Vec2::new(place, place), Vec2::new(40.0, 30.0)),
            BackgroundColor(Color::srgba(0.2, 0.9, 0.3, 0.5)),
        )
    };
    let world = shown.headless.app.world_mut();
    world.spawn((group.clone(), children![(inside(5.0), glass), inside(25.0)]));
    world.spawn((group, children![inside(60.0)]));
}

#[test]
fn frozen_pictures_are_lost_and_blurs_go_on() {
    for backend in one_backend() {
        let mut shown = Shown::new(backend);
        listen::<FreezeLost>(&mut shown.headless.app);
        scene::spawn(&mut shown.headless, Kind::Core3d, 1.0);
        let frozen = shown.view(Kind::Core3d, "a frozen camera");
        frozen.insert(&mut shown.headless, GaussianBlur::new(9.0));
        let live = shown.view(Kind::Core3d, "a live camera");
        live.insert(&mut shown.headless, GaussianBlur::new(9.0));
        let mut panes = Vec::new();
        for view in [&frozen, &live] {
            let region = BackdropRegion::new(view.camera, Rect::new(20.0, 15.0, 120.0, 90.0));
            panes.push(shown.headless.spawn((region, BackdropBlur::new(20.0))));
        }
        shown.headless.warm_up();
        for entity in [frozen.camera, panes[0]] {
            shown.headless.insert(entity, FreezeBlur);
        }
        stir(&mut shown.headless, 1);
        shown.headless.frame();
        stir(&mut shown.headless, 2);
        shown.headless.frame();
        let [kept, running] = [&frozen, &live].map(|view| view.pixels(&shown.headless).bytes);
        assert!(kept != running, "{backend:?}: nothing is frozen");
        faults::lose_device(&mut shown.headless);
        shown.headless.warm_up();
        let [after, running] = [&frozen, &live].map(|view| view.pixels(&shown.headless).bytes);
        assert!(after == running, "{backend:?}: a blur does not go on");
        let mut expected = [frozen.camera, panes[0]];
        expected.sort_unstable();
        assert_eq!(
            heard::<FreezeLost>(&shown.headless),
            expected,
            "{backend:?}: both are told, once"
        );
    }
}
