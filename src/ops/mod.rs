//! Layer 4: operations. Each is a shape check, a pure plan, and passes; the output comes first.

mod banded;
mod dense;
mod elementwise;
mod histogram;
mod in_place;
mod plane;
mod product;
pub mod reduce;
mod repack;
mod sparse;
mod stack;
mod stencil;

pub use banded::{
    banded_accurate, banded_product, banded_product_transposed, folded_accurate, folded_product,
    folded_product_transposed,
};
pub(crate) use dense::matmul_work;
pub use dense::{
    CALIBRATED_SIDES, Calibration, Form, MatmulReport, MatmulSchedule, Reason, calibrate, dense_accurate,
    dense_product, dense_product_transposed, matmul, matmul_at, matmul_bt, matmul_with, norm_inf, norm1,
    outer, trace, transpose,
};
pub use elementwise::{
    Coefficient, Elements, abs, add, add_constant, axpby, axpy, clamp, copy, div, div_or_zero, fill, madad,
    max, max_constant, min, mul, mul_add, neg, reciprocal, scaled, sqrt, sub,
};
pub use histogram::{Histogram, OutOfRange, histogram};
pub use in_place::{
    accumulate, accumulate_product, accumulate_scaled, scale, scale_and_add, subtract_scaled,
};
pub use plane::{pack, unpack, unpack_from};
pub use product::{Accurate, Combine, Part};
pub use reduce::{
    ReducePlan, Reduction, Window, Windows, dot, dot_into, max_abs, max_element, mean, min_element,
    nonfinite, norm_squared, norm2, reduce_into, sum,
};
pub use repack::{repack, repack_to_vector, repack_vector};
pub use sparse::{sparse_accurate, sparse_product, sparse_product_transposed};
pub use stack::{stack_accurate, stack_product, stack_product_transposed};
pub use stencil::{stencil_accurate, stencil_product};

pub(crate) use banded::{banded_part, banded_residual, folded_part};
pub(crate) use dense::dense_part;
pub(crate) use sparse::{sparse_part, sparse_residual};
pub(crate) use stack::stack_part;
pub(crate) use stencil::{stencil_part, stencil_residual};

/// What kernels on grids outside this layer share with the products here.
pub(crate) mod grid {
    pub(crate) use super::stencil::{cells, grid, grid_params, links, operator_params};
}

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
