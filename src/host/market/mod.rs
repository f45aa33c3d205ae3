//! Matrix Market files: reading and writing sparse and dense matrices and vectors.
//!
//! Read are the formats `coordinate` and `array`, the fields `real`, `integer` and `pattern` (every value 1), and the symmetries
//! `general`, `symmetric` and `skew-symmetric` (expanded to both triangles). The field `complex` and the symmetry `hermitian`
//! are read in their real form on request ([`ReadOptions::with_complex`]) and refused by name otherwise; the
//! object `vector` (an extension without a standard) is always refused by name.
//!
//! # Other files
//! - Files that gzip has compressed are recognised by their first bytes, whatever their name, and decompressed on the way
//!   (feature `gzip`); no more than a line of their text is in memory. Lines in errors are those of the text. A
//!   file may expand to 2^24 entries, or 16 for each byte of the file if that is more: what exceeds this is refused
//!   ([`Expansion`](MarketErrorKind::Expansion)), since 10 KB can expand to 10 MB.
//! - Formats of NumPy, MATLAB and HDF5, Harwell-Boeing and Rutherford-Boeing files, archives, lists of entries without a
//!   banner and rows of numbers are recognised and refused with a command that converts them
//!   ([`Foreign`](MarketErrorKind::Foreign)). Of text a few lines are looked at: three columns that begin with two whole
//!   numbers are taken for a list of entries.
//! - `spd` and `hpd` in place of `symmetric` and `hermitian`, and `positive-definite`, `positive-semidefinite` or `spd` after them,
//!   declare the same symmetry; other additions are refused.
//! - A size line of five numbers is that of Lis' extended format: a right-hand side and a solution may follow the entries
//!   ([`MarketMatrix::rhs`], [`MarketMatrix::solution`]).
//!
//! # Decisions
//! - Entries at the same place are kept, and summed by [`Triplets::to_csr`]; explicit zeros of a coordinate file are
//!   kept, zeros of an array file are not stored.
//! - A value that is NaN, infinite or beyond a 64-bit float is refused, with its entry's number and line. Values
//!   that a 32-bit float rounds are kept in `f64`; integers it cannot hold and values beyond its range or below its normal
//!   one give a [`Warning`]. Values beyond the range are refused by an upload
//!   ([`Error::NonFinite`](crate::Error::NonFinite)): scale rows, columns or the whole system before.
//! - Integers must be integers and fit 64 bits with sign; beyond 2^53 they are rounded to `f64`. Exponents may be written with `e`, `E` or Fortran's `d`, `D`.
//! - A symmetric, skew-symmetric or Hermitian coordinate file must keep to one triangle, the upper one as well as the
//!   standard's lower; entries in both are refused (summing would double them). A non-zero on the diagonal of a
//!   skew-symmetric matrix is refused, and so is an imaginary part on that of a Hermitian one.
//! - One entry per line. A missing, extra or unreadable word is refused, and so is a missing or extra entry.
//! - The first line with text must be the banner, in upper or lower case, with one or two percent signs. Blank lines, lines that
//!   start with `%`, leading and extra spaces are accepted everywhere, and so are the line ends LF, CR LF and CR,
//!   and a UTF-8 byte order mark.
//! - Limits: lines of [`MAX_LINE`] bytes, 2^31 - 1 rows and columns, refused before anything is allocated. No memory is
//!   set aside on the word of the header: the peak stays below 64 times the file's size + 16 MiB.
//!
//! # Why not a crate
//! Tried on a set of hostile files, sprs 0.11 panics (index out of range, huge entry count) and loops for ever on CR line ends;
//! matrix-market-rs 0.1 panics (index 0), takes memory on the header's word and reads files whose banner is wrong;
//! nalgebra-sparse 0.12 panics (index beyond 64 bits), turns 1e310 into infinity and holds a parse tree of the whole file.

mod error;
mod foreign;
mod header;
mod lines;
mod options;
mod read;
mod source;
mod value;
mod vector;
mod write;

use crate::host::Triplets;
#[cfg(feature = "script")]
use crate::shape::Shape;
use std::fs::File;
#[cfg(feature = "script")]
use std::io::Read;
use std::io::{BufRead, BufReader};
use std::path::Path;

pub use error::{MarketError, MarketErrorKind};
pub use foreign::ForeignFormat;
pub use header::{Field, Format, Symmetry};
pub use lines::MAX_LINE;
pub use options::ReadOptions;
pub use value::Warning;
pub use vector::{parse_vector, read_vector};
pub use write::{
    write_array, write_array_to, write_complex_vector, write_complex_vector_to, write_matrix,
    write_matrix_to, write_vector, write_vector_to,
};

/// What a Matrix Market file holds.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MarketMatrix {
    /// The matrix, with both triangles if the file holds one; its real form where that was requested.
    pub triplets: Triplets,
    /// Whether the file lists entries with their places, or all elements.
    pub format: Format,
    /// The kind of values in the file.
    pub field: Field,
    /// The symmetry declared by the file.
    pub symmetry: Symmetry,
    /// Number of entries in the file, before the other triangle was added and zeros of an array file were left out.
    pub stored_entries: usize,
    /// The right-hand side, if one follows the entries as in extended files of Lis.
    pub rhs: Option<Vec<f64>>,
    /// The solution, if one follows the entries as in extended files of Lis.
    pub solution: Option<Vec<f64>>,
    /// What a 32-bit float cannot hold, one warning per kind.
    pub warnings: Vec<Warning>,
}

/// Reads a matrix from a file; see the [module](self) for what is accepted.
///
/// *Cost*: one pass; 16 bytes per entry, twice that while growing. Nothing is kept per row or column, but
/// [`Triplets::to_csr`] needs memory for each row: look at the shape first if the file is not to be trusted.
///
/// # Errors
/// [`MarketError`] with file, line, what was found and what was expected; among them [`Foreign`](MarketErrorKind::Foreign)
/// for another format, with the command that converts it, [`Gzip`](MarketErrorKind::Gzip) and
/// [`Expansion`](MarketErrorKind::Expansion) for compressed files, and [`Unsupported`](MarketErrorKind::Unsupported) for complex
/// ones, which [`ReadOptions::with_complex`] reads.
///
/// ```no_run
/// let m = texla::host::market::read_matrix("nos4.mtx")?;
/// println!("{}, {} entries", m.triplets.shape(), m.triplets.nnz());
/// # Ok::<(), texla::Error>(())
/// ```
pub fn read_matrix(path: impl AsRef<Path>) -> Result<MarketMatrix, MarketError> {
    ReadOptions::default().read_matrix(path)
}

/// Reads a matrix from any buffered reader; `name` stands for the file in errors.
///
/// *Cost*: as [`read_matrix`].
///
/// # Errors
/// As [`read_matrix`].
///
/// ```
/// use texla::host::market::{MarketErrorKind, Symmetry, parse_matrix};
/// let text = "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 4.0\n2 1 -1.5D0\n";
/// let m = parse_matrix(text.as_bytes(), "a.mtx")?;
/// assert_eq!((m.symmetry, m.stored_entries, m.triplets.nnz()), (Symmetry::Symmetric, 2, 3));
/// assert_eq!(m.triplets.to_csr().mul_vec(&[1.0, 2.0])?, [1.0, -1.5]);
///
/// let e = parse_matrix(text.replace("2 1 -", "3 1 -").as_bytes(), "a.mtx").unwrap_err();
/// assert_eq!(e.to_string(), "a.mtx:4: row index `3`, expected an integer from 1 to 2");
/// # Ok::<(), texla::Error>(())
/// ```
pub fn parse_matrix(reader: impl BufRead, name: &str) -> Result<MarketMatrix, MarketError> {
    ReadOptions::default().parse_matrix(reader, name)
}

/// Reads a matrix from a file once `admit` has let it in, by its shape and by how many entries it may have at most, from
/// what the header says and how long the file is. The list has memory for these, and does not grow.
///
/// *Errors*: of the file outside, of `admit` inside.
#[cfg(feature = "io")]
#[cfg(feature = "script")]
pub(crate) fn read_admitted<T, E>(
    path: &Path,
    admit: impl FnOnce(Shape, u64) -> Result<T, E>,
) -> Result<Result<(MarketMatrix, T), E>, MarketError> {
    let (reader, name) = open(path)?;
    // Pipes have no length: there the header is all that is known.
    let bytes = reader.get_ref().metadata().ok().filter(|found| found.is_file()).map(|found| found.len());
    let mut lines = lines::Lines::new(reader, &name)?;
    let header = header::read(&mut lines, ReadOptions::default());
    let header = lines.unless_damaged(header)?;
    // A number, a sign and a newline: `1\n`, or `1 1\n`.
    let shortest = if header.format == Format::Array { 2 } else { 4 };
    let listed = bytes.map_or(header.entries, |bytes| {
        let most = if lines.is_compressed() {
            bytes.saturating_mul(source::MAX_EXPANSION).div_ceil(shortest).min(source::most_entries(bytes))
        } else {
            bytes.div_ceil(shortest)
        };
        header.entries.min(most)
    });
    let both = if header.symmetry == Symmetry::General { listed } else { 2 * listed };
    let admitted = match admit(header.shape, both) {
        Ok(admitted) => admitted,
        Err(refused) => return Ok(Err(refused)),
    };
    let list = Triplets::with_capacity(header.shape, both as usize);
    let read = parse_entries(&mut lines, &header, list);
    lines.unless_damaged(read).map(|read| Ok((read, admitted)))
}

/// Whether a file begins as a stream of gzip, or as another format that is not text. False where it cannot be read, and
/// of pipes, whose bytes would be lost.
#[cfg(feature = "script")]
pub(crate) fn is_foreign_to_text(path: &Path) -> bool {
    if !path.is_file() {
        return false;
    }
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(source::HEAD as u64).read_to_end(&mut head));
    read.is_ok() && foreign::of_bytes(&head).is_some()
}

fn parse_entries<R: BufRead>(
    lines: &mut lines::Lines<'_, R>,
    header: &header::Header,
    mut triplets: Triplets,
) -> Result<MarketMatrix, MarketError> {
    let mut notes = value::Notes::default();
    let stored = read::entries(lines, header, &mut notes, &mut |row, col, value| {
        triplets.push_valid(row, col, value);
    })?;
    Ok(MarketMatrix {
        triplets,
        format: header.format,
        field: header.field,
        symmetry: header.symmetry,
        stored_entries: stored.entries,
        rhs: stored.rhs,
        solution: stored.solution,
        warnings: notes.warnings(),
    })
}

/// Opens a file, with its path as the name for errors.
fn open(path: &Path) -> Result<(BufReader<File>, String), MarketError> {
    let name = path.display().to_string();
    match File::open(path) {
        Ok(file) => Ok((BufReader::new(file), name)),
        Err(e) => Err(MarketError::io(&name, &e)),
    }
}
