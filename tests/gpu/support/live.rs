//! An app that runs as games do: pipelines compile in the background, and rendering is a frame behind. At the end of every
//! rendered frame it copies its watched images, with the number of that frame.

use super::compiler::HeldCompiler;
use super::headless::{Mode, build, label_of, read_texture, takes_logger, waiting_pipelines};
use super::prelude::*;
use bevy::render::render_resource::{CachedPipeline, PipelineCache};
use bevy::render::renderer::RenderQueue;
use bevy::render::{Extract, ExtractSchedule, Render, RenderSystems};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// All apps of the process compile their pipelines in one pool of threads. While a test fills the pool, no other app may
/// wait for it.
static COMPILER: RwLock<()> = RwLock::new(());

/// How an app shares the threads that compile pipelines with the apps of other tests, while it exists.
#[expect(dead_code, reason = "guards are held, not read")]
enum Share {
    Among(RwLockReadGuard<'static, ()>),
    Alone(RwLockWriteGuard<'static, ()>),
}

/// The app. Its render world is on another thread: use only methods of [`Headless`] that act on the main world.
pub struct Live {
    pub headless: Headless,
    shots: Shots,
    share: Share,
}

/// The number of a frame, from 1 on, and the images to copy.
#[derive(Resource, Clone, Default)]
struct Watched {
    frame: usize,
    images: Vec<AssetId<Image>>,
}

/// The pixels of all watched images in a frame, in their order; `None` for an image that was not on the GPU.
pub struct Shot {
    pub frame: usize,
    /// Whether pipelines of Bevy's own were not compiled yet.
    awaits_bevy: bool,
    pub images: Vec<Option<Pixels>>,
}

#[derive(Resource, Clone, Default)]
struct Shots(Arc<Mutex<Vec<Shot>>>);

impl Share {
    fn among() -> Self {
        Self::Among(COMPILER.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn alone() -> Self {
        Self::Alone(COMPILER.write().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Live {
    /// The app with the blur. The pipelines of glass and filters compile when the first of them is spawned.
    pub fn new(backend: BlurBackend, setup: impl FnOnce(&mut App)) -> Self {
        Self::with(Share::among(), (backend, false), setup)
    }

    /// The same with glass and filters that are ready from the start, as with the default settings of the plugin.
    pub fn with_ui(backend: BlurBackend, setup: impl FnOnce(&mut App)) -> Self {
        Self::with(Share::among(), (backend, true), setup)
    }

    /// The same while no other such app exists. It may [hold the compiler up](Self::hold_compiler).
    pub fn alone(backend: BlurBackend, setup: impl FnOnce(&mut App)) -> Self {
        Self::with(Share::alone(), (backend, true), setup)
    }

    /// The same in an app that compiles the pipelines of glass and filters when the first of them is spawned.
    pub fn late(backend: BlurBackend, setup: impl FnOnce(&mut App)) -> Self {
        Self::with(Share::alone(), (backend, false), setup)
    }

    fn with(share: Share, (backend, precompile_ui): (BlurBackend, bool), setup: impl FnOnce(&mut App)) -> Self {
        let shots = Shots::default();
        let app = build(Mode::Pipelined, takes_logger(), |app| {
            app.add_plugins(GaussianBlurPlugin { backend, precompile_ui })
                .init_resource::<Watched>();
            app.sub_app_mut(RenderApp)
                .insert_resource(shots.clone())
                .init_resource::<Watched>()
                .add_systems(ExtractSchedule, extract_watched)
                .add_systems(Render, copy_watched.in_set(RenderSystems::Cleanup));
            setup(app);
        });
        Self {
            headless: Headless::from(app),
            shots,
            share,
        }
    }

    /// Stops the compilation of pipelines, in an app that is [alone](Self::alone).
    pub fn hold_compiler(&self) -> HeldCompiler {
        assert!(matches!(self.share, Share::Alone(_)), "other tests compile, too");
        HeldCompiler::new()
    }

    /// Copies an image at the end of every frame from now on.
    pub fn watch(&mut self, image: &Handle<Image>) {
        self.headless
            .app
            .world_mut()
            .resource_mut::<Watched>()
            .images
            .push(image.id());
    }

    /// Simulates a frame. Returns its number.
    pub fn frame(&mut self) -> usize {
        let mut watched = self.headless.app.world_mut().resource_mut::<Watched>();
        watched.frame += 1;
        let frame = watched.frame;
        self.headless.app.update();
        frame
    }

    /// Simulates some frames.
    pub fn frames(&mut self, count: usize) {
        (0..count).for_each(|_| _ = self.frame());
    }

    pub fn is_ready(&self) -> bool {
        self.headless.app.world().resource::<BlurReadiness>().is_ready()
    }

    /// Runs frames until blurs are ready.
    pub fn wait_until_ready(&mut self) {
        for _ in 0..10_000 {
            self.frame();
            if self.is_ready() {
                return;
            }
            sleep(Duration::from_millis(5));
        }
        panic!("blurs were not ready after 10,000 frames");
    }

    /// Waits for a scene at rest: runs frames until the first watched image shows something, and has stayed as it is for a while in
    /// which no pipeline of Bevy's own was awaited.
    pub fn wait_until_seen(&mut self) {
        let mut last: Vec<Shot> = Vec::new();
        for _ in 0..10_000 {
            self.frame();
            last.extend(self.shots());
            last.drain(..last.len().saturating_sub(12));
            let first = last.first().and_then(|shot| shot.images[0].as_ref());
            let rests = |shot: &Shot| {
                let pixels = shot.images[0].as_ref();
                !shot.awaits_bevy && pixels.zip(first).is_some_and(|(now, first)| now.bytes == first.bytes)
            };
            if last.len() == 12 && first.is_some_and(|pixels| !pixels.is_flat()) && last.iter().all(rests) {
                return;
            }
        }
        panic!("the scene is not seen, or does not rest");
    }

    /// Runs some frames. Returns their shots: the last one or two frames may still be rendering.
    pub fn shots_of(&mut self, count: usize) -> Vec<Shot> {
        let first = self.frame();
        self.frames(count - 1);
        let mut shots = self.shots();
        shots.retain(|shot| shot.frame >= first);
        assert!(shots.len() + 2 >= count, "{} of {count} frames were shown", shots.len());
        shots
    }

    /// The shots since the last call. The last one or two frames may still be rendering.
    pub fn shots(&self) -> Vec<Shot> {
        core::mem::take(&mut self.shots.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn extract_watched(mut commands: Commands, watched: Extract<Res<Watched>>) {
    commands.insert_resource(watched.clone());
}

fn copy_watched(
    watched: Res<Watched>,
    shots: Res<Shots>,
    images: Res<RenderAssets<GpuImage>>,
    (device, queue): (Res<RenderDevice>, Res<RenderQueue>),
    pipelines: Res<PipelineCache>,
) {
    let copy = |id: &AssetId<Image>| {
        let image = images.get(*id)?;
        Some(read_texture((&device, &queue), &image.texture, image.view_format()))
    };
    let images = watched.images.iter().map(copy).collect();
    let is_bevys = |pipeline: &CachedPipeline| {
        label_of(&pipeline.descriptor).is_none_or(|label| !label.starts_with("gaussian_blur"))
    };
    let shot = Shot {
        frame: watched.frame,
        awaits_bevy: waiting_pipelines(&pipelines).any(is_bevys),
        images,
    };
    shots.0.lock().unwrap_or_else(PoisonError::into_inner).push(shot);
}
