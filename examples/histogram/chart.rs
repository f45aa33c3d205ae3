//! A histogram as a picture.

use std::path::Path;

use crate::support::canvas::{Anchor, Canvas, Color};
use crate::support::plot::{FAINT_INK, GRID, INK, LEVEL, PAPER, SERIES, ticks};
use crate::support::{Result, write_rgb};

const SIZE: (usize, usize) = (1000, 520);
/// Left, right, top and bottom of the frame.
const FRAME: [f64; 4] = [120.0, 960.0, 100.0, 430.0];
const BAR: Color = SERIES[0];

pub struct Chart<'a> {
    pub title: String,
    pub subtitle: String,
    /// What stands below and beside the axes.
    pub labels: [&'a str; 2],
    /// The ends of the horizontal axis.
    pub range: [f64; 2],
    pub values: &'a [f64],
}

/// A number in few letters.
fn short(v: f64) -> String {
    let size = v.abs();
    if size >= 1e6 || (size < 1e-3 && size > 0.0) {
        format!("{v:.1e}")
    } else {
        format!("{}", (1e4 * v).round() / 1e4)
    }
}

impl Chart<'_> {
    pub fn write(&self, path: &Path) -> Result {
        let canvas = self.draw();
        write_rgb(path, SIZE.0 as u32, SIZE.1 as u32, canvas.pixels())
    }

    fn draw(&self) -> Canvas {
        let mut canvas = Canvas::new(SIZE.0, SIZE.1, PAPER);
        let [left, right, top, bottom] = FRAME;
        canvas.text(&self.title, (left, 36.0), Anchor::Left, 3, INK);
        canvas.text(&self.subtitle, (left, 70.0), Anchor::Left, 2, FAINT_INK);
        let high = self.values.iter().fold(0.0, |m: f64, v| m.max(*v));
        let low = self.values.iter().fold(0.0, |m: f64, v| m.min(*v));
        let (low, high) = if high > low { (low, high + 0.04 * (high - low)) } else { (0.0, 1.0) };
        let place = |v: f64| bottom - (bottom - top) * (v - low) / (high - low);
        for tick in ticks([low, high], 5.0).0 {
            canvas.fill((left as usize, place(tick) as usize), ((right - left) as usize, 1), GRID);
            canvas.text(&short(tick), (left - 10.0, place(tick)), Anchor::Right, 2, INK);
        }
        // A column of pixels shows the largest and the least of the bins in it.
        let columns = (right - left) as usize;
        for column in 0..columns {
            let bin = |c: usize| c * self.values.len() / columns;
            let bins = bin(column)..bin(column + 1).max(bin(column) + 1);
            let shown = &self.values[bins];
            let (most, least) = shown.iter().fold((0.0f64, 0.0f64), |(m, l), v| (m.max(*v), l.min(*v)));
            for (from, to, color) in [(most, 0.0, BAR), (0.0, least, LEVEL)] {
                let (from, to) = (place(from).round() as usize, place(to).round() as usize);
                canvas.fill((left as usize + column, from), (1, to.saturating_sub(from)), color);
            }
        }
        for tick in ticks(self.range, 9.0).0 {
            let x = left + (right - left) * (tick - self.range[0]) / (self.range[1] - self.range[0]);
            canvas.fill((x as usize, bottom as usize), (2, 6), INK);
            canvas.text(&short(tick), (x, bottom + 22.0), Anchor::Middle, 2, INK);
        }
        canvas.polyline(&[(left, top), (left, bottom), (right, bottom)], 2.0, INK);
        canvas.text(self.labels[0], (0.5 * (left + right), bottom + 56.0), Anchor::Middle, 2, INK);
        canvas.text_upwards(self.labels[1], (22.0, 0.5 * (top + bottom)), 2, INK);
        canvas
    }
}
