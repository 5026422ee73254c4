//! Frosted glass under a window of `bevy_egui`, which follows the window as it is dragged.
//!
//! ```text
//! cargo run --example egui_glass [-- --frames N --screenshot FILE]
//! ```
//!
//! You should see a moving scene at dusk, a score and a bar of Bevy's user interface, and a translucent window of egui
//! over both. Drag the window by its title: scene, score and bar are blurred under it and nowhere else, in the shape of
//! the window, rounded corners included, without a frame's delay. Fold the window by the triangle in its title: the
//! glass shrinks with it. Everything that egui paints stays sharp. The sliders change the glass.
//!
//! The plugins of egui and of the blur do not know each other. So `put_glass_under_egui` orders the two, and
//! `show_window` keeps the glass under the window. egui paints all its windows at once, so glass under one window
//! cannot show another one.

mod common;
mod dusk;

use bevy::core_pipeline::schedule::{Core2d, Core3d};
use bevy::prelude::*;
use bevy::render::RenderApp;
use bevy_egui::egui::{self, Color32, CornerRadius, Grid, Shadow, Slider, Stroke, Ui, Window};
use bevy_egui::render::egui_pass;
use bevy_egui::{EguiContexts, EguiPlugin, EguiPrimaryContextPass};
use bevy_gaussian_blur::GaussianBlurSystems;
use bevy_gaussian_blur::prelude::*;
use common::example;
use core::ops::RangeInclusive;
use dusk::{ScenePlugin, viewpoint};

/// The radius of the window's corners, in logical pixels: egui's points.
const CORNER: u8 = 14;

fn main() -> AppExit {
    example("Gaussian blur: glass under egui", |app, _| {
        app.add_plugins((EguiPlugin::default(), ScenePlugin))
            .add_systems(Startup, (spawn_camera_and_glass, spawn_hud))
            .add_systems(
                EguiPrimaryContextPass,
                (style_windows.run_if(run_once), show_window).chain(),
            );
        put_glass_under_egui(app);
    })
}

/// Orders the passes: Bevy's user interface, then the glass of regions, then egui.
///
/// Both `egui_pass` and `GaussianBlurSystems::BackdropAboveUi` run after Bevy's own user interface. Without this, their
/// order is not defined.
fn put_glass_under_egui(app: &mut App) {
    if let Some(render_app) = app.get_sub_app_mut(RenderApp) {
        render_app
            .configure_sets(Core2d, GaussianBlurSystems::BackdropAboveUi.before(egui_pass))
            .configure_sets(Core3d, GaussianBlurSystems::BackdropAboveUi.before(egui_pass));
    }
}

fn spawn_camera_and_glass(mut commands: Commands) {
    let camera = commands
        .spawn((Name::new("Camera"), Camera3d::default(), viewpoint(9.0)))
        .id();
    commands.spawn((
        Name::new("Glass"),
        // It is empty until the window exists.
        BackdropRegion::new(camera, Rect::default()).with_corners(Vec4::splat(f32::from(CORNER))),
        BackdropBlur::new(48.0)
            .with_color(ColorStep::Saturate(1.3))
            .with_color(ColorStep::Brightness(1.0)),
    ));
}

/// A part of Bevy's user interface that the window covers.
fn spawn_hud(mut commands: Commands) {
    let label = |text: &'static str| (Text::new(text), TextFont::from_font_size(40.0), TextColor(Color::WHITE));
    commands.spawn((
        Name::new("HUD"),
        Node {
            width: percent(100),
            padding: UiRect::axes(px(32), px(40)),
            justify_content: JustifyContent::SpaceBetween,
            align_items: AlignItems::Center,
            ..default()
        },
        children![
            label("12 480"),
            (
                Node {
                    width: px(360),
                    height: px(24),
                    ..default()
                },
                BackgroundColor(Color::srgb(0.2, 0.85, 0.4)),
            ),
            label("3 of 5"),
        ],
    ));
}

/// Makes egui's windows translucent, with a bright rim.
fn style_windows(mut contexts: EguiContexts) -> Result {
    contexts.ctx_mut()?.all_styles_mut(|style| {
        let visuals = &mut style.visuals;
        visuals.window_fill = Color32::from_black_alpha(90);
        visuals.window_stroke = Stroke::new(1.0, Color32::from_white_alpha(70));
        visuals.window_corner_radius = CornerRadius::same(CORNER);
        // egui's shadows also fill the window, and would cover the glass.
        visuals.window_shadow = Shadow::NONE;
        // Behind the title.
        visuals.widgets.open.weak_bg_fill = Color32::from_white_alpha(12);
        visuals.override_text_color = Some(Color32::WHITE);
        style.spacing.slider_width = 260.0;
    });
    Ok(())
}

/// Shows the window, and puts the glass under it.
///
/// This runs before the frame is rendered, so the glass does not lag behind a dragged window.
fn show_window(mut contexts: EguiContexts, mut glass: Single<(&mut BackdropRegion, &mut BackdropBlur)>) -> Result {
    let (region, backdrop) = &mut *glass;
    let context = contexts.ctx_mut()?;
    let zoom = context.zoom_factor();
    let window = Window::new("Glass")
        .default_pos([390.0, 44.0])
        .resizable(false)
        .fade_in(false)
        .show(context, |ui| edit(ui, backdrop));
    // A closed window has no glass.
    region.rect = window.map_or(Rect::default(), |window| to_bevy(window.response.rect * zoom));
    region.corners = Vec4::splat(f32::from(CORNER) * zoom);
    Ok(())
}

/// A point of egui is a logical pixel of the window, scaled by the zoom (Ctrl with + and -). The camera fills the window, so its viewport has the same origin.
fn to_bevy(rect: egui::Rect) -> Rect {
    Rect::new(rect.min.x, rect.min.y, rect.max.x, rect.max.y)
}

fn edit(ui: &mut Ui, glass: &mut BackdropBlur) {
    let row = |ui: &mut Ui, name: &str, value: &mut f32, range: RangeInclusive<f32>| {
        ui.label(name);
        ui.add(Slider::new(value, range).fixed_decimals(2));
        ui.end_row();
    };
    Grid::new("glass").num_columns(2).spacing([12.0, 8.0]).show(ui, |ui| {
        row(ui, "radius", &mut glass.blur.radius, 0.0..=200.0);
        for step in &mut glass.colors {
            match step {
                ColorStep::Saturate(value) => row(ui, "saturation", value, 0.0..=3.0),
                ColorStep::Brightness(value) => row(ui, "brightness", value, 0.0..=2.0),
                _ => {}
            }
        }
        row(ui, "opacity", &mut glass.opacity, 0.0..=1.0);
    });
    ui.add_space(6.0);
    ui.label("Drag me over the score and the bar.\nThis text is egui's, and stays sharp.");
}
