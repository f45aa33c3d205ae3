//! Systems that come from the host: reduced there, solved on the device or by sparse factors, certified as they were given.

mod report;

pub use report::{HostReport, SolvedBy};

use std::cell::OnceCell;
#[cfg(feature = "direct")]
use std::cell::RefCell;
use std::rc::Rc;

use crate::data::{DoubleVector, MatrixFormat, StoredMatrix, Unknowns, Vector, exponent};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::host::approximate::largest;
use crate::host::{Csr, Imbalance, NormalForm, NormalParams, NormalPart};
#[cfg(feature = "direct")]
use crate::host::{Direct, DirectPlan};
use crate::solve::auto::{
    Auto, AutoParams, AutoReport, Choice, ChoiceParams, MethodKind, PreconditionerKind, is_of_the_choice,
};
use crate::solve::drive::report::{Components, HistoryPoint, SolveReport, Stop};

/// Use of sparse factors ([`Direct`](crate::host::Direct), feature `direct`) by a [`HostSystem`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DirectUse {
    /// First where factors are small, of at most 4e6 entries where they may be Cholesky's and 1.5e7 elsewhere; last up to 1e8.
    #[default]
    ByCost,
    /// Iterations alone.
    Never,
    /// Where iterations fail, whatever it takes.
    Last,
    /// Before iterations, whatever it takes.
    First,
}

words!(DirectUse, "use of sparse factors": "by-cost" => ByCost, "never" => Never, "last" => Last, "first" => First);

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
}

with!(HostSystemParams:
    with_auto(auto: AutoParams),
    with_normal(normal: NormalParams),
    with_format(format: MatrixFormat),
    with_direct(direct: DirectUse),
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
/// run, and one residual. What was set up serves all right-hand sides.
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
    given: Rc<StoredMatrix>,
    normal: NormalForm,
    params: HostSystemParams,
    /// On the device, once iterations are needed.
    reduced: OnceCell<Rc<StoredMatrix>>,
    /// The order of elimination, until it is used.
    #[cfg(feature = "direct")]
    order: RefCell<Option<DirectPlan>>,
    #[cfg(feature = "direct")]
    direct: OnceCell<std::result::Result<Direct, Error>>,
    roads: Vec<Road>,
    refused: Vec<(&'static str, Error)>,
}

shown!(HostSystem, |s| "HostSystem({}, {})", s.given.shape(), s.normal);

/// A way to solve the reduced system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Road {
    Elimination,
    Iterations,
    #[cfg(feature = "direct")]
    Factors,
}

impl Road {
    fn name(self) -> &'static str {
        match self {
            Road::Elimination => "elimination",
            Road::Iterations => "iterations",
            #[cfg(feature = "direct")]
            Road::Factors => "sparse factors",
        }
    }
}

/// The best solution so far.
struct Best {
    x: Vec<f64>,
    report: SolveReport,
    by: SolvedBy,
    corrections: usize,
}

impl Best {
    /// What decides between solutions: the residual, or what it hides.
    fn score(report: &SolveReport) -> f64 {
        let hidden = report.components.map_or(0.0, |Components { omega, .. }| omega / Components::LIMIT);
        if report.true_residual.is_nan() { f64::INFINITY } else { report.true_residual.max(hidden) }
    }
}

/// A power of two of about this size.
fn power_of(size: f64) -> f64 {
    f64::from(exponent(size).clamp(-1000, 1000)).exp2()
}

fn norm2(list: &[f64]) -> f64 {
    let unit = power_of(largest(list));
    list.iter().map(|v| (v / unit).powi(2)).sum::<f64>().sqrt() * unit
}

impl HostSystem {
    /// Reduces a system, and puts its matrix on the device.
    ///
    /// # Errors
    /// Those of [`NormalForm::new`] and [`StoredMatrix::new`]; [`Error::Unsupported`] for sparse factors without the feature
    /// `direct`.
    pub fn new(device: &Device, a: Csr, params: HostSystemParams) -> Result<Self> {
        let asked = matches!(params.direct, DirectUse::First | DirectUse::Last);
        if asked && !cfg!(feature = "direct") {
            return Err(Error::Unsupported {
                what: "sparse factors".into(),
                why: "texla was built without the feature `direct`".into(),
            });
        }
        let normal = NormalForm::new(&a, params.normal)?;
        let given = Rc::new(StoredMatrix::new(device, a, params.format)?);
        let mut system = HostSystem {
            given,
            normal,
            params,
            reduced: OnceCell::new(),
            #[cfg(feature = "direct")]
            order: RefCell::new(None),
            #[cfg(feature = "direct")]
            direct: OnceCell::new(),
            roads: Vec::new(),
            refused: Vec::new(),
        };
        system.plan();
        Ok(system)
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
        self.normal.start(start)?;
        self.check_consistent(b)?;
        let (mut runs, mut refused) = (Vec::new(), self.refused.clone());
        let mut best: Option<Best> = None;
        for road in &self.roads {
            match self.by_road(*road, b, start, &mut best, &mut runs, &mut observe) {
                Ok(()) if best.as_ref().is_some_and(|best| best.report.converged()) => break,
                Ok(()) => {}
                Err(error) if is_of_the_choice(&error) => refused.push((road.name(), error)),
                Err(error) => return Err(error),
            }
        }
        let iterations = runs.iter().map(AutoReport::iterations).sum();
        let Some(Best { x, report, by, corrections }) = best else {
            let last = refused.pop().map(|(_, error)| error);
            return Err(last.unwrap_or(Error::Internal { place: "HostSystem", detail: "nothing to try" }));
        };
        let solved = SolveReport { iterations, ..report };
        if !solved.converged() && self.changes_slightly() {
            match self.unchanged().and_then(|other| other.solve_observed(b, &x, observe)) {
                Ok((again, report)) if Best::score(&report.solved) < Best::score(&solved) => {
                    runs.extend(report.runs);
                    return Ok((again, HostReport { runs, ..report }));
                }
                Ok(_) => {}
                Err(error) if is_of_the_choice(&error) || matches!(error, Error::Inconsistent { .. }) => {
                    refused.push(("the system without penalties and symmetry", error));
                }
                Err(error) => return Err(error),
            }
        }
        Ok((x, HostReport { solved, by, normal: self.normal.to_string(), corrections, runs, refused }))
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
        HostSystem::new(self.given.device(), self.given.pattern().clone(), params)
    }

    /// Refuses a right-hand side that no `x` comes within the bound of.
    fn check_consistent(&self, b: &[f64]) -> Result<()> {
        let distance = |found: &Imbalance| match *found {
            Imbalance::Row { sum, .. } => sum.powi(2),
            Imbalance::Component { component, sum, .. } => {
                let size = self.normal.components().get(component).map_or(1, |c| c.unknowns.len());
                sum.powi(2) / size.max(1) as f64
            }
        };
        let found = self.normal.imbalances(b)?.iter().map(distance).sum::<f64>().sqrt();
        let bound = self.params.auto.stop.relative * norm2(b);
        if found > bound { Err(Error::Inconsistent { op: "HostSystem", found, bound }) } else { Ok(()) }
    }

    /// One way, with corrections while they gain.
    fn by_road(
        &self,
        road: Road,
        b: &[f64],
        start: &[f64],
        best: &mut Option<Best>,
        runs: &mut Vec<AutoReport>,
        observe: &mut impl FnMut(HistoryPoint),
    ) -> Result<()> {
        let (mut x, mut before) = (start.to_vec(), f64::INFINITY);
        if let Some(best) = best {
            x.clone_from(&best.x);
        }
        for corrections in 0..=3 {
            let rest: Vec<f64> =
                b.iter().zip(self.given.pattern().mul_vec(&x)?).map(|(b, ax)| b - ax).collect();
            let right = self.normal.right(&rest)?;
            let (y, by) = self.reduced_solution(road, &right, (b, &rest), runs, observe)?;
            let step = self.normal.solution(&y, &rest)?;
            x.iter_mut().zip(step).for_each(|(x, step)| *x += step);
            let report = self.certificate(&mut x, b)?;
            let score = Best::score(&report);
            let is_better = best.as_ref().is_none_or(|best| score < Best::score(&best.report));
            let converged = report.converged();
            if converged || is_better {
                *best = Some(Best { x: x.clone(), report, by, corrections });
            }
            if converged || score.is_nan() || score > 0.1 * before {
                break;
            }
            before = score;
        }
        Ok(())
    }

    fn reduced_solution(
        &self,
        road: Road,
        right: &[f64],
        (b, rest): (&[f64], &[f64]),
        runs: &mut Vec<AutoReport>,
        observe: &mut impl FnMut(HistoryPoint),
    ) -> Result<(Vec<f64>, SolvedBy)> {
        match road {
            Road::Elimination => Ok((Vec::new(), SolvedBy::Elimination)),
            Road::Iterations => {
                // By how much of the residual that is left the bound is met.
                let share = self.params.auto.stop.relative * norm2(b) / norm2(rest);
                let relative =
                    if share.is_nan() { self.params.auto.stop.relative } else { share.clamp(1e-14, 0.5) };
                let (y, report) = self.iterated(right, relative, observe)?;
                let choice = report.choice;
                runs.push(report);
                Ok((y, SolvedBy::Iterations(choice)))
            }
            #[cfg(feature = "direct")]
            Road::Factors => self.factored(right),
        }
    }

    /// The reduced system by iterations, of a right-hand side whose elements are near 1.
    fn iterated(
        &self,
        right: &[f64],
        relative: f64,
        observe: &mut impl FnMut(HistoryPoint),
    ) -> Result<(Vec<f64>, AutoReport)> {
        let device = self.given.device();
        let unit = power_of(largest(right));
        // What is below the range of floats then is far below the last digit of pairs.
        let in_range = |v: f64| if v.abs() < 1e-30 { 0.0 } else { v };
        let right: Vec<f64> = right.iter().map(|v| in_range(v / unit)).collect();
        let reduced = match self.reduced.get() {
            Some(reduced) => reduced,
            None => {
                let made = match self.normal.is_identity() {
                    true => Rc::clone(&self.given),
                    false => {
                        Rc::new(StoredMatrix::new(device, self.normal.matrix().clone(), self.params.format)?)
                    }
                };
                self.reduced.get_or_init(|| made)
            }
        };
        let params = self.params.auto.clone();
        let stop = Stop { relative, ..params.stop };
        let auto = Auto::new(Rc::clone(reduced), params.with_stop(stop))?;
        let (y, report) = if self.pairs() {
            let mut y = DoubleVector::zeros(device, right.len())?;
            let report = auto.solve_observed(&mut y, &DoubleVector::from_f64(device, &right)?, observe)?;
            (y.read()?, report)
        } else {
            let mut y = Vector::zeros(device, right.len())?;
            let report = auto.solve_observed(&mut y, &Vector::from_f64(device, &right)?, observe)?;
            (y.read()?.into_iter().map(f64::from).collect(), report)
        };
        Ok((y.into_iter().map(|v| v * unit).collect(), report))
    }

    fn pairs(&self) -> bool {
        self.given.device().capabilities().exact_form.is_some()
    }

    /// The verdict on a solution of the system as given: a solve of no iterations from there, which leaves in `x` what it is about,
    /// rounded to pairs.
    fn certificate(&self, x: &mut [f64], b: &[f64]) -> Result<SolveReport> {
        // Between the sizes of both, so that neither is near an end of the range of floats.
        let unit = power_of(power_of(largest(b)).sqrt() * power_of(largest(x)).sqrt());
        let scaled = |list: &[f64]| list.iter().map(|v| v / unit).collect::<Vec<f64>>();
        let (start, b, device) = (scaled(x), scaled(b), self.given.device());
        let (report, certified) = if self.pairs() {
            let mut on_device = DoubleVector::from_f64(device, &start)?;
            let report = self.judged(&mut on_device, &DoubleVector::from_f64(device, &b)?)?;
            (report, on_device.read()?)
        } else {
            let mut on_device = Vector::from_f64(device, &start)?;
            let report = self.judged(&mut on_device, &Vector::from_f64(device, &b)?)?;
            (report, on_device.read()?.into_iter().map(f64::from).collect())
        };
        x.iter_mut().zip(certified).for_each(|(x, v)| *x = v * unit);
        Ok(report)
    }

    fn judged<X: Unknowns>(&self, x: &mut X, b: &X) -> Result<SolveReport> {
        let params = ChoiceParams::default().with_stop(self.params.auto.stop).with_max_iters(0);
        let choice = Choice::new(MethodKind::BiCgStab, PreconditionerKind::None);
        choice.prepare(&*self.given, params)?.solve(x, b)
    }
}

#[cfg(not(feature = "direct"))]
impl HostSystem {
    fn plan(&mut self) {
        let empty = self.normal.matrix().shape().rows == 0;
        self.roads = vec![if empty { Road::Elimination } else { Road::Iterations }];
    }
}

#[cfg(feature = "direct")]
impl HostSystem {
    /// Entries of factors up to which they come first: where they may be Cholesky's, and elsewhere; and at all.
    const FIRST: [usize; 2] = [4_000_000, 15_000_000];
    const AT_ALL: usize = 100_000_000;

    /// In what order the roads are tried.
    fn plan(&mut self) {
        use DirectUse::{ByCost, First, Last, Never};
        if self.normal.matrix().shape().rows == 0 {
            self.roads = vec![Road::Elimination];
            return;
        }
        let (iterations, factors) = (Road::Iterations, Road::Factors);
        let by_cost = |plan: &DirectPlan| {
            let [definite, others] = Self::FIRST;
            let first = if plan.is_positive() { definite } else { others };
            match plan.entries() {
                n if n <= first => vec![factors, iterations],
                n if n <= Self::AT_ALL => vec![iterations, factors],
                _ => vec![iterations],
            }
        };
        self.roads = match self.params.direct {
            Never => vec![iterations],
            First => vec![factors, iterations],
            Last => vec![iterations, factors],
            ByCost => match DirectPlan::new(self.normal.matrix()) {
                Ok(plan) => {
                    let roads = by_cost(&plan);
                    *self.order.get_mut() = Some(plan).filter(|_| roads.contains(&factors));
                    roads
                }
                Err(error) => {
                    self.refused.push((factors.name(), error));
                    vec![iterations]
                }
            },
        };
    }

    fn factored(&self, right: &[f64]) -> Result<(Vec<f64>, SolvedBy)> {
        let made = self.direct.get_or_init(|| {
            let matrix = self.normal.matrix();
            self.order.take().map_or_else(|| DirectPlan::new(matrix), Ok)?.factor(matrix)
        });
        let direct = made.as_ref().map_err(Clone::clone)?;
        Ok((direct.solve(right)?, SolvedBy::Factors { cholesky: direct.is_cholesky() }))
    }
}
