//! The blur as a part of your own render systems: outlines, light maps, soft shadows, fog of war.
//!
//! A [`TextureBlur`] is one blur that you repeat from frame to frame: its plan, its bind groups and its intermediate
//! textures. Keep it in a component or a resource of the render world.
//!
//! 1. **Prepare** it in a system in
//!    [`RenderSystems::PrepareBindGroups`](bevy::render::RenderSystems::PrepareBindGroups),
//!    with [`TextureBlurs::prepare`], in every frame in which you record it.
//! 2. **Record** it with [`TextureBlurRecorder::record`] in a system of a render schedule (`Core2d`, `Core3d` or
//!    `RenderGraph`), between two of your passes.
//!
//! `Core2d` and `Core3d` run once for each camera: filter by the view there, as below. In `RenderGraph`, a system runs once
//! in a frame.
//!
//! Both take the source and the target as [`BlurTexture`]s: one layer of one mip level of a texture. They may be one
//! texture, which is then blurred in place. Only the [region](TextureBlurRequest::region) is written, and the blur
//! keeps no contents from frame to frame.
//!
//! Shaders compile in the background. Until the shaders of a first blur are compiled, `record` leaves the target alone
//! and returns `false`. [`TextureBlurs::announce`] requests them ahead of time, and
//! [`BlurReadiness`](crate::BlurReadiness) counts them.
//!
//! ```no_run
//! # use bevy::prelude::*;
//! # use bevy::render::extract_component::ExtractComponent;
//! # use bevy::render::texture::GpuImage;
//! # use bevy::render::{render_asset::RenderAssets, renderer::{RenderContext, ViewQuery}};
//! use bevy_gaussian_blur::recorder::{BlurTexture, TextureBlur, TextureBlurRecorder, TextureBlurRequest, TextureBlurs};
//!
//! #[derive(Resource)]
//! struct Glow {
//!     mask: Handle<Image>,
//!     blur: TextureBlur,
//! }
//!
//! /// Marks the camera that draws the mask. It needs an `ExtractComponentPlugin`.
//! #[derive(Component, Clone, ExtractComponent)]
//! struct MaskCamera;
//!
//! // In `Render`, in `RenderSystems::PrepareBindGroups`.
//! fn prepare_glow(mut glow: ResMut<Glow>, images: Res<RenderAssets<GpuImage>>, mut blurs: TextureBlurs) {
//!     let Some(mask) = images.get(&glow.mask).map(BlurTexture::from) else { return };
//!     let request = TextureBlurRequest::new(&mask, &mask, Vec2::splat(6.0));
//!     if let Err(error) = blurs.prepare(&mut glow.blur, &request) {
//!         error!("the glow: {error}");
//!     }
//! }
//!
//! // In `Core3d`, after the pass that draws the mask and before the one that reads it. `ViewQuery` skips the system for all
//! // other cameras; otherwise each of them would blur the mask again.
//! fn blur_glow(
//!     _camera: ViewQuery<(), With<MaskCamera>>,
//!     mut glow: ResMut<Glow>,
//!     images: Res<RenderAssets<GpuImage>>,
//!     blurs: TextureBlurRecorder,
//!     mut context: RenderContext,
//! ) {
//!     let Some(mask) = images.get(&glow.mask).map(BlurTexture::from) else { return };
//!     blurs.record(&mut glow.blur, &mut context, &mask, &mask, None);
//! }
//! ```

mod request;
mod texture;

use crate::diagnostics::BlurLabel;
use crate::errors::{BlurError, Reported};
use crate::formats::Ends;
use crate::gpu::{BlurJob, BlurPreparer, BlurRecorder, Timed, Views, WorkKind};
use crate::plan::Finish;
use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy::render::render_resource::{TextureFormat, TextureUsages};
use bevy::render::renderer::RenderContext;

pub use crate::gpu::BlurState;
pub use request::{TextureBlurKind, TextureBlurRequest};
pub use texture::BlurTexture;

/// One blur that your render system repeats from frame to frame.
///
/// It shares its intermediate textures with all other blurs. It holds them until it is dropped, or
/// [released](Self::release) if it pauses for a while. After the loss of a device it starts again.
#[derive(Default)]
pub struct TextureBlur {
    job: BlurJob,
    /// The numbers of the device that the job holds objects of, and of the frame in which it was prepared last.
    moment: Option<[u64; 2]>,
    /// What it was prepared for.
    prepared: Option<PreparedFor>,
    mismatches: Reported,
    /// Whether it has been reported that the blur blurs its own result.
    has_warned: bool,
}

/// What textures must be like when a blur is recorded.
struct PreparedFor {
    ends: Ends,
    sizes: [UVec2; 2],
    mask: Option<BlurTexture>,
    /// Whether a blur in place is of a picture that is not painted again before it is recorded again.
    source_is_fresh: bool,
    is_recorded: bool,
}

impl TextureBlur {
    /// Releases all textures. The next [preparation](TextureBlurs::prepare) takes others.
    pub fn release(&mut self) {
        self.prepared = None;
        self.job.release();
    }
}

/// Prepares [`TextureBlur`]s: the first half of a blur, in a system of `Render`.
#[derive(SystemParam)]
pub struct TextureBlurs<'w> {
    preparer: BlurPreparer<'w>,
}

impl TextureBlurs<'_> {
    /// Requests the pipelines of blurs from one format to another, before the first of these blurs. From then on
    /// [`BlurReadiness`](crate::BlurReadiness) counts them. Repeating the request costs next to nothing.
    pub fn announce(&mut self, source: TextureFormat, target: TextureFormat, kind: TextureBlurKind) {
        let ends = kind.ends(source, target);
        self.preparer.announce(ends, WorkKind::Blur, Finish::Write);
        if kind.varies {
            self.preparer.announce(ends, WorkKind::Vary, Finish::Write);
        }
        if !kind.in_place {
            self.preparer.announce(ends, WorkKind::Copy, Finish::Write);
        }
    }

    /// Makes a blur ready to be [recorded](TextureBlurRecorder::record) in this frame: plans it, and takes its intermediate
    /// textures. Returns what recording it will do, such as to blur, or nothing yet. If nothing changed since the last frame, this
    /// takes next to no time.
    ///
    /// Call it in every frame in which you record the blur, after `RenderSystems::PrepareResources`. Only formats,
    /// sizes and usages of the textures count here: you may record the blur with other textures that have the same.
    ///
    /// # Errors
    /// Any reason why the request cannot be carried out, once for each cause. While it lasts, the state is
    /// [`BlurState::Nothing`]. It is over with the next request that can be carried out, even one that has nothing to do.
    pub fn prepare(&mut self, blur: &mut TextureBlur, request: &TextureBlurRequest) -> Result<BlurState, BlurError> {
        let moment = self.preparer.pipelines.moment;
        if blur.moment.is_some_and(|[device, _]| device != moment[0]) {
            blur.job.start_over();
        }
        (blur.moment, blur.prepared) = (Some(moment), None);
        let outcome = self.try_prepare(blur, request);
        blur.job.settle(outcome)
    }

    fn try_prepare(&mut self, blur: &mut TextureBlur, request: &TextureBlurRequest) -> Result<BlurState, BlurError> {
        let wanted = request.wanted()?;
        for (name, texture) in [("source", Some(request.source)), ("mask", request.mask())] {
            let check = |texture: &BlurTexture| self.preparer.capabilities.check_layers(name, texture.texture());
            texture.map_or(Ok(()), check)?;
        }
        blur.prepared = Some(PreparedFor {
            ends: wanted.ends,
            sizes: [request.source.size(), request.target.size()],
            mask: request.mask().cloned(),
            source_is_fresh: wanted.source_is_fresh,
            is_recorded: false,
        });
        blur.job.update(&mut self.preparer, wanted)
    }
}

/// Records [`TextureBlur`]s: the second half of a blur, in a system that renders.
#[derive(SystemParam)]
pub struct TextureBlurRecorder<'w> {
    recorder: BlurRecorder<'w>,
}

impl TextureBlurRecorder<'_> {
    /// Encodes the passes of a blur that was [prepared](TextureBlurs::prepare) in this frame. None of your passes may
    /// be open. Returns whether the requested blur has been encoded. While its pipelines compile, this encodes the blur
    /// that was drawn last; without one, the target stays as it is.
    ///
    /// With a label, the passes are timed under the paths of [`BlurLabel`].
    ///
    /// Textures of other formats or sizes than the blur was prepared for are reported once, and not blurred.
    pub fn record(
        &self,
        blur: &mut TextureBlur,
        context: &mut RenderContext,
        source: &BlurTexture,
        target: &BlurTexture,
        label: Option<&BlurLabel>,
    ) -> bool {
        let is_current = blur.moment == Some(self.recorder.pipelines.moment);
        let Some(prepared) = blur.prepared.as_mut().filter(|_| is_current) else {
            return false;
        };
        let outcome = prepared.check(source, target);
        let is_alike = outcome.is_ok();
        if let Some(error) = blur.mismatches.news(outcome) {
            error!("a TextureBlur was not recorded: {error}");
        }
        if !is_alike {
            return false;
        }
        let views = Views::new(source.view(), target.view());
        if prepared.is_recorded && !prepared.source_is_fresh && !blur.has_warned && !blur.job.is_idle() {
            blur.has_warned = true;
            let name = label.map_or("a TextureBlur", BlurLabel::as_str);
            warn!(
                "{name}: recorded twice in a frame, in place, with source_is_fresh: false, so it blurs its own result. \
                 Systems in Core2d and Core3d run once for each camera: record for one of them, or in RenderGraph"
            );
        }
        let is_encoded = blur.job.record(&self.recorder, context, Timed::whole(label), &views);
        prepared.is_recorded |= is_encoded;
        is_encoded
    }
}

impl PreparedFor {
    /// Whether a blur for this may be recorded with these textures.
    fn check(&self, source: &BlurTexture, target: &BlurTexture) -> Result<(), BlurError> {
        source.check(target, self.mask.as_ref())?;
        let is_alike = [source.format(), target.format()] == [self.ends.source, self.ends.destination]
            && [source.size(), target.size()] == self.sizes
            && source.is_same(target) == self.ends.in_place
            && (target.has_usage(TextureUsages::STORAGE_BINDING) || !self.ends.has_storage);
        if is_alike {
            Ok(())
        } else {
            Err(BlurError::NotAsPrepared)
        }
    }
}
