//! Updates jobs with their requests.

use super::pipeline_key::PipelineKey;
use super::pipeline_queue::{BlurPipelines, Uses};
use super::pool::{Need, TextureKind, User};
use super::prepared::{Prepared, are_ready};
use super::profile_bindings::Blend;
use super::request::{BlurRequest, Work, WorkKind};
use super::shown::Prepare;
use super::step::{BlurAccess, KeptPass};
use super::textures::{IntermediateTextures, create_texture};
use super::uniforms::{uniform_bytes, uniform_size};
use super::view_info::{ViewInfo, view_of_mask};
use crate::errors::BlurError;
use crate::formats::{Capabilities, Ends, Resolved};
use crate::plan::batch::{BatchedBlur, together};
use crate::plan::pack::PageSet;
use crate::plan::pass::Pass;
use crate::plan::{BlurPlan, Finish, PlanRequest};
use crate::sigma_field::Mask;
use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy::render::render_asset::RenderAssets;
use bevy::render::render_resource::{
    Buffer, BufferDescriptor, BufferUsages, CachedRenderPipelineId, CommandEncoder, PipelineCache, Texture,
    TextureFormat, TextureId, TextureView,
};
use bevy::render::renderer::{RenderDevice, RenderQueue};
use bevy::render::texture::GpuImage;

/// Everything needed to update a [`BlurJob`].
#[derive(SystemParam)]
pub struct BlurPreparer<'w> {
    device: Res<'w, RenderDevice>,
    queue: Res<'w, RenderQueue>,
    capabilities: Res<'w, Capabilities>,
    pipelines: ResMut<'w, BlurPipelines>,
    cache: Res<'w, PipelineCache>,
    textures: ResMut<'w, IntermediateTextures>,
    images: Res<'w, RenderAssets<GpuImage>>,
}

impl BlurPreparer<'_> {
    /// Requests all pipelines needed between two ends, ahead of the first blur.
    pub fn announce(&mut self, ends: Ends, kind: WorkKind, finish: Finish) {
        let uses = Uses { ends, kind, finish };
        self.pipelines.announce(uses, &self.capabilities, &self.cache);
    }

    /// The numbers of the render device and of the frame.
    pub fn moment(&self) -> [u64; 2] {
        self.pipelines.moment
    }

    /// Makes [`BlurReadiness`](super::BlurReadiness) wait for a front end's own pipeline, too.
    pub fn wait_for(&mut self, id: CachedRenderPipelineId) {
        self.pipelines.wait_for(id);
    }

    /// Creates a texture of one level.
    ///
    /// # Errors
    /// [`BlurError::OutOfMemory`].
    pub fn create_texture(
        &self,
        label: &'static str,
        size: UVec2,
        layers: u32,
        kind: TextureKind,
    ) -> Result<Texture, BlurError> {
        create_texture(&self.device, label, size, layers, kind)
    }

    /// The format, or the nearest one to which blurs can render.
    ///
    /// # Errors
    /// Images of this format cannot be blurred.
    pub fn renderable(&self, format: TextureFormat) -> Result<TextureFormat, BlurError> {
        self.capabilities.own_target(format).map(|(format, _)| format)
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

    /// See [`Capabilities::check_layers`].
    ///
    /// # Errors
    /// [`BlurError::UnreadableLayers`].
    pub fn check_layers(&self, image: &'static str, texture: &Texture) -> Result<(), BlurError> {
        self.capabilities.check_layers(image, texture.depth_or_array_layers())
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

    /// The pipelines of the app.
    pub fn cache(&self) -> &PipelineCache {
        &self.cache
    }

    /// No side of a texture is longer.
    pub fn largest_side(&self) -> u32 {
        self.capabilities.largest_side()
    }

    /// Counts a front end's own textures among those used in this frame.
    pub fn count<'a>(&mut self, views: impl IntoIterator<Item = &'a TextureView>) {
        self.textures.count_views(views);
    }

    /// Everything needed to create bind groups, and to encode passes that are not timed.
    pub(super) fn access(&self) -> BlurAccess<'_> {
        BlurAccess {
            pipelines: &self.pipelines,
            cache: &self.cache,
            device: &self.device,
            recorder: None,
            timer: None,
        }
    }

    /// Submits commands before everything that this frame encodes.
    pub(super) fn submit(&self, encoder: CommandEncoder) {
        self.queue.submit([encoder.finish()]);
    }

    /// Binds a request with a deferred last step, for any of these sources. Returns `false` while a pipeline is
    /// missing.
    pub(super) fn bind(&self, prepared: &mut Prepared, sources: &[&TextureView]) -> bool {
        if !self.is_ready(prepared) {
            return false;
        }
        let with = self.access();
        if !prepared.is_kept() {
            for source in sources {
                prepared.bind(with, source, source, sources.len());
            }
        }
        prepared.bind_deferred(with);
        prepared.was_drawn = true;
        true
    }

    /// Counts a frame that draws a request, until all its kernels have pipelines of their own.
    pub(super) fn note_drawn(&mut self, prepared: &mut Prepared) {
        if !prepared.is_specialised && !prepared.is_kept() {
            let keys = prepared.steps.iter().map(|step| step.key);
            let uses = Uses::new(&prepared.request);
            prepared.is_specialised = self.pipelines.draw(keys, uses, &prepared.resolved);
        }
    }

    /// Takes textures for this frame. They may be larger than needed; the uniforms then change.
    fn take_textures(&mut self, prepared: &mut Prepared) -> Result<(), BlurError> {
        if prepared.is_kept() {
            prepared.release_all_but_the_result();
            self.textures.count_views(&prepared.result);
            return Ok(());
        }
        if self.textures.take_for_plan(prepared, &self.device)? {
            self.write_sizes(prepared);
        }
        Ok(())
    }

    /// Writes the uniforms that depend on the sizes of textures.
    fn write_sizes(&self, prepared: &Prepared) {
        let Prepared { request, plan, .. } = prepared;
        let bytes = uniform_bytes(plan, request.source_size);
        self.queue.write_buffer(&prepared.uniforms, 0, &bytes);
        if let (Some((sigma, _)), Some(blend)) = (request.work.varying(), &prepared.blend) {
            blend.write_sigma_levels(plan, sigma.max_element(), &self.queue);
        }
    }

    fn create_uniforms(&self, size: u64) -> Buffer {
        self.device.create_buffer(&BufferDescriptor {
            label: Some("gaussian_blur_uniforms"),
            // A plan without passes has no uniforms.
            size: size.max(16),
            usage: BufferUsages::UNIFORM | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        })
    }
}

/// A plan and its pipelines.
pub struct Planned {
    resolved: Resolved,
    plan: BlurPlan,
    items: Vec<BlurPlan>,
    steps: Vec<KeptPass>,
}

impl Prepare for BlurPreparer<'_> {
    type Prepared = Prepared;
    type Planned = Planned;

    fn find_mask(&self, mask: &Mask, target: TextureId) -> Result<Option<Mask>, BlurError> {
        match mask {
            Mask::Texture(_) => Ok(Some(mask.clone())),
            Mask::Image(image) => {
                let Some(image) = self.images.get(*image) else {
                    return Ok(None);
                };
                let view = view_of_mask(image, target)?;
                self.check_layers("mask", &image.texture)?;
                Ok(Some(Mask::Texture(view)))
            }
        }
    }

    fn plan(&mut self, request: &BlurRequest, old: Option<&mut Prepared>) -> Result<(Planned, bool), BlurError> {
        let ends = request.ends;
        let old = old.filter(|old| old.request.ends == ends);
        let known = old.as_ref().map(|old| old.resolved);
        let resolved = known.map_or_else(|| self.capabilities.resolve(&ends), Ok)?;
        let limit = self.capabilities.largest_side();
        let items = plan_batch(request, &resolved, old);
        let plan = match &request.work {
            Work::Batch(_, asked) => together(asked, &items, limit),
            _ => plan_of(request, &resolved),
        }
        .with_source_at(request.source_at);
        let size = plan.largest_intermediate();
        if size.max_element() > limit {
            return Err(BlurError::TooLarge { size, limit });
        }
        let step = |pass: &Pass| {
            let key = PipelineKey::new(pass.stage(), &ends, &resolved);
            KeptPass::new(key, self.pipelines.serving_any_kernel(key, &self.cache))
        };
        let steps: Vec<KeptPass> = plan.passes.iter().map(step).collect();
        let is_ready = are_ready(&steps, &self.pipelines, &self.cache);
        let planned = Planned {
            resolved,
            plan,
            items,
            steps,
        };
        Ok((planned, is_ready))
    }

    fn complete(&self, planned: Planned, request: BlurRequest, spare: Option<Prepared>) -> Prepared {
        let Planned {
            resolved,
            plan,
            items,
            mut steps,
        } = planned;
        let size = uniform_size(&plan);
        let fits = |old: &Prepared| old.uniforms.size() >= size;
        let (mut blend, mut result, mut textures) = (None, None, Vec::new());
        let uniforms = match spare.filter(fits) {
            Some(old) => {
                (blend, result, textures) = (old.blend, old.result, old.textures);
                if old.request.has_textures_of(&request) {
                    let pairs = steps.iter_mut().zip(old.steps);
                    pairs.for_each(|(step, old)| step.inherit(old));
                }
                old.uniforms
            }
            None => self.create_uniforms(size),
        };
        if request.work.varying().is_some() {
            blend.get_or_insert_with(|| Blend::new(&self.device));
        }
        let prepared = Prepared {
            request,
            resolved,
            needed: plan.intermediates.clone(),
            plan,
            items,
            deferred: default(),
            steps,
            uniforms,
            blend,
            textures,
            result,
            is_specialised: false,
            was_drawn: false,
            is_blurred: default(),
        };
        self.write_sizes(&prepared);
        prepared
    }

    fn is_ready(&self, prepared: &Prepared) -> bool {
        prepared.is_ready(&self.pipelines, &self.cache)
    }

    fn equip(&mut self, prepared: &mut Prepared) -> Result<(), BlurError> {
        self.take_textures(prepared)?;
        if let (Some((_, field)), Some(blend)) = (prepared.request.work.varying(), &mut prepared.blend) {
            blend.write_shares(&field.shares_from(prepared.request.source_at), &self.queue);
        }
        Ok(())
    }
}

fn plan_of(request: &BlurRequest, resolved: &Resolved) -> BlurPlan {
    let planned = |sigma, edge| PlanRequest {
        sigma,
        region: request.bounds,
        edge,
        means: resolved.means,
        finish: request.finish,
    };
    let plan = match request.work {
        Work::Copy => return BlurPlan::copy(request.region, request.finish),
        Work::Mipmap => return BlurPlan::mipmap(request.source_size, request.region.size()),
        Work::Batch(..) => return BlurPlan::default(),
        Work::Blur {
            sigma,
            edge,
            field: None,
        } => BlurPlan::new(&planned(sigma, edge)),
        Work::Blur {
            sigma,
            edge,
            field: Some(_),
        } => BlurPlan::varying(&planned(sigma, edge)),
    };
    BlurPlan {
        scissor: (request.region != request.bounds).then_some(request.region),
        ..plan
    }
}

/// Plans the items of a request. Plans of unchanged items are reused.
fn plan_batch(request: &BlurRequest, resolved: &Resolved, old: Option<&mut Prepared>) -> Vec<BlurPlan> {
    let Work::Batch(_, items) = &request.work else {
        return Vec::new();
    };
    let (before, mut plans) = match old {
        Some(old) => match &old.request.work {
            Work::Batch(_, before) => (before.clone(), core::mem::take(&mut old.items)),
            _ => default(),
        },
        None => default(),
    };
    let plan = |(index, item): (usize, &BatchedBlur)| match plans.get_mut(index) {
        Some(known) if before.get(index) == Some(item) => core::mem::take(known),
        _ => {
            let planned = PlanRequest {
                sigma: item.sigma,
                region: item.bounds,
                edge: item.edge,
                means: resolved.means,
                finish: request.finish,
            };
            BlurPlan::shifted(&planned, item.shift)
        }
    };
    items.iter().enumerate().map(plan).collect()
}
