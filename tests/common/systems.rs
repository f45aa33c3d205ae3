//! Sparse matrices on host and device for the tests of products and solvers, with the f64 checks of both.

use std::path::Path;

use texla::host::{Csr, Triplets, market};
use texla::shape::max_folded_len;
use texla::{Device, MatrixFormat, Shape, SparseFormat};

use super::worst::worst;
use super::{data, random, reference};

/// A generated matrix in the library's own form.
pub fn csr(a: &random::Csr) -> Csr {
    let entries = a.triplets().into_iter().map(|(i, j, v)| (i, j, f64::from(v)));
    Triplets::from_entries(Shape::new(a.rows, a.cols), entries).unwrap().to_csr()
}

/// A matrix from its entries.
pub fn entries(rows: usize, cols: usize, entries: impl IntoIterator<Item = (usize, usize, f64)>) -> Csr {
    Triplets::from_entries(Shape::new(rows, cols), entries).unwrap().to_csr()
}

/// The same pattern with every value changed.
pub fn mapped(a: &Csr, f: impl Fn(f64) -> f64) -> Csr {
    let values: Vec<f64> = a.values().iter().map(|v| f(*v)).collect();
    a.with_values(&values).unwrap()
}

/// The same pattern with every value changed, by place too.
pub fn mapped_places(a: &Csr, f: impl Fn(usize, usize, f64) -> f64) -> Csr {
    let values: Vec<f64> = a.entries().map(|(i, j, v)| f(i, j, v)).collect();
    a.with_values(&values).unwrap()
}

/// Coefficients as products use them: rounded to 32 bits.
pub fn rounded(a: &Csr) -> Csr {
    mapped(a, |v| f64::from(v as f32))
}

/// A file of the data folder.
pub fn read(path: &Path) -> Csr {
    market::read_matrix(path).unwrap_or_else(|e| panic!("{e}")).triplets.to_csr()
}

/// All matrices in folders of the data folder, by name such as `spd/nos4.mtx`; none, and a line that says so, when
/// there is no data folder.
pub fn data_matrices(folders: &[(&str, usize)], what: &str) -> Vec<(String, Csr)> {
    let Some(root) = data::data_root() else {
        data::not_run(folders.iter().map(|f| f.1).sum(), what);
        return Vec::new();
    };
    let mut found = Vec::new();
    for (folder, expected) in folders {
        let files = data::files(&root, folder);
        assert!(!files.is_empty(), "the data folder has no {folder} (expected about {expected} files)");
        for path in files {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            found.push((format!("{folder}/{name}"), read(&path)));
        }
    }
    found
}

/// True if vectors of both sides, and the slots of this format for `A` and `Aᵀ`, fit the device's textures.
pub fn fits(device: &Device, a: &Csr, format: MatrixFormat) -> bool {
    let limit = device.capabilities().max_texture_size;
    let sides = a.shape().rows.max(a.shape().cols) as u64 <= max_folded_len(limit);
    sides && (format != MatrixFormat::Sparse(SparseFormat::Gather) || gather_fits(device, a))
}

/// True if the gather format of `A` and of `Aᵀ` fits, which certified residuals need of points too.
pub fn gather_fits(device: &Device, a: &Csr) -> bool {
    let limit = device.capabilities().max_texture_size;
    [slots(a), slots(&a.transposed())].iter().all(|slots| *slots <= max_folded_len(limit))
}

/// Coefficients that the gather format stores: rows padded within slices of 64.
pub fn slots(a: &Csr) -> u64 {
    let lengths: Vec<usize> = a.rows().map(|(cols, _)| cols.len()).collect();
    lengths.chunks(64).map(|rows| 64 * *rows.iter().max().unwrap() as u64).sum()
}

/// Entries of each row.
pub fn row_terms(a: &Csr) -> Vec<usize> {
    a.rows().map(|(cols, _)| cols.len()).collect()
}

/// `A x`, compensated.
pub fn apply(a: &Csr, x: &[f64]) -> Vec<f64> {
    let cols: Vec<usize> = a.cols().iter().map(|c| *c as usize).collect();
    reference::csr_matvec(a.row_ptr(), &cols, a.values(), x)
}

/// `|A| |x|`.
pub fn apply_abs(a: &Csr, x: &[f64]) -> Vec<f64> {
    apply(&mapped(a, f64::abs), &reference::abs(x))
}

/// The Euclidean norm, for values whose squares may leave the range.
pub fn norm(x: &[f64]) -> f64 {
    let largest = reference::max_abs(x);
    if largest == 0.0 { 0.0 } else { largest * reference::norm2(&reference::map1(x, |v| v / largest)) }
}

/// `‖b - A x‖ / ‖b‖`.
pub fn relative_residual(a: &Csr, x: &[f32], b: &[f64]) -> f64 {
    norm(&reference::sub(b, &apply(a, &reference::widen(x)))) / norm(b)
}

/// `‖Aᵀ(b - A x)‖ / ‖Aᵀb‖`; also where squares of products of 32-bit numbers leave the range of f64's ([`norm`]).
pub fn normal_residual(a: &Csr, x: &[f32], b: &[f64]) -> f64 {
    let t = a.transposed();
    let r = reference::sub(b, &apply(a, &reference::widen(x)));
    norm(&apply(&t, &r)) / norm(&apply(&t, b))
}

/// What residuals of a complementarity problem are told against: `max(-b, 0)`, the residual of zero.
pub fn lcp_unit(b: &[f64]) -> f64 {
    b.iter().map(|v| -v).fold(0.0, worst)
}

/// The relative residual that rounding the elements of a solution `x` to 32 bits makes by itself, each by half a last
/// digit, added up as what has nothing to do with one another.
pub fn rounding_alone(a: &Csr, x: &[f32], b: &[f64]) -> f64 {
    let squares = mapped(a, |v| v * v);
    let half: Vec<f64> = x.iter().map(|&x| (f64::from(x) / f64::from(1u32 << 24)).powi(2)).collect();
    apply(&squares, &half).iter().sum::<f64>().sqrt() / norm(b)
}

/// The LAPACK ratio.
pub fn lapack_ratio(a: &Csr, x: &[f32], b: &[f64]) -> f64 {
    let cols: Vec<usize> = a.cols().iter().map(|c| *c as usize).collect();
    reference::lapack_ratio(a.row_ptr(), &cols, a.values(), &reference::widen(x), b)
}

/// `A 1` in f64 and as the device gets it, rounded to 32 bits.
pub fn rhs_of_ones(a: &Csr) -> Vec<f64> {
    let b = a.mul_vec(&vec![1.0; a.shape().cols]).unwrap();
    b.iter().map(|v| f64::from(*v as f32)).collect()
}

/// Springs along the sides and the diagonals of a grid of nodes with two components each, and coordinates of the nodes, an axis
/// after the other: a free elastic sheet, or one that is held on the left.
pub fn springs(nx: usize, ny: usize, held: f64) -> (Csr, [Vec<f64>; 2]) {
    springs_of(nx, ny, held, &|_| 1.0)
}

/// The same of this stiffness in each row of nodes.
pub fn springs_of(nx: usize, ny: usize, held: f64, stiffness: &dyn Fn(usize) -> f64) -> (Csr, [Vec<f64>; 2]) {
    let mut all = Vec::new();
    let node = |x: usize, y: usize| y * nx + x;
    for (x, y) in (0..ny).flat_map(|y| (0..nx).map(move |x| (x, y))) {
        for along in [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, 1.0]] {
            let (tx, ty) = (x as f64 + along[0], y as f64 + along[1]);
            if !(0.0..nx as f64).contains(&tx) || ty >= ny as f64 {
                continue;
            }
            let (k, l) = (2 * node(x, y), 2 * node(tx as usize, ty as usize));
            for (c, d) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let v = stiffness(y) * along[c] * along[d];
                all.extend([(k + c, k + d, v), (l + c, l + d, v), (k + c, l + d, -v), (l + c, k + d, -v)]);
            }
        }
        if x == 0 && held != 0.0 {
            all.extend((0..2).map(|c| (2 * node(x, y) + c, 2 * node(x, y) + c, held)));
        }
    }
    let place = |k: usize| [(k % nx) as f64, (k / nx) as f64];
    let n = nx * ny;
    (entries(2 * n, 2 * n, all), [0, 1].map(|axis| (0..n).map(|k| place(k)[axis]).collect()))
}
