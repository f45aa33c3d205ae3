//! Packed expressions on the device, in both stages and both dialects, against the expression in 64 bits.
#![cfg(feature = "pack")]

mod blocks;
#[path = "../common/mod.rs"]
mod common;
mod layouts;
mod operators;
mod plans;
mod stencils;
mod waves;

use common::bounds::{U, product_bound};
use common::harness::on_both;
use common::random::{Rng, uniform};
use texla::host::Triplets;
use texla::pack::{Axis, Form, LinearExpression, Order, Packing, instances};
use texla::solve::{FragmentExpression, VertexExpression, VertexGaussSeidel, VertexRungeKutta};
use texla::{BufferVector, Device, Error, Grid, Shape, Vector};

/// A number below `n` that depends on both others only.
fn chance(seed: u64, k: usize, n: usize) -> usize {
    Rng::new(seed << 32 | k as u64).below(n)
}

fn shuffled(n: usize, seed: u64) -> Order {
    let mut order = Order::identity(n);
    for p in 1..order.len() {
        order.swap(p, chance(seed, p, p + 1));
    }
    order
}

/// About `per_row` entries in each row of n, rows of every length; b trivial where chance has it.
fn random_expression(n: usize, per_row: usize, seed: u64) -> LinearExpression {
    let values = uniform(seed, n * per_row + 1);
    let mut a = Triplets::new(Shape::new(n, n));
    for i in 0..n {
        for k in 0..chance(seed + 1, i, 2 * per_row + 1) {
            let value = f64::from(values[(i * per_row + k) % values.len()]);
            a.push(i, chance(seed + 2, i * 64 + k, n), value).unwrap();
        }
    }
    let nontrivial: Vec<bool> = (0..n).map(|i| chance(seed + 3, i / 4, 3) > 0).collect();
    LinearExpression::new(&a, &nontrivial).unwrap()
}

/// A x + b, or A x - b, with what a device may be off by: a rounding for each coefficient, product and sum.
fn check(e: &LinearExpression, sign: f64, x: &[f32], b: &[f32], found: &[f32], what: &str) {
    for (i, &found) in found.iter().enumerate() {
        let b = if e.is_nontrivial(i) { sign * f64::from(b[i]) } else { 0.0 };
        let (mut sum, mut magnitude, mut terms) = (b, b.abs(), 1);
        for (j, a) in e.row(i) {
            sum += a * f64::from(x[j]);
            magnitude += (a * f64::from(x[j])).abs();
            terms += 1;
        }
        let bound = product_bound(magnitude, terms);
        let off = (f64::from(found) - sum).abs();
        assert!(off <= bound, "{what}, row {i}: {found} is {off:e} from {sum}, bound {bound:e}");
    }
}

fn fragments(dev: &Device, e: &LinearExpression, packing: &Packing, x: &[f32], b: &[f32]) -> Vec<f32> {
    let expression = FragmentExpression::new(dev, e, packing).unwrap();
    let device_x = Vector::from_slice(dev, &packing.cols().packed(x)).unwrap();
    let device_b = Vector::from_slice(dev, &packing.rows().packed(b)).unwrap();
    // What a pass leaves out would stay.
    let mut y = Vector::filled(dev, packing.rows().len(), 1e6).unwrap();
    expression.apply(&mut y, &device_x, &device_b).unwrap();
    packing.rows().unpacked(&y.read().unwrap())
}

fn vertices(
    dev: &Device,
    expression: &VertexExpression,
    packing: &Packing,
    x: &[f32],
    b: &[f32],
) -> Vec<f32> {
    let device_x = BufferVector::from_slice(dev, &packing.cols().packed(x)).unwrap();
    let device_b = BufferVector::from_slice(dev, &packing.rows().packed(b)).unwrap();
    let mut y = BufferVector::from_slice(dev, &vec![1e6; packing.rows().len()]).unwrap();
    expression.apply(&mut y, &device_x, &device_b).unwrap();
    packing.rows().unpacked(&y.read().unwrap())
}

/// Both stages, b added and subtracted.
fn check_stages(dev: &Device, e: &LinearExpression, packing: &Packing, seed: u64, what: &str) {
    let n = e.unknowns();
    let (x, mut b) = (uniform(seed, n), uniform(seed + 1, n));
    // What is trivial must not be read.
    (0..n).filter(|&i| !e.is_nontrivial(i)).for_each(|i| b[i] = 0.0);
    let found = fragments(dev, e, packing, &x, &b);
    check(e, 1.0, &x, &b, &found, &format!("{what}, fragment stage"));
    let adding = VertexExpression::new(dev, e, packing).unwrap();
    check(e, 1.0, &x, &b, &vertices(dev, &adding, packing, &x, &b), &format!("{what}, vertex stage"));
    let less = VertexExpression::subtracting(dev, e, packing).unwrap();
    check(e, -1.0, &x, &b, &vertices(dev, &less, packing, &x, &b), &format!("{what}, b subtracted"));
}

#[test]
fn instances_in_the_order_they_come_in_and_in_another() {
    on_both(|dev| {
        for (name, make) in instances::ALL {
            let e = make().unwrap();
            if e.form() == Form::GaussSeidel {
                continue;
            }
            let n = e.unknowns();
            check_stages(dev, &e, &Packing::identity(n), 3, name);
            check_stages(dev, &e, &Packing::symmetric(shuffled(n, 7)), 5, name);
        }
    });
}

#[test]
fn random_matrices_of_odd_sizes() {
    on_both(|dev| {
        for (n, per_row) in [(1, 1), (2, 2), (3, 1), (5, 3), (7, 7), (13, 2), (31, 4), (61, 3), (67, 1)] {
            let e = random_expression(n, per_row, n as u64);
            let packing = Packing::symmetric(shuffled(n, 11));
            check_stages(dev, &e, &packing, n as u64, &format!("{n} unknowns"));
        }
    });
}

#[test]
fn rows_and_columns_in_orders_of_their_own() {
    on_both(|dev| {
        let e = random_expression(29, 3, 17);
        let mut packing = Packing::independent(shuffled(29, 1), shuffled(29, 2)).unwrap();
        packing.swap(Axis::Cols, 0, 9);
        check_stages(dev, &e, &packing, 23, "two orders");
    });
}

#[test]
fn nothing_to_compute_is_zero_or_b() {
    on_both(|dev| {
        for nontrivial in [vec![false; 6], vec![true; 6], vec![true, false, false, true, false, false]] {
            let e = LinearExpression::new(&Triplets::new(Shape::new(6, 6)), &nontrivial).unwrap();
            check_stages(dev, &e, &Packing::identity(6), 31, "a matrix of zeros");
        }
    });
}

#[test]
fn fragments_past_one_shader_and_one_row_of_texels() {
    on_both(|dev| {
        // 100 quads: seven shaders, whose texels do not end where rows of the target do.
        let e = instances::wave_on(Grid::new_2d(20, 20)).unwrap();
        let n = e.unknowns();
        let (x, mut b) = (uniform(1, n), uniform(2, n));
        (0..n).filter(|&i| !e.is_nontrivial(i)).for_each(|i| b[i] = 0.0);
        let found = fragments(dev, &e, &Packing::identity(n), &x, &b);
        check(&e, 1.0, &x, &b, &found, "20 x 20 nodes");
    });
}

#[test]
fn gauss_seidel_in_two_parts_is_that_of_64_bits() {
    on_both(|dev| {
        let e = instances::gauss_seidel_64().unwrap();
        for order in [Order::identity(64), shuffled(64, 3)] {
            let packing = Packing::symmetric(order.clone());
            let mut iteration = VertexGaussSeidel::new(dev, &e, &packing).unwrap();
            let (x, b) = (uniform(8, 64), uniform(9, 64));
            let device_b = BufferVector::from_slice(dev, &order.packed(&b)).unwrap();
            let mut device_x = BufferVector::from_slice(dev, &order.packed(&x)).unwrap();
            let (mut twin, wide): (Vec<f64>, Vec<f64>) =
                (x.iter().map(|&x| f64::from(x)).collect(), b.iter().map(|&b| f64::from(b)).collect());
            for iterations in [1, 2, 20] {
                iteration.iterate(&mut device_x, &device_b, iterations).unwrap();
                for _ in 0..iterations {
                    twin = e.sweep(&order, &twin, &wide).unwrap();
                }
                let found = order.unpacked(&device_x.read().unwrap());
                for (found, twin) in found.iter().zip(&twin) {
                    // Rows sum to one at most, and the walls take something away: errors of sweeps add up, no more.
                    let magnitude = 2.0 + 8.0;
                    let bound = 24.0 * 64.0 * 9.0 * U * magnitude;
                    let off = (f64::from(*found) - twin).abs();
                    assert!(off <= bound, "{found} is {off:e} from {twin}, bound {bound:e}");
                }
            }
        }
    });
}

#[test]
fn an_iteration_of_none_changes_nothing() {
    on_both(|dev| {
        let e = instances::gauss_seidel_64().unwrap();
        let mut iteration = VertexGaussSeidel::new(dev, &e, &Packing::identity(64)).unwrap();
        let values = uniform(8, 64);
        let b = BufferVector::zeros(dev, 64).unwrap();
        let mut x = BufferVector::from_slice(dev, &values).unwrap();
        iteration.iterate(&mut x, &b, 0).unwrap();
        assert_eq!(x.read().unwrap(), values);
    });
}

#[test]
fn a_runge_kutta_step_is_the_taylor_series_to_fourth_order() {
    on_both(|dev| {
        // y' = G y with constant beta: the step is y + sum of (h G)^k / k! (y + ...), to k = 4.
        let n = 7;
        let entries = (0..n).flat_map(|i| [(i, (i + 1) % n, 0.8), (i, i, -0.5), (i, (i + 3) % n, 0.3)]);
        let g = Triplets::from_entries(Shape::new(n, n), entries).unwrap();
        let h = 0.125;
        let stage = LinearExpression::ode_stage(&g, &vec![true; n], h).unwrap();
        let packing = Packing::symmetric(shuffled(n, 5));
        let stepper = VertexRungeKutta::new(dev, &stage, &packing).unwrap();
        let order = packing.rows();
        let (y, beta) = (uniform(4, n), uniform(5, n));
        let forcing: Vec<f32> = (0..3).flat_map(|_| order.packed(&beta)).collect();
        let device_y = BufferVector::from_slice(dev, &order.packed(&y)).unwrap();
        let device_forcing = BufferVector::from_slice(dev, &forcing).unwrap();
        let mut next = BufferVector::zeros(dev, order.len()).unwrap();
        stepper.step(&mut next, &device_y, &device_forcing).unwrap();
        let found = order.unpacked(&next.read().unwrap());
        let wide = |v: &[f32]| v.iter().map(|&v| f64::from(v)).collect::<Vec<f64>>();
        // k(0) = h (G y + beta), k(m) = h G k(m - 1) / (m + 1).
        let mut k = stage.evaluate(&wide(&y), &wide(&beta)).unwrap();
        let mut expected: Vec<f64> = wide(&y).iter().zip(&k).map(|(y, k)| y + k).collect();
        for m in 2..=4 {
            k = stage.evaluate(&k, &vec![0.0; n]).unwrap().iter().map(|k| k / f64::from(m)).collect();
            expected.iter_mut().zip(&k).for_each(|(e, k)| *e += k);
        }
        for (found, expected) in found.iter().zip(&expected) {
            // Sums of less than 40 terms whose absolute values add up to less than 8.
            assert!((f64::from(*found) - expected).abs() <= 40.0 * U * 8.0, "{found} is not {expected}");
        }
    });
}

#[test]
fn what_does_not_fit_is_refused() {
    on_both(|dev| {
        let (wave, cube) = (instances::wave_2d().unwrap(), instances::gauss_seidel_64().unwrap());
        let identity = Packing::identity(64);
        assert!(matches!(VertexExpression::new(dev, &cube, &identity), Err(Error::Parameter { .. })));
        assert!(matches!(FragmentExpression::new(dev, &cube, &identity), Err(Error::Parameter { .. })));
        assert!(matches!(VertexGaussSeidel::new(dev, &wave, &identity), Err(Error::Parameter { .. })));
        let small = Packing::identity(60);
        assert!(matches!(VertexExpression::new(dev, &wave, &small), Err(Error::LengthMismatch { .. })));
        let two = Packing::independent(Order::identity(20), shuffled(20, 1)).unwrap();
        let cars = instances::runge_kutta_20().unwrap();
        assert!(matches!(VertexRungeKutta::new(dev, &cars, &two), Err(Error::Parameter { .. })));
        let step = VertexExpression::new(dev, &wave, &identity).unwrap();
        let (right, wrong) = (BufferVector::zeros(dev, 64).unwrap(), BufferVector::zeros(dev, 60).unwrap());
        let mut y = BufferVector::zeros(dev, 64).unwrap();
        let found = step.apply(&mut y, &right, &wrong);
        assert!(matches!(found, Err(Error::LengthMismatch { operand: "b", found: 60, expected: 64, .. })));
        let in_fragments = FragmentExpression::new(dev, &wave, &identity).unwrap();
        let (right, mut wrong) = (Vector::zeros(dev, 64).unwrap(), Vector::zeros(dev, 63).unwrap());
        let found = in_fragments.apply(&mut wrong, &right, &right);
        assert!(matches!(found, Err(Error::LengthMismatch { operand: "y", found: 63, .. })));
        // More quads than one vertex writes: the expression is split, a Runge-Kutta step is not.
        let most = dev.capabilities().max_vertex_outputs as usize;
        let many = 4 * (most + 1);
        let diagonal = Triplets::from_diagonal(&vec![0.5; many]);
        let stage = LinearExpression::ode_stage(&diagonal, &vec![false; many], 0.1).unwrap();
        let found = VertexRungeKutta::new(dev, &stage, &Packing::identity(many));
        assert!(matches!(found, Err(Error::Unsupported { .. })));
    });
}
