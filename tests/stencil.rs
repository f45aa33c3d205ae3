//! Operators on grids against the f64 twin, componentwise within the product bound.

mod common;

use common::bounds::{TINY, U, assert_componentwise, gamma, product_bound};
use common::grids::Case;
use common::harness::{assert_padded, fitting, on_both};
use common::products::{COMBINES, Twin, combine};
use common::random::{Rng, nonzero, uniform};
use common::reference::widen;
use texla::ops::{self, Accurate, Combine};
use texla::solve::LinOp;
use texla::{BandedMatrix, Error, Grid, Side, Sides, Stencil, StencilParams, Vector};

/// The definition.
trait Definition {
    fn apply(&self, x: &[f64], weights: [f64; 3], shift: f64) -> (Vec<f64>, Vec<f64>);
}

impl Definition for Case {
    /// A x and the magnitudes that its terms sum to, by loops over the definition.
    fn apply(&self, x: &[f64], weights: [f64; 3], shift: f64) -> (Vec<f64>, Vec<f64>) {
        let n = [self.grid.nx as i64, self.grid.ny as i64, self.grid.nz as i64];
        let solid = |i: usize| !self.solid.is_empty() && self.solid[i];
        // The neighbours of a single periodic cell are itself.
        let single = |axis: usize| n[axis] == 1 && self.sides[axis][0] == Side::Periodic;
        let weights: [f64; 3] = std::array::from_fn(|axis| if single(axis) { 0.0 } else { weights[axis] });
        let index = |c: [i64; 3]| (c[0] + n[0] * (c[1] + n[1] * c[2])) as usize;
        let mut out = Vec::new();
        let mut magnitudes = Vec::new();
        for z in 0..n[2] {
            for y in 0..n[1] {
                for xx in 0..n[0] {
                    let c = [xx, y, z];
                    let i = index(c);
                    if solid(i) {
                        let interior = shift.abs() + 2.0 * weights.iter().map(|w| w.abs()).sum::<f64>();
                        out.push(interior * x[i]);
                        magnitudes.push((interior * x[i]).abs());
                        continue;
                    }
                    let mut sum = shift * x[i];
                    let mut magnitude = sum.abs();
                    let mut walled_in = true;
                    for axis in 0..3 {
                        let w = weights[axis];
                        for (end, step) in [-1, 1].into_iter().enumerate() {
                            let mut other = c;
                            other[axis] += step;
                            if other[axis] < 0 || other[axis] >= n[axis] {
                                match self.sides[axis][end] {
                                    Side::Neumann => continue,
                                    Side::Dirichlet { distance } => {
                                        sum += w / distance * x[i];
                                        walled_in &= w == 0.0;
                                        magnitude += (w / distance * x[i]).abs();
                                        continue;
                                    }
                                    Side::Periodic => other[axis] = (other[axis] + n[axis]) % n[axis],
                                    side => panic!("{side:?}"),
                                }
                            }
                            let j = index(other);
                            if solid(j) {
                                continue;
                            }
                            sum += w * (x[i] - x[j]);
                            walled_in &= i == j || w == 0.0;
                            magnitude += (w * x[i]).abs() + (w * x[j]).abs();
                        }
                    }
                    if walled_in && shift == 0.0 && self.solid.contains(&true) {
                        // Walled in: solid.
                        let interior = 2.0 * weights.iter().map(|w| w.abs()).sum::<f64>();
                        (sum, magnitude) = (interior * x[i], (interior * x[i]).abs());
                    }
                    out.push(sum);
                    magnitudes.push(magnitude);
                }
            }
        }
        (out, magnitudes)
    }
}

fn grids() -> Vec<Grid> {
    let mut all = vec![Grid::new_2d(0, 0), Grid::new_2d(4, 0), Grid::new_3d(0, 3, 2)];
    for (nx, ny) in [
        (1, 1),
        (2, 1),
        (1, 2),
        (2, 2),
        (3, 3),
        (4, 1),
        (1, 4),
        (4, 4),
        (5, 2),
        (2, 25),
        (50, 1),
        (1, 50),
        (8, 6),
        (12, 7),
        (13, 11),
        (9, 1),
        (16, 16),
        (17, 16),
        (64, 64),
        (60, 9),
        (251, 3),
        (3, 251),
        (128, 33),
    ] {
        all.push(Grid::new_2d(nx, ny));
    }
    for (nx, ny, nz) in
        [(1, 1, 2), (2, 2, 2), (3, 1, 4), (4, 4, 4), (8, 3, 5), (7, 3, 5), (5, 6, 7), (16, 8, 8), (1, 9, 9)]
    {
        all.push(Grid::new_3d(nx, ny, nz));
    }
    all
}

fn cases() -> Vec<Case> {
    let far = |distance| Side::Dirichlet { distance };
    let mut all = Vec::new();
    for (k, grid) in grids().into_iter().enumerate() {
        for side in [Side::DIRICHLET, Side::WALL, Side::Neumann, Side::Periodic] {
            all.push(Case::plain(grid, side));
        }
        let mut random = Rng::new(90 + k as u64);
        let sides = [[far(0.75), Side::Neumann], [Side::Neumann, far(1.25)], [Side::Periodic; 2]];
        let w = |random: &mut Rng| f64::from(random.away_from_zero());
        let weights = [w(&mut random), w(&mut random), w(&mut random)];
        let mixed = Case { grid, shift: w(&mut random), weights, sides, solid: Vec::new() };
        all.push(Case {
            shift: 0.0,
            sides: [[Side::Periodic; 2], [far(0.1), far(3.0)], [Side::Neumann; 2]],
            ..mixed.clone()
        });
        // No two sides alike, and none that could be taken for another.
        all.push(Case {
            sides: [[far(2.0), far(0.4)], [Side::Neumann, far(0.6)], [far(1.5), far(0.3)]],
            ..mixed.clone()
        });
        let solid: Vec<bool> = (0..grid.len()).map(|_| random.below(4) == 0).collect();
        all.push(Case { solid: solid.clone(), ..mixed.clone() });
        all.push(mixed);
        // Singular with obstacles: few enough of them.
        let mut sparse = vec![false; grid.len()];
        if let Some(cell) = sparse.get_mut(grid.len() / 2) {
            *cell = true;
        }
        all.push(Case { solid: sparse, ..Case::plain(grid, Side::Neumann) });
        all.push(Case { solid, ..Case::plain(grid, Side::WALL) });
    }
    all
}

/// What every grid is asked.
const SOME: [(&str, f32); 3] = [("replace", -1.7), ("add to", -2.5), ("accumulate", 1.0)];

#[test]
fn products_agree_with_the_definition() {
    on_both(|dev| {
        for case in cases() {
            let n = case.grid.len();
            if n > fitting(dev, n) {
                continue;
            }
            let name = format!("{case:?}");
            let name = &name[..name.len().min(300)];
            let a = case.stencil(dev);
            // What the device holds: rounded numbers. Distances are rounded as well, with one more operation.
            let weights = case.weights.map(|w| f64::from(w as f32));
            let shift = f64::from(case.shift as f32);
            let (x, z) = (uniform(1, n), nonzero(2, n));
            let (product, magnitudes) = case.apply(&widen(&x), weights, shift);
            let (dx, dz) = (Vector::from_slice(dev, &x).unwrap(), Vector::from_slice(dev, &z).unwrap());
            let axes = case.weights.iter().filter(|w| **w != 0.0).count();
            let twin = Twin { product, magnitudes, terms: vec![1 + 2 * axes; n] };
            let hy = uniform(3, n);
            // Every way for some grids of either kind, aligned or not: each is a program of its own.
            let all = [13, 16, 105].contains(&n) || case.grid == Grid::new_3d(8, 3, 5);
            for (way, alpha) in COMBINES.into_iter().filter(|c| all || SOME.contains(c)) {
                let mut y = Vector::from_slice(dev, &hy).unwrap();
                ops::product(&mut y, combine(way, &dz), alpha, &a, &dx).unwrap();
                assert_padded(&y, name);
                let (want, bounds) = twin.combined(way, alpha, &hy, &z);
                assert_componentwise(&format!("{way} {name}"), &y.read().unwrap(), &want, &bounds);
            }
        }
    });
}

#[test]
fn accurate_products_are_rounded_once() {
    on_both(|dev| {
        // Ten cases a grid: every third of all is another one on the next grid.
        for case in cases().into_iter().step_by(3) {
            let n = case.grid.len();
            if n > fitting(dev, n) {
                continue;
            }
            let name = format!("{case:?}");
            let name = &name[..name.len().min(300)];
            let a = case.stencil(dev);
            let (x, z) = (uniform(4, n), uniform(5, n));
            let (product, magnitudes) = case.apply(&widen(&x), case.weights, case.shift);
            let (dx, dz) = (Vector::from_slice(dev, &x).unwrap(), Vector::from_slice(dev, &z).unwrap());
            let mut y = Vector::zeros(dev, n).unwrap();
            for (alpha, beta) in [(-1.0f32, Some(1.0f32)), (2.0, None)] {
                let plus = beta.map(|b| (b, &dz));
                ops::product_accurate(&mut y, &a, Accurate { transposed: true, alpha, x: &dx, plus })
                    .unwrap();
                assert_padded(&y, name);
                let b = f64::from(beta.unwrap_or(0.0));
                let want: Vec<f64> =
                    product.iter().zip(&z).map(|(p, z)| f64::from(alpha) * p + b * f64::from(*z)).collect();
                // One rounding of the result, a few 2^-46 of the magnitudes.
                let bounds: Vec<f64> = want
                    .iter()
                    .zip(&magnitudes)
                    .map(|(w, m)| gamma(1) * w.abs() + 24.0 * 2f64.powi(-46) * (2.0 * m + 1.0) + TINY)
                    .collect();
                assert_componentwise(name, &y.read().unwrap(), &want, &bounds);
            }
        }
    });
}

#[test]
fn the_stored_forms_are_the_same_matrix() {
    on_both(|dev| {
        for case in cases() {
            let n = case.grid.len();
            if n > fitting(dev, n) || n > 600 {
                continue;
            }
            let a = case.stencil(dev);
            let x = widen(&uniform(6, n));
            let (product, magnitudes) = case.apply(&x, case.weights, case.shift);
            let stored = a.csr().mul_vec(&x).unwrap();
            for i in 0..n {
                let error = (stored[i] - product[i]).abs();
                assert!(error <= 1e-14 * magnitudes[i], "{case:?} row {i}: {} {}", stored[i], product[i]);
            }
            assert!(a.csr().is_symmetric() || n == 0, "{case:?}");
            assert_eq!(a.diagonal(), LinOp::diagonal(&a).unwrap());
            let diagonal = a.csr().diagonal();
            let squares = a.column_squares().unwrap();
            for (i, own) in a.diagonal().into_iter().enumerate() {
                let tolerance = 1e-14 * magnitudes[i].max(own.abs()).max(1.0) + 4.0 * U * 0.0;
                // An axis of one periodic cell adds and takes away the same.
                assert!(
                    (own - diagonal[i]).abs() <= tolerance || case.grid.sides().contains(&1),
                    "{case:?} {i}"
                );
                assert!(squares[i].is_finite());
            }
        }
    });
}

#[test]
fn the_five_point_laplacian_is_the_banded_one() {
    on_both(|dev| {
        let (nx, ny) = (24, 17);
        let a = Case::plain(Grid::new_2d(nx, ny), Side::DIRICHLET).stencil(dev);
        let banded = BandedMatrix::poisson_2d(dev, nx, ny).unwrap();
        assert_eq!(a.csr(), banded.pattern());
        assert_eq!(a.exponent(), banded.exponent());
    });
}

#[test]
fn null_spaces_are_found() {
    on_both(|dev| {
        let count = |case: &Case| case.stencil(dev).null_space().len();
        let grid = Grid::new_2d(12, 5);
        assert_eq!(count(&Case::plain(grid, Side::Neumann)), 1);
        assert_eq!(count(&Case::plain(grid, Side::Periodic)), 1);
        assert_eq!(count(&Case::plain(grid, Side::DIRICHLET)), 0);
        let mut one = Case::plain(grid, Side::Neumann);
        one.sides[1][1] = Side::WALL;
        assert_eq!(count(&one), 0);
        assert_eq!(count(&Case { shift: 0.5, ..Case::plain(grid, Side::Neumann) }), 0);
        // Without coupling between rows each is a region of its own.
        assert_eq!(count(&Case { weights: [1.0, 0.0, 0.0], ..Case::plain(grid, Side::Neumann) }), 5);
        // A wall of solid cells, and one cell walled in, which becomes solid itself.
        let mut walls: Vec<bool> = (0..60).map(|i| i % 12 == 5).collect();
        for i in [1, 12, 14, 25] {
            walls[i] = true;
        }
        let case = Case { solid: walls, ..Case::plain(grid, Side::Neumann) };
        let a = case.stencil(dev);
        // The corner cell 0 and cell 13 are walled in.
        assert!(a.solids()[13] && a.solids()[0]);
        assert_eq!(a.null_space().len(), 2);
        let mut y = Vector::zeros(dev, 60).unwrap();
        let mut total = vec![0.0; 60];
        for v in a.null_space() {
            ops::product(&mut y, Combine::Replace, 1.0, &a, v).unwrap();
            assert_eq!(y.read().unwrap(), [0.0; 60]);
            v.read().unwrap().iter().zip(&mut total).for_each(|(v, t)| *t += v);
        }
        let fluid: Vec<f32> = a.solids().iter().map(|s| f32::from(u8::from(!s))).collect();
        assert_eq!(total, fluid);
        let rows = Case { weights: [1.0, 0.0, 0.0], ..Case::plain(Grid::new_2d(2, 65), Side::Neumann) };
        let [x, y, z] = rows.sides;
        let found =
            Stencil::new(dev, rows.grid, StencilParams::new(rows.weights, Sides { x, y, z })).map(|_| ());
        assert!(matches!(found, Err(Error::Matrix { .. })), "{found:?}");
    });
}

#[test]
fn extreme_weights_are_scaled() {
    on_both(|dev| {
        let grid = Grid::new_2d(8, 5);
        let (x, n) = (uniform(8, 40), 40);
        for exponent in [-100, 100] {
            let s = 2f64.powi(exponent);
            let case = Case { shift: 0.75 * s, weights: [s, 0.5 * s, 0.0], ..Case::plain(grid, Side::WALL) };
            let a = case.stencil(dev);
            let dx = Vector::from_slice(dev, &x).unwrap();
            let mut y = Vector::zeros(dev, n).unwrap();
            let alpha = 2f32.powi(-exponent);
            ops::product(&mut y, Combine::Replace, alpha, &a, &dx).unwrap();
            let (product, magnitudes) = case.apply(&widen(&x), case.weights, case.shift);
            let want: Vec<f64> = product.iter().map(|p| p / s).collect();
            let bounds: Vec<f64> = magnitudes.iter().map(|m| product_bound(m / s, 5)).collect();
            assert_componentwise("scaled", &y.read().unwrap(), &want, &bounds);
            let terms = Accurate { transposed: false, alpha, x: &dx, plus: None };
            ops::product_accurate(&mut y, &a, terms).unwrap();
            let bounds: Vec<f64> =
                want.iter().zip(&magnitudes).map(|(w, m)| U * w.abs() + 2f64.powi(-40) * m / s).collect();
            assert_componentwise("scaled, accurate", &y.read().unwrap(), &want, &bounds);
        }
    });
}

#[test]
fn a_product_is_one_draw_and_reads_nothing() {
    on_both(|dev| {
        for grid in [Grid::new_2d(16, 9), Grid::new_3d(5, 4, 3)] {
            let a = Case::plain(grid, Side::Neumann).stencil(dev);
            let x = Vector::filled(dev, grid.len(), 1.0).unwrap();
            let mut y = Vector::zeros(dev, grid.len()).unwrap();
            let before = dev.counters();
            ops::product(&mut y, Combine::Replace, 1.0, &a, &x).unwrap();
            let cost = dev.counters().since(&before);
            assert_eq!((cost.draws, cost.passes, cost.readbacks), (1, 1, 0));
        }
    });
}

#[test]
fn what_makes_no_sense_is_refused() {
    on_both(|dev| {
        let grid = Grid::new_2d(4, 4);
        let new = |shift, weights, sides| {
            Stencil::new(dev, grid, StencilParams::new(weights, sides).with_shift(shift)).map(|_| ())
        };
        let all = Sides::all(Side::DIRICHLET);
        let e = new(f64::NAN, [1.0; 3], all);
        assert!(matches!(e, Err(Error::NonFinite { index: 0, .. })), "{e:?}");
        let e = new(0.0, [1.0, f64::INFINITY, 0.0], all);
        assert!(matches!(e, Err(Error::NonFinite { index: 2, .. })), "{e:?}");
        let e = new(0.0, [1.0, 1e39, 0.0], all);
        assert!(matches!(e, Err(Error::NonFinite { .. })), "{e:?}");
        for distance in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let e = new(0.0, [1.0; 3], Sides::all(Side::Dirichlet { distance }));
            assert!(matches!(e, Err(Error::Parameter { name: "sides.x", .. })), "{e:?}");
        }
        let e = new(0.0, [1.0; 3], Sides { y: [Side::Periodic, Side::Neumann], ..all });
        assert!(matches!(e, Err(Error::Parameter { name: "sides.y", .. })), "{e:?}");
        let e =
            Stencil::new(dev, grid, StencilParams::new([1.0; 3], all).with_solid(&[false; 15])).map(|_| ());
        assert!(matches!(e, Err(Error::LengthMismatch { found: 15, expected: 16, .. })), "{e:?}");
        let huge = Grid::new_3d(1 << 20, 1 << 20, 1 << 20);
        let e = Stencil::new(dev, huge, StencilParams::new([1.0; 3], all)).map(|_| ());
        assert!(matches!(e, Err(Error::TooLarge { .. })), "{e:?}");
        let a = Stencil::new(dev, grid, StencilParams::new([1.0; 3], all)).unwrap();
        let (x, mut y) = (Vector::zeros(dev, 15).unwrap(), Vector::zeros(dev, 16).unwrap());
        let e = ops::product(&mut y, Combine::Replace, 1.0, &a, &x);
        assert!(matches!(e, Err(Error::ShapeMismatch { operand: "x", .. })), "{e:?}");
        let x = Vector::zeros(dev, 16).unwrap();
        let e = ops::product(&mut y, Combine::Replace, f32::NAN, &a, &x);
        assert!(matches!(e, Err(Error::Parameter { name: "alpha", .. })), "{e:?}");
    });
}

/// Coefficients that vary, on 5 and 9 points and with sides that come round: diagonals of a banded matrix, against loops
/// over the grid.
#[test]
fn variable_coefficients_are_bands() {
    on_both(|dev| {
        let five = vec![[0, -1, 0], [-1, 0, 0], [0, 0, 0], [1, 0, 0], [0, 1, 0]];
        let nine: Vec<[i64; 3]> = (-1..=1).flat_map(|y| (-1..=1).map(move |x| [x, y, 0])).collect();
        for (nx, ny) in [(1, 1), (3, 3), (5, 4), (16, 9), (17, 31)] {
            for (taps, periodic) in
                [(&five, [false; 3]), (&nine, [false; 3]), (&nine, [true, false, false]), (&five, [true; 3])]
            {
                let (grid, n) = (Grid::new_2d(nx, ny), nx * ny);
                let values: Vec<f64> = widen(&uniform(3, n * taps.len()));
                let c = |x: usize, y: usize, k: usize| values[(y * nx + x) * taps.len() + k];
                let triplets =
                    texla::host::problems::variable_stencil(grid, taps, periodic, |[x, y, _], k| c(x, y, k));
                let a = BandedMatrix::from_triplets(dev, &triplets).unwrap();
                let x = uniform(4, n);
                let dx = Vector::from_slice(dev, &x).unwrap();
                let mut y = Vector::zeros(dev, n).unwrap();
                ops::product(&mut y, Combine::Replace, 1.0, &a, &dx).unwrap();
                let (mut want, mut magnitudes) = (vec![0.0; n], vec![0.0; n]);
                for i in 0..n as i64 {
                    let (px, py) = (i % nx as i64, i / nx as i64);
                    for (k, tap) in taps.iter().enumerate() {
                        let (mut qx, mut qy) = (px + tap[0], py + tap[1]);
                        if periodic[0] {
                            qx = (qx + nx as i64) % nx as i64;
                        }
                        if periodic[1] {
                            qy = (qy + ny as i64) % ny as i64;
                        }
                        if (0..nx as i64).contains(&qx) && (0..ny as i64).contains(&qy) {
                            let term =
                                c(px as usize, py as usize, k) * f64::from(x[(qx + nx as i64 * qy) as usize]);
                            want[i as usize] += term;
                            magnitudes[i as usize] += term.abs();
                        }
                    }
                }
                // On the smallest periodic grids several taps meet in one place, and their sum is rounded.
                let bounds: Vec<f64> = magnitudes.iter().map(|m| product_bound(*m, taps.len() + 1)).collect();
                assert_componentwise(&format!("{grid} {}", taps.len()), &y.read().unwrap(), &want, &bounds);
            }
        }
    });
}

/// Weights of both signs cancel in rows far from any obstacle; an axis of one periodic cell has no differences; and no row
/// of a solid cell is zero.
#[test]
fn what_cancels_is_not_walled_in() {
    on_both(|dev| {
        let mut solid = vec![false; 36];
        solid[0] = true;
        let sides = Sides::all(Side::Neumann);
        let params = StencilParams::new([1.0, -1.0, 0.0], sides).with_solid(&solid);
        let a = Stencil::new(dev, Grid::new_2d(6, 6), params).unwrap();
        assert_eq!(a.solids().iter().filter(|s| **s).count(), 1);
        let x: Vec<f32> = (0..36).map(|i| ((i % 6) * (i % 6)) as f32).collect();
        let mut y = Vector::zeros(dev, 36).unwrap();
        ops::product(&mut y, Combine::Replace, 1.0, &a, &Vector::from_slice(dev, &x).unwrap()).unwrap();
        assert_eq!(y.read().unwrap()[14], -2.0);
        let params = StencilParams::new([1.0, 1.0, 100.0], Sides::all(Side::Periodic));
        let a = Stencil::new(dev, Grid::new_2d(5, 4), params).unwrap();
        assert_eq!(a.weights(), [1.0, 1.0, 0.0]);
        assert_eq!(a.diagonal(), a.csr().diagonal());
        let params = StencilParams::new([-0.5, -0.5, 0.0], sides).with_shift(2.0).with_solid(&solid);
        let explicit = Stencil::new(dev, Grid::new_2d(6, 6), params).unwrap();
        assert_eq!(explicit.diagonal()[0], 4.0);
        let params = StencilParams::new([1.0; 3], Sides::all(Side::Dirichlet { distance: 1e-40 }));
        let e = Stencil::new(dev, Grid::new_2d(4, 4), params);
        assert!(matches!(e.err(), Some(Error::Parameter { name: "sides.x", .. })));
    });
}
