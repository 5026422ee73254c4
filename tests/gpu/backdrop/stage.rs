//! The usual scene, seen by two cameras in the same frame. Their user interfaces differ only in glass: the picture of one
//! camera lies below the glass of the other.

use super::*;
use crate::support::compositor::{Layer, assert_composed, compose, tolerance};
use crate::support::pool;

pub const SIZE: UVec2 = scene::SIZE;

/// The app. An error of the GPU ends the test.
pub struct Stage {
    pub plain: View,
    pub glass: View,
    pub format: TextureFormat,
    /// The entities of all panes that are shown now, in the order in which they were spawned.
    pub panes: Vec<Entity>,
    /// Distinguishes this app in the names of pictures.
    label: String,
    shown: Vec<Entity>,
    pub headless: Headless,
}

/// The user interface of one camera, while it is spawned. Later nodes lie over earlier ones.
pub struct Ui<'w> {
    world: &'w mut World,
    pub root: Entity,
    panes: &'w mut Vec<Entity>,
    /// Whether the camera is the one that shows glass.
    pub is_glass: bool,
}

/// Runs a test with [one kind of passes](one_backend).
pub fn on_one(kind: Kind, format: TextureFormat, test: impl Fn(&mut Stage)) {
    for backend in one_backend() {
        let mut stage = Stage::new(backend, kind, format);
        test(&mut stage);
    }
}

impl Stage {
    /// The usual scene.
    pub fn new(backend: BlurBackend, kind: Kind, format: TextureFormat) -> Self {
        let headless = warm_with(backend, scene::plugins(kind));
        Self::of(headless, format!("{backend:?}-{kind:?}"), kind, format)
    }

    /// The same in an app that publishes figures.
    pub fn with_figures(backend: BlurBackend, format: TextureFormat) -> Self {
        let headless = warm_with(backend, pool::with_figures);
        Self::of(headless, format!("{backend:?}-figures"), Kind::Core2d, format)
    }

    /// The same in an app of its own, with more plugins.
    pub fn with(backend: BlurBackend, kind: Kind, format: TextureFormat, setup: impl FnOnce(&mut App)) -> Self {
        let headless = gpu_with(backend, |app| {
            outcomes::record(app);
            scene::add_plugins(app, kind);
            setup(app);
        });
        Self::of(headless, format!("{backend:?}-{kind:?}"), kind, format)
    }

    /// The same in any app.
    pub fn of(mut headless: Headless, label: String, kind: Kind, format: TextureFormat) -> Self {
        let is_hdr = format == HDR;
        scene::spawn(&mut headless, kind, if is_hdr { 20.0 } else { 1.0 });
        let [plain, glass] = [(); 2].map(|()| View::new(&mut headless, kind, SIZE, format));
        let mut stage = Self {
            plain,
            glass,
            format,
            panes: Vec::new(),
            label,
            shown: Vec::new(),
            headless,
        };
        if is_hdr {
            stage.insert(Hdr);
        }
        stage
    }

    /// Gives both cameras the same components.
    pub fn insert(&mut self, components: impl Bundle + Clone) {
        self.plain.insert(&mut self.headless, components.clone());
        self.glass.insert(&mut self.headless, components);
    }

    /// Replaces the content of both cameras.
    pub fn show(&mut self, build: impl Fn(&mut Ui)) {
        self.clear();
        let [plain, glass] = [self.plain.camera, self.glass.camera];
        self.add(plain, false, &build);
        self.add(glass, true, &build);
    }

    /// Removes all content.
    pub fn clear(&mut self) {
        self.panes.clear();
        for shown in self.shown.drain(..) {
            self.headless.despawn(shown);
        }
    }

    /// Adds a user interface to a camera.
    pub fn add(&mut self, camera: Entity, is_glass: bool, build: &impl Fn(&mut Ui)) {
        let world = self.headless.app.world_mut();
        let whole = scene::whole();
        let root = world.spawn((whole, UiTargetCamera(camera))).id();
        self.shown.push(root);
        build(&mut Ui {
            world,
            root,
            panes: &mut self.panes,
            is_glass,
        });
    }

    /// Spawns something that is no part of a user interface, until the next [`clear`](Self::clear).
    pub fn spawn(&mut self, components: impl Bundle) -> Entity {
        let entity = self.headless.spawn(components);
        self.shown.push(entity);
        entity
    }

    /// Gives components to one of the panes.
    pub fn change(&mut self, pane: usize, components: impl Bundle) {
        let entity = self.panes[pane];
        self.headless.insert(entity, components);
    }

    /// The pictures of both cameras: without glass, and with it.
    pub fn pictures(&self) -> [Picture; 2] {
        [&self.plain, &self.glass].map(|view| view.picture(&self.headless))
    }

    /// The picture of the camera with glass.
    pub fn pixels(&self) -> Pixels {
        self.glass.pixels(&self.headless)
    }

    /// [`show`](Self::show)s, lets everything settle, and returns the [`pictures`](Self::pictures).
    pub fn shown(&mut self, build: impl Fn(&mut Ui)) -> [Picture; 2] {
        self.show(build);
        self.headless.warm_up();
        self.pictures()
    }

    /// Sets the number of physical pixels of the targets per logical pixel.
    pub fn set_scale_factor(&mut self, scale_factor: f32) {
        for view in [&mut self.plain, &mut self.glass] {
            let target = view.target.clone();
            view.retarget(&mut self.headless, target, scale_factor);
        }
    }

    /// A name for the pictures of a failure.
    pub fn name(&self, name: &str) -> String {
        format!("backdrop-{name}-{}", self.label)
    }

    /// Lets everything settle, and asserts that the pictures differ by exactly the layers, and that the layers are
    /// visible.
    pub fn check(&mut self, name: &str, layers: &[Layer]) -> f64 {
        self.headless.warm_up();
        let [plain, _] = self.pictures();
        let peak = plain.texels.iter().flatten().copied().fold(1.0, f64::max);
        let seen = worst_difference(&compose(&plain, layers, self.format), &plain).value;
        let least = 3.0 * tolerance(self.format, peak);
        assert!(
            seen > least,
            "{}: the glass can hardly be seen: {seen}",
            self.name(name)
        );
        self.compare(name, layers)
    }

    /// Asserts that the pictures of the last frame differ by exactly the layers. Returns the worst difference.
    pub fn compare(&self, name: &str, layers: &[Layer]) -> f64 {
        let [plain, glass] = self.pictures();
        let name = self.name(name);
        let worst = assert_composed(&name, &glass, &plain, layers, self.format);
        println!("{name}: {:.3}/255", worst * 255.0);
        worst
    }

    /// Asserts that the pictures of the last frame have the same bits.
    pub fn assert_identical(&self, name: &str) {
        let [plain, glass] = [&self.plain, &self.glass].map(|view| view.pixels(&self.headless));
        let is_seen = plain.bytes.iter().any(|byte| *byte != plain.bytes[0]);
        assert!(is_seen, "{}: nothing is seen", self.name(name));
        assert!(
            plain.bytes == glass.bytes,
            "{}: the picture has changed",
            self.name(name)
        );
    }
}

impl Ui<'_> {
    /// Spawns a node.
    pub fn spawn(&mut self, components: impl Bundle) -> Entity {
        self.spawn_in(self.root, components)
    }

    /// Spawns a child of a node.
    pub fn spawn_in(&mut self, parent: Entity, components: impl Bundle) -> Entity {
        self.world.spawn((components, ChildOf(parent))).id()
    }

    /// Gives components to a node.
    pub fn insert(&mut self, node: Entity, components: impl Bundle) {
        self.world.entity_mut(node).insert(components);
    }

    /// Spawns a node on the camera with glass only.
    pub fn paint(&mut self, components: impl Bundle) {
        if self.is_glass {
            self.spawn(components);
        }
    }

    /// Spawns a pane on the camera with glass only.
    pub fn pane(&mut self, pane: &Pane) {
        self.pane_of(pane.bundle());
    }

    /// Spawns the components of a pane on the camera with glass only. Returns the pane.
    pub fn pane_of(&mut self, components: impl Bundle) -> Option<Entity> {
        self.pane_in(self.root, components)
    }

    /// The same as the child of a node.
    pub fn pane_in(&mut self, parent: Entity, components: impl Bundle) -> Option<Entity> {
        if !self.is_glass {
            return None;
        }
        let pane = self.spawn_in(parent, components);
        self.panes.push(pane);
        Some(pane)
    }

    pub fn panes(&mut self, panes: &[Pane]) {
        panes.iter().for_each(|pane| self.pane(pane));
    }
}
