//! Host-side data, in `f64` and without OpenGL: sparse matrices and how they are made ready for solvers, model
//! problems, Matrix Market files, and how files are replaced and foreign text is shown.

pub(crate) mod aggregate;
pub(crate) mod approximate;
mod csr;
#[cfg(feature = "direct")]
mod direct;
mod fields;
mod grid;
#[cfg(feature = "io")]
pub mod market;
mod near_null;
mod nine_bands;
mod normal;
pub(crate) mod order;
pub(crate) mod parallel;
mod pending;
mod prepare;
pub mod problems;
mod saddle;
mod text;
mod triplets;

pub use csr::Csr;
pub(crate) use csr::Diagonal;
#[cfg(feature = "direct")]
pub use direct::{Direct, DirectPlan};
pub(crate) use grid::FoundGrid;
pub use near_null::{BlockOrder, Blocks, NearNullSpace};
pub use nine_bands::NineBands;
pub use normal::{Component, Eliminated, Imbalance, NormalForm, NormalParams, NormalPart};
pub use pending::{FileId, PendingFile};
pub use prepare::Prepared;
pub use text::{number, printable, printable_lines};
pub use triplets::Triplets;
