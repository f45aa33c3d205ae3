//! What a reader is asked for.

use super::error::MarketError;
use super::lines::Lines;
use super::{MarketMatrix, header, open, parse_entries, vector};
use crate::host::Triplets;
use std::io::BufRead;
use std::path::Path;

/// Options of a reader of Matrix Market files. The default is that of [`read_matrix`](super::read_matrix) and
/// [`read_vector`](super::read_vector).
///
/// ```
/// use texla::host::market::{Field, ReadOptions};
/// let options = ReadOptions::default().with_complex(true);
/// let text = "%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 3 0\n2 1 1 4\n";
/// let m = options.parse_matrix(text.as_bytes(), "a.mtx")?;
/// assert_eq!((m.field, m.triplets.shape().rows, m.triplets.nnz()), (Field::Complex, 4, 12));
/// // (3, 1 - 4i; 1 + 4i, 0) times (1, i) is (7 + i, 1 + 4i), in pairs of real and imaginary part.
/// assert_eq!(m.triplets.to_csr().mul_vec(&[1.0, 0.0, 0.0, 1.0])?, [7.0, 1.0, 1.0, 4.0]);
/// let text = "%%MatrixMarket matrix array complex general\n2 1\n1 0\n0 1\n";
/// assert_eq!(options.parse_vector(text.as_bytes(), "b.mtx")?, [1.0, 0.0, 0.0, 1.0]);
/// # Ok::<(), texla::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ReadOptions {
    /// Whether files are read in their real form. False by default: files of the field `complex` are then refused.
    pub complex: bool,
}

impl ReadOptions {
    /// Sets [`complex`](Self::complex): reads files as complex ones, in their real form.
    ///
    /// A complex entry `a + b i` becomes the block `[[a, -b], [b, a]]`, in rows `2 i`, `2 i + 1` and columns `2 j`,
    /// `2 j + 1`; an element of a vector becomes the pair `a`, `b` (interleaved, so that block methods find blocks of two).
    /// All four numbers of a block are stored, zeros included. `A x = b` holds for the complex numbers if and only if it holds
    /// for the real form, and the transposed real form is that of the conjugate transpose.
    ///
    /// Files of real numbers are read so too, without imaginary parts (blocks have two numbers), so that a real matrix goes
    /// with a complex right-hand side. A matrix may have 2^30 - 1 rows and columns.
    pub const fn with_complex(mut self, complex: bool) -> Self {
        self.complex = complex;
        self
    }

    /// Reads a matrix from a file; see [`read_matrix`](super::read_matrix).
    ///
    /// # Errors
    /// As [`read_matrix`](super::read_matrix).
    pub fn read_matrix(self, path: impl AsRef<Path>) -> Result<MarketMatrix, MarketError> {
        let (reader, name) = open(path.as_ref())?;
        self.parse_matrix(reader, &name)
    }

    /// Reads a matrix from any buffered reader; `name` stands for the file in errors.
    ///
    /// # Errors
    /// As [`read_matrix`](super::read_matrix).
    pub fn parse_matrix(self, reader: impl BufRead, name: &str) -> Result<MarketMatrix, MarketError> {
        let mut lines = Lines::new(reader, name)?;
        let read = header::read(&mut lines, self)
            .and_then(|header| parse_entries(&mut lines, &header, Triplets::new(header.shape_read())));
        lines.unless_damaged(read)
    }

    /// Reads a vector from a file; see [`read_vector`](super::read_vector).
    ///
    /// # Errors
    /// As [`read_vector`](super::read_vector).
    pub fn read_vector(self, path: impl AsRef<Path>) -> Result<Vec<f64>, MarketError> {
        let (reader, name) = open(path.as_ref())?;
        self.parse_vector(reader, &name)
    }

    /// Reads a vector from any buffered reader; `name` stands for the file in errors.
    ///
    /// # Errors
    /// As [`read_vector`](super::read_vector).
    pub fn parse_vector(self, reader: impl BufRead, name: &str) -> Result<Vec<f64>, MarketError> {
        vector::parse(self, reader, name)
    }

    /// Reads the columns of a file, each as a vector; a file with one row or one column is one vector.
    ///
    /// # Errors
    /// As [`read_vector`](super::read_vector), but for the number of columns.
    pub fn read_columns(self, path: impl AsRef<Path>) -> Result<Vec<Vec<f64>>, MarketError> {
        let (reader, name) = open(path.as_ref())?;
        self.parse_columns(reader, &name)
    }

    /// Reads the columns from any buffered reader; `name` stands for the file in errors.
    ///
    /// # Errors
    /// As [`read_columns`](Self::read_columns).
    ///
    /// ```
    /// use texla::host::market::ReadOptions;
    /// let text = "%%MatrixMarket matrix array real general\n3 2\n1\n2\n3\n4\n5\n6\n";
    /// let columns = ReadOptions::default().parse_columns(text.as_bytes(), "b.mtx")?;
    /// assert_eq!(columns, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn parse_columns(self, reader: impl BufRead, name: &str) -> Result<Vec<Vec<f64>>, MarketError> {
        vector::parse_columns(self, reader, name)
    }
}
