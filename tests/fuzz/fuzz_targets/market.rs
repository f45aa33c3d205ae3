//! A Matrix Market file: see `targets.rs`.
#![no_main]

#[path = "../targets.rs"]
#[allow(dead_code)] // of one target each
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::on_device(targets::market, bytes));
