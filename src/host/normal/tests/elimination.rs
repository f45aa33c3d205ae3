//! One-entry rows and columns, empty ones, penalties.

use super::*;

#[test]
fn shuffled_triangular_matrices_leave_nothing() {
    let mut numbers = Numbers(46);
    for n in [1, 2, 3, 5, 17, 101, 499] {
        let mut a = Triplets::new(Shape::new(n, n));
        for i in 0..n {
            a.push(i, i, numbers.value()).unwrap();
            for _ in 0..numbers.below(4).min(i) {
                a.push(i, numbers.below(i), 0.1 * numbers.value()).unwrap();
            }
        }
        let a = a.to_csr().permuted(&numbers.order(n), &numbers.order(n)).unwrap();
        let x = numbers.vector(n);
        let b = a.mul_vec(&x).unwrap();
        let form = form(&a);
        assert_eq!(form.eliminated(), Eliminated { rows: n, ..Default::default() });
        assert_eq!((form.matrix().shape(), form.right(&b).unwrap().len()), (Shape::new(0, 0), 0));
        assert!(form.components().is_empty() && form.is_symmetric() && !form.is_negated());
        check_undone(&a, &form, &b);
    }
}

#[test]
fn chains_are_followed_to_their_ends() {
    let mut numbers = Numbers(47);
    for (rows, core, columns) in [(1, 2, 1), (40, 3, 40), (7, 5, 0), (0, 5, 7), (200, 2, 100)] {
        // Each row of a chain has the unknown before: one entry in the first row, then in the next
        // one.
        let n = rows + core + columns;
        let mut a = Triplets::new(Shape::new(n, n));
        for i in 0..n {
            let is_core = i >= rows && i < rows + core;
            a.push(i, i, if is_core { 16.0 } else { numbers.value() }).unwrap();
            if i > 0 {
                a.push(i, i - 1, numbers.value()).unwrap();
            }
            if is_core {
                for j in (rows..rows + core).filter(|j| *j != i && *j + 1 != i) {
                    a.push(i, j, numbers.value()).unwrap();
                }
            }
        }
        let a = a.to_csr().permuted(&numbers.order(n), &numbers.order(n)).unwrap();
        let form = form(&a);
        assert_eq!(form.eliminated(), Eliminated { rows, columns, ..Default::default() });
        assert_eq!(form.matrix().shape().rows, core);
        check_undone(&a, &form, &numbers.vector(n));
    }
}

/// The sums are in twice 64 bits: terms of 1e16 that cancel leave no trace.
#[test]
fn known_values_move_without_rounding() {
    let big = 1e16;
    let core = [(3, 3, 2.0), (3, 4, 1.0), (4, 3, 1.0), (4, 4, 2.0)];
    let known = [(0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0)];
    let moved = [(3, 0, big), (3, 1, 1.0), (3, 2, -big)];
    let last = [(5, 0, big), (5, 1, 1.0), (5, 2, -big), (5, 3, 1.0), (5, 5, 4.0)];
    let a = matrix(6, &[&core[..], &known, &moved, &last].concat());
    let late = NormalForm::new(&a, NormalParams::default().with_scaling(NormalPart::Off)).unwrap();
    let b = [1.0, 0.25, 1.0, 1.0, 0.0, 2.0];
    assert_eq!(late.right(&b).unwrap(), [0.75, 0.0]);
    assert_eq!(late.solution(&[0.5, -0.25], &b).unwrap()[5], (2.0 - 0.25 - 0.5) / 4.0);
    // A product that rounds: (1 + d)² = 1 + 2 d + d².
    let d = 2f64.powi(-30);
    let a = matrix(3, &[(0, 0, 1.0), (1, 0, 1.0 + d), (1, 1, 1.0), (1, 2, 0.5), (2, 1, 0.5), (2, 2, 1.0)]);
    assert_eq!(form(&a).right(&[1.0 + d, 1.0 + 2.0 * d, 0.0]).unwrap(), [-d * d, 0.0]);
}

#[test]
fn the_diagonal_stays_where_both_sides_are_left() {
    // Row 0 gives x_4; row 4 then takes the place of row 0, for column 0.
    let mut entries = vec![(0, 4, 3.0), (4, 0, 5.0), (4, 1, 1.0)];
    for i in 1..4 {
        entries.extend([(i, i, 2.0), (i, i - 1, 1.0), (i, (i + 1) % 4, 1.0)]);
    }
    let first = form(&matrix(5, &entries));
    assert_eq!((first.rows(), first.columns()), (&[4, 1, 2, 3][..], &[0, 1, 2, 3][..]));
    // Two steps: 5 -> 6 -> 0.
    let swapped = [(5, 6, 1.0), (6, 0, 1.0), (0, 5, 2.0), (0, 1, 1.0), (1, 5, 1.0), (1, 1, 3.0)];
    let more = [(2, 2, 1.0), (3, 3, 1.0), (4, 4, 1.0)];
    let second = form(&matrix(7, &[&swapped[..], &more].concat()));
    assert_eq!((second.rows(), second.columns()), (&[1, 0][..], &[1, 5][..]));
    // Symmetric ones stay symmetric.
    let mut entries = vec![(0, 5, 4.0), (5, 0, 4.0), (5, 5, 1.0), (5, 2, 7.0), (2, 5, 7.0)];
    for i in 1..5 {
        entries.push((i, i, 4.0));
        entries.extend((1..5).filter(|j| *j != i).map(|j| (i, j, 1.0)));
    }
    let a = matrix(6, &entries);
    let third = form(&a);
    assert_eq!((third.rows(), third.columns()), (&[1, 2, 3, 4][..], &[1, 2, 3, 4][..]));
    assert!(a.is_symmetric() && third.is_symmetric());
    assert_eq!(third.eliminated(), Eliminated { rows: 1, columns: 1, ..Default::default() });
    check_undone(&a, &third, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
}

/// A case of [`empty_lines_are_left_out_in_pairs`]: entries beside those of the core, empty rows,
/// free unknowns, what is left.
type Case = (&'static [(usize, usize, f64)], &'static [usize], &'static [usize], usize);

#[test]
fn empty_lines_are_left_out_in_pairs() {
    let core = [(1, 1, 4.0), (1, 2, 1.0), (2, 1, 1.0), (2, 2, 4.0)];
    let cases: [Case; 6] = [
        // One of each, at one place and at two; stored zeros are none.
        (&[(3, 3, 5.0), (0, 0, 0.0)], &[0], &[0], 2),
        (&[(0, 3, 5.0), (3, 2, 0.0)], &[3], &[0], 2),
        (&[(0, 0, 0.0), (3, 3, -0.0)], &[0, 3], &[0, 3], 2),
        // A second equation for x_3, and none for x_0.
        (&[(0, 3, 5.0), (3, 3, 2.0)], &[3], &[0], 2),
        // Row 0 and column 3: row 3 takes the place of row 0.
        (&[(3, 0, 5.0), (3, 1, 1.0), (1, 0, 1.0)], &[0], &[3], 3),
        // Row 0 is empty, and no column: it stays as a row of zeros.
        (&[(1, 0, 1.0), (2, 0, 1.0), (3, 3, 2.0)], &[0], &[], 3),
    ];
    for (more, rows, free, left) in cases {
        let a = matrix(4, &[&core[..], more].concat());
        let form = form(&a);
        assert_eq!(
            (form.empty_rows(), form.free_unknowns(), form.matrix().shape().rows),
            (rows, free, left),
            "{more:?}"
        );
        assert!(form.rows().iter().zip(form.columns()).all(|(i, j)| i == j || (*i, *j) == (3, 0)));
        // A right-hand side with a solution, then one without.
        let mut b = a.mul_vec(&[0.0, 1.0, 2.0, 3.0]).unwrap();
        let x = check_undone(&a, &form, &b);
        assert!(free.iter().all(|k| x[*k] == 0.0));
        let lost = |b: &[f64]| -> Vec<(usize, f64)> {
            let found = form.imbalances(b).unwrap().into_iter().map(|found| match found {
                Imbalance::Row { row, sum, .. } => (row, sum),
                Imbalance::Component { component, .. } => panic!("{component}"),
            });
            found.collect()
        };
        assert_eq!(lost(&b), rows.iter().map(|&row| (row, 0.0)).collect::<Vec<_>>());
        b[rows[0]] += 0.5;
        assert_eq!(lost(&b)[0], (rows[0], 0.5));
        assert!(form.imbalances(&b).unwrap()[0].relative() > 0.03);
    }
    let nothing = form(&matrix(3, &[]));
    assert_eq!((nothing.matrix().shape().rows, nothing.empty_rows()), (0, &[0, 1, 2][..]));
    assert_eq!(nothing.solution(&[], &[0.0; 3]).unwrap(), [0.0; 3]);
    assert_eq!(nothing.imbalances(&[0.0, 2.0, 0.0]).unwrap()[1].relative(), 1.0);
    assert_eq!(nothing.to_string(), "3 free unknowns set to zero; 3 rows without unknowns");
    // As they are, where nothing is to be eliminated.
    let kept =
        NormalForm::new(&matrix(3, &[]), NormalParams::default().with_presolve(NormalPart::Off)).unwrap();
    assert_eq!((kept.matrix().shape().rows, kept.eliminated()), (3, Eliminated::default()));
    assert_eq!((kept.null_vectors().len(), kept.solution(&[1.0; 3], &[0.0; 3]).unwrap()), (3, vec![1.0; 3]));
}

/// Small integers, of which every quotient and every sum is exact.
#[test]
fn systems_of_any_pattern_are_undone_exactly() {
    let mut numbers = Numbers(54);
    let mut seen = Eliminated::default();
    let (mut singular, mut surplus) = (0, 0);
    for round in 0..3000 {
        let n = 1 + numbers.below(24);
        // One round in five is denser, and its first row empty.
        let sparse = round % 5 > 0;
        let count = numbers.below(n + 1) + if sparse { n } else { 2 * n };
        let entries: Vec<(usize, usize, f64)> = (0..count)
            .map(|_| (numbers.below(n), numbers.below(n), [1.0, -1.0, 2.0, -2.0][numbers.below(4)]))
            .filter(|(i, ..)| sparse || *i > 0)
            .collect();
        let a = matrix(n, &entries);
        let found = form(&a);
        let Eliminated { rows, columns, penalties, free } = found.eliminated();
        let left = found.matrix().shape().rows;
        assert_eq!((rows + columns + free + left, penalties), (n, 0), "round {round}");
        for places in [found.rows(), found.columns()] {
            let mut sorted = places.to_vec();
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!(sorted.len(), left);
        }
        let mut x: Vec<f64> = (0..n).map(|_| numbers.below(9) as f64 - 4.0).collect();
        found.free_unknowns().iter().for_each(|&k| x[k] = 0.0);
        let (b, y) = (a.mul_vec(&x).unwrap(), found.start(&x).unwrap());
        assert_eq!(found.right(&b).unwrap(), found.matrix().mul_vec(&y).unwrap(), "round {round}");
        assert_eq!(found.solution(&y, &b).unwrap(), x, "round {round}");
        assert!(found.imbalances(&b).unwrap().iter().all(|sum| sum.relative() == 0.0));
        (seen.rows, seen.columns, seen.free) = (seen.rows + rows, seen.columns + columns, seen.free + free);
        singular += usize::from(!found.imbalances(&b).unwrap().is_empty());
        surplus += usize::from(found.empty_rows().len() > free);
    }
    let counts = [seen.rows, seen.columns, seen.free, singular, surplus];
    assert!(counts.iter().all(|count| *count >= 30), "{counts:?}");
}

/// A grid with penalties on its boundary, some of them beside each other, and right-hand sides for
/// values there.
fn penalized(penalty: f64, numbers: &mut Numbers) -> (Csr, Vec<f64>, Vec<usize>) {
    let (w, h) = (9, 8);
    let grid = problems::poisson_2d(w, h).to_csr();
    let fixed: Vec<usize> = (0..w * h).filter(|k| k % w == 0 || k / w == 0 || k % w == w - 1).collect();
    let a = grid.map(|i, j, v| if i == j && fixed.contains(&i) { v + penalty } else { v });
    let b = (0..w * h).map(|k| numbers.value() * if fixed.contains(&k) { penalty } else { 1.0 }).collect();
    (a, b, fixed)
}

#[test]
fn penalties_are_fixed_and_refined_by_the_residual() {
    let mut numbers = Numbers(48);
    for (penalty, passes) in [(1e9, 2), (1e10, 2), (1e30, 1), (-1e12, 2)] {
        let (a, b, fixed) = penalized(penalty, &mut numbers);
        let found = form(&a);
        assert_eq!(found.eliminated(), Eliminated { penalties: fixed.len(), ..Default::default() });
        assert!(found.is_symmetric());
        let solve = |r: &[f64]| found.solution(&solved(found.matrix(), &found.right(r).unwrap()), r).unwrap();
        let mut x = solve(&b);
        // Four neighbours, none above the largest unknown: below 2 h² max|b| + max|boundary| for
        // this grid, 130 in all.
        assert!(fixed.iter().all(|&k| (x[k] - b[k] / penalty).abs() <= 4.0 * 130.0 / penalty.abs() + 1e-15));
        for _ in 0..passes {
            let correction = solve(&residuals(&a, &x, &b).0);
            x.iter_mut().zip(&correction).for_each(|(x, c)| *x += c);
        }
        // Rounding of x: 2^-53 of every term, and of b.
        let (r, sizes) = residuals(&a, &x, &b);
        for (i, (r, size)) in r.iter().zip(&sizes).enumerate() {
            assert!(r.abs() <= 4.0 * U * size, "{penalty}, row {i}: {r} of {size}");
        }
    }
    // Just above and just below: row 0 has two neighbours.
    let at =
        |d: f64| form(&problems::poisson_2d(4, 4).to_csr().map(|i, j, v| if i + j == 0 { d } else { v }));
    let limit = 2f64.powi(27);
    assert_eq!((at(limit).eliminated().penalties, at(limit.next_up()).eliminated().penalties), (0, 1));
    assert_eq!(
        (at(-limit).eliminated().penalties, at(limit.next_up()).to_string()),
        (0, "1 penalty row fixed; symmetric".into())
    );
}

#[test]
fn rows_go_on_where_penalties_end() {
    // 0 is fixed by a penalty, 1 has only 0 besides, then 2 and 3 follow; 4 and 5 stay.
    let chain = [
        (0, 0, 1e12),
        (0, 1, -1.0),
        (1, 0, 1.0),
        (1, 1, 2.0),
        (2, 1, 1.0),
        (2, 2, 3.0),
        (3, 2, 1.0),
        (3, 3, 1.0),
    ];
    let core = [(4, 4, 4.0), (4, 5, 1.0), (5, 4, 2.0), (5, 5, 4.0), (4, 3, 1.0)];
    let found = form(&matrix(6, &[&chain[..], &core].concat()));
    assert_eq!(found.eliminated(), Eliminated { rows: 3, penalties: 1, ..Default::default() });
    let b = [2e12, 4.0, 4.0, 3.0, 1.0, 2.0];
    let x = found.solution(&[0.0; 2], &b).unwrap();
    assert_eq!(x[..4], [2.0, 1.0, 1.0, 2.0]);
    assert_eq!(found.right(&b).unwrap(), [-1.0, 2.0]);
}

/// Rows with a large diagonal that are no penalties: each is solved with the rest.
#[test]
fn large_diagonals_of_other_kinds_are_no_penalties() {
    let mut numbers = Numbers(49);
    let grid = problems::poisson_2d(6, 6).to_csr();
    // An unknown in another unit, alone or among many, and alike with its equation.
    let one = grid.clone().map(|_, j, v| if j == 7 { 1e12 * v } else { v });
    let many = grid.clone().map(|_, j, v| if j % 3 == 1 { 1e12 * v } else { v });
    let both =
        grid.clone().map(|i, j, v| v * if i == 7 { 1e12 } else { 1.0 } * if j == 7 { 1e12 } else { 1.0 });
    // A saddle point: multipliers live by what is neglected.
    let saddle = |d: f64| {
        let mut entries = vec![];
        for i in 0..6 {
            entries.push((i, i, d));
            for k in [6 + i % 3, 6 + (i + 1) % 3] {
                entries.extend([(i, k, 1.0 + i as f64), (k, i, 1.0 + i as f64)]);
            }
        }
        matrix(9, &entries)
    };
    // The column of x_1 has nothing but the large row: it is solved by that.
    let column = matrix(
        4,
        &[
            (0, 0, 1e30),
            (0, 1, 1.0),
            (2, 0, 5.0),
            (2, 2, 3.0),
            (2, 3, 1.0),
            (3, 0, 2.0),
            (3, 2, 1.0),
            (3, 3, 7.0),
            (1, 2, 2.0),
            (1, 3, 1.0),
        ],
    );
    // Without x_0 the second row is 1e-13 x_1 - 1e-12 x_2, and column 2 has a 1; then transposed.
    let row = matrix(3, &[(0, 0, 1e12), (0, 2, 1.0), (1, 0, 1.0), (1, 1, 1e-13), (2, 1, 1.0), (2, 2, 1.0)]);
    let across = row.transposed();
    let saddle_point = saddle(1e12);
    for (number, a) in [one, many, both, saddle_point, column, row, across].iter().enumerate() {
        let found = form(a);
        assert_eq!(found.eliminated().penalties, 0, "{number}");
        check_undone(a, &found, &numbers.vector(a.shape().rows));
    }
    // Equations and unknowns in units of their own, which have nothing to do with each other: neighbours of a large diagonal
    // entry have entries larger than those that elimination would change.
    for reach in [6, 10, 40] {
        for seed in 0..20 {
            let mut numbers = Numbers(100 + seed);
            let mut unit = || 10f64.powi(numbers.below(2 * reach + 1) as i32 - reach as i32);
            let mut units = || (0..36).map(|_| unit()).collect::<Vec<f64>>();
            let [rows, columns] = [(); 2].map(|()| units());
            let found = form(&grid.clone().map(|i, j, v| v * rows[i] * columns[j]));
            assert_eq!(found.eliminated().penalties, 0, "{reach} {seed}");
        }
    }
    // With a stabilisation that outweighs what is neglected they are.
    let stable =
        Triplets::from_entries(Shape::new(9, 9), saddle(1e12).entries().chain((6..9).map(|k| (k, k, -1.0))))
            .unwrap()
            .to_csr();
    assert_eq!(form(&stable).eliminated().penalties, 6);
    // All rows: nothing is left to be changed.
    let all = grid.map(|i, j, v| if i == j { 1e9 } else { v });
    assert_eq!(form(&all).eliminated(), Eliminated { penalties: 36, ..Default::default() });
}
