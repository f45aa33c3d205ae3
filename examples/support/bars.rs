//! A chart of grouped bars on a logarithmic scale, such as the times of several programs for several operations.

use std::path::Path;

use super::canvas::{Anchor, Canvas, Color};
use super::font;
use super::image::write_rgb;
use super::outcome::Result;
use super::plot::{FAINT_INK, FINE_GRID, GRID, INK, PAPER, SERIES, SIZE};

/// Left, right, top and bottom edge of the frame, in pixels.
const FRAME: [f64; 4] = [140.0, 1160.0, 100.0, 580.0];
/// Columns and first line of the legend below the frame.
const LEGEND: (usize, f64) = (3, 648.0);

/// One bar. What cannot be shown on a logarithmic scale is left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    pub value: f64,
    /// The value with something added, as a paler top: no less than `value`.
    pub with: Option<f64>,
}

impl Bar {
    pub fn plain(value: f64) -> Self {
        Bar { value, with: None }
    }

    /// Where the bar ends.
    fn top(&self) -> f64 {
        self.with.map_or(self.value, |with| with.max(self.value))
    }

    fn shown(&self) -> bool {
        self.value.is_finite() && self.value > 0.0 && self.top().is_finite()
    }
}

/// Groups of bars, built up and then written as a PNG.
#[derive(Clone, Debug, Default)]
pub struct BarChart {
    title: String,
    subtitle: String,
    axis: String,
    /// What the paler tops are.
    tops: Option<String>,
    groups: Vec<String>,
    series: Vec<(String, Vec<Option<Bar>>)>,
}

impl BarChart {
    pub fn new(title: impl Into<String>, axis: impl Into<String>) -> Self {
        Self { title: title.into(), axis: axis.into(), ..Self::default() }
    }

    /// A smaller line under the title.
    pub fn subtitle(mut self, text: impl Into<String>) -> Self {
        self.subtitle = text.into();
        self
    }

    /// Explains the paler tops in the legend.
    pub fn tops(mut self, text: impl Into<String>) -> Self {
        self.tops = Some(text.into());
        self
    }

    /// The groups along the horizontal axis.
    pub fn groups(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.groups = names.into_iter().map(Into::into).collect();
        self
    }

    /// Adds a bar to each group, or none where there is nothing to show.
    pub fn series(
        mut self,
        label: impl Into<String>,
        bars: impl IntoIterator<Item = impl Into<Option<Bar>>>,
    ) -> Self {
        let shown = |bar: Option<Bar>| bar.filter(Bar::shown);
        self.series.push((label.into(), bars.into_iter().map(|bar| shown(bar.into())).collect()));
        self
    }

    /// Draws the chart and writes it; a path that cannot be written is bad input.
    pub fn write(&self, path: &Path) -> Result {
        let canvas = self.draw();
        write_rgb(path, canvas.width() as u32, canvas.height() as u32, canvas.pixels())
    }

    fn draw(&self) -> Canvas {
        let mut canvas = Canvas::new(SIZE.0, SIZE.1, PAPER);
        let [left, right, top, bottom] = FRAME;
        let range = self.range();
        draw_grid(&mut canvas, range);
        canvas.text(&self.title, (left, 36.0), Anchor::Left, 3, INK);
        canvas.text(&self.subtitle, (left, 72.0), Anchor::Left, 2, FAINT_INK);
        canvas.text_upwards(&self.axis, (32.0, (top + bottom) / 2.0), 2, INK);
        let group = (right - left) / self.groups.len().max(1) as f64;
        let bar = 0.86 * group / self.series.len().max(1) as f64;
        for (g, name) in self.groups.iter().enumerate() {
            let start = left + group * g as f64;
            canvas.text(name, (start + group / 2.0, bottom + 24.0), Anchor::Middle, 2, INK);
            for (s, ((_, bars), color)) in self.series.iter().zip(SERIES.into_iter().cycle()).enumerate() {
                let Some(Some(value)) = bars.get(g) else { continue };
                let from = start + 0.07 * group + bar * s as f64;
                draw_bar(&mut canvas, range, (from, from + bar - 2.0), value, color);
            }
        }
        canvas.polyline(&[(left, top), (left, bottom), (right, bottom)], 2.0, INK);
        self.draw_legend(&mut canvas);
        canvas
    }

    /// Decades that the axis shows: a part of one below the least, and room for the numbers above the greatest.
    fn range(&self) -> [f64; 2] {
        let bars = || self.series.iter().flat_map(|(_, bars)| bars.iter().flatten());
        let low = bars().map(|bar| bar.value.log10()).fold(f64::INFINITY, f64::min);
        let high = bars().map(|bar| bar.top().log10()).fold(f64::NEG_INFINITY, f64::max);
        if low <= high { [low.floor() - 0.3, high + 0.18 * (high - low) + 0.4] } else { [0.0, 1.0] }
    }

    fn draw_legend(&self, canvas: &mut Canvas) {
        let (columns, first) = LEGEND;
        let width = (FRAME[1] - FRAME[0]) / columns as f64;
        let place = |k: usize| {
            let (row, column) = (k / columns, k % columns);
            (FRAME[0] + width * column as f64, first + 28.0 * row as f64)
        };
        let named = self.series.iter().zip(SERIES.into_iter().cycle());
        for (k, ((name, _), color)) in named.enumerate() {
            let (x, y) = place(k);
            canvas.fill((x as usize, y as usize - 8), (22, 16), color);
            canvas.text(name, (x + 34.0, y), Anchor::Left, 2, INK);
        }
        if let Some(tops) = &self.tops {
            let (x, y) = place(self.series.len());
            canvas.fill((x as usize, y as usize - 8), (22, 16), pale(INK));
            canvas.text(tops, (x + 34.0, y), Anchor::Left, 2, INK);
        }
    }
}

/// The height of a value between the ends of the axis.
fn height([low, high]: [f64; 2], log: f64) -> f64 {
    FRAME[3] - (FRAME[3] - FRAME[2]) * (log - low) / (high - low)
}

fn draw_grid(canvas: &mut Canvas, range: [f64; 2]) {
    let [left, right, ..] = FRAME;
    let mut line = |log: f64, color: Color| {
        if (range[0]..=range[1]).contains(&log) {
            let y = height(range, log).round() as usize;
            canvas.fill((left as usize, y), ((right - left) as usize, 1), color);
        }
    };
    let decades = range[0].floor() as i32..=range[1].ceil() as i32;
    // Labels need some room: past ten decades not all have one.
    let step = 1 + (decades.end() - decades.start()) / 10;
    for decade in decades.clone().filter(|_| step == 1) {
        (2..10).for_each(|digit| line(f64::from(decade) + f64::from(digit).log10(), FINE_GRID));
        line(decade.into(), GRID);
    }
    let shown = |d: &i32| d % step == 0 && (range[0]..=range[1]).contains(&f64::from(*d));
    for decade in decades.filter(shown) {
        let label = if (-3..=5).contains(&decade) {
            format!("{}", 10f64.powi(decade))
        } else {
            format!("1e{decade}")
        };
        let y = height(range, decade.into());
        canvas.text(&label, (left - 14.0, y), Anchor::Right, 2, INK);
    }
}

/// A bar with its number above it.
fn draw_bar(canvas: &mut Canvas, range: [f64; 2], (from, to): (f64, f64), bar: &Bar, color: Color) {
    let x = from.round() as usize;
    let width = (to.round() as usize).saturating_sub(x).max(1);
    let foot = FRAME[3].round() as usize;
    let mut down_from = |value: f64, color: Color| {
        let y = height(range, value.log10()).round() as usize;
        canvas.fill((x, y), (width, foot.saturating_sub(y)), color);
    };
    down_from(bar.top(), pale(color));
    down_from(bar.value, color);
    let label = short(bar.top());
    let half = font::text_width(&label) as f64; // two pixels a dot
    let middle = height(range, bar.top().log10()) - half - 8.0;
    canvas.text_upwards(&label, ((from + to) / 2.0, middle), 2, INK);
}

/// Halfway to the paper.
fn pale(color: Color) -> Color {
    color.map(|channel| ((2 * u16::from(channel) + 3 * 255) / 5) as u8)
}

/// A number in three digits or so.
fn short(value: f64) -> String {
    match value {
        v if v >= 99.95 => format!("{v:.0}"),
        v if v >= 9.995 => format!("{v:.1}"),
        v if v >= 0.0995 => format!("{v:.2}"),
        v if v >= 0.001 => format!("{v:.3}"),
        v => format!("{v:.0e}"),
    }
}
