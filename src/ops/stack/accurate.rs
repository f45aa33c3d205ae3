//! Products in double-float.

use super::{FIELDS, inner, params};
use crate::data::{ColumnStack, Vector};
use crate::error::Result;
use crate::gl::{Format, UniformValue, glsl};
use crate::kernel::{Field, KernelSpec, Operand, ParamType, Pass, PooledTexture, View};
use crate::ops::dense::factors;
use crate::ops::product::{Accurate, Combine, Part, check_product};
use crate::ops::{check_shape, require_exact};

/// `out = α op(A) x + β z` accumulated in double-float, rounded once.
///
/// *Shapes*: as [`stack_product`](crate::ops::stack_product). *Cost*: 1 draw into two targets for each texture of the
/// stack, cut up where that would take long. *Errors*: [`Error::ShapeMismatch`](crate::Error::ShapeMismatch);
/// [`Error::Unsupported`](crate::Error::Unsupported) where the device has no exact form of two-sum
/// ([`Capabilities::exact_form`](crate::gl::Capabilities::exact_form)). *Bound*: one rounding, and about
/// `m 2⁻⁴⁶ |A| |x|`.
pub fn stack_accurate(out: &mut Vector, a: &ColumnStack, terms: Accurate<'_>) -> Result<()> {
    stack_part(out, a, terms, Part::Sum)
}

/// A part of that sum.
pub(crate) fn stack_part(out: &mut Vector, a: &ColumnStack, terms: Accurate<'_>, part: Part) -> Result<()> {
    let Accurate { transposed, alpha, x, plus } = terms;
    let op = "stack_accurate";
    let shape = if transposed { a.shape().transposed() } else { a.shape() };
    check_product(op, shape, out, &Combine::Replace, alpha, x)?;
    if let Some((_, z)) = plus {
        check_shape(op, "z", z.shape(), out.shape())?;
    }
    let device = a.device();
    require_exact(device, op)?;
    let _scope = device.scope()?;
    // Blocks of a draw: as many multiply-adds as `dense_accurate` does in one.
    let work: usize = if device.is_software() { 1 << 19 } else { 1 << 24 };
    let most = (work / out.len().div_ceil(4).max(1)).max(1);
    let mut passes = Vec::new();
    for panel in a.panels() {
        let length = inner(a.shape(), &panel, transposed);
        let begins = (0..length.max(1)).step_by(most);
        passes.extend(begins.map(|begin| (panel.clone(), [begin, (begin + most).min(length), most])));
    }
    let scratch = || device.texture(out.extent(), Format::Rgba32F, op);
    let masked = plus.is_some_and(|(_, z)| z.extent() != out.extent());
    let mut carried: Option<(PooledTexture, PooledTexture)> = None;
    for (i, (panel, range)) in passes.iter().enumerate() {
        let (mut names, mut start) = (vec!["a", "x"], ["vec4(0.0)", "vec4(0.0)"]);
        let mut inputs = vec![panel.view, x.view()];
        match (&carried, plus) {
            (Some((high, low)), _) => {
                names.extend(["carried_high", "carried_low"]);
                inputs.extend([high, low].map(|t| View::whole(device, t.texture())));
                start = ["carried_high_here()", "carried_low_here()"];
            }
            (None, Some((_, z))) => {
                names.push("z");
                inputs.push(z.view());
                start = ["beta * z_here()", "vec4(0.0)"];
            }
            (None, None) => {}
        }
        let defines = format!(
            "{}#define TRANSPOSED {}\n#define START_HIGH {}\n#define START_LOW {}",
            part.define(),
            u8::from(transposed),
            start[0],
            start[1]
        );
        let kernel = device.kernel(&format!("stack accurate {masked} {defines}"), || {
            let fields = [&FIELDS[..], &[Field { name: "beta", kind: f32::KIND }]].concat();
            let outputs = ["high_part", "low_part"];
            let spec = KernelSpec::fragment(glsl!("stack/accurate.frag"), &names, &fields, &outputs)
                .with(&defines)
                .addressed(&["a"]);
            if masked { spec.masked() } else { spec }
        })?;
        let mut params = params(a, panel, *range, factors(alpha));
        params.push(UniformValue::Float(plus.map_or(0.0, |(beta, _)| beta)));
        let like = |texture| View { texture, ..out.view() };
        let low = scratch()?;
        if i + 1 == passes.len() {
            let targets = part.targets(out.view(), like(low.texture()));
            device.execute(&Pass::new(&kernel, targets, inputs).params(params))?;
        } else {
            let high = scratch()?;
            let targets = vec![like(high.texture()), like(low.texture())];
            device.execute(&Pass::new(&kernel, targets, inputs).params(params))?;
            carried = Some((high, low));
        }
    }
    Ok(())
}
