//! Curves on a linear or a logarithmic scale, such as the residual against the iteration.

use std::ops::Range;
use std::path::Path;

use plotters::coord::ranged1d::{BoldPoints, DefaultFormatting, KeyPointHint, Ranged};
use plotters::coord::types::RangedCoordf64;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use texla::host::number;

use super::figure::{self, Area, FINE_GRID, GRID, INK, LEVEL, SERIES};
use super::outcome::Result;
use super::paint::{heading, legend, place, style};

pub const SIZE: (u32, u32) = (1200, 720);

/// Values, or their logarithms, with their ticks and with lines that have none.
pub struct Axis {
    scale: RangedCoordf64,
    pub ticks: Vec<f64>,
    lines: Vec<f64>,
}

pub type Chart<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<Axis, Axis>>;

impl Ranged for Axis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, pixels: (i32, i32)) -> i32 {
        self.scale.map(value, pixels)
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.weight().allow_light_points() { self.lines.clone() } else { self.ticks.clone() }
    }

    fn range(&self) -> Range<f64> {
        self.scale.range()
    }
}

/// An axis with at most so many round values.
pub fn linear([low, high]: [f64; 2], most: usize) -> Axis {
    let scale = RangedCoordf64::from(low..high);
    let mut ticks = scale.key_points(BoldPoints(most));
    // Past rounding, zero is zero.
    ticks.iter_mut().filter(|v| v.abs() < 1e-9 * (high - low)).for_each(|v| *v = 0.0);
    Axis { scale, ticks, lines: Vec::new() }
}

/// An axis of logarithms. plotters' own takes for ever where there are hundreds of powers of ten.
pub fn decades([low, high]: [f64; 2]) -> Axis {
    let step = 1 + (high - low) as i32 / 11;
    let points = |digits: &[f64]| {
        let all = (low.floor() as i32..=high as i32).filter(|decade| decade % step == 0);
        let all = all.flat_map(|decade| digits.iter().map(move |d| f64::from(decade) + d.log10()));
        all.filter(|v| (low..=high).contains(v)).collect::<Vec<_>>()
    };
    let ticks = points(if high - low < 2.5 { &[1.0, 2.0, 5.0] } else { &[1.0] });
    let lines = points(if step == 1 { &[2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0] } else { &[] });
    Axis { scale: (low..high).into(), ticks, lines }
}

/// A number in so many digits.
pub fn rounded(v: f64, digits: usize) -> String {
    number(format!("{v:.*e}", digits - 1).parse().unwrap_or(v))
}

/// What a tick says.
pub fn value(v: &f64) -> String {
    rounded(*v, 7)
}

/// What a tick of [`decades`] says.
pub fn power(v: &f64) -> String {
    if v.abs() > 4.5 && v.fract() == 0.0 { format!("1e{v}") } else { value(&10f64.powf(*v)) }
}

/// The axes with their names, and what their ticks say.
pub fn frame<'a>(
    area: &Area<'a>,
    [x, y]: [Axis; 2],
    [x_name, y_name]: [&str; 2],
    [x_label, y_label]: [&dyn Fn(&f64) -> String; 2],
) -> Result<Chart<'a>> {
    let mut builder = ChartBuilder::on(area);
    builder.margin(20).margin_right(70).x_label_area_size(if x_name.is_empty() { 70 } else { 120 });
    let mut chart = builder.y_label_area_size(180).build_cartesian_2d(x, y)?;
    let mut mesh = chart.configure_mesh();
    mesh.bold_line_style(GRID.stroke_width(2)).light_line_style(FINE_GRID.stroke_width(2));
    mesh.axis_style(INK.stroke_width(3)).label_style(style(16.0, INK)).axis_desc_style(style(17.0, INK));
    mesh.x_desc(x_name).y_desc(y_name).x_label_formatter(x_label).y_label_formatter(y_label);
    mesh.draw()?;
    Ok(chart)
}

/// Points (x, y), x from 0 on.
pub type Points = Vec<(f64, f64)>;

/// One or more curves. What a scale cannot show is left out.
#[derive(Clone, Debug, Default)]
pub struct LinePlot<'a> {
    pub title: &'a str,
    /// A smaller line under the title: problem, size, outcome.
    pub subtitle: String,
    /// What the axes show, with units.
    pub axes: [&'a str; 2],
    /// By name; one that has none is not in the legend.
    pub curves: Vec<(String, Points)>,
    /// A dashed line at a value, and what it says.
    pub level: Option<(f64, String)>,
    /// Of whole numbers, such as iterations, and logarithms.
    pub logarithmic: bool,
}

impl LinePlot<'_> {
    /// Draws the plot and writes it; a path that cannot be written is bad input.
    pub fn write(&self, path: &Path) -> Result {
        figure::write(path, self.title, SIZE, |area, _| self.draw(area))
    }

    /// On the scale.
    fn scaled(&self, y: f64) -> f64 {
        if self.logarithmic { y.log10() } else { y }
    }

    fn draw(&self, area: &Area) -> Result {
        // Differences of values are to be finite, too.
        let shown = |(x, y): &(f64, f64)| x.is_finite() && y.abs() < 1e307;
        let scaled = |(x, y): &(f64, f64)| (*x, self.scaled(*y));
        let curves: Vec<Points> =
            self.curves.iter().map(|(_, points)| points.iter().map(scaled).filter(shown).collect()).collect();
        let level = self.level.as_ref().map(|(level, text)| (self.scaled(*level), text.as_str()));
        let level = level.filter(|(level, _)| level.abs() < 1e307);
        let colors = || SERIES.into_iter().cycle();
        let named = self.curves.iter().zip(colors()).filter(|((name, _), _)| !name.is_empty());
        let mut entries: Vec<_> = named.map(|((name, _), color)| (name.as_str(), color)).collect();
        if curves.iter().all(Vec::is_empty) {
            entries.push(("nothing to show", GRID));
        }
        let solid = entries.len();
        entries.extend(level.map(|(_, text)| (text, LEVEL)));
        let names: Vec<_> = entries.iter().map(|(name, _)| name).collect();
        let rest = heading(area, self.title, &self.subtitle)?;
        let rest = legend(&rest, &names, |k, (x, y), strip| {
            let (ends, dash) = ([(x, y), (x + 34.0, y)].map(place), if k < solid { 80 } else { 16 });
            Ok(strip.draw(&DashedPathElement::new(ends, dash, 10, entries[k].1.stroke_width(6)))?)
        })?;

        let (x, y) = ranges(&curves, level.map(|(level, _)| level), if self.logarithmic { 1.0 } else { 0.0 });
        let label: &dyn Fn(&f64) -> String = if self.logarithmic { &power } else { &value };
        let axes = match self.logarithmic {
            true => [linear(x, (x[1] as usize + 1).clamp(2, 11)), decades(y)],
            false => [linear(x, 11), linear(y, 12)],
        };
        let mut chart = frame(&rest, axes, self.axes, [&value, label])?;
        if let Some((level, _)) = level {
            chart.draw_series(DashedLineSeries::new(x.map(|x| (x, level)), 20, 16, LEVEL.stroke_width(4)))?;
        }
        for (points, color) in curves.iter().zip(colors()) {
            chart.draw_series(LineSeries::new(points.iter().copied(), color.stroke_width(5)))?;
            // A dot on each point while these are few, else on the last one.
            let dotted = if points.len() <= 40 { 0 } else { points.len() - 1 };
            chart.draw_series(points[dotted..].iter().map(|at| Circle::new(*at, 9, color.filled())))?;
        }
        Ok(())
    }
}

/// All points and the dashed line with some air; along x at least 1, and a height for what stays where it is.
fn ranges(curves: &[Points], level: Option<f64>, least: f64) -> ([f64; 2], [f64; 2]) {
    let last = curves.iter().flatten().map(|point| point.0).fold(1.0, f64::max);
    let values = curves.iter().flatten().map(|point| point.1).chain(level);
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), y| (l.min(y), h.max(y)));
    let (low, high) = if low <= high { (low, high) } else { (-1.0, 0.0) };
    let least = least.max(1e-3 * high.abs().max(low.abs()).max(1e-3));
    let air = (0.06 * (high - low)).max(0.5 * (least - (high - low)));
    ([0.0, last], [low - air, high + air])
}
