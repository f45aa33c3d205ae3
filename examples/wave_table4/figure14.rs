//! Figure 14: (a) the waves, (b) S* before, (c) S* after its unknowns have moved.

use std::path::Path;

use texla::pack::{LinearExpression, LowerOptions, Order, Packing, Program};

use crate::picture;
use crate::support::canvas::{Anchor, Canvas};
use crate::support::plot::{INK, PAPER};
use crate::support::{Result, write_rgb};

/// Pixels of a side of a panel, at least: 32 positions of 16.
const SIDE: usize = 512;
const MARGIN: usize = 40;
const HEAD: usize = 72;

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
    let side = scale * size / stride;
    let panel = side.max(SIDE);
    let mut canvas = Canvas::new(4 * MARGIN + panel + 2 * SIDE, HEAD + panel + MARGIN, PAPER);
    let title = format!("(a) {size}x{size} nodes after {steps} steps");
    canvas.text(&title, (MARGIN as f64, 36.0), Anchor::Left, 2, INK);
    for y in 0..size / stride {
        for x in 0..size / stride {
            let at = 3 * stride * (size * y + x);
            let color = [snapshot[at], snapshot[at + 1], snapshot[at + 2]];
            canvas.fill((MARGIN + scale * x, HEAD + scale * y), (scale, scale), color);
        }
    }
    for (k, (order, name)) in orders.iter().zip(["(b) before", "(c) after"]).enumerate() {
        let program = Program::lower(block, &Packing::symmetric(order.clone()), LowerOptions::FRAGMENT)?;
        let left = (2 * MARGIN + panel + k * (SIDE + MARGIN)) as f64;
        let text = format!("{name}: {} instructions", program.cost.0);
        canvas.text(&text, (left, 36.0), Anchor::Left, 2, INK);
        let cell = SIDE as f64 / (4 * program.quads()) as f64;
        picture::draw(&mut canvas, &program, (left, HEAD as f64), |at| at as f64 * cell, cell);
    }
    write_rgb(path, canvas.width() as u32, canvas.height() as u32, canvas.pixels())
}
