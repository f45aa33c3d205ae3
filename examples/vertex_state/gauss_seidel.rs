//! Gauss-Seidel for the pressure in 4 x 4 x 4 cells, a fixed number of iterations: [Bajaj04] sections 3.3 and 3.5.

use texla::pack::{LinearExpression, Order, instances};
use texla::solve::VertexGaussSeidel;
use texla::{BufferVector, Headless};

use super::bound::{self, Carried};
use super::packings;
use super::support::{Report, Result, worst};

/// The paper's.
const ITERATIONS: usize = 174;

pub fn run(context: &Headless, report: &mut Report) -> Result {
    let device = context.device();
    let a = instances::cube_of_cells()?.to_csr();
    let e = instances::gauss_seidel_64()?;
    let n = e.unknowns();
    // D^-1 times the divergence of some flow, as the device has it.
    let b: Vec<f32> = (0..n).map(|i| ((1.7 * i as f64).sin() / 6.0) as f32).collect();
    for (name, packing) in packings("gs64", &e, report)? {
        let order = packing.rows();
        let mut iteration = VertexGaussSeidel::new(device, &e, &packing)?;
        let device_b = BufferVector::from_slice(device, &order.packed(&b))?;
        let mut x = BufferVector::zeros(device, order.len())?;
        let readbacks = device.counters().readbacks;
        iteration.iterate(&mut x, &device_b, ITERATIONS)?;
        let readbacks = device.counters().readbacks - readbacks;
        report.at_most(format!("gs64 {name}: readbacks in {ITERATIONS} iterations"), 0.0, readbacks as f64);
        let found = order.unpacked(&x.read()?);
        let (twin, bounds) = run_twin(&e, order, &b)?;
        let share = bound::share(&found, &twin, &bounds);
        report.at_most(format!("gs64 {name}: distance from 64 bits, over the bound"), 1.0, share);
        let x: Vec<f64> = found.into_iter().map(f64::from).collect();
        let residual = a.mul_vec(&x)?.into_iter().zip(&b).map(|(ax, b)| (6.0 * f64::from(*b) - ax).abs());
        report.at_most(format!("gs64 {name}: largest residual"), 1e-5, residual.fold(0.0, worst));
    }
    Ok(())
}

/// The same iterations in 64 bits, and how far a device's may be off.
fn run_twin(e: &LinearExpression, order: &Order, b: &[f32]) -> Result<(Vec<f64>, Vec<f64>)> {
    let n = e.unknowns();
    let b: Vec<f64> = b.iter().map(|&b| f64::from(b)).collect();
    let rows: Vec<Vec<(usize, f64)>> =
        (0..n).map(|i| e.row(i).map(|(j, a)| (j, f64::from(a as f32))).collect()).collect();
    let sweep = |x: &[f64], b: &[f64]| {
        let mut x = x.to_vec();
        for i in order.indices().iter().map(|&i| i as usize).filter(|&i| i < n) {
            x[i] = rows[i].iter().map(|&(j, a)| a * x[j]).sum::<f64>() + b[i];
        }
        x
    };
    let none = vec![0.0; n];
    let mut carried = Carried::new(n, |x| sweep(x, &none));
    let mut x = none.clone();
    for _ in 0..ITERATIONS {
        let (next, off) = (sweep(&x, &b), carried.bound());
        // Of one sweep from values that are what they are: each unknown's own rounding, and what the new ones before it
        // pass on.
        let mut local = vec![0.0; n];
        for i in order.indices().iter().map(|&i| i as usize).filter(|&i| i < n) {
            let new = |j: usize| order.position(j) < order.position(i);
            let magnitude = |j: usize| if new(j) { next[j].abs() + local[j] } else { x[j].abs() } + off[j];
            let products: f64 = rows[i].iter().map(|&(j, a)| a.abs() * magnitude(j)).sum();
            let passed_on: f64 =
                rows[i].iter().filter(|(j, _)| new(*j)).map(|&(j, a)| a.abs() * local[j]).sum();
            local[i] = passed_on + bound::sum(rows[i].len() + 1, products + b[i].abs());
        }
        carried.advance(&local);
        x = next;
    }
    Ok((x, carried.bound()))
}
