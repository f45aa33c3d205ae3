//! Numbers as the book shows them.

// Tests have this file without the rest.
#[allow(unused_imports)]
pub use crate::support::count;

/// Three significant digits, a power of ten where that would take many zeros; whole numbers as they are.
pub fn three(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        return "-".to_owned();
    }
    if value == value.trunc() && size < 1e7 {
        return format!("{value}");
    }
    if !(1e-3..1e6).contains(&size) {
        return format!("{value:.2e}");
    }
    // What rounding makes of it: 9.999 is 10.0.
    let digits = format!("{size:.2e}");
    let exponent: i32 = digits.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let rounded: f64 = digits.parse::<f64>().unwrap_or(size).copysign(value);
    format!("{rounded:.*}", (2 - exponent).max(0) as usize)
}

/// A number with the digits it is printed with: no source prints more than six.
pub fn printed(value: f64) -> String {
    let short: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    if (1e-4..1e9).contains(&short.abs()) { format!("{short}") } else { three(value) }
}

/// A ratio.
pub fn times(ratio: f64) -> String {
    format!("{}x", three(ratio))
}

/// A duration for people.
pub fn duration(seconds: f64) -> String {
    match seconds.round() as u64 {
        s if s < 100 => format!("{s} s"),
        s => format!("{} min {:02} s", s / 60, s % 60),
    }
}
