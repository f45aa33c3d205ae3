//! What the test binaries share. Each uses only a part of it.
#![allow(dead_code)]

pub mod aggregation;
pub mod alloc;
pub mod attempt;
pub mod bounds;
pub mod busy;
pub mod cli;
pub mod cycles;
pub mod data;
pub mod driver;
pub mod egl;
pub mod everything;
pub mod forms;
pub mod grids;
pub mod hand_over;
pub mod harness;
pub mod histogram;
pub mod hostile;
pub mod loader;
pub mod manners;
pub mod pairs;
pub mod products;
pub mod random;
pub mod reference;
pub mod refusals;
pub mod scratch;
pub mod screen;
pub mod sources;
pub mod state;
pub mod systems;
pub mod threads;
#[path = "../../examples/support/worst.rs"]
#[allow(clippy::duplicate_mod)] // tests of what the examples share have it a second time
pub mod worst;
