//! All pipelines: how they are made, and which are compiled next.
//!
//! Pipelines compile in the background (on the main thread on macOS and the web), and a blur must not wait for them. So
//! the few programs that [serve any kernel](Program::for_any_kernel) are requested as soon as a pair of formats is
//! known, blurred or not; those of the usual cameras are requested in the first frame of an app. Programs for single
//! kernels are faster. A kernel gets one when blurs have drawn it in several frames, and it replaces the general one when
//! it is compiled. Where threads compile, the other kernels of such blurs follow, one per frame.
//!
//! [`Program::for_any_kernel`]: crate::program::Program::for_any_kernel

use super::pipeline_key::{PipelineKey, Queued};
use super::request::{BlurRequest, WorkKind};
use crate::formats::{Capabilities, Ends, Resolved, is_software};
use crate::plan::pass::Pass;
use crate::plan::stages::stages;
use crate::plan::{BlurPlan, Finish};
use crate::program::Program;
use crate::settings::{BlurCompilation, COMPILING_BLOCKS};
use bevy::core_pipeline::FullscreenShader;
use bevy::platform::collections::{HashMap, HashSet};
use bevy::prelude::*;
use bevy::render::Extract;
use bevy::render::render_resource::{
    AddressMode, BindGroupLayout, CachedPipelineState, CachedRenderPipelineId, ColorTargetState, ColorWrites,
    ComputePipelineDescriptor, FilterMode, FragmentState, PipelineCache, RenderPipelineDescriptor, Sampler,
    SamplerDescriptor,
};
use bevy::render::renderer::{RenderAdapterInfo, RenderDevice};
use bevy::shader::{ShaderCacheError, ShaderDefVal};
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
    pub device: RenderDevice,
    /// Linear, clamped.
    pub sampler: Sampler,
    /// The numbers of the device and of the frame. Together they identify a frame.
    pub moment: [u64; 2],
    is_software: bool,
    /// Whether shaders must round before they pack half floats.
    round_packed: bool,
    fullscreen: FullscreenShader,
    /// The shaders by name, loaded before they are needed.
    shaders: HashMap<&'static str, Handle<Shader>>,
    queued: HashMap<PipelineKey, Queued>,
    /// The layouts of bind groups, by pipelines that serve any kernel.
    layouts: HashMap<PipelineKey, BindGroupLayout>,
    /// Pipelines that serve any kernel, and were not compiled when last checked.
    essential: Vec<Queued>,
    kernels: Kernels,
    /// The uses whose pipelines for any kernel have been requested.
    announced: HashSet<Uses>,
}

/// Which single kernels get pipelines of their own.
#[derive(Default)]
pub(super) struct Kernels {
    /// Whether none do.
    are_off: bool,
    /// For kernels without a pipeline of their own: the last frame that drew them, and the number of these frames.
    drawn: HashMap<PipelineKey, (u64, u32)>,
    /// The pipelines of those that were drawn often, which were not compiled when last checked.
    compiling: Vec<Queued>,
    /// The other kernels of such blurs, which compile when nothing else does.
    pub(super) later: VecDeque<PipelineKey>,
    /// The uses of these and of earlier ones.
    accelerated: HashSet<Uses>,
}

impl Kernels {
    /// The kernel that is to get the next pipeline: the one that was drawn most often.
    fn wanted(&self) -> Option<PipelineKey> {
        let often = self.drawn.iter().filter(|(_, (_, count))| *count >= DRAWN_FRAMES);
        often.max_by_key(|(_, (_, count))| *count).map(|(key, _)| *key)
    }

    /// Requests the programs for all kernels of these blurs once, unless compiling blocks.
    pub(super) fn accelerate(&mut self, uses: Uses, resolved: &Resolved, compiling_blocks: bool) {
        if !compiling_blocks && self.accelerated.insert(uses) {
            self.later.extend(uses.keys(resolved));
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
    let shader = |(program, name): (Program, &'static str)| {
        let (package, path) = (env!("CARGO_PKG_NAME"), program.path());
        (name, assets.load(format!("embedded://{package}/shaders/{path}.wgsl")))
    };
    commands.insert_resource(BlurPipelines {
        device: device.clone(),
        sampler: device.create_sampler(&SamplerDescriptor {
            label: Some("gaussian_blur_sampler"),
            min_filter: FilterMode::Linear,
            mag_filter: FilterMode::Linear,
            address_mode_u: AddressMode::ClampToEdge,
            address_mode_v: AddressMode::ClampToEdge,
            ..default()
        }),
        moment: [DEVICES.fetch_add(1, Ordering::Relaxed), 0],
        is_software: is_software(&info),
        round_packed: packing_truncates(&info),
        fullscreen: fullscreen.clone(),
        shaders: Program::SHADERS.map(shader).into(),
        queued: HashMap::default(),
        layouts: HashMap::default(),
        essential: Vec::new(),
        kernels: Kernels::default(),
        announced: HashSet::default(),
    });
}

/// Whether a GPU may truncate when `pack2x16float` makes half floats.
///
/// Shading languages allow truncation, and lavapipe truncates. NVIDIA's GPUs round when they pack (they truncate when
/// they *store* half floats, like lavapipe), so shaders need not round before, which makes weak blurs faster.
fn packing_truncates(info: &RenderAdapterInfo) -> bool {
    const NVIDIA: u32 = 0x10de;
    info.vendor != NVIDIA
}

/// Two ends, the kind of work between them and its last step: together they decide which programs blurs may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Uses {
    pub ends: Ends,
    pub kind: WorkKind,
    pub finish: Finish,
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
    pub(super) fn keys(self, resolved: &Resolved) -> impl Iterator<Item = PipelineKey> {
        let (means, finish) = (resolved.means, self.finish);
        let stages_of = |plan: BlurPlan| plan.passes.iter().map(Pass::stage).collect();
        let stages = match self.kind {
            WorkKind::Copy => stages_of(BlurPlan::copy(URect::new(0, 0, 1, 1), finish)),
            WorkKind::Mipmap => stages_of(BlurPlan::mipmap(UVec2::ONE, UVec2::ONE)),
            WorkKind::Blur | WorkKind::Vary => stages(means, finish, self.kind == WorkKind::Vary),
        };
        stages
            .into_iter()
            .map(move |stage| PipelineKey::new(stage, &self.ends, resolved))
    }
}

impl BlurPipelines {
    /// Requests the pipelines that suffice for blurs of any strength between two ends.
    pub fn announce(&mut self, uses: Uses, capabilities: &Capabilities, cache: &PipelineCache) {
        if !self.announced.insert(uses) {
            return;
        }
        // An unsupported blur is reported when it is requested.
        if let Ok(resolved) = capabilities.resolve(&uses.ends) {
            for key in uses.keys(&resolved) {
                self.serving_any_kernel(key, cache);
            }
        }
    }

    /// The pipeline that serves any kernel in place of this one.
    pub fn serving_any_kernel(&mut self, key: PipelineKey, cache: &PipelineCache) -> Queued {
        let key = key.for_any_kernel();
        match self.get(&key) {
            Some(queued) => queued,
            None => {
                let queued = self.queue(key, cache);
                self.essential.push(queued);
                queued
            }
        }
    }

    /// The layout of the bind groups of a pipeline.
    pub fn layout(&mut self, key: PipelineKey, cache: &PipelineCache) -> BindGroupLayout {
        let layout = self.layouts.entry(key.for_any_kernel());
        let new = || cache.get_bind_group_layout(&key.layout());
        layout.or_insert_with(new).clone()
    }

    /// Adds a front end's own pipeline to the essential ones.
    pub fn wait_for(&mut self, id: CachedRenderPipelineId) {
        self.essential.push(Queued::Render(id));
    }

    /// Counts a frame that draws these kernels. The ones that are drawn often get pipelines of their own. Returns whether
    /// all have got one.
    pub fn draw(&mut self, keys: impl Iterator<Item = PipelineKey>, uses: Uses, resolved: &Resolved) -> bool {
        if self.kernels.are_off {
            return false;
        }
        let (frame, mut have_all) = (self.moment[1], true);
        let is_missing = |key: &PipelineKey| self.specialises(key) && !self.queued.contains_key(key);
        let missing: Vec<PipelineKey> = keys.filter(is_missing).collect();
        let kernels = &mut self.kernels;
        for key in missing {
            have_all = false;
            let (last, count) = kernels.drawn.entry(key).or_insert((frame, 1));
            *count += u32::from(*last != frame);
            *last = frame;
            if *count == DRAWN_FRAMES {
                kernels.accelerate(uses, resolved, COMPILING_BLOCKS);
            }
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
            let Some(key) = self.kernels.wanted() else {
                break;
            };
            let queued = self.queue(key, cache);
            self.kernels.compiling.push(queued);
            self.kernels.drawn.remove(&key);
        }
        let is_idle = self.is_ready() && self.are_kernels_ready();
        while is_idle && let Some(key) = self.kernels.later.pop_front() {
            if self.specialises(&key) && !self.queued.contains_key(&key) {
                self.queue(key, cache);
                break;
            }
        }
    }

    /// Whether all pipelines that serve any kernel are compiled.
    fn is_ready(&self) -> bool {
        self.essential.is_empty()
    }

    /// Whether each kernel that is drawn often has its own compiled pipeline.
    fn are_kernels_ready(&self) -> bool {
        self.kernels.wanted().is_none() && self.kernels.compiling.is_empty()
    }

    fn queue(&mut self, key: PipelineKey, cache: &PipelineCache) -> Queued {
        if let Some(queued) = self.get(&key) {
            return queued;
        }
        let queued = if key.program.computes() {
            Queued::Compute(cache.queue_compute_pipeline(self.compute(&key)))
        } else {
            Queued::Render(cache.queue_render_pipeline(self.render(&key)))
        };
        self.queued.insert(key, queued);
        queued
    }

    fn render(&self, key: &PipelineKey) -> RenderPipelineDescriptor {
        let write_mask = match key.program {
            Program::OpaqueFragment => ColorWrites::ALPHA,
            _ => ColorWrites::ALL,
        };
        let target = ColorTargetState {
            format: key.target,
            blend: None,
            write_mask,
        };
        let (shader, name) = (self.shaders[key.program.name()].clone(), key.program.name());
        RenderPipelineDescriptor {
            label: Some(key.label().into()),
            layout: vec![key.layout()],
            vertex: self.fullscreen.to_vertex_state(),
            fragment: Some(fragment_state(shader, key.definitions(self.round_packed), name, target)),
            ..default()
        }
    }

    fn compute(&self, key: &PipelineKey) -> ComputePipelineDescriptor {
        ComputePipelineDescriptor {
            label: Some(key.label().into()),
            layout: vec![key.layout()],
            shader: self.shaders[key.program.name()].clone(),
            shader_defs: key.definitions(self.round_packed),
            entry_point: Some(key.program.name().into()),
            ..default()
        }
    }
}

/// A fragment shader with one target.
pub fn fragment_state(
    shader: Handle<Shader>,
    shader_defs: Vec<ShaderDefVal>,
    entry_point: &'static str,
    target: ColorTargetState,
) -> FragmentState {
    FragmentState {
        shader,
        shader_defs,
        entry_point: Some(entry_point.into()),
        targets: vec![Some(target)],
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
    let frame = pipelines.moment[1];
    pipelines.moment[1] += 1;
    let is_counting = pipelines.kernels.drawn.values().any(|(last, _)| *last == frame);
    pipelines.essential.retain(|queued| queued.is_pending(&cache));
    pipelines.kernels.compiling.retain(|queued| queued.is_pending(&cache));
    pipelines.kernels.are_off = compilation.per_frame == 0;
    pipelines.compile(compilation.per_frame, &cache);
    let is_ready = pipelines.is_ready();
    readiness.set(is_ready, is_ready && !is_counting && pipelines.are_kernels_ready());
}
