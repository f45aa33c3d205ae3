//! The 2D wave equation on 8 x 8 nodes, [Bajaj04] section 3.1: w(k+1) = A w(k) - w(k-1).

use std::path::Path;

use texla::pack::{LinearExpression, instances};
use texla::solve::VertexExpression;
use texla::{BufferVector, Headless};

use super::bound::{self, Carried};
use super::support::{Animation, Report, Result, worst};
use super::surface::Surface;
use super::{PICTURES_A_SECOND, SHOWN_EVERY, packings};

/// Nodes along a side.
const NODES: usize = 8;
const SIZE: (u32, u32) = (480, 300);

/// Two drops at rest at the beginning; the fixed nodes are zero.
fn start() -> Vec<f32> {
    let drop = |x: f64, y: f64, at: (f64, f64), high: f64| {
        high * (-((x - at.0).powi(2) + (y - at.1).powi(2)) / 1.6).exp()
    };
    let height = |i: usize, j: usize| {
        let (x, y) = (i as f64, j as f64);
        let free = i > 0 && j > 0;
        if free { drop(x, y, (3.0, 3.0), 1.0) - drop(x, y, (6.0, 5.0), 0.6) } else { 0.0 }
    };
    (0..NODES * NODES).map(|k| height(k % NODES, k / NODES) as f32).collect()
}

pub fn run(context: &Headless, steps: usize, animation: Option<&Path>, report: &mut Report) -> Result {
    let e = instances::wave_2d()?;
    let device = context.device();
    let twin = Twin::run(&e, steps)?;
    for (name, packing) in packings("waves", &e, report)? {
        let step = VertexExpression::subtracting(device, &e, &packing)?;
        let order = packing.rows();
        let mut now = BufferVector::from_slice(device, &order.packed(&start()))?;
        let mut before = BufferVector::from_slice(device, &order.packed(&start()))?;
        let mut next = BufferVector::zeros(device, order.len())?;
        let shown = animation.filter(|_| name == "packed");
        // SAFETY: the context is current, and outlives the surface.
        #[allow(unsafe_code)]
        let surface =
            shown.map(|_| unsafe { Surface::new(&context.glow(), NODES, order, SIZE) }).transpose()?;
        let mut pictures = Animation::new(SIZE, PICTURES_A_SECOND);
        let readbacks = device.counters().readbacks;
        for k in 0..steps {
            step.apply(&mut next, &now, &before)?;
            std::mem::swap(&mut before, &mut now);
            std::mem::swap(&mut now, &mut next);
            if let (Some(surface), true) = (&surface, k % SHOWN_EVERY == 0) {
                pictures.push(surface.draw(&now, 0.6));
            }
        }
        let readbacks = device.counters().readbacks - readbacks;
        report.at_most(
            format!("waves {name}: readbacks while they are computed and drawn"),
            0.0,
            readbacks as f64,
        );
        let found = order.unpacked(&now.read()?);
        let share = bound::share(&found, &twin.heights, &twin.bounds);
        report.at_most(
            format!("waves {name}: distance from 64 bits after {steps} steps, over the bound"),
            1.0,
            share,
        );
        let flat = found.iter().fold(0.0f64, |most, w| worst(most, f64::from(w.abs())));
        report.at_least(format!("waves {name}: greatest height"), 1e-3, flat);
        shown.map_or(Ok(()), |path| pictures.write(path))?;
    }
    Ok(())
}

/// The waves in 64 bits, and how far those of a device may be off.
struct Twin {
    heights: Vec<f64>,
    bounds: Vec<f64>,
}

impl Twin {
    fn run(e: &LinearExpression, steps: usize) -> Result<Self> {
        let n = e.unknowns();
        // The coefficients as the device has them.
        let rows: Vec<Vec<(usize, f64)>> =
            (0..n).map(|i| e.row(i).map(|(j, a)| (j, f64::from(a as f32))).collect()).collect();
        let advance = |x: &[f64]| -> Vec<f64> {
            let (now, before) = x.split_at(n);
            let sum = |row: &Vec<(usize, f64)>| row.iter().map(|&(j, a)| a * now[j]).sum::<f64>();
            let free = |i: usize| if e.is_nontrivial(i) { before[i] } else { 0.0 };
            let next = rows.iter().enumerate().map(|(i, row)| sum(row) - free(i));
            next.chain(now.iter().copied()).collect()
        };
        let mut carried = Carried::new(2 * n, advance);
        let start: Vec<f64> = start().into_iter().map(f64::from).collect();
        let mut x = [start.clone(), start].concat();
        for _ in 0..steps {
            let off = carried.bound();
            let magnitude = |j: usize| x[j].abs() + off[j];
            let local = rows.iter().enumerate().map(|(i, row)| {
                let products: f64 = row.iter().map(|&(j, a)| a.abs() * magnitude(j)).sum();
                bound::sum(row.len() + 1, products + magnitude(n + i))
            });
            let local: Vec<f64> = local.chain(std::iter::repeat_n(0.0, n)).collect();
            carried.advance(&local);
            x = advance(&x);
        }
        x.truncate(n);
        let mut bounds = carried.bound();
        bounds.truncate(n);
        Ok(Twin { heights: x, bounds })
    }
}
