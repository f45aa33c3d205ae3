//! Files that a program reads and writes: what cannot be kept is refused before the work, and nothing is lost by it.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use clap::{ArgMatches, Command, ValueHint};
use texla::host::market::{self, MarketError, MarketErrorKind, MarketMatrix, ReadOptions};
use texla::host::{Csr, FileId, PendingFile};

use super::outcome::{Failure, Result};
use super::{believable, say};

/// The files that the flags of a program name. A flag whose value is a [`PathBuf`] names an output, unless
/// its `value_hint` says `FilePath`: an input, or `DirPath`: a folder.
#[derive(Debug, Default)]
pub struct Files {
    pub inputs: Vec<PathBuf>,
    pub outputs: Vec<PathBuf>,
}

impl Files {
    pub fn named(command: &Command, matches: &ArgMatches) -> Self {
        let mut files = Files::default();
        for argument in command.get_arguments() {
            let paths = matches.try_get_many::<PathBuf>(argument.get_id().as_str()).ok().flatten();
            match argument.get_value_hint() {
                ValueHint::DirPath => {}
                ValueHint::FilePath => files.inputs.extend(paths.into_iter().flatten().cloned()),
                _ => files.outputs.extend(paths.into_iter().flatten().cloned()),
            }
        }
        files
    }

    /// Refuses an output that cannot be written, and one that would replace an input, a standard stream or another output.
    /// The folder `out` is made for files that are to be there.
    pub fn check(&self) -> Result {
        let streams = standard_streams().into_iter();
        let mut taken: Vec<(FileId, String)> =
            streams.map(|(file, name)| (file, format!("is {name}: it would be replaced"))).collect();
        let inputs = self.inputs.iter().filter_map(FileId::of);
        taken.extend(inputs.map(|file| (file, "is an input: it would be replaced".to_owned())));
        for path in &self.outputs {
            if let Some(folder) = path.parent().filter(|_| path.starts_with("out")) {
                let _ = fs::create_dir_all(folder); // what is wrong with it shows in the next line
            }
            check_writable(path)?;
            let Some(file) = FileId::of(path) else { continue };
            if let Some((_, fault)) = taken.iter().find(|(other, _)| other.same(&file)) {
                return Err(Failure::bad_input(format_args!("{} {fault}", path.display())));
            }
            taken.push((file, "is named for two outputs".to_owned()));
        }
        Ok(())
    }
}

/// Files that the shell has opened for the program, by name.
#[cfg(unix)]
pub fn standard_streams() -> Vec<(FileId, &'static str)> {
    use std::os::fd::AsFd;
    let streams = [
        (io::stdin().as_fd().try_clone_to_owned(), "standard input"),
        (io::stdout().as_fd().try_clone_to_owned(), "standard output"),
        (io::stderr().as_fd().try_clone_to_owned(), "standard error"),
    ];
    let named =
        |(stream, name): (io::Result<_>, _)| Some((FileId::of_open(&fs::File::from(stream.ok()?))?, name));
    streams.into_iter().filter_map(named).collect()
}

#[cfg(not(unix))]
pub fn standard_streams() -> Vec<(FileId, &'static str)> {
    Vec::new()
}

/// Refuses a path that cannot become a file. Leaves nothing behind; pipes and devices are not touched.
fn check_writable(path: &Path) -> Result {
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
    } else if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Ok(());
    } else {
        return PendingFile::create(path).map(drop).map_err(|error| cannot_write(path, error));
    };
    Err(cannot_write(path, fault))
}

fn cannot_write(path: &Path, error: impl std::fmt::Display) -> Failure {
    Failure::bad_input(format_args!("cannot write {}: {error}", path.display()))
}

/// Writes a file, all of it or nothing; a path that cannot be written is bad input.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result {
    let written = PendingFile::create(path).and_then(|mut file| {
        file.write_all(bytes)?;
        file.finish()
    });
    written.map_err(|error| cannot_write(path, error))
}

/// The bytes of a file, `most` of them at most: a device or a pipe may never end. What cannot be read is bad input.
pub fn read_file(path: &Path, most: u64) -> Result<Vec<u8>> {
    let name = path.display();
    let unreadable = |error: io::Error| Failure::bad_input(format_args!("cannot read {name}: {error}"));
    if path.is_dir() {
        return Err(Failure::bad_input(format_args!("cannot read {name}: it is a folder")));
    }
    let mut bytes = Vec::new();
    fs::File::open(path).map_err(unreadable)?.take(most + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > most {
        return Err(Failure::bad_input(format_args!("{name} has more than {most} bytes")));
    }
    Ok(bytes)
}

/// Enough of a word to find it by.
pub fn shortened(text: &str) -> String {
    match text.char_indices().nth(24) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// A matrix from a Matrix Market file, and what follows it in extended ones.
pub struct MatrixFile {
    pub a: Csr,
    pub rhs: Option<Vec<f64>>,
    pub solution: Option<Vec<f64>>,
}

/// Reads a Matrix Market file.
pub fn read_matrix_file(path: &Path, options: ReadOptions) -> Result<MatrixFile> {
    matrix_file(path, options.read_matrix(path))
}

/// Reads a matrix, and where it is complex and `--complex` is given, its real form.
pub fn read_matrix(path: &Path, complex: bool) -> Result<Csr> {
    let read = match market::read_matrix(path) {
        Err(MarketError { kind: MarketErrorKind::Unsupported { found: "complex", .. }, .. }) if complex => {
            ReadOptions::default().with_complex(true).read_matrix(path)
        }
        read => read,
    };
    Ok(matrix_file(path, read)?.a)
}

/// The matrix of a file, its warnings said.
fn matrix_file(path: &Path, read: std::result::Result<MarketMatrix, MarketError>) -> Result<MatrixFile> {
    let read = read.map_err(in_market)?;
    for warning in &read.warnings {
        // Not on standard error, which is for what ends the program.
        say(format_args!("warning     {}: {warning}", path.display()));
    }
    let a = believable(&read.triplets, path.display())?;
    Ok(MatrixFile { a, rhs: read.rhs, solution: read.solution })
}

/// The failure of a file that cannot be read, with the flag that would read it.
pub fn in_market(error: MarketError) -> Failure {
    let text = error.to_string();
    Failure::bad_input(
        text.replace(
            "a request for its real form (ReadOptions::with_complex)",
            "its real form with --complex",
        ),
    )
}
