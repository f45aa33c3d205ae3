//! Dense matrices as operators.

use super::accurate::accurate;
use super::vector::{self, Use, product};
use crate::data::{Matrix, Vector, exponent};
use crate::device::Device;
use crate::error::Result;
use crate::ops;
use crate::ops::product::{Accurate, Checked, ExactSum, LinOp, Part, Product, Summand, Sums, is_exact};
use crate::profile::Workload;
use crate::shape::{Shape, fold_extent};

/// *Cost*, *bound*: see [`ops::product`](crate::ops::product). *Source*: \[Moravanszky03\] 4.1.
///
/// What an operator is asked once for each solve costs readbacks here, since elements live on the device alone: one
/// number for the exponent, one for symmetry (all elements where the matrix is not exactly symmetric), the diagonal for
/// a Jacobi preconditioner, all elements for that of least squares.
impl LinOp for Matrix {
    fn device(&self) -> &Device {
        self.device()
    }

    fn shape(&self) -> Shape {
        self.shape()
    }

    fn is_replayable(&self) -> bool {
        true
    }

    fn apply(&self, y: &mut Vector, terms: Checked<Product<'_>>) -> Result<()> {
        product(y, self, *terms, Use { transposed: false, absolute: false })
    }

    fn apply_transposed(&self, y: &mut Vector, terms: Checked<Product<'_>>) -> Result<()> {
        product(y, self, *terms, Use { transposed: true, absolute: false })
    }

    fn accurate(&self, out: &mut Vector, terms: Checked<Accurate<'_>>, part: Part) -> Result<bool> {
        Ok(is_exact(self.device())
            && accurate(self, terms.alone(), Sums::Part(out, *terms, part)).map(|()| true)?)
    }

    fn accumulate(&self, sum: &mut ExactSum, terms: Checked<Summand<'_>>) -> Result<bool> {
        Ok(is_exact(self.device()) && accurate(self, *terms, Sums::Exact(sum)).map(|()| true)?)
    }

    fn workload(&self) -> Option<Workload> {
        let y = fold_extent(self.shape().rows as u64, self.device().max_texture_size()).ok()?;
        Some(vector::workload(self.device(), self.tile_grid(), false, Some(y)))
    }

    fn diagonal(&self) -> Result<Vec<f64>> {
        Ok(Matrix::diagonal(self)?.read()?.into_iter().map(f64::from).collect())
    }

    fn column_squares(&self) -> Result<Vec<f64>> {
        let cols = self.shape().cols;
        let mut squares = vec![0.0; cols];
        for row in self.read()?.chunks(cols.max(1)) {
            squares.iter_mut().zip(row).for_each(|(sum, v)| *sum += f64::from(*v) * f64::from(*v));
        }
        Ok(squares)
    }

    /// A matrix that was itself computed may be symmetric but for rounding: differences up to
    /// `2 γ_(n+2) √(a_ii a_jj)`, as those of a product `A Aᵀ`, are let through.
    fn asymmetry(&self) -> Result<Option<(usize, usize, f64, f64)>> {
        differs(self)
    }

    fn exponent(&self) -> Result<i32> {
        let largest = ops::max_abs(self)?.read()?;
        Ok(if largest.is_finite() { exponent(largest.into()) } else { 0 })
    }
}

/// The first pair of places where a matrix differs from its transpose by more than rounding.
fn differs(a: &Matrix) -> Result<Option<(usize, usize, f64, f64)>> {
    let n = a.shape().rows;
    if !a.shape().is_square() || n == 0 {
        return Ok(None);
    }
    let _scope = a.device().exclusive_scope()?;
    let mut difference = Matrix::uninit(a.device(), a.shape())?;
    ops::sub(&mut difference, a, &a.transposed()?)?;
    if ops::max_abs(&difference)?.read()? == 0.0 {
        return Ok(None);
    }
    let values = a.read()?;
    let at = |i: usize, j: usize| values.get(i * n + j).copied().map_or(0.0, f64::from);
    let rounding = 2.0 * (n as f64 + 2.0) / f64::from(1u32 << 24);
    let pairs = (0..n).flat_map(|i| (0..i).map(move |j| (j, i)));
    let far = |(i, j): &(usize, usize)| {
        let allowed = rounding * (at(*i, *i) * at(*j, *j)).abs().sqrt();
        // Of a NaN nothing can be said to agree.
        let close = (at(*i, *j) - at(*j, *i)).abs() <= allowed;
        !close
    };
    Ok(pairs.into_iter().find(far).map(|(i, j)| (i, j, at(i, j), at(j, i))))
}
