//! Draws of work that is large: none may be long, whatever it belongs to.

use std::time::Duration;

use texla::host::problems;
use texla::ops::{self, Combine, MatmulForm, MatmulSchedule};
use texla::solve::{CgParams, ConjugateGradient};
use texla::{BandedMatrix, Device, DoubleVector, Matrix, Result, Shape, SparseFormat, SparseMatrix, Vector};

use crate::common::loader;

/// The longest draw of each kind of work on vectors of `side` times `side` elements, by the name of the work.
pub fn longest(dev: &Device, side: usize) -> Result<Vec<(&'static str, Duration)>> {
    let side = side.min(dev.capabilities().max_texture_size as usize);
    let n = side * side;
    let csr = problems::poisson_2d(side, side).to_csr();
    let bands = BandedMatrix::from_csr(dev, csr.clone())?;
    let gathered = SparseMatrix::from_csr(dev, csr.clone(), SparseFormat::Gather)?;
    let x = Vector::filled(dev, n, 0.5)?;
    let b = DoubleVector::from_f64(dev, &vec![0.1; n])?;
    let mut y = Vector::zeros(dev, n)?;
    let mut found = Vec::new();
    let mut note = |name, work: &mut dyn FnMut() -> Result<()>| -> Result<()> {
        work()?; // compiled and allocated
        let mut done = Ok(());
        found.push((name, loader::longest_draw(|| done = work())));
        done
    };
    note("element-wise", &mut || ops::axpy(&mut y, 0.5, &x, &x))?;
    note("reduction", &mut || ops::dot(&x, &x).map(drop))?;
    note("product by bands", &mut || ops::product(&mut y, Combine::Replace, 1.0, &bands, &x))?;
    note("product by gathered rows", &mut || ops::product(&mut y, Combine::Replace, 1.0, &gathered, &x))?;
    let iterations = CgParams::default().with_max_iters(3);
    note("CG in pairs on bands", &mut || {
        let mut u = DoubleVector::zeros(dev, n)?;
        ConjugateGradient::new(&bands, iterations)?.solve(&mut u, &b).map(drop)
    })?;
    note("CG in pairs on gathered rows", &mut || {
        let mut u = DoubleVector::zeros(dev, n)?;
        ConjugateGradient::new(&gathered, iterations)?.solve(&mut u, &b).map(drop)
    })?;
    if dev.capabilities().float_blend {
        let points = SparseMatrix::from_csr(dev, csr, SparseFormat::Points)?;
        note("product by points", &mut || ops::product(&mut y, Combine::Replace, 1.0, &points, &x))?;
    }
    note("histogram", &mut || ops::histogram(&x, 0.0, 1.0, 64).map(drop))?;
    let square = Shape::new(side / 2, side / 2);
    let (a, mut c) = (Matrix::filled(dev, square, 0.5)?, Matrix::zeros(dev, square)?);
    note("dense product in one pass", &mut || {
        ops::matmul_with(&mut c, MatmulForm::Plain, &a, &a, MatmulSchedule::OnePass).map(drop)
    })?;
    Ok(found)
}
