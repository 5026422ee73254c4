//! The pages of groups, and the blurs that read them: one job for each page, one for each stage with a turn, and one for each blur
//! that varies.

use super::arrange::{ArrangedFilters, CameraFilters};
use super::extract::{ExtractedFilter, ExtractedFilters};
use super::rects::{as_texels, grown, joined, moved};
use super::stage::{Layer, Stage};
use crate::backdrop::prepare_blurs::PAGES as GLASS;
use crate::errors::BlurError;
use crate::formats::Ends;
use crate::gpu::{BatchedBlur, BlurIo, BlurJob, BlurPreparer, BlurRequest, Deferred, PageSet, Work};
use crate::plan::Finish;
use crate::plan::batch::Patch;
use crate::settings::EdgeMode;
use crate::sigma_field::SigmaField;
use bevy::ecs::entity::EntityHashMap;
use bevy::math::{Affine2, IRect, URect};
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::render_resource::{TextureId, TextureUsages, TextureView};
use bevy::render::view::ViewTarget;
use std::sync::Arc;

/// The pages and blurs of all groups. Blurs are kept from frame to frame. Recreated with the render device.
#[derive(Resource, Default)]
pub struct FilterBlurs {
    /// The pages of every camera's stages, by depth from 1 on.
    pages: EntityHashMap<Vec<Vec<TextureView>>>,
    /// The blurs of the pictures on a page that do not vary.
    batches: HashMap<BatchKey, Batch>,
    /// The blurs that vary, by the main world's entity of the node.
    varying: EntityHashMap<FilterJob>,
}

/// A camera, a depth, a page, and a stage if it is blurred when its turn comes. All other stages of a page are blurred at once.
type BatchKey = (Entity, u32, usize, Option<usize>);

#[derive(Default)]
struct FilterJob {
    job: BlurJob,
    is_used: bool,
    is_ready: bool,
}

#[derive(Default)]
struct Batch {
    blurs: FilterJob,
    items: Option<Arc<[BatchedBlur]>>,
    /// The layer of every item, in ascending order: its stage, and its place there.
    layers: Vec<(usize, usize)>,
}

impl FilterBlurs {
    /// The page that a stage's picture lies on.
    pub fn page(&self, camera: Entity, stage: &Stage) -> Option<&TextureView> {
        self.pages_of(camera, stage.depth)?.get(stage.page)
    }

    /// The pages of a depth.
    pub fn pages_of(&self, camera: Entity, depth: u32) -> Option<&[TextureView]> {
        let depths = self.pages.get(&camera)?;
        Some(depths.get(depth as usize - 1)?.as_slice())
    }

    /// The input for the deferred last step of a layer's blur. `None` if it is not blurred, because an input is missing or the blur
    /// has failed.
    pub fn deferred(&self, of: LayerOf) -> Option<Deferred<'_>> {
        if of.layer.varies {
            return self.varying.get(&of.filter.entity)?.job.deferred(0);
        }
        let turn = of.stage.has_turn.then_some(of.place.0);
        let batch = self.batches.get(&(of.camera, of.stage.depth, of.stage.page, turn))?;
        batch.blurs.job.deferred(batch.layers.binary_search(&of.place).ok()?)
    }

    /// The blurs of a depth that come before the user interface and can be encoded, each with the page that it reads.
    pub fn of_depth<'a>(
        &'a self,
        camera: &'a CameraFilters,
        filters: &'a ExtractedFilters,
        depth: u32,
    ) -> impl Iterator<Item = (&'a BlurJob, &'a TextureView)> {
        let pages = self.pages_of(camera.camera, depth).unwrap_or_default();
        let batches = pages.iter().enumerate().filter_map(move |(page, view)| {
            let batch = self.batches.get(&(camera.camera, depth, page, None))?;
            Some((&batch.blurs, view))
        });
        let stages = camera.arranged.stages.iter();
        let stages = stages.filter(move |stage| stage.depth == depth && stage.is_seen() && !stage.has_turn);
        let varies = |stage: &&Stage| stage.layers.iter().any(|layer| layer.varies);
        let varying = stages.filter(varies).filter_map(move |stage| {
            let entity = camera.filters(filters)[stage.filter].entity;
            Some((self.varying.get(&entity)?, pages.get(stage.page)?))
        });
        let jobs = batches.chain(varying).filter(|(job, _)| job.is_ready);
        jobs.map(|(job, page)| (&job.job, page))
    }

    /// The blurs of a stage with a turn that can be encoded.
    pub fn of_stage(
        &self,
        camera: &CameraFilters,
        filters: &ExtractedFilters,
        index: usize,
    ) -> impl Iterator<Item = &BlurJob> {
        let stage = &camera.arranged.stages[index];
        let batch = self.batches.get(&(camera.camera, stage.depth, stage.page, Some(index)));
        let varies = stage.layers.iter().any(|layer| layer.varies);
        let entity = camera.filters(filters)[stage.filter].entity;
        let varying = varies.then(|| self.varying.get(&entity)).flatten();
        let jobs = batch.map(|batch| &batch.blurs).into_iter().chain(varying);
        jobs.filter(|job| job.is_ready).map(|job| &job.job)
    }
}

/// A layer with its camera, filter and stage.
#[derive(Clone, Copy)]
pub struct LayerOf<'a> {
    /// The render world's entity of the camera.
    pub camera: Entity,
    /// The filter.
    pub filter: &'a ExtractedFilter,
    /// The stage.
    pub stage: &'a Stage,
    /// The layer.
    pub layer: &'a Layer,
    /// The indices of the stage, and of the layer in it.
    pub place: (usize, usize),
}

/// Updates the pages and blurs of all groups.
pub fn update_blurs(
    cameras: Query<&ViewTarget>,
    filters: Res<ExtractedFilters>,
    mut arranged: ResMut<ArrangedFilters>,
    mut blurs: ResMut<FilterBlurs>,
    mut preparer: BlurPreparer,
) {
    let blurs = &mut *blurs;
    blurs.pages.clear();
    blurs.batches.values_mut().for_each(|batch| batch.blurs.is_used = false);
    blurs.varying.values_mut().for_each(|job| job.is_used = false);
    for camera in &mut arranged.0 {
        let Ok(target) = cameras.get(camera.camera) else {
            continue;
        };
        match blurs.update(camera, &filters, target, &mut preparer) {
            Ok(is_ready) => camera.is_ready = is_ready,
            Err(error) => {
                let entity = camera.filters(&filters)[0].entity;
                error_once!("the UiFilter of entity {entity}, and all others on its camera: {error}");
            }
        }
    }
    blurs.batches.retain(|_, batch| batch.blurs.is_used);
    blurs.varying.retain(|_, job| job.is_used);
}

impl FilterBlurs {
    /// Returns whether the groups of a camera can be filtered: all pipelines of their blurs are compiled.
    ///
    /// # Errors
    /// [`BlurError::OutOfMemory`], for the pages that the groups are painted on.
    fn update(
        &mut self,
        camera: &CameraFilters,
        filters: &ExtractedFilters,
        target: &ViewTarget,
        preparer: &mut BlurPreparer,
    ) -> Result<bool, BlurError> {
        let format = target.main_texture_format();
        let usages = TextureUsages::RENDER_ATTACHMENT | TextureUsages::TEXTURE_BINDING;
        let on = On {
            target: target.main_texture().id(),
            is_light: camera.filters(filters)[0].picture.is_light,
        };
        let mut pages = Vec::new();
        for (index, sizes) in camera.arranged.pages.iter().enumerate() {
            let mut taken = Vec::new();
            preparer.take_pages(
                pictures(index as u32 + 1),
                &mut sizes.clone(),
                (format, usages),
                &mut taken,
            )?;
            pages.push(taken);
        }
        let mut is_ready = true;
        for (index, pages) in pages.iter().enumerate() {
            let depth = index as u32 + 1;
            for (page, view) in pages.iter().enumerate() {
                is_ready &= self.update_page((camera, depth, page), on, filters, view, preparer);
            }
        }
        self.pages.insert(camera.camera, pages);
        Ok(is_ready)
    }

    /// Returns whether all pipelines of a page's blurs are compiled.
    fn update_page(
        &mut self,
        (camera, depth, page): (&CameraFilters, u32, usize),
        on: On,
        filters: &ExtractedFilters,
        view: &TextureView,
        preparer: &mut BlurPreparer,
    ) -> bool {
        let mut is_ready = true;
        let mut at_once = BatchOf::default();
        let filters = camera.filters(filters);
        let stages = camera.arranged.stages.iter().enumerate();
        for (index, stage) in stages.filter(|(_, stage)| stage.depth == depth && stage.page == page) {
            let filter = &filters[stage.filter];
            if stage.layers.iter().any(|layer| layer.varies && !layer.shown.is_empty()) {
                let job = self.varying.entry(filter.entity).or_default();
                let sigma = filter.sigma;
                let work = Work::blur(sigma, EdgeMode::Transparent, field_of(filter, stage));
                let bounds = on_page(stage, stage.rect);
                is_ready &= job.update(filter, request(work, bounds, view, on), view, preparer);
            }
            if stage.has_turn {
                let mut alone = BatchOf::default();
                alone.add(index, stage);
                let key = (camera.camera, depth, page, Some(index));
                is_ready &= self.update_batch(key, (alone, GLASS), filter, on, view, preparer);
            } else {
                at_once.add(index, stage);
            }
        }
        if let Some((first, _)) = at_once.layers.first() {
            let filter = &filters[camera.arranged.stages[*first].filter];
            let key = (camera.camera, depth, page, None);
            is_ready &= self.update_batch(key, (at_once, levels(depth, page)), filter, on, view, preparer);
        }
        is_ready
    }

    /// Returns whether all pipelines of some blurs of a page, the first of which is a filter's, are compiled.
    fn update_batch(
        &mut self,
        key: BatchKey,
        (BatchOf { items, layers }, pages): (BatchOf, PageSet),
        first: &ExtractedFilter,
        on: On,
        view: &TextureView,
        preparer: &mut BlurPreparer,
    ) -> bool {
        if items.is_empty() {
            return true;
        }
        let batch = self.batches.entry(key).or_default();
        batch.layers = layers;
        let items = match &batch.items {
            Some(known) if **known == *items => known.clone(),
            _ => batch.items.insert(items.into()).clone(),
        };
        let whole = URect::from_corners(UVec2::ZERO, size_of(view));
        let work = Work::Batch(pages, items);
        batch
            .blurs
            .update(first, request(work, whole, view, on), view, preparer)
    }
}

/// The blurs of some stages of a page.
#[derive(Default)]
struct BatchOf {
    items: Vec<BatchedBlur>,
    layers: Vec<(usize, usize)>,
}

impl BatchOf {
    /// Adds the blurs of a stage that do not vary.
    fn add(&mut self, index: usize, stage: &Stage) {
        let layers = stage.layers.iter().enumerate();
        for (place, layer) in layers.filter(|(_, layer)| layer.is_batched() && !layer.shown.is_empty()) {
            self.layers.push((index, place));
            let to_blurred = stage.to_blurred();
            let shown = moved(layer.shown, -layer.offset);
            let all = grown(joined(stage.painted, shown), IVec2::ONE);
            let texels = |pixels: IRect| as_texels(moved(pixels, to_blurred));
            self.items.push(BatchedBlur {
                sigma: layer.sigma,
                edge: EdgeMode::Transparent,
                bounds: texels(all),
                region: texels(shown),
                patch: Some(Patch {
                    texels: texels(stage.painted),
                    to_source: stage.to_page() - to_blurred,
                }),
            });
        }
    }
}

impl FilterJob {
    /// Returns whether its pipelines are compiled. A job also has none to wait for while its mask is missing, and after a failure.
    fn update(
        &mut self,
        filter: &ExtractedFilter,
        request: BlurRequest,
        source: &TextureView,
        preparer: &mut BlurPreparer,
    ) -> bool {
        self.is_used = true;
        // A job reports each failure once.
        if let Err(error) = self.job.update(preparer, request) {
            error!("the UiFilter of entity {}: {error}", filter.entity);
        }
        self.is_ready = self.job.bind(preparer, &[source]);
        self.is_ready || self.job.is_idle()
    }
}

/// The camera's picture, on which groups are painted in the end.
#[derive(Clone, Copy)]
struct On {
    target: TextureId,
    /// Whether it holds light, rather than display values.
    is_light: bool,
}

/// The pages for the pictures of a depth. Their contents are needed until all layers of these pictures are painted.
fn pictures(depth: u32) -> PageSet {
    PageSet("groups", [depth, 0])
}

/// The pages for the blurs out of one page of a depth, which run at once. What they leave is read after the blurs out of the other
/// pages.
fn levels(depth: u32, page: usize) -> PageSet {
    PageSet("blurs of groups", [depth, page as u32])
}

fn request(work: Work, bounds: URect, page: &TextureView, on: On) -> BlurRequest {
    let On { target, is_light } = on;
    BlurRequest {
        io: BlurIo {
            ends: Ends::of_camera(page.texture().format(), is_light),
            target,
            // The page is painted in every frame.
            source_is_fresh: true,
        },
        work,
        finish: Finish::Defer,
        region: bounds,
        bounds,
        source_size: size_of(page),
        source_at: UVec2::ZERO,
        keeps: None,
        mask: None,
    }
}

/// The share of sigma that each texel of the page gets.
fn field_of(filter: &ExtractedFilter, stage: &Stage) -> Option<SigmaField> {
    let profile = filter.profile.as_ref()?;
    let placement = Affine2::from_translation(stage.to_page().as_vec2()) * profile.placement;
    SigmaField::new(Some(&profile.profile), profile.size, placement)
}

/// Pixels of the viewport as texels of the page that a stage's picture lies on.
fn on_page(stage: &Stage, pixels: IRect) -> URect {
    as_texels(moved(pixels, stage.to_page()))
}

fn size_of(view: &TextureView) -> UVec2 {
    let texture = view.texture();
    UVec2::new(texture.width(), texture.height())
}
