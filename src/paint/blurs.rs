//! The blurs of all schedules, from frame to frame.
//!
//! Everything is prepared before anything is drawn: a system that draws items of a phase borrows the whole world, so it can
//! change nothing. All blurs leave their last steps to the shader that paints, so these write only visible pixels.
//!
//! The blurs of a batch that do not vary are items of one job. A backdrop or a layer that varies has its own job, and so has each
//! frozen backdrop, which reads the picture that it has kept.

use super::frozen::FrozenBackdrops;
use super::inputs::{CameraInputs, PaintInputs};
use super::pipelines::PaintPipelines;
use super::plan_cameras::{CameraSchedule, Schedules};
use crate::errors::BlurError;
use crate::formats::{CameraPicture, CameraPictureItem, Ends};
use crate::freeze::{Frozen, Losses, Wanted};
use crate::gpu::{BlurIo, BlurJob, BlurPreparer, BlurRequest, Deferred, PageSet, Work};
use crate::plan::Finish;
use crate::plan::batch::BatchedBlur;
use crate::schedule::{
    Batch, Filter, Levels, Member, Placed, Shared, Source, Surface, SurfaceId, as_texels, item_of, moved, share,
};
use crate::sigma_field::SigmaField;
use bevy::ecs::entity::EntityHashSet;
use bevy::math::{Affine2, IRect, URect};
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::render_resource::TextureView;
use bevy::render::view::ViewTarget;
use std::sync::Arc;

/// The blurs of all cameras. Recreated with the render device.
#[derive(Resource, Default)]
pub struct BlurTasks {
    tasks: HashMap<TaskKey, Task>,
    /// Where the blurs of this frame are, by the index of the camera.
    cameras: Vec<CameraTasks>,
    /// The backdrops that were blurred together with others in the last frame.
    were_grouped: EntityHashSet,
}

/// What distinguishes a task from others, from frame to frame. Cameras are the render world's entities, all others the main world's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum TaskKey {
    /// Backdrops, the first of which is this one.
    Glass(Entity),
    /// A backdrop whose sigma varies.
    Varying(Entity),
    /// A frozen backdrop.
    Frozen(Entity),
    /// The layers on a page of a camera.
    Page(Entity, u32, usize),
    /// The layers of a surface with a turn.
    Turn(Entity, SurfaceId),
    /// The layer of a group whose sigma varies.
    Group(Entity),
}

/// A blur from frame to frame.
#[derive(Default)]
struct Task {
    job: BlurJob,
    items: Option<Arc<[BatchedBlur]>>,
    /// The number of its freeze, if it is frozen.
    frozen: Option<u64>,
    is_used: bool,
    /// Whether it can be encoded in this frame.
    is_ready: bool,
}

/// Where the blurs of a camera are.
#[derive(Default)]
struct CameraTasks {
    /// The task and the item of every backdrop.
    glass: Vec<Option<(TaskKey, usize)>>,
    /// The task and the item of every blurred layer.
    layers: HashMap<(SurfaceId, usize), (TaskKey, usize)>,
    /// The tasks of every batch.
    batches: Vec<Vec<TaskKey>>,
}

impl BlurTasks {
    /// The last step that the blur of a backdrop leaves to the glass. `None` if the blur cannot be encoded.
    #[must_use]
    pub fn of_glass(&self, camera: usize, backdrop: usize) -> Option<Deferred<'_>> {
        self.deferred((*self.cameras.get(camera)?.glass.get(backdrop)?)?)
    }

    /// The same for a layer of a surface.
    #[must_use]
    pub fn of_layer(&self, camera: usize, surface: SurfaceId, layer: usize) -> Option<Deferred<'_>> {
        self.deferred(*self.cameras.get(camera)?.layers.get(&(surface, layer))?)
    }

    fn deferred(&self, (key, item): (TaskKey, usize)) -> Option<Deferred<'_>> {
        let task = self.tasks.get(&key).filter(|task| task.is_ready)?;
        task.job.deferred(item)
    }

    /// The blurs of a batch that can be encoded.
    pub fn of_batch(&self, camera: usize, batch: usize) -> impl Iterator<Item = &BlurJob> {
        let batches = self.cameras.get(camera).and_then(|camera| camera.batches.get(batch));
        let tasks = batches.into_iter().flatten().filter_map(|key| self.tasks.get(key));
        tasks.filter(|task| task.is_ready).map(|task| &task.job)
    }

    /// Whether the blur of a backdrop reads a picture that has been taken before this frame.
    #[must_use]
    pub fn is_kept(&self, camera: usize, backdrop: usize) -> bool {
        let place = self.cameras.get(camera).and_then(|camera| *camera.glass.get(backdrop)?);
        matches!(place, Some((TaskKey::Frozen(_), _)))
    }

    fn start(&mut self, cameras: usize) {
        self.tasks.values_mut().for_each(|task| task.is_used = false);
        self.cameras.clear();
        self.cameras.resize_with(cameras, default);
    }

    /// Drops the tasks that this frame does not use, with everything that they hold.
    fn finish(&mut self, inputs: &PaintInputs) {
        self.tasks.retain(|_, task| task.is_used);
        self.were_grouped.clear();
        for (tasks, camera) in self.cameras.iter().zip(&inputs.cameras) {
            for (place, backdrop) in tasks.glass.iter().zip(&camera.backdrops) {
                if let Some((key @ TaskKey::Glass(_), _)) = place
                    && self.tasks.get(key).is_some_and(|task| task.is_ready)
                {
                    self.were_grouped.insert(backdrop.entity);
                }
            }
        }
    }

    /// A new task of a backdrop that had another one, or was blurred together with others. It shows the same profile until its mask
    /// is loaded.
    fn going_on(&self, from: TaskKey, backdrop: Entity) -> Task {
        let job = match self.tasks.get(&from) {
            None if self.were_grouped.contains(&backdrop) => BlurJob::after_uniform(),
            other => BlurJob::after(other.map(|other| &other.job)),
        };
        Task { job, ..default() }
    }
}

impl Task {
    /// The items behind a pointer, which changes only when they do.
    fn batch_of(&mut self, asked: &[BatchedBlur]) -> Arc<[BatchedBlur]> {
        match &self.items {
            Some(items) if **items == *asked => items.clone(),
            _ => self.items.insert(asked.into()).clone(),
        }
    }

    /// Logs a failure if it is new, and returns it. `of` is what fails.
    fn update(
        &mut self,
        (of, entity): (&str, Entity),
        request: BlurRequest,
        sources: &[&TextureView],
        preparer: &mut BlurPreparer,
    ) -> Result<(), BlurError> {
        let updated = self.job.update(preparer, request);
        if let Err(error) = &updated {
            error!("the {of} of entity {entity}: {error}");
        }
        self.is_used = true;
        self.is_ready = self.job.bind(preparer, sources);
        updated.map(drop)
    }
}

const GLASS: &str = "glass";
const FILTER: &str = "UiFilter";

/// Updates the blurs of all cameras.
pub fn update_blurs(
    cameras: Query<(&ViewTarget, CameraPicture)>,
    (inputs, schedules): (Res<PaintInputs>, Res<Schedules>),
    (mut frozen, losses): (ResMut<FrozenBackdrops>, Res<Losses>),
    pipelines: Res<PaintPipelines>,
    mut tasks: ResMut<BlurTasks>,
    mut preparer: BlurPreparer,
) {
    tasks.start(inputs.cameras.len());
    for (index, (camera, planned)) in inputs.cameras.iter().zip(&schedules.cameras).enumerate() {
        let Ok((target, picture)) = cameras.get(camera.picture.camera) else {
            continue;
        };
        if pipelines.mixes(target.main_texture_format()).is_none() {
            continue;
        }
        let mut updated = Updated {
            inputs: camera,
            planned,
            target,
            tasks: &mut tasks,
            found: CameraTasks {
                glass: vec![None; camera.backdrops.len()],
                ..default()
            },
            preparer: &mut preparer,
        };
        for (index, placed) in planned.schedule.glass() {
            updated.frozen((index, placed), &picture, &mut frozen, &losses);
        }
        for batch in &planned.schedule.batches {
            let keys = updated.batch(batch);
            updated.found.batches.push(keys);
        }
        let found = updated.found;
        tasks.cameras[index] = found;
    }
    tasks.finish(&inputs);
}

/// The update of a camera's tasks.
struct Updated<'a, 'w> {
    inputs: &'a CameraInputs,
    planned: &'a CameraSchedule,
    target: &'a ViewTarget,
    tasks: &'a mut BlurTasks,
    found: CameraTasks,
    preparer: &'a mut BlurPreparer<'w>,
}

impl<'a> Updated<'a, '_> {
    /// Updates a batch. Returns the keys of its tasks.
    fn batch(&mut self, batch: &Batch) -> Vec<TaskKey> {
        let members = self.planned.schedule.members(batch);
        let glass = members.iter().filter_map(|member| match member {
            Member::Backdrop(backdrop) => Some(*backdrop),
            Member::Layer(..) => None,
        });
        let glass: Vec<usize> = glass.collect();
        let mut keys = Vec::new();
        if !glass.is_empty() {
            self.glass(&glass, batch, &mut keys);
        }
        let layers = members.iter().filter_map(|member| match member {
            Member::Layer(surface, layer) => Some((*surface, *layer)),
            Member::Backdrop(_) => None,
        });
        let layers: Vec<(SurfaceId, usize)> = layers.collect();
        if let (Source::Page(depth, page), Some((first, _))) = (batch.from, layers.first().copied()) {
            self.layers(&layers, (depth, page), batch.levels, first, &mut keys);
        }
        keys
    }

    fn glass(&mut self, glass: &[usize], batch: &Batch, keys: &mut Vec<TaskKey>) {
        for index in glass {
            let (backdrop, Some(placed)) = (&self.inputs.backdrops[*index], &self.planned.schedule.placed[*index])
            else {
                continue;
            };
            if let Some((key, _)) = self.found.glass[*index] {
                keys.push(key);
            } else if let Some(field) = backdrop.field.as_ref().filter(|_| backdrop.blurs()) {
                let Some(source) = self.source(batch.from, placed) else {
                    continue;
                };
                let key = TaskKey::Varying(backdrop.entity);
                if !self.tasks.tasks.contains_key(&key) {
                    let new = self.tasks.going_on(TaskKey::Frozen(backdrop.entity), backdrop.entity);
                    self.tasks.tasks.insert(key, new);
                }
                let work = Work::blur(backdrop.sigma, backdrop.edge, Some(field.clone()));
                let request = self.request(&source, work, placed.region.reads);
                let task = self.tasks.tasks.entry(key).or_default();
                let updated = task.update((GLASS, backdrop.entity), request, &source.views, self.preparer);
                keys.push(key);
                // Until its own job can be encoded, a backdrop stays in the group that it was in.
                if updated.is_ok() && task.is_ready || !self.tasks.were_grouped.contains(&backdrop.entity) {
                    self.found.glass[*index] = Some((key, 0));
                }
            }
        }
        let is_grouped = |index: &&usize| self.found.glass[**index].is_none();
        let grouped: Vec<usize> = glass.iter().filter(is_grouped).copied().collect();
        let (inputs, planned) = (self.inputs, self.planned);
        let places = |index: &usize| Some((&inputs.backdrops[*index], planned.schedule.placed[*index].as_ref()?));
        let Some((leader, placed)) = grouped.first().and_then(places) else {
            return;
        };
        let Some(source) = self.source(batch.from, placed) else {
            return;
        };
        let Shared { items, item_of } = share(grouped.iter().filter_map(places));
        let key = TaskKey::Glass(leader.entity);
        let items = self.tasks.tasks.entry(key).or_default().batch_of(&items);
        let request = self.request(&source, Work::Batch(levels(batch.levels), items), self.whole());
        let task = self.tasks.tasks.entry(key).or_default();
        // A failure is logged.
        let _ = task.update((GLASS, leader.entity), request, &source.views, self.preparer);
        keys.push(key);
        for (index, item) in grouped.iter().zip(item_of) {
            self.found.glass[*index] = Some((key, item));
        }
    }

    /// Updates the task that blurs a frozen backdrop's picture. If the picture is lost, or the pipeline that fits it to the
    /// camera is missing, the backdrop is blurred as if it were not frozen.
    fn frozen(
        &mut self,
        (index, placed): (usize, &Placed),
        picture: &CameraPictureItem,
        frozen: &mut FrozenBackdrops,
        losses: &Losses,
    ) {
        let backdrop = &self.inputs.backdrops[index];
        let Some(freeze) = backdrop.freeze else {
            return;
        };
        let Some(frozen) = frozen.picture_of(backdrop.entity) else {
            return;
        };
        let wanted = Wanted::new(self.target, picture, self.inputs.picture.seen());
        let area = freeze.taken.or(placed.region.sees).unwrap_or(placed.region.reads);
        let room = frozen.room(self.target.main_texture(), wanted, area, self.preparer);
        let fitted = room.and_then(|room| room.map_or(Ok(None), |kept| kept.fitted(wanted, picture, self.preparer)));
        let (sheet, area) = match fitted {
            Ok(Some(fitted)) => fitted,
            Ok(None) => return,
            Err(error) => {
                *frozen = Frozen::Lost;
                losses.push((backdrop.entity, freeze.number), error);
                return;
            }
        };
        // Nothing of it is visible: it only takes its picture.
        if placed.region.painted.is_empty() {
            return;
        }
        let key = TaskKey::Frozen(backdrop.entity);
        if self
            .tasks
            .tasks
            .get(&key)
            .is_none_or(|task| task.frozen != Some(freeze.number))
        {
            let new = Task {
                frozen: Some(freeze.number),
                ..self.tasks.going_on(TaskKey::Varying(backdrop.entity), backdrop.entity)
            };
            self.tasks.tasks.insert(key, new);
        }
        let task = self.tasks.tasks.entry(key).or_default();
        let (work, bounds) = match &backdrop.field {
            Some(field) if backdrop.blurs() => (
                Work::blur(backdrop.sigma, backdrop.edge, Some(field.clone())),
                placed.region.reads,
            ),
            _ => {
                let items = task.batch_of(&[item_of(backdrop, placed)]);
                let whole = URect::from_corners(UVec2::ZERO, self.inputs.picture.size);
                (Work::Batch(levels(Levels::Glass), items), whole)
            }
        };
        let source = SourceOf {
            views: [&sheet.view; 2],
            size: sheet.size(),
            at: area.min,
        };
        let mut request = self.request(&source, work, bounds);
        request.io.target = sheet.texture.id();
        request.keeps = Some(freeze.revision);
        let task = self.tasks.tasks.entry(key).or_default();
        let updated = task.update((GLASS, backdrop.entity), request, &[&sheet.view], self.preparer);
        if let Err(error @ BlurError::OutOfMemory { .. }) = updated {
            *frozen = Frozen::Lost;
            losses.push((backdrop.entity, freeze.number), error);
            return;
        }
        self.found.glass[index] = Some((key, 0));
    }

    fn layers(
        &mut self,
        layers: &[(SurfaceId, usize)],
        (depth, page): (u32, usize),
        at: Levels,
        first: SurfaceId,
        keys: &mut Vec<TaskKey>,
    ) {
        let Some(view) = self.planned.page(depth, page) else {
            return;
        };
        let source = SourceOf::page(view, UVec2::ZERO);
        let mut items = Vec::new();
        let camera = self.inputs.picture.camera;
        let key = match at {
            Levels::Page(depth, page) => TaskKey::Page(camera, depth, page),
            Levels::Glass | Levels::Shared(_) => TaskKey::Turn(camera, first),
        };
        for (id, index) in layers {
            let surface = self.planned.schedule.tree.surface(*id);
            let (filter, layer) = (&self.inputs.filters[surface.filter], &surface.layers[*index]);
            if layer.is_batched() {
                self.found.layers.insert((*id, *index), (key, items.len()));
                items.push(surface.item_of(layer));
            } else {
                let key = TaskKey::Group(filter.entity);
                let work = Work::blur(filter.sigma, layer.edge, field_of(filter, surface));
                let request = self.request(&source, work, on_page(surface, surface.rect));
                let task = self.tasks.tasks.entry(key).or_default();
                let _ = task.update((FILTER, filter.entity), request, &source.views, self.preparer);
                keys.push(key);
                self.found.layers.insert((*id, *index), (key, 0));
            }
        }
        if !items.is_empty() {
            let filter = &self.inputs.filters[self.planned.schedule.tree.surface(first).filter];
            let items = self.tasks.tasks.entry(key).or_default().batch_of(&items);
            let whole = URect::from_corners(UVec2::ZERO, source.size);
            let request = self.request(&source, Work::Batch(levels(at), items), whole);
            let task = self.tasks.tasks.entry(key).or_default();
            let _ = task.update((FILTER, filter.entity), request, &source.views, self.preparer);
            keys.push(key);
        }
    }

    /// All texels of the camera's picture.
    fn whole(&self) -> URect {
        URect::from_corners(UVec2::ZERO, self.inputs.picture.size)
    }

    /// What glass reads, `None` if it is missing. All glass of a batch is on one picture, so any of it will do.
    fn source(&self, from: Source, placed: &Placed) -> Option<SourceOf<'a>> {
        match from {
            Source::Seen => Some(SourceOf::page(
                self.planned.seen.as_ref()?,
                placed.region.looks_at().min,
            )),
            Source::Camera | Source::Page(..) => Some(SourceOf {
                // Either texture of a camera may be the current one: blurs that run before this one may flip the pair.
                views: [self.target.main_texture_other_view(), self.target.main_texture_view()],
                size: self.inputs.picture.size,
                at: UVec2::ZERO,
            }),
        }
    }

    /// A blur of what has been painted so far.
    fn request(&self, source: &SourceOf, work: Work, bounds: URect) -> BlurRequest {
        BlurRequest {
            io: BlurIo {
                ends: Ends::of_camera(self.target.main_texture_format(), self.inputs.picture.is_light),
                target: self.target.main_texture().id(),
                // It is painted again in every frame.
                source_is_fresh: true,
            },
            work,
            finish: Finish::Defer,
            region: bounds,
            bounds,
            source_size: source.size,
            source_at: source.at.as_ivec2(),
            keeps: None,
        }
    }
}

/// The texture that a blur reads.
struct SourceOf<'a> {
    views: [&'a TextureView; 2],
    size: UVec2,
    /// The texel of the camera's picture, or of the page, that is its first one.
    at: UVec2,
}

impl<'a> SourceOf<'a> {
    fn page(view: &'a TextureView, at: UVec2) -> Self {
        let texture = view.texture();
        Self {
            views: [view; 2],
            size: UVec2::new(texture.width(), texture.height()),
            at,
        }
    }
}

/// The pages that hold the levels of a batch.
fn levels(levels: Levels) -> PageSet {
    match levels {
        Levels::Glass => PageSet("glass", [0; 2]),
        Levels::Shared(batch) => PageSet("glass that shares", [batch as u32, 0]),
        Levels::Page(depth, page) => PageSet("blurs of groups", [depth, page as u32]),
    }
}

/// The share of sigma that each texel of the page gets.
fn field_of(filter: &Filter, surface: &Surface) -> Option<SigmaField> {
    let profile = filter.profile.as_ref()?;
    let placement = Affine2::from_translation(surface.to_page().as_vec2()) * profile.placement;
    SigmaField::new(Some(&profile.profile), profile.size, placement)
}

/// Pixels of the viewport as texels of the page that a surface lies on.
fn on_page(surface: &Surface, pixels: IRect) -> URect {
    as_texels(moved(pixels, surface.to_page()))
}
