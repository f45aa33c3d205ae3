//! Model problems: matrices from the discretised Laplacian.

use crate::host::Triplets;
use crate::shape::Shape;

/// The 1D Laplacian with zero (Dirichlet) boundary values, unscaled: diagonal 2, neighbours -1.
///
/// Shape n x n, 3n - 2 entries, row by row. Symmetric positive definite with eigenvalues 2 - 2 cos(pi k / (n + 1)), k = 1 ... n.
///
/// ```
/// let a = texla::host::problems::poisson_1d(4).to_csr();
/// assert_eq!(a.mul_vec(&[1.0, 2.0, 3.0, 4.0])?, [0.0, 0.0, 0.0, 5.0]);
/// # Ok::<(), texla::Error>(())
/// ```
pub fn poisson_1d(n: usize) -> Triplets {
    stencil(n, 1, 2.0)
}

/// The 2D Laplacian on `nx` by `ny` inner grid points, 5-point stencil, zero (Dirichlet) boundary values, unscaled:
/// diagonal 4, neighbours -1. Grid point (i, j), i < nx, j < ny, is unknown `j * nx + i`.
///
/// Shape nx ny x nx ny, 5 nx ny - 2 nx - 2 ny entries, row by row. Symmetric positive definite with eigenvalues
/// 4 - 2 cos(pi k / (nx + 1)) - 2 cos(pi l / (ny + 1)).
///
/// ```
/// let a = texla::host::problems::poisson_2d(30, 20);
/// assert_eq!((a.shape().rows, a.nnz()), (600, 2900));
/// assert!(a.diagonal().iter().all(|&d| d == 4.0));
/// ```
pub fn poisson_2d(nx: usize, ny: usize) -> Triplets {
    stencil(nx, ny, 4.0)
}

fn stencil(nx: usize, ny: usize, centre: f64) -> Triplets {
    let n = nx.saturating_mul(ny);
    let mut out = Triplets::new(Shape::new(n, n));
    let points = (0..ny).flat_map(|j| (0..nx).map(move |i| (i, j)));
    for (k, (i, j)) in points.enumerate() {
        let neighbours = [
            (j > 0).then(|| (k.saturating_sub(nx), -1.0)),
            (i > 0).then(|| (k.saturating_sub(1), -1.0)),
            Some((k, centre)),
            (i + 1 < nx).then(|| (k.saturating_add(1), -1.0)),
            (j + 1 < ny).then(|| (k.saturating_add(nx), -1.0)),
        ];
        for (col, value) in neighbours.into_iter().flatten() {
            // Indices beyond 32 bits would need more than 300 GB of entries.
            out.push_valid(k as u32, col as u32, value);
        }
    }
    out
}
