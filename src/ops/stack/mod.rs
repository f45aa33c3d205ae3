//! Products with stacks of columns, and columns on their way in and out.

mod accurate;
mod product;
mod relocate;

use crate::data::{ColumnStack, Panel, Vector};
use crate::device::Device;
use crate::error::Result;
use crate::gl::Source;
use crate::kernel::{Draw, Operand};
use crate::ops::Coefficient;
use crate::ops::product::{
    Accurate, Checked, Combine, ExactSum, LinOp, Part, Product, Summand, Sums, is_exact,
};
use crate::profile::Workload;
use crate::shape::Shape;

/// *Cost*, *bound*: see [`ops::product`](crate::ops::product). *Source*: \[Krueger05\] 44.3.3.
///
/// What an operator is asked once for each solve is asked of the same matrix as a [`Matrix`](crate::Matrix), which takes
/// a draw for each texture and as much memory again while it lasts; see there for the readbacks.
impl LinOp for ColumnStack {
    fn device(&self) -> &Device {
        self.device()
    }

    fn shape(&self) -> Shape {
        self.shape()
    }

    fn is_replayable(&self) -> bool {
        true
    }

    fn apply(&self, y: &mut Vector, terms: Checked<Product<'_>>) -> Result<()> {
        product::product(y, self, usize::MAX, *terms, false)
    }

    /// Each element is a column times `x`.
    fn apply_transposed(&self, y: &mut Vector, terms: Checked<Product<'_>>) -> Result<()> {
        product::product(y, self, usize::MAX, *terms, true)
    }

    fn accurate(&self, out: &mut Vector, terms: Checked<Accurate<'_>>, part: Part) -> Result<bool> {
        Ok(is_exact(self.device())
            && accurate::accurate(self, terms.alone(), Sums::Part(out, *terms, part)).map(|()| true)?)
    }

    fn accumulate(&self, sum: &mut ExactSum, terms: Checked<Summand<'_>>) -> Result<bool> {
        Ok(is_exact(self.device()) && accurate::accurate(self, *terms, Sums::Exact(sum)).map(|()| true)?)
    }

    fn workload(&self) -> Option<Workload> {
        product::workload(self)
    }

    fn diagonal(&self) -> Result<Vec<f64>> {
        LinOp::diagonal(&self.to_matrix()?)
    }

    fn column_squares(&self) -> Result<Vec<f64>> {
        self.to_matrix()?.column_squares()
    }

    fn asymmetry(&self) -> Result<Option<(usize, usize, f64, f64)>> {
        self.to_matrix()?.asymmetry()
    }

    fn exponent(&self) -> Result<i32> {
        self.to_matrix()?.exponent()
    }
}

/// `y = combine(A x)` of as many columns as `x` has elements: the first ones of the stack.
pub(crate) fn product_of_columns(
    y: &mut Vector,
    combine: Combine<'_>,
    a: &ColumnStack,
    x: &Vector,
) -> Result<()> {
    let terms = Product { combine, alpha: Coefficient::Host(1.0), x };
    product::product(y, a, x.len(), terms, false)
}

/// `y = Aᵀ x` of as many columns as `y` has elements.
pub(crate) fn product_of_columns_transposed(y: &mut Vector, a: &ColumnStack, x: &Vector) -> Result<()> {
    let terms = Product { combine: Combine::Replace, alpha: Coefficient::Host(1.0), x };
    product::product(y, a, y.len(), terms, true)
}

/// A power of two as shaders divide by it: mask and shift.
fn power(n: u32) -> [i32; 2] {
    [n as i32 - 1, n.trailing_zeros() as i32]
}

/// A product with a panel, with what all of them read first and the parameters through which `glsl/include/stack.glsl`
/// finds a block; `range` is begin, end and the length of a share, in units or (transposed) in texels.
fn draw<'a>(
    source: Source<'static>,
    (a, panel): (&'a ColumnStack, &'a Panel<'a>),
    x: &'a Vector,
    range: [usize; 3],
    factors: [f32; 2],
) -> Draw<'a> {
    let (grid, part) = (a.grid(), &panel.part);
    let extent = panel.view.extent();
    let inverse = [1.0 / extent.width as f32, 1.0 / extent.height as f32];
    let unit = grid.unit_extent();
    let (mut lanes_x, mut lanes_y, mut lanes) = ([0.0; 4], [0.0; 4], [0.0; 4]);
    let offsets = lanes_x.iter_mut().zip(&mut lanes_y).zip(&mut lanes).skip(part.first_lane);
    for (k, ((x, y), lane)) in offsets.take(grid.unit_columns()).enumerate() {
        let [left, below] = grid.lane(k);
        (*x, *y, *lane) = (left as f32 * inverse[0], below as f32 * inverse[1], 1.0);
    }
    let int = |n: usize| i32::try_from(n).unwrap_or(i32::MAX);
    Draw::new(a.device(), source)
        .addressed("a", panel.view)
        .input("x", x.view())
        .param("across", power(grid.across))
        .param("unit_size", [unit.width as f32 * inverse[0], unit.height as f32 * inverse[1]])
        .param("tile_width", power(grid.tile.width))
        .param("lanes_x", lanes_x)
        .param("lanes_y", lanes_y)
        .param("lanes", lanes)
        .param("units", [part.first_quad, part.first_quad + part.units].map(int))
        .param("range", range.map(int))
        .param("factors", factors)
}

/// How long a panel's inner dimension is: its units, or the texels of a column.
fn inner(shape: Shape, panel: &Panel<'_>, transposed: bool) -> usize {
    if transposed { shape.rows.div_ceil(4) } else { panel.part.units }
}
