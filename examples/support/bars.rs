//! A chart of grouped bars on a logarithmic scale, such as the times of several programs for several operations.

use std::path::Path;

use plotters::prelude::*;

use super::figure::{self, Area, INK, PAPER, SERIES};
use super::outcome::Result;
use super::paint::{heading, legend, style};
use super::plot::{SIZE, decades, frame, linear, power, rounded};

/// How much of its colour the top of a bar has.
const PALE: f64 = 0.4;

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

/// Groups of bars.
#[derive(Clone, Debug, Default)]
pub struct BarChart<'a> {
    pub title: &'a str,
    /// A smaller line under the title.
    pub subtitle: String,
    /// What the vertical axis shows, with its unit.
    pub axis: &'a str,
    /// What the paler tops are, if there are any.
    pub tops: Option<&'a str>,
    /// Along the horizontal axis.
    pub groups: Vec<String>,
    /// By name, a bar for each group, or none where there is nothing to show.
    pub series: Vec<(String, Vec<Option<Bar>>)>,
}

impl BarChart<'_> {
    /// Draws the chart and writes it; a path that cannot be written is bad input.
    pub fn write(&self, path: &Path) -> Result {
        figure::write(path, self.title, SIZE, |area, _| self.draw(area))
    }

    fn draw(&self, area: &Area) -> Result {
        let names: Vec<_> = self.series.iter().map(|(name, _)| name.as_str()).chain(self.tops).collect();
        let rest = heading(area, self.title, &self.subtitle)?;
        let rest = legend(&rest, &names, |k, (x, y), strip| {
            let (x, y) = (2 * x as i32, 2 * y as i32);
            let corners = [(x, y - 18), (x + 64, y + 18)];
            if k < self.series.len() { bar(strip, corners, k) } else { plain(strip, corners, INK.mix(PALE)) }
        })?;
        let groups = self.groups.len().max(1) as f64;
        let mut x = linear([-0.5, groups - 0.5], 2);
        x.ticks = (0..self.groups.len()).map(|g| g as f64).collect();
        let range = self.range();
        let name = |at: &f64| self.groups.get(at.round() as usize).cloned().unwrap_or_default();
        let chart = frame(&rest, [x, decades(range)], ["", self.axis], [&name, &power])?;

        let wide = 0.86 / self.series.len().max(1) as f64;
        for (s, (_, bars)) in self.series.iter().enumerate() {
            for (g, shown) in bars.iter().take(self.groups.len()).enumerate() {
                let Some(shown) = shown.filter(Bar::shown) else { continue };
                let left = g as f64 - 0.43 + wide * s as f64;
                let at = |x: f64, value: f64| chart.backend_coord(&(x, value));
                let (x0, foot) = at(left, range[0]);
                let middle = at(left, shown.value.log10()).1;
                let (x1, top) = at(left + 0.92 * wide, shown.top().log10());
                plain(area, [(x0, top), (x1, middle)], SERIES[s % SERIES.len()].mix(PALE))?;
                bar(area, [(x0, middle), (x1, foot)], s)?;
                let upwards = style(14.0, INK).transform(FontTransform::Rotate270);
                area.draw(&Text::new(rounded(shown.top(), 3), ((x0 + x1) / 2, top - 10), upwards))?;
            }
        }
        Ok(())
    }

    /// Decades that the axis shows: a part of one below the least, and room for the numbers above the greatest.
    fn range(&self) -> [f64; 2] {
        let bars =
            || self.series.iter().flat_map(|(_, bars)| bars.iter().flatten()).filter(|bar| bar.shown());
        let low = bars().map(|bar| bar.value.log10()).fold(f64::INFINITY, f64::min);
        let high = bars().map(|bar| bar.top().log10()).fold(f64::NEG_INFINITY, f64::max);
        if low <= high { [low.floor() - 0.3, high + 0.18 * (high - low) + 0.4] } else { [0.0, 1.0] }
    }
}

fn plain(area: &Area, corners: [(i32, i32); 2], color: impl Color) -> Result {
    Ok(area.draw(&Rectangle::new(corners, color.filled()))?)
}

/// A bar of a series, told from others by its colour and by its hatching: none, rising, level or falling.
fn bar(area: &Area, corners: [(i32, i32); 2], series: usize) -> Result {
    plain(area, corners, SERIES[series % SERIES.len()])?;
    let [(x0, y0), (x1, y1)] = corners;
    let (w, h) = (x1 - x0, y1 - y0);
    let line = |a, b| area.draw(&PathElement::new(vec![a, b], PAPER.stroke_width(3)));
    for c in (10..w + h).step_by(16) {
        let [(xa, ya), (xb, yb)] = [((c - h).max(0), c.min(h)), (c.min(w), (c - w).max(0))];
        match series % 4 {
            1 => line((x0 + xa, y0 + ya), (x0 + xb, y0 + yb))?,
            2 if c < h => line((x0, y1 - c), (x1, y1 - c))?,
            3 => line((x1 - xa, y0 + ya), (x1 - xb, y0 + yb))?,
            _ => {}
        }
    }
    Ok(())
}
