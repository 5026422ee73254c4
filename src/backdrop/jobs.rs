//! The blurs behind glass. Every group of panels has one job, in which the panels are parts; it leaves their last steps to
//! the glass. Panels with a profile have jobs of their own.
//!
//! All is settled before anything is drawn: a system that draws items of a phase has the whole world, and can change
//! nothing in it.

use super::extract::Panels;
use super::groups::Group;
use super::panel::Panel;
use super::pipelines::GlassPipelines;
use super::views::Views;
use crate::formats::Ends;
use crate::gpu::{BlurIo, BlurJob, BlurPart, BlurPreparer, BlurRequest, Left, Work};
use crate::plan::Finish;
use bevy::ecs::entity::{EntityHashMap, EntityHashSet};
use bevy::math::URect;
use bevy::prelude::*;
use bevy::render::camera::ExtractedCamera;
use bevy::render::view::ViewTarget;
use std::sync::Arc;

/// The jobs of all glass. Made anew when the render device is.
#[derive(Resource, Default)]
pub struct GlassJobs {
    /// The jobs of groups, by the main world's entity of their first panel.
    groups: EntityHashMap<GlassJob>,
    /// The jobs of panels whose sigma varies, by the main world's entity.
    varying: EntityHashMap<GlassJob>,
    /// For every panel of this frame the job that blurs it.
    places: Vec<Option<Place>>,
    /// The panels that were blurred in a group in the last frame.
    were_grouped: EntityHashSet,
}

/// The job that blurs a panel.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    /// The job of a group with this first panel, and the panel's part of it.
    Group(Entity, usize),
    /// A job of its own.
    Alone(Entity),
}

#[derive(Default)]
struct GlassJob {
    job: BlurJob,
    parts: Option<Arc<[BlurPart]>>,
    /// Whether it is used in this frame.
    is_used: bool,
    /// Whether it can be encoded in this frame.
    is_ready: bool,
}

impl GlassJobs {
    /// What the blur of a panel leaves, by the index of the panel. `None` if it cannot be encoded.
    #[must_use]
    pub fn left(&self, panel: usize) -> Option<Left<'_>> {
        let (job, part) = match (*self.places.get(panel)?)? {
            Place::Group(leader, part) => (self.groups.get(&leader)?, part),
            Place::Alone(entity) => (self.varying.get(&entity)?, 0),
        };
        job.is_ready.then_some(())?;
        job.job.left(part)
    }

    /// The blurs of a group that can be encoded.
    pub fn of_group<'a>(&'a self, group: &'a Group, panels: &'a Panels) -> impl Iterator<Item = &'a BlurJob> {
        let entities = group.panels.iter().map(|index| panels.0[*index].entity);
        let jobs = entities.flat_map(|entity| [self.groups.get(&entity), self.varying.get(&entity)]);
        jobs.flatten().filter(|job| job.is_ready).map(|job| &job.job)
    }

    fn start(&mut self, panels: usize) {
        let jobs = self.groups.values_mut().chain(self.varying.values_mut());
        jobs.for_each(|job| job.is_used = false);
        self.places.clear();
        self.places.resize(panels, None);
    }

    fn update_group(&mut self, group: &Group, panels: &Panels, target: &ViewTarget, preparer: &mut BlurPreparer) {
        let of_group = || group.panels.iter().map(|index| (*index, &panels.0[*index]));
        for (index, panel) in of_group() {
            if let Some(field) = panel.field.as_ref().filter(|_| panel.blurs()) {
                let work = Work::blur(panel.sigma, panel.edge, Some(field.clone()));
                let job = self.varying.entry(panel.entity).or_default();
                // Until its own job can be encoded, a panel stays in the group that it was in.
                if job.update(panel, work, panel.reads, target, preparer) || !self.were_grouped.contains(&panel.entity)
                {
                    self.places[index] = Some(Place::Alone(panel.entity));
                }
            }
        }
        let places = &mut self.places;
        let is_grouped = |(index, _): &(usize, &Panel)| places[*index].is_none();
        let grouped: Vec<(usize, &Panel)> = of_group().filter(is_grouped).collect();
        let Some((_, leader)) = grouped.first() else {
            return;
        };
        let asked = share(grouped.iter().map(|(_, panel)| *panel));
        for ((index, _), part) in grouped.iter().zip(&asked.part_of) {
            places[*index] = Some(Place::Group(leader.entity, *part));
        }
        let job = self.groups.entry(leader.entity).or_default();
        let parts = job.shared_parts(asked.parts);
        // Panels of a group are on one picture, so what is true of its first panel there is true of all.
        let whole = URect::from_corners(UVec2::ZERO, leader.picture.size);
        job.update(leader, Work::Parts(parts), whole, target, preparer);
    }

    /// Drops the jobs of glass that is no longer there, with all that they hold.
    fn finish(&mut self, panels: &Panels) {
        self.groups.retain(|_, job| job.is_used);
        self.varying.retain(|_, job| job.is_used);
        self.were_grouped.clear();
        for (panel, place) in panels.0.iter().zip(&self.places) {
            if let Some(Place::Group(leader, _)) = place
                && self.groups.get(leader).is_some_and(|job| job.is_ready)
            {
                self.were_grouped.insert(panel.entity);
            }
        }
    }
}

/// Brings the jobs of all glass up to date.
pub fn update_jobs(
    cameras: Query<&ViewTarget, With<ExtractedCamera>>,
    panels: Res<Panels>,
    views: Res<Views>,
    pipelines: Res<GlassPipelines>,
    mut jobs: ResMut<GlassJobs>,
    mut preparer: BlurPreparer,
) {
    jobs.start(panels.0.len());
    for (camera, view) in &views.0 {
        let Ok(target) = cameras.get(*camera) else {
            continue;
        };
        if pipelines.mixes(target.main_texture_format()).is_none() {
            continue;
        }
        for group in view.groups() {
            jobs.update_group(group, &panels, target, &mut preparer);
        }
    }
    jobs.finish(&panels);
}

impl GlassJob {
    /// The parts behind a pointer, which stays the same while they do.
    fn shared_parts(&mut self, asked: Vec<BlurPart>) -> Arc<[BlurPart]> {
        match &self.parts {
            Some(parts) if **parts == *asked => parts.clone(),
            _ => self.parts.insert(asked.into()).clone(),
        }
    }

    /// Returns whether the job can be encoded.
    fn update(
        &mut self,
        panel: &Panel,
        work: Work,
        bounds: URect,
        target: &ViewTarget,
        preparer: &mut BlurPreparer,
    ) -> bool {
        let request = BlurRequest {
            io: BlurIo {
                ends: Ends::of_camera(target.main_texture_format(), panel.picture.is_light),
                target: target.main_texture().id(),
                // The camera paints it anew in every frame.
                source_is_fresh: true,
            },
            work,
            finish: Finish::Leave,
            region: bounds,
            bounds,
            source_size: panel.picture.size,
        };
        if let Err(error) = self.job.update(preparer, request) {
            error!("the glass of entity {}: {error}", panel.entity);
        }
        // Blurs that run before this one may flip the pair of textures.
        let sources = [target.main_texture_other_view(), target.main_texture_view()];
        self.is_used = true;
        self.is_ready = self.job.bind(preparer, &sources);
        self.is_ready
    }
}

/// The blurs of some panels.
#[derive(Debug, Default, PartialEq)]
struct Shared {
    parts: Vec<BlurPart>,
    /// The part of every panel.
    part_of: Vec<usize>,
}

/// Panels that see what surrounds them, blurred alike, share a blur where one that covers both is no larger than two.
fn share<'a>(panels: impl Iterator<Item = &'a Panel>) -> Shared {
    let mut shared = Shared::default();
    let mut are_shared: Vec<bool> = Vec::new();
    for panel in panels {
        let part = BlurPart {
            sigma: panel.sigma,
            edge: panel.edge,
            bounds: panel.reads,
            region: panel.region,
        };
        let fits = |(other, is_shared): (&BlurPart, &bool)| *is_shared && panel.is_open && joins(other, &part);
        let place = shared.parts.iter().zip(&are_shared).position(fits).unwrap_or_else(|| {
            shared.parts.push(part);
            are_shared.push(panel.is_open);
            shared.parts.len() - 1
        });
        let joined = &mut shared.parts[place];
        joined.bounds = joined.bounds.union(part.bounds);
        joined.region = joined.region.union(part.region);
        shared.part_of.push(place);
    }
    shared
}

/// Whether one blur for both is no larger than two.
fn joins(one: &BlurPart, other: &BlurPart) -> bool {
    let area = |texels: URect| u64::from(texels.width()) * u64::from(texels.height());
    let is_alike = (one.sigma, one.edge) == (other.sigma, other.edge);
    is_alike && area(one.bounds.union(other.bounds)) <= area(one.bounds) + area(other.bounds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backdrop::panel::{Layer, Picture, Shape};
    use crate::settings::{BackdropBlur, BackdropSampling};
    use bevy::math::Affine2;

    /// A panel of 100 by 50 pixels on a large picture, at some place along x.
    fn panel(x: f32, sampling: BackdropSampling, radius: f32) -> Panel {
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
        Panel::new(Entity::PLACEHOLDER, picture, shape, &glass, sigma, || Layer::AboveUi(0)).expect("it can be seen")
    }

    fn parts_of(panels: &[Panel]) -> Vec<usize> {
        share(panels.iter()).part_of
    }

    #[test]
    fn panels_that_see_the_same_share_a_blur() {
        let open = |x: f32| panel(x, BackdropSampling::Surroundings, 40.0);
        assert_eq!(
            parts_of(&[open(500.0), open(620.0), open(3000.0), open(740.0)]),
            [0, 0, 1, 0]
        );
        let both = share([open(500.0), open(620.0)].iter());
        assert_eq!(both.parts[0].region, URect::new(500, 475, 720, 525));
        assert_eq!(both.parts[0].bounds, open(500.0).reads.union(open(620.0).reads));
        // Others do not see the same: they end at their edges, or are blurred in another way.
        let inside = |x: f32| panel(x, BackdropSampling::Inside, 40.0);
        assert_eq!(parts_of(&[inside(500.0), inside(590.0), open(500.0)]), [0, 1, 2]);
        assert_eq!(
            parts_of(&[open(500.0), panel(620.0, BackdropSampling::Surroundings, 41.0)]),
            [0, 1]
        );
    }
}
