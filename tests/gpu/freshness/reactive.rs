//! Apps that draw only when something happens draw until the first use of something is there, however late its pipelines
//! and its report are.

use super::rest::{asks, note_redraws, run_while};
use super::*;
use crate::support::events::{heard, listen};

fn setup(app: &mut App) {
    note_redraws(app);
    listen::<FreezeTaken>(app);
    scene::add_plugins(app, Kind::Core2d);
}

/// A camera, with glass over a part of its picture.
struct App2d {
    live: Live,
    target: Handle<Image>,
    camera: Entity,
    glass: Entity,
    /// The number of the last frame.
    last: usize,
}

impl App2d {
    fn new(backend: BlurBackend) -> Self {
        let mut live = Live::late(backend, setup);
        let headless = &mut live.headless;
        scene::spawn(headless, Kind::Core2d, 1.0);
        let View { camera, target } = View::new(headless, Kind::Core2d, scene::SIZE, LDR);
        let region = BackdropRegion::new(camera, Rect::new(20.0, 15.0, 120.0, 90.0));
        let world = headless.app.world_mut();
        world.entity_mut(camera).insert(GaussianBlur::new(3.0));
        let glass = world.spawn((region, BackdropBlur::new(20.0))).id();
        live.watch(&target);
        live.wait_until_ready();
        live.frames(5);
        Self {
            live,
            target,
            camera,
            glass,
            last: 0,
        }
    }

    /// Runs frames as long as one is asked for. Returns their number.
    fn run_reactive(&mut self) -> usize {
        run_while(4000, || {
            self.frame();
            asks(&self.live.headless)
        })
    }

    /// Runs a frame.
    fn frame(&mut self) {
        self.last = self.live.frame();
    }

    /// What the last frame shows, which may still be rendering.
    fn shown(&mut self) -> Vec<u8> {
        for _ in 0..20_000 {
            let mut shots = self.live.shots().into_iter();
            if let Some(mut shot) = shots.rfind(|shot| shot.frame == self.last) {
                return shot.images.remove(0).expect("the target is on the GPU").bytes;
            }
            sleep(Duration::from_millis(5));
        }
        panic!("frame {} was not rendered", self.last);
    }
}

type FirstUse = (&'static str, fn(&mut App2d));

const USES: [FirstUse; 7] = [
    ("a lens", |app| insert(app, app.glass, BackdropLens::default())),
    ("a profile of a camera", |app| insert(app, app.camera, profile())),
    ("a profile of glass", |app| insert(app, app.glass, profile())),
    ("a mask that loads, of glass", |app| {
        let mask = loading(app);
        insert(app, app.glass, mask);
    }),
    ("a mask that loads, of a camera", |app| {
        let mask = loading(app);
        insert(app, app.camera, mask);
    }),
    ("a frozen camera", |app| insert(app, app.camera, FreezeBlur)),
    ("frozen glass", |app| insert(app, app.glass, FreezeBlur)),
];

fn insert(app: &mut App2d, entity: Entity, component: impl Component) {
    app.live.headless.insert(entity, component);
}

fn profile() -> BlurProfile {
    linear([Vec2::ZERO, Vec2::X], [0.0, 1.0])
}

/// How long a file takes to load, in milliseconds.
const LOADING: u64 = 200;

/// A profile by a mask that loads, and blurs nothing in the end.
fn loading(app: &App2d) -> BlurProfile {
    let assets = app.live.headless.app.world().resource::<AssetServer>();
    BlurProfile::Mask(assets.add_async(async {
        sleep(Duration::from_millis(LOADING));
        Ok::<_, std::io::Error>(Image {
            data: Some([0, 0, 0, 255].to_vec()),
            ..default()
        })
    }))
}

/// Whether pictures differ by more than kernels do that get pipelines of their own meanwhile.
fn differ(one: &[u8], other: &[u8]) -> bool {
    one.len() != other.len() || one.iter().zip(other).any(|(one, other)| one.abs_diff(*other) > 2)
}

#[test]
fn reactive_apps_draw_until_a_first_use_is_there() {
    for (turn, backend) in BACKENDS.into_iter().enumerate() {
        let uses = USES.into_iter().enumerate();
        for (_, (name, begin)) in uses.filter(|(index, _)| is_turn(*index, turn, 2)) {
            let mut app = App2d::new(backend);
            app.run_reactive();
            let before = app.shown();
            begin(&mut app);
            let frames = app.run_reactive();
            let shown = app.shown();
            let taken = heard::<FreezeTaken>(&app.live.headless).len();
            // What comes later than the app waits for.
            for _ in 0..20 {
                app.frame();
                sleep(Duration::from_millis(LOADING / 15));
            }
            app.live.wait_until_ready();
            app.frame();
            let is_frozen = name.contains("frozen");
            let is_late = differ(&shown, &app.shown());
            assert!(!is_late, "{backend:?}: {name} came after the last of {frames} frames");
            assert_eq!(differ(&shown, &before), !is_frozen, "{backend:?}: {name} shows");
            assert_eq!(taken, usize::from(is_frozen), "{backend:?}: {name}: its event came");
            let world = app.live.headless.app.world();
            assert!(world.resource::<Assets<Image>>().contains(&app.target));
        }
    }
}
