//! The machine of \[Bajaj04\]: four-wide MUL, MAD, DP4 and ADD, one instruction a clock.

use std::fmt;

use super::blocks::Weights;
use super::{Cost, CostModel, Incremental, MAX_UNKNOWNS};
use crate::error::Result;
use crate::pack::terms::{Method, Part, is_trivial, terms};
use crate::pack::{LinearExpression, Packing};

/// A number of four-wide instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Instructions(pub u32);

impl fmt::Display for Instructions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} instructions", self.0)
    }
}

impl From<u32> for Instructions {
    fn from(count: u32) -> Self {
        Self(count)
    }
}

impl Cost for Instructions {
    fn value(self) -> f64 {
        f64::from(self.0)
    }
}

/// The four-wide SIMD machine of \[Bajaj04\] section 2.1, its MUL, MAD, DP4 and ADD at one instruction each, any swizzle and
/// any write mask free.
///
/// A block A_IJ with c(I, J) non-zeros in its fullest row and r(I, J) occupied rows costs
///
/// > Cmul(I, J) = min(c, r):  r DP4 (row-major) if r < c, else c MUL or MAD (column-major)
///
/// and the sums of block row I, N(I) of whose blocks are row-major,
///
/// > Csum(I) = N(I) if some b of the block row is non-trivial, else max(0, N(I) - 1)
///
/// C(E) is the sum of both. Gauss-Seidel has two sums, L x (b trivial) and U x + b; the L part of a diagonal block is
/// always row-major.
///
/// *Source*: \[Bajaj04\] sections 2.3.1, 2.3.2 and 3.3. The paper prints n(I) - 1; without the clamp at 0 its own Figure 2(b)
/// would cost 12, not 14.
///
/// ```
/// use texla::pack::{CostModel, Instructions, Packing, SimdMachine, instances};
/// let cars = instances::runge_kutta_20()?;
/// let cost = SimdMachine.cost(&cars, &Packing::identity(20))?;
/// assert_eq!(cost, Instructions(20)); // Figure 2(a)
/// # Ok::<(), texla::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SimdMachine;

impl SimdMachine {
    /// The cost of block row `quad`: its products and its sums.
    pub(crate) fn block_row(e: &LinearExpression, packing: &Packing, quad: usize) -> u32 {
        let (mut products, mut old, mut new) = (0, 0u32, 0u32);
        for term in terms(e, packing, quad) {
            products += term.multiplications();
            if term.method() == Method::RowMajor {
                match term.part {
                    Part::Old => old += 1,
                    Part::New => new += 1,
                }
            }
        }
        let old = if is_trivial(e, packing, quad) { old.saturating_sub(1) } else { old };
        products + old + new.saturating_sub(1)
    }
}

impl CostModel for SimdMachine {
    type Cost = Instructions;
    type Evaluator = Incremental<Instructions>;

    fn name(&self) -> &'static str {
        "simd"
    }

    fn price(&self, e: &LinearExpression, packing: &Packing) -> Instructions {
        Instructions((0..e.quads()).map(|quad| Self::block_row(e, packing, quad)).sum())
    }

    /// ceil(nnz / 4): no instruction multiplies more than four times.
    fn lower_bound(&self, e: &LinearExpression) -> Instructions {
        Instructions(e.nnz().div_ceil(4) as u32)
    }

    fn most_unknowns(&self) -> usize {
        MAX_UNKNOWNS
    }

    fn evaluator(&self, e: &LinearExpression, packing: &Packing) -> Result<Self::Evaluator> {
        let weights = Weights::new(|counts, serial| {
            let peels = counts.into_iter().max().unwrap_or_default() as u8;
            let rows = counts.into_iter().filter(|&c| c > 0).count() as u8;
            let row_major = if serial { rows > 0 } else { rows < peels };
            if row_major { (rows + 1, true) } else { (peels, false) }
        });
        Incremental::new(e, packing, weights, 0)
    }
}
