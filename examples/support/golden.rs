//! Output compared with what is known to be right: words as words, numbers as numbers.

/// The first word that differs: where, and how. Numbers may be off by `tolerance` times the larger of 1 and their size.
pub fn difference(found: &str, expected: &str, tolerance: f64) -> Option<String> {
    let (found, expected): (Vec<&str>, Vec<&str>) = (found.lines().collect(), expected.lines().collect());
    for (i, (found_line, expected_line)) in found.iter().zip(&expected).enumerate() {
        let words = |line: &'_ str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let (found_words, expected_words) = (words(found_line), words(expected_line));
        let equal = |(a, b): (&String, &String)| match (a.parse::<f64>(), b.parse::<f64>()) {
            (Ok(a), Ok(b)) => (a - b).abs() <= tolerance * b.abs().max(1.0),
            _ => a == b,
        };
        if found_words.len() != expected_words.len() || !found_words.iter().zip(&expected_words).all(equal) {
            return Some(format!("line {}: `{found_line}`, expected `{expected_line}`", i + 1));
        }
    }
    let (found, expected) = (found.len(), expected.len());
    (found != expected).then(|| format!("{found} lines, expected {expected}"))
}
