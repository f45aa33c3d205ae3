//! How messages show what is not theirs: text of files and scripts, and numbers of any size.

use std::borrow::Cow;
use std::fmt::{Display, LowerExp};

/// Text of somebody else's for a message: what a terminal would obey or hide (control characters with escape sequences,
/// marks that turn the direction of writing around, invisible ones, line ends) is shown as `\u{1b}`. Tabs stay.
///
/// ```
/// use texla::host::printable;
/// assert_eq!(printable("A \"plain\"\tline, näher"), "A \"plain\"\tline, näher");
/// assert_eq!(printable("\u{1b}[2Jgone"), "\\u{1b}[2Jgone");
/// assert_eq!(printable("a\u{202e}b\r\n\u{0}\u{9b}"), "a\\u{202e}b\\r\\n\\0\\u{9b}");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|b| matches!(b, b' '..=b'~' | b'\t')) {
        return Cow::Borrowed(text);
    }
    // What the standard library would escape although it is harmless.
    let harmless = |c: char| matches!(c, '\t' | '"' | '\'' | '\\');
    let mut shown = String::with_capacity(text.len());
    for chunk in text.split_inclusive(harmless) {
        let foreign = chunk.strip_suffix(harmless).unwrap_or(chunk);
        shown.extend(foreign.escape_debug());
        shown.extend(chunk.strip_prefix(foreign));
    }
    Cow::Owned(shown)
}

/// [`printable`] text of several lines.
pub fn printable_lines(text: &str) -> String {
    text.split('\n').map(printable).collect::<Vec<_>>().join("\n")
}

/// A number for a message: as it is where that is short, else with an exponent. Nothing is rounded.
///
/// ```
/// use texla::host::number;
/// assert_eq!([0.0, -2.5, 1e6, 1e-3].map(number), ["0", "-2.5", "1000000", "0.001"]);
/// assert_eq!([1e300, 1e-30, -0.0].map(number), ["1e300", "1e-30", "-0"]);
/// assert_eq!([f64::NAN, f64::INFINITY].map(number), ["NaN", "inf"]);
/// ```
pub fn number(value: impl Copy + Into<f64> + Display + LowerExp) -> String {
    let size = value.into().abs();
    if size == 0.0 || (1e-3..1e9).contains(&size) || !size.is_finite() {
        format!("{value}")
    } else {
        format!("{value:e}")
    }
}
