//! Layer 4: operations. Each is a shape check, a pure plan, and passes; the output comes first.

mod elementwise;
pub mod reduce;
mod repack;

pub use elementwise::{
    Coefficient, Elements, abs, add, add_constant, axpby, axpy, clamp, copy, div, div_or_zero, fill, max, min, mul,
    mul_add, neg, reciprocal, scale, scaled, sqrt, sub,
};
pub use reduce::{ReducePlan, Reduction, Window, dot, max_abs, max_element, min_element, norm2, sum};
pub use repack::{repack, repack_to_vector, repack_vector};

use crate::error::{Error, Result};
use crate::shape::Shape;

/// The shape check that every operation begins with.
pub(crate) fn check_shape(op: &'static str, operand: &'static str, found: Shape, expected: Shape) -> Result<()> {
    if found == expected { Ok(()) } else { Err(Error::ShapeMismatch { op, operand, found, expected }) }
}
