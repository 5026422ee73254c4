//! Brings jobs up to date with what is asked for.

use super::compile::{BlurPipelines, Uses};
use super::job::{BlurJob, BlurTask, Bound, Prepared, Step, Work, bind_group};
use super::pipelines::PipelineKey;
use super::textures::IntermediateTextures;
use super::uniforms::uniform_bytes;
use crate::errors::BlurError;
use crate::formats::{Capabilities, Ends, Resolved};
use crate::plan::pass::{Pass, Surface};
use crate::plan::{BlurPlan, BlurRequest};
use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy::render::render_resource::{
    Buffer, BufferDescriptor, BufferUsages, CachedRenderPipelineId, PipelineCache, TextureView,
};
use bevy::render::renderer::{RenderDevice, RenderQueue};

/// All that it takes to bring a [`BlurJob`] up to date.
#[derive(SystemParam)]
pub struct BlurPreparer<'w> {
    device: Res<'w, RenderDevice>,
    queue: Res<'w, RenderQueue>,
    capabilities: Res<'w, Capabilities>,
    pipelines: ResMut<'w, BlurPipelines>,
    cache: Res<'w, PipelineCache>,
    textures: ResMut<'w, IntermediateTextures>,
}

impl BlurPreparer<'_> {
    /// Asks for all that is needed between two ends, before there is anything to do.
    pub fn announce(&mut self, ends: Ends, uses: Uses) {
        self.pipelines.announce(ends, uses, &self.capabilities, &self.cache);
    }

    /// Counts a pipeline of somebody else among those that [`BlurReadiness`](super::BlurReadiness) waits for.
    pub fn wait_for(&mut self, id: CachedRenderPipelineId) {
        self.pipelines.wait_for(id);
    }

    /// Brings a job up to date and takes its textures for this frame.
    ///
    /// # Errors
    /// Those of [`Capabilities::resolve`] and [`BlurError::TooLarge`]; the job then has nothing to do.
    pub fn prepare(&mut self, job: &mut BlurJob, task: BlurTask) -> Result<(), BlurError> {
        if job.current.as_ref().map(|prepared| prepared.task) != Some(task) {
            let old = job.current.take();
            let last = job.last.take();
            let prepared = self.set_up(task, old.as_ref())?;
            self.replace(job, prepared, old, last);
        }
        for prepared in job.current.iter_mut().chain(&mut job.last) {
            self.textures
                .take(&prepared.plan, &prepared.resolved, &self.device, &mut prepared.textures);
        }
        Ok(())
    }

    /// Binds a job whose last step is left to somebody else, for any of these sources. Returns `false` while a pipeline is
    /// missing.
    pub fn bind(&self, job: &mut BlurJob, sources: &[&TextureView]) -> bool {
        let Some(prepared) = &mut job.current else {
            return false;
        };
        if !prepared.is_ready(&self.pipelines, &self.cache) {
            return false;
        }
        for source in sources {
            prepared.bind(
                &self.pipelines,
                &self.cache,
                &self.device,
                source,
                source,
                sources.len(),
            );
        }
        self.bind_left(prepared);
        true
    }

    fn bind_left(&self, prepared: &mut Prepared) {
        let Some((Surface::Intermediate(level), filtered)) = prepared
            .plan
            .left
            .as_ref()
            .map(|left| (left.source, left.program.filters()))
        else {
            return;
        };
        let level = &prepared.textures[level];
        if prepared.left.as_ref().is_some_and(|(of, _)| *of == level.id()) {
            return;
        }
        let bound = Bound {
            source: level,
            target: level,
            uniforms: &prepared.uniforms,
            most: 1,
        };
        let key = PipelineKey::left(filtered);
        let group = bind_group(&key, &self.pipelines, &self.cache, &self.device, &bound);
        prepared.left = Some((level.id(), group));
    }

    /// Plans a task. Its uniforms are yet to be written.
    fn set_up(&mut self, task: BlurTask, old: Option<&Prepared>) -> Result<Planned, BlurError> {
        let known = old.filter(|old| old.task.ends == task.ends).map(|old| old.resolved);
        let resolved = known.map_or_else(|| self.capabilities.resolve(&task.ends), Ok)?;
        let plan = plan_of(&task, &resolved);
        let (size, limit) = (plan.largest_intermediate(), self.capabilities.largest_side());
        if size.max_element() > limit {
            return Err(BlurError::TooLarge { size, limit });
        }
        if let Work::Blur { .. } = task.work {
            self.pipelines.accelerate(task.ends, task.finish, &resolved);
        }
        let step = |pass: &Pass| {
            let key = PipelineKey::new(pass.stage(), &task.ends, &resolved);
            self.pipelines.want(key);
            Step::new(key, self.pipelines.serving_any_kernel(key, &self.cache))
        };
        let steps = plan.passes.iter().map(step).collect();
        Ok(Planned {
            task,
            resolved,
            plan,
            steps,
        })
    }

    /// Puts a new plan into a job. What was drawn before it stays while pipelines of the new one are missing; else the new
    /// one takes over all that fits.
    fn replace(&self, job: &mut BlurJob, new: Planned, old: Option<Prepared>, last: Option<Prepared>) {
        let is_ready = new
            .steps
            .iter()
            .all(|step| step.ready(&self.pipelines, &self.cache).is_some());
        let keeps = |prepared: &Prepared| prepared.was_drawn && prepared.task.has_textures_of(&new.task);
        let (spare, last) = match old {
            _ if is_ready => (old, None),
            Some(old) if keeps(&old) => (None, Some(old)),
            old => (old, last.filter(keeps)),
        };
        let bytes = uniform_bytes(&new.plan, new.task.source_size);
        let fits = |old: &Prepared| old.uniforms.size() >= bytes.len() as u64;
        let mut steps = new.steps;
        let uniforms = match spare {
            Some(old) if fits(&old) => {
                if old.task.has_textures_of(&new.task) {
                    steps
                        .iter_mut()
                        .zip(old.steps)
                        .for_each(|(step, old)| step.inherit(old));
                }
                old.uniforms
            }
            _ => self.create_uniforms(bytes.len()),
        };
        self.queue.write_buffer(&uniforms, 0, &bytes);
        job.last = last;
        job.current = Some(Prepared {
            task: new.task,
            resolved: new.resolved,
            plan: new.plan,
            left: None,
            steps,
            uniforms,
            textures: Vec::new(),
            was_drawn: false,
        });
    }

    fn create_uniforms(&self, size: usize) -> Buffer {
        self.device.create_buffer(&BufferDescriptor {
            label: Some("gaussian_blur_uniforms"),
            // A plan without passes has none.
            size: size.max(16) as u64,
            usage: BufferUsages::UNIFORM | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        })
    }
}

/// A task with its plan and pipelines.
struct Planned {
    task: BlurTask,
    resolved: Resolved,
    plan: BlurPlan,
    steps: Vec<Step>,
}

fn plan_of(task: &BlurTask, resolved: &Resolved) -> BlurPlan {
    match task.work {
        Work::Copy => BlurPlan::copy(task.region, task.finish),
        Work::Mipmap => BlurPlan::mipmap(task.source_size, task.region.size()),
        Work::Blur { sigma, edge } => BlurPlan::new(&BlurRequest {
            sigma,
            region: task.region,
            edge,
            means: resolved.means,
            finish: task.finish,
        }),
    }
}
