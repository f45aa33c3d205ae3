//! Functions of angles. A browser has its own, which a page need not bring: tables for angles of any size are 5 KB.

#[cfg(target_arch = "wasm32")]
pub use js_sys::Math::{cos as cosine, sin as sine};

#[cfg(not(target_arch = "wasm32"))]
pub fn sine(angle: f64) -> f64 {
    angle.sin()
}

#[cfg(not(target_arch = "wasm32"))]
pub fn cosine(angle: f64) -> f64 {
    angle.cos()
}
