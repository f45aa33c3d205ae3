//! Dense matrices of pairs as operators.

use crate::data::{DoubleMatrix, Vector};
use crate::device::Device;
use crate::error::Result;
use crate::ops;
use crate::ops::product::{Accurate, Checked, ExactSum, LinOp, Part, Product, Summand, is_exact};
use crate::profile::Workload;
use crate::shape::Shape;

/// Products in 32 bits are those of the high parts; sums of pairs, and residuals, have both; those of unknowns in pairs all.
///
/// *Cost*: of a product that of [`Matrix`](crate::Matrix); of an accurate one twice that of it.
impl LinOp for DoubleMatrix {
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
        self.high().apply(y, terms)
    }

    fn apply_transposed(&self, y: &mut Vector, terms: Checked<Product<'_>>) -> Result<()> {
        self.high().apply_transposed(y, terms)
    }

    fn accurate(&self, out: &mut Vector, terms: Checked<Accurate<'_>>, part: Part) -> Result<bool> {
        /// What is lost with the third part of the sum, and twice that.
        const THIRD: f32 = 1.0 / (1u64 << 46) as f32;
        if !is_exact(self.device()) {
            return Ok(false);
        }
        let Accurate { transposed, alpha, x, plus } = *terms;
        let mut sum = match plus {
            Some((beta, z)) => ExactSum::begun((beta, z, None), part.is_bound())?,
            None => ExactSum::nothing(self.device(), out.len(), part.is_bound())?,
        };
        for a in [self.high(), self.low()] {
            sum.add_product(a, alpha, transposed, x)?;
        }
        match part {
            Part::Sum | Part::Magnitude => ops::copy(out, sum.rounded())?,
            Part::Rest => ops::copy(out, sum.error())?,
            Part::Error => ops::axpy(out, THIRD, sum.rounded(), sum.error())?,
        }
        Ok(true)
    }

    fn accumulate(&self, sum: &mut ExactSum, terms: Checked<Summand<'_>>) -> Result<bool> {
        let rest = self.rest().filter(|_| sum.is_fine());
        let mut parts = [self.high(), self.low()].into_iter().chain(rest);
        parts.try_fold(true, |done, part| Ok(done && part.accumulate(sum, terms)?))
    }

    fn workload(&self) -> Option<Workload> {
        self.high().workload()
    }

    fn diagonal(&self) -> Result<Vec<f64>> {
        let (high, low) = (LinOp::diagonal(self.high())?, LinOp::diagonal(self.low())?);
        Ok(high.iter().zip(&low).map(|(h, l)| h + l).collect())
    }

    fn column_squares(&self) -> Result<Vec<f64>> {
        self.high().column_squares()
    }

    fn asymmetry(&self) -> Result<Option<(usize, usize, f64, f64)>> {
        let parts = || [self.high(), self.low()].into_iter().chain(self.rest());
        let at = |i, j| -> Result<f64> {
            parts().try_fold(0.0, |sum, part| Ok(sum + f64::from(part.element(i, j)?)))
        };
        for part in parts() {
            if let Some((i, j, ..)) = part.asymmetry()? {
                return Ok(Some((i, j, at(i, j)?, at(j, i)?)));
            }
        }
        Ok(None)
    }

    fn exponent(&self) -> Result<i32> {
        self.high().exponent()
    }
}
