//! The flags that every example knows.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
pub use texla::gl::Api;

use super::outcome::{Failure, Result};
use super::report::Report;

// No doc comment: clap would take it for the example's own description.
#[derive(clap::Parser, Clone, Debug, Default)]
pub struct CommonArgs {
    /// Small sizes: done in seconds on a software rasteriser
    #[arg(long)]
    pub quick: bool,
    /// Write the report to FILE, also when a check fails
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// OpenGL 3.3 core or OpenGL ES 3.0; the default is the library's choice
    #[arg(long, value_name = "API", env = "TEXLA_API", value_parser = api())]
    pub api: Option<Api>,
}

/// For an example that has no flags of its own.
impl AsRef<CommonArgs> for CommonArgs {
    fn as_ref(&self) -> &CommonArgs {
        self
    }
}

impl CommonArgs {
    /// A context without a window, of the API that was asked for; the report names its device.
    pub fn headless(&self, report: &mut Report) -> Result<texla::Headless> {
        let options = texla::HeadlessOptions::default().with_api(self.api);
        let context = texla::Headless::new(options).map_err(Failure::no_gl)?;
        let device = context.device();
        report.device(context.name(), device.capabilities().version, device.api());
        Ok(context)
    }
}

/// The APIs that texla speaks.
fn api() -> impl TypedValueParser<Value = Api> {
    let known = [("gl33", "OpenGL 3.3 core"), ("es30", "OpenGL ES 3.0")];
    let known = known.map(|(name, help)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new(known).try_map(|name| name.parse::<Api>())
}

/// The flag's value, if it lies in its range (NaN never does).
pub fn in_range<T: PartialOrd + Shown>(flag: &str, value: T, range: RangeInclusive<T>) -> Result<T> {
    if range.contains(&value) {
        return Ok(value);
    }
    let (low, high) = range.into_inner();
    let [value, low, high] = [value, low, high].map(Shown::shown);
    Err(Failure::bad_input(format_args!("{flag} {value}: expected a number from {low} to {high}")))
}

/// A flag's number as messages show it.
pub trait Shown {
    fn shown(self) -> String;
}

macro_rules! shown {
    ($($type:ty)* => $text:expr) => {$(
        impl Shown for $type {
            fn shown(self) -> String {
                $text(self)
            }
        }
    )*};
}

shown!(usize u16 u32 u64 => (|n| format!("{n}")));
shown!(f32 f64 => texla::host::number);

/// clap's message in one line: its first paragraph, without the usage and the tips below it.
pub fn one_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    let words: Vec<&str> = first.split_whitespace().collect();
    words.join(" ").trim_start_matches("error: ").to_owned()
}
