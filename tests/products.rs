//! Products with banded and sparse matrices against the f64 twin, componentwise within the product bound.
#![allow(unsafe_code)] // one test borrows a texture of the host's

mod common;

use common::bounds::{assert_componentwise, bits};
use common::harness::{assert_padded, fitting, limits, on_both, on_both_with};
use common::products::{self, COMBINES, Twin, apply, combine};
use common::{data, random, systems};
use glow::HasContext;
use texla::gl::Limits;
use texla::host::{Csr, Triplets};
use texla::ops::{self, Combine};
use texla::solve::LinOp;
use texla::{
    BandedMatrix, Device, Error, MatrixFormat, Shape, SparseFormat, SparseMatrix, StoredMatrix, Vector,
};

const FORMATS: [MatrixFormat; 3] = [
    MatrixFormat::Sparse(SparseFormat::Gather),
    MatrixFormat::Sparse(SparseFormat::Points),
    MatrixFormat::Banded,
];

/// Matrices with more diagonals are not kept as such here.
const MOST_BANDS: usize = 40;
/// The same for small random matrices, of which one is as good as another: more than a pass takes.
const SOME_BANDS: usize = 13;

/// One matrix in one format.
fn check_some(
    device: &Device,
    name: &str,
    a: &Csr,
    format: MatrixFormat,
    seed: u64,
    combines: &[(&str, f32)],
) {
    let stored = StoredMatrix::new(device, a.clone(), format).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert_eq!(stored.format(), format, "{name}");
    products::check(device, &format!("{name} {format:?}"), &stored, a, seed, combines, &[false]);
}

/// The matrix in every format that takes it and fits.
fn check_formats(device: &Device, name: &str, a: &Csr, seed: u64) {
    for format in FORMATS {
        let points =
            format == MatrixFormat::Sparse(SparseFormat::Points) && !device.capabilities().float_blend;
        let bands = if a.nnz() < 300 { SOME_BANDS } else { MOST_BANDS };
        let banded = format == MatrixFormat::Banded && a.distinct_diagonals() > bands;
        if points || banded || !systems::fits(device, a, format) {
            continue;
        }
        // Each pattern of diagonals compiles kernels of its own, which is what takes time: all combinations run in
        // `one_to_forty_diagonals_of_every_residue` for some patterns, one for the rest.
        let one = [COMBINES[seed as usize % COMBINES.len()]];
        let combines = if format == MatrixFormat::Banded { &one[..] } else { &COMBINES[..] };
        check_some(device, name, a, format, seed, combines);
    }
}

#[test]
fn small_matrices_of_every_shape_agree_with_the_twin() {
    on_both(|device| {
        let none = |m, n| systems::entries(m, n, []);
        for (m, n) in [(0, 0), (1, 1), (0, 5), (5, 0), (3, 4), (4, 3), (17, 17)] {
            check_formats(device, &format!("empty {m}x{n}"), &none(m, n), (m + n) as u64);
        }
        check_formats(device, "1x1", &systems::entries(1, 1, [(0, 0, -2.5)]), 2);
        for (m, n) in [(1, 7), (7, 1), (2, 3), (5, 5), (13, 31), (31, 13), (64, 64), (65, 63), (127, 131)] {
            let a = systems::csr(&random::sparse(m as u64, m, n, 0.2));
            check_formats(device, &format!("random {m}x{n}"), &a, (m + 2 * n) as u64);
        }
        let cases = [
            ("empty rows", random::empty_rows(5, 70, 50, 0.1)),
            ("one long row", random::one_long_row(6, 90, 120, 41)),
            ("arrow", random::arrow(7, 101)),
            ("dense", random::sparse(8, 23, 29, 1.0)),
            ("two thousand rows", random::sparse_rows(9, 1999, 2003, 6)),
        ];
        for (name, a) in cases {
            check_formats(device, name, &systems::csr(&a), 10);
        }
        // Explicit zeros, and entries that sum to zero.
        let zeros = [(0, 0, 0.0), (1, 2, 3.0), (1, 2, -3.0), (2, 2, 1.0)];
        check_formats(device, "explicit zeros", &systems::entries(3, 3, zeros), 11);
    });
}

#[test]
fn vectors_of_the_largest_size_that_fits() {
    on_both(|device| {
        let n = fitting(device, 20_011);
        let a = systems::csr(&random::sparse_rows(3, n, n, 2));
        check_formats(device, "largest", &a, 20);
    });
}

/// A matrix with these diagonals, all different, every third of them constant.
fn diagonals(seed: u64, rows: usize, cols: usize, offsets: &[i64]) -> Csr {
    let mut rng = random::Rng::new(seed);
    let mut list = Vec::new();
    for (d, offset) in offsets.iter().enumerate() {
        let constant = f64::from(rng.away_from_zero());
        for i in 0..rows {
            let j = i as i64 + offset;
            if (0..cols as i64).contains(&j) {
                let own = f64::from(rng.away_from_zero());
                list.push((i, j as usize, if d % 3 == 2 { constant } else { own }));
            }
        }
    }
    systems::entries(rows, cols, list)
}

#[test]
fn one_to_forty_diagonals_of_every_residue() {
    on_both(|device| {
        let n = 97;
        for count in [1, 2, 3, 4, 5, 8, 11, 12, 13, 25, 40] {
            // Consecutive offsets around the main diagonal: every residue modulo four.
            let first = -(count as i64) / 2;
            let offsets: Vec<i64> = (first..first + count as i64).collect();
            let a = diagonals(count as u64, n, n, &offsets);
            assert_eq!(BandedMatrix::from_csr(device, a.clone()).unwrap().offsets(), offsets);
            let combines = if [4, 13].contains(&count) { &COMBINES[..] } else { &COMBINES[4..5] };
            check_some(device, &format!("{count} diagonals"), &a, MatrixFormat::Banded, 30, combines);
        }
        // Single diagonals: a shift of x.
        for offset in [-96, -50, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 50, 96] {
            let a = diagonals(7, n, n, &[offset]);
            check_some(device, &format!("diagonal {offset}"), &a, MatrixFormat::Banded, 31, &COMBINES[..1]);
        }
    });
}

#[test]
fn rectangular_bands_with_offsets_far_beyond_the_shorter_side() {
    on_both(|device| {
        for (m, n) in [(1, 9), (9, 1), (5, 40), (40, 5), (61, 67), (67, 61), (33, 300), (300, 33)] {
            let (low, high) = (1 - m as i64, n as i64 - 1);
            let offsets: Vec<i64> =
                [low, low / 2, -3, -1, 0, 2, 5, high / 2, high - 1, high].into_iter().collect();
            let mut inside: Vec<i64> = offsets.into_iter().filter(|o| (low..=high).contains(o)).collect();
            inside.sort_unstable();
            inside.dedup();
            let a = diagonals(m as u64, m, n, &inside);
            check_some(device, &format!("bands of {m}x{n}"), &a, MatrixFormat::Banded, 40, &COMBINES[5..6]);
            // Constant diagonals alone: what lies outside the matrix has no coefficient to be zero.
            let constant = systems::mapped(&a, |_| 1.5);
            let label = format!("constant bands of {m}x{n}");
            check_some(device, &label, &constant, MatrixFormat::Banded, 41, &COMBINES[1..2]);
        }
    });
}

#[test]
fn every_matrix_of_the_data_set() {
    let all = [("spd", 15), ("sym", 1), ("unsym", 6), ("rect", 4)];
    let matrices = systems::data_matrices(&all, "products with real matrices");
    on_both(|device| {
        let mut checked = 0;
        for (name, a) in &matrices {
            check_formats(device, name, a, 50);
            checked += usize::from(systems::fits(device, a, MatrixFormat::Sparse(SparseFormat::Points)));
        }
        if checked < matrices.len() {
            data::say(&format!("{checked} of {} matrices fit these textures", matrices.len()));
        }
    });
}

#[test]
fn auto_weighs_padding_against_points() {
    // 3200 + 3 · 128 slots for 598 nonzeros: six times more pays.
    let arrow = systems::csr(&random::arrow(1, 200));
    let tridiagonal = texla::host::problems::poisson_1d(200).to_csr();
    let auto =
        |device: &Device, a: &Csr| SparseMatrix::from_csr(device, a.clone(), SparseFormat::Auto).unwrap();
    on_both(|device| {
        let blends = device.capabilities().float_blend;
        let expected = if blends { SparseFormat::Points } else { SparseFormat::Gather };
        assert_eq!(auto(device, &arrow).format(), expected);
        assert_eq!(auto(device, &tridiagonal).format(), SparseFormat::Gather);
    });
    on_both_with(limits().without_float_blend(true), |device| {
        assert_eq!(auto(device, &arrow).format(), SparseFormat::Gather);
        let refused = SparseMatrix::from_csr(device, arrow.clone(), SparseFormat::Points);
        match refused.err() {
            Some(Error::Unsupported { what, why }) => {
                assert!(what.contains("Points") && why.contains("Gather"), "{what}: {why}");
            }
            other => panic!("expected Unsupported, found {other:?}"),
        }
        let gather = MatrixFormat::Sparse(SparseFormat::Gather);
        check_some(device, "arrow without blending", &arrow, gather, 60, &COMBINES);
    });
}

/// Uploads and bytes that new coefficients cost, and no more: the patterns of `A` and of `Aᵀ` stay on the device.
#[test]
fn new_values_keep_the_pattern() {
    on_both(|device| {
        let a = systems::csr(&random::sparse(1, 60, 45, 0.1));
        let new: Vec<f64> = random::uniform(2, a.nnz()).iter().map(|v| f64::from(*v)).collect();
        let changed = a.with_values(&new).unwrap();
        let (hx, hxt) = (random::uniform(3, 45), random::uniform(4, 60));
        for format in FORMATS {
            if !systems::fits(device, &a, format) {
                continue;
            }
            let (x, xt) =
                (Vector::from_slice(device, &hx).unwrap(), Vector::from_slice(device, &hxt).unwrap());
            let products = |m: &dyn LinOp| {
                let (mut y, mut yt) =
                    (Vector::zeros(device, 60).unwrap(), Vector::zeros(device, 45).unwrap());
                ops::product(&mut y, Combine::Replace, 1.0, m, &x).unwrap();
                ops::product_transposed(&mut yt, Combine::Replace, 1.0, m, &xt).unwrap();
                (bits(&y.read().unwrap()), bits(&yt.read().unwrap()))
            };
            let mut stored = StoredMatrix::new(device, a.clone(), format).unwrap();
            let before = products(&stored);
            let counted = device.counters();
            stored.set_values(&new).unwrap();
            let work = device.counters().since(&counted);
            match format {
                // Four coefficients of 4 bytes for each vertex.
                MatrixFormat::Sparse(SparseFormat::Points) => {
                    let vertices = |a: &Csr| a.rows().map(|(c, _)| c.len().div_ceil(4) as u64).sum::<u64>();
                    let bytes = 16 * (vertices(&a) + vertices(&a.transposed()));
                    assert_eq!((work.uploads, work.upload_bytes), (2, bytes));
                }
                // One float texture for A, one for its transpose.
                MatrixFormat::Sparse(SparseFormat::Gather) => assert_eq!(work.uploads, 2),
                _ => assert!(work.uploads <= a.distinct_diagonals() as u64),
            }
            let fresh = StoredMatrix::new(device, changed.clone(), format).unwrap();
            let after = products(&stored);
            assert_eq!(after, products(&fresh), "{format:?}");
            assert_ne!(after, before);

            // What is refused changes nothing.
            let mut bad = new.clone();
            for value in [f64::NAN, f64::INFINITY, 1e39] {
                bad[7] = value;
                match stored.set_values(&bad) {
                    Err(Error::NonFinite { index: 7, .. }) => {}
                    other => panic!("{format:?}, {value}: {other:?}"),
                }
            }
            for wrong in [&new[1..], &[new.as_slice(), &[1.0]].concat()] {
                match stored.set_values(wrong) {
                    Err(Error::LengthMismatch { found, expected, .. }) => {
                        assert_eq!((found, expected), (wrong.len(), a.nnz()));
                    }
                    other => panic!("{format:?}: {other:?}"),
                }
            }
            assert_eq!(stored.pattern().values(), new);
            assert_eq!(products(&stored), after, "{format:?}");

            // Into the range where coefficients are stored divided by a power of two, and back.
            let large: Vec<f64> = new.iter().map(|v| v * 2f64.powi(70)).collect();
            stored.set_values(&large).unwrap();
            let scaled = StoredMatrix::new(device, a.with_values(&large).unwrap(), format).unwrap();
            assert_eq!(products(&stored), products(&scaled));
            stored.set_values(&new).unwrap();
            assert_eq!(products(&stored), after);
        }
    });
}

#[test]
fn coefficients_that_do_not_fit_32_bits_are_refused_with_their_number() {
    on_both(|device| {
        for value in [f64::NAN, f64::NEG_INFINITY, 3.5e38] {
            let a = systems::entries(3, 3, [(0, 0, 1.0), (1, 1, 2.0), (2, 0, value)]);
            for format in FORMATS {
                match StoredMatrix::new(device, a.clone(), format).err() {
                    Some(Error::NonFinite { index: 2, .. }) => {}
                    other => panic!("{format:?}, {value}: {other:?}"),
                }
            }
        }
    });
}

/// Coefficients to the ends of the range, with a factor that brings the result back.
#[test]
fn extreme_scales() {
    on_both(|device| {
        let base = systems::csr(&random::banded(5, 83, &[-7, -1, 0, 1, 2, 9]).csr());
        let (hx, hz) = (random::nonzero(6, 83), random::uniform(7, 83));
        let z = Vector::from_slice(device, &hz).unwrap();
        // Entries lie in [0.5, 1.5): 2^126 of them is 1.3e38.
        for exponent in [60, -60, 61, -61, 100, -100, 124, -124, 126] {
            let a = systems::mapped(&base, |v| v * 2f64.powi(exponent));
            for shift in [-exponent, 0, -exponent / 2] {
                // alpha and x share what is taken out, so that neither leaves the range.
                for in_alpha in [true, false] {
                    let factor = 2f32.powi(shift.clamp(-100, 100));
                    let (alpha, lift) = if in_alpha { (1.5 * factor, 1.0) } else { (1.5, factor) };
                    let hx: Vec<f32> = hx.iter().map(|v| v * lift).collect();
                    let x = Vector::from_slice(device, &hx).unwrap();
                    if exponent + shift.max(-100) > 120 {
                        continue; // the result itself overflows
                    }
                    let twin = Twin::new(&a, &hx);
                    for format in FORMATS {
                        if !systems::fits(device, &a, format) {
                            continue;
                        }
                        let stored = StoredMatrix::new(device, a.clone(), format).unwrap();
                        assert_eq!(stored.exponent().unwrap(), exponent);
                        for how in ["replace", "add to", "accumulate"] {
                            let mut y = Vector::from_slice(device, &hz).unwrap();
                            ops::product(&mut y, combine(how, &z), alpha, &stored, &x).unwrap();
                            let (want, bound) = twin.combined(how, alpha, &hz, &hz);
                            let label = format!("2^{exponent} alpha {alpha:e} x·{lift:e} {format:?} {how}");
                            assert_componentwise(&label, &y.read().unwrap(), &want, &bound);
                        }
                    }
                }
            }
        }
    });
}

#[test]
fn sides_past_the_texture_area_are_refused_before_anything_is_allocated() {
    on_both_with(limits().with_max_texture_size(Some(64)), |device| {
        let live = device.live_objects();
        let work = device.counters();
        let largest = 64 * 64 * 4;
        for shape in [
            Shape::new(largest + 1, 3),
            Shape::new(3, largest + 1),
            Shape::new(1 << 40, 1 << 40), // no row table is made for these either
            Shape::new(usize::MAX, 1),
        ] {
            let t = Triplets::new(shape);
            let errors = [
                BandedMatrix::from_triplets(device, &t).err(),
                SparseMatrix::from_triplets(device, &t, SparseFormat::Auto).err(),
                SparseMatrix::from_triplets(device, &t, SparseFormat::Points).err(),
                SparseMatrix::from_triplets(device, &t, SparseFormat::Gather).err(),
            ];
            for error in errors {
                match error {
                    Some(Error::TooLarge { requested, limit, .. }) => {
                        assert_eq!(requested, shape.rows.max(shape.cols) as u64);
                        assert_eq!(limit, largest as u64);
                    }
                    other => panic!("{shape}: {other:?}"),
                }
            }
        }
        assert!(matches!(BandedMatrix::poisson_2d(device, usize::MAX, 2), Err(Error::TooLarge { .. })));
        assert_eq!(device.live_objects(), live);
        assert_eq!(device.counters().since(&work).uploads, 0);
        // Slots past the area, sides within it.
        let wide = systems::csr(&random::sparse(1, 200, 200, 0.5));
        let refused = SparseMatrix::from_csr(device, wide, SparseFormat::Gather);
        assert!(matches!(refused.err(), Some(Error::TooLarge { .. })));
        assert_eq!(device.live_objects(), live);
    });
}

/// A loop of a shader ends after 65535 rounds on llvmpipe, which has to be found.
#[test]
fn long_rows_are_summed_whole_or_refused() {
    on_both_with(Limits::default(), |device| {
        let rounds = device.capabilities().loop_rounds;
        if device.capabilities().renderer.contains("llvmpipe") {
            assert_eq!(rounds, 65_535);
        }
        for n in [65_535, 65_536] {
            let row = Triplets::from_entries(Shape::new(1, n), (0..n).map(|j| (0, j, 1.0))).unwrap();
            let x = Vector::from_slice(device, &vec![1.0; n]).unwrap();
            let mut y = Vector::zeros(device, 1).unwrap();
            for format in [SparseFormat::Auto, SparseFormat::Points, SparseFormat::Gather] {
                match SparseMatrix::from_triplets(device, &row, format) {
                    Ok(a) => {
                        ops::product(&mut y, Combine::Replace, 1.0, &a, &x).unwrap();
                        assert_eq!(y.read().unwrap(), [n as f32], "{format:?}");
                    }
                    Err(Error::TooLarge { requested, limit, unit: "nonzeros", .. }) => {
                        assert_eq!((requested, limit), (n as u64, u64::from(rounds)));
                        assert!(n as u32 > rounds && format == SparseFormat::Gather, "{format:?}");
                    }
                    Err(other) => panic!("{format:?}: {other}"),
                }
            }
        }
    });
}

#[test]
fn shape_mismatches_name_operation_and_operand() {
    on_both(|device| {
        let csr = systems::csr(&random::sparse(1, 6, 9, 0.4));
        let sparse = SparseMatrix::from_csr(device, csr.clone(), SparseFormat::Gather).unwrap();
        let banded = BandedMatrix::from_csr(device, csr).unwrap();
        let vector = |n| Vector::zeros(device, n).unwrap();
        let (six, nine, odd) = (vector(6), vector(9), vector(7));
        let mismatch = |result: texla::Result<()>, op: &str, operand: &str, expected: usize| match result {
            Err(Error::ShapeMismatch { op: o, operand: d, found, expected: e }) => {
                let wanted = (op, operand, Shape::column(7), Shape::column(expected));
                assert_eq!((o, d, found, e), wanted);
            }
            other => panic!("{op}, {operand}: {other:?}"),
        };
        type Product<'a> = &'a dyn Fn(&mut Vector, Combine<'_>, f32, &Vector) -> texla::Result<()>;
        let products: [(&str, Product<'_>, bool); 4] = [
            ("product", &|y, c, alpha, x| ops::product(y, c, alpha, &sparse, x), false),
            ("product_transposed", &|y, c, alpha, x| ops::product_transposed(y, c, alpha, &sparse, x), true),
            ("product", &|y, c, alpha, x| ops::product(y, c, alpha, &banded, x), false),
            ("product_transposed", &|y, c, alpha, x| ops::product_transposed(y, c, alpha, &banded, x), true),
        ];
        for (op, product, transposed) in products {
            let (m, n, x, z) = if transposed { (9, 6, &six, &nine) } else { (6, 9, &nine, &six) };
            mismatch(product(&mut vector(m), Combine::Replace, 1.0, &odd), op, "x", n);
            mismatch(product(&mut vector(7), Combine::Replace, 1.0, x), op, "y", m);
            for c in [
                Combine::AddTo(&odd),
                Combine::SubtractFrom(&odd),
                Combine::Subtract(&odd),
                Combine::Multiply(&odd),
            ] {
                mismatch(product(&mut vector(m), c, 1.0, x), op, "z", m);
            }
            for alpha in [f32::NAN, f32::INFINITY] {
                match product(&mut vector(m), Combine::AddTo(z), alpha, x) {
                    Err(Error::Parameter { op: o, name: "alpha", .. }) => assert_eq!(o, op),
                    other => panic!("{op}: {other:?}"),
                }
            }
        }
    });
}

/// A texture of the host's, whose width is no power of two, as the vector that is multiplied.
#[test]
fn a_borrowed_texture_is_multiplied_where_it_lies() {
    on_both(|device| {
        let gl = device.glow();
        for (width, height) in [(3u32, 5u32), (5, 3), (7, 1), (1, 7), (4, 4)] {
            let n = (4 * width * height) as usize;
            let hx = random::uniform(8, n);
            // SAFETY: the context is current, the texture complete, and it outlives the vector.
            let (texture, x) = unsafe {
                let texture = gl.create_texture().unwrap();
                gl.bind_texture(glow::TEXTURE_2D, Some(texture));
                gl.tex_image_2d(
                    glow::TEXTURE_2D,
                    0,
                    glow::RGBA32F as i32,
                    width as i32,
                    height as i32,
                    0,
                    glow::RGBA,
                    glow::FLOAT,
                    glow::PixelUnpackData::Slice(Some(bytes(&hx).as_slice())),
                );
                gl.tex_parameter_i32(glow::TEXTURE_2D, glow::TEXTURE_MIN_FILTER, glow::NEAREST as i32);
                gl.bind_texture(glow::TEXTURE_2D, None);
                let x = Vector::from_texture(device, texture, width as usize, height as usize).unwrap();
                (texture, x)
            };
            for (m, seed) in [(n, 9), (n + 3, 10), (n / 2, 11)] {
                let offsets: Vec<i64> = vec![1 - m as i64, -6, -1, 0, 1, 2, 3, n as i64 - 1];
                let inside: Vec<i64> =
                    offsets.into_iter().filter(|o| *o > -(m as i64) && *o < n as i64).collect();
                let a = diagonals(seed, m, n, &inside);
                for transposed in [false, true] {
                    let stored_csr = if transposed { a.transposed() } else { a.clone() };
                    let twin = Twin::new(&a, &hx);
                    let (want, bound) = twin.combined("replace", 1.0, &vec![0.0; m], &vec![0.0; m]);
                    for format in FORMATS {
                        if !systems::fits(device, &a, format) {
                            continue;
                        }
                        let stored = StoredMatrix::new(device, stored_csr.clone(), format).unwrap();
                        let mut y = Vector::zeros(device, m).unwrap();
                        apply(&stored, transposed, &mut y, Combine::Replace, 1.0, &x).unwrap();
                        let label = format!("{width}x{height} to {m}, {format:?}, transposed {transposed}");
                        assert_componentwise(&label, &y.read().unwrap(), &want, &bound);
                        assert_padded(&y, &label);
                    }
                }
            }
            drop(x);
            // SAFETY: made above, and nothing uses it any more.
            unsafe { gl.delete_texture(texture) };
        }
    });
}

fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_ne_bytes()).collect()
}

/// The Laplacian made of its sides is, bit for bit, the one made of its entries.
#[test]
fn the_laplacian_of_a_grid_is_that_of_its_entries() {
    on_both(|device| {
        for [nx, ny] in [[1, 1], [1, 6], [6, 1], [2, 2], [2, 9], [5, 3], [16, 16], [37, 23], [64, 64]] {
            let given = texla::host::problems::poisson_2d(nx, ny).to_csr();
            let [made, want] = [
                BandedMatrix::poisson_2d(device, nx, ny).unwrap(),
                BandedMatrix::from_csr(device, given.clone()).unwrap(),
            ];
            assert_eq!((made.shape(), made.offsets()), (want.shape(), want.offsets()), "{nx} x {ny}");
            assert_eq!(made.exponent(), want.exponent());
            let x = Vector::from_slice(device, &random::uniform(nx as u64, nx * ny)).unwrap();
            let of = |a: &BandedMatrix| {
                let mut y = Vector::zeros(device, nx * ny).unwrap();
                ops::product(&mut y, Combine::Replace, 1.5, a, &x).unwrap();
                y.read().unwrap()
            };
            assert_eq!(bits(&of(&made)), bits(&of(&want)), "{nx} x {ny}");
            assert_eq!(made.asymmetry().unwrap(), None);
            assert_eq!(LinOp::diagonal(&made).unwrap(), LinOp::diagonal(&want).unwrap());
            assert_eq!(made.pattern(), &given);
            // Other values on the same pattern.
            let [mut made, mut want] = [made, want];
            let values: Vec<f64> = (0..given.nnz()).map(|k| 0.1 + k as f64).collect();
            made.set_values(&values).unwrap();
            want.set_values(&values).unwrap();
            assert_eq!(bits(&of(&made)), bits(&of(&want)), "{nx} x {ny}");
            assert_eq!(made.pattern(), want.pattern());
            assert_eq!(made.asymmetry().unwrap(), want.asymmetry().unwrap());
        }
    });
}
