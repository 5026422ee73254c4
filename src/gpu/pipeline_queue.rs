//! Which pipelines there are, and which come next.
//!
//! Pipelines compile in the background (on the main thread on macOS and the web), and a blur must not wait for them. So the
//! few programs that [serve any kernel](Program::for_any_kernel) are asked for as soon as a pair of formats is known,
//! blurred or not: those of the usual cameras in the first frame of an app. Programs for single kernels are faster. They are compiled a few in each frame, those that a blur could
//! use now before those that it could use some day, and take over when they are there.
//!
//! [`Program::for_any_kernel`]: crate::program::Program::for_any_kernel

use super::pipeline_factory::PipelineFactory;
use super::pipeline_key::{PipelineKey, Queued};
use super::request::WorkKind;
use crate::formats::{Capabilities, Ends, Resolved};
use crate::plan::pass::Stage;
use crate::plan::stages::{stages, varying_stages};
use crate::plan::{Finish, Means};
use crate::program::Program;
use bevy::asset::AssetServer;
use bevy::core_pipeline::FullscreenShader;
use bevy::platform::collections::{HashMap, HashSet};
use bevy::prelude::*;
use bevy::render::Extract;
use bevy::render::render_resource::{
    CachedPipelineState, CachedRenderPipelineId, ComputePipeline, PipelineCache, RenderPipeline,
};
use bevy::render::renderer::{RenderAdapterInfo, RenderDevice};
use bevy::shader::ShaderCacheError;
use core::time::Duration;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How eagerly shaders are compiled, and how long frames wait for them.
#[derive(Resource, Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlurCompilation {
    /// How many pipelines for single kernels may be started in a frame, which are faster than those that serve any kernel.
    /// Default: 2, and 1 where compiling blocks the main thread (on macOS and the web).
    ///
    /// There, this is what a frame may have to wait for; the
    /// shaders that serve any kernel come on top, in the first frame that has a new format. With 0 all blurs stay with
    /// those.
    pub per_frame: usize,
    /// How long frames may wait for the shaders of glass that they show, in all, from one moment at which
    /// [blurs are ready](BlurReadiness::is_ready) to the next. Default: one second.
    ///
    /// When that time is over, as may happen while an app fills Bevy's `AsyncComputeTaskPool`, frames are drawn without the
    /// glass until its shaders are there. With [`Duration::ZERO`] no frame waits.
    pub longest_wait: Duration,
}

impl Default for BlurCompilation {
    fn default() -> Self {
        let blocks = cfg!(any(target_arch = "wasm32", target_os = "macos"));
        Self {
            per_frame: if blocks { 1 } else { 2 },
            longest_wait: Duration::from_secs(1),
        }
    }
}

/// Says in the main world whether blurs can be shown as they are asked for.
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
pub struct BlurReadiness(Arc<Flags>);

#[derive(Debug, Default)]
struct Flags {
    ready: AtomicBool,
    complete: AtomicBool,
}

impl BlurReadiness {
    /// Whether a blur of any strength could be drawn at once: on cameras that render to a window or an sRGB image, with `Hdr`
    /// or without, there or yet to come; on every active camera; and between the formats of all images that have been blurred.
    /// What a GPU cannot blur does not count. Without a renderer it is `true`: there is nothing to wait for.
    ///
    /// That takes the first frames of an app, and those after the loss of a device. Until then a blur keeps what it showed
    /// last, and a new one is not seen. It becomes `false` again for a moment when a format comes that was not there before,
    /// or the first [`BackdropBlur`](crate::BackdropBlur) or [`BlurProfile`](crate::BlurProfile): without any, glass and
    /// profiles do not count.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.0.ready.load(Ordering::Acquire)
    }

    /// Whether nothing is left to compile for the blurs there are: they are as fast as they will be. A new one makes it
    /// `false` a frame later.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.0.complete.load(Ordering::Acquire)
    }

    pub(super) fn set(&self, is_ready: bool, is_complete: bool) {
        self.0.ready.store(is_ready, Ordering::Release);
        self.0.complete.store(is_complete, Ordering::Release);
    }
}

/// Run condition: [`BlurReadiness::is_ready`]. `false` without [`GaussianBlurPlugin`](crate::GaussianBlurPlugin).
#[must_use]
pub fn blurs_ready(readiness: Option<Res<BlurReadiness>>) -> bool {
    readiness.is_some_and(|readiness| readiness.is_ready())
}

/// A pipeline that can be used.
pub enum Ready<'a> {
    Render(&'a RenderPipeline),
    Compute(&'a ComputePipeline),
}

/// The pipelines of all blurs. Made anew when the render device is.
#[derive(Resource)]
pub struct BlurPipelines {
    pub factory: PipelineFactory,
    /// Tells these from those of another device, and this frame from others: no two are alike.
    pub moment: [u64; 2],
    queued: HashMap<PipelineKey, Queued>,
    /// Those that serve any kernel, as far as they have not been seen ready yet.
    essential: Vec<Queued>,
    /// Those that a blur could use now, and those that it could use some day.
    wanted: VecDeque<PipelineKey>,
    later: VecDeque<PipelineKey>,
    /// What has been announced, with the pipelines that serve any kernel; none where nothing can be blurred.
    announced: HashMap<Uses, Box<[Queued]>>,
    accelerated: HashSet<Uses>,
}

/// How many devices there have been.
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
    // After the loss of a device, nothing is there again.
    readiness.set(false, false);
    commands.insert_resource(BlurPipelines {
        factory: PipelineFactory::new(&device, &info, &fullscreen, &assets),
        moment: [DEVICES.fetch_add(1, Ordering::Relaxed), 0],
        queued: HashMap::default(),
        essential: Vec::new(),
        wanted: VecDeque::new(),
        later: VecDeque::new(),
        announced: HashMap::default(),
        accelerated: HashSet::default(),
    });
}

/// What blurs do between two ends, as far as it decides which programs they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Uses {
    pub ends: Ends,
    pub kind: WorkKind,
    pub finish: Finish,
}

/// An exact copy from one end to the other.
pub(super) const COPY: Stage = from_end_to_end(Program::CopyFragment);
/// A mip level out of the one before it.
pub(super) const MIPMAP: Stage = from_end_to_end(Program::MipmapFragment);

/// An exact copy that somebody else goes on with.
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
    fn stages(self, means: Means) -> Vec<Stage> {
        match (self.kind, self.finish) {
            (WorkKind::Copy, Finish::Write) => vec![COPY],
            (WorkKind::Copy, Finish::Defer) => vec![COPY_TO_LEVEL],
            (WorkKind::Mipmap, _) => vec![MIPMAP],
            (WorkKind::Blur, finish) => stages(means, finish),
            (WorkKind::Vary, finish) => varying_stages(means, finish),
        }
    }
}

impl BlurPipelines {
    /// Asks for all that is needed between two ends at the least, whatever the strength of a blur.
    pub fn announce(&mut self, uses: Uses, capabilities: &Capabilities, cache: &PipelineCache) {
        if self.announced.contains_key(&uses) {
            return;
        }
        let queued = match capabilities.resolve(&uses.ends) {
            Ok(resolved) => {
                let stages = uses.stages(resolved.means).into_iter();
                let queue = |stage| self.serving_any_kernel(PipelineKey::new(stage, &uses.ends, &resolved), cache);
                stages.map(queue).collect()
            }
            // What cannot be blurred is reported when it is to be.
            Err(_) => Box::default(),
        };
        self.announced.insert(uses, queued);
    }

    /// Asks for all the faster programs of these blurs between two ends, in time.
    pub fn accelerate(&mut self, uses: Uses, resolved: &Resolved) {
        if self.accelerated.insert(uses) {
            let stages = uses.stages(resolved.means).into_iter();
            self.later
                .extend(stages.map(|stage| PipelineKey::new(stage, &uses.ends, resolved)));
        }
    }

    /// The pipeline that serves any kernel instead of this one.
    pub fn serving_any_kernel(&mut self, key: PipelineKey, cache: &PipelineCache) -> Queued {
        let key = key.for_any_kernel();
        *self.queued.entry(key).or_insert_with(|| {
            let queued = self.factory.queue(&key, cache);
            self.essential.push(queued);
            queued
        })
    }

    /// Counts a pipeline of somebody else among those that blurs cannot do without.
    pub fn wait_for(&mut self, id: CachedRenderPipelineId) {
        self.essential.push(Queued::Render(id));
    }

    /// Whether something that blurs cannot do without was missing when it was last looked for.
    #[must_use]
    pub fn are_any_missing(&self) -> bool {
        !self.essential.is_empty()
    }

    /// Whether other threads are compiling all that is missing of what was [announced](Self::announce) for these uses, and of
    /// these other pipelines. What waits for a shader to be loaded, or cannot be compiled, may take any time: then it
    /// is not worth waiting.
    #[must_use]
    pub fn are_compiling(
        &self,
        uses: impl Iterator<Item = Uses>,
        others: impl Iterator<Item = CachedRenderPipelineId>,
        cache: &PipelineCache,
    ) -> bool {
        let announced = uses.filter_map(|uses| self.announced.get(&uses)).flatten().copied();
        let mut is_any = false;
        for queued in announced.chain(others.map(Queued::Render)) {
            match queued.state(cache) {
                CachedPipelineState::Ok(_) => {}
                CachedPipelineState::Creating(_) => is_any = true,
                CachedPipelineState::Queued | CachedPipelineState::Err(_) => return false,
            }
        }
        is_any
    }

    /// Asks for a pipeline as soon as possible.
    pub fn want(&mut self, key: PipelineKey) {
        if !self.queued.contains_key(&key) && !self.wanted.contains(&key) {
            self.wanted.push_back(key);
        }
    }

    /// A pipeline that has been asked for.
    #[must_use]
    pub fn get(&self, key: &PipelineKey) -> Option<Queued> {
        self.queued.get(key).copied()
    }

    fn next(&mut self) -> Option<PipelineKey> {
        let queued = &self.queued;
        let is_new = |key: &PipelineKey| !queued.contains_key(key);
        let next = |keys: &mut VecDeque<PipelineKey>| {
            while let Some(key) = keys.pop_front() {
                if is_new(&key) {
                    return Some(key);
                }
            }
            None
        };
        next(&mut self.wanted).or_else(|| next(&mut self.later))
    }
}

impl Queued {
    /// The pipeline, `None` while it is being compiled.
    #[must_use]
    pub fn ready(self, cache: &PipelineCache) -> Option<Ready<'_>> {
        match self {
            Self::Render(id) => cache.get_render_pipeline(id).map(Ready::Render),
            Self::Compute(id) => cache.get_compute_pipeline(id).map(Ready::Compute),
        }
    }

    fn state(self, cache: &PipelineCache) -> &CachedPipelineState {
        match self {
            Self::Render(id) => cache.get_render_pipeline_state(id),
            Self::Compute(id) => cache.get_compute_pipeline_state(id),
        }
    }

    /// Whether it is yet to be seen what becomes of the pipeline.
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

/// Asks for a few more pipelines, and says how far it is.
pub fn compile_more(
    mut pipelines: ResMut<BlurPipelines>,
    cache: Res<PipelineCache>,
    compilation: Res<BlurCompilation>,
    readiness: Res<BlurReadiness>,
) {
    let pipelines = &mut *pipelines;
    pipelines.moment[1] += 1;
    pipelines.essential.retain(|queued| queued.is_pending(&cache));
    let is_ready = pipelines.essential.is_empty();
    for _ in 0..compilation.per_frame {
        let Some(key) = pipelines.next() else {
            break;
        };
        let queued = pipelines.factory.queue(&key, &cache);
        pipelines.queued.insert(key, queued);
    }
    let is_all_asked_for = compilation.per_frame == 0 || pipelines.wanted.is_empty() && pipelines.later.is_empty();
    let is_complete =
        is_ready && is_all_asked_for && !pipelines.queued.values().any(|queued| queued.is_pending(&cache));
    readiness.set(is_ready, is_complete);
}
