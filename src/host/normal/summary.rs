//! Summary of a normal form in words.

use super::{Eliminated, NormalForm};
use std::fmt;

/// Lists the steps that changed the system, such as
/// `1,204 rows solved directly; symmetric up to 3e-15; negated; scaled`.
impl fmt::Display for NormalForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Eliminated { rows, columns, penalties, free } = self.eliminated();
        let mut parts = Vec::new();
        for (n, one, many, how) in [
            (rows, "row", "rows", "solved directly"),
            (columns, "column", "columns", "by back substitution"),
            (penalties, "penalty row", "penalty rows", "fixed"),
            (free, "free unknown", "free unknowns", "set to zero"),
            (self.empty_rows().len(), "row", "rows", "without unknowns"),
        ] {
            if n > 0 {
                parts.push(format!("{} {} {how}", grouped(n), if n == 1 { one } else { many }));
            }
        }
        let left = self.matrix().shape().rows > 0;
        match self.asymmetry().filter(|_| left && self.is_symmetric()) {
            Some(0.0) => parts.push("symmetric".into()),
            Some(ratio) => parts.push(format!("symmetric up to {ratio:.0e}")),
            None => {}
        }
        if self.is_negated() {
            parts.push("negated".into());
        }
        if self.row_scales().iter().chain(self.column_scales()).any(|&scale| scale != 1.0) {
            parts.push("scaled".into());
        }
        let (found, singular) = (self.components(), |c: &&super::Component| c.rows_sum_to_zero);
        match (found.len(), found.iter().filter(singular).count()) {
            (0 | 1, 0) => {}
            (1, _) => parts.push("singular".into()),
            (n, 0) => parts.push(format!("{} components", grouped(n))),
            (n, k) => parts.push(format!("{} components, {} of them singular", grouped(n), grouped(k))),
        }
        if parts.is_empty() {
            parts.push("as given".into());
        }
        f.write_str(&parts.join("; "))
    }
}

/// Writes a number with a comma between groups of three digits.
fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|g| str::from_utf8(g).ok()).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    #[test]
    fn digits_are_grouped_by_three() {
        for (n, text) in [(0, "0"), (12, "12"), (999, "999"), (1204, "1,204"), (1_000_000, "1,000,000")] {
            assert_eq!(super::grouped(n), text);
        }
    }
}
