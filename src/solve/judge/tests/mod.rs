//! Tests of the judge without a device: its properties on millions of modelled histories, and its numbers one by one.

mod ends;
mod histories;
mod model;
mod numbers;
mod starts;
mod sweeping;
mod talk;
mod tape;
