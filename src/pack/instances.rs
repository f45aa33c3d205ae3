//! The linear expressions of \[Bajaj04\], by which the packing optimiser is judged.
//!
//! The scanned figures leave some coefficients open; zero patterns and trivial rows are such that every number printed in the
//! paper comes out: Table 2 (a) and (b), and the block sizes of Figures 10, 13 and 14.

use crate::error::Result;
use crate::host::{Triplets, problems};
use crate::pack::{LinearExpression, StencilBoundary};
use crate::shape::{Grid, Shape};

/// The square of the Courant number in the instances of the wave equation; the paper leaves it open.
pub const COURANT_SQUARED: f64 = 0.2;

/// What makes an instance.
pub type Maker = fn() -> Result<LinearExpression>;

/// All instances by name, in the order of the paper: `wave2d`, `rk20`, `gs64`, `poisson2d_s8`, `poisson3d_s40`, `wave_s32`.
///
/// ```
/// use texla::pack::{CostModel, Packing, SimdMachine, instances};
/// for ((name, make), before) in instances::ALL.iter().zip([82, 20, 112, 6, 38, 38]) {
///     let e = make()?;
///     assert_eq!(SimdMachine.cost(&e, &Packing::identity(e.unknowns()))?.0, before, "{name}");
/// }
/// # Ok::<(), texla::Error>(())
/// ```
pub const ALL: [(&str, Maker); 6] = [
    ("wave2d", wave_2d),
    ("rk20", runge_kutta_20),
    ("gs64", gauss_seidel_64),
    ("poisson2d_s8", poisson_2d_s8),
    ("poisson3d_s40", poisson_3d_s40),
    ("wave_s32", wave_s32),
];

/// The 2D wave equation on 8 x 8 nodes: w(k+1) = A w(k) - w(k-1), two sides held at zero. \[Bajaj04\] section 3.1.
///
/// Node (i, j) is unknown 8 j + i; those with i = 0 or j = 0 are fixed, and zero is assumed past i = 7 and j = 7.
pub fn wave_2d() -> Result<LinearExpression> {
    wave_on(Grid::new_2d(8, 8))
}

/// [`wave_2d`] on a grid of any size.
pub fn wave_on(grid: Grid) -> Result<LinearExpression> {
    let s = COURANT_SQUARED;
    let taps = [
        ([0, -1, 0], s),
        ([-1, 0, 0], s),
        ([0, 0, 0], 2.0 * (1.0 - 2.0 * s)),
        ([1, 0, 0], s),
        ([0, 1, 0], s),
    ];
    let (held, open) = ([StencilBoundary::Fixed, StencilBoundary::Dropped], [StencilBoundary::Dropped; 2]);
    LinearExpression::stencil(grid, &taps, [held, held, open], true)
}

/// The suspensions of five cars, one stage of the Runge-Kutta method: Figure 2(a) with its numbers. \[Bajaj04\] section 3.2.
pub fn runge_kutta_20() -> Result<LinearExpression> {
    let car = [(0, 1, 9.0), (1, 0, 1.0), (1, 1, 2.0), (1, 2, 3.0), (1, 3, 4.0)];
    let pitch = [(2, 3, 9.0), (3, 0, 5.0), (3, 1, 6.0), (3, 2, 7.0), (3, 3, 8.0)];
    let entries = (0..5)
        .flat_map(|k| car.into_iter().chain(pitch).map(move |(i, j, value)| (4 * k + i, 4 * k + j, value)));
    let nontrivial: Vec<bool> = (0..20).map(|i| i % 2 == 1).collect();
    LinearExpression::new(&Triplets::from_entries(Shape::new(20, 20), entries)?, &nontrivial)
}

/// Gauss-Seidel for the pressure in a cube of 4 x 4 x 4 cells: x_i = b_i + the sum of the neighbours / 6. \[Bajaj04\] 3.3.
///
/// A reconstruction: the paper prints a portion of its matrix, for 64 cells that contain fluid, of a 40 x 10 x 10 grid,
/// and not which. A cube has the most contacts that 64 cells can have, and with it come out the paper's 576 scalar operations
/// and the costs 112 and 72 of Table 2.
pub fn gauss_seidel_64() -> Result<LinearExpression> {
    LinearExpression::gauss_seidel(&cube_of_cells()?)
}

/// The system behind [`gauss_seidel_64`]: the Laplacian of a 4 x 4 x 4 cube between zero walls, diagonal 6, neighbours -1.
pub fn cube_of_cells() -> Result<Triplets> {
    let grid = Grid::new_3d(4, 4, 4);
    let taps = [[0, 0, -1], [0, -1, 0], [-1, 0, 0], [0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]];
    let coefficient = |_: [usize; 3], tap: usize| if tap == 3 { 6.0 } else { -1.0 };
    Ok(problems::variable_stencil(grid, &taps, [false; 3], coefficient))
}

/// The diagonal block S of the 2D Poisson equation on 8 columns: off-diagonal, Neumann at both ends. \[Bajaj04\] Figure 10.
///
/// The paper prints D^-1 (L + U), the sign of the iteration is the opposite; so does this.
pub fn poisson_2d_s8() -> Result<LinearExpression> {
    poisson_block(8, 4.0)
}

/// The diagonal block S of the 3D Poisson equation on 40 columns: off-diagonal, Neumann at both ends. \[Bajaj04\] Figure 13.
pub fn poisson_3d_s40() -> Result<LinearExpression> {
    poisson_block(40, 6.0)
}

fn poisson_block(n: usize, diagonal: f64) -> Result<LinearExpression> {
    let ends = |i: usize| i == 0 || i + 1 == n;
    let row = move |i: usize| -1.0 / if ends(i) { diagonal - 1.0 } else { diagonal };
    path(n, |i, j| if i == j { 0.0 } else { row(i) })
}

/// The block S* of the wave equation on 512 x 512 nodes: 32 of a line, without their end neighbours. \[Bajaj04\] Figure 14.
pub fn wave_s32() -> Result<LinearExpression> {
    let s = COURANT_SQUARED;
    path(32, |i, j| if i == j { 2.0 * (1.0 - 2.0 * s) } else { s })
}

/// A tridiagonal expression with all b non-trivial.
fn path(n: usize, value: impl Fn(usize, usize) -> f64) -> Result<LinearExpression> {
    let mut a = Triplets::with_capacity(Shape::new(n, n), 3 * n);
    for i in 0..n {
        for j in i.saturating_sub(1)..n.min(i + 2) {
            a.push(i, j, value(i, j))?;
        }
    }
    LinearExpression::new(&a, &vec![true; n])
}
