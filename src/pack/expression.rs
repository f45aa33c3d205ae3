//! What is to be evaluated: y = A x + b, or one Gauss-Seidel iteration.

use crate::error::{Error, Result, check_finite};
use crate::host::{Csr, Triplets};
use crate::pack::{Order, Packing};
use crate::shape::Shape;

/// How an expression is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// y = A x + b.
    Affine,
    /// x = L x + U x + b in the order of the positions, in place: row by row, with the entries of A split by the current
    /// order into L (the unknown stands at an earlier position: its new value) and U (its old value). \[Bajaj04\] 3.3.
    GaussSeidel,
}

/// A linear expression y = A x + b with a constant square matrix A, some entries of b known to be zero.
///
/// A holds its non-zero entries only: exact zeros are dropped, entries at the same place summed. A row of b is *trivial*
/// if it is the constant 0, which saves the addition. *Shapes*: A n x n, any n >= 1, padded by the packer to a multiple of 4
/// with rows and columns of zeros and trivial b.
///
/// *Source*: \[Bajaj04\] sections 2.2 and 3.3.
///
/// ```
/// use texla::{Shape, host::Triplets, pack::LinearExpression};
/// let a = Triplets::from_entries(Shape::new(3, 3), [(0, 1, 2.0), (2, 0, 1.0), (2, 2, 4.0)])?;
/// let e = LinearExpression::new(&a, &[true, true, false])?; // b = (b0, b1, 0)
/// assert_eq!((e.unknowns(), e.quads(), e.nnz()), (3, 1, 3));
/// assert_eq!(e.scalar_operations(), 3 + 2); // multiplications; additions: one to b0, one inside the last row
/// assert_eq!(e.evaluate(&[1.0, 10.0, 100.0], &[0.5, 7.0, 0.0])?, [20.5, 7.0, 401.0]);
/// # Ok::<(), texla::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct LinearExpression {
    matrix: Csr,
    nontrivial: Vec<bool>,
    form: Form,
}

impl LinearExpression {
    /// y = A x + b, where `nontrivial[i]` says that b_i is not the constant 0.
    ///
    /// *Errors*: [`Error::Matrix`] if A is not square or empty; [`Error::LengthMismatch`] for `nontrivial`;
    /// [`Error::NonFinite`] for an entry that is no finite 32-bit float.
    pub fn new(a: &Triplets, nontrivial: &[bool]) -> Result<Self> {
        let op = "LinearExpression::new";
        check_square(op, a.shape())?;
        check_length(op, "nontrivial", nontrivial.len(), a.shape().rows)?;
        let matrix = nonzeros(a)?;
        Ok(Self { matrix, nontrivial: nontrivial.to_vec(), form: Form::Affine })
    }

    /// One Gauss-Seidel iteration for A x = r: x_i = b_i - sum of a_ij / a_ii x_j over j != i, with b = D^-1 r (the caller
    /// scales r, see [`Jacobi form`](Self::jacobi)); all b non-trivial.
    ///
    /// *Errors*: as [`new`](Self::new), and [`Error::Matrix`] for the first row whose diagonal is zero.
    ///
    /// ```
    /// use texla::{host::problems, pack::LinearExpression};
    /// let e = LinearExpression::gauss_seidel(&problems::poisson_1d(4))?; // x_i = b_i + (x_(i-1) + x_(i+1)) / 2
    /// let packing = texla::pack::Packing::identity(4);
    /// assert_eq!(e.sweep(packing.rows(), &[0.0; 4], &[1.0, 0.0, 0.0, 2.0])?, [1.0, 0.5, 0.25, 2.125]);
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn gauss_seidel(a: &Triplets) -> Result<Self> {
        let (op, form) = ("LinearExpression::gauss_seidel", Form::GaussSeidel);
        Ok(Self { form, ..Self::scaled(op, a)? })
    }

    /// One Jacobi iteration for A x = r as y = -D^-1 (L + U) x + b with b = D^-1 r, all b non-trivial.
    ///
    /// *Errors*: as [`gauss_seidel`](Self::gauss_seidel).
    pub fn jacobi(a: &Triplets) -> Result<Self> {
        Self::scaled("LinearExpression::jacobi", a)
    }

    fn scaled(op: &'static str, a: &Triplets) -> Result<Self> {
        check_square(op, a.shape())?;
        let csr = nonzeros(a)?;
        let diagonal = csr.diagonal();
        if let Some(row) = diagonal.iter().position(|&d| d == 0.0) {
            return Err(Error::Matrix { op, detail: format!("has a zero on the diagonal of row {row}") });
        }
        let mut off = Triplets::with_capacity(a.shape(), csr.nnz());
        for (i, d) in diagonal.iter().enumerate() {
            for (j, v) in csr.row(i).filter(|&(j, _)| j != i) {
                off.push(i, j, -v / d)?;
            }
        }
        Self::new(&off, &vec![true; a.shape().rows])
    }

    /// The four stages' common expression of a Runge-Kutta step for y' = G y + beta: k = (h G) w + h beta.
    ///
    /// beta_i is trivial where `nontrivial[i]` is false. *Source*: \[Bajaj04\] section 3.2, equations (5), (7), (9), (11).
    ///
    /// *Errors*: as [`new`](Self::new); [`Error::Parameter`] if `h` is not finite.
    pub fn ode_stage(g: &Triplets, nontrivial: &[bool], h: f64) -> Result<Self> {
        if !h.is_finite() {
            let (op, name, expected) = ("LinearExpression::ode_stage", "h", "a finite time step");
            return Err(Error::Parameter { op, name, value: h.to_string(), expected });
        }
        let scaled = Triplets::from_entries(g.shape(), g.entries().map(|(i, j, v)| (i, j, h * v)))?;
        Self::new(&scaled, nontrivial)
    }

    /// The same expression with other trivial rows of b.
    ///
    /// *Errors*: [`Error::LengthMismatch`].
    pub fn with_nontrivial(mut self, nontrivial: &[bool]) -> Result<Self> {
        check_length("LinearExpression::with_nontrivial", "nontrivial", nontrivial.len(), self.unknowns())?;
        self.nontrivial = nontrivial.to_vec();
        Ok(self)
    }

    /// The same expression where y becomes the next x: unknowns that are zero for ever (an empty row with trivial b) lose
    /// their columns, again until none is left.
    ///
    /// The unknowns keep their numbers, so that nodes held at zero stay where the application expects them; they must be
    /// zero at the start.
    ///
    /// ```
    /// use texla::pack::instances;
    /// let wave = instances::wave_2d()?;
    /// assert_eq!((wave.nnz(), wave.fold_zero_nodes().nnz()), (231, 217));
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn fold_zero_nodes(&self) -> Self {
        let mut alive = vec![true; self.unknowns()];
        let occupied = |row: usize, alive: &[bool]| {
            self.row(row).any(|(col, _)| alive.get(col).copied().unwrap_or_default())
        };
        loop {
            let zero = |&i: &usize| {
                alive.get(i).copied().unwrap_or_default() && !self.is_nontrivial(i) && !occupied(i, &alive)
            };
            let dead: Vec<usize> = (0..self.unknowns()).filter(zero).collect();
            if dead.is_empty() {
                break;
            }
            for i in dead {
                alive.get_mut(i).map(|a| *a = false).unwrap_or_default();
            }
        }
        let mut kept = Triplets::with_capacity(self.matrix.shape(), self.nnz());
        for i in 0..self.unknowns() {
            for (j, v) in self.row(i).filter(|&(j, _)| alive.get(j).copied().unwrap_or_default()) {
                kept.push_valid(i as u32, j as u32, v);
            }
        }
        Self { matrix: kept.to_csr(), ..self.clone() }
    }

    /// Number of unknowns n, without padding.
    pub fn unknowns(&self) -> usize {
        self.nontrivial.len()
    }

    /// Number of quads: ceil(n / 4), the block rows of the padded matrix.
    pub fn quads(&self) -> usize {
        self.unknowns().div_ceil(4)
    }

    /// Number of non-zero entries of A (without its diagonal for an iteration).
    pub fn nnz(&self) -> usize {
        self.matrix.nnz()
    }

    /// How it is evaluated.
    pub fn form(&self) -> Form {
        self.form
    }

    /// The matrix: A, or -D^-1 (L + U) for an iteration.
    pub fn matrix(&self) -> &Csr {
        &self.matrix
    }

    /// The non-zero entries (column, value) of row `i`; none past the last unknown.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.matrix.row(i)
    }

    /// True if b_i is not the constant 0; false past the last unknown.
    pub fn is_nontrivial(&self, i: usize) -> bool {
        self.nontrivial.get(i).copied().unwrap_or_default()
    }

    /// Multiplications and additions without any packing: a multiplication for each non-zero, and as many additions in a
    /// row with non-trivial b, one fewer in others. \[Bajaj04\] Table 2 (a).
    pub fn scalar_operations(&self) -> usize {
        let saved = |i: &usize| self.row(*i).next().is_some() && !self.is_nontrivial(*i);
        2 * self.nnz() - (0..self.unknowns()).filter(saved).count()
    }

    /// A x + b in 64 bits, row by row, the terms of a row from the left: the reference of every program.
    ///
    /// *Errors*: [`Error::LengthMismatch`] for `x` and `b`.
    pub fn evaluate(&self, x: &[f64], b: &[f64]) -> Result<Vec<f64>> {
        self.check_vectors("LinearExpression::evaluate", x, b)?;
        let term = |(j, v): (usize, f64)| v * x.get(j).copied().unwrap_or_default();
        let b = b.iter().enumerate().map(|(i, &b)| if self.is_nontrivial(i) { b } else { 0.0 });
        Ok(b.enumerate().map(|(i, b)| self.row(i).map(term).sum::<f64>() + b).collect())
    }

    /// One Gauss-Seidel iteration in 64 bits, the unknowns in the given order: the reference of programs of that form.
    ///
    /// *Errors*: [`Error::LengthMismatch`] for `order`, `x` and `b`.
    pub fn sweep(&self, order: &Order, x: &[f64], b: &[f64]) -> Result<Vec<f64>> {
        let op = "LinearExpression::sweep";
        check_length(op, "order", order.unknowns(), self.unknowns())?;
        self.check_vectors(op, x, b)?;
        let mut x = x.to_vec();
        for i in order.indices().iter().map(|&i| i as usize).filter(|&i| i < self.unknowns()) {
            let sum: f64 = self.row(i).map(|(j, v)| v * x.get(j).copied().unwrap_or_default()).sum();
            let b = if self.is_nontrivial(i) { b.get(i).copied().unwrap_or_default() } else { 0.0 };
            x.get_mut(i).map(|x| *x = sum + b).unwrap_or_default();
        }
        Ok(x)
    }

    /// Refuses a packing that does not fit: of another size, or of two orders for an iteration in place.
    pub(crate) fn check_packing(&self, op: &'static str, packing: &Packing) -> Result<()> {
        check_length(op, "packing", packing.rows().unknowns(), self.unknowns())?;
        if self.form == Form::GaussSeidel && !packing.is_symmetric() {
            let (name, value) = ("packing", "two different orders".to_owned());
            let expected = "one order for rows and columns: Gauss-Seidel works in place";
            return Err(Error::Parameter { op, name, value, expected });
        }
        Ok(())
    }

    fn check_vectors(&self, op: &'static str, x: &[f64], b: &[f64]) -> Result<()> {
        check_length(op, "x", x.len(), self.unknowns())?;
        check_length(op, "b", b.len(), self.unknowns())
    }
}

/// Compressed rows without exact zeros.
fn nonzeros(a: &Triplets) -> Result<Csr> {
    let csr = a.to_csr();
    check_finite("LinearExpression", csr.values().iter().copied())?;
    let mut kept = Triplets::with_capacity(a.shape(), csr.nnz());
    for i in 0..a.shape().rows {
        for (j, v) in csr.row(i).filter(|&(_, v)| v != 0.0) {
            kept.push(i, j, v)?;
        }
    }
    Ok(kept.to_csr())
}

fn check_square(op: &'static str, shape: Shape) -> Result<()> {
    if shape.rows != shape.cols {
        return Err(Error::Matrix { op, detail: format!("is {shape}, expected as many rows as columns") });
    }
    if shape.rows == 0 {
        return Err(Error::Matrix { op, detail: "is empty, expected at least one row".to_owned() });
    }
    Ok(())
}

fn check_length(op: &'static str, operand: &'static str, found: usize, expected: usize) -> Result<()> {
    if found != expected {
        return Err(Error::LengthMismatch { op, operand, found, expected });
    }
    Ok(())
}
