//! The blurs of all schedules, from frame to frame.
//!
//! Everything is prepared before anything is drawn: a system that draws items of a phase borrows the whole world, so it can
//! change nothing. All blurs leave their last steps to the shader that paints, so these write only visible pixels.
//!
//! The blurs of a batch that do not vary are items of one job. A backdrop or a layer that varies has its own job, and so has each
//! frozen backdrop, which reads the picture that it has kept.

use super::inputs::{PaintInputs, PaintedCamera};
use super::pipelines::PaintPipelines;
use crate::errors::BlurError;
use crate::formats::{CameraPicture, CameraPictureItem, Ends};
use crate::freeze::{FreezeId, FrozenBlur, KeptPicture, KeptPictures, Shot, Wanted};
use crate::gpu::{BlurJob, BlurPreparer, BlurRequest, Deferred, Work, texture_size};
use crate::plan::Finish;
use crate::plan::batch::BatchedBlur;
use crate::plan::pack::PageSet;
use crate::schedule::{
    Batch, Blurs, Filter, PaintTexture, Placed, Surface, SurfaceId, as_texels, item_of, moved, share,
};
use crate::settings::BlurStage;
use crate::sigma_field::SigmaField;
use bevy::ecs::entity::EntityHashSet;
use bevy::math::{Affine2, URect};
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
    /// The layers of a camera whose levels lie on these pages.
    Page(Entity, PageSet),
    /// The layer of a group whose sigma varies.
    Group(Entity),
}

/// A blur from frame to frame.
#[derive(Default)]
struct Task {
    job: BlurJob,
    items: Option<Arc<[BatchedBlur]>>,
    /// Its freeze, if it is frozen.
    freeze: Option<FreezeId>,
    is_used: bool,
    /// Whether it can be encoded in this frame.
    is_ready: bool,
}

/// Where a blur is: an item of a task.
type BlurPlace = (TaskKey, usize);

/// Where the blurs of a camera are.
#[derive(Default)]
struct CameraTasks {
    /// The blur of every backdrop.
    glass: Vec<Option<BlurPlace>>,
    /// The blur of every layer that is blurred.
    layers: Vec<Option<BlurPlace>>,
    /// The tasks of every batch.
    batches: Vec<Vec<TaskKey>>,
}

impl BlurTasks {
    /// The last step that the blur of a backdrop leaves to the glass. `None` if the blur cannot be encoded.
    pub fn of_glass(&self, camera: usize, backdrop: usize) -> Option<Deferred<'_>> {
        self.deferred((*self.cameras.get(camera)?.glass.get(backdrop)?)?)
    }

    /// The last step that the blur of a layer leaves to its draw.
    pub fn of_layer(&self, camera: usize, layer: usize) -> Option<Deferred<'_>> {
        self.deferred((*self.cameras.get(camera)?.layers.get(layer)?)?)
    }

    fn deferred(&self, (task, item): BlurPlace) -> Option<Deferred<'_>> {
        let task = self.tasks.get(&task).filter(|task| task.is_ready)?;
        task.job.deferred(item)
    }

    /// The blurs of a batch that can be encoded.
    pub fn of_batch(&self, camera: usize, batch: usize) -> impl Iterator<Item = &BlurJob> {
        let batches = self.cameras.get(camera).and_then(|camera| camera.batches.get(batch));
        let tasks = batches.into_iter().flatten().filter_map(|key| self.tasks.get(key));
        tasks.filter(|task| task.is_ready).map(|task| &task.job)
    }

    /// Whether the blur of a backdrop reads a picture that has been taken before this frame.
    pub fn is_kept(&self, camera: usize, backdrop: usize) -> bool {
        let place = self.cameras.get(camera).and_then(|camera| *camera.glass.get(backdrop)?);
        place.is_some_and(|(task, _)| matches!(task, TaskKey::Frozen(_)))
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
                if let Some(key @ TaskKey::Glass(_)) = place.map(|(task, _)| task)
                    && self.tasks.get(&key).is_some_and(|task| task.is_ready)
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
}

/// Updates the blurs of all cameras.
pub fn update_blurs(
    cameras: Query<(&ViewTarget, CameraPicture)>,
    inputs: Res<PaintInputs>,
    mut kept: ResMut<KeptPictures>,
    pipelines: Res<PaintPipelines>,
    mut tasks: ResMut<BlurTasks>,
    mut preparer: BlurPreparer,
) {
    tasks.start(inputs.cameras.len());
    for (index, camera) in inputs.cameras.iter().enumerate() {
        let Ok((target, picture)) = cameras.get(camera.picture.camera) else {
            continue;
        };
        if pipelines.mixes(target.main_texture_format()).is_none() {
            continue;
        }
        let mut updated = Updated {
            camera,
            target,
            tasks: &mut tasks,
            found: CameraTasks {
                glass: vec![None; camera.backdrops.len()],
                layers: vec![None; camera.schedule.tree.layers.len()],
                ..default()
            },
            preparer: &mut preparer,
        };
        for (index, placed) in camera.schedule.glass() {
            updated.frozen(index, placed, &picture, &mut kept);
        }
        for batch in &camera.schedule.batches {
            let keys = match &batch.blurs {
                Blurs::Glass(glass) => updated.glass(glass, batch),
                Blurs::Layers(layers) => updated.layers(layers, batch),
            };
            updated.found.batches.push(keys);
        }
        let found = updated.found;
        tasks.cameras[index] = found;
    }
    tasks.finish(&inputs);
}

/// The update of a camera's tasks.
struct Updated<'a, 'w> {
    camera: &'a PaintedCamera,
    target: &'a ViewTarget,
    tasks: &'a mut BlurTasks,
    found: CameraTasks,
    preparer: &'a mut BlurPreparer<'w>,
}

impl<'a> Updated<'a, '_> {
    /// Updates the blurs of backdrops. Returns the keys of their tasks.
    fn glass(&mut self, glass: &[usize], batch: &Batch) -> Vec<TaskKey> {
        let mut keys = Vec::new();
        for index in glass {
            let (backdrop, Some(placed)) = (&self.camera.backdrops[*index], &self.camera.schedule.placed[*index])
            else {
                continue;
            };
            if let Some((task, _)) = self.found.glass[*index] {
                keys.push(task);
            } else if let Some(field) = backdrop.field.as_ref().filter(|_| backdrop.blurs()) {
                let Some((views, copy)) = self.source(batch.from) else {
                    continue;
                };
                let key = TaskKey::Varying(backdrop.entity);
                if !self.tasks.tasks.contains_key(&key) {
                    let new = self.tasks.going_on(TaskKey::Frozen(backdrop.entity), backdrop.entity);
                    self.tasks.tasks.insert(key, new);
                }
                let request = BlurRequest {
                    work: Work::Blur {
                        sigma: backdrop.sigma,
                        edge: backdrop.edge,
                        field: Some(field.clone()),
                    },
                    region: placed.region.reads,
                    bounds: placed.region.reads,
                    source_at: -placed.to_source(),
                    ..copy
                };
                let updated = self.update(key, backdrop.entity, request, &views);
                keys.push(key);
                // Until its own job can be encoded, a backdrop stays in the group that it was in.
                if updated.is_ok() && self.task(key).is_ready || !self.tasks.were_grouped.contains(&backdrop.entity) {
                    self.found.glass[*index] = Some((key, 0));
                }
            }
        }
        let is_grouped = |index: &usize| self.found.glass[*index].is_none();
        let grouped: Vec<usize> = glass.iter().copied().filter(is_grouped).collect();
        let camera = self.camera;
        let places = |index: &usize| Some((&camera.backdrops[*index], camera.schedule.placed[*index].as_ref()?));
        if let Some((leader, _)) = grouped.first().and_then(places)
            && let Some((views, copy)) = self.source(batch.from)
        {
            let (items, places) = share(grouped.iter().filter_map(places));
            let key = TaskKey::Glass(leader.entity);
            self.update_batch(key, leader.entity, &items, batch.pages, copy, &views);
            keys.push(key);
            for (index, item) in grouped.iter().zip(places) {
                self.found.glass[*index] = Some((key, item));
            }
        }
        keys
    }

    /// Updates the task that blurs a frozen backdrop's picture. If the picture is lost, or the pipeline that fits it to the
    /// camera is missing, the backdrop is blurred as if it were not frozen.
    fn frozen(&mut self, index: usize, placed: &Placed, picture: &CameraPictureItem, kept: &mut KeptPictures) {
        let backdrop = &self.camera.backdrops[index];
        let glass = (backdrop.entity, FrozenBlur::Glass);
        let Some((frozen, (freeze, mask))) = backdrop.freeze.zip(kept.freeze(glass)) else {
            return;
        };
        let wanted = Wanted::new(self.target, picture, self.camera.picture.seen());
        let shot = Shot {
            // Glass is painted after this stage.
            stage: BlurStage::AfterTonemapping,
            camera: wanted,
            area: frozen.taken.or(placed.region.sees).unwrap_or(placed.region.reads),
        };
        let room = kept.room(glass, shot, || {
            KeptPicture::new(self.target.main_texture(), &shot, self.preparer)
        });
        let fitted = room.and_then(|room| room.map_or(Ok(None), |room| room.fitted(wanted, picture, self.preparer)));
        let (sheet, area) = match fitted {
            Ok(Some(fitted)) => fitted,
            Ok(None) => return,
            Err(error) => {
                kept.lose(glass, error);
                return;
            }
        };
        // Nothing of it is visible: it only takes its picture.
        if placed.region.painted.is_empty() {
            return;
        }
        let key = TaskKey::Frozen(backdrop.entity);
        let known = self.tasks.tasks.get(&key);
        if known.is_none_or(|task| task.freeze != Some(freeze)) {
            let new = Task {
                freeze: Some(freeze),
                ..self.tasks.going_on(TaskKey::Varying(backdrop.entity), backdrop.entity)
            };
            self.tasks.tasks.insert(key, new);
        }
        let whole = URect::from_corners(UVec2::ZERO, self.camera.picture.size);
        let (work, bounds) = match &backdrop.field {
            Some(field) if backdrop.blurs() => (
                Work::Blur {
                    sigma: backdrop.sigma,
                    edge: backdrop.edge,
                    field: Some(field.clone()),
                },
                placed.region.reads,
            ),
            _ => {
                let item = BatchedBlur {
                    to_source: IVec2::ZERO,
                    ..item_of(backdrop, placed)
                };
                let items = self.task(key).batch_of(&[item]);
                // The level is its own: it lies on no page.
                (Work::Batch(PageSet::default(), items), whole)
            }
        };
        let request = BlurRequest {
            target: sheet.texture.id(),
            work,
            region: bounds,
            bounds,
            source_size: sheet.size(),
            source_at: area.min.as_ivec2(),
            keeps: Some(mask),
            ..self.copy(whole.max)
        };
        let updated = self.update(key, backdrop.entity, request, &[&sheet.view]);
        if let Err(error @ BlurError::OutOfMemory { .. }) = updated {
            kept.lose(glass, error);
            return;
        }
        self.found.glass[index] = Some((key, 0));
    }

    /// Updates the blurs of layers on one page. Returns the keys of their tasks.
    fn layers(&mut self, layers: &[(SurfaceId, usize)], batch: &Batch) -> Vec<TaskKey> {
        let mut keys = Vec::new();
        let PaintTexture::Page(depth, page) = batch.from else {
            return keys;
        };
        let Some(view) = self.camera.page(depth, page) else {
            return keys;
        };
        let copy = self.copy(texture_size(view.texture()));
        let (tree, camera, first) = (&self.camera.schedule.tree, self.camera.picture.camera, layers[0].0);
        let key = TaskKey::Page(camera, batch.pages);
        let mut items = Vec::new();
        for (id, index) in layers {
            let surface = tree.surface(*id);
            let (filter, layer) = (&self.camera.filters[surface.filter], &tree.layers[*index]);
            let place = if layer.is_batched() {
                items.push(surface.item_of(layer));
                (key, items.len() - 1)
            } else {
                let key = TaskKey::Group(filter.entity);
                let texels = as_texels(moved(surface.rect, surface.to_page()));
                let request = BlurRequest {
                    work: Work::Blur {
                        sigma: filter.sigma,
                        edge: layer.edge,
                        field: field_of(filter, surface),
                    },
                    region: texels,
                    bounds: texels,
                    ..copy.clone()
                };
                // A failure is logged.
                let _ = self.update(key, filter.entity, request, &[view]);
                keys.push(key);
                (key, 0)
            };
            self.found.layers[*index] = Some(place);
        }
        if !items.is_empty() {
            let filter = &self.camera.filters[tree.surface(first).filter];
            self.update_batch(key, filter.entity, &items, batch.pages, copy, &[view]);
            keys.push(key);
        }
        keys
    }

    fn task(&mut self, key: TaskKey) -> &mut Task {
        self.tasks.tasks.entry(key).or_default()
    }

    /// Updates the task of several blurs. A failure is logged.
    fn update_batch(
        &mut self,
        key: TaskKey,
        entity: Entity,
        items: &[BatchedBlur],
        pages: PageSet,
        copy: BlurRequest,
        sources: &[&TextureView],
    ) {
        let work = Work::Batch(pages, self.task(key).batch_of(items));
        let _ = self.update(key, entity, BlurRequest { work, ..copy }, sources);
    }

    /// Updates a task. Logs a failure if it is new, with the entity, and returns it.
    fn update(
        &mut self,
        key: TaskKey,
        entity: Entity,
        request: BlurRequest,
        sources: &[&TextureView],
    ) -> Result<(), BlurError> {
        let task = self.tasks.tasks.entry(key).or_default();
        let updated = task.job.update(self.preparer, request);
        if let Err(error) = &updated {
            let failed = match key {
                TaskKey::Glass(_) | TaskKey::Varying(_) | TaskKey::Frozen(_) => "glass",
                TaskKey::Page(..) | TaskKey::Group(_) => "UiFilter",
            };
            error!("the {failed} of entity {entity}: {error}");
        }
        task.is_used = true;
        task.is_ready = task.job.bind(self.preparer, sources);
        updated.map(drop)
    }

    /// What glass reads, and the request that copies all of it. `None` if it is missing.
    fn source(&self, from: PaintTexture) -> Option<([&'a TextureView; 2], BlurRequest)> {
        match from {
            PaintTexture::Seen(page) => {
                let page = self.camera.seen.get(page)?;
                Some(([page; 2], self.copy(texture_size(page.texture()))))
            }
            PaintTexture::Camera | PaintTexture::Page(..) => {
                // Either texture of a camera may be the current one: blurs that run before this one may flip the pair.
                let views = [self.target.main_texture_other_view(), self.target.main_texture_view()];
                Some((views, self.copy(self.camera.picture.size)))
            }
        }
    }

    /// A copy of what has been painted so far, with a deferred last step.
    fn copy(&self, size: UVec2) -> BlurRequest {
        let ends = Ends::of_camera(self.target.main_texture_format(), self.camera.picture.is_light);
        BlurRequest {
            finish: Finish::Defer,
            ..BlurRequest::whole(ends, self.target.main_texture().id(), Work::Copy, size, size)
        }
    }
}

/// The share of sigma that each texel of the page gets.
fn field_of(filter: &Filter, surface: &Surface) -> Option<SigmaField> {
    let field = filter.field.clone()?;
    let placement = Affine2::from_translation(surface.to_page().as_vec2()) * field.placement;
    Some(SigmaField { placement, ..field })
}
