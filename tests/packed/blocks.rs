//! Repeated blocks on the device, and the enhanced block Jacobi method, against the stencil in 64 bits, cell by cell.

use texla::gl::Limits;
use texla::pack::StencilBoundary::{self, Copied, Dropped, Periodic, Scaled};
use texla::pack::{Order, RepeatedExpression};
use texla::solve::{
    BlockExpression, CgParams, ConjugateGradient, Direction, EnhancedBlockJacobi, GaussSeidel,
    Preconditioner, Smoother, SolveReport, Stationary, StationaryParams, Stop, StopReason, WeightedJacobi,
};
use texla::{Device, Error, Grid, Side, Sides, SparseFormat, SparseMatrix, Stencil, StencilParams, Vector};

use crate::common::bounds::product_bound;
use crate::common::grids::{Taps, laplace};
use crate::common::harness::{on_both, on_both_with};
use crate::common::random::uniform;
use crate::common::reference::max_abs;
use crate::shuffled;

type Ends = [StencilBoundary; 2];

/// All 27 neighbours, with a large diagonal.
fn wild() -> Taps {
    let values = uniform(5, 28);
    let offset = |k: i32| [k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1];
    let tap = |k: i32| (offset(k), if k == 13 { 20.0 } else { f64::from(values[k as usize]) });
    (0..27).map(tap).collect()
}

/// A system of a stencil, from the cells: D, which is the same in all blocks, and what else stands in a row.
pub struct System {
    pub grid: Grid,
    pub pieces: usize,
    pub taps: Taps,
    pub sides: [Ends; 3],
    pub n: usize,
    pub diagonal: Vec<f64>,
    /// (cell, coefficient), not merged.
    pub others: Vec<Vec<(usize, f64)>>,
}

/// Values with bounds of what a device is off by.
#[derive(Clone)]
pub struct Bounded {
    pub x: Vec<f64>,
    pub off: Vec<f64>,
}

impl Bounded {
    pub fn exact(x: &[f32]) -> Self {
        Bounded { x: x.iter().map(|&x| f64::from(x)).collect(), off: vec![0.0; x.len()] }
    }

    pub fn check(&self, found: &[f32], scale: f64, what: &str) {
        assert_eq!(found.len(), self.x.len());
        for (i, found) in found.iter().enumerate() {
            let off = (f64::from(*found) - scale * self.x[i]).abs();
            let bound = scale * self.off[i];
            assert!(
                off <= bound,
                "{what}, {i}: {found} is {off:e} from {}, bound {bound:e}",
                scale * self.x[i]
            );
        }
    }
}

impl System {
    pub fn new(grid: Grid, pieces: usize, taps: Taps, sides: [Ends; 3]) -> Self {
        let n = grid.nx / pieces;
        let mut diagonal = vec![0.0; n];
        let mut others = vec![Vec::new(); grid.len()];
        for (cell, row) in others.iter_mut().enumerate() {
            let (x, y, z) = grid.place(cell);
            for &(offset, weight) in &taps {
                let mut to = [x as i64, y as i64, z as i64];
                let (mut inside, mut weight) = (true, weight);
                for (axis, to) in to.iter_mut().enumerate() {
                    let last = grid.sides()[axis] as i64 - 1;
                    *to += i64::from(offset[axis]);
                    let side = sides[axis][usize::from(*to > last)];
                    if (0..=last).contains(to) {
                        continue;
                    }
                    match side {
                        Copied => *to = (*to).clamp(0, last),
                        Scaled(factor) => {
                            *to = (*to).clamp(0, last);
                            weight *= factor;
                        }
                        Periodic => *to = to.rem_euclid(last + 1),
                        _ => inside = false,
                    }
                }
                if !inside {
                    continue;
                }
                let to = grid.index(to[0] as usize, to[1] as usize, to[2] as usize);
                // What comes back to the cell along its line is its block's diagonal; across, the own value stands in.
                if to == cell && offset[1..] == [0, 0] {
                    if cell < n {
                        diagonal[cell] += weight;
                    }
                } else {
                    row.push((to, weight));
                }
            }
        }
        System { grid, pieces, taps, sides, n, diagonal, others }
    }

    pub fn expression(&self) -> RepeatedExpression {
        RepeatedExpression::stencil(self.grid, self.pieces, &self.taps, self.sides, true).unwrap()
    }

    /// What a cell becomes, and how far off it may be: a rounding for each coefficient, product and sum, and two of D^-1 b.
    pub fn step(&self, cell: usize, state: &Bounded, b: &[f64]) -> (f64, f64) {
        let d = self.diagonal[cell % self.n];
        let (mut sum, mut magnitude, mut carried, mut terms) = (b[cell] / d, (b[cell] / d).abs(), 0.0, 2);
        for &(f, v) in &self.others[cell] {
            sum -= v / d * state.x[f];
            magnitude += (v / d).abs() * (state.x[f].abs() + state.off[f]);
            carried += (v / d).abs() * state.off[f];
            terms += 1;
        }
        (sum, product_bound(magnitude, terms + 1) + carried)
    }

    /// The cells of `quad`, all at once, of so many unknowns a quad.
    fn replace(&self, order: &Order, lanes: usize, quad: usize, state: &mut Bounded, b: &[f64]) {
        let held = |cell: &usize| order.position(cell % self.n) / lanes == quad;
        let cells: Vec<usize> = (0..self.grid.len()).filter(held).collect();
        let new: Vec<_> = cells.iter().map(|&cell| self.step(cell, state, b)).collect();
        for (cell, (x, off)) in cells.into_iter().zip(new) {
            (state.x[cell], state.off[cell]) = (x, off);
        }
    }

    pub fn sweep(&self, order: &Order, state: &mut Bounded, b: &[f64]) {
        self.sweep_of(order, 4, state, b);
    }

    /// The same with so many unknowns a quad.
    pub fn sweep_of(&self, order: &Order, lanes: usize, state: &mut Bounded, b: &[f64]) {
        (0..order.len() / lanes).for_each(|quad| self.replace(order, lanes, quad, state, b));
    }

    pub fn sweep_back(&self, order: &Order, state: &mut Bounded, b: &[f64]) {
        (0..order.len() / 4).rev().for_each(|quad| self.replace(order, 4, quad, state, b));
    }

    /// Sweeps until the residual is `relative` of b, at most 20,000, of the unknowns of one update after another.
    fn until(&self, relative: f64, b: &[f64], updates: &[Vec<usize>], clamped: bool) -> usize {
        let norm = |v: &mut dyn Iterator<Item = f64>| v.map(|v| v * v).sum::<f64>().sqrt();
        let residual = |x: &[f64]| {
            let row = |cell: usize| {
                let others: f64 = self.others[cell].iter().map(|&(f, v)| v * x[f]).sum();
                b[cell] - self.diagonal[cell % self.n] * x[cell] - others
            };
            norm(&mut (0..x.len()).map(row))
        };
        let target = relative * norm(&mut b.iter().copied());
        let mut x = vec![0.0; b.len()];
        for sweeps in 1..=20_000 {
            for update in updates {
                let new: Vec<f64> = update
                    .iter()
                    .map(|&cell| {
                        let own = |&&(f, _): &&(usize, f64)| f == cell && !clamped;
                        let d = self.diagonal[cell % self.n]
                            + self.others[cell].iter().filter(own).map(|&(_, v)| v).sum::<f64>();
                        let others = self.others[cell].iter().filter(|o| !own(o));
                        (b[cell] - others.map(|&(f, v)| v * x[f]).sum::<f64>()) / d
                    })
                    .collect();
                update.iter().zip(new).for_each(|(&cell, new)| x[cell] = new);
            }
            if residual(&x) <= target {
                return sweeps;
            }
        }
        panic!("not converged");
    }
}

const NEUMANN: [Ends; 3] = [[Copied; 2]; 3];

/// Systems of all kinds, in small.
pub fn systems() -> Vec<System> {
    let mixed = [[Dropped, Copied], [Copied, Dropped], [Dropped; 2]];
    let paper = [[Dropped; 2], [Copied; 2], [Copied; 2]];
    let round = [[Periodic; 2], [Periodic; 2], [Copied; 2]];
    let walls = [[Scaled(-1.0); 2], [Scaled(-1.0), Copied], [Dropped, Scaled(0.5)]];
    let mut all = Vec::new();
    for (k, (nx, ny)) in
        [(1, 1), (1, 5), (2, 3), (3, 1), (5, 4), (8, 8), (7, 9), (13, 1), (40, 6), (9, 5), (6, 1)]
            .into_iter()
            .enumerate()
    {
        let sides = [NEUMANN, mixed, paper, round, walls][k % 5];
        all.push(System::new(Grid::new_2d(nx, ny), 1, laplace(2), sides));
    }
    for (k, [nx, ny, nz]) in
        [[1, 1, 1], [5, 3, 4], [8, 4, 2], [4, 1, 3], [9, 5, 2], [1, 7, 3]].into_iter().enumerate()
    {
        let sides = [paper, mixed, NEUMANN, round, walls][k % 5];
        all.push(System::new(Grid::new_3d(nx, ny, nz), 1, laplace(3), sides));
        all.push(System::new(
            Grid::new_3d(nx, ny, nz),
            1,
            wild(),
            [mixed, NEUMANN, walls, round, paper][k % 5],
        ));
    }
    for (nx, ny, pieces) in [(20, 3, 2), (12, 5, 4), (64, 7, 2)] {
        all.push(System::new(Grid::new_2d(nx, ny), pieces, laplace(2), paper));
        all.push(System::new(Grid::new_2d(nx, ny), pieces, laplace(2), round));
    }
    all.push(System::new(
        Grid::new_2d(20, 7),
        2,
        laplace(2),
        [[Dropped; 2], [Copied, Scaled(-1.0)], [Dropped; 2]],
    ));
    // More quads than are brought back in one pass: 15 whole ones, and 33.
    all.push(System::new(Grid::new_2d(60, 3), 1, laplace(2), mixed));
    all.push(System::new(Grid::new_2d(130, 2), 1, laplace(2), paper));
    all
}

pub fn orders(n: usize) -> [Order; 3] {
    [Order::identity(n), Order::accordion(n), shuffled(n, 7)]
}

pub fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&v| f64::from(v)).collect()
}

#[test]
fn sweeps_are_those_of_64_bits() {
    on_both(|dev| {
        for system in systems() {
            let (len, e) = (system.grid.len(), system.expression());
            let (start, b) = (uniform(3, len), uniform(4, len));
            let device_b = Vector::from_slice(dev, &b).unwrap();
            for order in orders(system.n) {
                let what = format!("{}, {:?}, {:?}", system.grid, system.sides, order.indices());
                let jacobi = EnhancedBlockJacobi::new(dev, &e, &order).unwrap();
                let mut twin = Bounded::exact(&start);
                let mut x = Vector::from_slice(dev, &start).unwrap();
                jacobi.smooth(&mut x, &device_b, 0).unwrap();
                assert_eq!(x.read().unwrap(), start);
                for sweeps in [1, 3] {
                    jacobi.smooth(&mut x, &device_b, sweeps).unwrap();
                    (0..sweeps).for_each(|_| system.sweep(&order, &mut twin, &wide(&b)));
                    twin.check(&x.read().unwrap(), 1.0, &what);
                }
            }
        }
    });
}

#[test]
fn a_preconditioner_goes_forward_and_back_from_zero() {
    on_both(|dev| {
        for system in systems() {
            let (len, e) = (system.grid.len(), system.expression());
            let r = uniform(6, len);
            let device_r = Vector::from_slice(dev, &r).unwrap();
            let largest = max_abs(&system.diagonal.iter().map(|d| 1.0 / d).collect::<Vec<_>>());
            let factor = (-largest.log2().floor()).exp2();
            for order in orders(system.n) {
                let jacobi = EnhancedBlockJacobi::new(dev, &e, &order).unwrap();
                let mut z = Vector::filled(dev, len, 1e6).unwrap();
                jacobi.apply(&mut z, &device_r).unwrap();
                let mut twin = Bounded::exact(&vec![0.0; len]);
                system.sweep(&order, &mut twin, &wide(&r));
                system.sweep_back(&order, &mut twin, &wide(&r));
                twin.check(&z.read().unwrap(), factor, &format!("{}, {:?}", system.grid, order.indices()));
            }
        }
    });
}

#[test]
fn an_expression_reads_old_values_alone_and_subtracts() {
    on_both(|dev| {
        for system in systems() {
            let len = system.grid.len();
            let e = system.expression();
            let (x, b) = (uniform(8, len), uniform(9, len));
            for (sign, order) in [1.0, -1.0, 1.0].into_iter().zip(orders(system.n)) {
                let make = if sign > 0.0 { BlockExpression::new } else { BlockExpression::subtracting };
                let expression = make(dev, &e, &order).unwrap();
                let pack = |v: &[f32]| expression.pack(&Vector::from_slice(dev, v).unwrap()).unwrap();
                let mut y = expression.zeros().unwrap();
                expression.apply(&mut y, &pack(&x), &pack(&b)).unwrap();
                let mut out = Vector::filled(dev, len, 1e6).unwrap();
                expression.unpack(&mut out, &y).unwrap();
                for (cell, found) in out.read().unwrap().into_iter().enumerate() {
                    let own = [(cell, system.diagonal[cell % system.n])];
                    let (mut sum, mut magnitude) = (sign * f64::from(b[cell]), f64::from(b[cell].abs()));
                    for &(f, v) in system.others[cell].iter().chain(&own) {
                        sum += v * f64::from(x[f]);
                        magnitude += (v * f64::from(x[f])).abs();
                    }
                    let bound = product_bound(magnitude, system.others[cell].len() + 3);
                    let off = (f64::from(found) - sum).abs();
                    assert!(off <= bound, "{}, {cell}: {found} is {off:e} from {sum}", system.grid);
                }
            }
        }
    });
}

#[test]
fn what_is_packed_comes_back() {
    on_both(|dev| {
        for system in systems() {
            let values = uniform(2, system.grid.len());
            let v = Vector::from_slice(dev, &values).unwrap();
            for order in orders(system.n) {
                let e = BlockExpression::new(dev, &system.expression(), &order).unwrap();
                let mut out = Vector::filled(dev, values.len(), 1e6).unwrap();
                e.unpack(&mut out, &e.pack(&v).unwrap()).unwrap();
                assert_eq!(out.read().unwrap(), values);
            }
        }
    });
}

/// The Laplacian of a system as an operator: any will do.
fn operator(dev: &Device, system: &System) -> SparseMatrix {
    let triplets = system.expression().to_triplets().unwrap();
    SparseMatrix::from_triplets(dev, &triplets, SparseFormat::Gather).unwrap()
}

fn solve(
    dev: &Device,
    smoother: &dyn Smoother,
    a: &dyn texla::ops::LinOp,
    b: &[f32],
    relative: f64,
) -> (SolveReport, Vec<f32>) {
    let stop = Stop::relative(relative);
    let params = StationaryParams::default().with_stop(stop);
    let b = Vector::from_slice(dev, b).unwrap();
    let mut x = Vector::zeros(dev, b.len()).unwrap();
    let report = Stationary::new(a, smoother, params).unwrap().solve(&mut x, &b).unwrap();
    (report, x.read().unwrap())
}

#[test]
fn the_fixed_point_is_the_solution_whatever_the_sides() {
    on_both(|dev| {
        let one = |sides: [Ends; 3]| sides.as_flattened().iter().any(|s| matches!(s, Dropped | Scaled(_)));
        // Long lines take more sweeps than a test should.
        for system in systems().into_iter().filter(|system| one(system.sides) && system.n < 100) {
            let a = operator(dev, &system);
            let b = uniform(12, system.grid.len());
            for order in [Order::identity(system.n), Order::accordion(system.n)] {
                let jacobi = EnhancedBlockJacobi::new(dev, &system.expression(), &order).unwrap();
                // The residual is recomputed in double-float from the whole matrix.
                let (report, _) = solve(dev, &jacobi, &a, &b, 1e-5);
                assert_eq!(report.reason, StopReason::Converged, "{} {:?}", system.grid, system.sides);
                assert_eq!(report.readbacks_in_loop, 0);
            }
        }
    });
}

#[test]
fn a_closed_box_is_solved_beside_its_null_space() {
    on_both(|dev| {
        let grid = Grid::new_3d(9, 5, 6);
        let system = System::new(grid, 1, laplace(3), NEUMANN);
        let closed = StencilParams::new([1.0; 3], Sides::all(Side::Neumann));
        let a = Stencil::new(dev, grid, closed).unwrap();
        let mut b = uniform(14, grid.len());
        let mean = b.iter().sum::<f32>() / b.len() as f32;
        b.iter_mut().for_each(|b| *b -= mean);
        let jacobi = EnhancedBlockJacobi::new(dev, &system.expression(), &Order::accordion(9)).unwrap();
        let (report, x) = solve(dev, &jacobi, &a, &b, 1e-5);
        assert_eq!(report.reason, StopReason::Converged);
        let (sum, largest) = (wide(&x).iter().sum::<f64>(), max_abs(&wide(&x)));
        assert!(sum.abs() <= 1e-4 * largest * x.len() as f64, "sum {sum}, largest {largest}");
        b[0] += 10.0;
        let b = Vector::from_slice(dev, &b).unwrap();
        let mut x = Vector::zeros(dev, b.len()).unwrap();
        let stationary = Stationary::new(&a, &jacobi, StationaryParams::default()).unwrap();
        assert!(matches!(stationary.solve(&mut x, &b), Err(Error::Inconsistent { .. })));
    });
}

#[test]
fn iterations_come_in_the_order_of_newest_values() {
    // The slowest mode is sin(pi (i + 1) / 41) along x and constant across. A splitting A = P - N reduces it by x'Ax / x'Px in an
    // iteration, so that numbers of iterations are as x'Px: D, less the couplings to newer values.
    let (nx, ny, nz) = (40, 6, 5);
    let mode: Vec<f64> =
        (0..nx).map(|i| (std::f64::consts::PI * (i + 1) as f64 / (nx + 1) as f64).sin()).collect();
    let square: f64 = mode.iter().map(|s| s * s).sum();
    let newer = |is: &dyn Fn(usize, usize) -> bool| {
        let pairs = (1..nx).flat_map(|i| [(i, i - 1), (i - 1, i)]).filter(|&(i, j)| is(i, j));
        pairs.map(|(i, j)| mode[i] * mode[j]).sum::<f64>() / square
    };
    let of_order = |order: &Order| 6.0 - newer(&|i, j| order.position(j) / 4 < order.position(i) / 4);
    // Gauss-Seidel has the true diagonal at the sides across, and of each of the n - 1 couplings there one end is newer.
    let across = |n: usize| (2.0 - 2.0 / n as f64) - (n - 1) as f64 / n as f64;
    let gauss_seidel = 2.0 - newer(&|i, j| j < i) + across(ny) + across(nz);
    // Without the ends and for many lines: the ratios of the specification.
    let flat = |order: &Order| {
        let pairs = (1..nx).flat_map(|i| [(i, i - 1), (i - 1, i)]);
        let new = pairs.filter(|&(i, j)| order.position(j) / 4 < order.position(i) / 4).count();
        (6.0 - new as f64 / nx as f64) / 3.0
    };
    let (plain, folded) = (Order::identity(nx), Order::accordion(nx));
    assert!((flat(&plain) - 1.925).abs() < 1e-12 && (flat(&folded) - 1.7).abs() < 1e-12);

    let grid = Grid::new_3d(nx, ny, nz);
    let system = System::new(grid, 1, laplace(3), [[Dropped; 2], [Copied; 2], [Copied; 2]]);
    let b = vec![1.0f32; grid.len()];
    let relative = 1e-3;
    let natural: Vec<Vec<usize>> = (0..grid.len()).map(|cell| vec![cell]).collect();
    let by_gauss_seidel = system.until(relative, &wide(&b), &natural, false);
    let quads = |order: &Order| -> Vec<Vec<usize>> {
        let of = |quad: usize| (0..grid.len()).filter(|c| order.position(c % nx) / 4 == quad).collect();
        (0..nx / 4).map(of).collect()
    };
    // With the same D: in so narrow a box Jacobi with the true diagonal at the clamped sides takes fewer.
    let mut counts = vec![system.until(relative, &wide(&b), &[natural.concat()], true)];
    for order in [&plain, &folded] {
        let twin = system.until(relative, &wide(&b), &quads(order), true);
        let (ratio, expected) = (twin as f64 / by_gauss_seidel as f64, of_order(order) / gauss_seidel);
        assert!((ratio / expected - 1.0).abs() < 0.03, "{ratio} times Gauss-Seidel, expected {expected}");
        counts.push(twin);
        on_both(|dev| {
            let jacobi = EnhancedBlockJacobi::new(dev, &system.expression(), order).unwrap();
            let (report, _) = solve(dev, &jacobi, &operator(dev, &system), &b, relative);
            assert_eq!(report.reason, StopReason::Converged);
            // The device tests every eighth sweep.
            assert!(report.iterations.abs_diff(twin) <= 8 + twin / 100, "{} and {twin}", report.iterations);
        });
    }
    counts.push(by_gauss_seidel);
    assert!(counts.is_sorted_by(|a, b| a >= b), "{counts:?}");
}

#[test]
fn on_the_device_too_the_folded_order_lies_between_jacobi_and_gauss_seidel() {
    on_both(|dev| {
        let grid = Grid::new_2d(40, 12);
        let system = System::new(grid, 1, laplace(2), [[Dropped; 2]; 3]);
        let sides = Sides::all(Side::DIRICHLET);
        let a = Stencil::new(dev, grid, StencilParams::new([1.0, 1.0, 0.0], sides)).unwrap();
        let jacobi = WeightedJacobi::new(&a, 1.0).unwrap();
        let gauss_seidel = GaussSeidel::new(&a, 1.0, Direction::Forward).unwrap();
        let [plain, folded] = [Order::identity(40), Order::accordion(40)]
            .map(|order| EnhancedBlockJacobi::new(dev, &system.expression(), &order).unwrap());
        let smoothers: [&dyn Smoother; 4] = [&jacobi, &plain, &folded, &gauss_seidel];
        let counts = smoothers.map(|smoother| {
            let (report, _) = solve(dev, smoother, &a, &vec![1.0; grid.len()], 1e-4);
            assert_eq!(report.reason, StopReason::Converged);
            report.iterations
        });
        assert!(counts.is_sorted_by(|a, b| a > b), "{counts:?}");
    });
}

#[test]
fn a_sweep_costs_a_draw_for_each_quad_and_reads_nothing_back() {
    on_both(|dev| {
        // Ten quads of either vector, by as many targets as there are.
        let packing = 2 * 10u64.div_ceil(dev.capabilities().max_draw_buffers.into());
        let system =
            System::new(Grid::new_3d(40, 8, 7), 1, laplace(3), [[Dropped; 2], [Copied; 2], [Copied; 2]]);
        let jacobi = EnhancedBlockJacobi::new(dev, &system.expression(), &Order::accordion(40)).unwrap();
        assert_eq!((jacobi.program().counts().total(), jacobi.program().counts().tex), (60, 70));
        let b = Vector::from_slice(dev, &uniform(1, system.grid.len())).unwrap();
        let mut x = Vector::zeros(dev, b.len()).unwrap();
        for sweeps in [1, 5] {
            let before = dev.counters();
            jacobi.smooth(&mut x, &b, sweeps).unwrap();
            let work = dev.counters().since(&before);
            assert_eq!((work.draws, work.readbacks), (10 * sweeps as u64 + packing + 1, 0));
        }
        let before = dev.counters();
        jacobi.apply(&mut x, &b).unwrap();
        let work = dev.counters().since(&before);
        assert_eq!((work.draws, work.readbacks), (20 + packing / 2 + 1, 0));
    });
}

#[test]
fn powers_of_two_come_out_as_they_went_in() {
    on_both(|dev| {
        let system =
            System::new(Grid::new_2d(11, 5), 1, laplace(2), [[Dropped; 2], [Copied; 2], [Copied; 2]]);
        let jacobi = EnhancedBlockJacobi::new(dev, &system.expression(), &Order::accordion(11)).unwrap();
        let smoothed = |factor: f32| {
            let times = |seed| uniform(seed, 55).into_iter().map(|v| factor * v).collect::<Vec<_>>();
            let [mut x, b] = [3, 4].map(|seed| Vector::from_slice(dev, &times(seed)).unwrap());
            jacobi.smooth(&mut x, &b, 4).unwrap();
            x.read().unwrap().into_iter().map(|v| v / factor).collect::<Vec<_>>()
        };
        let one = smoothed(1.0);
        assert!([60, -60].into_iter().all(|e| smoothed((e as f32).exp2()) == one));
    });
}

#[test]
fn conjugate_gradients_take_fewer_iterations_with_it() {
    on_both(|dev| {
        let grid = Grid::new_3d(20, 9, 8);
        let system = System::new(grid, 1, laplace(3), [[Dropped; 2], [Copied; 2], [Copied; 2]]);
        let a = operator(dev, &system);
        let b = Vector::from_slice(dev, &uniform(21, grid.len())).unwrap();
        let plain = ConjugateGradient::new(&a, CgParams::default()).unwrap();
        let mut x = Vector::zeros(dev, grid.len()).unwrap();
        let without = plain.solve(&mut x, &b).unwrap();
        for order in [Order::identity(20), Order::accordion(20)] {
            let jacobi = EnhancedBlockJacobi::new(dev, &system.expression(), &order).unwrap();
            // Symmetric: r'M s is s'M r, to rounding.
            let [r, s] = [31, 32].map(|seed| uniform(seed, grid.len()));
            let apply = |r: &[f32]| {
                let mut z = Vector::zeros(dev, r.len()).unwrap();
                jacobi.apply(&mut z, &Vector::from_slice(dev, r).unwrap()).unwrap();
                z.read().unwrap()
            };
            let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum::<f64>();
            let ([left, right], size) = ([dot(&r, &apply(&s)), dot(&s, &apply(&r))], dot(&r, &apply(&r)));
            assert!(size > 0.0 && (left - right).abs() < 1e-5 * size, "{left} and {right} beside {size}");
            x.set_zero().unwrap();
            let cg = ConjugateGradient::preconditioned(&a, &jacobi, CgParams::default()).unwrap();
            let with = cg.solve(&mut x, &b).unwrap();
            assert_eq!([without.reason, with.reason], [StopReason::Converged; 2]);
            assert!(
                with.iterations * 3 < without.iterations * 2,
                "{} of {}",
                with.iterations,
                without.iterations
            );
        }
    });
}

#[test]
fn what_does_not_fit_is_refused() {
    let small = Limits::default().with_max_texture_size(Some(64));
    on_both_with(small, |dev| {
        let system = System::new(Grid::new_2d(4, 65), 1, laplace(2), [[Dropped; 2]; 3]);
        let error = EnhancedBlockJacobi::new(dev, &system.expression(), &Order::identity(4)).err().unwrap();
        assert!(matches!(error, Error::TooLarge { requested: 65, limit: 64, .. }), "{error}");
    });
    on_both(|dev| {
        let system = System::new(Grid::new_2d(6, 3), 1, laplace(2), [[Dropped; 2]; 3]);
        let a = system.expression();
        let jacobi = EnhancedBlockJacobi::new(dev, &a, &Order::identity(6)).unwrap();
        let (mut x, b) = (Vector::zeros(dev, 18).unwrap(), Vector::zeros(dev, 17).unwrap());
        assert!(matches!(jacobi.smooth(&mut x, &b, 1), Err(Error::ShapeMismatch { operand: "b", .. })));
        let error = EnhancedBlockJacobi::new(dev, &a, &Order::identity(7)).err().unwrap();
        assert!(matches!(error, Error::LengthMismatch { operand: "order", found: 7, expected: 6, .. }));
        let tiny: Taps = system.taps.iter().map(|&(offset, v)| (offset, v * 1e-40)).collect();
        let huge: Taps = system.taps.iter().map(|&(offset, v)| (offset, v * 5e37)).collect();
        for taps in [tiny, huge] {
            let a = System::new(system.grid, 1, taps, system.sides).expression();
            let error = EnhancedBlockJacobi::new(dev, &a, &Order::identity(6)).err().unwrap();
            assert!(matches!(error, Error::Matrix { .. } | Error::NonFinite { .. }), "{error}");
        }
        let [natural, folded] = [Order::identity(6), Order::accordion(6)]
            .map(|order| BlockExpression::new(dev, &a, &order).unwrap());
        let (mut y, other) = (natural.zeros().unwrap(), folded.zeros().unwrap());
        let same = natural.zeros().unwrap();
        let refused = |found: texla::Result<()>| {
            assert!(matches!(found, Err(Error::Parameter { name: "b", .. })), "{found:?}");
        };
        refused(natural.apply(&mut y, &same, &other));
        refused(natural.iterate(&mut y, &other, 1, Direction::Forward));
        assert!(matches!(natural.unpack(&mut x, &other), Err(Error::Parameter { name: "v", .. })));
        assert!(matches!(natural.pack(&b), Err(Error::ShapeMismatch { operand: "v", .. })));
    });
}
