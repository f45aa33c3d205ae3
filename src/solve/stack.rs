//! Stacks of columns as operators.

use super::linop::{Accuracy, LinOp, single};
use crate::data::{ColumnStack, Vector};
use crate::device::Device;
use crate::error::Result;
use crate::ops::{self, Accurate, Combine, Part};
use crate::shape::Shape;

/// What an operator is asked once for each solve is asked of the same matrix as a [`Matrix`](crate::Matrix), which takes
/// a draw for each texture and as much memory again while it lasts; see there for the readbacks.
impl LinOp for ColumnStack {
    fn device(&self) -> &Device {
        self.device()
    }

    fn shape(&self) -> Shape {
        self.shape()
    }

    fn apply(&self, y: &mut Vector, combine: Combine<'_>, alpha: f32, x: &Vector) -> Result<()> {
        ops::stack_product(y, combine, alpha, self, x)
    }

    fn apply_transposed(&self, y: &mut Vector, combine: Combine<'_>, alpha: f32, x: &Vector) -> Result<()> {
        ops::stack_product_transposed(y, combine, alpha, self, x)
    }

    fn apply_accurate(&self, out: &mut Vector, terms: Accurate<'_>) -> Result<Accuracy> {
        if self.device().gl().caps.borrow().exact_form.is_none() {
            return single(self, out, terms);
        }
        ops::stack_accurate(out, self, terms)?;
        Ok(Accuracy::DoubleFloat)
    }

    fn accurate_part(&self, out: &mut Vector, terms: Accurate<'_>, part: Part) -> Result<bool> {
        ops::stack_part(out, self, terms, part)?;
        Ok(true)
    }

    fn diagonal(&self) -> Result<Vec<f64>> {
        LinOp::diagonal(&self.to_matrix()?)
    }

    fn column_squares(&self) -> Result<Vec<f64>> {
        self.to_matrix()?.column_squares()
    }

    fn asymmetry(&self) -> Result<Option<(usize, usize, f64, f64)>> {
        self.to_matrix()?.asymmetry()
    }

    fn exponent(&self) -> Result<i32> {
        self.to_matrix()?.exponent()
    }
}
