//! A device whose fetches and operations have been measured.

use std::fmt;

use super::blocks::Weights;
use super::{Cost, CostModel, Incremental, MAX_UNKNOWNS, TexelFetch};
use crate::error::{Error, Result};
use crate::pack::terms::{Method, terms};
use crate::pack::{LinearExpression, Packing};

/// What a fetch and four operations weigh together: a block's weight has seven bits.
const WHOLE: f64 = 120.0;

/// A cost in whole parts of a device's time: see [`Measured::seconds`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Charge(pub u32);

impl fmt::Display for Charge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} charges", self.0)
    }
}

impl From<u32> for Charge {
    fn from(count: u32) -> Self {
        Self(count)
    }
}

impl Cost for Charge {
    fn value(self) -> f64 {
        f64::from(self.0)
    }
}

/// A scalar device with the seconds that its fetches and its operations on single numbers take, as a profile of it has them:
///
/// > C(E) = f (number of non-null blocks A_IJ) + m (nnz + rows of row-major blocks)
///
/// in whole parts of the time. Every non-zero is a multiply-add, and the sum that a row-major block needs is an addition for
/// each of its rows. Between [`TexelFetch`] and the order that takes fewest instructions it draws the line where the device
/// does. In an iteration in place, L parts of diagonal blocks need no fetch.
///
/// *Source*: beyond \[Bajaj04\].
///
/// ```
/// use texla::pack::{Charge, CostModel, Measured, Packing, instances};
/// let wave = instances::wave_2d()?; // 54 fetches, 231 non-zeros
/// let model = Measured::new(8e-10, 1e-10)?; // a fetch takes as long as eight multiply-adds
/// assert_eq!(model.weights(), [80, 10]);
/// let cost = model.cost(&wave, &Packing::identity(64))?;
/// assert!(cost >= Charge(54 * 80 + 231 * 10));
/// assert!((model.seconds(Charge(80)) - 8e-10).abs() < 1e-15);
/// # Ok::<(), texla::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    fetch: u32,
    operation: u32,
    /// Seconds of a part.
    part: f64,
}

impl Measured {
    /// For a fetch of a texel and an operation on single numbers that take so many seconds.
    ///
    /// *Errors*: [`Error::Parameter`] unless both are finite and not negative, and one is positive.
    pub fn new(fetch: f64, operation: f64) -> Result<Self> {
        let all = fetch + 4.0 * operation;
        if !(fetch >= 0.0 && operation >= 0.0 && all > 0.0 && all.is_finite() && WHOLE / all <= f64::MAX) {
            let value = format!("{fetch:e} and {operation:e} seconds");
            let expected = "finite seconds, not negative, not both zero";
            return Err(Error::Parameter { op: "Measured::new", name: "fetch, operation", value, expected });
        }
        let parts = |seconds: f64| (WHOLE * (seconds / all)).round() as u32;
        Ok(Measured { fetch: parts(fetch), operation: parts(operation), part: all / WHOLE })
    }

    /// What a fetch and an operation cost, in parts.
    pub fn weights(&self) -> [u32; 2] {
        [self.fetch, self.operation]
    }

    /// The seconds that a cost stands for.
    pub fn seconds(&self, cost: Charge) -> f64 {
        self.part * cost.value()
    }

    fn constant(&self, e: &LinearExpression) -> u32 {
        self.operation.saturating_mul(e.nnz() as u32)
    }

    /// What a block weighs beside its non-zeros.
    fn block(&self, row_major: bool, rows: u32, serial: bool) -> u32 {
        let fetch = if serial { 0 } else { self.fetch };
        fetch + if row_major { self.operation * rows } else { 0 }
    }
}

impl CostModel for Measured {
    type Cost = Charge;
    type Evaluator = Incremental<Charge>;

    fn name(&self) -> &'static str {
        "measured"
    }

    fn price(&self, e: &LinearExpression, packing: &Packing) -> Charge {
        let all = (0..e.quads()).flat_map(|quad| terms(e, packing, quad));
        let blocks = all.map(|t| self.block(t.method() == Method::RowMajor, t.rows(), t.serial));
        Charge(blocks.fold(self.constant(e), u32::saturating_add))
    }

    fn lower_bound(&self, e: &LinearExpression) -> Charge {
        let fetches = TexelFetch.lower_bound(e).0.saturating_sub(e.nnz() as u32);
        Charge(self.fetch.saturating_mul(fetches).saturating_add(self.constant(e)))
    }

    fn most_unknowns(&self) -> usize {
        MAX_UNKNOWNS
    }

    fn evaluator(&self, e: &LinearExpression, packing: &Packing) -> Result<Self::Evaluator> {
        let weights = Weights::new(|counts, serial| {
            let rows = counts.into_iter().filter(|&c| c > 0).count() as u32;
            let peels = counts.into_iter().max().unwrap_or_default();
            let weight = self.block(serial || rows < peels, rows, serial);
            (if rows > 0 { weight as u8 } else { 0 }, false)
        });
        Incremental::new(e, packing, weights, self.constant(e))
    }
}
