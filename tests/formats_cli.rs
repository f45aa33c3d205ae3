//! The examples `solve` and `matrices` on files of other forms: compressed, complex, extended, beyond 32 bits, and foreign ones.
#![cfg(all(feature = "gzip", feature = "headless"))]

mod common;

use std::fs;
use std::io::Write;

use common::cli::{Ran, assert_refused, json, run, scratch, write};
use flate2::{Compression, write::GzEncoder};
use texla::host::market::{ReadOptions, read_vector};

const MATRIX: &str =
    "%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n1 1 3\n2 1 -1\n2 2 3\n3 2 -1\n3 3 3\n";
const RHS: &str = "%%MatrixMarket matrix array real general\n3 1\n1\n0\n5\n";
/// Hermitian, as are its leading parts positive: (4, 1 - 2i, 0; 1 + 2i, 5, 0; 0, 0, 6).
const COMPLEX: &str =
    "%%MatrixMarket matrix coordinate complex hermitian\n3 3 4\n1 1 4 0\n2 1 1 2\n2 2 5 0\n3 3 6 0\n";
/// The matrix times (1 + i, 2, 3i).
const COMPLEX_RHS: &str = "%%MatrixMarket matrix array complex general\n3 1\n6 0\n9 3\n0 18\n";
const COMPLEX_X: [f64; 6] = [1.0, 1.0, 2.0, 0.0, 0.0, 3.0];

fn packed(name: &str, text: &str) -> String {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    let path = scratch(name);
    fs::write(&path, encoder.finish().unwrap()).unwrap();
    path
}

fn close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (x, want) in found.iter().zip(expected) {
        assert!((x - want).abs() <= 1e-6 * (want.abs() + 1.0), "{found:?}, expected {expected:?}");
    }
}

#[test]
fn compressed_files_are_those_that_they_hold() {
    let solved = |matrix: &str, rhs: &str| {
        let out = scratch("formats_x.mtx");
        let (code, report) =
            json("solve", &["--matrix", matrix, "--rhs", rhs, "--tol", "1e-9", "--out", &out]);
        let told = ["reason", "iterations", "true_relative_residual"].map(|key| report[key].clone());
        (code, told, fs::read_to_string(out).unwrap())
    };
    let plain = solved(&write("formats_a.mtx", MATRIX), &write("formats_b.mtx", RHS));
    assert_eq!(plain.0, 0, "{plain:?}");
    assert_eq!(solved(&packed("formats_a.mtx.gz", MATRIX), &packed("formats_b", RHS)), plain);
}

#[test]
fn foreign_files_are_refused_with_a_command() {
    let list = write("formats_list.txt", "1 1 4\n2 2 5.5\n");
    assert_refused("solve", &["--matrix", &list], "list of entries `row column value`");
    assert_refused("matrices", &[&list], "s.coo_matrix(");
    let matrix = write("formats_a.mtx", MATRIX);
    let csv = write("formats_b.csv", "1,2\n3,4\n");
    assert_refused("solve", &["--matrix", &matrix, "--rhs", &csv], "delimiter=','");
    let npz = scratch("formats.npz");
    fs::write(&npz, b"PK\x03\x04 indices.npy").unwrap();
    assert_refused(
        "solve",
        &["--matrix", &npz],
        "NumPy archive; convert it: python3 -c \"import numpy as n, scipy.sparse as s",
    );
}

#[test]
fn complex_systems_are_solved_on_request() {
    let matrix = write("formats_complex.mtx", COMPLEX);
    let rhs = write("formats_complex_b.mtx", COMPLEX_RHS);
    let out = scratch("formats_complex_x.mtx");
    for files in [vec!["--matrix", &matrix], vec!["--matrix", &matrix, "--rhs", &rhs]] {
        assert_refused(
            "solve",
            &files,
            "expected `real`, `integer` or `pattern`, or its real form with --complex",
        );
    }
    assert_refused("solve", &["--complex"], "--matrix");
    let system = ["--complex", "--matrix", &matrix, "--rhs", &rhs, "--tol", "1e-9"];
    let (code, report) = json("solve", &[&system[..], &["--out", &out]].concat());
    assert_eq!((code, &report["matrix"]["rows"]), (0, &6.into()), "{report}");
    assert!(
        fs::read_to_string(&out).unwrap().starts_with("%%MatrixMarket matrix array complex general\n3 1\n")
    );
    let options = ReadOptions::default().with_complex(true);
    close(&options.read_vector(&out).unwrap(), &COMPLEX_X);
    // What came out, as the known solution.
    let (_, report) = json("solve", &[&system[..], &["--x-ref", &out]].concat());
    assert_eq!(report["relative_error"].as_f64(), Some(0.0), "{report}");

    // A real matrix with a complex right-hand side: 3 x = b.
    let diagonal = "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 3\n2 2 3\n3 3 3\n";
    let diagonal = write("formats_diagonal.mtx", diagonal);
    let files = ["--complex", "--matrix", &diagonal, "--rhs", &rhs, "--out", &out];
    let (code, report) = json("solve", &files);
    assert_eq!(code, 0, "{report}");
    close(&options.read_vector(&out).unwrap(), &[2.0, 0.0, 3.0, 1.0, 0.0, 6.0]);
    // Elements are counted as complex numbers.
    let short = write("formats_short.mtx", "%%MatrixMarket matrix array complex general\n2 1\n6 0\n9 3\n");
    assert_refused(
        "solve",
        &["--complex", "--matrix", &matrix, "--rhs", &short],
        "has 2 elements, expected 3",
    );
}

#[test]
fn vectors_in_the_file_of_the_matrix_are_taken() {
    let text =
        "%%MatrixMarket matrix coordinate real general\n2 2 2 1 1\n1 1 4\n2 2 2\n1 8\n2 -3\n1 2\n2 -1.5\n";
    let matrix = write("formats_lis.mtx", text);
    let out = scratch("formats_lis_x.mtx");
    let system = ["--matrix", &matrix, "--out", &out];
    let (code, report) = json("solve", &system);
    assert_eq!(code, 0, "{report}");
    assert!(report["relative_error"].as_f64().unwrap() < 1e-5, "{report}");
    close(&read_vector(&out).unwrap(), &[2.0, -1.5]);
    // Flags go first.
    let rhs = write("formats_lis_b.mtx", "%%MatrixMarket matrix array real general\n2 1\n4\n4\n");
    let (code, report) = json("solve", &[&system[..], &["--rhs", &rhs, "--x-ref", &rhs]].concat());
    assert_eq!(code, 0, "{report}");
    assert!(report["relative_error"].as_f64().unwrap() > 0.1, "{report}");
    close(&read_vector(&out).unwrap(), &[1.0, 2.0]);
}

/// Values past the range of 32 bits: the system is scaled before it is uploaded.
#[test]
fn values_beyond_32_bits_are_scaled() {
    let text = "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1e40\n1 2 3e39\n2 2 2e41\n";
    let matrix = write("formats_beyond.mtx", text);
    let rhs = write("formats_beyond_b.mtx", "%%MatrixMarket matrix array real general\n2 1\n7e39\n-2e41\n");
    let out = scratch("formats_beyond_x.mtx");
    let Ran { code, stdout, stderr } =
        run("solve", &["--matrix", &matrix, "--rhs", &rhs, "--tol", "1e-9", "--out", &out]);
    assert_eq!((code, stderr.as_str()), (0, ""), "{stdout}");
    assert!(stdout.contains("3 values are beyond the largest 32-bit float, the first in line 3"), "{stdout}");
    close(&read_vector(&out).unwrap(), &[1.0, -1.0]);
}

#[test]
fn the_gallery_takes_compressed_and_complex_matrices() {
    let folder = scratch("formats_gallery");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    packed("formats_gallery/plain.mtx.gz", MATRIX);
    packed("formats_gallery/other.tar.gz", "");
    write("formats_gallery/complex.mtx", COMPLEX);
    let (code, report) = json("matrices", &[&folder]);
    assert_eq!((code, &report["systems"]), (0, &2.into()), "{report}");
    let unread = report["not_read"][0].as_str().unwrap();
    assert!(unread.contains("complex.mtx") && unread.ends_with("its real form with --complex"), "{report}");
    let (code, report) = json("matrices", &[&folder, "--complex"]);
    assert_eq!((code, &report["systems"]), (0, &4.into()), "{report}");
    // Real ones stay as they are.
    let rows: Vec<_> = report["rows"].as_array().unwrap().iter().map(|row| row["rows"].as_u64()).collect();
    assert_eq!(rows, [Some(6), Some(6), Some(3), Some(3)], "{report}");
    let Ran { stdout, .. } = run("matrices", &[&folder, "--complex"]);
    assert!(stdout.lines().any(|line| line.starts_with("plain ")), "{stdout}");
}
