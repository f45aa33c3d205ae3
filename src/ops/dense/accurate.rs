//! Products with dense matrices in double-float.

use super::factors;
use super::matmul::{Stretch, stretches};
use crate::data::{Matrix, Vector};
use crate::error::Result;
use crate::gl::glsl;
use crate::kernel::{Draw, Operand};
use crate::ops::product::{Part, Summand, Sums};

/// `α op(A) x` in several parts.
pub(super) fn accurate(a: &Matrix, terms: Summand<'_>, sums: Sums<'_>) -> Result<()> {
    let Summand { transposed, alpha, x, .. } = terms;
    let device = a.device();
    let _scope = device.exclusive_scope()?;
    let shape = if transposed { a.shape().transposed() } else { a.shape() };
    let grid = a.tile_grid();
    let (tall, wide) = (grid.tile_rows(), grid.tile_cols());
    let (outer, inner) = if transposed { (wide, tall) } else { (tall, wide) };
    let work = if device.is_software() { 1 << 23 } else { 1 << 28 };
    let most = (work / shape.rows.clamp(1, outer)).max(4);
    let most = (most - most % 4).min(inner);
    let rows: Vec<_> = stretches(shape.rows, outer, usize::MAX).collect();
    let cols: Vec<_> = stretches(shape.cols, inner, usize::MAX)
        .flat_map(|whole| {
            (0..whole.length).step_by(most).map(move |begin| Stretch {
                length: most.min(whole.length - begin),
                first: (whole.first.0, whole.first.1 + begin),
                second: (whole.second.0, whole.second.1 + begin),
            })
        })
        .collect();
    let passes: Vec<_> = rows
        .iter()
        .flat_map(|rows| cols.iter().map(move |cols| (rows, cols)))
        .filter_map(|(rows, cols)| {
            let (r, c) = (rows.first.0, cols.first.0);
            let (r, c) = if transposed { (c, r) } else { (r, c) };
            Some((a.tiles().nth(r * grid.across() + c)?, rows, cols))
        })
        .collect();
    if passes.is_empty() {
        let Sums::Part(out, terms, part) = sums else { return Ok(()) };
        return match (terms.plus, part) {
            (Some((beta, z)), Part::Sum) => crate::ops::scaled(out, beta, z),
            (Some((beta, z)), Part::Magnitude) => {
                let mut scaled = Vector::uninit(device, z.len())?;
                crate::ops::scaled(&mut scaled, beta, z)?;
                crate::ops::abs(out, &scaled)
            }
            _ => out.set_zero(),
        };
    }
    sums.run(&passes, |(tile, rows, cols)| {
        let draw = Draw::new(device, glsl!("dense/accurate.frag"))
            .define("A_TRANSPOSED", transposed)
            .addressed("a", tile.part())
            .input("x", x.view())
            .param("begin", [(cols.first.1 / 4) as i32, (cols.second.1 / 4) as i32])
            .param("quads", cols.length.div_ceil(4) as i32)
            .param("rows", [(rows.second.1 / 4) as i32, rows.length.div_ceil(4) as i32])
            .param("first_row", (rows.first.1 / 4) as i32)
            .param("factors", factors(alpha))
            .masked(true)
            .rounds(cols.length.div_ceil(4) as u64);
        terms.with_low(draw)
    })
    .map(drop)
}
