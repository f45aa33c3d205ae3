//! Banner and size line.

use super::error::{MarketError, MarketErrorKind as Kind, quote};
use super::lines::Lines;
use crate::shape::Shape;
use std::io::BufRead;

/// The kind of values in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Field {
    /// Floating-point numbers.
    Real,
    /// Integers.
    Integer,
    /// Positions only; every value is 1.
    Pattern,
}

/// The symmetry that a file declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Symmetry {
    /// None: every entry is in the file.
    General,
    /// A = A^T: one triangle and the diagonal are in the file.
    Symmetric,
    /// A = -A^T: one triangle is in the file, the diagonal is zero.
    SkewSymmetric,
}

/// How the entries are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Row, column and value of each entry: a sparse matrix.
    Coordinate,
    /// All elements, column by column: a dense matrix.
    Array,
}

/// What banner and size line say. Rows and columns are below 2^31.
pub(super) struct Header {
    pub(super) format: Format,
    pub(super) field: Field,
    pub(super) symmetry: Symmetry,
    pub(super) shape: Shape,
    /// Number of entries that must follow.
    pub(super) entries: u64,
    /// Hand on the zeros of an array file; set by the reader of vectors.
    pub(super) keep_zeros: bool,
}

/// Most rows, most columns: indices fit a signed 32-bit integer.
pub(super) const LIMIT: u64 = i32::MAX as u64;

pub(super) fn read<R: BufRead>(lines: &mut Lines<'_, R>) -> Result<Header, MarketError> {
    if !lines.advance_to_banner()? {
        return Err(lines.error(Kind::Truncated { expected: "the banner `%%MatrixMarket ...`" }));
    }
    let (format, field, symmetry) = banner(lines)?;
    if !lines.advance()? {
        return Err(lines.error(Kind::Truncated { expected: "the size line" }));
    }
    let ([rows, cols], stored) = match format {
        Format::Coordinate => {
            let [rows, cols, entries] = lines.exactly("the size line `rows columns entries`")?;
            ([rows, cols], Some(entries))
        }
        Format::Array => (lines.exactly("the size line `rows columns`")?, None),
    };
    let rows = extent("number of rows", rows).map_err(|k| lines.error(k))?;
    let cols = extent("number of columns", cols).map_err(|k| lines.error(k))?;
    let shape = Shape::new(rows as usize, cols as usize);
    if symmetry != Symmetry::General && rows != cols {
        return Err(lines.error(Kind::NotSquare { found: shape }));
    }
    // Rows and columns are below 2^31: these products fit 64 bits.
    let entries = match (stored, symmetry) {
        (Some(word), _) => count("number of entries", word).map_err(|k| lines.error(k))?,
        (None, Symmetry::General) => rows * cols,
        (None, Symmetry::Symmetric) => rows * (rows + 1) / 2,
        (None, Symmetry::SkewSymmetric) => rows * rows.saturating_sub(1) / 2,
    };
    Ok(Header { format, field, symmetry, shape, entries, keep_zeros: false })
}

fn banner<R: BufRead>(lines: &Lines<'_, R>) -> Result<(Format, Field, Symmetry), MarketError> {
    let first = lines.words().next().unwrap_or_default();
    let name = first.strip_prefix(b"%%").or_else(|| first.strip_prefix(b"%")).unwrap_or_default();
    if !name.eq_ignore_ascii_case(b"MatrixMarket") {
        return Err(lines.error(Kind::Banner { found: lines.quoted() }));
    }
    let words: [&[u8]; 5] =
        lines.exactly("the banner `%%MatrixMarket matrix <format> <field> <symmetry>`")?;
    let [_, object, format, field, symmetry] = words.map(<[u8]>::to_ascii_lowercase);
    let parse = || {
        match object.as_slice() {
            b"matrix" => {}
            b"vector" => return Err(unsupported("object", "vector", "`matrix` (a vector has one column)")),
            other => return Err(unknown("object", other, "`matrix`")),
        }
        let format = match format.as_slice() {
            b"coordinate" => Format::Coordinate,
            b"array" => Format::Array,
            other => return Err(unknown("format", other, "`coordinate` or `array`")),
        };
        let field = match field.as_slice() {
            b"real" => Field::Real,
            b"integer" => Field::Integer,
            b"pattern" => Field::Pattern,
            b"complex" => return Err(unsupported("field", "complex", "`real`, `integer` or `pattern`")),
            other => return Err(unknown("field", other, "`real`, `integer` or `pattern`")),
        };
        const SYMMETRIES: &str = "`general`, `symmetric` or `skew-symmetric`";
        let symmetry = match symmetry.as_slice() {
            b"general" => Symmetry::General,
            b"symmetric" => Symmetry::Symmetric,
            b"skew-symmetric" => Symmetry::SkewSymmetric,
            b"hermitian" => return Err(unsupported("symmetry", "hermitian", SYMMETRIES)),
            other => return Err(unknown("symmetry", other, SYMMETRIES)),
        };
        match (format, field, symmetry) {
            (Format::Array, Field::Pattern, _) => {
                Err(Kind::Combination { found: "array pattern", why: "an array file consists of values" })
            }
            (_, Field::Pattern, Symmetry::SkewSymmetric) => {
                Err(Kind::Combination { found: "pattern skew-symmetric", why: "a pattern has no signs" })
            }
            all => Ok(all),
        }
    };
    parse().map_err(|kind| lines.error(kind))
}

fn unknown(what: &'static str, found: &[u8], expected: &'static str) -> Kind {
    Kind::Word { what, found: quote(found), expected }
}

fn unsupported(what: &'static str, found: &'static str, expected: &'static str) -> Kind {
    Kind::Unsupported { what, found, expected }
}

/// A number of rows or columns.
fn extent(what: &'static str, word: &[u8]) -> Result<u64, Kind> {
    match count(what, word)? {
        found if found > LIMIT => Err(Kind::TooLarge { what, found, limit: LIMIT }),
        found => Ok(found),
    }
}

/// An integer of 64 bits, not negative.
fn count(what: &'static str, word: &[u8]) -> Result<u64, Kind> {
    let number = std::str::from_utf8(word).ok().and_then(|word| word.parse().ok());
    number.ok_or_else(|| Kind::Number {
        what,
        found: quote(word),
        expected: "a non-negative integer of 64 bits",
    })
}
