//! A method and a preconditioner chosen by the matrix, and by how the residual falls.

mod choice;
mod precision;
mod report;
mod spoken;

pub use choice::{Choice, ChoiceParams, Chosen, MethodKind, PreconditionerKind};
pub use precision::Precision;
pub use report::{AutoReport, GivenUp, Tried};

use std::ops::{Deref, DerefMut};
use std::time::Duration;

use crate::data::Unknowns;
use crate::error::{Error, Result};
use crate::ops::LinOp;
use crate::solve::drive::check::check_count;
use crate::solve::drive::front::{self, Solver};
use crate::solve::drive::looks::Observer;
use crate::solve::drive::report::{HistoryPoint, SolveReport, Stop, StopReason};
use crate::solve::drive::slices::{Stopwatch, counters};
use crate::solve::krylov::Recurrence;
use crate::solve::precondition::IluParams;
use crate::solve::solving::Solving;

/// Parameters of [`Auto`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AutoParams {
    /// Most iterations of all that is tried, less than 2²⁴.
    pub max_iters: usize,
    /// When to stop.
    pub stop: Stop,
    /// In what conjugate gradients iterate for unknowns that are pairs.
    pub recurrence: Recurrence,
    /// What is tried, in this order, in place of what the matrix suggests; nothing leaves it to that.
    pub choices: Vec<Choice>,
}

with!(AutoParams:
    with_max_iters(max_iters: usize),
    with_stop(stop: Stop),
    with_recurrence(recurrence: Recurrence),
    with_choices(choices: Vec<Choice>),
);

impl Default for AutoParams {
    fn default() -> Self {
        let ChoiceParams { max_iters, stop, recurrence } = ChoiceParams::default();
        AutoParams { max_iters, stop, recurrence, choices: Vec::new() }
    }
}

/// Solves a system by what suits its matrix.
///
/// What is known of the matrix without a product decides what is tried first: shape, symmetry, the signs on the diagonal, size, and
/// whether the entries are known ([`LinOp::pattern`]).
///
/// | matrix | tried in this order |
/// |---|---|
/// | more rows than columns | least squares (`cgls`) with `jacobi`, and without |
/// | fewer | the same without first, which finds the solution of least norm |
/// | symmetric with a positive diagonal | `cg` with `amg` where nothing else is positive, with `fsai2`, with `jacobi`; then as below |
/// | symmetric | `gmres` with `ilut` of matched rows, `minres` with `jacobi` and without, `gmres` with more of `ilut` |
/// | any other | `gmres` with `ilut` of matched rows, with more of it, `bicgstab2` with that, `gmres` with `spai2` |
/// | entries not known | `cg`, `minres`, `gmres`, `bicgstab2` with `jacobi` and without, by symmetry |
///
/// Where nothing of that can be set up `gmres` without a preconditioner is left. What breaks down, cannot be set up, stagnates in pairs, or does not cut the residual to a third in its share of iterations gives
/// way to the next, which goes on from where the one before has come to. The last of all for a square matrix is `cgls`, for one that
/// is singular: it finds a solution where there is one, and where there is none the `x` that leaves least of the residual, which
/// [stagnates](StopReason::Stagnated) there. Unknowns of 32 bits that stagnate at a third of the first residual or less
/// are the end: no method reaches more with these. [`AutoReport::tried`] has them all with the reason, and
/// [`AutoReport::choice`] is what repeats the run that led to the end.
///
/// ```
/// use texla::{SparseFormat, StoredMatrix, Vector, host::problems, solve::{Auto, AutoParams, MethodKind}};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let a = StoredMatrix::new(dev, problems::poisson_2d(20, 20).to_csr(), SparseFormat::Auto)?;
/// let b = Vector::filled(dev, 400, 1.0)?;
/// let mut x = Vector::zeros(dev, 400)?;
/// let report = Auto::new(&a, AutoParams::default())?.solve(&mut x, &b)?;
/// assert!(report.converged() && report.tried.is_empty(), "{report}");
/// assert_eq!(report.choice.method, MethodKind::Cg);
/// # Ok::<(), texla::Error>(())
/// ```
#[derive(Clone)]
pub struct Auto<A> {
    a: A,
    plan: Plan,
}

shown!([A: LinOp] Auto<A>, |s| "Auto({}, {:?})", s.a.shape(), s.plan.params);

/// What is tried, whatever the operator's type is.
#[derive(Clone)]
struct Plan {
    params: AutoParams,
    choices: Vec<Choice>,
    /// What remains where nothing of that can be set up, and where nothing leads on.
    spare: Option<[Choice; 2]>,
}

impl<A: LinOp> Auto<A> {
    /// Looks at the matrix, which is borrowed, shared or owned: see [`Krylov`](crate::solve::Krylov#ownership).
    ///
    /// *Cost*: that of asking whether the operator is symmetric, and for its diagonal. *Errors*: [`Error::Parameter`]; those of
    /// asking.
    pub fn new(a: A, params: AutoParams) -> Result<Self> {
        let plan = Plan::new(&a, params)?;
        Ok(Auto { a, plan })
    }

    /// Returns the operator.
    pub fn operator(&self) -> &A {
        &self.a
    }

    /// What is tried, in this order; for a square matrix and where nothing was asked for, then GMRES without a preconditioner if none
    /// of it could be set up, and CGLS if none of it led on.
    pub fn choices(&self) -> &[Choice] {
        &self.plan.choices
    }

    /// Solves `A x = b`, or in the sense of least squares where `A` is not square, from the initial guess in `x`.
    ///
    /// Not converging is no error: see [`AutoReport::solved`].
    ///
    /// # Errors
    ///
    /// Those of what is tried where it is the system that they are about, not the matrix: [`Error::ShapeMismatch`],
    /// [`Error::NonFinite`], [`Error::Inconsistent`]; where nothing could be set up, that of the last. `x` is then as it was.
    pub fn solve<X: Unknowns, B: Unknowns>(&self, x: &mut X, b: &B) -> Result<AutoReport> {
        self.solve_observed(x, b, |_| {})
    }

    /// Solves as [`solve`](Self::solve) does, and calls `observe` at every poll with the number of
    /// iterations and the relative residual.
    pub fn solve_observed<X: Unknowns, B: Unknowns>(
        &self,
        x: &mut X,
        b: &B,
        mut observe: impl FnMut(HistoryPoint),
    ) -> Result<AutoReport> {
        front::run(self, x, b, &mut observe)
    }

    /// Begins the same solve, to be advanced a [slice](crate::solve::Slice) at a time: see
    /// [`Krylov::begin`](crate::solve::Krylov::begin).
    pub fn begin<'s, X, B>(&self, x: X, b: B) -> Solving<'s, X, AutoReport>
    where
        Self: Clone + 's,
        X: DerefMut<Target: Unknowns + Sized> + 's,
        B: Deref<Target: Unknowns + Sized> + 's,
    {
        front::begin(self.a.device(), self.clone(), x, b)
    }
}

impl<A: LinOp> Solver for Auto<A> {
    type Report = AutoReport;

    async fn solving<X: Unknowns, B: Unknowns>(
        &self,
        x: &mut X,
        b: &B,
        observe: &mut Observer<'_>,
    ) -> Result<AutoReport> {
        self.plan.solve(&self.a, x, b, observe).await
    }
}

impl Plan {
    fn new(a: &dyn LinOp, params: AutoParams) -> Result<Self> {
        params.stop.check("Auto")?;
        check_count("Auto", "max_iters", params.max_iters)?;
        let asked = !params.choices.is_empty();
        let choices = if asked { params.choices.clone() } else { suggested(a)? };
        let spare = [
            Choice::new(MethodKind::Gmres, PreconditionerKind::None).with_restart(100),
            Choice::new(MethodKind::Cgls, PreconditionerKind::None),
        ];
        let spare = Some(spare).filter(|_| !asked && a.shape().is_square());
        Ok(Plan { params, choices, spare })
    }

    async fn solve<X: Unknowns, B: Unknowns>(
        &self,
        a: &dyn LinOp,
        x: &mut X,
        b: &B,
        observe: &mut Observer<'_>,
    ) -> Result<AutoReport> {
        let AutoParams { max_iters, stop, recurrence, .. } = self.params;
        let params = ChoiceParams { max_iters, stop, recurrence };
        let mut tried: Vec<Tried> = Vec::new();
        let mut done = 0;
        let all = || self.choices.iter().chain(self.spare.iter().flatten());
        let last = all().count().saturating_sub(1);
        let (mut refused, mut compiling) = (None, Duration::ZERO);
        let ended = |tried: &Tried| matches!(tried.why, GivenUp::Ended(_));
        for (k, choice) in all().enumerate() {
            let spare = k >= self.choices.len() && k < last;
            if spare && (tried.iter().any(ended) || self.choices.contains(choice)) {
                continue;
            }
            let give_up = |set_up, solving, why| Tried { choice: *choice, set_up, solving, why };
            let mut chosen = match choice.prepare(a, params) {
                Ok(chosen) => chosen,
                // What is made of a matrix may leave the range of floats though its elements do not.
                Err(error) if is_about_the_matrix(&error) || matches!(error, Error::NonFinite { .. }) => {
                    refused = Some(error.clone());
                    tried.push(give_up(Duration::ZERO, Duration::ZERO, GivenUp::Refused(error)));
                    continue;
                }
                Err(error) => return Err(error),
            };
            let (started, before) = (Stopwatch::start(), counters(a.device()));
            let outcome = self.run((a, &mut chosen), (x, b), (k >= last, &mut done), observe).await;
            let (set_up, solving) = (chosen.set_up(), started.elapsed());
            compiling = counters(a.device()).since(&before).compile_time;
            match outcome {
                Ok(solved) => {
                    if is_the_end(&solved) || k >= last || done >= max_iters {
                        return Ok(AutoReport { solved, choice: *choice, set_up, solving, compiling, tried });
                    }
                    tried.push(give_up(set_up, solving, GivenUp::Ended(Box::new(solved))));
                }
                // Once a run has ended, there is an answer, which nothing that a later choice does not take undoes.
                Err(error)
                    if is_about_the_matrix(&error) && k < last
                        || is_of_the_choice(&error) && tried.iter().any(ended) =>
                {
                    refused = Some(error.clone());
                    tried.push(give_up(set_up, solving, GivenUp::Refused(error)));
                }
                Err(error) => return Err(error),
            }
        }
        // The last could not be set up: what the one before it left is the answer.
        let at = tried.iter().rposition(ended);
        if let Some(Tried { choice, set_up, solving, why: GivenUp::Ended(solved) }) =
            at.map(|at| tried.remove(at))
        {
            return Ok(AutoReport { solved: *solved, choice, set_up, solving, compiling, tried });
        }
        Err(refused.unwrap_or(Error::Internal { place: "Auto", detail: "nothing to try" }))
    }

    /// One of the choices, as long as it leads on.
    async fn run<X: Unknowns, B: Unknowns>(
        &self,
        (a, chosen): (&dyn LinOp, &mut Chosen<'_>),
        (x, b): (&mut X, &B),
        (is_last, done): (bool, &mut usize),
        observe: &mut Observer<'_>,
    ) -> Result<SolveReport> {
        let max_iters = self.params.max_iters;
        let share = share(chosen.choice(), a.shape().cols);
        let mut before: Option<SolveReport> = None;
        loop {
            let left = max_iters.saturating_sub(*done);
            let most = if is_last { left } else { share.min(left) };
            chosen.limited(most);
            let begin = *done;
            let report = chosen.solving(x, b, &mut |point| observe(point.after(begin))).await?;
            *done += report.iterations;
            let goes_on = leads_on(&report) && report.iterations > 0;
            let ended = report.reason != StopReason::MaxIterations || *done >= max_iters;
            let joined = match before.take() {
                None => report,
                Some(before) => before.followed_by(report, begin),
            };
            if ended || !goes_on {
                let report = self.of_the_system(joined);
                if self.spare.is_some() && chosen.choice().method == MethodKind::Cgls && report.converged() {
                    return self.by_components(a, (x, b), report).await;
                }
                return Ok(report);
            }
            before = Some(joined);
        }
    }

    /// The verdict of least squares on a square system with the share of each row, which least squares do not have.
    async fn by_components<X: Unknowns, B: Unknowns>(
        &self,
        a: &dyn LinOp,
        (x, b): (&mut X, &B),
        report: SolveReport,
    ) -> Result<SolveReport> {
        let params = ChoiceParams { max_iters: 0, stop: self.params.stop, ..ChoiceParams::default() };
        let nothing = Choice::new(MethodKind::BiCgStab, PreconditionerKind::None).prepare(a, params)?;
        let checked = nothing.solving(x, b, &mut |_| {}).await?;
        let reason = if checked.converged() { report.reason } else { checked.reason };
        Ok(SolveReport { reason, components: checked.components, ..report })
    }

    /// What least squares have come to, of a square system for which they were not asked: a solution of the normal equations
    /// alone solves no system.
    fn of_the_system(&self, report: SolveReport) -> SolveReport {
        match (&self.spare, report.least_squares_residual) {
            (Some(_), Some(residual)) => SolveReport {
                history: of_the_system(report.history, residual),
                reason: match report.reason {
                    StopReason::Converged | StopReason::Uncertified
                        if residual > self.params.stop.relative =>
                    {
                        StopReason::Stagnated
                    }
                    reason => reason,
                },
                true_residual: residual,
                rounding: None,
                least_squares_residual: None,
                ..report
            },
            _ => report,
        }
    }
}

/// A history that ends with this residual, which is certified.
fn of_the_system(mut history: Vec<HistoryPoint>, residual: f64) -> Vec<HistoryPoint> {
    if let Some(last) = history.last_mut() {
        last.residual = residual;
    }
    history
}

/// Iterations after which a choice has to have led on.
fn share(choice: Choice, n: usize) -> usize {
    match choice.method {
        // Ten cycles.
        MethodKind::Gmres => 10 * choice.restart,
        MethodKind::BiCgStab => 300,
        MethodKind::BiCgStab2 => 150,
        // What may go on in pairs has to find out first that it should.
        MethodKind::Cg if !choice.is_dear() => (8 * n).clamp(2000, 16_000),
        // In exact arithmetic n iterations are all that is needed, with a good preconditioner a fraction.
        MethodKind::Cg | MethodKind::Minres => (2 * n).clamp(500, 4000),
        MethodKind::Cgls => (4 * n).clamp(1000, 8000),
    }
}

/// Whether no other choice will do better.
fn is_the_end(solved: &SolveReport) -> bool {
    match solved.reason {
        StopReason::Converged | StopReason::Uncertified => true,
        // What 32 bits can reach is the same for all, once something is reached: pairs reach more.
        StopReason::Stagnated => !solved.pairs && leads_on(solved),
        _ => false,
    }
}

/// A run has cut the residual to a third.
fn leads_on(report: &SolveReport) -> bool {
    let first = report.history.first().map_or(f64::INFINITY, |point| point.residual);
    report.true_residual <= first / 3.0
}

/// Whether an error is one of this choice for this matrix, so that another may do.
fn is_about_the_matrix(error: &Error) -> bool {
    matches!(
        error,
        Error::Matrix { .. }
            | Error::Unsupported { .. }
            | Error::TooLarge { .. }
            | Error::OutOfMemory { .. }
            | Error::Breakdown { .. }
    )
}

/// Whether an error is that, or of what this choice does not take of `b`, where others do.
pub(in crate::solve) fn is_of_the_choice(error: &Error) -> bool {
    is_about_the_matrix(error) || matches!(error, Error::Parameter { .. } | Error::NonFinite { .. })
}

/// What suits a matrix.
fn suggested(a: &dyn LinOp) -> Result<Vec<Choice>> {
    use MethodKind::{BiCgStab2, Cg, Cgls, Gmres, Minres};
    use PreconditionerKind::{Amg, FsaiSquared, Ilut, Jacobi, None, SpaiSquared};
    let shape = a.shape();
    if !shape.is_square() {
        let mut both = vec![Choice::new(Cgls, Jacobi), Choice::new(Cgls, None)];
        // Of many solutions the one of least norm: weights would make it another.
        if shape.rows < shape.cols {
            both.reverse();
        }
        return Ok(both);
    }
    let symmetric = a.asymmetry()?.is_none();
    // Who has no diagonal does not say; what else is wrong is no word on the matrix.
    let (says, positive_diagonal) = match a.diagonal() {
        Ok(diagonal) => (true, diagonal.iter().all(|d| *d > 0.0)),
        Err(Error::Unsupported { .. }) => (false, false),
        Err(error) => return Err(error),
    };
    let positive = symmetric && positive_diagonal;
    let mut choices = Vec::new();
    let Some(pattern) = a.pattern() else {
        if positive || symmetric && !says {
            choices.extend([Choice::new(Cg, Jacobi), Choice::new(Cg, None)]);
        }
        if symmetric {
            choices.extend([Choice::new(Minres, Jacobi), Choice::new(Minres, None)]);
        }
        choices.extend([
            Choice::new(Gmres, Jacobi).with_restart(100),
            Choice::new(Gmres, None).with_restart(100),
            Choice::new(BiCgStab2, Jacobi),
        ]);
        return Ok(choices);
    };
    let ilut = Choice::new(Gmres, Ilut);
    let more =
        Choice { restart: 100, ilu: IluParams { fill: 40, drop: 1e-5, tolerance: 1e-4, ..ilut.ilu }, ..ilut };
    if positive {
        // What couples unknowns draws them together: on a grid or a network aggregates of them are what is missing.
        if pattern.entries().all(|(i, j, v)| i == j || v <= 0.0) {
            choices.push(Choice::new(Cg, Amg));
        }
        choices.extend([Choice::new(Cg, FsaiSquared), Choice::new(Cg, Jacobi)]);
    }
    choices.push(ilut);
    if symmetric {
        choices.extend([Choice::new(Minres, Jacobi), Choice::new(Minres, None)]);
    }
    choices.extend([more, Choice { method: BiCgStab2, ..more }, Choice::new(Gmres, SpaiSquared)]);
    Ok(choices)
}
