//! A histogram as a picture.

use std::path::Path;

use plotters::prelude::{Color, Rectangle};

use crate::support::Result;
use crate::support::figure::{self, LEVEL, SERIES};
use crate::support::paint::heading;
use crate::support::plot::{frame, linear, value};

/// Columns that can be told apart.
const MOST: usize = 1000;

pub struct Chart<'a> {
    pub title: String,
    pub subtitle: String,
    /// What stands below and beside the axes.
    pub labels: [&'a str; 2],
    /// The ends of the horizontal axis.
    pub range: [f64; 2],
    pub values: &'a [f64],
}

impl Chart<'_> {
    pub fn write(&self, path: &Path) -> Result {
        let bounds =
            |values: &[f64]| values.iter().fold((0.0f64, 0.0f64), |(l, m), v| (l.min(*v), m.max(*v)));
        let (low, high) = bounds(self.values);
        let (low, high) = if high > low { (low, high + 0.04 * (high - low)) } else { (0.0, 1.0) };
        let [from, to] = self.range;
        let columns = self.values.len().min(MOST);
        // A column shows the largest and the least of the bins in it.
        let bars = (0..columns).flat_map(|k| {
            let bin = |k: usize| k * self.values.len() / columns;
            let x = |k: usize| from + (to - from) * k as f64 / columns as f64;
            let (least, most) = bounds(&self.values[bin(k)..bin(k + 1)]);
            let bar = move |end: f64, color: plotters::style::RGBColor| {
                (end != 0.0).then(|| Rectangle::new([(x(k), 0.0), (x(k + 1), end)], color.filled()))
            };
            [bar(most, SERIES[0]), bar(least, LEVEL)].into_iter().flatten()
        });
        figure::write(path, &self.title, (1000, 560), &[], |area| {
            let rest = heading(area, &self.title, &self.subtitle)?;
            let axes = [linear(self.range, 10), linear([low, high], 7)];
            frame(&rest, axes, self.labels, [&value, &value])?.draw_series(bars)?;
            Ok(())
        })
    }
}
