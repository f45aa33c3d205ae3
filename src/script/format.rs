//! Numbers and matrices as text: 6 significant digits, columns aligned to the right.

use std::io::{self, Write};

use crate::host::Csr;
use crate::shape::Shape;

/// Significant digits of what `print` writes.
const DIGITS: i32 = 6;

/// A number with 6 significant digits, as C's `%g` writes it; minus zero is 0.
pub(super) fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    if !value.is_finite() {
        return value.to_string().to_ascii_lowercase();
    }
    // Rounded to the digits first: 999999.9 has seven before the point.
    let rounded = format!("{value:.*e}", (DIGITS - 1) as usize);
    let Some((mantissa, exponent)) = rounded.split_once('e') else { return rounded };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if !(-4..DIGITS).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", shortened(mantissa), exponent.abs());
    }
    shortened(&format!("{value:.*}", (DIGITS - 1 - exponent) as usize)).to_owned()
}

/// Without zeros at the end of a fraction.
fn shortened(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// A matrix, given row by row: a line for each row, each column as wide as its widest number.
pub(super) fn matrix(out: &mut dyn Write, shape: Shape, values: &[f32]) -> io::Result<()> {
    if shape.is_empty() {
        return writeln!(out, "[]({shape})");
    }
    let cell = |value: &f32| number(f64::from(*value));
    let mut widths = vec![0; shape.cols];
    for row in values.chunks(shape.cols) {
        for (width, value) in widths.iter_mut().zip(row) {
            *width = cell(value).len().max(*width);
        }
    }
    for row in values.chunks(shape.cols) {
        for (column, (value, width)) in row.iter().zip(&widths).enumerate() {
            let gap = if column == 0 { "" } else { "  " };
            write!(out, "{gap}{:>width$}", cell(value))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// A sparse matrix: a heading, then a line for each entry, counted from 1.
pub(super) fn sparse(out: &mut dyn Write, a: &Csr) -> io::Result<()> {
    writeln!(out, "sparse {}, {} nonzeros", a.shape(), a.nnz())?;
    a.entries().try_for_each(|(i, j, value)| writeln!(out, "({}, {})  {}", i + 1, j + 1, number(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_six_digits() {
        let cases = [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (-2.5, "-2.5"),
            (1.0 / 3.0, "0.333333"),
            (2.0f64.sqrt() * 100.0, "141.421"),
            (123456.0, "123456"),
            (999999.4, "999999"),
            (999999.6, "1e+06"),
            (1234567.0, "1.23457e+06"),
            (1e-4, "0.0001"),
            (9.9999999e-5, "0.0001"),
            (1.5e-5, "1.5e-05"),
            (1e-6, "1e-06"),
            (-3.4e38, "-3.4e+38"),
            (1.17e-38, "1.17e-38"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "nan"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text, "{value:e}");
        }
    }

    #[test]
    fn columns_are_aligned_to_the_right() {
        let mut out = Vec::new();
        matrix(&mut out, Shape::new(2, 3), &[1.0, -20.0, 0.5, 100.0, 3.0, 1e-9]).unwrap();
        assert_eq!(out, b"  1  -20    0.5\n100    3  1e-09\n");
        out.clear();
        matrix(&mut out, Shape::new(0, 3), &[]).unwrap();
        assert_eq!(out, b"[](0x3)\n");
    }
}
