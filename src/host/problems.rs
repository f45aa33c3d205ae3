//! Model problems: matrices from the discretised Laplacian.

use crate::host::parallel::Threads;
use crate::host::{Csr, Triplets};
use crate::shape::{Grid, Shape};

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

/// A matrix whose rows are stencils with coefficients that vary from cell to cell: 5- or 9-point on a plane, 7- or
/// 27-point in space, or any other.
///
/// `taps` are the neighbours (dx, dy, dz) of a cell, the cell itself among them as (0, 0, 0) if it has a coefficient.
/// `coefficient(cell, k)` is asked for every cell (x, y, z) and the k-th tap wherever the neighbour lies on the grid, or,
/// along axes that are `periodic`, comes round from the other end. What else a side means is for the coefficient of the
/// cell itself to say. Unknowns are in natural order (see [`Grid`]), so that each tap is a diagonal of a
/// [`BandedMatrix`](crate::BandedMatrix).
///
/// ```
/// use texla::{Grid, host::problems};
/// // -(k u')' on three cells with conductivities 2, 6, 6 between zero walls: harmonic means at the faces.
/// let k = [2.0, 6.0, 6.0];
/// let face = |a: f64, b: f64| 2.0 * a * b / (a + b);
/// let a = problems::variable_stencil(
///     Grid::new_2d(3, 1),
///     &[[-1, 0, 0], [0, 0, 0], [1, 0, 0]],
///     [false; 3],
///     |[x, _, _], tap| match tap {
///         0 => -face(k[x - 1], k[x]),
///         2 => -face(k[x], k[x + 1]),
///         _ => {
///             let low = if x == 0 { 2.0 * k[0] } else { face(k[x - 1], k[x]) };
///             low + if x == 2 { 2.0 * k[2] } else { face(k[x], k[x + 1]) }
///         }
///     },
/// );
/// assert_eq!(a.diagonal(), [7.0, 9.0, 18.0]);
/// assert_eq!(a.to_csr().mul_vec(&[1.0, 1.0, 1.0])?, [4.0, 0.0, 12.0]);
/// # Ok::<(), texla::Error>(())
/// ```
pub fn variable_stencil(
    grid: Grid,
    taps: &[[i64; 3]],
    periodic: [bool; 3],
    mut coefficient: impl FnMut([usize; 3], usize) -> f64,
) -> Triplets {
    let mut out = Triplets::new(grid.operator());
    for i in 0..grid.len() {
        let (x, y, z) = grid.place(i);
        for (k, tap) in taps.iter().enumerate() {
            let mut other = [0usize; 3];
            let mut inside = true;
            let along = [x, y, z].into_iter().zip(tap).zip(grid.sides()).zip(periodic).zip(&mut other);
            for ((((at, step), count), wraps), other) in along {
                // Grids that fit in memory have sides that fit.
                let (at, count) = (at as i64 + step, count as i64);
                inside &= wraps || (0..count).contains(&at);
                *other = at.rem_euclid(count) as usize;
            }
            if inside {
                let [ox, oy, oz] = other;
                out.push_valid(i as u32, grid.index(ox, oy, oz) as u32, coefficient([x, y, z], k));
            }
        }
    }
    out
}

fn stencil(nx: usize, ny: usize, centre: f64) -> Triplets {
    let n = nx.saturating_mul(ny);
    let mut out = Triplets::new(Shape::new(n, n));
    let points = (0..ny).flat_map(|j| (0..nx).map(move |i| [i, j]));
    for (k, point) in points.enumerate() {
        for (col, value) in row([nx, ny], point, k, centre) {
            // Indices beyond 32 bits would need more than 300 GB of entries.
            out.push_valid(k as u32, col as u32, value);
        }
    }
    out
}

/// The entries of row k, which is that of this point.
fn row(
    [nx, ny]: [usize; 2],
    [i, j]: [usize; 2],
    k: usize,
    centre: f64,
) -> impl Iterator<Item = (usize, f64)> {
    let entries = [
        (j > 0).then(|| (k.saturating_sub(nx), -1.0)),
        (i > 0).then(|| (k.saturating_sub(1), -1.0)),
        Some((k, centre)),
        (i + 1 < nx).then(|| (k.saturating_add(1), -1.0)),
        (j + 1 < ny).then(|| (k.saturating_add(nx), -1.0)),
    ];
    entries.into_iter().flatten()
}

/// The rows of [`poisson_2d`], made on all cores.
pub(crate) fn poisson_2d_rows(nx: usize, ny: usize) -> Csr {
    let n = nx.saturating_mul(ny);
    let shape = Shape::new(n, n);
    Csr::by_rows(
        Threads::all(),
        shape,
        n.saturating_mul(5),
        || (),
        |k, (), rows| {
            for (col, value) in row([nx, ny], [k % nx.max(1), k / nx.max(1)], k, 4.0) {
                rows.push(col as u32, value);
            }
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_made_on_all_cores_are_the_same() {
        for (nx, ny) in [(0, 0), (3, 0), (0, 2), (1, 1), (1, 7), (5, 1), (17, 13), (90, 70)] {
            assert_eq!(poisson_2d_rows(nx, ny), poisson_2d(nx, ny).to_csr(), "{nx} x {ny}");
        }
    }
}
