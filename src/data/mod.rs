//! Layer 3: data on the device.

mod packed;
mod pending;
mod scalar;
mod vector;

pub use packed::Packed;
pub use pending::PendingRead;
pub use scalar::Scalar;
pub use vector::Vector;
