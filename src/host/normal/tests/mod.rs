//! What normal forms promise, on seeded matrices that are solved densely in 64 bits.

mod elimination;
mod values;

use super::sums::residual;
use super::*;
use crate::Shape;
use crate::host::prepare::tests::Numbers;
use crate::host::{Triplets, problems};

/// Half the distance from 1 to the next number.
const U: f64 = f64::EPSILON / 2.0;

fn matrix(n: usize, entries: &[(usize, usize, f64)]) -> Csr {
    Triplets::from_entries(Shape::new(n, n), entries.iter().copied()).unwrap().to_csr()
}

fn form(a: &Csr) -> NormalForm {
    NormalForm::new(a, NormalParams::default()).unwrap()
}

/// `b - A x`, each element rounded once, and `|b| + |A| |x|`.
fn residuals(a: &Csr, x: &[f64], b: &[f64]) -> (Vec<f64>, Vec<f64>) {
    a.rows().zip(b).map(|(row, b)| residual(*b, row, x)).unzip()
}

/// The solution by elimination with partial pivoting, refined twice. Zero for zero pivots, so that
/// singular systems with a solution get one.
fn solved(a: &Csr, b: &[f64]) -> Vec<f64> {
    let n = b.len();
    let mut dense = vec![vec![0.0; n]; n];
    for (i, j, v) in a.entries() {
        dense[i][j] = v;
    }
    let mut x = vec![0.0; n];
    for _ in 0..3 {
        let (mut m, mut r) = (dense.clone(), residuals(a, &x, b).0);
        let top = |row: &Vec<f64>| row.iter().fold(0.0, |top: f64, v| top.max(v.abs()));
        let mut tops: Vec<f64> = dense.iter().map(top).collect();
        for k in 0..n {
            let pivot = (k..n).max_by(|&i, &j| m[i][k].abs().total_cmp(&m[j][k].abs())).unwrap();
            m.swap(k, pivot);
            r.swap(k, pivot);
            tops.swap(k, pivot);
            if m[k][k].abs() <= 1e-12 * tops[k] {
                continue;
            }
            for i in k + 1..n {
                let factor = m[i][k] / m[k][k];
                r[i] -= factor * r[k];
                let pivots = m[k].clone();
                m[i].iter_mut().zip(&pivots).skip(k).for_each(|(v, pivot)| *v -= factor * pivot);
            }
        }
        for k in (0..n).rev() {
            let sum = (k + 1..n).map(|j| m[k][j] * r[j]).sum::<f64>();
            r[k] = if m[k][k].abs() <= 1e-12 * tops[k] { 0.0 } else { (r[k] - sum) / m[k][k] };
        }
        x.iter_mut().zip(&r).for_each(|(x, r)| *x += r);
    }
    x
}

/// Solves the reduced system and undoes it: every row of the given one is satisfied as well as its
/// row of the reduced one is, or, where it is eliminated, to the rounding of its quotient.
///
/// That is: the reduced right-hand side is rounded once (u relative) beside its power of two, a
/// quotient and its numerator each once; sums in twice 64 bits add 2^-100 of all magnitudes at most
/// for rows of fewer than 2^6 entries. What is undone is exact but for that.
fn check_undone(a: &Csr, form: &NormalForm, b: &[f64]) -> Vec<f64> {
    let right = form.right(b).unwrap();
    let y = solved(form.matrix(), &right);
    let (left, sizes) = residuals(form.matrix(), &y, &right);
    for (r, size) in left.iter().zip(&sizes) {
        assert!(r.abs() <= 1e-13 * size, "the reduced system is not solved: {r} of {size}");
    }
    let x = form.solution(&y, b).unwrap();
    let (found, sizes) = residuals(a, &x, b);
    let mut bounds: Vec<f64> = sizes.iter().map(|size| size * 2f64.powi(-100)).collect();
    for ((k, r), (scale, right)) in form.rows().iter().zip(&left).zip(form.row_scales().iter().zip(&right)) {
        bounds[*k] += (r.abs() * (1.0 + 2.0 * U) + 2.0 * U * right.abs()) / scale;
    }
    for pivot in form.plan.known.iter().chain(&form.plan.later) {
        bounds[pivot.row] += 3.0 * U * (pivot.value * x[pivot.column]).abs();
    }
    for (i, (r, bound)) in found.iter().zip(&bounds).enumerate() {
        assert!(r.abs() <= *bound, "row {i}: {r} of {bound}\n{form}\n{:?}", form.plan);
    }
    x
}

impl Numbers {
    /// From 1/2 to 2, of either sign.
    fn value(&mut self) -> f64 {
        let v = 0.5 + 1.5 * self.unit();
        if self.below(2) == 0 { v } else { -v }
    }

    fn vector(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.value()).collect()
    }

    fn order(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for k in (1..n).rev() {
            order.swap(k, self.below(k + 1));
        }
        order
    }

    /// A core whose diagonal dominates, behind `rows` that give their unknowns one after another,
    /// and before as many `columns`: the block form of what is eliminated.
    fn blocks(&mut self, rows: usize, core: usize, columns: usize) -> Csr {
        let n = rows + core + columns;
        let mut a = Triplets::new(Shape::new(n, n));
        for i in 0..n {
            let core_row = i >= rows && i < rows + core;
            a.push(i, i, self.value() * if core_row { 8.0 } else { 1.0 }).unwrap();
            // Rows of columns reach all before them; what is known reaches all after it.
            let before = if core_row { rows } else { i };
            for _ in 0..3.min(before) {
                a.push(i, self.below(before), self.value()).unwrap();
            }
            if core_row && core > 1 {
                for shift in [1, core - 1] {
                    a.push(i, rows + (i - rows + shift) % core, self.value()).unwrap();
                }
            }
        }
        a.to_csr()
    }
}

/// One part off each, and all.
fn all_params() -> Vec<NormalParams> {
    let (all, off) = (NormalParams::default(), NormalPart::Off);
    vec![
        all,
        NormalParams::none(),
        all.with_presolve(off),
        all.with_symmetry(off),
        all.with_sign(off),
        all.with_penalties(off),
        all.with_scaling(off),
        all.with_components(off),
    ]
}

#[test]
fn undone_solutions_solve_the_given_system() {
    let mut numbers = Numbers(44);
    for n in [0, 1, 2, 3, 5, 7, 13, 31, 53, 97] {
        for round in 0..6 {
            let rows = numbers.below(n / 2 + 1);
            let columns = numbers.below(n / 2 + 1).min(n - rows);
            let a = numbers.blocks(rows, n - rows - columns, columns);
            let (p, q) = (numbers.order(n), numbers.order(n));
            // In order, with rows and columns shuffled alike, and each in their own order.
            let a = match round % 3 {
                0 => a,
                1 => a.permuted(&p, &p).unwrap(),
                _ => a.permuted(&p, &q).unwrap(),
            };
            let x = numbers.vector(n);
            let b = a.mul_vec(&x).unwrap();
            for params in all_params() {
                let form = NormalForm::new(&a, params).unwrap();
                let found = check_undone(&a, &form, &b);
                assert_eq!(found.len(), n);
                let Eliminated { rows: by_rows, columns: by_columns, penalties, free } = form.eliminated();
                assert_eq!(
                    form.matrix().shape(),
                    Shape::new(n - by_rows - by_columns, n - by_rows - by_columns)
                );
                assert_eq!((penalties, free), (0, 0));
                if params.presolve != NormalPart::Off {
                    assert!(by_rows >= rows && by_rows + by_columns >= rows + columns, "{form}");
                    let counts = |m: &Csr| m.rows().all(|(places, _)| places.len() > 1);
                    assert!(counts(form.matrix()) && counts(&form.matrix().transposed()));
                }
            }
        }
    }
}

#[test]
fn starts_are_the_unknowns_of_solutions() {
    let mut numbers = Numbers(45);
    let a = numbers.blocks(5, 11, 4).permuted(&numbers.order(20), &numbers.order(20)).unwrap();
    let form = form(&a);
    assert_ne!(form.column_scales(), [1.0; 11]);
    let x = numbers.vector(20);
    let b = a.mul_vec(&x).unwrap();
    let y = form.start(&x).unwrap();
    let back = form.solution(&y, &b).unwrap();
    assert!(form.columns().iter().all(|&k| back[k] == x[k]));
    assert!(back.iter().zip(&x).all(|(back, x)| (back - x).abs() < 1e-10));
}

#[test]
fn what_is_in_form_stays_as_it_is() {
    let grid = problems::poisson_2d(4, 3).to_csr().map(|_, _, v| v / 4.0);
    let kept = form(&grid);
    assert!(kept.is_identity() && kept.is_symmetric() && !kept.is_negated());
    assert_eq!((kept.matrix(), kept.to_string().as_str()), (&grid, "symmetric"));
    let x: Vec<f64> = (0..12).map(|k| 1.0 / f64::from(k + 3)).collect();
    assert_eq!((kept.right(&x).unwrap(), kept.start(&x).unwrap()), (x.clone(), x.clone()));
    assert_eq!(kept.solution(&x, &[1e300; 12]).unwrap(), x);
    assert!(form(&matrix(0, &[])).is_identity());
    assert_eq!(form(&matrix(0, &[])).to_string(), "as given");
    // One part each that changes it.
    let changed = |of: fn(usize, usize, f64) -> f64| grid.clone().map(of);
    for (a, text) in [
        (changed(|_, _, v| -v), "symmetric; negated"),
        (changed(|_, _, v| 8e9 * v), "symmetric; scaled"),
        (changed(|i, j, v| if (i, j) == (0, 1) { v.next_up() } else { v }), "symmetric up to 3e-17"),
        (changed(|i, _, v| if i == 5 { v * 1e-3 } else { v }), "scaled"),
    ] {
        let found = form(&a);
        assert!(!found.is_identity());
        assert_eq!(found.to_string(), text);
    }
    assert!(!form(&matrix(1, &[(0, 0, 1.0)])).is_identity());
    // A stored zero goes, and that is all.
    let zeros = grid.to_triplets().entries().chain([(0, 11, 0.0)]).collect::<Vec<_>>();
    let found = form(&matrix(12, &zeros));
    assert!(found.is_identity() && *found.matrix() == grid);
}

#[test]
fn what_has_no_form_is_named() {
    let error = |result: Result<NormalForm>| result.unwrap_err().to_string();
    let params = NormalParams::default();
    let wide = Triplets::new(Shape::new(2, 3)).to_csr();
    assert_eq!(error(NormalForm::new(&wide, params)), "NormalForm: the matrix is 2x3, expected a square one");
    for (v, text) in [(f64::NAN, "NaN"), (f64::INFINITY, "inf"), (f64::NEG_INFINITY, "-inf")] {
        let a = matrix(3, &[(0, 0, 1.0), (2, 1, v)]);
        let expected = format!("NormalForm: the matrix has {text} at (2, 1), expected finite entries");
        assert_eq!(error(NormalForm::new(&a, params)), expected);
    }
    let grid = form(&problems::poisson_1d(3).to_csr());
    let all_of = |list: &[f64]| {
        [
            (grid.right(list), "NormalForm::right", "b"),
            (grid.start(list), "NormalForm::start", "x"),
            (grid.solution(list, &[1.0; 3]), "NormalForm::solution", "y"),
            (grid.solution(&[1.0; 3], list), "NormalForm::solution", "b"),
            (grid.imbalances(list).map(|_| vec![]), "NormalForm::imbalances", "b"),
        ]
    };
    for (result, op, name) in all_of(&[1.0; 4]) {
        let expected = Error::LengthMismatch { op, operand: name, found: 4, expected: 3 };
        assert_eq!(result.unwrap_err(), expected);
    }
    for (result, op, name) in all_of(&[1.0, f64::NAN, 1.0]) {
        let text = format!("{op}: parameter `{name}` is NaN at index 1, expected finite numbers");
        assert_eq!(result.unwrap_err().to_string(), text);
    }
}

#[test]
fn results_past_the_largest_number_are_named() {
    let text = |result: Result<Vec<f64>>| result.unwrap_err().to_string();
    let (tiny, expected) =
        (form(&matrix(2, &[(0, 0, 1e-200), (1, 0, 1e200), (1, 1, 1.0)])), "expected a finite number");
    assert_eq!(
        text(tiny.right(&[1e200, 0.0])),
        format!("NormalForm: the matrix gives inf for element 0 of the solution, {expected}")
    );
    // x_0 = 1e150 fits; what it takes from row 1 does not.
    assert!(text(tiny.solution(&[], &[1e-50, 0.0])).contains(" for element 1 of the solution, "));
    let large = form(&matrix(2, &[(0, 0, 1e-200), (0, 1, 1e-201), (1, 0, 1e-201), (1, 1, 1e-200)]));
    assert!(
        text(large.right(&[1e300, 0.0]))
            .starts_with("NormalForm: the matrix gives inf for element 0 of the right")
    );
    assert!(text(large.solution(&[1e300, 0.0], &[0.0; 2])).contains("inf for element 0 of the solution"));
    let small = form(&matrix(2, &[(0, 0, 1e200), (0, 1, 1e199), (1, 0, 1e199), (1, 1, 1e200)]));
    assert!(text(small.start(&[0.0, 1e300])).contains("inf for element 1 of the start"));
}

#[test]
fn what_is_asserted_is_there_or_refused() {
    let asserted = NormalPart::Asserted;
    type With = fn(NormalParams, NormalPart) -> NormalParams;
    let with: [(With, &str, &str); 6] = [
        (
            NormalParams::with_presolve,
            "presolve",
            "has two entries or more in every row and column, expected a one-entry one",
        ),
        (
            NormalParams::with_symmetry,
            "symmetry",
            "has -1 at (0, 1) and -10 at (1, 0), expected a difference of at most 1.8e-12",
        ),
        (NormalParams::with_sign, "sign", "has no negative entry at (0, 0), expected a negative diagonal"),
        (NormalParams::with_penalties, "penalties", "has no penalty row, expected one at least"),
        (NormalParams::with_scaling, "scaling", "has zero at (2, 2), expected a diagonal to scale by"),
        (NormalParams::with_components, "components", "has 1 connected components, expected two at least"),
    ];
    let plain = matrix(
        3,
        &[
            (0, 0, 2.0),
            (0, 1, -1.0),
            (1, 0, -10.0),
            (1, 1, 2.0),
            (1, 2, -1.0),
            (2, 1, 3.0),
            (2, 0, -1.0),
            (0, 2, 1.0),
        ],
    );
    let one_entry = matrix(3, &[(0, 0, 2.0), (1, 1, 1.0), (1, 2, 1.0), (2, 1, 2.0), (2, 2, 1.0)]);
    let symmetric = problems::poisson_1d(3).to_csr();
    let negative = symmetric.clone().map(|_, _, v| -v);
    let penalty = symmetric.clone().map(|i, j, v| if i == j && i == 0 { 1e9 } else { v });
    let pair = [(0, 0, 2.0), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 2.0)];
    let components = matrix(4, &[&pair[..], &pair.map(|(i, j, v)| (i + 2, j + 2, v))].concat());
    for ((with, name, text), found) in
        with.iter().zip([&one_entry, &symmetric, &negative, &penalty, &symmetric, &components])
    {
        let params = with(NormalParams::default(), asserted);
        let error = NormalForm::new(&plain, params).unwrap_err();
        assert_eq!(error.to_string(), format!("NormalForm: the matrix {text}"), "{name}");
        assert_eq!(NormalForm::new(found, params).unwrap(), form(found), "{name}");
    }
    // An entry that the diagonal does not bound.
    let wide = matrix(2, &[(0, 0, 1.0), (0, 1, 1e40), (1, 0, 1.0), (1, 1, 1.0)]);
    let error = NormalForm::new(&wide, NormalParams::default().with_scaling(asserted)).unwrap_err();
    assert!(error.to_string().contains("has an entry too large for its diagonal at (0, 1)"), "{error}");
}
