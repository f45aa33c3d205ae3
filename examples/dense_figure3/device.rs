//! The same operations on the device: as the paper has them, and by the library's default.

use std::time::Instant;

use texla::ops::{self, MatmulForm, MatmulSchedule};
use texla::solve::{CgParams, ConjugateGradient, ProjectedJacobi, Stop};
use texla::{Device, Matrix, Result, Shape, Vector};

use crate::measure::{Operation, Run};
use crate::problem::{OMEGA, Problem};

/// The matrices on the device.
pub struct OnDevice<'a> {
    problem: &'a Problem,
    a: Matrix,
    b: Matrix,
    c: Matrix,
    spd: Matrix,
    spd_b: Vector,
    lcp: Matrix,
    lcp_b: Vector,
    /// For the paper's forms, in which vectors are matrices of one column.
    spd_b_column: Matrix,
    lcp_b_column: Matrix,
    lcp_d_column: Matrix,
}

impl<'a> OnDevice<'a> {
    pub fn new(device: &Device, problem: &'a Problem) -> Result<Self> {
        let n = problem.n;
        let square = Shape::new(n, n);
        let lcp_b = Vector::from_slice(device, &problem.lcp_b)?;
        // The paper's listing adds: its d is negative.
        let negative: Vec<f32> = problem.lcp_d.iter().map(|d| -d).collect();
        Ok(OnDevice {
            problem,
            a: Matrix::from_rows(device, square, &problem.a)?,
            b: Matrix::from_rows(device, square, &problem.b)?,
            c: Matrix::zeros(device, square)?,
            spd: Matrix::from_rows(device, square, &problem.spd)?,
            spd_b_column: Matrix::from_rows(device, Shape::column(n), &problem.spd_b)?,
            spd_b: Vector::from_slice(device, &problem.spd_b)?,
            lcp: Matrix::from_rows(device, square, &problem.lcp)?,
            lcp_b_column: Matrix::from_vector(&lcp_b)?,
            lcp_d_column: Matrix::from_rows(device, Shape::column(n), &negative)?,
            lcp_b,
        })
    }

    /// Runs an operation and reads its result back, with a time after each of both.
    pub fn run(&mut self, operation: Operation, paper: bool) -> Result<Run> {
        match operation {
            Operation::Copy => self.matrices(|c, a, _| ops::copy(c, a)),
            Operation::Add => self.matrices(ops::add),
            Operation::Multiply => {
                let schedule = if paper { MatmulSchedule::PAPER } else { MatmulSchedule::Auto };
                self.matrices(|c, a, b| ops::matmul_with(c, MatmulForm::Plain, a, b, schedule).map(drop))
            }
            Operation::TransposedMultiply => {
                let schedule = if paper { MatmulSchedule::PAPER_TRANSPOSED } else { MatmulSchedule::Auto };
                self.matrices(|c, a, b| {
                    ops::matmul_with(c, MatmulForm::TransposedA, a, b, schedule).map(drop)
                })
            }
            Operation::ConjugateGradients if paper => self.conjugate_gradients_as_listed(),
            Operation::ConjugateGradients => self.conjugate_gradients(),
            Operation::ProjectedJacobi if paper => self.projected_jacobi_as_listed(),
            Operation::ProjectedJacobi => self.projected_jacobi(),
        }
    }

    /// The schedule that the library chooses for a product.
    pub fn chosen(&mut self, form: MatmulForm) -> Result<MatmulSchedule> {
        Ok(ops::matmul_with(&mut self.c, form, &self.a, &self.b, MatmulSchedule::Auto)?.schedule)
    }

    fn matrices(
        &mut self,
        operation: impl FnOnce(&mut Matrix, &Matrix, &Matrix) -> Result<()>,
    ) -> Result<Run> {
        let (c, a, b) = (&mut self.c, &self.a, &self.b);
        timed(a.device(), || operation(c, a, b).map(|()| (c, None)), |c| c.read())
    }

    /// The stop criterion is one that is not met: what is timed is a fixed number of iterations.
    fn conjugate_gradients(&self) -> Result<Run> {
        let max_iters = self.problem.iterations;
        let stop = Stop::relative(1e-18);
        let cg =
            ConjugateGradient::new(&self.spd, CgParams::default().with_max_iters(max_iters).with_stop(stop))?;
        let solve = || {
            let mut x = Vector::zeros(self.spd.device(), self.problem.n)?;
            let report = cg.solve(&mut x, &self.spd_b)?;
            Ok((x, Some(report.iterations)))
        };
        timed(self.spd.device(), solve, Vector::read)
    }

    /// The listing of \[Moravanszky03\] 4.1, from zero: vectors are matrices of one column. A dot product is a transposed
    /// product into a 1x1 matrix that is read back (3.5), so alpha and beta are the CPU's, which waits twice an iteration.
    fn conjugate_gradients_as_listed(&self) -> Result<Run> {
        let (device, a, iterations) = (self.spd.device(), &self.spd, self.problem.iterations);
        let multiply = |s: &mut Matrix, p: &Matrix| {
            ops::matmul_with(s, MatmulForm::Plain, a, p, MatmulSchedule::PAPER).map(drop)
        };
        let solve = || {
            let column = || Matrix::zeros(device, Shape::column(self.problem.n));
            let (mut x, mut p, mut r, mut s) = (column()?, column()?, column()?, column()?);
            let mut product = Matrix::zeros(device, Shape::new(1, 1))?;
            let mut dot = |u: &Matrix, v: &Matrix| {
                let schedule = MatmulSchedule::PAPER_TRANSPOSED;
                ops::matmul_with(&mut product, MatmulForm::TransposedA, u, v, schedule)?;
                product.element(0, 0)
            };
            ops::copy(&mut p, &self.spd_b_column)?;
            ops::copy(&mut r, &self.spd_b_column)?;
            let mut rr = dot(&r, &r)?;
            multiply(&mut s, &p)?;
            let mut alpha = quotient(rr, dot(&p, &s)?);
            ops::accumulate_scaled(&mut x, alpha, &p)?;
            for _ in 1..iterations {
                ops::accumulate_scaled(&mut r, -alpha, &s)?;
                let new = dot(&r, &r)?;
                ops::scale_and_add(&mut p, quotient(new, rr), &r)?;
                rr = new;
                multiply(&mut s, &p)?;
                alpha = quotient(rr, dot(&p, &s)?);
                ops::accumulate_scaled(&mut x, alpha, &p)?;
            }
            Ok((x, Some(iterations)))
        };
        timed(device, solve, Matrix::read)
    }

    fn projected_jacobi(&self) -> Result<Run> {
        let solver = ProjectedJacobi::new(&self.lcp, OMEGA)?;
        let sweeps = self.problem.iterations;
        let solve = || {
            let mut x = Vector::zeros(self.lcp.device(), self.problem.n)?;
            solver.run(&mut x, &self.lcp_b, sweeps)?;
            Ok((x, Some(sweeps)))
        };
        timed(self.lcp.device(), solve, Vector::read)
    }

    /// The listing of \[Moravanszky03\] 4.2: three operations a sweep, the product by the schedule for matrices.
    fn projected_jacobi_as_listed(&self) -> Result<Run> {
        let device = self.lcp.device();
        let sweeps = self.problem.iterations;
        let solve = || {
            let column = || Matrix::zeros(device, Shape::column(self.problem.n));
            let (mut x, mut w, mut t) = (column()?, column()?, column()?);
            let (b, d) = (&self.lcp_b_column, &self.lcp_d_column);
            for _ in 0..sweeps {
                ops::matmul_with(&mut w, MatmulForm::Plain, &self.lcp, &x, MatmulSchedule::PAPER)?;
                ops::madad(&mut t, &x, b, &w, d)?;
                ops::max_constant(&mut x, &t, 0.0)?;
            }
            Ok((x, Some(sweeps)))
        };
        timed(device, solve, Matrix::read)
    }
}

/// The paper's division, but 0 where nothing is left to divide by: a system that is solved already stays so.
fn quotient(a: f32, b: f32) -> f32 {
    if b == 0.0 { 0.0 } else { a / b }
}

/// Times an operation until the device is done, and until its result has been read.
fn timed<T>(
    device: &Device,
    operation: impl FnOnce() -> Result<(T, Option<usize>)>,
    read: impl FnOnce(&T) -> Result<Vec<f32>>,
) -> Result<Run> {
    let _scope = device.scope()?;
    device.finish()?;
    let (before, started) = (device.counters(), Instant::now());
    let (result, iterations) = operation()?;
    device.finish()?;
    let seconds = started.elapsed().as_secs_f64();
    let readbacks = device.counters().since(&before).readbacks;
    let result = read(&result)?;
    let with_readback = Some(started.elapsed().as_secs_f64());
    Ok(Run { seconds, with_readback, result, iterations, readbacks })
}
