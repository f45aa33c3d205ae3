//! Vectors of pairs, sums of products in three floats, and solves for pairs: the digits of 64-bit arithmetic from
//! 32-bit textures.

mod common;

use common::bounds::{bits, ulp};
use common::forms::{all_forms, laplacian, sparse_forms};
use common::harness::{assert_padded, lengths, on_both};
use common::pairs::{
    OfUsers, certified, certified_in_norm, is_exact, paired, residual_twin, true_residual, wide,
};
use common::products::Exact;
use common::worst::{worst, worst_of};
use common::{random, reference, systems};
use texla::host::{Csr, Triplets, problems};
use texla::ops::{self, ExactSum, LinOp, ReducePlan, Windows};
use texla::solve::{
    BiCgStab, BiCgStabParams, CgParams, CgSchedule, Cgls, CglsParams, ConjugateGradient, Gmres, GmresParams,
    Identity, Jacobi, Multigrid, MultigridParams, Preconditioner, Recurrence, SolveReport, Stationary,
    StationaryParams, Stop, StopReason, WeightedJacobi, project_out,
};
use texla::{
    Device, DoubleMatrix, DoubleVector, Error, FoldedBands, Grid, Matrix, MatrixFormat, Shape, Side, Sides,
    SparseFormat, Stencil, StencilParams, StoredMatrix, Vector,
};

#[test]
fn pairs_keep_48_bits() {
    on_both(|device| {
        for n in lengths(device, 5000) {
            let values = wide(1, n);
            let mut x = DoubleVector::from_f64(device, &values).unwrap();
            let read = x.read().unwrap();
            for (got, want) in read.iter().zip(&values) {
                assert!((got - want).abs() <= want.abs() * 2f64.powi(-49), "{got} for {want}");
            }
            assert_eq!(x.high().read().unwrap(), values.iter().map(|v| *v as f32).collect::<Vec<_>>());
            assert_padded(x.high(), "high");
            assert_padded(x.low(), "low");
            assert_eq!((x.len(), x.is_empty(), x.shape()), (n, n == 0, Shape::column(n)));
            let other = wide(2, n);
            x.write(&other).unwrap();
            assert_eq!(x.read().unwrap(), other.iter().copied().map(paired).collect::<Vec<_>>());
            x.set_zero().unwrap();
            assert_eq!(x.read().unwrap(), vec![0.0; n]);
            let floats = random::nonzero(3, n);
            let x = DoubleVector::from_vector(&Vector::from_slice(device, &floats).unwrap()).unwrap();
            assert_eq!(x.read().unwrap(), floats.iter().map(|v| f64::from(*v)).collect::<Vec<_>>());
        }
        let refused = |values: &[f64]| DoubleVector::from_f64(device, values).unwrap_err();
        assert!(matches!(refused(&[0.0, f64::NAN]), Error::NonFinite { index: 1, .. }));
        assert!(matches!(refused(&[1e39]), Error::NonFinite { index: 0, .. }));
        let mut x = DoubleVector::zeros(device, 2).unwrap();
        assert!(matches!(x.write(&[1.0]), Err(Error::LengthMismatch { found: 1, expected: 2, .. })));
        assert!(matches!(x.write(&[1.0, f64::INFINITY]), Err(Error::NonFinite { index: 1, .. })));
        // A low part below the normal range is none.
        x.write(&[1.5e-37, 2f64.powi(-120) * (1.0 + 2f64.powi(-30))]).unwrap();
        assert_eq!(x.low().read().unwrap(), [0.0; 2]);
    });
}

/// Componentwise `2⁻⁴⁵ (|α x| + |y|)`, where plain floats are off by 2⁻²⁴ of it.
#[test]
fn sums_of_pairs_are_within_their_bound() {
    on_both(|device| {
        if !is_exact(device) {
            let (x, mut out) =
                (DoubleVector::zeros(device, 1).unwrap(), DoubleVector::zeros(device, 1).unwrap());
            assert!(matches!(ops::add_double(&mut out, &x, &x), Err(Error::Unsupported { .. })));
            return;
        }
        for n in lengths(device, 3000) {
            let (hx, hy) = (wide(4, n), wide(5, n));
            // Every third cancels but for its last bits.
            let cancels =
                |(i, (x, y)): (usize, (&f64, &f64))| if i % 3 == 0 { -x * (1.0 + 1e-9) } else { *y };
            let hy: Vec<f64> = hx.iter().zip(&hy).enumerate().map(cancels).collect();
            let (hx, hy): (Vec<f64>, Vec<f64>) =
                (hx.into_iter().map(paired).collect(), hy.into_iter().map(paired).collect());
            let x = DoubleVector::from_f64(device, &hx).unwrap();
            let y = DoubleVector::from_f64(device, &hy).unwrap();
            let mut out = DoubleVector::zeros(device, n).unwrap();
            let check = |what: &str, out: &DoubleVector, alpha: f64, hx: &[f64]| {
                for ((x, y), got) in hx.iter().zip(&hy).zip(out.read().unwrap()) {
                    let mut want = Exact::default();
                    want.add(*y);
                    want.add_product(alpha, *x);
                    let bound = 2f64.powi(-45) * ((alpha * x).abs() + y.abs());
                    assert!((got - want.value()).abs() <= bound, "{what}: {alpha} {x} + {y} = {got}");
                }
                // The high part is the sum rounded.
                for (h, v) in out.high().read().unwrap().iter().zip(out.read().unwrap()) {
                    assert!((f64::from(*h) - v).abs() <= 0.5 * ulp(v), "{what}: {h} of {v}");
                }
                assert_padded(out.high(), what);
                assert_padded(out.low(), what);
            };
            ops::add_double(&mut out, &x, &y).unwrap();
            check("add", &out, 1.0, &hx);
            ops::sub_double(&mut out, &y, &x).unwrap();
            check("sub", &out, -1.0, &hx);
            ops::axpy_double(&mut out, 0.7, &x, &y).unwrap();
            check("axpy", &out, f64::from(0.7f32), &hx);
            ops::axpy_double(&mut out, -1.3, x.high(), &y).unwrap();
            let high: Vec<f64> = x.high().read().unwrap().into_iter().map(f64::from).collect();
            check("axpy of floats", &out, f64::from(-1.3f32), &high);
            let check = |what: &str, out: &DoubleVector, hx: &[f64], hy: &[f64]| {
                let got = out.read().unwrap();
                for ((x, y), got) in hx.iter().zip(hy).zip(&got) {
                    let mut off = Exact::default();
                    off.add_product(*x, *y);
                    off.add(-got);
                    let bound = 2f64.powi(-44) * (x * y).abs();
                    assert!(off.value().abs() <= bound, "{what}: {x} {y} = {got}");
                }
                for (h, v) in out.high().read().unwrap().iter().zip(&got) {
                    assert!((f64::from(*h) - v).abs() <= 0.5 * ulp(*v), "{what}: {h} of {v}");
                }
                assert_padded(out.high(), what);
                assert_padded(out.low(), what);
            };
            ops::mul_double(&mut out, &x, &y).unwrap();
            check("mul", &out, &hx, &hy);
            ops::mul_double(&mut out, &x, y.high()).unwrap();
            let floats: Vec<f64> = y.high().read().unwrap().into_iter().map(f64::from).collect();
            check("mul by floats", &out, &hx, &floats);
            ops::mul_double(&mut out, x.high(), &y).unwrap();
            check("mul of floats", &out, &high, &hy);
            ops::scaled_double(&mut out, -0.7, &x).unwrap();
            check("scaled", &out, &hx, &vec![f64::from(-0.7f32); n]);
        }
        let (x, y) = (DoubleVector::zeros(device, 3).unwrap(), DoubleVector::zeros(device, 4).unwrap());
        let mut out = DoubleVector::zeros(device, 4).unwrap();
        assert!(matches!(ops::add_double(&mut out, &x, &y), Err(Error::ShapeMismatch { operand: "x", .. })));
        let bad = ops::axpy_double(&mut out, f32::NAN, &y, &DoubleVector::zeros(device, 4).unwrap());
        assert!(matches!(bad, Err(Error::Parameter { name: "alpha", .. })));
        let bad = ops::scaled_double(&mut out, f32::INFINITY, &y);
        assert!(matches!(bad, Err(Error::Parameter { name: "alpha", .. })));
        let bad = ops::mul_double(&mut out, &y, &x);
        assert!(matches!(bad, Err(Error::ShapeMismatch { operand: "y", .. })));
        let bad = ops::scaled_double(&mut out, 1.0, &x);
        assert!(matches!(bad, Err(Error::ShapeMismatch { operand: "out", .. })));
    });
}

/// Of both kinds of vectors; with products that cancel to their last bits.
#[test]
fn inner_products_and_norms_of_pairs_are_within_their_bound() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        for n in lengths(device, 3000) {
            let hx: Vec<f64> = wide(21, n).into_iter().map(paired).collect();
            let mut hy: Vec<f64> = wide(22, n).into_iter().map(paired).collect();
            // Half of all products take nearly all of the other half away.
            for i in (1..n).step_by(2) {
                hy[i] = paired(-hx[i - 1] * hy[i - 1] / hx[i]);
            }
            let x = DoubleVector::from_f64(device, &hx).unwrap();
            let y = DoubleVector::from_f64(device, &hy).unwrap();
            let plan = ReducePlan::on(device, x.extent(), Windows::Balanced, 2);
            let chain = plan.longest_chain() as f64;
            let check = |what: &str, got: &DoubleVector, hx: &[f64], hy: &[f64]| {
                let (mut want, mut size) = (Exact::default(), 0.0);
                for (x, y) in hx.iter().zip(hy) {
                    want.add_product(*x, *y);
                    size += (x * y).abs();
                }
                let got = got.read().unwrap();
                assert_eq!(got.len(), 1);
                let lost: f64 = hx.iter().zip(hy).map(|(x, y)| 1.0 + x.abs() + y.abs()).sum();
                let bound = (chain + 2.0) * 2f64.powi(-46) * size + lost * 2f64.powi(-124);
                assert!(
                    (got[0] - want.value()).abs() <= bound,
                    "{what}, n = {n}: {got:?} for {}",
                    want.value()
                );
            };
            let floats = |v: &[f64]| v.iter().map(|v| f64::from(*v as f32)).collect::<Vec<f64>>();
            check("pairs", &ops::dot_double(&x, &y).unwrap(), &hx, &hy);
            check("pair and float", &ops::dot_double(&x, y.high()).unwrap(), &hx, &floats(&hy));
            check("float and pair", &ops::dot_double(x.high(), &y).unwrap(), &floats(&hx), &hy);
            check("floats", &ops::dot_double(x.high(), y.high()).unwrap(), &floats(&hx), &floats(&hy));
            for exponent in [0, 95, -80] {
                let hx: Vec<f64> = hx.iter().map(|v| v * 2f64.powi(exponent)).collect();
                let x = DoubleVector::from_f64(device, &hx).unwrap();
                let (got, want) = (ops::norm2_double(&x).unwrap().read().unwrap()[0], systems::norm(&hx));
                let bound = (chain + 6.0) * 2f64.powi(-46) * want;
                assert!((got - want).abs() <= bound, "norm, n = {n}, 2^{exponent}: {got} for {want}");
            }
        }
        // Halves of small factors that are flushed meet large ones.
        let small = DoubleVector::from_f64(device, &[2f64.powi(-110) * (1.0 + 2f64.powi(-20))]).unwrap();
        let large = DoubleVector::from_f64(device, &[2f64.powi(100)]).unwrap();
        let got = ops::dot_double(&small, &large).unwrap().read().unwrap()[0];
        let want = 2f64.powi(-10) * (1.0 + 2f64.powi(-20));
        assert!((got - want).abs() <= 2f64.powi(-124) * 2f64.powi(101) + 2f64.powi(-55), "{got} for {want}");
        let (x, y) = (DoubleVector::zeros(device, 3).unwrap(), DoubleVector::zeros(device, 4).unwrap());
        assert!(matches!(ops::dot_double(&x, &y), Err(Error::ShapeMismatch { operand: "y", .. })));
    });
}

/// The residual and its bound, with as many draws as passes, and the same bits when repeated.
fn check_residual(
    device: &Device,
    label: &str,
    (form, transposed): (&dyn LinOp, bool),
    a: &Csr,
    x: &[f64],
    b: &[f64],
) {
    let label = &format!("{label}, transposed {transposed}");
    let (dx, db) = (DoubleVector::from_f64(device, x).unwrap(), DoubleVector::from_f64(device, b).unwrap());
    let run = |mut sum: ExactSum| {
        assert!(sum.add_product(form, -1.0, transposed, &dx).unwrap(), "{label}");
        assert_padded(sum.rounded(), label);
        assert_padded(sum.error(), label);
        sum
    };
    let got = run(ExactSum::of(1.0, &db).unwrap()).rounded().read().unwrap();
    let bounding = run(ExactSum::bounding(1.0, &db).unwrap());
    let (magnitude, bound) = (bounding.rounded().read().unwrap(), bounding.error().read().unwrap());
    let (want, size) = residual_twin(a, x, b);
    // Beside ends of x, for instance, whatever the coefficient there.
    let lost = 1e-34 * a.values().iter().fold(1.0, |m, v| worst(m, v.abs()));
    let terms = a.rows().map(|(cols, _)| cols.len()).max().unwrap_or(0) as f64 + 1.0;
    for i in 0..want.len() {
        let off = (f64::from(got[i]) - want[i]).abs();
        let own = f64::from(bound[i]);
        assert!(
            off <= 0.51 * ulp(want[i]) + own,
            "{label}: row {i} is {} for {}, bound {own:e}",
            got[i],
            want[i]
        );
        // The bound is what it is said to be, not much more; of dense pairs each term is four products, of others two.
        assert!(
            own <= 8.0 * terms * 2f64.powi(-66) * size[i] * terms + lost,
            "{label}: {own:e} of {}",
            size[i]
        );
        assert!((f64::from(magnitude[i]) - size[i]).abs() <= 1e-5 * size[i], "{label}: magnitude");
    }
    let again = run(ExactSum::of(1.0, &db).unwrap()).rounded().read().unwrap();
    assert_eq!(bits(&got), bits(&again), "{label}: not the same bits when repeated");
}

/// Rows that cancel to their last bits, where double-float has nothing left, in every form.
#[test]
fn residuals_of_pairs_have_seventy_bits() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        for (n, per_row, exponent) in [(1, 1, 0), (7, 3, 0), (131, 9, 0), (131, 9, 70), (64, 40, -70)] {
            let scale = 2f64.powi(exponent);
            let side = random::sparse_rows(6, n, n, per_row);
            let a = systems::csr(&side);
            let values: Vec<f64> = wide(7, a.nnz()).into_iter().map(|v| v * scale).collect();
            let a = a.with_values(&values).unwrap();
            let x: Vec<f64> = wide(8, n).into_iter().map(paired).collect();
            let check = |form: &str, stored: &dyn LinOp, a: &Csr| {
                for (transposed, side) in [(false, a), (true, &a.transposed())] {
                    // As close to A x as pairs are: the residual is what is left.
                    let b: Vec<f64> = systems::apply(side, &x).into_iter().map(paired).collect();
                    let label = format!("{form}, n = {n}, 2^{exponent}");
                    check_residual(device, &label, (stored, transposed), side, &x, &b);
                }
            };
            let forms =
                if exponent == 0 { sparse_forms(device, &a, 30) } else { sparse_forms(device, &a, 0) };
            for (form, stored) in forms {
                check(form, stored.as_ref(), &a);
            }
            // Both halves of folded vectors, with their remainders.
            if exponent == 0
                && 2 * n as u64 <= texla::shape::max_folded_len(device.capabilities().max_texture_size)
            {
                check("folded", &FoldedBands::from_csr(device, a.clone()).unwrap(), &a);
            }
            // One dense form holds pairs, and the others 32 bits.
            check("dense pairs", &dense_pairs(device, &a), &a);
            let a = systems::rounded(&a);
            for (form, stored) in all_forms(device, &a) {
                check(form, stored.as_ref(), &a);
            }
        }
        // Diagonals of one number, but for the first and the last row.
        for n in [1, 2, 6, 37] {
            let mut t = Triplets::new(Shape::new(n, n));
            for i in 0..n {
                let ends = usize::from(i == 0) + usize::from(i + 1 == n);
                t.push(i, i, [1.4000009999999998, 0.700001, 1e-6][ends]).unwrap();
                if i > 0 {
                    t.push(i, i - 1, -0.7).unwrap();
                    t.push(i - 1, i, -0.7).unwrap();
                }
            }
            let a = t.to_csr();
            for size in [1.0, 2f64.powi(-75)] {
                // Next to what is mapped to zero.
                let x: Vec<f64> = wide(19, n).into_iter().map(|v| paired(size * (1.0 + 1e-7 * v))).collect();
                let b: Vec<f64> = systems::apply(&a, &x).into_iter().map(paired).collect();
                for (form, stored) in sparse_forms(device, &a, 3 * n) {
                    check_residual(
                        device,
                        &format!("{form}, path of {n}"),
                        (stored.as_ref(), false),
                        &a,
                        &x,
                        &b,
                    );
                }
            }
        }
        for (nx, ny) in [(1, 1), (5, 3), (16, 12), (33, 31)] {
            let a = problems::poisson_2d(nx, ny).to_csr();
            let x: Vec<f64> = wide(9, nx * ny).into_iter().map(|v| paired(v * 1e4)).collect();
            let b: Vec<f64> = systems::apply(&a, &x).into_iter().map(paired).collect();
            for transposed in [false, true] {
                let stencil = laplacian(device, nx, ny);
                check_residual(device, &format!("stencil {nx}x{ny}"), (&stencil, transposed), &a, &x, &b);
            }
        }
        // What the Laplacian has none of: layers, obstacles, other sides, and weights that are no powers of two.
        let sides = Sides {
            x: [Side::Periodic; 2],
            y: [Side::WALL, Side::Neumann],
            z: [Side::Neumann, Side::DIRICHLET],
        };
        // One of 50 bits, of which sums are exact in 64 and two floats do not hold the last.
        let long = 2.0 + 2f64.powi(-24) + 2f64.powi(-48);
        for ([nx, ny, nz], factor) in
            [([8, 3, 4], 1.0), ([8, 3, 4], 1.25), ([5, 4, 3], 1.0), ([5, 4, 3], 1.25), ([5, 4, 3], long)]
        {
            let n = nx * ny * nz;
            let solid: Vec<bool> = (0..n).map(|i| i % 7 == 3).collect();
            for obstacles in [false, true] {
                let params = StencilParams::new([factor, 2.0, 0.5 * factor], sides).with_shift(0.25);
                let params = if obstacles { params.with_solid(&solid) } else { params };
                let stencil = Stencil::new(device, Grid::new_3d(nx, ny, nz), params).unwrap();
                let x: Vec<f64> = wide(10, n).into_iter().map(paired).collect();
                let b: Vec<f64> = systems::apply(stencil.csr(), &x).into_iter().map(paired).collect();
                let label = format!("stencil {nx}x{ny}x{nz}, factor {factor}, obstacles {obstacles}");
                check_residual(device, &label, (&stencil, false), stencil.csr(), &x, &b);
            }
        }
    });
}

/// Low parts that a scale takes below the range, which coefficients of 2^60 bring back: far starts have such scales.
#[test]
fn bounds_have_what_is_lost_before_it_meets_large_coefficients() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let (n, alpha) = (9, -(2f32.powi(-84)));
        let a = systems::entries(n, n, (0..n).map(|i| (i, i, 1.3 * 2f64.powi(65))));
        for (form, stored) in sparse_forms(device, &a, 9) {
            let low: Vec<f32> = (0..n).map(|i| 1.37 * 2f32.powi(-30 - 3 * i as i32)).collect();
            let x = Vector::from_slice(device, &low).unwrap();
            let zero = DoubleVector::zeros(device, n).unwrap();
            let run = |mut sum: ExactSum| {
                assert!(sum.add_product(stored.as_ref(), alpha, false, &x).unwrap());
                (sum.rounded().read().unwrap(), sum.error().read().unwrap())
            };
            let (got, _) = run(ExactSum::of(1.0, &zero).unwrap());
            let (_, bound) = run(ExactSum::bounding(1.0, &zero).unwrap());
            for (i, x) in low.iter().enumerate() {
                let want = f64::from(alpha) * paired(1.3) * 2f64.powi(65) * f64::from(*x);
                let off = (f64::from(got[i]) - want).abs();
                let own = f64::from(bound[i]);
                assert!(
                    off <= 0.51 * ulp(want) + own,
                    "{form}: row {i}: {} for {want:e}, bound {own:e}",
                    got[i]
                );
            }
        }
    });
}

/// What 32 bits give up on: b = 1, of every form, by every schedule.
#[test]
fn smooth_solutions_come_to_twelve_digits() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let (side, tol) = (48, 1e-12);
        let a = problems::poisson_2d(side, side).to_csr();
        let b = vec![1.0; side * side];
        let db = Vector::filled(device, side * side, 1.0).unwrap();
        let stop = Stop::relative(tol);
        for schedule in [CgSchedule::Auto, CgSchedule::Listing, CgSchedule::Merged, CgSchedule::Fused] {
            let params = CgParams::default().with_stop(stop).with_schedule(schedule);
            for format in [MatrixFormat::Banded, MatrixFormat::Sparse(SparseFormat::Gather)] {
                let stored = StoredMatrix::new(device, a.clone(), format).unwrap();
                let solver = ConjugateGradient::new(&stored, params).unwrap();
                let run = || {
                    let mut x = DoubleVector::zeros(device, side * side).unwrap();
                    let report = solver.solve(&mut x, &db).unwrap();
                    (report, x.read().unwrap())
                };
                let (report, x) = run();
                let label = format!("{schedule:?}, {format:?}");
                certified(&label, &report, &a, &x, &b, tol);
                // Float64's own takes about 100.
                assert!(report.iterations <= 250, "{label}: {report:?}");
                let (again, same) = run();
                assert_eq!(
                    (again.iterations, same),
                    (report.iterations, x),
                    "{label}: not the same when repeated"
                );
            }
        }
        // The recurrence in pairs.
        let stencil = laplacian(device, side, side);
        let formats = [MatrixFormat::Banded, MatrixFormat::Sparse(SparseFormat::Gather)];
        let [bands, rows] = formats.map(|format| StoredMatrix::new(device, a.clone(), format).unwrap());
        let in_pairs = |a: &dyn LinOp, preconditioned: bool| {
            let jacobi = Jacobi::new(a).unwrap();
            let params = CgParams::default().with_stop(stop).with_recurrence(Recurrence::Double);
            let m = preconditioned.then_some(&jacobi);
            let solver = ConjugateGradient::preconditioned(a, m, params).unwrap();
            let mut x = DoubleVector::zeros(device, side * side).unwrap();
            let report = solver.solve(&mut x, &Vector::filled(device, side * side, 1.0).unwrap()).unwrap();
            (report, x.read().unwrap())
        };
        let float64 = cg_f64(&a, &b, tol, 1000).unwrap();
        let forms: [(&str, &dyn LinOp); 3] = [("bands", &bands), ("rows", &rows), ("stencil", &stencil)];
        for (form, op) in forms {
            for preconditioned in [false, true] {
                let label = format!("in pairs, {form}, {preconditioned}");
                let (report, x) = in_pairs(op, preconditioned);
                certified(&label, &report, &a, &x, &b, tol);
                assert!(report.iterations <= float64 + 10, "{label}: {} for {float64}", report.iterations);
                assert_eq!(report.double_iterations, report.iterations, "{label}");
                let (again, same) = in_pairs(op, preconditioned);
                assert_eq!((again.iterations, &same), (report.iterations, &x), "{label}: again");
            }
        }
        // In 32 bits there is no end to it.
        let single = ConjugateGradient::new(&stencil, CgParams::default().with_stop(stop)).unwrap();
        let mut x = Vector::zeros(device, side * side).unwrap();
        assert_eq!(single.solve(&mut x, &db).unwrap().reason, StopReason::Stagnated);
        // From where that has ended.
        let mut x = DoubleVector::from_vector(&x).unwrap();
        let report = single.solve(&mut x, &db).unwrap();
        certified("from the floats", &report, &a, &x.read().unwrap(), &b, tol);
        // Multigrid: as many cycles as digits.
        let m = Multigrid::new(&stencil, MultigridParams::default()).unwrap();
        let solver =
            ConjugateGradient::preconditioned(&stencil, &m, CgParams::default().with_stop(stop)).unwrap();
        let mut x = DoubleVector::zeros(device, side * side).unwrap();
        let report = solver.solve(&mut x, &db).unwrap();
        certified("multigrid", &report, &a, &x.read().unwrap(), &b, tol);
        assert!(report.iterations <= 16, "{report:?}");
    });
}

/// Iterates are those of 64 bits, after an odd number of iterations, too: `x` moves every second time, and in the end.
#[test]
fn every_iterate_is_that_of_64_bits() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let n = 150;
        let host = systems::csr(&random::spd(3, n, 0.05));
        let a = StoredMatrix::new(device, host.clone(), MatrixFormat::Sparse(SparseFormat::Gather)).unwrap();
        let b: Vec<f64> = wide(12, n).into_iter().map(paired).collect();
        let db = DoubleVector::from_f64(device, &b).unwrap();
        let jacobi = Jacobi::new(&a).unwrap();
        let diagonal: Vec<f64> = host.entries().filter(|(i, j, _)| i == j).map(|(_, _, v)| v).collect();
        for most in [1, 2, 3, 4, 7] {
            let twin = |v: &[f64]| systems::apply(&host, v);
            let want = reference::cg(twin, &b, &vec![0.0; n], Some(&diagonal), 1e-13, most);
            let params = CgParams::default()
                .with_stop(Stop::relative(1e-13))
                .with_max_iters(most)
                .with_recurrence(Recurrence::Double);
            let solver = ConjugateGradient::preconditioned(&a, &jacobi, params).unwrap();
            let mut x = DoubleVector::zeros(device, n).unwrap();
            let report = solver.solve(&mut x, &db).unwrap();
            assert_eq!((report.reason, report.iterations), (StopReason::MaxIterations, most), "{report:?}");
            let apart = worst_of(&x.read().unwrap(), &want.x, |a, b| (a - b).abs());
            // The preconditioner has 32 bits.
            assert!(apart <= 1e-5 * systems::norm(&want.x), "after {most}: {apart:e}");
        }
    });
}

/// Right-hand sides and coefficients of 48 bits, symmetric and not, scaled far up and down.
#[test]
fn pairs_solve_for_the_digits_that_were_given() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let n = 200;
        for seed in 1..6 {
            let side = systems::csr(&random::spd(seed, n, 0.03));
            let x: Vec<f64> = wide(seed, n);
            for exponent in [0, 60, -60] {
                let a = systems::mapped(&side, |v| paired(v) * 2f64.powi(exponent));
                let b: Vec<f64> = systems::apply(&a, &x).into_iter().map(paired).collect();
                let db = DoubleVector::from_f64(device, &b).unwrap();
                let stored = StoredMatrix::new(device, a.clone(), SparseFormat::Gather).unwrap();
                let label = format!("seed {seed}, 2^{exponent}");
                let tol = 1e-11;
                let jacobi = Jacobi::new(&stored).unwrap();
                let params = CgParams::default().with_stop(Stop::relative(tol));
                let solver = ConjugateGradient::preconditioned(&stored, &jacobi, params).unwrap();
                let mut dx = DoubleVector::zeros(device, n).unwrap();
                let report = solver.solve(&mut dx, &db).unwrap();
                certified(&format!("CG, {label}"), &report, &a, &dx.read().unwrap(), &b, tol);
                let params = BiCgStabParams::default().with_stop(Stop::relative(tol));
                let solver = BiCgStab::preconditioned(&stored, &jacobi, params).unwrap();
                let mut dx = DoubleVector::zeros(device, n).unwrap();
                let report = solver.solve(&mut dx, &db).unwrap();
                certified(&format!("BiCGStab, {label}"), &report, &a, &dx.read().unwrap(), &b, tol);
                // The solution was made of b by 64 bits, not the other way round.
                for (got, want) in dx.read().unwrap().iter().zip(&x) {
                    assert!((got - want).abs() <= 1e-8 * systems::norm(&x), "{label}: {got} for {want}");
                }
            }
        }
    });
}

#[test]
fn what_cannot_be_solved_for_pairs_is_refused_with_the_reason() {
    on_both(|device| {
        let a = Matrix::from_rows(device, Shape::new(2, 2), &[2.0, 0.0, 0.0, 4.0]).unwrap();
        let (b, pairs) =
            (Vector::filled(device, 2, 1.0).unwrap(), DoubleVector::from_f64(device, &[1.0, 0.5]).unwrap());
        let refused = |a: &dyn LinOp, why: &str| {
            let mut x = DoubleVector::from_f64(device, &[3.0, 0.1]).unwrap();
            let solver = ConjugateGradient::new(a, CgParams::default()).unwrap();
            let error = solver.solve(&mut x, &b).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
            assert_eq!(x.read().unwrap(), [3.0, paired(0.1)], "x is as it was");
        };
        refused(&OfUsers(&a), "no exact product");
        if !is_exact(device) {
            return refused(&a, "no exact");
        }
        let mut x = Vector::zeros(device, 2).unwrap();
        let solver = ConjugateGradient::new(&a, CgParams::default()).unwrap();
        let error = solver.solve(&mut x, &pairs).unwrap_err().to_string();
        assert!(error.contains("x of 32 bits"), "{error}");
        let double = CgParams::default().with_recurrence(Recurrence::Double);
        let error = ConjugateGradient::new(&a, double).unwrap().solve(&mut x, &b).unwrap_err().to_string();
        assert!(error.contains("Recurrence::Double") && error.contains("DoubleVector"), "{error}");
        // And a bound closer than pairs are.
        let params = CgParams::default().with_stop(Stop::relative(1e-16));
        let mut x = DoubleVector::zeros(device, 2).unwrap();
        let report = ConjugateGradient::new(&a, params).unwrap().solve(&mut x, &pairs).unwrap();
        assert_eq!(report.reason, StopReason::Uncertified, "{report:?}");
        assert_eq!(x.read().unwrap(), [0.5, 0.125]);
        // Factors that would round what they meet.
        for bad in [0.0, 3.0, 0.1, f32::INFINITY, f32::NAN, f32::MIN_POSITIVE / 2.0] {
            for error in
                [ExactSum::of(bad, &pairs).unwrap_err(), ExactSum::bounding(bad, &pairs).unwrap_err()]
            {
                assert!(matches!(error, Error::Parameter { name: "beta", .. }), "{bad}: {error}");
            }
            let error = ExactSum::of(-0.5, &pairs).unwrap().add_product(&a, bad, false, &x).unwrap_err();
            assert!(matches!(error, Error::Parameter { name: "alpha", .. }), "{bad}: {error}");
        }
    });
}

/// What rounding may have done to a residual is told also where nothing has converged: asked for at the end if not before, of
/// the iterate that is returned.
#[test]
fn what_has_not_converged_is_told_with_what_rounding_may_have_done() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        // Beside ordinary coefficients those whose products with low parts fall below the range.
        let far_apart = [2.2e-10, 7.6e-38, 1.0];
        let mut t = Triplets::from_diagonal(&far_apart);
        t.push(0, 1, 3.1e-38).unwrap();
        t.push(1, 0, 3.1e-38).unwrap();
        let a = t.to_csr();
        let stored = StoredMatrix::new(device, a.clone(), SparseFormat::Gather).unwrap();
        let jacobi = WeightedJacobi::new(&stored, 1.9).unwrap();
        for rhs in [[1e-10, 3e-38, 0.0], [2.2e-10, 7.6e-38, 1.0], [0.0, 1e-30, 1e-3]] {
            let b = DoubleVector::from_f64(device, &rhs).unwrap();
            let held = b.read().unwrap();
            let stop = Stop::relative(1e-13);
            type Solve<'s> = &'s dyn Fn(&mut DoubleVector) -> SolveReport;
            let ways: [(&str, Solve<'_>); 4] = [
                ("cg", &|x| {
                    let params = CgParams::default().with_stop(stop).with_max_iters(1);
                    ConjugateGradient::new(&stored, params).unwrap().solve(x, &b).unwrap()
                }),
                ("bicgstab", &|x| {
                    let params = BiCgStabParams::default().with_stop(stop).with_max_iters(1);
                    BiCgStab::new(&stored, params).unwrap().solve(x, &b).unwrap()
                }),
                ("gmres", &|x| {
                    let params = GmresParams::default().with_stop(stop).with_max_iters(1);
                    Gmres::new(&stored, params).unwrap().solve(x, &b).unwrap()
                }),
                ("stationary", &|x| {
                    let params = StationaryParams::default().with_stop(stop).with_max_sweeps(3);
                    Stationary::new(&stored, &jacobi, params).unwrap().solve(x, &b).unwrap()
                }),
            ];
            for (name, solve) in ways {
                let mut x = DoubleVector::from_f64(device, &[0.3, 1e7 / 3.0, 0.1]).unwrap();
                let report = solve(&mut x);
                let found = true_residual(&a, &x.read().unwrap(), &held);
                assert!(report.rounding.is_some() || report.converged(), "{name}: {report:?}");
                let most = report.true_residual + report.rounding.unwrap_or(0.0);
                assert!(found <= most, "{name}: {found:e} for {most:e}, {report:?}");
            }
        }
    });
}

/// What 32 bits end in is no end where pairs can go on: directions that leave the range of floats, and more iterations than
/// exact arithmetic needs twice.
#[test]
fn pairs_go_on_where_32_bits_fail() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        // A path, and next to nothing on its diagonal: condition 6e14.
        let n = 40;
        let mut t = Triplets::new(Shape::new(n, n));
        for i in 0..n {
            t.push(i, i, if i == 0 || i == n - 1 { 1.0 } else { 2.0 } + 1e-12).unwrap();
            if i > 0 {
                t.push(i, i - 1, -1.0).unwrap();
                t.push(i - 1, i, -1.0).unwrap();
            }
        }
        let a = t.to_csr();
        let stored = StoredMatrix::new(device, a.clone(), MatrixFormat::Auto).unwrap();
        let m = Jacobi::new(&stored).unwrap();
        let b: Vec<f64> = systems::apply(&a, &vec![1.0; n]);
        let right = DoubleVector::from_f64(device, &b).unwrap();
        let held: Vec<f64> = b.iter().copied().map(paired).collect();
        let solve = |recurrence| {
            let params = CgParams::default().with_stop(Stop::relative(1e-6)).with_max_iters(2000);
            let cg =
                ConjugateGradient::preconditioned(&stored, &m, params.with_recurrence(recurrence)).unwrap();
            let mut x = DoubleVector::zeros(device, n).unwrap();
            (cg.solve(&mut x, &right).unwrap(), x.read().unwrap())
        };
        let (single, _) = solve(Recurrence::Single);
        assert!(!single.converged(), "{single:?}");
        for recurrence in [Recurrence::Auto, Recurrence::Double] {
            let (report, x) = solve(recurrence);
            assert!(report.converged() && report.double_iterations > 0, "{recurrence:?}: {report:?}");
            let found = true_residual(&a, &x, &held);
            assert!(found <= 1e-6, "{recurrence:?}: {found:e}");
        }
        // A diagonal of another length.
        let wrong = Diagonal(Vector::filled(device, n + 3, 1.0).unwrap());
        let params = CgParams::default().with_recurrence(Recurrence::Double);
        let cg = ConjugateGradient::preconditioned(&stored, &wrong, params).unwrap();
        let mut x = DoubleVector::zeros(device, n).unwrap();
        let error = cg.solve(&mut x, &right).unwrap_err();
        assert!(matches!(error, Error::ShapeMismatch { .. }), "{error}");
    });
}

/// A recurrence in pairs takes what 32 bits hold at either end of the range: where a small matrix, nearly singular, has a solution
/// that residuals are scaled up by beside tiny ones; solutions of up to 2^126; and of what cannot be certified there it tells so.
#[test]
fn a_recurrence_in_pairs_keeps_within_the_range() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let n = 8;
        let ends = |e: f64| {
            let mut t = Triplets::new(Shape::new(n, n));
            for i in 0..n {
                let own = if i == 0 { 1.0 + 1.21869e-10 } else { f64::from(1 + i32::from(i + 1 < n)) };
                t.push(i, i, own * e).unwrap();
                if i > 0 {
                    t.push(i, i - 1, -e).unwrap();
                    t.push(i - 1, i, -e).unwrap();
                }
            }
            t.to_csr()
        };
        let near = |e: f64| {
            let rows = [(0, 0, e * (1.0 + (-34f64).exp2())), (0, 1, -e), (1, 0, -e), (1, 1, e)];
            systems::entries(2, 2, rows)
        };
        let one = |a: f64| systems::entries(1, 1, [(0, 0, a)]);
        let tiny = (-60f64).exp2();
        let systems = [
            ("nearly singular", near(tiny), vec![tiny; 2]),
            ("the same, of ordinary b", near(tiny), vec![1.0; 2]),
            ("a path", ends(tiny), vec![tiny; n]),
            ("the same, of ordinary b", ends(tiny), vec![1.0; n]),
            ("a large solution", one(1.0), vec![1e33]),
            ("the largest", one(1.0), vec![1.3 * 126f64.exp2()]),
            ("of a small matrix", one(1e-20), vec![1e-20 * 1.7 * 120f64.exp2()]),
            ("of a large one", one(1e9), vec![1e9 * 1.7 * 90f64.exp2()]),
        ];
        for (name, a, b) in &systems {
            let stored = StoredMatrix::new(device, a.clone(), SparseFormat::Points).unwrap();
            let dense = dense_pairs(device, a);
            let right = DoubleVector::from_f64(device, b).unwrap();
            let params = CgParams::default().with_stop(Stop::relative(1e-7));
            let forms: [&dyn LinOp; 2] = [&stored, &dense];
            for (form, recurrence) in
                forms.into_iter().flat_map(|form| [Recurrence::Auto, Recurrence::Double].map(|r| (form, r)))
            {
                let m = Jacobi::new(form).unwrap();
                let params = params.with_recurrence(recurrence);
                for (m, with) in [(None, "none"), (Some(&m), "jacobi")] {
                    let cg = ConjugateGradient::preconditioned(form, m, params).unwrap();
                    let mut x = DoubleVector::zeros(device, b.len()).unwrap();
                    let report = cg.solve(&mut x, &right).unwrap();
                    assert!(report.converged(), "{name}, {recurrence:?}, {with}: {report:?}");
                    let found = true_residual(a, &x.read().unwrap(), &right.read().unwrap());
                    assert!(found <= 1e-7, "{name}, {recurrence:?}, {with}: {found:e}");
                }
            }
        }
        // What lies below the range of a coefficient's last bits meets a solution of 2^122, alone and beside large coefficients.
        for (diagonal, rhs) in [
            ([0.20200911482655748, 9.085770749726869e-38], [-0.4682545943807317, -0.7321136420885062]),
            ([342.08424525765093, 1.5080314721352322e-37], [-0.2138565798659693, -0.5382287912318531]),
        ] {
            let a = Triplets::from_diagonal(&diagonal).to_csr();
            let b = DoubleVector::from_f64(device, &rhs).unwrap();
            let stored = StoredMatrix::new(device, a.clone(), SparseFormat::Points).unwrap();
            let params = CgParams::default().with_stop(Stop::relative(1e-11));
            for m in [&Identity as &dyn Preconditioner, &Jacobi::new(&stored).unwrap()] {
                let mut x = DoubleVector::zeros(device, 2).unwrap();
                let cg = ConjugateGradient::preconditioned(&stored, m, params).unwrap();
                let report = cg.solve(&mut x, &b).unwrap();
                let found = true_residual(&a, &x.read().unwrap(), &b.read().unwrap());
                let most = report.true_residual + report.rounding.unwrap();
                assert!(!report.converged() && found <= most, "{found:e} for {report:?}");
            }
        }
    });
}

/// A diagonal whose elements are 2^38 apart, times powers of two: what is small beside the largest coefficient does not leave the range
/// for that, and every method takes as many iterations.
#[test]
fn matrices_of_any_magnitude_keep_what_is_small_in_them() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let (diagonal, rhs) =
            ([3.7527366520256253e-06, 917923.258874675], [0.379039720673822, -0.11957903783145792]);
        let solved = |e: i32| {
            let factor = f64::from(e).exp2();
            let a = Triplets::from_diagonal(&diagonal.map(|d| d * factor)).to_csr();
            let b = DoubleVector::from_f64(device, &rhs.map(|b| b * factor)).unwrap();
            let stored = StoredMatrix::new(device, a.clone(), SparseFormat::Gather).unwrap();
            let m = Jacobi::new(&stored).unwrap();
            let stop = Stop::relative(1e-14);
            let mut all = Vec::new();
            let cg = CgParams::default().with_stop(stop);
            let gmres = GmresParams::default().with_stop(stop);
            type Solve<'s> = &'s dyn Fn(&mut DoubleVector) -> SolveReport;
            // Of 32 bits a basis alone does not hold what is so far apart: whether it leads on is the device's rounding.
            let ways: [Solve<'_>; 3] = [
                &|x| ConjugateGradient::new(&stored, cg).unwrap().solve(x, &b).unwrap(),
                &|x| ConjugateGradient::preconditioned(&stored, &m, cg).unwrap().solve(x, &b).unwrap(),
                &|x| Gmres::preconditioned(&stored, &m, gmres).unwrap().solve(x, &b).unwrap(),
            ];
            for solve in ways {
                let mut x = DoubleVector::zeros(device, 2).unwrap();
                let report = solve(&mut x);
                assert!(report.converged(), "2^{e}: {report:?}");
                let found = true_residual(&a, &x.read().unwrap(), &b.read().unwrap());
                assert!(found <= 1e-14, "2^{e}: {found:e}");
                all.push(report.iterations);
            }
            all
        };
        let plain = solved(0);
        for e in [-60, -41, -20, -3, 20] {
            assert_eq!(solved(e), plain, "times 2^{e}");
        }
    });
}

/// Elements of `b` below the normal range count as zero where they are next to nothing beside the bound, and are told of then; where
/// they are not, `b` is refused.
#[test]
fn what_lies_below_the_range_of_floats_counts() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let a = systems::entries(2, 2, [(0, 0, 1.0), (1, 1, 1.0)]);
        let stored = StoredMatrix::new(device, a.clone(), SparseFormat::Points).unwrap();
        let jacobi = WeightedJacobi::new(&stored, 0.9).unwrap();
        let held = [1e-27, 8e-40].map(|v: f64| f64::from(v as f32));
        let b = DoubleVector::from_f64(device, &held).unwrap();
        for tol in [1e-11, 1e-13] {
            let stop = Stop::relative(tol);
            let stationary = StationaryParams::default().with_stop(stop);
            type Solve<'s> = &'s dyn Fn(&mut DoubleVector) -> texla::Result<SolveReport>;
            let ways: [(&str, Solve<'_>); 3] = [
                ("cg", &|x| {
                    ConjugateGradient::new(&stored, CgParams::default().with_stop(stop))?.solve(x, &b)
                }),
                ("gmres", &|x| Gmres::new(&stored, GmresParams::default().with_stop(stop))?.solve(x, &b)),
                ("stationary", &|x| Stationary::new(&stored, &jacobi, stationary)?.solve(x, &b)),
            ];
            for (name, solve) in ways {
                let mut x = DoubleVector::zeros(device, 2).unwrap();
                match solve(&mut x) {
                    Ok(report) => {
                        let found = true_residual(&a, &x.read().unwrap(), &held);
                        assert!(tol == 1e-11 && report.converged(), "{name}, {tol:e}: {report:?}");
                        assert!(found <= report.true_residual, "{name}: {found:e} for {report:?}");
                    }
                    Err(error) => {
                        let named = matches!(error, Error::Parameter { name: "b", .. });
                        assert!(tol == 1e-13 && named, "{name}, {tol:e}: {error}");
                    }
                }
            }
        }
    });
}

/// A preconditioner that is a diagonal, whatever its length.
struct Diagonal(Vector);

impl Preconditioner for Diagonal {
    fn apply(&self, z: &mut Vector, r: &Vector) -> texla::Result<()> {
        ops::mul(z, &self.0, r)
    }

    fn diagonal(&self) -> Option<&Vector> {
        Some(&self.0)
    }
}

/// Closed sides: `b` in pairs whose sum is zero to 48 bits, solutions orthogonal to constants to as many, by every method that
/// takes either kind; what is consistent to fewer digits than are asked for is refused.
#[test]
fn singular_systems_are_solved_for_pairs() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let (grid, tol) = (Grid::new_2d(33, 24), 1e-11);
        let n = grid.len();
        let params = StencilParams::new([1.0, 1.0, 0.0], Sides::all(Side::Neumann));
        let closed = Stencil::new(device, grid, params).unwrap();
        let a = closed_laplacian(33, 24);
        let mut b: Vec<f64> = wide(31, n).into_iter().map(|v| v * 3.0).collect();
        let mean = b.iter().sum::<f64>() / n as f64;
        b.iter_mut().for_each(|v| *v = paired(*v - mean));
        let right = DoubleVector::from_f64(device, &b).unwrap();
        // A start with a large part along the null space.
        let start: Vec<f64> = wide(32, n).into_iter().map(|v| paired(1e4 + v)).collect();
        let check = |label: &str, report: SolveReport, x: &DoubleVector| {
            let x = x.read().unwrap();
            // b itself sums to zero within its last digits, which are what certified residuals leave out.
            certified(label, &report, &a, &x, &b, tol);
            let (sum, size) = (x.iter().sum::<f64>(), x.iter().map(|v| v.abs()).sum::<f64>());
            assert!(sum.abs() <= 1e-11 * size, "{label}: {sum:e} along the null space, of {size:e}");
        };
        let stop = Stop::relative(tol);
        for recurrence in [Recurrence::Single, Recurrence::Double] {
            for from in [vec![0.0; n], start.clone()] {
                let params = CgParams::default().with_stop(stop).with_recurrence(recurrence);
                let mut x = DoubleVector::from_f64(device, &from).unwrap();
                let report = ConjugateGradient::new(&closed, params).unwrap().solve(&mut x, &right).unwrap();
                check(&format!("{recurrence:?} from {:e}", from[0]), report, &x);
            }
        }
        let mut x = DoubleVector::from_f64(device, &start).unwrap();
        let params = BiCgStabParams::default().with_stop(stop);
        let report = BiCgStab::new(&closed, params).unwrap().solve(&mut x, &right).unwrap();
        check("BiCGStab", report, &x);
        let m = Multigrid::new(&closed, MultigridParams::default()).unwrap();
        let mut x = DoubleVector::from_f64(device, &start).unwrap();
        let params = CgParams::default().with_stop(stop);
        let cg = ConjugateGradient::preconditioned(&closed, &m, params).unwrap();
        let report = cg.solve(&mut x, &right).unwrap();
        assert!(report.iterations <= 20, "{report:?}");
        check("multigrid", report, &x);
        let mut x = DoubleVector::from_f64(device, &start).unwrap();
        let params = StationaryParams::default().with_stop(stop).with_test_every(1);
        let report = Stationary::new(&closed, &m, params).unwrap().solve(&mut x, &right).unwrap();
        check("stationary", report, &x);

        // Consistent to nine digits, and eleven are asked for.
        let mut off = b.clone();
        let shift = 1e-9 * systems::norm(&b) / (n as f64).sqrt();
        off.iter_mut().for_each(|v| *v = paired(*v + shift));
        let off = DoubleVector::from_f64(device, &off).unwrap();
        let mut x = DoubleVector::from_f64(device, &start).unwrap();
        let error = cg.solve(&mut x, &off).unwrap_err();
        assert!(matches!(error, Error::Inconsistent { .. }), "{error}");
        assert_eq!(x.read().unwrap(), start, "x is as it was");
        // Of 32 bits no more can be asked than they hold: what is solved for is the part without rounding's.
        let report = cg.solve(&mut x, right.high()).unwrap();
        assert!(report.converged(), "{report:?}");
        let mut whole = DoubleVector::from_vector(right.high()).unwrap();
        project_out(&mut whole, closed.null_space()).unwrap();
        certified("b of floats", &report, &a, &x.read().unwrap(), &whole.read().unwrap(), tol);
    });
}

/// The five-point Laplacian between closed sides.
fn closed_laplacian(nx: usize, ny: usize) -> Csr {
    let mut t = Triplets::new(Shape::new(nx * ny, nx * ny));
    let mut link = |i: usize, j: usize| {
        for (row, col, v) in [(i, i, 1.0), (j, j, 1.0), (i, j, -1.0), (j, i, -1.0)] {
            t.push(row, col, v).unwrap();
        }
    };
    for y in 0..ny {
        for x in 0..nx {
            let i = x + nx * y;
            if x + 1 < nx {
                link(i, i + 1);
            }
            if y + 1 < ny {
                link(i, i + nx);
            }
        }
    }
    t.to_csr()
}

fn dense_pairs(device: &Device, a: &Csr) -> DoubleMatrix {
    let cols = a.shape().cols;
    let mut values = vec![0.0; a.shape().len()];
    a.entries().for_each(|(i, j, v)| values[i * cols + j] = v);
    DoubleMatrix::from_f64(device, a.shape(), &values).unwrap()
}

/// Coefficients of 48 bits: what the system is as given, not as 32 bits round it.
#[test]
fn dense_systems_of_64_bits_are_solved_as_given() {
    on_both(|device| {
        for n in [1, 2, 5, 37, 90] {
            // B Bᵀ / n + 1, in 64 bits.
            let side: Vec<f64> = wide(41, n * n).into_iter().map(|v| v.signum() * (v.abs() % 1.0)).collect();
            let mut rows = vec![0.0; n * n];
            for i in 0..n {
                for j in 0..n {
                    let dot: f64 = (0..n).map(|k| side[i * n + k] * side[j * n + k]).sum();
                    rows[i * n + j] = dot / n as f64 + if i == j { 1.0 } else { 0.0 };
                }
            }
            let shape = Shape::new(n, n);
            let a = DoubleMatrix::from_f64(device, shape, &rows).unwrap();
            assert_eq!(a.read().unwrap(), rows);
            let entries = rows.iter().enumerate().map(|(k, v)| (k / n, k % n, *v));
            let host = Triplets::from_entries(shape, entries.collect::<Vec<_>>()).unwrap().to_csr();
            let b: Vec<f64> = wide(42, n).into_iter().map(paired).collect();
            let right = DoubleVector::from_f64(device, &b).unwrap();
            // For 32 bits: a certificate, for the elements as they are.
            let params = CgParams::default().with_stop(Stop::relative(1e-5));
            let mut x = Vector::zeros(device, n).unwrap();
            let report = ConjugateGradient::new(&a, params).unwrap().solve(&mut x, right.high()).unwrap();
            if !is_exact(device) {
                assert_eq!(report.reason, StopReason::Uncertified);
                continue;
            }
            assert!(report.converged(), "{report:?}");
            let own: Vec<f64> = x.read().unwrap().into_iter().map(f64::from).collect();
            let rounded: Vec<f64> = b.iter().map(|v| f64::from(*v as f32)).collect();
            let found = true_residual(&host, &own, &rounded);
            assert!(found <= 1.001 * report.true_residual + 1e-30, "n = {n}: {found:e}, {report:?}");
            // For pairs, by every method.
            let tol = 1e-12;
            let m = Jacobi::new(&a).unwrap();
            for recurrence in [Recurrence::Single, Recurrence::Double] {
                let params = CgParams::default().with_stop(Stop::relative(tol)).with_recurrence(recurrence);
                let mut x = DoubleVector::zeros(device, n).unwrap();
                let cg = ConjugateGradient::preconditioned(&a, &m, params).unwrap();
                let report = cg.solve(&mut x, &right).unwrap();
                certified(&format!("n = {n}, {recurrence:?}"), &report, &host, &x.read().unwrap(), &b, tol);
            }
            let mut x = DoubleVector::zeros(device, n).unwrap();
            let params = BiCgStabParams::default().with_stop(Stop::relative(tol));
            let report = BiCgStab::new(&a, params).unwrap().solve(&mut x, &right).unwrap();
            certified(&format!("n = {n}, BiCGStab"), &report, &host, &x.read().unwrap(), &b, tol);
            let mut x = DoubleVector::zeros(device, n).unwrap();
            let params = CglsParams::default().with_stop(Stop::relative(1e-10));
            assert!(Cgls::new(&a, params).unwrap().solve(&mut x, &right).unwrap().converged());
            // The high parts alone are another system.
            let high: Vec<f64> = rows.iter().map(|v| f64::from(*v as f32)).collect();
            assert!(n == 1 || high != rows);
        }
        // Third parts that would lie below the range are zero; the system in other units is solved as well.
        for exponent in [-120, -76, -70, 60] {
            let unit = 2f64.powi(exponent);
            let rows = [0.1, 0.02, 0.02, 0.3].map(|v| v * unit);
            let shape = Shape::new(2, 2);
            let a = DoubleMatrix::from_f64(device, shape, &rows).unwrap();
            let read = a.read().unwrap();
            let off = read.iter().zip(&rows).map(|(read, v)| (read - v).abs()).fold(0.0, worst);
            assert!(off <= f64::from(f32::MIN_POSITIVE), "2^{exponent}: {read:?}");
            assert!(exponent < 0 || off == 0.0, "2^{exponent}: {read:?}");
            if is_exact(device) {
                let b = [0.12, 0.32].map(|v| paired(v * unit.max(2f64.powi(-70))));
                let right = DoubleVector::from_f64(device, &b).unwrap();
                let mut x = DoubleVector::zeros(device, 2).unwrap();
                let params = CgParams::default().with_stop(Stop::relative(1e-12));
                let report = ConjugateGradient::new(&a, params).unwrap().solve(&mut x, &right).unwrap();
                let entries = read.iter().enumerate().map(|(k, v)| (k / 2, k % 2, *v));
                let host = Triplets::from_entries(shape, entries.collect::<Vec<_>>()).unwrap().to_csr();
                certified(&format!("2^{exponent}"), &report, &host, &x.read().unwrap(), &b, 1e-12);
            }
        }
        // Symmetric in 32 bits alone.
        let rows = [2.0, 1.0, 1.0 + 1e-9, 3.0];
        let a = DoubleMatrix::from_f64(device, Shape::new(2, 2), &rows).unwrap();
        let error = ConjugateGradient::new(&a, CgParams::default()).unwrap_err().to_string();
        assert!(error.contains("is not symmetric"), "{error}");
        let wrong = DoubleMatrix::from_f64(device, Shape::new(2, 2), &rows[..3]);
        assert!(matches!(wrong, Err(Error::LengthMismatch { .. })));
        let mut right = DoubleMatrix::from_f64(device, Shape::new(1, 2), &[1.0, 0.1]).unwrap();
        let wrong = right.write(&[1.0]).unwrap_err().to_string();
        assert!(wrong.starts_with("DoubleMatrix::write"), "{wrong}");
        assert_eq!(right.read().unwrap(), [1.0, 0.1]);
        let wrong = DoubleMatrix::from_f64(device, Shape::new(1, 2), &[1.0, f64::MAX]);
        assert!(matches!(wrong, Err(Error::NonFinite { .. })));
    });
}

/// Conjugate gradients in 64 bits with the diagonal: the iterations to a true residual of `tol`, at most `most`.
fn cg_f64(a: &Csr, b: &[f64], tol: f64, most: usize) -> Option<usize> {
    let dot = |u: &[f64], v: &[f64]| u.iter().zip(v).map(|(u, v)| u * v).sum::<f64>();
    let m: Vec<f64> = a.diagonal().iter().map(|d| 1.0 / d).collect();
    let scaled = |r: &[f64]| r.iter().zip(&m).map(|(r, m)| r * m).collect::<Vec<f64>>();
    let (mut x, mut r) = (vec![0.0; b.len()], b.to_vec());
    let mut z = scaled(&r);
    let (mut d, mut rz) = (z.clone(), dot(&r, &z));
    for k in 1..=most {
        let q = systems::apply(a, &d);
        let alpha = rz / dot(&d, &q);
        for i in 0..b.len() {
            x[i] += alpha * d[i];
            r[i] -= alpha * q[i];
        }
        if systems::norm(&r) <= tol * systems::norm(b) && true_residual(a, &x, b) <= tol {
            return Some(k);
        }
        z = scaled(&r);
        let next = dot(&r, &z);
        let beta = next / rz;
        rz = next;
        d.iter_mut().zip(&z).for_each(|(d, z)| *d = z + beta * *d);
    }
    None
}

/// The Cholesky factor of a matrix in 64 bits, row by row.
fn cholesky(a: &Csr) -> Vec<Vec<f64>> {
    let n = a.shape().rows;
    let mut l: Vec<Vec<f64>> = (0..n).map(|i| vec![0.0; i + 1]).collect();
    for (i, j, v) in a.entries().filter(|(i, j, _)| j <= i) {
        l[i][j] = v;
    }
    for i in 0..n {
        let (before, rest) = l.split_at_mut(i);
        let row = &mut rest[0];
        for (j, other) in before.iter().enumerate() {
            let sum: f64 = row[..j].iter().zip(other).map(|(a, b)| a * b).sum();
            row[j] = (row[j] - sum) / other[j];
        }
        let sum: f64 = row[..i].iter().map(|v| v * v).sum();
        row[i] = (row[i] - sum).sqrt();
    }
    l
}

fn solved(l: &[Vec<f64>], b: &[f64]) -> Vec<f64> {
    let mut x = b.to_vec();
    for i in 0..x.len() {
        let sum: f64 = l[i][..i].iter().zip(&x).map(|(l, x)| l * x).sum();
        x[i] = (x[i] - sum) / l[i][i];
    }
    for i in (0..x.len()).rev() {
        x[i] /= l[i][i];
        let own = x[i];
        x[..i].iter_mut().zip(&l[i]).for_each(|(x, l)| *x -= l * own);
    }
    x
}

/// Wherever conjugate gradients in 64 bits come to 1e-10 within 20 n iterations, pairs do, certified; and the solution is
/// that of elimination in 64 bits within `10 cond(A) 2⁻⁴⁴` and what the residual leaves open.
#[test]
fn real_matrices_come_to_1e_10_where_64_bits_do() {
    let tol = 1e-10;
    let host: Vec<_> = systems::data_matrices(&[("spd", 15)], "pairs")
        .into_iter()
        .map(|(name, a)| {
            let (b, l) = (systems::rhs_of_ones(&a), cholesky(&a));
            let iterations = cg_f64(&a, &b, tol, 20 * b.len());
            // Largest eigenvalues of A and of its inverse, from below.
            let largest = |f: &dyn Fn(&[f64]) -> Vec<f64>| {
                let mut v: Vec<f64> = wide(11, b.len());
                (0..50).fold(0.0, |_, _| {
                    let unit = systems::norm(&v);
                    v.iter_mut().for_each(|v| *v /= unit);
                    v = f(&v);
                    systems::norm(&v)
                })
            };
            let cond = largest(&|v| systems::apply(&a, v)) * largest(&|v| solved(&l, v));
            let want = solved(&l, &b);
            (name, a, b, iterations, cond, want)
        })
        .collect();
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        for (name, a, b, iterations, cond, want) in &host {
            if !systems::fits(device, a, MatrixFormat::Auto) || !systems::gather_fits(device, a) {
                continue;
            }
            let stored = StoredMatrix::new(device, a.clone(), MatrixFormat::Auto).unwrap();
            let m = Jacobi::new(&stored).unwrap();
            let most = 20 * b.len();
            let right = DoubleVector::from_f64(device, b).unwrap();
            for recurrence in [Recurrence::Auto, Recurrence::Double] {
                let params = CgParams::default().with_stop(Stop::relative(tol)).with_max_iters(most);
                let params = params.with_recurrence(recurrence);
                let solver = ConjugateGradient::preconditioned(&stored, &m, params).unwrap();
                let mut x = DoubleVector::zeros(device, b.len()).unwrap();
                let report = solver.solve(&mut x, &right).unwrap();
                let label = format!("{name}, {recurrence:?}");
                println!(
                    "{label}: {} iterations, {} of them in pairs, {iterations:?} in 64 bits, {}",
                    report.iterations, report.double_iterations, report.reason
                );
                let Some(iterations) = iterations else { continue };
                let x = x.read().unwrap();
                // What is solved is the system as given, but for what b is as pairs.
                let held: Vec<f64> = b.iter().copied().map(paired).collect();
                // The rows of one differ so much that some are off by 4e-5 of their terms; another recurrence may be closer.
                certified_in_norm(&label, &report, a, &x, &held, tol);
                assert!(name.ends_with("bcsstk20.mtx") || report.converged(), "{label}: {report:?}");
                let off: Vec<f64> = x.iter().zip(want).map(|(x, w)| x - w).collect();
                let (off, size) = (systems::norm(&off), systems::norm(want));
                let allowed = cond * (10.0 * 2f64.powi(-44) + 2.0 * tol);
                assert!(off <= allowed * size, "{label}: off by {:e}, cond {cond:e}", off / size);
                match recurrence {
                    // As many as 64 bits take, but for the digits that pairs have less.
                    Recurrence::Double => {
                        let most = 1.1 * *iterations as f64 + 10.0;
                        assert!(report.iterations as f64 <= most, "{label}: {report:?}");
                        assert_eq!(report.double_iterations, report.iterations, "{label}");
                    }
                    // Condition number 4e12: directions in 32 bits do not tell its small eigenvalues apart.
                    _ if name.ends_with("bcsstk20.mtx") => {
                        assert!(report.double_iterations > 0, "{label}: {report:?}");
                    }
                    // Others come to it by refinement, or with next to nothing left.
                    _ => assert!(report.double_iterations * 20 <= report.iterations, "{label}: {report:?}"),
                }
            }
        }
    });
}

/// Unknowns so small that their products with last bits of coefficients lie below the range, which the factor brings back: a
/// compiler may not multiply by the coefficient first.
#[test]
fn factors_come_before_small_coefficients() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let (n, factor) = (6, 2f32.powi(60));
        let mut t = Triplets::new(Shape::new(n, n));
        for i in 0..n {
            let at_end = i == 0 || i + 1 == n;
            t.push(i, i, if at_end { 0.700001 } else { 1.4000009999999998 }).unwrap();
            if i > 0 {
                t.push(i, i - 1, -0.7).unwrap();
                t.push(i - 1, i, -0.7).unwrap();
            }
        }
        let a = t.to_csr();
        let sides = Sides { x: [Side::Neumann; 2], ..Sides::all(Side::DIRICHLET) };
        let stencil = StencilParams::new([0.7, 0.0, 0.0], sides).with_shift(1e-6);
        let stencil = Stencil::new(device, Grid::new_2d(n, 1), stencil).unwrap();
        let mut forms = sparse_forms(device, &a, n);
        forms.push(("stencil", Box::new(stencil)));
        forms.push(("dense pairs", Box::new(dense_pairs(device, &a))));
        // Next to what is mapped to zero.
        let x: Vec<f64> =
            wide(19, n).into_iter().map(|v| paired(2f64.powi(-75) * (1.0 + 1e-8 * v))).collect();
        let b: Vec<f64> = systems::apply(&a, &x).into_iter().map(paired).collect();
        let (dx, db) = (DoubleVector::from_f64(device, &x), DoubleVector::from_f64(device, &b));
        let (dx, db) = (dx.unwrap(), db.unwrap());
        let (want, size) = residual_twin(&a, &x, &b);
        for (form, stored) in forms {
            let add = |mut sum: ExactSum| {
                assert!(sum.add_product(stored.as_ref(), -factor, false, &dx).unwrap());
                sum
            };
            let got = add(ExactSum::of(factor, &db).unwrap()).rounded().read().unwrap();
            let bound = add(ExactSum::bounding(factor, &db).unwrap()).error().read().unwrap();
            for i in 0..n {
                let want = f64::from(factor) * want[i];
                let off = (f64::from(got[i]) - want).abs();
                // Sums of stencils are of its numbers, of which the entries are rounded sums.
                let more = if form == "stencil" { 2f64.powi(-52) * f64::from(factor) * size[i] } else { 0.0 };
                let allowed = 0.51 * ulp(want) + f64::from(bound[i]) + more;
                assert!(off <= allowed, "{form}: row {i} is {} for {want}, bound {}", got[i], bound[i]);
                assert!(f64::from(bound[i]) <= 2f64.powi(-60) * f64::from(factor) * size[i], "{form}");
            }
        }
    });
}
