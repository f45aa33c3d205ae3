//! The error type of Matrix Market files.

use super::{ForeignFormat, MAX_LINE};
use crate::host::printable;
use crate::shape::Shape;
use std::io;

/// What is wrong with a Matrix Market file, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", printable(&match line {
    0 => format!("{file}: {}", kind.of_file(file)),
    line => format!("{file}:{line}: {}", kind.of_file(file)),
}))]
#[non_exhaustive]
pub struct MarketError {
    /// The file, as it was named by the caller.
    pub file: String,
    /// The line, counted from 1; the last one if something is missing at the end, 0 where
    /// the operating system failed, which is the fault of no line.
    pub line: usize,
    /// What was found and what was expected.
    pub kind: MarketErrorKind,
}

impl MarketError {
    /// At a line; what is wrong before there is one is wrong in the first.
    pub(super) fn new(file: &str, line: usize, kind: MarketErrorKind) -> Self {
        Self { file: file.to_owned(), line: line.max(1), kind }
    }

    /// The operating system's, at no line.
    pub(super) fn io(file: &str, error: &io::Error) -> Self {
        let kind = MarketErrorKind::Io { kind: error.kind(), message: error.to_string() };
        Self { file: file.to_owned(), line: 0, kind }
    }
}

impl MarketErrorKind {
    /// What is wrong, with a command that converts this file.
    fn of_file(&self, file: &str) -> String {
        let said = self.to_string();
        match self {
            MarketErrorKind::Foreign { format } => format.of_file(&said, file),
            _ => said,
        }
    }
}

/// The kinds of [`MarketError`]. Text found in the file is cut after 40 bytes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MarketErrorKind {
    /// The operating system could not read or write.
    #[error("{message}")]
    Io {
        /// The kind of failure.
        kind: io::ErrorKind,
        /// The system's message.
        message: String,
    },
    /// The compressed bytes of gzip are damaged or end too early. The line is the one of the decompressed text up to which it was
    /// read, 1 where the first 264 bytes are not there.
    #[error("the gzip stream is damaged: {damage}")]
    Gzip {
        /// What the decoder reports.
        damage: String,
    },
    /// The file has another format; see [`ForeignFormat`] for how each is converted.
    #[error("{format}")]
    Foreign {
        /// The format.
        format: ForeignFormat,
    },
    /// A file in gzip expands to more entries than its size stands for, as one made to fill the memory does.
    #[error(
        "{entries} entries of {bytes} compressed bytes are out of proportion: if they are meant, decompress the file (gunzip)"
    )]
    Expansion {
        /// Number of entries, those of the implied triangle included.
        entries: u64,
        /// Number of compressed bytes read so far.
        bytes: u64,
    },
    /// A line does not end.
    #[error("line longer than {MAX_LINE} bytes")]
    LineTooLong,
    /// The first line with text is not the banner.
    #[error("found `{found}`, expected the banner `%%MatrixMarket matrix <format> <field> <symmetry>`")]
    Banner {
        /// The line.
        found: String,
    },
    /// The banner holds a word that the format does not know.
    #[error("{what} `{found}`, expected {expected}")]
    Word {
        /// Which word of the banner.
        what: &'static str,
        /// The word.
        found: String,
        /// The words that are known.
        expected: &'static str,
    },
    /// The banner asks for something that exists but that texla does not read.
    #[error("{what} `{found}` is not supported, expected {expected}")]
    Unsupported {
        /// Which word of the banner.
        what: &'static str,
        /// The word.
        found: &'static str,
        /// What is supported.
        expected: &'static str,
    },
    /// The words of the banner exclude each other.
    #[error("`{found}` is no valid combination: {why}")]
    Combination {
        /// The words.
        found: &'static str,
        /// Why not.
        why: &'static str,
    },
    /// The file ends before its banner or size line.
    #[error("the file ends, expected {expected}")]
    Truncated {
        /// The missing line.
        expected: &'static str,
    },
    /// A line has too few or too many words.
    #[error("found {found} words, expected {what}")]
    WordCount {
        /// What the line should hold.
        what: &'static str,
        /// Number of words found.
        found: usize,
        /// Number of words expected.
        expected: usize,
    },
    /// A word is not the number that belongs there.
    #[error("{what} `{found}`, expected {expected}")]
    Number {
        /// Which number.
        what: &'static str,
        /// The word.
        found: String,
        /// What kind of number belongs there.
        expected: &'static str,
    },
    /// A row or column index lies outside the matrix, or is no integer.
    #[error("{what} `{found}`, expected an integer from 1 to {bound}")]
    Index {
        /// Which index.
        what: &'static str,
        /// The word.
        found: String,
        /// Number of rows or columns.
        bound: usize,
    },
    /// The matrix has more rows or columns than 32-bit indices reach. Nothing was allocated.
    #[error("{what}: {found}, the limit is {limit}")]
    TooLarge {
        /// Which number.
        what: &'static str,
        /// Its value.
        found: u64,
        /// The largest value allowed.
        limit: u64,
    },
    /// A symmetric, skew-symmetric or Hermitian matrix must be square.
    #[error(
        "the matrix is declared symmetric, skew-symmetric or Hermitian and is {found}, expected a square one"
    )]
    NotSquare {
        /// Rows and columns.
        found: Shape,
    },
    /// The file ends before the last entry.
    #[error("the file ends after {found} entries, expected {expected}")]
    TooFewEntries {
        /// Number of entries found.
        found: u64,
        /// Number of entries that the size line announces.
        expected: u64,
    },
    /// The file ends before the last element of a vector that follows the entries.
    #[error("the file ends after {found} elements of {what}, expected {expected}")]
    TooFewElements {
        /// Which vector.
        what: &'static str,
        /// Number of elements found.
        found: usize,
        /// Number of elements expected.
        expected: usize,
    },
    /// A vector that follows the entries has an element twice.
    #[error("{what} has element {index} twice, expected each one once")]
    RepeatedElement {
        /// Which vector.
        what: &'static str,
        /// Place of the element, counted from 1.
        index: u64,
    },
    /// There is text after the last entry.
    #[error("found `{found}` after the last entry, expected the end after {expected} entries")]
    TooManyEntries {
        /// The line.
        found: String,
        /// Number of entries that the size line announces.
        expected: u64,
    },
    /// A value is NaN, infinite or beyond the largest 64-bit float.
    #[error("entry {entry} (counted from 0) is `{found}`, expected a finite 64-bit float")]
    NotFinite {
        /// Number of the entry in the file, counted from 0.
        entry: u64,
        /// The value as written.
        found: String,
    },
    /// A symmetric, skew-symmetric or Hermitian file holds entries on both sides of the diagonal.
    #[error(
        "entry ({row}, {col}) lies in the other triangle, expected one triangle only: the other one is implied"
    )]
    BothTriangles {
        /// Row, counted from 1.
        row: u64,
        /// Column, counted from 1.
        col: u64,
    },
    /// A skew-symmetric matrix has a diagonal entry that is not zero.
    #[error("diagonal entry ({index}, {index}) is `{found}`, expected 0 in a skew-symmetric matrix")]
    SkewDiagonal {
        /// Row and column, counted from 1.
        index: u64,
        /// The value as written.
        found: String,
    },
    /// A Hermitian matrix has a diagonal entry that is not real.
    #[error(
        "diagonal entry ({index}, {index}) has the imaginary part `{found}`, expected 0 in a Hermitian matrix"
    )]
    HermitianDiagonal {
        /// Row and column, counted from 1.
        index: u64,
        /// The imaginary part as written.
        found: String,
    },
    /// A vector was to be read and the file holds a matrix.
    #[error("found a matrix of {found}, expected a vector: one column or one row")]
    NotAVector {
        /// Rows and columns.
        found: Shape,
    },
    /// A coordinate file announces a vector out of proportion to the file. Nothing was allocated.
    #[error(
        "a vector of length {len} is out of proportion to the file, the limit is {limit}: read it as a matrix"
    )]
    SparseVector {
        /// Length of the vector.
        len: u64,
        /// The longest vector allowed for a file of this size.
        limit: u64,
    },
}

/// Text from the file for a message: at most 40 bytes, unreadable ones replaced.
pub(super) fn quote(text: &[u8]) -> String {
    let text = text.trim_ascii();
    match text.get(..40) {
        Some(head) if text.len() > 40 => format!("{}...", String::from_utf8_lossy(head)),
        _ => String::from_utf8_lossy(text).into_owned(),
    }
}
