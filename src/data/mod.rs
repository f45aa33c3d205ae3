//! Layer 3: data on the device.

mod banded;
mod coefficients;
mod folded;
mod gather;
mod matrix;
mod packed;
mod pending;
mod plane;
mod scalar;
mod sparse;
mod stack;
mod stencil;
mod vector;

pub use banded::BandedMatrix;
pub use folded::FoldedBands;
pub use matrix::{Matrix, Tile};
pub use packed::Packed;
pub use pending::PendingRead;
pub use plane::Plane;
pub use scalar::Scalar;
pub use sparse::{POINTS_PAY_FROM, SparseFormat, SparseMatrix};
pub use stack::ColumnStack;
pub use stencil::{MOST_REGIONS, Side, Sides, Stencil};
pub use vector::Vector;

pub(crate) use banded::Band;
pub(crate) use coefficients::exponent;
pub(crate) use gather::Gather;
pub(crate) use stack::Panel;
