//! The splittings in 64 bits, cell by cell and from zero: how many sweeps each takes, and how many it should.

use std::f64::consts::PI;

use texla::Grid;
use texla::pack::Order;

/// In which order cells see one another's new values.
#[derive(Clone, Copy)]
pub enum Method<'a> {
    /// Never.
    Jacobi,
    /// By quads of the lines, in this order.
    Blocks(&'a Order),
    /// One after the other.
    GaussSeidel,
}

/// The neighbours of a cell: those inside, how many clamped sides there are, across the lines.
fn neighbours(grid: Grid, cell: usize) -> ([Option<usize>; 6], f64) {
    let (i, j, k) = grid.place(cell);
    let along = [(i, grid.nx, 1), (j, grid.ny, grid.nx), (k, grid.nz, grid.nx * grid.ny)];
    let mut found = [None; 6];
    for (pair, (at, n, stride)) in found.chunks_mut(2).zip(along) {
        pair[0] = (at > 0).then(|| cell - stride);
        pair[1] = (at + 1 < n).then(|| cell + stride);
    }
    (found, found[2..].iter().filter(|neighbour| neighbour.is_none()).count() as f64)
}

impl Method<'_> {
    /// Sweeps until the residual is `relative` of that at zero, looked at as often as `next` says.
    pub fn sweeps(self, grid: Grid, b: &[f32], relative: f64, next: impl Fn(usize) -> usize) -> usize {
        let b: Vec<f64> = b.iter().map(|b| f64::from(*b)).collect();
        let sum = |x: &[f64], cell: usize| {
            let (neighbours, clamped) = neighbours(grid, cell);
            (neighbours.into_iter().flatten().map(|cell| x[cell]).sum::<f64>(), clamped)
        };
        let residual = |x: &[f64]| {
            let row = |cell: usize| {
                let (sum, clamped) = sum(x, cell);
                b[cell] + sum - (6.0 - clamped) * x[cell]
            };
            (0..x.len()).map(|cell| row(cell).powi(2)).sum::<f64>().sqrt()
        };
        let clamping = |x: &[f64], cell: usize| {
            let (sum, clamped) = sum(x, cell);
            (b[cell] + sum + clamped * x[cell]) / 6.0
        };
        let lines = |quad: [usize; 4]| {
            (0..b.len()).step_by(grid.nx).flat_map(move |line| {
                quad.into_iter().filter(move |lane| *lane < grid.nx).map(move |lane| line + lane)
            })
        };
        let (mut x, aim) = (vec![0.0; b.len()], relative * residual(&vec![0.0; b.len()]));
        let (mut sweeps, mut test) = (0, 1);
        loop {
            match self {
                Method::Jacobi => x = (0..x.len()).map(|cell| clamping(&x, cell)).collect(),
                Method::Blocks(order) => {
                    for quad in 0..order.len() / 4 {
                        let quad = std::array::from_fn(|lane| order.at(4 * quad + lane));
                        let new: Vec<f64> = lines(quad).map(|cell| clamping(&x, cell)).collect();
                        lines(quad).zip(new).for_each(|(cell, new)| x[cell] = new);
                    }
                }
                Method::GaussSeidel => {
                    for cell in 0..x.len() {
                        let (sum, clamped) = sum(&x, cell);
                        x[cell] = (b[cell] + sum) / (6.0 - clamped);
                    }
                }
            }
            sweeps += 1;
            if sweeps == test {
                if residual(&x) <= aim || sweeps >= crate::run::MOST {
                    return sweeps;
                }
                test = next(sweeps);
            }
        }
    }

    /// By how much more sweeps it takes than another method that is asked the same: the slowest mode, constant across the lines
    /// and a sine along them, falls in a sweep by x'Ax / x'Px of itself, for A = P - N with what the sweep divides by in P.
    pub fn rate(self, grid: Grid) -> f64 {
        let n = grid.nx;
        let mode: Vec<f64> = (0..n).map(|i| (PI * (i + 1) as f64 / (n + 1) as f64).sin()).collect();
        let square: f64 = mode.iter().map(|s| s * s).sum();
        let newer = |is: &dyn Fn(usize, usize) -> bool| {
            let pairs = (1..n).flat_map(|i| [(i, i - 1), (i - 1, i)]).filter(|&(i, j)| is(i, j));
            pairs.map(|(i, j)| mode[i] * mode[j]).sum::<f64>() / square
        };
        // Gauss-Seidel divides by what is there at the sides; of the n - 1 couplings between lines each has a newer end.
        let across = |n: usize| (2.0 - 2.0 / n as f64) - (n - 1) as f64 / n as f64;
        match self {
            Method::Jacobi => 6.0,
            Method::Blocks(order) => 6.0 - newer(&|i, j| order.position(j) / 4 < order.position(i) / 4),
            Method::GaussSeidel => 2.0 - newer(&|i, j| j < i) + across(grid.ny) + across(grid.nz),
        }
    }
}
