//! Stacks of columns as operators.

use super::linop::{Accuracy, LinOp, single};
use crate::data::{ColumnStack, Vector};
use crate::device::Device;
use crate::error::Result;
use crate::ops::{self, Accurate, Combine};
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

    fn diagonal(&self) -> Result<Vec<f64>> {
        LinOp::diagonal(&self.to_matrix()?)
    }

    fn column_squares(&self) -> Result<Vec<f64>> {
        self.to_matrix()?.column_squares()
    }

    fn asymmetry(&self) -> Option<(usize, usize, f64, f64)> {
        // An error shows again at the next call that can tell it.
        self.to_matrix().ok()?.asymmetry()
    }

    fn exponent(&self) -> i32 {
        self.to_matrix().map_or(0, |a| a.exponent())
    }
}
