//! texla in a browser: what the pages call. Scenes, renderers and words of the native examples, and a module of its own for
//! each page; `results` is also built for this machine, and so is everything that needs no browser.
#![deny(unsafe_code)]

pub mod results;

#[path = "../../support/capabilities.rs"]
pub mod capabilities;
pub mod packing;
#[path = "../../water/pool.rs"]
pub mod pool;
#[path = "../../water/render.rs"]
pub mod render;
pub mod solve;
#[path = "../../smoke/render.rs"]
pub mod smoke_render;
pub mod support;
#[path = "../../smoke/tunnel.rs"]
pub mod tunnel;
#[path = "../../water/view.rs"]
pub mod view;

#[cfg(target_arch = "wasm32")]
mod page;
