//! A profile as text: a heading, the device, and a line `name = value` for each number.

use std::fmt;
use std::str::FromStr;

use super::DeviceProfile;
use crate::error::{Error, Result};

const HEADING: &str = "texla device profile 1";

impl DeviceProfile {
    /// The strings by their names, in the order of the text.
    fn words(&mut self) -> [(&'static str, &mut String); 2] {
        [("device", &mut self.device), ("driver", &mut self.driver)]
    }

    /// The numbers by their names, in the order of the text.
    fn numbers(&mut self) -> [(&'static str, &mut f64); 28] {
        let [one, two, three, four] = &mut self.written_texel;
        let (rgba, r) = (&mut self.fetch, &mut self.fetch_r32f);
        [
            ("draw", &mut self.draw),
            ("target_change", &mut self.target_change),
            ("written_texel.1", one),
            ("written_texel.2", two),
            ("written_texel.3", three),
            ("written_texel.4", four),
            ("fetch.own", &mut rgba.own),
            ("fetch.adjacent", &mut rgba.adjacent),
            ("fetch.shifted", &mut rgba.shifted),
            ("fetch.looped", &mut rgba.looped),
            ("fetch.indexed", &mut rgba.indexed),
            ("fetch.strided", &mut rgba.strided),
            ("fetch.scattered", &mut rgba.scattered),
            ("fetch_r32f.own", &mut r.own),
            ("fetch_r32f.adjacent", &mut r.adjacent),
            ("fetch_r32f.shifted", &mut r.shifted),
            ("fetch_r32f.looped", &mut r.looped),
            ("fetch_r32f.indexed", &mut r.indexed),
            ("fetch_r32f.strided", &mut r.strided),
            ("fetch_r32f.scattered", &mut r.scattered),
            ("narrow_fetch", &mut self.narrow_fetch),
            ("chained_fetch", &mut self.chained_fetch),
            ("cut_texel", &mut self.cut_texel),
            ("multiply_add", &mut self.multiply_add),
            ("blended_texel", &mut self.blended_texel),
            ("point", &mut self.point),
            ("readback", &mut self.readback),
            ("overlap", &mut self.overlap),
        ]
    }
}

/// The heading `texla device profile 1`, then a line `name = value` for the device, the driver and each number in
/// seconds, with as many digits as it takes to read it back exactly.
impl fmt::Display for DeviceProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut all = self.clone();
        writeln!(f, "{HEADING}")?;
        for (name, word) in all.words() {
            // A line each.
            writeln!(f, "{name} = {}", word.replace(['\n', '\r'], " "))?;
        }
        all.numbers().into_iter().try_for_each(|(name, number)| writeln!(f, "{name} = {number:e}"))
    }
}

/// Reads what `Display` writes; lines after the heading may stand in any order. *Errors*: [`Error::File`] with the line,
/// what was found and what was expected: another heading, a name that is unknown, doubled or missing, a number that is
/// negative or not finite, an overlap past 1.
impl FromStr for DeviceProfile {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let fail = |line: usize, expected: &str| {
            let found = text.lines().nth(line).unwrap_or("the end").chars().take(60).collect::<String>();
            let detail = format!("line {}: found `{found}`, expected {expected}", line + 1);
            Error::File { path: "device profile".into(), detail }
        };
        if text.lines().next() != Some(HEADING) {
            return Err(fail(0, &format!("`{HEADING}`")));
        }
        let mut made = DeviceProfile::default();
        let mut missing: Vec<&str> = made.words().map(|(name, _)| name).to_vec();
        missing.extend(made.numbers().map(|(name, _)| name));
        for (line, content) in text.lines().enumerate().skip(1) {
            let (name, value) = content.split_once(" = ").ok_or_else(|| fail(line, "`name = value`"))?;
            let place = missing.iter().position(|m| *m == name).ok_or_else(|| {
                let known = missing.join("`, `");
                fail(line, &format!("a name not given before, of `{known}`"))
            })?;
            missing.remove(place);
            if let Some((_, word)) = made.words().into_iter().find(|(n, _)| *n == name) {
                *word = value.to_owned();
            } else if let Some((_, number)) = made.numbers().into_iter().find(|(n, _)| *n == name) {
                let most = if name == "overlap" { 1.0 } else { f64::MAX };
                let valid = |n: &f64| n.is_sign_positive() && (0.0..=most).contains(n);
                let expected = if name == "overlap" { "a number from 0 to 1" } else { "seconds, 0 or more" };
                *number = value.parse().ok().filter(valid).ok_or_else(|| fail(line, expected))?;
            }
        }
        match missing.as_slice() {
            [] => Ok(made),
            missing => Err(fail(text.lines().count(), &format!("`{} = ...`", missing.join("`, `")))),
        }
    }
}
