//! A world in which anything may happen, and its app.

use super::content::{canvas, image, node, rect_of};
use super::step::{Pick, Source, Target, Varies};
use super::*;
use crate::support::faults::{self, Messages};
use crate::support::headless::{build, takes_logger};
use crate::support::pictures;
use crate::support::recording::{WantedRecordings, follow_recordings};
use bevy::asset::AssetId;
use bevy::core_pipeline::tonemapping::Tonemapping;
use bevy::ecs::entity::EntityHashMap;
use bevy::ecs::entity_disabling::Disabled;
use bevy::ecs::error::{BevyError, ErrorContext};
use bevy::window::RequestRedraw;
use std::sync::atomic::{AtomicUsize, Ordering};

static WORLDS: AtomicUsize = AtomicUsize::new(0);

/// The last outcome of every image blur: the settings that ran, or the error.
#[derive(Resource, Default)]
pub struct Last(pub EntityHashMap<Result<GaussianBlur, BlurError>>);

/// Whether a frame has asked for another one.
#[derive(Resource, Default)]
struct Asked(bool);

/// For so many frames an app may ask for another one: beside other tests, files and pipelines take seconds.
const MOST_FRAMES: usize = 20_000;

fn hear(mut messages: MessageReader<RequestRedraw>, mut asked: ResMut<Asked>) {
    asked.0 |= messages.read().count() > 0;
}

/// The app, and everything that steps can pick.
pub struct World {
    pub headless: Headless,
    mode: Mode,
    /// Whether all cameras are two-dimensional.
    pub is_flat: bool,
    pub images: Vec<Handle<Image>>,
    pub canvases: Vec<Handle<Image>>,
    /// The canvases with multisampling: Bevy's cameras of one target share a depth texture, and so must agree.
    pub multisampled: Vec<AssetId<Image>>,
    pub cameras: Vec<Entity>,
    pub blurs: Vec<Entity>,
    pub glass: Vec<Entity>,
    /// Images that only the recorder writes.
    pub recorded: Vec<Handle<Image>>,
    /// Entities of single blurs for pixels. They may disappear at any time.
    readers: Vec<Entity>,
    /// Distinguishes its messages from those of other apps.
    pub name: String,
    messages: Messages,
    pub spawned: usize,
    pub steps: usize,
    pub frames: usize,
    pub compared: usize,
}

pub fn picked<T: Clone>(list: &[T], pick: Pick) -> Option<T> {
    list.get(usize::from(pick) % list.len().max(1)).cloned()
}

/// An error of a system or a command fails the test.
fn on_error(error: BevyError, context: ErrorContext) {
    panic!("{}: {error}", context.name());
}

impl World {
    /// A world with only a still scene, in an app of this kind.
    pub fn new(backend: BlurBackend, mode: Mode, is_flat: bool) -> Self {
        // Flat worlds do without the shaders of meshes in three dimensions, which take much memory.
        let kinds = [Kind::Core2d, Kind::Core3d];
        let kinds = if is_flat { &kinds[..1] } else { &kinds };
        let app = build(mode, takes_logger(), |app| {
            faults::record(app);
            faults::recover(app);
            follow_recordings(app);
            kinds.iter().for_each(|kind| scene::add_plugins(app, *kind));
            app.set_error_handler(on_error)
                .init_resource::<Last>()
                .init_resource::<Asked>()
                .add_systems(bevy::app::Last, hear)
                .add_plugins((crate::support::plugin(backend), GaussianBlurDiagnosticsPlugin))
                .add_observer(|event: On<BlurFinished>, mut last: ResMut<Last>| {
                    last.0.insert(event.entity, Ok(event.blur));
                })
                .add_observer(|event: On<BlurFailed>, mut last: ResMut<Last>| {
                    last.0.insert(event.entity, Err(event.error.clone()));
                });
        });
        let name = format!("random-{}-", WORLDS.fetch_add(1, Ordering::Relaxed));
        let mut headless = Headless::from(app);
        kinds.iter().for_each(|kind| scene::spawn(&mut headless, *kind, 1.0));
        // The first glass lets its pipelines compile for every camera. Spawn one now, so that both runs start alike.
        let warm = (BackdropBlur::new(0.0), UiFilter::default());
        let glass = headless.spawn(warm);
        headless.app.update();
        headless.despawn(glass);
        Self {
            headless,
            mode,
            is_flat,
            images: Vec::new(),
            canvases: Vec::new(),
            multisampled: Vec::new(),
            cameras: Vec::new(),
            blurs: Vec::new(),
            glass: Vec::new(),
            recorded: Vec::new(),
            readers: Vec::new(),
            messages: Messages::of(&name),
            name,
            spawned: 0,
            steps: 0,
            frames: 0,
            compared: 0,
        }
    }

    pub fn is_lockstep(&self) -> bool {
        self.mode == Mode::Lockstep
    }

    pub fn world(&mut self) -> &mut bevy::prelude::World {
        self.headless.app.world_mut()
    }

    pub fn run(&mut self, frames: usize) {
        for _ in 0..frames {
            if self.is_lockstep() {
                self.headless.frame();
            } else {
                self.headless.app.update();
            }
            self.frames += 1;
        }
    }

    /// Executes a step, renders, and checks for violations.
    pub fn take(&mut self, step: &Step) {
        self.steps += 1;
        self.apply(step);
        self.run(2);
        self.record();
        faults::assert_none(&self.headless.app);
        self.messages.assert_no_repetition();
    }

    /// Records what cameras and image blurs have painted, where it does not depend on time.
    fn record(&self) {
        if !(pictures::are_wanted() && self.is_lockstep()) {
            return;
        }
        let images = self.headless.render_world().resource::<RenderAssets<GpuImage>>();
        let world = self.headless.app.world();
        let targets = self
            .blurs
            .iter()
            .filter_map(|blur| world.get::<BlurImage>(*blur)?.target.as_ref());
        for (index, image) in self.canvases.iter().chain(targets).enumerate() {
            if images.get(image).is_some() {
                let name = format!("{}step {}, picture {index}", self.name, self.steps);
                pictures::record(&name, self.headless.read_image(image).bytes);
            }
        }
    }

    /// Whether the file of an image is still looked for. When it is missing, blurs say so.
    fn is_loading(&self) -> bool {
        let server = self.headless.app.world().resource::<AssetServer>();
        self.images.iter().any(|image| server.load_state(image).is_loading())
    }

    /// Runs frames until nothing changes any more, without any message in the log.
    pub fn settle(&mut self) {
        while self.is_loading() {
            self.run(1);
        }
        self.run(4);
        let _ = self.messages.news();
        if self.is_lockstep() {
            self.headless.warm_up();
            self.frames += 10;
        } else {
            self.run(10);
        }
        let news = self.messages.news();
        assert!(news.is_empty(), "logged while nothing happens: {news:#?}");
        faults::assert_none(&self.headless.app);
    }

    /// Despawns everything, and waits until it has disappeared.
    pub fn clear(&mut self) {
        let entities = [&mut self.cameras, &mut self.blurs, &mut self.glass].map(core::mem::take);
        let readers = core::mem::take(&mut self.readers);
        for entity in entities.into_iter().flatten().chain(readers) {
            self.world().try_despawn(entity).ok();
        }
        self.images.clear();
        self.canvases.clear();
        self.recorded.clear();
        self.world().resource_mut::<WantedRecordings>().0.clear();
        self.multisampled.clear();
        self.world().resource_mut::<Last>().0.clear();
        self.draw_one_more();
        self.run(16);
        let device = self.headless.app.world().resource::<RenderDevice>().clone();
        let _ = device.poll(wgpu::PollType::wait_indefinitely());
        faults::assert_none(&self.headless.app);
    }

    /// Bevy's tonemapping and upscaling keep the textures of the camera that they drew last, so the last one is always
    /// the same.
    fn draw_one_more(&mut self) {
        let View { camera, .. } = View::new(&mut self.headless, Kind::Core2d, UVec2::splat(8), LDR);
        self.world().entity_mut(camera).insert((Hdr, Tonemapping::Reinhard));
        self.run(2);
        self.world().despawn(camera);
    }

    fn apply(&mut self, step: &Step) {
        match *step {
            Step::AddImage(content) => {
                let image = self.headless.add_image(image(content));
                self.images.push(image);
            }
            Step::AddLoading => {
                let loading = self.world().resource::<Assets<Image>>().reserve_handle();
                self.images.push(loading);
            }
            Step::AddMissing => {
                let missing = self.world().resource::<AssetServer>().load("no such picture.png");
                self.images.push(missing);
            }
            Step::ReplaceImage(pick, content) => self.replace(picked(&self.images, pick), image(content)),
            Step::RemoveImage(pick) => self.remove(picked(&self.images, pick)),
            Step::AddCanvas(content) => {
                let canvas = self.headless.add_image(canvas(content));
                self.canvases.push(canvas);
            }
            Step::ReplaceCanvas(pick, content) => self.replace_canvas(picked(&self.canvases, pick), content),
            Step::RemoveCanvas(pick) => self.remove_canvas(picked(&self.canvases, pick)),
            Step::SpawnBlur(source, target, blur, alpha, update) => {
                let Some(image) = self.blur_image(source, target) else {
                    return;
                };
                let entity = self.spawn((blur, image.with_alpha(alpha).with_update(update)));
                self.blurs.push(entity);
            }
            Step::ChangeBlur(pick, blur) => self.insert(picked(&self.blurs, pick), blur),
            Step::WriteAgain(pick) => {
                let entity = self.any_entity(pick);
                if let Some(mut blur) = entity.and_then(|entity| self.world().get_mut::<GaussianBlur>(entity)) {
                    blur.set_changed();
                }
            }
            Step::HideImage(pick, content) => {
                let mut hidden = image(content);
                hidden.asset_usage = RenderAssetUsages::MAIN_WORLD;
                self.replace(picked(&self.images, pick), hidden);
            }
            Step::RedirectBlur(pick, source, target) => {
                let Some(image) = self.blur_image(source, target) else {
                    return;
                };
                let entity = picked(&self.blurs, pick);
                let old = entity.and_then(|entity| self.world().get::<BlurImage>(entity).cloned());
                if let Some(old) = old {
                    self.insert(entity, image.with_alpha(old.alpha).with_update(old.update));
                }
            }
            Step::ReadPixels(pick, blur) => {
                if let Some(image) = picked(&self.images, pick) {
                    self.read_pixels(image, blur);
                }
            }
            Step::Frames(count) => self.run(usize::from(count)),
            Step::Check => self.check(),
            Step::LoseDevice => faults::lose_device(&mut self.headless),
            Step::Vary(pick, ref varies) => self.vary(pick, varies),
            Step::Freeze(pick, area) => self.freeze(pick, area),
            Step::DitherBlur(pick, dithers) => {
                let entity = picked(&self.blurs, pick);
                if let Some(mut image) = entity.and_then(|entity| self.world().get_mut::<BlurImage>(entity)) {
                    image.dither = dithers;
                }
            }
            Step::CutBlur(pick, region, padding) => {
                let entity = picked(&self.blurs, pick);
                if let Some(mut image) = entity.and_then(|entity| self.world().get_mut::<BlurImage>(entity)) {
                    (image.region, image.padding) = (region, padding);
                }
            }
            Step::Despawn(pick) => self.despawn(pick),
            Step::Toggle(pick) => self.toggle(pick),
            Step::Again(pick, frames) => self.insert_again(pick, frames),
            Step::Rest => self.rest(),
            Step::Strip(pick) => self.strip(pick),
            _ => self.apply_to_views(step),
        }
    }

    /// The steps about cameras and their glass.
    fn apply_to_views(&mut self, step: &Step) {
        match *step {
            Step::SpawnCamera(new) => self.spawn_camera(&new),
            Step::ChangeCamera(pick, change) => self.change_camera(picked(&self.cameras, pick), change),
            Step::SpawnPane(pick, rect, ref glass) => {
                if let Some(camera) = picked(&self.cameras, pick) {
                    let colour = BackgroundColor(Color::linear_rgba(0.1, 0.5, 0.2, 0.3));
                    let entity = self.spawn((node(rect), UiTargetCamera(camera), colour, glass.clone()));
                    self.glass.push(entity);
                }
            }
            Step::SpawnRegion(pick, rect, corner, is_above, ref glass) => {
                let camera = picked(&self.cameras, pick).unwrap_or(Entity::PLACEHOLDER);
                let region = BackdropRegion {
                    corners: Vec4::new(corner, 0.0, 3.0, corner),
                    layer: if is_above {
                        BackdropLayer::AboveUi
                    } else {
                        BackdropLayer::BelowUi
                    },
                    ..BackdropRegion::new(camera, rect_of(rect))
                };
                let entity = self.spawn((region, glass.clone()));
                self.glass.push(entity);
            }
            _ => self.apply_to_glass(step),
        }
    }

    /// The steps about glass that exists.
    fn apply_to_glass(&mut self, step: &Step) {
        match *step {
            Step::Filter(pick, ref filter) => self.set(picked(&self.glass, pick), filter.clone()),
            Step::Bend(pick, lens) => self.set(picked(&self.glass, pick), lens),
            Step::Share(pick, shares) => self.set(picked(&self.glass, pick), shares.then_some(BackdropGroup)),
            Step::SwitchOff(frames) => {
                self.world().insert_resource(BlurSwitch::Off);
                self.run(usize::from(frames));
                self.world().insert_resource(BlurSwitch::On);
            }
            Step::Nest(child, parent) => self.nest(child, parent),
            Step::ChangeGlass(pick, ref glass) => self.insert(picked(&self.glass, pick), glass.clone()),
            Step::MoveGlass(pick, rect) => {
                let Some(entity) = picked(&self.glass, pick) else {
                    return;
                };
                let mut entity = self.world().entity_mut(entity);
                if let Some(mut region) = entity.get_mut::<BackdropRegion>() {
                    region.rect = rect_of(rect);
                } else if rect.iter().all(|side| side.abs() < 1.0e4) {
                    // Bevy's layout does not accept all numbers.
                    entity.insert(node(rect));
                }
            }
            _ => self.apply_to_recorder(step),
        }
    }

    /// Makes one node the child of another, unless the parent is inside the child.
    fn nest(&mut self, child: Pick, parent: Pick) {
        let [child, parent] = [child, parent].map(|pick| picked(&self.glass, pick));
        let (Some(child), Some(parent)) = (child, parent) else {
            return;
        };
        let world = self.world();
        let are_nodes = [child, parent]
            .iter()
            .all(|entity| world.get::<Node>(*entity).is_some());
        let above = |entity: &Entity| world.get::<ChildOf>(*entity).map(ChildOf::parent);
        let is_inside = core::iter::successors(Some(parent), above).any(|entity| entity == child);
        if are_nodes && !is_inside {
            world.entity_mut(child).insert(ChildOf(parent));
        }
    }

    fn spawn(&mut self, components: impl Bundle) -> Entity {
        self.spawned += 1;
        let name = Name::new(format!("{}{}", self.name, self.spawned));
        self.world().spawn((name, components)).id()
    }

    pub fn insert(&mut self, entity: Option<Entity>, components: impl Bundle) {
        if let Some(entity) = entity {
            self.world().entity_mut(entity).insert(components);
        }
    }

    /// Gives an entity a component, or removes it.
    fn set<C: Component>(&mut self, entity: Option<Entity>, component: Option<C>) {
        match (entity, component) {
            (Some(entity), None) => {
                self.world().entity_mut(entity).remove::<C>();
            }
            (entity, Some(component)) => self.insert(entity, component),
            (None, None) => {}
        }
    }

    pub fn replace(&mut self, image: Option<Handle<Image>>, with: Image) {
        if let Some(image) = image {
            let mut images = self.world().resource_mut::<Assets<Image>>();
            // A removed asset is added again.
            let _ = images.insert(image.id(), with);
        }
    }

    pub fn remove(&mut self, image: Option<Handle<Image>>) {
        if let Some(image) = image {
            self.world().resource_mut::<Assets<Image>>().remove(image.id());
        }
    }

    /// A camera, an image blur or glass.
    fn any_entity(&self, pick: Pick) -> Option<Entity> {
        let all = [&self.cameras, &self.blurs, &self.glass].into_iter().flatten();
        picked(&all.copied().collect::<Vec<Entity>>(), pick)
    }

    fn vary(&mut self, pick: Pick, varies: &Varies) {
        let entity = self.any_entity(pick);
        let profile = match varies {
            Varies::Not => {
                if let Some(entity) = entity {
                    self.world().entity_mut(entity).remove::<BlurProfile>();
                }
                return;
            }
            Varies::As(profile) => profile.clone(),
            Varies::Mask(image) => BlurProfile::Mask(self.source(*image).unwrap_or_default()),
        };
        self.insert(entity, profile);
    }

    fn freeze(&mut self, pick: Pick, area: Option<FreezeArea>) {
        let Some(entity) = self.any_entity(pick) else {
            return;
        };
        let mut entity = self.world().entity_mut(entity);
        entity.remove::<FreezeBlur>();
        if let Some(area) = area {
            entity.insert((FreezeBlur, area));
        }
    }

    fn despawn(&mut self, pick: Pick) {
        let Some(entity) = self.any_entity(pick) else {
            return;
        };
        self.world().despawn(entity);
        // A node takes its children along.
        let world = self.headless.app.world();
        for list in [&mut self.cameras, &mut self.blurs, &mut self.glass] {
            list.retain(|other| world.get_entity(*other).is_ok());
        }
    }

    /// Bevy 0.19 goes on rendering cameras that are disabled, so they are left out.
    fn toggle(&mut self, pick: Pick) {
        let all: Vec<Entity> = self.blurs.iter().chain(&self.glass).copied().collect();
        let Some(entity) = picked(&all, pick) else {
            return;
        };
        self.rename(entity);
        let is_disabled = self.is_disabled(entity);
        self.set(Some(entity), (!is_disabled).then_some(Disabled));
    }

    /// What starts over may fail again, and say so again.
    fn rename(&mut self, entity: Entity) {
        self.spawned += 1;
        let name = Name::new(format!("{}{}", self.name, self.spawned));
        self.insert(Some(entity), name);
    }

    pub fn is_disabled(&self, entity: Entity) -> bool {
        self.headless.app.world().get::<Disabled>(entity).is_some()
    }

    fn insert_again(&mut self, pick: Pick, frames: u8) {
        let Some(entity) = self.any_entity(pick) else {
            return;
        };
        let mut one = self.world().entity_mut(entity);
        let strength = one.take::<GaussianBlur>();
        let image = one.take::<BlurImage>();
        let glass = one.take::<BackdropBlur>();
        self.run(usize::from(frames));
        self.rename(entity);
        let mut one = self.world().entity_mut(entity);
        // In another order than they had.
        let _ = glass.map(|glass| _ = one.insert(glass));
        let _ = image.map(|image| _ = one.insert(image));
        let _ = strength.map(|strength| _ = one.insert(strength));
    }

    /// Nothing asks for frames for ever.
    fn rest(&mut self) {
        for _ in 0..MOST_FRAMES {
            self.world().resource_mut::<Asked>().0 = false;
            self.run(1);
            if !self.world().resource::<Asked>().0 {
                return;
            }
            // Files and pipelines take their time.
            sleep(Duration::from_millis(2));
        }
        panic!("every frame asks for another one");
    }

    fn strip(&mut self, pick: Pick) {
        let (camera, glass) = (picked(&self.cameras, pick), picked(&self.glass, pick));
        for entity in camera.into_iter().chain(glass) {
            self.world()
                .entity_mut(entity)
                .remove::<(GaussianBlur, BackdropBlur, UiFilter)>();
        }
        if let Some(blur) = picked(&self.blurs, pick) {
            self.world().entity_mut(blur).remove::<(GaussianBlur, BlurImage)>();
            self.blurs.retain(|other| *other != blur);
            self.world().despawn(blur);
        }
    }

    /// The image that a step names.
    fn source(&mut self, source: Source) -> Option<Handle<Image>> {
        match source {
            Source::Image(pick) => picked(&self.images, pick),
            Source::Canvas(pick) => picked(&self.canvases, pick),
            Source::TargetOf(pick) => {
                let entity = picked(&self.blurs, pick)?;
                self.world().get::<BlurImage>(entity)?.target.clone()
            }
        }
    }

    fn blur_image(&mut self, source: Source, target: Target) -> Option<BlurImage> {
        let source = self.source(source)?;
        let target = match target {
            Target::Own => return Some(BlurImage::new(source)),
            Target::InPlace => source.clone(),
            Target::Image(pick) => picked(&self.images, pick)?,
            Target::Canvas(pick) => picked(&self.canvases, pick)?,
        };
        Some(BlurImage::new(source).with_target(target))
    }

    fn read_pixels(&mut self, image: Handle<Image>, blur: GaussianBlur) {
        let name = Name::new(self.name.clone());
        let mut commands = self.world().commands();
        let entity = commands.blur_for_pixels(blur, BlurImage::new(image)).insert(name).id();
        self.world().flush();
        self.readers.push(entity);
    }
}
