//! The linear complementarity problem: the paper's sweeps, the form to depend on, and many problems at once.

#[path = "../common/mod.rs"]
mod common;
mod files;
mod fixed;
mod problems;
mod solver;
