//! Flexible conjugate gradients: residuals of a twin in 64 bits with preconditioners that vary, and what plain ones make of them.

use std::cell::Cell;

use crate::bicgstab::honest;
use crate::common::harness::{assert_padded, on_both};
use crate::common::pairs::{certified, is_exact, paired, true_residual, wide};
use crate::common::reference::dot;
use crate::systems::{self, System, apply, bits, entries, generated, norm, relative_residual};
use texla::host::{Csr, problems};
use texla::ops::{self, Combine};
use texla::solve::{
    ConjugateGradient, FlexibleCgParams, FlexibleConjugateGradient, HistoryPoint, Identity, IluParams,
    IncompleteLu, Jacobi, LinOp, Preconditioner, ResidualKind, SolveReport, Spai, Stop, StopReason,
};
use texla::{Device, DoubleVector, Error, MatrixFormat, Result, StoredMatrix, Vector};

fn params(tol: f64) -> FlexibleCgParams {
    FlexibleCgParams::default().with_stop(Stop::relative(tol))
}

/// How many sweeps each application has, in turn.
const SWEEPS: [usize; 5] = [1, 6, 2, 9, 3];

/// Sweeps of Jacobi's iteration from zero, weighted by 2/3: `z ← z + ω D⁻¹ (r - A z)`. Each application has another number of them.
struct Sweeps<'a> {
    a: &'a dyn LinOp,
    /// `ω D⁻¹`
    inverse: Vector,
    count: Cell<usize>,
}

impl<'a> Sweeps<'a> {
    fn new(a: &'a dyn LinOp, system: &System) -> Self {
        let inverse = Vector::from_f64(a.device(), &weights(&system.a)).unwrap();
        Sweeps { a, inverse, count: Cell::new(0) }
    }
}

impl Preconditioner for Sweeps<'_> {
    fn apply(&self, z: &mut Vector, r: &Vector) -> Result<()> {
        let count = self.count.replace(self.count.get() + 1);
        let fresh = || Vector::zeros(r.device(), r.len());
        ops::mul(z, &self.inverse, r)?;
        for _ in 1..SWEEPS[count % SWEEPS.len()] {
            let (mut rest, mut next) = (fresh()?, fresh()?);
            ops::product(&mut rest, Combine::SubtractFrom(r), 1.0, self.a, z)?;
            ops::mul_add(&mut next, &self.inverse, &rest, z)?;
            *z = next;
        }
        Ok(())
    }
}

fn weights(a: &Csr) -> Vec<f64> {
    a.diagonal().iter().map(|d| 2.0 / 3.0 / d).collect()
}

/// The same on the host, of the application with this number.
fn swept(a: &Csr, r: &[f64], count: usize) -> Vec<f64> {
    let inverse = weights(a);
    let mut z = vec![0.0; r.len()];
    for _ in 0..SWEEPS[count % SWEEPS.len()] {
        let az = apply(a, &z);
        z.iter_mut().zip(r).zip(az).zip(&inverse).for_each(|(((z, r), az), w)| *z += w * (r - az));
    }
    z
}

/// FCG(1) in 64 bits, by the formulas of Notay's article: the relative residual after each iteration. `flexible` is its β,
/// else that of conjugate gradients.
fn twin(a: &Csr, b: &[f64], m: impl Fn(&[f64], usize) -> Vec<f64>, flexible: bool, tol: f64) -> Vec<f64> {
    let (mut r, mut p, mut q) = (b.to_vec(), vec![0.0; b.len()], vec![0.0; b.len()]);
    let (mut history, mut before) = (vec![1.0], None);
    while history[history.len() - 1] > tol && history.len() <= 500 {
        let z = m(&r, history.len() - 1);
        let rz = dot(&r, &z);
        let beta = match before {
            None => 0.0,
            Some(_) if flexible => -dot(&z, &q) / dot(&p, &q),
            Some(before) => rz / before,
        };
        before = Some(rz);
        p.iter_mut().zip(&z).for_each(|(p, z)| *p = z + beta * *p);
        q = apply(a, &p);
        let along = if flexible { dot(&p, &r) } else { rz };
        let alpha = along / dot(&p, &q);
        r.iter_mut().zip(&q).for_each(|(r, q)| *r -= alpha * q);
        history.push(norm(&r) / norm(b));
    }
    history
}

/// What stands for the inverse.
#[derive(Clone, Copy, Debug, PartialEq)]
enum By {
    Nothing,
    Jacobi,
    Sweeps,
    Spai,
    Ilu,
}

impl By {
    fn preconditioner<'a>(
        self,
        a: &'a StoredMatrix,
        system: &System,
    ) -> Result<Box<dyn Preconditioner + 'a>> {
        Ok(match self {
            By::Nothing => Box::new(Identity),
            By::Jacobi => Box::new(Jacobi::new(a)?),
            By::Sweeps => Box::new(Sweeps::new(a, system)),
            By::Spai => Box::new(Spai::new(a, 1)?),
            By::Ilu => Box::new(IncompleteLu::new(a, IluParams::default())?),
        })
    }

    /// The same on the host.
    fn on_host(self, system: &System, r: &[f64], count: usize) -> Vec<f64> {
        match self {
            By::Jacobi => r.iter().zip(system.a.diagonal()).map(|(r, d)| r / d).collect(),
            By::Sweeps => swept(&system.a, r, count),
            _ => r.to_vec(),
        }
    }
}

fn solve(
    device: &Device,
    system: &System,
    by: By,
    params: FlexibleCgParams,
) -> Result<(Vec<f32>, SolveReport)> {
    let a = StoredMatrix::new(device, system.a.clone(), MatrixFormat::Auto)?;
    let b = Vector::from_f64(device, &system.b)?;
    let mut x = Vector::zeros(device, system.n())?;
    let m = by.preconditioner(&a, system)?;
    let solved = FlexibleConjugateGradient::preconditioned(&a, m, params)?.solve(&mut x, &b);
    assert_padded(&x, &system.name);
    let values = x.read()?;
    assert!(values.iter().all(|v| v.is_finite()), "{}: not finite", system.name);
    Ok((values, solved?))
}

#[test]
fn residuals_are_those_of_the_twin() {
    on_both(|device| {
        for system in generated() {
            for by in [By::Nothing, By::Jacobi, By::Sweeps] {
                let asked = params(1e-5).with_stop(Stop::relative(1e-5).check_every(1));
                let (x, report) = solve(device, &system, by, asked).unwrap();
                let m = |r: &[f64], count: usize| by.on_host(&system, r, count);
                let history = twin(&system.a, &system.b, m, true, 1e-5);
                let label = format!("{}, {by:?}: {report:?}", system.name);
                assert_eq!(report.reason, StopReason::Converged, "{label}");
                let residual = relative_residual(&system.a, &x, &system.b);
                assert!(residual <= 1.01e-5, "{label}: {residual:e}");
                assert_eq!(report.readbacks_in_loop, 0, "{label}");
                let wanted = history.len() - 1;
                assert!(report.iterations <= wanted + 2 + wanted / 10, "{label}: {wanted} in 64 bits");
                assert!(report.iterations + 2 + wanted / 10 >= wanted, "{label}: {wanted} in 64 bits");
                // Until the residual is replaced.
                let bounds = report.history.iter().skip(1);
                let bounds = bounds.take_while(|point| point.kind == ResidualKind::Bound).take(12);
                for HistoryPoint { iteration: j, residual: found, .. } in bounds.filter(|p| p.iteration <= 12)
                {
                    // A prediction is at most 2⁻⁸ of the residual before too large.
                    let want = history.get(*j).copied().unwrap_or(0.0);
                    let room = history[j.saturating_sub(1)] * 2f64.powi(-8);
                    assert!(
                        *found >= 0.99 * want && *found <= 1.01 * want + room,
                        "{label}: {found:e} for {want:e} at {j}"
                    );
                }
            }
        }
    });
}

#[test]
fn preconditioners_that_vary_are_what_it_is_for() {
    on_both(|device| {
        let system = System::of_ones("poisson", problems::poisson_2d(40, 40).to_csr());
        let a = StoredMatrix::new(device, system.a.clone(), MatrixFormat::Auto).unwrap();
        let b = Vector::from_f64(device, &system.b).unwrap();
        let m = Sweeps::new(&a, &system);
        let fresh = || Vector::zeros(device, system.n()).unwrap();
        let mut x = fresh();
        let solver = FlexibleConjugateGradient::preconditioned(&a, &m, params(1e-5)).unwrap();
        let flexible = solver.solve(&mut x, &b).unwrap();
        honest("flexible", &system.a, &system.b, &x.read().unwrap(), &flexible, 1e-5);
        m.count.set(0);
        let mut x = fresh();
        let asked = systems::params(1e-5).with_max_iters(2000);
        let plain = ConjugateGradient::preconditioned(&a, &m, asked).unwrap().solve(&mut x, &b).unwrap();
        honest("plain", &system.a, &system.b, &x.read().unwrap(), &plain, 1e-5);
        let twins = [true, false].map(|flexible| {
            twin(&system.a, &system.b, |r, count| swept(&system.a, r, count), flexible, 1e-5).len() - 1
        });
        assert!(flexible.converged() && flexible.readbacks_in_loop == 0, "{flexible:?}");
        assert!(flexible.iterations.abs_diff(twins[0]) <= 3, "{flexible}, {twins:?}");
        assert!(2 * flexible.iterations < plain.iterations, "{flexible}, {plain}, {twins:?}");
    });
}

#[test]
fn preconditioners_that_are_not_symmetric_are_taken() {
    on_both(|device| {
        let system = System::of_ones("poisson", problems::poisson_2d(30, 30).to_csr());
        let (_, alone) = solve(device, &system, By::Nothing, params(1e-5)).unwrap();
        for by in [By::Spai, By::Ilu] {
            let (x, report) = solve(device, &system, by, params(1e-5)).unwrap();
            honest("not symmetric", &system.a, &system.b, &x, &report, 1e-5);
            assert!(report.converged(), "{by:?}: {report:?}");
            assert!(4 * report.iterations <= 3 * alone.iterations, "{by:?}: {report}, {alone}");
            let a = StoredMatrix::new(device, system.a.clone(), MatrixFormat::Auto).unwrap();
            let m = by.preconditioner(&a, &system).unwrap();
            let plain = ConjugateGradient::preconditioned(&a, m, systems::params(1e-5));
            assert!(matches!(plain, Err(Error::Unsupported { .. })), "{by:?}");
        }
    });
}

#[test]
fn what_is_not_definite_breaks_down() {
    on_both(|device| {
        let solve = |a: &Csr, m: f32| {
            let stored = StoredMatrix::new(device, a.clone(), MatrixFormat::Auto).unwrap();
            let b = Vector::filled(device, a.shape().rows, 1.0).unwrap();
            let mut x = Vector::filled(device, a.shape().rows, 0.5).unwrap();
            let m = Multiple(m);
            let solver = FlexibleConjugateGradient::preconditioned(&stored, &m, params(1e-5)).unwrap();
            let report = solver.solve(&mut x, &b).unwrap();
            let broken = report.breakdown.map(|broken| (broken.quantity, broken.value <= 0.0));
            (report.reason, broken, report.iterations, x.read().unwrap())
        };
        let poisson = problems::poisson_2d(9, 7).to_csr();
        let (reason, broken, iterations, x) = solve(&poisson, -0.25);
        assert_eq!((reason, broken, iterations), (StopReason::Breakdown, Some(("r.Mr", true)), 0));
        assert!(x.iter().all(|v| *v == 0.5), "nothing has moved: {x:?}");
        let (reason, broken, ..) = solve(&poisson, 0.0);
        assert_eq!((reason, broken), (StopReason::Breakdown, Some(("r.Mr", true))));
        assert_eq!(solve(&poisson, 0.25).0, StopReason::Converged);
        let saddle = crate::minres::saddle(6, 5);
        let (reason, broken, ..) = solve(&saddle, 1.0);
        assert_eq!((reason, broken), (StopReason::Breakdown, Some(("p.Ap", true))));
    });
}

/// A multiple of the identity, in passes of its own.
struct Multiple(f32);

impl Preconditioner for Multiple {
    fn apply(&self, z: &mut Vector, r: &Vector) -> Result<()> {
        ops::scaled(z, self.0, r)
    }
}

#[test]
fn polls_and_powers_of_two_change_nothing() {
    on_both(|device| {
        for (system, by) in generated().iter().flat_map(|s| [(s, By::Jacobi), (s, By::Spai)]) {
            for (tol, max_iters) in [(1e-5, 20_000), (1e-9, 150), (1e-6, 9)] {
                let run = |every| {
                    let stop = Stop::relative(tol).check_every(every);
                    let asked = params(tol).with_stop(stop).with_max_iters(max_iters);
                    let (x, report) = solve(device, system, by, asked).unwrap();
                    assert!(report.iterations <= max_iters);
                    (bits(&x), report.iterations, report.reason, report.true_residual, report.replacements)
                };
                assert_eq!(run(7), run(1), "{} by {by:?} {tol:e}", system.name);
            }
        }
        for (base, by) in generated().iter().skip(1).flat_map(|s| [(s, By::Jacobi), (s, By::Spai)]) {
            systems::assert_scales(base, &systems::POWERS, |s| solve(device, s, by, params(1e-5)));
        }
    });
}

#[test]
fn pairs_go_on_in_pairs_where_32_bits_gain_nothing() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let plate = problems::poisson_2d(20, 20).to_csr();
        // A beam, whose condition number is 4e8: 32 bits gain nothing after a while.
        let row = |i: usize| [(i, 6.0), (i + 1, -4.0), (i + 2, 1.0)].map(|(j, v)| (i, j, v));
        let upper = (0..220).flat_map(row).filter(|(_, j, _)| *j < 220);
        let beam = entries(
            220,
            220,
            upper
                .flat_map(|(i, j, v)| [(i, j, v), (j, i, v)].into_iter().take(1 + usize::from(i != j)))
                .collect::<Vec<_>>(),
        );
        let of_plate: Vec<f64> = wide(3, 400).into_iter().map(paired).collect();
        let of_beam: Vec<f64> = apply(&beam, &vec![1.0; 220]).into_iter().map(paired).collect();
        for (name, a, b, tol) in [("plate", plate, of_plate, 1e-11), ("beam", beam, of_beam, 1e-9)] {
            let stored = StoredMatrix::new(device, a.clone(), MatrixFormat::Auto).unwrap();
            let right = DoubleVector::from_f64(device, &b).unwrap();
            let (jacobi, spai) = (Jacobi::new(&stored).unwrap(), Spai::new(&stored, 1).unwrap());
            let ways: [&dyn Preconditioner; 3] = [&Identity, &jacobi, &spai];
            for (k, m) in ways.into_iter().enumerate().take(if name == "beam" { 2 } else { 3 }) {
                let mut x = DoubleVector::zeros(device, b.len()).unwrap();
                let asked = params(tol).with_max_iters(2000);
                let solver = FlexibleConjugateGradient::preconditioned(&stored, m, asked).unwrap();
                let report = solver.solve(&mut x, &right).unwrap();
                let x = x.read().unwrap();
                match name {
                    "plate" => certified(&format!("{name} by {k}"), &report, &a, &x, &b, tol),
                    _ => assert!(report.converged() && true_residual(&a, &x, &b) <= tol, "{name} by {k}"),
                }
                assert_eq!(report.double_iterations > 0, name == "beam", "{name} by {k}: {report:?}");
            }
        }
    });
}

#[test]
fn operators_and_parameters_are_checked() {
    on_both(|device| {
        let make = |a: Csr| StoredMatrix::new(device, a, MatrixFormat::Auto).unwrap();
        let wide = make(entries(2, 3, [(0, 0, 1.0)]));
        assert!(matches!(FlexibleConjugateGradient::new(&wide, params(1e-5)), Err(Error::Matrix { .. })));
        let upper = make(entries(2, 2, [(0, 0, 1.0), (0, 1, 1.0), (1, 1, 1.0)]));
        let error = FlexibleConjugateGradient::new(&upper, params(1e-5)).unwrap_err();
        assert!(error.to_string().contains("FlexibleConjugateGradient: "), "{error}");
        let poisson = make(problems::poisson_1d(5).to_csr());
        assert!(FlexibleConjugateGradient::new(&poisson, params(-1.0)).is_err());
        let solver = FlexibleConjugateGradient::new(&poisson, params(1e-5)).unwrap();
        let b = Vector::filled(device, 5, 1.0).unwrap();
        let wrong = solver.solve(&mut Vector::zeros(device, 4).unwrap(), &b);
        assert!(matches!(wrong, Err(Error::ShapeMismatch { .. })));
        // From the solution, and from far off.
        for (start, most) in [(1e20f32, 9), (0.0, 3)] {
            let mut x = Vector::filled(device, 5, start).unwrap();
            let report = solver.solve(&mut x, &b).unwrap();
            assert!(report.converged() && report.iterations <= most, "{report:?}");
            assert_eq!(solver.solve(&mut x, &b).unwrap().iterations, 0);
        }
    });
}
