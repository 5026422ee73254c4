//! The jobs of cameras, of glass and of layers, from frame to frame: marked by what a frame wants, and swept at its end.

use super::job::{BlurJob, BlurState, Deferred};
use super::prepare::BlurPreparer;
use super::request::BlurRequest;
use crate::errors::BlurError;
use crate::plan::pack::PageSet;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::render_resource::TextureView;

/// Tells jobs apart, by the main world's entities that they belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JobKey {
    /// The blur of a camera.
    Camera(Entity),
    /// The glass of a batch, by its first one.
    Glass(Entity),
    /// Glass whose sigma varies.
    VaryingGlass(Entity),
    /// Glass that is frozen.
    FrozenGlass(Entity),
    /// The layers of a batch on a camera, whose levels lie on pages of a set.
    Layers(Entity, PageSet),
    /// A layer whose sigma varies, by the entity of its filter.
    VaryingLayer(Entity),
}

/// The jobs, and whether this frame wants them. Recreated with the render device, whose objects they hold.
#[derive(Resource, Default)]
pub struct BlurJobs {
    all: HashMap<JobKey, (BlurJob, bool)>,
}

impl BlurJobs {
    /// Updates a job with the request of this frame. If it defers its last step, it is bound for any of these sources.
    ///
    /// # Errors
    /// The errors of [`BlurJob::update`], once for each cause.
    pub fn want(
        &mut self,
        key: JobKey,
        request: BlurRequest,
        sources: &[&TextureView],
        preparer: &mut BlurPreparer,
    ) -> Result<BlurState, BlurError> {
        preparer.announce(request.ends, request.work.kind(), request.finish);
        let job = self.mark(key);
        let outcome = job.update(preparer, request);
        job.bind(preparer, sources);
        job.settle(outcome)
    }

    /// Keeps a job that has nothing to do in this frame, but not its textures.
    pub fn rest(&mut self, key: JobKey) {
        self.mark(key).release();
    }

    /// A job that is wanted in this frame.
    pub fn get_mut(&mut self, key: JobKey) -> Option<&mut BlurJob> {
        self.all.get_mut(&key).map(|(job, _)| job)
    }

    /// A job that can be encoded in this frame.
    pub fn bound(&self, key: JobKey) -> Option<&BlurJob> {
        self.all.get(&key).map(|(job, _)| job).filter(|job| job.is_bound())
    }

    /// The last step that a bound job leaves to a front end: of the blur with this number.
    pub fn deferred(&self, (key, item): (JobKey, usize)) -> Option<Deferred<'_>> {
        self.bound(key)?.deferred(item)
    }

    fn mark(&mut self, key: JobKey) -> &mut BlurJob {
        let (job, is_wanted) = self.all.entry(key).or_default();
        *is_wanted = true;
        job
    }
}

/// Drops the jobs that a frame has not wanted, with everything that they hold.
pub fn sweep_jobs(mut jobs: ResMut<BlurJobs>) {
    jobs.all.retain(|_, (_, is_wanted)| core::mem::take(is_wanted));
}
