//! Curves on a linear or a logarithmic scale, such as the residual against the iteration.

use std::path::Path;

use super::canvas::{Anchor, Canvas, Color};
use super::font;
use super::image::write_rgb;
use super::outcome::Result;

pub const SIZE: (usize, usize) = (1200, 720);
/// Left, right, top and bottom edge of the frame, in pixels.
const FRAME: [f64; 4] = [140.0, 1160.0, 100.0, 620.0];
pub const PAPER: Color = [255, 255, 255];
pub const INK: Color = [40, 44, 52];
pub const FAINT_INK: Color = [110, 116, 126];
pub const GRID: Color = [222, 226, 232];
pub const FINE_GRID: Color = [242, 244, 247];
pub const LEVEL: Color = [200, 60, 50];
/// Told apart also by those who do not see red and green.
pub const SERIES: [Color; 6] =
    [[0, 98, 178], [230, 140, 0], [0, 148, 110], [190, 90, 160], [90, 176, 226], [110, 90, 60]];

/// One or more curves, built up and then written as a PNG.
#[derive(Clone, Debug, Default)]
pub struct LinePlot {
    title: String,
    subtitle: String,
    labels: [String; 2],
    series: Vec<(String, Vec<(f64, f64)>)>,
    /// On the scale, and what it says.
    level: Option<(f64, String)>,
    logarithmic: bool,
}

impl LinePlot {
    /// On linear scales.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// Residuals on a logarithmic scale, against iterations.
    pub fn convergence(title: impl Into<String>) -> Self {
        let labels = ["iteration".to_owned(), "relative residual".to_owned()];
        Self { title: title.into(), labels, logarithmic: true, ..Self::default() }
    }

    /// A smaller line under the title: problem, size, outcome.
    pub fn subtitle(mut self, text: impl Into<String>) -> Self {
        self.subtitle = text.into();
        self
    }

    /// Names for the axes, other than "iteration" and "relative residual".
    pub fn axes(mut self, x: impl Into<String>, y: impl Into<String>) -> Self {
        self.labels = [x.into(), y.into()];
        self
    }

    /// Adds a curve of (iteration, residual). What a logarithmic scale cannot show is left out.
    pub fn series(self, label: impl Into<String>, points: impl IntoIterator<Item = (usize, f64)>) -> Self {
        self.curve(label, points.into_iter().map(|(x, y)| (x as f64, y)))
    }

    /// Adds a curve of (x, y), x from 0 on. What the scale cannot show is left out.
    pub fn curve(mut self, label: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let scaled = |(x, y): (f64, f64)| (x, if self.logarithmic { y.log10() } else { y });
        let shown = |(x, y): &(f64, f64)| x.is_finite() && y.is_finite();
        let points = points.into_iter().map(scaled).filter(shown).collect();
        self.series.push((label.into(), points));
        self
    }

    /// Adds a dashed line at the residual that ends the solve.
    pub fn tolerance(self, tolerance: f64) -> Self {
        self.level(tolerance, format!("tolerance {tolerance:e}"))
    }

    /// Adds a dashed line at a value. None where the scale cannot show it.
    pub fn level(mut self, value: f64, label: impl Into<String>) -> Self {
        let scaled = if self.logarithmic { value.log10() } else { value };
        self.level = Some((scaled, label.into())).filter(|_| scaled.is_finite());
        self
    }

    /// Draws the plot and writes it; a path that cannot be written is bad input.
    pub fn write(&self, path: &Path) -> Result {
        let canvas = self.draw();
        write_rgb(path, canvas.width() as u32, canvas.height() as u32, canvas.pixels())
    }

    fn draw(&self) -> Canvas {
        let mut canvas = Canvas::new(SIZE.0, SIZE.1, PAPER);
        let least = if self.logarithmic { 1.0 } else { 0.0 };
        let scale = Scale::around(&self.series, self.level.as_ref().map(|level| level.0), least);
        let [left, right, top, bottom] = FRAME;
        let middle = (left + right) / 2.0;

        self.draw_grid(&mut canvas, &scale);
        let long = (3 * font::text_width(&self.title)) as f64 > right - left;
        canvas.text(&self.title, (left, 36.0), Anchor::Left, if long { 2 } else { 3 }, INK);
        canvas.text(&self.subtitle, (left, 72.0), Anchor::Left, 2, FAINT_INK);
        canvas.text(&self.labels[0], (middle, 686.0), Anchor::Middle, 2, INK);
        canvas.text_upwards(&self.labels[1], (32.0, (top + bottom) / 2.0), 2, INK);
        if let Some((value, label)) = &self.level {
            draw_dashed(&mut canvas, &scale, *value, label);
        }
        for ((_, points), color) in self.series.iter().zip(SERIES.into_iter().cycle()) {
            draw_curve(&mut canvas, &scale, points, color);
        }
        if self.series.iter().all(|(_, points)| points.is_empty()) {
            canvas.text("nothing to show", (middle, (top + bottom) / 2.0), Anchor::Middle, 2, FAINT_INK);
        }
        self.draw_legend(&mut canvas);
        canvas
    }

    fn draw_grid(&self, canvas: &mut Canvas, scale: &Scale) {
        let [left, right, top, bottom] = FRAME;
        for tick in x_ticks(scale.x[1]) {
            let x = scale.x(tick);
            canvas.fill((x.round() as usize, top as usize), (1, (bottom - top) as usize), GRID);
            canvas.text(&tick.to_string(), (x, bottom + 24.0), Anchor::Middle, 2, INK);
        }
        if self.logarithmic {
            draw_decades(canvas, scale)
        } else {
            draw_values(canvas, scale)
        }
        canvas.polyline(&[(left, top), (left, bottom), (right, bottom)], 2.0, INK);
    }

    /// A box at the upper right; none for a single curve without a name.
    fn draw_legend(&self, canvas: &mut Canvas) {
        let named =
            self.series.iter().zip(SERIES.into_iter().cycle()).filter(|((name, _), _)| !name.is_empty());
        let entries: Vec<(&str, Color)> = named.map(|((name, _), color)| (name.as_str(), color)).collect();
        let Some(widest) = entries.iter().map(|(name, _)| 2 * font::text_width(name)).max() else { return };
        let (width, height) = (widest + 74, 26 * entries.len() + 14);
        let (x, y) = ((FRAME[1] as usize).saturating_sub(width + 14), FRAME[2] as usize + 12);
        canvas.fill((x, y), (width, height), GRID);
        canvas.fill((x + 1, y + 1), (width - 2, height - 2), PAPER);
        for (row, (name, color)) in entries.into_iter().enumerate() {
            let middle = (y + 20 + 26 * row) as f64;
            let line = [(x as f64 + 14.0, middle), (x as f64 + 44.0, middle)];
            canvas.polyline(&line, 3.0, color);
            canvas.text(name, (x as f64 + 58.0, middle), Anchor::Left, 2, INK);
        }
    }
}

/// Lines and names for the powers of ten.
fn draw_decades(canvas: &mut Canvas, scale: &Scale) {
    let decades = scale.y[0].ceil() as i32..=scale.y[1].floor() as i32;
    let step = 1 + (decades.end() - decades.start()) / 10;
    if step == 1 {
        for decade in decades.start() - 1..=*decades.end() {
            for digit in 2..10 {
                let y = f64::from(decade) + f64::from(digit).log10();
                if (scale.y[0]..scale.y[1]).contains(&y) {
                    horizontal(canvas, scale.y(y), FINE_GRID);
                }
            }
        }
    }
    for decade in decades.filter(|decade| decade % step == 0) {
        draw_level(canvas, scale.y(f64::from(decade)), &format!("1e{decade}"));
    }
}

/// Lines and names for up to ten round values.
fn draw_values(canvas: &mut Canvas, scale: &Scale) {
    let (ticks, digits) = ticks(scale.y, 10.0);
    for value in ticks {
        draw_level(canvas, scale.y(value), &format!("{value:.digits$}"));
    }
}

fn draw_level(canvas: &mut Canvas, y: f64, name: &str) {
    horizontal(canvas, y, GRID);
    canvas.text(name, (FRAME[0] - 14.0, y), Anchor::Right, 2, INK);
}

/// Maps x and y, or the logarithm of y, to pixels.
struct Scale {
    x: [f64; 2],
    y: [f64; 2],
}

impl Scale {
    /// Shows all points and the dashed line with some air; along x at least 1, along y about `least`.
    fn around(series: &[(String, Vec<(f64, f64)>)], level: Option<f64>, least: f64) -> Self {
        let points = || series.iter().flat_map(|(_, points)| points);
        let last = points().map(|point| point.0).fold(1.0, f64::max);
        let logs = points().map(|point| point.1).chain(level);
        let (low, high) =
            logs.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), y| (low.min(y), high.max(y)));
        let (low, high) = if low <= high { (low, high) } else { (-1.0, 0.0) };
        let air = (0.06 * (high - low)).max(0.5 * (least - (high - low))).max(0.1 * least);
        // A curve that stays where it is needs a height, too.
        let air = if air > 0.0 { air } else { 0.1 * high.abs().max(1e-3) };
        Self { x: [0.0, last], y: [low - air, high + air] }
    }

    fn x(&self, iteration: f64) -> f64 {
        FRAME[0] + (FRAME[1] - FRAME[0]) * (iteration - self.x[0]) / (self.x[1] - self.x[0])
    }

    fn y(&self, log: f64) -> f64 {
        FRAME[3] - (FRAME[3] - FRAME[2]) * (log - self.y[0]) / (self.y[1] - self.y[0])
    }
}

/// A round step that `length` has at most so many of, and the digits after its point.
fn round_step(length: f64, most: f64) -> (f64, usize) {
    let exponent = (length / most).log10().floor();
    let unit = 10_f64.powf(exponent);
    let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * unit);
    let step = step.into_iter().find(|step| length / step <= most).unwrap_or(length);
    (step, (-exponent).max(0.0) as usize)
}

/// Up to so many round numbers within a range, and the digits after their point; the ends where there are none.
pub fn ticks([low, high]: [f64; 2], most: f64) -> (Vec<f64>, usize) {
    let (step, digits) = round_step(high - low, most);
    // An end that is a tick stays one in spite of rounding.
    let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
    if !step.is_finite() || step <= 0.0 || last - first > 2.0 * most {
        return (vec![low, high], digits);
    }
    ((first as i64..=last as i64).map(|k| k as f64 * step).collect(), digits)
}

/// Up to ten round numbers from 0 to `last`, whole ones.
fn x_ticks(last: f64) -> impl Iterator<Item = f64> {
    let (step, _) = round_step(last.max(10.0), 10.0);
    (0..=(last / step) as u32).map(move |tick| f64::from(tick) * step)
}

fn horizontal(canvas: &mut Canvas, y: f64, color: Color) {
    canvas.fill((FRAME[0] as usize, y.round() as usize), ((FRAME[1] - FRAME[0]) as usize, 1), color);
}

fn draw_dashed(canvas: &mut Canvas, scale: &Scale, value: f64, label: &str) {
    let y = scale.y(value);
    let mut x = FRAME[0];
    while x < FRAME[1] {
        canvas.polyline(&[(x, y), ((x + 10.0).min(FRAME[1]), y)], 1.6, LEVEL);
        x += 18.0;
    }
    // Below, where there is room: curves come from above.
    let beside = if y + 26.0 < FRAME[3] { y + 14.0 } else { y - 16.0 };
    canvas.text(label, (FRAME[0] + 14.0, beside), Anchor::Left, 2, LEVEL);
}

/// A line; a dot on each point while these are few, else on the last one.
fn draw_curve(canvas: &mut Canvas, scale: &Scale, points: &[(f64, f64)], color: Color) {
    let places: Vec<(f64, f64)> = points.iter().map(|&(x, y)| (scale.x(x), scale.y(y))).collect();
    canvas.polyline(&places, 2.6, color);
    let dotted = if places.len() <= 40 { 0 } else { places.len() - 1 };
    for &place in &places[dotted..] {
        canvas.disc(place, 4.5, color);
    }
}
