//! The problem of a frame on the device, in the paper's form and in the form to depend on, whole and taken apart.

use std::time::Instant;

use texla::solve::{LcpBatch, LcpParams, LcpSolver, ProjectedJacobi, Stop};
use texla::{Device, Matrix, Shape, Vector};

use crate::problem::Problem;
use crate::support::Result;

/// What a solve has come to. The time holds everything from the problem on the host to the impulses on the host.
pub struct Answer {
    pub x: Vec<f32>,
    pub milliseconds: f64,
    /// The most of any group.
    pub sweeps: usize,
    /// Whether the solver vouches for its residual; the paper's form never does.
    pub converged: bool,
}

/// The bound on the natural residual, relative to max abs(b).
pub const BOUND: f64 = 1e-4;

/// The device knows b rounded to 32 bits, and the residual is checked with b as it is: so a little less is asked for.
fn params() -> LcpParams {
    LcpParams::default().with_stop(Stop::relative(0.99 * BOUND).check_every(16))
}

/// The paper's relaxation, with its sign turned [Moravanszky03] 5.
const OMEGA: f32 = 0.1;

/// Taken apart into independent groups, to be depended on: what the simulation lives on. Also the groups.
pub fn groups(device: &Device, problem: &Problem) -> Result<(Answer, Vec<Vec<usize>>)> {
    let started = Instant::now();
    if problem.len() == 0 {
        return Ok((Answer { x: Vec::new(), milliseconds: 0.0, sweeps: 0, converged: true }, Vec::new()));
    }
    let batch = LcpBatch::decompose(device, &problem.a, &problem.b)?;
    let mut x = batch.start(&problem.start)?;
    let report = batch.solve(&mut x, params())?;
    let x = batch.read(&x)?;
    let sweeps = report.outcome.iter().map(|outcome| outcome.sweeps).max().unwrap_or(0);
    let milliseconds = 1e3 * started.elapsed().as_secs_f64();
    Ok((Answer { x, milliseconds, sweeps, converged: report.converged() }, batch.groups().to_vec()))
}

/// One dense problem, to be depended on.
pub fn dense(device: &Device, problem: &Problem) -> Result<Answer> {
    let started = Instant::now();
    let (a, b, mut x) = upload(device, problem)?;
    let report = LcpSolver::new(&a, params())?.solve(&mut x, &b)?;
    let x = x.read()?;
    let milliseconds = 1e3 * started.elapsed().as_secs_f64();
    Ok(Answer { x, milliseconds, sweeps: report.outcome.sweeps, converged: report.converged() })
}

/// One dense problem, as in the paper: 2 n sweeps with a fixed relaxation.
pub fn papers_dense(device: &Device, problem: &Problem) -> Result<Answer> {
    let started = Instant::now();
    let (a, b, mut x) = upload(device, problem)?;
    let sweeps = 2 * problem.len();
    ProjectedJacobi::new(&a, OMEGA)?.run(&mut x, &b, sweeps)?;
    let x = x.read()?;
    Ok(Answer { x, milliseconds: 1e3 * started.elapsed().as_secs_f64(), sweeps, converged: false })
}

/// Taken apart, as in the paper: as many sweeps as the largest group asks for.
pub fn papers_groups(device: &Device, problem: &Problem) -> Result<Answer> {
    let started = Instant::now();
    let batch = LcpBatch::decompose(device, &problem.a, &problem.b)?;
    let mut x = batch.start(&problem.start)?;
    let sweeps = 2 * batch.groups().iter().map(Vec::len).max().unwrap_or(0);
    ProjectedJacobi::new(batch.operator(), OMEGA)?.run(&mut x, batch.right_hand_side(), sweeps)?;
    let x = batch.read(&x)?;
    Ok(Answer { x, milliseconds: 1e3 * started.elapsed().as_secs_f64(), sweeps, converged: false })
}

fn upload(device: &Device, problem: &Problem) -> Result<(Matrix, Vector, Vector)> {
    let a = Matrix::from_f64(device, Shape::new(problem.len(), problem.len()), &problem.dense())?;
    let b = Vector::from_f64(device, &problem.b)?;
    Ok((a, b, Vector::from_slice(device, &problem.start)?))
}
