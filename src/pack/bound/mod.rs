//! What no packing can be below, and what that makes of the best one found.

mod compositions;
mod group;
mod kinds;

use std::fmt;

pub(super) use compositions::{Compositions, Group};
pub(super) use kinds::Kinds;

use crate::pack::{Instructions, LinearExpression};

/// Which packings a bound speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Orders {
    /// One order for rows and columns: y can be the next x.
    #[default]
    One,
    /// An order for the rows, another for the columns, one order among them.
    Two,
}

/// What proves a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BoundBy {
    /// No instruction multiplies more than four times: ceil(nnz / 4).
    Multiplications,
    /// The cheapest way to make groups of the rows, by how many non-zeros each has.
    Compositions,
    /// An exhaustive search that found nothing below.
    Search,
}

impl fmt::Display for BoundBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Multiplications => "four multiplications an instruction",
            Self::Compositions => "compositions of groups",
            Self::Search => "exhaustive search",
        })
    }
}

/// A number of instructions that no packing is below, on [`SimdMachine`](crate::pack::SimdMachine).
///
/// The larger of two bounds. *Multiplications*: ceil(nnz / 4). *Compositions*: let f(G) be the least cost of a block row of
/// four rows over all ways to spread their non-zeros over blocks, four columns each; then
///
/// > C(E) >= min sum of f(G) over all divisions of the rows, padding included, into groups G of four.
///
/// f sees of a row its number of non-zeros, whether it has a diagonal, and whether its b is trivial: its *kind*. p peels take p
/// non-zeros of every row; of the rest, a row-major block takes four of each of one to three rows, and no more of them together
/// than four columns can hold if rows of these kinds share as many columns as any two of them do. If one order serves rows and
/// columns, the group's own block has all diagonals, and other non-zeros only where a row has columns of the kinds in the group.
/// An iteration in place has an addition free for each of its two sums; its parts L and U are only counted.
///
/// Since f depends on kinds only, the minimum is a dynamic program over the numbers of rows left of each kind. It is exact.
///
/// *Cost*: O(nnz), the pairs of rows with a common column, and the product over all kinds of (rows of the kind + 1) times the
/// number of groups; past 2²⁶ steps or 2²² states the second bound is left out, past 2²⁴ pairs the sharing of columns. So every
/// size is answered, in a second or so.
///
/// *Source*: the machine of \[Bajaj04\] section 2.1; the paper has no bounds.
///
/// ```
/// use texla::pack::{BoundBy, Instructions, LowerBound, Orders, instances};
/// let cars = instances::runge_kutta_20()?;
/// let bound = LowerBound::new(&cars, Orders::One);
/// assert_eq!((bound.value, bound.by), (Instructions(14), BoundBy::Compositions)); // 50 / 4 is 13 only
/// let wave = instances::wave_2d()?;
/// assert_eq!(LowerBound::new(&wave, Orders::One).value, Instructions(60));
/// assert_eq!(LowerBound::new(&wave, Orders::Two).value, Instructions(59));
/// # Ok::<(), texla::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LowerBound {
    /// No packing costs less.
    pub value: Instructions,
    /// What proves it.
    pub by: BoundBy,
}

impl LowerBound {
    /// The best bound without a search.
    pub fn new(e: &LinearExpression, orders: Orders) -> Self {
        let multiplications = e.nnz().div_ceil(4) as u32;
        let compositions = Compositions::new(&Kinds::new(e, orders)).map_or(0, |table| table.bound());
        if compositions > multiplications {
            Self { value: Instructions(compositions), by: BoundBy::Compositions }
        } else {
            Self { value: Instructions(multiplications), by: BoundBy::Multiplications }
        }
    }

    /// What this bound says of a packing of the given cost.
    pub fn certify(&self, cost: Instructions) -> Certificate {
        match cost.0.saturating_sub(self.value.0) {
            0 => Certificate::Optimal(self.by),
            gap => Certificate::Gap(Instructions(gap)),
        }
    }
}

/// How far a packing is from the best there is.
///
/// ```
/// use texla::pack::{Certificate, Instructions, LowerBound, Orders, instances};
/// let bound = LowerBound::new(&instances::wave_2d()?, Orders::One);
/// assert_eq!(bound.certify(Instructions(63)), Certificate::Gap(Instructions(3)));
/// assert!(matches!(bound.certify(Instructions(60)), Certificate::Optimal(_)));
/// # Ok::<(), texla::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certificate {
    /// No packing is better, for this reason.
    Optimal(BoundBy),
    /// No packing is better by more than this.
    Gap(Instructions),
}

impl fmt::Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Optimal(by) => write!(f, "optimal by {by}"),
            Self::Gap(gap) => write!(f, "within {gap} of the optimum"),
        }
    }
}
