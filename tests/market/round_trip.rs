//! Written and read again: nothing changes, to the bit.

use proptest::prelude::*;
use texla::Shape;
use texla::host::{Triplets, market};

/// Values that a 64-bit float can hold: ordinary ones, and any bit pattern that qualifies.
fn value() -> impl Strategy<Value = f64> {
    let any = any::<f64>().prop_filter("finite", |v| v.is_finite());
    let special = prop::sample::select(vec![
        0.0,
        -0.0,
        0.1,
        f64::MIN_POSITIVE,
        5e-324,
        3.4028234663852886e38,
        f64::MAX,
    ]);
    prop_oneof![any, special, -1e3..1e3]
}

fn matrix() -> impl Strategy<Value = Triplets> {
    (1usize..40, 1usize..40).prop_flat_map(|(rows, cols)| {
        prop::collection::vec((0..rows, 0..cols, value()), 0..60)
            .prop_map(move |entries| Triplets::from_entries(Shape::new(rows, cols), entries).unwrap())
    })
}

fn bits(a: &Triplets) -> Vec<(usize, usize, u64)> {
    a.entries().map(|(row, col, value)| (row, col, value.to_bits())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn matrices_return_as_they_were(a in matrix()) {
        let mut text = Vec::new();
        market::write_matrix_to(&mut text, &a).unwrap();
        let b = market::parse_matrix(&text[..], "round trip").unwrap();
        prop_assert_eq!(b.triplets.shape(), a.shape());
        prop_assert_eq!(bits(&b.triplets), bits(&a));
        prop_assert_eq!(b.stored_entries, a.nnz());
    }

    #[test]
    fn vectors_of_f64_return_as_they_were(x in prop::collection::vec(value(), 0..60)) {
        let mut text = Vec::new();
        market::write_vector_to(&mut text, &x).unwrap();
        let y = market::parse_vector(&text[..], "round trip").unwrap();
        let bits = |v: &[f64]| v.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        prop_assert_eq!(bits(&y), bits(&x));
    }

    #[test]
    fn complex_vectors_return_as_they_were(pairs in prop::collection::vec((value(), value()), 0..40)) {
        let x: Vec<f64> = pairs.into_iter().flat_map(|(re, im)| [re, im]).collect();
        let mut text = Vec::new();
        market::write_complex_vector_to(&mut text, &x).unwrap();
        let options = market::ReadOptions::default().with_complex(true);
        let y = options.parse_vector(&text[..], "round trip").unwrap();
        let bits = |v: &[f64]| v.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        prop_assert_eq!(bits(&y), bits(&x));
    }

    #[test]
    fn vectors_of_f32_return_as_they_were(x in prop::collection::vec(any::<f32>().prop_filter("finite", |v| v.is_finite()), 0..60)) {
        let mut text = Vec::new();
        market::write_vector_to(&mut text, &x).unwrap();
        let y = market::parse_vector(&text[..], "round trip").unwrap();
        let y: Vec<u32> = y.iter().map(|&v| (v as f32).to_bits()).collect();
        prop_assert_eq!(y, x.iter().map(|v| v.to_bits()).collect::<Vec<_>>());
    }
}

#[test]
fn files_return_as_they_were() {
    let folder = crate::common::scratch::folder();
    let a = texla::host::problems::poisson_2d(7, 5);
    let path = folder.join("round_trip_a.mtx");
    market::write_matrix(&path, &a).unwrap();
    assert_eq!(market::read_matrix(&path).unwrap().triplets, a);
    let path = folder.join("round_trip_x.mtx");
    market::write_vector(&path, &[1.5_f32, -0.1]).unwrap();
    assert_eq!(market::read_vector(&path).unwrap(), [1.5, f64::from(-0.1_f32)]);
}

#[test]
fn what_could_not_be_read_is_not_written() {
    for (value, text) in [(f64::NAN, "NaN"), (f64::INFINITY, "inf"), (f64::NEG_INFINITY, "-inf")] {
        let a = Triplets::from_entries(Shape::new(2, 2), [(0, 0, 1.0), (1, 1, value)]).unwrap();
        let e = market::write_matrix_to(Vec::new(), &a).unwrap_err();
        let expected = market::MarketErrorKind::NotFinite { entry: 1, found: text.to_owned() };
        assert_eq!((e.line, e.kind), (4, expected));
        assert!(market::write_vector_to(Vec::new(), &[value]).is_err());
    }
    let e = market::write_complex_vector_to(Vec::new(), &[1.0, f64::NAN]).unwrap_err();
    assert!(matches!(e.kind, market::MarketErrorKind::NotFinite { entry: 0, .. }), "{e}");
    let e = market::write_complex_vector_to(Vec::new(), &[1.0, 2.0, 3.0]).unwrap_err();
    assert_eq!(e.to_string(), "writer:1: found 3 words, expected pairs of real and imaginary part");
    let e = market::write_matrix_to(Vec::new(), &Triplets::new(Shape::new(1 << 31, 1))).unwrap_err();
    assert!(matches!(e.kind, market::MarketErrorKind::TooLarge { .. }), "{e}");
}

#[test]
fn missing_files_are_named() {
    let e = market::read_matrix("no/such/file.mtx").unwrap_err();
    assert_eq!(e.file, "no/such/file.mtx");
    assert!(matches!(e.kind, market::MarketErrorKind::Io { kind: std::io::ErrorKind::NotFound, .. }));
    assert!(texla::Error::from(e).to_string().starts_with("no/such/file.mtx: No such"));
}
