//! Operations to be timed: each `run` does one of them a number of times, and then waits for it by reading a number.

use texla::ops::{self, Combine};
use texla::solve::{CgParams, ConjugateGradient, Smoother, Stop, WeightedJacobi};
use texla::{BandedMatrix, Device, Matrix, Result, Scalar, Shape, Vector};
use wasm_bindgen::prelude::*;

use super::gpu::Gpu;
use super::{Page, thrown};

enum Work {
    Add { x: Vector, y: Vector, out: Vector },
    Sum { x: Vector, out: Scalar },
    Product { a: Matrix, b: Matrix, out: Matrix },
    Stencil { a: BandedMatrix, x: Vector, out: Vector },
    Jacobi { sweeps: WeightedJacobi<BandedMatrix>, x: Vector, b: Vector },
    Solve { a: BandedMatrix, b: Vector, x: Vector },
}

/// An operation with its operands.
#[wasm_bindgen]
pub struct Bench {
    device: Device,
    work: Work,
}

impl Bench {
    fn make(device: &Device, name: &str, n: usize) -> Result<Option<Work>> {
        let values: Vec<f32> = (0..n * n).map(|i| (i * 7 % 13) as f32 / 13.0 - 0.4).collect();
        let vector = || Vector::from_slice(device, &values);
        Ok(Some(match name {
            "add" => Work::Add { x: vector()?, y: vector()?, out: vector()? },
            "sum" => Work::Sum { x: vector()?, out: Scalar::new(device, 0.0)? },
            "matmul" => {
                let matrix = || Matrix::from_rows(device, Shape::new(n, n), &values);
                Work::Product { a: matrix()?, b: matrix()?, out: matrix()? }
            }
            "stencil" => {
                Work::Stencil { a: BandedMatrix::poisson_2d(device, n, n)?, x: vector()?, out: vector()? }
            }
            "jacobi" => {
                let a = BandedMatrix::poisson_2d(device, n, n)?;
                Work::Jacobi { sweeps: WeightedJacobi::new(a, 1.0)?, x: vector()?, b: vector()? }
            }
            "cg" => Work::Solve {
                a: BandedMatrix::poisson_2d(device, n, n)?,
                b: Vector::filled(device, n * n, 1.0)?,
                x: Vector::zeros(device, n * n)?,
            },
            _ => return Ok(None),
        }))
    }

    /// Returns iterations, where it iterates.
    fn once(&mut self) -> Result<usize> {
        match &mut self.work {
            Work::Add { x, y, out } => ops::add(out, x, y)?,
            Work::Sum { x, out } => {
                ops::reduce_into(out, ops::Reduction::Sum, x, None, ops::Windows::Balanced)?
            }
            Work::Product { a, b, out } => ops::matmul(out, a, b)?,
            Work::Stencil { a, x, out } => ops::product(out, Combine::Replace, 1.0, &*a, x)?,
            Work::Jacobi { sweeps, x, b } => sweeps.smooth(x, b, 1)?,
            Work::Solve { a, b, x } => {
                x.set_zero()?;
                let params = CgParams::default().with_stop(Stop::relative(1e-4));
                return Ok(ConjugateGradient::new(&*a, params)?.solve(x, b)?.iterations);
            }
        }
        Ok(0)
    }

    fn wait(&self) -> Result<f32> {
        match &self.work {
            Work::Add { out, .. } | Work::Stencil { out, .. } => out.element(0),
            Work::Sum { out, .. } => out.read(),
            Work::Product { out, .. } => out.element(0, 0),
            Work::Jacobi { x, .. } | Work::Solve { x, .. } => x.element(0),
        }
    }
}

#[wasm_bindgen]
impl Bench {
    /// `add`, `sum`, `stencil` and `jacobi` (a sweep) of n² elements, `matmul` of n x n matrices, `cg` on an n x n grid.
    #[wasm_bindgen(constructor)]
    pub fn new(gpu: &Gpu, name: &str, n: usize) -> Page<Bench> {
        let work = Self::make(&gpu.device, name, n).map_err(thrown)?;
        let work = work.ok_or_else(|| JsValue::from(js_sys::Error::new("there is no such operation")))?;
        Ok(Bench { device: gpu.device.clone(), work })
    }

    /// So many rounds in one scope, and waits for them. Iterations of the last one, where it iterates.
    pub fn run(&mut self, rounds: u32) -> Page<f64> {
        let scope = self.device.scope().map_err(thrown)?;
        let mut iterations = 0;
        for _ in 0..rounds {
            iterations = self.once().map_err(thrown)?;
        }
        drop(scope);
        self.wait().map_err(thrown)?;
        Ok(iterations as f64)
    }
}
