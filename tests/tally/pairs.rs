//! The same systems solved for unknowns and right-hand sides that are pairs of floats.
//!
//! What is claimed is judged with the coefficients and the right-hand side that two floats hold of those given: sums of
//! their products are exact here, so that a false claim has no rounding to hide behind.

use texla::ops::LinOp;
use texla::solve::{
    BiCgStab, BiCgStabParams, CgParams, CgSchedule, Cgls, CglsParams, ConjugateGradient, Direction,
    GaussSeidel, Identity, Jacobi, Preconditioner, SolveReport, Stop, StopReason,
};
use texla::{Device, DoubleVector, Error, Result};

use crate::common::harness;
use crate::common::systems::norm;
use crate::common::worst::worst;
use crate::exact::{self, Expansion, Term};
use crate::judge::{Fault, Outcome, Problem, said};
use crate::run::{self, Declared, Format, Help, Method, Operator};
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

    /// In 64 bits, of which the difference of two neighbours may have no more than 53.
    fn rounded(&self) -> Vec<f64> {
        self.high.iter().zip(&self.low).map(|(h, l)| f64::from(*h) + f64::from(*l)).collect()
    }
}

/// What came back, with what it is to be judged by.
pub struct PairRun {
    pub format: Format,
    pub bound: f64,
    pub problem: Problem,
    /// What is claimed is `Aᵀ(b - A x)` against `Aᵀb`, or the residual itself.
    least_squares: bool,
    /// Of `x` and `b` the high parts.
    pub outcome: Outcome,
    pub iterations: usize,
    b: Parts,
    b_after: Parts,
    x0: Parts,
    pub x: Parts,
}

/// Whether a method solves for pairs: as CG, BiCGStab and CGLS do.
pub fn solves(method: Method) -> bool {
    matches!(method, Method::Cg(_, Help::None | Help::Jacobi) | Method::BiCgStab(_) | Method::Cgls(_))
}

/// By the method alone: schedules and preconditioners are told apart where the verdicts are counted.
pub fn family(method: Method) -> &'static str {
    match method {
        Method::BiCgStab(_) => "BiCGStab for pairs",
        Method::Cgls(_) => "CGLS for pairs",
        _ => "CG for pairs",
    }
}

/// What two floats hold of a coefficient. The power of two that a format takes out beforehand changes nothing of that.
fn paired(v: f64) -> f64 {
    let e = if v == 0.0 { 0.0 } else { v.abs().log2().floor() };
    let near = v * (-e).exp2();
    let high = f64::from(near as f32);
    (high + f64::from((near - high) as f32)) * e.exp2()
}

/// Solves a system for pairs; `Err` where it could not be put on the device.
pub fn run(device: &Device, system: &System, method: Method, number: usize) -> Result<PairRun> {
    let mut rng = run::format_rng(system, number);
    let csr = system.triplets().to_csr();
    let format = run::format(system, method, &csr, &mut rng);
    let bound = 10f64.powf(-6.0 - 7.0 * rng.unit());
    let mut terms = run::held(&csr, system, format);
    terms.iter_mut().for_each(|t| t.2 = paired(t.2));
    let mut problem = run::problem(system, terms, format);
    let operator = Operator::new(device, system, csr, format)?;
    // None declared: unknowns of pairs are refused where there is a null space. Undeclared, such systems are singular ones.
    let a = Declared { operator: &operator, null_space: Vec::new() };
    // A start that 32 bits do not hold, for every other system.
    let more = if rng.below(2) == 0 { 1.0 } else { 1.0 + 2f64.powi(-30) };
    let start: Vec<f64> = system.x0.iter().map(|v| f64::from(*v) * more).collect();
    let (b, mut x) = (DoubleVector::from_f64(device, &system.b)?, DoubleVector::from_f64(device, &start)?);
    let (given, x0) = (Parts::read(&b)?, Parts::read(&x)?);
    problem.null_space = !a.null_space().is_empty();
    (problem.bound, problem.held, problem.x0) = (bound, given.rounded(), x0.high.clone());
    let solved = solve(system, method, &a, bound, &mut x, &b);
    let iterations = solved.as_ref().map_or(0, |report| report.iterations);
    let (x, b_after) = (Parts::read(&x)?, Parts::read(&b)?);
    let outcome = run::outcome(solved.map(run::of_report), x.high.clone(), None);
    let least_squares = matches!(method, Method::Cgls(_));
    Ok(PairRun { format, bound, problem, least_squares, outcome, iterations, b: given, b_after, x0, x })
}

fn solve(
    system: &System,
    method: Method,
    a: &Declared<'_>,
    bound: f64,
    x: &mut DoubleVector,
    b: &DoubleVector,
) -> Result<SolveReport> {
    let (stop, most) = (Stop::relative(bound).check_every(system.every), system.most);
    let mut helped = |m: &dyn Preconditioner| match method {
        Method::Cg(schedule, _) => {
            let params = CgParams::default().with_max_iters(most).with_stop(stop).with_schedule(schedule);
            ConjugateGradient::preconditioned(a, m, params)?.solve(x, b)
        }
        Method::BiCgStab(_) => {
            let params = BiCgStabParams::default().with_max_iters(most).with_stop(stop);
            BiCgStab::preconditioned(a, m, params)?.solve(x, b)
        }
        Method::Cgls(_) => {
            let params = CglsParams::default().with_max_iters(most).with_stop(stop);
            Cgls::preconditioned(a, m, params)?.solve(x, b)
        }
        other => panic!("{other} does not solve for pairs"),
    };
    match method {
        Method::Cgls(Help::Jacobi) => helped(&Jacobi::for_least_squares(a)?),
        Method::Cg(_, Help::Jacobi) | Method::BiCgStab(Help::Jacobi) => helped(&Jacobi::new(a)?),
        Method::BiCgStab(Help::GaussSeidel) => helped(&GaussSeidel::new(a, 1.0, Direction::Symmetric)?),
        _ => helped(&Identity),
    }
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
/// range; relative.
struct Measured {
    size: f64,
    rounding: f64,
    flushed: f64,
}

impl PairRun {
    /// That of the normal equations, or `b - A x` itself. Where nothing is there to be relative to, that is 1.
    fn measured(&self, x: &Parts, normal: bool) -> Measured {
        let (problem, b) = (&self.problem, &self.b);
        let (r, sizes) = residual(&problem.terms, x, b);
        let k = in_three_floats(&problem.terms, problem.rows, 2);
        let flushed = problem.flushed(&x.high, &problem.held) + problem.flushed(&x.low, &[]);
        let (size, rounding, flushed, unit) = if normal {
            let flipped = exact::flipped(&problem.terms);
            let through = |v: &[f64]| norm(&exact::magnitudes(&flipped, problem.cols, v));
            let zero = Parts { high: vec![0.0; problem.cols], low: vec![0.0; problem.cols] };
            let of =
                |r: &[Expansion]| norm(&exact::values(&exact::transposed(&problem.terms, problem.cols, r)));
            let carried: Vec<f64> = sizes.iter().map(|v| k * v).collect();
            let own = in_three_floats(&flipped, problem.cols, 3) * through(&exact::values(&r));
            let flushed = through(&vec![flushed; problem.rows]);
            // What it is relative to is summed as well, and taken for the least that it may be.
            let (given, _) = residual(&problem.terms, &zero, b);
            let (unit, size) = (of(&given), of(&r));
            let of_unit = in_three_floats(&flipped, problem.cols, 2) * through(&exact::values(&given));
            // With what the bound counts for what falls below the range of floats.
            let largest = problem.terms.iter().map(|t| t.2.abs()).fold(0.0, worst);
            let below =
                norm(&problem.below(&flipped, problem.cols, &b.rounded(), largest * norm(&b.rounded())));
            let share = if unit == 0.0 { 0.0 } else { (of_unit + below) / unit };
            (size, through(&carried) + own + size * share, flushed, unit)
        } else {
            (norm(&exact::values(&r)), k * norm(&sizes), flushed, norm(&b.rounded()))
        };
        let unit = if unit == 0.0 { 1.0 } else { unit };
        Measured { size: size / unit, rounding: rounding / unit, flushed: flushed / unit }
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
        if outcome.reason.is_err() {
            let changed = || (Fault::ErrorWorse, format!("{}: x is not as it was", said(outcome)));
            found.extend((self.x != self.x0).then(changed));
            return found;
        }
        let now = self.measured(&self.x, self.least_squares);
        let own = self.measured(&self.x, false);
        let met = |size: f64| size <= self.bound * (1.0 + 1e-5);
        let consistent = self.least_squares && met(own.size);
        let certified = outcome.reason == Ok(Some(StopReason::Converged));
        if certified && !met(now.size) && !consistent {
            let detail = format!("{}: {:e} true, bound {:e}", said(outcome), now.size, self.bound);
            found.push((Fault::Converged, detail));
        }
        let told =
            outcome.reported.iter().map(|told| (told, &now)).chain(outcome.own.iter().map(|t| (t, &own)));
        for (reported, Measured { size, rounding, flushed }) in told {
            // Where products or the quotient leave the range of floats, so may the report.
            let lost = !reported.is_finite() && *size > 1e30;
            // Nothing that was asked for is missed by what is this far below it; what rounding may have changed is part of
            // the report where the bound was met, by that residual.
            let whole = certified && met(*reported);
            let nothing = self.bound * 2f64.powi(-50) + flushed + if whole { 0.0 } else { *rounding };
            let below = *size > reported * (1.0 + SHARE) + nothing;
            let above = *reported > size * (1.0 + SHARE) + 64.0 * rounding + flushed + 0.1 * self.bound;
            if (below || above) && !lost {
                let way = if below { "less than" } else { "more than" };
                let detail = format!("{}: {reported:e} reported, {way} {size:e}", said(outcome));
                found.push((Fault::Reported, detail));
            }
        }
        let before = self.measured(&self.x0, self.least_squares);
        let slack = |m: &Measured| 64.0 * m.rounding + m.flushed;
        if now.size > before.size * (1.0 + SHARE) + slack(&now) + slack(&before) && !consistent {
            let detail = format!("{}: {:e} after {:e}", said(outcome), now.size, before.size);
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
pub fn scaled(system: &System) -> Vec<System> {
    let sizes = || system.terms.iter().map(|t| t.2.abs()).filter(|v| *v != 0.0);
    let (least, most) = (sizes().fold(f64::MAX, f64::min), sizes().fold(0.0, worst));
    let start = system.x0.iter().map(|v| f64::from(v.abs())).fold(0.0, worst);
    let values = || sizes().chain(system.b.iter().map(|v| v.abs()).filter(|v| *v != 0.0));
    let fits = |e: &i32| {
        let (unit, mapped) = (2f64.powi(*e), most * start * system.cols as f64);
        values().all(|v| (2f64.powi(-70)..2f64.powi(120)).contains(&(v * unit)))
            && mapped * unit < 2f64.powi(120)
    };
    let near = start < 2f64.powi(120) && most <= least * 2f64.powi(60);
    // What is flushed of the system itself is not of the other.
    let whole = near && fits(&0);
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
        let solved = || run(device, &system, Method::Cg(CgSchedule::Fused, Help::None), 0).unwrap();
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
        let mut squares = run(device, &system, Method::Cgls(Help::None), 0).unwrap();
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
        let error = Error::LengthMismatch { op: "a solve", operand: "b", found: 1, expected: 2 };
        assert_eq!(found(&|run| run.outcome.reason = Err(error.clone())), [Fault::ErrorWorse]);
        let far: &dyn Fn(&mut PairRun) = &|run| {
            run.x.high.fill(9.0);
            (run.outcome.reason, run.outcome.reported) = (Ok(Some(StopReason::Stagnated)), Vec::new());
        };
        assert_eq!(found(far), [Fault::Worse]);
    });
    // Of numbers that stay in range, and of no others.
    assert_eq!(scaled(&system).len(), 2);
    assert_eq!(scaled(&system.scaled(-60)).len(), 1);
}
