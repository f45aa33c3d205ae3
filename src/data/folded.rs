//! A square matrix kept as its diagonals, two opposing ones in a vector.

use super::banded::{BandedMatrix, check_sides};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::host::{Csr, Triplets};
use crate::shape::Shape;

/// A square matrix whose diagonals `+k` (length `n - k`) and `-(n - k)` (length `k`) share one vector without waste
/// \[Krueger05\] 44.2.3, Figure 44-3: entry `i` of vector `k` is `A[i, (i + k) mod n]`. Even a full matrix takes `n`
/// vectors of `n` elements, and no byte more.
///
/// Products read `x` twice in a row, so that an offset never wraps around: the matrix is kept as the diagonals of one
/// with `2 n` columns, and everything that is said of [`BandedMatrix`] holds (pairs of floats, constant diagonals as
/// numbers). With few diagonals choose that one: folding pays where many come in opposing pairs.
///
/// ```
/// use texla::{FoldedBands, Shape, Vector, host::Triplets, ops::{self, Combine}};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let t = Triplets::from_dense(Shape::new(3, 3), &[1., 2., 3., 4., 5., 6., 7., 8., 9.])?;
/// let a = FoldedBands::from_triplets(dev, &t)?;
/// assert_eq!(a.offsets(), [0, 1, 2]); // of five diagonals
/// let x = Vector::from_slice(dev, &[1., 10., 100.])?;
/// let mut y = Vector::zeros(dev, 3)?;
/// ops::product(&mut y, Combine::Replace, 1.0, &a, &x)?;
/// assert_eq!(y.read()?, [321., 654., 987.]);
/// # Ok::<(), texla::Error>(())
/// ```
pub struct FoldedBands {
    csr: Csr,
    /// n x 2 n: column `j + n` stands for column `j` where the diagonal has wrapped around.
    pub(crate) wide: BandedMatrix,
}

shown!(FoldedBands, |a| "FoldedBands({}, {} vectors)", a.csr.shape(), a.wide.bands.len());

impl FoldedBands {
    /// A matrix from its entries; every pair of opposing diagonals of which one holds an entry is stored.
    ///
    /// *Cost*: one upload for each pair (two where 32 bits do not hold the coefficients), `4 n` bytes each. *Errors*:
    /// [`Error::Matrix`] when the matrix is not square; [`Error::NonFinite`] with the number of the first entry that
    /// does not fit 32 bits; [`Error::TooLarge`] past half the texture area, [`Error::OutOfMemory`].
    pub fn from_triplets(device: &Device, triplets: &Triplets) -> Result<Self> {
        check(device, triplets.shape())?;
        Self::from_csr(device, triplets.to_csr())
    }

    /// As [`from_triplets`](Self::from_triplets), from compressed rows: the same cost and errors.
    pub fn from_csr(device: &Device, csr: Csr) -> Result<Self> {
        check(device, csr.shape())?;
        crate::error::check_finite("FoldedBands", csr.values().iter().copied())?;
        let n = csr.shape().rows;
        let entries = csr.entries().map(|(i, j, v)| (i, if j < i { j + n } else { j }, v));
        let wide = Triplets::from_entries(Shape::new(n, 2 * n), entries)?.to_csr();
        let wide = BandedMatrix::from_csr(device, wide)?;
        Ok(FoldedBands { csr, wide })
    }

    /// Replaces the coefficients and keeps the pattern: `values` in the order of [`pattern`](Self::pattern).
    ///
    /// *Cost*: as creation. *Errors*: [`Error::LengthMismatch`], [`Error::NonFinite`]; the matrix is then unchanged.
    pub fn set_values(&mut self, values: &[f64]) -> Result<()> {
        crate::error::check_finite("FoldedBands::set_values", values.iter().copied())?;
        let csr = self.csr.with_values(values)?;
        // A row of the wide matrix begins at the diagonal and ends left of it.
        let mut ordered = Vec::with_capacity(values.len());
        for (i, (cols, values)) in csr.rows().enumerate() {
            let (left, right) = values.split_at(cols.partition_point(|j| (*j as usize) < i));
            ordered.extend(right.iter().chain(left));
        }
        self.wide.set_values(&ordered)?;
        self.csr = csr;
        Ok(())
    }

    /// Rows and columns.
    pub fn shape(&self) -> Shape {
        self.csr.shape()
    }

    /// Offsets of the stored vectors in ascending order, below n: column minus row, modulo n.
    pub fn offsets(&self) -> &[i64] {
        self.wide.offsets()
    }

    /// The entries as given: the pattern whose order [`set_values`](Self::set_values) follows.
    pub fn pattern(&self) -> &Csr {
        &self.csr
    }

    /// The first pair of places that differ from the transposed matrix, looked for once.
    pub(crate) fn asymmetry(&self) -> Option<(usize, usize, f64, f64)> {
        self.csr.asymmetry()
    }

    /// `floor(log2 max |a_ij|)`; 0 for a matrix of zeros.
    pub fn exponent(&self) -> i32 {
        self.wide.exponent()
    }

    /// The device the matrix lives on.
    pub fn device(&self) -> &Device {
        self.wide.device()
    }
}

/// Refuses what is not square, and what has more rows than half a vector, before anything is allocated.
fn check(device: &Device, shape: Shape) -> Result<()> {
    if !shape.is_square() {
        let detail = format!("is {shape}: opposing diagonals are folded for square ones only");
        return Err(Error::Matrix { op: "FoldedBands", detail });
    }
    check_sides(device, "FoldedBands", Shape::new(shape.rows, shape.rows.saturating_mul(2)))
}
