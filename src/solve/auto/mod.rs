//! A method and a preconditioner chosen by the matrix, and by how the residual falls.

mod choice;
mod course;
mod made;
mod memory;
mod precision;
mod report;
mod spoken;
mod suggested;

pub use choice::{Choice, ChoiceParams, Chosen, MethodKind, PreconditionerKind};
pub use precision::Precision;
pub use report::{Attempt, AutoReport, GivenUp, Tried};

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;
use std::time::Duration;

use course::{Course, Next, share};
use memory::{Makes, Memory};
use suggested::suggested;

use crate::data::Unknowns;
use crate::error::{Error, Result};
use crate::ops::LinOp;
use crate::solve::drive::check::check_count;
use crate::solve::drive::front::{self, Solver};
use crate::solve::drive::looks::Observer;
use crate::solve::drive::report::{HistoryPoint, SolveReport, Stop, StopReason};
use crate::solve::drive::slices::{Stopwatch, counters};
use crate::solve::krylov::Recurrence;
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
    /// Whether [factors on the host](PreconditionerKind::Factors) are tried after all else (feature `direct`).
    pub factors: bool,
}

with!(AutoParams:
    with_max_iters(max_iters: usize),
    with_stop(stop: Stop),
    with_recurrence(recurrence: Recurrence),
    with_choices(choices: Vec<Choice>),
    with_factors(factors: bool),
);

impl Default for AutoParams {
    fn default() -> Self {
        let ChoiceParams { max_iters, stop, recurrence } = ChoiceParams::default();
        AutoParams { max_iters, stop, recurrence, choices: Vec::new(), factors: true }
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
/// | symmetric with a positive diagonal | `cg` with `geometric` where a [grid](crate::host::Csr::grid) is found in the entries, with `amg` where that suits it (nearly all of what is beside the diagonal is negative, or half of the rows sum to zero, and it is not one of vectors in nodes), with `fsai2`, with `jacobi`, which is the first where a row has 50 times as many entries as others on average and six steps lead from it to nearly all; then as below |
/// | symmetric | `gmres` with `ilut` of matched rows, `minres` with `jacobi` and without, `gmres` with more of `ilut` |
/// | any other | where it suits aggregation as above, with a positive diagonal that is at least half of what its row has beside it, `gmres` with `amg`; `gmres` with `ilut` of matched rows, `bicgstab2` with `jacobi`, `gmres` with more of `ilut`, `bicgstab2` with that and with `block-jacobi`, `gmres` with `spai2` |
/// | square, of which factors are predicted to take at most two minutes | in the end `gmres` with `factors` of the host |
/// | entries not known | `cg`, `minres`, `gmres`, `bicgstab2` with `jacobi` and without, by symmetry |
///
/// Where nothing of that can be set up `gmres` without a preconditioner is left. What breaks down, cannot be set up, stagnates in pairs, or does not cut the residual to a third in its share of iterations gives
/// way to the next, which goes on from where the one before has come to. The last of all for a square matrix is `cgls`, for one that
/// is singular: it finds a solution where there is one, and where there is none the `x` that leaves least of the residual, which
/// [stagnates](StopReason::Stagnated) there. Unknowns of 32 bits that stagnate at a third of the first residual or less
/// are the end, and so are pairs that iterations in pairs leave there: no method reaches more with these. What costs more than 60 products
/// to apply waits for `bicgstab2` with `jacobi`, and begins with a share as much shorter, as `jacobi` before `amg` does; a direction of negative curvature ends all
/// of `cg`, and `minres` is next. What has led to a solution comes first when the same `Auto` solves again, with the preconditioner that
/// was made, and what has failed comes last; clones share that. [`AutoReport::tried`] has them all with the reason, and
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
    a: Rc<A>,
    plan: Plan,
    memory: Rc<RefCell<Memory<A>>>,
    heard: Option<Hear>,
}

shown!([A: LinOp] Auto<A>, |s| "Auto({}, {:?})", s.a.shape(), s.plan.params);

/// What hears of it.
pub(in crate::solve) type Hear = Rc<dyn Fn(&AutoEvent<'_>)>;

/// What goes on in a solve by [`Auto`]: see [`Auto::heard`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AutoEvent<'e> {
    /// A choice begins: its preconditioner is made.
    Begins(Choice),
    /// It has been given up.
    GivenUp(&'e Tried),
    /// [`HostSystem`](crate::solve::HostSystem) goes on from what it tried, or could not use it.
    Failed(&'e Attempt),
    /// Sparse factors are made on the host, by [`HostSystem`](crate::solve::HostSystem).
    Factors {
        /// How long that is predicted to take.
        seconds: f64,
    },
}

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
        Ok(Auto { a: Rc::new(a), plan, memory: Rc::default(), heard: None })
    }

    /// Calls `hear` when a choice begins, and when it is given up.
    pub fn heard(mut self, hear: impl Fn(&AutoEvent<'_>) + 'static) -> Self {
        self.heard = Some(Rc::new(hear));
        self
    }

    /// The same with another bound and another limit, and what is known of the matrix.
    pub(in crate::solve) fn stopping(&self, stop: Stop, max_iters: usize) -> Self {
        let Auto { a, plan, memory, heard } = self;
        let mut plan = plan.clone();
        (plan.params.stop, plan.params.max_iters) = (stop, max_iters);
        Auto { a: Rc::clone(a), plan, memory: Rc::clone(memory), heard: heard.clone() }
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
        self.plan.solve((&self.a, self), x, b, observe).await
    }
}

impl Plan {
    fn new(a: &dyn LinOp, params: AutoParams) -> Result<Self> {
        params.stop.check("Auto")?;
        check_count("Auto", "max_iters", params.max_iters)?;
        let asked = !params.choices.is_empty();
        let choices = if asked { params.choices.clone() } else { suggested(a, params.factors)? };
        let spare = [
            Choice::new(MethodKind::Gmres, PreconditionerKind::None).with_restart(100),
            Choice::new(MethodKind::Cgls, PreconditionerKind::None),
        ];
        let spare = Some(spare).filter(|_| !asked && a.shape().is_square());
        Ok(Plan { params, choices, spare })
    }

    async fn solve<'s, X: Unknowns, B: Unknowns>(
        &self,
        (a, maker): (&'s dyn LinOp, &dyn Makes<'s>),
        x: &mut X,
        b: &B,
        observe: &mut Observer<'_>,
    ) -> Result<AutoReport> {
        let AutoParams { max_iters, stop, .. } = self.params;
        let spare = self.spare.iter().flatten().copied().collect();
        let mut course = Course::new(maker, maker.ordered(&self.choices), spare);
        let mut compiling = Duration::ZERO;
        while let Some(Next { choice, by_cost, is_last }) = course.next() {
            if course.clock.is_past(stop.within) && course.has_ended() {
                break;
            }
            let Some((mut chosen, products)) = self.ready(a, choice, &mut course)? else { continue };
            let (started, before) = (Stopwatch::start(), counters(a.device()));
            let whole = share(choice, a.shape().cols);
            let few = if by_cost { whole.min(course.few(choice, products)) } else { whole };
            let share = if is_last { usize::MAX } else { few };
            let outcome = self.run((a, &mut chosen), (x, b), (share, &mut course), observe).await;
            let (set_up, solving) = (chosen.set_up(), started.elapsed());
            compiling = counters(a.device()).since(&before).compile_time;
            match outcome {
                Ok(solved) if is_the_end(&solved) || is_last || course.done >= max_iters => {
                    maker.remember(choice, solved.converged());
                    let tried = course.tried;
                    return Ok(AutoReport { solved, choice, set_up, solving, compiling, tried });
                }
                Ok(solved) => {
                    course.learn(choice, &solved, few < whole);
                    course.give_up(choice, [set_up, solving], GivenUp::Ended(Box::new(solved)));
                }
                // Once a run has ended, there is an answer, which nothing that a later choice does not take undoes.
                Err(error)
                    if is_about_the_matrix(&error) && !is_last
                        || is_of_the_choice(&error) && course.has_ended() =>
                {
                    course.give_up(choice, [set_up, solving], GivenUp::Refused(error));
                }
                Err(error) => return Err(error),
            }
        }
        let late = course.clock.is_past(stop.within);
        let nothing = Error::Internal { place: "Auto", detail: "nothing to try" };
        Self::without_the_last(course.tried, late, compiling).ok_or(course.refused.unwrap_or(nothing))
    }

    /// A choice with its preconditioner, and what an application of that costs; nothing where it is refused, or waits.
    fn ready<'s>(
        &self,
        a: &'s dyn LinOp,
        choice: Choice,
        course: &mut Course<'_, 's>,
    ) -> Result<Option<(Chosen<'s>, Option<f64>)>> {
        let AutoParams { max_iters, stop, recurrence, .. } = self.params;
        let params = ChoiceParams { max_iters, stop, recurrence };
        let prepared = course.prepared(a, choice, params).and_then(|ready| {
            let chosen = choice.chosen(Rc::new(a), Rc::clone(&ready.m), params)?;
            Ok((chosen.after(ready.set_up), ready))
        });
        match prepared {
            Ok((_, ready)) if self.params.choices.is_empty() && course.defers(choice, &ready) => Ok(None),
            Ok((chosen, ready)) => Ok(Some((chosen, ready.products))),
            // What is made of a matrix may leave the range of floats though its elements do not.
            Err(error) if is_about_the_matrix(&error) || matches!(error, Error::NonFinite { .. }) => {
                course.give_up(choice, [Duration::ZERO; 2], GivenUp::Refused(error));
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// What follows could not be set up, or there is no time for it: what the one before it left is the answer.
    fn without_the_last(mut tried: Vec<Tried>, late: bool, compiling: Duration) -> Option<AutoReport> {
        let at = tried.iter().rposition(|tried| matches!(tried.why, GivenUp::Ended(_)))?;
        let Tried { choice, set_up, solving, why: GivenUp::Ended(solved) } = tried.remove(at) else {
            return None;
        };
        let reason = if late { StopReason::OutOfTime } else { solved.reason };
        let solved = SolveReport { reason, ..*solved };
        Some(AutoReport { solved, choice, set_up, solving, compiling, tried })
    }

    /// One of the choices, as long as it leads on.
    async fn run<X: Unknowns, B: Unknowns>(
        &self,
        (a, chosen): (&dyn LinOp, &mut Chosen<'_>),
        (x, b): (&mut X, &B),
        (share, course): (usize, &mut Course<'_, '_>),
        observe: &mut Observer<'_>,
    ) -> Result<SolveReport> {
        let max_iters = self.params.max_iters;
        let mut before: Option<SolveReport> = None;
        loop {
            let left = max_iters.saturating_sub(course.done);
            let time = self.params.stop.within.map(|time| time.saturating_sub(course.clock.elapsed()));
            chosen.limited(share.min(left), time);
            let begin = course.done;
            let report = chosen.solving(x, b, &mut |point| observe(point.after(begin))).await?;
            course.done += report.iterations;
            let goes_on = leads_on(&report) && report.iterations > 0;
            let ended = report.reason != StopReason::MaxIterations || course.done >= max_iters;
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

/// Whether no other choice will do better.
fn is_the_end(solved: &SolveReport) -> bool {
    match solved.reason {
        StopReason::Converged | StopReason::Uncertified => true,
        StopReason::OutOfTime => true,
        // What 32 bits can reach is the same for all, once something is reached: pairs reach more, and iterations in pairs
        // as much as those do.
        StopReason::Stagnated => (!solved.pairs || solved.double_iterations > 0) && leads_on(solved),
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
