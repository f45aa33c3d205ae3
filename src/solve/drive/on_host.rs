//! Corrections of a start on the host, by a preconditioner that divides by the matrix there.

use super::iterate::Iterate;
use crate::data::{DoubleVector, Vector};
use crate::error::{Error, Result};
use crate::solve::precondition::{HostInverse, Preconditioner};

/// Most residuals that are read. Each correction gains several digits where it gains any.
const MOST: u64 = 3;

impl Iterate<'_> {
    /// Adds `M (b - A x)` to the start, in 64 bits, where `M` [can do that on the host](Preconditioner::on_host), until the residual is
    /// within the bound or a correction has not gained ten times. *Cost*: waits for each residual.
    pub fn correct_start(&mut self, m: &dyn Preconditioner, bound: f64) -> Result<()> {
        // Without factors it would be dead weight in pages. A singular matrix has no inverse.
        if !cfg!(feature = "direct") || !self.a.null_space().is_empty() {
            return Ok(());
        }
        m.on_host().map_or(Ok(()), |inverse| self.correct(inverse, bound))
    }

    fn correct(&mut self, inverse: &dyn HostInverse, bound: f64) -> Result<()> {
        let mut before = f64::INFINITY;
        while self.corrections < MOST {
            let r = self.read_residual()?;
            self.corrections += 1;
            let norm = r.iter().map(|r| r * r).sum::<f64>().sqrt();
            // What is not finite is no less than anything.
            let goes_on = norm.is_finite() && norm > bound * self.norm_b && norm <= 0.1 * before;
            if !goes_on {
                return Ok(());
            }
            let step = inverse.solve(&r)?;
            let (found, expected) = (step.len(), self.a.shape().cols);
            if found != expected {
                let (op, operand) = ("HostInverse::solve", "the solution");
                return Err(Error::LengthMismatch { op, operand, found, expected });
            }
            if !step.iter().all(|v| (*v as f32).is_finite()) {
                return Ok(());
            }
            let (high, low) = DoubleVector::from_f64(self.a.device(), &step)?.into_parts();
            self.x.add(&high, self.is_double().then_some(&low))?;
            self.start_has_changed();
            before = norm;
        }
        Ok(())
    }

    /// `b - A x`, on the host.
    fn read_residual(&mut self) -> Result<Vec<f64>> {
        let read =
            |part: &Vector| -> Result<Vec<f64>> { Ok(part.read()?.into_iter().map(f64::from).collect()) };
        if !self.is_double() {
            self.residual()?;
            let scale = f64::from(self.scale);
            return Ok(read(self.r.front())?.into_iter().map(|r| r / scale).collect());
        }
        let [high, rest] = self.exact_residual(false)?.into_parts();
        let scale = f64::from(self.scale) * f64::from(self.residual_room());
        Ok(read(&high)?.into_iter().zip(read(&rest)?).map(|(high, rest)| (high + rest) / scale).collect())
    }
}
