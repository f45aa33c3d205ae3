//! Figure 14: (a) the waves, (b) S* before, (c) S* after its unknowns have moved.

use std::path::Path;

use texla::pack::{LinearExpression, LowerOptions, Order, Packing, Program};

use crate::picture;
use crate::support::figure::{self, Raster};
use crate::support::paint::{heading, text};
use crate::support::{Result, count};

/// Pixels of a side of a panel, at least: 32 positions of 16.
const SIDE: usize = 512;
const MARGIN: usize = 40;
const HEAD: usize = 120;
const FOOT: usize = 80;

/// Three panels side by side; `snapshot` has three bytes a node, rows from the top.
pub fn write(
    path: &Path,
    size: usize,
    steps: usize,
    snapshot: &[u8],
    block: &LinearExpression,
    orders: &[Order; 2],
) -> Result {
    // Whole pixels a node, or of many nodes every so many.
    let (scale, stride) = ((SIDE / size).max(1), size.div_ceil(2 * SIDE).max(1));
    let panel = (scale * (size / stride)).max(SIDE);
    let lower =
        |order: &Order| Program::lower(block, &Packing::symmetric(order.clone()), LowerOptions::FRAGMENT);
    let programs = [lower(&orders[0])?, lower(&orders[1])?];
    let pixel = |y: usize, x: usize| &snapshot[3 * stride * (size * y + x)..][..3];
    let pixels = (0..size / stride).flat_map(|y| (0..size / stride).flat_map(move |x| pixel(y, x).to_vec()));
    let (at, width) = ((MARGIN as u32, HEAD as u32), (size / stride) as u32);
    let waves = Raster { at, scale: scale as u32, width, pixels: pixels.collect() };
    let whole = ((4 * MARGIN + panel + 2 * SIDE) as u32, (HEAD + panel + FOOT) as u32);
    let title = "Figure 14: the waves, and S* before and after its unknowns have moved";
    figure::write(path, title, whole, |area, rasters| {
        heading(area, title, "(b) and (c): what each instruction multiplies")?;
        picture::key(area, &programs)?;
        let place = (MARGIN as f64, HEAD as f64 - 18.0);
        text(area, &format!("(a) {size}x{size} nodes after {}", count(steps, "step", "steps")), place)?;
        rasters.push(waves);
        programs.iter().zip(["(b) before", "(c) after"]).enumerate().try_for_each(|(k, (program, name))| {
            let at = (2 * MARGIN + panel + k * (SIDE + MARGIN), HEAD);
            picture::panel(area, rasters, name, program, at, SIDE as f64 / (4 * program.quads()) as f64)
        })
    })
}
