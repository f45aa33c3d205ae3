//! Exit codes, and the one way through an example that leads to them.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fmt::Display;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::args::{CommonArgs, one_line};
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

    fn message(&self) -> String {
        match self {
            // A shader log keeps its lines, and so does a caret under its line.
            Self::Unsolved(text) | Self::AtPlace(text) => text.clone(),
            Self::BadInput(text) | Self::NoGl(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        }
    }
}

/// Lets examples use `?` on the library's results: what the user asked for is at fault (exit 2), there is
/// no GL (exit 3), and everything else is an unsolved problem (exit 1).
impl From<texla::Error> for Failure {
    fn from(error: texla::Error) -> Self {
        use texla::Error as E;
        match &error {
            E::NoContext(_) => Self::no_gl(error),
            E::ShapeMismatch { .. }
            | E::LengthMismatch { .. }
            | E::NonFinite { .. }
            | E::Parameter { .. }
            | E::IndexOutOfRange { .. }
            | E::TooLarge { .. }
            | E::Matrix { .. }
            | E::File { .. }
            | E::Unsupported { .. } => Self::bad_input(error),
            #[cfg(feature = "io")]
            E::Market(_) => Self::bad_input(error),
            _ => Self::unsolved(error),
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
    let result = match A::try_parse_from(args) {
        Ok(args) => run(example, &args, body),
        Err(error) if error.use_stderr() => Err(Failure::BadInput(one_line(&error))),
        Err(help) => {
            say(help.to_string().trim_end());
            Ok(0)
        }
    };
    result.unwrap_or_else(|failure| {
        // Nothing is left to do when standard error is closed.
        let _ = writeln!(stderr, "{example}: {}", failure.message());
        failure.code()
    })
}

fn run<A: AsRef<CommonArgs>>(
    example: &str,
    args: &A,
    body: impl FnOnce(&A, &mut Report) -> Result,
) -> Result<u8> {
    let json = args.as_ref().json.as_deref();
    json.map_or(Ok(()), check_writable)?; // before the work, not after it
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

/// A line on standard output. A closed pipe (`| head`) is no reason to panic.
pub fn say(line: impl Display) {
    if cfg!(test) {
        println!("{line}"); // the test harness catches only this
    } else {
        let _ = writeln!(io::stdout(), "{line}");
    }
}

/// Refuses a path that cannot become a file, before any work is done. Leaves nothing behind.
pub fn check_writable(path: &Path) -> Result {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let fault = if path.is_dir() {
        "it is a folder"
    } else if path.file_name().is_none() {
        "it names no file"
    } else if !folder.is_dir() {
        "its folder does not exist"
    } else {
        return open_once(path).map_err(|error| cannot_write(path, error));
    };
    Err(cannot_write(path, fault))
}

/// Opens a file for writing and leaves it as it was. Pipes and devices are not touched.
fn open_once(path: &Path) -> io::Result<()> {
    if path.is_file() {
        OpenOptions::new().write(true).open(path).map(drop)
    } else if path.symlink_metadata().is_err() {
        File::create_new(path)?;
        fs::remove_file(path)
    } else {
        Ok(())
    }
}

fn cannot_write(path: &Path, error: impl Display) -> Failure {
    Failure::bad_input(format_args!("cannot write {}: {error}", path.display()))
}

/// Refuses two outputs in one file: the second would replace the first. To be called after [`check_writable`].
pub fn check_distinct<'a>(paths: impl IntoIterator<Item = Option<&'a Path>>) -> Result {
    let mut seen = HashSet::new();
    for path in paths.into_iter().flatten() {
        // A file that is not there yet is named by its folder.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let place = |folder: PathBuf| folder.join(path.file_name().unwrap_or_default());
        let whole = path.canonicalize().or_else(|_| folder.canonicalize().map(place));
        if !seen.insert(whole.unwrap_or_else(|_| path.to_owned())) {
            return Err(Failure::bad_input(format_args!("{} is named for two outputs", path.display())));
        }
    }
    Ok(())
}

/// Refuses an output that would replace an input.
pub fn check_kept<'a>(
    inputs: impl IntoIterator<Item = Option<&'a Path>>,
    outputs: impl IntoIterator<Item = Option<&'a Path>> + Clone,
) -> Result {
    for input in inputs.into_iter().flatten().filter_map(|path| path.canonicalize().ok()) {
        let same = |path: &&Path| path.canonicalize().is_ok_and(|path| path == input);
        if let Some(path) = outputs.clone().into_iter().flatten().find(same) {
            return Err(Failure::bad_input(format_args!(
                "{} is an input: it would be replaced",
                path.display()
            )));
        }
    }
    Ok(())
}

/// Writes a file; a path that cannot be written is bad input. Half a file is removed.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result {
    let fault = |error| cannot_write(path, error);
    let mut file = File::create(path).map_err(fault)?;
    file.write_all(bytes).map_err(|error| {
        if path.is_file() {
            let _ = fs::remove_file(path); // the first fault is the one to tell of
        }
        fault(error)
    })
}
