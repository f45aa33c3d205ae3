//! Systems of the host's in their normal form: what people bring is solved, by the road that is asked for, and certified as it was
//! given.

#[cfg(feature = "direct")]
use std::cell::RefCell;
use std::rc::Rc;
#[cfg(feature = "direct")]
use std::time::Duration;

use crate::common::harness::on_both;
use crate::common::pairs::is_exact;
use crate::common::random::Rng;
use crate::common::worst::worst;
use crate::systems::entries;
use texla::host::{BlockOrder, Blocks, Csr, NearNullSpace, NormalParams, problems};
#[cfg(feature = "direct")]
use texla::solve::{AutoEvent, GivenUp};
use texla::solve::{
    AutoParams, Choice, Components, DirectUse, HostReport, HostSystem, HostSystemParams, MethodKind,
    PreconditionerKind, Slice, SolvedBy, Stop, StopReason,
};
use texla::{Device, Error, Result};

fn params(tol: f64) -> HostSystemParams {
    HostSystemParams::default().with_auto(AutoParams::default().with_stop(Stop::relative(tol)))
}

fn solved(device: &Device, a: &Csr, b: &[f64], params: HostSystemParams) -> (Vec<f64>, HostReport) {
    HostSystem::new(device, a.clone(), params).unwrap().solve(b).unwrap()
}

/// By this much of the largest one, if it is certified at all.
#[track_caller]
fn assert_solution(
    device: &Device,
    (x, report): &(Vec<f64>, HostReport),
    want: &[f64],
    by: f64,
    label: &str,
) {
    let expected = if is_exact(device) { StopReason::Converged } else { StopReason::Uncertified };
    assert_eq!(report.solved.reason, expected, "{label}: {report}");
    let most = |list: Vec<f64>| list.into_iter().map(f64::abs).max_by(f64::total_cmp).unwrap_or(0.0);
    let largest = most(want.to_vec());
    let error = most(x.iter().zip(want).map(|(x, w)| x - w).collect());
    let by = if is_exact(device) { by } else { 1e-3 };
    assert!(error <= by * largest, "{label}: off by {:e}, {report}", error / largest);
}

fn wanted(n: usize) -> Vec<f64> {
    (0..n).map(|i| 1.0 + (i % 5) as f64).collect()
}

/// A grid whose first and last rows of unknowns are given by identity rows.
fn framed(nx: usize, ny: usize) -> Csr {
    let a = problems::poisson_2d(nx, ny).to_csr();
    let n = nx * ny;
    let edge = |i: usize| i < nx || i >= n - nx;
    let inner = a.entries().filter(|(i, _, _)| !edge(*i)).collect::<Vec<_>>();
    entries(n, n, inner.into_iter().chain((0..n).filter(|i| edge(*i)).map(|i| (i, i, 1.0))))
}

/// A grid with values that rounding has made unsymmetric, times this.
fn uneven(nx: usize, ny: usize, times: f64) -> Csr {
    let a = problems::poisson_2d(nx, ny).to_csr();
    let of = |(k, v): (usize, &f64)| times * v * if k % 3 == 0 { 1.0 + f64::EPSILON } else { 1.0 };
    let values: Vec<f64> = a.values().iter().enumerate().map(of).collect();
    a.with_values(&values).unwrap()
}

#[test]
fn what_people_bring_is_solved_as_what_it_is() {
    on_both(|device| {
        for (name, a, normal) in [
            ("signs and last bits", uneven(13, 11, -1.0), "negated"),
            ("identity rows", framed(13, 11), "26 rows solved directly; symmetric"),
            ("small units", uneven(7, 9, 1e-30), "scaled"),
            ("large units", uneven(7, 9, 1e30), "scaled"),
            ("one", entries(1, 1, [(0, 0, -3.0)]), "1 row solved directly"),
            (
                "a triangle",
                entries(40, 40, (0..40).flat_map(|i| [(i, i, 2.0), (i, (i + 1).min(39), 0.5)])),
                "40 rows",
            ),
        ] {
            let want = wanted(a.shape().rows);
            let b = a.mul_vec(&want).unwrap();
            for direct in [DirectUse::Never, DirectUse::ByCost] {
                let done = solved(device, &a, &b, params(1e-9).with_direct(direct));
                assert_solution(device, &done, &want, 1e-6, name);
                assert!(done.1.normal.contains(normal), "{name}: {}", done.1);
                let expected =
                    if name == "one" || name == "a triangle" { Some(SolvedBy::Elimination) } else { None };
                assert!(expected.is_none_or(|by| by == done.1.by), "{name}: {}", done.1);
            }
        }
    });
}

#[test]
fn penalties_hide_nothing() {
    on_both(|device| {
        for penalty in [1e9, 1e30] {
            let n = 61;
            let inner = (1..n - 1).flat_map(|i| [(i, i - 1, -1.0), (i, i, 2.0), (i, i + 1, -1.0)]);
            let ends = [(0, 0, penalty), (0, 1, -1.0), (n - 1, n - 2, -1.0), (n - 1, n - 1, penalty)];
            let a = entries(n, n, inner.chain(ends));
            // Held at 1 and 3 by the penalties.
            let mut b = vec![0.0; n];
            (b[0], b[n - 1]) = (penalty, 3.0 * penalty);
            let want: Vec<f64> = (0..n).map(|i| 1.0 + 2.0 * i as f64 / (n - 1) as f64).collect();
            let done = solved(device, &a, &b, params(1e-6));
            assert_solution(device, &done, &want, 1e-4, "penalties");
            assert!(done.1.normal.starts_with("2 penalty rows fixed"), "{}", done.1);
            if is_exact(device) {
                assert!(done.1.solved.components.is_some_and(|c| c.omega < 1e-4), "{}", done.1);
            }
        }
    });
}

/// Rows of very different size are evened out by the normal form: a residual that is small there is not in the units that were
/// given, and what is missing is corrected.
#[test]
fn what_scaling_hides_is_corrected() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let size = |i: usize| 2f64.powi((i / 8) as i32);
        let grid = problems::poisson_2d(12, 10).to_csr();
        let a = entries(120, 120, grid.entries().map(|(i, j, v)| (i, j, v * size(i) * size(j))));
        let mut b = vec![0.0; 120];
        b[0] = 1.0;
        let system = HostSystem::new(device, a.clone(), params(1e-6).with_direct(DirectUse::Never)).unwrap();
        let mut seen = Vec::new();
        let (x, report) = system.solve_observed(&b, &[0.0; 120], |point| seen.push(point)).unwrap();
        assert!(report.converged() && report.corrections > 0, "{report}");
        // Progress goes on over corrections: none begins again at no iteration, or at all of the residual.
        assert!(seen.is_sorted_by_key(|point| point.iteration), "{seen:?}");
        let first = report.runs[0].iterations();
        assert!(seen.iter().any(|point| point.iteration > first), "{seen:?}");
        assert!(seen.iter().all(|p| p.iteration <= first || p.residual < 0.1), "{seen:?}");
        let rest: f64 = a.mul_vec(&x).unwrap().iter().zip(&b).map(|(ax, b)| (ax - b).powi(2)).sum();
        assert!(rest.sqrt() <= 1e-6, "{:e}, {report}", rest.sqrt());
    });
}

#[test]
fn roads_are_those_that_are_asked_for() {
    on_both(|device| {
        // Indefinite, and unsymmetric.
        let shifted = problems::poisson_2d(12, 9).to_csr();
        let shifted =
            entries(108, 108, shifted.entries().map(|(i, j, v)| (i, j, if i == j { v - 1.2 } else { v })));
        let wind = problems::poisson_2d(12, 9).to_csr();
        let wind =
            entries(108, 108, wind.entries().map(|(i, j, v)| (i, j, if j + 1 == i { 0.25 * v } else { v })));
        for (name, a) in
            [("shifted", shifted), ("wind", wind), ("grid", problems::poisson_2d(12, 9).to_csr())]
        {
            let want = wanted(108);
            let b = a.mul_vec(&want).unwrap();
            for direct in [DirectUse::Never, DirectUse::ByCost, DirectUse::Last, DirectUse::First] {
                let asked = matches!(direct, DirectUse::Last | DirectUse::First);
                let system = HostSystem::new(device, a.clone(), params(1e-10).with_direct(direct));
                if asked && !cfg!(feature = "direct") {
                    assert!(matches!(system, Err(Error::Unsupported { .. })), "{system:?}");
                    continue;
                }
                let system = system.unwrap();
                // What was set up serves them all.
                for times in [1.0, -1e-20, 1e20] {
                    let right: Vec<f64> = b.iter().map(|b| b * times).collect();
                    let want: Vec<f64> = want.iter().map(|w| w * times).collect();
                    let done = system.solve(&right).unwrap();
                    assert_solution(device, &done, &want, 1e-7, name);
                    let factors =
                        matches!(direct, DirectUse::ByCost | DirectUse::First) && cfg!(feature = "direct");
                    let expected = if factors {
                        done.1.by == SolvedBy::Factors { cholesky: name == "grid" } && done.1.runs.is_empty()
                    } else {
                        matches!(done.1.by, SolvedBy::Iterations(_)) && !done.1.runs.is_empty()
                    };
                    assert!(expected, "{name} {direct}: {}", done.1);
                }
            }
        }
    });
}

#[test]
fn a_start_is_gone_on_from_and_parts_can_be_refused() {
    on_both(|device| {
        let a = uneven(9, 8, -1.0);
        let want = wanted(72);
        let b = a.mul_vec(&want).unwrap();
        let system = HostSystem::new(device, a.clone(), params(1e-8).with_direct(DirectUse::Never)).unwrap();
        let (mut seen, far) = (0, system.solve_observed(&b, &vec![0.0; 72], |_| {}).unwrap());
        let near = system.solve_observed(&b, &far.0, |_| seen += 1).unwrap();
        assert_solution(device, &near, &want, 1e-6, "from the solution");
        assert!(near.1.solved.iterations < far.1.solved.iterations, "{} and {}", near.1, far.1);
        assert!(seen > 0);
        // Of zeros the solution is zero, and that is what is returned.
        let (x, report) = system.solve_observed(&[0.0; 72], &far.0, |_| {}).unwrap();
        assert!(!report.converged() || x.iter().all(|x| *x == 0.0), "{report}");
        let plain = params(1e-8).with_direct(DirectUse::Never).with_normal(NormalParams::none());
        let done = solved(device, &a, &b, plain);
        assert_solution(device, &done, &want, 1e-6, "as given");
        assert_eq!(done.1.normal, "as given");
    });
}

#[test]
fn slices_end_where_a_solve_does() {
    let a = uneven(14, 11, 30.0);
    let b = a.mul_vec(&wanted(a.shape().rows)).unwrap();
    on_both(|device| {
        for direct in [DirectUse::Never, DirectUse::ByCost] {
            let system = HostSystem::new(device, a.clone(), params(1e-6).with_direct(direct)).unwrap();
            let system = Rc::new(system);
            let (whole, told) = system.solve(&b).unwrap();
            let system = HostSystem::new(device, a.clone(), params(1e-6).with_direct(direct)).unwrap();
            let mut solving = Rc::new(system).begin(b.clone(), vec![0.0; b.len()]);
            let mut slices = 0;
            while !solving.advance(Slice::iterations(3)).unwrap().done {
                slices += 1;
            }
            let (x, report) = solving.finish();
            let report = report.unwrap();
            assert!(report.converged(), "{report}");
            assert_eq!(x, whole);
            assert_eq!(report.solved.iterations, told.solved.iterations);
            assert!(slices >= report.solved.iterations / 3, "{slices} slices, {report}");
        }
        // An error ends it, and the start is what is left.
        let system = Rc::new(HostSystem::new(device, a.clone(), params(1e-6)).unwrap());
        let (start, done) = system.begin(vec![f64::NAN; b.len()], vec![2.0; b.len()]).finish();
        assert!(done.is_err());
        assert_eq!(start, vec![2.0; b.len()]);
    });
}

#[test]
fn what_has_no_solution_or_no_meaning_is_refused() {
    on_both(|device| {
        // Two chains, each with a constant null vector.
        let chain = |k: usize| [(k, k, 1.0), (k, k + 1, -1.0), (k + 1, k, -1.0), (k + 1, k + 1, 1.0)];
        let a = entries(6, 6, [0, 1, 3, 4].into_iter().flat_map(chain));
        let system = HostSystem::new(device, a.clone(), params(1e-6)).unwrap();
        let solve = |b: &[f64]| -> Result<_> { system.solve(b) };
        let (x, report) = solve(&[1.0, 0.0, -1.0, 2.0, 2.0, -4.0]).unwrap();
        assert_eq!(report.converged(), is_exact(device), "{report}");
        let back = a.mul_vec(&x).unwrap();
        assert!(
            back.iter().zip([1.0, 0.0, -1.0, 2.0, 2.0, -4.0]).all(|(b, want)| (b - want).abs() < 1e-5),
            "{back:?}"
        );
        assert!(matches!(solve(&[1.0, 0.0, -1.0, 2.0, 2.0, -3.0]), Err(Error::Inconsistent { .. })));
        assert!(matches!(solve(&[1.0; 5]), Err(Error::LengthMismatch { .. })));
        assert!(matches!(solve(&[f64::NAN; 6]), Err(Error::Parameter { .. })));
        let wide = entries(1, 2, [(0, 0, 1.0)]);
        assert!(matches!(HostSystem::new(device, wide, params(1e-6)), Err(Error::Matrix { .. })));
        let empty = HostSystem::new(device, entries(1, 1, []), params(1e-6));
        assert!(matches!(empty.and_then(|s| s.solve(&[1.0])), Err(Error::Inconsistent { .. })));
    });
}

/// A chain of so many unknowns whose rows sum to zero.
fn floating(n: usize) -> Vec<(usize, usize, f64)> {
    let links = (1..n).flat_map(|i| [(i - 1, i, -1.0), (i, i - 1, -1.0), (i, i, 1.0), (i - 1, i - 1, 1.0)]);
    links.collect()
}

/// Factors of what floats are those of a regular matrix: the solution has no part along the null vector, however little the right-hand
/// side is off.
#[test]
fn factors_keep_clear_of_null_vectors() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let chain = entries(40, 40, floating(40));
        let grid = problems::poisson_2d(30, 30).to_csr();
        let sums: Vec<f64> = (0..900).map(|i| grid.row(i).map(|(_, v)| v).sum()).collect();
        let closed: Vec<_> =
            grid.entries().map(|(i, j, v)| (i, j, if i == j { v - sums[i] } else { v })).collect();
        for (a, label) in [(chain, "chain"), (entries(900, 900, closed), "grid")] {
            let n = a.shape().rows;
            let want: Vec<f64> = (0..n).map(|i| (i % 2) as f64 - 0.5).collect();
            let mut b = a.mul_vec(&want).unwrap();
            // As in a file of six digits.
            b.iter_mut().enumerate().for_each(|(i, b)| *b += 1e-7 * (i % 3) as f64);
            for direct in [DirectUse::First, DirectUse::ByCost, DirectUse::Never] {
                let outcome = solved(device, &a, &b, params(1e-5).with_direct(direct));
                assert_solution(device, &outcome, &want, 1e-2, label);
                let by_factors = matches!(outcome.1.by, SolvedBy::Factors { .. });
                assert_eq!(by_factors, direct != DirectUse::Never, "{label}: {}", outcome.1);
            }
        }
        // A small part without a solution beside a large one that has one is no solution, and does not run away.
        let n = 3;
        let mut all = floating(n);
        all.extend([(n, n, 2.0), (n, n + 1, -1.0), (n + 1, n, -1.0), (n + 1, n + 1, 2.0)]);
        let a = entries(n + 2, n + 2, all);
        let (x, report) = solved(device, &a, &[1.0, 1.0, 1.0, 1e6, 1e6], params(1e-5));
        assert_eq!(report.solved.reason, StopReason::NormOnly, "{report}");
        assert!(x[..n].iter().all(|x| x.abs() <= 1.0), "{x:?}");
        assert!(x[n..].iter().all(|x| (x - 1e6).abs() <= 10.0), "{x:?}");
    });
}

/// Singular in a way that nothing tells: constraints given twice. Factors lose the solution, iterations do not, and what has none leaves no
/// more than the start.
#[test]
fn what_factors_lose_is_found_by_iterations() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let (n, m) = (30, 6);
        let mut all: Vec<(usize, usize, f64)> = problems::poisson_1d(n).to_csr().entries().collect();
        for k in 0..m {
            // Each of three constraints twice.
            for (j, v) in [(5 * (k / 2), 1.0), (5 * (k / 2) + 2, 2.0), (5 * (k / 2) + 7, -1.0)] {
                all.extend([(n + k, j, v), (j, n + k, v)]);
            }
        }
        let a = entries(n + m, n + m, all);
        let b = a.mul_vec(&wanted(n + m)).unwrap();
        for direct in [DirectUse::First, DirectUse::ByCost] {
            let (x, report) = solved(device, &a, &b, params(1e-7).with_direct(direct));
            assert!(report.converged(), "{direct:?}: {report}");
            // The constrained part is unique.
            let error = x.iter().zip(&wanted(n)).map(|(x, w)| (x - w).abs()).fold(0.0, worst);
            assert!(error <= 1e-3, "{direct:?}: {error}");
        }
        // Rows that do not sum to zero, and no solution: (2, -1) maps both to zero, and b to 2.
        let a = entries(2, 2, [(0, 0, 1.0), (0, 1, 2.0), (1, 0, 2.0), (1, 1, 4.0)]);
        let found = HostSystem::new(device, a.clone(), params(1e-5)).unwrap().solve(&[1.0, 0.0]);
        let Err(Error::Inconsistent { found, .. }) = found else { panic!("{}", found.unwrap().1) };
        assert!((found - 2.0 / 5f64.sqrt()).abs() < 1e-12, "{found}");
        // What iterations leave is no more than the start.
        let (_, report) = solved(device, &a, &[1.0, 0.0], params(1e-5).with_direct(DirectUse::Never));
        assert!(!report.converged() && report.solved.true_residual <= 1.0, "{report}");
    });
}

/// A field whose size is a hundred-thousandth of the one that causes it: a norm to 1e-5 says nothing of it.
#[test]
fn a_small_field_is_solved_beside_a_large_one() {
    on_both(|device| {
        let (grid, n) = (problems::poisson_2d(14, 13).to_csr(), 182);
        let fields = grid.entries().flat_map(|(i, j, v)| [(i, j, v), (n + i, n + j, v)]);
        let screened = fields.map(|(i, j, v)| (i, j, if i == j && i < n { v + 10.0 } else { v }));
        let a = entries(2 * n, 2 * n, screened.chain((0..n).map(|i| (n + i, i, 1e-10))));
        let b: Vec<f64> =
            (0..2 * n).map(|i| if i < n { 1e9 * ((i * i % 17) as f64 - 8.0) } else { 1.0 }).collect();
        let factors = HostSystem::new(device, a.clone(), params(1e-10)).unwrap();
        let (want, _) = factors.solve(&b).unwrap();
        // One that leaves as much as it may.
        let choices = vec![Choice::new(MethodKind::Gmres, PreconditionerKind::Jacobi)];
        let plain = params(1e-5).with_direct(DirectUse::Never);
        let auto = plain.auto.clone().with_choices(choices);
        let (x, report) = solved(device, &a, &b, plain.with_auto(auto));
        if is_exact(device) {
            assert!(report.converged(), "{report}");
            let error = (n..2 * n).map(|i| (x[i] - want[i]).abs()).fold(0.0, worst);
            let largest = want[n..].iter().map(|w| w.abs()).fold(0.0, worst);
            assert!((1.0..100.0).contains(&largest) && error <= 0.05 * largest, "{error} of {largest}");
        } else {
            assert_ne!(report.solved.reason, StopReason::Converged);
        }
    });
}

/// Springs in metres and newtons: nodes are found through identity rows and units, coordinates save iterations, and these are
/// made in pairs from the beginning.
#[test]
fn vectors_in_nodes_are_recognised() {
    on_both(|device| {
        let stiffness = |y: usize| if y < 5 { 1.0 } else { 4096.0 };
        let (sheet, axes) = crate::systems::springs_of(15, 11, 0.0, &stiffness);
        let n = sheet.shape().rows;
        let held = |i: usize| (i / 2).is_multiple_of(15);
        let of = |(i, j, v): (usize, usize, f64)| match (held(i), i == j) {
            (true, true) => Some((i, j, 1.0)),
            (true, false) => None,
            _ => Some((i, j, 210e9 * v)),
        };
        let a = entries(n, n, sheet.entries().filter_map(of));
        let want: Vec<f64> = (0..n).map(|i| if held(i) { 0.0 } else { 1e-4 * (i % 7) as f64 }).collect();
        let b = a.mul_vec(&want).unwrap();
        let counts = [None, Some(&axes)].map(|axes| {
            let space =
                axes.map(|axes| NearNullSpace::rigid(Blocks::new(2, BlockOrder::Nodes), axes).unwrap());
            let params = params(1e-8).with_direct(DirectUse::Never).with_near_null_space(space);
            let system = HostSystem::new(device, a.clone(), params).unwrap();
            let (x, report) = system.solve(&b).unwrap();
            let SolvedBy::Iterations(choice) = report.by else { panic!("{report}") };
            assert_eq!(choice.preconditioner, PreconditionerKind::Amg, "{report}");
            let run = &report.runs[0].solved;
            let iterations = run.iterations;
            if is_exact(device) {
                assert_eq!(run.double_iterations, iterations, "{report}");
                assert_solution(device, &(x, report), &want, 1e-5, "springs");
            }
            iterations
        });
        assert!(counts[1] < counts[0] && counts[0] < 60, "{counts:?}");
        let short = NearNullSpace::new(vec![vec![1.0; 4]]).unwrap();
        let refused = HostSystem::new(device, a, params(1e-5).with_near_null_space(Some(short)));
        assert!(matches!(refused, Err(Error::LengthMismatch { found: 4, .. })));
    });
}

/// Of a matrix that is singular, which neither its rows' sums nor a null vector that is said show, factors find the vector along which a
/// right-hand side cannot be reached.
#[cfg(feature = "direct")]
#[test]
fn right_hand_sides_without_a_solution_are_refused_by_factors() {
    let [grid, wind] = [0.0, 0.4].map(|wind| {
        let a = problems::poisson_2d(9, 8).to_csr();
        entries(72, 72, a.entries().map(|(i, j, v)| (i, j, if j + 1 == i { v - wind } else { v })))
    });
    on_both(|device| {
        for (name, a) in [("symmetric", &grid), ("not symmetric", &wind)] {
            let n = a.shape().rows;
            // The last equation is replaced by a sum of all others (and the last column, where that keeps it symmetric), with values
            // that no sum of rows or columns shows; rows above by themselves give one unknown.
            let last = |i: usize| if i.is_multiple_of(3) { 1.5 } else { -0.7 };
            let row: Vec<f64> = a.mul_vec_transposed(&(0..n).map(last).collect::<Vec<_>>()).unwrap();
            let column: Vec<f64> = a.mul_vec(&(0..n).map(last).collect::<Vec<_>>()).unwrap();
            let corner: f64 = row.iter().enumerate().map(|(j, v)| v * last(j)).sum();
            let border = (0..n).flat_map(|k| [(n, k, row[k]), (k, n, column[k])]).chain([(n, n, corner)]);
            // A chain that ends in an identity row, coupled to the equation that is too many.
            let chain = [(n + 1, n + 1, 3.0), (n + 1, n + 2, 1.0), (n + 2, n + 2, 1e-3), (n, n + 1, 0.25)];
            let a = entries(n + 3, n + 3, a.entries().chain(border).chain(chain));
            let want = wanted(n + 3);
            let good = a.mul_vec(&want).unwrap();
            let params = || params(1e-5);
            let system = HostSystem::new(device, a.clone(), params()).unwrap();
            let (x, report) = system.solve(&good).unwrap();
            let rest: Vec<f64> = a.mul_vec(&x).unwrap().iter().zip(&good).map(|(ax, b)| ax - b).collect();
            let norm = |list: &[f64]| list.iter().map(|v| v * v).sum::<f64>().sqrt();
            assert!(norm(&rest) < 2e-5 * norm(&good), "{name}: {report}");
            // The vector along which it is singular, and what is left along it.
            let mut w: Vec<f64> = (0..n).map(last).collect();
            w.extend([-1.0, 0.25 / 3.0, -0.25 / 3.0 / 1e-3]);
            let zero = a.mul_vec_transposed(&w).unwrap();
            assert!(norm(&zero) < 1e-11, "{zero:?}");
            let mut bad = good.clone();
            bad[n] += 0.01 * norm(&good);
            let along = 0.01 * norm(&good) / norm(&w);
            match system.solve(&bad) {
                Err(Error::Inconsistent { found, bound, .. }) => {
                    assert!((found / along - 1.0).abs() < 1e-6, "{name}: {found:e} for {along:e}");
                    assert!((bound / (1e-5 * norm(&bad)) - 1.0).abs() < 1e-12, "{name}: {bound:e}");
                }
                Ok((_, report)) => panic!("{name}: {report}"),
                Err(error) => panic!("{name}: {error}"),
            }
        }
    });
}

/// Columns that no format of 32 bits holds beside each other: solutions are certified in units of their columns, and so may be past the
/// range of floats, or have elements that are.
#[test]
fn columns_in_any_units_are_certified() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let grid = problems::poisson_2d(6, 5).to_csr();
        let unit = |j: usize| [1.0, 1e-40, 3e25][j % 3];
        let columns = entries(30, 30, grid.entries().map(|(i, j, v)| (i, j, v * unit(j))));
        // Of both sides: equations of very different size, of which a norm sees the largest.
        let both = entries(30, 30, grid.entries().map(|(i, j, v)| (i, j, v * unit(i) * unit(j))));
        // Many sizes, so that the largest entry of every row may be of the same columns.
        let far = |j: usize| 10f64.powi((j * 7 % 30) as i32 * 3 - 45);
        let many = entries(30, 30, grid.entries().map(|(i, j, v)| (i, j, v * far(j))));
        let units: [&dyn Fn(usize) -> f64; 2] = [&unit, &far];
        for (name, a, unit) in
            [("columns", columns, units[0]), ("both", both, units[0]), ("many", many, units[1])]
        {
            let want: Vec<f64> = wanted(30).iter().enumerate().map(|(j, v)| v / unit(j)).collect();
            let b = a.mul_vec(&want).unwrap();
            for direct in [DirectUse::ByCost, DirectUse::Never] {
                let (x, report) = solved(device, &a, &b, params(1e-6).with_direct(direct));
                assert!(report.converged(), "{name}, {direct:?}: {report}");
                let error = x.iter().zip(&want).map(|(x, w)| (x / w - 1.0).abs()).fold(0.0, worst);
                assert!(error < 1e-4, "{name}, {direct:?}: {error:e}");
            }
            // A wrong one is not: a correction of nothing.
            let [mut off, none] = [want.clone(), vec![0.0; 30]];
            off[1] *= 1.5;
            let start =
                params(1e-6).with_auto(AutoParams::default().with_max_iters(0)).with_direct(DirectUse::Never);
            let system = HostSystem::new(device, a.clone(), start).unwrap();
            for start in [off, none] {
                if let Ok((_, report)) = system.solve_observed(&b, &start, |_| {}) {
                    assert!(!report.converged(), "{name}: {report}");
                }
            }
        }
    });
}

/// Equations and unknowns in any units of their own: no row is taken for a penalty because of them, and all equations hold
/// each by its own terms.
#[test]
fn systems_in_units_of_both_sides_are_solved() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let mut random = Rng::new(77);
        for reach in [6, 10, 20] {
            for _ in 0..4 {
                let mut unit = || 10f64.powi(random.below(2 * reach + 1) as i32 - reach as i32);
                let mut units = || (0..36).map(|_| unit()).collect::<Vec<f64>>();
                let [rows, columns] = [(); 2].map(|()| units());
                let grid = problems::poisson_2d(6, 6).to_csr();
                let skew = |i: usize, j: usize| if i < j { 1.3 } else { 1.0 };
                let a = grid.entries().map(|(i, j, v)| (i, j, v * skew(i, j) * rows[i] * columns[j]));
                let a = entries(36, 36, a);
                let want: Vec<f64> = wanted(36).iter().zip(&columns).map(|(v, unit)| v / unit).collect();
                let b = a.mul_vec(&want).unwrap();
                let (x, report) = solved(device, &a, &b, params(1e-6));
                assert!(report.converged(), "{reach}: {report}");
                let error = x.iter().zip(&want).map(|(x, w)| (x / w - 1.0).abs()).fold(0.0, worst);
                assert!(error < 1e-3, "{reach}: {error:e}, {report}");
            }
        }
    });
}

/// Transport whose speed changes from cell to cell, so that scaling makes something else of a constant: that goes to multigrid with the
/// matrix.
#[test]
fn scaled_transport_is_aggregated_along_its_own_constant() {
    on_both(|device| {
        let n = 32;
        let speed = |i: usize| [0.1, 300.0, 3.0, 40.0][(i / 3 + i / n) % 4];
        let wind = |(i, j, v): (usize, usize, f64)| match i.cmp(&j) {
            std::cmp::Ordering::Greater => (i, j, v - speed(i)),
            std::cmp::Ordering::Less => (i, j, v),
            std::cmp::Ordering::Equal => (i, j, v + 2.0 * speed(i)),
        };
        let a = entries(n * n, n * n, problems::poisson_2d(n, n).to_csr().entries().map(wind));
        let b = a.mul_vec(&wanted(n * n)).unwrap();
        let (_, report) = solved(device, &a, &b, params(1e-5).with_direct(DirectUse::Never));
        assert!(report.converged(), "{report}");
        let [run] = &report.runs[..] else { panic!("{report}") };
        assert_eq!(run.choice.to_string(), "gmres(50) with amg", "{run}");
        assert!(run.iterations() <= 30, "{report}");
    });
}

/// Of many unknowns without symmetry that multigrid suits factors are predicted, and made, only once iterations have ended without
/// an answer.
#[test]
fn factors_of_large_transport_wait() {
    on_both(|device| {
        let n = 320;
        if device.capabilities().max_texture_size < 1024 || !is_exact(device) {
            return;
        }
        let wind = |(i, j, v): (usize, usize, f64)| {
            (
                i,
                j,
                if i == j {
                    v + 1.0
                } else if i == j + 1 {
                    v - 1.0
                } else {
                    v
                },
            )
        };
        let a = entries(n * n, n * n, problems::poisson_2d(n, n).to_csr().entries().map(wind));
        let b = a.mul_vec(&wanted(n * n)).unwrap();
        for (most, event) in [(1000, false), (2, true)] {
            let seen = Rc::new(std::cell::Cell::new(false));
            let auto = AutoParams::default().with_stop(Stop::relative(1e-5)).with_max_iters(most);
            let params = params(1e-5).with_auto(auto);
            let saw = Rc::clone(&seen);
            let system = HostSystem::new(device, a.clone(), params).unwrap().heard(move |event| {
                saw.set(saw.get() || matches!(event, AutoEvent::Factors { .. }));
            });
            let (_, report) = system.solve(&b).unwrap();
            assert!(report.converged(), "{most}: {report}");
            assert_eq!(seen.get(), event, "{most}: {report}");
        }
    });
}

/// Elements of the solution that no unit of floats holds beside each other: what is small is neither lost nor passed unseen, by elimination,
/// factors or iterations, nor where a start is taken back.
#[test]
fn elements_of_any_size_are_kept() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let apart = entries(2, 2, [(0, 0, 1.0), (1, 1, 1.0)]);
        let pinned = entries(3, 3, [(0, 0, 1e38), (0, 1, -1.0), (1, 0, -1.0), (1, 1, 2.0), (2, 2, 1.0)]);
        let grid = problems::poisson_2d(9, 8).to_csr();
        let penalized = grid.entries().map(|(i, j, v)| (i, j, 1e-11 * v));
        let penalized = entries(72, 72, penalized.chain((0..9).map(|i| (i, i, 1e30))));
        let two = grid.entries().flat_map(|(i, j, v)| [(i, j, v), (72 + i, 72 + j, v)]);
        let two = entries(144, 144, two);
        let of_two = (0..144).map(|i| if i < 72 { 3e40 } else { 1.0 + (i % 3) as f64 }).collect();
        for (name, a, want) in [
            ("apart", apart, vec![1e38, 1.0]),
            ("pinned", pinned, vec![3.0, 2.0, 1.0]),
            ("penalties", penalized, wanted(72)),
            ("two systems", two, of_two),
        ] {
            let b = a.mul_vec(&want).unwrap();
            for direct in [DirectUse::ByCost, DirectUse::Never] {
                let (x, report) = solved(device, &a, &b, params(1e-7).with_direct(direct));
                assert!(report.converged(), "{name}, {direct:?}: {report}");
                let error = x.iter().zip(&want).map(|(x, w)| (x / w - 1.0).abs()).fold(0.0, worst);
                assert!(error < 1e-4, "{name}, {direct:?}: {error:e}, {report}");
            }
        }
    });
}

/// A matrix whose rows sum to more than rounding is regular, and solved as such; one whose rows sum to less has no solution.
#[test]
fn rows_that_sum_to_more_than_rounding_are_regular() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let n = 50;
        let path = |shift: f64| {
            let of = |i: usize| {
                let own = if [0, n - 1].contains(&i) { 1.0 } else { 2.0 };
                let next = (i + 1 < n).then_some([(i, i + 1, -1.0), (i + 1, i, -1.0)]);
                [(i, i, own + shift)].into_iter().chain(next.into_iter().flatten())
            };
            entries(n, n, (0..n).flat_map(of).collect::<Vec<_>>())
        };
        for use_of_factors in [DirectUse::ByCost, DirectUse::Never] {
            let a = path(1e-12);
            let params = params(1e-5).with_direct(use_of_factors);
            let (x, report) = solved(device, &a, &vec![1.0; n], params.clone());
            assert!(report.converged(), "{report}");
            let ax = a.mul_vec(&x).unwrap();
            assert!(ax.iter().all(|ax| (ax - 1.0).abs() <= 1e-4) && x[0] > 1e11, "{}", x[0]);
            let refused = HostSystem::new(device, path(0.0), params).unwrap().solve(&vec![1.0; n]);
            assert!(matches!(refused, Err(Error::Inconsistent { .. })));
        }
    });
}

/// A solution whose equations hold but for rounding is kept, whatever the norm of its residual: where terms are far larger than the
/// right-hand side that is above 1. The report says so.
#[cfg(feature = "direct")]
#[test]
fn what_holds_by_components_is_kept() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        // Rows in units that are 24 decades apart: on the device zero leaves less of the right-hand side.
        let n = 8;
        let unit = |i: usize| 10f64.powf(-12.0 + 24.0 * i as f64 / (n - 1) as f64);
        let of = |i: usize| {
            let next = (i + 1 < n).then(|| [(i, i + 1, -unit(i)), (i + 1, i, -unit(i + 1))]);
            [(i, i, 3.0 * unit(i))].into_iter().chain(next.into_iter().flatten())
        };
        let a = entries(n, n, (0..n).flat_map(of).collect::<Vec<_>>());
        let (x, report) = solved(device, &a, &vec![1.0; n], params(1e-5));
        assert_eq!(
            (report.solved.reason, report.by),
            (StopReason::Stagnated, SolvedBy::Factors { cholesky: false })
        );
        let components = report.solved.components.unwrap();
        assert!(components.omega <= 1e-12 && components.rows == 0, "{report}");
        assert!(report.to_string().contains("where each equation holds to"), "{report}");
        // The first row by itself: its terms are no larger than its right-hand side.
        assert!((3.0 * x[0] - x[1] - 1e12).abs() <= 1.0 && x[0] > 1e11, "{x:?}");
        // Once more by iterations alone, which do not find it: nothing is claimed.
        let (_, report) = solved(device, &a, &vec![1.0; n], params(1e-5).with_direct(DirectUse::Never));
        assert!(!report.converged(), "{report}");
    });
}

/// A block that nothing is given for has rounding for a solution, which is judged by the whole.
#[cfg(feature = "direct")]
#[test]
fn blocks_without_a_right_hand_side_may_round() {
    on_both(|device| {
        // Two grids, the second of which moves the first.
        let grid = problems::poisson_2d(9, 9).to_csr();
        let both = grid.entries().flat_map(|(i, j, v)| [(i, j, v), (81 + i, 81 + j, v)]);
        let couple = (0..81).map(|i| (i, 81 + (i + 1) % 81, 0.3));
        let a = entries(162, 162, both.chain(couple).collect::<Vec<_>>());
        let x: Vec<f64> = (0..162).map(|i| if i < 81 { 1.0 + (i % 5) as f64 } else { 0.0 }).collect();
        let b = a.mul_vec(&x).unwrap();
        for use_of_factors in [DirectUse::ByCost, DirectUse::Never] {
            let answer = solved(device, &a, &b, params(1e-5).with_direct(use_of_factors));
            assert_solution(device, &answer, &x, 1e-4, "given in one block alone");
        }
        let noise: Vec<f64> = x.iter().map(|x| if *x == 0.0 { 1e-13 } else { *x }).collect();
        assert_eq!(Components::measured(&a, &noise, &b, 1e-3).unwrap().rows, 0);
        assert!(
            Components::measured(
                &a,
                &noise.iter().map(|x| 1e8 * x - 1e8 * 1e-13).collect::<Vec<_>>(),
                &b,
                1e-3
            )
            .unwrap()
            .rows
                > 0
        );
    });
}

/// The limit of iterations is one of all runs, and a bound that is none is refused before anything is made.
#[test]
fn limits_are_those_of_all_runs() {
    on_both(|device| {
        let a = problems::poisson_2d(40, 40).to_csr();
        let b: Vec<f64> = (0..1600).map(|i| f64::from((i * i % 97) as u8) - 48.0).collect();
        for most in [1, 2, 3] {
            let mut params = params(1e-9).with_direct(DirectUse::Never);
            params.auto.max_iters = most;
            let (_, report) = solved(device, &a, &b, params);
            assert_eq!(report.solved.iterations, most, "{report}");
            assert_eq!(report.solved.reason, StopReason::MaxIterations, "{report}");
        }
        for bound in [0.0, -1.0, f64::NAN, 2.0] {
            let error = HostSystem::new(device, a.clone(), params(bound)).unwrap_err();
            assert!(matches!(error, Error::Parameter { .. }), "{error}");
        }
    });
}

/// A way that ends without an answer is given up as the next begins, in events as in the report.
#[cfg(feature = "direct")]
#[test]
fn what_is_given_up_is_heard_as_it_happens() {
    on_both(|device| {
        let a = problems::poisson_2d(30, 30).to_csr();
        let b = a.mul_vec(&wanted(900)).unwrap();
        let jacobi = Choice::new(MethodKind::Cg, PreconditionerKind::Jacobi);
        let limited = |use_of_factors| {
            let params = params(1e-6).with_direct(use_of_factors);
            let auto = params.auto.clone().with_choices(vec![jacobi]).with_max_iters(5);
            HostSystem::new(device, a.clone(), params.with_auto(auto)).unwrap()
        };
        let heard = Rc::new(RefCell::new(Vec::new()));
        let hear = Rc::clone(&heard);
        let system = limited(DirectUse::Last).heard(move |event| {
            hear.borrow_mut().push(match event {
                AutoEvent::Begins(choice) => format!("begins {choice}"),
                AutoEvent::Failed(attempt) => format!("gives up {}: {}", attempt.what, attempt.why),
                AutoEvent::Factors { .. } => "factors".to_owned(),
                other => panic!("{other:?}"),
            });
        });
        let answer = system.solve(&b).unwrap();
        assert_solution(device, &answer, &wanted(900), 1e-4, "after five iterations");
        let (_, report) = answer;
        let [attempt] = &report.given_up[..] else { panic!("{report}") };
        let GivenUp::Ended(why) = &attempt.why else { panic!("{report}") };
        assert_eq!((why.reason, why.iterations), (StopReason::MaxIterations, 5), "{report}");
        assert!(why.true_residual > 1e-6 && attempt.took > Duration::ZERO, "{report}");
        let gives_up = format!("gives up {jacobi}: {why}");
        assert_eq!(heard.take(), [format!("begins {jacobi}"), gives_up, "factors".to_owned()]);
        assert!(report.to_string().contains(&format!("\nnot by {jacobi}: {why}")), "{report}");
        // What is the answer in the end has not been given up.
        let never = limited(DirectUse::Never).solve(&b).unwrap().1;
        assert!(!never.converged() && never.given_up.is_empty(), "{never}");
    });
}

/// Where terms are beyond the range of floats, the host alone knows whether each equation holds: it claims no convergence.
#[cfg(feature = "direct")]
#[test]
fn terms_beyond_floats_leave_an_answer() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let n = 8;
        let unit = |i: usize| 10f64.powf(-50.0 + 100.0 * i as f64 / (n - 1) as f64);
        let a = problems::poisson_2d(n, 1).to_csr();
        let a = entries(n, n, a.entries().map(|(i, j, v)| (i, j, unit(i) * v * unit(j))));
        let (x, report) = solved(device, &a, &vec![1.0; n], params(1e-5));
        let components = report.solved.components.unwrap();
        assert_eq!((report.solved.reason, components.rows), (StopReason::Stagnated, 0), "{report}");
        assert!(components.omega <= 1e-12, "{report}");
        let omega = Components::measured(&a, &x, &vec![1.0; n], 0.0).unwrap().omega;
        assert!(omega <= 1e-12, "{omega:e}");
    });
}

/// What iterations have used up does not keep factors from their corrections, whatever iterations reached.
#[cfg(feature = "direct")]
#[test]
fn factors_are_corrected_after_iterations_that_did_nothing() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        // Penalties within: the factors of the system without them need a correction.
        let inner = problems::poisson_2d(20, 20).to_csr();
        let a = entries(
            400,
            400,
            inner.entries().map(|(i, j, v)| (i, j, if i == j && i % 50 == 0 { 1e9 } else { v })),
        );
        let x: Vec<f64> = (0..400).map(|i| 1.0 + (i % 3) as f64).collect();
        let b = a.mul_vec(&x).unwrap();
        let params = params(1e-12).with_direct(DirectUse::Last);
        let jacobi = Choice::new(MethodKind::Cg, PreconditionerKind::Jacobi);
        let auto = params.auto.clone().with_choices(vec![jacobi]).with_max_iters(1);
        let answer = solved(device, &a, &b, params.with_auto(auto));
        assert_solution(device, &answer, &x, 1e-9, "after one iteration");
        assert!(answer.1.corrections > 0, "{}", answer.1);
    });
}

/// A row that is too long for the device's loops is refused before anything is tried.
#[test]
fn rows_that_no_residual_adds_up_are_refused_at_once() {
    on_both(|device| {
        let most = device.capabilities().loop_rounds as usize;
        if !is_exact(device) || most > 1 << 20 {
            return;
        }
        let n = most + 2;
        let arrow = (1..n).flat_map(|i| [(i, i, 2.0), (0, i, 1e-3), (i, 0, 1e-3)]).chain([(0, 0, 10.0)]);
        let refused = HostSystem::new(device, entries(n, n, arrow), params(1e-5)).unwrap_err();
        assert!(matches!(refused, Error::TooLarge { .. }), "{refused}");
    });
}
