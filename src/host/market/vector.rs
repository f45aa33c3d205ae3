//! Vectors: files with one column or one row.

use super::error::{MarketError, MarketErrorKind as Kind};
use super::header::{self, Format};
use super::lines::Lines;
use super::value::Notes;
use super::{open, read};
use std::io::BufRead;
use std::path::Path;

/// A coordinate file of any size may hold a vector of this length.
const FREE_LEN: u64 = 1 << 20;

/// Reads a vector from a file with one column or one row, array or coordinate.
///
/// In a coordinate file missing elements are 0 and repeated ones are summed; its length may be 2^20, or twice the number of
/// bytes in the file if that is more, so that a short file cannot ask for any amount of memory.
/// Warnings are not reported; read the file with [`read_matrix`](super::read_matrix) to see them.
///
/// *Errors*: as [`read_matrix`](super::read_matrix), and [`NotAVector`](Kind::NotAVector), [`SparseVector`](Kind::SparseVector).
pub fn read_vector(path: impl AsRef<Path>) -> Result<Vec<f64>, MarketError> {
    let (reader, name) = open(path.as_ref())?;
    parse_vector(reader, &name)
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
    let mut lines = Lines::new(reader, name);
    let mut header = header::read(&mut lines)?;
    header.keep_zeros = true;
    let shape = header.shape;
    if shape.rows != 1 && shape.cols != 1 {
        return Err(lines.error(Kind::NotAVector { found: shape }));
    }
    let mut out = Vec::new();
    let mut notes = Notes::default();
    if header.format == Format::Array {
        read::entries(&mut lines, &header, &mut notes, &mut |_, _, value| out.push(value))?;
        // A skew-symmetric 1 x 1 file holds nothing; its only element is 0.
        out.resize(shape.len(), 0.0);
        return Ok(out);
    }
    let mut stored: Vec<(u32, f64)> = Vec::new();
    read::entries(&mut lines, &header, &mut notes, &mut |row, col, value| {
        stored.push((row.max(col), value));
    })?;
    let (len, limit) = (shape.len() as u64, FREE_LEN.max(lines.bytes().saturating_mul(2)));
    if len > limit {
        return Err(lines.error(Kind::SparseVector { len, limit }));
    }
    out.resize(shape.len(), 0.0);
    for (index, value) in stored {
        if let Some(element) = out.get_mut(index as usize) {
            *element += value;
        }
    }
    Ok(out)
}
