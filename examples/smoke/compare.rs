//! What it takes to make one field free of divergence: conjugate gradients, multigrid, and Jacobi, each from nothing.

use texla::sim::fluid::{Pressure, PressureReport, PressureSolver};
use texla::solve::{CgParams, MultigridParams, Smoother, Stop, WeightedJacobi};
use texla::{Device, Stencil, Vector};

use crate::support::{Failure, Result, Table, json, say};
use crate::tunnel::Tunnel;

/// What is left of the largest divergence.
pub const AIM: f64 = 1e-4;
/// Sweeps between two looks at the divergence.
const BATCH: usize = 256;
/// Sweeps are given up after so many.
const MOST: usize = 400_000;

/// Sweeps that go on where the last ones ended: what is left of the divergence is the right-hand side of the next ones.
struct MoreSweeps;

impl PressureSolver for MoreSweeps {
    fn solve(&mut self, a: &Stencil, p: &mut Vector, b: &Vector) -> texla::Result<PressureReport> {
        p.set_zero()?;
        WeightedJacobi::new(a, 1.0)?.smooth(p, b, BATCH)?;
        Ok(PressureReport::new(BATCH, None))
    }
}

/// A method that starts from nothing.
struct Anew(Box<dyn PressureSolver>);

impl PressureSolver for Anew {
    fn solve(&mut self, a: &Stencil, p: &mut Vector, b: &Vector) -> texla::Result<PressureReport> {
        p.set_zero()?;
        self.0.solve(a, p, b)
    }
}

/// Counts on a tunnel of so many cells, some time after its start. Returns the sweeps of Jacobi, what they
/// have left of the divergence, and all counts.
pub fn run(device: &Device, height: usize) -> Result<(usize, f64, serde_json::Value)> {
    let mut tunnel = Tunnel::new(device, height)?;
    for _ in 0..40 {
        tunnel.step()?;
    }
    tunnel.move_on()?;
    let start = [tunnel.fluid.velocity(0)?.read()?, tunnel.fluid.velocity(1)?.read()?];
    let before = tunnel.fluid.max_divergence()?;
    // The aim is one of the largest element, so the norm's has to be smaller: lowered little by little.
    let cg = |residual: f64| CgParams::default().with_stop(Stop::relative(residual).check_every(1));
    let multigrid = MultigridParams::default();
    type Method = (&'static str, fn(CgParams, MultigridParams) -> Pressure);
    let methods: [Method; 2] = [
        ("conjugate gradients", |cg, _| Pressure::ConjugateGradient(cg)),
        ("the same, preconditioned by multigrid", Pressure::MultigridConjugateGradient),
    ];
    let mut table = Table::new(["from nothing", "iterations", "divergence left"]);
    let mut counts = serde_json::Map::new();
    let put_back = |tunnel: &mut Tunnel| -> Result {
        for (axis, values) in start.iter().enumerate() {
            tunnel.fluid.set_velocity(axis, values)?;
        }
        Ok(())
    };
    for (name, method) in methods {
        let mut residual = AIM;
        let (iterations, left) = loop {
            put_back(&mut tunnel)?;
            let solver = method(cg(residual), multigrid).solver(tunnel.fluid.poisson())?;
            tunnel.fluid.set_pressure_solver(Box::new(Anew(solver)));
            let projection = tunnel.fluid.project_reported()?;
            if projection.after <= AIM * before {
                break (projection.pressure.iterations, projection.after / before);
            }
            residual *= 0.9;
            if residual < 1e-7 {
                return Err(Failure::unsolved(format_args!("{name}: {projection:?}")));
            }
        };
        table.row([name, &iterations.to_string(), &format!("{left:.1e}")]);
        counts.insert(name.into(), json!(iterations));
    }
    put_back(&mut tunnel)?;
    tunnel.fluid.set_pressure_solver(Box::new(MoreSweeps));
    let mut sweeps = 0;
    let mut left = 1.0;
    while left > AIM && sweeps < MOST {
        tunnel.fluid.project()?;
        sweeps += BATCH;
        left = tunnel.fluid.max_divergence()? / before;
    }
    let most = if left > AIM { "more than " } else { "" };
    table.row(["Jacobi sweeps", &format!("{most}{sweeps}"), &format!("{left:.1e}")]);
    counts.insert("Jacobi sweeps".into(), json!(sweeps));
    counts.insert("divergence left by Jacobi".into(), json!(left));
    say(format_args!("\nto a divergence of {AIM:e} of what it was, on {} cells:", tunnel.cells));
    table.print();
    Ok((sweeps, left, counts.into()))
}
