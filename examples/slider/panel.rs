//! The panel: every setting, and the cost of the blur.

use crate::chart;
use crate::classics::Bench;
use crate::comparison::Comparison;
use crate::host::NO_GPU_TIMES;
use crate::picture::Complaint;
use crate::plot::History;
use crate::settings::{BlurredCamera, MAX_RADIUS, Settings, Shape};
use bevy::diagnostic::{DiagnosticPath, DiagnosticsStore};
use bevy::ecs::system::SystemParam;
use bevy::prelude::{DetectChangesMut, Msaa, Res, ResMut, Result, Single, With};
use bevy::render::render_resource::{TextureFormat, WgpuFeatures};
use bevy::render::renderer::{RenderAdapter, RenderAdapterInfo, RenderDevice};
use bevy_egui::egui::{
    Align, Checkbox, CollapsingHeader, Color32, ComboBox, Grid, RichText, ScrollArea, Slider, Ui, Window,
    style::ScrollStyle, vec2,
};
use bevy_egui::{EguiContexts, egui};
use bevy_gaussian_blur::diagnostics::{BLEND, COPY, PASSES, TEXTURE_BYTES};
use bevy_gaussian_blur::prelude::*;

const UNITS: [(BlurUnit, &str); 3] = [
    (BlurUnit::LogicalPixels, "logical pixels"),
    (BlurUnit::PhysicalPixels, "physical pixels"),
    (BlurUnit::ViewportHeight, "% of the height"),
];

const PROFILES: [(Shape, &str); 4] = [
    (Shape::Uniform, "uniform"),
    (Shape::Linear, "linear"),
    (Shape::Band, "band"),
    (Shape::Radial, "radial"),
];

const STAGES: [(BlurStage, &str); 3] = [
    (BlurStage::BeforeTonemapping, "before tonemapping"),
    (BlurStage::AfterTonemapping, "after tonemapping"),
    (BlurStage::AfterUi, "after the UI"),
];

const MSAA: [(Msaa, &str); 4] = [
    (Msaa::Off, "off"),
    (Msaa::Sample2, "2"),
    (Msaa::Sample4, "4"),
    (Msaa::Sample8, "8"),
];

/// The figures that the panel shows beside the settings.
#[derive(SystemParam)]
pub struct Figures<'w, 's> {
    diagnostics: Res<'w, DiagnosticsStore>,
    label: Option<Single<'w, 's, &'static BlurLabel, With<BlurredCamera>>>,
    history: Res<'w, History>,
    complaint: Res<'w, Complaint>,
}

/// The GPU and its capabilities.
#[derive(SystemParam)]
pub struct Gpu<'w> {
    adapter: Res<'w, RenderAdapter>,
    info: Res<'w, RenderAdapterInfo>,
    device: Res<'w, RenderDevice>,
}

/// On screens narrower than this, in logical pixels, only the radius is open at first.
const NARROW: f32 = 600.0;

/// Shows the panel.
pub fn show(
    mut contexts: EguiContexts,
    window: Single<&bevy::window::Window>,
    mut settings: ResMut<Settings>,
    mut comparison: ResMut<Comparison>,
    bench: Res<Bench>,
    figures: Figures,
    gpu: Gpu,
) -> Result {
    let mut edited = settings.clone();
    let context = contexts.ctx_mut()?;
    let screen = context.content_rect();
    // The first frame decides which sections are open, and in it egui has no size yet.
    let is_wide = window.width() >= NARROW;
    let section = |name: &str| CollapsingHeader::new(name.to_owned()).default_open(is_wide);
    Window::new("Gaussian blur")
        .default_pos([12.0, 12.0])
        .resizable(false)
        .fade_in(false)
        .show(context, |ui| {
            ui.spacing_mut().slider_width = 170.0;
            // The default scroll bar would cover the ends of the figures.
            ui.spacing_mut().scroll = ScrollStyle::solid();
            // If the panel does not fit on the screen, it scrolls.
            let height = screen.height() - 80.0;
            let scroll = ScrollArea::vertical().max_height(height).min_scrolled_height(height);
            scroll.show(ui, |ui| {
                ui.checkbox(&mut edited.is_on, "blur (key B)");
                edit_strength(ui, &mut edited.blur);
                section("settings").show(ui, |ui| edit(ui, &mut edited, &gpu));
                section("cost").show(ui, |ui| figures.show(ui, edited.profile, &gpu));
                let progress = comparison.progress();
                let chart = CollapsingHeader::new("comparison").open(progress.map(|_| true));
                let chart = chart.show(ui, |ui| chart::show(ui, comparison.bypass_change_detection(), &bench));
                if progress == Some(0.0) {
                    chart.header_response.scroll_to_me(Some(Align::Min));
                }
                ui.label(RichText::new(&gpu.info.name).small().weak());
                if let Some(complaint) = &figures.complaint.0 {
                    ui.colored_label(Color32::LIGHT_RED, complaint);
                }
            });
        });
    settings.set_if_neq(edited);
    Ok(())
}

/// The radius, which is always visible.
fn edit_strength(ui: &mut Ui, blur: &mut GaussianBlur) {
    grid(ui, "strength", |ui| {
        row(ui, "radius", |ui| {
            ui.add(Slider::new(&mut blur.radius, 0.0..=MAX_RADIUS).fixed_decimals(1));
        });
        row(ui, "sigma", |ui| {
            ui.label(format!("{:.2}", blur.sigma()));
        });
    });
}

fn grid(ui: &mut Ui, name: &str, rows: impl FnOnce(&mut Ui)) {
    let grid = Grid::new(name).num_columns(2).min_col_width(58.0);
    grid.spacing(vec2(10.0, 4.0)).show(ui, rows);
}

fn edit(ui: &mut Ui, settings: &mut Settings, gpu: &Gpu) {
    let blur = &mut settings.blur;
    grid(ui, "settings", |ui| {
        row(ui, "unit", |ui| choose(ui, "unit", &mut blur.unit, &UNITS));
        row(ui, "aspect x", |ui| {
            ui.add(Slider::new(&mut blur.aspect.x, 0.0..=2.0).fixed_decimals(2));
        });
        row(ui, "aspect y", |ui| {
            ui.add(Slider::new(&mut blur.aspect.y, 0.0..=2.0).fixed_decimals(2));
        });
        row(ui, "edge", |ui| {
            let edges = EdgeMode::ALL.map(|edge| (edge, edge.name()));
            choose(ui, "edge", &mut blur.edge, &edges);
        });
        row(ui, "profile", |ui| {
            choose(ui, "profile", &mut settings.profile, &PROFILES)
        });
        row(ui, "stage", |ui| choose(ui, "stage", &mut settings.stage, &STAGES));
        row(ui, "HDR", |ui| {
            ui.horizontal(|ui| {
                ui.checkbox(&mut settings.hdr, "on");
                ui.add_enabled(settings.hdr, Checkbox::new(&mut settings.bloom, "bloom"));
            });
        });
        row(ui, "MSAA", |ui| {
            let supported: Vec<_> = MSAA.into_iter().filter(|(msaa, _)| gpu.supports(*msaa)).collect();
            choose(ui, "MSAA", &mut settings.msaa, &supported);
        });
    });
}

fn row(ui: &mut Ui, name: &str, control: impl FnOnce(&mut Ui)) {
    ui.label(name);
    control(ui);
    ui.end_row();
}

fn choose<T: Copy + PartialEq>(ui: &mut Ui, id: &str, chosen: &mut T, choices: &[(T, &str)]) {
    let name = choices
        .iter()
        .find(|(choice, _)| choice == chosen)
        .map_or("", |(_, name)| name);
    ComboBox::from_id_salt(id).selected_text(name).show_ui(ui, |ui| {
        for (choice, name) in choices {
            ui.selectable_value(chosen, *choice, *name);
        }
    });
}

impl Figures<'_, '_> {
    fn show(&self, ui: &mut Ui, profile: Shape, gpu: &Gpu) {
        let has_times = gpu.has_timestamps();
        if !has_times {
            ui.label(NO_GPU_TIMES);
        }
        grid(ui, "figures", |ui| {
            if has_times {
                self.show_times(ui, profile);
            }
            let bytes = self.diagnostics.get(&TEXTURE_BYTES).and_then(|bytes| bytes.value());
            let memory = bytes.map_or("-".to_owned(), |bytes| {
                format!("{:8.2} MiB", bytes / f64::from(1 << 20))
            });
            row(ui, "intermediates", |ui| monospace(ui, memory));
        });
        if has_times {
            self.history.show(ui);
        }
    }

    fn show_times(&self, ui: &mut Ui, profile: Shape) {
        // Some passes are for images and for profiles only.
        let is_shown = |pass: &&str| profile != Shape::Uniform || ![COPY, BLEND].contains(pass);
        for pass in PASSES.into_iter().filter(is_shown) {
            let time = self.milliseconds(|label| label.pass_elapsed_gpu(pass));
            row(ui, pass, |ui| monospace(ui, time));
        }
        let whole = self.milliseconds(BlurLabel::elapsed_gpu);
        row(ui, "whole, on the GPU", |ui| monospace(ui, whole));
    }

    fn milliseconds(&self, path: impl Fn(&BlurLabel) -> DiagnosticPath) -> String {
        let label = self.label.as_deref().copied();
        let time = label
            .and_then(|label| self.diagnostics.get(&path(label)))
            .and_then(|diagnostic| diagnostic.smoothed());
        time.map_or("-".to_owned(), |time| format!("{time:8.3} ms"))
    }
}

fn monospace(ui: &mut Ui, text: String) {
    ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
        ui.monospace(text)
    });
}

impl Gpu<'_> {
    /// Whether passes can be timed.
    fn has_timestamps(&self) -> bool {
        self.device.features().contains(WgpuFeatures::TIMESTAMP_QUERY)
    }

    /// Whether a camera, HDR or not, may have this many samples.
    fn supports(&self, msaa: Msaa) -> bool {
        // Every GPU supports these; the others need a query.
        if matches!(msaa, Msaa::Off | Msaa::Sample4) {
            return true;
        }
        let needed = WgpuFeatures::TEXTURE_ADAPTER_SPECIFIC_FORMAT_FEATURES;
        let formats = [
            TextureFormat::Rgba8UnormSrgb,
            TextureFormat::Rgba16Float,
            TextureFormat::Depth32Float,
        ];
        self.device.features().contains(needed)
            && formats.into_iter().all(|format| {
                let flags = self.adapter.get_texture_format_features(format).flags;
                flags.sample_count_supported(msaa.samples())
            })
    }
}
