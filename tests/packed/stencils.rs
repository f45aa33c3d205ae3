//! Enhanced block Jacobi made from a stencil, with every kind of side, against the stencil's rows in 64 bits.

use texla::ops::LinOp;
use texla::pack::Order;
use texla::solve::{
    CgParams, ConjugateGradient, EnhancedBlockJacobi, Preconditioner, Smoother, Stationary, StationaryParams,
    Stop, StopReason,
};
use texla::{Device, Error, Grid, Side, Sides, Stencil, StencilParams, Vector};

use crate::common::bounds::product_bound;
use crate::common::harness::on_both;
use crate::common::random::uniform;
use crate::common::reference::max_abs;
use crate::shuffled;

const FAR: Side = Side::Dirichlet { distance: 1.75 };
const NEAR: Side = Side::Dirichlet { distance: 0.125 };

/// A stencil in numbers.
#[derive(Clone, Copy, Debug)]
struct Case {
    grid: Grid,
    weights: [f64; 3],
    sides: [[Side; 2]; 3],
    shift: f64,
}

fn cases() -> Vec<Case> {
    use Side::{Neumann, Periodic};
    let pairs = [
        [Side::DIRICHLET; 2],
        [Neumann; 2],
        [Side::WALL; 2],
        [Periodic; 2],
        [Side::WALL, Neumann],
        [FAR, Side::DIRICHLET],
        [Neumann, Side::WALL],
        [Side::DIRICHLET, Neumann],
    ];
    let mut all = Vec::new();
    for (k, [nx, ny, nz]) in
        [[8, 8, 1], [7, 9, 1], [1, 6, 1], [12, 1, 1], [5, 3, 4], [9, 4, 2], [40, 3, 3], [6, 2, 2], [3, 5, 3]]
            .into_iter()
            .cycle()
            .take(24)
            .enumerate()
    {
        // Along x any distance will do.
        let x = if k % 5 == 4 { [NEAR, FAR] } else { pairs[k % 8] };
        all.push(Case {
            grid: Grid::new_3d(nx, ny, nz),
            weights: [1.0, [1.0, 0.25][k % 2], if nz > 1 { [1.0, 3.0, 0.5][k % 3] } else { 0.0 }],
            sides: [x, pairs[(3 * k + 1) % 8], pairs[(5 * k + 2) % 8]],
            shift: [0.0, 1.0][k % 2],
        });
    }
    all
}

impl Case {
    fn stencil(&self, dev: &Device) -> Stencil {
        let sides = Sides { x: self.sides[0], y: self.sides[1], z: self.sides[2] };
        Stencil::new(dev, self.grid, StencilParams::new(self.weights, sides).with_shift(self.shift)).unwrap()
    }

    /// D, by the formula: across x both neighbours count, whatever is behind the sides.
    fn diagonal(&self, a: &Stencil, i: usize) -> f64 {
        let share = |side| match side {
            Side::Dirichlet { distance } => 1.0 / distance,
            Side::Neumann => 0.0,
            _ => 1.0,
        };
        let (nx, [x, y, z]) = (self.grid.nx, a.weights());
        let low = if i.is_multiple_of(nx) { share(self.sides[0][0]) } else { 1.0 };
        let high = if i % nx + 1 == nx { share(self.sides[0][1]) } else { 1.0 };
        self.shift + 2.0 * (y + z) + x * (low + high)
    }

    /// Whether it converges, by the documentation.
    fn converges(&self, a: &Stencil) -> bool {
        a.null_space().is_empty()
    }
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&v| f64::from(v)).collect()
}

fn orders(n: usize) -> [Order; 3] {
    [Order::identity(n), Order::accordion(n), shuffled(n, 9)]
}

#[test]
fn sweeps_are_those_of_the_stencils_rows() {
    on_both(|dev| {
        for (k, case) in cases().into_iter().enumerate() {
            let a = case.stencil(dev);
            let len = case.grid.len();
            let (start, b) = (uniform(3, len), uniform(4, len));
            for order in orders(case.grid.nx) {
                // Of other coefficients first, every second time.
                let other = Case { weights: case.weights.map(|w| 1.75 * w), shift: case.shift + 0.5, ..case };
                let first = if k % 2 == 0 { case } else { other }.stencil(dev);
                let mut jacobi = EnhancedBlockJacobi::from_stencil(&first, Some(&order)).unwrap();
                if k % 2 == 1 {
                    jacobi = jacobi.renewed(&a).unwrap();
                }
                let mut x = Vector::from_slice(dev, &start).unwrap();
                jacobi.smooth(&mut x, &Vector::from_slice(dev, &b).unwrap(), 3).unwrap();
                let (mut twin, mut off) = (wide(&start), vec![0.0; len]);
                for quad in (0..3).flat_map(|_| 0..order.len() / 4) {
                    let mut next = (twin.clone(), off.clone());
                    for i in (0..len).filter(|i| order.position(i % case.grid.nx) / 4 == quad) {
                        let d = case.diagonal(&a, i);
                        let (mut sum, mut magnitude, mut carried, mut terms) =
                            (f64::from(b[i]) / d, f64::from(b[i].abs()) / d.abs(), 0.0, 3);
                        for (j, v) in a.csr().row(i) {
                            // The own value stands in for what is behind a side.
                            let v = if j == i { (v - d) / d } else { v / d };
                            sum -= v * twin[j];
                            // Where several stand in, their sum is less than its terms.
                            let size =
                                if j == i { 4.0 * case.weights.iter().sum::<f64>() / d } else { v.abs() };
                            magnitude += size * (twin[j].abs() + off[j]);
                            carried += v.abs() * off[j];
                            terms += if j == i { 12 } else { 2 };
                        }
                        next.0[i] = sum;
                        next.1[i] = product_bound(magnitude, terms) + carried;
                    }
                    (twin, off) = next;
                }
                for (i, found) in x.read().unwrap().into_iter().enumerate() {
                    let far = (f64::from(found) - twin[i]).abs();
                    assert!(
                        far <= off[i],
                        "{case:?}, {i}: {found} is {far:e} from {}, bound {:e}",
                        twin[i],
                        off[i]
                    );
                }
            }
        }
    });
}

#[test]
fn every_order_leads_to_the_stencils_solution() {
    on_both(|dev| {
        for case in cases() {
            let a = case.stencil(dev);
            if !case.converges(&a) {
                continue;
            }
            let b = Vector::from_slice(dev, &uniform(5, case.grid.len())).unwrap();
            let solutions =
                [Some(Order::identity(case.grid.nx)), Some(shuffled(case.grid.nx, 2)), None].map(|order| {
                    let jacobi = EnhancedBlockJacobi::from_stencil(&a, order.as_ref()).unwrap();
                    let mut x = Vector::zeros(dev, b.len()).unwrap();
                    let params = StationaryParams::default().with_stop(Stop::relative(1e-6));
                    let report = Stationary::new(&a, &jacobi, params).unwrap().solve(&mut x, &b).unwrap();
                    assert_eq!(report.reason, StopReason::Converged, "{case:?} {order:?}");
                    assert!(report.true_residual <= 1e-6);
                    assert_eq!(report.readbacks_in_loop, 0);
                    wide(&x.read().unwrap())
                });
            let largest = max_abs(&solutions[0]);
            for other in &solutions[1..] {
                let far = max_abs(&other.iter().zip(&solutions[0]).map(|(a, b)| a - b).collect::<Vec<_>>());
                assert!(far <= 1e-3 * largest, "{case:?}: {far:e} of {largest}");
            }
        }
    });
}

#[test]
fn a_closed_box_is_solved_beside_its_null_space() {
    on_both(|dev| {
        for grid in [Grid::new_2d(9, 7), Grid::new_3d(5, 4, 3)] {
            let case = Case {
                grid,
                weights: [1.0, 1.0, f64::from(grid.nz > 1)],
                sides: [[Side::Neumann; 2]; 3],
                shift: 0.0,
            };
            let a = case.stencil(dev);
            let mut b = uniform(6, grid.len());
            let mean = b.iter().sum::<f32>() / b.len() as f32;
            b.iter_mut().for_each(|b| *b -= mean);
            let mut x = Vector::zeros(dev, b.len()).unwrap();
            let b = Vector::from_slice(dev, &b).unwrap();
            let jacobi = EnhancedBlockJacobi::from_stencil(&a, None).unwrap();
            let report =
                Stationary::new(&a, &jacobi, StationaryParams::default()).unwrap().solve(&mut x, &b).unwrap();
            assert_eq!(report.reason, StopReason::Converged);
        }
    });
}

#[test]
fn the_default_order_takes_the_fewest_instructions() {
    on_both(|dev| {
        for (n, along, default, natural) in [
            // 2 x ceil(n / 4) for the links across, and for the tridiagonal block what its order leaves.
            (8, Side::DIRICHLET, 4 + 4, 4 + 6),
            (40, Side::Neumann, 20 + 20, 20 + 38),
            (8, Side::Periodic, 4 + 4, 4 + 6),
            (3, Side::DIRICHLET, 2 + 2, 2 + 2),
        ] {
            let sides = [[along; 2], [Side::WALL; 2], [Side::Neumann; 2]];
            let case = Case { grid: Grid::new_2d(n, 3), weights: [1.0, 1.0, 0.0], sides, shift: 0.0 };
            let a = case.stencil(dev);
            let count = |order: Option<&Order>| {
                EnhancedBlockJacobi::from_stencil(&a, order).unwrap().program().counts().total()
            };
            let identity = Order::identity(n);
            assert_eq!((count(None), count(Some(&identity))), (default, natural), "{n}, {along:?}");
            assert!(count(None) <= count(Some(&Order::accordion(n))));
        }
    });
}

#[test]
fn it_preconditions_conjugate_gradients_of_the_stencil() {
    on_both(|dev| {
        let sides = [[Side::DIRICHLET; 2], [Side::WALL, Side::Neumann], [Side::Neumann; 2]];
        let case = Case { grid: Grid::new_3d(24, 9, 7), weights: [1.0; 3], sides, shift: 0.0 };
        let a = case.stencil(dev);
        let jacobi = EnhancedBlockJacobi::from_stencil(&a, None).unwrap();
        let b = Vector::from_slice(dev, &uniform(8, case.grid.len())).unwrap();
        let solve = |with: Option<&dyn Preconditioner>| {
            let mut x = Vector::zeros(dev, b.len()).unwrap();
            let params = CgParams::default();
            let a: &dyn LinOp = &a;
            let cg = ConjugateGradient::preconditioned(a, with, params).unwrap();
            let report = cg.solve(&mut x, &b).unwrap();
            assert_eq!(report.reason, StopReason::Converged);
            report.iterations
        };
        let (with, without) = (solve(Some(&jacobi)), solve(None));
        assert!(with < without, "{with} of {without}");
    });
}

#[test]
fn what_has_no_one_row_is_refused() {
    on_both(|dev| {
        let grid = Grid::new_2d(6, 4);
        let params = StencilParams::new([1.0, 1.0, 0.0], Sides::all(Side::DIRICHLET));
        let refused =
            |a: &Stencil, order: Option<&Order>| EnhancedBlockJacobi::from_stencil(a, order).err().unwrap();
        let mut solid = vec![false; 24];
        solid[7] = true;
        let a = Stencil::new(dev, grid, params.with_solid(&solid)).unwrap();
        let error = refused(&a, None);
        assert!(
            matches!(&error, Error::Matrix { detail, .. } if detail.contains("obstacles in 1 of 24 cells, expected none")),
            "{error}"
        );
        let near = Sides { y: [NEAR, Side::Neumann], ..params.sides };
        let a = Stencil::new(dev, grid, params.with_sides(near)).unwrap();
        let error = refused(&a, None);
        assert!(
            matches!(&error, Error::Matrix { detail, .. } if detail.contains("0.125 cells") && detail.contains("axis 1")),
            "{error}"
        );
        // An axis without a weight has no sides.
        let flat = Sides { z: [NEAR, NEAR], ..params.sides };
        let a = Stencil::new(dev, grid, params.with_sides(flat)).unwrap();
        EnhancedBlockJacobi::from_stencil(&a, None).unwrap();
        let error = refused(&a, Some(&Order::identity(7)));
        assert!(
            matches!(error, Error::LengthMismatch { operand: "order", found: 7, expected: 6, .. }),
            "{error}"
        );
        let empty = Stencil::new(dev, Grid::new_2d(0, 3), params).unwrap();
        assert!(matches!(refused(&empty, None), Error::Parameter { .. }));
        // 2 + 2 - 4: no diagonal to divide by.
        let a = Stencil::new(dev, grid, params.with_shift(-4.0)).unwrap();
        assert!(matches!(refused(&a, None), Error::Matrix { .. }));
    });
}
