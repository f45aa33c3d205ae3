//! Counting what a shader computes from its text alone, which knows nothing of the program's own counts.

/// The statements of a body that compute: what only gives a name to what is there, which the cost does not count, has
/// neither product nor sum. Constants are none, nor are the places of other blocks.
pub fn computing(body: &str) -> usize {
    let statements = body.lines().filter_map(|line| line.trim().strip_suffix(';')?.split_once(" = "));
    let computes = |(target, value): &(&str, &str)| {
        let address = target.starts_with("const ") || target.starts_with("ivec2 ");
        !address && (value.contains(" * ") || value.contains(" + "))
    };
    statements.filter(computes).count()
}
