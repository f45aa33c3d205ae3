//! The form to depend on.

use std::ops::{Deref, DerefMut};
use std::rc::Rc;

use super::certify::{Done, drive};
use super::diagonal::positive_diagonal;
use super::partition::Partition;
use super::report::{LcpParams, LcpReport, Relaxation};
use super::run::{Run, corrected};
use super::spectrum::estimate;
use super::system::{Problem, System};
use super::table::Table;
use crate::data::{Unknowns, Vector, exponent, times_power_of_two};
use crate::error::{Error, Result, check_finite};
use crate::ops::{self, LinOp};
use crate::solve::drive::finite::{Finite, Small};
use crate::solve::drive::front::{self, Solver};
use crate::solve::drive::looks::Observer;
use crate::solve::drive::report::HistoryPoint;
use crate::solve::drive::report::StopReason;
use crate::solve::drive::scales::{exponent_of, power, times_power};
use crate::solve::drive::slices::{arrived, number, scoped};
use crate::solve::drive::unknown::{Iterand, Right};
use crate::solve::solving::Solving;

/// The name under which errors come.
const OP: &str = "LcpSolver";

/// Projected Jacobi to depend on, for the linear complementarity problem `x >= 0`, `A x + b >= 0`, `xᵀ(A x + b) = 0`.
///
/// A sweep is `x ← max(y - ω D⁻¹ (A y + b), 0)`, where `y` is `x`, or `x` moved on along the last step. The relaxation
/// comes from a power iteration with `D⁻¹ A`; looks are polled and change no result; the verdict stands on the natural
/// residual recomputed in double-float. See [numerics](crate::guide::numerics).
///
/// `A` may be symmetric positive definite, symmetric semidefinite with a solvable problem, or not symmetric: then the
/// relaxation is lowered until steps shrink, which they do for positive definite `A` and for many P-matrices, but for
/// these there is no proof. [`StopReason`] is `Converged`, `Uncertified` (the operator has no product in double-float),
/// `Stagnated` (no progress for 1024 sweeps, for twice as many as there are unknowns, and for half of all: what 32 bits
/// can reach, or no solution), or `MaxIterations`.
///
/// *Cost* of a sweep: one product, one draw; of the test at every eighth: one reduction besides. No readback.
///
/// ```
/// use texla::{Shape, SparseFormat, SparseMatrix, Vector, host::Triplets};
/// use texla::solve::{LcpParams, LcpSolver};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// // Projected Jacobi with relaxation 1 oscillates here for ever: λ_max(D⁻¹ A) is 2.
/// let t = Triplets::from_dense(Shape::new(2, 2), &[1.0, 1.0, 1.0, 1.0])?;
/// let a = SparseMatrix::from_triplets(dev, &t, SparseFormat::Gather)?;
/// let b = Vector::from_slice(dev, &[-1.0, -1.0])?;
/// let mut x = Vector::zeros(dev, 2)?; // warm start in, solution out
/// let report = LcpSolver::new(&a, LcpParams::default())?.solve(&mut x, &b)?;
/// assert!(report.converged() && report.outcome.natural_residual <= 1e-4);
/// assert_eq!(report.readbacks_in_loop, 0);
/// let x = x.read()?;
/// assert!((x[0] + x[1] - 1.0).abs() < 1e-4);
/// # Ok::<(), texla::Error>(())
/// ```
#[derive(Clone)]
pub struct LcpSolver<A> {
    a: A,
    ready: Ready,
}

shown!([A: LinOp] LcpSolver<A>, |s| "LcpSolver({}, {:?})", s.a.shape(), s.ready.params);

/// What was made ready for an operator, whatever its type is.
#[derive(Clone)]
struct Ready {
    params: LcpParams,
    /// Of the power of two that the matrix is divided by.
    exponent: i32,
    inverses: Rc<Vector>,
    partition: Rc<Partition>,
    spectrum: Option<Rc<Table>>,
}

impl<A: LinOp> LcpSolver<A> {
    /// Uploads the diagonal of `a` and estimates `λ_max(D⁻¹ A)`, for any number of solves. The operator is
    /// borrowed, shared or owned: see [`Krylov`](crate::solve::Krylov#ownership).
    ///
    /// *Cost*: 16 products, each with a reduction and two draws, unless the relaxation is fixed; no readback. *Errors*: [`Error::Matrix`] when `a` is
    /// not square, or naming the first row whose diagonal is not positive; [`Error::Unsupported`] when the operator
    /// does not know its diagonal; [`Error::Parameter`]; [`Error::NonFinite`] where a diagonal entry is smaller than
    /// the largest coefficient by more than 32 bits can say.
    pub fn new(a: A, params: LcpParams) -> Result<Self> {
        let ready = Ready::new(&a, params)?;
        Ok(LcpSolver { a, ready })
    }

    /// Returns the operator.
    pub fn operator(&self) -> &A {
        &self.a
    }

    /// Solves, from the warm start in `x`; what is negative in it begins as zero. Not converging is no error: see
    /// [`LcpOutcome::reason`](crate::solve::LcpOutcome::reason).
    ///
    /// Of [pairs](crate::DoubleVector) sweeps improve a correction `y >= -x` of 32 bits, and `A x + b` is recomputed in [three
    /// floats](crate::ops::ExactSum) whenever the residual has fallen tenfold; the pair that is returned is not negative, exactly.
    ///
    /// # Errors
    ///
    /// - [`Error::ShapeMismatch`];
    /// - [`Error::Breakdown`] when a residual leaves the range of floats, or their sum stays a thousand times above its best: a
    ///   fixed relaxation is too large, or the problem has no solution. `x` is then the start, projected;
    /// - [`Error::NonFinite`] for an `x` or a `b` that is not finite;
    /// - [`Error::Parameter`] for a `b` with an element more than 2¹³⁰ times larger than the most negative one, or with one below
    ///   the normal range that counts beside that;
    /// - [`Error::Unsupported`], with `x` as it was, for pairs where the operator has no
    ///   [`accumulate`](crate::solve::LinOp::accumulate) or the device no exact two-sum, and for a `b` of pairs with an `x` of 32
    ///   bits.
    pub fn solve<X: Unknowns, B: Unknowns>(&self, x: &mut X, b: &B) -> Result<LcpReport> {
        self.solve_observed(x, b, |_| {})
    }

    /// Solves as [`solve`](Self::solve) does, and calls `observe` at every poll with the number of
    /// sweeps and the relative residual.
    pub fn solve_observed<X: Unknowns, B: Unknowns>(
        &self,
        x: &mut X,
        b: &B,
        mut observe: impl FnMut(HistoryPoint),
    ) -> Result<LcpReport> {
        front::run(self, x, b, &mut observe)
    }

    /// Begins the same solve, to be advanced a [slice](crate::solve::Slice) at a time: see
    /// [`Krylov::begin`](crate::solve::Krylov::begin).
    pub fn begin<'s, X, B>(&self, x: X, b: B) -> Solving<'s, X, LcpReport>
    where
        Self: Clone + 's,
        X: DerefMut<Target: Unknowns + Sized> + 's,
        B: Deref<Target: Unknowns + Sized> + 's,
    {
        front::begin(self.a.device(), self.clone(), x, b)
    }
}

impl<A: LinOp> Solver for LcpSolver<A> {
    type Report = LcpReport;

    async fn solving<X: Unknowns, B: Unknowns>(
        &self,
        x: &mut X,
        b: &B,
        observe: &mut Observer<'_>,
    ) -> Result<LcpReport> {
        self.ready.solve(&self.a, x, b, observe).await
    }
}

impl Ready {
    fn new(a: &dyn LinOp, params: LcpParams) -> Result<Self> {
        params.check(OP)?;
        let diagonal = positive_diagonal(OP, a)?;
        let device = a.device();
        let _scope = device.scope()?;
        let exponent = exponent_of(a)?.clamp(-125, 125);
        let scale = f64::from(exponent).exp2();
        let inverses: Vec<f64> = diagonal.iter().map(|d| scale / d).collect();
        check_finite("LcpSolver: max |a_ij| / a_ii", inverses.iter().copied())?;
        let inverses = Vector::from_f64(device, &inverses)?;
        let partition = Partition::single(device, inverses.len())?;
        let spectrum = match params.relaxation {
            Relaxation::Fixed(_) => None,
            _ => Some(Rc::new(estimate(a, power(-exponent), &inverses, &partition)?)),
        };
        Ok(Ready { params, exponent, inverses: Rc::new(inverses), partition: Rc::new(partition), spectrum })
    }

    async fn solve<X: Unknowns, B: Unknowns>(
        &self,
        a: &dyn LinOp,
        x: &mut X,
        b: &B,
        observe: &mut Observer<'_>,
    ) -> Result<LcpReport> {
        let (op, right) = ("LcpSolver::solve", Right::of(b));
        front::fits(op, a, x.parts(), right)?;
        scoped(a.device(), async {
            let (high, low) = x.parts();
            let b = right.high;
            // The lost part is not reported.
            let bound = (self.params.stop.relative / f64::from(1u32 << 18), false);
            let (finite, _) = front::asked(op, a, (high, low), right, bound, Small::BesideNegative).await?;
            let (own, norm) = unit_of(op, b, finite).await?;
            // x is measured in units of b over those of A.
            let unit = own - self.exponent;
            let scaled_b = scaled(-own, b)?;
            let scaled_low = right.low.map(|b| scaled(-own, b)).transpose()?;
            let start = scaled(-unit, high)?;
            let low = low.map(|low| scaled(-unit, low)).transpose()?;
            let system = System {
                a,
                matrix_scale: power(-self.exponent),
                inverses: &self.inverses,
                partition: &self.partition,
                spectrum: self.spectrum.as_deref(),
                b: &scaled_b,
                b_low: scaled_low.as_ref(),
                problems: vec![Problem {
                    norm: norm.unwrap_or(1.0),
                    trivial: norm.is_none(),
                    unit: natural_unit(self.exponent),
                    rows: b.len(),
                }],
                unit,
            };
            let mut run = Run::new(system, projected(&start, low.as_ref())?, self.params.relaxation)?;
            let done = drive(&mut run, &self.params, observe).await?;
            // Into the caller's texture, which the application may hold.
            let (high, low) = x.parts_mut();
            times_power(high, unit, &run.x.high)?;
            if let (Some(to), Some(from)) = (low, &run.x.low) {
                times_power(to, unit, from)?;
            }
            single(done)
        })
        .await
    }
}

/// The exponent of what `b` is measured in, and its norm; checks on the way that all elements are finite.
async fn unit_of(op: &'static str, b: &Vector, finite: Finite<'_>) -> Result<(i32, Option<f64>)> {
    let least = if b.is_empty() { None } else { Some(ops::min_element(b)?.read_async()?) };
    let largest = number(ops::max_abs(b)?).await?;
    finite.check().await?;
    let least = match least {
        Some(sent) => arrived(&sent).await?.first().copied().map_or(0.0, f64::from),
        None => 0.0,
    };
    unit_of_sides(op, least, largest)
}

/// `2^e v`
fn scaled(e: i32, v: &Vector) -> Result<Vector> {
    let mut scaled = Vector::uninit(v.device(), v.len())?;
    times_power(&mut scaled, e, v).map(|()| scaled)
}

/// A start without what is negative of it.
fn projected(start: &Vector, low: Option<&Vector>) -> Result<Iterand> {
    if let Some(low) = low {
        return corrected([start, low], &Vector::zeros(start.device(), start.len())?);
    }
    let mut projected = Vector::uninit(start.device(), start.len())?;
    ops::clamp(&mut projected, start, 0.0, f32::MAX)?;
    Ok(Iterand { high: projected, low: None })
}

/// The report of the only problem; what has diverged is an error.
fn single(Done { report, last }: Done) -> Result<LcpReport> {
    let Some(outcome) = report.outcome.into_iter().next() else {
        return Err(Error::Internal { place: OP, detail: "a report of no problem" });
    };
    if outcome.reason == StopReason::Diverged {
        let (iteration, value) = (outcome.sweeps, last);
        return Err(Error::Breakdown {
            solver: "projected Jacobi",
            iteration,
            quantity: "max |min(x, Ax + b)| / max(-b)",
            value,
            expected: "a bounded number: the relaxation is too large, the matrix is not finite, or the problem has no solution or one that leaves \
                       the range of 32-bit floats",
        });
    }
    Ok(LcpReport {
        outcome,
        history: report.history,
        certifications: report.certifications,
        async_checks: report.async_checks,
        readbacks_in_loop: report.readbacks_in_loop,
        draws_in_vain: report.draws_in_vain,
        draws_per_sweep: report.draws_per_sweep,
        draws_per_test: report.draws_per_test,
    })
}

/// The exponent of the unit in which right-hand sides from `least` on, `largest` in magnitude, are measured: that of the most
/// negative one, by which residuals are judged, unless others would leave the range. And what is judged by in these
/// units; none if no side is negative.
pub(super) fn unit_of_sides(op: &'static str, least: f64, largest: f64) -> Result<(i32, Option<f64>)> {
    /// By how many powers of two others may be larger.
    const ROOM: i32 = 100;
    if least >= 0.0 {
        return Ok((exponent(largest), None));
    }
    check_ratio(op, least, largest)?;
    let own = exponent(-least).max(exponent(largest) - ROOM);
    Ok((own, Some(times_power_of_two(-least, -own))))
}

/// Refuses sides so far apart that the residual of zero, `-least`, has no room in 32 bits beside `largest`: relative to
/// that, anything could be told of what falls below the range.
pub(super) fn check_ratio(op: &'static str, least: f64, largest: f64) -> Result<()> {
    /// As a power of two. Of units with the largest at 2¹⁰⁰, what is lost at 2⁻⁶⁶ (a product with a coefficient of 2⁶⁰)
    /// is 2⁻³⁶ of the residual of zero.
    const WIDEST: i32 = 130;
    if exponent(largest) - exponent(-least) <= WIDEST {
        return Ok(());
    }
    let value = format!("from {least:e} to {largest:e} in magnitude");
    let expected = "no negative element, or a most negative element of at least 2^-130 of the largest: residuals relative to it would \
                    vanish in 32-bit floats";
    Err(Error::Parameter { op, name: "b", value, expected })
}

/// What a unit of the scaled `x` is worth beside one of the scaled `A x + b`: `x` is divided by the units of `b` over
/// those of `A`, and `A x + b` by the units of `b`.
pub(super) fn natural_unit(matrix_exponent: i32) -> f32 {
    power(-matrix_exponent.clamp(-127, 125))
}
