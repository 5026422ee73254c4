//! A request with everything needed to execute it, from frame to frame.

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

/// A request that can be executed as soon as its pipelines are compiled.
pub struct Prepared {
    pub request: BlurRequest,
    pub resolved: Resolved,
    pub plan: BlurPlan,
    /// The sizes that the intermediate textures need. The plan's may be larger.
    pub needed: Vec<UVec2>,
    pub steps: Vec<Step>,
    /// The plans of [items](Work::Batch), reused for items that do not change.
    pub items: Vec<BlurPlan>,
    /// The inputs of deferred steps.
    pub deferred: Vec<BoundLevel>,
    pub uniforms: Buffer,
    /// The additional inputs of passes with a varying sigma.
    pub blend: Option<Blend>,
    /// The intermediate textures of this frame.
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

/// The texture that a deferred step reads.
pub struct BoundLevel {
    pub level: TextureViewId,
    pub filtered: bool,
    pub group: BindGroup,
}

/// Everything needed to create bind groups.
#[derive(Clone, Copy)]
pub struct Binder<'a> {
    pub pipelines: &'a BlurPipelines,
    pub cache: &'a PipelineCache,
    pub device: &'a RenderDevice,
}

impl Prepared {
    /// Replaces the request by one with the same plan.
    pub fn take_request(&mut self, request: BlurRequest) {
        if self.request != request {
            *self.is_blurred.get_mut() = false;
            self.request = request;
        }
    }

    /// Whether its result is kept and exists: nothing is left to blur.
    pub fn is_kept(&self) -> bool {
        self.request.keeps.is_some() && self.is_blurred.load(Ordering::Relaxed)
    }

    /// Releases the textures.
    pub fn release(&mut self) {
        self.textures.clear();
        self.deferred.clear();
        self.request.mask = None;
        self.result = None;
        *self.is_blurred.get_mut() = false;
        self.steps.iter_mut().for_each(Step::release);
        if let Some(blend) = &mut self.blend
            && blend.mask.take().is_some()
        {
            // Without its mask it cannot stand in for another request.
            self.was_drawn = false;
        }
    }

    /// Releases everything that is not needed to draw a kept result.
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

    /// The intermediate texture that a pass reads.
    pub fn level_of(&self, pass: &Pass) -> Option<&TextureView> {
        match pass.source {
            Surface::Intermediate(index) => self.textures.get(index),
            Surface::Source | Surface::Destination => None,
        }
    }

    /// Whether the pipelines of all steps are compiled.
    pub fn is_ready(&self, pipelines: &BlurPipelines, cache: &PipelineCache) -> bool {
        self.steps.iter().all(|step| step.ready(pipelines, cache).is_some())
    }

    /// Whether it may be drawn while pipelines of another request are missing.
    pub fn stands_in_for(&self, request: &BlurRequest) -> bool {
        let is_batch = matches!(self.request.work, Work::Batch(..));
        self.was_drawn && request.io.source_is_fresh && !is_batch && self.request.has_textures_of(request)
    }

    /// Makes the bind groups for a source and a destination the latest ones.
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
                // All sources and destinations use the same intermediate textures.
                most: match (pass.source, pass.target) {
                    (Surface::Intermediate(_), Surface::Intermediate(_)) => 1,
                    _ => turns,
                },
            };
            steps[0].bind(before.last(), with.pipelines, with.cache, with.device, &bound);
        }
    }

    /// Binds the inputs of deferred steps.
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
