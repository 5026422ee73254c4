//! Takes textures from the pool, and creates them.

use super::pool::{Need, Pool, TextureKind, User, bytes};
use super::prepared::Prepared;
use super::request::Work;
use super::view_info::texture_size;
use crate::diagnostics::figures::TextureBytes;
use crate::errors::BlurError;
use bevy::image::ToExtents;
use bevy::math::UVec2;
use bevy::prelude::*;
use bevy::render::Extract;
use bevy::render::render_resource::{
    Buffer, BufferDescriptor, Texture, TextureDescriptor, TextureDimension, TextureFormat, TextureView,
    TextureViewDescriptor,
};
use bevy::render::renderer::RenderDevice;
use bevy::tasks::futures::now_or_never;
use core::time::Duration;
use wgpu::ErrorFilter;

/// The intermediate textures of all blurs. Created again for every render device.
pub type IntermediateTextures = Pool<TextureView>;

impl IntermediateTextures {
    /// Takes textures of at least the needed sizes for this frame, if possible those that were taken before. Returns whether any
    /// size has changed. If a job keeps the input of its deferred step, that texture is the job's own, and there is one such step.
    ///
    /// # Errors
    /// [`BlurError::OutOfMemory`]; then only some have been taken.
    pub fn take_for_plan(&mut self, prepared: &mut Prepared, device: &RenderDevice) -> Result<bool, BlurError> {
        self.begin_plan();
        let kind = TextureKind {
            format: prepared.resolved.intermediate,
            usages: prepared.resolved.intermediate_usages(),
        };
        let is_own = prepared.request.keeps.is_some();
        let (own, taken) = (&mut prepared.result, &mut prepared.textures);
        for (index, size) in prepared.needed.iter().copied().enumerate() {
            let is_deferred = prepared.plan.reads_later(index);
            let view = if is_own && is_deferred {
                let view = match own.take().filter(|view| kind_of(view) == (size, kind)) {
                    Some(view) => view,
                    None => create(size, kind, device)?,
                };
                self.count(bytes(size, kind));
                own.insert(view).clone()
            } else {
                let user = match prepared.request.work {
                    // Pages serve many jobs, but a kept result belongs to one.
                    Work::Batch(set, _) if !is_own => User::Page(set, index),
                    _ if is_deferred => User::Job,
                    _ => User::Plans,
                };
                self.take_view(Need { size, kind, user }, taken.get(index), device)?
            };
            match taken.get_mut(index) {
                Some(known) => *known = view,
                None => taken.push(view),
            }
        }
        taken.truncate(prepared.needed.len());
        Ok(adopt_sizes(&mut prepared.plan.intermediates, taken))
    }

    /// Takes a texture.
    ///
    /// # Errors
    /// [`BlurError::OutOfMemory`].
    pub fn take_view(
        &mut self,
        need: Need,
        before: Option<&TextureView>,
        device: &RenderDevice,
    ) -> Result<TextureView, BlurError> {
        let limit = device.limits().max_texture_dimension_2d;
        let before = before.map(|view| view.id());
        self.take(
            need,
            |view| before == Some(view.id()),
            limit,
            |size| create(size, need.kind, device),
        )
    }

    /// Counts a front end's own textures among those used in this frame.
    pub fn count_views<'a>(&mut self, views: impl IntoIterator<Item = &'a TextureView>) {
        for (size, kind) in views.into_iter().map(kind_of) {
            self.count(bytes(size, kind));
        }
    }
}

/// Sets sizes to those of textures. Returns whether any has changed. Only after all have been taken: the caller acts on other sizes,
/// but not after an error.
fn adopt_sizes(sizes: &mut [UVec2], taken: &[TextureView]) -> bool {
    let mut are_others = false;
    for (size, view) in sizes.iter_mut().zip(taken) {
        let (now, _) = kind_of(view);
        are_others |= *size != now;
        *size = now;
    }
    are_others
}

/// The time of the main world's frame.
#[derive(Resource, Clone, Copy, Default)]
pub struct FrameTime(Duration);

pub fn extract_time(mut now: ResMut<FrameTime>, time: Extract<Option<Res<Time<Real>>>>) {
    if let Some(time) = &*time {
        now.0 = time.elapsed();
    }
}

/// Ends a frame: publishes the used bytes, and releases unused textures.
pub fn give_back_textures(
    mut textures: ResMut<IntermediateTextures>,
    published: Option<Res<TextureBytes>>,
    now: Res<FrameTime>,
) {
    let bytes = textures.give_back(now.0);
    if let Some(published) = published {
        published.replace([bytes]);
    }
}

/// Creates a texture of one level.
///
/// # Errors
/// [`BlurError::OutOfMemory`]. Without an error scope, that error would end the app.
pub fn create_texture(
    device: &RenderDevice,
    label: &'static str,
    size: UVec2,
    layers: u32,
    kind: TextureKind,
) -> Result<Texture, BlurError> {
    let mut extents = size.to_extents();
    extents.depth_or_array_layers = layers;
    let descriptor = TextureDescriptor {
        label: Some(label),
        size: extents,
        mip_level_count: 1,
        sample_count: 1,
        dimension: TextureDimension::D2,
        format: kind.format,
        usage: kind.usages,
        view_formats: &[],
    };
    create_for(size, kind.format, device, || device.create_texture(&descriptor))
}

/// Creates a buffer for the texels of a texture.
///
/// # Errors
/// [`BlurError::OutOfMemory`], also if no buffer of the device may be so large.
pub fn create_texel_buffer(
    device: &RenderDevice,
    descriptor: &BufferDescriptor,
    size: UVec2,
    format: TextureFormat,
) -> Result<Buffer, BlurError> {
    if descriptor.size > device.limits().max_buffer_size {
        return Err(BlurError::OutOfMemory { size, format });
    }
    create_for(size, format, device, || device.create_buffer(descriptor))
}

fn create_for<T>(
    size: UVec2,
    format: TextureFormat,
    device: &RenderDevice,
    create: impl FnOnce() -> T,
) -> Result<T, BlurError> {
    // Browsers report errors only after the resource is needed.
    if cfg!(target_arch = "wasm32") {
        return Ok(create());
    }
    let scope = device.wgpu_device().push_error_scope(ErrorFilter::OutOfMemory);
    let created = create();
    match now_or_never(scope.pop()).flatten() {
        None => Ok(created),
        Some(_) => Err(BlurError::OutOfMemory { size, format }),
    }
}

fn create(size: UVec2, kind: TextureKind, device: &RenderDevice) -> Result<TextureView, BlurError> {
    let label = "gaussian_blur_intermediate";
    let texture = create_texture(device, label, size, 1, kind)?;
    Ok(texture.create_view(&TextureViewDescriptor {
        label: Some(label),
        ..default()
    }))
}

fn kind_of(view: &TextureView) -> (UVec2, TextureKind) {
    let texture = view.texture();
    let kind = TextureKind {
        format: texture.format(),
        usages: texture.usage(),
    };
    (texture_size(texture), kind)
}
