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
use crate::errors::{BlurError, Reported};
use crate::formats::Ends;
use crate::gpu::{BlurJob, BlurPart, BlurPreparer, BlurTask, Left, Masks, Work};
use crate::plan::Finish;
use bevy::ecs::entity::EntityHashMap;
use bevy::math::URect;
use bevy::prelude::*;
use bevy::render::camera::ExtractedCamera;
use bevy::render::view::ViewTarget;
use std::sync::Arc;

/// The jobs of all groups. Made anew when the render device is.
#[derive(Resource, Default)]
pub struct GlassJobs {
    /// By the main world's entity of their first panel.
    jobs: EntityHashMap<GlassJob>,
    /// For every panel of this frame the first one of its job, and its part of that.
    parts: Vec<Option<(Entity, usize)>>,
}

#[derive(Default)]
struct GlassJob {
    job: BlurJob,
    parts: Option<Arc<[BlurPart]>>,
    failures: Reported,
    /// Whether the group is there in this frame.
    is_seen: bool,
    /// Whether the job can be encoded in this frame.
    is_ready: bool,
}

impl GlassJobs {
    /// What the blur of a panel leaves, by the index of the panel. `None` if it cannot be encoded.
    #[must_use]
    pub fn left(&self, panel: usize) -> Option<Left<'_>> {
        let (leader, part) = (*self.parts.get(panel)?)?;
        let job = self.jobs.get(&leader)?;
        job.is_ready.then_some(())?;
        job.job.left(part)
    }

    /// The blurs of a group that can be encoded.
    pub fn of_group<'a>(&'a self, group: &'a Group, panels: &'a Panels) -> impl Iterator<Item = &'a BlurJob> {
        let entities = group.panels.iter().map(|index| panels.0[*index].entity);
        let jobs = entities.filter_map(|entity| self.jobs.get(&entity));
        jobs.filter(|job| job.is_ready).map(|job| &job.job)
    }
}

/// Brings the jobs of all groups up to date. Those of groups that are no longer there go, with all that they hold.
pub fn update_jobs(
    cameras: Query<&ViewTarget, With<ExtractedCamera>>,
    panels: Res<Panels>,
    views: Res<Views>,
    pipelines: Res<GlassPipelines>,
    mut glass: ResMut<GlassJobs>,
    (mut preparer, masks): (BlurPreparer, Masks),
) {
    let GlassJobs { jobs, parts } = &mut *glass;
    jobs.values_mut().for_each(|job| job.is_seen = false);
    parts.clear();
    parts.resize(panels.0.len(), None);
    for (camera, view) in &views.0 {
        let Ok(target) = cameras.get(*camera) else {
            continue;
        };
        if pipelines.mixes(target.main_texture_format()).is_none() {
            continue;
        }
        for group in view.groups() {
            let of_group = || group.panels.iter().map(|index| (*index, &panels.0[*index]));
            for (index, panel) in of_group().filter(|(_, panel)| panel.varies()) {
                parts[index] = Some((panel.entity, 0));
                let job = jobs.entry(panel.entity).or_default();
                job.update_varying(panel, target, &mut preparer, &masks);
            }
            let uniform = || of_group().filter(|(_, panel)| !panel.varies());
            let Some((_, leader)) = uniform().next() else {
                continue;
            };
            let asked = share(uniform().map(|(_, panel)| panel));
            for ((index, _), part) in uniform().zip(&asked.part_of) {
                parts[index] = Some((leader.entity, *part));
            }
            let job = jobs.entry(leader.entity).or_default();
            job.update(leader, asked.parts, target, &mut preparer);
        }
    }
    jobs.retain(|_, job| job.is_seen);
}

impl GlassJob {
    /// Panels of a group are on one picture, so what is true of its first panel there is true of all.
    fn update(&mut self, leader: &Panel, asked: Vec<BlurPart>, target: &ViewTarget, preparer: &mut BlurPreparer) {
        let parts = match &self.parts {
            Some(parts) if **parts == *asked => parts.clone(),
            _ => self.parts.insert(asked.into()).clone(),
        };
        let whole = URect::from_corners(UVec2::ZERO, leader.picture.size);
        let task = task(leader, target, Work::Parts(parts), whole);
        let prepared = preparer.prepare(&mut self.job, task);
        self.bind(leader, prepared.map(|()| true), target, preparer);
    }

    /// A panel whose sigma varies over it.
    fn update_varying(&mut self, panel: &Panel, target: &ViewTarget, preparer: &mut BlurPreparer, masks: &Masks) {
        let prepared = self.prepare_varying(panel, target, preparer, masks);
        self.bind(panel, prepared, target, preparer);
    }

    /// Returns whether the job can be carried out: a mask may be on its way.
    fn prepare_varying(
        &mut self,
        panel: &Panel,
        target: &ViewTarget,
        preparer: &mut BlurPreparer,
        masks: &Masks,
    ) -> Result<bool, BlurError> {
        let shares = panel.shares.as_ref();
        let Some(mask) = masks.find(shares)? else {
            return Ok(false);
        };
        let (sigma, edge) = (panel.sigma, panel.edge);
        let task = task(panel, target, Work::Vary { sigma, edge }, panel.reads);
        preparer.prepare(&mut self.job, task)?;
        if let Some(shares) = shares {
            preparer.share(&mut self.job, shares, mask.0.as_ref());
        }
        Ok(true)
    }

    fn bind(
        &mut self,
        panel: &Panel,
        prepared: Result<bool, BlurError>,
        target: &ViewTarget,
        preparer: &mut BlurPreparer,
    ) {
        // Blurs that run before this one may flip the pair of textures.
        let sources = [target.main_texture_other_view(), target.main_texture_view()];
        self.is_seen = true;
        self.is_ready = prepared == Ok(true) && preparer.bind(&mut self.job, &sources);
        if let Some(error) = self.failures.news(prepared.map(drop)) {
            error!("the glass of entity {}: {error}", panel.entity);
        }
    }
}

fn task(panel: &Panel, target: &ViewTarget, work: Work, region: URect) -> BlurTask {
    BlurTask {
        ends: Ends::of_camera(target.main_texture_format(), panel.picture.is_light),
        work,
        finish: Finish::Leave,
        region,
        source_size: panel.picture.size,
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
            reads: panel.reads,
            region: panel.region,
        };
        let fits = |(other, is_shared): (&BlurPart, &bool)| *is_shared && panel.is_open && joins(other, &part);
        let place = shared.parts.iter().zip(&are_shared).position(fits).unwrap_or_else(|| {
            shared.parts.push(part);
            are_shared.push(panel.is_open);
            shared.parts.len() - 1
        });
        let joined = &mut shared.parts[place];
        joined.reads = joined.reads.union(part.reads);
        joined.region = joined.region.union(part.region);
        shared.part_of.push(place);
    }
    shared
}

/// Whether one blur for both is no larger than two.
fn joins(one: &BlurPart, other: &BlurPart) -> bool {
    let area = |texels: URect| u64::from(texels.width()) * u64::from(texels.height());
    let is_alike = (one.sigma, one.edge) == (other.sigma, other.edge);
    is_alike && area(one.reads.union(other.reads)) <= area(one.reads) + area(other.reads)
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
        assert_eq!(both.parts[0].reads, open(500.0).reads.union(open(620.0).reads));
        // Others do not see the same: they end at their edges, or are blurred in another way.
        let inside = |x: f32| panel(x, BackdropSampling::Inside, 40.0);
        assert_eq!(parts_of(&[inside(500.0), inside(590.0), open(500.0)]), [0, 1, 2]);
        assert_eq!(
            parts_of(&[open(500.0), panel(620.0, BackdropSampling::Surroundings, 41.0)]),
            [0, 1]
        );
    }
}
