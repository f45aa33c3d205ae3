//! A method and a preconditioner chosen by the matrix, and by how the residual falls.

#[macro_use]
mod words;

mod choice;
mod precision;
mod spoken;

pub use choice::{Choice, ChoiceParams, Chosen, MethodKind, PreconditionerKind};
pub use precision::Precision;

use std::fmt;
use std::time::Duration;

use crate::data::Unknowns;
use crate::error::{Error, Result};
use crate::ops::LinOp;
use crate::solve::drive::check::check_count;
use crate::solve::drive::looks::Observer;
use crate::solve::drive::report::{HistoryPoint, SolveReport, Stop, StopReason};
use crate::solve::drive::slices::{Stopwatch, counters};
use crate::solve::held::HeldLinOp;
use crate::solve::krylov::Recurrence;
use crate::solve::precondition::IluParams;

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
/// [stagnates](StopReason::Stagnated) there. Unknowns of 32 bits that stagnate are the end: no method
/// reaches more with these. [`AutoReport::tried`] has them all with the reason, and
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
pub struct Auto<'a> {
    a: HeldLinOp<'a>,
    params: AutoParams,
    choices: Vec<Choice>,
    /// What remains where nothing of that can be set up, and where nothing leads on.
    spare: Option<[Choice; 2]>,
}

shown!(Auto<'_>, |s| "Auto({}, {:?})", s.a.shape(), s.params);

/// Why something that was tried was given up.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum GivenUp {
    /// It could not be set up, or does not take this system.
    Refused(Error),
    /// It ended like this; or it was cut short, as [`StopReason::MaxIterations`].
    Ended(Box<SolveReport>),
}

impl fmt::Display for GivenUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GivenUp::Refused(error) => write!(f, "{error}"),
            GivenUp::Ended(report) => write!(f, "{report}"),
        }
    }
}

/// Something that [`Auto`] has tried and given up.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Tried {
    /// What it was.
    pub choice: Choice,
    /// Time for its preconditioner.
    pub set_up: Duration,
    /// Time for its iterations.
    pub solving: Duration,
    /// Why it was given up.
    pub why: GivenUp,
}

/// What [`Auto`] has come to.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AutoReport {
    /// How the last run ended; `x` is what this is about.
    pub solved: SolveReport,
    /// What that was.
    pub choice: Choice,
    /// Time for its preconditioner.
    pub set_up: Duration,
    /// Time for its iterations.
    pub solving: Duration,
    /// How much of that went by while shaders were compiled.
    pub compiling: Duration,
    /// What was given up before, in the order in which it was tried.
    pub tried: Vec<Tried>,
}

impl AutoReport {
    /// Of a single run, with the times for its preconditioner, for its iterations and, of that, for compiling.
    pub fn of(solved: SolveReport, choice: Choice, [set_up, solving, compiling]: [Duration; 3]) -> Self {
        AutoReport { solved, choice, set_up, solving, compiling, tried: Vec::new() }
    }

    /// True for [`StopReason::Converged`] alone.
    pub fn converged(&self) -> bool {
        self.solved.converged()
    }

    /// The relative residual from which the last run went on, where others had run before it: by itself the
    /// [choice](Self::choice) would begin elsewhere.
    pub fn went_on_from(&self) -> Option<f64> {
        self.tried.iter().rev().find_map(|tried| match &tried.why {
            GivenUp::Ended(report) => Some(report.true_residual),
            GivenUp::Refused(_) => None,
        })
    }

    /// Iterations of all that was tried.
    pub fn iterations(&self) -> usize {
        let of = |tried: &Tried| match &tried.why {
            GivenUp::Refused(_) => 0,
            GivenUp::Ended(report) => report.iterations,
        };
        self.solved.iterations + self.tried.iter().map(of).sum::<usize>()
    }
}

/// By what, how it ended, and a line for what was given up.
impl fmt::Display for AutoReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.choice, self.solved)?;
        if let Some(residual) = self.went_on_from() {
            write!(f, "; it went on from a relative residual of {residual:.1e}")?;
        }
        self.tried.iter().try_for_each(|Tried { choice, why, .. }| write!(f, "\nnot by {choice}: {why}"))
    }
}

impl<'a> Auto<'a> {
    /// Looks at the matrix, which is borrowed or shared: see [`HeldLinOp`].
    ///
    /// *Cost*: that of asking whether the operator is symmetric, and for its diagonal. *Errors*: [`Error::Parameter`]; those of
    /// asking.
    pub fn new(a: impl Into<HeldLinOp<'a>>, params: AutoParams) -> Result<Self> {
        let a = a.into();
        params.stop.check("Auto")?;
        check_count("Auto", "max_iters", params.max_iters)?;
        let asked = !params.choices.is_empty();
        let choices = if asked { params.choices.clone() } else { suggested(&*a)? };
        let spare = [
            Choice::new(MethodKind::Gmres, PreconditionerKind::None).with_restart(100),
            Choice::new(MethodKind::Cgls, PreconditionerKind::None),
        ];
        let spare = Some(spare).filter(|_| !asked && a.shape().is_square());
        Ok(Auto { a, params, choices, spare })
    }

    /// What is tried, in this order; for a square matrix and where nothing was asked for, then GMRES without a preconditioner if none
    /// of it could be set up, and CGLS if none of it led on.
    pub fn choices(&self) -> &[Choice] {
        &self.choices
    }

    solves! {
        /// Solves `A x = b`, or in the sense of least squares where `A` is not square, from the initial guess in `x`.
        ///
        /// *Errors*: those of what is tried where it is the system that they are about, not the matrix: [`Error::ShapeMismatch`],
        /// [`Error::NonFinite`], [`Error::Inconsistent`]; where nothing could be set up, that of the last. `x` is then as it was. Not
        /// converging is no error: see [`AutoReport::solved`].
        "iterations" => AutoReport, |solver, x, b, observe| {
            let AutoParams { max_iters, stop, recurrence, .. } = solver.params;
            let params = ChoiceParams { max_iters, stop, recurrence };
            let mut tried: Vec<Tried> = Vec::new();
            let mut done = 0;
            let all = || solver.choices.iter().chain(solver.spare.iter().flatten());
            let last = all().count().saturating_sub(1);
            let (mut refused, mut compiling) = (None, Duration::ZERO);
            let ended = |tried: &Tried| matches!(tried.why, GivenUp::Ended(_));
            for (k, choice) in all().enumerate() {
                let spare = k >= solver.choices.len() && k < last;
                if spare && (tried.iter().any(ended) || solver.choices.contains(choice)) {
                    continue;
                }
                let give_up = |set_up, solving, why| Tried { choice: *choice, set_up, solving, why };
                let mut chosen = match choice.prepare(&*solver.a, params) {
                    Ok(chosen) => chosen,
                    // What is made of a matrix may leave the range of floats though its elements do not.
                    Err(error) if is_about_the_matrix(&error) || matches!(error, Error::NonFinite { .. }) => {
                        refused = Some(error.clone());
                        tried.push(give_up(Duration::ZERO, Duration::ZERO, GivenUp::Refused(error)));
                        continue;
                    }
                    Err(error) => return Err(error),
                };
                let (started, before) = (Stopwatch::start(), counters(solver.a.device()));
                let outcome = solver.run(&mut chosen, (x, b), (k >= last, &mut done), observe).await;
                let (set_up, solving) = (chosen.set_up(), started.elapsed());
                compiling = counters(solver.a.device()).since(&before).compile_time;
                match outcome {
                    Ok(solved) => {
                        let ends = match solved.reason {
                            StopReason::Converged | StopReason::Uncertified => true,
                            // What 32 bits can reach is the same for all: pairs reach more.
                            StopReason::Stagnated => !solved.pairs,
                            _ => false,
                        };
                        if ends || k >= last || done >= max_iters {
                            return Ok(AutoReport { solved, choice: *choice, set_up, solving, compiling, tried });
                        }
                        tried.push(give_up(set_up, solving, GivenUp::Ended(Box::new(solved))));
                    }
                    Err(error) if is_about_the_matrix(&error) && (k < last || tried.iter().any(ended)) => {
                        refused = Some(error.clone());
                        tried.push(give_up(set_up, solving, GivenUp::Refused(error)));
                    }
                    Err(error) => return Err(error),
                }
            }
            // The last could not be set up: what came to most before it is the answer.
            if let Some(at) = tried.iter().rposition(ended) {
                let Tried { choice, set_up, solving, why } = tried.remove(at);
                if let GivenUp::Ended(solved) = why {
                    return Ok(AutoReport { solved: *solved, choice, set_up, solving, compiling, tried });
                }
            }
            Err(refused.unwrap_or(Error::Internal { place: "Auto", detail: "nothing to try" }))
        }
    }

    /// One of the choices, as long as it leads on.
    async fn run<X: Unknowns, B: Unknowns>(
        &self,
        chosen: &mut Chosen<'_>,
        (x, b): (&mut X, &B),
        (is_last, done): (bool, &mut usize),
        observe: &mut Observer<'_>,
    ) -> Result<SolveReport> {
        /// What a share of iterations has to leave of the residual at most.
        const LEADS_ON: f64 = 1.0 / 3.0;
        let max_iters = self.params.max_iters;
        let share = share(chosen.choice(), self.a.shape().cols);
        let mut before: Option<SolveReport> = None;
        loop {
            let left = max_iters.saturating_sub(*done);
            let most = if is_last { left } else { share.min(left) };
            chosen.limited(most);
            let begin = *done;
            let report = chosen.solving(x, b, &mut |point| observe(point.after(begin))).await?;
            *done += report.iterations;
            let first = report.history.first().map_or(f64::INFINITY, |point| point.residual);
            let leads_on = report.true_residual <= LEADS_ON * first && report.iterations > 0;
            let ended = report.reason != StopReason::MaxIterations || *done >= max_iters;
            let joined = match before.take() {
                None => report,
                Some(before) => before.followed_by(report, begin),
            };
            if ended || !leads_on {
                return Ok(self.of_the_system(joined));
            }
            before = Some(joined);
        }
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
