//! Systems of any magnitude, and what a solution leaves of its right-hand side.

use texla::host::{Csr, Triplets};

use super::worst;

/// A matrix and a right-hand side times powers of two, exactly, where one is far from 1: pairs of floats have no low parts below 2^-126,
/// and what they leave of a right-hand side no residual tells.
pub struct Ordinary {
    pub a: Csr,
    pub b: Vec<f64>,
    /// By how much solutions are larger.
    pub larger: f64,
}

impl Ordinary {
    pub fn new(a: Csr, b: Vec<f64>) -> texla::Result<Self> {
        let far = |values: &[f64]| match values.iter().map(|v| v.abs()).fold(0.0, worst) {
            largest if largest > 0.0 && largest.is_finite() => {
                Some(largest.log2().floor() as i32).filter(|e| e.abs() > 60).unwrap_or(0)
            }
            _ => 0,
        };
        let (of_a, of_b) = (far(a.values()), far(&b));
        let [down_a, down_b] = [-of_a, -of_b].map(|e| f64::from(e).exp2());
        let a = match of_a {
            0 => a,
            _ => Triplets::from_entries(a.shape(), a.entries().map(|(i, j, v)| (i, j, v * down_a)))?.to_csr(),
        };
        let b = b.into_iter().map(|v| v * down_b).collect();
        Ok(Ordinary { a, b, larger: f64::from(of_a - of_b).exp2() })
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
