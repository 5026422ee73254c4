//! A Bevy app without a window, driven frame by frame.

use bevy::app::{PluginsState, TaskPoolPlugin};
use bevy::camera::CameraPlugin;
use bevy::core_pipeline::CorePipelinePlugin;
use bevy::diagnostic::{DiagnosticsPlugin, FrameCountPlugin};
use bevy::mesh::MeshPlugin;
use bevy::prelude::*;
use bevy::render::render_resource::PollType;
use bevy::render::renderer::RenderDevice;
use bevy::render::{RenderApp, RenderPlugin};
use bevy::tasks::block_on;
use bevy::time::TimePlugin;
use bevy::window::ExitCondition;
use std::time::{Duration, Instant};

/// The app. Every frame is rendered to its end before the next one starts.
pub struct Headless {
    pub app: App,
}

impl Headless {
    /// Starts an app with the plugins that rendering needs, and additions from `setup`.
    ///
    /// The plugins are listed one by one and not taken from `DefaultPlugins`, which grows with the features of Bevy
    /// that other packages of the workspace enable. A window system among them would look for a display.
    ///
    /// # Errors
    /// There is no GPU.
    pub fn start(setup: impl FnOnce(&mut App)) -> Result<Self, String> {
        find_adapter()?;
        let mut app = App::new();
        app.add_plugins((
            TaskPoolPlugin::default(),
            FrameCountPlugin,
            TimePlugin,
            TransformPlugin,
            DiagnosticsPlugin,
            // The renderer looks for windows, and finds none.
            WindowPlugin {
                primary_window: None,
                exit_condition: ExitCondition::DontExit,
                ..default()
            },
            AssetPlugin::default(),
            RenderPlugin {
                synchronous_pipeline_compilation: true,
                ..default()
            },
            ImagePlugin::default(),
            MeshPlugin,
            CameraPlugin,
            // It submits the recorded commands.
            CorePipelinePlugin,
        ));
        setup(&mut app);
        while app.plugins_state() == PluginsState::Adding {
            bevy::tasks::tick_global_task_pools_on_main_thread();
        }
        app.finish();
        app.cleanup();
        Ok(Self { app })
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

    /// Runs frames until `done` holds. Returns whether it did in time.
    pub fn frames_until(&mut self, patience: Duration, mut done: impl FnMut(&World) -> bool) -> bool {
        let since = Instant::now();
        while since.elapsed() < patience {
            self.frame();
            if done(self.app.world()) {
                return true;
            }
        }
        false
    }
}

/// Bevy panics without an adapter, so check first.
fn find_adapter() -> Result<(), String> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends: wgpu::Backends::from_env().unwrap_or_default(),
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    });
    block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default()))
        .map(drop)
        .map_err(|error| format!("no GPU adapter was found, not even a software one: {error}"))
}
