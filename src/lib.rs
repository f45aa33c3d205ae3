//! texla: TEXture Linear Algebra.

pub mod device;
pub mod error;
pub mod gl;
pub mod host;
pub mod kernel;
pub mod shape;

pub use device::{Device, DeviceOptions, Scope};
pub use error::{Error, Result};
pub use shape::{Extent, Layout, Shape};
