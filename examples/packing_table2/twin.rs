//! The same in 64 bits, with bounds on what a device may be off by in 32.

use texla::pack::{LinearExpression, Order};

use crate::support::{self, worst_of};

/// Unit roundoff of 32 bits; the last factor covers second order terms and the twin's own rounding.
const U: f64 = (1.0 + 1e-5) / 16_777_216.0;
/// What a result flushed to zero is off by.
const TINY: f64 = f32::MIN_POSITIVE as f64;

/// A value, and how far the device's may be off.
pub type Bounded = (f64, f64);

/// Values that the device has been given as they are.
pub fn exact(values: &[f32]) -> Vec<Bounded> {
    values.iter().map(|&v| (v.into(), 0.0)).collect()
}

/// The sum of products: each coefficient rounded, each product, and as many sums as there are terms, in any order.
fn sum(terms: impl Iterator<Item = (f64, Bounded)>) -> Bounded {
    let (mut count, mut value, mut passed_on, mut magnitude) = (2.0, 0.0, 0.0, 0.0);
    for (c, (v, error)) in terms {
        count += 1.0;
        value += c * v;
        passed_on += c.abs() * error;
        magnitude += c.abs() * (v.abs() + error);
    }
    (value, passed_on + count * (U * magnitude + TINY))
}

/// Row `i` of A x + `sign` b.
fn row(e: &LinearExpression, i: usize, x: &[Bounded], b: &[f32], sign: f64) -> Bounded {
    let b = e.is_nontrivial(i).then(|| (sign, (f64::from(b[i]), 0.0)));
    sum(e.row(i).map(|(j, a)| (a, x[j])).chain(b))
}

/// A x + `sign` b.
pub fn affine(e: &LinearExpression, x: &[Bounded], b: &[f32], sign: f64) -> Vec<Bounded> {
    (0..e.unknowns()).map(|i| row(e, i, x, b, sign)).collect()
}

/// One Gauss-Seidel iteration in place, in an order.
pub fn sweep(e: &LinearExpression, order: &Order, x: &mut [Bounded], b: &[f32]) {
    for i in order.indices().iter().map(|&i| i as usize).filter(|&i| i < e.unknowns()) {
        x[i] = row(e, i, x, b, 1.0);
    }
}

/// One step of the classical Runge-Kutta method with h beta fixed over it, [Bajaj04] equations (4) to (11).
pub fn runge_kutta(e: &LinearExpression, y: &[Bounded], b: &[f32]) -> Vec<Bounded> {
    let add = |parts: &[(f64, &[Bounded])]| -> Vec<Bounded> {
        let element = |i: usize| sum([(1.0, y[i])].into_iter().chain(parts.iter().map(|(c, k)| (*c, k[i]))));
        (0..y.len()).map(element).collect()
    };
    let stage = |w: &[Bounded]| affine(e, w, b, 1.0);
    let k1 = stage(y);
    let k2 = stage(&add(&[(0.5, &k1)]));
    let k3 = stage(&add(&[(0.5, &k2)]));
    let k4 = stage(&add(&[(1.0, &k3)]));
    add(&[(1.0 / 6.0, &k1), (1.0 / 3.0, &k2), (1.0 / 3.0, &k3), (1.0 / 6.0, &k4)])
}

/// The largest share of its bound that a value is off by.
pub fn share(found: &[f32], twin: &[Bounded]) -> f64 {
    worst_of(found, twin, |found, (value, error)| support::share((f64::from(*found) - value).abs(), *error))
}
