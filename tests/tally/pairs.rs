//! The same systems solved for unknowns and right-hand sides that are pairs of floats.
//!
//! What is claimed is judged with the coefficients and the right-hand side that two floats hold of those given: sums of
//! their products are exact here, so that a false claim has no rounding to hide behind.

use texla::ops::LinOp;
use texla::solve::{
    Auto, AutoParams, BiCgStab, BiCgStabParams, CgParams, CgSchedule, Cgls, CglsParams, ConjugateGradient,
    Direction, FlexibleCgParams, FlexibleConjugateGradient, GaussSeidel, Gmres, GmresParams, HistoryPoint,
    Identity, Jacobi, LcpParams, LcpSolver, Minres, MinresParams, Preconditioner, Recurrence, Relaxation,
    Smoother, Stationary, StationaryParams, Stop, StopReason, WeightedJacobi,
};
use texla::{Device, DoubleVector, Error, Result};

use crate::common::bounds::TINY;
use crate::common::harness;
use crate::common::reference;
use crate::common::systems::{lcp_unit, norm};
use crate::common::worst::worst;
use crate::exact::{self, Expansion, Term};
use crate::judge::{Fault, Measure, Outcome, Problem, said};
use crate::run::{self, Declared, Format, Help, Method, Operator, Said};
use crate::systems::{Form, System};

/// Both parts of a vector's elements.
#[derive(Clone, Debug, PartialEq)]
pub struct Parts {
    pub high: Vec<f32>,
    pub low: Vec<f32>,
}

impl Parts {
    fn read(x: &DoubleVector) -> Result<Self> {
        Ok(Parts { high: x.high().read()?, low: x.low().read()? })
    }

    /// What is negative made zero.
    fn projected(&self) -> Self {
        let keep = |part: &[f32]| {
            let sums = self.rounded().into_iter().zip(part);
            sums.map(|(sum, v)| if sum < 0.0 { 0.0 } else { *v }).collect()
        };
        Parts { high: keep(&self.high), low: keep(&self.low) }
    }

    /// In 64 bits, of which the difference of two neighbours may have no more than 53.
    fn rounded(&self) -> Vec<f64> {
        self.high.iter().zip(&self.low).map(|(h, l)| f64::from(*h) + f64::from(*l)).collect()
    }
}

/// What came back, with what it is to be judged by.
pub struct PairRun {
    pub format: Format,
    pub bound: f64,
    most: usize,
    pub problem: Problem,
    measure: Measure,
    /// Of `x` and `b` the high parts.
    pub outcome: Outcome,
    pub counts: Counts,
    b: Parts,
    b_after: Parts,
    x0: Parts,
    pub x: Parts,
}

/// In what a method solves for pairs: where its recurrence has two ways, in each of them; not at all, if it does not.
pub fn ways(method: Method) -> &'static [Recurrence] {
    match method {
        Method::Cg(..) => &[Recurrence::Auto, Recurrence::Double],
        Method::Fixed(_) | Method::Batch(_) => &[],
        _ => &[Recurrence::Auto],
    }
}

/// By the method alone: schedules and preconditioners are told apart where the verdicts are counted.
pub fn family(method: Method, recurrence: Recurrence) -> &'static str {
    match method {
        Method::BiCgStab(_, 1) => "BiCGStab for pairs",
        Method::BiCgStab(..) => "BiCGStab(2) for pairs",
        Method::Gmres(..) => "GMRES for pairs",
        Method::Minres(_) => "MINRES for pairs",
        Method::Flexible(_) => "flexible CG for pairs",
        Method::Auto => "auto for pairs",
        Method::Cgls(_) => "CGLS for pairs",
        Method::Lcp(_) => "LCP for pairs",
        Method::Jacobi(_) | Method::GaussSeidel(..) | Method::NineBands | Method::Multigrid => {
            "stationary for pairs"
        }
        _ if recurrence == Recurrence::Double => "CG in pairs",
        _ => "CG for pairs",
    }
}

/// Solves a system for pairs; `Err` where it could not be put on the device.
pub fn run(
    device: &Device,
    system: &System,
    (method, recurrence): (Method, Recurrence),
    number: usize,
) -> Result<PairRun> {
    let mut rng = run::format_rng(system, number);
    let csr = system.triplets().to_csr();
    let format = run::format(system, method, &csr, &mut rng);
    let bound = 10f64.powf(-6.0 - 7.0 * rng.unit());
    let terms = run::held(&csr, system, format);
    let mut problem = run::problem(system, terms, format);
    let operator = Operator::new(device, system, csr, format)?;
    // None declared: unknowns of pairs are refused where there is a null space. Undeclared, such systems are singular ones.
    let a = Declared { operator: &operator, null_space: Vec::new() };
    // A start that 32 bits do not hold, for every other system.
    let more = if rng.below(2) == 0 { 1.0 } else { 1.0 + 2f64.powi(-30) };
    let start: Vec<f64> = system.x0.iter().map(|v| f64::from(*v) * more).collect();
    let (b, mut x) = (DoubleVector::from_f64(device, &system.b)?, DoubleVector::from_f64(device, &start)?);
    let (given, x0) = (Parts::read(&b)?, Parts::read(&x)?);
    // So many that a recurrence in 32 bits may be seen to gain nothing, of one in four.
    let most = if system.most == 300 && rng.below(4) == 0 { 1500 } else { system.most };
    problem.null_space = !a.null_space().is_empty();
    (problem.bound, problem.held, problem.x0) = (bound, given.rounded(), x0.high.clone());
    let stop = Stop::relative(bound).check_every(system.every);
    let mut counts = Counts::default();
    let solved = solve(system, (method, recurrence), &a, (stop, most), (&mut x, &b), &mut counts);
    let (x, b_after) = (Parts::read(&x)?, Parts::read(&b)?);
    let outcome = run::outcome(solved, x.high.clone(), None);
    let measure = match method {
        Method::Cgls(_) => Measure::Normal,
        Method::Lcp(_) => Measure::Complementarity,
        _ => Measure::Residual,
    };
    Ok(PairRun { format, bound, most, problem, measure, outcome, counts, b: given, b_after, x0, x })
}

/// Of a report, what it counts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub iterations: usize,
    pub double_iterations: usize,
    /// An entry of the history is of no later iteration than the one before it.
    pub unsorted: bool,
}

fn solve(
    system: &System,
    (method, recurrence): (Method, Recurrence),
    a: &Declared<'_>,
    (stop, most): (Stop, usize),
    (x, b): (&mut DoubleVector, &DoubleVector),
    counts: &mut Counts,
) -> Result<Said> {
    // What has left the range is told where it began.
    let unsorted = |history: &[HistoryPoint]| history.windows(2).any(|w| w[0].iteration >= w[1].iteration);
    if let Method::Lcp(relaxation) = method {
        let params = LcpParams::default().with_max_sweeps(most).with_stop(stop).with_relaxation(relaxation);
        let report = LcpSolver::new(a, params)?.solve(x, b)?;
        let iterations = report.outcome.sweeps;
        *counts = Counts { iterations, double_iterations: 0, unsorted: unsorted(&report.history) };
        return Ok(run::of_lcp(&report.outcome));
    }
    let mut helped = |m: &dyn Preconditioner| match method {
        Method::Cg(schedule, _) => {
            let params = CgParams::default().with_max_iters(most).with_stop(stop).with_schedule(schedule);
            let params = params.with_recurrence(recurrence);
            ConjugateGradient::preconditioned(a, m, params)?.solve(x, b)
        }
        Method::BiCgStab(_, ell) => {
            let params = BiCgStabParams::default().with_max_iters(most).with_stop(stop).with_ell(ell);
            BiCgStab::preconditioned(a, m, params)?.solve(x, b)
        }
        Method::Gmres(_, restart) => {
            let params = GmresParams::default().with_max_iters(most).with_stop(stop).with_restart(restart);
            Gmres::preconditioned(a, m, params)?.solve(x, b)
        }
        Method::Minres(_) => {
            let params = MinresParams::default().with_max_iters(most).with_stop(stop);
            Minres::preconditioned(a, m, params)?.solve(x, b)
        }
        Method::Flexible(_) => {
            let params = FlexibleCgParams::default().with_max_iters(most).with_stop(stop);
            FlexibleConjugateGradient::preconditioned(a, m, params)?.solve(x, b)
        }
        Method::Cgls(_) => {
            let params = CglsParams::default().with_max_iters(most).with_stop(stop);
            Cgls::preconditioned(a, m, params)?.solve(x, b)
        }
        other => panic!("{other} has no preconditioner"),
    };
    let report = match method {
        Method::Cgls(Help::Jacobi) => helped(&Jacobi::for_least_squares(a)?),
        Method::Minres(Help::Jacobi) => helped(&Jacobi::absolute(a)?),
        Method::Auto => {
            let params =
                AutoParams::default().with_max_iters(most).with_stop(stop).with_recurrence(recurrence);
            Auto::new(a, params)?.solve(x, b).map(|report| report.solved)
        }
        Method::Cg(_, help)
        | Method::BiCgStab(help, _)
        | Method::Gmres(help, _)
        | Method::Minres(help)
        | Method::Flexible(help)
        | Method::Cgls(help) => match help {
            Help::None => helped(&Identity),
            Help::Jacobi => helped(&Jacobi::new(a)?),
            Help::GaussSeidel => helped(&GaussSeidel::new(a, 1.0, Direction::Symmetric)?),
            Help::NineBands => helped(&run::nine_bands(system, a)?),
            Help::Multigrid => helped(&run::multigrid(system, a)?),
            entries => helped(run::by_entries(entries, a)?.as_ref()),
        },
        _ => {
            let mut swept = |smoother: &dyn Smoother, test_every| {
                let params = StationaryParams::default().with_max_sweeps(most).with_stop(stop);
                Stationary::new(a, smoother, params.with_test_every(test_every))?.solve(x, b)
            };
            match method {
                Method::Jacobi(omega) => swept(&WeightedJacobi::new(a, omega)?, 8),
                Method::GaussSeidel(omega, way) => swept(&GaussSeidel::new(a, omega, way)?, 8),
                Method::NineBands => swept(&run::nine_bands(system, a)?, 8),
                Method::Multigrid => swept(&run::multigrid(system, a)?, 1),
                other => panic!("{other} does not solve for pairs"),
            }
        }
    }?;
    let (iterations, double_iterations) = (report.iterations, report.double_iterations);
    *counts = Counts { iterations, double_iterations, unsorted: unsorted(&report.history) };
    Ok(run::of_report(report))
}

/// `b - A x` without an error, and the magnitude of what it is a sum of.
fn residual(terms: &[Term], x: &Parts, b: &Parts) -> (Vec<Expansion>, Vec<f64>) {
    let mut r = vec![Expansion::default(); b.high.len()];
    let mut sizes: Vec<f64> = b.high.iter().map(|v| f64::from(v.abs())).collect();
    for part in [&b.high, &b.low] {
        r.iter_mut().zip(part).for_each(|(r, v)| r.add(f64::from(*v)));
    }
    for &(i, j, v) in terms {
        for part in [&x.high, &x.low] {
            r[i].add_product(-v, f64::from(part[j]));
        }
        sizes[i] += (v * f64::from(x.high[j])).abs();
    }
    (r, sizes)
}

/// What is documented of sums in three floats, for products with so many parts.
fn in_three_floats(terms: &[Term], rows: usize, parts: usize) -> f64 {
    let mut counts = vec![2usize; rows];
    terms.iter().for_each(|t| counts[t.0] += parts);
    counts.into_iter().max().unwrap_or(2) as f64 * 2f64.powi(-66)
}

/// A residual, what rounding may have done to it, and what a device may have taken for zero of elements below the normal
/// range; and what is counted for what falls below it. Relative.
struct Measured {
    size: f64,
    rounding: f64,
    flushed: f64,
    below: f64,
}

impl PairRun {
    /// What is claimed: of complementarity the natural residual and the scaled one, else twice the same.
    fn claimed(&self, x: &Parts) -> [Measured; 2] {
        match self.measure {
            Measure::Complementarity => self.complementarity(x),
            measure => [measure, measure].map(|m| self.measured(x, m == Measure::Normal)),
        }
    }

    /// What the bound on rounding counts for what falls below the range of floats, of both parts of `x`.
    fn below(&self, x: &Parts) -> Vec<f64> {
        let (problem, b) = (&self.problem, self.b.rounded());
        let once = problem.below(&problem.terms, problem.rows, &x.rounded(), norm(&b));
        once.into_iter().map(|v| 2.0 * v).collect()
    }

    fn complementarity(&self, x: &Parts) -> [Measured; 2] {
        let (problem, b) = (&self.problem, &self.b);
        let minus: Vec<Term> = problem.terms.iter().map(|&(i, j, v)| (i, j, -v)).collect();
        let (w, sizes) = residual(&minus, x, b);
        let (w, wide) = (exact::values(&w), x.rounded());
        let rounding = in_three_floats(&problem.terms, problem.rows, 2) * reference::max_abs(&sizes);
        let flushed = problem.flushed(&x.high, &problem.held) + problem.flushed(&x.low, &[]);
        let below = self.below(x);
        let unit = match lcp_unit(&b.rounded()) {
            0.0 => 1.0,
            unit => unit,
        };
        let of = |x: &[f64]| {
            let size = reference::max_abs(&reference::min2(x, &w));
            let below = reference::max_abs(&below) / unit;
            Measured { size: size / unit, rounding: rounding / unit, flushed: flushed / unit, below }
        };
        [of(&wide), of(&reference::mul(&problem.diagonal(), &wide))]
    }

    /// That of the normal equations, or `b - A x` itself. Where nothing is there to be relative to, that is 1.
    fn measured(&self, x: &Parts, normal: bool) -> Measured {
        let (problem, b) = (&self.problem, &self.b);
        let (r, sizes) = residual(&problem.terms, x, b);
        let k = in_three_floats(&problem.terms, problem.rows, 2);
        // Entries of stencils are sums of its numbers, rounded to 64 bits.
        let summed = if self.format == Format::Stencil { 2f64.powi(-52) * norm(&sizes) } else { 0.0 };
        let flushed = problem.flushed(&x.high, &problem.held) + problem.flushed(&x.low, &[]) + summed;
        let lost = self.below(x);
        let (size, rounding, flushed, below, unit) = if normal {
            let flipped = exact::flipped(&problem.terms);
            let through = |v: &[f64]| norm(&exact::magnitudes(&flipped, problem.cols, v));
            let zero = Parts { high: vec![0.0; problem.cols], low: vec![0.0; problem.cols] };
            let of =
                |r: &[Expansion]| norm(&exact::values(&exact::transposed(&problem.terms, problem.cols, r)));
            let carried: Vec<f64> = sizes.iter().map(|v| k * v).collect();
            let own = in_three_floats(&flipped, problem.cols, 3) * through(&exact::values(&r));
            let [gone, smallest] = problem.gone(&flipped);
            let of_gone = |terms: &[Term], v: &[Expansion]| {
                norm(&exact::magnitudes(terms, problem.cols, &exact::values(v)))
            };
            let flushed = through(&vec![flushed; problem.rows]) + of_gone(&gone, &r);
            // What it is relative to is summed as well, and taken for the least that it may be.
            let (given, _) = residual(&problem.terms, &zero, b);
            let (unit, size) = (of(&given), of(&r));
            let of_unit = in_three_floats(&flipped, problem.cols, 2) * through(&exact::values(&given))
                + of_gone(&smallest, &given);
            // With what the bound counts for what falls below the range of floats.
            let largest = problem.terms.iter().map(|t| t.2.abs()).fold(0.0, worst);
            let below =
                norm(&problem.below(&flipped, problem.cols, &b.rounded(), largest * norm(&b.rounded())));
            let share = if unit == 0.0 { 0.0 } else { (of_unit + below) / unit };
            let rounding = through(&carried) + own + size * share;
            (size, rounding, flushed, through(&lost) + below, unit)
        } else {
            (norm(&exact::values(&r)), k * norm(&sizes), flushed, norm(&lost), norm(&b.rounded()))
        };
        let unit = if unit == 0.0 { 1.0 } else { unit };
        Measured {
            size: size / unit,
            rounding: rounding / unit,
            flushed: flushed / unit,
            below: below / unit,
        }
    }

    /// By how much a residual may have changed where a start was projected: its low parts may be taken for zero where they fall below
    /// the normal range, in the sum along the null space and in what it is taken from.
    fn projected(&self) -> f64 {
        let (problem, unit) = (&self.problem, norm(&self.b.rounded()));
        if !problem.null_space || self.measure == Measure::Complementarity || unit == 0.0 {
            return 0.0;
        }
        norm(&exact::magnitudes(&problem.terms, problem.rows, &vec![2.0 * TINY; problem.cols])) / unit
    }

    pub fn judge(&self) -> Vec<(Fault, String)> {
        /// More than this share a report may not leave out of a residual: what norms in 32 bits are off by is less.
        const SHARE: f64 = 1e-3;
        let (mut found, outcome) = (Vec::new(), &self.outcome);
        if self.b_after != self.b {
            found.push((Fault::Changed, String::new()));
        }
        let parts = self.x.high.iter().zip(&self.x.low).enumerate();
        if let Some((i, v)) = parts.into_iter().find(|(_, (h, l))| !h.is_finite() || !l.is_finite()) {
            found.push((Fault::NotFinite, format!("{}: x[{i}] = {v:?}", said(outcome))));
            return found;
        }
        found.extend(self.problem.accused(outcome));
        let Counts { iterations, double_iterations, unsorted } = self.counts;
        if iterations > self.most || double_iterations > iterations || unsorted {
            found.push((Fault::Counted, format!("{:?}, {} at most", self.counts, self.most)));
        }
        let lcp = self.measure == Measure::Complementarity;
        let start = if lcp { self.x0.projected() } else { self.x0.clone() };
        // What has diverged leaves of a complementarity problem its start, without what is negative of it, in other units.
        let diverged = lcp && matches!(outcome.reason, Err(Error::Breakdown { .. }));
        if outcome.reason.is_err() && !diverged {
            let changed = || (Fault::ErrorWorse, format!("{}: x is not as it was", said(outcome)));
            found.extend((self.x != self.x0).then(changed));
            return found;
        }
        let negative = self.x.rounded().into_iter().enumerate().find(|(_, v)| lcp && *v < 0.0);
        found.extend(negative.map(|(i, v)| (Fault::Negative, format!("{}: x[{i}] = {v:e}", said(outcome)))));
        let claimed = self.claimed(&self.x);
        let size = worst(claimed[0].size, claimed[1].size);
        let own = self.measured(&self.x, false);
        let met = |size: f64| size <= self.bound * (1.0 + 1e-5);
        let consistent = self.measure == Measure::Normal && met(own.size);
        let certified = outcome.reason == Ok(Some(StopReason::Converged));
        if certified && !met(size) && !consistent {
            let detail = format!("{}: {size:e} true, bound {:e}", said(outcome), self.bound);
            found.push((Fault::Converged, detail));
        }
        let told = outcome.reported.iter().zip(&claimed).chain(outcome.own.iter().map(|t| (t, &own)));
        for (reported, Measured { size, rounding, flushed, below: lost_below }) in told {
            // Where products or the quotient leave the range of floats, so may the report.
            let lost = !reported.is_finite() && *size > 1e30;
            // Nothing that was asked for is missed by what is this far below it; what rounding may have changed is part of
            // the report where the bound was met, by that residual.
            let whole = certified && met(*reported);
            let untold = if whole { 0.0 } else { *rounding + *lost_below };
            let nothing = self.bound * 2f64.powi(-50) + flushed + untold;
            let below = *size > reported * (1.0 + SHARE) + nothing;
            // To nine bits, upwards.
            let upwards = lost_below * (1.0 + 2f64.powi(-8));
            let most = size * (1.0 + SHARE) + 64.0 * rounding + flushed + upwards + 0.1 * self.bound;
            let above = *reported > most;
            if (below || above) && !lost {
                let way = if below { "less than" } else { "more than" };
                let detail = format!("{}: {reported:e} reported, {way} {size:e}", said(outcome));
                found.push((Fault::Reported, detail));
            }
        }
        let before = self.claimed(&start);
        let of_before = worst(before[0].size, before[1].size);
        let slack = |m: &Measured| 64.0 * m.rounding + m.flushed;
        let allowed = of_before * (1.0 + SHARE) + slack(&claimed[0]) + slack(&before[0]) + self.projected();
        if size > allowed && !consistent {
            let detail = format!("{}: {size:e} after {of_before:e}", said(outcome));
            found.push((Fault::Worse, detail));
        }
        found
    }
}

/// By how much both sides of a system are multiplied. Where either converges, both have to; of what leads nowhere it
/// depends on the range how: iterates that explode leave it sooner in one scale than in another.
const EXPONENTS: [i32; 2] = [60, -60];

/// The system times powers of two, where that leaves all of its numbers, with their low parts and what the start is mapped
/// to, in the range of floats, and coefficients are not so far apart that products of theirs leave it.
/// Complementarity compares `x` with `A x + b`, and is the same in other units of `b` and `x` alone.
/// What smooths nine bands has those of one scale.
pub fn scaled(system: &System, method: Method) -> Vec<System> {
    if matches!(method, Method::NineBands | Method::Cg(_, Help::NineBands)) {
        return Vec::new();
    }
    let sizes = || system.terms.iter().map(|t| t.2.abs()).filter(|v| *v != 0.0);
    let (least, most) = (sizes().fold(f64::MAX, f64::min), sizes().fold(0.0, worst));
    let start = system.x0.iter().map(|v| f64::from(v.abs())).fold(0.0, worst);
    let values = || sizes().chain(system.b.iter().map(|v| v.abs()).filter(|v| *v != 0.0));
    let fits = |e: &i32| {
        let (unit, mapped) = (2f64.powi(*e), most * start * system.cols as f64);
        values().all(|v| (2f64.powi(-70)..2f64.powi(120)).contains(&(v * unit)))
            && mapped * unit < 2f64.powi(120)
    };
    // Of a start that rounding hides it depends on the range when that is found out, and so whether in the iterations allowed.
    let seen = most * start * 2f64.powi(-66) <= 1e-6 * norm(&system.b);
    let near = start < 2f64.powi(120) && most <= least * 2f64.powi(60) && seen;
    // What is flushed of the system itself is not of the other.
    let whole = near && fits(&0);
    if matches!(method, Method::Lcp(_)) {
        let sides = || system.b.iter().copied().chain(system.x0.iter().map(|v| f64::from(*v)));
        let inside = |e: i32| {
            let all =
                |v: f64| v == 0.0 || (2f64.powi(-70)..2f64.powi(120)).contains(&(v.abs() * 2f64.powi(e)));
            sides().all(all)
        };
        // The solution is in other units with them, and is to be in the range as well.
        let largest = system.b.iter().map(|v| v.abs()).fold(0.0, worst);
        let solved = |e: i32| {
            let unit = largest * 2f64.powi(e);
            unit == 0.0 || unit / most > 2f64.powi(-70) && unit / least < 2f64.powi(110)
        };
        let fit = |e: &i32| whole && inside(0) && inside(*e) && fits(e) && solved(0) && solved(*e);
        return EXPONENTS.into_iter().filter(fit).map(|e| system.with_sides_scaled(e)).collect();
    }
    EXPONENTS.into_iter().filter(|e| whole && fits(e)).map(|e| system.scaled(e)).collect()
}

/// What the judge is there for, each against a solve that is told as it is.
#[test]
fn false_claims_for_pairs_are_found() {
    let terms =
        vec![(0, 0, 0.3), (0, 1, -0.1), (1, 0, -0.1), (1, 1, 0.3), (1, 2, -0.1), (2, 1, -0.1), (2, 2, 0.7)];
    let system = System {
        seed: 1,
        name: "three tenths".into(),
        form: Form::Entries,
        rows: 3,
        cols: 3,
        terms,
        b: vec![0.1, 0.2, 0.7],
        x0: vec![0.0; 3],
        null_space: Vec::new(),
        definite: true,
        bound: 1e-5,
        most: 100,
        every: 4,
    };
    harness::on_both(|device| {
        if device.capabilities().exact_form.is_none() {
            return;
        }
        let cg = Method::Cg(CgSchedule::Fused, Help::None);
        let solved = || run(device, &system, (cg, Recurrence::Double), 0).unwrap();
        assert_eq!(solved().outcome.reason, Ok(Some(StopReason::Converged)));
        let found = |change: &dyn Fn(&mut PairRun)| -> Vec<Fault> {
            let mut run = solved();
            change(&mut run);
            run.judge().into_iter().map(|(fault, _)| fault).collect()
        };
        assert_eq!(found(&|_| ()), []);
        // What a solve in 32 bits would have come to.
        let lost: &dyn Fn(&mut PairRun) = &|run| run.x.low.fill(0.0);
        assert_eq!(found(lost), [Fault::Converged, Fault::Reported]);
        // Of least squares both residuals are told.
        let mut squares = run(device, &system, (Method::Cgls(Help::None), Recurrence::Auto), 0).unwrap();
        assert_eq!(squares.outcome.reason, Ok(Some(StopReason::Converged)));
        assert_eq!(squares.judge().len(), 0);
        squares.x.low.fill(0.0);
        let accused: Vec<Fault> = squares.judge().into_iter().map(|(fault, _)| fault).collect();
        assert_eq!(accused, [Fault::Converged, Fault::Reported, Fault::Reported]);
        let short: &dyn Fn(&mut PairRun) = &|run| run.outcome.reported[0] *= 0.998;
        assert_eq!(found(short), [Fault::Reported]);
        assert_eq!(found(&|run| run.outcome.reported[0] += run.bound), [Fault::Reported]);
        assert_eq!(found(&|run| run.b_after.low[1] = 0.0), [Fault::Changed]);
        assert_eq!(found(&|run| run.x.low[2] = f32::NAN), [Fault::NotFinite]);
        assert_eq!(found(&|run| run.counts.unsorted = true), [Fault::Counted]);
        assert_eq!(found(&|run| run.counts.iterations = 101), [Fault::Counted]);
        // Of complementarity what is negative, and what an x of 32 bits leaves.
        let lcp = (Method::Lcp(Relaxation::Accelerated), Recurrence::Auto);
        let system = System { b: vec![-0.1, 0.2, -0.7], ..system.scaled(0) };
        let mut contact = run(device, &system, lcp, 0).unwrap();
        assert_eq!(contact.outcome.reason, Ok(Some(StopReason::Converged)));
        assert_eq!(contact.judge(), []);
        contact.x.low[0] = 0.0;
        let accused: Vec<Fault> = contact.judge().into_iter().map(|(fault, _)| fault).collect();
        assert_eq!(accused, [Fault::Converged, Fault::Reported, Fault::Reported]);
        contact.x.high[1] = -1e-30;
        assert!(contact.judge().iter().any(|(fault, _)| *fault == Fault::Negative));
        let error = Error::LengthMismatch { op: "a solve", operand: "b", found: 1, expected: 2 };
        assert_eq!(found(&|run| run.outcome.reason = Err(error.clone())), [Fault::ErrorWorse]);
        let far: &dyn Fn(&mut PairRun) = &|run| {
            run.x.high.fill(9.0);
            (run.outcome.reason, run.outcome.reported) = (Ok(Some(StopReason::Stagnated)), Vec::new());
        };
        assert_eq!(found(far), [Fault::Worse]);
    });
    // Of numbers that stay in range, and of no others.
    for method in [Method::Cgls(Help::None), Method::Lcp(Relaxation::Estimated)] {
        assert_eq!(scaled(&system, method).len(), 2);
    }
    assert_eq!(scaled(&system.scaled(-60), Method::Cgls(Help::None)).len(), 1);
    assert_eq!(scaled(&system.with_sides_scaled(-60), Method::Lcp(Relaxation::Estimated)).len(), 1);
}
