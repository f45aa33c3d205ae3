//! Singular systems: the null space is projected out, and what has no solution is refused.

use crate::common::bounds::{U, gamma};
use crate::common::harness::{assert_padded, on_both};
use crate::common::worst::worst;
use crate::common::{random, reference};
use crate::systems::{self, apply, bits, entries, norm};
use texla::host::Csr;
use texla::kernel::Predicate;
use texla::ops::{Accurate, Checked, LinOp, Part, Product, ReducePlan, Windows};
use texla::solve::{
    BiCgStab, BiCgStabParams, CgParams, CgSchedule, Cgls, CglsParams, ConjugateGradient, Direction,
    GaussSeidel, Identity, Jacobi, Preconditioner, SolveReport, Stationary, StationaryParams, Stop,
    StopReason, Sweepable, WeightedJacobi, project_out,
};
use texla::{
    Device, Error, Grid, MatrixFormat, Result, Shape, Side, Sides, Stencil, StencilParams, StoredMatrix,
    Vector,
};

/// A stored matrix that knows its null space.
struct Singular {
    inner: StoredMatrix,
    null_space: Vec<Vector>,
}

impl LinOp for Singular {
    fn device(&self) -> &Device {
        self.inner.device()
    }

    fn shape(&self) -> Shape {
        self.inner.shape()
    }

    fn apply(&self, y: &mut Vector, terms: Checked<Product<'_>>) -> Result<()> {
        self.inner.apply(y, terms)
    }

    fn apply_transposed(&self, y: &mut Vector, terms: Checked<Product<'_>>) -> Result<()> {
        self.inner.apply_transposed(y, terms)
    }

    fn accurate(&self, out: &mut Vector, terms: Checked<Accurate<'_>>, part: Part) -> Result<bool> {
        // Sums alone: what they err by is estimated then, in proportion to powers of two.
        Ok(part == Part::Sum && self.inner.accurate(out, terms, part)?)
    }

    fn diagonal(&self) -> Result<Vec<f64>> {
        self.inner.diagonal()
    }

    fn null_space(&self) -> &[Vector] {
        &self.null_space
    }

    fn exponent(&self) -> texla::Result<i32> {
        self.inner.exponent()
    }
}

impl Sweepable for Singular {
    fn rows(&self) -> &Csr {
        self.inner.rows()
    }

    fn residual_where(&self, r: &mut Vector, b: &Vector, x: &Vector, predicate: Predicate<'_>) -> Result<()> {
        self.inner.residual_where(r, b, x, predicate)
    }
}

/// A singular matrix and its null space on the host.
struct Problem {
    name: &'static str,
    a: Csr,
    null_space: Vec<Vec<f64>>,
}

/// `Σ (u_i - u_j)` over the pairs of neighbours in the list.
fn laplacian(n: usize, pairs: impl IntoIterator<Item = (usize, usize, f64)>) -> Csr {
    let each = |(i, j, w): (usize, usize, f64)| [(i, i, w), (j, j, w), (i, j, -w), (j, i, -w)];
    entries(n, n, pairs.into_iter().flat_map(each).collect::<Vec<_>>())
}

/// Neighbours on a grid of cells, where both are open; round the ends if it is periodic.
fn pairs(nx: usize, ny: usize, periodic: bool, open: impl Fn(usize) -> bool) -> Vec<(usize, usize, f64)> {
    let mut pairs = Vec::new();
    for (x, y) in (0..ny).flat_map(|y| (0..nx).map(move |x| (x, y))) {
        for (i, j, inside) in [(x + 1, y, x + 1 < nx), (x, y + 1, y + 1 < ny)] {
            let (here, there) = (y * nx + x, j % ny * nx + i % nx);
            if (inside || periodic) && open(here) && open(there) {
                pairs.push((here, there, 1.0));
            }
        }
    }
    pairs
}

fn problems() -> Vec<Problem> {
    let grid = |nx: usize, ny: usize| (0..nx * ny).map(move |k| (k % nx, k / nx));
    // Two rooms with a wall of solid cells between, whose own rows are 4 u_i.
    let (nx, ny) = (19, 13);
    let wall = move |k: usize| k % nx == 7;
    let mut rooms = laplacian(nx * ny, pairs(nx, ny, false, |k| !wall(k)));
    let solid = (0..nx * ny).filter(|k| wall(*k)).map(|k| (k, k, 4.0));
    rooms = entries(nx * ny, nx * ny, rooms.entries().chain(solid).collect::<Vec<_>>());
    let side = |left| grid(nx, ny).map(|(x, _)| f64::from((x != 7 && (x < 7) == left) as u8)).collect();
    // Scaled from both sides: the null space is no longer constant.
    let scale = |k: usize| [1.0, 2.0, 0.5, 4.0][k % 4];
    let plain = laplacian(120, pairs(12, 10, false, |_| true));
    let scaled = plain.entries().map(|(i, j, v)| (i, j, v * scale(i) * scale(j))).collect::<Vec<_>>();
    vec![
        Problem {
            name: "neumann",
            a: laplacian(31 * 17, pairs(31, 17, false, |_| true)),
            null_space: vec![vec![1.0; 31 * 17]],
        },
        Problem {
            name: "periodic",
            a: laplacian(256, pairs(16, 16, true, |_| true)),
            null_space: vec![vec![1.0; 256]],
        },
        Problem { name: "rooms", a: rooms, null_space: vec![side(true), side(false)] },
        Problem {
            name: "scaled",
            a: entries(120, 120, scaled),
            null_space: vec![(0..120).map(|k| 1.0 / scale(k)).collect()],
        },
    ]
}

impl Problem {
    fn on(&self, device: &Device) -> Singular {
        let upload = |n: &Vec<f64>| Vector::from_f64(device, n).unwrap();
        Singular {
            inner: StoredMatrix::new(device, self.a.clone(), MatrixFormat::Auto).unwrap(),
            null_space: self.null_space.iter().map(upload).collect(),
        }
    }

    fn n(&self) -> usize {
        self.a.shape().rows
    }

    /// `v` without its part in the null space, and the norm of that.
    fn project(&self, v: &[f64]) -> (Vec<f64>, f64) {
        let (mut left, mut square) = (v.to_vec(), 0.0);
        for n in &self.null_space {
            let (along, length) = (reference::dot(n, v), reference::dot(n, n));
            left.iter_mut().zip(n).for_each(|(l, n)| *l -= along / length * n);
            square += along * along / length;
        }
        (left, square.sqrt())
    }

    /// `A u` for a random `u`, as the device gets it.
    fn consistent(&self, seed: u64) -> Vec<f64> {
        let b = apply(&self.a, &reference::widen(&random::uniform(seed, self.n())));
        b.iter().map(|v| f64::from(*v as f32)).collect()
    }
}

/// A way to solve, from the start in x.
#[derive(Clone, Copy, Debug)]
enum Solver {
    Cg(CgSchedule, bool),
    Jacobi,
    GaussSeidel,
    /// With polynomials of this degree.
    BiCgStab(usize),
}

fn solvers(device: &Device) -> Vec<Solver> {
    let mut all = vec![Solver::Jacobi, Solver::GaussSeidel, Solver::BiCgStab(1), Solver::BiCgStab(2)];
    for schedule in systems::schedules(device) {
        all.extend([Solver::Cg(schedule, false), Solver::Cg(schedule, true)]);
    }
    all
}

impl Solver {
    fn run(self, a: &Singular, stop: Stop, x: &mut Vector, b: &Vector) -> Result<SolveReport> {
        match self {
            Solver::Cg(schedule, jacobi) => {
                let params = CgParams::default().with_schedule(schedule).with_stop(stop);
                let m: Box<dyn Preconditioner> =
                    if jacobi { Box::new(Jacobi::new(a)?) } else { Box::new(Identity) };
                ConjugateGradient::preconditioned(a, m.as_ref(), params)?.solve(x, b)
            }
            Solver::BiCgStab(ell) => {
                let params = BiCgStabParams::default().with_stop(stop).with_ell(ell);
                BiCgStab::new(a, params)?.solve(x, b)
            }
            Solver::GaussSeidel => {
                let smoother = GaussSeidel::new(a, 1.2, Direction::Symmetric)?;
                let params = StationaryParams::default().with_stop(stop);
                Stationary::new(a, &smoother, params)?.solve(x, b)
            }
            Solver::Jacobi => {
                let jacobi = WeightedJacobi::new(a, 0.8)?;
                let params = StationaryParams::default().with_stop(stop);
                Stationary::new(a, &jacobi, params)?.solve(x, b)
            }
        }
    }
}

#[test]
fn the_answer_is_the_one_of_least_norm() {
    on_both(|device| {
        for problem in problems() {
            let (a, b) = (problem.on(device), problem.consistent(1));
            let rhs = Vector::from_f64(device, &b).unwrap();
            let (projected, part) = problem.project(&b);
            assert!(part <= 4.0 * U * norm(&b), "{}: rounding alone", problem.name);
            for solver in solvers(device) {
                for (tol, start) in [(1e-3, 0.0), (1e-5, 0.0), (1e-5, 1000.0)] {
                    let mut x = Vector::filled(device, problem.n(), start).unwrap();
                    let report = solver.run(&a, Stop::relative(tol), &mut x, &rhs).unwrap();
                    let label = format!("{} {solver:?} {tol:e} from {start}: {report:?}", problem.name);
                    assert_eq!(report.reason, StopReason::Converged, "{label}");
                    assert_eq!(report.readbacks_in_loop, 0, "{label}");
                    assert_padded(&x, &label);
                    let x = x.read().unwrap();
                    // The certificate, and the LAPACK ratio where it applies.
                    let residual = systems::relative_residual(&problem.a, &x, &projected);
                    assert!(residual <= 2.0 * tol, "{label}: {residual:e}");
                    let (_, left) = problem.project(&reference::widen(&x));
                    assert!(left <= 4.0 * U * norm(&reference::widen(&x)), "{label}: {left:e} left");
                }
            }
        }
    });
}

#[test]
fn an_unsymmetric_operator_may_have_one_null_space_on_both_sides() {
    on_both(|device| {
        // A wind round a periodic channel: rows and columns sum to zero.
        let n = 90;
        let row = |i: usize| [(i, i, 3.0), (i, (i + 1) % n, -1.0), (i, (i + n - 1) % n, -2.0)];
        let a = entries(n, n, (0..n).flat_map(row).collect::<Vec<_>>());
        let problem = Problem { name: "wind", a, null_space: vec![vec![1.0; n]] };
        let (a, b) = (problem.on(device), problem.consistent(11));
        let rhs = Vector::from_f64(device, &b).unwrap();
        for solver in [Solver::BiCgStab(1), Solver::BiCgStab(2), Solver::GaussSeidel] {
            let mut x = Vector::filled(device, n, 50.0).unwrap();
            let report = solver.run(&a, Stop::relative(1e-5), &mut x, &rhs).unwrap();
            assert_eq!(report.reason, StopReason::Converged, "{solver:?} {report:?}");
            let x = x.read().unwrap();
            assert!(systems::relative_residual(&problem.a, &x, &problem.project(&b).0) <= 2e-5, "{solver:?}");
            let wide = reference::widen(&x);
            assert!(problem.project(&wide).1 <= 4.0 * U * norm(&wide), "{solver:?}");
            let mut x = Vector::zeros(device, n).unwrap();
            let ones = Vector::filled(device, n, 1.0).unwrap();
            let refused = solver.run(&a, Stop::relative(1e-5), &mut x, &ones);
            assert!(matches!(refused, Err(Error::Inconsistent { .. })), "{solver:?} {refused:?}");
        }
    });
}

#[test]
fn operators_on_grids_know_their_null_space() {
    on_both(|device| {
        // Two rooms behind a wall of solid cells, and a ring of cells in both directions.
        let (nx, ny) = (20, 14);
        let wall: Vec<bool> = (0..nx * ny).map(|k| k % nx == 7).collect();
        let grid = Grid::new_2d(nx, ny);
        for (side, solid, regions) in [(Side::Neumann, wall.as_slice(), 2), (Side::Periodic, &[], 1)] {
            let params = StencilParams::new([1.0, 1.0, 0.0], Sides::all(side)).with_solid(solid);
            let a = Stencil::new(device, grid, params).unwrap();
            assert_eq!(a.null_space().len(), regions);
            let null_space = a.null_space().iter().map(|n| reference::widen(&n.read().unwrap())).collect();
            let problem = Problem { name: "stencil", a: a.csr().clone(), null_space };
            let b = problem.consistent(13);
            let rhs = Vector::from_f64(device, &b).unwrap();
            let gs = GaussSeidel::new(&a, 1.5, Direction::Forward).unwrap();
            let stop = Stop::relative(1e-5);
            let stationary = StationaryParams::default().with_stop(stop);
            let cg = CgParams::default().with_stop(stop);
            let solve = |gauss_seidel: bool, x: &mut Vector, b: &Vector| match gauss_seidel {
                true => Stationary::new(&a, &gs, stationary)?.solve(x, b),
                false => ConjugateGradient::new(&a, cg)?.solve(x, b),
            };
            for gauss_seidel in [true, false] {
                let mut x = Vector::filled(device, nx * ny, 1.0).unwrap();
                let report = solve(gauss_seidel, &mut x, &rhs).unwrap();
                assert_eq!(report.reason, StopReason::Converged, "{side:?} {report:?}");
                let x = x.read().unwrap();
                assert!(
                    systems::relative_residual(&problem.a, &x, &problem.project(&b).0) <= 2e-5,
                    "{side:?}"
                );
                let wide = reference::widen(&x);
                assert!(problem.project(&wide).1 <= 4.0 * U * norm(&wide), "{side:?}");
                let ones = Vector::filled(device, nx * ny, 1.0).unwrap();
                let refused = solve(gauss_seidel, &mut Vector::zeros(device, nx * ny).unwrap(), &ones);
                assert!(matches!(refused, Err(Error::Inconsistent { .. })), "{side:?} {refused:?}");
            }
        }
    });
}

#[test]
fn long_runs_do_not_drift() {
    on_both(|device| {
        // A chain of Neumann cells, long and badly conditioned: hundreds of iterations, and a bound near what 32 bits allow.
        let n = 400;
        let a = laplacian(n, (1..n).map(|k| (k - 1, k, 1.0)));
        let problem = Problem { name: "chain", a, null_space: vec![vec![1.0; n]] };
        let (a, b) = (problem.on(device), problem.consistent(3));
        let rhs = Vector::from_f64(device, &b).unwrap();
        for solver in solvers(device).into_iter().filter(|s| matches!(s, Solver::Cg(..))) {
            let mut x = Vector::zeros(device, n).unwrap();
            let report = solver.run(&a, Stop::relative(1e-6), &mut x, &rhs).unwrap();
            let label = format!("{solver:?}: {report:?}");
            assert_eq!(report.reason, StopReason::Converged, "{label}");
            assert!(report.iterations >= 150, "{label}");
            let x = x.read().unwrap();
            assert!(systems::lapack_ratio(&problem.a, &x, &problem.project(&b).0) < 30.0, "{label}");
            assert!(
                problem.project(&reference::widen(&x)).1 <= 4.0 * U * norm(&reference::widen(&x)),
                "{label}"
            );
        }
    });
}

#[test]
fn what_has_no_solution_is_refused_with_its_size() {
    on_both(|device| {
        for problem in problems() {
            let a = problem.on(device);
            let direction = &problem.null_space[0];
            let base = problem.consistent(5);
            let extent = Vector::zeros(device, problem.n()).unwrap().extent();
            let chain = ReducePlan::new(extent, Windows::Balanced).longest_chain();
            let rounding = gamma(chain as usize + 3);
            for tol in [1e-3, 1e-6] {
                for solver in solvers(device) {
                    let run = |b: &[f64]| {
                        let mut x = Vector::zeros(device, problem.n()).unwrap();
                        let b = Vector::from_f64(device, b).unwrap();
                        solver.run(&a, Stop::relative(tol), &mut x, &b)
                    };
                    // The null space itself.
                    match run(direction) {
                        Err(Error::Inconsistent { found, bound, .. }) => {
                            assert!((found / norm(direction) - 1.0).abs() < 1e-4, "{found}");
                            let wanted = (tol + rounding) * norm(direction);
                            assert!((bound / wanted - 1.0).abs() < 1e-4, "{bound} for {wanted}");
                        }
                        other => panic!("{}: {other:?}", problem.name),
                    }
                    // A part of it beside a right-hand side that has a solution: too large, and small enough.
                    let with = |share: f64| -> Vec<f64> {
                        let factor = share * norm(&base) / norm(direction);
                        base.iter().zip(direction).map(|(b, n)| b + factor * n).collect()
                    };
                    let refused = run(&with(1.5 * (tol + rounding)));
                    let label = format!("{} {solver:?} {tol:e}", problem.name);
                    assert!(matches!(refused, Err(Error::Inconsistent { .. })), "{label}: {refused:?}");
                    let text = refused.unwrap_err().to_string();
                    assert!(text.contains("null space") && text.contains("expected at most"), "{text}");
                    // Rounding is accepted whatever the bound is.
                    for share in [4.0 * U, 0.5 * tol] {
                        let accepted = run(&with(share)).unwrap();
                        assert_eq!(accepted.reason, StopReason::Converged, "{label} {share:e}: {accepted:?}");
                    }
                }
            }
        }
    });
}

#[test]
fn least_squares_take_any_right_hand_side() {
    on_both(|device| {
        for problem in problems() {
            let a = problem.on(device);
            let b: Vec<f64> = problem.consistent(7).iter().map(|v| v + 0.25).collect();
            let mut x = Vector::filled(device, problem.n(), 2.0).unwrap();
            let params = CglsParams::default().with_stop(Stop::relative(1e-4));
            let rhs = Vector::from_f64(device, &b).unwrap();
            let report = Cgls::new(&a, params).unwrap().solve(&mut x, &rhs).unwrap();
            assert!(report.converged(), "{}: {report:?}", problem.name);
            let x = reference::widen(&x.read().unwrap());
            assert!(problem.project(&x).1 <= 4.0 * U * norm(&x), "{}", problem.name);
        }
    });
}

/// A solution outside of the range, and a start so large that sums over it are, too: nothing better can be found, and what
/// there is is kept.
#[test]
fn large_starts_are_not_lost() {
    on_both(|device| {
        for problem in problems() {
            let unit = 2f64.powi(125);
            let tiny = systems::mapped(&problem.a, |v| v * 2f64.powi(-118));
            let (least, _) = problem.project(&reference::widen(&random::uniform(11, problem.n())));
            let within: Vec<f64> = least.iter().map(|v| f64::from((v * unit) as f32)).collect();
            let b: Vec<f64> = apply(&tiny, &within).iter().map(|v| v * 2f64.powi(17)).collect();
            let largest = problem.null_space.iter().flatten().map(|v| v.abs()).fold(0.0, worst);
            let along = |i: usize| problem.null_space.iter().map(|n| n[i]).sum::<f64>() / largest;
            let start: Vec<f64> = within.iter().enumerate().map(|(i, v)| v + unit * along(i)).collect();
            let scaled = Problem { a: tiny, null_space: problem.null_space.clone(), ..problem };
            let a = scaled.on(device);
            for solver in solvers(device) {
                let mut x = Vector::from_f64(device, &start).unwrap();
                let rhs = Vector::from_f64(device, &b).unwrap();
                let report = solver.run(&a, Stop::relative(1e-6), &mut x, &rhs).unwrap();
                let label = format!("{} {solver:?}: {report:?}", problem.name);
                assert!(x.read().unwrap().iter().all(|v| v.is_finite()), "{label}");
                assert!(report.true_residual < 1.0 - 2f64.powi(-18), "{label}");
            }
        }
    });
}

#[test]
fn nothing_depends_on_looks_or_on_powers_of_two() {
    on_both(|device| {
        for problem in problems() {
            for solver in solvers(device) {
                let run = |every, e: i32, f: i32| {
                    let scaled = Problem {
                        a: systems::mapped(&problem.a, |v| v * 2f64.powi(e)),
                        null_space: problem.null_space.clone(),
                        ..problem
                    };
                    let b: Vec<f64> = problem.consistent(9).iter().map(|v| v * 2f64.powi(f)).collect();
                    let rhs = Vector::from_f64(device, &b).unwrap();
                    let mut x = Vector::zeros(device, problem.n()).unwrap();
                    let a = scaled.on(device);
                    let report =
                        solver.run(&a, Stop::relative(1e-5).check_every(every), &mut x, &rhs).unwrap();
                    let x: Vec<f32> =
                        x.read().unwrap().iter().map(|v| (f64::from(*v) * 2f64.powi(e - f)) as f32).collect();
                    (bits(&x), report.iterations, report.true_residual)
                };
                let once = run(16, 0, 0);
                for (every, e, f) in [(1, 0, 0), (64, 0, 0), (16, 60, 0), (16, 0, -60), (16, -60, -60)] {
                    assert_eq!(
                        run(every, e, f),
                        once,
                        "{} {solver:?} every {every}, 2^{e}, 2^{f}",
                        problem.name
                    );
                }
            }
        }
    });
}

#[test]
fn projections_are_exact_within_rounding() {
    on_both(|device| {
        for n in [1, 2, 3, 5, 50, 1009, 5000] {
            let (along, v) = (random::uniform(1, n), random::uniform(2, n));
            let upload = |v: &[f32]| Vector::from_slice(device, v).unwrap();
            let mut left = upload(&v);
            project_out(&mut left, &[upload(&along)]).unwrap();
            let (wide, from) = (reference::widen(&along), reference::widen(&v));
            let length = reference::dot(&wide, &wide);
            let factor = reference::dot(&wide, &from) / length;
            let chain = ReducePlan::new(left.extent(), Windows::Balanced).longest_chain() as usize;
            let magnitudes = reference::dot(&reference::abs(&wide), &reference::abs(&from)) / length;
            // The two sums, a division of 2.5 units, a product and a difference.
            let off = (gamma(chain + 1) * magnitudes + gamma(chain + 1 + 5) * factor.abs())
                * (1.0 + gamma(chain + 8));
            let want: Vec<f64> = from.iter().zip(&wide).map(|(v, n)| v - factor * n).collect();
            let bound: Vec<f64> = wide
                .iter()
                .zip(&from)
                .map(|(n, v)| off * n.abs() + gamma(2) * (v.abs() + (factor.abs() + off) * n.abs()))
                .collect();
            crate::common::bounds::assert_componentwise("project_out", &left.read().unwrap(), &want, &bound);
            assert_padded(&left, "project_out");
        }
        let wrong =
            project_out(&mut Vector::zeros(device, 4).unwrap(), &[Vector::filled(device, 5, 1.0).unwrap()]);
        assert!(matches!(wrong, Err(Error::ShapeMismatch { op: "project_out", operand: "null_space", .. })));
    });
}
