//! Products with diagonals of which two opposing ones share a vector.

use super::{accurate, product};
use crate::data::{FoldedBands, Vector};
use crate::error::Result;
use crate::gl::glsl;
use crate::kernel::{Draw, Operand, Predicate, View};
use crate::ops::product::{Accurate, Combine, Part, accumulate, check_product};

/// The name that shaders have for the elements of a folded vector.
const LENGTH: &str = "length_";

fn length(n: usize) -> i32 {
    // Shaders count them with signed integers.
    i32::try_from(n).unwrap_or(i32::MAX)
}

/// `(x, x)`.
fn extended(x: &Vector) -> Result<Vector> {
    let device = x.device();
    let out = Vector::uninit(device, 2 * x.len())?;
    Draw::new(device, glsl!("banded/extend.frag"))
        .input("x", x.view())
        .param(LENGTH, length(x.len()))
        .target(out.view())
        .run()?;
    Ok(out)
}

/// `y = combine(α A x)` for diagonals folded in pairs.
///
/// *Shapes*: `A` n x n, `x`, `y` and the vector in `combine` n. *Cost*: 1 draw that writes `x` twice in a row, and 1 for
/// every 12 vectors as [`banded_product`](crate::ops::banded_product); no readback. *Errors*:
/// [`Error::ShapeMismatch`](crate::Error::ShapeMismatch), [`Error::WrongDevice`](crate::Error::WrongDevice),
/// [`Error::Parameter`](crate::Error::Parameter) for an `α` that is not finite. *Bound*: `γ_(k+2) (|α| |A| |x| + |z|)_i`
/// for k vectors. *Source*: \[Krueger05\] 44.2.3, 44.3.3.
pub fn folded_product(
    y: &mut Vector,
    combine: Combine<'_>,
    alpha: f32,
    a: &FoldedBands,
    x: &Vector,
) -> Result<()> {
    check_product("folded_product", a.shape(), y, &combine, alpha, x)?;
    let _scope = a.device().scope()?;
    product(y, combine, alpha, &a.wide, &extended(x)?, false, Predicate::Always)
}

/// `y = combine(α Aᵀ x)` for diagonals folded in pairs, without storing `Aᵀ`.
///
/// *Shapes*, *errors* and *bound*: as [`folded_product`]. *Cost*: as
/// [`banded_product_transposed`](crate::ops::banded_product_transposed) for twice as many elements, and 1 draw that adds
/// both halves.
///
/// ```
/// use texla::{FoldedBands, Shape, Vector, host::Triplets, ops::{self, Combine}};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let t = Triplets::from_dense(Shape::new(2, 2), &[1., 2., 3., 4.])?;
/// let a = FoldedBands::from_triplets(dev, &t)?;
/// let x = Vector::from_slice(dev, &[1., 10.])?;
/// let mut y = Vector::zeros(dev, 2)?;
/// ops::folded_product_transposed(&mut y, Combine::Replace, 1.0, &a, &x)?;
/// assert_eq!(y.read()?, [31., 42.]);
/// # Ok::<(), texla::Error>(())
/// ```
pub fn folded_product_transposed(
    y: &mut Vector,
    combine: Combine<'_>,
    alpha: f32,
    a: &FoldedBands,
    x: &Vector,
) -> Result<()> {
    check_product("folded_product_transposed", a.shape(), y, &combine, alpha, x)?;
    if matches!(combine, Combine::Accumulate) {
        return accumulate(y, |sum, combine| folded_product_transposed(sum, combine, alpha, a, x));
    }
    let device = a.device();
    let _scope = device.scope()?;
    let mut both = Vector::uninit(device, 2 * y.len())?;
    product(&mut both, Combine::Replace, alpha, &a.wide, x, true, Predicate::Always)?;
    combine
        .describe(Draw::new(device, glsl!("banded/fold.frag")).input("x", both.view()))
        .param(LENGTH, length(y.len()))
        .masked(combine.fills_padding(y))
        .target(y.view())
        .run()
}

/// `out = α op(A) x + β z` accumulated in double-float with the full coefficients, rounded once.
///
/// *Shapes*: as [`folded_product`]. *Cost*: as [`banded_accurate`](crate::ops::banded_accurate), and 1 draw before it, or
/// for the transpose after it. *Errors*: [`Error::ShapeMismatch`](crate::Error::ShapeMismatch);
/// [`Error::Unsupported`](crate::Error::Unsupported) where the device has no exact form of two-sum
/// ([`Capabilities::exact_form`](crate::gl::Capabilities::exact_form)). *Bound*: one rounding, and about
/// `k 2⁻⁴⁶ |A| |x|`.
pub fn folded_accurate(out: &mut Vector, a: &FoldedBands, terms: Accurate<'_>) -> Result<()> {
    folded_part(out, a, terms, Part::Sum)
}

/// A part of that sum.
pub(crate) fn folded_part(out: &mut Vector, a: &FoldedBands, terms: Accurate<'_>, part: Part) -> Result<()> {
    let Accurate { transposed, alpha, x, plus } = terms;
    let op = "folded_accurate";
    check_product(op, a.shape(), out, &Combine::Replace, alpha, x)?;
    if let Some((_, z)) = plus {
        crate::ops::check_shape(op, "z", z.shape(), out.shape())?;
    }
    let device = a.device();
    crate::ops::require_exact(device, op)?;
    let _scope = device.scope()?;
    if !transposed {
        let terms = Accurate { x: &extended(x)?, ..terms };
        return accurate(out, &a.wide, terms, part).map(drop);
    }
    let mut high = Vector::uninit(device, 2 * out.len())?;
    let first = if part.is_bound() { Part::Magnitude } else { Part::Sum };
    let low = accurate(&mut high, &a.wide, Accurate { transposed, alpha, x, plus: None }, first)?;
    part.describe(Draw::new(device, glsl!("banded/fold_accurate.frag")))
        .define("PART", part.name())
        .input("high", high.view())
        .input("low", View::whole(device, low.texture()))
        .carried("ADDED", ("z", "beta * z_here()"), terms.z())
        .param(LENGTH, length(out.len()))
        .param("beta", terms.beta())
        .masked(true)
        .target(out.view())
        .run()
}
