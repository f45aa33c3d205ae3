//! The entries after the size line.

use super::error::{MarketError, MarketErrorKind as Kind, quote};
use super::header::{Field, Format, Header, Symmetry};
use super::lines::Lines;
use super::value::Notes;
use std::io::BufRead;

/// What was read beside the entries that were handed on.
pub(super) struct Stored {
    /// Number of entries in the file.
    pub(super) entries: usize,
    pub(super) rhs: Option<Vec<f64>>,
    pub(super) solution: Option<Vec<f64>>,
}

/// Reads all entries and hands them on as (row, column, value), counted from 0, the implied triangle included; then the
/// vectors that follow them.
pub(super) fn entries<R: BufRead>(
    lines: &mut Lines<'_, R>,
    header: &Header,
    notes: &mut Notes,
    put: &mut impl FnMut(u32, u32, f64),
) -> Result<Stored, MarketError> {
    let mut place = Place::first(header);
    let mut lower = None;
    let mut handed = 0;
    for entry in 0..header.entries {
        if !lines.advance()? {
            return Err(lines.error(Kind::TooFewEntries { found: entry, expected: header.entries }));
        }
        let (row, col, words) = match header.format {
            Format::Coordinate => coordinate(lines, header)?,
            Format::Array => {
                let words = array(lines, header)?;
                let (row, col) = place.next(header);
                (row, col, words)
            }
        };
        let number = |notes: &mut Notes, word| {
            notes.parse(header.field, word, entry, lines.line()).map_err(|k| lines.error(k))
        };
        let [re, im] = words;
        let value = [number(notes, re)?, if im.is_empty() { 0.0 } else { number(notes, im)? }];
        check_symmetry(header, (row, col), (value, words), &mut lower).map_err(|k| lines.error(k))?;
        // An array file lists every element: its zeros say nothing about the pattern.
        if header.format == Format::Array && value == [0.0; 2] && !header.vector {
            continue;
        }
        handed += put_both(header, (row, col), value, put);
        lines.check_expansion(handed)?;
    }
    let mut vector = |follows: bool, what: &'static str, len: usize| {
        if follows { vector(lines, header, notes, what, len).map(Some) } else { Ok(None) }
    };
    let [rhs, solution] = header.vectors;
    let rhs = vector(rhs, "the right-hand side", header.shape.rows)?;
    let solution = vector(solution, "the solution", header.shape.cols)?;
    if lines.advance()? {
        let (found, expected) = (lines.quoted(), header.entries);
        return Err(lines.error(Kind::TooManyEntries { found, expected }));
    }
    Ok(Stored { entries: header.entries as usize, rhs, solution })
}

/// Refuses what contradicts the symmetry. `lower` is the triangle of the entries before, once one is known.
fn check_symmetry(
    header: &Header,
    (row, col): (u32, u32),
    ([re, im], words): ([f64; 2], [&[u8]; 2]),
    lower: &mut Option<bool>,
) -> Result<(), Kind> {
    if header.symmetry != Symmetry::General && row != col {
        if *lower.get_or_insert(row > col) != (row > col) {
            return Err(Kind::BothTriangles { row: from_1(row), col: from_1(col) });
        }
        return Ok(());
    }
    let [re_word, im_word] = words;
    match header.symmetry {
        Symmetry::SkewSymmetric if re != 0.0 || im != 0.0 => {
            let word = if re == 0.0 { im_word } else { re_word };
            Err(Kind::SkewDiagonal { index: from_1(row), found: quote(word) })
        }
        Symmetry::Hermitian if im != 0.0 => {
            Err(Kind::HermitianDiagonal { index: from_1(row), found: quote(im_word) })
        }
        _ => Ok(()),
    }
}

/// Hands on an entry and the one that it implies. Returns the number of numbers.
fn put_both(
    header: &Header,
    (row, col): (u32, u32),
    [re, im]: [f64; 2],
    put: &mut impl FnMut(u32, u32, f64),
) -> u64 {
    let implied = match header.symmetry {
        Symmetry::Symmetric => [re, im],
        Symmetry::SkewSymmetric => [-re, -im],
        Symmetry::Hermitian => [re, -im],
        Symmetry::General => return put_one(header, (row, col), [re, im], put),
    };
    let one = put_one(header, (row, col), [re, im], put);
    if row == col { one } else { one + put_one(header, (col, row), implied, put) }
}

/// Hands on an entry, or its block of the real form.
fn put_one(
    header: &Header,
    (row, col): (u32, u32),
    [re, im]: [f64; 2],
    put: &mut impl FnMut(u32, u32, f64),
) -> u64 {
    if !header.real_form {
        put(row, col, re);
        return 1;
    }
    // The real form has fewer than 2^31 rows.
    let (row, col) = (2 * row, 2 * col);
    put(row, col, re);
    if header.vector {
        put(row + 1, col + 1, im);
        return 2;
    }
    if header.field == Field::Complex {
        put(row, col + 1, 0.0 - im);
        put(row + 1, col, im);
    }
    put(row + 1, col + 1, re);
    if header.field == Field::Complex { 4 } else { 2 }
}

/// Row, column and the words of the value: of a pattern none, of a complex number two.
fn coordinate<'l, R: BufRead>(
    lines: &'l Lines<'_, R>,
    header: &Header,
) -> Result<(u32, u32, [&'l [u8]; 2]), MarketError> {
    let [row, col, re, im] = match header.field {
        Field::Pattern => {
            let [row, col] = lines.exactly("the line `row column`")?;
            [row, col, &[], &[]]
        }
        Field::Complex => lines.exactly("the line `row column real imaginary`")?,
        _ => {
            let [row, col, value] = lines.exactly("the line `row column value`")?;
            [row, col, value, &[]]
        }
    };
    let row = index("row index", row, header.shape.rows).map_err(|k| lines.error(k))?;
    let col = index("column index", col, header.shape.cols).map_err(|k| lines.error(k))?;
    Ok((row, col, [re, im]))
}

/// The words of an element of an array file.
fn array<'l, R: BufRead>(lines: &'l Lines<'_, R>, header: &Header) -> Result<[&'l [u8]; 2], MarketError> {
    if header.field == Field::Complex {
        return lines.exactly("the line `real imaginary`");
    }
    let [value] = lines.exactly("the line `value`")?;
    Ok([value, &[]])
}

/// A vector of `len` lines `index value` in any order, as Lis writes it after the entries.
fn vector<R: BufRead>(
    lines: &mut Lines<'_, R>,
    header: &Header,
    notes: &mut Notes,
    what: &'static str,
    len: usize,
) -> Result<Vec<f64>, MarketError> {
    // No memory is set aside before all lines have been there.
    let mut stored: Vec<(u32, f64)> = Vec::new();
    for found in 0..len {
        if !lines.advance()? {
            return Err(lines.error(Kind::TooFewElements { what, found, expected: len }));
        }
        let [place, value] = lines.exactly("the line `index value` of a vector after the entries")?;
        let place = index("index", place, len).map_err(|k| lines.error(k))?;
        let value = notes.parse(Field::Real, value, found as u64, lines.line());
        stored.push((place, value.map_err(|k| lines.error(k))?));
        lines.check_expansion(found as u64)?;
    }
    stored.sort_by_key(|(place, _)| *place);
    let twice = stored.windows(2).find_map(|pair| match pair {
        [(first, _), (second, _)] if first == second => Some(*first),
        _ => None,
    });
    if let Some(place) = twice {
        return Err(lines.error(Kind::RepeatedElement { what, index: from_1(place) }));
    }
    let values = stored.into_iter().map(|(_, value)| value);
    Ok(if header.real_form { values.flat_map(|value| [value, 0.0]).collect() } else { values.collect() })
}

/// An index from 1 to `bound` in the file, from 0 in memory.
fn index(what: &'static str, word: &[u8], bound: usize) -> Result<u32, Kind> {
    let number: Option<u32> = std::str::from_utf8(word).ok().and_then(|word| word.parse().ok());
    match number {
        Some(i) if i as usize <= bound && i > 0 => Ok(i - 1),
        _ => Err(Kind::Index { what, found: quote(word), bound }),
    }
}

fn from_1(index: u32) -> u64 {
    u64::from(index) + 1
}

/// The place of the next value of an array file: column by column, from the first row that is stored.
struct Place {
    row: u32,
    col: u32,
}

impl Place {
    fn first(header: &Header) -> Self {
        Self { row: Self::top(header, 0), col: 0 }
    }

    fn top(header: &Header, col: u32) -> u32 {
        match header.symmetry {
            Symmetry::General => 0,
            Symmetry::Symmetric | Symmetry::Hermitian => col,
            Symmetry::SkewSymmetric => col + 1,
        }
    }

    fn next(&mut self, header: &Header) -> (u32, u32) {
        let here = (self.row, self.col);
        self.row += 1;
        if self.row as usize >= header.shape.rows {
            self.col += 1;
            self.row = Self::top(header, self.col);
        }
        here
    }
}
