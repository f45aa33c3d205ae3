//! Exit codes, and the one way through an example that leads to them.

use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::OnceLock;

use texla::host::printable_lines;

use super::args::{CommonArgs, one_line};
use super::files::Files;
use super::refusal::told;
use super::report::Report;

/// Result of an example's work.
pub type Result<T = (), E = Failure> = std::result::Result<T, E>;

/// Why an example ends early. Failed checks are no `Failure`: they stand in the [`Report`].
#[derive(Debug, Clone, PartialEq)]
pub enum Failure {
    /// Not converged, a breakdown, a fault of the library or driver: exit 1, the JSON is written.
    Unsolved(String),
    /// A flag, a file or a path cannot be used: exit 2, one line on standard error.
    BadInput(String),
    /// A mistake at a place of a text that the user wrote: exit 2, with the lines that show the place.
    AtPlace(String),
    /// No usable GL: exit 3, one line on standard error.
    NoGl(String),
}

impl Failure {
    /// The same, said of a part of what was asked for.
    pub fn of(self, part: impl Display) -> Self {
        let said = |message: String| format!("{part}: {message}");
        match self {
            Self::Unsolved(message) => Self::Unsolved(said(message)),
            Self::BadInput(message) => Self::BadInput(said(message)),
            other => other,
        }
    }

    pub fn unsolved(message: impl Display) -> Self {
        Self::Unsolved(message.to_string())
    }

    pub fn bad_input(message: impl Display) -> Self {
        Self::BadInput(message.to_string())
    }

    pub fn at_place(message: impl Display) -> Self {
        Self::AtPlace(message.to_string())
    }

    pub fn no_gl(message: impl Display) -> Self {
        Self::NoGl(message.to_string())
    }

    /// The exit code of the process.
    pub fn code(&self) -> u8 {
        match self {
            Self::Unsolved(_) => 1,
            Self::BadInput(_) | Self::AtPlace(_) => 2,
            Self::NoGl(_) => 3,
        }
    }

    /// What is said of it on standard error.
    pub fn message(&self) -> String {
        match self {
            // A shader log keeps its lines, and so does a caret under its line.
            Self::Unsolved(text) | Self::AtPlace(text) => printable_lines(text),
            Self::BadInput(text) | Self::NoGl(text) => {
                printable_lines(&text.split_whitespace().collect::<Vec<_>>().join(" "))
            }
        }
    }
}

/// Lets examples use `?` on the library's results: what the user asked for is at fault (exit 2), there is
/// no GL (exit 3), and everything else is an unsolved problem (exit 1). It is told in the words of flags.
impl From<texla::Error> for Failure {
    fn from(error: texla::Error) -> Self {
        use texla::Error as E;
        let text = told(&error);
        match error {
            E::NoContext(_) => Self::no_gl(text),
            E::ShapeMismatch { .. }
            | E::LengthMismatch { .. }
            | E::NonFinite { .. }
            | E::Parameter { .. }
            | E::IndexOutOfRange { .. }
            | E::TooLarge { .. }
            | E::Matrix { .. }
            | E::File { .. }
            | E::Unsupported { .. }
            | E::Market(_) => Self::bad_input(text),
            _ => Self::unsolved(text),
        }
    }
}

/// The whole of an example's `main`: reads the flags, runs `body`, prints the checks, writes the JSON.
pub fn main_with<A>(example: &str, body: impl FnOnce(&A, &mut Report) -> Result) -> ExitCode
where
    A: clap::Parser + AsRef<CommonArgs>,
{
    ExitCode::from(run_from(example, std::env::args_os(), &mut io::stderr(), body))
}

/// [`main_with`] with the command line and standard error given by the caller.
pub fn run_from<A>(
    example: &str,
    args: impl IntoIterator<Item = impl Into<OsString> + Clone>,
    stderr: &mut impl Write,
    body: impl FnOnce(&A, &mut Report) -> Result,
) -> u8
where
    A: clap::Parser + AsRef<CommonArgs>,
{
    let mut command = A::command().allow_negative_numbers(true);
    let parsed = command.try_get_matches_from_mut(args).and_then(|matches| {
        let args = A::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
        Ok((args, Files::named(&command, &matches)))
    });
    let result = match parsed {
        Ok((args, files)) => files.check().and_then(|()| run(example, &args, body)), // before the work, not after it
        Err(error) if error.use_stderr() => Err(Failure::BadInput(one_line(&error))),
        Err(help) => {
            say(help.to_string().trim_end());
            Ok(0)
        }
    };
    // Nothing is left to do when standard error is closed.
    let mut complain = |failure: Failure| {
        let _ = writeln!(stderr, "{example}: {}", failure.message());
        failure.code()
    };
    let code = result.unwrap_or_else(&mut complain);
    match LOST.get() {
        None => code,
        // Whatever else has gone wrong goes on saying so by its code.
        Some(error) => {
            let lost = complain(Failure::bad_input(format_args!("cannot write the output: {error}")));
            if code == 0 { lost } else { code }
        }
    }
}

fn run<A: AsRef<CommonArgs>>(
    example: &str,
    args: &A,
    body: impl FnOnce(&A, &mut Report) -> Result,
) -> Result<u8> {
    let json = args.as_ref().json.as_deref();
    let mut report = Report::new(example);
    let result = body(args, &mut report);
    match &result {
        Err(Failure::BadInput(_) | Failure::AtPlace(_) | Failure::NoGl(_)) => {}
        Ok(()) | Err(Failure::Unsolved(_)) => {
            if let Err(failure) = &result {
                report.set("error", failure.message());
            }
            report.print_checks();
            json.map_or(Ok(()), |path| report.write(path))?;
        }
    }
    result.map(|()| u8::from(!report.passed()))
}

/// What standard output has refused first.
static LOST: OnceLock<String> = OnceLock::new();

/// A line on standard output. A closed pipe (`| head`) has seen enough. Any other output that is lost, as on a full disk,
/// goes to standard error instead, and the program does not end as if nothing had happened.
pub fn say(line: impl Display) {
    let line = printable_lines(&line.to_string());
    if cfg!(test) {
        return println!("{line}"); // the test harness catches only this
    }
    if let Err(error) = writeln!(io::stdout(), "{line}")
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        let _ = LOST.set(error.to_string());
        let _ = writeln!(io::stderr(), "{line}");
    }
}
