//! What a variable holds.

use std::rc::Rc;

use super::room::{Charge, dense_bytes, sparse_bytes};
use crate::data::{Matrix, Scalar, StoredMatrix, Vector};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::ops::LinOp;
use crate::ops::{self, Coefficient};
use crate::shape::Shape;

/// A value of the script. Cloning shares the data: nothing of them ever changes.
#[derive(Clone)]
pub struct Value {
    data: Data,
    /// Counts the bytes for as long as any clone lives; a 1x1 takes none.
    _charge: Option<Rc<Charge>>,
}

shown!(Value, |value| "{:?}", value.data);

/// Where the data of a [`Value`] are. The shape decides: 1x1 is a number or a scalar, any other single column a vector;
/// so no matrix of either kind has one column.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Data {
    /// A 1x1 on the host: literals, counts, elements that were read, and what is computed from those, in 64 bits.
    Number(f64),
    /// A 1x1 on the device: the result of `dot`, `norm` and their like, and what is computed from those.
    Scalar(Rc<Scalar>),
    /// A column.
    Vector(Rc<Vector>),
    /// Any other dense matrix.
    Matrix(Rc<Matrix>),
    /// A sparse matrix.
    Sparse(Rc<StoredMatrix>),
}

impl From<f64> for Data {
    fn from(value: f64) -> Self {
        Data::Number(value)
    }
}

macro_rules! shared {
    ($($variant:ident $type:ty)*) => {$(
        impl From<$type> for Data {
            fn from(value: $type) -> Self {
                Data::$variant(Rc::new(value))
            }
        }
    )*};
}

shared!(Scalar Scalar Vector Vector Matrix Matrix Sparse StoredMatrix);

impl Data {
    /// Rows and columns.
    pub fn shape(&self) -> Shape {
        match self {
            Data::Number(_) | Data::Scalar(_) => Shape::new(1, 1),
            Data::Vector(x) => x.shape(),
            Data::Matrix(a) => a.shape(),
            Data::Sparse(a) => a.shape(),
        }
    }

    /// Where the data live; a number lives nowhere.
    pub(super) fn device(&self) -> Option<&Device> {
        match self {
            Data::Number(_) => None,
            Data::Scalar(x) => Some(x.device()),
            Data::Vector(x) => Some(x.device()),
            Data::Matrix(a) => Some(a.device()),
            Data::Sparse(a) => Some(a.device()),
        }
    }

    /// The same with the variant that belongs to its shape.
    pub(super) fn canonical(self) -> Result<Self> {
        let is_one = self.shape() == Shape::new(1, 1);
        Ok(match &self {
            // The sum of one element is that element.
            Data::Vector(x) if is_one => ops::sum(x.as_ref())?.into(),
            Data::Matrix(a) if is_one => ops::sum(a.as_ref())?.into(),
            Data::Matrix(a) if a.shape().cols == 1 => a.to_vector()?.into(),
            Data::Sparse(a) if is_one => (**a).pattern().values().iter().sum::<f64>().into(),
            Data::Sparse(a) if a.shape().cols == 1 => Vector::from_slice(a.device(), &dense(a)?)?.into(),
            _ => self,
        })
    }

    /// A 1x1 as a factor.
    pub(super) fn coefficient(&self) -> Option<Coefficient<'_>> {
        match self {
            Data::Number(value) => Some(Coefficient::Host(*value as f32)),
            Data::Scalar(scalar) => Some(Coefficient::Device(scalar)),
            _ => None,
        }
    }

    /// What a solver multiplies by: a matrix of either kind.
    pub(super) fn operator(&self) -> Option<&dyn LinOp> {
        match self {
            Data::Matrix(a) => Some(a.as_ref()),
            Data::Sparse(a) => Some(a.as_ref()),
            _ => None,
        }
    }

    /// Dense data in the columns of a [`Matrix`]; a sparse matrix stays out.
    pub(super) fn matrix(&self, device: &Device) -> Result<Option<Rc<Matrix>>> {
        Ok(match self {
            Data::Matrix(a) => Some(Rc::clone(a)),
            Data::Vector(x) => Some(Rc::new(Matrix::from_vector(x)?)),
            Data::Number(_) | Data::Scalar(_) => {
                let mut a = Matrix::uninit(device, Shape::new(1, 1))?;
                if let Some(value) = self.coefficient() {
                    ops::fill(&mut a, value)?;
                }
                Some(Rc::new(a))
            }
            Data::Sparse(_) => None,
        })
    }

    /// Dense data with one row or one column as a vector.
    pub(super) fn vector(&self, device: &Device) -> Result<Option<Rc<Vector>>> {
        Ok(match self {
            Data::Vector(x) => Some(Rc::clone(x)),
            Data::Matrix(a) if a.shape().rows == 1 => Some(Rc::new(a.row(0)?)),
            Data::Number(_) | Data::Scalar(_) => {
                let mut x = Vector::uninit(device, 1)?;
                if let Some(value) = self.coefficient() {
                    ops::fill(&mut x, value)?;
                }
                Some(Rc::new(x))
            }
            Data::Matrix(_) | Data::Sparse(_) => None,
        })
    }

    /// Bytes that the value takes, on the device and on the host, for as long as it is there.
    fn bytes(&self) -> u64 {
        match (self, self.device()) {
            (Data::Sparse(a), Some(device)) => sparse_bytes(device, (**a).pattern()).kept,
            (data, Some(device)) => dense_bytes(device, data.shape()),
            (_, None) => 0,
        }
    }
}

impl Value {
    /// Data for which room has been taken.
    pub(super) fn new(data: Data, mut charge: Charge) -> Self {
        charge.settle(data.bytes());
        Value { data, _charge: Some(Rc::new(charge)) }
    }

    /// A 1x1 on the host.
    pub(super) fn number(value: f64) -> Self {
        Value { data: value.into(), _charge: None }
    }

    /// A 1x1 on the device.
    pub(super) fn scalar(value: Scalar) -> Self {
        Value { data: value.into(), _charge: None }
    }

    /// Where the data are, and what they are.
    pub fn data(&self) -> &Data {
        &self.data
    }

    pub(super) fn data_mut(&mut self) -> &mut Data {
        &mut self.data
    }

    /// Rows and columns.
    pub fn shape(&self) -> Shape {
        self.data.shape()
    }

    /// Copies the elements to the host, row by row; those of a sparse matrix that are not stored are zero.
    ///
    /// *Cost*: 1 readback (a matrix: one for each tile), which waits for the device; none for a number or a sparse
    /// matrix. *Errors*: [`Error::TooLarge`] for a sparse matrix of more elements than a dense one could have.
    ///
    /// ```
    /// use texla::script::{Interpreter, parse};
    /// # let ctx = texla::Headless::new(Default::default())?;
    /// let mut interpreter = Interpreter::new(ctx.device());
    /// interpreter.run(&parse("A = [1 2; 3 4]'", "demo")?, &mut std::io::sink())?;
    /// assert_eq!(interpreter.get("A").unwrap().read()?, [1.0, 3.0, 2.0, 4.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read(&self) -> Result<Vec<f32>> {
        match &self.data {
            Data::Number(value) => Ok(vec![*value as f32]),
            Data::Scalar(scalar) => Ok(vec![scalar.read()?]),
            Data::Vector(x) => x.read(),
            Data::Matrix(a) => a.read(),
            Data::Sparse(a) => dense(a),
        }
    }
}

/// All elements of a sparse matrix, row by row. *Errors*: [`Error::TooLarge`] for what no dense matrix could hold.
pub(super) fn dense(a: &StoredMatrix) -> Result<Vec<f32>> {
    let shape = a.shape();
    let (requested, limit) = (shape.len() as u64, i32::MAX as u64);
    if requested > limit {
        let (what, unit) = ("a sparse matrix with all its zeros", "elements");
        return Err(Error::TooLarge { what, requested, limit, unit });
    }
    let mut values = vec![0.0; shape.len()];
    for (row, col, value) in a.pattern().entries() {
        if let Some(element) = values.get_mut(row * shape.cols + col) {
            *element = value as f32;
        }
    }
    Ok(values)
}
