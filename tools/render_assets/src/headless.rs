//! A Bevy app without a window, driven frame by frame, whose targets can be read.

use bevy::app::{PluginsState, TerminalCtrlCHandlerPlugin};
use bevy::log::LogPlugin;
use bevy::prelude::*;
use bevy::render::gpu_readback::{Readback, ReadbackComplete};
use bevy::render::pipelined_rendering::PipelinedRenderingPlugin;
use bevy::render::render_resource::{PipelineCache, PollType};
use bevy::render::renderer::RenderDevice;
use bevy::render::{RenderApp, RenderPlugin};
use bevy::window::ExitCondition;

/// The number of frames after which new entities have reached the GPU.
const SETTLING: usize = 5;
/// The number of frames within which a picture must arrive from the GPU.
const PATIENCE: usize = 100;

/// The app. Every frame is rendered to its end before the next one starts.
pub struct Headless {
    pub app: App,
}

/// The pixels that have arrived.
#[derive(Component, Default)]
struct Bytes(Option<Vec<u8>>);

impl Headless {
    /// Starts the app with Bevy's default plugins. The features of Bevy that this package enables include no window system.
    pub fn new() -> Self {
        let mut app = App::new();
        let plugins = DefaultPlugins
            .set(WindowPlugin {
                primary_window: None,
                exit_condition: ExitCondition::DontExit,
                ..default()
            })
            .set(RenderPlugin {
                synchronous_pipeline_compilation: true,
                ..default()
            })
            .set(LogPlugin {
                filter: "error".into(),
                ..default()
            })
            .disable::<PipelinedRenderingPlugin>()
            // It turns Ctrl+C into an exit request to the app, which this program never reads.
            .disable::<TerminalCtrlCHandlerPlugin>();
        app.add_plugins(plugins);
        while app.plugins_state() == PluginsState::Adding {
            bevy::tasks::tick_global_task_pools_on_main_thread();
        }
        app.finish();
        app.cleanup();
        Self { app }
    }

    /// Runs frames until everything is loaded and compiled.
    pub fn warm_up(&mut self) {
        (0..SETTLING).for_each(|_| self.frame());
        while self.is_compiling() {
            self.frame();
        }
        (0..SETTLING).for_each(|_| self.frame());
    }

    /// Reads an image back from the GPU. Rows are copied as they are stored, so their size must be a multiple of 256
    /// bytes.
    ///
    /// # Errors
    /// No pixels arrived.
    pub fn read(&mut self, image: &Handle<Image>) -> Result<Vec<u8>, String> {
        let mut reader = self
            .app
            .world_mut()
            .spawn((Readback::texture(image.clone()), Bytes::default()));
        reader.observe(|read: On<ReadbackComplete>, mut bytes: Query<&mut Bytes>| {
            if let Ok(mut bytes) = bytes.get_mut(read.entity) {
                bytes.0.get_or_insert_with(|| read.data.clone());
            }
        });
        let reader = reader.id();
        let bytes = (0..PATIENCE).find_map(|_| {
            self.frame();
            self.app.world_mut().get_mut::<Bytes>(reader)?.0.take()
        });
        self.app.world_mut().despawn(reader);
        bytes.ok_or_else(|| format!("no picture came back from the GPU in {PATIENCE} frames"))
    }

    /// Runs a frame and waits for the GPU.
    fn frame(&mut self) {
        self.app.update();
        let device = self.app.sub_app(RenderApp).world().resource::<RenderDevice>();
        let _ = device.poll(PollType::wait_indefinitely());
    }

    fn is_compiling(&self) -> bool {
        let pipelines = self.app.sub_app(RenderApp).world().resource::<PipelineCache>();
        pipelines.waiting_pipelines().next().is_some()
    }
}
