//! Operators on generated programs: products as every form of a matrix has them, and solves that are certified.

use texla::host::{Csr, Triplets};
use texla::ops::{self, Accurate, Combine, LinOp};
use texla::pack::StencilBoundary::{Copied, Dropped, Periodic, Scaled};
use texla::pack::{LinearExpression, Order, RepeatedExpression};
use texla::solve::{
    BiCgStab, BiCgStabParams, BlockLayout, BlockOperator, BlockParams, CgParams, ConjugateGradient,
    EnhancedBlockJacobi, Stationary, StationaryParams, Stop, StopReason,
};
use texla::{
    Device, DoubleVector, Error, Grid, MatrixFormat, Shape, Side, Sides, Stencil, StencilParams,
    StoredMatrix, Vector,
};

use crate::blocks::{System, systems, wide};
use crate::common::bounds::{assert_componentwise, product_bound};
use crate::common::grids::laplace;
use crate::common::harness::on_both;
use crate::common::pairs;
use crate::common::products::{COMBINES, Twin, check, check_accurate};
use crate::common::random::uniform;
use crate::shuffled;

fn csr(e: &RepeatedExpression) -> Csr {
    e.to_triplets().unwrap().to_csr()
}

fn stored(dev: &Device, e: &RepeatedExpression) -> StoredMatrix {
    StoredMatrix::new(dev, csr(e), MatrixFormat::Auto).unwrap()
}

/// Quads one by one, several together, and stacked; and single unknowns, several together and stacked.
fn kinds() -> [BlockParams; 5] {
    let apart = BlockParams::default();
    let [stacked, single, singles] = [BlockLayout::Stacked, BlockLayout::Single, BlockLayout::SingleStacked]
        .map(|layout| apart.with_layout(layout));
    [apart, apart.with_targets(usize::MAX), stacked, single.with_targets(usize::MAX), singles]
}

/// Whether a block row has no two entries at one place of the matrix.
fn is_plain(system: &System) -> bool {
    let sides = system.sides.as_flattened();
    let apart = |axis: usize| system.sides[axis][0] != Periodic || system.grid.sides()[axis] > 2;
    sides.iter().all(|side| matches!(side, Dropped | Periodic)) && (0..3).all(apart)
}

#[test]
fn products_are_those_of_every_form() {
    on_both(|dev| {
        let mut all: Vec<System> =
            systems().into_iter().filter(|system| system.n < 100 && is_plain(system)).collect();
        for (grid, pieces) in [(Grid::new_2d(7, 9), 1), (Grid::new_2d(24, 5), 2), (Grid::new_2d(61, 2), 1)] {
            all.push(System::new(grid, pieces, laplace(2), [[Periodic; 2], [Dropped; 2], [Dropped; 2]]));
        }
        all.push(System::new(Grid::new_3d(5, 3, 4), 1, laplace(3), [[Dropped; 2]; 3]));
        for (k, system) in all.iter().enumerate() {
            let e = system.expression();
            let (params, order) = (kinds()[k % 5], shuffled(system.n, 7));
            let Ok(a) = BlockOperator::with(stored(dev, &e), &e, &order, params) else {
                assert!(matches!(params.layout, BlockLayout::Stacked | BlockLayout::SingleStacked));
                continue;
            };
            let label = format!("{}, {params:?}", system.grid);
            check(dev, &label, &a, &csr(&e), 3, &COMBINES, &[false, true]);
            if dev.capabilities().exact_form.is_some() {
                let (x, z) = (uniform(5, e.unknowns()), uniform(6, e.unknowns()));
                check_accurate(dev, &label, &a, &csr(&e), false, (-2.0, &x), Some((0.5, &z)));
            }
        }
    });
}

#[test]
fn products_at_sides_that_copy_and_scale_are_those_of_64_bits() {
    on_both(|dev| {
        for (k, system) in systems().into_iter().filter(|system| system.n < 100).enumerate() {
            let (len, e) = (system.grid.len(), system.expression());
            let a = match k % 2 {
                0 => BlockOperator::chosen(dev, &e).unwrap().0,
                _ => BlockOperator::with(stored(dev, &e), &e, &shuffled(system.n, 3), kinds()[1]).unwrap(),
            };
            let x = uniform(8, len);
            let mut y = Vector::filled(dev, len, 1e6).unwrap();
            ops::product(&mut y, Combine::Replace, 1.0, &a, &Vector::from_slice(dev, &x).unwrap()).unwrap();
            for (cell, found) in y.read().unwrap().into_iter().enumerate() {
                let (mut sum, mut magnitude, row) = (0.0, 0.0, &system.others[cell]);
                for &(f, v) in row.iter().chain(&[(cell, system.diagonal[cell % system.n])]) {
                    sum += v * f64::from(x[f]);
                    magnitude += (v * f64::from(x[f])).abs();
                }
                let bound = product_bound(magnitude, row.len() + 1);
                let off = (f64::from(found) - sum).abs();
                assert!(off <= bound, "{}, {cell}: {found} is {off:e} from {sum}", system.grid);
            }
        }
    });
}

#[test]
fn coefficients_at_the_ends_of_the_range_are_taken_in_two_steps() {
    on_both(|dev| {
        let (grid, x) = (Grid::new_2d(9, 4), uniform(1, 36));
        let device_x = Vector::from_slice(dev, &x).unwrap();
        let product = |exponent: i32| {
            let taps = laplace(2).into_iter().map(|(offset, v)| (offset, v * f64::from(exponent).exp2()));
            let taps: Vec<_> = taps.collect();
            let e = RepeatedExpression::stencil(grid, 1, &taps, [[Dropped; 2]; 3], true).unwrap();
            let a = BlockOperator::with(stored(dev, &e), &e, &Order::identity(9), kinds()[0]).unwrap();
            let mut y = Vector::zeros(dev, 36).unwrap();
            // The sums alone leave the range of floats, at either end.
            let alpha = (-exponent as f32).exp2();
            ops::product(&mut y, Combine::Replace, alpha, &a, &device_x).unwrap();
            y.read().unwrap()
        };
        let ordinary = System::new(grid, 1, laplace(2), [[Dropped; 2]; 3]).expression();
        let (want, bound) = Twin::new(&csr(&ordinary), &x).combined("replace", 1.0, &x, &x);
        for exponent in [0, 125, 90, -120] {
            assert_componentwise(&format!("2^{exponent}"), &product(exponent), &want, &bound);
        }
    });
}

/// The residual in 64 bits, of a matrix whose coefficients 32 bits hold.
fn relative_residual(a: &Csr, x: &Vector, b: &[f32]) -> f64 {
    let mut r = wide(b);
    let x = wide(&x.read().unwrap());
    a.entries().for_each(|(i, j, v)| r[i] -= v * x[j]);
    let norm = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
    norm(&r) / norm(&wide(b))
}

#[test]
fn solves_are_certified_whatever_the_sides() {
    on_both(|dev| {
        let bounded =
            |system: &System| system.sides.as_flattened().iter().any(|s| matches!(s, Dropped | Scaled(_)));
        let exact = dev.capabilities().exact_form.is_some();
        let met = if exact { StopReason::Converged } else { StopReason::Uncertified };
        for system in systems().into_iter().filter(|system| system.n < 100 && bounded(system)).step_by(2) {
            let e = system.expression();
            let (a, _) = BlockOperator::chosen(dev, &e).unwrap();
            let (jacobi, _) = EnhancedBlockJacobi::chosen(dev, &e).unwrap();
            let b = uniform(12, e.unknowns());
            let device_b = Vector::from_slice(dev, &b).unwrap();
            let what = format!("{} {:?}", system.grid, system.sides);
            let judge = |x: &Vector, reason: StopReason| {
                assert_eq!(reason, met, "{what}");
                let residual = relative_residual(&csr(&e), x, &b);
                assert!(residual <= 1.01e-5, "{what}: {residual:e}");
            };
            let stop = Stop::relative(1e-5);
            let mut x = Vector::zeros(dev, b.len()).unwrap();
            let params = StationaryParams::default().with_stop(stop);
            let report = Stationary::new(&a, &jacobi, params).unwrap().solve(&mut x, &device_b).unwrap();
            judge(&x, report.reason);
            x.set_zero().unwrap();
            let params = CgParams::default().with_stop(stop);
            if csr(&e).asymmetry().is_some() {
                // Asked of the whole matrix, as of any.
                let refused = ConjugateGradient::new(&a, params).err();
                assert!(matches!(refused, Some(Error::Matrix { .. })), "{what}: {refused:?}");
                let params = BiCgStabParams::default().with_stop(stop);
                let solver = BiCgStab::preconditioned(&a, &jacobi, params).unwrap();
                let report = solver.solve(&mut x, &device_b).unwrap();
                judge(&x, report.reason);
                continue;
            }
            let plain = ConjugateGradient::new(&a, params).unwrap().solve(&mut x, &device_b).unwrap();
            judge(&x, plain.reason);
            assert_eq!(plain.readbacks_in_loop, 0);
            x.set_zero().unwrap();
            let solver = ConjugateGradient::preconditioned(&a, &jacobi, params).unwrap();
            let report = solver.solve(&mut x, &device_b).unwrap();
            judge(&x, report.reason);
        }
    });
}

#[test]
fn a_stencil_beside_it_stores_nothing_and_knows_the_null_space() {
    on_both(|dev| {
        let grid = Grid::new_3d(9, 5, 6);
        let system = System::new(grid, 1, laplace(3), [[Copied; 2]; 3]);
        let closed = StencilParams::new([1.0; 3], Sides::all(Side::Neumann));
        let a = Stencil::new(dev, grid, closed).unwrap();
        let e = system.expression();
        let a = BlockOperator::with(a, &e, &Order::accordion(9), kinds()[1]).unwrap();
        assert_eq!(a.null_space().len(), a.exact().null_space().len());
        let mut b = uniform(14, grid.len());
        let mean = b.iter().sum::<f32>() / b.len() as f32;
        b.iter_mut().for_each(|b| *b -= mean);
        let solve = |b: &[f32]| {
            let b = Vector::from_slice(dev, b).unwrap();
            let mut x = Vector::zeros(dev, b.len()).unwrap();
            let params = CgParams::default().with_stop(Stop::relative(1e-5));
            let report = ConjugateGradient::new(&a, params)?.solve(&mut x, &b)?;
            Ok((report.reason, x))
        };
        let (reason, x) = solve(&b).unwrap();
        assert_eq!(reason, StopReason::Converged);
        let residual = relative_residual(&csr(&e), &x, &b);
        assert!(residual <= 1.1e-5, "{residual:e}");
        b[0] += 10.0;
        assert!(matches!(solve(&b), Err(Error::Inconsistent { .. })));
    });
}

#[test]
fn work_is_counted_as_it_runs() {
    on_both(|dev| {
        for (system, params) in [(40, 7, 6), (61, 3, 1), (4, 1, 1)].into_iter().flat_map(|(nx, ny, nz)| {
            let dimensions = if nz > 1 { 3 } else { 2 };
            let grid = Grid::new_3d(nx, ny, nz);
            kinds().map(|params| (System::new(grid, 1, laplace(dimensions), [[Dropped; 2]; 3]), params))
        }) {
            let e = system.expression();
            let Ok(a) = BlockOperator::with(stored(dev, &e), &e, &Order::accordion(system.n), params) else {
                continue;
            };
            let (work, x) = (a.workload().unwrap(), Vector::filled(dev, e.unknowns(), 1.0).unwrap());
            let mut y = Vector::zeros(dev, e.unknowns()).unwrap();
            let before = dev.counters();
            ops::product(&mut y, Combine::Replace, 0.5, &a, &x).unwrap();
            let done = dev.counters().since(&before);
            let found = [done.draws, done.passes, done.readbacks].map(|n| n as f64);
            assert_eq!(found, [work.draws, work.target_changes, 0.0], "{}, {params:?}", system.grid);
        }
    });
}

#[test]
fn a_small_system_of_ones_own_is_solved_for_many_right_hand_sides() {
    on_both(|dev| {
        for (n, copies) in [(1, 1), (3, 1), (13, 29), (32, 4)] {
            let values = uniform(n as u64, 4 * n);
            let entries = (0..n).flat_map(|i| {
                let far = (3 * i + 1) % n;
                [(i, i, 6.0), (i, far, f64::from(values[i])), (far, i, f64::from(values[i]))]
            });
            let one = Triplets::from_entries(Shape::new(n, n), entries.collect::<Vec<_>>()).unwrap().to_csr();
            let block = LinearExpression::new(&one.to_triplets(), &vec![true; n]).unwrap();
            let e = RepeatedExpression::new(block, [copies, 1], Default::default()).unwrap();
            let (a, _) = BlockOperator::chosen(dev, &e).unwrap();
            let (jacobi, _) = EnhancedBlockJacobi::chosen(dev, &e).unwrap();
            let b = uniform(2, n * copies);
            let mut x = Vector::zeros(dev, b.len()).unwrap();
            let params = CgParams::default().with_stop(Stop::relative(1e-5));
            let solver = ConjugateGradient::preconditioned(&a, &jacobi, params).unwrap();
            let report = solver.solve(&mut x, &Vector::from_slice(dev, &b).unwrap()).unwrap();
            assert_eq!(report.reason, StopReason::Converged, "{n} unknowns");
            assert!(relative_residual(&csr(&e), &x, &b) <= 1.01e-5);
            if !pairs::is_exact(dev) {
                continue;
            }
            // For pairs: products in 32 bits by the programs, residuals by the form beside them.
            let (tol, b) = (1e-11, pairs::wide(4, n * copies));
            let params = params.with_stop(Stop::relative(tol));
            let solver = ConjugateGradient::preconditioned(&a, &jacobi, params).unwrap();
            let mut x = DoubleVector::zeros(dev, b.len()).unwrap();
            let report = solver.solve(&mut x, &DoubleVector::from_f64(dev, &b).unwrap()).unwrap();
            let held: Vec<f64> = b.into_iter().map(pairs::paired).collect();
            pairs::certified("blocks", &report, &csr(&e), &x.read().unwrap(), &held, tol);
        }
    });
}

#[test]
fn what_does_not_fit_is_refused() {
    on_both(|dev| {
        let system = System::new(Grid::new_2d(6, 3), 1, laplace(2), [[Dropped; 2]; 3]);
        let other = System::new(Grid::new_2d(6, 4), 1, laplace(2), [[Dropped; 2]; 3]);
        let e = system.expression();
        let identity = Order::identity(6);
        let found = BlockOperator::with(stored(dev, &other.expression()), &e, &identity, kinds()[0]).err();
        assert!(matches!(found, Some(Error::ShapeMismatch { operand: "exact", .. })), "{found:?}");
        let found = BlockOperator::with(stored(dev, &e), &e, &Order::identity(5), kinds()[0]).err();
        assert!(matches!(found, Some(Error::LengthMismatch { operand: "order", .. })), "{found:?}");
        let a = BlockOperator::with(stored(dev, &e), &e, &identity, kinds()[0]).unwrap();
        let (x, mut y) = (Vector::zeros(dev, 18).unwrap(), Vector::zeros(dev, 17).unwrap());
        let found = ops::product(&mut y, Combine::Replace, 1.0, &a, &x);
        assert!(matches!(found, Err(Error::ShapeMismatch { operand: "y", .. })), "{found:?}");
        let terms = Accurate { transposed: false, alpha: 1.0, x: &x, plus: None };
        assert!(ops::product_accurate(&mut y, &a, terms).is_err());
    });
}
