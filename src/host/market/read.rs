//! The entries after the size line.

use super::error::{MarketError, MarketErrorKind as Kind, quote};
use super::header::{Field, Format, Header, Symmetry};
use super::lines::Lines;
use super::value::Notes;
use std::io::BufRead;

/// Reads all entries and hands them on as (row, column, value), counted from 0, the implied triangle included.
/// Returns the number of entries in the file.
pub(super) fn entries<R: BufRead>(
    lines: &mut Lines<'_, R>,
    header: &Header,
    notes: &mut Notes,
    put: &mut impl FnMut(u32, u32, f64),
) -> Result<usize, MarketError> {
    let mut place = Place::first(header);
    let mut lower = None;
    for entry in 0..header.entries {
        if !lines.advance()? {
            return Err(lines.error(Kind::TooFewEntries { found: entry, expected: header.entries }));
        }
        let (row, col, word) = match header.format {
            Format::Coordinate => coordinate(lines, header)?,
            Format::Array => {
                let [value] = lines.exactly("the line `value`")?;
                let (row, col) = place.next(header);
                (row, col, value)
            }
        };
        let value = notes.parse(header.field, word, entry, lines.line()).map_err(|k| lines.error(k))?;
        if header.symmetry != Symmetry::General && row != col {
            if *lower.get_or_insert(row > col) != (row > col) {
                return Err(lines.error(Kind::BothTriangles { row: from_1(row), col: from_1(col) }));
            }
        } else if header.symmetry == Symmetry::SkewSymmetric && value != 0.0 {
            return Err(lines.error(Kind::SkewDiagonal { index: from_1(row), found: quote(word) }));
        }
        // An array file lists every element: its zeros say nothing about the pattern.
        if header.format == Format::Array && value == 0.0 && !header.keep_zeros {
            continue;
        }
        put(row, col, value);
        match header.symmetry {
            Symmetry::Symmetric if row != col => put(col, row, value),
            Symmetry::SkewSymmetric if row != col => put(col, row, -value),
            _ => {}
        }
    }
    if lines.advance()? {
        let (found, expected) = (lines.quoted(), header.entries);
        return Err(lines.error(Kind::TooManyEntries { found, expected }));
    }
    Ok(header.entries as usize)
}

/// Row, column and the word of the value (empty for a pattern).
fn coordinate<'l, R: BufRead>(
    lines: &'l Lines<'_, R>,
    header: &Header,
) -> Result<(u32, u32, &'l [u8]), MarketError> {
    let [row, col, value] = if header.field == Field::Pattern {
        let [row, col] = lines.exactly("the line `row column`")?;
        [row, col, &[]]
    } else {
        lines.exactly("the line `row column value`")?
    };
    let row = index("row index", row, header.shape.rows).map_err(|k| lines.error(k))?;
    let col = index("column index", col, header.shape.cols).map_err(|k| lines.error(k))?;
    Ok((row, col, value))
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
            Symmetry::Symmetric => col,
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
