//! Operators on grids as operators to solve with.

use super::linop::{Accuracy, LinOp, single};
use crate::data::{Stencil, Vector};
use crate::device::Device;
use crate::error::Result;
use crate::ops::{self, Accurate, Combine, Part};
use crate::shape::Shape;

impl LinOp for Stencil {
    fn device(&self) -> &Device {
        self.device()
    }

    fn shape(&self) -> Shape {
        self.shape()
    }

    fn apply(&self, y: &mut Vector, combine: Combine<'_>, alpha: f32, x: &Vector) -> Result<()> {
        ops::stencil_product(y, combine, alpha, self, x)
    }

    fn apply_transposed(&self, y: &mut Vector, combine: Combine<'_>, alpha: f32, x: &Vector) -> Result<()> {
        ops::stencil_product(y, combine, alpha, self, x)
    }

    fn apply_accurate(&self, out: &mut Vector, terms: Accurate<'_>) -> Result<Accuracy> {
        if self.device().gl().caps.borrow().exact_form.is_none() {
            return single(self, out, terms);
        }
        ops::stencil_accurate(out, self, terms)?;
        Ok(Accuracy::DoubleFloat)
    }

    fn accurate_part(&self, out: &mut Vector, terms: Accurate<'_>, part: Part) -> Result<bool> {
        ops::stencil_part(out, self, terms, part)?;
        Ok(true)
    }

    fn diagonal(&self) -> Result<Vec<f64>> {
        Ok(Stencil::diagonal(self))
    }

    fn column_squares(&self) -> Result<Vec<f64>> {
        // Symmetric: columns are rows.
        let squares = |i| {
            let row = self.row(i);
            row.others.iter().fold(row.own * row.own, |sum, (_, v)| sum + v * v)
        };
        Ok((0..self.grid().len()).map(squares).collect())
    }

    fn exponent(&self) -> Result<i32> {
        Ok(self.exponent())
    }

    fn null_space(&self) -> &[Vector] {
        self.null_space()
    }
}
