//! The f64 twin against numbers computed by hand, and the bounds against values that must fail them.

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};

use common::{bounds, random, reference as twin};

#[test]
fn element_wise() {
    let (x, y) = ([1.0, -2.0, 9.0], [4.0, 0.5, -3.0]);
    assert_eq!(twin::add(&x, &y), [5.0, -1.5, 6.0]);
    assert_eq!(twin::sub(&x, &y), [-3.0, -2.5, 12.0]);
    assert_eq!(twin::mul(&x, &y), [4.0, -1.0, -27.0]);
    assert_eq!(twin::div(&x, &y), [0.25, -4.0, -3.0]);
    assert_eq!(twin::min2(&x, &y), [1.0, -2.0, -3.0]);
    assert_eq!(twin::max2(&x, &y), [4.0, 0.5, 9.0]);
    assert_eq!(twin::neg(&x), [-1.0, 2.0, -9.0]);
    assert_eq!(twin::abs(&x), [1.0, 2.0, 9.0]);
    assert_eq!(twin::sqrt(&[4.0, 9.0]), [2.0, 3.0]);
    assert_eq!(twin::recip(&y[..2]), [0.25, 2.0]);
    assert_eq!(twin::clamp(&x, -1.0, 2.0), [1.0, -1.0, 2.0]);
    assert_eq!(twin::scale(2.0, &x), [2.0, -4.0, 18.0]);
    assert_eq!(twin::axpy(2.0, &x, &y), [6.0, -3.5, 15.0]);
    assert_eq!(twin::axpby(2.0, &x, -2.0, &y), [-6.0, -5.0, 24.0]);
    assert_eq!(twin::widen(&[0.1]), [0.100_000_001_490_116_12]);
}

#[test]
fn reductions() {
    let x = [3.0, -4.0, 1.0];
    assert_eq!((twin::sum(&x), twin::abs_sum(&x), twin::max_abs(&x)), (0.0, 8.0, 4.0));
    assert_eq!((twin::max(&x), twin::min(&x)), (3.0, -4.0));
    assert_eq!((twin::dot(&x, &[1.0, 2.0, 3.0]), twin::abs_dot(&x, &[1.0, 2.0, 3.0])), (-2.0, 14.0));
    assert_eq!(twin::norm2(&[3.0, -4.0]), 5.0);
    assert_eq!((twin::sum(&[]), twin::max_abs(&[]), twin::norm2(&[])), (0.0, 0.0, 0.0));
    assert_eq!((twin::max(&[]), twin::min(&[])), (f64::NEG_INFINITY, f64::INFINITY));
    // A plain sum in f64 loses the 1.
    assert_eq!(twin::sum(&[1e17, 1.0, -1e17]), 1.0);
}

/// ```text
/// 1 0 2
/// 0 0 0
/// 3 4 5
/// 0 6 0
/// ```
#[test]
fn products() {
    let (row_ptr, cols, values) = ([0, 2, 2, 5, 6], [0, 2, 0, 1, 2, 1], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let x = [1.0, 10.0, 100.0];
    let want = [201.0, 0.0, 543.0, 60.0];
    assert_eq!(twin::csr_matvec(&row_ptr, &cols, &values, &x), want);
    assert_eq!(
        twin::csr_matvec_t(&row_ptr, &cols, &values, 3, &[1.0, 7.0, 10.0, 100.0]),
        [31.0, 640.0, 52.0]
    );
    let dense = [1.0, 0.0, 2.0, 0.0, 0.0, 0.0, 3.0, 4.0, 5.0, 0.0, 6.0, 0.0];
    assert_eq!(twin::dense_matvec(&dense, 4, 3, &x), want);
    assert_eq!(twin::dense_matvec(&[], 2, 0, &[]), [0.0; 2]);
    assert_eq!(twin::matmul(&[1.0, 2.0, 3.0, 4.0], &[0.0, 1.0, 1.0, 5.0], 2, 2, 2), [2.0, 11.0, 4.0, 23.0]);
    assert_eq!(twin::transpose(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2, 3), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    // Rows 2 -1 0 / -1 2 -1 / 0 -1 2; what lies outside (99) does not count.
    let diagonals = [vec![99.0, -1.0, -1.0], vec![2.0; 3], vec![-1.0, -1.0, 99.0]];
    assert_eq!(twin::banded_matvec(&[-1, 0, 1], &diagonals, &[1.0, 2.0, 4.0]), [0.0, -1.0, 6.0]);
    assert_eq!(twin::csr_matvec(&[0], &[], &[], &[]), [0.0; 0]);
    assert_eq!(twin::banded_matvec(&[], &[], &[]), [0.0; 0]);
    // b - A x = (1, 0, 0, 0), norm1(A) = 10, norm1(x) = 3.
    let b = twin::add(&twin::csr_matvec(&row_ptr, &cols, &values, &[1.0; 3]), &[1.0, 0.0, 0.0, 0.0]);
    let ratio = twin::lapack_ratio(&row_ptr, &cols, &values, &[1.0; 3], &b);
    assert_eq!(ratio, 1.0 / (10.0 * 3.0 * bounds::U));
}

#[test]
fn conjugate_gradients() {
    // 4 1 / 1 3: the solution is (1/11, 7/11), after two steps.
    let a = [4.0, 1.0, 1.0, 3.0];
    let b = [1.0, 2.0];
    let apply = |x: &[f64]| twin::dense_matvec(&a, 2, 2, x);
    let check = |s: &twin::Solution, iterations| {
        assert!(s.converged && s.breakdown.is_none());
        assert_eq!((s.iterations, s.history.len()), (iterations, iterations + 1));
        let error = twin::max_abs(&twin::sub(&s.x, &[1.0 / 11.0, 7.0 / 11.0]));
        assert!(error < 1e-14, "{error:e}");
    };
    check(&twin::cg(apply, &b, &[2.0, 1.0], None, 1e-12, 10), 2);
    check(&twin::cg(apply, &b, &[0.0, 0.0], Some(&[4.0, 3.0]), 1e-12, 10), 2);
    // The first step from (2, 1), by hand: r = (-8, -3), alpha = 73/331, x = (78, 112) / 331 nearly.
    let one = twin::cg(apply, &b, &[2.0, 1.0], None, 1e-12, 1);
    assert!(!one.converged && one.iterations == 1);
    assert!((one.x[0] - 78.0 / 331.0).abs() < 1e-15 && (one.x[1] - 112.0 / 331.0).abs() < 1e-15);
    // Started at the solution: nothing to do. Zero right side and start: the same.
    assert_eq!(twin::cg(apply, &[5.0, 4.0], &[1.0, 1.0], None, 1e-12, 10).iterations, 0);
    assert!(twin::cg(apply, &[0.0, 0.0], &[0.0, 0.0], None, 1e-12, 10).converged);
    // Jacobi solves a diagonal matrix in one step, plain CG in as many as there are eigenvalues.
    let d = [1.0, 10.0, 100.0, 1000.0];
    let apply_d = |x: &[f64]| twin::mul(&d, x);
    assert_eq!(twin::cg(apply_d, &[1.0; 4], &[0.0; 4], Some(&d), 1e-10, 10).iterations, 1);
    assert_eq!(twin::cg(apply_d, &[1.0; 4], &[0.0; 4], None, 1e-10, 10).iterations, 4);
    // An indefinite matrix breaks down: p.Ap = 1 - 1.
    let indefinite = twin::cg(|x| twin::mul(&[1.0, -1.0], x), &[1.0, 1.0], &[0.0; 2], None, 1e-12, 10);
    assert_eq!((indefinite.breakdown, indefinite.converged), (Some(0), false));
}

#[test]
fn least_squares() {
    // The line through (0, 1), (1, 2), (2, 4): intercept 5/6, slope 3/2.
    let a = [1.0, 0.0, 1.0, 1.0, 1.0, 2.0];
    let at = twin::transpose(&a, 3, 2);
    let s = twin::cgls(
        |x| twin::dense_matvec(&a, 3, 2, x),
        |y| twin::dense_matvec(&at, 2, 3, y),
        &[1.0, 2.0, 4.0],
        &[0.0; 2],
        1e-12,
        10,
    );
    assert!(s.converged && s.iterations == 2);
    assert!((s.x[0] - 5.0 / 6.0).abs() < 1e-14 && (s.x[1] - 1.5).abs() < 1e-14);
}

#[test]
fn bound_formulas() {
    use bounds::{TINY, U, gamma};
    assert_eq!((U, TINY), (2f64.powi(-24), 2f64.powi(-126)));
    assert_eq!(gamma(0), 0.0);
    assert_eq!(gamma(1 << 23), 1.0); // k u = 1/2
    assert_eq!(bounds::product_bound(8.0, 3), 8.0 * gamma(5) + 5.0 * TINY);
    assert_eq!(bounds::reduction_bound(3, 2.0), 2.0 * gamma(4) + 16.0 * TINY);
    assert_eq!(bounds::product_bounds(&[0.0, 8.0], [0, 3]), [2.0 * TINY, bounds::product_bound(8.0, 3)]);
    assert_eq!(bounds::tree_chain(1, 4), 0);
    assert_eq!(bounds::tree_chain(16, 4), 6); // 3 additions in each of two passes
    assert_eq!(bounds::tree_chain(17, 4), 7); // 17 -> 5 -> 2 -> 1
    assert_eq!(bounds::tree_chain(1 << 22, 2), 22);
    for (x, exponent) in [(1.0, -23), (-1.99, -23), (2.0, -22), (0.75, -24), (0.0, -149), (1e-300, -149)] {
        assert_eq!(bounds::ulp(x), 2f64.powi(exponent), "{x}");
    }
    assert_eq!(bounds::ulp_bound(1.0, bounds::ROUNDED_ULPS), U);
    assert_eq!(bounds::ulp_bound(TINY / 2.0, 0.5), TINY / 2.0); // may be flushed
    assert!(catch_unwind(|| gamma(1 << 24)).is_err());
}

/// Sequential float32 arithmetic keeps to the bounds; the same values disturbed by little do not.
#[test]
fn bounds_hold_and_bite() {
    for n in [1usize, 2, 3, 5, 9, 50, 1021] {
        let a = random::sparse(n as u64, n, n, 0.4);
        let x = random::uniform(7, n);
        let (values, x64) = (a.widened(), twin::widen(&x));
        let want = twin::csr_matvec(&a.row_ptr, &a.col_idx, &values, &x64);
        let sums = twin::csr_matvec(&a.row_ptr, &a.col_idx, &twin::abs(&values), &twin::abs(&x64));
        let bound = bounds::product_bounds(&sums, a.row_terms());
        let mut got = vec![0f32; n];
        a.triplets().into_iter().for_each(|(i, j, v)| got[i] += v * x[j]);
        let worst = bounds::assert_componentwise("sequential", &got, &want, &bound);
        assert!(worst < 1.0);
        for i in 0..n {
            let kept = got[i];
            got[i] = (want[i] + 2.0 * bound[i] + 2.0 * bounds::ulp(want[i])) as f32;
            assert!(fails(&got, &want, &bound), "n = {n}, element {i}");
            got[i] = kept;
        }
    }
    for n in [2usize, 1000, 1 << 16] {
        let x = random::cancelling(3, n);
        let x64 = twin::widen(&x);
        let (want, abs) = (twin::sum(&x64), twin::abs_sum(&x64));
        let bound = bounds::reduction_bound(n - 1, abs);
        bounds::assert_within("sum", x.iter().sum(), want, bound);
        assert!(fails(&[(want + 1.01 * bound + bounds::ulp(want + bound)) as f32], &[want], &[bound]));
    }
    // One ulp off is one too much for an addition, three for a division, four for a root.
    let (x, y) = (random::nonzero(1, 100), random::nonzero(2, 100));
    let (x64, y64) = (twin::widen(&x), twin::widen(&y));
    type Operation = fn(f32, f32) -> f32;
    let root: Vec<_> = x.iter().map(|v| v.abs()).collect();
    let table: [(Operation, Vec<f64>, f64, u32); 5] = [
        (|a, b| a + b, twin::add(&x64, &y64), bounds::ROUNDED_ULPS, 1),
        (|a, b| a - b, twin::sub(&x64, &y64), bounds::ROUNDED_ULPS, 1),
        (|a, b| a * b, twin::mul(&x64, &y64), bounds::ROUNDED_ULPS, 1),
        (|a, b| a / b, twin::div(&x64, &y64), bounds::DIV_ULPS, 3),
        (|a, _| a.abs().sqrt(), twin::sqrt(&twin::widen(&root)), bounds::SQRT_ULPS, 4),
    ];
    for (op, want, ulps, off) in table {
        let bound = bounds::ulp_bounds(&want, ulps);
        let mut got: Vec<_> = x.iter().zip(&y).map(|(&a, &b)| op(a, b)).collect();
        bounds::assert_componentwise("single operation", &got, &want, &bound);
        let i = (0..100).find(|&i| got[i] > 0.0 && f64::from(got[i]) > want[i]).expect("one rounded up");
        got[i] = f32::from_bits(got[i].to_bits() + off);
        assert!(fails(&got, &want, &bound));
    }
}

fn fails(got: &[f32], want: &[f64], bound: &[f64]) -> bool {
    catch_unwind(AssertUnwindSafe(|| bounds::assert_componentwise("disturbed", got, want, bound))).is_err()
}

#[test]
fn a_failed_comparison_shows_the_worst_element() {
    let caught = catch_unwind(|| {
        bounds::assert_componentwise("axpy", &[1.0, 2.5, 3.25], &[1.0, 2.0, 3.0], &[0.1, 0.125, 0.125])
    });
    let message = *caught.expect_err("out of bound").downcast::<String>().expect("a message");
    for part in ["axpy", "2 of 3", "index 1", "2.5e0", "2e0", "5e-1", "1.25e-1", "4.000"] {
        assert!(message.contains(part), "no {part:?} in: {message}");
    }
    // NaN and infinity never pass, whatever the bound; nor does an error where none is allowed; nor a wrong length.
    assert!(fails(&[f32::NAN], &[1.0], &[f64::INFINITY]));
    assert!(fails(&[f32::INFINITY], &[f64::INFINITY], &[1.0]));
    assert!(fails(&[1.0], &[1.0], &[f64::NAN]));
    assert!(fails(&[1.5], &[1.0], &[0.0]));
    assert!(fails(&[1.0], &[1.0, 1.0], &[1.0, 1.0]) && fails(&[1.0], &[1.0], &[]));
    assert!(!fails(&[1.0], &[1.0], &[0.0]) && !fails(&[], &[], &[]));
}

/// O'Neill's own check values for seed 42, stream 54.
#[test]
fn random_stream_is_pcg32() {
    let mut rng = random::Rng::new(42);
    let first = [0xa15c_02b7, 0x7b47_f409, 0xba1d_3330, 0x83d2_f293, 0xbfa4_784b, 0xcbed_606e];
    assert_eq!(first.map(|_| rng.next_u32()), first);
}

#[test]
fn random_vectors() {
    let x = random::uniform(5, 10_000);
    assert_eq!(x, random::uniform(5, 10_000));
    assert_ne!(x, random::uniform(6, 10_000));
    let x64 = twin::widen(&x);
    assert!(twin::max(&x64) <= 1.0 && twin::min(&x64) >= -1.0);
    assert!(twin::max(&x64) > 0.99 && twin::min(&x64) < -0.99 && twin::sum(&x64).abs() < 300.0);
    assert!(random::nonzero(5, 1000).iter().all(|v| (0.5..=1.5).contains(&v.abs())));
    for n in [0, 1, 2, 3, 101, 10_000] {
        let c = twin::widen(&random::cancelling(8, n));
        let (p, q) = random::cancelling_pair(8, n);
        assert_eq!((c.len(), p.len(), q.len()), (n, n, n));
        if n > 100 {
            let (p, q) = (twin::widen(&p), twin::widen(&q));
            assert!(twin::sum(&c).abs() < 1e-5 * twin::abs_sum(&c));
            assert!(twin::dot(&p, &q).abs() < 1e-5 * twin::abs_dot(&p, &q));
        }
    }
}

#[test]
fn random_matrices() {
    let a = random::sparse(1, 100, 80, 0.25);
    assert!((1700..2300).contains(&a.nnz()), "{}", a.nnz());
    assert_eq!((a.row_terms().len(), a.col_terms().iter().sum::<usize>()), (100, a.nnz()));
    assert_eq!(random::sparse(1, 7, 5, 1.0).nnz(), 35);
    assert_eq!(random::sparse(1, 0, 0, 1.0).nnz(), 0);
    assert!(random::sparse_rows(1, 50, 9, 4).row_terms().iter().all(|n| (1..=4).contains(n)));
    let e = random::empty_rows(1, 20, 20, 0.9).row_terms();
    assert!((0..20).all(|i| (e[i] == 0) == (i % 3 == 0 || i == 19)), "{e:?}");
    let l = random::one_long_row(1, 10, 300, 4).row_terms();
    assert!((0..10).all(|i| l[i] == if i == 4 { 300 } else { 1 }));

    let arrow = random::arrow(1, 12);
    assert_eq!(arrow.nnz(), 12 + 11 + 11);
    for a in [random::spd(1, 60, 0.2), random::spd(2, 1, 0.5), arrow] {
        let dense = twin::widen(&a.dense());
        assert_eq!(dense, twin::transpose(&dense, a.rows, a.rows));
        for (i, d) in twin::widen(&a.diagonal()).into_iter().enumerate() {
            assert!(d > twin::abs_sum(&dense[i * a.rows..][..a.rows]) - d, "row {i} is not dominant");
        }
        let b = vec![1.0; a.rows];
        let apply = |x: &[f64]| twin::csr_matvec(&a.row_ptr, &a.col_idx, &a.widened(), x);
        let s = twin::cg(apply, &b, &vec![0.0; a.rows], Some(&twin::widen(&a.diagonal())), 1e-12, 200);
        assert!(s.converged, "{:?}", s.history);
    }

    let b = random::banded(3, 50, &[-7, -1, 0, 1, 7, 60]);
    let x = twin::widen(&random::uniform(1, 50));
    let csr = b.csr();
    assert_eq!(csr.nnz(), 43 + 49 + 50 + 49 + 43);
    let by_rows = twin::csr_matvec(&csr.row_ptr, &csr.col_idx, &csr.widened(), &x);
    let difference = twin::sub(&twin::banded_matvec(&b.offsets, &b.widened(), &x), &by_rows);
    assert!(twin::max_abs(&difference) < 1e-15);
    assert_eq!(b.diagonals[0][..7], [0.0; 7]);
}
