//! The one error type of the crate. Every variant says what went wrong, where, and what was expected.

use std::ops::Range;

use crate::host::parallel::Threads;
use crate::host::{number, printable};
use crate::shape::{Extent, Shape};

/// Result with the crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong in texla.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An operand's shape does not fit the operation.
    #[error("{op}: operand `{operand}` is {found}, expected {expected}")]
    ShapeMismatch {
        /// The operation that was called.
        op: &'static str,
        /// Name of the operand at fault, as in the operation's signature.
        operand: &'static str,
        /// The operand's shape.
        found: Shape,
        /// The shape that would have fitted.
        expected: Shape,
    },
    /// A number of values differs from what the operation needs.
    #[error("{op}: `{operand}` has {found} values, expected {expected}")]
    LengthMismatch {
        /// The operation that was called.
        op: &'static str,
        /// Name of the argument at fault.
        operand: &'static str,
        /// Number of values given.
        found: usize,
        /// Number of values needed.
        expected: usize,
    },
    /// An input value is NaN, infinite, or does not fit a 32-bit float: one given by the host, or one that was made on the
    /// device and handed to a solver.
    #[error("{what}: value {} at index {index} is not a finite 32-bit float", number(*.value))]
    NonFinite {
        /// Which input.
        what: String,
        /// Position of the first such value (for matrices: the entry's number, counted from 0).
        index: usize,
        /// The value itself.
        value: f64,
    },
    /// A parameter lies outside its range.
    #[error("{op}: parameter `{name}` is {value}, expected {expected}")]
    Parameter {
        /// The operation that was called.
        op: &'static str,
        /// Name of the parameter.
        name: &'static str,
        /// Its value, as text.
        value: String,
        /// The admissible range, in words.
        expected: &'static str,
    },
    /// An index lies outside its matrix or vector.
    #[error("{what}: index {index} is out of range, expected less than {bound}")]
    IndexOutOfRange {
        /// Which index.
        what: &'static str,
        /// The index given.
        index: usize,
        /// The first index out of range.
        bound: usize,
    },
    /// The request exceeds a fixed limit of the device; nothing was allocated.
    #[error("{what}: {requested} {unit} requested, the device's limit is {limit}")]
    TooLarge {
        /// What was to be created.
        what: &'static str,
        /// The size asked for.
        requested: u64,
        /// The largest size there is.
        limit: u64,
        /// Unit of both numbers.
        unit: &'static str,
    },
    /// The driver refused the memory, also after the texture pool had been emptied.
    #[error("{what}: the driver has no memory for {extent} ({bytes} bytes)")]
    OutOfMemory {
        /// What was to be created.
        what: &'static str,
        /// Its extent in texels (buffers: bytes x 1).
        extent: Extent,
        /// Its size in bytes.
        bytes: u64,
    },
    /// A shader did not compile or a program did not link. The log points at file and line.
    #[error("kernel `{kernel}`: {stage} failed:\n{log}")]
    Shader {
        /// Name of the kernel.
        kernel: String,
        /// "vertex shader", "fragment shader" or "link".
        stage: &'static str,
        /// The driver's log with file names in place of source numbers.
        log: String,
    },
    /// A kernel's typed interface and its linked program disagree.
    #[error("kernel `{kernel}`: {detail}")]
    Interface {
        /// Name of the kernel.
        kernel: String,
        /// What disagrees, and what was expected.
        detail: String,
    },
    /// An `#include` names no known file, or includes run in a circle.
    #[error("{file}:{line}: {detail}")]
    Include {
        /// The file that holds the directive.
        file: String,
        /// Line of the directive, counted from 1.
        line: usize,
        /// What is wrong.
        detail: String,
    },
    /// A texture would be read and written in one pass.
    #[error("kernel `{kernel}`: input `{input}` is also the target of the pass")]
    Feedback {
        /// Name of the kernel.
        kernel: String,
        /// Name of the input.
        input: String,
    },
    /// The driver calls the render target incomplete.
    #[error("{what}: framebuffer incomplete (0x{status:04x})")]
    IncompleteFramebuffer {
        /// What was to be drawn.
        what: String,
        /// The status that the driver gave.
        status: u32,
    },
    /// A GL error was pending before texla's call: the host application's, reported and not swallowed.
    #[error("a GL error of the host application was pending before the call: {}", gl_error_name(*.code))]
    HostGl {
        /// The GL error code.
        code: u32,
    },
    /// The driver raised an error during texla's own work: in a [scope](crate::Device::scope) also one of the application's, which
    /// makes no calls of its own there.
    #[error("{op}: the driver raised {}", gl_error_name(*.code))]
    Gl {
        /// What texla was doing.
        op: String,
        /// The GL error code.
        code: u32,
    },
    /// The context is lost; every object in it is gone.
    #[error("the GL context is lost")]
    ContextLost,
    /// Operands live on different devices.
    #[error("{op}: operand `{operand}` belongs to another device")]
    WrongDevice {
        /// The operation that was called.
        op: String,
        /// Name of the operand.
        operand: String,
    },
    /// The device or the operator cannot do this.
    #[error("{what}: not supported: {why}")]
    Unsupported {
        /// What was asked for.
        what: String,
        /// What is missing.
        why: String,
    },
    /// No usable GL context could be made.
    #[error("{0}")]
    NoContext(String),
    /// The matrix does not have a property that the operation needs.
    #[error("{op}: the matrix {detail}")]
    Matrix {
        /// The operation that was called.
        op: &'static str,
        /// What is wrong with the matrix.
        detail: String,
    },
    /// A complementarity solver met a quantity that its theory excludes. (Of Krylov methods that is no error:
    /// [`StopReason::Breakdown`](crate::solve::StopReason::Breakdown).)
    #[error("{solver}: breakdown in iteration {iteration}: {quantity} = {value:e}, expected {expected}")]
    Breakdown {
        /// The solver.
        solver: &'static str,
        /// Iteration, counted from 0.
        iteration: usize,
        /// Name of the quantity.
        quantity: &'static str,
        /// Its value.
        value: f64,
        /// What it should be, in words.
        expected: &'static str,
    },
    /// A singular system without a solution: the right-hand side has a part in the null space of the matrix.
    #[error(
        "{op}: no solution: the right-hand side has a part of norm {found:.3e} in what is the null space of the transposed matrix \
         but for rounding, expected at most {bound:.3e}"
    )]
    Inconsistent {
        /// The solver.
        op: &'static str,
        /// Norm of that part.
        found: f64,
        /// What rounding and the bound on the residual explain.
        bound: f64,
    },
    /// A packed program that the machine cannot run.
    #[error("program: instruction {instruction}: {detail}")]
    Program {
        /// Number of the instruction, counted from 0.
        instruction: usize,
        /// What is wrong with it.
        detail: String,
    },
    /// What texla's own code rules out has happened: a bug in texla, to be reported with this message.
    #[error("{place}: {detail}; this is a bug in texla: please report it")]
    Internal {
        /// The function that noticed.
        place: &'static str,
        /// What it found.
        detail: &'static str,
    },
    /// A file could not be read or written, or is not what it should be.
    #[error("{}: {}", printable(path), printable(detail))]
    File {
        /// The file.
        path: String,
        /// What is wrong.
        detail: String,
    },
    /// A Matrix Market file is malformed or cannot be represented.
    #[cfg(feature = "io")]
    #[error(transparent)]
    Market(#[from] crate::host::market::MarketError),
}

/// The name of a GL error code, for messages.
fn gl_error_name(code: u32) -> String {
    let name = match code {
        0x0500 => "GL_INVALID_ENUM",
        0x0501 => "GL_INVALID_VALUE",
        0x0502 => "GL_INVALID_OPERATION",
        0x0503 => "GL_STACK_OVERFLOW",
        0x0504 => "GL_STACK_UNDERFLOW",
        0x0505 => "GL_OUT_OF_MEMORY",
        0x0506 => "GL_INVALID_FRAMEBUFFER_OPERATION",
        0x0507 => "GL_CONTEXT_LOST",
        _ => return format!("GL error 0x{code:04x}"),
    };
    name.to_owned()
}

/// Refuses the first value that is not finite as a 32-bit float (the finite-input rule).
pub(crate) fn check_finite(what: &str, values: impl IntoIterator<Item = f64>) -> Result<()> {
    for (index, value) in values.into_iter().enumerate() {
        if !(value as f32).is_finite() {
            return Err(Error::NonFinite { what: what.to_owned(), index, value });
        }
    }
    Ok(())
}

/// [`check_finite`], and refuses values that would all be zero on the device, which flushes what lies below the normal
/// range: single tiny ones beside larger ones may vanish, but not everything without a word.
pub(crate) fn check_values<T: Copy + Into<f64> + Sync>(op: &'static str, values: &[T]) -> Result<()> {
    /// Values that are worth a thread.
    const MANY: usize = 1 << 14;
    let largest_of = |part: Range<usize>| {
        let sizes = values.get(part).unwrap_or_default().iter().map(|v| (*v).into().abs());
        // No number is larger than what is none.
        sizes.fold(
            0.0,
            |most, size| if (size as f32).is_finite() { f64::max(most, size) } else { f64::INFINITY },
        )
    };
    let largest = Threads::all().parts(values.len(), MANY, largest_of).into_iter().fold(0.0, f64::max);
    if largest == f64::INFINITY {
        check_finite(op, values.iter().map(|v| (*v).into()))?;
    }
    if largest > 0.0 && largest < f64::from(f32::MIN_POSITIVE) {
        let (name, value) = ("largest magnitude", format!("{largest:e}"));
        let expected = "0, or within the normal range of 32-bit floats (1.2e-38 and more)";
        return Err(Error::Parameter { op, name, value, expected });
    }
    Ok(())
}
