//! What all examples share: flags, report, exit codes, progress, tables, plots and images; and a
//! shader program for hosts that draw.
//!
//! `examples/NAME.rs` says `mod support;`, `examples/NAME/main.rs` says
//! `#[path = "../support/mod.rs"] mod support;`, and both hand their work to [`main_with`]:
//!
//! ```ignore
//! #[derive(clap::Parser)]
//! struct Args { #[command(flatten)] common: CommonArgs }
//! impl AsRef<CommonArgs> for Args { fn as_ref(&self) -> &CommonArgs { &self.common } }
//!
//! fn main() -> ExitCode { support::main_with("name", |args: &Args, report| { .. Ok(()) }) }
//! ```
//!
//! A flag of the type `PathBuf` names a file that is written, and [`Files`] checks it before the work;
//! `#[arg(value_hint = ValueHint::FilePath)]` says that it is read, `#[arg(value_parser = figure_file())]` that it is
//! a figure: SVG or PNG, as its name says.
#![allow(dead_code, unused_imports, unused_macros)] // each example uses its own part

/// The text of a shader of an example, by its place below `examples`, for files in folders there.
macro_rules! shader {
    ($file:literal) => {
        include_str!(concat!("../", $file))
    };
}
pub(crate) use shader;

pub mod angles;
pub mod animation;
pub mod args;
pub mod bars;
pub mod bounded;
pub mod ceiling;
pub mod clock;
pub mod count;
pub mod figure;
pub mod files;
pub mod golden;
pub mod image;
pub mod nodes;
pub mod outcome;
pub mod paint;
pub mod picture;
pub mod plot;
pub mod program;
pub mod progress;
pub mod refusal;
pub mod report;
pub mod residual;
pub mod table;
pub mod worst;

pub use animation::Animation;
pub use args::{Api, CommonArgs, in_range};
pub use bars::{Bar, BarChart};
pub use count::count;
pub use figure::figure_file;
pub use files::{
    Files, MatrixFile, in_market, read_file, read_matrix, read_matrix_file, shortened, standard_streams,
    write_file,
};
pub use image::{bytes_of, encode, write_rgb};
pub use nodes::NodeArgs;
pub use outcome::{Failure, Result, main_with, run_from, say};
pub use picture::{Picture, field, plain_fragments};
pub use plot::LinePlot;
pub use program::{program, read_rgb};
pub use progress::Progress;
pub use refusal::{in_flags, refused, told};
pub use report::Report;
pub use residual::{Ordinary, believable, residual};
pub use serde_json::json;
pub use table::Table;
pub use worst::{differing, differing_bits, share, worst, worst_of};
