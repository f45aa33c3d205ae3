//! The same systems on the CPU: sparse LU with pivots in 64 bits, by the library faer.

use faer::Mat;
use faer::linalg::solvers::Solve;
use faer::sparse::{SparseColMat, Triplet};
use texla::host::Csr;

/// The solution; `None` where the matrix is not square, or the factors come to nothing.
pub fn solve(a: &Csr, b: &[f64]) -> Option<Vec<f64>> {
    let shape = a.shape();
    if !shape.is_square() || shape.is_empty() {
        return None;
    }
    let entries: Vec<Triplet<usize, usize, f64>> =
        a.entries().map(|(i, j, v)| Triplet::new(i, j, v)).collect();
    let matrix = SparseColMat::<usize, f64>::try_new_from_triplets(shape.rows, shape.cols, &entries).ok()?;
    let factors = matrix.sp_lu().ok()?;
    let right = Mat::from_fn(b.len(), 1, |i, _| b[i]);
    let x = factors.solve(&right);
    let x: Vec<f64> = (0..b.len()).map(|i| x[(i, 0)]).collect();
    x.iter().all(|v| v.is_finite()).then_some(x)
}
