//! Products with banded matrices.

mod dense;
mod folded;
mod plan;

pub use folded::{folded_accurate, folded_product, folded_product_transposed};

pub(crate) use folded::folded_part;

pub(crate) use dense::{banded_to_matrix, folded_to_matrix};

use plan::BandText;

use super::product::{Accurate, Combine, Part, accumulate, check_product};
use crate::data::{Band, BandedMatrix, Vector};
use crate::error::Result;
use crate::gl::{UniformKind, UniformValue, glsl};
use crate::kernel::{Field, FieldType, KernelSpec, Operand, ParamType, Pass, PooledTexture, Predicate, View};

/// Textures that a pass reads besides diagonals: x, z, and a partial sum.
const OTHER_INPUTS: usize = 3;

/// The uniforms of every pass over diagonals.
fn fields(text: &BandText, count: usize) -> Vec<Field> {
    let shifts = text.shifts().len().max(1) as u32;
    vec![
        Field { name: "shifts", kind: FieldType(UniformKind::Ints(shifts)) },
        Field { name: "constants", kind: FieldType(UniformKind::Floats(2 * count.max(1) as u32)) },
        Field { name: "factors", kind: <[f32; 2]>::KIND },
        Field { name: "source_texels", kind: i32::KIND },
        Field { name: "beta", kind: f32::KIND },
    ]
}

/// Their values.
fn params(
    text: &BandText,
    bands: &[Band],
    a: &BandedMatrix,
    alpha: f32,
    x: &Vector,
    beta: f32,
) -> Vec<UniformValue> {
    let or_zero = |mut v: Vec<i32>| {
        v.resize(v.len().max(1), 0);
        v
    };
    let pair = |band: &Band| match band {
        Band::Constant { high, low } => [*high, *low],
        Band::Stored { .. } => [0.0, 0.0],
    };
    let mut constants: Vec<f32> = bands.iter().flat_map(pair).collect();
    constants.resize(constants.len().max(2), 0.0);
    vec![
        UniformValue::Ints(or_zero(text.shifts().to_vec())),
        UniformValue::Floats(constants),
        UniformValue::Vec2(a.scaling.factors(alpha)),
        UniformValue::Int(i32::try_from(x.extent().area()).unwrap_or(i32::MAX)),
        UniformValue::Float(beta),
    ]
}

/// The textures of the stored diagonals, rounded parts or remainders.
fn textures<'a>(bands: &'a [Band], remainders: bool) -> impl Iterator<Item = View<'a>> {
    bands.iter().filter_map(move |band| match band {
        Band::Stored { high, .. } if !remainders => Some(View::whole(high.device(), high.texture())),
        Band::Stored { low: Some(low), .. } if remainders => Some(View::whole(low.device(), low.texture())),
        _ => None,
    })
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
        let z = combine.operand();
        let masked = text.has_constants() || combine.fills_padding(y);
        let key = format!("banded {} {last} {} {} {masked}", text.key(), combine.define(), partial.is_some());
        let kernel = device.kernel(&key, || {
            let highs = text.highs();
            let mut inputs = vec!["x"];
            inputs.extend(highs.iter().map(String::as_str));
            if partial.is_some() {
                inputs.push("partial");
            }
            if z.is_some() {
                inputs.push("z");
            }
            let first = if partial.is_some() { "partial_here()" } else { "vec4(0.0)" };
            let fields = fields(&text, bands.len());
            let spec = KernelSpec::fragment(glsl!("banded/product.frag"), &inputs, &fields, &["out"])
                .with(&text.generate(|d, _, x| format!("sum += {d} * {x};")))
                .with(&format!("#define FIRST_TERM {first}\n#define LAST {}", u8::from(last)))
                .with(combine.define());
            if masked { spec.masked() } else { spec }
        })?;
        let mut inputs = vec![x.view()];
        inputs.extend(textures(bands, false));
        inputs.extend(partial.as_ref().map(|t| View::whole(device, t.texture())));
        inputs.extend(z.map(Operand::view));
        let params = params(&text, bands, a, alpha, x, 0.0);
        if last {
            device.execute(&Pass::new(&kernel, vec![y.view()], inputs).params(params).only(predicate))?;
        } else {
            let sum = partial_sum(y)?;
            let target = View { tail: y.view().tail, ..View::whole(device, sum.texture()) };
            device.execute(&Pass::new(&kernel, vec![target], inputs).params(params).only(predicate))?;
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
    let Accurate { transposed, alpha, x, plus } = terms;
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
        let (carried, added) = (partial.is_some(), plus.is_some());
        let masked = text.has_constants() || plus.is_some_and(|(_, z)| z.extent() != out.extent());
        let bound = part.define();
        let key = format!("banded accurate {} {carried} {added} {masked} {bound}", text.key());
        let kernel = device.kernel(&key, || {
            let names = [text.highs(), text.lows()].concat();
            let mut inputs = vec!["x"];
            inputs.extend(names.iter().map(String::as_str));
            let (mut high, mut low) = ("vec4(0.0)", "vec4(0.0)");
            if carried {
                inputs.extend(["partial_high", "partial_low"]);
                (high, low) = ("partial_high(p)", "partial_low(p)");
            } else if added {
                inputs.push("z");
                high = "beta * z(p)";
            }
            let term = |d: &str, low: &str, x: &str| {
                format!("s = add_product4(s, {d}, {low}, ({x} * factors.y) * factors.x);")
            };
            let (fields, outputs) = (fields(&text, bands.len()), ["high_part", "low_part"]);
            let spec = KernelSpec::fragment(glsl!("banded/accurate.frag"), &inputs, &fields, &outputs)
                .with(&text.generate(term))
                .with(&format!("{bound}#define START_HIGH {high}\n#define START_LOW {low}"));
            if masked { spec.masked() } else { spec }
        })?;
        let view = |t| View::whole(device, t);
        let mut inputs = vec![x.view()];
        inputs.extend(textures(bands, false).chain(textures(bands, true)));
        match &partial {
            Some((high, low)) => inputs.extend([view(high.texture()), view(low.texture())]),
            None => inputs.extend(plus.map(|(_, z)| z.view())),
        }
        let beta = plus.map_or(0.0, |(beta, _)| beta);
        let params = params(&text, bands, a, alpha, x, beta);
        let low = partial_sum(out)?;
        if i + 1 == count {
            let other = View { tail: out.view().tail, ..view(low.texture()) };
            let targets = part.targets(out.view(), other);
            device.execute(&Pass::new(&kernel, targets, inputs).params(params))?;
            return Ok(low);
        } else {
            let high = partial_sum(out)?;
            let part = |t| View { tail: out.view().tail, ..view(t) };
            let targets = vec![part(high.texture()), part(low.texture())];
            device.execute(&Pass::new(&kernel, targets, inputs).params(params))?;
            partial = Some((high, low));
        }
    }
    partial_sum(out) // not reached: there always is a group
}
