//! Sums, extremes, products and norms: to a 1x1 that stays on the device, or to a row with one element for each column.

use super::ast::{Expr, ExprKind};
use super::elementwise::Operand;
use super::error::ScriptErrorKind as Kind;
use super::functions::{is_vector, says};
use super::names::Function;
use super::run::{At, Run};
use super::source::{Fault, Result};
use super::sparse::multiplied;
use super::value::{Data, Value};
use crate::data::StoredMatrix;
use crate::data::{Matrix, Scalar, Vector};
use crate::ops::LinOp;
use crate::ops::{self, Elements};
use crate::shape::Shape;

/// What a sum or an extreme is taken over.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Over {
    All,
    /// One result for each column.
    Columns,
    /// One result for each row.
    Rows,
}

/// Norms of vectors and matrices.
enum Norm {
    /// The largest sum of absolute values in a column.
    One,
    /// Of a vector, or of all elements of a matrix.
    Two,
    /// The largest sum of absolute values in a row.
    Infinity,
}

fn total<T: Elements>(function: Function, x: &T) -> crate::Result<Scalar> {
    match function {
        Function::Max => ops::max_element(x),
        Function::Min => ops::min_element(x),
        _ => ops::sum(x),
    }
}

fn absolute<T: Elements>(x: &T) -> crate::Result<T> {
    let mut out = x.like()?;
    ops::abs(&mut out, x)?;
    Ok(out)
}

/// The sums of the columns, or of the rows, as a vector.
fn sums(a: &dyn LinOp, of_rows: bool) -> crate::Result<Vector> {
    let n = if of_rows { a.shape().cols } else { a.shape().rows };
    multiplied(a, !of_rows, &Vector::filled(a.device(), n, 1.0)?)
}

/// `√(Σ v²)` without overflow.
fn euclidean(values: &[f64]) -> f64 {
    let largest = values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    if largest == 0.0 {
        return 0.0;
    }
    largest * values.iter().map(|v| (v / largest).powi(2)).sum::<f64>().sqrt()
}

impl Run<'_> {
    /// `sum`, `max` and `min` of one operand; only sums are taken over rows.
    pub(super) fn reduced(
        &self,
        function: Function,
        (x, expr): Operand<'_>,
        over: Over,
        at: u32,
    ) -> Result<Value> {
        if function != Function::Sum && x.shape().is_empty() {
            let (operand, found) = (self.text(expr), x.shape().to_string());
            let expected = "at least one element".into();
            return Err(Fault::new(expr.at, Kind::Operand { operand, found, expected }));
        }
        // Of a vector the sums one way are itself, the other way its only sum.
        let over = match (over, x.shape()) {
            (Over::Columns, Shape { rows: 1, .. }) | (Over::Rows, Shape { cols: 1, .. }) => {
                return Ok(x.clone());
            }
            (Over::Columns, Shape { cols: 1, .. }) | (Over::Rows, Shape { rows: 1, .. }) => Over::All,
            (over, _) => over,
        };
        match (x.data(), over) {
            (Data::Number(_) | Data::Scalar(_), _) => Ok(x.clone()),
            (Data::Sparse(_), _) if function != Function::Sum => self.needs_dense(expr),
            (Data::Sparse(a), Over::All) => self.number((**a).pattern().values().iter().sum(), at),
            (Data::Vector(x), _) => self.scalar(total(function, x.as_ref()), at),
            (Data::Matrix(a), Over::All) => self.scalar(total(function, a.as_ref()), at),
            (Data::Matrix(a), _) if function != Function::Sum => {
                let shape = Shape::new(1, a.shape().cols);
                let _columns = self.room_for_columns(shape, a.shape().rows, at)?;
                self.made(shape, at, || self.columnwise(function, a))
            }
            (Data::Matrix(_) | Data::Sparse(_), over) => {
                let Some(a) = x.data().operator() else { return self.needs_dense(expr) };
                let Shape { rows, cols } = a.shape();
                let of_rows = over == Over::Rows;
                let room = self.room(if of_rows { Shape::column(rows) } else { Shape::new(1, cols) }, at)?;
                // The ones, the sums, and sums before the last.
                let _ones = self.room_to_work(1, if of_rows { cols } else { rows }, at)?;
                let _sums = self.room_to_work(2, if of_rows { rows } else { cols }, at)?;
                let _turning = match x.data() {
                    Data::Sparse(a) => Some(self.room_to_turn(a, !of_rows, at)?),
                    _ => None,
                };
                let sums = sums(a, of_rows).at(at)?;
                match of_rows {
                    true => self.kept(sums, room, at),
                    false => {
                        self.kept(Matrix::from_vector_rows(&sums, Shape::new(1, cols)).at(at)?, room, at)
                    }
                }
            }
        }
    }

    /// The largest or smallest element of each column, as a row.
    fn columnwise(&self, function: Function, a: &Matrix) -> crate::Result<Matrix> {
        let device = &self.state.device;
        let mut row = Matrix::zeros(device, Shape::new(1, a.shape().cols))?;
        for j in 0..a.shape().cols {
            let element = total(function, &a.column(j)?)?;
            let mut block = Matrix::uninit(device, Shape::new(1, 1))?;
            ops::fill(&mut block, &element)?;
            row.set_block(0, j, &block)?;
        }
        Ok(row)
    }

    /// `Σ x_i y_i` of two vectors, either of which may be a row.
    pub(super) fn dot(&self, (x, x_expr): Operand<'_>, (y, y_expr): Operand<'_>, at: u32) -> Result<Value> {
        if let (Data::Number(x), Data::Number(y)) = (x.data(), y.data()) {
            return self.number(x * y, at);
        }
        if !is_vector(x.shape()) || !is_vector(y.shape()) || x.shape().len() != y.shape().len() {
            let (left, right) = (self.operand(x_expr, x.shape()), self.operand(y_expr, y.shape()));
            let rule = "a dot product needs two vectors of equal length".into();
            return Err(Fault::new(at, Kind::Shapes { left, right, rule }));
        }
        // A row becomes a vector.
        let rows = [x, y].iter().filter(|v| v.shape().cols != 1).count() as u64;
        let _rows = self.room_to_work(rows, x.shape().len(), at)?;
        let vector = |(value, expr): Operand<'_>| match value.data().vector(&self.state.device).at(at)? {
            Some(vector) => Ok(vector),
            None => self.needs_dense(expr),
        };
        let (x, y) = (vector((x, x_expr))?, vector((y, y_expr))?);
        self.scalar(ops::dot(x.as_ref(), y.as_ref()), at)
    }

    /// `norm(x)`, `norm(x, 1)`, `norm(x, 2)`, `norm(x, inf)`, `norm(x, "fro")`.
    pub(super) fn norm(&self, (x, expr): Operand<'_>, kind: Option<&Expr>, at: u32) -> Result<Value> {
        let is_vector = is_vector(x.shape());
        let norm = match kind {
            None if is_vector => Norm::Two,
            Some(kind) if is_vector && kind.is == ExprKind::Number(2.0) => Norm::Two,
            Some(kind) if says(kind, "fro") => Norm::Two,
            Some(kind) if says(kind, "inf") => Norm::Infinity,
            Some(kind) if kind.is == ExprKind::Number(1.0) => Norm::One,
            None => {
                let (operand, found) = (self.text(expr), x.shape().to_string());
                let expected =
                    "a vector; for a matrix write norm(A, \"fro\"), norm(A, 1) or norm(A, inf)".into();
                return Err(Fault::new(expr.at, Kind::Operand { operand, found, expected }));
            }
            Some(kind) if is_vector => return self.unknown_word(kind, "1, 2, inf or \"fro\""),
            Some(kind) => {
                return self.unknown_word(kind, "1, inf or \"fro\": the norm 2 of a matrix is not built");
            }
        };
        match x.data() {
            Data::Number(value) => self.number(value.abs(), at),
            Data::Sparse(a) => self.sparse_norm(a, &norm, at),
            Data::Scalar(x) => self.scalar(absolute(x.as_ref()), at),
            Data::Vector(x) => {
                let norm = match norm {
                    Norm::One => {
                        let _beside = self.room(x.shape(), at)?;
                        absolute(x.as_ref()).and_then(|a| ops::sum(&a))
                    }
                    Norm::Two => ops::norm2(x.as_ref()),
                    Norm::Infinity => ops::max_abs(x.as_ref()),
                };
                self.scalar(norm, at)
            }
            Data::Matrix(a) => {
                // The norms of a row are those of the column that it would be.
                let is_row = a.shape().rows == 1;
                let longest = a.shape().rows.max(a.shape().cols);
                let _sums = match norm {
                    Norm::Two => None,
                    _ => Some(self.room_to_work(3, longest, at)?),
                };
                let norm = match norm {
                    Norm::Two => ops::norm2(a.as_ref()),
                    Norm::One if !is_row => ops::norm1(a),
                    Norm::Infinity if is_row => ops::norm1(a),
                    _ => ops::norm_inf(a),
                };
                self.scalar(norm, at)
            }
        }
    }

    fn sparse_norm(&self, a: &StoredMatrix, norm: &Norm, at: u32) -> Result<Value> {
        let of_rows = matches!(norm, Norm::Infinity) != (a.shape().rows == 1);
        if let Norm::Two = norm {
            return self.number(euclidean(a.pattern().values()), at);
        }
        let length = if of_rows { a.shape().rows } else { a.shape().cols };
        let _sums = self.taken(8 * length as u64, at, || format!("{length} sums take"))?;
        let mut sums = vec![0.0f64; length];
        for (row, col, value) in a.pattern().entries() {
            if let Some(sum) = sums.get_mut(if of_rows { row } else { col }) {
                *sum += value.abs();
            }
        }
        self.number(sums.into_iter().fold(0.0, f64::max), at)
    }

    /// `Σ a_ii` of a square matrix.
    pub(super) fn trace(&self, (x, expr): Operand<'_>, at: u32) -> Result<Value> {
        if !x.shape().is_square() {
            let (operand, found) = (self.text(expr), x.shape().to_string());
            let expected = "as many rows as columns".into();
            return Err(Fault::new(expr.at, Kind::Operand { operand, found, expected }));
        }
        match x.data() {
            Data::Number(_) | Data::Scalar(_) => Ok(x.clone()),
            Data::Sparse(a) => self.number((**a).pattern().diagonal().iter().sum(), at),
            Data::Vector(x) => self.scalar(ops::sum(x.as_ref()), at),
            Data::Matrix(a) => self.scalar(ops::trace(a), at),
        }
    }
}
