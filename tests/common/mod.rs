//! What the test binaries share. Each uses only a part of it.
#![allow(dead_code)]

pub mod bounds;
pub mod harness;
pub mod random;
pub mod reference;
