//! Layer 6: the matrix script.

mod ast;
mod elementwise;
mod error;
mod expression;
mod files;
mod format;
mod functions;
mod index;
mod interpreter;
mod lex;
mod names;
mod parse;
mod product;
mod reductions;
mod run;
mod solvers;
mod source;
mod sparse;
mod value;

pub use error::{Operand, ScriptError, ScriptErrorKind};
pub use interpreter::{FileAccess, Interpreter, Limits};
pub use parse::{MAX_DEPTH, MAX_SOURCE, Program, parse};
pub use value::{Data, Value};
