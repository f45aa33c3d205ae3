//! Problems made ready for a solve, and how far a vector is from solving them.

use super::partition::{Partition, Sums};
use super::table::Table;
use crate::data::Vector;
use crate::error::Result;
use crate::kernel::Operand;
use crate::ops::{self, Accuracy, Accurate, ExactSum, LinOp};
use crate::solve::drive::rounding::error_bound;
use crate::solve::drive::unknown::{Right, exact_sum};

/// One or several problems, scaled by powers of two so that matrix and right-hand side are about 1.
pub(super) struct System<'a> {
    pub a: &'a dyn LinOp,
    /// What the operator is multiplied by.
    pub matrix_scale: f32,
    /// `1 / a_ii` of the scaled matrix; zero in padding.
    pub inverses: &'a Vector,
    pub partition: &'a Partition,
    /// The power iteration's result, if there was one.
    pub spectrum: Option<&'a Table>,
    /// The scaled right-hand side, and of pairs what 32 bits do not hold of it.
    pub b: &'a Vector,
    pub b_low: Option<&'a Vector>,
    /// The exponent of the power of two by which `x` is divided, where callers are given it without.
    pub unit: i32,
    pub problems: Vec<Problem>,
}

/// An iterate, and of pairs its low part.
pub(super) type Elements<'a> = (&'a Vector, Option<&'a Vector>);

/// What the test needs to know of a problem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Problem {
    /// `max_i max(-b_i, 0)`, scaled: the natural residual of zero. 1 where that is 0.
    pub norm: f64,
    /// No `b_i` is negative: zero is a solution.
    pub trivial: bool,
    /// What a unit of the scaled `x` is worth beside one of the scaled `A x + b`, where both are measured unscaled.
    pub unit: f32,
    /// Number of unknowns.
    pub rows: usize,
}

/// Both relative residuals of a problem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Residual {
    pub natural: f64,
    pub scaled: f64,
}

/// What recomputing has found: the residuals, how exactly, and `A x + b`.
pub(super) struct Measured {
    pub residuals: Vec<Residual>,
    pub accuracy: Accuracy,
    pub w: Vector,
}

impl Residual {
    pub fn larger(self) -> f64 {
        self.natural.max(self.scaled)
    }
}

/// A residual from the device: what is marked as broken is larger than anything else.
pub(super) fn measured(value: f32, norm: f64) -> f64 {
    if value < 3.2e38 { f64::from(value) / norm } else { f64::INFINITY }
}

impl System<'_> {
    /// The goals of `glsl/lcp/sums.frag` with nothing but the units.
    pub fn units(&self) -> Result<Table> {
        let units: Vec<_> = self.problems.iter().map(|p| [0.0, p.unit, 0.0, 0.0]).collect();
        Table::floats(self.partition.device(), &units)
    }

    /// `A x + b`.
    fn terms<'v>(&'v self, x: &'v Vector) -> Accurate<'v> {
        Accurate { transposed: false, alpha: self.matrix_scale, x, plus: Some((1.0, self.b)) }
    }

    /// The same for pairs, or a bound on its error.
    fn exact_sum(&self, x: [&Vector; 2], bounds: bool) -> Result<ExactSum> {
        exact_sum(self.a, (1.0, Right { high: self.b, low: self.b_low }), self.matrix_scale, x, bounds)
    }

    /// Both residuals of every problem, with `A x + b` in double-float where the operator can, of pairs in three floats. That is
    /// rounded, as `x` is, to measure them: relative to the smaller of both. *Cost*: waits.
    pub async fn residuals(&self, x: Elements<'_>, goals: &Table) -> Result<Measured> {
        let (high, low) = x;
        let (w, accuracy) = match low {
            Some(low) => (self.exact_sum([high, low], false)?.into_rounded(), Accuracy::DoubleFloat),
            None => {
                let mut w = Vector::uninit(high.device(), high.len())?;
                let accuracy = ops::product_accurate(&mut w, self.a, self.terms(high))?;
                (w, accuracy)
            }
        };
        Ok(Measured { residuals: self.measure(high, &w, goals).await?, accuracy, w })
    }

    /// The largest that both residuals can be, whatever rounding in double-float has done to `w = A x + b`. *Cost*: waits.
    pub async fn largest_residuals(
        &self,
        x: Elements<'_>,
        w: &Vector,
        goals: &Table,
    ) -> Result<Vec<Residual>> {
        let (x, low) = x;
        let mut moved = Vector::uninit(x.device(), x.len())?;
        let error = match low {
            Some(low) => self.exact_sum([x, low], true)?.into_error(),
            None => error_bound(self.a, self.terms(x)).await?,
        };
        // min(x, w) grows with w, so its magnitude is largest at one of the ends.
        ops::sub(&mut moved, w, &error)?;
        let mut largest = self.measure(x, &moved, goals).await?;
        ops::add(&mut moved, w, &error)?;
        for (residual, other) in largest.iter_mut().zip(self.measure(x, &moved, goals).await?) {
            residual.natural = residual.natural.max(other.natural);
            residual.scaled = residual.scaled.max(other.scaled);
        }
        Ok(largest)
    }

    /// Both residuals where `A x + b` is `w`. *Cost*: waits.
    async fn measure(&self, x: &Vector, w: &Vector, goals: &Table) -> Result<Vec<Residual>> {
        let inputs = [x.view(), w.view(), self.inverses.view(), goals.view()];
        let parts = self.partition.sums(Sums::Natural { diagonal: true }, &inputs)?;
        let maxima = self.partition.read_maxima(&parts).await?;
        let of = |([natural, scaled, ..], p): (&[f32; 4], &Problem)| Residual {
            natural: measured(*natural, p.norm),
            scaled: measured(*scaled, p.norm),
        };
        Ok(maxima.iter().zip(&self.problems).map(of).collect())
    }
}
