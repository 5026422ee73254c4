//! The chart of the comparison, drawn while it is measured: time over radius, both logarithmic.

use crate::classics::{Bench, Clock, SIZE};
use crate::comparison::{Comparison, METHODS, RADII};
use bevy_egui::egui::{
    Align2, Color32, FontId, Painter, Pos2, ProgressBar, Rect, RichText, Sense, Stroke, Ui, Vec2, pos2, remap,
};
use core::ops::RangeInclusive;

const HEIGHT: f32 = 170.0;

/// The colours of the methods.
const COLOURS: [Color32; METHODS.len()] = [
    Color32::from_rgb(255, 180, 60),
    Color32::from_rgb(110, 190, 255),
    Color32::from_rgb(235, 110, 140),
];

/// Shows the chart and its controls.
pub fn show(ui: &mut Ui, comparison: &mut Comparison, bench: &Bench) {
    if bench.clock() == Clock::None {
        ui.label("This GPU or browser does not measure GPU times, so there is nothing to compare.");
        return;
    }
    let about = format!("GPU time for {} x {} texels over the radius", SIZE.x, SIZE.y);
    ui.label(RichText::new(about).small());
    match comparison.progress() {
        Some(progress) => {
            ui.horizontal(|ui| {
                if ui.button("stop").clicked() {
                    comparison.stop();
                }
                ui.add(ProgressBar::new(progress).desired_width(ui.available_width()));
            });
        }
        None if ui.button("measure on this GPU").clicked() => comparison.start(),
        None => {}
    }
    draw(ui, comparison);
    for (index, method) in METHODS.iter().enumerate() {
        let last = comparison.points[index].last();
        let figure = last.map_or(String::new(), |(radius, time)| format!(": {time:.3} ms at {radius}"));
        ui.colored_label(COLOURS[index], format!("{}{figure}", method.name()));
    }
    if comparison.is_finished {
        ui.label(RichText::new("A classic ends where it would take more than 0.1 s.").small());
    }
}

/// Maps values to places on the screen, with both axes logarithmic.
struct Axes {
    inside: Rect,
    radii: RangeInclusive<f32>,
    times: RangeInclusive<f32>,
}

impl Axes {
    fn place(&self, radius: f32, time: f64) -> Pos2 {
        let Rect { min, max } = self.inside;
        let height = time.max(1e-6).log10() as f32;
        pos2(
            remap(radius.log10(), self.radii.clone(), min.x..=max.x),
            remap(height, self.times.clone(), max.y..=min.y),
        )
    }
}

fn draw(ui: &mut Ui, comparison: &Comparison) {
    let (response, painter) = ui.allocate_painter(Vec2::new(ui.available_width(), HEIGHT), Sense::hover());
    let rect = response.rect;
    painter.rect_filled(rect, 3.0, ui.visuals().extreme_bg_color);
    let measured = || comparison.points.iter().flatten().map(|(_, time)| time.log10());
    let lowest = measured().reduce(f64::min).unwrap_or(-1.0).clamp(-4.0, 3.0).floor();
    let highest = measured().reduce(f64::max).unwrap_or(1.0).clamp(-3.0, 4.0).ceil();
    let axes = Axes {
        inside: Rect::from_min_max(rect.min + Vec2::new(44.0, 8.0), rect.max - Vec2::new(12.0, 18.0)),
        radii: RADII[0].log10()..=RADII[RADII.len() - 1].log10(),
        times: lowest as f32..=highest.max(lowest + 1.0) as f32,
    };
    draw_grid(&painter, &axes, ui.visuals().weak_text_color());
    for (points, colour) in comparison.points.iter().zip(COLOURS) {
        let places: Vec<Pos2> = points.iter().map(|(radius, time)| axes.place(*radius, *time)).collect();
        places.iter().for_each(|place| {
            painter.circle_filled(*place, 2.5, colour);
        });
        painter.line(places, Stroke::new(1.5, colour));
    }
}

fn draw_grid(painter: &Painter, axes: &Axes, faint: Color32) {
    let (font, line) = (FontId::proportional(10.0), Stroke::new(1.0, faint.gamma_multiply(0.4)));
    let inside = axes.inside;
    for power in *axes.times.start() as i32..=*axes.times.end() as i32 {
        let time = 10_f64.powi(power);
        let y = axes.place(RADII[0], time).y;
        painter.hline(inside.x_range(), y, line);
        let place = pos2(inside.left() - 4.0, y);
        painter.text(place, Align2::RIGHT_CENTER, format!("{time} ms"), font.clone(), faint);
    }
    for radius in RADII.into_iter().step_by(2) {
        let x = axes.place(radius, 1.0).x;
        painter.vline(x, inside.y_range(), line);
        let place = pos2(x, inside.bottom() + 3.0);
        painter.text(place, Align2::CENTER_TOP, radius.to_string(), font.clone(), faint);
    }
}
