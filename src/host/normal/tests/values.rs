//! Symmetry, signs, scales and components.

use super::*;

/// The grid with the entry at (1, 2) changed.
fn nudged(to: f64) -> Csr {
    problems::poisson_2d(5, 4).to_csr().map(|i, j, v| if (i, j) == (1, 2) { to } else { v })
}

#[test]
fn symmetry_ends_at_its_bound() {
    // The diagonal is 4: the bound is 2^-38.
    let bound = 2f64.powi(-38);
    for (difference, symmetric) in
        [(0.0, true), (bound, true), (-bound, true), (1.001 * bound, false), (-1.001 * bound, false)]
    {
        let a = nudged(-1.0 - difference);
        let found = form(&a);
        assert_eq!(found.is_symmetric(), symmetric, "{difference}");
        let measured = found.asymmetry().unwrap();
        assert!((measured - difference.abs() / 4.0).abs() <= 1e-16 / 4.0, "{measured}");
        assert_eq!(found.matrix().is_symmetric(), symmetric);
        let scaled = found.matrix().row(1).find(|(j, _)| *j == 2).unwrap().1;
        assert_eq!(scaled, -1.0 - if symmetric { difference / 2.0 } else { difference });
        // In other units the bound is the same.
        let s = |k: usize| 2f64.powi(7 * (k % 5) as i32 - 10);
        let again = form(&a.map(|i, j, v| s(i) * v * s(j)));
        assert_eq!((again.is_symmetric(), again.asymmetry()), (symmetric, found.asymmetry()));
    }
    // The largest difference counts, whatever comes before it.
    let two = nudged(-1.0 - 4.0 * bound).map(|i, j, v| if (i, j) == (0, 1) { v - bound } else { v });
    assert_eq!((form(&two).is_symmetric(), form(&two).asymmetry()), (false, Some(bound)));
    let off = NormalForm::new(&nudged(-1.0 - bound), NormalParams::default().with_symmetry(NormalPart::Off))
        .unwrap();
    assert_eq!((off.is_symmetric(), off.asymmetry(), off.matrix().is_symmetric()), (false, None, false));
}

#[test]
fn zero_diagonals_are_measured_by_their_rows() {
    let bound = 2f64.powi(-40);
    for (difference, symmetric) in [(8.0 * bound, true), (8.01 * bound, false)] {
        // Largest entries of rows 0 and 2: 8 and 32; a_22 is zero.
        let a = matrix(
            3,
            &[
                (0, 0, 1.0),
                (0, 1, 4.0),
                (1, 0, 4.0),
                (0, 2, 8.0),
                (2, 0, 8.0 - difference),
                (1, 1, 1.0),
                (1, 2, 32.0),
                (2, 1, 32.0),
            ],
        );
        assert_eq!(form(&a).is_symmetric(), symmetric, "{difference}");
    }
    // Stored on one side only, as rounding leaves it or as it is.
    for (v, symmetric) in [(1e-16, true), (1e-3, false), (5e-324, true)] {
        let a = matrix(
            3,
            &[
                (0, 0, 4.0),
                (0, 1, 0.5),
                (1, 0, 0.5),
                (1, 1, 4.0),
                (2, 2, 4.0),
                (1, 2, 0.5),
                (2, 1, 0.5),
                (0, 2, v),
            ],
        );
        let found = form(&a);
        assert_eq!(
            (found.is_symmetric(), found.matrix().is_symmetric(), found.matrix().nnz()),
            (symmetric, symmetric, if symmetric { 9 } else { 8 })
        );
    }
}

#[test]
fn rounded_symmetry_solves_the_given_system() {
    let mut numbers = Numbers(50);
    let grid = problems::poisson_2d(7, 6).to_csr();
    let values: Vec<f64> = grid.values().iter().map(|v| v * (1.0 + 1e-14 * (numbers.unit() - 0.5))).collect();
    let a = grid.with_values(&values).unwrap();
    let found = form(&a);
    assert!(!a.is_symmetric() && found.matrix().is_symmetric());
    let b = numbers.vector(42);
    let solve = |r: &[f64]| found.solution(&solved(found.matrix(), &found.right(r).unwrap()), r).unwrap();
    let mut x = solve(&b);
    let (r, sizes) = residuals(&a, &x, &b);
    assert!(r.iter().zip(&sizes).all(|(r, size)| r.abs() <= 1e-14 * size));
    // The map takes residuals to corrections.
    x.iter_mut().zip(solve(&r)).for_each(|(x, c)| *x += c);
    let (r, sizes) = residuals(&a, &x, &b);
    assert!(r.iter().zip(&sizes).all(|(r, size)| r.abs() <= 2.0 * U * size));
}

#[test]
fn negative_diagonals_are_negated() {
    let mut numbers = Numbers(51);
    let grid = problems::poisson_2d(5, 4).to_csr();
    let negative = grid.clone().map(|_, _, v| -v);
    let (plus, minus) = (form(&grid), form(&negative));
    assert!(!plus.is_negated() && minus.is_negated());
    assert_eq!((plus.matrix(), minus.matrix().diagonal()), (minus.matrix(), vec![4.0; 20]));
    let b = numbers.vector(20);
    let opposite: Vec<f64> = b.iter().map(|b| -b).collect();
    assert_eq!(minus.right(&opposite).unwrap(), plus.right(&b).unwrap());
    check_undone(&negative, &minus, &b);
    // One entry that is not negative, stored or not.
    for v in [1.0, 0.0] {
        let a = negative.clone().map(|i, j, w| if (i, j) == (6, 6) { v } else { w });
        let found = form(&a);
        assert!(!found.is_negated());
        check_undone(&a, &found, &b);
    }
    let off = NormalForm::new(&negative, NormalParams::default().with_sign(NormalPart::Off)).unwrap();
    assert!(!off.is_negated() && off.matrix().diagonal() == [-4.0; 20]);
}

/// The reduced matrix is the given one times powers of two, bit for bit.
fn check_scales(a: &Csr, found: &NormalForm) {
    let (r, c) = (found.row_scales(), found.column_scales());
    assert!(r.iter().chain(c).all(|s| s.is_normal() && *s > 0.0 && s.to_bits() << 12 == 0));
    let mut given = a.entries();
    for (i, j, v) in found.matrix().entries() {
        let (row, column, w) = given.next().unwrap();
        assert_eq!((i, j, v.abs() / r[i] / c[j]), (row, column, w.abs()));
    }
    assert!(given.next().is_none());
}

#[test]
fn values_of_any_size_come_into_range() {
    let mut numbers = Numbers(52);
    let grid = problems::poisson_2d(6, 5).to_csr();
    for reach in [0, 3, 40, 300, 490] {
        let mut exponents =
            || -> Vec<i32> { (0..30).map(|_| numbers.below(2 * reach + 1) as i32 - reach as i32).collect() };
        let (e, f) = (exponents(), exponents());
        let s = |e: &[i32], k: usize| 2f64.powi(e[k]);
        // Alike on both sides, then on each by itself.
        let alike = grid.clone().map(|i, j, v| v * s(&e, i) * s(&e, j));
        let sides = grid.clone().map(|i, j, v| v * s(&e, i) * s(&f, j));
        for a in [&alike, &sides] {
            let found = NormalForm::new(a, NormalParams::default().with_penalties(NormalPart::Off)).unwrap();
            check_scales(a, &found);
            assert!(found.matrix().values().iter().all(|v| v.abs() < 2f64.powi(40)));
            // Far apart, they are not scaled by the largest of rows and columns alone: those of one column may be that of every row.
            let least = found.matrix().values().iter().fold(f64::INFINITY, |least, v| least.min(v.abs()));
            assert!(reach < 100 || least > 2f64.powi(-8), "{reach}: {least:e}");
            let b: Vec<f64> = numbers.vector(30).iter().enumerate().map(|(k, v)| v * s(&e, k)).collect();
            if std::ptr::eq(a, &alike) {
                check_undone(a, &found, &b);
            }
        }
        let found = form(&alike);
        assert!(found.is_symmetric() && found.row_scales() == found.column_scales());
        // Unless it is near 1 as it is.
        let range = if reach == 0 { 4.0..5.0 } else { 0.5..2.0 };
        assert!(found.matrix().diagonal().iter().all(|d| range.contains(d)));
    }
    // Diagonals with a zero: the largest entries are alike.
    let zero = grid.clone().map(|i, j, v| {
        v * if i == j && i == 3 { 0.0 } else { 1e150 / [1.0, 1e120][i % 2] / [1.0, 1e120][j % 2] }
    });
    let found = form(&zero);
    assert!(
        found.is_symmetric() && found.matrix().is_symmetric() && found.row_scales() == found.column_scales()
    );
    let tops =
        found.matrix().rows().map(|(_, values)| values.iter().fold(0.0, |top: f64, v| top.max(v.abs())));
    assert!(tops.into_iter().all(|top| (0.25..2.0).contains(&top)));
    // The least and the largest numbers.
    let ends = [f64::MAX, -f64::MAX, f64::MIN_POSITIVE, 5e-324];
    let chain = ends.iter().enumerate().flat_map(|(k, v)| {
        [
            (2 * k, 2 * k, *v),
            (2 * k, 2 * k + 1, v / 2.0),
            (2 * k + 1, 2 * k, v / 2.0),
            (2 * k + 1, 2 * k + 1, *v),
        ]
    });
    let found = form(&matrix(8, &chain.collect::<Vec<_>>()));
    assert!(found.matrix().diagonal().iter().all(|d| (0.5..2.0).contains(&d.abs())), "{:?}", found.matrix());
}

#[test]
fn off_the_diagonal_scales_are_those_of_the_largest_entries() {
    for (v, by_diagonal) in [(2f64.powi(40).next_down(), true), (2f64.powi(40), false)] {
        let a = matrix(
            3,
            &[
                (0, 0, 1.0),
                (0, 1, v),
                (1, 0, 1.0),
                (1, 1, 1.0),
                (1, 2, 1.0),
                (2, 1, 1.0),
                (2, 2, 1.0),
                (2, 0, 1.0),
            ],
        );
        let found = form(&a);
        check_scales(&a, &found);
        assert_eq!(found.row_scales() == [1.0; 3] && found.column_scales() == [1.0; 3], by_diagonal);
        assert!(by_diagonal || found.matrix().max_abs() < 2.0);
    }
}

#[test]
fn components_know_their_null_vectors() {
    // Three chains of 4: the second is held at an end, the others are free.
    let chain = |at: usize, held: f64| {
        let mut entries: Vec<(usize, usize, f64)> = vec![(at, at, held)];
        for k in at..at + 3 {
            let w = 0.1 + k as f64 / 7.0;
            entries.extend([(k, k, w), (k, k + 1, -w), (k + 1, k, -w), (k + 1, k + 1, w)]);
        }
        entries
    };
    let mut numbers = Numbers(53);
    let a = matrix(12, &[chain(0, 0.0), chain(4, 1.0), chain(8, 0.0)].concat());
    let order = numbers.order(12);
    let a = a.permuted(&order, &order).unwrap();
    let found = form(&a);
    let kinds: Vec<_> = found
        .components()
        .iter()
        .map(|c| (c.unknowns.len(), c.rows_sum_to_zero, c.columns_sum_to_zero))
        .collect();
    assert_eq!(kinds.len(), 3);
    assert_eq!(kinds.iter().filter(|kind| **kind == (4, true, true)).count(), 2);
    assert_eq!(kinds.iter().filter(|kind| **kind == (4, false, false)).count(), 1);
    for vector in found.null_vectors() {
        assert_eq!(vector.len(), 4);
        let mut y = vec![0.0; 12];
        vector.iter().for_each(|(k, v)| y[*k] = *v);
        let (r, sizes) = residuals(found.matrix(), &y, &[0.0; 12]);
        assert!(r.iter().zip(&sizes).all(|(r, size)| r.abs() <= 4.0 * U * size));
        assert_eq!(found.solution(&y, &[0.0; 12]).unwrap().iter().filter(|x| **x == 1.0).count(), 4);
    }
    let mut b = a.mul_vec(&numbers.vector(12)).unwrap();
    let relative =
        |b: &[f64]| found.imbalances(b).unwrap().iter().map(Imbalance::relative).collect::<Vec<_>>();
    assert!(relative(&b).len() == 2 && relative(&b).iter().all(|r| *r <= 1e-15));
    check_undone(&a, &found, &b);
    // One more in the last free chain.
    let last = found.components().iter().rposition(|c| c.rows_sum_to_zero).unwrap();
    b[found.components()[last].unknowns[2]] += 1.0;
    assert!(relative(&b)[0] <= 1e-15 && relative(&b)[1] > 1e-2);
    assert!(
        matches!(found.imbalances(&b).unwrap()[1], Imbalance::Component { component, sum, .. } if component == last && (sum - 1.0).abs() < 1e-15)
    );
    let off = NormalForm::new(&a, NormalParams::default().with_components(NormalPart::Off)).unwrap();
    assert!(
        off.components().is_empty()
            && off.imbalances(&b).unwrap().is_empty()
            && off.null_vectors().is_empty()
    );
}

#[test]
fn rows_and_columns_are_asked_by_themselves() {
    // A chain of states, of which the rates away sum to zero by column, not by row.
    let rates = [(1, 0, 0.3), (2, 0, 0.7), (0, 1, 0.2), (2, 1, 0.1), (0, 2, 1.5)];
    let entries: Vec<_> = rates.iter().flat_map(|&(to, from, v)| [(to, from, -v), (from, from, v)]).collect();
    let a = matrix(3, &entries);
    let sums = |a: &Csr| {
        form(a).components().iter().map(|c| (c.rows_sum_to_zero, c.columns_sum_to_zero)).collect::<Vec<_>>()
    };
    assert_eq!((sums(&a), sums(&a.transposed())), (vec![(false, true)], vec![(true, false)]));
    assert_eq!((form(&a).null_vectors().len(), form(&a.transposed()).null_vectors().len()), (0, 1));
    assert_eq!(form(&a).imbalances(&[1.0, 1.0, 2.0]).unwrap()[0].relative(), 1.0);
    assert!(form(&a.transposed()).imbalances(&[1.0, 1.0, 2.0]).unwrap().is_empty());
    // Up to rounding: 2^-46 of the sum of magnitudes.
    for (more, zero) in [(1e-14, true), (1e-13, false)] {
        let nudged = a.clone().map(|i, j, v| if i == j { v * (1.0 + more) } else { v });
        assert_eq!(sums(&nudged), [(false, zero)]);
    }
    // Where the sum of magnitudes is past the largest number.
    let large = a.map(|_, _, v| v * 1e308);
    assert_eq!(sums(&large), [(false, true)]);
}

#[test]
fn elimination_can_part_components() {
    // Two free chains joined by an unknown that another row gives, and one that has x_0 in a column
    // of its own.
    let chain = |k: usize| [(k, k, 1.0), (k, k + 1, -1.0), (k + 1, k, -1.0), (k + 1, k + 1, 1.0)];
    let joined = [(4, 4, 2.0), (0, 4, 1.0), (2, 4, -3.0), (5, 0, 1.0), (5, 5, 2.0)];
    let a = matrix(6, &[&chain(0)[..], &chain(2), &joined].concat());
    assert_eq!(a.independent_groups().len(), 1);
    let found = form(&a);
    assert_eq!(
        found.to_string(),
        "1 row solved directly; 1 column by back substitution; symmetric; 2 components, 2 of them singular"
    );
    // Known values count: x_4 = 1 takes 1 from the first chain and -3 from the second.
    let relative =
        |b: &[f64]| found.imbalances(b).unwrap().iter().map(Imbalance::relative).collect::<Vec<_>>();
    assert_eq!(relative(&[1.0, 0.0, 0.0, -3.0, 2.0, 9.0]), [0.0, 0.0]);
    assert_eq!(relative(&[1.0, 0.0, 0.0, 0.0, 2.0, 9.0]), [0.0, 1.0]);
}

/// Diagonal entries on both sides of a power of four are scaled alike, so that a grid stays one; what is far apart is not.
#[test]
fn what_is_about_equal_is_scaled_alike() {
    let sides = |i: usize| (0..3).filter(|axis| [0, 5].contains(&(i / 6usize.pow(*axis) % 6))).count();
    let of = |i: usize| if i < 216 { 6.0 + sides(i) as f64 } else { 1.0 };
    let mut all: Vec<(usize, usize, f64)> = (0..216).map(|i| (i, i, of(i))).collect();
    for i in 0..216usize {
        for stride in [1, 6, 36] {
            if i / stride % 6 != 5 {
                all.extend([(i, i + stride, -1.0), (i + stride, i, -1.0)]);
            }
        }
    }
    let a = matrix(216, &all);
    let scales = |a: &Csr| form(a).column_scales().to_vec();
    assert!(scales(&a).iter().all(|s| *s == 1.0), "{:?}", scales(&a));
    assert_eq!(form(&a).matrix().grid(), a.grid());
    assert!(a.grid().is_some());
    // Where all of it is far from 1 it is scaled.
    let small = a.clone().map(|_, _, v| v * 2f64.powi(-30));
    assert!(scales(&small).iter().all(|s| *s == 2f64.powi(13)), "{:?}", scales(&small));
    let far = a.map(|i, j, v| if i == j && i == 7 { 1e6 } else { v });
    assert!(scales(&far)[7] < 0.01 && scales(&far)[8] == 0.5);
}
