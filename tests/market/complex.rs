//! Complex files: their real form, on request, against complex arithmetic in 64 bits.

use crate::common::alloc::peak_of;
use texla::host::market::{
    Field, MarketErrorKind, MarketMatrix, ReadOptions, Symmetry, parse_matrix, parse_vector,
};

const BANNER: &str = "%%MatrixMarket matrix coordinate complex ";

fn read(text: &str) -> MarketMatrix {
    ReadOptions::default().with_complex(true).parse_matrix(text.as_bytes(), "case").unwrap()
}

fn kind(text: &str) -> (usize, MarketErrorKind) {
    let read = ReadOptions::default().with_complex(true).parse_matrix(text.as_bytes(), "case");
    let e = read.unwrap_err();
    (e.line, e.kind)
}

/// A complex number.
type Number = [f64; 2];

fn add([a, b]: Number, [c, d]: Number) -> Number {
    [a + c, b + d]
}

fn times([a, b]: Number, [c, d]: Number) -> Number {
    [a * c - b * d, a * d + b * c]
}

/// `A x` of complex entries `(row, column, value)`, counted from 1; all numbers are small integers, so that sums are exact.
fn product(rows: usize, entries: &[(usize, usize, Number)], x: &[Number]) -> Vec<f64> {
    let mut y = vec![[0.0; 2]; rows];
    for &(row, col, value) in entries {
        y[row - 1] = add(y[row - 1], times(value, x[col - 1]));
    }
    y.into_iter().flatten().collect()
}

/// Lower triangle, diagonal included.
const LOWER: [(usize, usize, Number); 5] =
    [(1, 1, [4.0, 0.0]), (2, 1, [1.0, 2.0]), (2, 2, [5.0, 0.0]), (3, 1, [0.0, -3.0]), (3, 2, [2.0, 0.0])];
const X: [Number; 3] = [[1.0, -1.0], [2.0, 3.0], [-5.0, 7.0]];

fn lines(entries: &[(usize, usize, Number)]) -> String {
    entries.iter().map(|(row, col, [re, im])| format!("{row} {col} {re} {im}\n")).collect()
}

#[test]
fn the_real_form_multiplies_as_complex_numbers_do() {
    let x: Vec<f64> = X.into_iter().flatten().collect();
    let strict: Vec<_> = LOWER.into_iter().filter(|(row, col, _)| row != col).collect();
    for (word, symmetry, stored, implied) in [
        ("general", Symmetry::General, LOWER.to_vec(), None),
        ("symmetric", Symmetry::Symmetric, LOWER.to_vec(), Some([1.0, 1.0])),
        ("skew-symmetric", Symmetry::SkewSymmetric, strict.clone(), Some([-1.0, -1.0])),
        ("hermitian", Symmetry::Hermitian, LOWER.to_vec(), Some([1.0, -1.0])),
        ("hpd", Symmetry::Hermitian, LOWER.to_vec(), Some([1.0, -1.0])),
        ("hermitian positive-definite", Symmetry::Hermitian, LOWER.to_vec(), Some([1.0, -1.0])),
    ] {
        let mut all = stored.clone();
        if let Some([of_re, of_im]) = implied {
            all.extend(strict.iter().map(|&(row, col, [re, im])| (col, row, [of_re * re, of_im * im])));
        }
        let m = read(&format!("{BANNER}{word}\n3 3 {}\n{}", stored.len(), lines(&stored)));
        assert_eq!(
            (m.field, m.symmetry, m.stored_entries),
            (Field::Complex, symmetry, stored.len()),
            "{word}"
        );
        // Blocks are complete, zeros included.
        let a = m.triplets.to_csr();
        assert_eq!((a.shape().rows, a.shape().cols, a.nnz()), (6, 6, 4 * all.len()), "{word}");
        assert_eq!(a.mul_vec(&x).unwrap(), product(3, &all, &X), "{word}");
        assert_eq!(a.is_symmetric(), symmetry == Symmetry::Hermitian, "{word}");
        // The transposed real form is that of the conjugate transpose.
        let adjoint: Vec<_> = all.iter().map(|&(row, col, [re, im])| (col, row, [re, -im])).collect();
        assert_eq!(a.mul_vec_transposed(&x).unwrap(), product(3, &adjoint, &X), "{word}");
    }
}

#[test]
fn arrays_and_right_hand_sides_have_a_real_form() {
    let array = "%%MatrixMarket matrix array complex ";
    // Column by column; zeros are left out as whole blocks.
    let m = read(&format!("{array}general\n2 2\n1 2\n0 0\n0 4\n5 0\n"));
    let entries = [(1, 1, [1.0, 2.0]), (1, 2, [0.0, 4.0]), (2, 2, [5.0, 0.0])];
    assert_eq!(m.triplets.nnz(), 12);
    let x: Vec<f64> = X[..2].iter().copied().flatten().collect();
    assert_eq!(m.triplets.to_csr().mul_vec(&x).unwrap(), product(2, &entries, &X));
    let m = read(&format!("{array}hermitian\n2 2\n1 0\n0 4\n5 0\n"));
    let entries = [(1, 1, [1.0, 0.0]), (2, 1, [0.0, 4.0]), (1, 2, [0.0, -4.0]), (2, 2, [5.0, 0.0])];
    assert_eq!(m.triplets.to_csr().mul_vec(&x).unwrap(), product(2, &entries, &X));

    let vector =
        |text: &str| ReadOptions::default().with_complex(true).parse_vector(text.as_bytes(), "b").unwrap();
    assert_eq!(vector(&format!("{array}general\n3 1\n1 2\n0 0\n-3 4\n")), [1.0, 2.0, 0.0, 0.0, -3.0, 4.0]);
    assert_eq!(vector(&format!("{array}general\n1 2\n1 2\n-3 4\n")), [1.0, 2.0, -3.0, 4.0]);
    let sparse = format!("{BANNER}general\n1 3 3\n1 3 1 2\n1 1 7 -8\n1 3 1 1\n");
    assert_eq!(vector(&sparse), [7.0, -8.0, 0.0, 0.0, 2.0, 3.0]);
    let column = format!("{BANNER}general\n3 1 1\n2 1 7 -8\n");
    assert_eq!(vector(&column), [0.0, 0.0, 7.0, -8.0, 0.0, 0.0]);
}

/// A real matrix goes with a complex right-hand side, and the reverse.
#[test]
fn real_files_have_a_real_form_without_imaginary_parts() {
    let text = "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 3\n2 1 -2\n";
    let m = read(text);
    assert_eq!((m.field, m.triplets.nnz()), (Field::Real, 6));
    let entries = [(1, 1, [3.0, 0.0]), (2, 1, [-2.0, 0.0]), (1, 2, [-2.0, 0.0])];
    assert_eq!(m.triplets.to_csr().mul_vec(&[1.0, -1.0, 2.0, 3.0]).unwrap(), product(2, &entries, &X));
    let options = ReadOptions::default().with_complex(true);
    let text = "%%MatrixMarket matrix array integer general\n2 1\n1\n-2\n";
    assert_eq!(options.parse_vector(text.as_bytes(), "b").unwrap(), [1.0, 0.0, -2.0, 0.0]);
    let m = read("%%MatrixMarket matrix coordinate real general\n1 1 1 1 1\n1 1 3\n1 6\n1 2\n");
    assert_eq!((m.rhs, m.solution), (Some(vec![6.0, 0.0]), Some(vec![2.0, 0.0])));
}

#[test]
fn without_a_request_the_refusal_names_it() {
    for text in [&format!("{BANNER}general\n1 1 1\n1 1 1 1\n")[..], &format!("{BANNER}hermitian\n1 1 0\n")] {
        let e = parse_matrix(text.as_bytes(), "a.mtx").unwrap_err();
        assert!(matches!(e.kind, MarketErrorKind::Unsupported { found: "complex", .. }), "{e}");
        assert!(e.to_string().ends_with("(ReadOptions::with_complex)"), "{e}");
        assert_eq!(parse_vector(text.as_bytes(), "a.mtx").unwrap_err(), e);
        let options = ReadOptions::default().with_complex(false);
        assert_eq!(options.parse_matrix(text.as_bytes(), "a.mtx").unwrap_err(), e);
    }
}

#[test]
fn faults_of_complex_files_are_named() {
    let found = |text: &str| {
        let (line, kind) = kind(text);
        (line, format!("{kind:?}").chars().take_while(char::is_ascii_alphanumeric).collect::<String>())
    };
    for (text, line, expected) in [
        (format!("{BANNER}hermitian\n2 2 1\n2 2 1 1e-300\n"), 3, "HermitianDiagonal"),
        (format!("{BANNER}hermitian\n2 3 1\n2 2 1 0\n"), 2, "NotSquare"),
        (format!("{BANNER}hermitian\n2 2 2\n2 1 1 1\n1 2 1 -1\n"), 4, "BothTriangles"),
        (format!("{BANNER}skew-symmetric\n2 2 1\n2 2 0 1\n"), 3, "SkewDiagonal"),
        (format!("{BANNER}general\n2 2 1\n2 2 1\n"), 3, "WordCount"),
        (format!("{BANNER}general\n2 2 1\n2 2 1 1 1\n"), 3, "WordCount"),
        (format!("{BANNER}general\n2 2 1\n2 2 1 inf\n"), 3, "NotFinite"),
        (format!("{BANNER}general\n2 2 1\n2 2 nan 0\n"), 3, "NotFinite"),
        (format!("{BANNER}general\n2 2 1\n2 2 1 i\n"), 3, "Number"),
        (format!("{BANNER}general\n2 2 1 1 0\n2 2 1 1\n"), 2, "WordCount"),
        (format!("{BANNER}general\n1073741824 2 1\n2 2 1 1\n"), 2, "TooLarge"),
        (format!("{BANNER}spd\n1 1 1\n1 1 1 0\n"), 1, "Word"),
        ("%%MatrixMarket matrix coordinate real hermitian\n1 1 1\n1 1 1\n".to_owned(), 1, "Unsupported"),
    ] {
        assert_eq!(found(&text), (line, expected.to_owned()), "{text}");
    }
    // The largest: nothing is set aside for rows.
    let text = format!("{BANNER}general\n1073741823 1073741823 1\n1073741823 1073741823 1 2\n");
    let (m, peak) = peak_of(|| read(&text));
    assert_eq!(m.triplets.shape().rows, 2_147_483_646);
    let (row, col, value) = m.triplets.entries().last().unwrap();
    assert_eq!((row, col, value), (2_147_483_645, 2_147_483_645, 1.0));
    assert!(peak < 1 << 20, "{peak} bytes");
}
