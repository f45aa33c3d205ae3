//! texla: TEXture Linear Algebra.
#![deny(missing_docs)]
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)
)]

pub mod data;
pub mod device;
pub mod error;
pub mod gl;
#[cfg(feature = "headless")]
pub mod headless;
pub mod host;
pub mod kernel;
pub mod ops;
pub mod shape;
pub mod solve;

pub use data::{BandedMatrix, Packed, PendingRead, Scalar, SparseFormat, SparseMatrix, Vector};
pub use device::{Device, DeviceOptions, Scope};
pub use error::{Error, Result};
#[cfg(feature = "headless")]
pub use headless::{Headless, HeadlessOptions};
pub use shape::{Extent, Layout, Shape};
