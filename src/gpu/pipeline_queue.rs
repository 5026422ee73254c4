//! Which pipelines exist, and which are compiled next.
//!
//! Pipelines compile in the background (on the main thread on macOS and the web), and a blur must not wait for them. So
//! the few programs that [serve any kernel](Program::for_any_kernel) are requested as soon as a pair of formats is
//! known, blurred or not; those of the usual cameras are requested in the first frame of an app. Programs for single
//! kernels are faster. A kernel gets one when blurs have drawn it in several frames, and it replaces the general one when
//! it is compiled. Where threads compile, the other kernels of such blurs follow, one per frame.
//!
//! [`Program::for_any_kernel`]: crate::program::Program::for_any_kernel

use super::pipeline_factory::PipelineFactory;
use super::pipeline_key::{PipelineKey, Queued};
use super::request::{BlurRequest, WorkKind};
use crate::formats::{Capabilities, Ends, Resolved, is_software};
use crate::plan::Finish;
use crate::plan::pass::Stage;
use crate::plan::stages::{stages, varying_stages};
use crate::program::Program;
use crate::settings::{BlurCompilation, COMPILING_BLOCKS};
use bevy::asset::AssetServer;
use bevy::core_pipeline::FullscreenShader;
use bevy::platform::collections::{HashMap, HashSet};
use bevy::prelude::*;
use bevy::render::Extract;
use bevy::render::render_resource::{CachedPipelineState, CachedRenderPipelineId, PipelineCache};
use bevy::render::renderer::{RenderAdapterInfo, RenderDevice};
use bevy::shader::ShaderCacheError;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How many frames draw a kernel before it gets a pipeline of its own.
const DRAWN_FRAMES: u32 = 3;

/// Tells the main world whether blurs can be drawn in the frame in which they are added.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_gaussian_blur::prelude::*;
/// # fn open_menu() {}
/// # let mut app = App::new();
/// // `blurs_ready` is the same as a run condition.
/// app.add_systems(Update, open_menu.run_if(blurs_ready));
/// ```
#[derive(Resource, Clone, Debug, Default)]
pub struct BlurReadiness(Arc<[AtomicBool; 2]>);

impl BlurReadiness {
    /// Whether a blur of any strength would be drawn in the frame in which it is added. It considers
    ///
    /// - the usual cameras, which render to a window or an sRGB image, with `Hdr` or without: even before one exists;
    /// - every active camera;
    /// - the formats of all images that have been blurred.
    ///
    /// Blurs that the GPU does not support do not count. Without a renderer it is `true`: there is nothing to wait for.
    ///
    /// It becomes `true` after the first frames of an app, and after the first frames with a new render device. Until
    /// then a blur keeps its previous result, and a new blur is not visible. It becomes `false` again for a moment when
    /// a new format appears, or the first [`BackdropBlur`](crate::BackdropBlur), [`BlurProfile`](crate::BlurProfile),
    /// [`FreezeBlur`](crate::FreezeBlur) or `UiFilter`: before that, these do not count.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.0[0].load(Ordering::Acquire)
    }

    /// Whether all pipelines for the existing blurs are compiled, so that they are as fast as they will be. A new blur,
    /// or a new strength, makes it `false` one frame later.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.0[1].load(Ordering::Acquire)
    }

    pub(super) fn set(&self, is_ready: bool, is_complete: bool) {
        self.0[0].store(is_ready, Ordering::Release);
        self.0[1].store(is_complete, Ordering::Release);
    }
}

/// Run condition: [`BlurReadiness::is_ready`]. `false` without [`GaussianBlurPlugin`](crate::GaussianBlurPlugin).
#[must_use]
pub fn blurs_ready(readiness: Option<Res<BlurReadiness>>) -> bool {
    readiness.is_some_and(|readiness| readiness.is_ready())
}

/// The pipelines of all blurs. Created again for every render device.
#[derive(Resource)]
pub struct BlurPipelines {
    pub factory: PipelineFactory,
    is_software: bool,
    /// The numbers of the device and of the frame. Together they identify a frame.
    pub moment: [u64; 2],
    queued: HashMap<PipelineKey, Queued>,
    /// Pipelines that serve any kernel, and were not compiled when last checked.
    essential: Vec<Queued>,
    /// Pipelines for single kernels that blurs draw.
    wanted: VecDeque<PipelineKey>,
    /// Pipelines for the other kernels of such blurs.
    later: Later,
    /// The wanted pipelines that were not compiled when last checked.
    compiling: Vec<Queued>,
    /// For kernels without a pipeline of their own: the last frame that drew them, and the number of these frames.
    drawn: HashMap<PipelineKey, (u64, u32)>,
    /// Whether blurs of this frame have drawn such kernels.
    is_counting: bool,
    /// Whether pipelines for single kernels may compile.
    may_specialise: bool,
    /// The announced uses, with the pipelines that serve any kernel; none if the GPU does not support the blur.
    announced: HashMap<Uses, Box<[Queued]>>,
}

/// Pipelines that compile when nothing else does.
#[derive(Default)]
pub(super) struct Later {
    pub(super) keys: VecDeque<PipelineKey>,
    /// The uses of these and of earlier ones.
    accelerated: HashSet<Uses>,
}

impl Later {
    /// Requests the programs for all kernels of these blurs once, unless compiling blocks.
    pub(super) fn accelerate(&mut self, uses: Uses, resolved: &Resolved, compiling_blocks: bool) {
        if !compiling_blocks && self.accelerated.insert(uses) {
            self.keys.extend(uses.keys(resolved));
        }
    }
}

/// The number of render devices so far.
static DEVICES: AtomicU64 = AtomicU64::new(0);

/// Creates [`BlurPipelines`].
pub fn init_pipelines(
    mut commands: Commands,
    device: Res<RenderDevice>,
    fullscreen: Res<FullscreenShader>,
    assets: Res<AssetServer>,
    info: Res<RenderAdapterInfo>,
    readiness: Res<BlurReadiness>,
) {
    // A new device has no pipelines yet.
    readiness.set(false, false);
    commands.insert_resource(BlurPipelines {
        factory: PipelineFactory::new(&device, &info, &fullscreen, &assets),
        is_software: is_software(&info),
        moment: [DEVICES.fetch_add(1, Ordering::Relaxed), 0],
        queued: HashMap::default(),
        essential: Vec::new(),
        wanted: VecDeque::new(),
        later: Later::default(),
        compiling: Vec::new(),
        drawn: HashMap::default(),
        is_counting: false,
        may_specialise: true,
        announced: HashMap::default(),
    });
}

/// Two ends, the kind of work between them and its last step: together they decide which programs blurs may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Uses {
    pub ends: Ends,
    pub kind: WorkKind,
    pub finish: Finish,
}

/// An exact copy from one end to the other.
pub(super) const COPY: Stage = from_end_to_end(Program::CopyFragment);
/// A mip level from the one before it.
pub(super) const MIPMAP: Stage = from_end_to_end(Program::MipmapFragment);

/// An exact copy for a deferred last step.
pub(super) const COPY_TO_LEVEL: Stage = Stage {
    program: Program::CopyFragment,
    is_first: true,
    is_last: false,
    skips: false,
    merges: false,
};

const fn from_end_to_end(program: Program) -> Stage {
    Stage {
        program,
        is_first: true,
        is_last: true,
        skips: false,
        merges: false,
    }
}

impl Uses {
    /// What decides the pipelines of a request.
    pub fn new(request: &BlurRequest) -> Self {
        Self {
            ends: request.ends,
            kind: request.work.kind(),
            finish: request.finish,
        }
    }

    /// The pipelines for all kernels.
    fn keys(self, resolved: &Resolved) -> impl Iterator<Item = PipelineKey> {
        let means = resolved.means;
        let stages = match (self.kind, self.finish) {
            (WorkKind::Copy, Finish::Write) => vec![COPY],
            (WorkKind::Copy, Finish::Defer) => vec![COPY_TO_LEVEL],
            (WorkKind::Mipmap, _) => vec![MIPMAP],
            (WorkKind::Blur, finish) => stages(means, finish),
            (WorkKind::Vary, finish) => varying_stages(means, finish),
        };
        stages
            .into_iter()
            .map(move |stage| PipelineKey::new(stage, &self.ends, resolved))
    }
}

impl BlurPipelines {
    /// Requests the pipelines that suffice for blurs of any strength between two ends.
    pub fn announce(&mut self, uses: Uses, capabilities: &Capabilities, cache: &PipelineCache) {
        if self.announced.contains_key(&uses) {
            return;
        }
        let queued = match capabilities.resolve(&uses.ends) {
            Ok(resolved) => uses
                .keys(&resolved)
                .map(|key| self.serving_any_kernel(key, cache))
                .collect(),
            // An unsupported blur is reported when it is requested.
            Err(_) => Box::default(),
        };
        self.announced.insert(uses, queued);
    }

    /// The pipeline that serves any kernel in place of this one.
    pub fn serving_any_kernel(&mut self, key: PipelineKey, cache: &PipelineCache) -> Queued {
        let key = key.for_any_kernel();
        *self.queued.entry(key).or_insert_with(|| {
            let queued = self.factory.queue(&key, cache);
            self.essential.push(queued);
            queued
        })
    }

    /// Adds a front end's own pipeline to the essential ones.
    pub fn wait_for(&mut self, id: CachedRenderPipelineId) {
        self.essential.push(Queued::Render(id));
    }

    /// Counts a frame that draws these kernels. The ones that are drawn often get pipelines of their own. Returns whether
    /// all have got one.
    pub fn draw(&mut self, keys: impl Iterator<Item = PipelineKey>, uses: Uses, resolved: &Resolved) -> bool {
        if !self.may_specialise {
            return false;
        }
        let frame = self.moment[1];
        let (mut have_all, mut is_often) = (true, false);
        let is_missing = |key: &PipelineKey| self.specialises(key) && !self.queued.contains_key(key);
        for key in keys.filter(is_missing).collect::<Vec<_>>() {
            have_all = false;
            let (last, count) = self.drawn.entry(key).or_insert((frame, 1));
            *count += u32::from(*last != frame);
            *last = frame;
            if *count == DRAWN_FRAMES && !self.wanted.contains(&key) {
                self.wanted.push_back(key);
                is_often = true;
            }
        }
        self.is_counting |= !have_all;
        if is_often {
            self.later.accelerate(uses, resolved, COMPILING_BLOCKS);
        }
        have_all
    }

    /// Whether kernels get pipelines of their own. Mesa's software rasteriser of Debian 12 (22.3) compiles render passes that skip
    /// texels for every draw anew, with the values of their uniforms, and keeps the code. Programs for any kernel are faster there.
    fn specialises(&self, key: &PipelineKey) -> bool {
        key.program.computes() || !key.skips || !self.is_software
    }

    /// A requested pipeline.
    pub fn get(&self, key: &PipelineKey) -> Option<Queued> {
        self.queued.get(key).copied()
    }

    /// Queues the next pipelines for single kernels.
    fn compile(&mut self, per_frame: usize, cache: &PipelineCache) {
        for _ in 0..per_frame {
            let Some(key) = self.wanted.pop_front() else {
                break;
            };
            let queued = self.queue(key, cache);
            self.compiling.push(queued);
            self.drawn.remove(&key);
        }
        let is_idle = self.essential.is_empty() && self.wanted.is_empty() && self.compiling.is_empty();
        while is_idle && let Some(key) = self.later.keys.pop_front() {
            if self.specialises(&key) && !self.queued.contains_key(&key) {
                self.queue(key, cache);
                break;
            }
        }
    }

    fn queue(&mut self, key: PipelineKey, cache: &PipelineCache) -> Queued {
        *self
            .queued
            .entry(key)
            .or_insert_with(|| self.factory.queue(&key, cache))
    }
}

impl Queued {
    /// Whether the pipeline is compiled.
    pub fn is_ready(self, cache: &PipelineCache) -> bool {
        matches!(self.state(cache), CachedPipelineState::Ok(_))
    }

    fn state(self, cache: &PipelineCache) -> &CachedPipelineState {
        match self {
            Self::Render(id) => cache.get_render_pipeline_state(id),
            Self::Compute(id) => cache.get_compute_pipeline_state(id),
        }
    }

    /// Whether the pipeline is neither compiled nor failed.
    fn is_pending(self, cache: &PipelineCache) -> bool {
        match self.state(cache) {
            CachedPipelineState::Queued | CachedPipelineState::Creating(_) => true,
            CachedPipelineState::Ok(_) => false,
            CachedPipelineState::Err(error) => matches!(
                error,
                ShaderCacheError::ShaderNotLoaded(_) | ShaderCacheError::ShaderImportNotYetAvailable
            ),
        }
    }
}

pub fn extract_compilation(mut commands: Commands, compilation: Extract<Res<BlurCompilation>>) {
    commands.insert_resource(**compilation);
}

/// Queues a few more pipelines, and updates [`BlurReadiness`].
pub fn compile_more(
    mut pipelines: ResMut<BlurPipelines>,
    cache: Res<PipelineCache>,
    compilation: Res<BlurCompilation>,
    readiness: Res<BlurReadiness>,
) {
    let pipelines = &mut *pipelines;
    pipelines.moment[1] += 1;
    pipelines.essential.retain(|queued| queued.is_pending(&cache));
    pipelines.compiling.retain(|queued| queued.is_pending(&cache));
    pipelines.may_specialise = compilation.per_frame > 0;
    pipelines.compile(compilation.per_frame, &cache);
    let is_ready = pipelines.essential.is_empty();
    let is_counting = core::mem::take(&mut pipelines.is_counting);
    let is_complete = is_ready && !is_counting && pipelines.wanted.is_empty() && pipelines.compiling.is_empty();
    readiness.set(is_ready, is_complete);
}
