//! The bytes of a file, as they are or decompressed.

use super::error::{MarketError, MarketErrorKind as Kind};
use super::foreign;
#[cfg(not(feature = "gzip"))]
use super::foreign::ForeignFormat;
#[cfg(feature = "gzip")]
use flate2::bufread::MultiGzDecoder;
#[cfg(feature = "gzip")]
use std::io::BufReader;
use std::io::{self, BufRead, ErrorKind, Read};

/// Number of bytes that tell formats apart; the mark of tar stands at byte 257.
pub(super) const HEAD: usize = 264;

/// First bytes of a gzip stream.
pub(super) const GZIP: &[u8] = b"\x1f\x8b";

/// A file in gzip may expand to this number of entries, whatever its size.
const FREE_ENTRIES: u64 = 1 << 24;

/// Entries for each byte of a larger file in gzip; 256 bytes of memory.
const ENTRIES_A_BYTE: u64 = 16;

/// Most bytes that one byte of a gzip stream expands to.
#[cfg(feature = "script")]
pub(super) const MAX_EXPANSION: u64 = 1032;

/// Most entries that are read of a gzip stream of `bytes` bytes.
pub(super) fn most_entries(bytes: u64) -> u64 {
    FREE_ENTRIES.max(bytes.saturating_mul(ENTRIES_A_BYTE))
}

/// A reader whose first bytes have been looked at, and which counts what it hands out.
pub(super) struct Counted<R> {
    reader: R,
    head: Vec<u8>,
    /// Number of bytes handed out.
    bytes: u64,
}

impl<R: BufRead> Counted<R> {
    fn new(mut reader: R) -> io::Result<Self> {
        let mut head = Vec::new();
        while head.len() < HEAD {
            let available = match reader.fill_buf() {
                Ok(bytes) => bytes,
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) => return Err(e),
            };
            if available.is_empty() {
                break;
            }
            let used = available.len().min(HEAD - head.len());
            head.extend(available.iter().take(used));
            reader.consume(used);
        }
        Ok(Self { reader, head, bytes: 0 })
    }

    /// The first bytes that have not been handed out.
    fn rest(&self) -> &[u8] {
        usize::try_from(self.bytes).ok().and_then(|at| self.head.get(at..)).unwrap_or_default()
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.rest().is_empty() {
            return self.reader.fill_buf();
        }
        Ok(self.rest())
    }

    fn consume(&mut self, used: usize) {
        if self.rest().is_empty() {
            self.reader.consume(used);
        }
        self.bytes = self.bytes.saturating_add(used as u64);
    }
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut available = self.fill_buf()?;
        let read = available.read(out)?;
        self.consume(read);
        Ok(read)
    }
}

/// Decompressed text, which is looked at as a file's bytes are.
#[cfg(feature = "gzip")]
type Unpacked<R> = Counted<BufReader<MultiGzDecoder<Counted<R>>>>;

/// The text of a file: its bytes, or what gzip has compressed there.
pub(super) enum Source<R> {
    Plain(Counted<R>),
    #[cfg(feature = "gzip")]
    Gzip(Box<Unpacked<R>>),
}

impl<R: BufRead> Source<R> {
    /// Reads the first bytes, and refuses what they say is another format.
    pub(super) fn new(reader: R, name: &str) -> Result<Self, MarketError> {
        let plain = Counted::new(reader).map_err(|e| MarketError::io(name, &e))?;
        if !plain.head.starts_with(GZIP) {
            foreign_to(&plain.head, name)?;
            return Ok(Self::Plain(plain));
        }
        Self::unpacked(plain, name)
    }

    #[cfg(feature = "gzip")]
    fn unpacked(plain: Counted<R>, name: &str) -> Result<Self, MarketError> {
        // No more than a line's worth of text is held: what a stream expands to does not matter.
        let decoder = BufReader::new(MultiGzDecoder::new(plain));
        let unpacked = Counted::new(decoder).map_err(|e| damage(name, 1, &e))?;
        foreign_to(&unpacked.head, name)?;
        Ok(Self::Gzip(Box::new(unpacked)))
    }

    #[cfg(not(feature = "gzip"))]
    fn unpacked(_: Counted<R>, name: &str) -> Result<Self, MarketError> {
        Err(MarketError::new(name, 1, Kind::Foreign { format: ForeignFormat::Gzip }))
    }

    /// Bytes of the file that have been read, compressed as they are.
    pub(super) fn file_bytes(&self) -> u64 {
        match self {
            Self::Plain(plain) => plain.bytes,
            #[cfg(feature = "gzip")]
            Self::Gzip(unpacked) => unpacked.reader.get_ref().get_ref().bytes,
        }
    }

    /// Whether the text has been compressed.
    pub(super) fn is_compressed(&self) -> bool {
        !matches!(self, Self::Plain(_))
    }

    /// The error of a read: the operating system's, or damage in the compressed bytes.
    pub(super) fn error(&self, name: &str, line: usize, error: &io::Error) -> MarketError {
        if self.is_compressed() { damage(name, line, error) } else { MarketError::io(name, error) }
    }
}

/// The error of a decoder, which hands on those of the operating system.
fn damage(name: &str, line: usize, error: &io::Error) -> MarketError {
    let damage = match error.kind() {
        ErrorKind::UnexpectedEof => "it ends too early".to_owned(),
        ErrorKind::InvalidData | ErrorKind::InvalidInput => error.to_string(),
        _ => return MarketError::io(name, error),
    };
    MarketError::new(name, line, Kind::Gzip { damage })
}

fn foreign_to(head: &[u8], name: &str) -> Result<(), MarketError> {
    match foreign::of_bytes(head) {
        Some(format) => Err(MarketError::new(name, 1, Kind::Foreign { format })),
        None => Ok(()),
    }
}

impl<R: BufRead> Read for Source<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(plain) => plain.read(out),
            #[cfg(feature = "gzip")]
            Self::Gzip(unpacked) => unpacked.read(out),
        }
    }
}

impl<R: BufRead> BufRead for Source<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self {
            Self::Plain(plain) => plain.fill_buf(),
            #[cfg(feature = "gzip")]
            Self::Gzip(unpacked) => unpacked.fill_buf(),
        }
    }

    fn consume(&mut self, used: usize) {
        match self {
            Self::Plain(plain) => plain.consume(used),
            #[cfg(feature = "gzip")]
            Self::Gzip(unpacked) => unpacked.consume(used),
        }
    }
}
