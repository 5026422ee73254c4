//! A request with everything needed to execute it, from frame to frame.

use super::pipeline_key::PipelineKey;
use super::pipeline_queue::BlurPipelines;
use super::profile_bindings::Blend;
use super::request::BlurRequest;
use super::shown::Drawable;
use super::step::{BlurAccess, Bound, KeptPass, bind_group};
use crate::formats::Resolved;
use crate::plan::BlurPlan;
use crate::plan::pass::{Pass, TextureSlot};
use bevy::math::UVec2;
use bevy::platform::collections::HashMap;
use bevy::render::render_resource::{BindGroup, Buffer, PipelineCache, TextureView, TextureViewId};
use core::sync::atomic::{AtomicBool, Ordering};

/// A request that can be executed as soon as its pipelines are compiled.
pub struct Prepared {
    pub request: BlurRequest,
    pub resolved: Resolved,
    pub plan: BlurPlan,
    /// The sizes that the intermediate textures need. The plan's may be larger.
    pub needed: Vec<UVec2>,
    pub steps: Vec<KeptPass>,
    /// The plans of [items](Work::Batch), reused for items that do not change.
    pub items: Vec<BlurPlan>,
    /// The inputs of deferred steps: the textures that they read, and whether with filtered fetches.
    pub deferred: HashMap<(TextureViewId, bool), BindGroup>,
    pub uniforms: Buffer,
    /// The additional inputs of passes with a varying sigma.
    pub blend: Option<Blend>,
    /// The intermediate textures of this frame. None while only a kept result is needed.
    pub textures: Vec<TextureView>,
    /// The intermediate texture that it [keeps](BlurRequest::keeps).
    pub result: Option<TextureView>,
    /// Whether each of its kernels has a pipeline of its own, compiled or not.
    pub is_specialised: bool,
    /// Whether it has been drawn before.
    pub was_drawn: bool,
    /// Whether the result that it [keeps](BlurRequest::keeps) exists. Atomic, because encoding has shared access.
    pub is_blurred: AtomicBool,
}

impl Prepared {
    /// Whether its result is kept and exists: nothing is left to blur.
    pub fn is_kept(&self) -> bool {
        self.request.keeps.is_some() && self.result.is_some() && self.is_blurred.load(Ordering::Relaxed)
    }

    /// Releases everything that is not needed to draw a kept result.
    pub fn release_all_but_the_result(&mut self) {
        self.textures.clear();
        self.steps.iter_mut().for_each(KeptPass::release);
    }

    /// The intermediate texture that a pass reads.
    pub fn level_of(&self, pass: &Pass) -> Option<&TextureView> {
        match pass.source {
            // Only a deferred step is left.
            TextureSlot::Intermediate(_) if self.is_kept() => self.result.as_ref(),
            TextureSlot::Intermediate(index) => self.textures.get(index),
            TextureSlot::Source | TextureSlot::Destination => None,
        }
    }

    /// Whether the pipelines of all steps are compiled.
    pub fn is_ready(&self, pipelines: &BlurPipelines, cache: &PipelineCache) -> bool {
        are_ready(&self.steps, pipelines, cache)
    }

    /// Makes the bind groups for a source and a destination the latest ones.
    pub fn bind(&mut self, with: BlurAccess, source: &TextureView, destination: &TextureView, turns: usize) {
        let mask = self
            .request
            .work
            .varying()
            .and_then(|(_, field)| field.mask.as_ref()?.texture());
        let sigma_levels = self.plan.sigma_levels.as_ref().zip(self.blend.as_ref());
        let blended = sigma_levels.map(|(sigma_levels, blend)| {
            let atlas = view_of(&self.textures, sigma_levels.atlas, source);
            // Without a mask, no shader reads it.
            (
                blend,
                [
                    atlas,
                    mask.unwrap_or(atlas),
                    view_of(&self.textures, sigma_levels.sums, source),
                ],
            )
        });
        for (index, pass) in self.plan.passes.iter().enumerate() {
            let (before, steps) = self.steps.split_at_mut(index);
            let bound = Bound {
                source: view_of(&self.textures, pass.source, source),
                target: view_of(&self.textures, pass.target, destination),
                uniforms: &self.uniforms,
                blended: blended.filter(|_| pass.program.varies() || pass.needed.is_some()),
                // All sources and destinations use the same intermediate textures.
                most: match (pass.source, pass.target) {
                    (TextureSlot::Intermediate(_), TextureSlot::Intermediate(_)) => 1,
                    _ => turns,
                },
            };
            steps[0].bind(before.last(), with, &bound);
        }
    }

    /// Binds the inputs of deferred steps.
    pub fn bind_deferred(&mut self, with: BlurAccess) {
        let mut deferred = core::mem::take(&mut self.deferred);
        deferred.retain(|(level, _), _| self.textures.iter().chain(&self.result).any(|held| held.id() == *level));
        for pass in &self.plan.deferred {
            let (Some(level), filtered) = (self.level_of(pass), pass.program.filters()) else {
                continue;
            };
            let bound = Bound {
                source: level,
                target: level,
                uniforms: &self.uniforms,
                blended: None,
                most: 1,
            };
            let key = PipelineKey::deferred(filtered, self.request.ends.destination);
            deferred
                .entry((level.id(), filtered))
                .or_insert_with(|| bind_group(&key, with, &bound));
        }
        self.deferred = deferred;
    }
}

impl Drawable for Prepared {
    fn request(&self) -> &BlurRequest {
        &self.request
    }

    fn request_mut(&mut self) -> &mut BlurRequest {
        &mut self.request
    }

    fn take_request(&mut self, request: BlurRequest) {
        if self.request != request {
            *self.is_blurred.get_mut() = false;
            self.request = request;
        }
    }

    fn was_drawn(&self) -> bool {
        self.was_drawn
    }

    fn retire(&mut self) {
        self.was_drawn = false;
    }

    fn release(&mut self) {
        self.textures.clear();
        self.deferred.clear();
        self.result = None;
        *self.is_blurred.get_mut() = false;
        self.steps.iter_mut().for_each(KeptPass::release);
    }
}

/// Whether the pipelines of steps are compiled.
pub fn are_ready(steps: &[KeptPass], pipelines: &BlurPipelines, cache: &PipelineCache) -> bool {
    let mut alike = steps.chunk_by(|one, other| one.key == other.key);
    alike.all(|alike| alike[0].ready(pipelines, cache).is_some())
}

fn view_of<'a>(textures: &'a [TextureView], surface: TextureSlot, end: &'a TextureView) -> &'a TextureView {
    match surface {
        TextureSlot::Intermediate(index) => &textures[index],
        TextureSlot::Source | TextureSlot::Destination => end,
    }
}
