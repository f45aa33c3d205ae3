//! Layer 3: data on the device.
//!
//! # From one form of a matrix to another
//!
//! | from | to | how | cost |
//! |---|---|---|---|
//! | [`Matrix`] | [`ColumnStack`] | [`ColumnStack::from_matrix`] | 1 draw for each tile and texture that share a column |
//! | [`ColumnStack`] | [`Matrix`] | [`ColumnStack::to_matrix`] | the same |
//! | [`BandedMatrix`], [`FoldedBands`] | [`Matrix`] | [`BandedMatrix::to_matrix`], [`FoldedBands::to_matrix`] | 1 draw for 12 vectors and each tile |
//! | [`SparseMatrix`], [`Stencil`], any [`Csr`](crate::host::Csr) | [`Matrix`] | [`SparseMatrix::to_matrix`], [`Matrix::from_csr`] | 24 bytes of upload and a point for each texel with a nonzero, 1 draw a tile |
//! | [`Matrix`], [`ColumnStack`] | [`Csr`](crate::host::Csr) | [`Matrix::to_csr`], [`ColumnStack::to_csr`] | 1 readback a texture |
//! | [`BandedMatrix`], [`FoldedBands`], [`SparseMatrix`] | [`Csr`](crate::host::Csr) | `pattern()` | nothing: the host keeps it |
//! | [`Csr`](crate::host::Csr) | [`BandedMatrix`], [`FoldedBands`], [`SparseMatrix`] | `from_csr` | the uploads of creation |
//!
//! The sparse forms need their pattern on the host before anything is made, so a dense matrix reaches them by one
//! readback; among themselves they go through [`pattern`](BandedMatrix::pattern), which keeps 64 bits. All steps are
//! exact but one: the dense forms hold 32 bits, so what comes from a pair of floats arrives rounded. Nothing in the other
//! direction is read back.

mod banded;
mod buffer_vector;
mod coefficients;
mod double;
mod double_matrix;
mod folded;
mod gather;
mod matrix;
mod packed;
mod pending;
mod picture;
mod plane;
mod scalar;
mod sparse;
mod stack;
mod stencil;
mod storage;
mod stored;
mod unknowns;
mod vector;

pub use banded::BandedMatrix;
pub use buffer_vector::BufferVector;
pub use double::DoubleVector;
pub use double_matrix::DoubleMatrix;
pub use folded::FoldedBands;
pub use matrix::{Matrix, Tile};
pub use packed::Packed;
pub use pending::PendingRead;
pub use picture::Picture;
pub use plane::Plane;
pub use scalar::Scalar;
pub use sparse::{POINTS_PAY_FROM, SparseFormat, SparseMatrix};
pub use stack::ColumnStack;
pub use stencil::{MOST_REGIONS, Side, Sides, Stencil, StencilParams};
pub use stored::{Kept, MOST_BANDS, MatrixFormat, StoredMatrix};
pub use unknowns::Unknowns;
pub use vector::Vector;

pub(crate) use banded::{BESIDE_BANDS, Band, bands_a_pass, texel_shifts};
#[cfg(feature = "pack")]
pub(crate) use coefficients::Scaling;
pub(crate) use coefficients::{exponent, is_power_of_two, times_power_of_two};
pub(crate) use gather::Gather;
pub(crate) use stack::Panel;
pub(crate) use unknowns::Parts;
