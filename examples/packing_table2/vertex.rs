//! Section 3.5: the programs in the vertex stage, checked against the twin and timed in turns.

use std::mem::swap;

use texla::host::Triplets;
use texla::pack::{LinearExpression, Packing};
use texla::solve::{VertexExpression, VertexGaussSeidel, VertexRungeKutta};
use texla::{BufferVector, Device, Shape};

use crate::search::Row;
use crate::support::clock::{self, Job, Rounds};
use crate::support::{Failure, Report, Result, json};
use crate::twin;

/// Milliseconds for 174 iterations of Gauss-Seidel on a GeForce FX 5900, before and after. [Bajaj04] section 3.5.
pub const PAPERS_MS: [f64; 2] = [4.27, 3.65];
/// How many iterations those are.
pub const EVALUATIONS: usize = 174;

/// The suspension's step in seconds.
const STEP: f64 = 0.01;

/// An instance, measured.
pub struct Timed {
    instance: &'static str,
    pub title: &'static str,
    /// Of [`EVALUATIONS`] before and after, and of programs that only write what they are given.
    times: Vec<Rounds>,
    pub costs: [f64; 2],
}

impl Timed {
    pub fn json(&self) -> serde_json::Value {
        let [before, after, _] = self.seconds();
        let mut row =
            json!({ "instance": self.instance, "evaluations": EVALUATIONS, "ratio": before / after });
        for (times, key) in self.times.iter().zip(["before_seconds", "after_seconds", "empty_seconds"]) {
            times.put(&mut row, key);
        }
        if self.instance == "gs64" {
            row["paper_ms"] = json!({ "before": PAPERS_MS[0], "after": PAPERS_MS[1] });
        }
        row
    }

    /// Medians: before, after, empty.
    pub fn seconds(&self) -> [f64; 3] {
        [0, 1, 2].map(|k| self.times[k].median())
    }
}

/// The instances of Table 2, in rounds that take at least `least` seconds each.
pub fn measure(
    device: &Device,
    rows: &[Row],
    rounds: usize,
    least: f64,
    report: &mut Report,
) -> Result<Vec<Timed>> {
    let mut timed = Vec::new();
    for row in rows.iter().filter(|row| row.paper.scalar.is_some()) {
        let (instance, title) = (row.paper.instance, row.paper.title);
        let packings = [&Packing::identity(row.expression.unknowns()), &row.found.packing];
        let mut jobs = Vec::new();
        for (packing, order) in packings.into_iter().zip(["given", "best"]) {
            let (job, share) = match instance {
                "wave2d" => wave(device, &row.expression, packing)?,
                "rk20" => runge_kutta(device, &row.expression, packing)?,
                "gs64" => gauss_seidel(device, &row.expression, packing)?,
                _ => return Err(Failure::unsolved(format_args!("{instance}: no application of Table 2"))),
            };
            report.at_most(
                format!("{instance}, {order} order: distance from 64 bits, over the bound"),
                1.0,
                share,
            );
            jobs.push(job);
        }
        jobs.push(empty(device, row.expression.unknowns())?);
        let times = {
            let _scope = device.scope()?;
            clock::in_turns(device, &mut jobs, rounds, least)?
        };
        let costs = [row.found.cost_before, row.found.cost].map(|cost| f64::from(cost.0));
        timed.push(Timed { instance, title, times, costs });
    }
    Ok(timed)
}

/// Numbers from -1 to 1, others for each `seed`.
fn numbers(n: usize, seed: usize) -> Vec<f32> {
    (0..n).map(|i| ((i * 7919 + seed * 4241) % 1000) as f32 / 500.0 - 1.0).collect()
}

/// Such numbers where b is not the constant 0, which it is elsewhere.
fn entries_of_b(e: &LinearExpression, seed: usize) -> Vec<f32> {
    let number = |(i, v): (usize, f32)| if e.is_nontrivial(i) { v } else { 0.0 };
    numbers(e.unknowns(), seed).into_iter().enumerate().map(number).collect()
}

/// w(k+1) = A w(k) - w(k-1).
fn wave<'a>(device: &Device, e: &LinearExpression, packing: &Packing) -> Result<(Job<'a>, f64)> {
    let order = packing.rows();
    let step = VertexExpression::subtracting(device, e, packing)?;
    // The nodes of two sides are held at zero, as b is there.
    let (x, b) = (entries_of_b(e, 0), entries_of_b(e, 1));
    let mut now = BufferVector::from_slice(device, &order.packed(&x))?;
    let mut before = BufferVector::from_slice(device, &order.packed(&b))?;
    let mut next = BufferVector::zeros(device, now.len())?;
    step.apply(&mut next, &now, &before)?;
    let share = twin::share(&order.unpacked(&next.read()?), &twin::affine(e, &twin::exact(&x), &b, -1.0));
    let job = move |times: usize| -> Result {
        for _ in 0..times * EVALUATIONS {
            step.apply(&mut next, &now, &before)?;
            swap(&mut now, &mut before);
            swap(&mut now, &mut next);
        }
        Ok(())
    };
    Ok((Box::new(job), share))
}

/// Five cars with the instance's pattern. Its numbers are those of Figure 2, which no suspension has: the state would grow
/// past all bounds.
fn suspension(e: &LinearExpression) -> Result<LinearExpression> {
    let stiffness =
        [[0.0, 1.0, 0.0, 0.0], [-40.0, -3.0, 2.0, 0.2], [0.0, 0.0, 0.0, 1.0], [2.0, 0.2, -50.0, -4.0]];
    let n = e.unknowns();
    let mut g = Triplets::new(Shape::new(n, n));
    for i in 0..n {
        for (j, _) in e.row(i) {
            g.push(i, j, stiffness[i % 4][j % 4])?;
        }
    }
    let nontrivial: Vec<bool> = (0..n).map(|i| e.is_nontrivial(i)).collect();
    Ok(LinearExpression::ode_stage(&g, &nontrivial, STEP)?)
}

/// y' = G y + beta.
fn runge_kutta<'a>(device: &Device, e: &LinearExpression, packing: &Packing) -> Result<(Job<'a>, f64)> {
    let (stage, order) = (suspension(e)?, packing.rows());
    let step = VertexRungeKutta::new(device, &stage, packing)?;
    let (y, b) = (numbers(e.unknowns(), 2), entries_of_b(e, 3));
    let mut now = BufferVector::from_slice(device, &order.packed(&y))?;
    let forcing = BufferVector::from_slice(device, &order.packed(&b).repeat(3))?;
    let mut next = BufferVector::zeros(device, now.len())?;
    step.step(&mut next, &now, &forcing)?;
    let share = twin::share(&order.unpacked(&next.read()?), &twin::runge_kutta(&stage, &twin::exact(&y), &b));
    let job = move |times: usize| -> Result {
        for _ in 0..times * EVALUATIONS {
            step.step(&mut next, &now, &forcing)?;
            swap(&mut now, &mut next);
        }
        Ok(())
    };
    Ok((Box::new(job), share))
}

/// The pressure in a cube; the check is after all iterations.
fn gauss_seidel<'a>(device: &Device, e: &LinearExpression, packing: &Packing) -> Result<(Job<'a>, f64)> {
    let (n, order) = (e.unknowns(), packing.rows());
    let mut iteration = VertexGaussSeidel::new(device, e, packing)?;
    let values = numbers(n, 4);
    let b = BufferVector::from_slice(device, &order.packed(&values))?;
    let mut x = BufferVector::zeros(device, b.len())?;
    iteration.iterate(&mut x, &b, EVALUATIONS)?;
    let mut twin = vec![(0.0, 0.0); n];
    (0..EVALUATIONS).for_each(|_| twin::sweep(e, order, &mut twin, &values));
    let share = twin::share(&order.unpacked(&x.read()?), &twin);
    let job = move |times: usize| -> Result { Ok(iteration.iterate(&mut x, &b, times * EVALUATIONS)?) };
    Ok((Box::new(job), share))
}

/// y = b for as many unknowns.
fn empty<'a>(device: &Device, n: usize) -> Result<Job<'a>> {
    let e = LinearExpression::new(&Triplets::new(Shape::new(n, n)), &vec![true; n])?;
    let copy = VertexExpression::new(device, &e, &Packing::identity(n))?;
    let mut now = BufferVector::from_slice(device, &numbers(n, 5))?;
    let (mut next, unread) = (BufferVector::zeros(device, n)?, BufferVector::zeros(device, n)?);
    Ok(Box::new(move |times| {
        for _ in 0..times * EVALUATIONS {
            copy.apply(&mut next, &unread, &now)?;
            swap(&mut now, &mut next);
        }
        Ok(())
    }))
}
