//! A dense matrix of pairs of floats.

use super::Matrix;
use super::double::{joined, rest_of, split_all};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::shape::Shape;

/// A dense matrix given in 64 bits, whose elements are unevaluated sums of two 32-bit floats as those of a
/// [`DoubleVector`](crate::DoubleVector) are, and of a third where two do not hold all 53 bits: for systems whose coefficients
/// 32 bits do not hold.
///
/// As an operator ([`LinOp`](crate::ops::LinOp)) it multiplies by its high parts, as fast as a [`Matrix`]; residuals are
/// recomputed with two, those of unknowns in pairs with all, and certified for the elements as given; but for parts that would lie
/// below the normal range of floats, 1.2e-38, which are zero.
///
/// ```
/// use texla::{DoubleMatrix, DoubleVector, Shape, solve::{CgParams, ConjugateGradient, Stop}};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let a = DoubleMatrix::from_f64(dev, Shape::new(2, 2), &[0.1, 0.02, 0.02, 0.3])?;
/// let b = DoubleVector::from_f64(dev, &[0.12, 0.32])?;
/// let mut x = DoubleVector::zeros(dev, 2)?;
/// let params = CgParams::default().with_stop(Stop::relative(1e-13));
/// assert!(ConjugateGradient::new(&a, params)?.solve(&mut x, &b)?.converged());
/// assert!(x.read()?.iter().all(|v| (v - 1.0).abs() < 1e-12)); // 0.1 in 32 bits is off by 1e-8
/// # Ok::<(), texla::Error>(())
/// ```
pub struct DoubleMatrix {
    high: Matrix,
    low: Matrix,
    /// What those two leave, if they do.
    rest: Option<Matrix>,
}

shown!(DoubleMatrix, |a| "DoubleMatrix({})", a.shape());

impl DoubleMatrix {
    /// From the elements, row by row. *Cost*: 2 uploads a tile, or 3. *Errors*: as of [`Matrix::from_f64`].
    pub fn from_f64(device: &Device, shape: Shape, values: &[f64]) -> Result<Self> {
        let high = Matrix::from_f64(device, shape, values)?;
        let (_, low) = split_all("DoubleMatrix::from_f64", values)?;
        let rest = rest_of(values).map(|rest| Matrix::from_rows(device, shape, &rest)).transpose()?;
        Ok(DoubleMatrix { high, low: Matrix::from_rows(device, shape, &low)?, rest })
    }

    /// Replaces all elements, row by row. *Cost*: 2 uploads a tile, or 3. *Errors*:
    /// [`Error::LengthMismatch`](crate::Error::LengthMismatch), [`Error::NonFinite`](crate::Error::NonFinite);
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) for a third part where there was none. The matrix is then unchanged.
    pub fn write(&mut self, values: &[f64]) -> Result<()> {
        let op = "DoubleMatrix::write";
        let (found, expected) = (values.len(), self.shape().len());
        if found != expected {
            return Err(Error::LengthMismatch { op, operand: "values", found, expected });
        }
        let (high, low) = split_all(op, values)?;
        let rest = rest_of(values);
        let rest = rest.map(|rest| Matrix::from_rows(self.device(), self.shape(), &rest)).transpose()?;
        self.high.write(&high)?;
        self.low.write(&low)?;
        self.rest = rest;
        Ok(())
    }

    /// Copies the elements to the host, row by row. *Cost*: 2 readbacks a tile, or 3, which wait for the device.
    pub fn read(&self) -> Result<Vec<f64>> {
        let mut all = joined(&self.high.read()?, &self.low.read()?);
        if let Some(rest) = &self.rest {
            all.iter_mut().zip(rest.read()?).for_each(|(v, rest)| *v += f64::from(rest));
        }
        Ok(all)
    }

    /// The elements rounded to 32 bits.
    pub fn high(&self) -> &Matrix {
        &self.high
    }

    /// What rounding has left of them.
    pub fn low(&self) -> &Matrix {
        &self.low
    }

    /// What both leave, if they do.
    pub(crate) fn rest(&self) -> Option<&Matrix> {
        self.rest.as_ref()
    }

    /// Rows and columns.
    pub fn shape(&self) -> Shape {
        self.high.shape()
    }

    /// Where the matrix lives.
    pub fn device(&self) -> &Device {
        self.high.device()
    }
}
