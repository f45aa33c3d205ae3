//! Files that are replaced as a whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Links that are followed one after another.
const MOST_LINKS: usize = 40;

/// A file that is written beside the one that is meant, and takes its place when it is complete. Without
/// [`finish`](Self::finish), after an error or a panic, the old file is as it was and nothing else is left. Links stay
/// links; devices and pipes are written as they are.
///
/// ```
/// use std::io::Write;
/// use texla::host::PendingFile;
/// let path = std::env::temp_dir().join(format!("texla-doc-{}", std::process::id()));
/// let mut file = PendingFile::create(&path)?;
/// file.write_all(b"all of it")?;
/// assert!(!path.exists());
/// file.finish()?;
/// assert_eq!(std::fs::read(&path)?, b"all of it");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct PendingFile {
    out: BufWriter<File>,
    /// The unfinished file, until it has the name that is meant.
    part: Option<PathBuf>,
    target: PathBuf,
}

impl PendingFile {
    /// Opens the unfinished file. *Errors*: the system's, where it cannot be made or the file that is there is protected.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        let found = fs::metadata(path).ok();
        if found.as_ref().is_some_and(|found| !found.is_file()) {
            // A pipe under /dev has no path of its own.
            let out = BufWriter::new(OpenOptions::new().write(true).open(path)?);
            return Ok(PendingFile { out, part: None, target: path.to_owned() });
        }
        let target = resolved(path);
        if target.file_name().is_none() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "expected the name of a file"));
        }
        if found.is_some() {
            // A protected file could be replaced all the same.
            OpenOptions::new().write(true).open(&target)?;
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let part = target.with_file_name(format!(".texla-{}-{:x}.part", std::process::id(), now.as_nanos()));
        let out = BufWriter::new(File::create_new(&part)?);
        let pending = PendingFile { out, part: Some(part), target };
        if let Some(found) = found {
            pending.out.get_ref().set_permissions(found.permissions())?;
        }
        Ok(pending)
    }

    /// Puts the file into its place. *Errors*: the system's, such as that of a full disk; the old file is as it was.
    pub fn finish(mut self) -> io::Result<()> {
        self.out.flush()?;
        if let Some(part) = &self.part {
            self.out.get_ref().sync_all()?;
            fs::rename(part, &self.target)?;
        }
        self.part = None;
        Ok(())
    }
}

impl Write for PendingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Drop for PendingFile {
    fn drop(&mut self) {
        if let Some(part) = &self.part {
            // Nothing is left to do if this fails as well.
            let _ = fs::remove_file(part);
        }
    }
}

/// Where a path leads in the end, also where nothing is there yet: links followed, folders without detours.
pub fn resolved(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        if let Ok(found) = path.canonicalize() {
            return found;
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        match (fs::read_link(&path), folder.canonicalize(), path.file_name()) {
            (Ok(link), _, _) => path = folder.join(link),
            (_, Ok(folder), Some(name)) => return folder.join(name),
            _ => return path,
        }
    }
    path
}
