//! The representations of [Krueger05] 44.2 and what connects them: stacks of columns, diagonals folded in pairs, every
//! combination of a product with a vector, conversions, planes for rendering, the texture pool.

#[path = "../common/mod.rs"]
mod common;

mod accurate;
mod convert;
mod plane;
mod pool;
mod products;
mod solvers;
