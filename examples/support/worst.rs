//! Comparing what was found with what was wanted, so that nothing bad is lost. Tests use it too.

/// The larger of both, and NaN where one is: for a value that a check is to judge, which `f64::max` would lose.
pub fn worst<T: PartialOrd + Copy>(a: T, b: T) -> T {
    if a.partial_cmp(&a).is_none() || b <= a { a } else { b }
}

/// The worst of `f` over all pairs. NaN where one list is shorter: what is missing is as bad as what is wrong.
pub fn worst_of<A, B>(found: &[A], wanted: &[B], f: impl Fn(&A, &B) -> f64) -> f64 {
    let start = if found.len() == wanted.len() { 0.0 } else { f64::NAN };
    found.iter().zip(wanted).map(|(a, b)| f(a, b)).fold(start, worst)
}

/// A distance as a share of what is allowed. 0 where nothing is off, also where nothing may be; NaN stays NaN.
pub fn share(distance: f64, bound: f64) -> f64 {
    if distance == 0.0 { 0.0 } else { distance / bound }
}

/// How many numbers differ in a bit: other zeros and other NaN do.
pub fn differing_bits(found: &[f32], wanted: &[f32]) -> usize {
    let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    differing(&bits(found), &bits(wanted))
}

/// How many pairs differ; what has nothing beside it differs, too.
pub fn differing<A: PartialEq<B>, B>(found: &[A], wanted: &[B]) -> usize {
    found.len().abs_diff(wanted.len()) + found.iter().zip(wanted).filter(|(a, b)| a != b).count()
}
