//! The matrix before and after, with what each instruction multiplies: Figures 2, 5 and 7 of [Bajaj04].

use std::path::Path;

use texla::pack::Program;

use super::support::canvas::{Anchor, Canvas, Color};
use super::support::plot::{INK, PAPER, SERIES};
use super::support::{Result, write_rgb};

const FAINT: Color = [226, 229, 234];
const BLOCK: Color = [178, 184, 194];
const ENTRY: Color = [150, 156, 166];
const COLUMN: Color = SERIES[0];
const ROW: Color = [200, 90, 0];
/// Pixels that a side of a matrix has at most, and a position of it at most.
const SIDE: usize = 1000;
const LARGEST: usize = 22;
const MARGIN: usize = 40;
const HEAD: usize = 96;

/// Two matrices side by side.
pub fn write(path: &Path, title: &str, before: &Program, after: &Program) -> Result {
    let positions = 4 * before.quads();
    let cell = (SIDE / positions.max(1)).clamp(1, LARGEST);
    // Past so many positions several share a pixel.
    let shared = positions.div_ceil(SIDE).max(1);
    let side = (positions * cell).div_ceil(shared).max(240);
    let mut canvas = Canvas::new(3 * MARGIN + 2 * side, HEAD + side + MARGIN, PAPER);
    canvas.text(title, (MARGIN as f64, 26.0), Anchor::Left, 2, INK);
    for (k, (program, name)) in [(before, "before"), (after, "after")].into_iter().enumerate() {
        let left = MARGIN + k * (side + MARGIN);
        let line = format!("{name}: {} instructions", program.cost.0);
        canvas.text(&line, (left as f64, 60.0), Anchor::Left, 2, INK);
        let place = |at: usize| (at * cell / shared) as f64;
        draw(&mut canvas, program, (left as f64, HEAD as f64), place, cell as f64 / shared as f64);
    }
    let (width, height) = (canvas.width() as u32, canvas.height() as u32);
    write_rgb(path, width, height, canvas.pixels())
}

/// One matrix from its upper left corner on; `place` is how far from there a position begins, `cell` its size.
pub fn draw(
    canvas: &mut Canvas,
    program: &Program,
    (left, top): (f64, f64),
    place: impl Fn(usize) -> f64,
    cell: f64,
) {
    let positions = 4 * program.quads();
    let length = place(positions).max(1.0) as usize;
    let fine = cell >= 6.0;
    for at in 0..=positions {
        let block = at % 4 == 0;
        if !(fine || block && cell >= 2.0 || at == 0 || at == positions) {
            continue;
        }
        let (x, y) = ((left + place(at)) as usize, (top + place(at)) as usize);
        let color = if block { BLOCK } else { FAINT };
        canvas.fill((x, top as usize), (1, length), color);
        canvas.fill((left as usize, y), (length, 1), color);
    }
    for product in program.products() {
        let color = if product.row_major { ROW } else { COLUMN };
        let middle =
            |&(row, col): &(usize, usize)| (left + place(col) + cell / 2.0, top + place(row) + cell / 2.0);
        let points: Vec<(f64, f64)> = product.entries.iter().map(middle).collect();
        if cell < 4.0 {
            for &(x, y) in &points {
                canvas.fill(
                    (x as usize, y as usize),
                    (cell.max(1.0) as usize, cell.max(1.0) as usize),
                    color,
                );
            }
            continue;
        }
        for &point in &points {
            canvas.disc(point, 0.26 * cell, ENTRY);
        }
        let line = if product.row_major { points } else { curve(&points) };
        canvas.polyline(&line, (0.16 * cell).max(1.2), color);
        if let &[(x, y)] = line.as_slice() {
            canvas.disc((x, y), (0.16 * cell).max(1.5), color);
        }
    }
}

/// A smooth curve through the points: Catmull and Rom's.
fn curve(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    const STEPS: usize = 8;
    let at = |k: isize| points[k.clamp(0, points.len() as isize - 1) as usize];
    let mut out = Vec::new();
    for k in 0..points.len() as isize - 1 {
        let [a, b, c, d] = [at(k - 1), at(k), at(k + 1), at(k + 2)];
        for step in 0..STEPS {
            let t = step as f64 / STEPS as f64;
            let blend = |a: f64, b: f64, c: f64, d: f64| {
                let (linear, square, cube) = (c - a, 2.0 * a - 5.0 * b + 4.0 * c - d, 3.0 * (b - c) + d - a);
                b + 0.5 * t * (linear + t * (square + t * cube))
            };
            out.push((blend(a.0, b.0, c.0, d.0), blend(a.1, b.1, c.1, d.1)));
        }
    }
    out.extend(points.last());
    out
}
