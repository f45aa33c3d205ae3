//! What is done with sparse matrices: on the host, in 64 bits, except for products.

use std::rc::Rc;

use super::ast::Expr;
use super::elementwise::{Action, Operand};
use super::error::ScriptErrorKind as Kind;
use super::run::{At, Run};
use super::source::{Fault, Result};
use super::value::{Data, Value};
use crate::data::{Matrix, MatrixFormat, StoredMatrix, Vector};
use crate::host::{Csr, Triplets};
use crate::ops::{self, Combine, LinOp};
use crate::shape::Shape;

impl Run<'_> {
    /// Puts a sparse matrix on the device. One with a single column becomes dense.
    pub(super) fn stored(&self, csr: Csr, at: u32) -> Result<Value> {
        let shape = csr.shape();
        if shape.cols == 1 {
            self.check_room(shape, at)?;
            let mut values = vec![0.0; shape.rows];
            for (row, _, value) in csr.entries() {
                if let Some(element) = values.get_mut(row) {
                    *element = value as f32;
                }
            }
            return self.dense(shape, &values, at);
        }
        let elements = Shape::column(csr.nnz().saturating_add(csr.shape().rows));
        self.made(elements, at, || StoredMatrix::new(&self.state.device, csr, MatrixFormat::Auto))
    }

    /// The error of an operation that has no form for sparse matrices.
    pub(super) fn needs_dense<T>(&self, expr: &Expr) -> Result<T> {
        let operand = self.text(expr);
        let expected = format!("a dense matrix here: full({operand}) makes one");
        Err(Fault::new(expr.at, Kind::Operand { operand, found: "sparse".into(), expected }))
    }

    /// The operations that leave a pattern as it is, and sums.
    pub(super) fn sparse_elementwise(
        &self,
        action: Action<'_>,
        operands: &[Operand<'_>],
        at: u32,
    ) -> Result<Value> {
        let [data @ .., last] = operands else { return self.number(0.0, at) };
        let first = data.first().unwrap_or(last);
        match (action, first.0.data(), last.0.data()) {
            (Action::Neg, Data::Sparse(a), _) => self.with_values(a, |v| -v, at),
            (Action::Abs, Data::Sparse(a), _) => self.with_values(a, f64::abs, at),
            (Action::Sqrt, Data::Sparse(a), _) => self.with_values(a, f64::sqrt, at),
            (Action::Times, Data::Sparse(a), Data::Number(_) | Data::Scalar(_)) => {
                let factor = self.to_number(last.0, at)?;
                self.with_values(a, |v| v * factor, at)
            }
            (Action::Times, Data::Number(_) | Data::Scalar(_), Data::Sparse(a)) => {
                let factor = self.to_number(first.0, at)?;
                self.with_values(a, |v| v * factor, at)
            }
            (Action::Over, Data::Sparse(a), Data::Number(_) | Data::Scalar(_)) => {
                let divisor = self.to_number(last.0, at)?;
                self.with_values(a, |v| v / divisor, at)
            }
            (Action::Add, Data::Sparse(a), Data::Sparse(b)) => self.sparse_sum(a, b, 1.0, at),
            (Action::Sub, Data::Sparse(a), Data::Sparse(b)) => self.sparse_sum(a, b, -1.0, at),
            _ => {
                let sparse = operands.iter().find(|(value, _)| matches!(value.data(), Data::Sparse(_)));
                self.needs_dense(sparse.unwrap_or(last).1)
            }
        }
    }

    fn with_values(&self, a: &StoredMatrix, f: impl Fn(f64) -> f64, at: u32) -> Result<Value> {
        let values: Vec<f64> = a.pattern().values().iter().map(|v| f(*v)).collect();
        if let Some(value) = values.iter().find(|v| !(**v as f32).is_finite()) {
            return Err(Fault::new(at, Kind::NotFinite { value: *value }));
        }
        self.stored(a.pattern().with_values(&values).at(at)?, at)
    }

    fn sparse_sum(&self, a: &StoredMatrix, b: &StoredMatrix, sign: f64, at: u32) -> Result<Value> {
        let right = b.pattern().entries().map(|(i, j, v)| (i, j, sign * v));
        let sum = Triplets::from_entries(a.shape(), a.pattern().entries().chain(right)).at(at)?;
        self.stored(sum.to_csr(), at)
    }

    /// `op(A) B` column by column of B.
    pub(super) fn sparse_times_dense(
        &self,
        a: &StoredMatrix,
        transposed: bool,
        b: &Matrix,
    ) -> crate::Result<Matrix> {
        let rows = if transposed { a.shape().cols } else { a.shape().rows };
        let shape = Shape::new(rows, b.shape().cols);
        self.by_columns(shape, b, |x| multiplied(a, transposed, x))
    }

    /// A matrix of `shape` whose columns are what `f` makes of the columns of `b`.
    pub(super) fn by_columns(
        &self,
        shape: Shape,
        b: &Matrix,
        mut f: impl FnMut(&Vector) -> crate::Result<Vector>,
    ) -> crate::Result<Matrix> {
        let mut out = Matrix::zeros(&self.state.device, shape)?;
        for j in 0..b.shape().cols {
            out.set_block(0, j, &Matrix::from_vector(&f(&b.column(j)?)?)?)?;
        }
        Ok(out)
    }

    /// A sparse matrix with rows and columns exchanged.
    pub(super) fn sparse_transposed(&self, a: &StoredMatrix, at: u32) -> Result<Value> {
        self.stored(a.pattern().transposed(), at)
    }

    /// Dense data as a sparse matrix without their zeros.
    pub(super) fn to_sparse(&self, x: &Value, at: u32) -> Result<Value> {
        if matches!(x.data(), Data::Sparse(_)) {
            return Ok(x.clone());
        }
        let values: Vec<f64> = x.read().at(at)?.into_iter().map(f64::from).collect();
        self.stored(Triplets::from_dense(x.shape(), &values).at(at)?.to_csr(), at)
    }

    /// A sparse matrix with all its zeros.
    pub(super) fn to_dense(&self, x: &Value, at: u32) -> Result<Value> {
        let Data::Sparse(a) = x.data() else { return Ok(x.clone()) };
        self.check_room(a.shape(), at)?;
        let values = super::value::dense(a).at(at)?;
        self.dense(a.shape(), &values, at)
    }
}

/// `op(A) x` as a new vector.
pub(super) fn multiplied(a: &dyn LinOp, transposed: bool, x: &Vector) -> crate::Result<Vector> {
    let shape = if transposed { a.shape().transposed() } else { a.shape() };
    let mut y = Vector::uninit(a.device(), shape.rows)?;
    if transposed {
        ops::product_transposed(&mut y, Combine::Replace, 1.0, a, x)?;
    } else {
        ops::product(&mut y, Combine::Replace, 1.0, a, x)?;
    }
    Ok(y)
}

/// The element of a sparse matrix, counted from 0.
pub(super) fn element(a: &Rc<StoredMatrix>, row: usize, col: usize) -> f64 {
    let rows = a.pattern().rows().nth(row);
    let found = rows.and_then(|(cols, values)| {
        let at = cols.binary_search(&u32::try_from(col).unwrap_or(u32::MAX)).ok()?;
        values.get(at).copied()
    });
    found.unwrap_or(0.0)
}
