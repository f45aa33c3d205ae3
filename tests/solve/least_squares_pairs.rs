//! Least squares for unknowns of pairs: both residuals to ten digits and more, of consistent and inconsistent systems.

use crate::common::forms::{all_forms, sparse_forms};
use crate::common::harness::on_both;
use crate::common::products::Exact;
use crate::common::{random, reference};
use crate::systems::{self, entries, mapped, norm, rounded};
use texla::host::Csr;
use texla::ops::{Accurate, Checked, ExactSum, LinOp, Part, Product, Summand};
use texla::solve::{Cgls, CglsParams, Identity, Jacobi, Preconditioner, SolveReport, Stop, StopReason};
use texla::{Device, DoubleVector, Error, Matrix, Result, Shape, SparseFormat, StoredMatrix, Vector};

const TOL: f64 = 1e-10;

fn is_exact(device: &Device) -> bool {
    device.capabilities().exact_form.is_some()
}

/// What two floats hold of a value.
fn paired(v: f64) -> f64 {
    let high = f64::from(v as f32);
    high + f64::from((v - high) as f32)
}

/// Values of 48 random bits, between a half and one.
fn values(seed: u64, n: usize) -> Vec<f64> {
    let mut rng = random::Rng::new(seed);
    let sign = |bit: u32| if bit == 0 { 1.0 } else { -1.0 };
    (0..n).map(|_| sign(rng.next_u32() & 1) * paired(0.5 + 0.5 * rng.unit())).collect()
}

/// High and low parts, which may be more than 53 bits apart.
#[derive(Clone, Debug, PartialEq)]
struct Parts([Vec<f64>; 2]);

impl Parts {
    fn read(x: &DoubleVector) -> Result<Self> {
        Ok(Parts([reference::widen(&x.high().read()?), reference::widen(&x.low().read()?)]))
    }

    fn sums(&self) -> Vec<f64> {
        reference::add(&self.0[0], &self.0[1])
    }
}

/// A value in 64 bits and what that leaves, of sums that need more.
fn split(sum: Exact) -> [f64; 2] {
    let high = sum.value();
    let mut rest = sum;
    rest.add(-high);
    [high, rest.value()]
}

/// `‖Aᵀ(b - A x)‖ / ‖Aᵀb‖` and `‖b - A x‖ / ‖b‖`, in twice 64 bits.
fn residuals(a: &Csr, x: &Parts, b: &[f64]) -> [f64; 2] {
    let mut r: Vec<Exact> = vec![Exact::default(); b.len()];
    r.iter_mut().zip(b).for_each(|(r, b)| r.add(*b));
    a.entries().for_each(|(i, j, v)| x.0.iter().for_each(|part| r[i].add_product(-v, part[j])));
    let r: Vec<[f64; 2]> = r.into_iter().map(split).collect();
    let (mut s, mut unit) = (vec![Exact::default(); a.shape().cols], vec![Exact::default(); a.shape().cols]);
    for (i, j, v) in a.entries() {
        r[i].iter().for_each(|part| s[j].add_product(v, *part));
        unit[j].add_product(v, b[i]);
    }
    let size = |v: Vec<Exact>| norm(&v.into_iter().map(Exact::value).collect::<Vec<_>>());
    [size(s) / size(unit), norm(&r.iter().map(|r| r[0]).collect::<Vec<_>>()) / norm(b)]
}

/// What is claimed is so, of both residuals, and one of them meets the bound.
#[track_caller]
fn certified(label: &str, report: &SolveReport, a: &Csr, x: &Parts, b: &[f64], tol: f64) {
    assert_eq!(report.reason, StopReason::Converged, "{label}: {report:?}");
    let found = residuals(a, x, b);
    let told = [report.true_residual, report.least_squares_residual.unwrap()];
    assert!(found[0].min(found[1]) <= tol * (1.0 + 1e-5), "{label}: {found:?}, {report:?}");
    for (found, told) in found.iter().zip(told) {
        // What rounding may have done is in what is told, to nine bits upwards.
        let more = report.rounding.unwrap_or(0.0) * (1.0 + 2f64.powi(-8)) + 1e-3 * tol;
        let near = *found <= told * (1.0 + 1e-3) && told <= found * (1.0 + 1e-3) + more;
        assert!(near, "{label}: {found:e} is told as {told:e}, {report:?}");
    }
    assert_eq!(report.readbacks_in_loop, 0);
}

fn to(tol: f64) -> CglsParams {
    CglsParams::default().with_stop(Stop::relative(tol))
}

fn solve(a: &dyn LinOp, b: &[f64], start: &[f64], jacobi: bool, tol: f64) -> Result<(Parts, SolveReport)> {
    let b = DoubleVector::from_f64(a.device(), b)?;
    let mut x = DoubleVector::from_f64(a.device(), start)?;
    let m: Box<dyn Preconditioner> =
        if jacobi { Box::new(Jacobi::for_least_squares(a)?) } else { Box::new(Identity) };
    let report = Cgls::preconditioned(a, m.as_ref(), to(tol))?.solve(&mut x, &b)?;
    Ok((Parts::read(&x)?, report))
}

fn zeros(device: &Device, n: usize) -> DoubleVector {
    DoubleVector::zeros(device, n).unwrap()
}

fn gathered(device: &Device, a: &Csr) -> StoredMatrix {
    StoredMatrix::new(device, a.clone(), SparseFormat::Gather).unwrap()
}

/// `[D; R]` with a diagonal of at least 1 over a sparse part, in pairs: no singular value is below 1.
fn tall(seed: u64, cols: usize, more: usize) -> Csr {
    let diagonal = values(seed, cols).into_iter().enumerate().map(|(i, v)| (i, i, 2.0 * v));
    let below = random::sparse(seed + 1, more, cols, 0.1).triplets();
    let scaled: Vec<f64> = values(seed + 2, below.len());
    let below = below.into_iter().zip(scaled).map(|((i, j, _), v)| (cols + i, j, v));
    entries(cols + more, cols, diagonal.chain(below))
}

/// The solution in 64 bits, refined by residuals in twice as many.
fn twin(a: &Csr, b: &[f64]) -> Vec<f64> {
    let t = a.transposed();
    let mut x = vec![0.0; a.shape().cols];
    for _ in 0..3 {
        let mut r: Vec<Exact> = vec![Exact::default(); b.len()];
        r.iter_mut().zip(b).for_each(|(r, b)| r.add(*b));
        a.entries().for_each(|(i, j, v)| r[i].add_product(-v, x[j]));
        let r: Vec<f64> = r.into_iter().map(Exact::value).collect();
        let (apply, apply_t) = (|v: &[f64]| systems::apply(a, v), |v: &[f64]| systems::apply(&t, v));
        let step = reference::cgls(apply, apply_t, &r, &vec![0.0; x.len()], 1e-12, 2000);
        x = reference::add(&x, &step.x);
    }
    x
}

#[test]
fn every_form_and_shape_comes_to_ten_digits() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        for (cols, more, wide) in
            [(1, 0, false), (1, 3, false), (20, 17, false), (20, 17, true), (41, 0, false), (63, 130, false)]
        {
            let a = if wide { tall(3, cols, more).transposed() } else { tall(3, cols, more) };
            let (m, n) = (a.shape().rows, a.shape().cols);
            // In the range of A, and not where that is not everything.
            let inside: Vec<f64> = systems::apply(&a, &values(5, n)).into_iter().map(paired).collect();
            for (kind, b) in [("consistent", inside), ("any", values(4, m))] {
                let check = |form: &str, stored: &dyn LinOp, a: &Csr| {
                    let label = format!("{form}, {m}x{n}, {kind} b");
                    let run = || solve(stored, &b, &vec![0.0; n], false, TOL).unwrap();
                    let (x, report) = run();
                    certified(&label, &report, a, &x, &b, TOL);
                    assert!(report.rounding.is_none_or(|r| r <= 1e-3 * TOL), "{label}: {report:?}");
                    let (again, same) = run();
                    assert_eq!((again, same.iterations), (x.clone(), report.iterations), "{label}: repeated");
                    // ‖x - x*‖ <= ‖Aᵀr‖ / s², s >= 1; of many solutions the one of least norm to 32 bits.
                    let want = twin(a, &b);
                    let error = norm(&reference::sub(&x.sums(), &want));
                    let atb = norm(&systems::apply(&a.transposed(), &b));
                    let digits = if n > m { 1e-6 } else { 1e-13 };
                    let bound = 2.0 * report.true_residual * atb + digits * norm(&want);
                    assert!(error <= bound, "{label}: error {error:e}, bound {bound:e}");
                };
                for (form, stored) in sparse_forms(device, &a, usize::MAX) {
                    check(form, stored.as_ref(), &a);
                }
                // The dense forms hold 32 bits.
                let single = rounded(&a);
                for (form, stored) in all_forms(device, &single) {
                    check(form, stored.as_ref(), &single);
                }
            }
        }
    });
}

/// What the rows of a matrix that is nearly singular leave of `b`.
#[test]
fn inconsistent_systems_come_as_far_as_consistent_ones() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        // A line through many points, and polynomials of a higher degree: condition numbers of 1e1 to 1e3.
        for degree in [1, 3, 5] {
            let m = 60;
            let at = |i: usize| i as f64 / (m - 1) as f64;
            let a = (0..m).flat_map(|i| (0..=degree).map(move |j| (i, j, paired(at(i).powi(j as i32)))));
            let a = entries(m, degree + 1, a);
            // Far from every polynomial.
            let b: Vec<f64> = values(6, m);
            for (tol, jacobi) in [(1e-10, false), (1e-10, true), (1e-12, true)] {
                let label = format!("degree {degree}, {tol:e}, jacobi {jacobi}");
                let zeros = vec![0.0; degree + 1];
                let (x, report) = solve(&gathered(device, &a), &b, &zeros, jacobi, tol).unwrap();
                println!("{label}: {} iterations, {:e}", report.iterations, report.true_residual);
                certified(&label, &report, &a, &x, &b, tol);
                assert!(report.least_squares_residual.unwrap() > 0.5, "{label}: {report:?}");
            }
        }
    });
}

/// Where 64 bits take a few hundred iterations at most, pairs take little more. `illc1033` and `lp_share1b` take 64 bits
/// thousands, and directions of 32 bits many more.
#[test]
fn real_matrices_come_to_ten_digits() {
    let host: Vec<_> = systems::data_matrices(&[("rect", 4)], "least squares for pairs")
        .into_iter()
        .flat_map(|(name, a)| {
            let a = mapped(&a, paired);
            let b: Vec<f64> = systems::rhs_of_ones(&a);
            // Off the range of A by as much again.
            let off: Vec<f64> = values(7, b.len());
            let unit = norm(&b) / norm(&off);
            let off: Vec<f64> = b.iter().zip(&off).map(|(b, v)| paired(b + v * unit)).collect();
            let t = a.transposed();
            let of = |kind: &str, b: Vec<f64>| {
                let (apply, apply_t) = (|v: &[f64]| systems::apply(&a, v), |v: &[f64]| systems::apply(&t, v));
                let twin = reference::cgls(apply, apply_t, &b, &vec![0.0; a.shape().cols], TOL, 600);
                (format!("{name}, {kind}"), a.clone(), b, twin.converged.then_some(twin.iterations))
            };
            [of("of ones", b), of("off", off)]
        })
        .collect();
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        for (label, a, b, twin) in host.iter().filter(|(_, a, ..)| systems::gather_fits(device, a)) {
            let (db, mut x) = (DoubleVector::from_f64(device, b).unwrap(), zeros(device, a.shape().cols));
            let params = to(TOL).with_max_iters(twin.map_or(1000, |count| count + count / 10));
            let report = Cgls::new(&gathered(device, a), params).unwrap().solve(&mut x, &db).unwrap();
            println!("{label}: {} after {}, {twin:?} in 64 bits", report.reason, report.iterations);
            if twin.is_some() || report.converged() {
                certified(label, &report, a, &Parts::read(&x).unwrap(), b, TOL);
            }
        }
    });
}

#[test]
fn a_start_is_gone_on_from() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let a = tall(5, 40, 30);
        let (stored, b) = (gathered(device, &a), values(6, 70));
        let (x, cold) = solve(&stored, &b, &[0.0; 40], false, TOL).unwrap();
        let (y, warm) = solve(&stored, &b, &x.sums(), false, TOL).unwrap();
        assert_eq!((warm.iterations, y.sums()), (0, x.sums()), "{warm:?}");
        certified("from the end", &warm, &a, &y, &b, TOL);
        let near: Vec<f64> = x.sums().iter().zip(values(8, 40)).map(|(x, v)| x + 1e-7 * v).collect();
        let (y, warm) = solve(&stored, &b, &near, false, TOL).unwrap();
        certified("from nearby", &warm, &a, &y, &b, TOL);
        assert!(warm.iterations < cold.iterations, "{warm:?} {cold:?}");
        for size in [1e3, 1e12, 1e30] {
            let far: Vec<f64> = values(12, 40).into_iter().map(|v| v * size).collect();
            let (y, report) = solve(&stored, &b, &far, false, TOL).unwrap();
            certified(&format!("from {size:e}"), &report, &a, &y, &b, TOL);
        }
        // Unknowns of pairs for a b of 32 bits, from where 32 bits have ended.
        let floats = Vector::from_slice(device, &random::uniform(9, 70)).unwrap();
        let mut single = Vector::zeros(device, 40).unwrap();
        let report = Cgls::new(&stored, to(TOL)).unwrap().solve(&mut single, &floats).unwrap();
        assert!(!report.converged(), "{report:?}");
        let mut x = DoubleVector::from_vector(&single).unwrap();
        let report = Cgls::new(&stored, to(TOL)).unwrap().solve(&mut x, &floats).unwrap();
        let b = reference::widen(&floats.read().unwrap());
        certified("a b of floats", &report, &a, &Parts::read(&x).unwrap(), &b, TOL);
    });
}

#[test]
fn scales_change_no_verdict_for_pairs() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let a = tall(7, 50, 60);
        let b = values(8, 110);
        for jacobi in [false, true] {
            let (x, report) = solve(&gathered(device, &a), &b, &[0.0; 50], jacobi, TOL).unwrap();
            certified("unscaled", &report, &a, &x, &b, TOL);
            for (e, f) in [(60, 60), (-60, -60), (60, 0), (-60, 0), (0, 60), (0, -60)] {
                let scaled_a = mapped(&a, |v| v * 2f64.powi(e));
                let scaled_b: Vec<f64> = b.iter().map(|v| v * 2f64.powi(f)).collect();
                let label = format!("A 2^{e}, b 2^{f}, jacobi {jacobi}");
                let (y, other) =
                    solve(&gathered(device, &scaled_a), &scaled_b, &[0.0; 50], jacobi, TOL).unwrap();
                assert_eq!((other.iterations, other.reason), (report.iterations, report.reason), "{label}");
                let back = y.0.each_ref().map(|part| reference::scale(2f64.powi(e - f), part));
                assert_eq!(Parts(back), x, "{label}");
                certified(&label, &other, &scaled_a, &y, &scaled_b, TOL);
            }
        }
    });
}

/// Columns that are far apart: divided by their norms they are as good as any others, in as many iterations.
#[test]
fn columns_of_any_magnitude_are_the_same_to_jacobi() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let solved = |e: i32| {
            let small = f64::from(e).exp2();
            let rows =
                [(0, 0, 1.0), (1, 0, 1.0), (2, 0, 3.0), (0, 1, small), (1, 1, -2.0 * small), (2, 1, small)];
            let a = entries(3, 2, rows);
            let b = [1.0, 1.0, 0.1];
            let (x, report) = solve(&gathered(device, &a), &b, &[0.0; 2], true, TOL).unwrap();
            certified(&format!("2^{e}"), &report, &a, &x, &b.map(paired), TOL);
            let mut single = Vector::zeros(device, 2).unwrap();
            let stored = gathered(device, &a);
            let jacobi = Jacobi::for_least_squares(&stored).unwrap();
            let params = CglsParams::default().with_stop(Stop::relative(1e-5));
            let right = Vector::from_f64(device, &b).unwrap();
            let of_single =
                Cgls::preconditioned(&stored, &jacobi, params).unwrap().solve(&mut single, &right);
            let of_single = of_single.unwrap();
            assert!(of_single.converged(), "2^{e}: {of_single:?}");
            (report.iterations, of_single.iterations)
        };
        let plain = solved(0);
        for e in [-24, -30, -40, -50, 30] {
            assert_eq!(solved(e), plain, "2^{e}");
        }
    });
}

#[test]
fn what_no_column_sees_has_the_solution_zero_for_pairs() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let tiny = 2f64.powi(-28);
        let a = entries(3, 2, [(0, 0, 1.0), (1, 0, -1.0), (1, 1, 0.5), (0, 1, -0.5)]);
        let orthogonal = [[0.0; 3], [0.0, 0.0, 5.0], [1.0 + tiny, 1.0 + tiny, 0.3]];
        for b in orthogonal {
            for start in [0.0, 4.0] {
                let (x, report) = solve(&gathered(device, &a), &b, &[start; 2], false, TOL).unwrap();
                assert!(report.converged() && report.iterations == 0, "{b:?}: {report:?}");
                assert_eq!(x.sums(), [0.0, 0.0]);
            }
        }
        // What 32 bits of b do not tell from that is solved for.
        let b = [1.0 + tiny, 1.0, 0.0];
        let (x, report) = solve(&gathered(device, &a), &b, &[0.0; 2], false, TOL).unwrap();
        certified("beyond 32 bits", &report, &a, &x, &b, TOL);
        assert!(norm(&x.sums()) > 0.4 * tiny, "{x:?}");
    });
}

/// `Aᵀb` is 2⁻⁴⁰ of `b`: of 70 bits 30 are left to tell residuals by, whatever they are computed as.
#[test]
fn what_seventy_bits_do_not_tell_is_not_certified() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let a = entries(3, 2, [(0, 0, 1.0), (1, 0, -1.0), (1, 1, 0.5), (0, 1, -0.5)]);
        let b = [1.0 + 2f64.powi(-40), 1.0, 0.0];
        let run = |tol| solve(&gathered(device, &a), &b, &[0.0; 2], false, tol).unwrap();
        let (x, report) = run(1e-5);
        certified("1e-5", &report, &a, &x, &b, 1e-5);
        assert!(report.rounding.unwrap() > 1e-9, "{report:?}");
        for tol in [2e-8, 1e-9, 1e-12] {
            let (_, report) = run(tol);
            assert!(!report.converged(), "{tol:e}: {report:?}");
        }
    });
}

/// An operator that does what it is allowed to.
struct Limited<'a> {
    inner: &'a Matrix,
    exact: [bool; 2],
}

impl LinOp for Limited<'_> {
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
        self.inner.accurate(out, terms, part)
    }

    fn accumulate(&self, sum: &mut ExactSum, terms: Checked<Summand<'_>>) -> Result<bool> {
        Ok(self.exact[usize::from(terms.transposed)] && self.inner.accumulate(sum, terms)?)
    }
}

#[test]
fn what_least_squares_cannot_do_for_pairs_is_refused_with_the_reason() {
    on_both(|device| {
        let inner = Matrix::from_rows(device, Shape::new(2, 2), &[2.0, 0.0, 0.0, 4.0]).unwrap();
        let b = Vector::filled(device, 2, 1.0).unwrap();
        let refused = |exact: [bool; 2], why: &str| {
            let a = Limited { inner: &inner, exact };
            let start = [3.0, paired(0.1)];
            let mut x = DoubleVector::from_f64(device, &start).unwrap();
            let error = Cgls::new(&a, to(TOL)).unwrap().solve(&mut x, &b).unwrap_err();
            assert!(matches!(error, Error::Unsupported { .. }) && error.to_string().contains(why), "{error}");
            assert_eq!(x.read().unwrap(), start, "x is as it was");
        };
        refused([true, false], "no exact transposed product");
        if !is_exact(device) {
            return refused([true, true], "no exact two-sum");
        }
        refused([false, true], "no exact product");
        let pairs = DoubleVector::from_f64(device, &[1.0, 0.5]).unwrap();
        let mut x = Vector::filled(device, 2, 7.0).unwrap();
        let error = Cgls::new(&inner, to(TOL)).unwrap().solve(&mut x, &pairs).unwrap_err();
        assert!(matches!(&error, Error::Unsupported { .. }) && error.to_string().contains("x of 32 bits"));
        assert_eq!(x.read().unwrap(), [7.0; 2]);
        let mut x = DoubleVector::zeros(device, 3).unwrap();
        let error = Cgls::new(&inner, to(TOL)).unwrap().solve(&mut x, &pairs).unwrap_err();
        assert!(matches!(error, Error::ShapeMismatch { .. }), "{error}");
        // And a bound closer than pairs are is met, and not certified.
        let mut x = DoubleVector::zeros(device, 2).unwrap();
        let report = Cgls::new(&inner, to(1e-16)).unwrap().solve(&mut x, &pairs).unwrap();
        assert_eq!(report.reason, StopReason::Uncertified, "{report:?}");
        assert_eq!(x.read().unwrap(), [0.5, 0.125]);
    });
}
