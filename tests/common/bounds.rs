//! Rounding error bounds, derived from the number of operations and from nothing else. `src/guide/numerics.md` names them.
//!
//! The model is `fl(a op b) = (a op b)(1 + e) + f` with `abs(e) <= U` and `abs(f) <= TINY`, one of both zero: the
//! second for results that are flushed. Inputs are taken to be normal or zero, and nothing to overflow.

/// Unit roundoff of float32.
pub const U: f64 = 1.0 / 16_777_216.0;

/// The smallest normal float32: what a flushed result is wrong by at most.
pub const TINY: f64 = f32::MIN_POSITIVE as f64;

/// Addition, subtraction, multiplication: correctly rounded.
pub const ROUNDED_ULPS: f64 = 0.5;
/// What GL 4.1 promises of a division.
pub const DIV_ULPS: f64 = 2.5;
/// What GL 4.1 promises of a square root.
pub const SQRT_ULPS: f64 = 3.0;

/// `k u / (1 - k u)`: the relative error of `k` roundings one after another.
pub fn gamma(k: usize) -> f64 {
    let ku = k as f64 * U;
    assert!(ku < 1.0, "gamma({k}) does not exist");
    ku / (1.0 - ku)
}

/// The product bound: a product's element with `terms` terms (an added vector included), whose magnitudes sum to `abs_sum`.
pub fn product_bound(abs_sum: f64, terms: usize) -> f64 {
    let k = terms + 2;
    gamma(k) * abs_sum + k as f64 * TINY
}

/// [`product_bound`], element by element.
pub fn product_bounds(abs_sums: &[f64], terms: impl IntoIterator<Item = usize>) -> Vec<f64> {
    let bounds: Vec<_> = abs_sums.iter().zip(terms).map(|(&s, k)| product_bound(s, k)).collect();
    assert_eq!(bounds.len(), abs_sums.len(), "a number of terms for every element");
    bounds
}

/// The reduction bound: a sum or dot product whose longest chain of additions is `chain` long, magnitudes summing to
/// `abs_sum`.
///
/// A tree with chains of that length has at most `2^chain` leaves, so that at most `2^(chain+1)` results can be
/// flushed; the bound is for lengths to 2^22, which ends this term at 2^-103.
pub fn reduction_bound(chain: usize, abs_sum: f64) -> f64 {
    let flushed = f64::from(1u32 << (chain.min(22) + 1));
    gamma(chain + 1) * abs_sum + flushed * TINY
}

/// Additions one after another when `n` values are summed by a tree whose passes take in up to `window` values each.
pub fn tree_chain(mut n: usize, window: usize) -> usize {
    assert!(window >= 2);
    let mut chain = 0;
    while n > 1 {
        chain += window.min(n) - 1;
        n = n.div_ceil(window);
    }
    chain
}

/// Distance of neighbouring float32 values in the binade of `x`; below the normal range that of the smallest normal.
pub fn ulp(x: f64) -> f64 {
    assert!(x.is_finite());
    // f64's exponent field, read off: no rounding at powers of two.
    let exponent = ((x.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    2f64.powi(exponent.max(-126) - 23)
}

/// A single operation's bound: `ulps` units in the last place of the exact result, or the result where it flushes.
pub fn ulp_bound(exact: f64, ulps: f64) -> f64 {
    let bound = ulps * ulp(exact);
    if exact.abs() <= TINY + bound { bound.max(exact.abs()) } else { bound }
}

/// [`ulp_bound`], element by element.
pub fn ulp_bounds(exact: &[f64], ulps: f64) -> Vec<f64> {
    exact.iter().map(|&v| ulp_bound(v, ulps)).collect()
}

/// Error over bound; infinite if either value is not finite, the bound is NaN, or there is an error and no bound.
pub fn ratio(got: f32, want: f64, bound: f64) -> f64 {
    let error = (f64::from(got) - want).abs();
    if !error.is_finite() || bound.is_nan() {
        f64::INFINITY
    } else if error == 0.0 {
        0.0
    } else {
        error / bound
    }
}

/// Fails if any element is off by more than its bound, showing the worst. Returns the worst ratio of error to bound.
#[track_caller]
pub fn assert_componentwise(name: &str, got: &[f32], want: &[f64], bound: &[f64]) -> f64 {
    assert_eq!(got.len(), want.len(), "{name}: number of values");
    assert_eq!(bound.len(), want.len(), "{name}: number of bounds");
    let mut worst = (0.0, 0);
    let mut failures = 0;
    for (i, ((&g, &w), &b)) in got.iter().zip(want).zip(bound).enumerate() {
        let r = ratio(g, w, b);
        failures += usize::from(r > 1.0);
        if r > worst.0 {
            worst = (r, i);
        }
    }
    let (r, i) = worst;
    if failures > 0 {
        let error = (f64::from(got[i]) - want[i]).abs();
        panic!(
            "{name}: {failures} of {} elements out of bound; worst at index {i}: got {:e}, want {:e}, \
             error {error:e}, bound {:e}, ratio {r:.3}",
            got.len(),
            got[i],
            want[i],
            bound[i],
        );
    }
    r
}

/// The bits of values: what is the same to the last one, the sign of zero included.
pub fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|v| v.to_bits()).collect()
}

/// [`assert_componentwise`] for one number.
#[track_caller]
pub fn assert_within(name: &str, got: f32, want: f64, bound: f64) -> f64 {
    assert_componentwise(name, &[got], &[want], &[bound])
}
