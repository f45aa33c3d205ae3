//! Systems as they are given, of any magnitude, and what a solution leaves of its right-hand side.

use std::fmt::Display;

use texla::host::{Csr, Triplets};

use super::outcome::{Failure, Result};
use super::worst;

/// Rows or columns that need no entries to be believed.
const MOST_EMPTY: usize = 1 << 20;

/// A matrix that has been read. A few bytes can declare one whose row table alone would fill the memory: that is refused.
pub fn believable(read: &Triplets, name: impl Display) -> Result<Csr> {
    let (shape, nnz) = (read.shape(), read.nnz());
    let most = MOST_EMPTY.max(16 * nnz);
    if shape.rows.max(shape.cols) > most {
        let what = format!("{name}: {shape} with {nnz} entries is all but empty");
        return Err(Failure::bad_input(format!("{what}; this program takes up to {most} rows or columns")));
    }
    Ok(read.to_csr())
}

/// A matrix and a right-hand side times powers of two, exactly, so that the largest elements are always of the same magnitude: pairs of
/// floats have no low parts below 2^-126, and what they leave of a right-hand side no residual tells. Whatever units a system is
/// in, the same is solved.
pub struct Ordinary {
    pub a: Csr,
    pub b: Vec<f64>,
    /// By how much solutions are larger.
    pub larger: f64,
    /// The power of two by which the matrix was divided.
    pub exponent: i32,
}

impl Ordinary {
    /// As large as on the diagonal of the five-point matrix, which is then left as it is.
    const EXPONENT: i32 = 2;

    pub fn new(a: Csr, b: Vec<f64>) -> texla::Result<Self> {
        let of_a = Self::above(a.values());
        // A matrix may be most of the memory.
        let a = if of_a == 0 { a } else { Self::scaled(&a, of_a)? };
        let (b, larger) = Self::right(&b, of_a);
        Ok(Ordinary { a, b, larger, exponent: of_a })
    }

    /// Refuses what would be another system: a row or a column of which nothing is left. Single entries may go.
    fn scaled(a: &Csr, of: i32) -> texla::Result<Csr> {
        let made = a.with_values(&Self::divided(a.values(), of))?;
        let mut left = [vec![false; a.shape().rows], vec![false; a.shape().cols]];
        for (i, j, _) in made.entries().filter(|(.., value)| value.is_normal()) {
            (left[0][i], left[1][j]) = (true, true);
        }
        let is_lost = |(i, j, value): &(usize, usize, f64)| *value != 0.0 && !(left[0][*i] && left[1][*j]);
        let Some((i, j, value)) = a.entries().find(is_lost) else { return Ok(made) };
        let detail = format!(
            "has {value:e} at ({i}, {j}) (counted from 0) and nothing larger in that row or column, beside entries of 2^{of}: 64-bit \
             numbers do not hold both in one unit; multiply rows or columns first"
        );
        Err(texla::Error::Matrix { op: "HostSystem", detail })
    }

    /// A right-hand side for a matrix that was divided by this power of two, and by how much its solutions are larger.
    pub fn right(b: &[f64], of_a: i32) -> (Vec<f64>, f64) {
        let of_b = Self::above(b);
        (Self::divided(b, of_b), f64::from(of_a - of_b).exp2())
    }

    fn above(values: &[f64]) -> i32 {
        match values.iter().map(|v| v.abs()).fold(0.0, worst) {
            largest if largest > 0.0 && largest.is_finite() => {
                // A power of two that 64 bits have, as has its inverse.
                (largest.log2().floor() as i32 - Self::EXPONENT).clamp(-1000, 1000)
            }
            _ => 0,
        }
    }

    fn divided(values: &[f64], of: i32) -> Vec<f64> {
        let down = f64::from(-of).exp2();
        values.iter().map(|v| v * down).collect()
    }
}

/// `b - A x` as in twice the precision: what is left of 48 bits has been summed exactly.
pub fn residual(a: &Csr, x: &[f64], b: &[f64]) -> Vec<f64> {
    let row = |((cols, values), b): ((&[u32], &[f64]), &f64)| {
        let (mut sum, mut rest) = (*b, 0.0);
        for (col, value) in cols.iter().zip(values) {
            let x = x[*col as usize];
            let product = -value * x;
            let next = sum + product;
            let added = next - sum;
            rest += (sum - (next - added)) + (product - added) + (-value).mul_add(x, -product);
            sum = next;
        }
        sum + rest
    };
    a.rows().zip(b).map(row).collect()
}
