//! Files that gzip has compressed: recognised by their bytes, streamed, and refused by name where they are damaged.

use crate::common::alloc::peak_of;
use crate::common::data;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{BufReader, Read, Write};
use texla::host::market::{
    ForeignFormat, MarketErrorKind, ReadOptions, parse_matrix, parse_vector, read_matrix, read_vector,
};

const TEXT: &str = "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 4\n2 1 -1\n3 2 -1.25e-3\n";
const VECTOR: &str = "%%MatrixMarket matrix array real general\n3 1\n1\n0\n-7.5\n";

fn gzip(text: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_ref()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn what_is_compressed_is_read_whatever_its_name() {
    let plain = parse_matrix(TEXT.as_bytes(), "plain").unwrap();
    assert_eq!(parse_matrix(&gzip(TEXT)[..], "packed").unwrap(), plain);
    assert_eq!(parse_vector(&gzip(VECTOR)[..], "packed").unwrap(), [1.0, 0.0, -7.5]);
    let folder = crate::common::scratch::folder();
    for name in ["packed.mtx.gz", "packed.mtx", "packed"] {
        let path = folder.join(name);
        std::fs::write(&path, gzip(TEXT)).unwrap();
        assert_eq!(read_matrix(&path).unwrap(), plain, "{name}");
        std::fs::write(&path, gzip(VECTOR)).unwrap();
        assert_eq!(read_vector(&path).unwrap(), [1.0, 0.0, -7.5], "{name}");
    }
    let complex =
        TEXT.replace("real symmetric", "complex general").replace("e-3", " 2").replace("4\n", "4 0\n");
    let options = ReadOptions::default().with_complex(true);
    let packed = options.parse_matrix(&gzip(complex.replace("-1\n", "-1 0\n"))[..], "packed").unwrap();
    assert_eq!(packed.triplets.nnz(), 12);
}

#[test]
fn a_compressed_matrix_of_the_data_folder_is_read() {
    let file = "people/graph_powerlaw_singular.mtx.gz";
    let path = data::data_root().map(|root| root.join(file)).filter(|path| path.exists());
    let Some(path) = path else { return data::not_run(1, "compressed matrices") };
    let m = read_matrix(path).unwrap();
    let a = m.triplets.to_csr();
    assert_eq!((a.shape().rows, a.shape().cols), (20_000, 20_000));
    // A graph's: rows sum to zero.
    assert!(a.mul_vec(&vec![1.0; 20_000]).unwrap().iter().all(|sum| sum.abs() < 1e-9));
}

/// Readers hand out as many bytes as they like, and streams may have several members, as `cat a.gz b.gz` writes.
#[test]
fn any_portions_and_members_make_the_same_text() {
    let plain = parse_matrix(TEXT.as_bytes(), "plain").unwrap();
    for capacity in [1, 2, 3, 17, 300] {
        let reader = BufReader::with_capacity(capacity, TEXT.as_bytes());
        assert_eq!(parse_matrix(reader, "plain").unwrap(), plain, "{capacity}");
        let packed = gzip(TEXT);
        let reader = BufReader::with_capacity(capacity, &packed[..]);
        assert_eq!(parse_matrix(reader, "packed").unwrap(), plain, "{capacity}");
    }
    for at in 0..TEXT.len() {
        let (first, second) = TEXT.split_at(at);
        let members = [gzip(first), gzip(""), gzip(second)].concat();
        assert_eq!(parse_matrix(&members[..], "members").unwrap(), plain, "{at}");
    }
}

#[test]
fn lines_of_errors_are_those_of_the_text() {
    let e = parse_matrix(&gzip(TEXT.replace("2 1 -", "4 1 -"))[..], "a.mtx.gz").unwrap_err();
    assert_eq!(e.to_string(), "a.mtx.gz:4: row index `4`, expected an integer from 1 to 3");
    let e = parse_matrix(&gzip("")[..], "a.mtx.gz").unwrap_err();
    assert!(matches!(e.kind, MarketErrorKind::Truncated { .. }), "{e}");
}

#[test]
fn a_stream_that_is_cut_or_changed_is_damaged() {
    let packed = gzip(TEXT);
    let plain = parse_matrix(TEXT.as_bytes(), "plain").unwrap();
    for end in 2..packed.len() {
        for vector in [false, true] {
            let e = match vector {
                true => parse_vector(&packed[..end], "a.mtx.gz").unwrap_err(),
                false => parse_matrix(&packed[..end], "a.mtx.gz").unwrap_err(),
            };
            assert!(matches!(e.kind, MarketErrorKind::Gzip { .. }), "{end}: {e}");
            assert!(e.to_string().ends_with(": the gzip stream is damaged: it ends too early"), "{end}: {e}");
        }
    }
    for at in 2..packed.len() {
        for byte in 0..=255 {
            let mut changed = packed.clone();
            changed[at] = byte;
            // The header has bytes that mean nothing, such as a time. What damage makes of the text is never blamed on the text.
            match parse_matrix(&changed[..], "changed") {
                Ok(read) => assert_eq!(read, plain, "{at} {byte}"),
                Err(e) => assert!(matches!(e.kind, MarketErrorKind::Gzip { .. }), "{at} {byte}: {e}"),
            }
        }
    }
    let trailing = [&packed[..], b"more"].concat();
    let e = parse_matrix(&trailing[..], "trailing").unwrap_err();
    assert!(matches!(e.kind, MarketErrorKind::Gzip { .. }), "{e}");
}

/// An error of the operating system is not blamed on the stream.
#[test]
fn errors_of_the_reader_are_passed_on() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::ConnectionReset.into())
        }
    }
    let entries: String = (0..5000).map(|i| format!("1 1 {}e{}\n", i * i, i % 97)).collect();
    let packed = gzip(format!("%%MatrixMarket matrix coordinate real general\n1 1 5000\n{entries}"));
    for end in [2, 20, packed.len() / 2] {
        let e = parse_matrix(BufReader::new(packed[..end].chain(Broken)), "broken").unwrap_err();
        assert!(
            matches!(e.kind, MarketErrorKind::Io { kind: std::io::ErrorKind::ConnectionReset, .. }),
            "{e}"
        );
    }
}

#[test]
fn other_formats_are_recognised_inside_too() {
    let format = |bytes: &[u8]| match parse_matrix(&gzip(bytes)[..], "case").unwrap_err().kind {
        MarketErrorKind::Foreign { format } => format,
        other => panic!("{other}"),
    };
    assert_eq!(format(&gzip(TEXT)), ForeignFormat::Gzip);
    assert_eq!(format(b"\x93NUMPY\x01\x00"), ForeignFormat::NumpyArray);
    let mut tar = vec![0; 512];
    tar[257..262].copy_from_slice(b"ustar");
    assert_eq!(format(&tar), ForeignFormat::Tar);
    assert_eq!(format(b"1 1 4\n2 2 3.5\n"), ForeignFormat::TripletList { commas: false, sized: false });
}

/// Repeats a text in members, so that compressing it takes no time.
fn bomb(start: &str, repeated: &str, times: usize) -> Vec<u8> {
    let member = gzip(repeated);
    [&gzip(start)[..], &member.repeat(times)].concat()
}

/// A text without end is read to an end in little memory: blank lines, a line that is too long, and zeros that are not stored.
#[test]
fn what_expands_without_entries_takes_no_memory() {
    let banner = "%%MatrixMarket matrix coordinate real general\n";
    let array = "%%MatrixMarket matrix array real general\n5000 5000\n";
    for (start, repeated, expected) in [
        (banner, "\n".repeat(1 << 20), "Truncated"),
        (banner, " ".repeat(1 << 20), "LineTooLong"),
        ("", "\0".repeat(1 << 20), "LineTooLong"),
        (array, "0\n".repeat(1 << 19), "TooFewEntries"),
    ] {
        let packed = bomb(start, &repeated, 16);
        assert!(packed.len() < 40_000, "{}", packed.len());
        let (read, peak) = peak_of(|| parse_matrix(&packed[..], "bomb"));
        let kind = format!("{:?}", read.unwrap_err().kind);
        assert!(kind.starts_with(expected), "{kind}");
        assert!(peak < 1 << 20, "{peak} bytes");
    }
}

/// Entries take memory: more than a file of this size stands for are refused before they fill it.
#[test]
fn a_bomb_of_entries_is_refused() {
    const FREE: usize = 1 << 24;
    let lines = 1 << 16;
    let array = "%%MatrixMarket matrix array real general\n2147483647 1\n";
    let packed = bomb(array, &"1\n".repeat(lines), FREE / lines + 1);
    assert!(packed.len() < 200_000, "{}", packed.len());
    let (read, peak) = peak_of(|| parse_vector(&packed[..], "bomb"));
    let e = read.unwrap_err();
    assert!(
        matches!(e.kind, MarketErrorKind::Expansion { entries, .. } if entries == FREE as u64 + 1),
        "{e}"
    );
    assert_eq!(e.line, FREE + 3, "{e}");
    assert!(e.to_string().contains("out of proportion: if they are meant, decompress the file"), "{e}");
    // Elements of 8 bytes, while a list twice as long is filled.
    assert!(peak < 8 * FREE * 3 + (1 << 20), "{peak} bytes");
    // A coordinate file of few bytes is no vector of any length, however many bytes it expands to.
    let start = "%%MatrixMarket matrix coordinate real general\n2147483647 1 0\n";
    let packed = bomb(start, &"\n".repeat(1 << 20), 16);
    let (read, peak) = peak_of(|| parse_vector(&packed[..], "bomb"));
    assert!(matches!(read.unwrap_err().kind, MarketErrorKind::SparseVector { .. }));
    assert!(peak < 1 << 20, "{peak} bytes");
}
