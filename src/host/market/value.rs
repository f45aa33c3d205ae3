//! Values, and what is lost when they become 32-bit floats.

use super::error::{MarketErrorKind as Kind, quote};
use super::header::Field;
use std::fmt;

/// Something in a file that a 32-bit float cannot hold. The values themselves are kept in `f64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Warning {
    /// Integers that a 32-bit float rounds; all of them lie beyond 2^24.
    IntegerRounded {
        /// Number of such values in the file.
        count: u64,
        /// Line of the first one, counted from 1.
        line: usize,
    },
    /// Values that are not zero and lie below the normal range of a 32-bit float (1.2e-38): GPUs may take them as zero, and so do 64 bits
    /// below 4.9e-324.
    BelowNormal {
        /// Number of such values in the file.
        count: u64,
        /// Line of the first one, counted from 1.
        line: usize,
    },
    /// Values beyond the largest 32-bit float (3.4e38): an upload refuses them with
    /// [`Error::NonFinite`](crate::Error::NonFinite), unless they are scaled before.
    BeyondSingle {
        /// Number of such values in the file.
        count: u64,
        /// Line of the first one, counted from 1.
        line: usize,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::IntegerRounded { count, line } => {
                write!(f, "{count} integers are not exact as 32-bit floats, the first in line {line}")
            }
            Self::BelowNormal { count, line } => {
                write!(f, "{count} values are below the normal 32-bit floats, the first in line {line}")
            }
            Self::BeyondSingle { count, line } => {
                write!(f, "{count} values are beyond the largest 32-bit float, the first in line {line}")
            }
        }
    }
}

/// Counts what warnings are made of: number of values and first line.
#[derive(Default)]
pub(super) struct Notes {
    rounded: Option<(u64, usize)>,
    tiny: Option<(u64, usize)>,
    beyond: Option<(u64, usize)>,
}

impl Notes {
    pub(super) fn warnings(&self) -> Vec<Warning> {
        let rounded = self.rounded.map(|(count, line)| Warning::IntegerRounded { count, line });
        let tiny = self.tiny.map(|(count, line)| Warning::BelowNormal { count, line });
        let beyond = self.beyond.map(|(count, line)| Warning::BeyondSingle { count, line });
        rounded.into_iter().chain(tiny).chain(beyond).collect()
    }

    /// Reads the value of entry number `entry`.
    pub(super) fn parse(&mut self, field: Field, word: &[u8], entry: u64, line: usize) -> Result<f64, Kind> {
        match field {
            Field::Pattern => Ok(1.0),
            Field::Integer => {
                let value = integer(word)?;
                if (value as f32) as i128 != i128::from(value) {
                    note(&mut self.rounded, line);
                }
                Ok(value as f64)
            }
            Field::Real | Field::Complex => {
                let value = real(word)?;
                let single = value as f32;
                if !value.is_finite() {
                    return Err(Kind::NotFinite { entry, found: quote(word) });
                }
                if !single.is_finite() {
                    note(&mut self.beyond, line);
                }
                let is_zero = value == 0.0 && !digits(word).any(|digit| digit != b'0');
                if !is_zero && single.abs() < f32::MIN_POSITIVE {
                    note(&mut self.tiny, line);
                }
                Ok(value)
            }
        }
    }
}

fn note(slot: &mut Option<(u64, usize)>, line: usize) {
    let (count, _) = slot.get_or_insert((0, line));
    *count = count.saturating_add(1);
}

fn integer(word: &[u8]) -> Result<i64, Kind> {
    let number = std::str::from_utf8(word).ok().and_then(|word| word.parse().ok());
    number.ok_or_else(|| Kind::Number {
        what: "value",
        found: quote(word),
        expected: "an integer of 64 bits with sign",
    })
}

/// The digits before an exponent.
fn digits(word: &[u8]) -> impl Iterator<Item = u8> + '_ {
    let mantissa = word.iter().take_while(|byte| !matches!(byte, b'e' | b'E' | b'd' | b'D'));
    mantissa.copied().filter(u8::is_ascii_digit)
}

/// A decimal number, with Fortran's exponent letter D as well; also NaN and infinities.
fn real(word: &[u8]) -> Result<f64, Kind> {
    let parse = |word: &[u8]| std::str::from_utf8(word).ok().and_then(|word| word.parse().ok());
    let number = parse(word).or_else(|| {
        let fortran = |b: &u8| if matches!(b, b'd' | b'D') { b'e' } else { *b };
        parse(&word.iter().map(fortran).collect::<Vec<u8>>())
    });
    number.ok_or_else(|| Kind::Number { what: "value", found: quote(word), expected: "a decimal number" })
}
