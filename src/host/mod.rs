//! Host-side data, in `f64` and without OpenGL: sparse matrices, model problems and Matrix Market files.

mod csr;
#[cfg(feature = "io")]
pub mod market;
mod nine_bands;
pub mod problems;
mod triplets;

pub use csr::Csr;
pub use nine_bands::NineBands;
pub use triplets::Triplets;
