//! Figures 9, 12 and 13, a slice of the smoke and one of the pressure, on one sheet.

use std::path::Path;

use texla::Grid;
use texla::pack::{Order, RepeatedExpression, StencilBoundary, instances};

use plotters::prelude::{Color, Polygon, RGBColor};

use crate::support::figure::{self, Area, Raster, SERIES};
use crate::support::paint::{fill, place, text};
use crate::support::{Result, worst_of};

const LINE: RGBColor = RGBColor(205, 205, 205);
const S: RGBColor = SERIES[0];
const T: RGBColor = SERIES[1];
/// Of the ends of lines, whose neighbour outside has their value.
const END: RGBColor = figure::LEVEL;

/// One colour for each slab, and how much lighter it is.
fn hue(k: usize, count: usize, lighter: f64) -> RGBColor {
    let angle = 2.0 * std::f64::consts::PI * k as f64 / count as f64;
    let [r, g, b] = [0.0, 2.1, 4.2].map(|shift: f64| (150.0 + lighter + 85.0 * (angle + shift).cos()) as u8);
    RGBColor(r, g, b)
}

/// From blue through white to red, for -1 to 1.
fn diverging(value: f64) -> [u8; 3] {
    let v = value.clamp(-1.0, 1.0);
    let fade = |by: f64| (255.0 * (1.0 - by * v.abs())) as u8;
    if v < 0.0 { [fade(1.0), fade(0.62), fade(0.3)] } else { [fade(0.22), fade(0.77), fade(0.8)] }
}

/// Squares for the entries of a matrix, with lines around blocks of so many rows and columns.
fn matrix(
    area: &Area,
    (left, top): (f64, f64),
    (rows, cols): (usize, usize),
    pixel: f64,
    every: [usize; 2],
    mut entries: impl Iterator<Item = (usize, usize, RGBColor)>,
) -> Result {
    for row in (0..=rows).step_by(every[0]) {
        fill(area, (left, top + row as f64 * pixel), (cols as f64 * pixel + 1.0, 1.0), LINE)?;
    }
    for col in (0..=cols).step_by(every[1]) {
        fill(area, (left + col as f64 * pixel, top), (1.0, rows as f64 * pixel + 1.0), LINE)?;
    }
    entries.try_for_each(|(row, col, color)| {
        let at = (left + col as f64 * pixel + 1.0, top + row as f64 * pixel + 1.0);
        fill(area, at, (pixel - 1.0, pixel - 1.0), color)
    })
}

/// Figure 9: T-S-T in each of the 8 block rows, two T for the artificial rows -1 and 8.
fn figure9(area: &Area, at: (f64, f64)) -> Result {
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
    matrix(area, at, (64, 80), 6.0, [8, 8], entries.into_iter())
}

/// Figure 13: the block S of 40 cells in an order.
fn figure13(area: &Area, at: (f64, f64), order: &Order) -> Result {
    let e = instances::poisson_3d_s40()?;
    let entries = e.matrix().entries().map(|(i, j, _)| {
        let color = if i == 0 || i == 39 { END } else { S };
        (order.position(i), order.position(j), color)
    });
    matrix(area, at, (40, 40), 9.0, [4, 4], entries)
}

/// Figure 12: the box in slabs of four cells.
fn figure12(area: &Area, (left, top): (f64, f64), quads: usize) -> Result {
    let (wide, deep, high) = (420.0 / quads as f64, 70.0, 190.0);
    let front = top + deep;
    for k in 0..quads {
        let (a, b) = (left + k as f64 * wide + 1.0, left + (k + 1) as f64 * wide);
        fill(area, (a, front), (b - a, high), hue(k, quads, 0.0))?;
        polygon(area, &[(a, front), (b, front), (b + deep, top), (a + deep, top)], hue(k, quads, 20.0))?;
    }
    let (right, foot) = (left + 420.0, front + high);
    let side = [(right, front), (right + deep, top), (right + deep, foot - deep), (right, foot)];
    polygon(area, &side, hue(quads - 1, quads, -45.0))
}

fn polygon(area: &Area, corners: &[(f64, f64)], color: RGBColor) -> Result {
    let corners: Vec<_> = corners.iter().copied().map(place).collect();
    Ok(area.draw(&Polygon::new(corners, color.filled()))?)
}

/// The texture of each slab, within its colour: a texel is the mean of its four cells.
fn textures(
    (left, top): (u32, u32),
    grid: Grid,
    quads: usize,
    shade: impl Fn(f64) -> [u8; 3],
    of: &[f32],
) -> Vec<Raster> {
    let scale = 1.max(84 / grid.ny.max(grid.nz));
    let (wide, high) = (grid.ny * scale + 14, grid.nz * scale + 14);
    let per_row = (980 / wide).clamp(1, quads);
    let texture = |k: usize| {
        let texels = (0..grid.nz).rev().flat_map(|l| (0..grid.ny).map(move |j| (j, l)));
        let mean = |(j, l)| {
            let lanes = (4 * k..(4 * k + 4).min(grid.nx)).map(|i| f64::from(of[grid.index(i, j, l)]));
            shade(lanes.sum::<f64>() / 4.0)
        };
        let at = (left + (k % per_row * wide) as u32, top + (k / per_row * high) as u32);
        Raster { at, scale: scale as u32, width: grid.ny as u32, pixels: texels.flat_map(mean).collect() }
    };
    (0..quads).map(texture).collect()
}

/// The middle plane across z.
fn slice(at: (u32, u32), grid: Grid, color: impl Fn(usize) -> [u8; 3]) -> Raster {
    let scale = 1.max(320 / grid.nx.max(grid.ny)) as u32;
    let cells = (0..grid.ny).rev().flat_map(|j| (0..grid.nx).map(move |i| grid.index(i, j, grid.nz / 2)));
    Raster { at, scale, width: grid.nx as u32, pixels: cells.flat_map(color).collect() }
}

pub fn draw(path: &Path, grid: Grid, pressure: &[f32], smoke: &[f32]) -> Result {
    let quads = grid.nx.div_ceil(4);
    let largest = worst_of(pressure, pressure, |p, _| f64::from(p.abs())).max(f64::MIN_POSITIVE);
    let most = worst_of(smoke, smoke, |s, _| f64::from(s.abs())).max(f64::MIN_POSITIVE);
    let mut parts = textures((30, 810), grid, quads, |mean| diverging(mean / largest), pressure);
    let count = parts.len();
    parts.push(slice((1100, 505), grid, |cell| {
        [255 - (200.0 * (f64::from(smoke[cell]).max(0.0) / most).sqrt()) as u8; 3]
    }));
    parts.push(slice((1100, 795), grid, |cell| diverging(f64::from(pressure[cell]) / largest)));
    figure::write(path, "Figures 9, 12 and 13, the smoke and its pressure", (1560, 1060), |area, rasters| {
        text(area, "Figure 9: T-S-T, with T for rows -1 and 8", (30.0, 24.0))?;
        text(area, "Figure 13(a): S, 38 instructions; red: ends of lines", (620.0, 24.0))?;
        text(area, "Figure 13(b): S folded, 20", (1100.0, 24.0))?;
        text(area, "Figure 12: slabs of four cells, and the pressure in the texture of each", (30.0, 484.0))?;
        text(area, "the smoke in the middle plane, darker where there is more", (1100.0, 484.0))?;
        text(
            area,
            &format!("its pressure: blue -{largest:.2e}, white 0, red {largest:.2e}"),
            (1100.0, 774.0),
        )?;
        figure9(area, (30.0, 50.0))?;
        figure13(area, (620.0, 50.0), &Order::identity(40))?;
        figure13(area, (1100.0, 50.0), &Order::accordion(40))?;
        figure12(area, (30.0, 520.0), quads)?;
        for (k, part) in parts.into_iter().enumerate() {
            let (border, color) = if k < count { (3, hue(k, quads, 0.0)) } else { (1, LINE) };
            let [x, y] = [part.at.0, part.at.1].map(|at| f64::from(at - border));
            let [w, h] = [part.width, part.height()].map(|n| f64::from(n * part.scale + 2 * border));
            fill(area, (x, y), (w, h), color)?;
            rasters.push(part);
        }
        Ok(())
    })
}
