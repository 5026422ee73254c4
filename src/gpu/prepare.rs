//! Updates jobs with their requests.

use super::pipelines::{BlurPipelines, Uses};
use super::pool::{IntermediateTextures, Need, TextureKind, User};
use super::prepared::Prepared;
use super::request::{BlurRequest, Work, WorkKind};
use super::uniforms::{SHARES_AT, buffer_bytes};
use super::view_info::{ViewInfo, view_of_mask};
use crate::errors::BlurError;
use crate::formats::{Capabilities, Ends, Resolved};
use crate::plan::batch::{BatchedBlur, together};
use crate::plan::pack::PageSet;
use crate::plan::{BlurPlan, Finish, PlanRequest};
use crate::settings::EdgeMode;
use crate::sigma_field::Mask;
use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy::render::render_asset::RenderAssets;
use bevy::render::render_resource::{BufferDescriptor, BufferUsages, PipelineCache, TextureView};
use bevy::render::renderer::{RenderDevice, RenderQueue};
use bevy::render::texture::GpuImage;

/// Everything needed to update a [`BlurJob`].
#[derive(SystemParam)]
pub struct BlurPreparer<'w> {
    pub device: Res<'w, RenderDevice>,
    pub(super) queue: Res<'w, RenderQueue>,
    pub capabilities: Res<'w, Capabilities>,
    pub pipelines: ResMut<'w, BlurPipelines>,
    pub cache: Res<'w, PipelineCache>,
    pub textures: ResMut<'w, IntermediateTextures>,
    images: Res<'w, RenderAssets<GpuImage>>,
}

impl BlurPreparer<'_> {
    /// Requests all pipelines needed between two ends, ahead of the first blur.
    pub fn announce(&mut self, ends: Ends, kind: WorkKind, finish: Finish) {
        let uses = Uses { ends, kind, finish };
        self.pipelines.announce(uses, &self.capabilities, &self.cache);
    }

    /// Makes a texture for a target of the plugin's own, with the sampler of another one. `None` if it is too large.
    pub fn make_target(&self, wanted: ViewInfo, like: &GpuImage) -> Option<GpuImage> {
        if wanted.size.max_element() > self.capabilities.largest_side() {
            return None;
        }
        let (_, usages) = self.capabilities.own_target(wanted.format).ok()?;
        let mut image = wanted.image("gaussian_blur_target");
        image.texture_descriptor.usage |= usages;
        let texture = self.device.create_texture(&image.texture_descriptor);
        Some(GpuImage {
            texture_view: texture.create_view(&image.texture_view_descriptor.clone().unwrap_or_default()),
            texture,
            sampler: like.sampler.clone(),
            texture_descriptor: image.texture_descriptor,
            texture_view_descriptor: image.texture_view_descriptor,
            had_data: false,
        })
    }

    /// Takes pages of at least these sizes for a front end to paint on in this frame.
    ///
    /// # Errors
    /// [`BlurError::OutOfMemory`].
    pub fn take_pages(
        &mut self,
        set: PageSet,
        needed: &[UVec2],
        kind: TextureKind,
    ) -> Result<Vec<TextureView>, BlurError> {
        let need = |(index, size): (usize, &UVec2)| Need {
            size: *size,
            kind,
            user: User::Page(set, index),
        };
        let needs = needed.iter().enumerate().map(need);
        needs
            .map(|need| self.textures.take_view(need, None, &self.device))
            .collect()
    }

    /// Counts a frame that draws a request, until all its kernels have pipelines of their own.
    pub(super) fn note_drawn(&mut self, prepared: &mut Prepared) {
        if !prepared.is_specialised && !prepared.is_kept() {
            let passes = &prepared.steps[..prepared.plan.passes.len()];
            let keys = passes.iter().map(|step| step.key);
            let uses = Uses::new(&prepared.request);
            prepared.is_specialised = self.pipelines.draw(keys, uses, &prepared.resolved);
        }
    }

    /// Finds the texture of a request's mask, unless it is missing.
    ///
    /// # Errors
    /// It cannot be the mask of a blur that writes the request's target.
    pub(super) fn find_mask(&self, request: &mut BlurRequest) -> Result<(), BlurError> {
        let target = request.target;
        if let Some(mask) = request.mask_mut()
            && let Some(Mask::Image(image)) = mask
            && let Some(image) = self.images.get(*image)
        {
            let view = view_of_mask(image, target)?;
            self.capabilities.check_layers("mask", &image.texture)?;
            *mask = Some(Mask::Texture(view));
        }
        Ok(())
    }

    /// Plans a request, which may be like an earlier one.
    ///
    /// # Errors
    /// The request cannot be carried out.
    pub(super) fn plan(&mut self, request: BlurRequest, old: Option<&mut Prepared>) -> Result<Prepared, BlurError> {
        let old = old.filter(|old| old.request.ends == request.ends);
        let known = old.as_ref().map(|old| old.resolved);
        let resolved = known.map_or_else(|| self.capabilities.resolve(&request.ends), Ok)?;
        let limit = self.capabilities.largest_side();
        let items = plan_items(&request, &resolved, old);
        let plan = plan_of(&request, &resolved, &items, limit).with_source_at(request.source_at);
        let size = plan.largest_intermediate();
        if size.max_element() > limit {
            return Err(BlurError::TooLarge { size, limit });
        }
        let plans = (plan, items);
        Ok(Prepared::new(
            request,
            resolved,
            plans,
            &mut self.pipelines,
            &self.cache,
        ))
    }

    pub(super) fn is_ready(&self, prepared: &Prepared) -> bool {
        prepared.is_ready(&self.pipelines, &self.cache)
    }

    /// Takes textures for this frame, which may be larger than needed, and writes what has changed.
    ///
    /// # Errors
    /// There is no memory.
    pub(super) fn equip(&mut self, prepared: &mut Prepared) -> Result<(), BlurError> {
        prepared.held.updates += 1;
        if prepared.is_kept() {
            prepared.held.textures.clear();
            self.textures.count_views(&prepared.held.result);
        } else if self.textures.take_for_plan(prepared, &self.device)? || !prepared.is_written {
            self.write_uniforms(prepared);
        }
        let Prepared {
            request, plan, held, ..
        } = prepared;
        let varying = request.work.varying().filter(|_| plan.sigma_levels.is_some());
        let shares = varying.map(|(_, field)| field.shares_from(request.source_at));
        if let (Some(uniforms), Some(shares)) = (&held.uniforms, shares)
            && held.shares != Some(shares)
        {
            self.queue
                .write_buffer(uniforms, SHARES_AT, bytemuck::bytes_of(&shares));
            held.shares = Some(shares);
        }
        Ok(())
    }

    /// Writes the uniforms of a plan, which depend on the sizes of its textures.
    fn write_uniforms(&self, prepared: &mut Prepared) {
        let Prepared {
            request, plan, held, ..
        } = prepared;
        let largest = request.work.varying().map_or(0.0, |(sigma, _)| sigma.max_element());
        let bytes = buffer_bytes(plan, request.source_size, largest);
        let buffer = match held.uniforms.take() {
            Some(old) if old.size() >= bytes.len() as u64 => old,
            _ => {
                held.groups.clear();
                self.device.create_buffer(&BufferDescriptor {
                    label: Some("gaussian_blur_uniforms"),
                    size: bytes.len() as u64,
                    usage: BufferUsages::UNIFORM | BufferUsages::COPY_DST,
                    mapped_at_creation: false,
                })
            }
        };
        self.queue.write_buffer(&buffer, 0, &bytes);
        (held.uniforms, held.shares) = (Some(buffer), None);
        prepared.is_written = true;
    }
}

/// What to plan for a blur of these bounds.
fn planned(request: &BlurRequest, resolved: &Resolved, sigma: Vec2, region: URect, edge: EdgeMode) -> PlanRequest {
    PlanRequest {
        sigma,
        region,
        edge,
        means: resolved.means,
        finish: request.finish,
    }
}

/// Plans a request whose items are planned already.
fn plan_of(request: &BlurRequest, resolved: &Resolved, items: &[BlurPlan], limit: u32) -> BlurPlan {
    let (sigma, edge, varies) = match &request.work {
        Work::Copy => return BlurPlan::copy(request.region, request.finish),
        Work::Mipmap => return BlurPlan::mipmap(request.source_size, request.region.size()),
        Work::Batch(_, asked) => return together(asked, items, limit),
        Work::Blur { sigma, edge, field } => (*sigma, *edge, field.is_some()),
    };
    let plan = if varies { BlurPlan::varying } else { BlurPlan::new };
    BlurPlan {
        scissor: (request.region != request.bounds).then_some(request.region),
        ..plan(&planned(request, resolved, sigma, request.bounds, edge))
    }
}

/// Plans the items of a request. Unchanged items keep their plans.
fn plan_items(request: &BlurRequest, resolved: &Resolved, old: Option<&mut Prepared>) -> Vec<BlurPlan> {
    let Work::Batch(_, items) = &request.work else {
        return Vec::new();
    };
    let (mut before, mut plans) = (None, Vec::new());
    if let Some(old) = old
        && let Work::Batch(_, items) = &old.request.work
    {
        (before, plans) = (Some(items), core::mem::take(&mut old.items));
    }
    let plan = |(index, item): (usize, &BatchedBlur)| match plans.get_mut(index) {
        Some(known) if before.is_some_and(|before| before.get(index) == Some(item)) => core::mem::take(known),
        _ => {
            let planned = planned(request, resolved, item.sigma, item.bounds, item.edge);
            BlurPlan::shifted(&planned, item.shift)
        }
    };
    items.iter().enumerate().map(plan).collect()
}
