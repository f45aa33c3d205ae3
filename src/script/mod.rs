//! Layer 6: the matrix script.

mod ast;
mod error;
mod expression;
mod format;
mod lex;
mod names;
mod parse;
mod source;

pub use error::{Operand, ScriptError, ScriptErrorKind};
pub use parse::{MAX_DEPTH, MAX_SOURCE, Program, parse};
