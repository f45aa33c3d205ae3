//! Gauss-Seidel and SOR by colours: the same numbers as a sweep one by one, and the rates of the theory.

use crate::common::bounds::{self, TINY, U, gamma, product_bound};
use crate::common::harness::{assert_padded, limits, on_both, on_both_with};
use crate::common::{random, reference};
use crate::systems::{self, System, bits, csr, entries, fits, mapped, norm, relative_residual};
use texla::host::{Csr, problems};
use texla::ops;
use texla::solve::{
    ConjugateGradient, Direction, GaussSeidel, Jacobi, MOST_COLOURS, Preconditioner, Smoother, SolveReport,
    Stationary, StationaryParams, Stop, StopReason, Sweepable,
};
use texla::{
    Device, Error, Grid, MatrixFormat, Result, Side, Sides, SparseFormat, Stencil, StencilParams,
    StoredMatrix, Vector,
};

const DIRECTIONS: [Direction; 3] = [Direction::Forward, Direction::Backward, Direction::Symmetric];

/// The colour of each texel: the first that no neighbour has.
fn colours(a: &Csr) -> Vec<usize> {
    let n = a.shape().rows.div_ceil(4);
    let mut near = vec![std::collections::BTreeSet::new(); n];
    for (i, j, _) in a.entries().filter(|(i, j, v)| i / 4 != j / 4 && *v != 0.0) {
        near[i / 4].insert(j / 4);
        near[j / 4].insert(i / 4);
    }
    let mut colours = Vec::new();
    for (t, near) in near.iter().enumerate() {
        let taken: Vec<usize> = near.range(..t).map(|s: &usize| colours[*s]).collect();
        colours.push((0..).find(|c| !taken.contains(c)).unwrap());
    }
    colours
}

/// The unknowns in the order of a forward sweep.
fn order(a: &Csr) -> Vec<usize> {
    let colours = colours(a);
    let mut order: Vec<usize> = (0..a.shape().rows).collect();
    order.sort_by_key(|i| (colours[i / 4], *i));
    order
}

/// A system in 64 bits, swept unknown by unknown, and how far 32 bits may be from it.
struct Twin<'a> {
    a: &'a Csr,
    b: &'a [f64],
    omega: f64,
    order: Vec<usize>,
    diagonal: Vec<f64>,
    x: Vec<f64>,
    error: Vec<f64>,
}

impl<'a> Twin<'a> {
    fn new(system: &'a System, omega: f64, start: &[f32]) -> Self {
        Twin {
            a: &system.a,
            b: &system.b,
            omega,
            order: order(&system.a),
            diagonal: system.a.diagonal(),
            x: reference::widen(start),
            error: vec![0.0; start.len()],
        }
    }

    fn sweep(&mut self, direction: Direction) {
        let forward = self.order.clone();
        let backward: Vec<usize> = forward.iter().rev().copied().collect();
        let orders = match direction {
            Direction::Forward => vec![forward],
            Direction::Backward => vec![backward],
            Direction::Symmetric => vec![forward, backward],
        };
        for order in orders {
            // What the unknowns of a texel were when the texel was reached.
            let (old, old_error) = (self.x.clone(), self.error.clone());
            order.into_iter().for_each(|i| self.visit(i, &old, &old_error));
        }
    }

    fn visit(&mut self, i: usize, old: &[f64], old_error: &[f64]) {
        let range = self.a.row_ptr()[i]..self.a.row_ptr()[i + 1];
        let w = self.omega / self.diagonal[i];
        let (mut r, mut passed, mut sizes) = (self.b[i], 0.0, self.b[i].abs());
        for (col, v) in self.a.cols()[range.clone()].iter().zip(&self.a.values()[range.clone()]) {
            let j = *col as usize;
            r -= v * self.x[j];
            if j != i {
                passed += (w * v).abs() * self.error[j];
            }
            // The residual is computed with the old unknowns of the texel, and corrected by their steps.
            sizes += v.abs() * (self.x[j].abs() + self.error[j]);
            sizes += if j / 4 == i / 4 { v.abs() * (old[j].abs() + old_error[j]) } else { 0.0 };
        }
        let next = self.x[i] + w * r;
        // Weight and ratios are rounded; two products, at most three differences, one sum.
        let local =
            w.abs() * (product_bound(sizes, range.len() + 1) * (1.0 + gamma(9)) + gamma(9) * 2.0 * sizes);
        let error = (1.0 - self.omega).abs() * self.error[i] + passed + local;
        self.error[i] = error + U * (self.x[i].abs() + self.error[i] + next.abs() + error) + 8.0 * TINY;
        self.x[i] = next;
    }
}

/// Systems of all kinds, with a diagonal, and coefficients that 32 bits hold.
fn all() -> Vec<System> {
    let mut all = vec![
        System::of_ones("poisson 12x9", problems::poisson_2d(12, 9).to_csr()),
        System::of_ones("poisson 13x7", problems::poisson_2d(13, 7).to_csr()),
        System::of_ones("dominant", csr(&random::spd(1, 151, 0.05))),
        System::of_ones("arrow", csr(&random::arrow(2, 90))),
        System::of_ones("unsymmetric", dominant(&csr(&random::sparse_rows(7, 97, 97, 5)))),
        System::of_ones("full", dominant(&csr(&random::sparse_rows(8, 14, 14, 14)))),
    ];
    for n in [1, 2, 3, 4, 5, 9] {
        all.push(System::of_ones(&format!("chain {n}"), problems::poisson_1d(n).to_csr()));
    }
    all
}

/// With a diagonal larger than the rest of its row, alternating in sign.
fn dominant(a: &Csr) -> Csr {
    let n = a.shape().rows;
    let sums: Vec<f64> = a.rows().map(|(_, v)| v.iter().map(|v| v.abs()).sum::<f64>() + 1.0).collect();
    let off = a.entries().filter(|(i, j, _)| i != j);
    let diagonal = (0..n).map(|i| (i, i, if i % 3 == 0 { -sums[i] } else { sums[i] }));
    systems::rounded(&entries(n, n, off.chain(diagonal).collect::<Vec<_>>()))
}

fn formats(device: &Device, a: &Csr) -> Vec<MatrixFormat> {
    let points = device.capabilities().float_blend;
    [
        MatrixFormat::Banded,
        MatrixFormat::Sparse(SparseFormat::Gather),
        MatrixFormat::Sparse(SparseFormat::Points),
    ]
    .into_iter()
    .filter(|f| *f != MatrixFormat::Sparse(SparseFormat::Points) || points)
    .filter(|f| fits(device, a, *f) && systems::gather_fits(device, a))
    .collect()
}

fn compare(label: &str, a: &dyn Sweepable, system: &System) {
    let device = a.device();
    let start = random::uniform(3, system.n());
    let b = Vector::from_f64(device, &system.b).unwrap();
    for direction in DIRECTIONS {
        for omega in [1.0, 1.5, 0.7] {
            let smoother = GaussSeidel::new(a, omega, direction).unwrap();
            assert_eq!(smoother.colours(), colours(&system.a).iter().max().map_or(0, |c| c + 1), "{label}");
            let mut twin = Twin::new(system, f64::from(omega as f32), &start);
            let mut x = Vector::from_slice(device, &start).unwrap();
            for (sweeps, more) in [(0, 0), (1, 1), (2, 1), (5, 3), (9, 4)] {
                smoother.smooth(&mut x, &b, more).unwrap();
                (0..more).for_each(|_| twin.sweep(direction));
                let label = format!("{label} {direction:?} ω {omega}, {sweeps} sweeps");
                bounds::assert_componentwise(&label, &x.read().unwrap(), &twin.x, &twin.error);
                assert_padded(&x, &label);
            }
        }
    }
}

#[test]
fn sweeps_agree_with_their_twin() {
    on_both(|device| {
        for system in all() {
            for format in formats(device, &system.a) {
                let a = StoredMatrix::new(device, system.a.clone(), format).unwrap();
                compare(&format!("{} {format:?}", system.name), &a, &system);
            }
        }
    });
}

#[test]
fn operators_on_grids_are_swept() {
    on_both(|device| {
        for (grid, weights) in
            [(Grid::new_2d(12, 7), [1.0, 2.0, 0.0]), (Grid::new_3d(5, 4, 3), [1.0, 1.0, 0.5])]
        {
            for side in [Side::DIRICHLET, Side::WALL, Side::Neumann, Side::Periodic] {
                let params = StencilParams::new(weights, Sides::all(side)).with_shift(0.25);
                let a = Stencil::new(device, grid, params).unwrap();
                // Products with a stencil weigh differences: the same within the bound of the stored matrix twice over.
                let system = System::of_ones("stencil", a.csr().clone());
                let stored =
                    StoredMatrix::new(device, system.a.clone(), MatrixFormat::Sparse(SparseFormat::Gather))
                        .unwrap();
                let (one, other) = (
                    GaussSeidel::new(&a, 1.3, Direction::Symmetric).unwrap(),
                    GaussSeidel::new(&stored, 1.3, Direction::Symmetric).unwrap(),
                );
                let start = random::uniform(3, system.n());
                let b = Vector::from_f64(device, &system.b).unwrap();
                let mut twin = Twin::new(&system, 1.3, &start);
                let mut x = Vector::from_slice(device, &start).unwrap();
                let mut y = Vector::from_slice(device, &start).unwrap();
                for _ in 0..3 {
                    one.smooth(&mut x, &b, 1).unwrap();
                    other.smooth(&mut y, &b, 1).unwrap();
                    twin.sweep(Direction::Symmetric);
                }
                let bound: Vec<f64> = twin.error.iter().map(|e| 4.0 * e).collect();
                bounds::assert_componentwise(
                    &format!("{grid:?} {side:?}"),
                    &x.read().unwrap(),
                    &twin.x,
                    &bound,
                );
                bounds::assert_componentwise("stored", &y.read().unwrap(), &twin.x, &twin.error);
            }
        }
    });
}

/// What a sweep multiplies an error by in the end: from `‖x‖` after `from` and after `to` sweeps towards zero.
fn rate(device: &Device, smoother: &dyn Smoother, n: usize, from: usize, to: usize) -> f64 {
    let b = Vector::zeros(device, n).unwrap();
    let mut x = Vector::from_slice(device, &random::uniform(4, n)).unwrap();
    smoother.smooth(&mut x, &b, from).unwrap();
    let before = f64::from(ops::norm2(&x).unwrap().read().unwrap());
    smoother.smooth(&mut x, &b, to - from).unwrap();
    let after = f64::from(ops::norm2(&x).unwrap().read().unwrap());
    (after / before).powf(1.0 / (to - from) as f64)
}

#[test]
fn the_rates_are_those_of_the_theory() {
    on_both(|device| {
        let (nx, ny) = (16, 11);
        let pi = std::f64::consts::PI;
        let jacobi = ((pi / (nx as f64 + 1.0)).cos() + (pi / (ny as f64 + 1.0)).cos()) / 2.0;
        let a = StoredMatrix::new(device, problems::poisson_2d(nx, ny).to_csr(), MatrixFormat::Auto).unwrap();
        for direction in [Direction::Forward, Direction::Backward] {
            let gs = GaussSeidel::new(&a, 1.0, direction).unwrap();
            let measured = rate(device, &gs, nx * ny, 100, 300);
            assert!((measured / (jacobi * jacobi) - 1.0).abs() < 1e-3, "{measured} for {}", jacobi * jacobi);
        }
        // Between 1 and the best ω: the larger root of (λ + ω - 1)² = λ ω² ρ².
        let omega = 1.3;
        let root = (omega * jacobi + ((omega * jacobi).powi(2) - 4.0 * (omega - 1.0)).sqrt()) / 2.0;
        let sor = GaussSeidel::new(&a, omega, Direction::Forward).unwrap();
        let measured = rate(device, &sor, nx * ny, 100, 200);
        assert!((measured / root.powi(2) - 1.0).abs() < 2e-3, "{measured} for {}", root * root);
        // Past the best one all eigenvalues have the modulus ω - 1.
        let best = 2.0 / (1.0 + (1.0 - jacobi * jacobi).sqrt());
        for omega in [best + 0.1, 1.8] {
            let sor = GaussSeidel::new(&a, omega, Direction::Forward).unwrap();
            let measured = rate(device, &sor, nx * ny, 60, 260);
            assert!((measured / (omega - 1.0) - 1.0).abs() < 0.03, "{measured} for {}", omega - 1.0);
        }
    });
}

fn solve(
    device: &Device,
    system: &System,
    format: MatrixFormat,
    omega: f64,
    direction: Direction,
    stop: Stop,
) -> Result<(Vec<f32>, SolveReport)> {
    let a = StoredMatrix::new(device, system.a.clone(), format)?;
    let b = Vector::from_f64(device, &system.b)?;
    let mut x = Vector::zeros(device, system.n())?;
    let smoother = GaussSeidel::new(&a, omega, direction)?;
    let params = StationaryParams::default().with_stop(stop);
    let report = Stationary::new(&a, &smoother, params)?.solve(&mut x, &b)?;
    Ok((x.read()?, report))
}

#[test]
fn what_converges_is_certified_whenever_it_is_looked_at() {
    on_both(|device| {
        for system in all() {
            for direction in DIRECTIONS {
                for tol in [1e-3, 1e-6] {
                    let run = |every| {
                        let stop = Stop::relative(tol).check_every(every);
                        solve(
                            device,
                            &system,
                            MatrixFormat::Sparse(SparseFormat::Gather),
                            1.0,
                            direction,
                            stop,
                        )
                        .unwrap()
                    };
                    if !systems::gather_fits(device, &system.a) {
                        continue;
                    }
                    let (x, report) = run(16);
                    let label = format!("{} {direction:?} {tol:e}: {report:?}", system.name);
                    assert_eq!(report.reason, StopReason::Converged, "{label}");
                    let residual = relative_residual(&system.a, &x, &system.b);
                    assert!(residual <= 2.0 * tol, "{label}: {residual:e}");
                    assert!(tol > 1e-6 || systems::lapack_ratio(&system.a, &x, &system.b) < 30.0, "{label}");
                    assert_eq!(report.readbacks_in_loop, 0, "{label}");
                    let (y, other) = run(1);
                    assert_eq!((bits(&y), other.iterations), (bits(&x), report.iterations), "{label}");
                }
            }
        }
    });
}

#[test]
fn a_sweep_costs_two_draws_a_colour() {
    on_both(|device| {
        for (nx, expected) in [(16, 2), (17, 4)] {
            let system = System::of_ones("poisson", problems::poisson_2d(nx, 13).to_csr());
            for (direction, times) in [(Direction::Forward, 1), (Direction::Symmetric, 2)] {
                let stop = Stop::relative(1e-4);
                let (_, report) = solve(device, &system, MatrixFormat::Banded, 1.0, direction, stop).unwrap();
                let each = if device.capabilities().float_blend { 2 } else { 3 };
                assert_eq!(report.draws_per_iteration, expected * each * times);
            }
        }
    });
}

#[test]
fn powers_of_two_change_no_bit() {
    on_both(|device| {
        for base in all().into_iter().skip(1).take(4) {
            for format in formats(device, &base.a).into_iter().take(2) {
                let run =
                    |s: &System| solve(device, s, format, 1.1, Direction::Symmetric, Stop::relative(1e-5));
                systems::assert_scales(&base, &systems::POWERS, run);
            }
        }
    });
}

#[test]
fn without_blending_sweeps_agree_too() {
    on_both_with(limits().without_float_blend(true), |device| {
        assert!(!device.capabilities().float_blend);
        for system in all().iter().filter(|system| systems::gather_fits(device, &system.a)) {
            let a = StoredMatrix::new(device, system.a.clone(), MatrixFormat::Sparse(SparseFormat::Gather))
                .unwrap();
            compare(&system.name, &a, system);
            let stop = Stop::relative(1e-5);
            let solved = solve(
                device,
                system,
                MatrixFormat::Sparse(SparseFormat::Gather),
                1.2,
                Direction::Symmetric,
                stop,
            )
            .unwrap();
            assert_eq!(solved.1.reason, StopReason::Converged, "{}", system.name);
        }
    });
}

#[test]
fn as_a_preconditioner_it_is_symmetric_and_saves_iterations() {
    on_both(|device| {
        let base = System::of_ones("poisson", problems::poisson_2d(40, 40).to_csr());
        let mut counts = Vec::new();
        for e in [0, 60, -60] {
            let system = System {
                name: format!("2^{e}"),
                a: mapped(&base.a, |v| v * 2f64.powi(e)),
                b: base.b.clone(),
            };
            let a = StoredMatrix::new(device, system.a.clone(), MatrixFormat::Auto).unwrap();
            let m = GaussSeidel::new(&a, 1.0, Direction::Symmetric).unwrap();
            let upload = |seed| Vector::from_slice(device, &random::uniform(seed, system.n())).unwrap();
            let (u, v) = (upload(1), upload(2));
            let (mut mu, mut mv) =
                (Vector::zeros(device, system.n()).unwrap(), Vector::zeros(device, system.n()).unwrap());
            m.apply(&mut mu, &u).unwrap();
            m.apply(&mut mv, &v).unwrap();
            let dot = |x: &Vector, y: &Vector| {
                let (x, y) = (reference::widen(&x.read().unwrap()), reference::widen(&y.read().unwrap()));
                (reference::dot(&x, &y), norm(&x) * norm(&y))
            };
            let ((one, size), (other, _)) = (dot(&u, &mv), dot(&v, &mu));
            assert!((one - other).abs() <= 100.0 * U * size, "{one} and {other}");
            let b = Vector::from_f64(device, &system.b).unwrap();
            let run = |m: &dyn Preconditioner| {
                let mut x = Vector::zeros(device, system.n()).unwrap();
                let cg = ConjugateGradient::preconditioned(&a, m, systems::params(1e-5)).unwrap();
                let report = cg.solve(&mut x, &b).unwrap();
                assert!(report.converged(), "{report:?}");
                assert_eq!(report.readbacks_in_loop, 0);
                report.iterations
            };
            let (ssor, jacobi) = (run(&m), run(&Jacobi::new(&a).unwrap()));
            assert!(3 * ssor <= 2 * jacobi, "{ssor} of {jacobi}");
            counts.push(ssor);
        }
        assert!(counts.iter().all(|c| *c == counts[0]), "{counts:?}");
    });
}

#[test]
fn errors_name_what_is_wrong() {
    on_both(|device| {
        let stored =
            |a: Csr| StoredMatrix::new(device, a, MatrixFormat::Sparse(SparseFormat::Gather)).unwrap();
        let refused = |a: &StoredMatrix, omega, text: &str| match GaussSeidel::new(
            a,
            omega,
            Direction::Forward,
        )
        .err()
        {
            Some(Error::Matrix { op: "GaussSeidel", detail }) => assert!(detail.contains(text), "{detail}"),
            Some(Error::Parameter { op: "GaussSeidel", name, .. }) => assert_eq!(name, text),
            other => panic!("{text}: {other:?}"),
        };
        refused(&stored(entries(3, 3, [(0, 0, 1.0), (1, 0, 1.0), (2, 2, 1.0)])), 1.0, "0 in row 1");
        refused(&stored(entries(2, 3, [(0, 0, 1.0)])), 1.0, "2x3");
        let n = 4 * MOST_COLOURS + 1;
        let row = (0..n).map(|j| (0, j, 1.0));
        let full = entries(
            n,
            n,
            (0..n)
                .flat_map(|i| row.clone().map(move |(_, j, _)| (i, j, if i == j { 1e4 } else { 1.0 })))
                .collect::<Vec<_>>(),
        );
        if fits(device, &full, MatrixFormat::Sparse(SparseFormat::Gather)) {
            refused(&stored(full), 1.0, "65 colours, expected at most 64");
        }
        let a = stored(problems::poisson_1d(8).to_csr());
        for omega in [0.0, 2.0, -0.5, f64::NAN] {
            refused(&a, omega, "omega");
        }
        let gs = GaussSeidel::new(&a, 1.0, Direction::Forward).unwrap();
        let of = |n| Vector::filled(device, n, 1.0).unwrap();
        for (n, m, name) in [(7, 8, "x"), (8, 9, "b")] {
            match gs.smooth(&mut of(n), &of(m), 1) {
                Err(Error::ShapeMismatch { op: "GaussSeidel::smooth", operand, .. }) => {
                    assert_eq!(operand, name)
                }
                other => panic!("{other:?}"),
            }
        }
    });
}

#[test]
fn nothing_to_sweep_is_swept() {
    on_both(|device| {
        let a =
            StoredMatrix::new(device, entries(0, 0, []), MatrixFormat::Sparse(SparseFormat::Gather)).unwrap();
        let gs = GaussSeidel::new(&a, 1.0, Direction::Symmetric).unwrap();
        assert_eq!(gs.colours(), 0);
        let mut x = Vector::zeros(device, 0).unwrap();
        gs.smooth(&mut x, &Vector::zeros(device, 0).unwrap(), 3).unwrap();
    });
}
