//! A method and a preconditioner chosen by the matrix, and by how the residual falls.

mod choice;
mod made;
mod precision;
mod report;
mod spoken;
mod suggested;

pub use choice::{Choice, ChoiceParams, Chosen, MethodKind, PreconditionerKind};
pub use precision::Precision;
pub use report::{AutoReport, GivenUp, Tried};

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;
use std::time::Duration;

use made::Made;
use suggested::suggested;

use crate::data::Unknowns;
use crate::error::{Error, Result};
use crate::ops::LinOp;
use crate::platform::Instant;
use crate::solve::drive::check::check_count;
use crate::solve::drive::front::{self, Solver};
use crate::solve::drive::looks::Observer;
use crate::solve::drive::report::{HistoryPoint, SolveReport, Stop, StopReason};
use crate::solve::drive::slices::{Stopwatch, counters};
use crate::solve::krylov::Recurrence;
use crate::solve::precondition::Preconditioner;
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
/// | symmetric with a positive diagonal | `cg` with `amg` where that suits it (nearly all of what is beside the diagonal is negative, or half of the rows sum to zero, and it is not one of vectors in nodes), with `fsai2`, with `jacobi`; then as below |
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
    a: Rc<A>,
    plan: Plan,
    memory: Rc<RefCell<Memory<A>>>,
    heard: Option<Rc<dyn Fn(&AutoEvent<'_>)>>,
}

shown!([A: LinOp] Auto<A>, |s| "Auto({}, {:?})", s.a.shape(), s.plan.params);

/// What goes on in a solve by [`Auto`]: see [`Auto::heard`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AutoEvent<'e> {
    /// A choice begins: its preconditioner is made.
    Begins(Choice),
    /// It has been given up.
    GivenUp(&'e Tried),
}

/// What solves of a matrix have shown.
struct Memory<A> {
    /// What was made last, and what it was made for.
    last: Option<(Choice, Rc<Made<Rc<A>>>)>,
    /// What has led to a solution.
    worked: Option<(Choice, Rc<Made<Rc<A>>>)>,
    failed: Vec<Choice>,
}

/// A preconditioner ready for a choice.
struct Ready<'s> {
    m: Rc<dyn Preconditioner + 's>,
    products: Option<f64>,
    set_up: Duration,
}

/// The matrix and what is known of it, whatever its type is.
trait Makes<'s> {
    fn make(&self, choice: &Choice) -> Result<Ready<'s>>;

    /// In which order these are tried: first what has worked, last what has failed.
    fn ordered(&self, choices: &[Choice]) -> VecDeque<Choice>;

    fn remember(&self, choice: Choice, converged: bool);

    fn announce(&self, event: &AutoEvent<'_>);
}

impl<'s, A: LinOp + 's> Makes<'s> for Auto<A> {
    fn make(&self, choice: &Choice) -> Result<Ready<'s>> {
        let mut memory = self.memory.borrow_mut();
        if let Some((known, m)) = &memory.worked
            && known == choice
        {
            return Ok(Ready {
                m: Rc::clone(m) as Rc<dyn Preconditioner + 's>,
                products: None,
                set_up: Duration::ZERO,
            });
        }
        let started = Instant::now();
        let (made, products) = Made::new(choice, Rc::clone(&self.a))?;
        let made = Rc::new(made);
        memory.last = Some((*choice, Rc::clone(&made)));
        Ok(Ready { m: made, products, set_up: started.elapsed() })
    }

    fn ordered(&self, choices: &[Choice]) -> VecDeque<Choice> {
        let memory = self.memory.borrow();
        let worked = memory.worked.as_ref().map(|(choice, _)| *choice);
        let rank = |choice: &Choice| match () {
            () if worked == Some(*choice) => 0,
            () if memory.failed.contains(choice) => 2,
            () => 1,
        };
        let mut ordered = choices.to_vec();
        ordered.sort_by_key(rank);
        ordered.into()
    }

    fn remember(&self, choice: Choice, converged: bool) {
        let mut memory = self.memory.borrow_mut();
        let last = memory.last.take().filter(|(made, _)| *made == choice);
        if converged {
            memory.failed.retain(|failed| *failed != choice);
            memory.worked = last.or(memory.worked.take().filter(|(known, _)| *known == choice));
        } else if !memory.failed.contains(&choice) {
            memory.failed.push(choice);
            memory.worked.take_if(|(known, _)| *known == choice);
        }
    }

    fn announce(&self, event: &AutoEvent<'_>) {
        if let Some(hear) = &self.heard {
            hear(event);
        }
    }
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
        let memory = Memory { last: None, worked: None, failed: Vec::new() };
        Ok(Auto { a: Rc::new(a), plan, memory: Rc::new(RefCell::new(memory)), heard: None })
    }

    /// Calls `hear` when a choice begins, and when it is given up.
    pub fn heard(mut self, hear: impl Fn(&AutoEvent<'_>) + 'static) -> Self {
        self.heard = Some(Rc::new(hear));
        self
    }

    /// The same with another bound, and what is known of the matrix.
    pub(in crate::solve) fn stopping(&self, stop: Stop) -> Self {
        let Auto { a, plan, memory, heard } = self;
        let mut plan = plan.clone();
        plan.params.stop = stop;
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

/// A solve under way: what is still to be tried, and what has been.
struct Course {
    waiting: VecDeque<Choice>,
    /// Choices whose share was short because of what they cost: what is left before the spare ones.
    again: VecDeque<Choice>,
    spare: VecDeque<Choice>,
    tried: Vec<Tried>,
    /// Iterations of all that was tried.
    done: usize,
    clock: Stopwatch,
}

impl Course {
    /// The next choice, whether costs shorten its share, and whether it is the last.
    fn next(&mut self) -> Option<(Choice, bool, bool)> {
        let first = self.waiting.pop_front();
        let by_cost = first.is_some();
        let choice = match first.or_else(|| self.again.pop_front()) {
            Some(choice) => choice,
            // GMRES without help is left where nothing could be set up.
            None if self.spare.len() > 1 => {
                let gmres = self.spare.pop_front()?;
                if self.has_ended() || self.tried.iter().any(|tried| tried.choice == gmres) {
                    self.spare.pop_front()?
                } else {
                    gmres
                }
            }
            None => self.spare.pop_front()?,
        };
        let is_last = self.waiting.is_empty() && self.again.is_empty() && self.spare.is_empty();
        Some((choice, by_cost, is_last))
    }

    fn has_ended(&self) -> bool {
        self.tried.iter().any(|tried| matches!(tried.why, GivenUp::Ended(_)))
    }

    /// What costs so much to apply waits for what costs little. Whether it does.
    fn defers(&mut self, choice: Choice, products: Option<f64>) -> bool {
        let cheap = Choice::new(MethodKind::BiCgStab2, PreconditionerKind::Jacobi);
        let at = self.waiting.iter().position(|waiting| *waiting == cheap);
        let (true, Some(at)) = (products.is_some_and(|p| p > MOST_PRODUCTS), at) else { return false };
        self.waiting.remove(at);
        self.waiting.push_front(choice);
        self.waiting.push_front(cheap);
        true
    }

    /// Conjugate gradients have met a direction of negative curvature: MINRES is what such matrices take.
    fn is_indefinite(&mut self) {
        self.waiting.retain(|choice| choice.method != MethodKind::Cg);
        if let Some(at) = self.waiting.iter().position(|choice| choice.method == MethodKind::Minres)
            && let Some(minres) = self.waiting.remove(at)
        {
            self.waiting.push_front(minres);
        }
    }
}

/// An application of a preconditioner may cost so many products before something else is tried first.
const MOST_PRODUCTS: f64 = 60.0;

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
        (a, maker): (&dyn LinOp, &dyn Makes<'_>),
        x: &mut X,
        b: &B,
        observe: &mut Observer<'_>,
    ) -> Result<AutoReport> {
        let AutoParams { max_iters, stop, recurrence, .. } = self.params;
        let params = ChoiceParams { max_iters, stop, recurrence };
        let mut course = Course {
            waiting: maker.ordered(&self.choices),
            again: VecDeque::new(),
            spare: self.spare.iter().flatten().copied().collect(),
            tried: Vec::new(),
            done: 0,
            clock: Stopwatch::start(),
        };
        let (mut refused, mut compiling) = (None, Duration::ZERO);
        let mut aside: Option<(Choice, Ready<'_>)> = None;
        while let Some((choice, by_cost, is_last)) = course.next() {
            if course.clock.is_past(stop.within) && course.has_ended() {
                break;
            }
            let give_up = |course: &mut Course, [set_up, solving]: [Duration; 2], why| {
                let tried = Tried { choice, set_up, solving, why };
                maker.announce(&AutoEvent::GivenUp(&tried));
                maker.remember(choice, false);
                course.tried.push(tried);
            };
            let known = aside.take_if(|(known, _)| *known == choice);
            let made = known.map_or_else(
                || {
                    maker.announce(&AutoEvent::Begins(choice));
                    choice.check(a, params).and_then(|()| maker.make(&choice))
                },
                |(_, ready)| Ok(ready),
            );
            let ready = match made {
                Ok(ready) => ready,
                // What is made of a matrix may leave the range of floats though its elements do not.
                Err(error) if is_about_the_matrix(&error) || matches!(error, Error::NonFinite { .. }) => {
                    refused = Some(error.clone());
                    give_up(&mut course, [Duration::ZERO; 2], GivenUp::Refused(error));
                    continue;
                }
                Err(error) => return Err(error),
            };
            if self.params.choices.is_empty() && course.defers(choice, ready.products) {
                aside = Some((choice, Ready { products: None, ..ready }));
                continue;
            }
            let Ready { m, set_up, products } = ready;
            let mut chosen = choice.chosen(Rc::new(a), m, params)?;
            let (started, before) = (Stopwatch::start(), counters(a.device()));
            let whole = share(choice, a.shape().cols);
            let few = if by_cost { whole.min(few(choice, products)) } else { whole };
            let share = if is_last { usize::MAX } else { few };
            let outcome = self.run((a, &mut chosen), (x, b), (share, &mut course), observe).await;
            let solving = started.elapsed();
            compiling = counters(a.device()).since(&before).compile_time;
            match outcome {
                Ok(solved) => {
                    if is_the_end(&solved) || is_last || course.done >= max_iters {
                        maker.remember(choice, solved.converged());
                        let tried = course.tried;
                        return Ok(AutoReport { solved, choice, set_up, solving, compiling, tried });
                    }
                    if choice.method == MethodKind::Cg && has_negative_curvature(&solved) {
                        course.is_indefinite();
                    }
                    if few < whole && solved.reason == StopReason::MaxIterations {
                        course.again.push_back(choice);
                    }
                    give_up(&mut course, [set_up, solving], GivenUp::Ended(Box::new(solved)));
                }
                // Once a run has ended, there is an answer, which nothing that a later choice does not take undoes.
                Err(error)
                    if is_about_the_matrix(&error) && !is_last
                        || is_of_the_choice(&error) && course.has_ended() =>
                {
                    refused = Some(error.clone());
                    give_up(&mut course, [set_up, solving], GivenUp::Refused(error));
                }
                Err(error) => return Err(error),
            }
        }
        let late = course.clock.is_past(stop.within);
        Self::without_the_last(course.tried, late, compiling)
            .ok_or_else(|| refused.unwrap_or(Error::Internal { place: "Auto", detail: "nothing to try" }))
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
        (share, course): (usize, &mut Course),
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

/// Iterations of what costs so many products in each, for 200 cycles' worth of products: one cycle at least.
fn few(choice: Choice, products: Option<f64>) -> usize {
    match (choice.method, products) {
        (MethodKind::Gmres, Some(products)) => {
            ((200.0 / (1.0 + products)).min(10.0) as usize).max(1) * choice.restart
        }
        _ => usize::MAX,
    }
}

/// The breakdown that shows a matrix indefinite.
fn has_negative_curvature(solved: &SolveReport) -> bool {
    solved.breakdown.is_some_and(|broken| broken.quantity == "p.Ap" && broken.value < 0.0)
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
