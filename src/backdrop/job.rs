//! The job that blurs what some glass sees.

use super::extracted::ExtractedBackdrop;
use crate::errors::BlurError;
use crate::gpu::{BatchedBlur, BlurJob, BlurPreparer, BlurRequest};
use bevy::ecs::entity::{EntityHashMap, EntityHashSet};
use bevy::prelude::*;
use bevy::render::render_resource::TextureView;
use std::sync::Arc;

/// A blur behind glass, from frame to frame.
#[derive(Default)]
pub struct BackdropJob {
    /// The blur.
    pub job: BlurJob,
    items: Option<Arc<[BatchedBlur]>>,
    /// The number of its freeze, if it is frozen.
    pub frozen: Option<u64>,
    /// Whether it is used in this frame.
    pub is_used: bool,
    /// Whether it can be encoded in this frame.
    pub is_ready: bool,
}

impl BackdropJob {
    /// A new job of a backdrop that had one among `jobs`, or was blurred in a group with others. It shows the same profile until its
    /// mask is loaded.
    pub fn going_on((jobs, grouped): (&EntityHashMap<Self>, &EntityHashSet), backdrop: Entity) -> Self {
        let job = match jobs.get(&backdrop) {
            None if grouped.contains(&backdrop) => BlurJob::after_uniform(),
            other => BlurJob::after(other.map(|other| &other.job)),
        };
        Self { job, ..Self::default() }
    }

    /// The items behind a pointer, which changes only when they do.
    pub fn batch_of(&mut self, asked: &[BatchedBlur]) -> Arc<[BatchedBlur]> {
        match &self.items {
            Some(items) if **items == *asked => items.clone(),
            _ => self.items.insert(asked.into()).clone(),
        }
    }

    /// Returns whether the job can be encoded.
    pub fn update(
        &mut self,
        backdrop: &ExtractedBackdrop,
        request: BlurRequest,
        sources: &[&TextureView],
        preparer: &mut BlurPreparer,
    ) -> bool {
        self.try_update(backdrop, request, sources, preparer).is_ok() && self.is_ready
    }

    /// Logs a failure if it is new, and returns it.
    pub fn try_update(
        &mut self,
        backdrop: &ExtractedBackdrop,
        request: BlurRequest,
        sources: &[&TextureView],
        preparer: &mut BlurPreparer,
    ) -> Result<(), BlurError> {
        let updated = self.job.update(preparer, request);
        if let Err(error) = &updated {
            error!("the glass of entity {}: {error}", backdrop.entity);
        }
        self.is_used = true;
        self.is_ready = self.job.bind(preparer, sources);
        updated.map(drop)
    }
}
