//! The folder with extra matrices, named by the environment variable TEXLA_DATA.

use std::io::Write;
use std::path::{Path, PathBuf};

/// The data folder, or `None` if TEXLA_DATA is not set. Panics if it is set and cannot be read: such a run would
/// pass for one with data.
pub fn data_root() -> Option<PathBuf> {
    let root = PathBuf::from(std::env::var_os("TEXLA_DATA")?);
    if let Err(e) = std::fs::read_dir(&root) {
        panic!("TEXLA_DATA is `{}`, which cannot be read: {e}", root.display());
    }
    Some(root)
}

/// The files of one folder below the root, sorted; none if there is no such folder.
pub fn files(root: &Path, dir: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(root.join(dir)) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.flatten().map(|e| e.path()).filter(|p| p.is_file()).collect();
    files.sort();
    files
}

/// Says how many cases did not run for want of data.
pub fn not_run(count: usize, what: &str) {
    say(&format!("{count} data cases not run: {what} (set TEXLA_DATA to the folder with them)"));
}

/// Writes past the test harness, which keeps the output of tests that pass to itself.
pub fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "texla data: {line}");
}
