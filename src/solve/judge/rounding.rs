//! What rounding counts for beside a bound.

/// What rounding adds to a residual that is asked to meet a bound. Nothing where it is negligible beside that: what
/// products may lose below the range of floats is there for any coefficient, and an exact solution is reported as one.
pub(super) fn counted(rounding: f64, bound: f64) -> f64 {
    let negligible = rounding < bound / (1u64 << 60) as f64;
    if negligible { 0.0 } else { upwards(rounding) }
}

/// To nine bits, upwards: a bound needs no more, and what may be lost below the range of floats, which depends on the
/// scale of a system, does not show in a report.
fn upwards(bound: f64) -> f64 {
    const REST: u64 = (1 << 44) - 1;
    if bound.is_finite() { f64::from_bits((bound.to_bits() + REST) & !REST) } else { bound }
}

/// Whether an iterate is so large that rounding of its products hides whether the bound is met.
pub(super) fn hides(rounding: f64, bound: f64) -> bool {
    // Of a NaN nothing can be said to be small.
    let small = rounding <= 0.5 * bound;
    !small
}
