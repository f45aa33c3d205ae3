//! Layer 4: operations. Each is a shape check, a pure plan, and passes; the output comes first.

mod banded;
mod dense;
mod elementwise;
mod product;
pub mod reduce;
mod repack;
mod sparse;
mod stencil;

pub use banded::{banded_accurate, banded_product, banded_product_transposed};
pub use dense::{
    CALIBRATED_SIDES, Calibration, Form, MatmulReport, MatmulSchedule, Reason, calibrate, dense_accurate,
    dense_product, dense_product_transposed, matmul, matmul_at, matmul_bt, matmul_with, norm_inf, norm1,
    outer, trace, transpose,
};
pub use elementwise::{
    Coefficient, Elements, abs, accumulate, accumulate_product, accumulate_scaled, add, add_constant, axpby,
    axpy, clamp, copy, div, div_or_zero, fill, madad, max, max_constant, min, mul, mul_add, neg, reciprocal,
    scale, scaled, sqrt, sub,
};
pub use product::{Accurate, Combine};
pub use reduce::{
    ReducePlan, Reduction, Window, Windows, dot, max_abs, max_element, min_element, norm_squared, norm2,
    reduce_into, sum,
};
pub use repack::{repack, repack_to_vector, repack_vector};
pub use sparse::{sparse_accurate, sparse_product, sparse_product_transposed};
pub use stencil::{stencil_accurate, stencil_product};

pub(crate) use banded::banded_residual;
pub(crate) use sparse::sparse_residual;
pub(crate) use stencil::stencil_residual;

pub(crate) use dense::{
    block, column, diagonal, fill_identity, matrix_from_vector, matrix_to_vector, row, set_block,
};

use crate::error::{Error, Result};
use crate::shape::Shape;

/// The shape check that every operation begins with.
pub(crate) fn check_shape(
    op: &'static str,
    operand: &'static str,
    found: Shape,
    expected: Shape,
) -> Result<()> {
    if found == expected { Ok(()) } else { Err(Error::ShapeMismatch { op, operand, found, expected }) }
}

/// Refuses an operand of another device, by the name that the caller knows it by.
pub(crate) fn check_device(
    op: &'static str,
    operand: &'static str,
    found: &crate::Device,
    expected: &crate::Device,
) -> Result<()> {
    if found.same(expected) {
        return Ok(());
    }
    Err(Error::WrongDevice { op: op.to_owned(), operand: operand.to_owned() })
}

/// Refuses what needs exact arithmetic on a device without a form of it that is exact.
pub(crate) fn require_exact(device: &crate::Device, what: &str) -> Result<()> {
    if device.gl().caps.borrow().exact_form.is_some() {
        return Ok(());
    }
    let why = "no form of two-sum and two-product is exact on this driver".into();
    Err(Error::Unsupported { what: what.to_owned(), why })
}
