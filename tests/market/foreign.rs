//! Files of other formats: recognised, and refused with a command that converts them.

use crate::common::alloc::peak_of;
use std::io::BufReader;
use texla::host::market::ForeignFormat::{self, *};
use texla::host::market::{MarketErrorKind, parse_matrix, parse_vector};

/// The format that a file is refused as, or the kind of another error.
fn format(bytes: &[u8]) -> Result<ForeignFormat, String> {
    let e = parse_matrix(bytes, "case").unwrap_err();
    assert_eq!(parse_vector(bytes, "case").unwrap_err(), e);
    match e.kind {
        MarketErrorKind::Foreign { format } => {
            assert_eq!(e.line, 1);
            Ok(format)
        }
        kind => Err(format!("{kind:?}").chars().take_while(char::is_ascii_alphanumeric).collect()),
    }
}

fn padded(start: &[u8], length: usize) -> Vec<u8> {
    let mut bytes = start.to_vec();
    bytes.resize(length, 0);
    bytes
}

/// A local header of zip, as NumPy and Info-ZIP write it.
fn zip(name: &str) -> Vec<u8> {
    let mut bytes = padded(b"PK\x03\x04\x14\0", 26);
    bytes.extend([name.len() as u8, 0, 0, 0]);
    bytes.extend(name.as_bytes());
    bytes.extend(b"\x93contents");
    bytes
}

#[test]
fn first_bytes_are_recognised() {
    let mut tar = padded(b"matrix/matrix.mtx", 512);
    tar[257..263].copy_from_slice(b"ustar\0");
    for (bytes, expected) in [
        (zip("indices.npy"), NumpyArchive),
        (zip("matrix.mtx"), Zip),
        (padded(b"PK\x05\x06", 22), Zip),
        (
            b"\x93NUMPY\x01\0v\0{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }\n".to_vec(),
            NumpyArray,
        ),
        (padded(b"MATLAB 5.0 MAT-file, Platform: GLNXA64", 600), MatFile),
        (padded(b"MATLAB 7.3 MAT-file, Platform: GLNXA64", 600), Hdf5),
        (padded(b"\x89HDF\r\n\x1a\n\0", 600), Hdf5),
        (b"BZh91AY&SY".to_vec(), Bzip2),
        (b"\xfd7zXZ\0\0".to_vec(), Xz),
        (b"\x28\xb5\x2f\xfd\x04".to_vec(), Zstd),
        (tar, Tar),
        (mat_4(u32::to_le_bytes, 0, b"A\0"), MatFile),
        (mat_4(u32::to_be_bytes, 1000, b"A\0"), MatFile),
        (mat_4(u32::to_le_bytes, 2, b"stiffness_2\0"), MatFile),
        (utf16(u16::to_le_bytes, "\u{feff}%%MatrixMarket"), Utf16),
        (utf16(u16::to_be_bytes, "\u{feff}1 1 4"), Utf16),
        (utf16(u16::to_le_bytes, "%%MatrixMarket"), Utf16),
    ] {
        assert_eq!(format(&bytes), Ok(expected));
        // However few bytes come at a time.
        let slow = parse_matrix(BufReader::with_capacity(1, &bytes[..]), "case").unwrap_err();
        assert_eq!(slow.kind, MarketErrorKind::Foreign { format: expected });
        // None of these marks is a mark when it is cut.
        assert_eq!(format(&bytes[..2]), Err("Banner".to_owned()), "{expected:?}");
    }
}

/// A matrix of 3 x 2 in a MAT-file of version 4.
fn mat_4(bytes: fn(u32) -> [u8; 4], kind: u32, name: &[u8]) -> Vec<u8> {
    let head = [kind, 3, 2, 0, name.len() as u32].into_iter().flat_map(bytes);
    let mut all: Vec<u8> = head.chain(name.iter().copied()).collect();
    all.extend([0; 48]);
    all
}

fn utf16(bytes: fn(u16) -> [u8; 2], text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(bytes).collect()
}

/// Kinds of numbers, orders of bytes and names that no MAT-file has.
#[test]
fn what_only_begins_like_a_mat_file_is_none() {
    for bytes in [
        mat_4(u32::to_le_bytes, 1000, b"A\0"),
        mat_4(u32::to_le_bytes, 60, b"A\0"),
        mat_4(u32::to_le_bytes, 3, b"A\0"),
        mat_4(u32::to_le_bytes, 0, b"\0"),
        mat_4(u32::to_le_bytes, 0, b"A B\0"),
        mat_4(u32::to_le_bytes, 0, b"AB"),
        vec![0; 264],
    ] {
        assert_ne!(format(&bytes), Ok(MatFile), "{bytes:?}");
    }
}

/// The first lines of a file in fixed columns.
fn boeing(counts: &[u32], kind: &str, formats: &str) -> String {
    let columns = |numbers: &[u32]| numbers.iter().map(|n| format!("{n:14}")).collect::<String>();
    let title = format!("{:72}{:8}", "1138 bus power system", "1138_BUS");
    let values = "    1    3\n    1    2    2\n 1.0E+00 2.0E+00 3.0E+00\n";
    format!("{title}\n{}\n{kind}{:11}{}\n{formats}\n{values}", columns(counts), "", columns(&[2, 2, 3, 0]))
}

#[test]
fn files_of_fixed_columns_are_recognised() {
    let formats = "(16I5)          (16I5)          (10F7.1)            ";
    assert_eq!(format(boeing(&[3, 1, 1, 1, 0], "RSA", formats).as_bytes()), Ok(HarwellBoeing));
    assert_eq!(format(boeing(&[3, 1, 1, 1], "RUA", formats).as_bytes()), Ok(HarwellBoeing));
    assert_eq!(format(boeing(&[3, 1, 1, 1], "rsa", formats).as_bytes()), Ok(RutherfordBoeing));
    assert_eq!(
        format(boeing(&[2, 1, 1, 0], "psa", "(16I5)          (16I5)").as_bytes()),
        Ok(RutherfordBoeing)
    );
    assert_eq!(format(boeing(&[3, 1, 1, 1, 0], "RSE", formats).as_bytes()), Ok(Elements));
    assert_eq!(
        format(boeing(&[3, 1, 1, 1], "rsa", formats).replace('\n', "\r\n").as_bytes()),
        Ok(RutherfordBoeing)
    );
    for text in [
        boeing(&[3, 1, 1, 1, 0], "RXA", formats),
        boeing(&[3, 1], "RSA", formats),
        boeing(&[3, 1, 1, 1, 0], "RSA", "16I5"),
        boeing(&[3, 1, 1, 1, 0], "RSA", formats).replace("        1", "      1.5"),
    ] {
        assert_eq!(format(text.as_bytes()), Err("Banner".to_owned()), "{text}");
    }
}

#[test]
fn lines_of_numbers_are_recognised() {
    for (text, commas, sized) in [
        ("1 1 4\n2 1 -1.5\n2 2 3e1\n", false, false),
        ("0\t0\t4\n\n1\t1\t-1.5\n", false, false),
        ("# i j v\n1 1 4\n2 1 -1.5\n", false, false),
        ("1, 1, 4\n2, 1, -1.5\n", true, false),
        ("2 2 3\n1 1 4\n2 1 -1.5\n2 2 3\n", false, true),
        ("2,2,3\r\n1,1,4\r\n2,1,-1.5\r\n", true, true),
        ("2 2 3.5\n1 1 4\n2 1 -1.5\n", false, false),
    ] {
        assert_eq!(format(text.as_bytes()), Ok(TripletList { commas, sized }), "{text}");
    }
    for (text, commas) in [
        ("1 2 3 4\n5 6 7 8\n", false),
        ("1.5 2 3\n4 5 6\n", false),
        ("-1 2 3\n4 5 6\n", false),
        ("1 2\n3 4\n", false),
        ("1\n2\n", false),
        ("1,2,3,4\n", true),
        ("1.5 , 2e-3\n3,4\n", true),
    ] {
        assert_eq!(format(text.as_bytes()), Ok(DenseText { commas }), "{text}");
    }
    // What may be anything.
    for text in [
        "2 2 0\n",
        "1 2\n3\n",
        "1 2 3\n4 5 x\n",
        "2 2 2\n1 1\n2 2\n",
        "1,2\n3\n",
        "name,value\n1,2\n",
        "\0\n\0\n",
    ] {
        assert_eq!(format(text.as_bytes()), Err("Banner".to_owned()), "{text:?}");
    }
    // The error is the one of the first line with text.
    let e = parse_matrix(&b"\n\n1 2\n3 4\n5 6\n"[..], "a.txt").unwrap_err();
    assert_eq!(e.line, 3);
    let e = parse_matrix(&b"\n1 2\n3 four\n5 6\n"[..], "a.txt").unwrap_err();
    assert_eq!(
        e.to_string(),
        "a.txt:2: found `1 2`, expected the banner `%%MatrixMarket matrix <format> <field> <symmetry>`"
    );
}

/// One line that says what the file is and how it is converted. The commands have been tried with NumPy 2 and SciPy 1.17.
#[test]
fn a_refusal_is_one_line_with_a_command() {
    let text = |format: ForeignFormat| format.to_string();
    assert_eq!(
        text(NumpyArchive),
        "NumPy archive; convert it: python3 -c \"import numpy as n, scipy.sparse as s, scipy.io as o; a = n.load('a.npz'); o.mmwrite('a.mtx', s.load_npz('a.npz') if 'format' in a else a[a.files[0]])\" (SciPy's sparse matrix, or the first array)"
    );
    let mut all = vec![Gzip, Bzip2, Xz, Zstd, Tar, Zip, Utf16, NumpyArchive, NumpyArray, MatFile, Hdf5];
    all.extend([HarwellBoeing, RutherfordBoeing, Elements]);
    for commas in [false, true] {
        all.push(DenseText { commas });
        all.extend([false, true].map(|sized| TripletList { commas, sized }));
    }
    for format in all {
        let text = text(format);
        assert!(!text.contains('\n') && !text.contains("  ") && text.contains("; "), "{text}");
        // A shell takes the command as it stands: of double quotes there is one pair, and nothing in it that a shell replaces.
        assert!([0, 2].contains(&text.matches('"').count()), "{text}");
        let quoted = text.split('"').nth(1).unwrap_or_default();
        assert!(!quoted.contains(['$', '`', '!']), "{text}");
        assert_eq!(quoted.is_empty(), !text.contains("python3 -c \""), "{text}");
    }
    let csv = text(DenseText { commas: true });
    assert!(csv.contains("n.loadtxt('a.csv', ndmin=2, delimiter=',')"), "{csv}");
}

/// Lines that are looked at are no longer than others, and the rest of the file is not read.
#[test]
fn recognising_takes_little_memory() {
    let lines = "1 2 3 4\n".repeat(1 << 20);
    let long = format!("1 2\n{}\n", "3 ".repeat(1 << 20));
    for (text, expected) in [(lines, Ok(DenseText { commas: false })), (long, Err("Banner".to_owned()))] {
        let (found, peak) = peak_of(|| format(text.as_bytes()));
        assert_eq!(found, expected);
        assert!(peak < 2 << 20, "{peak} bytes");
    }
}

/// The command that converts a file names it, unless its name means more to a shell.
#[test]
fn commands_name_the_file() {
    let said = |file: &str| parse_matrix(&b"\x93NUMPY\x01\x00"[..], file).unwrap_err().to_string();
    assert!(said("runs/k 1.npy").contains("n.load('a.npy')"));
    assert!(said("runs/k-1.npy").contains("n.load('runs/k-1.npy')"), "{}", said("runs/k-1.npy"));
    assert!(said("it's.npy").contains("n.load('a.npy')"));
    let text = |file: &str| parse_matrix(&b"1 2\n3 4\n"[..], file).unwrap_err().to_string();
    assert!(
        text("rows.txt").contains("n.loadtxt('rows.txt'") && text("rows.txt").contains("o.mmwrite('a.mtx'")
    );
    // Not over itself.
    assert!(text("a.mtx").contains("n.loadtxt('a.txt'"));
}
