//! The matrix script: reading it without GL, running it, files, and the example from outside.
#![cfg(all(feature = "io", feature = "headless", feature = "script"))]

#[path = "../common/mod.rs"]
mod common;
#[path = "../../examples/support/golden.rs"]
mod golden;

mod bytes;
mod cli;
mod errors;
mod files;
mod host;
mod operations;
mod printed;
mod room;
mod solving;
mod support;
mod syntax;

#[global_allocator]
static ALLOCATOR: common::alloc::Counting = common::alloc::Counting;
