//! The jobs of cameras, of glass and of layers, from frame to frame: marked by what a frame wants, and swept at its end.

use super::job::{BlurJob, BlurState, Deferred};
use super::prepare::BlurPreparer;
use super::request::BlurRequest;
use crate::errors::BlurError;
use crate::plan::pack::PageSet;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::render_resource::TextureView;

/// Tells jobs apart: what is blurred, the entity that it belongs to, and the pages of its levels, or another word where one entity has
/// several jobs.
pub type JobKey = (&'static str, Entity, PageSet);

/// The jobs. Recreated with the render device, whose objects they hold.
#[derive(Resource, Default)]
pub struct BlurJobs {
    all: HashMap<JobKey, WantedJob>,
}

#[derive(Default)]
struct WantedJob {
    job: BlurJob,
    is_wanted: bool,
    /// Whether it is bound, so that it can be encoded in this frame.
    is_bound: bool,
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
        let wanted = self.mark(key);
        let updated = wanted.job.update(preparer, request);
        wanted.is_bound = !sources.is_empty() && wanted.job.bind(preparer, sources);
        updated
    }

    /// Keeps a job that has nothing to do in this frame, but not its textures.
    pub fn rest(&mut self, key: JobKey) {
        self.mark(key).job.release();
    }

    /// A job that is wanted in this frame.
    pub fn get_mut(&mut self, key: JobKey) -> Option<&mut BlurJob> {
        self.all.get_mut(&key).map(|wanted| &mut wanted.job)
    }

    /// A job that can be encoded in this frame.
    pub fn bound(&self, key: JobKey) -> Option<&BlurJob> {
        let wanted = self.all.get(&key).filter(|wanted| wanted.is_bound);
        wanted.map(|wanted| &wanted.job)
    }

    /// The last step that a bound job leaves to a front end: of the blur with this number.
    pub fn deferred(&self, (key, item): (JobKey, usize)) -> Option<Deferred<'_>> {
        self.bound(key)?.deferred(item)
    }

    fn mark(&mut self, key: JobKey) -> &mut WantedJob {
        let wanted = self.all.entry(key).or_default();
        wanted.is_wanted = true;
        wanted
    }
}

/// Drops the jobs that a frame has not wanted, with everything that they hold.
pub fn sweep_jobs(mut jobs: ResMut<BlurJobs>) {
    jobs.all.retain(|_, wanted| core::mem::take(&mut wanted.is_wanted));
}
