//! Layer 2: kernels and passes.
//!
//! A [`Kernel`] is a GLSL function with a typed interface, and running it a pass over a target. Built-in operations and a
//! user's own kernels go through the same door.

mod accessors;
mod body;
mod call;
mod counts;
mod describe;
mod domain;
mod draw;
mod iterate;
mod names;
mod params;
mod pass;
mod ping_pong;
mod points;
mod pool;
mod predicate;
mod recording;
mod replays;
mod spec;
mod splats;
mod unblended;
mod user;
mod vertex;

pub use call::Call;
pub use domain::{Accum, Domain, Predicate};
pub use iterate::{IterateWhile, WhileParams, WhileReport, WhileSchedule};
pub use params::{Field, FieldType, NoParams, ParamType, ParamValue, Params};
pub use pass::{Operand, TargetOperand, View};
pub use ping_pong::PingPong;
pub use points::{Points, PointsKernel};
pub use pool::PoolStats;
pub use predicate::{Condition, Mask};
pub use splats::SplatKernel;
pub use user::{Bodies, Kernel};
pub use vertex::{BufferOperand, BufferTarget, BufferView, VertexKernel};

pub(crate) use describe::{Description, Name};
pub(crate) use draw::Draw;
pub(crate) use pass::{Compiled, Tail};
pub(crate) use pool::{Pool, PooledTexture};
pub(crate) use recording::{Captured, Recording, SlotId};
#[cfg(feature = "sim")]
pub(crate) use replays::Turns;
pub(crate) use replays::{Forget, Layout, Replays, layout};
pub(crate) use spec::{KernelSpec, StageSpec};
pub(crate) use user::compile_now;
