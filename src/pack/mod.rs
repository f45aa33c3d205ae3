//! The packing optimiser: linear expressions y = A x + b into the fewest instructions.
//!
//! ```text
//! LinearExpression ── Annealer under a CostModel ──> Packing ── lowering ──> Program ──> listing, GLSL, CPU interpreter
//! ```
//!
//! Pure arithmetic on the CPU; no OpenGL. *Source*: \[Bajaj04\] sections 2 and 3.

mod bound;
mod cost;
mod expression;
pub mod instances;
mod order;
mod program;
mod prove;
mod repeated;
mod search;
mod stencil;
mod terms;

pub use bound::{BoundBy, Certificate, LowerBound, Orders};
pub use cost::{
    Axis, Charge, Cost, CostModel, Evaluator, FetchOperations, Incremental, Instructions, MAX_UNKNOWNS,
    Measured, Recount, SimdMachine, TexelFetch,
};
pub use expression::{Form, LinearExpression};
pub use order::{Order, Packing};
pub(crate) use program::Tiles;
pub use program::{
    Instruction, InstructionCounts, LowerOptions, Operation, ProductEntries, Program, ProgramPart, QuadPart,
    Register, ShaderStage, Source, Swizzle, WriteMask,
};
pub use prove::{Level, Proof, ProofLimits, ProofProgress, Prover, Verdict};
pub use repeated::RepeatedExpression;
pub use search::{
    AnnealParams, Annealed, Annealer, CoolingSchedule, Optimized, Origin, Progress, Report, SearchLimits,
    SearchParams, SearchStop, Start, Trace, TracePoint, optimize,
};
pub use stencil::StencilBoundary;
