//! The methods of the table, and what a sequence of systems takes them.

use texla::ops::{self, Combine};
use texla::solve::{BlockExpression, BlockVector, CgParams, ConjugateGradient, Direction, Multigrid, Stop};
use texla::{Grid, Stencil, Vector};

use crate::cpu::{self, GaussSeidel};
use crate::support::{Result, share};

/// The paper's.
pub const TOLERANCES: [f64; 3] = [1e-3, 1e-4, 1e-5];
/// Sweeps are given up after so many.
pub const MOST: usize = 30_000;

/// What a tolerance bounds; the paper does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Criterion {
    /// `‖b - A x‖ / ‖b‖`
    Residual,
    /// `‖x - x before the last sweep‖ / ‖x‖`
    Change,
}

impl Criterion {
    pub const ALL: [Criterion; 2] = [Criterion::Residual, Criterion::Change];

    pub fn name(self) -> &'static str {
        match self {
            Criterion::Residual => "residual over b",
            Criterion::Change => "change of x over x",
        }
    }
}

/// The sweeps after which the next test is made: a sixteenth more, by which counts may be too large.
pub fn next(done: usize) -> usize {
    done + (done / 16).max(1)
}

/// A method with its iterate, which the next system begins from.
pub trait Method {
    /// Brings b from the host.
    fn upload(&mut self, b: &[f32]) -> Result;
    /// Sweeps until the tolerance is met: how many, and whether it is. The iterate is in natural order then, where it was.
    fn solve(&mut self, norm_b: f64, criterion: Criterion, tolerance: f64) -> Result<(usize, bool)>;
    /// And on the host.
    fn read(&mut self) -> Result<Vec<f32>>;
}

/// What sweeps and is tested from outside.
trait Sweeps {
    fn sweep(&mut self, sweeps: usize) -> Result;
    /// `‖b - A x‖`, by a number that is waited for.
    fn residual(&mut self) -> Result<f64>;
    /// One sweep, and `‖change‖ / ‖x‖`, by two numbers.
    fn change(&mut self) -> Result<f64>;

    /// Ends too where eight tests have found nothing less.
    fn until(&mut self, norm_b: f64, criterion: Criterion, tolerance: f64) -> Result<(usize, bool)> {
        let (mut done, mut test, mut best, mut idle) = (0, 1, f64::INFINITY, 0);
        loop {
            let value = match criterion {
                Criterion::Residual => {
                    self.sweep(test - done)?;
                    self.residual()? / norm_b
                }
                Criterion::Change => {
                    self.sweep(test - done - 1)?;
                    self.change()?
                }
            };
            done = test;
            if value <= tolerance {
                return Ok((done, true));
            }
            idle = if value < 0.9999 * best { 0 } else { idle + 1 };
            best = if value < best { value } else { best };
            if idle >= 8 || done >= MOST {
                return Ok((done, false));
            }
            test = next(done).min(MOST);
        }
    }
}

/// On the CPU.
pub struct OnCpu {
    pub sweeps: GaussSeidel,
    pub x: Vec<f32>,
    b: Vec<f32>,
}

impl OnCpu {
    pub fn new(grid: Grid, threads: usize) -> Self {
        let zeros = vec![0.0; grid.len()];
        Self { sweeps: GaussSeidel { grid, threads }, x: zeros.clone(), b: zeros }
    }
}

impl Method for OnCpu {
    fn upload(&mut self, b: &[f32]) -> Result {
        self.b.copy_from_slice(b);
        Ok(())
    }

    fn solve(&mut self, norm_b: f64, criterion: Criterion, tolerance: f64) -> Result<(usize, bool)> {
        self.until(norm_b, criterion, tolerance)
    }

    fn read(&mut self) -> Result<Vec<f32>> {
        Ok(self.x.clone())
    }
}

impl Sweeps for OnCpu {
    fn sweep(&mut self, sweeps: usize) -> Result {
        self.sweeps.sweep(&mut self.x, &self.b, sweeps);
        Ok(())
    }

    fn residual(&mut self) -> Result<f64> {
        Ok(self.sweeps.residual(&self.x, &self.b))
    }

    fn change(&mut self) -> Result<f64> {
        let before = self.x.clone();
        self.sweep(1)?;
        let change: f64 = self.x.iter().zip(&before).map(|(x, y)| f64::from(x - y).powi(2)).sum();
        Ok(share(change.sqrt(), cpu::norm(&self.x)))
    }
}

/// On textures: enhanced block Jacobi, or Jacobi by the same programs.
pub struct Blocks<'a> {
    a: &'a Stencil,
    e: &'a BlockExpression,
    x: BlockVector,
    /// What Jacobi writes to: it reads old values alone.
    back: Option<BlockVector>,
    b: Vector,
    /// D⁻¹ b.
    packed: BlockVector,
    natural: [Vector; 2],
    work: Vector,
}

impl<'a> Blocks<'a> {
    pub fn new(a: &'a Stencil, e: &'a BlockExpression, jacobi: bool) -> Result<Self> {
        let zeros = || Vector::zeros(a.device(), a.grid().len());
        Ok(Self {
            a,
            e,
            x: e.zeros()?,
            back: jacobi.then(|| e.zeros()).transpose()?,
            b: zeros()?,
            packed: e.zeros()?,
            natural: [zeros()?, zeros()?],
            work: zeros()?,
        })
    }
}

impl Method for Blocks<'_> {
    fn upload(&mut self, b: &[f32]) -> Result {
        Ok(self.b.write(b)?)
    }

    fn solve(&mut self, norm_b: f64, criterion: Criterion, tolerance: f64) -> Result<(usize, bool)> {
        // The denominator is 6 in all rows, also at the clamped sides.
        ops::scaled(&mut self.work, 1.0 / 6.0, &self.b)?;
        self.packed = self.e.pack(&self.work)?;
        self.until(norm_b, criterion, tolerance)
    }

    fn read(&mut self) -> Result<Vec<f32>> {
        Ok(self.natural[0].read()?)
    }
}

impl Sweeps for Blocks<'_> {
    fn sweep(&mut self, sweeps: usize) -> Result {
        match &mut self.back {
            None => self.e.iterate(&mut self.x, &self.packed, sweeps, Direction::Forward)?,
            Some(back) => {
                for _ in 0..sweeps {
                    self.e.apply(back, &self.x, &self.packed)?;
                    std::mem::swap(&mut self.x, back);
                }
            }
        }
        Ok(())
    }

    fn residual(&mut self) -> Result<f64> {
        self.e.unpack(&mut self.natural[0], &self.x)?;
        ops::product(&mut self.work, Combine::SubtractFrom(&self.b), 1.0, self.a, &self.natural[0])?;
        Ok(f64::from(ops::norm_squared(&self.work)?.read()?).sqrt())
    }

    fn change(&mut self) -> Result<f64> {
        self.e.unpack(&mut self.natural[1], &self.x)?;
        self.sweep(1)?;
        let Self { e, x, natural: [after, before], work, .. } = self;
        e.unpack(after, x)?;
        ops::sub(work, after, before)?;
        let [change, size] = [ops::norm_squared(work)?.read()?, ops::norm_squared(after)?.read()?];
        Ok(share(f64::from(change), f64::from(size)).sqrt())
    }
}

/// The library's conjugate gradients, which test the residual themselves.
pub struct Gradients<'a> {
    a: &'a Stencil,
    multigrid: Option<&'a Multigrid>,
    x: Vector,
    b: Vector,
}

impl<'a> Gradients<'a> {
    pub fn new(a: &'a Stencil, multigrid: Option<&'a Multigrid>) -> Result<Self> {
        let zeros = || Vector::zeros(a.device(), a.grid().len());
        Ok(Self { a, multigrid, x: zeros()?, b: zeros()? })
    }
}

impl Method for Gradients<'_> {
    fn upload(&mut self, b: &[f32]) -> Result {
        Ok(self.b.write(b)?)
    }

    fn read(&mut self) -> Result<Vec<f32>> {
        Ok(self.x.read()?)
    }

    fn solve(&mut self, _: f64, _: Criterion, tolerance: f64) -> Result<(usize, bool)> {
        let params = CgParams::default().with_stop(Stop::relative(tolerance));
        let solver = ConjugateGradient::preconditioned(self.a, self.multigrid, params)?;
        let report = solver.solve(&mut self.x, &self.b)?;
        Ok((report.iterations, report.converged()))
    }
}
