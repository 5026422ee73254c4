//! Time against radius as an SVG file, both logarithmic.

use crate::measure::Row;
use crate::method::Method;
use bevy_gaussian_blur::RADIUS_IN_SIGMAS;
use plotters::prelude::*;
use std::ops::Range;
use std::path::Path;

const SIZE: (u32, u32) = (1080, 660);
const FONT: &str = "sans-serif";
const INK: RGBColor = RGBColor(40, 40, 40);

/// The room for the legend on the right, as a share of the room for the curves.
const LEGEND: f64 = 0.25;

/// A curve: radius and microseconds.
type Points = Vec<(f64, f64)>;

/// Plots the first size and format among the rows.
///
/// # Errors
/// The file cannot be written.
pub fn write_plot(path: &Path, adapter: &str, rows: &[Row]) -> Result<(), String> {
    let Some(first) = rows.first() else {
        return Ok(());
    };
    let curves = curves(rows, first);
    let title = format!(
        "GPU time of a Gaussian blur, {}x{} {}, {adapter}",
        first.size[0],
        first.size[1],
        first.format.name()
    );
    draw(path, &title, &curves).map_err(|error| format!("{}: {error}", path.display()))
}

fn curves(rows: &[Row], first: &Row) -> Vec<(Method, Points)> {
    let mut curves: Vec<(Method, Points)> = Vec::new();
    let shown = rows
        .iter()
        .filter(|row| row.size == first.size && row.format == first.format);
    for row in shown {
        let Ok(figures) = &row.outcome else { continue };
        let point = (row.sigma * f64::from(RADIUS_IN_SIGMAS), figures.median);
        match curves.iter_mut().find(|(method, _)| *method == row.method) {
            Some((_, points)) => points.push(point),
            None => curves.push((row.method, vec![point])),
        }
    }
    for (_, points) in curves.iter_mut().filter(|(method, _)| method.is_copy()) {
        flatten(points);
    }
    curves
}

/// A copy does not depend on the radius: its time is the median of all.
fn flatten(points: &mut Points) {
    let mut times: Vec<f64> = points.iter().map(|point| point.1).collect();
    times.sort_by(f64::total_cmp);
    let median = times[times.len() / 2];
    points.iter_mut().for_each(|point| point.1 = median);
}

fn draw(path: &Path, title: &str, curves: &[(Method, Points)]) -> Result<(), Box<dyn std::error::Error>> {
    let area = SVGBackend::new(path, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let points = || curves.iter().flat_map(|(_, points)| points);
    let mut radii = around(points().map(|point| point.0), 1.1);
    radii.end *= (radii.end / radii.start).powf(LEGEND);
    let times = around(points().map(|point| point.1), 1.5);
    let mut chart = ChartBuilder::on(&area)
        .caption(title, (FONT, 20).into_font().color(&INK))
        .margin(16)
        .x_label_area_size(48)
        .y_label_area_size(80)
        .build_cartesian_2d(radii.log_scale(), times.log_scale())?;
    chart
        .configure_mesh()
        .x_desc("radius (3 sigma) in texels")
        .y_desc("median GPU time")
        .label_style((FONT, 15).into_font().color(&INK))
        .bold_line_style(BLACK.mix(0.15))
        .light_line_style(BLACK.mix(0.05))
        .x_label_formatter(&|radius| short(*radius))
        .x_labels(8)
        .y_label_formatter(&|time| with_unit(*time))
        .draw()?;
    for (method, points) in curves {
        let style = style(*method);
        let markers = points.iter().map(|point| Circle::new(*point, 3, style.filled()));
        chart.draw_series(markers)?;
        let line = LineSeries::new(points.iter().copied(), style);
        chart
            .draw_series(line)?
            .label(method.name())
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 22, y)], style));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .legend_area_size(30)
        .margin(8)
        .background_style(WHITE)
        .label_font((FONT, 15).into_font().color(&INK))
        .draw()?;
    area.present()?;
    Ok(())
}

/// Copies in greys, the classical methods in thin lines of cold and faded colours, ours in bold.
fn style(method: Method) -> ShapeStyle {
    let (colour, width) = match method {
        Method::CopyFragment => (RGBColor(110, 110, 110), 2),
        Method::CopyCompute => (RGBColor(155, 155, 155), 2),
        Method::CopyTransfer => (RGBColor(195, 195, 195), 2),
        Method::Box => (RGBColor(148, 103, 189), 2),
        Method::Direct2d => (RGBColor(140, 86, 75), 2),
        Method::Direct2dTable => (RGBColor(196, 156, 148), 2),
        Method::Separable => (RGBColor(31, 119, 180), 2),
        Method::SeparableBilinear => (RGBColor(23, 190, 207), 2),
        Method::NaiveCompute => (RGBColor(44, 160, 44), 2),
        Method::OursFragment => (RGBColor(255, 127, 14), 4),
        Method::OursMixed => (RGBColor(227, 119, 194), 4),
        Method::OursCompute => (RGBColor(214, 39, 40), 4),
        Method::ProfileFragment => (RGBColor(188, 189, 34), 4),
        Method::ProfileMixed => (RGBColor(154, 205, 50), 4),
        Method::ProfileCompute => (RGBColor(85, 107, 47), 4),
    };
    colour.stroke_width(width)
}

/// The range of the values, widened by a factor.
fn around(values: impl Iterator<Item = f64>, factor: f64) -> Range<f64> {
    let positive = values.filter(|value| *value > 0.0);
    let (least, greatest) = positive.fold((f64::INFINITY, 0.0_f64), |(least, greatest), value| {
        (least.min(value), greatest.max(value))
    });
    if greatest == 0.0 {
        return 1.0..10.0;
    }
    least / factor..greatest * factor
}

/// Microseconds, in a suitable unit.
fn with_unit(time: f64) -> String {
    match time {
        1e6.. => format!("{} s", short(time / 1e6)),
        1e3.. => format!("{} ms", short(time / 1e3)),
        _ => format!("{} us", short(time)),
    }
}

/// As few digits as possible.
fn short(value: f64) -> String {
    let digits = (3.0 - value.log10().ceil()).clamp(0.0, 3.0);
    let text = format!("{value:.*}", digits as usize);
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').into()
}
