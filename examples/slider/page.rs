//! In a browser: the functions that the page calls, and the functions of the page. The page is in `tools/web`.

use crate::comparison::{Comparison, METHODS};
use crate::picture::{MAX_SIDE, Picture, Received};
use crate::settings::{MAX_RADIUS, Settings};
use bevy::app::PluginGroupBuilder;
use bevy::prelude::*;
use bevy::render::error_handler::{ErrorType, RenderErrorHandler, RenderErrorPolicy};
use bevy::render::renderer::RenderAdapterInfo;
use bevy_gaussian_blur::prelude::*;
use std::sync::{Mutex, PoisonError};
use wasm_bindgen::prelude::wasm_bindgen;

/// The panel's text if there are no GPU times.
pub const NO_GPU_TIMES: &str = "This browser has no GPU times.";

/// A request of the page, which is executed in the next frame.
enum Request {
    Picture(Result<Picture, String>),
    Radius(f32),
    HidePanel(bool),
    Compare,
}

static REQUESTS: Mutex<Vec<Request>> = Mutex::new(Vec::new());

fn request(request: Request) {
    let mut requests = REQUESTS.lock().unwrap_or_else(PoisonError::into_inner);
    requests.push(request);
}

/// The largest width and height of a picture.
#[wasm_bindgen(js_name = largestSide)]
pub fn largest_side() -> u32 {
    MAX_SIDE
}

/// Shows a picture, given its texels row after row: four bytes each, in sRGB.
#[wasm_bindgen(js_name = showPicture)]
pub fn show_picture(width: u32, height: u32, texels: Vec<u8>) {
    request(Request::Picture(Ok(Picture::new(UVec2::new(width, height), texels))));
}

/// Says why a file is not shown.
#[wasm_bindgen(js_name = complain)]
pub fn complain(reason: String) {
    request(Request::Picture(Err(reason)));
}

/// Sets the radius.
#[wasm_bindgen(js_name = setRadius)]
pub fn set_radius(radius: f32) {
    request(Request::Radius(radius));
}

/// Hides the panel, or shows it again.
#[wasm_bindgen(js_name = hidePanel)]
pub fn hide_panel(is_hidden: bool) {
    request(Request::HidePanel(is_hidden));
}

/// Starts the comparison.
#[wasm_bindgen]
pub fn compare() {
    request(Request::Compare);
}

#[wasm_bindgen]
extern "C" {
    /// The width and the height of the element around the canvas, in logical pixels.
    #[wasm_bindgen(js_namespace = slider, js_name = stageSize)]
    fn stage_size() -> Vec<u32>;

    /// Tells the page once that blurs are ready, and on which GPU.
    #[wasm_bindgen(js_namespace = slider, js_name = onReady)]
    fn on_ready(gpu: &str);

    /// Tells the page every point of the comparison, with `null` as the method after the last point.
    #[wasm_bindgen(js_namespace = slider, js_name = onMeasured)]
    fn on_measured(method: Option<&str>, radius: f32, milliseconds: f64);

    /// Tells the page why rendering has ended.
    #[wasm_bindgen(js_namespace = slider, js_name = onEnd)]
    fn on_end(reason: &str);

    /// Whether the page knows that its GPU is a software rasteriser.
    #[wasm_bindgen(thread_local_v2, js_namespace = slider, js_name = isSoftware)]
    static IS_SOFTWARE: bool;

    #[wasm_bindgen(js_namespace = slider, js_name = hasFrameTimer)]
    fn has_frame_timer() -> bool;

    #[wasm_bindgen(js_namespace = slider, js_name = beginFrame)]
    fn begin_frame();

    #[wasm_bindgen(js_namespace = slider, js_name = endFrame)]
    fn end_frame();

    /// The milliseconds of the oldest frame whose time is pending, or less than 0 if the time is not known yet.
    #[wasm_bindgen(js_namespace = slider, js_name = takeFrame)]
    fn take_frame() -> f64;
}

/// The page around the example.
pub struct Host;

impl Host {
    /// Always succeeds.
    ///
    /// # Errors
    /// None.
    pub fn new() -> Result<Self, AppExit> {
        Ok(Self)
    }

    /// The radius to begin with.
    pub fn radius(&self) -> f32 {
        24.0
    }

    /// The page sends its pictures later.
    ///
    /// # Errors
    /// None.
    pub fn picture(&self) -> Result<Option<Picture>, AppExit> {
        Ok(None)
    }

    /// Which kind of passes to use. With WebGPU, only the page can tell a software rasteriser, where render passes are faster.
    pub fn backend(&self) -> BlurBackend {
        if IS_SOFTWARE.with(|is_software| *is_software) {
            BlurBackend::Fragment
        } else {
            BlurBackend::Auto
        }
    }

    /// Bevy's plugins, with the page's canvas as the window. From the first frame on the window has the size of the element
    /// around the canvas, because the panel reads the size in that frame.
    pub fn default_plugins(&self) -> PluginGroupBuilder {
        let size = UVec2::from_slice(&stage_size()).max(UVec2::ONE);
        DefaultPlugins.set(WindowPlugin {
            primary_window: Some(Window {
                canvas: Some("#canvas".to_owned()),
                resolution: size.into(),
                fit_canvas_to_parent: true,
                prevent_default_event_handling: true,
                ..default()
            }),
            ..default()
        })
    }

    /// Runs the app.
    pub fn run(&self, app: &mut App) -> AppExit {
        app.insert_resource(end_with_a_message())
            .add_systems(Update, (say_ready.run_if(blurs_ready), say_measured))
            .run()
    }
}

/// Ends the app at the first GPU error, as Bevy does, and tells the page, because the last frame stays visible.
fn end_with_a_message() -> RenderErrorHandler {
    RenderErrorHandler(|error, world, _| {
        // The page detects a lost device itself.
        if error.ty != ErrorType::DeviceLost {
            on_end(&error.description);
        }
        world.write_message(AppExit::error());
        RenderErrorPolicy::StopRendering
    })
}

fn say_ready(info: Res<RenderAdapterInfo>, mut is_said: Local<bool>) {
    if !*is_said {
        *is_said = true;
        on_ready(&info.name);
    }
}

fn say_measured(comparison: Res<Comparison>, mut said: Local<[usize; METHODS.len()]>, mut is_over: Local<bool>) {
    for ((method, points), said) in METHODS.iter().zip(&comparison.points).zip(&mut *said) {
        // A new comparison has fewer points.
        for (radius, milliseconds) in points.iter().skip(*said) {
            on_measured(Some(method.name()), *radius, *milliseconds);
        }
        *said = points.len();
    }
    if comparison.is_finished && !*is_over {
        on_measured(None, 0.0, 0.0);
    }
    *is_over = comparison.is_finished;
}

/// Executes the requests of the page.
pub fn receive(mut received: ResMut<Received>, mut settings: ResMut<Settings>, mut comparison: ResMut<Comparison>) {
    let requests = core::mem::take(&mut *REQUESTS.lock().unwrap_or_else(PoisonError::into_inner));
    for request in requests {
        match request {
            Request::Picture(picture) => received.0 = Some(picture),
            Request::Radius(radius) => settings.blur.radius = radius.clamp(0.0, MAX_RADIUS),
            Request::Compare => comparison.start(),
            Request::HidePanel(is_hidden) => settings.is_panel_hidden = is_hidden,
        }
    }
}

/// Measures whole frames on WebGL 2, by an extension that times the commands between two calls.
pub struct FrameTimer;

impl FrameTimer {
    pub fn is_available() -> bool {
        has_frame_timer()
    }

    /// Call this before a frame's commands are submitted.
    pub fn begin() {
        begin_frame();
    }

    /// Call this after a frame's commands are submitted.
    pub fn end() {
        end_frame();
    }

    /// The milliseconds of an earlier frame, in the order of the frames.
    pub fn take() -> Option<f64> {
        Some(take_frame()).filter(|milliseconds| *milliseconds >= 0.0)
    }
}
