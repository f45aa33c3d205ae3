//! The packing optimiser: golden values of the paper's instances, and properties on random matrices. No GL needed.
#![cfg(feature = "pack")]

mod bound;
#[path = "../common/mod.rs"]
mod common;
mod cost;
mod expression;
mod glsl;
mod optimize;
mod partitions;
mod products;
mod program;
mod prove;
mod repeated;
mod search;
