//! `load` and `save`: Matrix Market by the extension, and plain text.

use std::path::{Path, PathBuf};

use super::ast::{Expr, ExprKind};
use super::error::ScriptErrorKind as Kind;
use super::interpreter::{FileAccess, Reserved};
use super::run::Run;
use super::source::{Fault, Result};
use super::value::Value;
use crate::host::FileId;

impl Run<'_> {
    /// The path that an argument names, if files are allowed at all, and this one for reading or writing.
    fn path(&self, expr: &Expr, write: bool) -> Result<PathBuf> {
        let ExprKind::Text(text) = &expr.is else {
            return self.unknown_word(expr, "the name of a file in double quotes");
        };
        match &self.state.files {
            FileAccess::From(_) if text.is_empty() => {
                self.unknown_word(expr, "the name of a file in double quotes")
            }
            FileAccess::From(folder) if cfg!(feature = "io") => {
                let path = folder.join(text.as_ref());
                let file = FileId::of(&path);
                let kept = |(other, how): &&(FileId, Reserved)| {
                    (write || *how == Reserved::Whole) && file.as_ref().is_some_and(|file| file.same(other))
                };
                let why = match self.state.reserved.iter().find(kept) {
                    None => return Ok(path),
                    Some((_, Reserved::Whole)) => "the program that runs this script writes that file itself",
                    Some((_, Reserved::AsItIs)) => {
                        "the program that runs this script is using that file: save to another one"
                    }
                };
                Err(Fault::new(expr.at, Kind::FileReserved { path: path.display().to_string(), why }))
            }
            _ => Err(Fault::new(expr.at, Kind::FilesForbidden)),
        }
    }

    pub(super) fn load(&mut self, file: &Expr) -> Result<Value> {
        let path = self.path(file, false)?;
        #[cfg(feature = "io")]
        return self.read(&path, file.at);
        #[cfg(not(feature = "io"))]
        Err(refused(&path, "texla was built without the feature `io`", file.at))
    }

    pub(super) fn save(&mut self, value: &Value, expr: &Expr, file: &Expr) -> Result {
        let path = self.path(file, true)?;
        #[cfg(feature = "io")]
        return self.write(value, &self.text(expr), &path, file.at);
        #[cfg(not(feature = "io"))]
        Err(refused(&path, &format!("{} {}", self.text(expr), value.shape()), file.at))
    }
}

/// The error of a file.
fn refused(path: &Path, message: &str, at: u32) -> Fault {
    Fault::new(at, Kind::File { path: path.display().to_string(), message: message.to_owned() })
}

#[cfg(feature = "io")]
mod io {
    use std::fs::{self, File};
    use std::io::{BufRead, BufReader, Write};
    use std::path::Path;

    use super::refused;
    use crate::host::PendingFile;
    use crate::host::market::{self, Format, MarketMatrix};
    use crate::script::error::ScriptErrorKind as Kind;
    use crate::script::room::Charge;
    use crate::script::run::Run;
    use crate::script::source::{Fault, Result};
    use crate::script::value::{Data, Value};
    use crate::shape::Shape;

    /// Longest line of a plain text file, in bytes.
    const MAX_LINE: u64 = 1 << 24;

    /// Bytes of an entry in a list of them.
    const ENTRY: u64 = 16;

    /// Rows or columns of a sparse matrix that need no entries to be believed.
    const MOST_EMPTY: usize = 1 << 20;

    fn is_market(path: &Path) -> bool {
        let extension = path.extension().unwrap_or_default();
        extension.eq_ignore_ascii_case("mtx") || extension.eq_ignore_ascii_case("mm")
    }

    impl Run<'_> {
        pub(super) fn read(&self, path: &Path, at: u32) -> Result<Value> {
            // Some systems open one, and fail when it is read.
            if path.is_dir() {
                return Err(refused(path, "it is a folder", at));
            }
            if !is_market(path) && !market::is_foreign_to_text(path) {
                let (shape, values, _room) = self.read_text(path, at)?;
                let _copy = self.room_to_copy(shape, at)?;
                return self.dense(shape, &values, at);
            }
            // A file may say that it has more entries than there is room for, or have them.
            let admit = |shape: Shape, entries: u64| {
                let what = || format!("{entries} entries of {shape} elements take");
                self.taken(entries.saturating_mul(ENTRY), at, what)
            };
            let read = market::read_admitted(path, admit);
            let (MarketMatrix { triplets, format, .. }, _entries) =
                read.map_err(|e| Fault::new(at, Kind::Library(Box::new(e.into()))))??;
            let shape = triplets.shape();
            // A few bytes can declare a matrix whose table of rows alone would fill the memory.
            let most = MOST_EMPTY.max(triplets.nnz().saturating_mul(16));
            if format == Format::Coordinate && shape.rows.max(shape.cols) > most {
                let message = format!(
                    "{shape} with {} entries is all but empty, the limit is {most} rows",
                    triplets.nnz()
                );
                return Err(refused(path, &message, at));
            }
            if format == Format::Coordinate {
                let sorting = self.room_to_sort(shape, triplets.nnz(), at)?;
                return self.sorted(triplets, sorting, at);
            }
            // The value itself comes first: that there is no room for it says more than that it cannot be copied.
            drop(self.room(shape, at)?);
            let _copy = self.room_to_copy(shape, at)?;
            let mut values = vec![0.0f32; shape.len()];
            // No place comes twice in an array.
            for (row, col, value) in triplets.entries() {
                if !(value as f32).is_finite() {
                    let message = format!("`{value:e}`, expected a finite 32-bit float");
                    return Err(refused(path, &message, at));
                }
                if let Some(element) = values.get_mut(row * shape.cols + col) {
                    *element = value as f32;
                }
            }
            self.dense(shape, &values, at)
        }

        /// Rows of numbers, separated by blanks or commas. Blank lines and what follows a `#` do not count.
        fn read_text(&self, path: &Path, at: u32) -> Result<(Shape, Vec<f32>, Charge)> {
            let file = File::open(path).map_err(|e| refused(path, &e.to_string(), at))?;
            let mut reader = BufReader::new(file);
            let (mut values, mut shape, mut number) = (Vec::new(), Shape::default(), 0usize);
            let mut room = self.state.room.nothing();
            let mut line = Vec::new();
            loop {
                line.clear();
                number += 1;
                let fault = |message: String| refused(path, &format!("line {number}: {message}"), at);
                let read = std::io::Read::take(&mut reader, MAX_LINE).read_until(b'\n', &mut line);
                if read.map_err(|e| fault(e.to_string()))? == 0 {
                    return Ok((shape, values, room));
                }
                if line.len() as u64 == MAX_LINE {
                    return Err(fault(format!("longer than {MAX_LINE} bytes")));
                }
                let text = std::str::from_utf8(&line).map_err(|_| fault("no UTF-8 text".into()))?;
                let text = text.split('#').next().unwrap_or_default();
                let before = values.len();
                for word in
                    text.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty())
                {
                    let value = word.parse().ok().filter(|v: &f64| (*v as f32).is_finite());
                    let value = value.ok_or_else(|| {
                        let word: String = word.chars().take(40).collect();
                        fault(format!("`{word}`, expected a finite 32-bit float"))
                    })?;
                    if values.len() == values.capacity() {
                        // The longer list stands beside the old one while that is copied.
                        let length = (2 * values.len()).max(64);
                        let what = || format!("{length} numbers of the file take");
                        room = self.taken(4 * length as u64, at, what)?;
                        values.reserve_exact(length - values.len());
                    }
                    values.push(value as f32);
                }
                let found = values.len() - before;
                if found == 0 {
                    continue;
                }
                if shape.rows > 0 && found != shape.cols {
                    return Err(fault(format!(
                        "{found} numbers, expected {} as in the rows before",
                        shape.cols
                    )));
                }
                shape = Shape::new(shape.rows + 1, found);
            }
        }

        /// Writes a file beside the one that is meant, and lets it take that one's place when it is complete.
        pub(super) fn write(&self, value: &Value, name: &str, path: &Path, at: u32) -> Result {
            let shape = value.shape();
            let (values, _copy) = match value.data() {
                Data::Sparse(a) if is_market(path) => {
                    let list = (a.pattern().nnz() as u64).saturating_mul(ENTRY);
                    (Vec::new(), self.taken(list, at, || format!("{name} as a list takes"))?)
                }
                _ => self.copied(value, at)?,
            };
            if let Some(bad) = values.iter().find(|v| !v.is_finite()) {
                return Err(refused(path, &format!("{name} contains {bad}, which a file cannot hold"), at));
            }
            if !is_market(path) && shape.is_empty() {
                let message = format!("{name} is {shape}: plain text cannot hold it, a file named *.mtx can");
                return Err(refused(path, &message, at));
            }
            // Devices and pipes would take it, and it could not be read again.
            if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
                let what = if path.is_dir() { "it is a folder" } else { "it is no regular file" };
                return Err(refused(path, what, at));
            }
            let written = self.write_whole(value, &values, path, is_market(path));
            written.map_err(|message| refused(path, &message, at))
        }

        fn write_whole(
            &self,
            value: &Value,
            values: &[f32],
            path: &Path,
            market: bool,
        ) -> Result<(), String> {
            let mut file = PendingFile::create(path).map_err(|e| e.to_string())?;
            let written = match value.data() {
                _ if !market => write_text(&mut file, value.shape(), values).map_err(|e| e.to_string()),
                Data::Sparse(a) => {
                    let triplets = a.pattern().to_triplets();
                    market::write_matrix_to(&mut file, &triplets).map_err(|e| e.kind.to_string())
                }
                _ => market::write_array_to(&mut file, value.shape(), values).map_err(|e| e.kind.to_string()),
            };
            written.and_then(|()| file.finish().map_err(|e| e.to_string()))
        }
    }

    /// A line for each row, numbers separated by blanks.
    fn write_text(out: &mut impl Write, shape: Shape, values: &[f32]) -> std::io::Result<()> {
        for row in values.chunks(shape.cols.max(1)) {
            for (column, value) in row.iter().enumerate() {
                write!(out, "{}{value:e}", if column == 0 { "" } else { " " })?;
            }
            writeln!(out)?;
        }
        Ok(())
    }
}
