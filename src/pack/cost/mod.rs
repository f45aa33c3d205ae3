//! What an expression costs in a given order: the models, and the law they keep.

mod blocks;
mod fetch;
mod incremental;
mod measured;
mod recount;
mod simd;

use std::fmt::{Debug, Display};

use crate::error::Result;
use crate::pack::{LinearExpression, Packing};

pub use fetch::{FetchOperations, TexelFetch};
pub use incremental::{Incremental, MAX_UNKNOWNS};
pub use measured::{Charge, Measured};
pub use recount::Recount;
pub use simd::{Instructions, SimdMachine};

/// What a cost model counts, or measures. Costs of different models are different types, so that they cannot be mixed.
pub trait Cost: Copy + PartialEq + PartialOrd + Debug + Display + Send + Sync + 'static {
    /// The cost as a number: what annealing weighs against its temperature.
    fn value(self) -> f64;
}

/// A price for every order of an expression: what the packing optimiser makes least.
///
/// # Law
///
/// For every expression and packing that fit:
/// - [`cost`](Self::cost) depends on the pattern, the trivial rows of b and the packing only, never on the order of calls;
/// - no packing costs less than [`lower_bound`](Self::lower_bound);
/// - an [evaluator](Self::evaluator)'s cost after any swaps and undone swaps is, to the bit, `cost` of its packing.
pub trait CostModel: Sync {
    /// What is counted.
    type Cost: Cost;
    /// Keeps the cost up to date while positions are exchanged.
    type Evaluator: Evaluator<Cost = Self::Cost> + Send;

    /// Short name, for reports.
    fn name(&self) -> &'static str;

    /// The cost from scratch of a packing that fits: the definition. Others call [`cost`](Self::cost), which checks.
    fn price(&self, e: &LinearExpression, packing: &Packing) -> Self::Cost;

    /// The cost from scratch.
    ///
    /// *Cost*: O(nnz log nnz). *Errors*: [`Error::LengthMismatch`](crate::Error::LengthMismatch) for a packing of another size;
    /// [`Error::Parameter`](crate::Error::Parameter) for one of two orders where the expression works in place.
    fn cost(&self, e: &LinearExpression, packing: &Packing) -> Result<Self::Cost> {
        e.check_packing("CostModel::cost", packing)?;
        Ok(self.price(e, packing))
    }

    /// A cost that no packing, independent ones included, can be below; cheap to find.
    fn lower_bound(&self, e: &LinearExpression) -> Self::Cost;

    /// The unknowns that an expression may have for there to be an [`evaluator`](Self::evaluator).
    fn most_unknowns(&self) -> usize {
        usize::MAX
    }

    /// The evaluator that starts at `packing`.
    ///
    /// *Errors*: as [`cost`](Self::cost), and more than [`most_unknowns`](Self::most_unknowns).
    fn evaluator(&self, e: &LinearExpression, packing: &Packing) -> Result<Self::Evaluator>;
}

/// Which order a swap changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Axis {
    /// Rows and columns together: the (i, j)-swap of \[Bajaj04\] section 2.3.2.
    Both,
    /// Rows only; for independent packings.
    Rows,
    /// Columns only; for independent packings.
    Cols,
}

/// The cost of a packing that changes by swaps.
pub trait Evaluator {
    /// What is counted.
    type Cost: Cost;

    /// The cost now.
    fn cost(&self) -> Self::Cost;

    /// Exchanges two positions and returns the new cost.
    ///
    /// *Cost*: O(non-zeros in the rows and columns exchanged), whatever n.
    fn swap(&mut self, axis: Axis, p: usize, q: usize) -> Self::Cost;

    /// Takes the last swap back; without one, or called twice, nothing.
    fn undo(&mut self);

    /// True if it is known without trying that exchanging these positions changes no cost, nor what later swaps cost: a
    /// search passes over such swaps. False where that is not known.
    fn is_neutral(&self, _axis: Axis, _p: usize, _q: usize) -> bool {
        false
    }

    /// The packing now.
    fn packing(&self) -> Packing;
}
