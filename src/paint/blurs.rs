//! The blurs of all schedules.
//!
//! Everything is prepared before anything is drawn: a system that draws items of a phase borrows the whole world, so it can
//! change nothing. All blurs leave their last steps to the shader that paints, so these write only visible pixels.
//!
//! The blurs of a batch that do not vary are items of one job. A backdrop or a layer that varies has its own job, and so has each
//! frozen backdrop, which reads the picture that it has kept.

use super::inputs::{BlurPlace, PaintInputs, PaintedCamera, PaintedGlass};
use super::pipelines::PaintPipelines;
use crate::errors::BlurError;
use crate::formats::{CameraPicture, CameraPictureItem, Ends};
use crate::freeze::{FrozenBlur, KeptPictures, Shot, Wanted};
use crate::gpu::{BlurJobs, BlurPreparer, BlurRequest, JobKey, Work, texture_size};
use crate::plan::Finish;
use crate::plan::batch::BatchedBlur;
use crate::plan::pack::PageSet;
use crate::schedule::{
    Backdrop, Batch, Blurs, Filter, PaintTexture, Placed, Surface, SurfaceId, as_texels, item_of, moved, share,
};
use crate::settings::BlurStage;
use crate::sigma_field::SigmaField;
use bevy::math::{Affine2, URect};
use bevy::prelude::*;
use bevy::render::render_resource::TextureView;
use bevy::render::view::ViewTarget;

/// Whether the blur of a backdrop reads a picture that has been taken before this frame.
pub fn is_kept(camera: &PaintedCamera, backdrop: usize) -> bool {
    let blur = camera.glass.get(backdrop).and_then(|glass| glass.blur);
    matches!(blur, Some((JobKey::FrozenGlass(_), _)))
}

/// Updates the blurs of all cameras.
pub fn update_blurs(
    cameras: Query<(&ViewTarget, CameraPicture)>,
    pipelines: Res<PaintPipelines>,
    mut inputs: ResMut<PaintInputs>,
    mut kept: ResMut<KeptPictures>,
    mut jobs: ResMut<BlurJobs>,
    mut preparer: BlurPreparer,
) {
    for camera in &mut inputs.cameras {
        let Ok((target, picture)) = cameras.get(camera.picture.camera) else {
            continue;
        };
        if pipelines.mixes(target.main_texture_format()).is_none() {
            continue;
        }
        let mut updated = Updated {
            camera: &*camera,
            target,
            glass: vec![PaintedGlass::default(); camera.backdrops.len()],
            layers: vec![None; camera.schedule.tree.layers.len()],
            jobs: &mut jobs,
            preparer: &mut preparer,
        };
        for (index, placed) in camera.schedule.glass() {
            updated.frozen(index, placed, &picture, &mut kept);
        }
        for batch in &camera.schedule.batches {
            match &batch.blurs {
                Blurs::Glass(glass) => updated.glass(glass, batch),
                Blurs::Layers(layers) => updated.layers(layers, batch),
            }
        }
        let Updated { glass, layers, .. } = updated;
        (camera.glass, camera.layers) = (glass, layers);
    }
}

/// The update of a camera's blurs.
struct Updated<'a, 'w> {
    camera: &'a PaintedCamera,
    target: &'a ViewTarget,
    glass: Vec<PaintedGlass>,
    layers: Vec<Option<BlurPlace>>,
    jobs: &'a mut BlurJobs,
    preparer: &'a mut BlurPreparer<'w>,
}

impl<'a> Updated<'a, '_> {
    /// Updates the blurs of backdrops.
    fn glass(&mut self, glass: &[usize], batch: &Batch) {
        let camera = self.camera;
        let Some((views, copy)) = self.source(batch.from) else {
            return;
        };
        let mut grouped = Vec::new();
        for index in glass.iter().copied() {
            let (backdrop, Some(placed)) = (&camera.backdrops[index], &camera.schedule.placed[index]) else {
                continue;
            };
            // Its picture is kept.
            if self.glass[index].blur.is_some() {
                continue;
            }
            let Some(request) = varying_glass(backdrop, placed, &copy) else {
                grouped.push((index, backdrop, placed));
                continue;
            };
            let key = JobKey::VaryingGlass(backdrop.entity);
            let source_at = -placed.to_source();
            self.want(key, backdrop.entity, BlurRequest { source_at, ..request }, &views);
            self.glass[index].blur = Some((key, 0));
        }
        if let Some((_, leader, _)) = grouped.first() {
            let (items, places) = share(grouped.iter().map(|(_, backdrop, placed)| (*backdrop, *placed)));
            let key = JobKey::Glass(leader.entity);
            let work = Work::Batch(batch.pages, items.into());
            self.want(key, leader.entity, BlurRequest { work, ..copy }, &views);
            for ((index, ..), item) in grouped.iter().zip(places) {
                self.glass[*index].blur = Some((key, item));
            }
        }
    }

    /// Updates the job that blurs a frozen backdrop's picture. If the picture is lost, or the pipeline that fits it to the
    /// camera is missing, the backdrop is blurred as if it were not frozen.
    fn frozen(&mut self, index: usize, placed: &Placed, picture: &CameraPictureItem, kept: &mut KeptPictures) {
        let backdrop = &self.camera.backdrops[index];
        let frozen = (backdrop.entity, FrozenBlur::Glass);
        let (Some(freeze), Some(mask)) = (backdrop.freeze, kept.mask(frozen)) else {
            return;
        };
        let shot = Shot {
            // Glass is painted after this stage.
            stage: BlurStage::AfterTonemapping,
            camera: Wanted::new(self.target, picture, self.camera.picture.seen()),
            area: freeze.taken.or(placed.region.sees).unwrap_or(placed.region.reads),
        };
        let fitted = kept.fit_glass(backdrop.entity, shot, picture, self.target, self.preparer);
        // If nothing of it is visible, it only takes its picture.
        let Some((sheet, area)) = fitted.filter(|_| !placed.region.painted.is_empty()) else {
            return;
        };
        let copy = BlurRequest {
            target: sheet.texture.id(),
            source_size: sheet.size(),
            source_at: area.min.as_ivec2(),
            keeps: Some(mask),
            ..self.copy(self.camera.picture.size)
        };
        let request = varying_glass(backdrop, placed, &copy).unwrap_or_else(|| {
            let item = BatchedBlur {
                to_source: IVec2::ZERO,
                ..item_of(backdrop, placed)
            };
            // The level is its own: it lies on no page.
            let work = Work::Batch(PageSet::default(), [item].into());
            BlurRequest { work, ..copy }
        });
        let key = JobKey::FrozenGlass(backdrop.entity);
        match self.want(key, backdrop.entity, request, &[&sheet.view]) {
            Some(error @ BlurError::OutOfMemory { .. }) => kept.lose(frozen, error),
            _ => self.glass[index].blur = Some((key, 0)),
        }
    }

    /// Updates the blurs of layers on one page.
    fn layers(&mut self, layers: &[(SurfaceId, usize)], batch: &Batch) {
        let (mut items, camera) = (Vec::new(), self.camera);
        let Some(view) = camera.view(batch.from) else {
            return;
        };
        let (tree, copy) = (&camera.schedule.tree, self.copy(texture_size(view.texture())));
        let filter_of = |surface: &Surface| &camera.filters[surface.filter];
        let shared = JobKey::Layers(camera.picture.camera, batch.pages);
        for (id, index) in layers {
            let (surface, layer) = (tree.surface(*id), &tree.layers[*index]);
            if layer.is_batched() {
                items.push(surface.item_of(layer));
                self.layers[*index] = Some((shared, items.len() - 1));
                continue;
            }
            let filter = filter_of(surface);
            let work = Work::Blur {
                sigma: filter.sigma,
                edge: layer.edge,
                field: field_of(filter, surface),
            };
            let texels = as_texels(moved(surface.rect, surface.to_page()));
            let key = JobKey::VaryingLayer(filter.entity);
            self.want(key, filter.entity, blur_of(work, texels, &copy), &[view]);
            self.layers[*index] = Some((key, 0));
        }
        if !items.is_empty() {
            let first = filter_of(tree.surface(layers[0].0)).entity;
            let work = Work::Batch(batch.pages, items.into());
            self.want(shared, first, BlurRequest { work, ..copy }, &[view]);
        }
    }

    /// Updates a job. Logs a failure if it is new, with the entity, and returns it.
    fn want(
        &mut self,
        key: JobKey,
        entity: Entity,
        request: BlurRequest,
        sources: &[&TextureView],
    ) -> Option<BlurError> {
        let what = match key {
            JobKey::Layers(..) | JobKey::VaryingLayer(_) => "UiFilter",
            _ => "glass",
        };
        let updated = self.jobs.want(key, request, sources, self.preparer);
        updated
            .err()
            .inspect(|error| error!("the {what} of entity {entity}: {error}"))
    }

    /// What glass reads, and the request that copies all of it. `None` if it is missing.
    fn source(&self, from: PaintTexture) -> Option<([&'a TextureView; 2], BlurRequest)> {
        if from == PaintTexture::Camera {
            // Either texture of a camera may be the current one: blurs that run before this one may flip the pair.
            let views = [self.target.main_texture_other_view(), self.target.main_texture_view()];
            return Some((views, self.copy(self.camera.picture.size)));
        }
        let page = self.camera.view(from)?;
        Some(([page; 2], self.copy(texture_size(page.texture()))))
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

/// A blur of these texels of what a request copies.
fn blur_of(work: Work, texels: URect, copy: &BlurRequest) -> BlurRequest {
    BlurRequest {
        work,
        region: texels,
        bounds: texels,
        ..copy.clone()
    }
}

/// The blur of a backdrop out of what a request copies, if its sigma varies.
fn varying_glass(backdrop: &Backdrop, placed: &Placed, copy: &BlurRequest) -> Option<BlurRequest> {
    let work = Work::Blur {
        sigma: backdrop.sigma,
        edge: backdrop.edge,
        field: Some(backdrop.field.clone().filter(|_| backdrop.blurs())?),
    };
    Some(blur_of(work, placed.region.reads, copy))
}

/// The share of sigma that each texel of the page gets.
fn field_of(filter: &Filter, surface: &Surface) -> Option<SigmaField> {
    let field = filter.field.clone()?;
    let placement = Affine2::from_translation(surface.to_page().as_vec2()) * field.placement;
    Some(SigmaField { placement, ..field })
}
