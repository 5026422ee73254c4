//! Under `bevy_egui`: a region over Bevy's user interface, and the shapes that egui paints on top of it.

use super::regions::region;
use super::*;
use crate::freeze::glass::assert_part;
use crate::support::compositor::Layer;
use crate::support::formats::decode_srgb;
use bevy::core_pipeline::schedule::{Core2d, Core3d};
use bevy_egui::egui::{Color32, CornerRadius, Id, LayerId, Order, Painter, pos2, vec2};
use bevy_egui::render::egui_pass;
use bevy_egui::{
    EguiContext, EguiContexts, EguiGlobalSettings, EguiPlugin, EguiPrimaryContextPass, PrimaryEguiContext, egui,
};
use bevy_gaussian_blur::GaussianBlurSystems::BackdropAboveUi;

/// `[left, top, width, height]` in pixels, and `[red, green, blue, alpha]` as egui has it: encoded as sRGB, the colour
/// multiplied by alpha.
type Painted = ([f32; 4], [u8; 4]);

/// The window's own colour, as large as its glass.
const WINDOW: Painted = ([40.0, 20.0, 120.0, 70.0], [30, 8, 60, 100]);

/// The sharp content: stripes as narrow as lines of text, half on the window and half beside it.
fn stripes() -> impl Iterator<Item = Painted> {
    (0..12).map(|index: u8| {
        let left = 100.0 + 7.0 * f32::from(index);
        let light = 255 - 20 * index;
        ([left, 30.0, 2.0, 50.0], [light, 255 - light, 40, 255])
    })
}

fn paint(mut contexts: EguiContexts) -> Result {
    let context = contexts.ctx_mut()?;
    // Whole pixels have no soft edges.
    context.tessellation_options_mut(|options| options.feathering = false);
    let painter = context.layer_painter(LayerId::new(Order::Middle, Id::new("window")));
    paint_box(&painter, WINDOW);
    stripes().for_each(|stripe| paint_box(&painter, stripe));
    Ok(())
}

fn paint_box(painter: &Painter, ([left, top, width, height], [red, green, blue, alpha]): Painted) {
    let place = egui::Rect::from_min_size(pos2(left, top), vec2(width, height));
    let colour = Color32::from_rgba_premultiplied(red, green, blue, alpha);
    painter.rect_filled(place, CornerRadius::ZERO, colour);
}

/// The expected layer.
fn layer((place, [red, green, blue, alpha]): Painted) -> Layer {
    let alpha = f32::from(alpha) / 255.0;
    let light = |value: u8| decode_srgb(f64::from(value) / 255.0) as f32 / alpha;
    Square::new(place, [light(red), light(green), light(blue), alpha]).layer()
}

fn setup(app: &mut App) {
    app.add_plugins(EguiPlugin::default())
        .insert_resource(EguiGlobalSettings {
            auto_create_primary_context: false,
            ..default()
        })
        .add_systems(EguiPrimaryContextPass, paint);
    app.sub_app_mut(RenderApp)
        .configure_sets(Core2d, BackdropAboveUi.before(egui_pass))
        .configure_sets(Core3d, BackdropAboveUi.before(egui_pass));
}

#[test]
fn egui_is_sharp_over_glass_that_shows_scene_and_interface() {
    for (backend, kind) in BACKENDS.into_iter().zip([Kind::Core2d, Kind::Core3d]) {
        let mut stage = Stage::with(backend, kind, LDR, setup);
        let context = (EguiContext::default(), PrimaryEguiContext);
        stage.glass.insert(&mut stage.headless, context);
        let square = Square::new([70.0, 10.0, 60.0, 40.0], [1.0, 0.2, 0.0, 1.0]);
        let pane = Pane::new(WINDOW.0, glass(4.0));
        stage.show(|ui| ui.paint(square.bundle()));
        let glass = region(stage.glass.camera, &pane, BackdropLayer::AboveUi, 0);
        let glass = stage.spawn(glass);

        let mut expected = vec![square.layer()];
        expected.extend(layers(&[pane]));
        expected.push(layer(WINDOW));
        expected.extend(stripes().map(layer));
        stage.check("egui", &expected);

        let with = stage.pixels();
        stage.headless.remove::<BackdropRegion>(glass);
        stage.headless.frame();
        let without = stage.pixels();
        assert!(with.bytes != without.bytes, "there was glass");
        for ([left, top, width, height], _) in stripes() {
            let stripe = Rect::new(left, top, left + width, top + height).as_urect();
            assert_part("egui-sharp", &with, &without, stripe);
        }
    }
}
