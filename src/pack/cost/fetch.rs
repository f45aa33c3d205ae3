//! Scalar GPUs: texel fetches and multiply-adds.

use std::fmt;

use super::blocks::Weights;
use super::{Cost, CostModel, Incremental, MAX_UNKNOWNS};
use crate::error::Result;
use crate::pack::terms::terms;
use crate::pack::{Form, LinearExpression, Packing};

/// Texel fetches and multiply-adds, at one each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct FetchOperations(pub u32);

impl fmt::Display for FetchOperations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} fetches and multiply-adds", self.0)
    }
}

impl From<u32> for FetchOperations {
    fn from(count: u32) -> Self {
        Self(count)
    }
}

impl Cost for FetchOperations {
    fn value(self) -> f64 {
        f64::from(self.0)
    }
}

/// A GPU with scalar arithmetic: a fetch for each quad of x that a block row needs, and a multiply-add for each non-zero.
///
/// > C(E) = number of non-null blocks A_IJ + nnz
///
/// Only the first part depends on the order: the non-zeros should lie in few blocks, however they lie within. In an iteration
/// the values that a block row makes itself are at hand: L parts of diagonal blocks need no fetch.
///
/// *Source*: beyond \[Bajaj04\], whose machine no GPU since about 2007 has been.
///
/// ```
/// use texla::pack::{CostModel, FetchOperations, Packing, TexelFetch, instances};
/// let wave = instances::wave_2d()?;
/// assert_eq!(TexelFetch.cost(&wave, &Packing::identity(64))?, FetchOperations(54 + 231));
/// # Ok::<(), texla::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TexelFetch;

impl TexelFetch {
    /// The number of texel fetches alone.
    ///
    /// *Errors*: as [`CostModel::cost`].
    pub fn fetches(&self, e: &LinearExpression, packing: &Packing) -> Result<u32> {
        self.cost(e, packing).map(|FetchOperations(cost)| cost - e.nnz() as u32)
    }

    /// The quads of x that block row `quad` reads.
    fn block_row(e: &LinearExpression, packing: &Packing, quad: usize) -> u32 {
        terms(e, packing, quad).iter().filter(|term| !term.serial).count() as u32
    }
}

impl CostModel for TexelFetch {
    type Cost = FetchOperations;
    type Evaluator = Incremental<FetchOperations>;

    fn name(&self) -> &'static str {
        "fetch"
    }

    fn price(&self, e: &LinearExpression, packing: &Packing) -> FetchOperations {
        let fetches: u32 = (0..e.quads()).map(|quad| Self::block_row(e, packing, quad)).sum();
        FetchOperations(fetches + e.nnz() as u32)
    }

    /// A block holds at most 16 non-zeros, and a row of k non-zeros needs ceil(k / 4) fetches, which it may share with
    /// three others: the larger of both counts.
    fn lower_bound(&self, e: &LinearExpression) -> FetchOperations {
        let mut of_rows: Vec<usize> = (0..e.unknowns()).map(|i| e.row(i).count().div_ceil(4)).collect();
        of_rows.sort_unstable_by(|a, b| b.cmp(a));
        let rows: usize = of_rows.chunks(4).filter_map(|quad| quad.first()).sum();
        // The values that Gauss-Seidel makes within a quad are at hand: at most six of its non-zeros.
        let free = if e.form() == Form::GaussSeidel { 6 * e.quads() } else { 0 };
        let blocks = e.nnz().saturating_sub(free).div_ceil(16);
        let fetches = if free == 0 { blocks.max(rows) } else { blocks };
        FetchOperations((fetches + e.nnz()) as u32)
    }

    fn most_unknowns(&self) -> usize {
        MAX_UNKNOWNS
    }

    fn evaluator(&self, e: &LinearExpression, packing: &Packing) -> Result<Self::Evaluator> {
        let fetched = |counts: [u32; 4], serial: bool| !serial && counts.into_iter().any(|c| c > 0);
        let weights = Weights::new(|counts, serial| (u8::from(fetched(counts, serial)), false));
        Incremental::new(e, packing, weights, e.nnz() as u32)
    }
}
