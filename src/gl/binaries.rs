//! Linked programs kept in a folder, so that the next run need not compile them.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::Hasher;
use std::path::PathBuf;

use glow::{HasContext, ProgramBinary};

use super::api::Api;
use super::context::Gl;
use crate::platform::BROWSER;

/// Another form of file has another word.
const MAGIC: &[u8] = b"texla program 1\n";

/// Whether the driver hands linked programs out, and takes them back. Browsers do not.
pub(super) fn offered(gl: &Gl) -> bool {
    let least = if gl.api == Api::Gl33 { (4, 1) } else { (3, 0) };
    if BROWSER {
        return false;
    }
    let offered = gl.version >= least || gl.raw.supported_extensions().contains("GL_ARB_get_program_binary");
    // SAFETY: the context is current; the query exists where programs can be had.
    offered && unsafe { gl.raw.get_parameter_i32(glow::NUM_PROGRAM_BINARY_FORMATS) } > 0
}

/// The place of one program: everything that its binary depends on, and the file that is named by it.
pub(super) struct Place {
    /// Compared as a whole: two programs whose names are one would be one another's otherwise.
    key: String,
    file: PathBuf,
}

impl Place {
    /// In the folder of the device, if it keeps programs. `parts` are the text of both stages and what is said apart from it.
    pub fn of<'a>(gl: &Gl, parts: impl IntoIterator<Item = &'a str>) -> Option<Place> {
        let folder = gl.programs.as_ref().filter(|_| gl.caps.borrow().program_binaries)?;
        let mut key = {
            let caps = gl.caps.borrow();
            [env!("CARGO_PKG_VERSION"), &caps.vendor, &caps.renderer, &caps.version].join("\n")
        };
        for part in parts {
            key.push('\0');
            key.push_str(part);
        }
        let file = folder.join(format!("texla-{:016x}.program", hash(key.as_bytes())));
        Some(Place { key, file })
    }

    /// What is kept there. A file that is of another program, cut off or damaged is none.
    pub fn load(&self) -> Option<ProgramBinary> {
        let file = fs::read(&self.file).ok()?;
        let rest = file.strip_prefix(MAGIC)?;
        let (sum, rest) = rest.split_first_chunk::<8>()?;
        if u64::from_le_bytes(*sum) != hash(rest) {
            return None;
        }
        let (format, rest) = rest.split_first_chunk::<4>()?;
        let (length, rest) = rest.split_first_chunk::<8>()?;
        let (key, binary) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        let format = u32::from_le_bytes(*format);
        (key == self.key.as_bytes()).then(|| ProgramBinary { buffer: binary.to_vec(), format })
    }

    /// Keeps a program there. Where that cannot be done, it is compiled the next time too.
    pub fn store(&self, binary: &ProgramBinary) {
        let mut rest = binary.format.to_le_bytes().to_vec();
        rest.extend((self.key.len() as u64).to_le_bytes());
        rest.extend(self.key.bytes());
        rest.extend(&binary.buffer);
        let file = [MAGIC, &hash(&rest).to_le_bytes(), &rest].concat();
        // Another process may look at the same time: what it finds is whole. Nothing waits for the disk, since a file that
        // is not is found out.
        let part = self.file.with_extension(format!("{}.part", std::process::id()));
        let kept = fs::create_dir_all(self.file.parent().unwrap_or(&self.file))
            .and_then(|()| fs::write(&part, file))
            .and_then(|()| fs::rename(&part, &self.file));
        if kept.is_err() {
            // Nothing is left to do if this fails as well.
            let _ = fs::remove_file(part);
        }
    }
}

/// Against accidents: a program is known by its whole key.
fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every byte of a file counts, and so does its end.
    #[test]
    fn what_is_damaged_is_none() {
        let folder = std::env::temp_dir().join(format!("texla-programs-{}", std::process::id()));
        let place = |key: &str| Place { key: key.into(), file: folder.join("a.program") };
        let binary = ProgramBinary { buffer: vec![1, 2, 3, 4, 5], format: 7 };
        assert!(place("key").load().is_none());
        place("key").store(&binary);
        let found = place("key").load().unwrap();
        assert_eq!((&found.buffer, found.format), (&binary.buffer, 7));
        assert!(place("kex").load().is_none() && place("").load().is_none());
        let whole = fs::read(&place("key").file).unwrap();
        for at in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[at] ^= 0x10;
            for damaged in [&flipped, &whole[..at]] {
                fs::write(&place("key").file, damaged).unwrap();
                assert!(place("key").load().is_none(), "{at} of {}", whole.len());
            }
        }
        fs::remove_dir_all(folder).unwrap();
    }
}
