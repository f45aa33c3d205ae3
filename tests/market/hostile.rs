//! Malformed input: no panic, no hang, memory bounded by 64 times the size + 16 MiB.

use crate::common::alloc::peak_of;
use std::io::{BufReader, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::time::Duration;
use texla::host::market::{MarketErrorKind, ReadOptions, parse_matrix, parse_vector, write_matrix_to};

/// Small files that use every part of the format.
const FILES: [&str; 25] = [
    "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1.5\n2 3 -2e-3\n3 1 7\n",
    "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 4\n2 1 -1\n3 2 -1.25\n",
    "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n1 2 4\n1 3 -1\n",
    "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 4.5\n3 1 -1\n",
    "%%MatrixMarket matrix coordinate integer general\n2 4 2\n1 4 16777217\n2 1 -9\n",
    "%%MatrixMarket matrix coordinate integer symmetric\n2 2 2\n1 1 8\n2 1 -1\n",
    "%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 9223372036854775807\n",
    "%%MatrixMarket matrix coordinate pattern general\n4 2 3\n4 1\n1 2\n1 1\n",
    "%%MatrixMarket matrix coordinate pattern symmetric\n5 5 3\n4 1\n2 2\n5 1\n",
    "%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4.0\n5e0\n6.25\n",
    "%%MatrixMarket matrix array real symmetric\n2 2\n1\n-2\n3\n",
    "%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n-2\n3\n",
    "%%MatrixMarket matrix array integer general\n3 1\n1\n0\n-3\n",
    "%%MatrixMarket matrix array real general\n1 4\n1\n0\n-3\n2.5\n",
    "%%MatrixMarket matrix array real general\n3 0\n",
    "%%MatrixMarket matrix coordinate real general\n3 4 0\n",
    "%%MatrixMarket matrix coordinate real general\n9 1 2\n9 1 1\n9 1 2\n",
    "%%MatrixMarket matrix coordinate real general\r\n% comment\r\n2 2 1\r\n2 2 1D-3\r\n",
    "%MatrixMarket  MATRIX  Coordinate Real General\n\n% c\n\n  2 2    1\n\n 1\t1   .5\n\n\n",
    "%%MatrixMarket matrix coordinate real general\n%%GraphBLAS type double\n2 2 3\n1 1 1\n1 1 2\n2 1 0\n",
    "%%MatrixMarket matrix coordinate real general\n99999 99999 1\n99999 1 3.4028235e38",
    "%%MatrixMarket matrix coordinate real spd\n2 2 2 1 1\n1 1 4\n2 1 -1\n1 5\n2 6\n1 7\n2 8\n",
    "%%MatrixMarket matrix coordinate real symmetric positive-definite\n2 2 2 0 1\n1 1 4\n2 1 -1\n2 6\n1 7\n",
    "%%MatrixMarket matrix coordinate real general\n1 2 2\n1 1 1e40\n1 2 1e-320\n",
    "\u{feff}%%MatrixMarket matrix coordinate real general\r1 1 1\r1 1 1e-45\r",
];

fn bound(size: usize) -> usize {
    64 * size + (16 << 20)
}

/// Runs `f` in a thread of its own and fails if it takes too long.
fn within(limit: Duration, f: impl FnOnce() + Send + 'static) {
    let (done, wait) = mpsc::channel();
    let worker = std::thread::spawn(move || {
        f();
        let _ = done.send(());
    });
    if wait.recv_timeout(limit) == Err(mpsc::RecvTimeoutError::Timeout) {
        panic!("still running after {limit:?}");
    }
    if let Err(payload) = worker.join() {
        std::panic::resume_unwind(payload);
    }
}

/// Reads the text as matrix and as vector. What is accepted must survive a round trip.
fn check(text: &[u8]) {
    let shown = || String::from_utf8_lossy(text).into_owned();
    let parse = || {
        let (matrix, peak) = peak_of(|| parse_matrix(text, "hostile"));
        assert!(peak <= bound(text.len()), "matrix: {peak} bytes");
        let (vector, peak) = peak_of(|| parse_vector(text, "hostile"));
        assert!(peak <= bound(text.len()), "vector: {peak} bytes");
        assert!(matrix.is_ok() || vector.is_err(), "a vector that is no matrix: {matrix:?}");
        // Complex files, and all others as complex ones.
        let options = ReadOptions::default().with_complex(true);
        let (complex, peak) = peak_of(|| options.parse_matrix(text, "hostile"));
        assert!(peak <= bound(text.len()), "real form: {peak} bytes");
        let (vector, peak) = peak_of(|| options.parse_vector(text, "hostile"));
        assert!(peak <= bound(text.len()), "real form of a vector: {peak} bytes");
        assert!(complex.is_ok() || vector.is_err(), "a complex vector that is no matrix: {complex:?}");
        if let Ok(m) = matrix {
            let mut out = Vec::new();
            write_matrix_to(&mut out, &m.triplets).unwrap();
            assert_eq!(parse_matrix(&out[..], "again").unwrap().triplets, m.triplets);
        }
    };
    if catch_unwind(AssertUnwindSafe(parse)).is_err() {
        panic!("the text was {:?}", shown());
    }
}

#[test]
fn the_small_files_are_good() {
    for text in FILES {
        if let Err(e) = parse_matrix(text.as_bytes(), "good") {
            panic!("{text:?}: {e}");
        }
    }
}

#[test]
fn every_truncation() {
    within(Duration::from_secs(120), || {
        for text in FILES.map(str::as_bytes) {
            (0..=text.len()).for_each(|end| check(&text[..end]));
            // Without its last line with text, a file is never good.
            let end = text.trim_ascii_end().iter().rposition(|b| b"\r\n".contains(b)).unwrap();
            for end in 0..=end {
                assert!(
                    parse_matrix(&text[..end], "cut").is_err(),
                    "{:?}",
                    std::str::from_utf8(&text[..end])
                );
            }
        }
    });
}

#[test]
fn every_single_byte_change() {
    within(Duration::from_secs(300), || {
        for text in FILES.map(str::as_bytes) {
            let mut changed = text.to_vec();
            for at in 0..text.len() {
                for byte in (0..=255).filter(|byte| *byte != text[at]) {
                    changed[at] = byte;
                    check(&changed);
                }
                changed[at] = text[at];
            }
        }
    });
}

#[test]
fn every_byte_left_out_or_doubled() {
    within(Duration::from_secs(120), || {
        for text in FILES.map(str::as_bytes) {
            for at in 0..text.len() {
                check(&[&text[..at], &text[at + 1..]].concat());
                check(&[&text[..=at], &text[at..]].concat());
            }
        }
    });
}

#[test]
fn memory_follows_the_file_not_the_header() {
    let pattern = "%%MatrixMarket matrix coordinate pattern symmetric\n9 9 ";
    let array = "%%MatrixMarket matrix array real symmetric\n";
    let lines = 300_000; // Just past a power of two: the worst moment of a growing list.
    let mut cases = vec![
        format!("{pattern}{lines}\n{}", "2 1\n".repeat(lines)),
        format!("{pattern}{}\n{}", u64::MAX, "2 1\n".repeat(lines)),
        format!("{array}2000 2000\n{}", "1\n".repeat(2000 * 2001 / 2)),
        format!("{array}2147483647 2147483647\n{}", "1\n".repeat(lines)),
        format!(
            "%%MatrixMarket matrix coordinate pattern general\n5000000 1 {lines}\n{}",
            "1 1\n".repeat(lines)
        ),
        format!(
            "%%MatrixMarket matrix coordinate pattern general\n2000000 1 {lines}\n{}",
            "1 1\n".repeat(lines)
        ),
        format!("%%MatrixMarket matrix array real general\n{lines} 1\n{}", "1\n".repeat(lines)),
    ];
    let word = "9".repeat(60_000);
    for rest in ["9 9 1\n1 1 ", "9 9 1\n1 1 1D", "9 9 1\n", "", "9 9 1\n1 1 0."] {
        cases.push(format!("%%MatrixMarket matrix coordinate real general\n{rest}{word}"));
    }
    within(Duration::from_secs(120), move || cases.iter().for_each(|text| check(text.as_bytes())));
}

#[test]
fn lines_without_end_are_refused() {
    within(Duration::from_secs(60), || {
        let banner = "%%MatrixMarket matrix coordinate real general\n";
        for (start, byte) in
            [("", b'%'), (banner, b'%'), (banner, b' '), (banner, b'1'), (banner, 0), ("", 0xff)]
        {
            let endless = BufReader::new(start.as_bytes().chain(std::io::repeat(byte)));
            let (result, peak) = peak_of(|| parse_matrix(endless, "endless"));
            let e = result.unwrap_err();
            assert_eq!(e.kind, MarketErrorKind::LineTooLong);
            assert_eq!(e.line, if start.is_empty() { 1 } else { 2 });
            assert!(peak <= bound(0), "{peak} bytes");
        }
    });
}

#[test]
fn read_errors_are_passed_on() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::ConnectionReset.into())
        }
    }
    let banner = "%%MatrixMarket matrix coordinate real general\n2 2 1\n";
    let e = parse_matrix(BufReader::new(banner.as_bytes().chain(Broken)), "broken").unwrap_err();
    assert!(matches!(e.kind, MarketErrorKind::Io { kind: std::io::ErrorKind::ConnectionReset, .. }), "{e}");
}
