//! From one layout to another on the device.

use super::check_shape;
use crate::data::{Packed, Vector};
use crate::error::{Error, Result};
use crate::gl::glsl;
use crate::kernel::{Draw, Operand, View};
use crate::shape::{Layout, Shape};

/// The number under which `glsl/include/layout.glsl` knows a layout.
fn number(layout: Layout) -> Result<i32> {
    match layout {
        Layout::Folded => Ok(0),
        Layout::Column4 => Ok(1),
        Layout::Block2x2 => Ok(2),
        Layout::Single => Ok(3),
        Layout::Batch4 => Ok(4),
    }
}

/// The one executor: `shape` is the target's, `source_cols` the number by which the source folds its rows.
fn run(
    target: View<'_>,
    target_layout: Layout,
    x: View<'_>,
    source_layout: Layout,
    shape: Shape,
) -> Result<()> {
    let as_i32 = |n: usize| {
        let (requested, limit) = (n as u64, i32::MAX as u64);
        i32::try_from(n).map_err(|_| Error::TooLarge { what: "repack", requested, limit, unit: "elements" })
    };
    let (count, rows, cols) = (as_i32(shape.len())?, as_i32(shape.rows)?, as_i32(shape.cols)?);
    Draw::new(target.device, glsl!("repack/repack.frag"))
        .input("x", x)
        .param("target_layout", number(target_layout)?)
        .param("source_layout", number(source_layout)?)
        .param("source_cols", cols)
        .param("count", count)
        .param("shape", [rows, cols])
        .target(target)
        .run()
}

/// `out = x`, each in its own layout.
///
/// *Shapes*: equal. *Cost*: 1 draw, 4 fetches a texel. *Errors*: [`Error::ShapeMismatch`]; [`Error::TooLarge`] from
/// 2³¹ elements on. *Source*: \[Krueger05\] 44.3.4 (packing and unpacking), \[Goeddeke05\] (RED and RGBA).
pub fn repack(out: &mut Packed, x: &Packed) -> Result<()> {
    check_shape("repack", "x", x.shape(), out.shape())?;
    run(out.view(), out.layout(), x.view(), x.layout(), x.shape())
}

/// A vector's elements as an array of `shape`, row by row.
///
/// *Cost*: 1 draw. *Errors*: [`Error::ShapeMismatch`] when `shape` has another number of elements,
/// [`Error::TooLarge`].
pub fn repack_vector(x: &Vector, shape: Shape, layout: Layout) -> Result<Packed> {
    if shape.len() != x.len() {
        let (op, operand) = ("repack_vector", "x");
        return Err(Error::ShapeMismatch {
            op,
            operand,
            found: x.shape(),
            expected: Shape::column(shape.len()),
        });
    }
    let out = Packed::uninit(x.device(), shape, layout)?;
    run(out.view(), layout, x.view(), Layout::Folded, shape)?;
    Ok(out)
}

/// An array's elements, row by row, as a column vector. *Cost*: 1 draw. *Errors*: [`Error::TooLarge`].
pub fn repack_to_vector(x: &Packed) -> Result<Vector> {
    let out = Vector::uninit(x.device(), x.shape().len())?;
    run(out.view(), Layout::Folded, x.view(), x.layout(), x.shape())?;
    Ok(out)
}

impl Packed {
    /// The same elements in another layout. *Cost*: 1 draw, 4 fetches a texel. *Errors*: [`Error::TooLarge`].
    pub fn repack(&self, layout: Layout) -> Result<Packed> {
        let mut out = Packed::uninit(self.device(), self.shape(), layout)?;
        repack(&mut out, self)?;
        Ok(out)
    }

    /// The elements as a column vector, row by row. *Cost*: 1 draw. *Errors*: [`Error::TooLarge`].
    pub fn to_vector(&self) -> Result<Vector> {
        repack_to_vector(self)
    }
}

impl Vector {
    /// The same elements in another layout. *Cost*: 1 draw. *Errors*: [`Error::TooLarge`], [`Error::ShapeMismatch`]
    /// when `shape` has another number of elements.
    pub fn to_packed(&self, shape: Shape, layout: Layout) -> Result<Packed> {
        repack_vector(self, shape, layout)
    }
}
