//! Products with operators on grids.

use super::product::{Accurate, Combine, Part, accumulate, check_product};
use crate::data::{Side, Stencil, Vector};
use crate::error::Result;
use crate::gl::glsl;
use crate::kernel::{Draw, Operand, Predicate, View};

/// Tells a draw what `glsl/include/stencil.glsl` wants to know when it is compiled.
pub(crate) fn grid<'a>(draw: Draw<'a>, a: &'a Stencil) -> Draw<'a> {
    let grid = a.grid();
    let draw = draw
        .define("ALIGNED", grid.nx.is_multiple_of(4))
        .define("LAYERS", grid.nz > 1)
        .define("SOLIDS", a.links.is_some());
    let names = [("AXIS_X", "PERIODIC_X"), ("AXIS_Y", "PERIODIC_Y"), ("AXIS_Z", "PERIODIC_Z")];
    let axes = names.into_iter().zip(a.weights()).zip(a.sides().axes());
    axes.fold(draw, |draw, (((axis, periodic), weight), ends)| {
        let wraps = if ends.contains(&Side::Periodic) { "true" } else { "false" };
        draw.define(axis, weight != 0.0).define(periodic, wraps)
    })
}

/// Numbers of a grid, which fits a texture.
fn int(n: usize) -> i32 {
    i32::try_from(n).unwrap_or(i32::MAX)
}

/// Texels of a row where those hold cells of one row alone, else cells.
fn run_length(a: &Stencil) -> usize {
    let nx = a.grid().nx;
    if nx.is_multiple_of(4) { nx / 4 } else { nx }
}

/// The parameter `cells` of a grid.
pub(crate) fn cells(a: &Stencil) -> [i32; 4] {
    let grid = a.grid();
    [grid.nx, grid.ny, grid.nz, run_length(a)].map(int)
}

/// The parameters of every kernel that includes `glsl/include/stencil.glsl`.
pub(crate) fn grid_params<'a>(draw: Draw<'a>, a: &'a Stencil) -> Draw<'a> {
    let inverse = |n: usize| 1.0 / n.max(1) as f32;
    draw.param("cells", cells(a)).param("inverses", [inverse(run_length(a)), inverse(a.grid().ny)])
}

/// The parameters of every kernel that includes `glsl/include/operator.glsl`.
pub(crate) fn operator_params<'a>(draw: Draw<'a>, a: &'a Stencil) -> Draw<'a> {
    let [wx, wy, wz] = a.weights().map(|w| a.scaling.split(w).0);
    grid_params(draw, a)
        .param("weights", [wx, wy, wz, a.scaling.split(a.shift()).0])
        .floats("at_sides", a.sides().axes().as_flattened().iter().map(|s| s.share() as f32).collect())
        .param("interior", a.scaling.split(a.interior()).0)
}

/// The texture that says where solid cells are, as the input `links`, if there are any.
pub(crate) fn links<'a>(draw: Draw<'a>, a: &'a Stencil) -> Draw<'a> {
    draw.input_if("links", a.links.as_ref().map(|t| View::whole(a.device(), t.texture())))
}

/// `y = combine(α A x)` for an operator on a grid.
///
/// *Shapes*: all vectors as long as the grid has cells. *Cost*: 1 draw; each texel of `x` that a fragment needs is
/// fetched once, 5 on a plane and 7 in space where nx is a multiple of four, and about twice as many elsewhere; no
/// readback. *Errors*: [`Error::ShapeMismatch`](crate::Error::ShapeMismatch), [`Error::Parameter`](crate::Error::Parameter) for an `α`
/// that is not finite. *Bound*: `γ_(k+2) (|α| (|shift x_i| + Σ |weight| (|x_i| + |x_j|)) + |z_i|)`, with k = 1 + twice
/// the number of axes (and 1 for `z`). *Source*: \[Krueger05\] 44.4, equations 44-1, 44-6, 44-7.
pub fn stencil_product(
    y: &mut Vector,
    combine: Combine<'_>,
    alpha: f32,
    a: &Stencil,
    x: &Vector,
) -> Result<()> {
    check_product("stencil_product", a.shape(), y, &combine, alpha, x)?;
    if matches!(combine, Combine::Accumulate) {
        return accumulate(y, |sum, combine| stencil_product(sum, combine, alpha, a, x));
    }
    product(y, combine, alpha, a, x, Predicate::Always)
}

/// `r = b - A x` in the texels for which the predicate holds; the others of `r` stay as they are.
pub(crate) fn stencil_residual(
    r: &mut Vector,
    b: &Vector,
    a: &Stencil,
    x: &Vector,
    predicate: Predicate<'_>,
) -> Result<()> {
    let combine = Combine::SubtractFrom(b);
    check_product("stencil_residual", a.shape(), r, &combine, 1.0, x)?;
    product(r, combine, 1.0, a, x, predicate)
}

fn product(
    y: &mut Vector,
    combine: Combine<'_>,
    alpha: f32,
    a: &Stencil,
    x: &Vector,
    predicate: Predicate<'_>,
) -> Result<()> {
    let draw = Draw::new(a.device(), glsl!("stencil/product.frag")).input("x", x.view());
    combine
        .describe(operator_params(links(grid(draw, a), a), a))
        .param("factors", a.scaling.factors(alpha))
        .masked(true)
        .target(y.view())
        .only(predicate)
        .run()
}

/// `out = α A x + β z` in double-float with all coefficients as pairs, rounded once.
///
/// *Shapes*: as [`stencil_product`]. *Cost*: 1 draw into two targets. *Errors*:
/// [`Error::ShapeMismatch`](crate::Error::ShapeMismatch); [`Error::Unsupported`](crate::Error::Unsupported) where the
/// device has no exact form of two-sum ([`Capabilities::exact_form`](crate::gl::Capabilities::exact_form)). *Bound*: one
/// rounding, and about `k 2⁻⁴⁶ |A| |x|`.
pub fn stencil_accurate(out: &mut Vector, a: &Stencil, terms: Accurate<'_>) -> Result<()> {
    stencil_part(out, a, terms, Part::Sum)
}

/// A part of that sum.
pub(crate) fn stencil_part(out: &mut Vector, a: &Stencil, terms: Accurate<'_>, part: Part) -> Result<()> {
    // The operator is symmetric.
    let Accurate { transposed: _, alpha, x, plus } = terms;
    let op = "stencil_accurate";
    check_product(op, a.shape(), out, &Combine::Replace, alpha, x)?;
    if let Some((_, z)) = plus {
        super::check_shape(op, "z", z.shape(), out.shape())?;
    }
    let device = a.device();
    super::require_exact(device, op)?;
    let _scope = device.scope()?;
    let pairs = |values: &[f64]| {
        let split = |v: &f64| <[f32; 2]>::from(a.scaling.split(*v));
        values.iter().flat_map(split).collect::<Vec<f32>>()
    };
    let [wx, wy, wz] = a.weights();
    let at_sides: Vec<f64> =
        a.sides().axes().iter().zip(a.weights()).flat_map(|(ends, w)| ends.map(|s| w * s.share())).collect();
    // The other of the two numbers, for which nobody asks.
    let other = device.texture(out.extent(), crate::gl::Format::Rgba32F, "partial sum")?;
    let other = View { tail: out.view().tail, ..View::whole(device, other.texture()) };
    let draw = Draw::new(device, glsl!("stencil/accurate.frag")).input("x", x.view());
    let draw = links(grid(part.describe(draw), a), a);
    grid_params(draw, a)
        .carried("START_HIGH", ("z", "beta * z_here()"), terms.z())
        .floats("terms", pairs(&[wx, wy, wz, a.shift(), a.interior()]))
        .floats("at_sides", pairs(&at_sides))
        .param("factors", a.scaling.factors(alpha))
        .param("beta", terms.beta())
        .masked(true)
        .targets(part.targets(out.view(), other))
        .run()
}
