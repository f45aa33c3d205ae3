//! The same systems solved for unknowns and right-hand sides that are pairs of floats.
//!
//! What is claimed is judged with the coefficients and the right-hand side that two floats hold of those given: sums of
//! their products are exact here, so that a false claim has no rounding to hide behind.

use texla::ops::LinOp;
use texla::solve::{
    BiCgStab, BiCgStabParams, CgParams, CgSchedule, ConjugateGradient, Direction, GaussSeidel, Identity,
    Jacobi, Preconditioner, SolveReport, Stop, StopReason,
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
    /// Of `x` and `b` the high parts.
    pub outcome: Outcome,
    pub iterations: usize,
    b: Parts,
    b_after: Parts,
    x0: Parts,
    pub x: Parts,
}

/// Whether a method solves for pairs: as CG and BiCGStab do.
pub fn solves(method: Method) -> bool {
    matches!(method, Method::Cg(_, Help::None | Help::Jacobi) | Method::BiCgStab(_))
}

/// By the method alone: schedules and preconditioners are told apart where the verdicts are counted.
pub fn family(method: Method) -> &'static str {
    match method {
        Method::BiCgStab(_) => "BiCGStab for pairs",
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
    Ok(PairRun { format, bound, problem, outcome, iterations, b: given, b_after, x0, x })
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
        other => panic!("{other} does not solve for pairs"),
    };
    match method {
        Method::Cg(_, Help::Jacobi) | Method::BiCgStab(Help::Jacobi) => helped(&Jacobi::new(a)?),
        Method::BiCgStab(Help::GaussSeidel) => helped(&GaussSeidel::new(a, 1.0, Direction::Symmetric)?),
        _ => helped(&Identity),
    }
}

/// `‖b - A x‖` without an error, and the magnitude of what it is a sum of.
fn residual(terms: &[Term], x: &Parts, b: &Parts) -> (f64, f64) {
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
    (norm(&exact::values(&r)), norm(&sizes))
}

impl PairRun {
    /// `‖b‖`, or 1 of a `b` that is zero.
    fn unit(&self) -> f64 {
        let unit = norm(&self.b.rounded());
        if unit == 0.0 { 1.0 } else { unit }
    }

    /// What is documented of sums in three floats, for sums of so many terms, relative to `b`.
    fn rounding(&self, size: f64) -> f64 {
        let mut counts = vec![2usize; self.problem.rows];
        self.problem.terms.iter().for_each(|t| counts[t.0] += 2);
        let terms = counts.into_iter().max().unwrap_or(2) as f64;
        terms * 2f64.powi(-66) * size / self.unit()
    }

    /// What a device may have taken for zero of elements below the normal range, relative to `b`.
    fn flushed(&self, x: &Parts) -> f64 {
        let (problem, b) = (&self.problem, &self.problem.held);
        (problem.flushed(&x.high, b) + problem.flushed(&x.low, &[])) / self.unit()
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
        let (size, magnitude) = residual(&self.problem.terms, &self.x, &self.b);
        let (size, rounding) = (size / self.unit(), self.rounding(magnitude));
        let flushed = self.flushed(&self.x);
        let certified = outcome.reason == Ok(Some(StopReason::Converged));
        if certified && size > self.bound * (1.0 + 1e-5) {
            let detail = format!("{}: {size:e} true, bound {:e}", said(outcome), self.bound);
            found.push((Fault::Converged, detail));
        }
        for reported in &outcome.reported {
            // Where products or the quotient leave the range of floats, so may the report.
            let lost = !reported.is_finite() && size > 1e30;
            // Nothing that was asked for is missed by what is this far below it; what rounding may have changed is part of
            // the report where the bound was met.
            let nothing = self.bound * 2f64.powi(-50) + flushed + if certified { 0.0 } else { rounding };
            let below = size > reported * (1.0 + SHARE) + nothing;
            let above = *reported > size * (1.0 + SHARE) + 64.0 * rounding + flushed + 0.1 * self.bound;
            if (below || above) && !lost {
                let way = if below { "less than" } else { "more than" };
                let detail = format!("{}: {reported:e} reported, {way} {size:e}", said(outcome));
                found.push((Fault::Reported, detail));
            }
        }
        let (before, magnitude) = residual(&self.problem.terms, &self.x0, &self.b);
        let before = before / self.unit();
        let slack =
            SHARE * before + 64.0 * (rounding + self.rounding(magnitude)) + flushed + self.flushed(&self.x0);
        if size > before + slack {
            found.push((Fault::Worse, format!("{}: {size:e} after {before:e}", said(outcome))));
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
