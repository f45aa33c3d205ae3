//! Writing matrices and vectors.

use super::error::{MarketError, MarketErrorKind as Kind};
use crate::host::{PendingFile, Triplets};
use crate::shape::Shape;
use std::io::Write;
use std::path::Path;

/// Writes a matrix to a file as `coordinate real general`, one line per stored entry in the order of the entries.
///
/// A file whose name ends in `.gz` is compressed (feature `gzip`), as are those of the other functions.
///
/// Values have as many digits as it takes to read the same `f64` again: writing and reading changes nothing.
///
/// *Errors*: I/O; [`NotFinite`](Kind::NotFinite) for a value that is not finite, and [`TooLarge`](Kind::TooLarge) for 2^31
/// rows or columns and more, since such a file could not be read again. After an error the file is as it was before
/// ([`PendingFile`]).
pub fn write_matrix(path: impl AsRef<Path>, matrix: &Triplets) -> Result<(), MarketError> {
    to_file(path.as_ref(), |writer| writer.matrix(matrix))
}

/// Writes a matrix to any writer; see [`write_matrix`]. Writers without a buffer should be wrapped in a
/// [`BufWriter`](std::io::BufWriter).
///
/// ```
/// use texla::{Shape, host::{Triplets, market}};
/// let a = Triplets::from_entries(Shape::new(2, 3), [(1, 2, 0.1), (0, 0, -4.0)])?;
/// let mut text = Vec::new();
/// market::write_matrix_to(&mut text, &a)?;
/// assert_eq!(text, b"%%MatrixMarket matrix coordinate real general\n2 3 2\n2 3 1e-1\n1 1 -4e0\n");
/// assert_eq!(market::parse_matrix(&text[..], "text")?.triplets, a);
/// # Ok::<(), texla::Error>(())
/// ```
pub fn write_matrix_to(writer: impl Write, matrix: &Triplets) -> Result<(), MarketError> {
    Writer::new(writer, "writer").matrix(matrix)
}

/// Writes a vector (`f64`, `f32` or small integers) to a file as `array real general` with one column.
///
/// Values are written as `f64`, with as many digits as it takes to read the same `f64` again; an `f32` is exact in `f64`, so
/// it returns as itself.
///
/// *Errors*: as [`write_matrix`].
pub fn write_vector<T: Copy + Into<f64>>(path: impl AsRef<Path>, values: &[T]) -> Result<(), MarketError> {
    to_file(path.as_ref(), |writer| writer.vector(values))
}

/// Writes a vector to any writer; see [`write_vector`].
///
/// ```
/// use texla::host::market;
/// let mut text = Vec::new();
/// market::write_vector_to(&mut text, &[0.1_f32, -3.0])?;
/// assert_eq!(market::parse_vector(&text[..], "text")?, [f64::from(0.1_f32), -3.0]);
/// # Ok::<(), texla::Error>(())
/// ```
pub fn write_vector_to<T: Copy + Into<f64>>(writer: impl Write, values: &[T]) -> Result<(), MarketError> {
    Writer::new(writer, "writer").vector(values)
}

/// Writes a complex vector, given as pairs of real and imaginary part, to a file as `array complex general` with one column.
///
/// [`ReadOptions::with_complex`](super::ReadOptions::with_complex) reads the same pairs again.
///
/// # Errors
/// As [`write_matrix`]; [`WordCount`](Kind::WordCount) for an odd number of values.
pub fn write_complex_vector(path: impl AsRef<Path>, pairs: &[f64]) -> Result<(), MarketError> {
    to_file(path.as_ref(), |writer| writer.complex_vector(pairs))
}

/// Writes a complex vector to any writer; see [`write_complex_vector`].
///
/// # Errors
/// As [`write_complex_vector`].
///
/// ```
/// use texla::host::market::{self, ReadOptions};
/// let mut text = Vec::new();
/// market::write_complex_vector_to(&mut text, &[1.0, -2.0, 0.5, 0.0])?;
/// assert_eq!(text, b"%%MatrixMarket matrix array complex general\n2 1\n1e0 -2e0\n5e-1 0e0\n");
/// let options = ReadOptions::default().with_complex(true);
/// assert_eq!(options.parse_vector(&text[..], "text")?, [1.0, -2.0, 0.5, 0.0]);
/// # Ok::<(), texla::Error>(())
/// ```
pub fn write_complex_vector_to(writer: impl Write, pairs: &[f64]) -> Result<(), MarketError> {
    Writer::new(writer, "writer").complex_vector(pairs)
}

/// Writes a dense matrix, given row by row, to a file as `array real general`.
///
/// *Errors*: as [`write_matrix`]; [`WordCount`](Kind::WordCount) if there are not `rows * cols` values.
pub fn write_array<T: Copy + Into<f64>>(
    path: impl AsRef<Path>,
    shape: Shape,
    values: &[T],
) -> Result<(), MarketError> {
    to_file(path.as_ref(), |writer| writer.array(shape, values))
}

/// Writes a dense matrix to any writer; see [`write_array`].
///
/// ```
/// use texla::{Shape, host::market};
/// let mut text = Vec::new();
/// market::write_array_to(&mut text, Shape::new(2, 2), &[1.0_f32, 2.0, 3.0, 4.0])?;
/// assert_eq!(text, b"%%MatrixMarket matrix array real general\n2 2\n1e0\n3e0\n2e0\n4e0\n");
/// # Ok::<(), texla::Error>(())
/// ```
pub fn write_array_to<T: Copy + Into<f64>>(
    writer: impl Write,
    shape: Shape,
    values: &[T],
) -> Result<(), MarketError> {
    Writer::new(writer, "writer").array(shape, values)
}

/// Lets `write` write the file, compressed where its name ends in `.gz`; it is in its place only when all of it is.
fn to_file(
    path: &Path,
    write: impl FnOnce(Writer<'_, &mut dyn Write>) -> Result<(), MarketError>,
) -> Result<(), MarketError> {
    let name = path.display().to_string();
    let failed = |e| MarketError::io(&name, &e);
    let compressed = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("gz"));
    let mut file = PendingFile::create(path).map_err(failed)?;
    if compressed {
        in_gzip(&mut file, &name, write)?;
    } else {
        write(Writer::new(&mut file, &name))?;
    }
    file.finish().map_err(failed)
}

#[cfg(feature = "gzip")]
fn in_gzip(
    file: &mut PendingFile,
    name: &str,
    write: impl FnOnce(Writer<'_, &mut dyn Write>) -> Result<(), MarketError>,
) -> Result<(), MarketError> {
    let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::default());
    write(Writer::new(&mut packed, name))?;
    packed.finish().map(|_| ()).map_err(|e| MarketError::io(name, &e))
}

#[cfg(not(feature = "gzip"))]
fn in_gzip(
    _: &mut PendingFile,
    name: &str,
    _: impl FnOnce(Writer<'_, &mut dyn Write>) -> Result<(), MarketError>,
) -> Result<(), MarketError> {
    let why = "texla was built without the feature `gzip`; a name without .gz is written as text";
    Err(MarketError::io(name, &std::io::Error::new(std::io::ErrorKind::Unsupported, why)))
}

/// A writer that knows its line.
struct Writer<'a, W> {
    out: W,
    name: &'a str,
    line: usize,
}

impl<'a, W: Write> Writer<'a, W> {
    fn new(out: W, name: &'a str) -> Self {
        Self { out, name, line: 0 }
    }

    fn matrix(mut self, matrix: &Triplets) -> Result<(), MarketError> {
        let shape = matrix.shape();
        self.check_extent("number of rows", shape.rows)?;
        self.check_extent("number of columns", shape.cols)?;
        self.put(format_args!("%%MatrixMarket matrix coordinate real general"))?;
        self.put(format_args!("{} {} {}", shape.rows, shape.cols, matrix.nnz()))?;
        for (entry, (row, col, value)) in (0u64..).zip(matrix.entries()) {
            self.check_value(entry, value)?;
            self.put(format_args!("{} {} {value:e}", row.saturating_add(1), col.saturating_add(1)))?;
        }
        self.finish()
    }

    fn vector<T: Copy + Into<f64>>(self, values: &[T]) -> Result<(), MarketError> {
        self.array(Shape::column(values.len()), values)
    }

    fn complex_vector(mut self, pairs: &[f64]) -> Result<(), MarketError> {
        let (numbers, rest) = pairs.as_chunks::<2>();
        self.check_extent("number of rows", numbers.len())?;
        if !rest.is_empty() {
            let (what, found, expected) = ("pairs of real and imaginary part", pairs.len(), pairs.len() + 1);
            return Err(self.error(Kind::WordCount { what, found, expected }));
        }
        self.put(format_args!("%%MatrixMarket matrix array complex general"))?;
        self.put(format_args!("{} 1", numbers.len()))?;
        for (entry, &[re, im]) in (0u64..).zip(numbers) {
            self.check_value(entry, re)?;
            self.check_value(entry, im)?;
            self.put(format_args!("{re:e} {im:e}"))?;
        }
        self.finish()
    }

    fn array<T: Copy + Into<f64>>(mut self, shape: Shape, values: &[T]) -> Result<(), MarketError> {
        self.check_extent("number of rows", shape.rows)?;
        self.check_extent("number of columns", shape.cols)?;
        if values.len() != shape.len() {
            let (what, found, expected) = ("rows times columns", values.len(), shape.len());
            return Err(self.error(Kind::WordCount { what, found, expected }));
        }
        self.put(format_args!("%%MatrixMarket matrix array real general"))?;
        self.put(format_args!("{} {}", shape.rows, shape.cols))?;
        let by_columns = (0..shape.cols).flat_map(|col| values.iter().skip(col).step_by(shape.cols.max(1)));
        for (entry, &value) in (0u64..).zip(by_columns) {
            let value: f64 = value.into();
            self.check_value(entry, value)?;
            self.put(format_args!("{value:e}"))?;
        }
        self.finish()
    }

    fn check_extent(&self, what: &'static str, extent: usize) -> Result<(), MarketError> {
        let (found, limit) = (extent as u64, super::header::LIMIT);
        if found > limit { Err(self.error(Kind::TooLarge { what, found, limit })) } else { Ok(()) }
    }

    fn check_value(&self, entry: u64, value: f64) -> Result<(), MarketError> {
        if value.is_finite() {
            return Ok(());
        }
        let found = format!("{value:e}");
        Err(MarketError::new(self.name, self.line.saturating_add(1), Kind::NotFinite { entry, found }))
    }

    fn put(&mut self, line: std::fmt::Arguments<'_>) -> Result<(), MarketError> {
        self.line = self.line.saturating_add(1);
        writeln!(self.out, "{line}").map_err(|e| MarketError::io(self.name, &e))
    }

    fn finish(mut self) -> Result<(), MarketError> {
        self.out.flush().map_err(|e| MarketError::io(self.name, &e))
    }

    fn error(&self, kind: Kind) -> MarketError {
        MarketError::new(self.name, self.line, kind)
    }
}
