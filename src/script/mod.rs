//! Layer 6: the matrix script \[Moravanszky03\] 1.2, a small language of matrices and vectors that passes its operations
//! on to the device. [The guide](crate::guide::script) has the grammar and the functions.
//!
//! [`parse`] reads a script without GL and runs nothing; [`Interpreter`] runs it, and keeps variables for the next one.
//! [`ScriptError`] says where and what, with the line and a caret.
//!
//! ```
//! use texla::script::{Interpreter, parse};
//! # let ctx = texla::Headless::new(Default::default())?;
//! let script = "\
//! A = [2 1; 1 3]            # rows end with ;
//! b = [3 5]'
//! x = A \\ b                # conjugate gradients
//! repeat 2
//!   b += A' * x
//! end
//! print(\"x\", x, \"and b\", b)
//! ";
//! let mut out = Vec::new();
//! Interpreter::new(ctx.device()).run(&parse(script, "demo")?, &mut out)?;
//! assert_eq!(String::from_utf8(out)?, "x\n0.8\n1.4\nand b\n 9\n15\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
mod place;
mod product;
mod reductions;
mod room;
mod run;
mod solvers;
mod source;
mod sparse;
mod systems;
mod value;

pub use crate::solve::Precision;
pub use error::{Operand, ScriptError, ScriptErrorKind};
pub use interpreter::{FileAccess, Interpreter, ScriptLimits, ScriptRun};
pub use parse::{MAX_DEPTH, MAX_SOURCE, Script, parse};
pub use value::{Data, Value};
