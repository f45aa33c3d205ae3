//! Host-side data: coordinate-form matrices and Matrix Market files.

#[cfg(feature = "io")]
pub mod market;
