//! Products with banded matrices.

mod dense;
mod folded;
mod plan;

pub use folded::{folded_accurate, folded_product, folded_product_transposed};

pub(crate) use folded::folded_part;

use plan::{BandText, Term, generate};

use super::product::{Accurate, Combine, Part, accumulate, check_product};
use crate::data::{Band, BandedMatrix, Vector};
use crate::error::Result;
use crate::gl::{Source, glsl};
use crate::kernel::{Draw, Operand, PooledTexture, Predicate, View};

/// Textures that a pass reads besides diagonals: x, z, and a partial sum.
const OTHER_INPUTS: usize = 3;

/// A pass over diagonals.
struct Diagonals<'a> {
    a: &'a BandedMatrix,
    bands: &'a [Band],
    text: BandText,
    x: &'a Vector,
    alpha: f32,
}

impl<'a> Diagonals<'a> {
    /// The draw, with what all of them read first and are told.
    fn draw(&self, source: Source<'static>, term: Term, beta: f32) -> Draw<'a> {
        let (a, x) = (self.a, self.x);
        // No array is empty.
        let mut shifts = self.text.shifts().to_vec();
        shifts.resize(shifts.len().max(1), 0);
        let pair = |band: &Band| match band {
            Band::Constant { high, low } => [*high, *low],
            Band::Stored { .. } => [0.0, 0.0],
        };
        let mut constants: Vec<f32> = self.bands.iter().flat_map(pair).collect();
        constants.resize(constants.len().max(2), 0.0);
        let draw = Draw::new(a.device(), source)
            .lines_made(generate, self.text.words(term))
            .input("x", x.view())
            .ints("shifts", shifts)
            .floats("constants", constants)
            .param("factors", a.scaling.factors(self.alpha))
            .param("source_texels", i32::try_from(x.extent().area()).unwrap_or(i32::MAX))
            .param("beta", beta);
        self.bands.iter().enumerate().fold(draw, |draw, (i, band)| draw.input_if(("d", i), stored(band)))
    }

    /// Remainders too, where they are kept.
    fn remainders(&self, draw: Draw<'a>) -> Draw<'a> {
        let all = self.bands.iter().enumerate();
        all.fold(draw, |draw, (i, band)| draw.input_if(("d", i, "_low"), remainder(band)))
    }
}

/// The texture of a stored diagonal.
fn stored(band: &Band) -> Option<View<'_>> {
    match band {
        Band::Stored { high, .. } => Some(View::whole(high.device(), high.texture())),
        Band::Constant { .. } => None,
    }
}

/// And of what its rounding has left.
fn remainder(band: &Band) -> Option<View<'_>> {
    match band {
        Band::Stored { low: Some(low), .. } => Some(View::whole(low.device(), low.texture())),
        _ => None,
    }
}

/// Offsets of the diagonals of `A` or of `Aᵀ`, in the order in which `A` stores them.
fn signed_offsets(a: &BandedMatrix, transposed: bool) -> Vec<i64> {
    let sign = if transposed { -1 } else { 1 };
    a.offsets().iter().map(|o| sign * o).collect()
}

/// The diagonals of each pass. A matrix without entries still takes one: zero, combined.
fn groups<'a>(offsets: &'a [i64], a: &'a BandedMatrix, per_pass: usize) -> Vec<(&'a [i64], &'a [Band])> {
    if offsets.is_empty() {
        return vec![(&[], &[])];
    }
    offsets.chunks(per_pass).zip(a.bands.chunks(per_pass)).collect()
}

fn partial_sum(y: &Vector) -> Result<PooledTexture> {
    y.device().texture(y.extent(), crate::gl::Format::Rgba32F, "partial sum")
}

/// `y = combine(α A x)` for a banded matrix.
///
/// *Shapes*: `A` m x n, `x` n, `y` and the vector in `combine` m. *Cost*: 1 draw for every 12 diagonals, each texel of
/// `x` that several diagonals of a pass need fetched once; no readback. *Errors*: [`Error::ShapeMismatch`](crate::Error::ShapeMismatch),
/// [`Error::Parameter`](crate::Error::Parameter) for an `α` that is not finite. *Bound*: `γ_(k+2) (|α| |A| |x| + |z|)_i` for k diagonals.
/// *Source*: \[Krueger05\] 44.3.3.
pub fn banded_product(
    y: &mut Vector,
    combine: Combine<'_>,
    alpha: f32,
    a: &BandedMatrix,
    x: &Vector,
) -> Result<()> {
    check_product("banded_product", a.shape(), y, &combine, alpha, x)?;
    product(y, combine, alpha, a, x, false, Predicate::Always)
}

/// `y = combine(α Aᵀ x)` for a banded matrix, without storing `Aᵀ`.
///
/// *Shapes*: `A` m x n, `x` m, `y` and the vector in `combine` n. *Cost*: as [`banded_product`], with two fetches of
/// each diagonal whose offset is no multiple of four. *Errors* and *bound*: as [`banded_product`].
pub fn banded_product_transposed(
    y: &mut Vector,
    combine: Combine<'_>,
    alpha: f32,
    a: &BandedMatrix,
    x: &Vector,
) -> Result<()> {
    check_product("banded_product_transposed", a.shape().transposed(), y, &combine, alpha, x)?;
    product(y, combine, alpha, a, x, true, Predicate::Always)
}

/// `r = b - A x` in the texels for which the predicate holds; the others of `r` stay as they are.
pub(crate) fn banded_residual(
    r: &mut Vector,
    b: &Vector,
    a: &BandedMatrix,
    x: &Vector,
    predicate: Predicate<'_>,
) -> Result<()> {
    let combine = Combine::SubtractFrom(b);
    check_product("banded_residual", a.shape(), r, &combine, 1.0, x)?;
    product(r, combine, 1.0, a, x, false, predicate)
}

fn product(
    y: &mut Vector,
    combine: Combine<'_>,
    alpha: f32,
    a: &BandedMatrix,
    x: &Vector,
    transposed: bool,
    predicate: Predicate<'_>,
) -> Result<()> {
    if matches!(combine, Combine::Accumulate) {
        return accumulate(y, |sum, combine| product(sum, combine, alpha, a, x, transposed, predicate));
    }
    let device = a.device();
    let _scope = device.scope()?;
    let units = device.gl().caps.borrow().texture_units as usize;
    let per_pass = units.saturating_sub(OTHER_INPUTS).clamp(1, 12);
    let offsets = signed_offsets(a, transposed);
    let groups = groups(&offsets, a, per_pass);
    let count = groups.len();
    let mut partial: Option<PooledTexture> = None;
    for (i, (offsets, bands)) in groups.into_iter().enumerate() {
        let last = i + 1 == count;
        let text = BandText::new(offsets, bands, transposed, x.extent() == y.extent());
        let combine = if last { combine } else { Combine::Replace };
        let masked = text.has_constants() || combine.fills_padding(y);
        let draw = Diagonals { a, bands, text, x, alpha }
            .draw(glsl!("banded/product.frag"), Term::Single, 0.0)
            .carried(
                "FIRST_TERM",
                ("partial", "partial_here()"),
                partial.as_ref().map(|t| View::whole(device, t.texture())),
            )
            .define("LAST", last);
        let draw = combine.describe(draw).masked(masked).only(predicate);
        if last {
            draw.target(y.view()).run()?;
        } else {
            let sum = partial_sum(y)?;
            draw.target(View { tail: y.view().tail, ..View::whole(device, sum.texture()) }).run()?;
            partial = Some(sum);
        }
    }
    Ok(())
}

/// `out = α A x + β z` accumulated in double-float with the full coefficients, rounded once.
///
/// *Shapes*: as [`banded_product`]. *Cost*: 1 draw into two targets for every 5 diagonals. *Errors*:
/// [`Error::ShapeMismatch`](crate::Error::ShapeMismatch); [`Error::Unsupported`](crate::Error::Unsupported) where the device has no exact form of two-sum
/// ([`Capabilities::exact_form`](crate::gl::Capabilities::exact_form)). *Bound*: one rounding, and about
/// `k 2⁻⁴⁶ |A| |x|`.
pub fn banded_accurate(out: &mut Vector, a: &BandedMatrix, terms: Accurate<'_>) -> Result<()> {
    banded_part(out, a, terms, Part::Sum)
}

/// A part of that sum.
pub(crate) fn banded_part(out: &mut Vector, a: &BandedMatrix, terms: Accurate<'_>, part: Part) -> Result<()> {
    let Accurate { transposed, alpha, x, plus } = terms;
    let op = "banded_accurate";
    let shape = if transposed { a.shape().transposed() } else { a.shape() };
    check_product(op, shape, out, &Combine::Replace, alpha, x)?;
    if let Some((_, z)) = plus {
        super::check_shape(op, "z", z.shape(), out.shape())?;
    }
    let device = a.device();
    super::require_exact(device, op)?;
    accurate(out, a, terms, part).map(drop)
}

/// The operation behind its checks: of the two numbers that it computes, the one not asked for is the texture given back.
fn accurate(out: &mut Vector, a: &BandedMatrix, terms: Accurate<'_>, part: Part) -> Result<PooledTexture> {
    let Accurate { transposed, alpha, x, .. } = terms;
    let device = a.device();
    let _scope = device.scope()?;
    let units = device.gl().caps.borrow().texture_units as usize;
    let per_pass = (units.saturating_sub(OTHER_INPUTS) / 2).clamp(1, 6);
    let offsets = signed_offsets(a, transposed);
    let groups = groups(&offsets, a, per_pass);
    let count = groups.len();
    let mut partial: Option<(PooledTexture, PooledTexture)> = None;
    for (i, (offsets, bands)) in groups.into_iter().enumerate() {
        let text = BandText::new(offsets, bands, transposed, x.extent() == out.extent());
        let masked = text.has_constants() || terms.fills_padding(out);
        let like = |t| View { tail: out.view().tail, ..View::whole(device, t) };
        let (first, view) = match &partial {
            Some((high, _)) => (("partial_high", "partial_high(p)"), Some(like(high.texture()))),
            None => (("z", "beta * z(p)"), terms.z()),
        };
        let before = partial.as_ref().map(|(_, low)| like(low.texture()));
        let diagonals = Diagonals { a, bands, text, x, alpha };
        let draw = diagonals.draw(glsl!("banded/accurate.frag"), Term::Accurate, terms.beta());
        let draw = part
            .describe(diagonals.remainders(draw))
            .carried("START_HIGH", first, view)
            .carried("START_LOW", ("partial_low", "partial_low(p)"), before)
            .masked(masked);
        let low = partial_sum(out)?;
        if i + 1 == count {
            draw.targets(part.targets(out.view(), like(low.texture()))).run()?;
            return Ok(low);
        }
        let high = partial_sum(out)?;
        draw.target(like(high.texture())).target(like(low.texture())).run()?;
        partial = Some((high, low));
    }
    partial_sum(out) // not reached: there always is a group
}
