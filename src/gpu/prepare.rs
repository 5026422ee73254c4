//! Brings jobs up to date with what is asked for.

use super::blend::Blend;
use super::compile::{BlurPipelines, Uses};
use super::job::{BlurJob, BlurPart, BlurTask, Bound, BoundLevel, Prepared, Step, Work, bind_group};
use super::pipelines::PipelineKey;
use super::textures::IntermediateTextures;
use super::uniforms::uniform_bytes;
use crate::errors::BlurError;
use crate::formats::{Capabilities, Ends, Resolved};
use crate::plan::pages::{Part, together};
use crate::plan::pass::Pass;
use crate::plan::{BlurPlan, Finish, PlanRequest};
use crate::shares::Shares;
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
    /// Those of [`Capabilities::resolve`], [`BlurError::TooLarge`] and [`BlurError::OutOfMemory`]; the job then has nothing to
    /// do.
    pub fn prepare(&mut self, job: &mut BlurJob, task: BlurTask) -> Result<(), BlurError> {
        if job.current.as_ref().map(|prepared| &prepared.task) != Some(&task) {
            let mut old = job.current.take();
            let last = job.last.take();
            let prepared = self.set_up(task, old.as_mut())?;
            self.replace(job, prepared, old, last);
        }
        let mut prepared = job.current.iter_mut().chain(&mut job.last);
        let taken = prepared.try_for_each(|prepared| self.take_textures(prepared));
        if taken.is_err() {
            job.release();
        }
        taken
    }

    /// Takes textures for this frame. Pages may be larger than they have to be, and then fetches are told.
    fn take_textures(&mut self, prepared: &mut Prepared) -> Result<(), BlurError> {
        let Prepared {
            plan,
            resolved,
            textures: taken,
            ..
        } = prepared;
        let Work::Parts(_) = prepared.task.work else {
            return self.textures.take(plan, resolved, &self.device, taken);
        };
        let sizes = &mut plan.intermediates;
        let are_others = self
            .textures
            .take_pages(&prepared.needed, resolved, &self.device, sizes, taken)?;
        if are_others {
            let bytes = uniform_bytes(plan, prepared.task.source_size);
            self.queue.write_buffer(&prepared.uniforms, 0, &bytes);
        }
        Ok(())
    }

    /// Says which share of its sigma each place has, in a job of which one varies. Call it in every frame, after
    /// [`prepare`](Self::prepare).
    pub fn share(&self, job: &mut BlurJob, shares: &Shares, mask: Option<&TextureView>) {
        for prepared in job.current.iter_mut().chain(&mut job.last) {
            if let Some(blend) = &mut prepared.blend {
                blend.write_shares(shares, mask, &self.queue);
            }
        }
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
        let textures = &prepared.textures;
        prepared
            .left
            .retain(|bound| textures.iter().any(|texture| texture.id() == bound.level));
        for pass in &prepared.plan.left {
            let (Some(level), filtered) = (prepared.level_of(pass), pass.program.filters()) else {
                continue;
            };
            let is_it = |bound: &BoundLevel| bound.level == level.id() && bound.filtered == filtered;
            if prepared.left.iter().any(is_it) {
                continue;
            }
            let bound = Bound {
                source: level,
                target: level,
                uniforms: &prepared.uniforms,
                blended: None,
                most: 1,
            };
            let key = PipelineKey::left(filtered);
            let group = bind_group(&key, &self.pipelines, &self.cache, &self.device, &bound);
            let level = level.id();
            prepared.left.push(BoundLevel { level, filtered, group });
        }
    }

    /// Plans a task. Its uniforms are yet to be written.
    fn set_up(&mut self, task: BlurTask, old: Option<&mut Prepared>) -> Result<Planned, BlurError> {
        let old = old.filter(|old| old.task.ends == task.ends);
        let known = old.as_ref().map(|old| old.resolved);
        let resolved = known.map_or_else(|| self.capabilities.resolve(&task.ends), Ok)?;
        let limit = self.capabilities.largest_side();
        let parts = plan_parts(&task, &resolved, old);
        let plan = match &task.work {
            Work::Parts(asked) => together(&parts_of(asked, &parts), limit),
            _ => plan_of(&task, &resolved),
        };
        let size = plan.largest_intermediate();
        if size.max_element() > limit {
            return Err(BlurError::TooLarge { size, limit });
        }
        let uses = match (&task.work, task.finish) {
            (Work::Blur { .. }, Finish::Write) => Some(Uses::Blur),
            (Work::Blur { .. }, Finish::Leave) | (Work::Parts(_), _) => Some(Uses::Backdrop),
            (Work::Vary { .. }, finish) => Some(Uses::Varying(finish)),
            (Work::Copy | Work::Mipmap, _) => None,
        };
        if let Some(uses) = uses {
            self.pipelines.accelerate(task.ends, uses, &resolved);
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
            parts,
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
        let mut blend = None;
        let uniforms = match spare {
            Some(old) if fits(&old) => {
                blend = old.blend;
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
        if let Work::Vary { sigma, .. } = new.task.work {
            let blend = blend.get_or_insert_with(|| Blend::new(&self.device));
            blend.write_layers(&new.plan, sigma.max_element(), &self.queue);
        }
        job.last = last;
        job.current = Some(Prepared {
            task: new.task,
            resolved: new.resolved,
            needed: new.plan.intermediates.clone(),
            plan: new.plan,
            parts: new.parts,
            left: Vec::new(),
            steps,
            uniforms,
            blend,
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
    parts: Vec<BlurPlan>,
    steps: Vec<Step>,
}

fn plan_of(task: &BlurTask, resolved: &Resolved) -> BlurPlan {
    let request = |sigma, edge| PlanRequest {
        sigma,
        region: task.region,
        edge,
        means: resolved.means,
        finish: task.finish,
    };
    match task.work {
        Work::Copy => BlurPlan::copy(task.region, task.finish),
        Work::Mipmap => BlurPlan::mipmap(task.source_size, task.region.size()),
        Work::Blur { sigma, edge } => BlurPlan::new(&request(sigma, edge)),
        Work::Vary { sigma, edge } => BlurPlan::varying(&request(sigma, edge), task.ends.in_place),
        Work::Parts(_) => BlurPlan::default(),
    }
}

/// Plans the parts of a task. Those that were there before are taken over.
fn plan_parts(task: &BlurTask, resolved: &Resolved, old: Option<&mut Prepared>) -> Vec<BlurPlan> {
    let Work::Parts(parts) = &task.work else {
        return Vec::new();
    };
    let (before, mut plans) = match old {
        Some(old) => match &old.task.work {
            Work::Parts(before) => (before.clone(), core::mem::take(&mut old.parts)),
            _ => default(),
        },
        None => default(),
    };
    let plan = |(index, part): (usize, &BlurPart)| match plans.get_mut(index) {
        Some(known) if before.get(index) == Some(part) => core::mem::take(known),
        _ => BlurPlan::new(&PlanRequest {
            sigma: part.sigma,
            region: part.reads,
            edge: part.edge,
            means: resolved.means,
            finish: task.finish,
        }),
    };
    parts.iter().enumerate().map(plan).collect()
}

/// The parts with their plans.
fn parts_of<'a>(parts: &[BlurPart], plans: &'a [BlurPlan]) -> Vec<Part<'a>> {
    let part = |(part, plan): (&BlurPart, &'a BlurPlan)| Part {
        plan,
        region: part.region,
    };
    parts.iter().zip(plans).map(part).collect()
}
