//! Whether `Aᵀb` is zero, beyond doubt, and how large it is.

use crate::host::Csr;

/// Whether `b`, the sum of these parts, is orthogonal to every column, in exact arithmetic: products of coefficients of 64 bits and elements of 32
/// are integers of 77 bits times powers of two.
pub(super) fn is_orthogonal(a: &Csr, parts: &[Vec<f32>]) -> bool {
    a.transposed().rows().all(|(rows, values)| {
        let products = parts.iter().flat_map(|b| {
            let element = |i: &u32| b.get(*i as usize).copied().map_or(0.0, f64::from);
            rows.iter().zip(values).map(move |(i, value)| (*value, element(i)))
        });
        is_zero(products.collect())
    })
}

/// `‖Aᵀb‖` for a `b` of these parts: no more than it is, by sums in twice 64 bits, of which a hundred are counted upon.
pub(super) fn transposed_norm(a: &Csr, parts: &[Vec<f32>]) -> f64 {
    let (mut sums, mut sizes) = (vec![(0.0f64, 0.0f64); a.shape().cols], vec![0.0f64; a.shape().cols]);
    for (i, j, value) in a.entries() {
        for b in parts.iter().filter_map(|part| part.get(i)).copied().map(f64::from) {
            let (Some(sum), Some(size)) = (sums.get_mut(j), sizes.get_mut(j)) else { continue };
            let product = value * b;
            let (high, lost) = two_sum(sum.0, product);
            *sum = two_sum(high, sum.1 + (lost + value.mul_add(b, -product)));
            *size += product.abs();
        }
    }
    let rounding = 100f64.exp2().recip();
    let least =
        sums.iter().zip(&sizes).map(|((high, low), size)| ((high + low).abs() - rounding * size).max(0.0));
    norm(least)
}

fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let of_b = sum - a;
    (sum, (a - (sum - of_b)) + (b - of_b))
}

/// Of numbers whose squares may leave the range.
fn norm(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = values.clone().fold(0.0, f64::max);
    if largest == 0.0 { 0.0 } else { largest * values.map(|v| (v / largest).powi(2)).sum::<f64>().sqrt() }
}

/// Whether a sum of products is zero.
fn is_zero(products: Vec<(f64, f64)>) -> bool {
    let mut terms: Vec<(i32, i128)> = products
        .into_iter()
        .map(|(a, b)| {
            let ((m, e), (n, f)) = (parts(a), parts(b));
            (e + f, i128::from(m) * i128::from(n))
        })
        .filter(|(_, mantissa)| *mantissa != 0)
        .collect();
    terms.sort_unstable_by_key(|(exponent, _)| *exponent);
    // From the smallest power of two on: what the next one does not divide can never be made up for.
    let (mut power, mut sum) = (0, 0i128);
    for (exponent, mantissa) in terms {
        let up = exponent.abs_diff(power);
        if sum != 0 && (sum.trailing_zeros() < up) {
            return false;
        }
        sum = sum.checked_shr(up).unwrap_or(0) + mantissa;
        power = exponent;
    }
    sum == 0
}

/// Integer and exponent of a finite number, whose product with a power of two it is. Of an element of 32 bits the
/// integer has trailing zeros, which are taken out.
fn parts(value: f64) -> (i64, i32) {
    let bits = value.to_bits();
    let (exponent, fraction) = ((bits >> 52 & 0x7ff) as i32, (bits & ((1 << 52) - 1)) as i64);
    let (integer, exponent) =
        if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
    let zeros = if integer == 0 { 0 } else { integer.trailing_zeros() };
    let integer = integer >> zeros;
    (if value < 0.0 { -integer } else { integer }, exponent + zeros as i32)
}

#[cfg(test)]
mod tests {
    use super::{is_zero, transposed_norm};
    use crate::host::Triplets;
    use crate::shape::Shape;

    #[test]
    fn norms_of_transposed_products_are_no_more_than_they_are() {
        let of = |entries: [(usize, usize, f64); 3], b: &[Vec<f32>]| {
            let a = Triplets::from_entries(Shape::new(2, 2), entries).unwrap().to_csr();
            transposed_norm(&a, b)
        };
        let near = |found: f64, wanted: f64| found <= wanted && found >= wanted * (1.0 - 1e-12);
        let (last, b) = (2f64.powi(-52), [vec![1.0, -1.0]]);
        let cancels = [(0, 0, 1.0 + last), (1, 0, 1.0), (0, 1, 0.0)];
        assert!(near(of(cancels, &b), last));
        assert_eq!(of([(0, 0, 0.1), (1, 0, 0.1), (1, 1, 0.0)], &b), 0.0);
        // All parts of b, and squares that leave the range of 64 bits.
        let far = [(0, 0, 3e-300), (0, 1, 4e-300), (1, 1, 0.0)];
        assert!(near(of(far, &[vec![1.0, 0.0], vec![2f32.powi(-30), 0.0]]), 5e-300 * (1.0 + 2f64.powi(-30))));
    }

    #[test]
    fn sums_of_products_are_zero_or_not() {
        assert!(is_zero(vec![]) && is_zero(vec![(0.0, 1.0), (1e-300, 0.0)]));
        assert!(is_zero(vec![(0.3, 1.0), (0.3, -1.0)]) && is_zero(vec![(1e30, 1e-8), (-1e-8, 1e30)]));
        assert!(!is_zero(vec![(1e-300, 1e-38)]));
        let (small, smaller) = (2f64.powi(-30), 2f64.powi(-1000));
        assert!(!is_zero(vec![(1.0, 1.0), (smaller, 1.0), (-1.0, 1.0)]));
        assert!(is_zero(vec![(1.0, 1.0), (smaller, 1.0), (-1.0, 1.0), (-smaller, 1.0)]));
        // (1 + s) (1 - s) = 1 - s²
        let product = (1.0 + small, 1.0 - small);
        assert!(is_zero(vec![product, (-1.0, 1.0), (small, small)]));
        assert!(!is_zero(vec![product, (-1.0, 1.0)]));
    }
}
