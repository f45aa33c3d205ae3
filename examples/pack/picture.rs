//! The matrix before and after, with what each instruction multiplies: Figures 2, 5 and 7 of [Bajaj04].

use std::borrow::Borrow;
use std::path::Path;

use texla::pack::Program;

use plotters::prelude::RGBColor;

use super::support::Result;
use super::support::figure::{self, Area, Raster, SERIES};
use super::support::paint::{disc, fill, heading, legend, polyline, text};

const FAINT: RGBColor = RGBColor(226, 229, 234);
const BLOCK: RGBColor = RGBColor(178, 184, 194);
const ENTRY: RGBColor = RGBColor(150, 156, 166);
const COLUMN: RGBColor = SERIES[0];
const ROW: RGBColor = RGBColor(200, 90, 0);
/// Pixels that a side of a matrix has at most, and a position of it at most.
const SIDE: usize = 1000;
const LARGEST: usize = 22;
const MARGIN: usize = 40;
const HEAD: usize = 120;
const FOOT: usize = 80;

/// Two matrices side by side.
pub fn write(path: &Path, title: &str, before: &Program, after: &Program) -> Result {
    let positions = 4 * before.quads();
    let cell = (SIDE / positions.max(1)).clamp(1, LARGEST);
    // Past so many positions several share a pixel.
    let shared = positions.div_ceil(SIDE).max(1);
    let side = (positions * cell).div_ceil(shared).max(240);
    let cell = cell as f64 / shared as f64;
    let size = ((3 * MARGIN + 2 * side) as u32, (HEAD + side + FOOT) as u32);
    figure::write(path, title, size, |area, rasters| {
        heading(area, title, "what each instruction multiplies")?;
        key(area, &[before, after])?;
        [(before, "before"), (after, "after")].into_iter().enumerate().try_for_each(|(k, (program, name))| {
            panel(area, rasters, name, program, (MARGIN + k * (side + MARGIN), HEAD), cell)
        })
    })
}

/// What the lines are, of the kinds that these programs have.
pub fn key(area: &Area, programs: &[impl Borrow<Program>]) -> Result {
    let kinds = [("one product along a row", ROW, true), ("one product of a peel", COLUMN, false)];
    let has = |row_major| programs.iter().any(|p| p.borrow().products().any(|of| of.row_major == row_major));
    let kinds = kinds.into_iter().filter(|kind| has(kind.2));
    let (names, colors): (Vec<_>, Vec<_>) = kinds.map(|(name, color, _)| (name, color)).unzip();
    legend(area, &names, |k, (x, y), strip| {
        disc(strip, (x + 17.0, y), 5.0, ENTRY)?;
        polyline(strip, &[(x, y), (x + 34.0, y)], 3.0, colors[k])
    })?;
    Ok(())
}

/// Pixels that a position has at least where lines are drawn.
const LEGIBLE: f64 = 4.0;

/// One matrix from its upper left corner on, with positions of so many pixels.
pub fn panel(
    area: &Area,
    rasters: &mut Vec<Raster>,
    name: &str,
    program: &Program,
    (left, top): (usize, usize),
    cell: f64,
) -> Result {
    let positions = 4 * program.quads();
    if cell < LEGIBLE {
        rasters.push(dots(program, (left as u32, top as u32), cell));
    }
    let (left, top, length) = (left as f64, top as f64, positions as f64 * cell);
    text(area, &format!("{name}: {} instructions", program.cost.0), (left, top - 18.0))?;
    for at in (0..=positions).filter(|at| cell >= LEGIBLE || [0, positions].contains(at)) {
        // The first lies beside the pixels of a raster.
        let along = if at == 0 { -1.0 } else { at as f64 * cell };
        let color = if at % 4 == 0 { BLOCK } else { FAINT };
        fill(area, (left + along, top), (1.0, length), color)?;
        fill(area, (left, top + along), (length, 1.0), color)?;
    }
    for product in program.products().filter(|_| cell >= LEGIBLE) {
        let color = if product.row_major { ROW } else { COLUMN };
        let middle = |&(row, col): &(usize, usize)| {
            (left + (col as f64 + 0.5) * cell, top + (row as f64 + 0.5) * cell)
        };
        let points: Vec<(f64, f64)> = product.entries.iter().map(middle).collect();
        points.iter().try_for_each(|point| disc(area, *point, 0.26 * cell, ENTRY))?;
        let line = if product.row_major { points } else { curve(&points) };
        match line[..] {
            [point] => disc(area, point, (0.16 * cell).max(1.5), color)?,
            _ => polyline(area, &line, (0.16 * cell).max(1.2), color)?,
        }
    }
    Ok(())
}

/// The entries of a matrix that is too large for lines, each in the colour of its product.
fn dots(program: &Program, at: (u32, u32), cell: f64) -> Raster {
    let side = (4.0 * program.quads() as f64 * cell).ceil() as usize;
    let mut pixels = vec![255; 3 * side * side];
    for product in program.products() {
        let RGBColor(r, g, b) = if product.row_major { ROW } else { COLUMN };
        for &(row, col) in &product.entries {
            let span = |at: usize| (at as f64 * cell) as usize..((at + 1) as f64 * cell).ceil() as usize;
            for pixel in span(row).flat_map(|y| span(col).map(move |x| 3 * (y * side + x))) {
                pixels[pixel..pixel + 3].copy_from_slice(&[r, g, b]);
            }
        }
    }
    Raster { at, scale: 1, width: side as u32, pixels }
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
