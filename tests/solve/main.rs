//! Solvers: convergence that can be trusted, typed breakdowns, and results that depend on nothing but the system.

mod auto;
mod bicgstab;
mod breakdown;
#[path = "../common/mod.rs"]
mod common;
mod components;
mod counted;
mod dense;
mod edges;
mod errors;
mod exchange;
mod finite;
mod fixed;
mod flexible;
mod gauss_seidel;
mod gmres;
mod handles;
mod history;
mod host_system;
mod kept;
mod least_squares;
mod least_squares_pairs;
mod minres;
mod null_space;
mod ownership;
mod pairs;
mod precondition;
mod real;
mod recipes;
mod repeat;
mod scaling;
mod small;
mod stationary;
mod systems;
mod user;
mod verdicts;
