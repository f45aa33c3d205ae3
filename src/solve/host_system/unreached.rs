//! Right-hand sides that a singular matrix does not reach, as sparse factors show it.

use super::HostSystem;
use super::units::norm2;
use crate::error::{Error, Result};
use crate::host::approximate::largest;
use crate::host::{Csr, DirectPlan, Triplets};

/// What is added to diagonal entries, relative to the largest entry, so that a singular matrix has factors.
const SHIFT: f64 = 1.0 / (1u64 << 40) as f64;

/// Rounding of a product with a matrix of 64 bits, relative to what it adds up.
const ROUNDING: f64 = 1.0 / (1u64 << 48) as f64;

/// The longest that factors may take for this.
const MOST_SECONDS: f64 = 10.0;

/// Rounds of inverse iteration: each reduces what is no null vector by the shift beside the eigenvalues that are not zero.
const ROUNDS: usize = 3;

impl HostSystem {
    /// Refuses a right-hand side where the matrix is singular to the rounding of 64 bits and no solution meets the bound.
    ///
    /// Inverse iteration on the reduced matrix gives a vector `w` with `wᵀ A = 0`; then `|wᵀ b| / ‖w‖` is the least residual.
    /// It begins from `(A Aᵀ)⁻¹ b`, the part of `b` in the null space of the transpose. A `w` for which `wᵀ A` is more than
    /// rounding refuses nothing.
    ///
    /// # Cost
    /// Factors once more, where they are predicted to take up to ten seconds, and four divisions by them.
    pub(super) fn check_reached(&self, b: &[f64]) -> Result<()> {
        let Ok(w) = self.left_null_vector(b) else { return Ok(()) };
        let a = self.matrix();
        let (mut left, mut terms) = (vec![0.0; b.len()], vec![0.0; b.len()]);
        for ((i, j, value), size) in a.entries().map(|entry| (entry, entry.2.abs())) {
            let w = w.get(i).copied().unwrap_or_default();
            left.get_mut(j).into_iter().for_each(|slot| *slot += value * w);
            terms.get_mut(j).into_iter().for_each(|slot| *slot += size * w.abs());
        }
        let (of_w, along) = (norm2(&w), w.iter().zip(b).map(|(w, b)| w * b).sum::<f64>());
        let singular = of_w > 0.0 && of_w.is_finite() && norm2(&left) <= ROUNDING * norm2(&terms);
        let (found, bound) = (along.abs() / of_w, self.params.auto.stop.relative * norm2(b));
        if singular && found > bound {
            return Err(Error::Inconsistent { op: "HostSystem", found, bound });
        }
        Ok(())
    }

    /// An approximation that is good where there is such a vector.
    fn left_null_vector(&self, b: &[f64]) -> Result<Vec<f64>> {
        let shifted = shifted(self.normal.matrix())?;
        let plan = DirectPlan::new(&shifted)?;
        if plan.seconds() > MOST_SECONDS {
            let why = format!("their factors are predicted to take {:.0} s", plan.seconds());
            return Err(Error::Unsupported { what: "null vectors of this matrix".to_owned(), why });
        }
        let direct = plan.factor(&shifted)?;
        let unit = |list: Vec<f64>| {
            let norm = norm2(&list);
            list.into_iter().map(|v| v / norm).collect::<Vec<f64>>()
        };
        let mut v = unit(direct.solve(&unit(self.normal.right(b)?))?);
        for _ in 0..ROUNDS {
            v = unit(direct.solve_transposed(&v)?);
        }
        Ok(self.normal.left(&v))
    }
}

/// The matrix with the same added to all diagonal entries: null vectors stay eigenvectors.
fn shifted(a: &Csr) -> Result<Csr> {
    let shift = SHIFT * largest(a.values());
    let shifts = (0..a.shape().rows).map(|i| (i, i, shift));
    Ok(Triplets::from_entries(a.shape(), a.entries().chain(shifts))?.to_csr())
}
