//! Systems that come from the host: reduced there, solved on the device or by sparse factors, certified as they were given.

mod certificate;
mod consistent;
mod factors;
mod iterations;
mod report;
mod roads;
mod units;
#[cfg(feature = "direct")]
mod unreached;

pub use factors::DirectUse;
pub use report::{HostReport, SolvedBy};

use certificate::Best;
use roads::{Road, Under, ended};
use units::{difference, largest, norm2, units_apart};

use std::borrow::Cow;
use std::cell::OnceCell;
#[cfg(feature = "direct")]
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use crate::data::{MatrixFormat, StoredMatrix};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::host::{Csr, NearNullSpace, NormalForm, NormalParams, NormalPart};
#[cfg(feature = "direct")]
use crate::host::{Direct, DirectPlan};
use crate::solve::auto::{Attempt, Auto, AutoEvent, AutoParams, GivenUp, Hear, is_of_the_choice};
use crate::solve::drive::looks::Observer;
use crate::solve::drive::report::{Components, HistoryPoint, SolveReport, StopReason};
use crate::solve::drive::slices::now;
use crate::solve::precondition::without_factors;
use crate::solve::solving::Solving;

/// Parameters of [`HostSystem`].
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct HostSystemParams {
    /// When to stop, and what is tried: the bounds are on the residual of the system as given.
    pub auto: AutoParams,
    /// Parts of the normal form.
    pub normal: NormalParams,
    /// Format of the matrices on the device.
    pub format: MatrixFormat,
    /// Use of sparse factors.
    pub direct: DirectUse,
    /// Vectors that the matrix and its transpose map to zero: see [`StoredMatrix::with_null_space`]. The solution is then orthogonal
    /// to them, and found by iterations unless factors are asked for. Vectors of ones need not be said.
    pub null_space: Vec<Vec<f64>>,
    /// What errors look like that sweeps do not reduce: see [`NearNullSpace`]. Nodes with 2, 3 or 6 unknowns need not be said.
    pub near_null_space: Option<NearNullSpace>,
}

with!(HostSystemParams:
    with_auto(auto: AutoParams),
    with_normal(normal: NormalParams),
    with_format(format: MatrixFormat),
    with_direct(direct: DirectUse),
    with_null_space(null_space: Vec<Vec<f64>>),
    with_near_null_space(near_null_space: Option<NearNullSpace>),
);

/// A square system `A x = b` of the host's, solved in its [normal form](NormalForm).
///
/// Unknowns that need no iteration are eliminated; the rest is solved by [`Auto`] on the device, in pairs of floats where that
/// can, or by sparse factors on the host. The certificate is about `A` and `b` as given: `x` is put on the device, where
/// `b - A x` is computed in double-float, with the [share of each row](Components). Up to three corrections follow, by the residual in
/// 64 bits, while each gains ten times. A normal form that changes the system slightly (penalty rows, rounding asymmetry) is undone
/// where corrections do not gain.
///
/// # Cost
/// That of [`NormalForm::new`] and of two [`StoredMatrix`]; of a solve that of [`Auto`], an upload and a readback of `x` for each
/// run, and one residual, which a converged run from zero on the matrix as given has computed itself. What was set up serves all right-hand sides.
///
/// # Examples
/// ```
/// use texla::{host::problems, solve::{HostSystem, HostSystemParams}};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// // Negative definite, and one entry is off by its last bit.
/// let a = problems::poisson_2d(20, 20).to_csr();
/// let mut values: Vec<f64> = a.values().iter().map(|v| -v).collect();
/// values[1] *= 1.0 + f64::EPSILON;
/// let a = a.with_values(&values)?;
/// let system = HostSystem::new(dev, a.clone(), HostSystemParams::default())?;
/// let (x, report) = system.solve(&a.mul_vec(&vec![1.0; 400])?)?;
/// assert!(report.converged(), "{report}");
/// assert!(report.normal.contains("negated"), "{report}");
/// assert!(x.iter().all(|x| (x - 1.0).abs() < 1e-4));
/// # Ok::<(), texla::Error>(())
/// ```
pub struct HostSystem {
    /// On the device.
    given: Rc<StoredMatrix>,
    /// As it was given, and what its columns have been multiplied by, where they are too far apart for floats.
    apart: Option<(Csr, Vec<f64>)>,
    normal: NormalForm,
    params: HostSystemParams,
    /// On the device, once iterations are needed.
    reduced: OnceCell<Auto<Rc<StoredMatrix>>>,
    /// The order of elimination, until it is used.
    #[cfg(feature = "direct")]
    order: RefCell<Option<DirectPlan>>,
    #[cfg(feature = "direct")]
    direct: OnceCell<std::result::Result<Direct, Error>>,
    /// Nodes that are found.
    nodes: OnceCell<Option<NearNullSpace>>,
    roads: Vec<Road>,
    /// How long iterations may take where there is something else.
    patience: Option<Duration>,
    /// What could not be planned.
    refused: Vec<Attempt>,
    heard: Option<Hear>,
}

shown!(HostSystem, |s| "HostSystem({}, {})", s.given.shape(), s.normal);

/// What pairs hold of a residual may be no less than this only where the matrix is singular to 64 bits: factors then lose a solution
/// that iterations find.
const SUSPECT: f64 = 1e-4;

/// What is tried where a normal form that changes the system slightly is not solved.
const UNCHANGED: &str = "the system without penalties and symmetry";

/// How long iterations may take there, at least.
const SUSPECT_PATIENCE: Duration = Duration::from_secs(5);

impl HostSystem {
    /// Reduces a system, and puts its matrix on the device.
    ///
    /// # Errors
    /// Those of [`NormalForm::new`] and [`StoredMatrix::new`]; [`Error::Parameter`] for a bound that is none; [`Error::Unsupported`] for sparse factors without the feature
    /// `direct`.
    pub fn new(device: &Device, a: Csr, params: HostSystemParams) -> Result<Self> {
        let normal = NormalForm::new(&a, params.normal)?;
        let apart = units_apart(&a).filter(|_| params.null_space.is_empty());
        let apart = apart.map(|units| (a.clone(), units));
        let a = match &apart {
            Some((_, units)) => a.map(|_, j, v| v * units.get(j).copied().unwrap_or(1.0)),
            None => a,
        };
        let given = StoredMatrix::new(device, a, params.format)?.with_null_space(&params.null_space)?;
        Self::reduced(Rc::new(given), apart, normal, params)
    }

    /// The same of a matrix that is on the device, without a null space of its own.
    #[cfg(feature = "script")]
    pub(crate) fn on(given: Rc<StoredMatrix>, params: HostSystemParams) -> Result<Self> {
        let a = (*given).pattern();
        if units_apart(a).is_some() {
            return Self::new(given.device(), a.clone(), params);
        }
        let normal = NormalForm::new(a, params.normal)?;
        Self::reduced(given, None, normal, params)
    }

    fn reduced(
        given: Rc<StoredMatrix>,
        apart: Option<(Csr, Vec<f64>)>,
        normal: NormalForm,
        params: HostSystemParams,
    ) -> Result<Self> {
        let asked = matches!(params.direct, DirectUse::First | DirectUse::Last);
        if asked && !cfg!(feature = "direct") {
            return Err(without_factors());
        }
        params.auto.stop.check("HostSystem")?;
        given.check_certifiable()?;
        params.near_null_space.iter().try_for_each(|space| space.check("HostSystem", given.shape().cols))?;
        let mut system = HostSystem {
            given,
            apart,
            normal,
            params,
            reduced: OnceCell::new(),
            #[cfg(feature = "direct")]
            order: RefCell::new(None),
            #[cfg(feature = "direct")]
            direct: OnceCell::new(),
            nodes: OnceCell::new(),
            roads: Vec::new(),
            patience: None,
            refused: Vec::new(),
            heard: None,
        };
        system.plan();
        Ok(system)
    }

    /// Returns the bytes that factors may take on the host: none where they are not tried.
    #[cfg(feature = "script")]
    pub(crate) fn bytes_of_factors(&self) -> u64 {
        #[cfg(feature = "direct")]
        if self.roads.contains(&Road::Factors) {
            if self.order.borrow().is_none()
                && let Ok(plan) = DirectPlan::new(self.normal.matrix())
            {
                self.order.replace(Some(plan));
            }
            // A number and an index for each entry.
            return self.order.borrow().as_ref().map_or(0, |plan| 12 * plan.entries() as u64);
        }
        0
    }

    /// Calls `hear` when a choice of [`Auto`] begins, and when it or an [attempt](HostReport::given_up) is given up.
    pub fn heard(mut self, hear: impl Fn(&AutoEvent<'_>) + 'static) -> Self {
        self.heard = Some(Rc::new(hear));
        self
    }

    /// The matrix as it was given.
    fn matrix(&self) -> &Csr {
        self.apart.as_ref().map_or_else(|| self.given.pattern(), |(a, _)| a)
    }

    /// Returns how the matrix is kept on the device.
    pub fn format(&self) -> MatrixFormat {
        self.given.format()
    }

    /// Returns the normal form.
    pub fn normal(&self) -> &NormalForm {
        &self.normal
    }

    /// Solves for a right-hand side, from zero.
    ///
    /// Not converging is no error: see [`HostReport::solved`].
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], [`Error::Parameter`] for elements that are not finite, [`Error::Inconsistent`] if no solution meets
    /// the bound; where nothing could be used, the last error.
    pub fn solve(&self, b: &[f64]) -> Result<(Vec<f64>, HostReport)> {
        self.solve_observed(b, &vec![0.0; b.len()], |_| {})
    }

    /// Solves from a start, and calls `observe` at every poll of iterations.
    ///
    /// # Errors
    /// As of [`solve`](Self::solve).
    pub fn solve_observed(
        &self,
        b: &[f64],
        start: &[f64],
        mut observe: impl FnMut(HistoryPoint),
    ) -> Result<(Vec<f64>, HostReport)> {
        now(self.solving(b, start, &mut observe))
    }

    /// Begins the same solve, to be advanced a [slice](crate::solve::Slice) at a time: see [`Solving`]. What is computed on the host
    /// (factors, preconditioners, residuals in 64 bits) is not cut. After an error the solution is the start.
    pub fn begin(self: Rc<Self>, b: Vec<f64>, start: Vec<f64>) -> Solving<'static, Vec<f64>, HostReport> {
        let device = self.given.device().clone();
        Solving::new(&device, move |seen| async move {
            match self.solving(&b, &start, &mut |point| seen.set(Some(point))).await {
                Ok((x, report)) => (x, Ok(report)),
                Err(error) => (start, Err(error)),
            }
        })
    }

    async fn solving(
        &self,
        b: &[f64],
        start: &[f64],
        observe: &mut Observer<'_>,
    ) -> Result<(Vec<f64>, HostReport)> {
        if start.len() != self.matrix().shape().cols || largest(start) > 0.0 {
            self.normal.start(start)?;
        }
        self.check_consistent(b)?;
        let mut under = Under::new(self.refused.clone(), self.heard.clone(), &mut *observe);
        let mut best: Option<Best> = None;
        let within = self.params.auto.stop.within;
        let most = self.params.auto.max_iters;
        let spent = |under: &Under<'_, '_>| !under.runs.is_empty() && under.iterations() >= most;
        let late = |under: &Under<'_, '_>| within.is_some_and(|within| under.started.elapsed() >= within);
        for (k, road) in self.roads.iter().enumerate() {
            if best.is_some() && late(&under) {
                break;
            }
            if *road == Road::Iterations && spent(&under) {
                continue;
            }
            // Once more only what was cut short for another one.
            let was_cut = || under.runs.iter().any(|run| run.solved.reason == StopReason::OutOfTime);
            if k > 1 && !was_cut() {
                break;
            }
            under.patience = self.patience.filter(|_| k == 0);
            if under.fresh {
                under.patience = Some(SUSPECT_PATIENCE.max(10 * under.started.elapsed()));
            }
            under.go_on();
            let before = under.started.elapsed();
            let found = self.by_road(*road, b, start, &mut best, &mut under).await;
            let took = under.started.elapsed() - before;
            match found {
                Ok((by, why)) => {
                    let held = self.is_all_that_pairs_hold(b, &mut best)?;
                    let report = best.as_ref().map(|best| &best.report);
                    let least = report.and_then(|report| report.least_residual).filter(|_| held);
                    under.fresh = least.is_some_and(|least| least > SUSPECT);
                    if !under.fresh && (held || report.is_some_and(SolveReport::converged)) {
                        break;
                    }
                    under.ended = Some(Attempt { what: by.to_string(), took, why });
                }
                Err(error) if is_of_the_choice(&error) => under.refuse(road.name(), took, error),
                Err(error) => return Err(error),
            }
            #[cfg(feature = "direct")]
            if *road == Road::Factors {
                self.check_reached(b)?;
            }
        }
        let (late, spent) = (late(&under), spent(&under));
        under.keep(best.as_ref().map(|best| best.by));
        under.go_on();
        self.no_worse_than(start, b, &mut best).await?;
        let iterations = under.iterations();
        let double_iterations = under.runs.iter().map(|run| run.solved.double_iterations).sum();
        let Some(Best { x, report, is_sound, by, corrections }) = best else {
            let last = under.given_up.into_iter().rev().find_map(Attempt::into_error);
            return Err(last.unwrap_or(Error::Internal { place: "HostSystem", detail: "nothing to try" }));
        };
        let mut solved =
            self.with_unsolvable_parts(SolveReport { iterations, double_iterations, ..report }, b)?;
        if solved.reason == StopReason::MaxIterations {
            solved.reason = if late { StopReason::OutOfTime } else { under.reason() };
        }
        if solved.reason == StopReason::Stagnated && is_sound {
            solved.components = Some(self.backward_error(&x, b)?.1);
        }
        let told =
            solved.reason == StopReason::OutOfTime || spent || is_sound || solved.least_residual.is_some();
        if !(solved.converged() || told) && self.changes_slightly() {
            let before = under.started.elapsed();
            under.go_on();
            let again = match self.unchanged() {
                Ok(other) => {
                    let mut observe = |point: HistoryPoint| (under.observe)(point.after(iterations));
                    Box::pin(other.solving(b, &x, &mut observe)).await
                }
                Err(error) => Err(error),
            };
            match again {
                Ok((again, report)) if Best::score(&report.solved) < Best::score(&solved) => {
                    let runs = under.runs.into_iter().chain(report.runs).collect();
                    let given_up = under.given_up.into_iter().chain(report.given_up).collect();
                    return Ok((again, HostReport { runs, given_up, ..report }));
                }
                Ok((_, report)) => {
                    let why = GivenUp::Ended(Box::new(report.solved));
                    under.give_up(Attempt {
                        what: UNCHANGED.to_owned(),
                        took: under.started.elapsed() - before,
                        why,
                    });
                }
                Err(error) if is_of_the_choice(&error) || matches!(error, Error::Inconsistent { .. }) => {
                    under.refuse(UNCHANGED, under.started.elapsed() - before, error);
                }
                Err(error) => return Err(error),
            }
        }
        let (runs, given_up) = (under.runs, under.given_up);
        Ok((x, HostReport { solved, by, normal: self.normal.to_string(), corrections, runs, given_up }))
    }

    /// Whether the normal form is another system by more than powers of two and what is exact.
    fn changes_slightly(&self) -> bool {
        let evened = self.normal.is_symmetric() && self.normal.asymmetry().is_some_and(|a| a > 0.0);
        evened || self.normal.eliminated().penalties > 0
    }

    /// The same system without that.
    fn unchanged(&self) -> Result<HostSystem> {
        let normal = self.params.normal.with_penalties(NormalPart::Off).with_symmetry(NormalPart::Off);
        let params = self.params.clone().with_normal(normal);
        HostSystem::new(self.given.device(), self.matrix().clone(), params)
    }

    /// One way, with corrections while they gain: by what, and how it ended.
    async fn by_road(
        &self,
        road: Road,
        b: &[f64],
        start: &[f64],
        best: &mut Option<Best>,
        under: &mut Under<'_, '_>,
    ) -> Result<(SolvedBy, GivenUp)> {
        let limit = Components::limit(self.params.auto.stop.relative);
        let (mut x, mut before, mut share) = (start.to_vec(), f64::INFINITY, 0.5);
        if let Some(best) = best
            && !under.fresh
        {
            x.clone_from(&best.x);
        }
        let own = under.iterations();
        let mut corrections = 0;
        loop {
            let from_zero = largest(&x) == 0.0;
            let rest = match from_zero {
                true => Cow::Borrowed(b),
                false => Cow::Owned(difference(b, &self.matrix().mul_vec(&x)?)),
            };
            let right = self.normal.right(&rest)?;
            let (y, by) = self.reduced_solution(road, &right, (b, &rest), share, under).await?;
            let step = self.normal.solution(&y, &rest)?;
            x.iter_mut().zip(step).for_each(|(x, step)| *x += step);
            let found = x.clone();
            let first = under.runs.last().filter(|_| road == Road::Iterations && from_zero);
            let known = first.and_then(|run| self.certified_by(run, &x));
            let certified = match known {
                Some(report) => Ok(report),
                None => self.certificate(&mut x, b).await,
            };
            let certified = match certified {
                // Terms are beyond the range of floats: the device knows zero, and the host whether each equation holds.
                Err(Error::NonFinite { .. }) => {
                    x.fill(0.0);
                    self.certificate(&mut x, b).await?
                }
                certified => certified?,
            };
            let report = self.with_small_rows(certified, &x, b)?;
            let (report, is_sound) = self.with_sound(report, &mut x, found, b)?;
            let score = Best::score(&report);
            let rank = Best::rank(&report, is_sound);
            let is_better = best.as_ref().is_none_or(|best| rank < Best::rank(&best.report, best.is_sound));
            let converged = report.converged();
            let hidden = report.reason == StopReason::NormOnly;
            // The next one has to gain as much for equations that the norm hides.
            let outcome = (by, ended(&report, under.reason(), under.iterations() - own));
            share = report.components.map_or(0.5, |found| (0.1 * limit / found.omega).min(0.5));
            if converged || is_better {
                *best = Some(Best { x: x.clone(), report, is_sound, by, corrections });
            }
            // A run that has not gained ten times by itself would not from here.
            let gained = road != Road::Iterations
                || under.runs.last().is_none_or(|run| run.solved.true_residual <= 0.1);
            let stalls = score > 0.1 * before && !hidden;
            // Another division by factors costs little, and may gain some more.
            let spent = under.iterations() >= self.params.auto.max_iters;
            let held = road == Road::Iterations && (spent || self.is_all_that_pairs_hold(b, best)?);
            if converged || !gained || score.is_nan() || stalls || held || corrections == 3 {
                return Ok(outcome);
            }
            corrections += 1;
            before = score;
        }
    }

    async fn reduced_solution(
        &self,
        road: Road,
        right: &[f64],
        (b, rest): (&[f64], &[f64]),
        most: f64,
        under: &mut Under<'_, '_>,
    ) -> Result<(Vec<f64>, SolvedBy)> {
        match road {
            Road::Elimination => Ok((Vec::new(), SolvedBy::Elimination)),
            Road::Iterations => {
                let left = norm2(rest) / norm2(b);
                // By how much of the residual that is left the bound is met.
                let share = self.params.auto.stop.relative / left;
                let relative = if share.is_nan() {
                    self.params.auto.stop.relative
                } else {
                    share.clamp(1e-14, most.max(1e-14))
                };
                let (y, report) = self.iterated(right, (relative, left), under).await?;
                let choice = report.choice;
                under.runs.push(report);
                Ok((y, SolvedBy::Iterations(choice)))
            }
            #[cfg(feature = "direct")]
            Road::Factors => self.factored(right),
        }
    }

    fn pairs(&self) -> bool {
        self.given.device().capabilities().exact_form.is_some()
    }
}
