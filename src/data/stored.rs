//! A host matrix put on the device in the format that suits it.

use super::{BandedMatrix, SparseFormat, SparseMatrix, Vector};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::host::{Csr, Diagonal, NearNullSpace};
use crate::shape::Shape;

/// How a [`StoredMatrix`] is kept on the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum MatrixFormat {
    /// Banded when there are at most [`MOST_BANDS`] diagonals (9 of less than 1,024 rows) and storing them takes at most twice the
    /// nonzeros; else sparse, as [`SparseFormat::Auto`] chooses. Where both serve and the device has a [profile](Device::set_profile), the one
    /// whose product is predicted to take less.
    #[default]
    Auto,
    /// Diagonals.
    Banded,
    /// Points with additive blending, or rows padded in slices.
    Sparse(SparseFormat),
}

impl From<SparseFormat> for MatrixFormat {
    fn from(format: SparseFormat) -> Self {
        MatrixFormat::Sparse(format)
    }
}

/// Below so many rows no more than [`FEW_BANDS`] are kept as such: a program for each set of them takes longer to compile than a
/// small matrix takes to multiply.
const FEW_ROWS: usize = 1024;
const FEW_BANDS: usize = 9;

/// Most diagonals that [`MatrixFormat::Auto`] keeps as such: two passes' worth.
pub const MOST_BANDS: usize = 24;

/// A matrix on the device in one of the formats, with what is known of its null space.
///
/// ```
/// use texla::{MatrixFormat, Shape, StoredMatrix, Vector, host::Triplets, solve::{CgParams, ConjugateGradient}};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// // Three unknowns in a row of which differences alone count.
/// let entries = [(0, 0, 1.0), (0, 1, -1.0), (1, 0, -1.0), (1, 1, 2.0), (1, 2, -1.0), (2, 1, -1.0), (2, 2, 1.0)];
/// let a = Triplets::from_entries(Shape::new(3, 3), entries)?.to_csr();
/// let a = StoredMatrix::new(dev, a, MatrixFormat::Auto)?.with_null_space(&[vec![1.0; 3]])?;
/// let mut x = Vector::zeros(dev, 3)?;
/// ConjugateGradient::new(&a, CgParams::default())?.solve(&mut x, &Vector::from_slice(dev, &[-1.0, 0.0, 1.0])?)?;
/// assert!(x.read()?.iter().zip([-1.0, 0.0, 1.0]).all(|(x, one)| (x - one).abs() < 1e-5)); // orthogonal to 1 1 1
/// # Ok::<(), texla::Error>(())
/// ```
#[derive(Debug)]
pub struct StoredMatrix {
    kept: Kept,
    null_space: Vec<Vector>,
    near_null: Option<NearNullSpace>,
}

/// How a [`StoredMatrix`] is kept.
#[derive(Debug)]
#[non_exhaustive]
pub enum Kept {
    /// Diagonals.
    Banded(Box<BandedMatrix>),
    /// Points or gathered rows.
    Sparse(Box<SparseMatrix>),
}

impl StoredMatrix {
    /// Most vectors of a [null space](Self::with_null_space): each is projected out of all that a solver keeps.
    pub const MOST_NULL_VECTORS: usize = 64;

    /// Puts a matrix on the device.
    ///
    /// *Cost* and *errors*: as [`BandedMatrix::from_csr`] and [`SparseMatrix::from_csr`].
    pub fn new(device: &Device, csr: Csr, format: impl Into<MatrixFormat>) -> Result<Self> {
        let sparse = match format.into() {
            MatrixFormat::Banded => None,
            MatrixFormat::Sparse(format) => Some(format),
            MatrixFormat::Auto => suitable(device, &csr),
        };
        Self::kept_as(device, csr, sparse, false)
    }

    /// Puts a matrix on the device of whose coefficients 32 bits suffice.
    pub(crate) fn rounded(device: &Device, csr: Csr) -> Result<Self> {
        let sparse = suitable(device, &csr);
        Self::kept_as(device, csr, sparse, true)
    }

    fn kept_as(device: &Device, csr: Csr, sparse: Option<SparseFormat>, rounds: bool) -> Result<Self> {
        let kept = match sparse {
            None => Kept::Banded(Box::new(BandedMatrix::from_csr(device, csr)?)),
            Some(format) => Kept::Sparse(Box::new(SparseMatrix::made(device, csr, format, rounds)?)),
        };
        Ok(StoredMatrix { kept, null_space: Vec::new(), near_null: None })
    }

    /// Makes what residuals in double-float need of the matrix, or says why there is none.
    pub(crate) fn check_certifiable(&self) -> Result<()> {
        match &self.kept {
            Kept::Sparse(sparse) if self.device().capabilities().exact_form.is_some() => {
                sparse.gather(false).map(drop)
            }
            _ => Ok(()),
        }
    }

    /// Bytes on the device of `A` and of `Aᵀ`, which some formats make when it is first asked for, in the format that
    /// [`MatrixFormat::Auto`] chooses. No more than that is taken.
    #[cfg(feature = "script")]
    pub(crate) fn bytes(device: &Device, csr: &Csr) -> [u64; 2] {
        match (suitable(device, csr), few_bands(csr)) {
            (None, Some(bands)) => [BandedMatrix::bytes(device, csr.shape().rows, bands.len()), 0],
            _ => SparseMatrix::bytes(device, csr),
        }
    }

    /// Declares vectors that span the null space of `A` and of `Aᵀ`: solvers then find the solution that is orthogonal to
    /// them, and refuse a right-hand side that is not ([`LinOp::null_space`](crate::solve::LinOp::null_space)). They are made
    /// orthogonal, and rounded to 32 bits: where that changes them, a residual much below 1e-7 is out of reach.
    ///
    /// # Errors
    ///
    /// [`Error::LengthMismatch`]; [`Error::Parameter`] for elements that are not finite, for vectors that depend on each other,
    /// for more than 64, and for one that `A` or `Aᵀ` does not map to zero: to 2⁻²⁰ of the sum of the terms of each row.
    pub fn with_null_space(mut self, vectors: &[Vec<f64>]) -> Result<Self> {
        if vectors.is_empty() {
            self.null_space.clear();
            return Ok(self);
        }
        let vectors = orthogonal(self.pattern(), vectors)?;
        self.null_space =
            vectors.iter().map(|v| Vector::from_f64(self.device(), v)).collect::<Result<Vec<_>>>()?;
        Ok(self)
    }

    /// Declares vectors that `A` maps nearly to zero, in place of the vector of ones:
    /// [`AggregationMultigrid`](crate::solve::AggregationMultigrid) interpolates them exactly. Of a matrix `D A D` with a diagonal `D` that is `D⁻¹ 1`, where
    /// it is 1 for `A`; of elasticity the [rigid motions](NearNullSpace::rigid).
    ///
    /// # Errors
    ///
    /// [`Error::LengthMismatch`].
    pub fn with_near_null_space(mut self, space: NearNullSpace) -> Result<Self> {
        space.check("StoredMatrix::with_near_null_space", self.shape().cols)?;
        self.near_null = Some(space);
        Ok(self)
    }

    /// The matrix as it is kept.
    pub fn kept(&self) -> &Kept {
        &self.kept
    }

    /// Gives the entries other values, in the order of [`pattern`](Self::pattern). What has been declared of the null space is
    /// about the old ones, and goes.
    ///
    /// # Errors
    ///
    /// As [`BandedMatrix::set_values`] and [`SparseMatrix::set_values`]; the matrix is then as it was.
    pub fn set_values(&mut self, values: &[f64]) -> Result<()> {
        match &mut self.kept {
            Kept::Banded(m) => m.set_values(values)?,
            Kept::Sparse(m) => m.set_values(values)?,
        }
        (self.null_space, self.near_null) = (Vec::new(), None);
        Ok(())
    }

    pub(crate) fn null_space(&self) -> &[Vector] {
        &self.null_space
    }

    pub(crate) fn near_null_space(&self) -> Option<&NearNullSpace> {
        self.near_null.as_ref()
    }

    /// The format in use: never [`MatrixFormat::Auto`] or [`SparseFormat::Auto`].
    pub fn format(&self) -> MatrixFormat {
        match &self.kept {
            Kept::Banded(_) => MatrixFormat::Banded,
            Kept::Sparse(m) => MatrixFormat::Sparse(m.format()),
        }
    }

    /// Where the matrix lives.
    pub fn device(&self) -> &Device {
        match &self.kept {
            Kept::Banded(m) => m.device(),
            Kept::Sparse(m) => m.device(),
        }
    }

    /// Rows and columns.
    pub fn shape(&self) -> Shape {
        self.pattern().shape()
    }

    /// The entries as given.
    pub fn pattern(&self) -> &Csr {
        match &self.kept {
            Kept::Banded(m) => m.pattern(),
            Kept::Sparse(m) => m.pattern(),
        }
    }
}

fn check_length(op: &'static str, expected: usize, vector: &[f64]) -> Result<()> {
    if vector.len() == expected {
        return Ok(());
    }
    Err(Error::LengthMismatch { op, operand: "vector", expected, found: vector.len() })
}

/// These, orthogonal and with a largest element of 1, if the matrix and its transpose map them to zero.
fn orthogonal(a: &Csr, vectors: &[Vec<f64>]) -> Result<Vec<Vec<f64>>> {
    const OP: &str = "StoredMatrix::with_null_space";
    let wrong = |value: String, expected| Err(Error::Parameter { op: OP, name: "vectors", value, expected });
    let Shape { rows, cols } = a.shape();
    if rows != cols {
        return wrong(format!("those of a {rows}x{cols} matrix"), "a square matrix");
    }
    if vectors.len() > StoredMatrix::MOST_NULL_VECTORS {
        return wrong(vectors.len().to_string(), "at most 64 vectors");
    }
    let sizes = a.clone().map(|_, _, v| v.abs());
    let (turned, turned_sizes) = (a.transposed(), sizes.transposed());
    let mut out: Vec<Vec<f64>> = Vec::new();
    for (k, vector) in vectors.iter().enumerate() {
        check_length(OP, cols, vector)?;
        let largest = vector.iter().fold(0.0, |most: f64, v| if v.is_nan() { *v } else { most.max(v.abs()) });
        if !(largest > 0.0 && largest.is_finite()) {
            return wrong(format!("vector {k}"), "finite elements, not all of them 0");
        }
        let mut v: Vec<f64> = vector.iter().map(|v| v / largest).collect();
        let size: Vec<f64> = v.iter().map(|v| v.abs()).collect();
        for (a, sizes, maps) in [(a, &sizes, "A"), (&turned, &turned_sizes, "the transpose of A")] {
            let product = a.mul_vec(&v)?;
            let most = sizes.mul_vec(&size)?;
            let far = product.iter().zip(most).position(|(p, most)| p.abs() > most * 20f64.exp2().recip());
            if let Some(row) = far {
                let value = format!("vector {k}, which {maps} does not map to 0 in row {row}");
                return wrong(value, "vectors that A and its transpose map to 0 but for rounding");
            }
        }
        let before = v.iter().map(|v| v * v).sum::<f64>();
        // Twice, since the first time leaves what rounding makes of nearly parallel vectors.
        for other in out.iter().chain(out.iter()) {
            let dot = |w: &[f64]| w.iter().zip(other).map(|(a, b)| a * b).sum::<f64>();
            let share = dot(&v) / dot(other);
            v.iter_mut().zip(other).for_each(|(v, o)| *v -= share * o);
        }
        if v.iter().map(|v| v * v).sum::<f64>() <= 1e-12 * before {
            return wrong(format!("vector {k}"), "vectors of which none is a sum of the others");
        }
        let largest = v.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        out.push(v.into_iter().map(|v| v / largest).collect());
    }
    Ok(out)
}

/// What [`MatrixFormat::Auto`] chooses; `None` stands for diagonals.
fn suitable(device: &Device, csr: &Csr) -> Option<SparseFormat> {
    let Some(bands) = few_bands(csr) else { return Some(SparseFormat::Auto) };
    let ways = || {
        let sparse = SparseMatrix::suitable(device, csr);
        let banded = BandedMatrix::count(device, csr.shape(), &bands).map(|work| (None, work));
        banded.into_iter().chain(SparseMatrix::count(device, csr, sparse).map(|work| (Some(sparse), work)))
    };
    device.quickest(ways).unwrap_or(None)
}

/// The diagonals and whether the coefficients of each are equal, where [`MatrixFormat::Auto`] may keep them as such.
fn few_bands(csr: &Csr) -> Option<Vec<(i64, bool)>> {
    let rows = csr.shape().rows;
    // Looking further would take memory for each of them.
    let found = csr.diagonals(if rows < FEW_ROWS { FEW_BANDS } else { MOST_BANDS })?;
    let stored = found.len().saturating_mul(rows);
    let constant = |d: &Diagonal| (d.offset, d.constant(csr.shape()).is_some());
    (stored <= csr.nnz().saturating_mul(2)).then(|| found.iter().map(constant).collect())
}
