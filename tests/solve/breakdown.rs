//! A breakdown is an outcome: it says what broke down, and leaves the best iterate, never one worse than the start.

use std::cell::Cell;

use crate::common::harness::{assert_padded, on_both};
use crate::common::random;
use crate::common::reference::widen;
use crate::systems::{self, Method, entries, normal_residual, relative_residual};
use texla::host::Csr;
use texla::ops;
use texla::solve::{
    BiCgStab, BiCgStabParams, CgSchedule, Gmres, GmresParams, Minres, MinresParams, Preconditioner,
    SolveReport, Stop, StopReason,
};
use texla::{Device, MatrixFormat, Result, SparseFormat, StoredMatrix, Vector};

/// What theories of Krylov methods exclude, with full rows of random numbers.
const KINDS: [&str; 4] = ["indefinite", "skew", "nilpotent", "singular"];

fn matrix(kind: &str, seed: u64, n: usize) -> Csr {
    let values = widen(&random::uniform(seed, n * n));
    let at = |i: usize, j: usize| {
        let (v, w) = (values[i * n + j], values[j * n + i]);
        match kind {
            "indefinite" => v + w,
            "skew" => v - w,
            "nilpotent" => f64::from(u8::from(j > i)) * v,
            // Rows that repeat.
            _ => values[(i / 2) * n + j],
        }
    };
    entries(n, n, (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).map(|(i, j)| (i, j, at(i, j))))
}

const STOP: Stop = Stop::relative(1e-5).check_every(4);
const MOST: usize = 150;
const LISTING: Method = Method::Cg(CgSchedule::Listing);
const MERGED: Method = Method::Cg(CgSchedule::Merged);
const METHODS: [Method; 5] = [LISTING, MERGED, Method::BiCgStab, Method::BiCgStab2, Method::Cgls];

/// What broke down, if anything did.
fn outcome(
    device: &Device,
    method: Method,
    a: &Csr,
    b: &[f32],
    start: &[f32],
    label: &str,
) -> Option<&'static str> {
    let stored = StoredMatrix::new(device, a.clone(), MatrixFormat::Sparse(SparseFormat::Gather)).unwrap();
    let mut x = Vector::from_slice(device, start).unwrap();
    let right = Vector::from_slice(device, b).unwrap();
    let report = method.solve(&stored, &mut x, &right, MOST, STOP).unwrap_or_else(|e| panic!("{label}: {e}"));
    assert_padded(&x, label);
    let measure = if method == Method::Cgls { normal_residual } else { relative_residual };
    let [before, after] = [start, &x.read().unwrap()].map(|x| measure(a, x, &widen(b)));
    // But for the rounding of the norm.
    assert!(after <= before * (1.0 + 1e-5), "{label}: {before:e} became {after:e}, {report:?}");
    // Far below the bound that of least squares is Aᵀ of rounding errors.
    let below = after <= 1e-5 && report.true_residual <= 1e-5;
    assert!(below || (after - report.true_residual).abs() <= 0.05 * after, "{label}: {after:e}, {report:?}");
    assert_eq!(report.breakdown.is_some(), report.reason == StopReason::Breakdown, "{label}: {report:?}");
    if let Some(broken) = report.breakdown {
        assert!(!report.converged() && after > 1e-5, "{label}: {report:?}");
        assert_eq!(broken.iteration, report.iterations, "{label}: {broken}");
        let quantities: &[&str] = if matches!(method, Method::BiCgStab | Method::BiCgStab2) {
            &["cos(h, r)", "cos(h, AMp)", "|AMs|²"]
        } else {
            &["p.Ap", "r.Mr"]
        };
        assert!(quantities.contains(&broken.quantity), "{label}: {broken}");
        let text = broken.to_string();
        let named = text.contains(broken.quantity) && text.contains(broken.expected);
        assert!(named && text.starts_with("breakdown in iteration "), "{label}: {text}");
    }
    report.breakdown.map(|broken| broken.quantity)
}

#[test]
fn a_breakdown_leaves_the_best_iterate_and_says_what_broke_down() {
    on_both(|device| {
        let mut broken = [0; METHODS.len()];
        for (kind, seed) in KINDS.iter().flat_map(|kind| (0..6).map(move |seed| (kind, seed))) {
            let n = [2, 5, 12, 24][seed % 4];
            let a = matrix(kind, seed as u64, n);
            let b = random::uniform(100 + seed as u64, n);
            for (method, count) in METHODS.into_iter().zip(&mut broken) {
                if let Method::Cg(schedule) = method
                    && (*kind != "indefinite" || !systems::schedules(device).contains(&schedule))
                {
                    continue;
                }
                for far in [0.0, 1.0, 1e4] {
                    let start: Vec<f32> =
                        random::uniform(200 + seed as u64, n).iter().map(|v| v * far).collect();
                    let label = format!("{method:?}, {kind} {n}x{n} ({seed}), start {far}");
                    *count += usize::from(outcome(device, method, &a, &b, &start, &label).is_some());
                }
            }
        }
        // The tests above are about something.
        let seen = |method| broken[METHODS.iter().position(|m| *m == method).unwrap()];
        assert!(seen(LISTING) >= 6, "{broken:?}");
        assert!(seen(MERGED) >= 6 || systems::schedules(device).len() < 2, "{broken:?}");
    });
}

/// `A r = 0`: whatever the shadow residual, nothing leads on, and the start is the best there is.
#[test]
fn where_no_shadow_leads_on_the_start_is_kept() {
    on_both(|device| {
        let a = entries(2, 2, [(0, 1, 1.0)]);
        for start in [[0.5, 0.25], [0.0, 0.0], [-3.0, 8.0]] {
            let label = format!("from {start:?}");
            let broken = outcome(device, Method::BiCgStab, &a, &[1.0, 0.0], &start, &label);
            assert_eq!(broken, Some("cos(h, AMp)"), "{label}");
        }
    });
}

/// Least squares has one thing to break down: squares that vanish. Where those of `Aᵀb` do, too, there is nothing to do.
#[test]
fn least_squares_break_down_as_an_outcome_too() {
    on_both(|device| {
        for (small, expected) in [(1e-12, Some("p.Ap")), (1e-14, Some("p.Ap")), (1e-30, None)] {
            let a = entries(3, 2, [(0, 0, 1.0), (1, 1, small)]);
            let found = |b: &[f32], start: &[f32]| {
                let label = format!("coefficients 1 and {small:e}, from {start:?}");
                outcome(device, Method::Cgls, &a, b, start, &label)
            };
            assert_eq!(found(&[0.0, 1.0, 1.0], &[0.0, 0.0]), expected, "{small:e}");
            // A start that has something else to mend does that.
            assert_eq!(found(&[1.0, 1.0, 1.0], &[0.5, 2.0]), None, "{small:e}");
        }
    });
}

/// A preconditioner of which every so many applications overflow.
struct Leaving {
    every: usize,
    at: usize,
    factor: f32,
    count: Cell<usize>,
}

impl Preconditioner for Leaving {
    fn apply(&self, z: &mut Vector, r: &Vector) -> Result<()> {
        let count = self.count.replace(self.count.get() + 1);
        ops::scaled(z, if count % self.every == self.at { self.factor } else { 1.0 }, r)
    }
}

/// Whichever vector of an iteration it is whose square leaves the range of floats, that is what is said, and the start is kept.
#[test]
fn what_leaves_the_range_on_the_way_is_told_as_that() {
    on_both(|device| {
        // Symmetric, and far from a multiple of the identity.
        let a = crate::minres::saddle(4, 3);
        let stored = StoredMatrix::new(device, a.clone(), MatrixFormat::Auto).unwrap();
        let n = a.shape().rows;
        let start = random::uniform(3, n);
        let b = Vector::from_slice(device, &random::uniform(4, n)).unwrap();
        type Solve = fn(&StoredMatrix, &Leaving, &mut Vector, &Vector) -> Result<SolveReport>;
        let one: Solve = |a, m, x, b| BiCgStab::preconditioned(a, m, BiCgStabParams::default())?.solve(x, b);
        let two: Solve =
            |a, m, x, b| BiCgStab::preconditioned(a, m, BiCgStabParams::default().with_ell(2))?.solve(x, b);
        let gmres: Solve = |a, m, x, b| Gmres::preconditioned(a, m, GmresParams::default())?.solve(x, b);
        let minres: Solve = |a, m, x, b| Minres::preconditioned(a, m, MinresParams::default())?.solve(x, b);
        for (name, solve, every) in
            [("BiCGStab", one, 2), ("BiCGStab(2)", two, 4), ("GMRES", gmres, 1), ("MINRES", minres, 1)]
        {
            for (at, factor) in (0..every).flat_map(|at| [1e21, 1e30, 3e38].map(|factor| (at, factor))) {
                let m = Leaving { every, at, factor, count: Cell::new(0) };
                let mut x = Vector::from_slice(device, &start).unwrap();
                let report = solve(&stored, &m, &mut x, &b).unwrap();
                let label = format!("{name}, {factor:e} at {at} of {every}: {report:?}");
                assert_eq!(
                    (report.reason, x.read().unwrap()),
                    (StopReason::Diverged, start.clone()),
                    "{label}"
                );
            }
        }
    });
}
