//! The matrix script: reading it without GL, running it, files, and the example from outside.

#[path = "../common/mod.rs"]
mod common;

mod bytes;
mod syntax;

#[global_allocator]
static ALLOCATOR: common::alloc::Counting = common::alloc::Counting;
