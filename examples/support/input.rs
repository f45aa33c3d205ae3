//! Files of the user's, and what is said of them.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::outcome::{Failure, Result};

/// The bytes of a file, `most` of them at most: a device or a pipe may never end. What cannot be read is bad input.
pub fn read_file(path: &Path, most: u64) -> Result<Vec<u8>> {
    let name = path.display();
    let unreadable = |error: std::io::Error| Failure::bad_input(format_args!("cannot read {name}: {error}"));
    if path.is_dir() {
        return Err(Failure::bad_input(format_args!("cannot read {name}: it is a folder")));
    }
    let mut bytes = Vec::new();
    File::open(path).map_err(unreadable)?.take(most + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > most {
        return Err(Failure::bad_input(format_args!("{name} has more than {most} bytes")));
    }
    Ok(bytes)
}

/// Enough of a word to find it by, and nothing that a terminal would obey.
pub fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(24).map(|c| if c.is_control() { '?' } else { c }).collect();
    if text.chars().nth(24).is_some() {
        short.push_str("...");
    }
    short
}
