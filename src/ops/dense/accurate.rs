//! Products with dense matrices in double-float.

use std::rc::Rc;

use super::matmul::{Stretch, stretches};
use crate::data::{Matrix, Vector, exponent};
use crate::device::Device;
use crate::error::Result;
use crate::gl::{Format, UniformValue, glsl};
use crate::kernel::{Compiled, Field, KernelSpec, Operand, ParamType, Pass, PooledTexture, View};
use crate::ops::product::{Accurate, Combine, Part, check_product};
use crate::ops::{check_shape, require_exact};

/// `out = α op(A) x + β z` accumulated in double-float, rounded once.
///
/// *Shapes*: as [`dense_product`](crate::ops::dense_product). *Cost*: 1 draw into two targets for every `2²³ / n` columns (`2²⁸ / n` on a GPU) of
/// each tile. *Errors*: [`Error::ShapeMismatch`](crate::Error::ShapeMismatch); [`Error::Unsupported`](crate::Error::Unsupported) where the device has no exact form of two-sum
/// ([`Capabilities::exact_form`](crate::gl::Capabilities::exact_form)). *Bound*: one rounding, and about
/// `m 2⁻⁴⁶ |A| |x|`.
pub fn dense_accurate(out: &mut Vector, a: &Matrix, terms: Accurate<'_>) -> Result<()> {
    dense_part(out, a, terms, Part::Sum)
}

/// A part of that sum.
pub(crate) fn dense_part(out: &mut Vector, a: &Matrix, terms: Accurate<'_>, part: Part) -> Result<()> {
    let Accurate { transposed, alpha, x, plus } = terms;
    let op = "dense_accurate";
    let shape = if transposed { a.shape().transposed() } else { a.shape() };
    check_product(op, shape, out, &Combine::Replace, alpha, x)?;
    if let Some((_, z)) = plus {
        check_shape(op, "z", z.shape(), out.shape())?;
    }
    let device = a.device();
    require_exact(device, op)?;
    let _scope = device.scope()?;
    let grid = a.tile_grid();
    let (tall, wide) = (grid.tile_rows(), grid.tile_cols());
    let (outer, inner) = if transposed { (wide, tall) } else { (tall, wide) };
    let work = if device.is_software() { 1 << 23 } else { 1 << 28 };
    let most = (work / shape.rows.clamp(1, outer)).max(4);
    let most = (most - most % 4).min(inner);
    let rows: Vec<_> = stretches(shape.rows, outer, usize::MAX).collect();
    let cols: Vec<_> = stretches(shape.cols, inner, usize::MAX)
        .flat_map(|whole| {
            (0..whole.length).step_by(most).map(move |begin| Stretch {
                length: most.min(whole.length - begin),
                first: (whole.first.0, whole.first.1 + begin),
                second: (whole.second.0, whole.second.1 + begin),
            })
        })
        .collect();
    let passes: Vec<_> = rows.iter().flat_map(|r| cols.iter().map(move |c| (r, c))).collect();
    if passes.is_empty() {
        return match (plus, part) {
            (Some((beta, z)), Part::Sum) => crate::ops::scaled(out, beta, z),
            (Some((beta, z)), Part::Magnitude) => {
                let mut scaled = Vector::uninit(device, z.len())?;
                crate::ops::scaled(&mut scaled, beta, z)?;
                crate::ops::abs(out, &scaled)
            }
            _ => out.set_zero(),
        };
    }
    let scratch = || device.texture(out.extent(), Format::Rgba32F, op);
    let mut carried: Option<(PooledTexture, PooledTexture)> = None;
    for (i, (rows, cols)) in passes.iter().enumerate() {
        let last = i + 1 == passes.len();
        let kernel = accurate_kernel(device, part, transposed, carried.is_some(), plus.is_some())?;
        let (r, c) = (rows.first.0, cols.first.0);
        let (r, c) = if transposed { (c, r) } else { (r, c) };
        let Some(tile) = a.tiles().nth(r * grid.across() + c) else { continue };
        let mut inputs = vec![tile.part(), x.view()];
        match &carried {
            Some((high, low)) => inputs.extend([like(out, high), like(out, low)]),
            None => inputs.extend(plus.map(|(_, z)| z.view())),
        }
        let half = f64::from(exponent(f64::from(alpha.abs())) / 2).exp2();
        let params = vec![
            UniformValue::IVec2([(cols.first.1 / 4) as i32, (cols.second.1 / 4) as i32]),
            UniformValue::Int(cols.length.div_ceil(4) as i32),
            UniformValue::IVec2([(rows.second.1 / 4) as i32, rows.length.div_ceil(4) as i32]),
            UniformValue::Int((rows.first.1 / 4) as i32),
            UniformValue::Vec2([(f64::from(alpha) / half) as f32, half as f32]),
            UniformValue::Float(plus.map_or(0.0, |(beta, _)| beta)),
        ];
        let low = scratch()?;
        if last {
            let targets = part.targets(out.view(), like(out, &low));
            device.execute(&Pass::new(&kernel, targets, inputs).params(params))?;
        } else {
            let high = scratch()?;
            let targets = vec![like(out, &high), like(out, &low)];
            device.execute(&Pass::new(&kernel, targets, inputs).params(params))?;
            carried = Some((high, low));
        }
    }
    Ok(())
}

/// A texture of the same extent, with the same padding lanes.
fn like<'a>(out: &'a Vector, texture: &'a PooledTexture) -> View<'a> {
    View { texture: texture.texture(), ..out.view() }
}

fn accurate_kernel(
    device: &Device,
    part: Part,
    transposed: bool,
    carried: bool,
    added: bool,
) -> Result<Rc<Compiled>> {
    let bound = part.define();
    device.kernel(&format!("dense accurate {transposed} {carried} {added} {bound}"), || {
        let int = |name| Field { name, kind: i32::KIND };
        let pair = |name| Field { name, kind: <[i32; 2]>::KIND };
        let fields = [
            pair("begin"),
            int("quads"),
            pair("rows"),
            int("first_row"),
            Field { name: "factors", kind: <[f32; 2]>::KIND },
            Field { name: "beta", kind: f32::KIND },
        ];
        let mut inputs = vec!["a", "x"];
        let (mut high, mut low) = ("vec4(0.0)", "vec4(0.0)");
        if carried {
            inputs.extend(["carried_high", "carried_low"]);
            (high, low) = ("carried_high_here()", "carried_low_here()");
        } else if added {
            inputs.push("z");
            high = "beta * z_here()";
        }
        KernelSpec::fragment(glsl!("dense/accurate.frag"), &inputs, &fields, &["high_part", "low_part"])
            .with(&format!("{bound}#define A_TRANSPOSED {}", u8::from(transposed)))
            .addressed(&["a"])
            .with(&format!("#define START_HIGH {high}\n#define START_LOW {low}"))
            .masked()
    })
}
