//! A histogram as a picture.

use std::path::Path;

use plotters::prelude::{Color, Polygon};

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
        let bounds = |values: &[f64]| values.iter().fold([0.0f64; 2], |[l, m], v| [l.min(*v), m.max(*v)]);
        let [low, high] = bounds(self.values);
        let (low, high) = if high > low { (low, high + 0.04 * (high - low)) } else { (0.0, 1.0) };
        let [from, to] = self.range;
        let columns = self.values.len().min(MOST);
        let bin = |k: usize| k * self.values.len() / columns;
        let x = |k: usize| from + (to - from) * k as f64 / columns as f64;
        // A column shows the least and the largest of the bins in it.
        let outline = |which: usize| {
            let steps = (0..columns).flat_map(|k| {
                let end = bounds(&self.values[bin(k)..bin(k + 1)])[which];
                [(x(k), end), (x(k + 1), end)]
            });
            steps.chain([(to, 0.0), (from, 0.0)]).collect::<Vec<_>>()
        };
        figure::write(path, &self.title, (1000, 560), |area, _| {
            let rest = heading(area, &self.title, &self.subtitle)?;
            let axes = [linear(self.range, 10), linear([low, high], 7)];
            let mut chart = frame(&rest, axes, self.labels, [&value, &value])?;
            let shapes = [(0, LEVEL), (1, SERIES[0])];
            chart.draw_series(shapes.map(|(which, color)| Polygon::new(outline(which), color.filled())))?;
            Ok(())
        })
    }
}
