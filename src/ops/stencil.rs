//! Products with operators on grids.

use super::product::{Accurate, Combine, Part, accumulate, check_product};
use crate::data::{Side, Stencil, Vector};
use crate::error::Result;
use crate::gl::{UniformKind, UniformValue, glsl};
use crate::kernel::{Field, FieldType, KernelSpec, Operand, ParamType, Pass, Predicate, View};

/// What `glsl/include/stencil.glsl` wants to know when it is compiled.
pub(crate) fn defines(a: &Stencil) -> String {
    let grid = a.grid();
    let mut text = format!(
        "#define ALIGNED {}\n#define LAYERS {}\n#define SOLIDS {}\n",
        u8::from(grid.nx.is_multiple_of(4)),
        u8::from(grid.nz > 1),
        u8::from(a.links.is_some()),
    );
    for ((axis, weight), ends) in ["X", "Y", "Z"].iter().zip(a.weights()).zip(a.sides().axes()) {
        let (present, wraps) = (u8::from(weight != 0.0), ends.contains(&Side::Periodic));
        text.push_str(&format!("#define AXIS_{axis} {present}\n#define PERIODIC_{axis} {wraps}\n"));
    }
    text
}

/// The uniforms of every kernel that includes it.
pub(crate) const GRID_FIELDS: [Field; 2] =
    [Field { name: "cells", kind: <[i32; 4]>::KIND }, Field { name: "inverses", kind: <[f32; 2]>::KIND }];

/// Their values.
pub(crate) fn grid_params(a: &Stencil) -> [UniformValue; 2] {
    let grid = a.grid();
    // A grid fits a texture, so its sides fit.
    let int = |n: usize| i32::try_from(n).unwrap_or(i32::MAX);
    let run = if grid.nx.is_multiple_of(4) { grid.nx / 4 } else { grid.nx };
    let inverse = |n: usize| 1.0 / n.max(1) as f32;
    [
        UniformValue::IVec4([int(grid.nx), int(grid.ny), int(grid.nz), int(run)]),
        UniformValue::Vec2([inverse(run), inverse(grid.ny)]),
    ]
}

/// The uniforms of every kernel that includes `glsl/include/operator.glsl`.
pub(crate) fn operator_fields() -> Vec<Field> {
    let mut fields = GRID_FIELDS.to_vec();
    fields.extend([
        Field { name: "weights", kind: <[f32; 4]>::KIND },
        Field { name: "at_sides", kind: FieldType(UniformKind::Floats(6)) },
        Field { name: "interior", kind: f32::KIND },
    ]);
    fields
}

/// Their values.
pub(crate) fn operator_params(a: &Stencil) -> Vec<UniformValue> {
    let [wx, wy, wz] = a.weights().map(|w| a.scaling.split(w).0);
    let mut params = grid_params(a).to_vec();
    params.extend([
        UniformValue::Vec4([wx, wy, wz, a.scaling.split(a.shift()).0]),
        UniformValue::Floats(a.sides().axes().as_flattened().iter().map(|s| s.share() as f32).collect()),
        UniformValue::Float(a.scaling.split(a.interior()).0),
    ]);
    params
}

/// The textures that say where solid cells are.
pub(crate) fn links(a: &Stencil) -> Option<View<'_>> {
    a.links.as_ref().map(|t| View::whole(a.device(), t.texture()))
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
    let device = a.device();
    let _scope = device.scope()?;
    let z = combine.operand();
    let defines = defines(a);
    let kernel = device.kernel(&format!("stencil {defines} {}", combine.define()), || {
        let mut inputs = vec!["x"];
        inputs.extend(a.links.as_ref().map(|_| "links"));
        inputs.extend(z.map(|_| "z"));
        let mut fields = operator_fields();
        fields.push(Field { name: "factors", kind: <[f32; 2]>::KIND });
        KernelSpec::fragment(glsl!("stencil/product.frag"), &inputs, &fields, &["out"])
            .with(&defines)
            .with(combine.define())
            .masked()
    })?;
    let mut inputs = vec![x.view()];
    inputs.extend(links(a));
    inputs.extend(z.map(Operand::view));
    let mut params = operator_params(a);
    params.push(UniformValue::Vec2(a.scaling.factors(alpha)));
    device.execute(&Pass::new(&kernel, vec![y.view()], inputs).params(params).only(predicate))
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
    let defines = format!("{}{}", part.define(), defines(a));
    let kernel = device.kernel(&format!("stencil accurate {defines} {}", plus.is_some()), || {
        let mut inputs = vec!["x"];
        inputs.extend(a.links.as_ref().map(|_| "links"));
        inputs.extend(plus.map(|_| "z"));
        let mut fields = GRID_FIELDS.to_vec();
        fields.extend([
            Field { name: "terms", kind: FieldType(UniformKind::Floats(10)) },
            Field { name: "at_sides", kind: FieldType(UniformKind::Floats(12)) },
            Field { name: "factors", kind: <[f32; 2]>::KIND },
            Field { name: "beta", kind: f32::KIND },
        ]);
        let start = if plus.is_some() { "beta * z_here()" } else { "vec4(0.0)" };
        KernelSpec::fragment(glsl!("stencil/accurate.frag"), &inputs, &fields, &["high_part", "low_part"])
            .with(&defines)
            .with(&format!("#define START_HIGH {start}"))
            .masked()
    })?;
    let mut inputs = vec![x.view()];
    inputs.extend(links(a));
    inputs.extend(plus.map(|(_, z)| z.view()));
    let pairs = |values: &[f64]| {
        let split = |v: &f64| <[f32; 2]>::from(a.scaling.split(*v));
        UniformValue::Floats(values.iter().flat_map(split).collect())
    };
    let [wx, wy, wz] = a.weights();
    let at_sides: Vec<f64> =
        a.sides().axes().iter().zip(a.weights()).flat_map(|(ends, w)| ends.map(|s| w * s.share())).collect();
    let mut params = grid_params(a).to_vec();
    params.extend([
        pairs(&[wx, wy, wz, a.shift(), a.interior()]),
        pairs(&at_sides),
        UniformValue::Vec2(a.scaling.factors(alpha)),
        UniformValue::Float(plus.map_or(0.0, |(beta, _)| beta)),
    ]);
    // The other of the two numbers, for which nobody asks.
    let other = device.texture(out.extent(), crate::gl::Format::Rgba32F, "partial sum")?;
    let other = View { tail: out.view().tail, ..View::whole(device, other.texture()) };
    let targets = part.targets(out.view(), other);
    device.execute(&Pass::new(&kernel, targets, inputs).params(params))
}
