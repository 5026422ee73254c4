//! A request with all that it takes to carry it out, from frame to frame.

use super::pipeline_key::PipelineKey;
use super::pipeline_queue::BlurPipelines;
use super::profile_bindings::{Blend, Blended};
use super::request::{BlurRequest, Work};
use super::step::{Bound, Step, bind_group};
use crate::formats::Resolved;
use crate::plan::BlurPlan;
use crate::plan::pass::{Pass, Surface};
use bevy::math::UVec2;
use bevy::render::render_resource::{BindGroup, Buffer, PipelineCache, TextureView, TextureViewId};
use bevy::render::renderer::RenderDevice;
use core::sync::atomic::{AtomicBool, Ordering};

/// A request that can be carried out as soon as its pipelines are there.
pub struct Prepared {
    pub request: BlurRequest,
    pub resolved: Resolved,
    pub plan: BlurPlan,
    /// The sizes that intermediates need. Those of the plan may be larger.
    pub needed: Vec<UVec2>,
    pub steps: Vec<Step>,
    /// The plans of [items](Work::Batch), to be used again for those that do not change.
    pub items: Vec<BlurPlan>,
    /// What steps read that are deferred.
    pub deferred: Vec<BoundLevel>,
    pub uniforms: Buffer,
    /// What passes read whose sigma varies.
    pub blend: Option<Blend>,
    /// The intermediates of this frame.
    pub textures: Vec<TextureView>,
    /// The one of them that it [keeps](BlurRequest::keeps).
    pub result: Option<TextureView>,
    /// Whether it has been drawn before.
    pub was_drawn: bool,
    /// Whether the result that it [keeps](BlurRequest::keeps) is there. It is encoded where nothing can be changed.
    pub is_blurred: AtomicBool,
}

/// A texture that a step reads which is deferred.
pub struct BoundLevel {
    pub level: TextureViewId,
    pub filtered: bool,
    pub group: BindGroup,
}

/// What binding takes.
#[derive(Clone, Copy)]
pub struct Binder<'a> {
    pub pipelines: &'a BlurPipelines,
    pub cache: &'a PipelineCache,
    pub device: &'a RenderDevice,
}

impl Prepared {
    /// Takes over a request of the same plan.
    pub fn take_request(&mut self, request: BlurRequest) {
        if self.request != request {
            *self.is_blurred.get_mut() = false;
            self.request = request;
        }
    }

    /// Whether its result is kept, and there: nothing is left to be blurred.
    pub fn is_kept(&self) -> bool {
        self.request.keeps.is_some() && self.is_blurred.load(Ordering::Relaxed)
    }

    /// Lets go what is not needed to draw a result that is kept.
    pub fn release_all_but_the_result(&mut self) {
        let Some(result) = &self.result else {
            return;
        };
        for (index, texture) in self.textures.iter_mut().enumerate() {
            if !self.plan.reads_later(index) {
                texture.clone_from(result);
            }
        }
        self.steps.iter_mut().for_each(Step::release);
    }

    /// The intermediate that a pass reads.
    pub fn level_of(&self, pass: &Pass) -> Option<&TextureView> {
        match pass.source {
            Surface::Intermediate(index) => self.textures.get(index),
            Surface::Source | Surface::Destination => None,
        }
    }

    /// Whether the pipelines of all steps are there.
    pub fn is_ready(&self, pipelines: &BlurPipelines, cache: &PipelineCache) -> bool {
        self.steps.iter().all(|step| step.ready(pipelines, cache).is_some())
    }

    /// Whether it may be drawn while pipelines of another request are missing.
    pub fn stands_in_for(&self, request: &BlurRequest) -> bool {
        let is_batch = matches!(self.request.work, Work::Batch(..));
        self.was_drawn && request.io.source_is_fresh && !is_batch && self.request.has_textures_of(request)
    }

    /// Makes the bind groups for two ends the latest ones.
    pub fn bind(&mut self, with: Binder, source: &TextureView, destination: &TextureView, turns: usize) {
        let sigma_levels = self.plan.sigma_levels.as_ref().zip(self.blend.as_ref());
        let blended = sigma_levels.map(|(sigma_levels, blend)| Blended {
            blend,
            atlas: view_of(&self.textures, sigma_levels.atlas, source),
            sums: view_of(&self.textures, sigma_levels.sums, source),
        });
        for (index, pass) in self.plan.passes.iter().enumerate() {
            let (before, steps) = self.steps.split_at_mut(index);
            let bound = Bound {
                source: view_of(&self.textures, pass.source, source),
                target: view_of(&self.textures, pass.target, destination),
                uniforms: &self.uniforms,
                blended: blended.filter(|_| pass.program.varies() || pass.needed.is_some()),
                // Intermediates are always the same.
                most: match (pass.source, pass.target) {
                    (Surface::Intermediate(_), Surface::Intermediate(_)) => 1,
                    _ => turns,
                },
            };
            steps[0].bind(before.last(), with.pipelines, with.cache, with.device, &bound);
        }
    }

    /// Binds what steps read that are deferred.
    pub fn bind_deferred(&mut self, with: Binder) {
        let textures = &self.textures;
        self.deferred
            .retain(|bound| textures.iter().any(|texture| texture.id() == bound.level));
        for pass in &self.plan.deferred {
            let (Some(level), filtered) = (self.level_of(pass), pass.program.filters()) else {
                continue;
            };
            let is_it = |bound: &BoundLevel| bound.level == level.id() && bound.filtered == filtered;
            if self.deferred.iter().any(is_it) {
                continue;
            }
            let bound = Bound {
                source: level,
                target: level,
                uniforms: &self.uniforms,
                blended: None,
                most: 1,
            };
            let key = PipelineKey::deferred(filtered, self.request.io.ends.destination);
            let group = bind_group(&key, with.pipelines, with.cache, with.device, &bound);
            let level = level.id();
            self.deferred.push(BoundLevel { level, filtered, group });
        }
    }
}

fn view_of<'a>(textures: &'a [TextureView], surface: Surface, end: &'a TextureView) -> &'a TextureView {
    match surface {
        Surface::Intermediate(index) => &textures[index],
        Surface::Source | Surface::Destination => end,
    }
}
