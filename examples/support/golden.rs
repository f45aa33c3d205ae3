//! Output compared with what is known to be right: words as words, numbers as numbers.

/// The first word that differs: where, and how. Numbers may be off by `tolerance` times the larger of 1 and their size.
pub fn difference(found: &str, expected: &str, tolerance: f64) -> Option<String> {
    let equal = |(a, b): (&str, &str)| match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => (a - b).abs() <= tolerance * b.abs().max(1.0),
        _ => a == b,
    };
    for (i, (found, expected)) in found.lines().zip(expected.lines()).enumerate() {
        let [a, b] = [found, expected].map(str::split_whitespace);
        if a.clone().count() != b.clone().count() || !a.zip(b).all(equal) {
            return Some(format!("line {}: `{found}`, expected `{expected}`", i + 1));
        }
    }
    let [found, expected] = [found, expected].map(|text| text.lines().count());
    (found != expected).then(|| format!("{found} lines, expected {expected}"))
}
