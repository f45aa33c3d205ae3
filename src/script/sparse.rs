//! What is done with sparse matrices: on the host, in 64 bits, except for products.

use super::ast::Expr;
use super::elementwise::{Action, Operand};
use super::error::ScriptErrorKind as Kind;
use super::room::{Charge, SparseBytes, matrix_bytes, sparse_bytes};
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
            let _values = self.room_to_copy(shape, at)?;
            let mut values = vec![0.0; shape.rows];
            for (row, _, value) in csr.entries() {
                if let Some(element) = values.get_mut(row) {
                    *element = value as f32;
                }
            }
            return self.dense(shape, &values, at);
        }
        let SparseBytes { kept, making } = sparse_bytes(&self.state.device, &csr);
        let what = || format!("{shape} elements with {} entries take", csr.nnz());
        let room = self.taken(kept, at, what)?;
        let _making = self.taken(making, at, what)?;
        self.kept(StoredMatrix::new(&self.state.device, csr, MatrixFormat::Auto).at(at)?, room, at)
    }

    /// The room to put the transpose of a sparse matrix on the device, which its first product with it does.
    pub(super) fn room_to_turn(&self, a: &StoredMatrix, transposed: bool, at: u32) -> Result<Charge> {
        let shape = a.shape();
        let bytes = if transposed { sparse_bytes(&self.state.device, a.pattern()).making } else { 0 };
        self.taken(bytes, at, || format!("turning {shape} elements takes"))
    }

    /// The room to put a matrix together column by column: itself anew, and a column before and after `f`, each as a vector
    /// and as a matrix.
    pub(super) fn room_for_columns(&self, shape: Shape, of: usize, at: u32) -> Result<Charge> {
        let column = |rows| matrix_bytes(Shape::column(rows)).saturating_mul(2);
        let bytes = matrix_bytes(shape).saturating_add(column(shape.rows)).saturating_add(column(of));
        self.taken(bytes, at, || format!("putting {shape} elements together takes"))
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
        // The values twice, and the entries before they go to the device.
        let _values = self.room_to_sort(a.shape(), a.pattern().nnz(), at)?;
        let values: Vec<f64> = a.pattern().values().iter().map(|v| f(*v)).collect();
        if let Some(value) = values.iter().find(|v| !(**v as f32).is_finite()) {
            return Err(Fault::new(at, Kind::NotFinite { value: *value }));
        }
        self.stored(a.pattern().with_values(&values).at(at)?, at)
    }

    fn sparse_sum(&self, a: &StoredMatrix, b: &StoredMatrix, sign: f64, at: u32) -> Result<Value> {
        let entries = a.pattern().nnz().saturating_add(b.pattern().nnz());
        let sorting = self.room_to_sort(a.shape(), entries, at)?;
        let right = b.pattern().entries().map(|(i, j, v)| (i, j, sign * v));
        let mut sum = Triplets::with_capacity(a.shape(), entries);
        for (i, j, value) in a.pattern().entries().chain(right) {
            sum.push(i, j, value).at(at)?;
        }
        self.sorted(sum, sorting, at)
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
        let sorting = self.room_to_sort(a.shape().transposed(), a.pattern().nnz(), at)?;
        let turned = a.pattern().transposed();
        drop(sorting);
        self.stored(turned, at)
    }

    /// Dense data as a sparse matrix without their zeros.
    pub(super) fn to_sparse(&self, x: &Value, at: u32) -> Result<Value> {
        if matches!(x.data(), Data::Sparse(_)) {
            return Ok(x.clone());
        }
        let (values, copy) = self.copied(x, at)?;
        let shape = x.shape();
        let entries = values.iter().filter(|v| **v != 0.0).count();
        let sorting = self.room_to_sort(shape, entries, at)?;
        let mut nonzeros = Triplets::with_capacity(shape, entries);
        for (row, line) in values.chunks(shape.cols.max(1)).enumerate() {
            for (col, value) in line.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                nonzeros.push(row, col, f64::from(*value)).at(at)?;
            }
        }
        drop((values, copy));
        self.sorted(nonzeros, sorting, at)
    }

    /// Entries for which there is room while they are sorted, as a sparse matrix.
    pub(super) fn sorted(&self, entries: Triplets, sorting: Charge, at: u32) -> Result<Value> {
        let csr = entries.to_csr();
        drop((entries, sorting));
        self.stored(csr, at)
    }

    /// A sparse matrix with all its zeros.
    pub(super) fn to_dense(&self, x: &Value, at: u32) -> Result<Value> {
        let Data::Sparse(a) = x.data() else { return Ok(x.clone()) };
        // The value itself comes first: that there is no room for it says more than that it cannot be copied.
        drop(self.room(a.shape(), at)?);
        let _values = self.room_to_copy(a.shape(), at)?;
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
pub(super) fn element(a: &StoredMatrix, row: usize, col: usize) -> f64 {
    let rows = a.pattern().rows().nth(row);
    let found = rows.and_then(|(cols, values)| {
        let at = cols.binary_search(&u32::try_from(col).unwrap_or(u32::MAX)).ok()?;
        values.get(at).copied()
    });
    found.unwrap_or(0.0)
}
