//! Compensated sums: T. Ogita, S. Rump, S. Oishi, 2005 (Sum2, Dot2).

/// A sum of numbers and products, and the sum of its rounding errors.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sum {
    high: f64,
    low: f64,
}

impl Sum {
    pub fn add(&mut self, value: f64) {
        let sum = self.high + value;
        let part = sum - self.high;
        self.low += (self.high - (sum - part)) + (value - part);
        self.high = sum;
    }

    pub fn add_product(&mut self, a: f64, b: f64) {
        let product = a * b;
        self.low += a.mul_add(b, -product);
        self.add(product);
    }

    /// Returns the sum, as if computed in twice the precision and then rounded; infinite or NaN if
    /// a product or a partial sum overflows.
    pub fn value(self) -> f64 {
        self.high + self.low
    }
}

/// Returns `b - Σ a_j x_j` and `|b| + Σ |a_j x_j|`.
pub(super) fn residual(b: f64, row: (&[u32], &[f64]), x: &[f64]) -> (f64, f64) {
    let (mut sum, mut size) = (Sum::default(), b.abs());
    sum.add(b);
    for (&j, &a) in row.0.iter().zip(row.1) {
        let x = x.get(j as usize).copied().unwrap_or_default();
        if x != 0.0 {
            sum.add_product(-a, x);
            size += (a * x).abs();
        }
    }
    (sum.value(), size)
}
