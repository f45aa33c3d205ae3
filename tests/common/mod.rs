//! What the test binaries share.
#![allow(dead_code)]

pub mod alloc;
pub mod data;
