//! What a solution leaves of its right-hand side.

use texla::host::Csr;

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
