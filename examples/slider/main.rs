//! Every setting of a camera's blur under a slider, next to what it costs.
//!
//! ```text
//! cargo run --release --example slider -- [--image FILE] [--radius R] [--frames N] [--screenshot FILE]
//! ```
//!
//! You should see an animated scene at dusk and a panel over it. Drag the radius: the scene goes out of focus without a
//! jump anywhere between 0 and 400, the colours keep their brightness, and no border of the window turns dark. The panel
//! shows the GPU time of each pass and of the whole blur, a plot of the last seconds, and the memory of the intermediate
//! textures; watch the time stay nearly the same from a radius of 20 on. A GPU without timestamps has no times, and the
//! panel says so. `--image FILE`, or a picture dropped on the window, takes the place of the scene.
//!
//! The panel itself stays sharp, as Bevy's own user interface does: egui paints it after the stages `BeforeTonemapping` and
//! `AfterTonemapping`. With the stage `AfterUi` the panel is blurred with everything else; its controls still work, and
//! the key B switches the blur off and on. The plugins of egui and of the blur do not know each other, so this example
//! orders them in `blur_after_egui`.
//!
//! With `--frames` or `--screenshot` it runs without a user, and ends.

mod chart;
mod classics;
mod comparison;
#[path = "../dusk/mod.rs"]
mod dusk;
#[cfg_attr(not(target_arch = "wasm32"), path = "desktop.rs")]
#[cfg_attr(target_arch = "wasm32", path = "page.rs")]
mod host;
mod panel;
mod picture;
mod plot;
mod settings;
#[cfg(not(target_arch = "wasm32"))]
#[path = "../common/unattended.rs"]
mod unattended;

use bevy::core_pipeline::schedule::{Core2d, Core3d};
use bevy::prelude::*;
use bevy::render::RenderApp;
use bevy_egui::render::egui_pass;
use bevy_egui::{EguiPlugin, EguiPrimaryContextPass};
use bevy_gaussian_blur::GaussianBlurSystems;
use bevy_gaussian_blur::prelude::*;
use dusk::{ScenePlugin, viewpoint};
use host::Host;
use settings::{BlurredCamera, Settings};

fn main() -> AppExit {
    match Host::new() {
        Ok(host) => run(&host),
        Err(exit) => exit,
    }
}

fn run(host: &Host) -> AppExit {
    let picture = match host.picture() {
        Ok(picture) => picture,
        Err(exit) => return exit,
    };
    let mut app = App::new();
    app.add_plugins((
        host.default_plugins(),
        GaussianBlurPlugin {
            backend: host.backend(),
            ..default()
        },
        GaussianBlurDiagnosticsPlugin,
        EguiPlugin::default(),
        ScenePlugin,
        picture::PicturePlugin::new(picture),
        comparison::ComparisonPlugin,
    ))
    .insert_resource(ClearColor(Color::BLACK))
    .insert_resource(Settings::new(host.radius()))
    .init_resource::<plot::History>()
    .add_systems(Startup, spawn_camera)
    .add_systems(
        Update,
        (
            plot::remember,
            settings::toggle_by_key,
            settings::apply.run_if(resource_changed::<Settings>),
        )
            .chain(),
    )
    .add_systems(EguiPrimaryContextPass, panel::show.run_if(settings::has_panel));
    blur_after_egui(&mut app);
    host.run(&mut app)
}

/// Lets a blur of the stage `AfterUi` include egui.
///
/// Both `egui_pass` and `GaussianBlurSystems::AfterUi` run after Bevy's own user interface and before the picture goes
/// to the window. Without this, their order is not defined. In an app without Bevy's user interface, as on the web page, nothing
/// orders the other stages before egui either.
fn blur_after_egui(app: &mut App) {
    let order = || {
        (
            GaussianBlurSystems::AfterTonemapping.before(egui_pass),
            GaussianBlurSystems::AfterUi.after(egui_pass),
        )
    };
    if let Some(render_app) = app.get_sub_app_mut(RenderApp) {
        render_app
            .configure_sets(Core2d, order())
            .configure_sets(Core3d, order());
    }
}

fn spawn_camera(mut commands: Commands) {
    commands.spawn((
        Name::new("Slider camera"),
        BlurredCamera,
        Camera3d::default(),
        settings::TONEMAPPING,
        viewpoint(9.5),
    ));
}
