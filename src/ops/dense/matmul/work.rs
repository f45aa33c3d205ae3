//! What a product takes beside its operands and its result.

use super::plan::MatmulForm;
use super::uniform;
use crate::device::Device;
use crate::shape::{Extent, Shape, TileGrid};

/// Bytes that [`matmul`](super::matmul) and its kin take on the device for what they work with, at most and by whatever
/// schedule [`MatmulSchedule::Auto`](super::MatmulSchedule::Auto) chooses: operands turned once, and the panels of a tile of the
/// result, which are scratch and so as large as their size class.
pub(crate) fn matmul_work(device: &Device, form: MatmulForm, a: Shape, b: Shape) -> u64 {
    let (op_a, op_b) = form.shapes(a, b);
    if op_a.cols <= 1 {
        return 0; // an outer product, or zeros
    }
    let side = device.max_texture_size();
    let extent = |shape: Shape| match TileGrid::new(shape, side) {
        Ok(grid) => grid.extent(0, 0),
        // No such matrix can be made.
        Err(_) => Extent::default(),
    };
    let Extent { width, height } = extent(Shape::new(op_a.rows, op_b.cols));
    // Without blending, a pass reads the panels so far and writes others.
    let sets = if device.gl().caps.borrow().float_blend { 1 } else { 2 };
    let panels = [(4, 2), (4, 1), (1, 1)].map(|(across, up): (u32, u32)| {
        let even = |n: u32, parts: u32| n.div_ceil(parts).next_multiple_of(2);
        let panel = device.scratch_extent(Extent::new(even(width, across), even(height, up)));
        panel.in_blocks().area() * u64::from(across * up) * sets
    });
    let turned = |shape: Shape| {
        let [across, down] = [shape.cols as u64, (shape.rows as u64).div_ceil(4)].map(|n| n.div_ceil(4) * 4);
        across.saturating_mul(down)
    };
    // Both operands of a product with uniform blocks, and the buffer.
    let spread = match uniform::most_quads(device) {
        Some(most) if !device.is_software() => {
            let quads = u32::try_from(op_a.cols.div_ceil(4)).unwrap_or(u32::MAX).min(most);
            let region = Extent::new(width, height);
            let rows = u64::from(uniform::width(region, side)) * 8 * u64::from(quads);
            rows + 2 * u64::from(uniform::block(quads)) * u64::from(width.div_ceil(uniform::COLUMNS))
        }
        _ => 0,
    };
    let a = turned(a.transposed());
    let b = if form == MatmulForm::TransposedB { turned(b.transposed()) } else { 0 };
    let panels = panels.into_iter().max().unwrap_or(0);
    panels.saturating_add(a).saturating_add(b).saturating_add(spread).saturating_mul(16)
}
