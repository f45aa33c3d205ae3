//! Layer 4: operations. Each is a shape check, a pure plan, and passes; the output comes first.

mod banded;
mod dense;
mod double;
mod elementwise;
mod histogram;
mod in_place;
mod measure;
mod picture;
mod plane;
mod product;
pub mod reduce;
mod repack;
mod sparse;
mod stack;
mod stencil;
mod stored;

pub use dense::{
    CALIBRATED_SIDES, Calibration, MatmulForm, MatmulReport, MatmulSchedule, Reason, calibrate, matmul,
    matmul_at, matmul_bt, matmul_with, matmul_workload, norm_inf, norm1, outer, trace, transpose,
};
pub use double::{add_double, axpy_double, dot_double, mul_double, norm2_double, scaled_double, sub_double};
pub use elementwise::{
    Coefficient, Elements, abs, add, add_constant, axpby, axpy, clamp, copy, div, div_or_zero, fill, madad,
    max, max_constant, min, mul, mul_add, neg, reciprocal, scaled, sqrt, sub,
};
pub use histogram::{Histogram, OutOfRange, histogram};
pub use in_place::{
    accumulate, accumulate_product, accumulate_scaled, scale, scale_and_add, subtract_scaled,
};
pub use picture::{Shades, vector_to_picture};
pub use plane::{plane_to_vector, slice_to_plane, vector_to_plane};
pub(crate) use product::inlined;
pub use product::{
    Accuracy, Accurate, Checked, Combine, ExactSum, Handle, Inlined, LinOp, Part, Product, Summand, product,
    product_accurate, product_part, product_transposed,
};
pub use reduce::{
    ReducePlan, Reduction, Window, Windows, dot, dot_into, max_abs, max_element, mean, min_element,
    nonfinite, norm_squared, norm2, reduce_into, sum,
};
pub use repack::{repack, repack_to_vector, repack_vector};

pub(crate) use banded::banded_residual;
#[cfg(feature = "script")]
pub(crate) use dense::matmul_work;
pub(crate) use double::{add_scaled_to_pair, add_to_pair, check_exact};
pub(crate) use elementwise::minus_scaled;
pub(crate) use product::{keeping, no_exact_product, pair_product};
pub(crate) use sparse::sparse_residual;
pub(crate) use stack::{product_of_columns, product_of_columns_transposed};
pub(crate) use stencil::stencil_residual;

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
