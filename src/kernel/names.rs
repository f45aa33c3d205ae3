//! What a user may call inputs, outputs and parameters.

use super::accessors::WITHIN;
use super::iterate::{STATE, STEPS};
use crate::error::{Error, Result};

/// Names that texla gives itself, out of the way of a user's.
const OWN: [&str; 3] = [WITHIN, STATE, STEPS];

/// Functions that texla or a body defines.
const FUNCTIONS: [&str; 7] = ["main", "kernel", "point", "vertex", "splat", "texel_index", "texel_position"];

/// What follows an input's name in the names of its accessors.
const ACCESSORS: [&str; 13] = [
    "_average", "_fetched", "_here", "_at", "_clamped", "_place", "_step", "_placed", "_texel", "_shifted",
    "_element", "_value", "_extent",
];

/// Refuses names that are no identifiers, not distinct, reserved, or those of functions that texla writes: `main`, those
/// of the body, and the accessors of an input that is a texture.
pub(super) fn check_names(kernel: &str, names: &[&str], textures: &[&str]) -> Result<()> {
    for (i, name) in names.iter().enumerate() {
        let fail = |detail: String| Error::Interface { kernel: kernel.to_owned(), detail };
        let letters = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let first = name.chars().next().is_some_and(|c| c.is_ascii_alphabetic());
        let reserved = (["gl_", "texla_"].iter().any(|p| name.starts_with(p)) && !OWN.contains(name))
            || name.contains("__");
        let function = FUNCTIONS.contains(name)
            || textures
                .iter()
                .any(|texture| name.strip_prefix(texture).is_some_and(|suffix| ACCESSORS.contains(&suffix)));
        if !letters || !first || reserved || function {
            return Err(fail(format!("`{name}` cannot name an input, output or parameter")));
        }
        if names.iter().take(i).any(|other| other == name) {
            return Err(fail(format!("the name `{name}` is used twice")));
        }
    }
    Ok(())
}
