//! texla in a browser: what the pages call. Scenes, renderers and words of the native examples, and a module of its own for
//! each page; `results` is also built for this machine, and so is everything that needs no browser.
#![deny(unsafe_code)]

#[cfg(feature = "work")]
#[path = "../../support/capabilities.rs"]
pub mod capabilities;
#[cfg(feature = "work")]
pub mod packing;
#[cfg(feature = "scenes")]
#[path = "../../water/pool.rs"]
pub mod pool;
#[cfg(feature = "scenes")]
#[path = "../../water/render.rs"]
pub mod render;
#[cfg(feature = "work")]
pub mod results;
#[cfg(feature = "scenes")]
#[path = "../../smoke/render.rs"]
pub mod smoke_render;
#[cfg(feature = "work")]
pub mod solve;
pub mod support;
#[cfg(feature = "scenes")]
#[path = "../../smoke/tunnel.rs"]
pub mod tunnel;
#[cfg(feature = "scenes")]
#[path = "../../water/view.rs"]
pub mod view;

#[cfg(target_arch = "wasm32")]
mod page;
