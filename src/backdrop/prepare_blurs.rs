//! The blurs behind glass. Every group of backdrops has one job, in which the backdrops are items; it leaves their last steps to
//! the glass. Backdrops with a profile have jobs of their own.
//!
//! All is settled before anything is drawn: a system that draws items of a phase has the whole world, and can change
//! nothing in it.

use super::camera_groups::CameraGroups;
use super::extract::ExtractedBackdrops;
use super::extracted::ExtractedBackdrop;
use super::freeze::FrozenBackdrops;
use super::groups::Group;
use super::pipelines::BackdropPipelines;
use crate::formats::{CameraPicture, CameraPictureItem, Ends};
use crate::freeze::{Frozen, Losses, Wanted};
use crate::gpu::{BatchedBlur, BlurIo, BlurJob, BlurPreparer, BlurRequest, Deferred, PageSet, Work};
use crate::plan::Finish;
use bevy::ecs::change_detection::Tick;
use bevy::ecs::entity::{EntityHashMap, EntityHashSet};
use bevy::math::URect;
use bevy::prelude::*;
use bevy::render::render_resource::TextureView;
use bevy::render::view::ViewTarget;
use std::sync::Arc;

/// The pages of glass.
const PAGES: PageSet = PageSet(0);

/// The jobs of all glass. Made anew when the render device is.
#[derive(Resource, Default)]
pub struct BackdropJobs {
    /// The jobs of groups, by the main world's entity of their first backdrop.
    groups: EntityHashMap<BackdropJob>,
    /// The jobs of backdrops whose sigma varies, by the main world's entity.
    varying: EntityHashMap<BackdropJob>,
    /// For every backdrop of this frame the job that blurs it.
    places: Vec<Option<Place>>,
    /// The jobs of frozen backdrops, by the main world's entity.
    frozen: EntityHashMap<BackdropJob>,
    /// The backdrops that were blurred in a group in the last frame.
    were_grouped: EntityHashSet,
}

/// The job that blurs a backdrop.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    /// The job of a group with this first backdrop, and the backdrop's part of it.
    Group(Entity, usize),
    /// A job of its own.
    Alone(Entity),
    /// A job of its own, out of a picture that is kept.
    Frozen(Entity),
}

#[derive(Default)]
struct BackdropJob {
    job: BlurJob,
    items: Option<Arc<[BatchedBlur]>>,
    /// When the backdrop was frozen, if it is.
    frozen: Option<Tick>,
    /// Whether it is used in this frame.
    is_used: bool,
    /// Whether it can be encoded in this frame.
    is_ready: bool,
}

impl BackdropJobs {
    /// What the blur of a backdrop leaves, by the index of the backdrop. `None` if it cannot be encoded.
    #[must_use]
    pub fn deferred(&self, backdrop: usize) -> Option<Deferred<'_>> {
        let (job, item) = match (*self.places.get(backdrop)?)? {
            Place::Group(leader, item) => (self.groups.get(&leader)?, item),
            Place::Alone(entity) => (self.varying.get(&entity)?, 0),
            Place::Frozen(entity) => (self.frozen.get(&entity)?, 0),
        };
        job.is_ready.then_some(())?;
        job.job.deferred(item)
    }

    /// The blurs of a group that can be encoded.
    pub fn of_group<'a>(
        &'a self,
        group: &'a Group,
        backdrops: &'a ExtractedBackdrops,
    ) -> impl Iterator<Item = &'a BlurJob> {
        let entities = group.backdrops.iter().map(|index| backdrops.0[*index].entity);
        let jobs =
            entities.flat_map(|entity| [&self.groups, &self.varying, &self.frozen].map(|jobs| jobs.get(&entity)));
        jobs.flatten().filter(|job| job.is_ready).map(|job| &job.job)
    }

    fn start(&mut self, backdrops: usize) {
        for jobs in [&mut self.groups, &mut self.varying, &mut self.frozen] {
            jobs.values_mut().for_each(|job| job.is_used = false);
        }
        self.places.clear();
        self.places.resize(backdrops, None);
    }

    fn update_group(
        &mut self,
        group: &Group,
        backdrops: &ExtractedBackdrops,
        target: &ViewTarget,
        preparer: &mut BlurPreparer,
    ) {
        let of_group = || group.backdrops.iter().map(|index| (*index, &backdrops.0[*index]));
        for (index, backdrop) in of_group() {
            if self.places[index].is_some() {
                continue;
            }
            if let Some(field) = backdrop.field.as_ref().filter(|_| backdrop.blurs()) {
                let work = Work::blur(backdrop.sigma, backdrop.edge, Some(field.clone()));
                let request = live_request(backdrop, work, backdrop.reads, target);
                let job = self.varying.entry(backdrop.entity).or_default();
                // Until its own job can be encoded, a backdrop stays in the group that it was in.
                if job.update(backdrop, request, &both_views(target), preparer)
                    || !self.were_grouped.contains(&backdrop.entity)
                {
                    self.places[index] = Some(Place::Alone(backdrop.entity));
                }
            }
        }
        let places = &mut self.places;
        let is_grouped = |(index, _): &(usize, &ExtractedBackdrop)| places[*index].is_none();
        let grouped: Vec<(usize, &ExtractedBackdrop)> = of_group().filter(is_grouped).collect();
        let Some((_, leader)) = grouped.first() else {
            return;
        };
        let asked = share(grouped.iter().map(|(_, backdrop)| *backdrop));
        for ((index, _), item) in grouped.iter().zip(&asked.item_of) {
            places[*index] = Some(Place::Group(leader.entity, *item));
        }
        let job = self.groups.entry(leader.entity).or_default();
        let items = job.batch_of(&asked.items);
        // Backdrops of a group are on one picture, so what is true of its first backdrop there is true of all.
        let request = live_request(leader, Work::Batch(PAGES, items), whole_of(leader), target);
        job.update(leader, request, &both_views(target), preparer);
    }

    /// Lets a frozen backdrop go on with its picture. Where there is none, or a pipeline is missing that makes it fit the camera,
    /// the backdrop goes on as if it were not frozen.
    fn update_frozen(
        &mut self,
        (index, backdrop): (usize, &ExtractedBackdrop),
        (target, picture): (&ViewTarget, &CameraPictureItem),
        frozen: &mut FrozenBackdrops,
        preparer: &mut BlurPreparer,
        losses: &Losses,
    ) {
        let Some(freeze) = backdrop.freeze else {
            return;
        };
        let Some(frozen) = frozen.picture_of(backdrop.entity) else {
            return;
        };
        let wanted = Wanted::new(target, picture, backdrop.picture.seen());
        let room = frozen.room(target.main_texture(), wanted, freeze.area, preparer);
        let fitted = room.and_then(|room| room.map_or(Ok(None), |kept| kept.fitted(wanted, picture, preparer)));
        let (sheet, area) = match fitted {
            Ok(Some(fitted)) => fitted,
            Ok(None) => return,
            Err(error) => {
                *frozen = Frozen::Lost;
                losses.push(backdrop.entity, error);
                return;
            }
        };
        let job = self.frozen.entry(backdrop.entity).or_default();
        if job.frozen.replace(freeze.added) != Some(freeze.added) {
            job.job = BlurJob::default();
        }
        let (work, bounds) = match &backdrop.field {
            Some(field) if backdrop.blurs() => (
                Work::blur(backdrop.sigma, backdrop.edge, Some(field.clone())),
                backdrop.reads,
            ),
            _ => {
                let items = job.batch_of(&[item_of(backdrop)]);
                (Work::Batch(PAGES, items), whole_of(backdrop))
            }
        };
        let live = live_request(backdrop, work, bounds, target);
        let request = BlurRequest {
            io: BlurIo {
                target: sheet.texture.id(),
                ..live.io
            },
            source_size: sheet.size(),
            source_at: area.min,
            keeps: Some(freeze.revision),
            ..live
        };
        job.update(backdrop, request, &[&sheet.view], preparer);
        self.places[index] = Some(Place::Frozen(backdrop.entity));
    }

    /// Drops the jobs of glass that is no longer there, with all that they hold.
    fn finish(&mut self, backdrops: &ExtractedBackdrops) {
        for jobs in [&mut self.groups, &mut self.varying, &mut self.frozen] {
            jobs.retain(|_, job| job.is_used);
        }
        self.were_grouped.clear();
        for (backdrop, place) in backdrops.0.iter().zip(&self.places) {
            if let Some(Place::Group(leader, _)) = place
                && self.groups.get(leader).is_some_and(|job| job.is_ready)
            {
                self.were_grouped.insert(backdrop.entity);
            }
        }
    }
}

/// Brings the jobs of all glass up to date.
pub fn update_jobs(
    cameras: Query<(&ViewTarget, CameraPicture)>,
    backdrops: Res<ExtractedBackdrops>,
    (mut frozen, losses): (ResMut<FrozenBackdrops>, Res<Losses>),
    grouped: Res<CameraGroups>,
    pipelines: Res<BackdropPipelines>,
    mut jobs: ResMut<BackdropJobs>,
    mut preparer: BlurPreparer,
) {
    jobs.start(backdrops.0.len());
    for (camera, view) in &grouped.0 {
        let Ok((target, picture)) = cameras.get(*camera) else {
            continue;
        };
        if pipelines.mixes(target.main_texture_format()).is_none() {
            continue;
        }
        for index in view.backdrops() {
            let backdrop = (index, &backdrops.0[index]);
            jobs.update_frozen(backdrop, (target, &picture), &mut frozen, &mut preparer, &losses);
        }
        for group in view.groups() {
            jobs.update_group(group, &backdrops, target, &mut preparer);
        }
    }
    jobs.finish(&backdrops);
}

impl BackdropJob {
    /// The items behind a pointer, which stays the same while they do.
    fn batch_of(&mut self, asked: &[BatchedBlur]) -> Arc<[BatchedBlur]> {
        match &self.items {
            Some(items) if **items == *asked => items.clone(),
            _ => self.items.insert(asked.into()).clone(),
        }
    }

    /// Returns whether the job can be encoded.
    fn update(
        &mut self,
        backdrop: &ExtractedBackdrop,
        request: BlurRequest,
        sources: &[&TextureView],
        preparer: &mut BlurPreparer,
    ) -> bool {
        if let Err(error) = self.job.update(preparer, request) {
            error!("the glass of entity {}: {error}", backdrop.entity);
        }
        self.is_used = true;
        self.is_ready = self.job.bind(preparer, sources);
        self.is_ready
    }
}

/// Either may be the current one: blurs that run before this one may flip the pair of textures.
fn both_views(target: &ViewTarget) -> [&TextureView; 2] {
    [target.main_texture_other_view(), target.main_texture_view()]
}

/// The texels of the picture that a backdrop is on.
fn whole_of(backdrop: &ExtractedBackdrop) -> URect {
    URect::from_corners(UVec2::ZERO, backdrop.picture.size)
}

/// A blur of what a camera has painted so far.
fn live_request(backdrop: &ExtractedBackdrop, work: Work, bounds: URect, target: &ViewTarget) -> BlurRequest {
    BlurRequest {
        io: BlurIo {
            ends: Ends::of_camera(target.main_texture_format(), backdrop.picture.is_light),
            target: target.main_texture().id(),
            // The camera paints it anew in every frame.
            source_is_fresh: true,
        },
        work,
        finish: Finish::Defer,
        region: bounds,
        bounds,
        source_size: backdrop.picture.size,
        source_at: UVec2::ZERO,
        keeps: None,
        mask: None,
    }
}

/// The blur of a backdrop, as a part of a batch.
fn item_of(backdrop: &ExtractedBackdrop) -> BatchedBlur {
    BatchedBlur {
        sigma: backdrop.sigma,
        edge: backdrop.edge,
        bounds: backdrop.reads,
        region: backdrop.region,
    }
}

/// The blurs of some backdrops.
#[derive(Debug, Default, PartialEq)]
struct Shared {
    items: Vec<BatchedBlur>,
    /// The part of every backdrop.
    item_of: Vec<usize>,
}

/// Backdrops that see what surrounds them, blurred alike, share a blur where one that covers both is no larger than two.
fn share<'a>(backdrops: impl Iterator<Item = &'a ExtractedBackdrop>) -> Shared {
    let mut shared = Shared::default();
    let mut are_shared: Vec<bool> = Vec::new();
    for backdrop in backdrops {
        let item = item_of(backdrop);
        let fits = |(other, is_shared): (&BatchedBlur, &bool)| *is_shared && backdrop.is_open && joins(other, &item);
        let place = shared.items.iter().zip(&are_shared).position(fits).unwrap_or_else(|| {
            shared.items.push(item);
            are_shared.push(backdrop.is_open);
            shared.items.len() - 1
        });
        let joined = &mut shared.items[place];
        joined.bounds = joined.bounds.union(item.bounds);
        joined.region = joined.region.union(item.region);
        shared.item_of.push(place);
    }
    shared
}

/// Whether one blur for both is no larger than two.
fn joins(one: &BatchedBlur, other: &BatchedBlur) -> bool {
    let area = |texels: URect| u64::from(texels.width()) * u64::from(texels.height());
    let is_alike = (one.sigma, one.edge) == (other.sigma, other.edge);
    is_alike && area(one.bounds.union(other.bounds)) <= area(one.bounds) + area(other.bounds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backdrop::extracted::{PaintOrder, Picture, Shape};
    use crate::settings::{BackdropBlur, BackdropSampling};
    use bevy::math::Affine2;

    /// A backdrop of 100 by 50 pixels on a large picture, at some place along x.
    fn backdrop(x: f32, sampling: BackdropSampling, radius: f32) -> ExtractedBackdrop {
        let picture = Picture {
            camera: Entity::PLACEHOLDER,
            size: UVec2::new(4000, 1000),
            viewport: URect::new(0, 0, 4000, 1000),
            is_light: false,
            dithers: false,
        };
        let shape = Shape {
            transform: Affine2::from_translation(Vec2::new(x + 50.0, 500.0)),
            size: Vec2::new(100.0, 50.0),
            radii: [0.0; 4],
            clip: None,
            is_soft: true,
        };
        let glass = BackdropBlur::new(radius).with_sampling(sampling);
        let sigma = Vec2::splat(0.5 * radius);
        ExtractedBackdrop::new(Entity::PLACEHOLDER, picture, shape, &glass, sigma, None, || {
            PaintOrder::AboveUi(0)
        })
        .expect("it can be seen")
    }

    fn items_of(backdrops: &[ExtractedBackdrop]) -> Vec<usize> {
        share(backdrops.iter()).item_of
    }

    #[test]
    fn panels_that_see_the_same_share_a_blur() {
        let open = |x: f32| backdrop(x, BackdropSampling::Surroundings, 40.0);
        assert_eq!(
            items_of(&[open(500.0), open(620.0), open(3000.0), open(740.0)]),
            [0, 0, 1, 0]
        );
        let both = share([open(500.0), open(620.0)].iter());
        assert_eq!(both.items[0].region, URect::new(500, 475, 720, 525));
        assert_eq!(both.items[0].bounds, open(500.0).reads.union(open(620.0).reads));
        // Others do not see the same: they end at their edges, or are blurred in another way.
        let inside = |x: f32| backdrop(x, BackdropSampling::Inside, 40.0);
        assert_eq!(items_of(&[inside(500.0), inside(590.0), open(500.0)]), [0, 1, 2]);
        assert_eq!(
            items_of(&[open(500.0), backdrop(620.0, BackdropSampling::Surroundings, 41.0)]),
            [0, 1]
        );
    }
}
