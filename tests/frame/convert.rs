//! Conversions between all forms: exact, and at the documented cost.

use crate::common::forms::{elements, full, stack};
use crate::common::harness::{assert_matrix_padded, limits, on_both, on_both_with};
use crate::common::random;
use crate::common::systems;

use texla::host::Csr;
use texla::solve::LinOp;
use texla::{
    BandedMatrix, ColumnStack, Device, Error, FoldedBands, Matrix, Shape, SparseFormat, SparseMatrix, Vector,
};

fn rounded(a: &Csr) -> Vec<f32> {
    elements(a).iter().map(|v| *v as f32).collect()
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|v| v.to_bits()).collect()
}

/// As many lanes are not zero as elements are.
fn assert_stack_padded(a: &ColumnStack, values: &[f32], what: &str) {
    let lanes: usize = a.read_texels().unwrap().iter().flatten().filter(|v| **v != 0.0).count();
    assert_eq!(lanes, values.iter().filter(|v| **v != 0.0).count(), "{what}: padding lanes are not zero");
}

/// The matrix from every form into every other.
fn check(device: &Device, a: &Csr) {
    let (shape, values) = (a.shape(), rounded(a));
    let label = format!("{shape}");
    let dense = Matrix::from_csr(device, a).unwrap();
    assert_eq!(dense.read().unwrap(), values, "{label}: from compressed rows");
    assert_matrix_padded(&dense, &label);

    let stacked = ColumnStack::from_matrix(&dense).unwrap();
    assert_eq!(stacked.read().unwrap(), values, "{label}: dense to stack");
    assert_stack_padded(&stacked, &values, &label);
    let back = stacked.to_matrix().unwrap();
    assert_eq!(back.read().unwrap(), values, "{label}: stack to dense");
    assert_matrix_padded(&back, &label);
    assert_eq!(stack(device, a).read().unwrap(), values, "{label}: uploaded stack");

    // What is read back has the pattern of the nonzeros.
    let csr = stacked.to_csr().unwrap();
    assert_eq!(csr, dense.to_csr().unwrap(), "{label}");
    assert_eq!(rounded(&csr), values, "{label}: stack to compressed rows");

    if a.distinct_diagonals() <= 30 {
        let banded = BandedMatrix::from_csr(device, csr.clone()).unwrap();
        let back = banded.to_matrix().unwrap();
        assert_eq!(back.read().unwrap(), values, "{label}: banded to dense");
        assert_matrix_padded(&back, &label);
    }
    if shape.is_square()
        && 2 * shape.rows as u64 <= texla::shape::max_folded_len(device.capabilities().max_texture_size)
    {
        let folded = FoldedBands::from_csr(device, csr.clone()).unwrap();
        let back = folded.to_matrix().unwrap();
        assert_eq!(back.read().unwrap(), values, "{label}: folded to dense");
        assert_matrix_padded(&back, &label);
        // Through the pattern, with pairs.
        let banded = BandedMatrix::from_csr(device, folded.pattern().clone()).unwrap();
        assert_eq!(banded.pattern(), &csr, "{label}");
    }
    if systems::gather_fits(device, &csr) {
        let sparse = SparseMatrix::from_csr(device, csr, SparseFormat::Gather).unwrap();
        assert_eq!(sparse.to_matrix().unwrap().read().unwrap(), values, "{label}: sparse to dense");
    }
}

fn matrices() -> Vec<Csr> {
    let mut all = Vec::new();
    for (m, n) in
        [(0, 0), (0, 4), (4, 0), (1, 1), (2, 3), (3, 2), (5, 5), (9, 9), (50, 50), (61, 17), (17, 61)]
    {
        all.push(systems::csr(&random::sparse((m + n) as u64, m, n, 0.3)));
        all.push(full(m, n, &random::nonzero((m * n) as u64, m * n)));
    }
    all.push(systems::csr(&random::sparse_rows(1, 129, 131, 4)));
    all.push(systems::csr(&random::banded(2, 101, &[-40, -3, -1, 0, 1, 3, 40]).csr()));
    all.push(texla::host::problems::poisson_2d(12, 11).to_csr());
    all
}

#[test]
fn every_form_into_every_other() {
    on_both(|device| matrices().iter().for_each(|a| check(device, a)));
}

#[test]
fn across_tiles_and_textures() {
    let small = limits().with_max_texture_size(Some(16));
    on_both_with(small, |device| matrices().iter().for_each(|a| check(device, a)));
}

/// Coefficients in 64 bits survive whatever goes through the pattern.
#[test]
fn remainders_are_kept_where_the_target_keeps_them() {
    on_both(|device| {
        let a = systems::entries(3, 3, [(0, 0, 1.0 / 3.0), (0, 2, 0.1), (1, 0, 0.7), (2, 2, 1e20)]);
        let banded = BandedMatrix::from_csr(device, a.clone()).unwrap();
        let folded = FoldedBands::from_csr(device, banded.pattern().clone()).unwrap();
        let sparse = SparseMatrix::from_csr(device, folded.pattern().clone(), SparseFormat::Gather).unwrap();
        assert_eq!(sparse.pattern(), &a);
        // To the dense forms they come rounded, also where the matrix is stored divided by a power of two.
        for dense in [banded.to_matrix(), folded.to_matrix(), sparse.to_matrix()] {
            assert_eq!(dense.unwrap().read().unwrap(), rounded(&a));
        }
    });
}

#[test]
fn costs_are_those_documented() {
    on_both(|device| {
        if device.capabilities().max_texture_size < 128 {
            return; // more tiles, more draws
        }
        let n = 100;
        let a = full(n, n, &random::nonzero(1, n * n));
        let dense = Matrix::from_f64(device, a.shape(), &elements(&a)).unwrap();
        let stacked = ColumnStack::from_matrix(&dense).unwrap();
        let folded = FoldedBands::from_csr(device, a.clone()).unwrap();
        let cost = |call: &dyn Fn()| {
            let before = device.counters();
            call();
            let done = device.counters().since(&before);
            (done.draws, done.uploads, done.readbacks)
        };
        assert_eq!(cost(&|| drop(ColumnStack::from_matrix(&dense).unwrap())), (1, 0, 0));
        assert_eq!(cost(&|| drop(stacked.to_matrix().unwrap())), (1, 0, 0));
        assert_eq!(cost(&|| drop(stacked.column(7).unwrap())), (1, 0, 0));
        assert_eq!(cost(&|| drop(folded.to_matrix().unwrap())), (9, 0, 0));
        assert_eq!(cost(&|| drop(stacked.to_csr().unwrap())), (0, 0, 1));
        assert_eq!(cost(&|| drop(dense.to_csr().unwrap())), (0, 0, 1));
        assert_eq!(cost(&|| drop(Matrix::from_csr(device, &a).unwrap())), (1, 3, 0));
    });
}

/// Figure 44-3: a full matrix in n vectors of n elements, and no byte more.
#[test]
fn folding_wastes_nothing() {
    on_both(|device| {
        for n in [4usize, 16, 64] {
            let a = full(n, n, &random::nonzero(n as u64, n * n));
            device.trim().unwrap();
            let before = device.pool_stats();
            let folded = FoldedBands::from_csr(device, a.clone()).unwrap();
            let stats = device.pool_stats();
            assert_eq!(folded.offsets(), (0..n as i64).collect::<Vec<_>>());
            assert_eq!(stats.live - before.live, n as u64);
            assert_eq!(stats.live_bytes - before.live_bytes, 4 * (n * n) as u64);
            drop(folded);
            // Unfolded it takes almost twice as much.
            let before = device.pool_stats().live;
            let banded = BandedMatrix::from_csr(device, a).unwrap();
            let stored = device.pool_stats().live - before;
            // The corners are diagonals of one element, which are kept as numbers.
            assert_eq!((banded.offsets().len(), stored), (2 * n - 1, 2 * n as u64 - 3));
        }
    });
}

#[test]
fn columns_come_and_go() {
    on_both(|device| {
        for (m, n) in [(1, 1), (9, 5), (50, 33), (251, 6)] {
            let values = random::nonzero(1, m * n);
            let mut a = ColumnStack::from_rows(device, Shape::new(m, n), &values).unwrap();
            let of = |values: &[f32], j: usize| values.iter().skip(j).step_by(n).copied().collect::<Vec<_>>();
            for j in [0, n / 2, n - 1] {
                assert_eq!(a.column(j).unwrap().read().unwrap(), of(&values, j), "{m}x{n} column {j}");
            }
            let new = random::nonzero(2, m);
            let mut expected = values.clone();
            for j in [n - 1, n / 3] {
                a.set_column(j, &Vector::from_slice(device, &new).unwrap()).unwrap();
                (0..m).for_each(|i| expected[i * n + j] = new[i]);
                assert_eq!(a.read().unwrap(), expected, "{m}x{n} column {j} replaced");
            }
            assert_stack_padded(&a, &expected, "after columns were replaced");
            a.set_zero().unwrap();
            assert!(a.read().unwrap().iter().all(|v| *v == 0.0));
        }
    });
}

/// Every element of its own is the one of the host's copy, wherever its column lies; new elements replace all others.
#[test]
fn elements_are_read_and_written_in_their_places() {
    let test = |device: &Device| {
        for (m, n) in [(0, 3), (1, 1), (9, 5), (50, 33), (251, 6)] {
            let (before, values) = (random::nonzero(3, m * n), random::any_bits(4, m * n));
            let mut a = ColumnStack::from_rows(device, Shape::new(m, n), &before).unwrap();
            let label = format!("{m}x{n} in {}", a.texture_count());
            a.write(&values).unwrap();
            assert_stack_padded(&a, &values, &label);
            let mut out = vec![0.0; m * n];
            a.read_into(&mut out).unwrap();
            assert_eq!(bits(&out), bits(&values), "{label}");
            let counted = device.counters();
            for (k, value) in values.iter().enumerate().step_by(7) {
                let element = a.element(k / n, k % n).unwrap();
                assert_eq!(element.to_bits(), value.to_bits(), "{label}: {k}");
            }
            let cost = device.counters().since(&counted);
            assert_eq!(cost.readbacks, (m * n).div_ceil(7) as u64);
            assert_eq!(cost.readback_bytes, 16 * cost.readbacks);
            // What is refused leaves the stack as it was.
            let mut longer = values.clone();
            longer.push(1.0);
            assert!(matches!(a.write(&longer), Err(Error::LengthMismatch { operand: "values", .. })));
            assert!(matches!(a.read_into(&mut longer), Err(Error::LengthMismatch { operand: "out", .. })));
            longer.truncate(m * n);
            if let Some(last) = longer.last_mut() {
                *last = f32::NAN;
                assert!(matches!(a.write(&longer), Err(Error::NonFinite { .. })));
            }
            assert_eq!(bits(&a.read().unwrap()), bits(&values), "{label}");
            let outside = |error| matches!(error, Error::IndexOutOfRange { .. });
            assert!(outside(a.element(m, 0).unwrap_err()) && outside(a.element(0, n).unwrap_err()));
        }
    };
    on_both(test);
    on_both_with(limits().with_max_texture_size(Some(16)), test);
}

#[test]
fn new_values_keep_the_pattern() {
    on_both(|device| {
        let a = systems::csr(&random::sparse(1, 31, 31, 0.3));
        let new: Vec<f64> = random::nonzero(2, a.nnz()).iter().map(|v| f64::from(*v)).collect();
        let mut folded = FoldedBands::from_csr(device, a.clone()).unwrap();
        folded.set_values(&new).unwrap();
        let changed = a.with_values(&new).unwrap();
        assert_eq!(folded.pattern(), &changed);
        assert_eq!(folded.to_matrix().unwrap().read().unwrap(), rounded(&changed));
        assert!(folded.set_values(&new[1..]).is_err());
    });
}

/// What solvers ask of an operator.
#[test]
fn properties_agree_with_the_host() {
    on_both(|device| {
        let a = full(21, 21, &random::nonzero(4, 441));
        let symmetric = systems::csr(&random::spd(5, 21, 0.5));
        for (a, is_symmetric) in [(&a, false), (&symmetric, true)] {
            let a = systems::rounded(a);
            let forms: [Box<dyn LinOp>; 2] =
                [Box::new(stack(device, &a)), Box::new(FoldedBands::from_csr(device, a.clone()).unwrap())];
            let mut squares = vec![0.0; 21];
            a.entries().for_each(|(_, j, v)| squares[j] += v * v);
            for form in &forms {
                assert_eq!(form.diagonal().unwrap(), a.diagonal());
                assert_eq!(form.exponent().unwrap(), a.max_abs().log2().floor() as i32);
                assert_eq!(form.asymmetry().unwrap().is_none(), is_symmetric);
                for (got, want) in form.column_squares().unwrap().iter().zip(&squares) {
                    assert!((got - want).abs() <= 1e-12 * want, "{got} {want}");
                }
            }
        }
    });
}
