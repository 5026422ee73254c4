//! A Bevy app without a window, driven frame by frame, whose textures can be read.

use super::pool;
use super::prelude::*;
use bevy::anti_alias::AntiAliasPlugin;
use bevy::app::{
    PluginsState, TaskPoolOptions, TaskPoolPlugin, TaskPoolThreadAssignmentPolicy, TerminalCtrlCHandlerPlugin,
};
use bevy::ecs::component::Mutable;
use bevy::ecs::schedule::{Schedules, SingleThreadedExecutor};
use bevy::log::LogPlugin;
use bevy::pbr::PbrPlugin;
use bevy::post_process::PostProcessPlugin;
use bevy::render::RenderPlugin;
use bevy::render::pipelined_rendering::PipelinedRenderingPlugin;
use bevy::render::render_resource::{
    Buffer, BufferDescriptor, BufferUsages, CachedPipeline, CommandEncoderDescriptor, Extent3d, MapMode, PipelineCache,
    PipelineDescriptor, PollType, TexelCopyBufferInfo, TexelCopyBufferLayout, Texture,
};
use bevy::render::renderer::RenderQueue;
use bevy::render::settings::WgpuSettings;
use bevy::shader::ShaderDefVal;
use bevy::tasks::block_on;
use bevy::time::TimeUpdateStrategy;
use bevy::window::ExitCondition;
use bevy::winit::WinitPlugin;
use std::io::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use wgpu::{Features, SubmissionIndex};

static LOGS: AtomicBool = AtomicBool::new(false);

/// A pipeline that Bevy queues even without compute shaders, but whose shader it then never loads.
pub const NEVER_READY: &str = "sparse buffer update pipeline";

/// The number of consecutive frames without a new pipeline after which no more pipelines are expected: from an app that has
/// just started, and from an app that was quiet before.
const QUIET_FRAMES: [usize; 2] = [4, 2];

/// How long a frame takes in an app whose frames complete one after the other. Blurs release what they have not used for a
/// second.
pub const FRAME_TIME: Duration = Duration::from_millis(200);

/// The pipelines that are not compiled yet.
pub fn waiting_pipelines(cache: &PipelineCache) -> impl Iterator<Item = &CachedPipeline> {
    cache.waiting_pipelines().filter_map(|id| cache.pipelines().nth(id))
}

/// The label of a pipeline.
pub fn label_of(pipeline: &PipelineDescriptor) -> Option<&str> {
    label_and_definitions_of(pipeline).0
}

/// The label of a pipeline, and the definitions that its last shader is compiled with.
pub fn label_and_definitions_of(pipeline: &PipelineDescriptor) -> (Option<&str>, Option<&Vec<ShaderDefVal>>) {
    match pipeline {
        PipelineDescriptor::RenderPipelineDescriptor(render) => {
            let fragment = render.fragment.as_ref();
            (render.label.as_deref(), fragment.map(|fragment| &fragment.shader_defs))
        }
        PipelineDescriptor::ComputePipelineDescriptor(compute) => {
            (compute.label.as_deref(), Some(&compute.shader_defs))
        }
    }
}

/// The pixels of a texture, row by row without padding.
pub struct Pixels {
    pub width: u32,
    pub height: u32,
    pub format: TextureFormat,
    pub bytes: Vec<u8>,
}

impl Pixels {
    /// Whether all texels are equal: nothing is seen yet.
    pub fn is_flat(&self) -> bool {
        let texel = self.bytes.len() / (self.width * self.height) as usize;
        self.bytes.chunks(texel).all(|bytes| *bytes == self.bytes[..texel])
    }
}

/// The app. Every frame completes before the next one starts.
pub struct Headless {
    pub app: App,
    was_quiet: bool,
    /// Of an app of the [`pool`], to which it returns.
    start: Option<pool::Start>,
}

impl Drop for Headless {
    fn drop(&mut self) {
        let is_kept = self.start.take().is_some_and(|start| pool::give_back(self, start));
        if !is_kept {
            drop(core::mem::replace(&mut self.app, App::empty()));
            super::process::give_memory_back();
        }
    }
}

/// The limits of the GPU to render with.
///
/// Without a GPU, nothing can be tested: the program ends, past the output that tests capture. With `BLUR_REQUIRE_GPU` in the
/// environment, as the test script sets it, a missing GPU is a failure.
pub fn adapter_limits() -> wgpu::Limits {
    match adapter() {
        Ok(adapter) => adapter.limits(),
        Err(reason) => {
            assert!(std::env::var_os("BLUR_REQUIRE_GPU").is_none(), "{reason}");
            let _ = writeln!(std::io::stderr(), "SKIPPED, nothing was tested: {reason}");
            std::process::exit(0)
        }
    }
}

/// The GPU to render with, which is looked for once.
///
/// It is kept for good, and its driver with it. Otherwise the end of the last app would unload the driver. Each time that NVIDIA's is loaded
/// again, it takes more of the memory that threads have from the start, until no GPU is found any more.
///
/// # Errors
/// A line that says that there is none.
pub fn adapter() -> Result<&'static wgpu::Adapter, &'static str> {
    static ADAPTER: OnceLock<Result<wgpu::Adapter, String>> = OnceLock::new();
    let look = || {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
        block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default()))
            .inspect(|adapter| super::report::append("BLUR_REPORT_GPU", || adapter.get_info().name))
            .map_err(|error| format!("no GPU adapter was found, not even a software one: {error}"))
    };
    ADAPTER.get_or_init(look).as_ref().map_err(String::as_str)
}

/// How an app renders.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mode {
    /// Every frame completes before the next one starts, and pipelines compile when they are queued: a frame shows its own
    /// requests, and the test can read everything.
    Lockstep,
    /// As games do: pipelines compile in the background, and a frame renders while the next one is simulated.
    Pipelined,
}

/// An app with Bevy's default plugins and whatever `setup` adds, ready for its first frame.
pub fn build(mode: Mode, logs: bool, setup: impl FnOnce(&mut App)) -> App {
    build_on(device(), mode, logs, setup)
}

/// A device with all features of the GPU, but `BLUR_WITHOUT_F16` leaves out half floats.
fn device() -> WgpuSettings {
    let without = std::env::var_os("BLUR_WITHOUT_F16").map(|_| Features::SHADER_F16);
    WgpuSettings {
        disabled_features: without,
        ..default()
    }
}

/// The same on a device with these settings.
fn build_on(device: WgpuSettings, mode: Mode, logs: bool, setup: impl FnOnce(&mut App)) -> App {
    adapter_limits();
    let mut app = App::new();
    let mut plugins = DefaultPlugins
        .set(WindowPlugin {
            primary_window: None,
            exit_condition: ExitCondition::DontExit,
            ..default()
        })
        .set(RenderPlugin {
            render_creation: device.into(),
            synchronous_pipeline_compilation: mode == Mode::Lockstep,
            ..default()
        })
        .set(LogPlugin {
            filter: "error,bevy_gaussian_blur=warn".into(),
            custom_layer: logs::layer,
            ..default()
        })
        .set(TaskPoolPlugin {
            task_pool_options: task_pools(),
        })
        .disable::<WinitPlugin>()
        // Every app parses the shaders that it loads. Most of Bevy's shaders belong to these plugins, and few tests need them:
        // `scene::add_plugins` and the module `cameras::effects` add them.
        .disable::<PbrPlugin>()
        .disable::<PostProcessPlugin>()
        .disable::<AntiAliasPlugin>()
        // It turns Ctrl+C into a request to exit, which the tests ignore.
        .disable::<TerminalCtrlCHandlerPlugin>();
    if mode == Mode::Lockstep {
        plugins = plugins.disable::<PipelinedRenderingPlugin>();
    }
    if !logs {
        plugins = plugins.disable::<LogPlugin>();
    }
    app.add_plugins(plugins);
    // Frames take as long on fast machines as on slow ones.
    app.insert_resource(TimeUpdateStrategy::ManualDuration(FRAME_TIME));
    setup(&mut app);
    while app.plugins_state() == PluginsState::Adding {
        bevy::tasks::tick_global_task_pools_on_main_thread();
    }
    app.finish();
    app.cleanup();
    if mode == Mode::Lockstep && !is_full() {
        run_one_by_one(&mut app);
    }
    app
}

/// Runs the systems of an app one after the other, as browsers do. To hand each to another thread takes longer than most take themselves:
/// in a test of formats, half of the time. Apps that render as games do have Bevy's usual executor, and with `BLUR_FULL` all have.
fn run_one_by_one(app: &mut App) {
    for app in app.sub_apps_mut().iter_mut() {
        let mut schedules = app.world_mut().resource_mut::<Schedules>();
        for (_, schedule) in schedules.iter_mut() {
            schedule.set_executor(SingleThreadedExecutor::new());
        }
    }
}

/// All apps of the process share the pools. With one thread each, as on most machines, tests would wait for one another. Systems
/// run in the compute pool; the tasks that load and parse shaders run in the IO pool.
fn task_pools() -> TaskPoolOptions {
    let default = TaskPoolOptions::default();
    let at_least =
        |min_threads, policy: TaskPoolThreadAssignmentPolicy| TaskPoolThreadAssignmentPolicy { min_threads, ..policy };
    TaskPoolOptions {
        io: at_least(2, default.io.clone()),
        compute: at_least(3, default.compute.clone()),
        ..default
    }
}

/// Whether the next app installs the logger. A process has one logger, however many apps it has.
pub fn takes_logger() -> bool {
    !LOGS.swap(true, Ordering::Relaxed)
}

impl From<App> for Headless {
    /// The app must be ready for its first frame.
    fn from(app: App) -> Self {
        Self {
            app,
            was_quiet: false,
            start: None,
        }
    }
}

impl Headless {
    /// An app with Bevy's default plugins, the blur, and whatever `setup` adds.
    pub fn new(setup: impl FnOnce(&mut App)) -> Self {
        build(Mode::Lockstep, takes_logger(), setup).into()
    }

    /// The same on a device with these settings.
    pub fn on(device: WgpuSettings, setup: impl FnOnce(&mut App)) -> Self {
        build_on(device, Mode::Lockstep, takes_logger(), setup).into()
    }

    /// An app of the pool.
    pub fn warm(app: App, start: pool::Start) -> Self {
        Self {
            app,
            was_quiet: true,
            start: Some(start),
        }
    }

    /// The render world.
    pub fn render_world(&self) -> &World {
        self.app.sub_app(RenderApp).world()
    }

    /// Runs a frame and waits for the GPU.
    pub fn frame(&mut self) {
        self.app.update();
        let device = self.render_world().resource::<RenderDevice>();
        let _ = device.poll(PollType::wait_indefinitely());
    }

    /// Runs some frames.
    pub fn frames(&mut self, count: usize) {
        (0..count).for_each(|_| self.frame());
    }

    /// Runs frames until `done` holds. Returns whether it did within `limit` frames.
    pub fn frames_until(&mut self, limit: usize, mut done: impl FnMut(&mut World) -> bool) -> bool {
        (0..limit).any(|_| {
            self.frame();
            done(self.app.world_mut())
        })
    }

    /// Runs frames until nothing is left to load or to compile: until a few frames in a row queue no pipeline. Panics with the
    /// error of a pipeline that failed.
    pub fn warm_up(&mut self) {
        let needed = QUIET_FRAMES[usize::from(self.was_quiet)];
        let (mut asked, mut quiet, mut frames) = (0, 0, 0);
        while quiet < needed {
            self.frame();
            frames += 1;
            let now = self.render_world().resource::<PipelineCache>().pipelines().count();
            let waiting = self.waiting_pipeline();
            let is_quiet = waiting.is_none() && now == asked;
            (asked, quiet) = (now, if is_quiet { quiet + 1 } else { 0 });
            assert!(frames < 10_000, "a pipeline is not compiled: {waiting:?}");
        }
        self.was_quiet = true;
    }

    /// A pipeline that is not compiled yet, in words.
    fn waiting_pipeline(&self) -> Option<String> {
        let cache = self.render_world().resource::<PipelineCache>();
        waiting_pipelines(cache).find_map(|pipeline| {
            let label = label_of(&pipeline.descriptor)?;
            (label != NEVER_READY).then(|| format!("{label}, {:?}", pipeline.state))
        })
    }

    /// The formats of a list that this device supports. Prints the others, which are not tested.
    pub fn available(&self, formats: &[TextureFormat]) -> Vec<TextureFormat> {
        let features = self.render_world().resource::<RenderDevice>().features();
        let is_available = |format: &&TextureFormat| {
            let is_available = features.contains(format.required_features());
            if !is_available {
                eprintln!("NOT TESTED: this device has no {format:?}");
            }
            is_available
        };
        formats.iter().filter(is_available).copied().collect()
    }

    /// The images of the app.
    pub fn images(&mut self) -> Mut<'_, Assets<Image>> {
        self.app.world_mut().resource_mut::<Assets<Image>>()
    }

    /// Adds an image to the app.
    pub fn add_image(&mut self, image: Image) -> Handle<Image> {
        self.images().add(image)
    }

    /// A handle of an image that is not there yet.
    pub fn reserve_image(&self) -> Handle<Image> {
        self.app.world().resource::<Assets<Image>>().reserve_handle()
    }

    /// Gives a handle another image, or its first one.
    pub fn insert_image(&mut self, handle: &Handle<Image>, image: Image) {
        let inserted = self.images().insert(handle.id(), image);
        inserted.expect("the handle is alive");
    }

    /// Spawns an entity.
    pub fn spawn(&mut self, components: impl Bundle) -> Entity {
        self.app.world_mut().spawn(components).id()
    }

    /// Gives an entity components.
    pub fn insert(&mut self, entity: Entity, components: impl Bundle) {
        self.app.world_mut().entity_mut(entity).insert(components);
    }

    /// Takes components from an entity.
    pub fn remove<B: Bundle>(&mut self, entity: Entity) {
        self.app.world_mut().entity_mut(entity).remove::<B>();
    }

    /// Gives an entity a component, or takes it away.
    pub fn set<C: Component>(&mut self, entity: Entity, component: C, is_there: bool) {
        let mut entity = self.app.world_mut().entity_mut(entity);
        if is_there {
            entity.insert(component);
        } else {
            entity.remove::<C>();
        }
    }

    /// A component of an entity, which must have it.
    pub fn get_mut<C: Component<Mutability = Mutable>>(&mut self, entity: Entity) -> Mut<'_, C> {
        let component = self.app.world_mut().get_mut::<C>(entity);
        component.expect("the entity has this component")
    }

    /// Ends an entity.
    pub fn despawn(&mut self, entity: Entity) {
        self.app.world_mut().despawn(entity);
    }

    /// Blurs an image once and returns the target.
    ///
    /// # Errors
    /// The blur failed.
    pub fn blur(&mut self, blur: GaussianBlur, image: BlurImage) -> Result<Handle<Image>, BlurError> {
        self.blur_with(blur, image, BlurProfile::Uniform)
    }

    /// The same with a profile.
    ///
    /// # Errors
    /// The blur failed.
    pub fn blur_with(
        &mut self,
        blur: GaussianBlur,
        image: BlurImage,
        profile: BlurProfile,
    ) -> Result<Handle<Image>, BlurError> {
        self.blur_all([(blur, image, profile)]).remove(0)
    }

    /// Blurs several images once, in the same frames, and returns their targets.
    pub fn blur_all(
        &mut self,
        blurs: impl IntoIterator<Item = (GaussianBlur, BlurImage, BlurProfile)>,
    ) -> Vec<Result<Handle<Image>, BlurError>> {
        #[derive(Component, Default)]
        struct Outcome(Option<Result<(), BlurError>>);
        let world = self.app.world_mut();
        let spawn = |blur| {
            let mut entity = world.spawn((blur, Outcome::default()));
            entity.observe(|event: On<BlurFinished>, mut outcomes: Query<&mut Outcome>| {
                if let Ok(mut outcome) = outcomes.get_mut(event.entity) {
                    outcome.0.get_or_insert(Ok(()));
                }
            });
            entity.observe(|event: On<BlurFailed>, mut outcomes: Query<&mut Outcome>| {
                if let Ok(mut outcome) = outcomes.get_mut(event.entity) {
                    outcome.0.get_or_insert(Err(event.error.clone()));
                }
            });
            entity.id()
        };
        let entities: Vec<Entity> = blurs.into_iter().map(spawn).collect();
        let has_outcome =
            |world: &World, entity: &Entity| world.get(*entity).is_some_and(|Outcome(outcome)| outcome.is_some());
        let arrived = self.frames_until(200, |world| entities.iter().all(|entity| has_outcome(world, entity)));
        assert!(arrived, "no outcome of a blur in 200 frames");
        let result = |entity: Entity| {
            let mut entity = self.app.world_mut().entity_mut(entity);
            let outcome = entity.take().and_then(|Outcome(outcome)| outcome);
            let target = entity.get::<BlurImage>().and_then(|image| image.target.clone());
            entity.despawn();
            outcome.expect("it arrived")?;
            Ok(target.expect("a finished blur has a target"))
        };
        entities.into_iter().map(result).collect()
    }

    /// Reads an image back from the GPU: the first level of its first layer.
    pub fn read_image(&self, image: &Handle<Image>) -> Pixels {
        let images = self.render_world().resource::<RenderAssets<GpuImage>>();
        let image = images.get(image).expect("the image is on the GPU");
        self.read_texture(&image.texture, image.view_format())
    }

    /// The same as values.
    pub fn picture(&self, image: &Handle<Image>) -> Picture {
        to_picture(&self.read_image(image))
    }

    /// Reads one level of one layer of an image's texture back from the GPU.
    pub fn read_part(&self, image: &Handle<Image>, layer: u32, level: u32) -> Pixels {
        let images = self.render_world().resource::<RenderAssets<GpuImage>>();
        let image = images.get(image).expect("the image is on the GPU");
        let device = self.render_world().resource::<RenderDevice>();
        let queue = self.render_world().resource::<RenderQueue>();
        read_part((device, queue), &image.texture, image.view_format(), [layer, level])
    }

    /// Reads a texture back from the GPU.
    pub fn read_texture(&self, texture: &Texture, format: TextureFormat) -> Pixels {
        let device = self.render_world().resource::<RenderDevice>();
        let queue = self.render_world().resource::<RenderQueue>();
        read_texture((device, queue), texture, format)
    }
}

/// Reads a texture back from the GPU: the first level of its first layer.
pub fn read_texture(gpu: (&RenderDevice, &RenderQueue), texture: &Texture, format: TextureFormat) -> Pixels {
    read_part(gpu, texture, format, [0, 0])
}

fn read_part(gpu: (&RenderDevice, &RenderQueue), texture: &Texture, format: TextureFormat, part: [u32; 2]) -> Pixels {
    Reading::of_part(gpu, texture, format, part).finish(gpu.0)
}

/// A copy of a texture that is on its way from the GPU.
pub struct Reading {
    buffer: Buffer,
    submission: SubmissionIndex,
    /// The number of bytes of a row of texels.
    row: usize,
    pixels: Pixels,
}

impl Reading {
    /// Copies the first level of the first layer of an image.
    pub fn of_image(headless: &Headless, image: &Handle<Image>) -> Self {
        let world = headless.render_world();
        let image = world.resource::<RenderAssets<GpuImage>>().get(image);
        let image = image.expect("the image is on the GPU");
        let gpu = (world.resource::<RenderDevice>(), world.resource::<RenderQueue>());
        Self::of_part(gpu, &image.texture, image.view_format(), [0, 0])
    }

    fn of_part(
        (device, queue): (&RenderDevice, &RenderQueue),
        texture: &Texture,
        format: TextureFormat,
        [layer, level]: [u32; 2],
    ) -> Self {
        let [width, height] = [texture.width(), texture.height()].map(|side| (side >> level).max(1));
        let texel = texture.format().block_copy_size(None).expect("a plain format");
        let row = width * texel;
        let padded = RenderDevice::align_copy_bytes_per_row(row as usize) as u32;
        let buffer = device.create_buffer(&BufferDescriptor {
            label: Some("read back"),
            size: u64::from(padded) * u64::from(height),
            usage: BufferUsages::COPY_DST | BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let mut encoder = device.create_command_encoder(&CommandEncoderDescriptor::default());
        let mut part = texture.as_image_copy();
        part.mip_level = level;
        part.origin.z = layer;
        let layout = TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(padded),
            rows_per_image: None,
        };
        let target = TexelCopyBufferInfo {
            buffer: &buffer,
            layout,
        };
        let size = Extent3d {
            width,
            height,
            depth_or_array_layers: 1,
        };
        encoder.copy_texture_to_buffer(part, target, size);
        let submission = queue.submit([encoder.finish()]);
        buffer
            .slice(..)
            .map_async(MapMode::Read, |result| result.expect("the buffer can be read"));
        Self {
            buffer,
            submission,
            row: row as usize,
            pixels: Pixels {
                width,
                height,
                format,
                bytes: Vec::new(),
            },
        }
    }

    /// Waits for the copy.
    pub fn finish(self, device: &RenderDevice) -> Pixels {
        let _ = device.poll(PollType::Wait {
            submission_index: Some(self.submission),
            timeout: None,
        });
        let mapped = self.buffer.slice(..).get_mapped_range();
        let mut pixels = self.pixels;
        for padded in mapped.chunks(RenderDevice::align_copy_bytes_per_row(self.row)) {
            pixels.bytes.extend_from_slice(&padded[..self.row]);
        }
        pixels
    }
}
