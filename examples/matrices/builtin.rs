//! Matrices of kinds that ask for different methods.

use texla::Shape;
use texla::host::{Csr, Triplets, problems};

use super::Named;

/// One of each kind, smaller ones for a quick look.
pub fn all(quick: bool) -> Vec<Named> {
    let side = if quick { 16 } else { 64 };
    let named = |name: &str, a: Csr| Named { name: name.to_owned(), label: name.to_owned(), a };
    vec![
        named("five-point Laplacian", problems::poisson_2d(side, side).to_csr()),
        named("jumping coefficients", jumps(side)),
        named("strong wind", wind(side)),
        named("saddle point", saddle(side)),
        named("nothing on the diagonal", ring(side * side)),
        named("rows far apart", far_apart(side * side)),
        named("more rows than columns", tall(side * side, side)),
    ]
}

fn made(rows: usize, cols: usize, entries: impl IntoIterator<Item = (usize, usize, f64)>) -> Csr {
    let mut t = Triplets::new(Shape::new(rows, cols));
    for (i, j, v) in entries {
        t.push(i, j, v).expect("an entry within the matrix");
    }
    t.to_csr()
}

/// Each pair of neighbours in a grid, and whether they lie side by side.
fn edges(side: usize) -> impl Iterator<Item = (usize, usize, bool)> {
    (0..side * side).flat_map(move |i| {
        let beside = (i % side + 1 < side).then_some((i, i + 1, true));
        beside.into_iter().chain((i + side < side * side).then_some((i, i + side, false)))
    })
}

/// Diffusion through a chessboard of 8x8 whose fields conduct a thousand times more or less.
fn jumps(side: usize) -> Csr {
    let conducts =
        |i: usize| if (8 * (i % side) / side + 8 * (i / side) / side).is_multiple_of(2) { 1e3 } else { 1.0 };
    let coupled = edges(side).flat_map(|(i, j, _)| {
        let v = 2.0 / (1.0 / conducts(i) + 1.0 / conducts(j));
        [(i, j, -v), (j, i, -v), (i, i, v), (j, j, v)]
    });
    let held = (0..side).map(|i| (i, i, conducts(i)));
    made(side * side, side * side, coupled.chain(held).collect::<Vec<_>>())
}

/// Diffusion in a wind that is forty times as strong.
fn wind(side: usize) -> Csr {
    let blown = edges(side).flat_map(|(i, j, beside)| {
        let from = if beside { 40.0 } else { 0.0 };
        [(i, j, -1.0), (j, i, -1.0 - from), (i, i, 1.0), (j, j, 1.0 + from)]
    });
    let held = (0..side * side).map(|i| (i, i, 0.1));
    made(side * side, side * side, blown.chain(held).collect::<Vec<_>>())
}

/// A Laplacian whose columns of cells have given sums.
fn saddle(side: usize) -> Csr {
    let n = side * side;
    let laplacian = problems::poisson_2d(side, side).to_csr();
    let sums = (0..n).flat_map(|i| [(i, n + i % side, 1.0), (n + i % side, i, 1.0)]);
    made(n + side, n + side, laplacian.entries().chain(sums).collect::<Vec<_>>())
}

/// Rows that belong to the next unknown but one.
fn ring(n: usize) -> Csr {
    let of = |i: usize| {
        [(i, (i + 2) % n, 3.0), (i, (i + 1) % n, -1.0), (i, (i + 7) % n, 0.5), (i, (i * 5 + 3) % n, 0.25)]
    };
    made(n, n, (0..n).flat_map(of).collect::<Vec<_>>())
}

/// A matrix whose rows are scaled by anything from 10⁻³ to 10³.
fn far_apart(n: usize) -> Csr {
    let scale = |i: usize| 10f64.powi((i * 5 % 7) as i32 - 3);
    let of = move |i: usize| {
        [(i, i, 4.0), (i, (i + 1) % n, -1.0), (i, (i + n - 1) % n, -1.5), (i, (i * 3) % n, 0.5)]
            .map(|(i, j, v)| (i, j, v * scale(i)))
    };
    made(n, n, (0..n).flat_map(of).collect::<Vec<_>>())
}

/// Sums of three of the unknowns.
fn tall(rows: usize, cols: usize) -> Csr {
    let of =
        |i: usize| [(i, i % cols, 1.0), (i, (i / cols + 3 * i) % cols, 0.5), (i, (i * i + 1) % cols, -0.25)];
    made(rows, cols, (0..rows).flat_map(of).collect::<Vec<_>>())
}
