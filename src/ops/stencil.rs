//! Products with operators on grids.

use super::product::{Accurate, Checked, ExactSum, Inlined, LinOp, Part, Product, Summand, Sums, is_exact};
use crate::data::{Side, Stencil, Vector, is_power_of_two};
use crate::device::Device;
use crate::error::Result;
use crate::gl::glsl;
use crate::kernel::{Draw, Operand, Predicate, View};
use crate::profile::{Fetches, Workload};
use crate::shape::{Shape, fold_extent};

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

/// *Cost*, *bound*: see [`ops::product`](super::product): `γ_(k+2) (|α| (|shift x_i| + Σ |weight| (|x_i| + |x_j|)) +
/// |z_i|)`, with k = 1 + twice the number of axes (and 1 for `z`). *Source*: \[Krueger05\] 44.4, equations 44-1, 44-6,
/// 44-7.
impl LinOp for Stencil {
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
        product(y, self, *terms, Predicate::Always)
    }

    /// The operator is symmetric.
    fn apply_transposed(&self, y: &mut Vector, terms: Checked<Product<'_>>) -> Result<()> {
        self.apply(y, terms)
    }

    fn accurate(&self, out: &mut Vector, terms: Checked<Accurate<'_>>, part: Part) -> Result<bool> {
        summed(self, terms.alone(), Sums::Part(out, *terms, part), Digits::Pairs)
    }

    fn accumulate(&self, sum: &mut ExactSum, terms: Checked<Summand<'_>>) -> Result<bool> {
        if !summed(self, *terms, Sums::Exact(sum), Digits::Pairs)? {
            return Ok(false);
        }
        let rest = sum.is_fine() && numbers(self, Digits::Rest).iter().any(|v| *v != 0.0);
        if rest { summed(self, *terms, Sums::Exact(sum), Digits::Rest) } else { Ok(true) }
    }

    fn inlined<'a>(&'a self, pass: Inlined<'a>) -> Result<Option<Inlined<'a>>> {
        if !pass.fits(1) {
            return Ok(None);
        }
        let axes = self.weights().iter().filter(|w| **w != 0.0).count();
        Ok(Some(pass.form(0, 1 + 2 * axes, |draw, alpha| {
            operator_params(links(grid(draw, self), self), self).param("factors", self.scaling.factors(alpha))
        })))
    }

    /// A neighbour's difference takes six operations: what lies behind a side and at solid cells, and the weight. Where rows
    /// of the grid begin within texels, a neighbour across rows lies in two of them.
    fn workload(&self) -> Option<Workload> {
        let grid = self.grid();
        let y = fold_extent(grid.len() as u64, self.device().max_texture_size()).ok()?;
        let [x, others @ ..] = self.weights().map(|w| if w != 0.0 { 2.0 } else { 0.0 });
        let across = others.iter().sum::<f64>();
        let taps = x + if grid.nx.is_multiple_of(4) { across } else { 2.0 * across };
        let (texels, own) = (y.area() as f64, 1.0 + f64::from(u8::from(self.links.is_some())));
        let fetches = Fetches::default().with_own(own * texels).with_shifted(taps * texels);
        Some(
            Workload::pass(y, 1, fetches)
                .cut(true)
                .with_multiply_adds(4.0 * (1.0 + 6.0 * (x + across)) * texels),
        )
    }

    fn diagonal(&self) -> Result<Vec<f64>> {
        Ok(Stencil::diagonal(self))
    }

    fn column_squares(&self) -> Result<Vec<f64>> {
        // Symmetric: columns are rows.
        let squares = |i| {
            let row = self.row(i);
            row.others.iter().fold(row.own * row.own, |sum, (_, v)| sum + v * v)
        };
        Ok((0..self.grid().len()).map(squares).collect())
    }

    fn exponent(&self) -> Result<i32> {
        Ok(self.exponent())
    }

    fn null_space(&self) -> &[Vector] {
        self.null_space()
    }
}

/// `r = b - A x` in the texels for which the predicate holds; the others of `r` stay as they are.
pub(crate) fn stencil_residual(
    r: &mut Vector,
    b: &Vector,
    a: &Stencil,
    x: &Vector,
    predicate: Predicate<'_>,
) -> Result<()> {
    let terms = Product::residual("stencil_residual", r, b, a, x)?;
    product(r, a, terms, predicate)
}

fn product(y: &mut Vector, a: &Stencil, terms: Product<'_>, predicate: Predicate<'_>) -> Result<()> {
    let draw = Draw::new(a.device(), glsl!("stencil/product.frag")).input("x", terms.x.view());
    terms
        .ending()
        .describe(operator_params(links(grid(draw, a), a), a))
        .param("factors", a.scaling.factors(terms.factor()))
        .masked(true)
        .target(y.view())
        .only(predicate)
        .run()
}

/// `α A x` in several parts, where the device can.
fn summed(a: &Stencil, terms: Summand<'_>, sums: Sums<'_>, digits: Digits) -> Result<bool> {
    let device = a.device();
    if !is_exact(device) {
        return Ok(false);
    }
    let _scope = device.exclusive_scope()?;
    sums.run(&[()], |()| accurate(a, terms, digits)).map(|_| true)
}

/// Which digits of coefficients in 64 bits.
#[derive(Clone, Copy)]
enum Digits {
    /// Those that two floats hold.
    Pairs,
    /// The others.
    Rest,
}

/// The numbers that rows are made of: weights, shift, and what stands in the rows of solid cells; then those of the sides.
fn numbers(a: &Stencil, digits: Digits) -> [f64; 11] {
    let [wx, wy, wz] = a.weights();
    let mut all = [wx, wy, wz, a.shift(), a.interior(), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let at_sides = a.sides().axes().into_iter().zip(a.weights());
    let at_sides = at_sides.flat_map(|(ends, w)| ends.map(|s| w * s.share()));
    all.iter_mut().skip(5).zip(at_sides).for_each(|(number, at_side)| *number = at_side);
    match digits {
        Digits::Pairs => all,
        Digits::Rest => all.map(|v| a.scaling.rest(v)),
    }
}

/// The draw of that, with all coefficients as pairs.
fn accurate<'a>(a: &'a Stencil, terms: Summand<'a>, digits: Digits) -> Draw<'a> {
    let all = numbers(a, digits);
    let (own, at_sides) = all.split_at(5);
    let pairs = |values: &[f64]| values.iter().flat_map(|v| <[f32; 2]>::from(a.scaling.split(*v))).collect();
    // Solid cells alone have the last.
    let used = if a.links.is_some() { 5 } else { 4 };
    let powers = own.iter().take(used).chain(at_sides).all(|v| is_power_of_two(*v));
    let draw = Draw::new(a.device(), glsl!("stencil/accurate.frag")).input("x", terms.x.view());
    let draw = terms.with_low(draw);
    grid_params(links(grid(draw, a), a), a)
        .define("POWERS", powers)
        .floats("terms", pairs(own))
        .floats("at_sides", pairs(at_sides))
        .param("factors", a.scaling.factors(terms.alpha))
        .masked(true)
}
