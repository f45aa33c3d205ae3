//! Files that are replaced as a whole or not at all, and when two names are one file.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::platform::BROWSER;

/// Links that are followed one after another.
const MOST_LINKS: usize = 40;

/// A file that is written beside the one that is meant, and takes its place when it is complete. Without
/// [`finish`](Self::finish), after an error or a panic, the old file is as it was and nothing else is left. Links stay
/// links; devices and pipes are written as they are.
///
/// A file that can be written and not replaced (its folder is protected, it is mounted, or in a sticky folder and somebody
/// else's) is overwritten by [`finish`](Self::finish), when there is something complete to overwrite it with.
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
    /// Opens the unfinished file. *Errors*: [`Unsupported`](io::ErrorKind::Unsupported) in a browser; the system's, where it cannot be made or the file that is there is protected.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        if BROWSER {
            // Which has no process, and no time of day, to name the unfinished file by.
            return Err(io::Error::from(io::ErrorKind::Unsupported));
        }
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
            let mut there = OpenOptions::new().write(true).open(&target)?;
            // Files that the system only shows, as those under /proc, may open for writing and take nothing: they refuse an
            // empty list of buffers too, which does nothing to any other. An empty buffer would not do: some take it.
            let _: usize = there.write_vectored(&[])?;
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let name = format!(".texla-{}-{:x}.part", std::process::id(), now.as_nanos());
        let beside = target.with_file_name(&name);
        let (made, part) = match File::create_new(&beside) {
            // A folder that takes no new file may hold one that can be written.
            Err(refused) if found.is_some() => {
                let elsewhere = std::env::temp_dir().join(name);
                (File::create_new(&elsewhere).map_err(|_| refused)?, elsewhere)
            }
            made => (made?, beside),
        };
        let pending = PendingFile { out: BufWriter::new(made), part: Some(part), target };
        if let Some(found) = found {
            pending.out.get_ref().set_permissions(found.permissions())?;
        }
        Ok(pending)
    }

    /// Puts the file into its place. *Errors*: the system's, such as that of a full disk; the old file is as it was. Only
    /// where it had to be overwritten it may not be: then, and whenever the complete file does not get to its place, the
    /// error names where that is kept.
    pub fn finish(mut self) -> io::Result<()> {
        self.out.flush()?;
        if self.part.is_some() {
            self.out.get_ref().sync_all()?;
        }
        let Some(part) = self.part.take() else { return Ok(()) };
        let Err(refused) = fs::rename(&part, &self.target) else { return Ok(()) };
        // What cannot be replaced may still be written.
        if let Err(error) = overwrite(&self.target, &part) {
            let error = if self.target.exists() { error } else { refused };
            let kept = format!("{error}; what was to be written is kept in {}", part.display());
            return Err(if part.is_file() { io::Error::new(error.kind(), kept) } else { error });
        }
        // It is complete where it belongs; a second copy does no harm.
        let _ = fs::remove_file(part);
        Ok(())
    }
}

/// Copies a file into another one that is there.
fn overwrite(target: &Path, part: &Path) -> io::Result<()> {
    let mut from = File::open(part)?;
    let mut to = OpenOptions::new().write(true).truncate(true).open(target)?;
    io::copy(&mut from, &mut to)?;
    match to.sync_all() {
        // A file system that keeps nothing has nothing to wait for.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        synced => synced,
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

/// Which file a path leads to, by whatever name: links lead to it, hard links are it, and it need not be there yet.
///
/// ```
/// use texla::host::FileId;
/// let (a, b) = (FileId::of("src/lib.rs"), FileId::of("src/../src/./lib.rs"));
/// assert!(a.is_some_and(|a| b.is_some_and(|b| a.same(&b))));
/// assert!(FileId::of("src").is_none());
/// ```
#[derive(Clone, Debug)]
pub struct FileId {
    /// Device and number.
    node: Option<(u64, u64)>,
    place: Option<PathBuf>,
}

impl FileId {
    /// The file at a path; nothing for folders, devices and pipes, in which nothing is replaced.
    pub fn of(path: impl AsRef<Path>) -> Option<Self> {
        let path = path.as_ref();
        let found = fs::metadata(path).ok();
        let is_file = found.as_ref().is_none_or(Metadata::is_file);
        is_file.then(|| FileId { node: found.as_ref().and_then(node), place: Some(resolved(path)) })
    }

    /// A file that is open, such as one that standard output leads to; nothing where the system does not tell.
    pub fn of_open(file: &File) -> Option<Self> {
        let found = file.metadata().ok().filter(Metadata::is_file)?;
        Some(FileId { node: Some(node(&found)?), place: None })
    }

    /// Whether both are one file.
    pub fn same(&self, other: &Self) -> bool {
        self.node.is_some() && self.node == other.node || self.place.is_some() && self.place == other.place
    }
}

#[cfg(unix)]
fn node(found: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn node(_: &Metadata) -> Option<(u64, u64)> {
    None
}

/// Where a path leads in the end, also where nothing is there yet: links followed, folders without detours.
fn resolved(path: &Path) -> PathBuf {
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
