//! The blurs behind glass. Every group of backdrops has one job, in which the backdrops are items; it leaves their last steps to
//! the glass. Backdrops with a profile have jobs of their own.
//!
//! All is settled before anything is drawn: a system that draws items of a phase has the whole world, and can change
//! nothing in it.

use super::camera_groups::CameraGroups;
use super::extract::ExtractedBackdrops;
use super::extracted::ExtractedBackdrop;
use super::groups::Group;
use super::pipelines::BackdropPipelines;
use crate::formats::Ends;
use crate::gpu::{BatchedBlur, BlurIo, BlurJob, BlurPreparer, BlurRequest, Deferred, Work};
use crate::plan::Finish;
use bevy::ecs::entity::{EntityHashMap, EntityHashSet};
use bevy::math::URect;
use bevy::prelude::*;
use bevy::render::camera::ExtractedCamera;
use bevy::render::view::ViewTarget;
use std::sync::Arc;

/// The jobs of all glass. Made anew when the render device is.
#[derive(Resource, Default)]
pub struct BackdropJobs {
    /// The jobs of groups, by the main world's entity of their first backdrop.
    groups: EntityHashMap<BackdropJob>,
    /// The jobs of backdrops whose sigma varies, by the main world's entity.
    varying: EntityHashMap<BackdropJob>,
    /// For every backdrop of this frame the job that blurs it.
    places: Vec<Option<Place>>,
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
}

#[derive(Default)]
struct BackdropJob {
    job: BlurJob,
    items: Option<Arc<[BatchedBlur]>>,
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
        let jobs = entities.flat_map(|entity| [self.groups.get(&entity), self.varying.get(&entity)]);
        jobs.flatten().filter(|job| job.is_ready).map(|job| &job.job)
    }

    fn start(&mut self, backdrops: usize) {
        let jobs = self.groups.values_mut().chain(self.varying.values_mut());
        jobs.for_each(|job| job.is_used = false);
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
            if let Some(field) = backdrop.field.as_ref().filter(|_| backdrop.blurs()) {
                let work = Work::blur(backdrop.sigma, backdrop.edge, Some(field.clone()));
                let job = self.varying.entry(backdrop.entity).or_default();
                // Until its own job can be encoded, a backdrop stays in the group that it was in.
                if job.update(backdrop, work, backdrop.reads, target, preparer)
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
        let items = job.batch_of(asked.items);
        // Backdrops of a group are on one picture, so what is true of its first backdrop there is true of all.
        let whole = URect::from_corners(UVec2::ZERO, leader.picture.size);
        job.update(leader, Work::Batch(items), whole, target, preparer);
    }

    /// Drops the jobs of glass that is no longer there, with all that they hold.
    fn finish(&mut self, backdrops: &ExtractedBackdrops) {
        self.groups.retain(|_, job| job.is_used);
        self.varying.retain(|_, job| job.is_used);
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
    cameras: Query<&ViewTarget, With<ExtractedCamera>>,
    backdrops: Res<ExtractedBackdrops>,
    grouped: Res<CameraGroups>,
    pipelines: Res<BackdropPipelines>,
    mut jobs: ResMut<BackdropJobs>,
    mut preparer: BlurPreparer,
) {
    jobs.start(backdrops.0.len());
    for (camera, view) in &grouped.0 {
        let Ok(target) = cameras.get(*camera) else {
            continue;
        };
        if pipelines.mixes(target.main_texture_format()).is_none() {
            continue;
        }
        for group in view.groups() {
            jobs.update_group(group, &backdrops, target, &mut preparer);
        }
    }
    jobs.finish(&backdrops);
}

impl BackdropJob {
    /// The items behind a pointer, which stays the same while they do.
    fn batch_of(&mut self, asked: Vec<BatchedBlur>) -> Arc<[BatchedBlur]> {
        match &self.items {
            Some(items) if **items == *asked => items.clone(),
            _ => self.items.insert(asked.into()).clone(),
        }
    }

    /// Returns whether the job can be encoded.
    fn update(
        &mut self,
        backdrop: &ExtractedBackdrop,
        work: Work,
        bounds: URect,
        target: &ViewTarget,
        preparer: &mut BlurPreparer,
    ) -> bool {
        let request = BlurRequest {
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
            mask: None,
        };
        if let Err(error) = self.job.update(preparer, request) {
            error!("the glass of entity {}: {error}", backdrop.entity);
        }
        // Blurs that run before this one may flip the pair of textures.
        let sources = [target.main_texture_other_view(), target.main_texture_view()];
        self.is_used = true;
        self.is_ready = self.job.bind(preparer, &sources);
        self.is_ready
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
        let item = BatchedBlur {
            sigma: backdrop.sigma,
            edge: backdrop.edge,
            bounds: backdrop.reads,
            region: backdrop.region,
        };
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
        ExtractedBackdrop::new(Entity::PLACEHOLDER, picture, shape, &glass, sigma, || {
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
