//! The linear complementarity problem: the paper's sweeps, the form to depend on, and many problems at once.

mod batch;
#[path = "../common/mod.rs"]
mod common;
mod counted;
mod errors;
mod files;
mod fixed;
mod pairs;
mod problems;
mod repeat;
mod scaling;
mod solver;
mod user;
mod verdicts;
