//! Conjugate gradients for symmetric positive definite systems.

mod fixed;
mod recipe;

pub use fixed::{FixedReport, FixedRun};

pub(super) use recipe::predicted;
use recipe::{Cg, Listing, Merged};

use crate::data::Vector;
use crate::error::{Error, Result};
use crate::ops::{LinOp, Windows};
use crate::profile::Workload;
use crate::solve::drive::Method as _;
use crate::solve::drive::check::{check_square, check_symmetric};
use crate::solve::drive::dots::InlinedProduct;
use crate::solve::drive::iterate::Iterate;
use crate::solve::drive::report::Stop;
use crate::solve::drive::scales::Scales;
use crate::solve::krylov::solver::{Krylov, KrylovMethod, Parts, Runs};
use crate::solve::precondition::{Identity, Preconditioner, check_definite};
use crate::solve::space::{Options, Running, Store};

/// In which passes an iteration runs. The schedules agree within rounding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CgSchedule {
    /// Where the preconditioner is a diagonal or none, and the device has three draw buffers,
    /// [`Fused`](CgSchedule::Fused) on a GPU (the product written nowhere for operators of so few terms that it pays), else
    /// [`Merged`](CgSchedule::Merged); else [`Listing`](CgSchedule::Listing). On a device with a
    /// [profile](crate::Device::set_profile) the one of the three that is predicted to take least, where the first two can
    /// be had.
    #[default]
    Auto,
    /// One operation after another as in Listing 44-1 of \[Krueger05\]: two reductions an iteration. With a preconditioner that
    /// takes passes of its own an iteration begins with it and ends with the updates, whose residual is predicted from the sums that
    /// give alpha: its history then has upper bounds ([`ResidualKind::Bound`](crate::solve::ResidualKind::Bound)), which an
    /// iteration lowers 256-fold at most.
    Listing,
    /// One reduction for all inner products and one pass for all vector updates (the "macro" shaders that
    /// \[Moravanszky03\] leaves as an exercise): beta comes from `α² q·Mq - r·Mr`, while `r·Mr` itself is summed anew
    /// in every iteration. With three draw buffers alone, as [`Fused`](CgSchedule::Fused).
    Merged,
    /// As merged, with the fewest writes: `x` is updated every second iteration from two directions; and for bands, stencils
    /// and gathered rows the product is written nowhere, where the pass has as many texture units as they have diagonals, and
    /// seven more: the pass of the inner products computes it, and so does that of the updates. For devices on which writing
    /// is dear; it takes a vector more, or none.
    Fused,
}

/// In what the recurrence of conjugate gradients runs, of unknowns that are [pairs](crate::DoubleVector): its directions,
/// inner products and residual. What is certified is the residual recomputed from the pairs in either case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Recurrence {
    /// In 32 bits, and from where that gains nothing on in pairs, where those can be had: at once with a preconditioner that
    /// [says so](crate::solve::Preconditioner::prefers_pairs), where residuals are not halved in 400
    /// iterations, or 2 (n + 100) are not enough; where a run breaks down, leaves the range of floats or stagnates; with a
    /// preconditioner that takes passes of its own, where a run that has ended by its recurrence has not gained ten times.
    #[default]
    Auto,
    /// In 32 bits: what it adds is gathered in pairs, and its residual replaced every hundred iterations.
    Single,
    /// In pairs: about as many iterations as in 64 bits, each of which costs two to three of the others. A preconditioner that
    /// takes passes of its own is applied in 32 bits, to the residual rounded to these.
    Double,
}

/// Parameters of [`ConjugateGradient`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CgParams {
    /// Most iterations, less than 2²⁴.
    pub max_iters: usize,
    /// When to stop.
    pub stop: Stop,
    /// In which passes an iteration in 32 bits runs.
    pub schedule: CgSchedule,
    /// In what the recurrence runs, of unknowns that are pairs.
    pub recurrence: Recurrence,
    /// Windows of the reductions.
    pub windows: Windows,
}

with!(const CgParams:
    with_max_iters(max_iters: usize),
    with_stop(stop: Stop),
    with_schedule(schedule: CgSchedule),
    with_recurrence(recurrence: Recurrence),
    with_windows(windows: Windows),
);

impl Default for CgParams {
    fn default() -> Self {
        CgParams {
            max_iters: 20_000,
            stop: Stop::default(),
            schedule: CgSchedule::default(),
            recurrence: Recurrence::default(),
            windows: Windows::Balanced,
        }
    }
}

/// Conjugate gradients for symmetric positive definite systems, entirely in textures \[Krueger05\] 44.3.5.
///
/// *Cost* of an iteration with a banded matrix and the merged schedule: one pass for the product, one for each stage
/// of the reduction, one for the updates; no readback. See
/// [`SolveReport::draws_per_iteration`](crate::solve::SolveReport::draws_per_iteration).
///
/// # Errors
///
/// - [`new`](Krylov::new): [`Error::Matrix`] when `a` is not square, or is known not to be symmetric;
///   [`Error::Parameter`].
/// - [`preconditioned`](Krylov::preconditioned): also [`Error::Unsupported`] for a preconditioner that is
///   known not to be positive definite, and for one that is no diagonal with
///   [`CgSchedule::Merged`] or [`CgSchedule::Fused`].
/// - [`solve`](Krylov::solve): also [`Error::Unsupported`] for [`Recurrence::Double`] with an `x` of 32 bits.
///
/// A direction with `p·Ap` not positive, which shows that `A` is not positive definite, ends a solve with
/// [`StopReason::Breakdown`](crate::solve::StopReason::Breakdown).
///
/// # Examples
///
/// ```
/// use texla::{BandedMatrix, Vector, solve::{CgParams, ConjugateGradient, Stop, StopReason}};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let a = BandedMatrix::poisson_2d(dev, 16, 16)?;
/// let b = Vector::filled(dev, 256, 1.0)?;
/// let mut x = Vector::zeros(dev, 256)?; // initial guess in, solution out
/// let params = CgParams::default().with_stop(Stop::relative(1e-5).check_every(8));
/// let report = ConjugateGradient::new(&a, params)?.solve(&mut x, &b)?;
/// assert_eq!(report.reason, StopReason::Converged);
/// assert!(report.true_residual <= 1e-5 && report.iterations < 50);
/// assert_eq!(report.readbacks_in_loop, 0);
/// # Ok::<(), texla::Error>(())
/// ```
pub type ConjugateGradient<A, P = Identity> = Krylov<CgParams, A, P>;

impl KrylovMethod for CgParams {
    const NAME: &'static str = "ConjugateGradient";

    fn stop(&self) -> Stop {
        self.stop
    }

    fn max_iters(&self) -> usize {
        self.max_iters
    }

    fn check(&self, a: &dyn LinOp, m: &dyn Preconditioner) -> Result<()> {
        let op = Self::NAME;
        check_square(op, a)?;
        check_symmetric(op, a)?;
        check_definite(op, m)?;
        if matches!(self.schedule, CgSchedule::Merged | CgSchedule::Fused) && m.is_dear() {
            let why = "it folds the preconditioner into its passes, and this one is no diagonal".into();
            return Err(Error::Unsupported { what: format!("CgSchedule::{:?}", self.schedule), why });
        }
        Ok(())
    }
}

impl Runs for CgParams {
    const SOLVE: &'static str = "ConjugateGradient::solve";
    type Run<'r> = Running<'r, Cg>;

    async fn start<'r>(solver: Parts<'r, Self>, at: &mut Iterate<'_>) -> Result<Self::Run<'r>> {
        let mut run = run(solver, at)?;
        if solver.params.recurrence == Recurrence::Double {
            if !at.is_double() {
                let why = "x has 32 bits: take a DoubleVector".into();
                return Err(Error::Unsupported { what: "Recurrence::Double".into(), why });
            }
            run.widen(at)?;
        } else if run.widens() && solver.m.prefers_pairs() {
            run.widen(at)?;
        }
        Ok(run)
    }
}

impl<A: LinOp, P: Preconditioner> ConjugateGradient<A, P> {
    /// The work of an iteration; `None` where the operator does not say ([`LinOp::workload`](crate::solve::LinOp::workload)) or
    /// the preconditioner is more than a diagonal. What a solve does before, between and after its iterations is not in it.
    ///
    /// *Cost*: a few vectors of the pool's, for a moment. *Errors*: [`Error::OutOfMemory`].
    ///
    /// ```
    /// use texla::{BandedMatrix, solve::{CgParams, CgSchedule, ConjugateGradient}};
    /// # let ctx = texla::Headless::new(Default::default())?;
    /// # let dev = ctx.device();
    /// let a = BandedMatrix::poisson_2d(dev, 16, 16)?; // vectors of 8 x 8 texels
    /// let params = CgParams::default().with_schedule(CgSchedule::Listing);
    /// let iteration = ConjugateGradient::new(&a, params)?.workload()?.unwrap();
    /// // The product, which reads two diagonals that are not constant, and three updates.
    /// assert_eq!(iteration.fetches.own, 64.0 * (3.0 + 3.0 * 2.0));
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn workload(&self) -> Result<Option<Workload>> {
        self.parts().workload()
    }
}

impl<'r> Parts<'r, CgParams> {
    fn workload(&self) -> Result<Option<Workload>> {
        if self.a.workload().is_none() || self.m.is_dear() {
            return Ok(None);
        }
        let b = Vector::uninit(self.a.device(), self.a.shape().rows)?;
        let scales = Scales { norm_b: 1.0, from_zero: true, residual: 1.0, matrix: 1.0, first: None };
        let mut at = Iterate::at_zero(self.a, &b, scales)?;
        let way = self.way(&mut at)?;
        self.count(way, &mut at).map(Some)
    }

    /// The same of a way.
    fn count(&self, way: Way, at: &mut Iterate<'_>) -> Result<Workload> {
        let (mut store, mut recipe) = self.recipe(way, false)?;
        store.count(self.m, at, &mut recipe)
    }

    /// The recipe of a way, and its places.
    fn recipe(&self, Way { schedule, inlines }: Way, wide: bool) -> Result<(Store, Cg)> {
        // A software rasteriser loses more by the vector that has to be kept than it saves.
        let defers = wide || schedule == CgSchedule::Fused;
        let options = Options { inlines, defers };
        let mut store = self.store(self.params.windows, wide, options)?;
        let recipe = match schedule {
            CgSchedule::Listing => Cg::Listing(Listing::new(&mut store)?),
            _ => Cg::Merged(Merged::new(&mut store)?),
        };
        Ok((store, recipe))
    }

    /// How vectors like those of this iterate are iterated.
    fn way(&self, at: &mut Iterate<'_>) -> Result<Way> {
        let schedule = self.params.schedule;
        let device = self.a.device();
        let three_targets = device.gl().caps.borrow().max_draw_buffers >= 3;
        // Merged passes read M at the same texel as r.
        let d = at.r.front();
        let merges = !self.m.is_dear() && self.m.diagonal().is_none_or(|m| m.extent() == d.extent());
        if schedule == CgSchedule::Listing || !merges || schedule == CgSchedule::Auto && !three_targets {
            return Ok(Way { schedule: CgSchedule::Listing, inlines: false });
        }
        let way = |schedule, inlines| Way { schedule, inlines };
        let auto = schedule == CgSchedule::Auto;
        let by_rule = device.profile().is_none();
        if schedule == CgSchedule::Merged || auto && by_rule && device.is_software() {
            return Ok(way(CgSchedule::Merged, false));
        }
        let fetches = InlinedProduct { a: self.a, alpha: 1.0, d }.fetches(MOST_READ)?;
        let mut known = Vec::new();
        if auto && !by_rule && self.a.workload().is_some() {
            for way in [
                way(CgSchedule::Merged, false),
                way(CgSchedule::Listing, false),
                way(CgSchedule::Fused, false),
                way(CgSchedule::Fused, true),
            ] {
                if !way.inlines || fetches.is_some() {
                    known.push((way, self.count(way, at)?));
                }
            }
        }
        if let Some(quickest) = device.quickest(|| known.iter().copied()) {
            return Ok(quickest);
        }
        // Computing `A d` twice is cheaper than to write it, as measured on a GPU (`benches/JOURNAL.md`).
        const FEW: usize = 9;
        let inlines = fetches.is_some_and(|fetches| schedule == CgSchedule::Fused || fetches <= FEW);
        Ok(way(CgSchedule::Fused, inlines))
    }
}

/// Textures that passes which compute the product read besides the direction and the operator, at most: in the update the iterate,
/// the residual, a diagonal, the coefficients, and of the update before the direction and the coefficient.
const MOST_READ: usize = 6;

/// A schedule other than the automatic one, and whether it writes no product.
#[derive(Clone, Copy)]
struct Way {
    schedule: CgSchedule,
    inlines: bool,
}

/// The solve of a checked system.
fn run<'a>(solver: Parts<'a, CgParams>, at: &mut Iterate<'_>) -> Result<Running<'a, Cg>> {
    let way = solver.way(at)?;
    let widens = solver.params.recurrence == Recurrence::Auto && at.is_double();
    let make = move |wide| {
        // Of pairs alpha and beta of their own reductions: 32 bits of either cost half as many iterations again.
        let way = if wide { Way { schedule: CgSchedule::Listing, inlines: false } } else { way };
        solver.recipe(way, wide)
    };
    Running::new(solver.m, widens, at, make)
}
