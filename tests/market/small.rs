//! Doubtful files in miniature, so that the decisions are tested without the data folder.

use crate::expect::Expect::{self, Read, Refused};
use texla::host::market::{MarketErrorKind, Warning, parse_matrix, parse_vector};

const C: &str = "%%MatrixMarket matrix coordinate real general\n";
const S: &str = "%%MatrixMarket matrix coordinate real symmetric\n";
const K: &str = "%%MatrixMarket matrix coordinate real skew-symmetric\n";
const I: &str = "%%MatrixMarket matrix coordinate integer general\n";
const P: &str = "%%MatrixMarket matrix coordinate pattern general\n";
const A: &str = "%%MatrixMarket matrix array real general\n";

/// Banner, rest, outcome.
#[rustfmt::skip]
const CASES: &[(&str, &str, Expect)] = &[
    // Banner.
    ("", "", Refused(1, "Truncated")),
    ("", "\n\n \n", Refused(3, "Truncated")),
    ("", "2 2 0\n", Refused(1, "Banner")),
    ("", "%%%MatrixMarket matrix coordinate real general\n2 2 0\n", Refused(1, "Banner")),
    ("", "%%GraphBLAS matrix coordinate real general\n2 2 0\n", Refused(1, "Banner")),
    ("", "%MatrixMarket matrix coordinate real general\n2 2 0\n", Read(2, 2, 0)),
    ("", "\n  %%matrixmarket MATRIX Coordinate ReaL generAL \n2 2 0\n", Read(2, 2, 0)),
    ("", "\u{feff}%%MatrixMarket matrix coordinate real general\n2 2 0\n", Read(2, 2, 0)),
    ("", "%%MatrixMarket matrix coordinate real\n2 2 0\n", Refused(1, "WordCount")),
    ("", "%%MatrixMarket matrix coordinate real general x\n2 2 0\n", Refused(1, "Word")),
    ("", "%%MatrixMarket tensor coordinate real general\n2 2 0\n", Refused(1, "Word")),
    ("", "%%MatrixMarket matrix list real general\n2 2 0\n", Refused(1, "Word")),
    ("", "%%MatrixMarket matrix coordinate double general\n2 2 0\n", Refused(1, "Word")),
    ("", "%%MatrixMarket matrix coordinate real triangular\n2 2 0\n", Refused(1, "Word")),
    ("", "%%MatrixMarket vector array real general\n1\n1\n", Refused(1, "Unsupported")),
    ("", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 1\n", Refused(1, "Unsupported")),
    ("", "%%MatrixMarket matrix coordinate real hermitian\n1 1 1\n1 1 1\n", Refused(1, "Unsupported")),
    ("", "%%MatrixMarket matrix coordinate pattern hermitian\n1 1 1\n1 1\n", Refused(1, "Unsupported")),
    ("", "%%MatrixMarket matrix array pattern general\n1 1\n", Refused(1, "Combination")),
    ("", "%%MatrixMarket matrix coordinate pattern skew-symmetric\n2 2 1\n2 1\n", Refused(1, "Combination")),
    // Words that declare a symmetry which the standard has another word for, or that follow it.
    ("", "%%MatrixMarket matrix coordinate real spd\n2 2 3\n1 1 4\n1 2 1\n2 2 3\n", Read(2, 2, 4)),
    ("", "%%MatrixMarket matrix array integer SPD\n2 2\n4\n1\n3\n", Read(2, 2, 4)),
    ("", "%%MatrixMarket matrix coordinate real symmetric positive-definite\n2 2 2\n1 1 4\n2 1 1\n", Read(2, 2, 3)),
    ("", "%%MatrixMarket matrix coordinate real symmetric Positive Definite\n2 2 2\n1 1 4\n2 1 1\n", Read(2, 2, 3)),
    ("", "%%MatrixMarket matrix coordinate real symmetric positive-semidefinite\n1 1 1\n1 1 4\n", Read(1, 1, 1)),
    ("", "%%MatrixMarket matrix coordinate pattern symmetric spd\n2 2 1\n2 1\n", Read(2, 2, 2)),
    ("", "%%MatrixMarket matrix coordinate real spd\n2 3 1\n1 1 4\n", Refused(2, "NotSquare")),
    ("", "%%MatrixMarket matrix coordinate real spd spd spd\n1 1 1\n1 1 4\n", Refused(1, "Word")),
    ("", "%%MatrixMarket matrix coordinate real general spd\n1 1 1\n1 1 4\n", Refused(1, "Word")),
    ("", "%%MatrixMarket matrix coordinate real skew-symmetric positive-definite\n1 1 0\n", Refused(1, "Word")),
    ("", "%%MatrixMarket matrix coordinate real symmetric negative-definite\n1 1 1\n1 1 4\n", Refused(1, "Word")),
    ("", "%%MatrixMarket matrix coordinate real hpd\n1 1 1\n1 1 4\n", Refused(1, "Word")),
    // Vectors after the entries, as Lis has them.
    (C, "2 2 2 1 0\n1 1 4\n2 2 3\n1 1.0\n2 2.0\n", Read(2, 2, 2)),
    (C, "2 2 2 0 0\n1 1 4\n2 2 3\n", Read(2, 2, 2)),
    (C, "2 2 2 0 0\n1 1 4\n2 2 3\n1 1.0\n", Refused(5, "TooManyEntries")),
    (C, "2 2 2 1 0\n1 1 4\n2 2 3\n1 1.0\n", Refused(5, "TooFewElements")),
    (C, "2 2 2 1 1\n1 1 4\n2 2 3\n1 1.0\n2 1\n", Refused(6, "TooFewElements")),
    (C, "2 2 2 1 0\n1 1 4\n2 2 3\n1 1.0\n1 1.0\n", Refused(6, "RepeatedElement")),
    (C, "2 2 2 1 0\n1 1 4\n2 2 3\n1 1.0\n3 1.0\n", Refused(6, "Index")),
    (C, "2 2 2 1 0\n1 1 4\n2 2 3\n1 1.0\n2 nan\n", Refused(6, "NotFinite")),
    (C, "2 2 2 1 0\n1 1 4\n2 2 3\n1 1.0\n2\n", Refused(6, "WordCount")),
    (C, "2 2 2 2 0\n1 1 4\n2 2 3\n", Refused(2, "Number")),
    (C, "2147483647 1 1 1 0\n1 1 4\n1 1.0\n", Refused(4, "TooFewElements")),
    (C, "2 2 2 1 0 0\n1 1 4\n2 2 3\n", Refused(2, "WordCount")),
    (A, "1 1 1 0 0\n4\n", Refused(2, "WordCount")),
    // Size line.
    (C, "", Refused(1, "Truncated")),
    (C, "% only\n%comments\n", Refused(3, "Truncated")),
    (C, "2 2\n", Refused(2, "WordCount")),
    (C, "2 2 1 1\n1 1 1\n", Refused(2, "WordCount")),
    (C, "^ ^ ^\n1 1 1\n", Refused(2, "Number")),
    (C, "-2 2 1\n1 1 1\n", Refused(2, "Number")),
    (C, "2 2 -1\n1 1 1\n", Refused(2, "Number")),
    (C, "2.0 2 1\n1 1 1\n", Refused(2, "Number")),
    (C, "99999999999999999999 1 1\n1 1 1\n", Refused(2, "Number")),
    (C, "1099511627776 1099511627776 3\n1 1 1\n2 2 2\n3 3 3\n", Refused(2, "TooLarge")),
    (C, "2147483648 1 0\n", Refused(2, "TooLarge")),
    (C, "2147483647 2147483647 1\n2147483647 2147483647 1\n", Read(2147483647, 2147483647, 1)),
    (C, "2 2 18446744073709551615\n1 1 1\n1 2 2\n", Refused(4, "TooFewEntries")),
    (C, "0 0 0\n", Read(0, 0, 0)),
    (C, "0 5 1\n1 1 1\n", Refused(3, "Index")),
    (A, "4294967296 4294967296\n1\n", Refused(2, "TooLarge")),
    (A, "2147483647 2147483647\n1\n", Refused(3, "TooFewEntries")),
    (A, "2 2 4\n1\n2\n3\n4\n", Refused(2, "WordCount")),
    (A, "3 0\n", Read(3, 0, 0)),
    (S, "2 3 1\n1 1 1\n", Refused(2, "NotSquare")),
    (K, "3 2 1\n2 1 1\n", Refused(2, "NotSquare")),
    // Entries.
    (C, "2 2 2\n1 1 1\n", Refused(3, "TooFewEntries")),
    (C, "2 2 1\n1 1 1\n2 2 2\n", Refused(4, "TooManyEntries")),
    (C, "2 2 0\njunk\n", Refused(3, "TooManyEntries")),
    (C, "2 2 1\n1 1\n", Refused(3, "WordCount")),
    (C, "2 2 1\n1 1 1 4\n", Refused(3, "WordCount")),
    (C, "2 2 1\n1 1 1 % no comment here\n", Refused(3, "WordCount")),
    (C, "2 2 1\n0 1 1\n", Refused(3, "Index")),
    (C, "2 2 1\n1 3 1\n", Refused(3, "Index")),
    (C, "2 2 1\n-1 1 1\n", Refused(3, "Index")),
    (C, "2 2 1\n1.0 1 1\n", Refused(3, "Index")),
    (C, "2 2 1\n4294967297 1 1\n", Refused(3, "Index")),
    (C, "2 2 1\n18446744073709551617 1 1\n", Refused(3, "Index")),
    (C, "2 2 1\n1 1 one\n", Refused(3, "Number")),
    (C, "2 2 1\n1 1 1,5\n", Refused(3, "Number")),
    (C, "2 2 1\n1 1 0x10\n", Refused(3, "Number")),
    (C, "2 2 1\n1 1 1dd5\n", Refused(3, "Number")),
    (C, "2 2 1\n1 1 nan\n", Refused(3, "NotFinite")),
    (C, "2 2 2\n1 1 1\n1 2 -Infinity\n", Refused(4, "NotFinite")),
    (C, "2 2 1\n1 1 1e39\n", Read(2, 2, 1)),
    (C, "2 2 1\n1 1 1e309\n", Refused(3, "NotFinite")),
    (C, "2 2 1\n1 1 -1D310\n", Refused(3, "NotFinite")),
    (C, "2 2 1\n1 1 3.4028235e38\n", Read(2, 2, 1)),
    (C, "2 2 2\n1 1 0\n2 2 -0.0\n", Read(2, 2, 2)),
    (C, "2 2 3\n1 1 1\n1 1 2\n1 1 3\n", Read(2, 2, 3)),
    (C, "\n%%GraphBLAS type gunk\n\n  2\t2   1\n\n%c\n \t1 1   +.5E-1\n\n%end\n\n", Read(2, 2, 1)),
    (C, "2 2 1\r\n1 1 1\r\n", Read(2, 2, 1)),
    (C, "2 2 1\r1 1 1\r", Read(2, 2, 1)),
    (C, "2 2 1\n1 1 1", Read(2, 2, 1)),
    (I, "2 2 1\n1 1 1.0\n", Refused(3, "Number")),
    (I, "2 2 1\n1 1 1e3\n", Refused(3, "Number")),
    (I, "2 2 1\n1 1 9223372036854775808\n", Refused(3, "Number")),
    (I, "2 2 1\n1 1 -9223372036854775808\n", Read(2, 2, 1)),
    (P, "2 2 1\n1 1 1\n", Refused(3, "WordCount")),
    (P, "2 2 2\n1 1\n1 2\n", Read(2, 2, 2)),
    (A, "2 2\n1\n2\n3\n", Refused(5, "TooFewEntries")),
    (A, "2 2\n1\n2\n3\n4\n5\n", Refused(7, "TooManyEntries")),
    (A, "2 2\n1 2\n3 4\n", Refused(3, "WordCount")),
    (A, "2 2\n1\n0\n3\n4\n", Read(2, 2, 3)),
    // Symmetry.
    (S, "2 2 3\n1 1 2\n1 2 1\n2 1 1\n", Refused(5, "BothTriangles")),
    (S, "3 3 2\n2 1 1\n1 3 1\n", Refused(4, "BothTriangles")),
    (S, "3 3 2\n1 2 1\n1 3 1\n", Read(3, 3, 4)),
    (S, "2 2 2\n1 1 2\n2 1 1\n", Read(2, 2, 3)),
    (S, "2 2 2\n2 1 2\n2 1 1\n", Read(2, 2, 4)),
    (K, "2 2 2\n2 1 2\n1 2 -2\n", Refused(4, "BothTriangles")),
    (K, "2 2 2\n2 1 2\n2 2 1\n", Refused(4, "SkewDiagonal")),
    (K, "2 2 2\n2 1 2\n2 2 0\n", Read(2, 2, 3)),
];

#[test]
fn every_case_has_the_documented_outcome() {
    let mut wrong = Vec::new();
    for (banner, rest, expected) in CASES {
        let text = format!("{banner}{rest}");
        if let Err(found) = expected.check(&parse_matrix(text.as_bytes(), "case")) {
            wrong.push(format!("{text:?}: found {found}, expected {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), CASES.len(), wrong.join("\n"));
}

/// The matrix as rows of numbers.
fn dense(text: &str) -> Vec<Vec<f64>> {
    let csr = parse_matrix(text.as_bytes(), "case").unwrap().triplets.to_csr();
    let mut out = vec![vec![0.0; csr.shape().cols]; csr.shape().rows];
    csr.entries().for_each(|(row, col, value)| out[row][col] = value);
    out
}

#[test]
fn values_land_where_they_belong() {
    let array = "%%MatrixMarket matrix array integer ";
    assert_eq!(dense(&format!("{array}general\n2 3\n1\n2\n3\n4\n5\n6\n")), [[1., 3., 5.], [2., 4., 6.]]);
    assert_eq!(
        dense(&format!("{array}symmetric\n3 3\n1\n2\n3\n4\n5\n6\n")),
        [[1., 2., 3.], [2., 4., 5.], [3., 5., 6.]]
    );
    assert_eq!(
        dense(&format!("{array}skew-symmetric\n3 3\n1\n2\n3\n")),
        [[0., -1., -2.], [1., 0., -3.], [2., 3., 0.]]
    );
    assert_eq!(dense(&format!("{K}2 2 1\n1 2 7\n")), [[0., 7.], [-7., 0.]]);
    assert_eq!(dense(&format!("{S}2 2 2\n2 1 7\n2 1 0.5\n")), [[0., 7.5], [7.5, 0.]]);
    assert_eq!(
        dense(&format!("{C}1 4 4\n1 1 1d2\n1 2 1.5D+02\n1 3 -.25\n1 4 5.\n")),
        [[100., 150., -0.25, 5.]]
    );
    assert_eq!(dense(&format!("{P}1 2 3\n1 2\n1 2\n1 1\n")), [[1., 2.]]);
}

/// Values beyond the range of 32 bits are what the file says.
#[test]
fn values_keep_the_range_of_64_bits() {
    assert_eq!(dense(&format!("{C}1 2 2\n1 1 1e40\n1 2 -1.7976931348623157d308\n")), [[1e40, -f64::MAX]]);
    let text = format!("{A}2 1\n1e300\n-2e39\n");
    assert_eq!(parse_vector(text.as_bytes(), "b").unwrap(), [1e300, -2e39]);
}

/// A right-hand side and a solution after the entries, in any order of their elements.
#[test]
fn vectors_after_the_entries_are_read() {
    let read = |text: &str| {
        let m = parse_matrix(format!("{C}{text}").as_bytes(), "case").unwrap();
        (m.rhs, m.solution, m.triplets.nnz())
    };
    let entries = "1 1 4\n2 3 3\n";
    assert_eq!(read(&format!("2 3 2\n{entries}")), (None, None, 2));
    assert_eq!(read(&format!("2 3 2 1 0\n{entries}2 8e40\n% c\n1 7\n")), (Some(vec![7.0, 8e40]), None, 2));
    let both = format!("2 3 2 1 1\n{entries}1 7\n2 8\n3 3\n1 1\n2 -2d0\n");
    assert_eq!(read(&both), (Some(vec![7.0, 8.0]), Some(vec![1.0, -2.0, 3.0]), 2));
    let solution = format!("2 3 2 0 1\n{entries}1 1\n2 2\n3 3\n");
    assert_eq!(read(&solution), (None, Some(vec![1.0, 2.0, 3.0]), 2));
    let e = parse_matrix(format!("{C}2 2 0 1 0\n1 1\n1 2\n").as_bytes(), "a.mtx").unwrap_err();
    assert_eq!(e.to_string(), "a.mtx:4: the right-hand side has element 1 twice, expected each one once");
}

#[test]
fn a_word_after_the_symmetry_is_refused_by_name() {
    let text = "%%MatrixMarket matrix coordinate real general diagonally dominant\n1 1 1\n1 1 4\n";
    let e = parse_matrix(text.as_bytes(), "a.mtx").unwrap_err();
    assert_eq!(
        e.to_string(),
        "a.mtx:1: word after the symmetry `diagonally dominant`, expected the end of the banner, or `positive-definite` \
         after `symmetric` or `hermitian`"
    );
    let m = parse_matrix(text.replace("general diagonally dominant", "spd").as_bytes(), "a.mtx").unwrap();
    assert_eq!(m.symmetry, texla::host::market::Symmetry::Symmetric);
}

#[test]
fn errors_carry_file_line_and_entry() {
    let text = format!("{C}% c\n2 2 3\n1 1 1\n\n2 2 1e309\n1 2 1\n");
    let e = parse_matrix(text.as_bytes(), "dir/a.mtx").unwrap_err();
    assert_eq!(e.kind, MarketErrorKind::NotFinite { entry: 1, found: "1e309".to_owned() });
    assert_eq!(
        e.to_string(),
        "dir/a.mtx:6: entry 1 (counted from 0) is `1e309`, expected a finite 64-bit float"
    );
    // CR LF and CR count as one line end each.
    let e = parse_matrix(text.replace('\n', "\r\n").as_bytes(), "a").unwrap_err();
    assert_eq!(e.line, 6);
    let e = parse_matrix(text.replace('\n', "\r").as_bytes(), "a").unwrap_err();
    assert_eq!(e.line, 6);
    let e = parse_matrix(format!("{C}2 2 1\n1 1 {}\n", "x".repeat(5000)).as_bytes(), "a").unwrap_err();
    assert!(e.to_string().len() < 120, "{e}");
}

#[test]
fn warnings_count_what_single_precision_loses() {
    let warnings = |text: String| parse_matrix(text.as_bytes(), "case").unwrap().warnings;
    assert_eq!(
        warnings(format!(
            "{I}1 5 5\n1 1 16777216\n1 2 16777217\n1 3 16777218\n1 4 -16777219\n1 5 4294967296\n"
        )),
        [Warning::IntegerRounded { count: 2, line: 4 }]
    );
    assert_eq!(
        warnings(format!("{C}1 5 5\n1 1 0\n1 2 1.1754944e-38\n1 3 1e-38\n1 4 -1e-300\n1 5 0.1\n")),
        [Warning::BelowNormal { count: 2, line: 5 }]
    );
    // What 64 bits take for zero, and zeros with an exponent.
    assert_eq!(
        warnings(format!("{C}1 4 4\n1 1 0e5\n1 2 -0.00D-400\n1 3 1e-400\n1 4 0.001d-330\n")),
        [Warning::BelowNormal { count: 2, line: 5 }]
    );
    // 2^128 - 2^103 is where rounding to 32 bits leaves their range.
    assert_eq!(
        warnings(format!(
            "{C}1 4 4\n1 1 3.4028235677973366e38\n1 2 -3.402823567797336e38\n1 3 1e40\n1 4 -1e308\n"
        )),
        [Warning::BeyondSingle { count: 3, line: 3 }]
    );
    assert_eq!(
        Warning::BeyondSingle { count: 3, line: 3 }.to_string(),
        "3 values are beyond the largest 32-bit float, the first in line 3"
    );
    assert_eq!(
        Warning::BelowNormal { count: 2, line: 5 }.to_string(),
        "2 values are below the normal 32-bit floats, the first in line 5"
    );
}

#[test]
fn vectors() {
    let read = |text: &str| parse_vector(text.as_bytes(), "x");
    assert_eq!(read(&format!("{A}3 1\n1\n0\n3\n")).unwrap(), [1.0, 0.0, 3.0]);
    assert_eq!(read(&format!("{A}1 3\n1\n0\n3\n")).unwrap(), [1.0, 0.0, 3.0]);
    assert!(read(&format!("{A}0 1\n")).unwrap().is_empty());
    assert_eq!(read(&format!("{C}4 1 3\n4 1 1\n2 1 5\n4 1 2\n")).unwrap(), [0.0, 5.0, 0.0, 3.0]);
    assert_eq!(read("%%MatrixMarket matrix array real skew-symmetric\n1 1\n").unwrap(), [0.0]);
    let kind = |text: &str| read(text).unwrap_err().kind;
    assert!(matches!(kind(&format!("{A}2 2\n1\n2\n3\n4\n")), MarketErrorKind::NotAVector { .. }));
    assert!(matches!(kind(&format!("{A}2 1\n1\ninf\n")), MarketErrorKind::NotFinite { entry: 1, .. }));
    let huge = kind(&format!("{C}2147483647 1 1\n1 1 1\n"));
    assert_eq!(huge, MarketErrorKind::SparseVector { len: 2147483647, limit: 1 << 20 });
}
