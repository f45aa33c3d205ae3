//! Vectors: files with one column or one row.

use super::error::{MarketError, MarketErrorKind as Kind};
use super::header::{self, Format, Header};
use super::lines::Lines;
use super::options::ReadOptions;
use super::read;
use super::value::Notes;
use std::io::BufRead;
use std::path::Path;

/// A coordinate file of any size may hold a vector of this length.
const FREE_LEN: u64 = 1 << 20;

/// Reads a vector from a file with one column or one row, array or coordinate.
///
/// In a coordinate file missing elements are 0 and repeated ones are summed; its length may be 2^20, or twice the number of
/// bytes in the file if that is more, so that a short file cannot ask for any amount of memory.
/// Vectors that follow the entries in a file of Lis are checked and not read. Warnings are not reported; read the file with [`read_matrix`](super::read_matrix) to see them.
///
/// # Errors
/// As [`read_matrix`](super::read_matrix), and [`NotAVector`](Kind::NotAVector), [`SparseVector`](Kind::SparseVector).
pub fn read_vector(path: impl AsRef<Path>) -> Result<Vec<f64>, MarketError> {
    ReadOptions::default().read_vector(path)
}

/// Reads a vector from any buffered reader; `name` stands for the file in errors. See [`read_vector`].
///
/// ```
/// use texla::host::market::parse_vector;
/// let text = "%%MatrixMarket matrix array real general\n3 1\n0.5\n-0.0\n2e3\n";
/// assert_eq!(parse_vector(text.as_bytes(), "b.mtx")?, [0.5, 0.0, 2000.0]);
/// let text = "%%MatrixMarket matrix coordinate real general\n1 4 1\n1 3 7\n";
/// assert_eq!(parse_vector(text.as_bytes(), "b.mtx")?, [0.0, 0.0, 7.0, 0.0]);
/// # Ok::<(), texla::Error>(())
/// ```
pub fn parse_vector(reader: impl BufRead, name: &str) -> Result<Vec<f64>, MarketError> {
    parse(ReadOptions::default(), reader, name)
}

/// Reads a vector; of its real form, pairs of real and imaginary part.
pub(super) fn parse(options: ReadOptions, reader: impl BufRead, name: &str) -> Result<Vec<f64>, MarketError> {
    let mut lines = Lines::new(reader, name)?;
    let read = elements(&mut lines, options);
    lines.unless_damaged(read)
}

/// Reads the columns of a matrix as vectors, or a vector as one.
pub(super) fn parse_columns(
    options: ReadOptions,
    reader: impl BufRead,
    name: &str,
) -> Result<Vec<Vec<f64>>, MarketError> {
    let mut lines = Lines::new(reader, name)?;
    let read = columns(&mut lines, options);
    lines.unless_damaged(read)
}

fn columns<R: BufRead>(lines: &mut Lines<'_, R>, options: ReadOptions) -> Result<Vec<Vec<f64>>, MarketError> {
    let mut header = header::read(lines, options)?;
    header.vector = true;
    let shape = header.shape;
    if shape.rows == 1 || shape.cols == 1 {
        return vector(lines, &header).map(|vector| vec![vector]);
    }
    let parts = if header.real_form { 2 } else { 1 };
    let mut stored: Vec<(u32, u32, f64)> = Vec::new();
    header.vector = false;
    read::entries(lines, &header, &mut Notes::default(), &mut |row, col, value| {
        stored.push((row, col, value));
    })?;
    let len = shape.len().saturating_mul(parts) as u64;
    let limit = FREE_LEN.max(lines.bytes().saturating_mul(2));
    if len > limit {
        return Err(lines.error(Kind::SparseVector { len, limit }));
    }
    let mut out = vec![vec![0.0; shape.rows * parts]; shape.cols];
    // Of the blocks of a real form the first column has both parts.
    for (row, col, value) in stored.into_iter().filter(|(_, col, _)| (*col as usize).is_multiple_of(parts)) {
        let column = out.get_mut(col as usize / parts);
        column.and_then(|column| column.get_mut(row as usize)).into_iter().for_each(|slot| *slot += value);
    }
    Ok(out)
}

fn elements<R: BufRead>(lines: &mut Lines<'_, R>, options: ReadOptions) -> Result<Vec<f64>, MarketError> {
    let mut header = header::read(lines, options)?;
    header.vector = true;
    let shape = header.shape;
    if shape.rows != 1 && shape.cols != 1 {
        return Err(lines.error(Kind::NotAVector { found: shape }));
    }
    vector(lines, &header)
}

fn vector<R: BufRead>(lines: &mut Lines<'_, R>, header: &Header) -> Result<Vec<f64>, MarketError> {
    let shape = header.shape;
    let len = if header.real_form { shape.len().saturating_mul(2) } else { shape.len() };
    let mut out = Vec::new();
    let mut notes = Notes::default();
    if header.format == Format::Array {
        read::entries(lines, header, &mut notes, &mut |_, _, value| out.push(value))?;
        // A skew-symmetric 1 x 1 file holds nothing; its only element is 0.
        out.resize(len, 0.0);
        return Ok(out);
    }
    let mut stored: Vec<(u32, f64)> = Vec::new();
    read::entries(lines, header, &mut notes, &mut |row, col, value| {
        stored.push((row.max(col), value));
    })?;
    let limit = FREE_LEN.max(lines.bytes().saturating_mul(2));
    if len as u64 > limit {
        return Err(lines.error(Kind::SparseVector { len: len as u64, limit }));
    }
    out.resize(len, 0.0);
    for (index, value) in stored {
        if let Some(element) = out.get_mut(index as usize) {
            *element += value;
        }
    }
    Ok(out)
}
