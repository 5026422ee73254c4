//! Random histories of image blurs through the systems of the main world, with a [render world of symbols](super::renderer).
//! Whatever happened, the end must be the same as if it had been so from the start.

use super::super::blurred::{self, Fitted, ImageBlurs};
use super::super::change_detection::{follow_images, report_outcomes};
use super::super::request::{Outcomes, Requests};
use super::renderer::{Extracted, Renderer, Snapshot, Verdict};
use super::steps::{Random, SLOTS, Step};
use crate::errors::BlurError;
use crate::gpu::ViewInfo;
use crate::image_changes::{self, ImageChanges, watch_images};
use crate::settings::{BlurFinished, BlurImage, BlurProfile, BlurUpdate, GaussianBlur};
use crate::systems::BlurSystems;
use bevy::asset::{AssetEventSystems, AssetPlugin, RenderAssetUsages};
use bevy::ecs::entity::EntityHashSet;
use bevy::ecs::entity_disabling::Disabled;
use bevy::ecs::message::MessageCursor;
use bevy::ecs::schedule::{ScheduleLabel, SingleThreadedExecutor};
use bevy::image::ToExtents;
use bevy::prelude::*;
use bevy::render::render_resource::{TextureDimension, TextureFormat, TextureUsages};
use std::num::NonZero;
use std::thread::{available_parallelism, scope};

/// How many histories the suite walks. `scripts/soak` walks more: `BLUR_WALKS` sets the number, `BLUR_WALK_SEED` the first one.
const FEW: u64 = 10_000;
const MOST_STEPS: u64 = 60;

/// What another crate disables entities with.
#[derive(Component)]
struct Pooled;

/// A device that can make all textures.
fn any_texture(shown: ViewInfo) -> Result<Option<(TextureFormat, TextureUsages)>, BlurError> {
    Ok(Some((shown.format, TextureUsages::RENDER_ATTACHMENT)))
}

fn fit_targets(
    blurs: Query<Fitted, With<GaussianBlur>>,
    known: ResMut<ImageBlurs>,
    images: ResMut<Assets<Image>>,
    changes: Res<ImageChanges>,
    unfitted: Local<[Vec<Entity>; 2]>,
) {
    blurred::fit(blurs, known, images, &changes, &any_texture, unfitted);
}

/// The events since the last look.
#[derive(Resource, Default)]
struct Heard(Vec<BlurFinished>);

/// An app in the middle of a history.
pub struct Walk {
    pub app: App,
    pub renderer: Renderer,
    images: MessageCursor<AssetEvent<Image>>,
    pub handles: Vec<Handle<Image>>,
    pub slots: [Option<Entity>; SLOTS],
    /// The frame that renders while the main world is in the next one.
    rendering: Option<Snapshot>,
    /// Blurs that read what was written after them, because they were in a cycle when they ran last.
    pub cyclic: EntityHashSet,
    /// Blurs that are in a cycle in this frame.
    pub in_cycles: EntityHashSet,
    pub is_pipelined: bool,
    loses_device: bool,
}

fn update_of(number: u8) -> BlurUpdate {
    [BlurUpdate::OnChange, BlurUpdate::EveryFrame, BlurUpdate::Once][usize::from(number % 3)]
}

fn picture(side: u32, pixels: u8) -> Image {
    let size = UVec2::splat(side);
    let mut image = Image::new_uninit(
        size.to_extents(),
        TextureDimension::D2,
        TextureFormat::R8Unorm,
        RenderAssetUsages::default(),
    );
    image.data = Some(vec![pixels; size.element_product() as usize]);
    image.texture_descriptor.usage |= TextureUsages::RENDER_ATTACHMENT;
    image
}

impl Walk {
    fn new() -> Self {
        let mut app = App::new();
        app.add_plugins((TaskPoolPlugin::default(), AssetPlugin::default(), image_changes::plugin))
            .init_asset::<Image>()
            .init_resource::<ImageBlurs>()
            .init_resource::<Outcomes>()
            .init_resource::<Requests>()
            .init_resource::<Heard>()
            .add_observer(blurred::forget_image)
            .add_observer(blurred::forget_strength)
            .add_observer(|event: On<BlurFinished>, mut heard: ResMut<Heard>| heard.0.push(*event))
            .add_systems(PreUpdate, report_outcomes)
            .add_systems(
                PostUpdate,
                (
                    fit_targets.before(AssetEventSystems),
                    follow_images.after(watch_images).in_set(BlurSystems::Collect),
                ),
            );
        app.world_mut().register_disabling_component::<Pooled>();
        // Threads would take longer than the systems.
        for label in [PreUpdate.intern(), PostUpdate.intern()] {
            app.edit_schedule(label, |schedule| {
                _ = schedule.set_executor(SingleThreadedExecutor::new())
            });
        }
        app.finish();
        app.cleanup();
        Self {
            app,
            renderer: Renderer::default(),
            images: MessageCursor::default(),
            handles: Vec::new(),
            slots: [None; SLOTS],
            rendering: None,
            cyclic: EntityHashSet::default(),
            in_cycles: EntityHashSet::default(),
            is_pipelined: false,
            loses_device: false,
        }
    }

    pub fn known(&self) -> &ImageBlurs {
        self.app.world().resource::<ImageBlurs>()
    }

    /// Walks a history. Returns what is wrong.
    fn walk(&mut self, steps: &[Step], is_pipelined: bool) -> Result<(), String> {
        self.begin(is_pipelined);
        for step in steps {
            self.step(*step)?;
        }
        (self.renderer.late_pixels, self.renderer.late_pipelines) = (0, 0);
        // As long as a chain, and as reports take.
        let mut asked = 0;
        for _ in 0..SLOTS + 5 {
            self.frame()?;
            asked += usize::from(self.app.world().resource::<Requests>().are_awaited);
        }
        if self.app.world().resource::<Requests>().are_awaited {
            return Err(format!("{asked} frames ask for another one, and the last does, too"));
        }
        for slot in 0..SLOTS {
            self.check(slot).map_err(|fault| format!("slot {slot}: {fault}"))?;
        }
        self.end()
    }

    fn begin(&mut self, is_pipelined: bool) {
        self.is_pipelined = is_pipelined;
        self.renderer = Renderer::default();
        self.app.world().resource::<Outcomes>().start_over();
        let mut images = self.app.world_mut().resource_mut::<Assets<Image>>();
        self.handles = (0..SLOTS)
            .map(|index| images.add(picture(1 + index as u32 % 2, index as u8 + 1)))
            .collect();
    }

    /// Removes everything. Nothing may be left.
    fn end(&mut self) -> Result<(), String> {
        for entity in self.slots.iter_mut().filter_map(Option::take) {
            self.app.world_mut().despawn(entity);
        }
        self.handles.clear();
        for _ in 0..4 {
            self.frame()?;
        }
        let world = self.app.world();
        let left = [
            self.known().len(),
            world.resource::<Requests>().live.len() + world.resource::<Requests>().owned.len(),
            world.resource::<ImageChanges>().len(),
            world.resource::<Assets<Image>>().len(),
            self.renderer.job_count(),
        ];
        if left == [0; 5] {
            Ok(())
        } else {
            Err(format!("{left:?} blurs, living, numbers, images and jobs are left"))
        }
    }

    fn frame(&mut self) -> Result<(), String> {
        let world = self.app.world_mut();
        world.run_schedule(PreUpdate);
        world.run_schedule(PostUpdate);
        world.resource_mut::<Messages<AssetEvent<Image>>>().update();
        self.check_frame()?;
        let outcomes = self.app.world().resource::<Outcomes>().clone();
        if let Some(before) = self.rendering.take() {
            self.renderer.render(before, &outcomes);
        }
        let snapshot = self.extract();
        if self.is_pipelined {
            self.rendering = Some(snapshot);
        } else {
            self.renderer.render(snapshot, &outcomes);
        }
        self.app.world_mut().clear_trackers();
        self.note_cycles();
        match self.renderer.faults.pop() {
            Some(fault) => Err(fault),
            None => Ok(()),
        }
    }

    fn extract(&mut self) -> Snapshot {
        let world = self.app.world();
        let images = world.resource::<Assets<Image>>();
        let look = |id: AssetId<Image>| {
            let found = images
                .get(id)
                .map(|image| (image.size(), image.data.as_ref().map(|data| data[0])));
            (id, found)
        };
        let is_device_lost = core::mem::take(&mut self.loses_device);
        let mut events: Vec<Extracted> = Vec::new();
        for event in self.images.read(world.resource::<Messages<AssetEvent<Image>>>()) {
            match *event {
                AssetEvent::Added { id } | AssetEvent::Modified { id } if images.contains(id) => events.push(look(id)),
                AssetEvent::Unused { id } => events.push((id, None)),
                // The GPU keeps what was removed.
                _ => {}
            }
        }
        if is_device_lost {
            events = images.ids().map(look).collect();
        }
        let mut requests = Requests::default();
        requests.copy_from(world.resource::<Requests>());
        Snapshot {
            requests,
            images: events,
            is_device_lost,
        }
    }

    /// What must hold in every frame.
    fn check_frame(&mut self) -> Result<(), String> {
        let heard = core::mem::take(&mut self.app.world_mut().resource_mut::<Heard>().0);
        let (known, requests) = (self.known(), self.app.world().resource::<Requests>());
        for event in heard {
            let Some(blur) = known.any(event.entity) else {
                continue;
            };
            if event.revision > blur.revision {
                return Err(format!("{event:?} is of another blur: {:?}", blur.revision));
            }
        }
        let mut written: Vec<AssetId<Image>> = requests.ordered.iter().map(|request| request.spec.target).collect();
        written.sort();
        if written.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err("two blurs write one image".to_owned());
        }
        for request in &requests.ordered {
            let Some(blur) = known.get(request.id.entity) else {
                return Err(format!("{:?} is requested, and was not seen", request.id));
            };
            let is_late = self.renderer.verdicts.get(&request.id) == Some(&Verdict::IsLate);
            // What only the GPU has may be lost.
            let mut named = request.spec.inputs().chain([request.spec.target]);
            let images = self.app.world().resource::<Assets<Image>>();
            let waits = request.feeders == [None; 2] && named.all(|id| images.contains(id));
            if waits && is_late && !blur.is_settled() && !requests.are_awaited {
                return Err(format!("{:?} is late, and nothing waits for it", request.id));
            }
        }
        Ok(())
    }
}

impl Walk {
    fn step(&mut self, step: Step) -> Result<(), String> {
        match step {
            Step::Frames(count) => return (0..count).try_for_each(|_| self.frame()),
            Step::LatePixels(frames) => self.renderer.late_pixels = frames,
            Step::LatePipelines(frames) => self.renderer.late_pipelines = frames,
            Step::LoseDevice => self.loses_device = true,
            Step::Pixels { image, side, pixels } => {
                let id = self.handles[image].id();
                let mut images = self.app.world_mut().resource_mut::<Assets<Image>>();
                let _ = images.insert(id, picture(side, pixels));
            }
            Step::NoPixels(image) => {
                let id = self.handles[image].id();
                self.app.world_mut().resource_mut::<Assets<Image>>().remove(id);
            }
            Step::Spawn {
                slot,
                source,
                target,
                disabled,
            } => {
                self.step(Step::Despawn(slot))?;
                let image = self.image(source, target);
                let entity = self.app.world_mut().spawn((image, GaussianBlur::new(9.0))).id();
                self.slots[slot] = Some(entity);
                if disabled {
                    self.app.world_mut().entity_mut(entity).insert(Disabled);
                }
            }
            Step::Despawn(slot) => {
                if let Some(entity) = self.slots[slot].take() {
                    self.app.world_mut().despawn(entity);
                }
            }
            Step::Clone { slot, to } if slot != to => {
                self.step(Step::Despawn(to))?;
                let world = self.app.world_mut();
                self.slots[to] = self.slots[slot].map(|entity| world.entity_mut(entity).clone_and_spawn());
            }
            _ => self.edit(step),
        }
        Ok(())
    }

    fn image(&self, source: usize, target: usize) -> BlurImage {
        let image = BlurImage::new(self.handles[source].clone());
        match self.handles.get(target) {
            Some(target) => image.with_target(target.clone()),
            None => image,
        }
    }

    /// Changes the components of an entity.
    fn edit(&mut self, step: Step) {
        let slot = match step {
            Step::Strength { slot, .. }
            | Step::Image { slot, .. }
            | Step::Mask { slot, .. }
            | Step::Varying { slot } => slot,
            Step::NoStrength(slot) | Step::NoImage(slot) | Step::NoProfile(slot) | Step::Again(slot) => slot,
            Step::Disable { slot, .. } | Step::Enable(slot) | Step::Touch(slot) | Step::Source { slot, .. } => slot,
            Step::Chain { slot, .. } | Step::Update { slot, .. } => slot,
            _ => return,
        };
        let Some(entity) = self.slots[slot] else {
            return;
        };
        let handles = self.handles.clone();
        let new = match step {
            Step::Image {
                source, target, update, ..
            } => self.image(source, target).with_update(update_of(update)),
            Step::Chain { of, .. } => {
                let fed = self.slots[of].filter(|of| *of != entity);
                let fed = fed.and_then(|of| self.app.world().get::<BlurImage>(of)?.target.clone());
                let Some(source) = fed else {
                    return;
                };
                BlurImage::new(source)
            }
            _ => BlurImage::default(),
        };
        let mut one = self.app.world_mut().entity_mut(entity);
        let mut change = |change: &dyn Fn(&mut BlurImage)| {
            if let Some(mut image) = one.get_mut::<BlurImage>() {
                change(&mut image);
            }
        };
        match step {
            Step::Touch(_) => change(&|_| {}),
            Step::Source { image, .. } => change(&|settings| settings.source = handles[image].clone()),
            Step::Chain { .. } => change(&|settings| settings.source = new.source.clone()),
            Step::Update { update, .. } => change(&|settings| settings.update = update_of(update)),
            Step::Strength { radius, .. } => _ = one.insert(GaussianBlur::new(f32::from(radius) * 3.0)),
            Step::Image { .. } => _ = one.insert(new),
            Step::Mask { image, .. } => _ = one.insert(BlurProfile::Mask(handles[image].clone())),
            Step::Varying { .. } => {
                let (start, end) = (Vec2::ZERO, Vec2::X);
                one.insert(BlurProfile::Linear {
                    start,
                    end,
                    from: 0.0,
                    to: 1.0,
                });
            }
            Step::NoStrength(_) => _ = one.remove::<GaussianBlur>(),
            Step::NoImage(_) => _ = one.remove::<BlurImage>(),
            Step::NoProfile(_) => _ = one.remove::<BlurProfile>(),
            Step::Again(_) => {
                if let Some(image) = one.take::<BlurImage>() {
                    one.insert(image);
                }
            }
            Step::Disable { pooled: false, .. } => _ = one.insert(Disabled),
            Step::Disable { .. } => _ = one.insert(Pooled),
            Step::Enable(_) => _ = one.remove::<(Disabled, Pooled)>(),
            _ => {}
        }
    }
}

/// The shortest part of a failing history that fails, too.
fn shrink(steps: &[Step], is_pipelined: bool) -> Vec<Step> {
    let fails = |steps: &[Step]| Walk::new().walk(steps, is_pipelined).is_err();
    let mut least = steps.to_vec();
    let mut length = least.len() / 2;
    while length > 0 {
        let mut start = 0;
        while start + length <= least.len() {
            let mut fewer = least.clone();
            fewer.drain(start..start + length);
            if fails(&fewer) {
                least = fewer;
            } else {
                start += length;
            }
        }
        length /= 2;
    }
    least
}

impl Walk {
    /// Walks the history of a number.
    fn walk_case(&mut self, case: u64) {
        let mut random = Random(case.wrapping_mul(0x9E37_79B9_7F4A_7C15) + 1);
        let count = 1 + random.below(MOST_STEPS);
        let steps: Vec<Step> = (0..count).map(|_| random.step()).collect();
        let is_pipelined = random.flip();
        if let Err(fault) = self.walk(&steps, is_pipelined) {
            let least = shrink(&steps, is_pipelined);
            let fault = Self::new().walk(&least, is_pipelined).err().unwrap_or(fault);
            panic!("history {case}, pipelined: {is_pipelined}: {fault}\n{least:#?}");
        }
    }
}

#[test]
fn whatever_happens_blurs_become_what_their_components_say() {
    let number = |name, default| std::env::var(name).map_or(default, |text| text.parse().expect("a number"));
    let (first, count) = (number("BLUR_WALK_SEED", 0), number("BLUR_WALKS", FEW));
    let threads = available_parallelism().map_or(1, NonZero::get);
    scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || {
                let mut walk = Walk::new();
                let cases = (first..first + count).skip(thread).step_by(threads);
                cases.for_each(|case| walk.walk_case(case));
            });
        }
    });
}

/// Histories that ended wrongly, each with what it broke.
fn wrong_once() -> [(&'static str, Vec<Step>); 9] {
    use Step::{Chain, Clone, Disable, Enable, Frames, Image, Mask};
    use Step::{LoseDevice, NoPixels, NoProfile, NoStrength, Pixels, Source, Strength};
    let spawn = |slot, source, target| Step::Spawn {
        slot,
        source,
        target,
        disabled: false,
    };
    let pixels = |image, side| Pixels {
        image,
        side,
        pixels: 90,
    };
    let image = |slot, source, target, update| Image {
        slot,
        source,
        target,
        update,
    };
    let disable = Disable { slot: 0, pooled: false };
    [
        (
            "an image that another one took while its blur was disabled has one writer",
            vec![
                spawn(0, 0, 3),
                spawn(1, 1, 3),
                Frames(2),
                disable,
                Frames(1),
                Enable(0),
                spawn(1, 2, 3),
            ],
        ),
        (
            "a blur that failed, and now waits for a mask, is not waited for",
            vec![
                NoPixels(0),
                spawn(2, 3, 2),
                spawn(3, 2, 5),
                Frames(3),
                Mask { slot: 2, image: 0 },
                pixels(2, 1),
            ],
        ),
        (
            "a blur that failed, and now waits for another one, is not waited for",
            vec![
                NoPixels(2),
                spawn(0, 1, 0),
                Frames(1),
                spawn(3, 0, 6),
                spawn(1, 0, 6),
                image(3, 2, 1, 0),
            ],
        ),
        (
            "a strength that is inserted again has the textures of its target",
            vec![
                spawn(1, 2, 5),
                Frames(1),
                Mask { slot: 1, image: 3 },
                pixels(2, 2),
                Frames(3),
                NoStrength(1),
                Strength { slot: 1, radius: 4 },
            ],
        ),
        (
            "a blur of one that fails has a target of the size of what that one shows",
            vec![
                spawn(3, 0, 3),
                image(3, 2, 6, 1),
                Frames(2),
                spawn(0, 2, 5),
                Mask { slot: 3, image: 3 },
                Chain { slot: 0, of: 3 },
                Source { slot: 3, image: 3 },
            ],
        ),
        (
            "a blur keeps the image that the plugin allocated while it has no strength, even if a clone names that image",
            vec![
                spawn(3, 3, 7),
                Frames(2),
                Clone { slot: 3, to: 1 },
                NoStrength(3),
                NoPixels(3),
                Strength { slot: 3, radius: 3 },
            ],
        ),
        (
            "a strength that changed while a mask was missing is shown without the mask",
            vec![
                NoPixels(0),
                spawn(2, 3, 7),
                Frames(1),
                Strength { slot: 2, radius: 2 },
                Mask { slot: 2, image: 0 },
                Frames(1),
                NoProfile(2),
            ],
        ),
        (
            "a blur whose mask is missing is not waited for",
            vec![
                NoPixels(1),
                Step::Spawn {
                    slot: 3,
                    source: 1,
                    target: 0,
                    disabled: true,
                },
                spawn(0, 1, 3),
                Chain { slot: 0, of: 3 },
                Frames(1),
                spawn(2, 3, 2),
                Mask { slot: 0, image: 1 },
            ],
        ),
        (
            "an image that is blurred in place by nothing, on a new device, is blank",
            vec![
                spawn(2, 0, 5),
                Frames(3),
                Clone { slot: 2, to: 3 },
                Chain { slot: 2, of: 3 },
                LoseDevice,
                Strength { slot: 2, radius: 0 },
                Frames(1),
            ],
        ),
    ]
}

#[test]
fn histories_that_ended_wrongly_end_well() {
    for (name, steps) in wrong_once() {
        for is_pipelined in [false, true] {
            if let Err(fault) = Walk::new().walk(&steps, is_pipelined) {
                panic!("{name}, pipelined: {is_pipelined}: {fault}");
            }
        }
    }
}
