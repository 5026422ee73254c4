//! The blur as a part of render systems of your own: outlines, light maps, soft shadows, fog of war.
//!
//! A [`TextureBlur`] is one blur that is repeated from frame to frame: its plan, its bind groups and its intermediate
//! textures. Keep it in a component or a resource of the render world.
//!
//! 1. **Prepare** it in a system in [`RenderSystems::PrepareBindGroups`](bevy::render::RenderSystems::PrepareBindGroups), with
//!    [`TextureBlurs::prepare`], in every frame in which it is to be recorded.
//! 2. **Record** it with [`TextureBlurRecorder::record`] in a system of a render schedule (`Core2d`, `Core3d` or `RenderGraph`),
//!    between two passes of yours.
//!
//! Both take the source and the target as [`BlurTexture`]s: one layer of one mip level of a texture. They may be one texture,
//! which is then blurred in place. What is written is the [region](TextureBlurRequest::region) alone, and nothing is kept of
//! any contents.
//!
//! Shaders compile in the background: until those of a first blur are compiled, `record` leaves the target alone and returns
//! `false`. [`TextureBlurs::announce`] asks for them ahead, and [`BlurReadiness`](crate::BlurReadiness) counts them.
//!
//! ```no_run
//! # use bevy::prelude::*;
//! # use bevy::render::texture::GpuImage;
//! # use bevy::render::{render_asset::RenderAssets, renderer::RenderContext};
//! use bevy_gaussian_blur::recorder::{BlurTexture, TextureBlur, TextureBlurRecorder, TextureBlurRequest, TextureBlurs};
//!
//! #[derive(Resource)]
//! struct Glow {
//!     mask: Handle<Image>,
//!     blur: TextureBlur,
//! }
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
//! // In `Core3d`, after the pass that draws the mask and before the one that reads it.
//! fn blur_glow(
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

/// One blur that a render system of yours repeats, from frame to frame.
///
/// Its intermediate textures are shared with all other blurs. It holds them until it is dropped, or [released](Self::release) if it
/// rests for a while. After the loss of a device it starts anew.
#[derive(Default)]
pub struct TextureBlur {
    job: BlurJob,
    /// What it was prepared for.
    prepared: Option<PreparedFor>,
    mismatches: Reported,
}

/// What textures have to be like when a blur is recorded.
struct PreparedFor {
    /// The device, and the frame.
    moment: [u64; 2],
    ends: Ends,
    sizes: [UVec2; 2],
    mask: Option<BlurTexture>,
}

impl TextureBlur {
    /// Lets all textures go. The next [preparation](TextureBlurs::prepare) takes others.
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
    /// Asks for the pipelines of blurs from one format to another before the first of them. From then on
    /// [`BlurReadiness`](crate::BlurReadiness) counts them. Asking again costs next to nothing.
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

    /// Plans a blur, takes its intermediate textures for this frame, and says what [recording](TextureBlurRecorder::record) it
    /// would do. Where nothing changed since the last frame, next to nothing is done.
    ///
    /// Call it in every frame in which the blur is to be recorded, after `RenderSystems::PrepareResources`. Of the textures only
    /// formats, sizes and usages count here: those that it is recorded with may be others that have the same.
    ///
    /// # Errors
    /// Whatever rules the request out, once for each cause; while that lasts, the state is [`BlurState::Nothing`].
    pub fn prepare(&mut self, blur: &mut TextureBlur, request: &TextureBlurRequest) -> Result<BlurState, BlurError> {
        let moment = self.preparer.moment();
        let is_lost = |known: &PreparedFor| known.moment[0] != moment[0];
        if blur.prepared.as_ref().is_some_and(is_lost) {
            *blur = TextureBlur::default();
        }
        let outcome = match request.wanted() {
            Ok(wanted) => {
                blur.prepared = Some(PreparedFor {
                    moment,
                    ends: wanted.io.ends,
                    sizes: [request.source.size(), request.target.size()],
                    mask: request.mask().cloned(),
                });
                blur.job.try_update(&mut self.preparer, wanted)
            }
            Err(error) => Err(error),
        };
        blur.job.settle(outcome)
    }
}

/// Records [`TextureBlur`]s: the second half of a blur, in a system that renders.
#[derive(SystemParam)]
pub struct TextureBlurRecorder<'w> {
    recorder: BlurRecorder<'w>,
}

impl TextureBlurRecorder<'_> {
    /// Encodes the passes of a blur that has been [prepared](TextureBlurs::prepare) in this frame, wherever no pass of yours is
    /// open. Returns whether what was asked for has been encoded; while that compiles, the blur that was drawn last is, and
    /// if there is none, the target stays as it is.
    ///
    /// The passes are timed for the label, if there is one, under the paths of [`BlurLabel`].
    ///
    /// Textures of other formats or sizes than those that the blur was prepared for are reported once, and not blurred.
    pub fn record(
        &self,
        blur: &mut TextureBlur,
        context: &mut RenderContext,
        source: &BlurTexture,
        target: &BlurTexture,
        label: Option<&BlurLabel>,
    ) -> bool {
        let is_current = |prepared: &&PreparedFor| prepared.moment == self.recorder.moment();
        let Some(prepared) = blur.prepared.as_ref().filter(is_current) else {
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
        let views = Views {
            // Main textures are pairs, and transient ones change places.
            turns: 2,
            ..Views::new(source.view(), target.view())
        };
        blur.job.record(&self.recorder, context, Timed::whole(label), &views)
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
