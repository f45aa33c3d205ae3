//! Matrix Market files: outcomes of doubtful files, hostile input, round trips.
#![cfg(feature = "io")]

#[path = "../common/mod.rs"]
mod common;
mod complex;
mod data;
mod expect;
mod foreign;
#[cfg(feature = "gzip")]
mod gzip;
mod hostile;
mod round_trip;
mod small;

#[global_allocator]
static ALLOCATOR: common::alloc::Counting = common::alloc::Counting;
