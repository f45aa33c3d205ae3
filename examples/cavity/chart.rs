//! Both profiles as curves, the published velocities as dots.

use std::path::Path;

use crate::flow::Profiles;
use crate::support::canvas::{Anchor, Canvas, Color};
use crate::support::plot::{FAINT_INK, GRID, INK, PAPER, SERIES};
use crate::support::{Result, write_rgb};
use crate::table;

const SIZE: (usize, usize) = (1200, 640);
const CURVE: Color = SERIES[0];
const DOT: Color = [226, 120, 0];

/// A chart's frame: left and top, width and height, and the range of each axis.
struct Frame {
    corner: (f64, f64),
    size: (f64, f64),
    x: [f64; 2],
    y: [f64; 2],
}

impl Frame {
    fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let share = |v: f64, [low, high]: [f64; 2]| (v - low) / (high - low);
        (
            self.corner.0 + self.size.0 * share(x, self.x),
            self.corner.1 + self.size.1 * (1.0 - share(y, self.y)),
        )
    }

    fn draw(&self, canvas: &mut Canvas, steps: [f64; 2], labels: [&str; 2]) {
        let ticks = |[low, high]: [f64; 2], step: f64| {
            // An end that is a tick stays one in spite of rounding.
            let first = (low / step - 1e-9).ceil() as i64;
            (first..=(high / step + 1e-9).floor() as i64).map(move |k| k as f64 * step)
        };
        for tick in ticks(self.x, steps[0]) {
            let (x, bottom) = self.place((tick, self.y[0]));
            canvas.polyline(&[(x, self.corner.1), (x, bottom)], 1.0, GRID);
            canvas.text(&format!("{tick:.1}"), (x, bottom + 20.0), Anchor::Middle, 2, INK);
        }
        for tick in ticks(self.y, steps[1]) {
            let (left, y) = self.place((self.x[0], tick));
            canvas.polyline(&[(left, y), (left + self.size.0, y)], 1.0, GRID);
            canvas.text(&format!("{tick:.1}"), (left - 10.0, y), Anchor::Right, 2, INK);
        }
        let (left, bottom) = self.place((self.x[0], self.y[0]));
        canvas.polyline(&[(left, self.corner.1), (left, bottom), (left + self.size.0, bottom)], 2.0, INK);
        let middle = (left + 0.5 * self.size.0, bottom + 48.0);
        canvas.text(labels[0], middle, Anchor::Middle, 2, INK);
        canvas.text_upwards(labels[1], (left - 76.0, self.corner.1 + 0.5 * self.size.1), 2, INK);
    }
}

/// Draws the chart and writes it.
pub fn write(path: &Path, profiles: &Profiles, subtitle: &str) -> Result {
    let mut canvas = Canvas::new(SIZE.0, SIZE.1, PAPER);
    canvas.text("Lid-driven cavity, Re = 100", (90.0, 36.0), Anchor::Left, 3, INK);
    canvas.text(subtitle, (90.0, 70.0), Anchor::Left, 2, FAINT_INK);
    let size = (450.0, 440.0);
    let left = Frame { corner: (100.0, 110.0), size, x: [-0.4, 1.0], y: [0.0, 1.0] };
    let right = Frame { corner: (700.0, 110.0), size, x: [0.0, 1.0], y: [-0.3, 0.3] };
    left.draw(&mut canvas, [0.2, 0.2], ["u at x = 0.5", "y"]);
    right.draw(&mut canvas, [0.2, 0.1], ["x", "v at y = 0.5"]);
    let curve: Vec<_> = profiles.u.iter().map(|(y, u)| left.place((*u, *y))).collect();
    canvas.polyline(&curve, 2.6, CURVE);
    let curve: Vec<_> = profiles.v.iter().map(|p| right.place(*p)).collect();
    canvas.polyline(&curve, 2.6, CURVE);
    for (y, u) in table::U {
        canvas.disc(left.place((u, y)), 5.0, DOT);
    }
    for point in table::V {
        canvas.disc(right.place(point), 5.0, DOT);
    }
    write_rgb(path, SIZE.0 as u32, SIZE.1 as u32, canvas.pixels())
}
