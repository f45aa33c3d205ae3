//! Figures 9, 12 and 13, a slice of the smoke and one of the pressure, on one sheet.

use std::path::Path;

use texla::Grid;
use texla::pack::{Order, RepeatedExpression, StencilBoundary, instances};

use crate::support::Result;
use crate::support::canvas::{Anchor, Canvas, Color};
use crate::support::{worst_of, write_rgb};

const INK: Color = [40, 40, 40];
const LINE: Color = [205, 205, 205];
const PAPER: Color = [255, 255, 255];
const S: Color = [0, 98, 178];
const T: Color = [230, 140, 0];
/// Of the ends of lines, whose neighbour outside has their value.
const END: Color = [200, 60, 50];

/// One colour for each slab.
fn hue(k: usize, count: usize) -> Color {
    let angle = 2.0 * std::f64::consts::PI * k as f64 / count as f64;
    [0.0, 2.1, 4.2].map(|shift: f64| (150.0 + 85.0 * (angle + shift).cos()) as u8)
}

/// From blue through white to red, for -1 to 1.
fn diverging(value: f64) -> Color {
    let v = value.clamp(-1.0, 1.0);
    let fade = |by: f64| (255.0 * (1.0 - by * v.abs())) as u8;
    if v < 0.0 { [fade(1.0), fade(0.62), fade(0.3)] } else { [fade(0.22), fade(0.77), fade(0.8)] }
}

/// Squares for the entries of a matrix, with lines around blocks of so many rows and columns.
fn matrix(
    canvas: &mut Canvas,
    (left, top): (usize, usize),
    (rows, cols): (usize, usize),
    pixel: usize,
    every: [usize; 2],
    entries: impl Iterator<Item = (usize, usize, Color)>,
) {
    for row in (0..=rows).step_by(every[0]) {
        canvas.fill((left, top + row * pixel), (cols * pixel + 1, 1), LINE);
    }
    for col in (0..=cols).step_by(every[1]) {
        canvas.fill((left + col * pixel, top), (1, rows * pixel + 1), LINE);
    }
    for (row, col, color) in entries {
        canvas.fill((left + col * pixel + 1, top + row * pixel + 1), (pixel - 1, pixel - 1), color);
    }
}

/// Figure 9: T-S-T in each of the 8 block rows, two T for the artificial rows -1 and 8.
fn figure9(canvas: &mut Canvas, at: (usize, usize)) -> Result {
    let taps = [[0, 0, 0], [-1, 0, 0], [1, 0, 0], [0, -1, 0], [0, 1, 0]];
    let taps = taps.map(|offset| (offset, if offset == [0; 3] { 4.0 } else { -1.0 }));
    let sides = [[StencilBoundary::Copied; 2]; 3];
    let e = RepeatedExpression::stencil(Grid::new_2d(8, 8), 1, &taps, sides, true)?.jacobi()?;
    let mut entries = Vec::new();
    for line in 0..8 {
        // Block columns from -1 on.
        entries.extend(e.block().matrix().entries().map(|(i, j, _)| (8 * line + i, 8 * (line + 1) + j, S)));
        for (offset, link) in e.links() {
            let block = (line as i32 + 1 + offset[0]) as usize;
            entries.extend(link.entries().map(|(i, j, _)| (8 * line + i, 8 * block + j, T)));
        }
    }
    matrix(canvas, at, (64, 80), 6, [8, 8], entries.into_iter());
    Ok(())
}

/// Figure 13: the block S of 40 cells in an order.
fn figure13(canvas: &mut Canvas, at: (usize, usize), order: &Order) -> Result {
    let e = instances::poisson_3d_s40()?;
    let entries = e.matrix().entries().map(|(i, j, _)| {
        let color = if i == 0 || i == 39 { END } else { S };
        (order.position(i), order.position(j), color)
    });
    matrix(canvas, at, (40, 40), 9, [4, 4], entries);
    Ok(())
}

/// Figure 12: the box in slabs of four cells, and the texture of each, which holds the pressure.
fn figure12(canvas: &mut Canvas, (left, top): (usize, usize), grid: Grid, pressure: &[f32], largest: f64) {
    let quads = grid.nx.div_ceil(4);
    let (x0, y0) = (left as f64, top as f64);
    let (wide, deep) = (420.0 / quads as f64, 70.0);
    let height = 190.0;
    for k in 0..quads {
        let (a, b) = (x0 + k as f64 * wide, x0 + (k + 1) as f64 * wide);
        let color = hue(k, quads);
        canvas.fill((a as usize + 1, (y0 + deep) as usize), ((b - a) as usize - 1, height as usize), color);
        let lighter = color.map(|c| c.saturating_add(35));
        for row in 0..deep as usize {
            let shift = deep - row as f64;
            canvas.fill(((a + shift) as usize + 1, top + row), ((b - a) as usize - 1, 1), lighter);
        }
    }
    let (right, front) = (x0 + quads as f64 * wide, y0 + deep);
    let darker = hue(quads - 1, quads).map(|c| c.saturating_sub(45));
    for column in 0..deep as usize {
        canvas.fill(
            (right as usize + column, (front - column as f64) as usize),
            (1, height as usize),
            darker,
        );
    }
    // A texel is the mean of its four cells.
    let pixel = 1.max(84 / grid.ny.max(grid.nz));
    let column = grid.ny * pixel + 14;
    let per_row = (980 / column).clamp(1, quads);
    for k in 0..quads {
        let (x, y) = (left + k % per_row * column, top + 290 + k / per_row * (grid.nz * pixel + 14));
        canvas.fill((x - 3, y - 3), (grid.ny * pixel + 6, grid.nz * pixel + 6), hue(k, quads));
        for (j, l) in (0..grid.nz).flat_map(|l| (0..grid.ny).map(move |j| (j, l))) {
            let lanes = (4 * k..(4 * k + 4).min(grid.nx)).map(|i| f64::from(pressure[grid.index(i, j, l)]));
            let mean = lanes.sum::<f64>() / 4.0;
            canvas.fill(
                (x + j * pixel, y + (grid.nz - 1 - l) * pixel),
                (pixel, pixel),
                diverging(mean / largest),
            );
        }
    }
}

/// The middle plane across z.
fn slice(canvas: &mut Canvas, (left, top): (usize, usize), grid: Grid, color: impl Fn(usize) -> Color) {
    let pixel = 1.max(320 / grid.nx.max(grid.ny));
    for (i, j) in (0..grid.ny).flat_map(|j| (0..grid.nx).map(move |i| (i, j))) {
        let at = (left + i * pixel, top + (grid.ny - 1 - j) * pixel);
        canvas.fill(at, (pixel, pixel), color(grid.index(i, j, grid.nz / 2)));
    }
}

pub fn draw(path: &Path, grid: Grid, pressure: &[f32], smoke: &[f32]) -> Result {
    let mut canvas = Canvas::new(1560, 1060, PAPER);
    let mut title = |text: &str, at: (f64, f64)| canvas.text(text, at, Anchor::Left, 2, INK);
    title("Figure 9: T-S-T, with T for rows -1 and 8", (30.0, 24.0));
    title("Figure 13(a): S, 38 instructions", (620.0, 24.0));
    title("Figure 13(b): S folded, 20", (1100.0, 24.0));
    title("Figure 12: slabs of four cells and their textures", (30.0, 484.0));
    title("the smoke", (1100.0, 484.0));
    title("its pressure", (1100.0, 774.0));
    figure9(&mut canvas, (30, 50))?;
    figure13(&mut canvas, (620, 50), &Order::identity(40))?;
    figure13(&mut canvas, (1100, 50), &Order::accordion(40))?;
    let largest = worst_of(pressure, pressure, |p, _| f64::from(p.abs())).max(f64::MIN_POSITIVE);
    figure12(&mut canvas, (30, 520), grid, pressure, largest);
    let most = worst_of(smoke, smoke, |s, _| f64::from(s.abs())).max(f64::MIN_POSITIVE);
    slice(&mut canvas, (1100, 505), grid, |cell| {
        [255 - (200.0 * (f64::from(smoke[cell]).max(0.0) / most).sqrt()) as u8; 3]
    });
    slice(&mut canvas, (1100, 795), grid, |cell| diverging(f64::from(pressure[cell]) / largest));
    write_rgb(path, canvas.width() as u32, canvas.height() as u32, canvas.pixels())
}
