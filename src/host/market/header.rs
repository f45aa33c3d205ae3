//! Banner and size line.

use super::error::{MarketError, MarketErrorKind as Kind, quote};
use super::foreign;
use super::lines::Lines;
use super::options::ReadOptions;
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
    /// Complex numbers: real and imaginary part. Read on request alone
    /// ([`ReadOptions::with_complex`](super::ReadOptions::with_complex)).
    Complex,
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
    /// A = A^H: one triangle and the real diagonal are in the file. Only of complex matrices.
    Hermitian,
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

/// What banner and size line say. Rows and columns are below 2^31, of the real form too.
pub(super) struct Header {
    pub(super) format: Format,
    pub(super) field: Field,
    pub(super) symmetry: Symmetry,
    /// Rows and columns of the file.
    pub(super) shape: Shape,
    /// Number of entries that must follow.
    pub(super) entries: u64,
    /// Whether a right-hand side and a solution follow the entries.
    pub(super) vectors: [bool; 2],
    /// Hand on the real form: a block of 2 x 2 numbers for each complex one.
    pub(super) real_form: bool,
    /// Hand on a vector: with the zeros of an array file, and of the real form the first column alone.
    pub(super) vector: bool,
}

impl Header {
    /// Rows and columns of what is handed on.
    pub(super) fn shape_read(&self) -> Shape {
        let of = |extent: usize| if self.real_form { extent.saturating_mul(2) } else { extent };
        Shape::new(of(self.shape.rows), of(self.shape.cols))
    }
}

/// Most rows, most columns: indices fit a signed 32-bit integer.
pub(super) const LIMIT: u64 = i32::MAX as u64;

/// What a banner must look like.
const BANNER: &str = "the banner `%%MatrixMarket matrix <format> <field> <symmetry>`";

pub(super) fn read<R: BufRead>(
    lines: &mut Lines<'_, R>,
    options: ReadOptions,
) -> Result<Header, MarketError> {
    if !lines.advance_to_banner()? {
        return Err(lines.error(Kind::Truncated { expected: "the banner `%%MatrixMarket ...`" }));
    }
    if !is_banner(lines) {
        let banner = lines.error(Kind::Banner { found: lines.quoted() });
        let kind = foreign::of_text(lines).map_or(banner.kind, |format| Kind::Foreign { format });
        return Err(MarketError { kind, ..banner });
    }
    let (format, field, symmetry) = banner(lines, options)?;
    if !lines.advance()? {
        return Err(lines.error(Kind::Truncated { expected: "the size line" }));
    }
    let ([rows, cols], stored, vectors) = size_line(lines, format, field)?;
    let limit = if options.complex { LIMIT / 2 } else { LIMIT };
    let rows = extent("number of rows", rows, limit).map_err(|k| lines.error(k))?;
    let cols = extent("number of columns", cols, limit).map_err(|k| lines.error(k))?;
    let shape = Shape::new(rows as usize, cols as usize);
    if symmetry != Symmetry::General && rows != cols {
        return Err(lines.error(Kind::NotSquare { found: shape }));
    }
    // Rows and columns are below 2^31: these products fit 64 bits.
    let entries = match (stored, symmetry) {
        (Some(word), _) => count("number of entries", word).map_err(|k| lines.error(k))?,
        (None, Symmetry::General) => rows * cols,
        (None, Symmetry::Symmetric | Symmetry::Hermitian) => rows * (rows + 1) / 2,
        (None, Symmetry::SkewSymmetric) => rows * rows.saturating_sub(1) / 2,
    };
    let real_form = options.complex;
    Ok(Header { format, field, symmetry, shape, entries, vectors, real_form, vector: false })
}

/// The words of a size line: rows and columns; entries; and whether vectors follow, which Lis adds to the format.
type SizeLine<'l> = ([&'l [u8]; 2], Option<&'l [u8]>, [bool; 2]);

fn size_line<'l, R: BufRead>(
    lines: &'l Lines<'_, R>,
    format: Format,
    field: Field,
) -> Result<SizeLine<'l>, MarketError> {
    if format == Format::Array {
        return Ok((lines.exactly("the size line `rows columns`")?, None, [false; 2]));
    }
    if lines.words().count() != 5 || field == Field::Complex {
        let what = if field == Field::Complex {
            "the size line `rows columns entries`"
        } else {
            "the size line `rows columns entries`, or that of Lis, `rows columns entries b x`"
        };
        let [rows, cols, entries] = lines.exactly(what)?;
        return Ok(([rows, cols], Some(entries), [false; 2]));
    }
    let [rows, cols, entries, rhs, solution] = lines.exactly("the size line `rows columns entries b x`")?;
    let follows = |what: &'static str, word: &[u8]| match word {
        b"0" => Ok(false),
        b"1" => Ok(true),
        other => Err(lines.error(Kind::Number {
            what,
            found: quote(other),
            expected: "0 or 1: whether the vector follows the entries, as in files of Lis",
        })),
    };
    let vectors = [
        follows("fourth number of the size line", rhs)?,
        follows("fifth number of the size line", solution)?,
    ];
    Ok(([rows, cols], Some(entries), vectors))
}

fn is_banner<R: BufRead>(lines: &Lines<'_, R>) -> bool {
    let first = lines.words().next().unwrap_or_default();
    let name = first.strip_prefix(b"%%").or_else(|| first.strip_prefix(b"%")).unwrap_or_default();
    name.eq_ignore_ascii_case(b"MatrixMarket")
}

fn banner<R: BufRead>(
    lines: &Lines<'_, R>,
    options: ReadOptions,
) -> Result<(Format, Field, Symmetry), MarketError> {
    let mut words = lines.words().map(<[u8]>::to_ascii_lowercase);
    let known: Vec<Vec<u8>> = words.by_ref().take(5).collect();
    let [_, object, format, field, symmetry] = known.as_slice() else {
        return Err(lines.error(Kind::WordCount { what: BANNER, found: known.len(), expected: 5 }));
    };
    let extra: Vec<Vec<u8>> = words.collect();
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
            b"complex" if options.complex => Field::Complex,
            b"complex" => return Err(unsupported("field", "complex", REAL)),
            other => return Err(unknown("field", other, "`real`, `integer` or `pattern`")),
        };
        let symmetry = symmetry_of(symmetry, &extra, field == Field::Complex)?;
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

/// Fields that are read unless the real form is requested.
const REAL: &str =
    "`real`, `integer` or `pattern`, or a request for its real form (ReadOptions::with_complex)";

/// The symmetry of a banner, and what may follow it: that the matrix is positive definite, as files of cuDSS say in its
/// place.
fn symmetry_of(word: &[u8], extra: &[Vec<u8>], complex: bool) -> Result<Symmetry, Kind> {
    const REAL: &str = "`general`, `symmetric` (or `spd`) or `skew-symmetric`";
    const COMPLEX: &str = "`general`, `symmetric`, `skew-symmetric` or `hermitian` (or `hpd`)";
    let symmetry = match word {
        b"general" => Symmetry::General,
        b"symmetric" => Symmetry::Symmetric,
        b"skew-symmetric" => Symmetry::SkewSymmetric,
        b"hermitian" if complex => Symmetry::Hermitian,
        b"hermitian" => return Err(unsupported("symmetry", "hermitian", REAL)),
        b"spd" if !complex => Symmetry::Symmetric,
        b"hpd" if complex => Symmetry::Hermitian,
        other => return Err(unknown("symmetry", other, if complex { COMPLEX } else { REAL })),
    };
    let definite = match (symmetry, extra.join(&b'-').as_slice()) {
        (_, b"") => true,
        (Symmetry::Symmetric | Symmetry::Hermitian, b"positive-definite" | b"positive-semidefinite") => true,
        (Symmetry::Symmetric, b"spd") => !complex,
        (Symmetry::Hermitian, b"hpd") => true,
        _ => false,
    };
    if definite {
        return Ok(symmetry);
    }
    let expected = "the end of the banner, or `positive-definite` after `symmetric` or `hermitian`";
    Err(unknown("word after the symmetry", &extra.join(&b' '), expected))
}

fn unknown(what: &'static str, found: &[u8], expected: &'static str) -> Kind {
    Kind::Word { what, found: quote(found), expected }
}

fn unsupported(what: &'static str, found: &'static str, expected: &'static str) -> Kind {
    Kind::Unsupported { what, found, expected }
}

/// A number of rows or columns.
fn extent(what: &'static str, word: &[u8], limit: u64) -> Result<u64, Kind> {
    match count(what, word)? {
        found if found > limit => Err(Kind::TooLarge { what, found, limit }),
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
