//! Layer 1: everything that touches OpenGL.
//!
//! All `unsafe` of the core stands in this folder: every glow call is `unsafe`, so the compiler keeps GL out of the
//! layers above. The promise behind each of these blocks is the one that [`Device::from_glow`](crate::Device::from_glow)
//! asks for: the context is current on this thread during every call.
//!
//! | module | what |
//! |---|---|
//! | `api` | the two dialects, GL 3.3 core and GLES 3.0 |
//! | `binaries` | linked programs kept in a folder |
//! | `counters` | live objects per class; draws, passes, uploads, readbacks, bytes |
//! | `context` | the shared context: entry check, framebuffer cache |
//! | `graveyard` | objects whose last handles are gone, until the next entry |
//! | `handed` | textures whose names the host has |
//! | `objects`, `vertices` | textures, and vertex buffers, freed on drop through the graveyard |
//! | `buffer` | buffers of numbers, and copies between them and textures |
//! | `source` | `#include` with `#line`, driver logs mapped back to file and line |
//! | `program` | compile, link, reflection against the typed interface |
//! | `raw` | what an operating system's context and a browser's have not in common; whether the current one is the device's |
//! | `recorded` | draws and clears written down, and made again |
//! | `entry` | the loader, and entry points that glow does not offer |
//! | `fences` | what rasteriser threads of llvmpipe may still be in |
//! | `state` | the table of touched state and the guard that saves and restores it |
//! | `draw` | the one draw, and the clear |
//! | `capture` | a program run for its vertices alone, by transform feedback |
//! | `query` | counting what passes the depth test |
//! | `transfer` | the one upload and the one readback, waiting or polled |
//! | `caps` | capabilities found by probing |
#![allow(unsafe_code)]

mod api;
mod binaries;
mod buffer;
mod caps;
mod capture;
mod context;
mod counters;
mod draw;
mod entry;
mod fences;
mod framebuffers;
mod graveyard;
mod handed;
mod objects;
mod program;
mod query;
mod raw;
mod recorded;
mod source;
mod state;
mod transfer;
mod vertices;

pub use api::Api;
pub use caps::{Capabilities, ExactForm, Limits};
pub use context::CurrentContext;
pub use counters::{Counters, LiveObjects};
pub use objects::Format;
pub use state::HostState;

pub(crate) use buffer::DataBuffer;
pub(crate) use capture::CaptureCall;
pub(crate) use context::{Gl, GlOptions, Loader};
pub(crate) use counters::Ledger;
pub(crate) use draw::{Area, Blend, Block, Depth, DrawCall, Inputs, Uniforms};
pub(crate) use objects::{Lent, Texture, TextureInner};
pub(crate) use program::{Program, ProgramSource, Stage, UniformKind, UniformValue, check_other_dialect};
pub(crate) use query::{SampleQuery, Samples};
pub(crate) use raw::Raw;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use raw::{known, load};
pub(crate) use recorded::{CallList, Ended, Place, TextureName};
#[cfg(target_arch = "wasm32")]
pub(crate) use source::bare;
pub(crate) use source::{Source, glsl, macros_of_includes};
pub(crate) use state::{Filter, StateGuard};
pub(crate) use transfer::PendingPixels;
pub(crate) use vertices::{Attribute, VertexBuffer};
