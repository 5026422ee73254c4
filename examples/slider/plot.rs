//! The GPU time of the last seconds, drawn with egui's painter.

use crate::settings::BlurredCamera;
use bevy::diagnostic::DiagnosticsStore;
use bevy::platform::time::Instant;
use bevy::prelude::{Local, Real, Res, ResMut, Resource, Single, Time, With};
use bevy_egui::egui::{Align2, Color32, FontId, Pos2, Rect, Sense, Stroke, Ui, Vec2, lerp, pos2, remap};
use bevy_gaussian_blur::prelude::*;
use std::collections::VecDeque;

/// How much time the plot shows, in seconds.
const SPAN: f64 = 5.0;

const HEIGHT: f32 = 90.0;

/// The GPU time of the whole blur over the last seconds.
#[derive(Resource, Default)]
pub struct History {
    now: f64,
    /// The time in seconds, and the milliseconds of the blur, if there was one.
    samples: VecDeque<(f64, Option<f64>)>,
}

/// Records this frame's GPU time.
pub fn remember(
    time: Res<Time<Real>>,
    diagnostics: Res<DiagnosticsStore>,
    label: Option<Single<&BlurLabel, With<BlurredCamera>>>,
    mut history: ResMut<History>,
    mut last: Local<Option<Instant>>,
) {
    history.now = time.elapsed_secs_f64();
    let oldest = history.now - SPAN;
    while history.samples.get(1).is_some_and(|(when, _)| *when < oldest) {
        history.samples.pop_front();
    }
    let measurement = label
        .and_then(|label| diagnostics.get(&label.elapsed_gpu()))
        .and_then(|diagnostic| diagnostic.measurement());
    let measured_at = measurement.map(|measurement| measurement.time);
    // Record a figure only once, but record in every frame that there is none.
    if measurement.is_none() || measured_at != *last {
        let sample = (history.now, measurement.map(|measurement| measurement.value));
        history.samples.push_back(sample);
    }
    *last = measured_at;
}

impl History {
    /// Draws the plot across the panel.
    pub fn show(&self, ui: &mut Ui) {
        let (response, painter) = ui.allocate_painter(Vec2::new(ui.available_width(), HEIGHT), Sense::hover());
        let rect = response.rect;
        let (faint, text) = (ui.visuals().weak_text_color(), ui.visuals().text_color());
        painter.rect_filled(rect, 3.0, ui.visuals().extreme_bg_color);

        let largest = self.samples.iter().filter_map(|(_, value)| *value).reduce(f64::max);
        let top = round_up(largest.unwrap_or_default());
        let scale = largest.map_or("-".to_owned(), |_| format!("{top} ms"));
        let inside = rect.shrink(4.0);
        for share in [0.0, 0.5, 1.0] {
            let y = lerp(inside.bottom()..=inside.top(), share);
            painter.hline(inside.x_range(), y, Stroke::new(1.0, faint.gamma_multiply(0.4)));
        }
        for line in self.lines(inside, top) {
            painter.line(line, Stroke::new(1.5, Color32::from_rgb(255, 180, 60)));
        }
        let font = FontId::proportional(10.0);
        painter.text(inside.left_top(), Align2::LEFT_TOP, scale, font.clone(), text);
        let span = format!("the last {SPAN} s");
        painter.text(inside.right_bottom(), Align2::RIGHT_BOTTOM, span, font, faint);
    }

    /// The polylines between the gaps in the samples, on the screen.
    fn lines(&self, rect: Rect, top: f64) -> Vec<Vec<Pos2>> {
        let place = |(when, value): (f64, f64)| {
            let age = ((self.now - when) / SPAN).clamp(0.0, 1.0) as f32;
            let height = (value / top) as f32;
            pos2(
                remap(age, 0.0..=1.0, rect.right()..=rect.left()),
                remap(height, 0.0..=1.0, rect.bottom()..=rect.top()),
            )
        };
        let mut lines = vec![Vec::new()];
        for (when, value) in &self.samples {
            match (value, lines.last_mut()) {
                (Some(value), Some(line)) => line.push(place((*when, *value))),
                _ => lines.push(Vec::new()),
            }
        }
        lines.retain(|line| line.len() > 1);
        lines
    }
}

/// Rounds up to the next of the numbers 1, 2, 5, 10, 20, 50, ... and so on below 1.
fn round_up(value: f64) -> f64 {
    let value = value.max(0.01);
    let power = 10_f64.powf(value.log10().floor());
    [1.0, 2.0, 5.0]
        .into_iter()
        .map(|step| step * power)
        .find(|candidate| *candidate >= value)
        .unwrap_or(10.0 * power)
}
