//! The context as it is reached: by the functions of an operating system's GL, or as a browser's object. What the two have not in
//! common stands here; everything else is glow's.

#[cfg(not(target_arch = "wasm32"))]
mod functions;
#[cfg(not(target_arch = "wasm32"))]
mod identity;
#[cfg(not(target_arch = "wasm32"))]
mod native;
#[cfg(target_arch = "wasm32")]
mod web;

#[cfg(not(target_arch = "wasm32"))]
pub(crate) use functions::known;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use native::{Bound, HostFence, Raw, load};
#[cfg(target_arch = "wasm32")]
pub(crate) use web::{Bound, HostFence, Raw};

/// Where an object of the host's is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Program,
    VertexArray,
    Feedback,
    /// The draw framebuffer's target or the read framebuffer's.
    Framebuffer(u32),
    /// The general binding point of a target.
    Buffer(u32),
    /// The whole buffer, at an index of a target.
    Base(u32, u32),
    /// Of the buffer as many bytes as the second number says from the first on, at an index of a target.
    Range(u32, u32, [i32; 2]),
    /// The two-dimensional texture of the active unit.
    Texture,
    /// The sampler of a unit.
    Sampler(u32),
}
