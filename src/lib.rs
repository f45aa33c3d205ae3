//! texla: TEXture Linear Algebra.

pub mod error;
pub mod gl;
pub mod host;
pub mod shape;

pub use error::{Error, Result};
pub use shape::{Extent, Layout, Shape};
