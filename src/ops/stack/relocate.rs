//! Columns from and to matrices and vectors, whole texels at a time.

use std::rc::Rc;

use crate::data::{ColumnStack, Matrix, Vector};
use crate::device::Device;
use crate::error::Result;
use crate::gl::{UniformValue, glsl};
use crate::kernel::{Compiled, Domain, Field, KernelSpec, Operand, ParamType, Pass, View};
use crate::ops::{check_device, check_shape};
use crate::shape::Shape;

/// The kernel of one direction.
fn kernel(device: &Device, define: &str) -> Result<Rc<Compiled>> {
    device.kernel(&format!("stack move {define}"), || {
        let pair = |name| Field { name, kind: <[i32; 2]>::KIND };
        let int = |name| Field { name, kind: i32::KIND };
        let fields = match define {
            "FROM_VECTOR" => vec![pair("tile"), pair("origin")],
            "TO_VECTOR" => vec![pair("origin")],
            "TO_MATRIX" => vec![pair("tile"), pair("origin"), pair("unit_tiles"), int("across")],
            _ => vec![pair("tile"), pair("origin"), pair("unit_tiles"), int("across"), int("columns")],
        };
        KernelSpec::fragment(glsl!("stack/move.frag"), &["x"], &fields, &["out"])
            .with(&format!("#define {define} 1"))
    })
}

fn pair(x: usize, y: usize) -> UniformValue {
    // Texels lie within a texture, whose sides fit.
    UniformValue::IVec2([x as i32, y as i32])
}

/// `S = A`; `S` is all zero before.
pub(crate) fn stack_from_matrix(out: &mut ColumnStack, a: &Matrix) -> Result<()> {
    let device = out.device();
    let kernel = kernel(device, "FROM_MATRIX")?;
    let grid = *out.grid();
    let [across, down] = grid.unit_tiles();
    for panel in out.panels() {
        for tile in a.tiles() {
            let (rows, cols) = tile.ranges();
            let part = &panel.part.columns;
            if rows.is_empty() || cols.start.max(part.start) >= cols.end.min(part.end) {
                continue;
            }
            let params = vec![
                pair(grid.tile.width as usize, grid.tile.height as usize),
                UniformValue::IVec2([
                    (cols.start as i64 - part.start as i64) as i32,
                    (rows.start / 4) as i32,
                ]),
                pair(across, down),
                UniformValue::Int(grid.across as i32),
                UniformValue::Int(part.len() as i32),
            ];
            device.execute(&Pass::new(&kernel, vec![panel.view], vec![tile.part()]).params(params))?;
        }
    }
    Ok(())
}

/// `A = S`.
pub(crate) fn stack_to_matrix(out: &mut Matrix, a: &ColumnStack) -> Result<()> {
    let device = a.device();
    let kernel = kernel(device, "TO_MATRIX")?;
    let grid = *a.grid();
    let [across, down] = grid.unit_tiles();
    for tile in out.tiles() {
        let (rows, cols) = tile.ranges();
        for panel in a.panels() {
            let part = &panel.part.columns;
            let (begin, end) = (cols.start.max(part.start), cols.end.min(part.end));
            if rows.is_empty() || begin >= end {
                continue;
            }
            let (x, width) = ((begin - cols.start) as u32, (end - begin) as u32);
            let domain = Domain::Rect { x, y: 0, width, height: rows.len().div_ceil(4) as u32 };
            let params = vec![
                pair(grid.tile.width as usize, grid.tile.height as usize),
                UniformValue::IVec2([
                    (cols.start as i64 - part.start as i64) as i32,
                    (rows.start / 4) as i32,
                ]),
                pair(across, down),
                UniformValue::Int(grid.across as i32),
            ];
            let pass = Pass::new(&kernel, vec![tile.part()], vec![panel.view]).params(params);
            device.execute(&pass.on(domain))?;
        }
    }
    Ok(())
}

/// The texture of a column and the texel at which it begins.
fn place(a: &ColumnStack, j: usize) -> Option<(View<'_>, [u32; 2])> {
    let (k, at) = a.grid().place(j);
    Some((a.panels().nth(k)?.view, at))
}

/// `x = column j of S`.
pub(crate) fn column_of_stack(out: &mut Vector, a: &ColumnStack, j: usize) -> Result<()> {
    let Some((view, [x, y])) = place(a, j) else { return Ok(()) };
    let kernel = kernel(a.device(), "TO_VECTOR")?;
    let params = vec![pair(x as usize, y as usize)];
    a.device().execute(&Pass::new(&kernel, vec![out.view()], vec![view]).params(params))
}

/// `column j of S = x`.
pub(crate) fn set_column_of_stack(out: &mut ColumnStack, j: usize, x: &Vector) -> Result<()> {
    let op = "ColumnStack::set_column";
    check_shape(op, "x", x.shape(), Shape::column(out.shape().rows))?;
    check_device(op, "x", x.device(), out.device())?;
    let tile = out.grid().tile;
    let Some((view, [left, below])) = place(out, j) else { return Ok(()) };
    let kernel = kernel(out.device(), "FROM_VECTOR")?;
    let params = vec![pair(tile.width as usize, tile.height as usize), pair(left as usize, below as usize)];
    let domain = Domain::Rect { x: left, y: below, width: tile.width, height: tile.height };
    out.device().execute(&Pass::new(&kernel, vec![view], vec![x.view()]).params(params).on(domain))
}
