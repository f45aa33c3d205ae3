//! What recipes may not do with registers and numbers, as errors that say what would work.

use super::{Register, Space};
use crate::error::Error;

/// What a register is at fault, and what would be right.
pub(super) type Misuse = [&'static str; 2];

pub(super) const OTHER_STORE: Misuse =
    ["which is of another store", "registers of the store that the recipe is made with"];
pub(super) const UNWRITTEN: Misuse =
    ["which is read before it is written", "a register that `begin` or an earlier statement writes"];
pub(super) const CHANGED: Misuse = [
    "which another register stands for (z = M r, q = A p) that is read although this one has changed since",
    "the other one to be read before, or copied",
];
pub(super) const NO_VECTOR: Misuse = [
    "which stands for a product or a preconditioned vector",
    "a register that holds a vector: a copy of that one",
];
pub(super) const FIXED: Misuse =
    ["which cannot change places", "registers of the method, besides `Space::X` and `Space::R`"];

/// The error for this register.
pub(super) fn misused(register: Register, [value, expected]: Misuse) -> Error {
    let name = match register {
        Space::X => "`Space::X`".to_owned(),
        Space::R => "`Space::R`".to_owned(),
        Register(k) => format!("register {} of its store, from 0 on", k - 2),
    };
    Error::Parameter { op: "Recipe", name: "register", value: format!("{name}, {value}"), expected }
}

/// The error for a number of another store.
pub(super) fn other_number() -> Error {
    let value = "one of another store".into();
    Error::Parameter {
        op: "Recipe",
        name: "number",
        value,
        expected: "numbers of the store that the recipe is made with",
    }
}
