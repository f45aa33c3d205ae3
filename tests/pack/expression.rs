//! How expressions are built, and what is refused.

use texla::host::{Triplets, problems};
use texla::pack::{LinearExpression, Order, StencilBoundary, instances};
use texla::{Error, Grid, Shape};

#[test]
fn what_is_no_square_matrix_of_finite_numbers_is_refused() {
    let wide = Triplets::new(Shape::new(2, 3));
    assert!(matches!(LinearExpression::new(&wide, &[true; 2]), Err(Error::Matrix { .. })));
    let empty = Triplets::new(Shape::new(0, 0));
    assert!(matches!(LinearExpression::new(&empty, &[]), Err(Error::Matrix { .. })));
    for bad in [f64::NAN, f64::INFINITY, 1e39] {
        let a = Triplets::from_entries(Shape::new(2, 2), [(0, 0, 1.0), (1, 0, bad)]).unwrap();
        assert!(matches!(LinearExpression::new(&a, &[true; 2]), Err(Error::NonFinite { index: 1, .. })));
    }
    let a = problems::poisson_1d(3);
    let found = LinearExpression::new(&a, &[true; 4]);
    assert!(matches!(found, Err(Error::LengthMismatch { found: 4, expected: 3, .. })));
    let hollow = Triplets::from_entries(Shape::new(2, 2), [(0, 0, 1.0), (1, 0, 1.0)]).unwrap();
    assert!(matches!(LinearExpression::gauss_seidel(&hollow), Err(Error::Matrix { .. })));
    assert!(matches!(LinearExpression::jacobi(&hollow), Err(Error::Matrix { .. })));
    assert!(LinearExpression::ode_stage(&a, &[true; 3], f64::NAN).is_err());
}

#[test]
fn duplicates_are_summed_and_zeros_dropped() {
    let entries = [(0, 0, 1.0), (0, 0, 2.0), (0, 1, 0.0), (1, 1, 5.0), (1, 1, -5.0)];
    let a = Triplets::from_entries(Shape::new(2, 2), entries).unwrap();
    let e = LinearExpression::new(&a, &[false, true]).unwrap();
    assert_eq!(e.matrix().entries().collect::<Vec<_>>(), [(0, 0, 3.0)]);
    assert_eq!(e.scalar_operations(), 1);
}

#[test]
fn sides_of_a_grid_mean_what_they_say() {
    let taps = [([-1, 0, 0], 1.0), ([0, 0, 0], 10.0), ([1, 0, 0], 100.0)];
    let along = |sides: [StencilBoundary; 2]| {
        let none = [StencilBoundary::Dropped; 2];
        let e = LinearExpression::stencil(Grid::new_2d(3, 1), &taps, [sides, none, none], true).unwrap();
        (e.evaluate(&[1.0, 2.0, 3.0], &[0.0; 3]).unwrap(), e.is_nontrivial(0))
    };
    use StencilBoundary::{Copied, Dropped, Fixed, Periodic, Scaled};
    assert_eq!(along([Dropped, Dropped]), (vec![210.0, 321.0, 32.0], true));
    assert_eq!(along([Fixed, Dropped]), (vec![0.0, 321.0, 32.0], false));
    assert_eq!(along([Dropped, Fixed]), (vec![210.0, 321.0, 0.0], true));
    assert_eq!(along([Copied, Copied]), (vec![211.0, 321.0, 332.0], true));
    assert_eq!(along([Scaled(-1.0), Scaled(0.5)]), (vec![209.0, 321.0, 182.0], true));
    assert_eq!(along([Periodic, Periodic]), (vec![213.0, 321.0, 132.0], true));
    let mixed = [[Periodic, Dropped], [Dropped; 2], [Dropped; 2]];
    assert!(LinearExpression::stencil(Grid::new_2d(3, 1), &taps, mixed, true).is_err());
    let long = [([4, 0, 0], 1.0)];
    assert!(LinearExpression::stencil(Grid::new_2d(3, 1), &long, [[Dropped; 2]; 3], true).is_err());
}

#[test]
fn a_sweep_in_any_order_is_gauss_seidel_in_that_order() {
    let a = instances::cube_of_cells().unwrap();
    let e = LinearExpression::gauss_seidel(&a).unwrap();
    let order: Vec<usize> = (0..64).map(|k| (k * 37 + 5) % 64).collect();
    let (mut x, b): (Vec<f64>, Vec<f64>) = (0..64).map(|i| (f64::from(i).sin(), f64::from(i).cos())).unzip();
    let found = e.sweep(&Order::new(64, &order).unwrap(), &x, &b).unwrap();
    for i in order {
        let others: f64 = a.entries().filter(|&(r, c, _)| r == i && c != i).map(|(_, c, v)| v * x[c]).sum();
        x[i] = (6.0 * b[i] - others) / 6.0;
    }
    for (found, x) in found.iter().zip(&x) {
        assert!((found - x).abs() < 1e-14, "{found} {x}");
    }
}
