//! Host-side data, in `f64` and without OpenGL: sparse matrices, model problems and Matrix Market files.

mod csr;
#[cfg(feature = "io")]
pub mod market;
pub mod problems;
mod triplets;

pub use csr::Csr;
pub use triplets::Triplets;
