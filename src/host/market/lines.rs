//! Lines of bounded length, split into words.

use super::error::{MarketError, MarketErrorKind, quote};
use super::source::{Source, most_entries};
use std::io::{self, BufRead, ErrorKind, Read};

/// Longest line that is read, in bytes; the standard allows 1024.
pub const MAX_LINE: usize = 64 * 1024;

/// Most bytes of decompressed text that are checked for damage after an error.
const CHECKED: u64 = 1 << 28;

/// The lines of a file that hold text. Only one line is in memory at a time.
pub(super) struct Lines<'a, R> {
    reader: Source<R>,
    name: &'a str,
    /// Number of the line in `buf`, from 1.
    line: usize,
    buf: Vec<u8>,
    /// The line before ended with CR: an LF that follows belongs to it.
    after_cr: bool,
}

impl<'a, R: BufRead> Lines<'a, R> {
    /// Refuses a file whose first bytes are those of another format; decompresses gzip.
    pub(super) fn new(reader: R, name: &'a str) -> Result<Self, MarketError> {
        let reader = Source::new(reader, name)?;
        Ok(Self { reader, name, line: 0, buf: Vec::new(), after_cr: false })
    }

    /// The error of the current line.
    pub(super) fn error(&self, kind: MarketErrorKind) -> MarketError {
        MarketError::new(self.name, self.line, kind)
    }

    /// Number of the current line, from 1.
    pub(super) fn line(&self) -> usize {
        self.line
    }

    /// Bytes of the file read so far, compressed as they are.
    pub(super) fn bytes(&self) -> u64 {
        self.reader.file_bytes()
    }

    /// Whether the file is compressed.
    #[cfg(feature = "script")]
    pub(super) fn is_compressed(&self) -> bool {
        self.reader.is_compressed()
    }

    /// Refuses more entries of a compressed file than its size stands for: a few bytes may expand to any number of them.
    pub(super) fn check_expansion(&self, entries: u64) -> Result<(), MarketError> {
        if !self.reader.is_compressed() || entries <= most_entries(self.bytes()) {
            return Ok(());
        }
        Err(self.error(MarketErrorKind::Expansion { entries, bytes: self.bytes() }))
    }

    /// The outcome of a read, unless compressed bytes are damaged: what damage makes of the text is no fault of the text.
    pub(super) fn unless_damaged<T>(&mut self, read: Result<T, MarketError>) -> Result<T, MarketError> {
        let own = |error: &MarketError| {
            matches!(
                error.kind,
                MarketErrorKind::Gzip { .. } | MarketErrorKind::Io { .. } | MarketErrorKind::Expansion { .. }
            )
        };
        if !self.reader.is_compressed() || !read.as_ref().is_err_and(|error| !own(error)) {
            return read;
        }
        // The checksum comes last. A stream may be made to be endless.
        let rest = io::copy(&mut Read::take(&mut self.reader, CHECKED), &mut io::sink());
        rest.map_err(|e| self.reader.error(self.name, self.line, &e)).and(read)
    }

    /// The current line as text, what is unreadable replaced.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.buf).into_owned()
    }

    /// The current line, for a message.
    pub(super) fn quoted(&self) -> String {
        quote(&self.buf)
    }

    /// Moves to the next line that is neither blank nor a comment; false at the end of the file.
    pub(super) fn advance(&mut self) -> Result<bool, MarketError> {
        while self.load()? {
            if self.words().next().is_some_and(|word| !word.starts_with(b"%")) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Moves to the next line that is not blank; false at the end of the file.
    pub(super) fn advance_to_banner(&mut self) -> Result<bool, MarketError> {
        while self.load()? {
            if self.line == 1 && self.buf.starts_with(b"\xef\xbb\xbf") {
                self.buf.drain(..3);
            }
            if self.words().next().is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The words of the current line.
    pub(super) fn words(&self) -> impl Iterator<Item = &[u8]> {
        self.buf.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
    }

    /// The words of the current line, which must be `N`.
    pub(super) fn exactly<const N: usize>(&self, what: &'static str) -> Result<[&[u8]; N], MarketError> {
        let mut out = [&[][..]; N];
        let mut found = 0_usize;
        for word in self.words() {
            if let Some(slot) = out.get_mut(found) {
                *slot = word;
            }
            found = found.saturating_add(1);
        }
        if found == N {
            return Ok(out);
        }
        Err(self.error(MarketErrorKind::WordCount { what, found, expected: N }))
    }

    /// Reads one line into `buf`, without its end; false at the end of the file.
    pub(super) fn load(&mut self) -> Result<bool, MarketError> {
        self.buf.clear();
        let mut started = false;
        loop {
            let available = match self.reader.fill_buf() {
                Ok(bytes) => bytes,
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) => return Err(self.reader.error(self.name, self.line.saturating_add(1), &e)),
            };
            if available.is_empty() {
                self.line = self.line.saturating_add(usize::from(started));
                return Ok(started);
            }
            let rest = match available.strip_prefix(b"\n") {
                Some(rest) if self.after_cr => rest,
                _ => available,
            };
            self.after_cr = false;
            started |= !rest.is_empty();
            let end = rest.iter().position(|b| matches!(b, b'\n' | b'\r'));
            let content = end.and_then(|n| rest.get(..n)).unwrap_or(rest);
            if self.buf.len().saturating_add(content.len()) > MAX_LINE {
                self.line = self.line.saturating_add(1);
                return Err(self.error(MarketErrorKind::LineTooLong));
            }
            self.buf.extend_from_slice(content);
            self.after_cr = end.and_then(|n| rest.get(n)) == Some(&b'\r');
            let used = (available.len() - rest.len()) + content.len() + usize::from(end.is_some());
            self.reader.consume(used);
            if end.is_some() {
                self.line = self.line.saturating_add(1);
                return Ok(true);
            }
        }
    }
}
