//! Products in 32 bits.

use super::{draw, inner, power};
use crate::data::{ColumnStack, Vector};
use crate::error::Result;
use crate::gl::glsl;
use crate::kernel::{Draw, Operand, PooledTexture, View};
use crate::ops::dense::{factors, shares};
use crate::ops::product::{Combine, accumulate, check_product};
use crate::shape::Extent;

/// `y = combine(α A x)` for a stack of columns.
///
/// *Shapes*: `A` n x m, `x` m, `y` and the vector in `combine` n. *Cost*: 1 draw for each texture of the stack, and one
/// more where ranges of columns are summed side by side because `y` is small; 5 fetches for 16 multiply-adds; no
/// readback. *Errors*: [`Error::ShapeMismatch`](crate::Error::ShapeMismatch),
/// [`Error::WrongDevice`](crate::Error::WrongDevice), [`Error::Parameter`](crate::Error::Parameter) for an `α` that is
/// not finite. *Bound*: `γ_(m+2) (|α| |A| |x| + |z|)_i`. *Source*: \[Krueger05\] 44.3.3.
///
/// ```
/// use texla::{ColumnStack, Shape, Vector, ops::{self, Combine}};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let a = ColumnStack::from_rows(dev, Shape::new(2, 3), &[1., 2., 3., 4., 5., 6.])?;
/// let (x, z) = (Vector::from_slice(dev, &[1., 10., 100.])?, Vector::from_slice(dev, &[1., 4.])?);
/// let mut y = Vector::zeros(dev, 2)?;
/// ops::stack_product(&mut y, Combine::Subtract(&z), 2.0, &a, &x)?;
/// assert_eq!(y.read()?, [641., 1304.]);
/// # Ok::<(), texla::Error>(())
/// ```
pub fn stack_product(
    y: &mut Vector,
    combine: Combine<'_>,
    alpha: f32,
    a: &ColumnStack,
    x: &Vector,
) -> Result<()> {
    check_product("stack_product", a.shape(), y, &combine, alpha, x)?;
    product(y, combine, alpha, a, x, false)
}

/// `y = combine(α Aᵀ x)` for a stack of columns, without transposing it: each element is a column times `x`.
///
/// *Shapes*: `A` n x m, `x` n, `y` and the vector in `combine` m. *Cost* and *errors*: as [`stack_product`]. *Bound*:
/// `γ_(n+2) (|α| |Aᵀ| |x| + |z|)_i`.
///
/// ```
/// use texla::{ColumnStack, Shape, Vector, ops::{self, Combine}};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let a = ColumnStack::from_rows(dev, Shape::new(2, 3), &[1., 2., 3., 4., 5., 6.])?;
/// let x = Vector::from_slice(dev, &[1., 10.])?;
/// let mut y = Vector::zeros(dev, 3)?;
/// ops::stack_product_transposed(&mut y, Combine::Replace, 1.0, &a, &x)?;
/// assert_eq!(y.read()?, [41., 52., 63.]);
/// # Ok::<(), texla::Error>(())
/// ```
pub fn stack_product_transposed(
    y: &mut Vector,
    combine: Combine<'_>,
    alpha: f32,
    a: &ColumnStack,
    x: &Vector,
) -> Result<()> {
    check_product("stack_product_transposed", a.shape().transposed(), y, &combine, alpha, x)?;
    product(y, combine, alpha, a, x, true)
}

fn product(
    y: &mut Vector,
    combine: Combine<'_>,
    alpha: f32,
    a: &ColumnStack,
    x: &Vector,
    transposed: bool,
) -> Result<()> {
    if matches!(combine, Combine::Accumulate) {
        return accumulate(y, |sum, combine| product(sum, combine, alpha, a, x, transposed));
    }
    let device = a.device();
    let _scope = device.scope()?;
    let factors = factors(alpha);
    let panels: Vec<_> = a.panels().collect();
    let longest = panels.iter().map(|p| inner(a.shape(), p, transposed)).max().unwrap_or(0);
    // A small result would leave most of the device idle: ranges are summed side by side, each as a tile like y.
    let own = y.extent();
    let texels = u32::try_from(y.len().div_ceil(4)).unwrap_or(u32::MAX);
    let shares = shares(device, texels, 4 * longest, own.width as usize);
    let wide = Extent::new(own.width * shares, own.height);
    let scratch = |what| device.texture(wide, crate::gl::Format::Rgba32F, what);
    let mut carried: Option<PooledTexture> = None;
    for (i, panel) in panels.iter().enumerate() {
        let whole = shares == 1 && i + 1 == panels.len();
        let length = inner(a.shape(), panel, transposed);
        let range = [0, length, length.div_ceil(shares as usize)];
        let draw = draw(glsl!("stack/product.frag"), (a, panel), x, range, factors)
            .param("fold", power(own.width))
            .define("TRANSPOSED", transposed)
            .carried(
                "START",
                ("carried", "carried_here()"),
                carried.as_ref().map(|t| View::whole(device, t.texture())),
            );
        if whole {
            return combine
                .describe(draw.define("FINISH(P)", "COMBINE((P) * factors.x)"))
                .masked(combine.fills_padding(y))
                .target(y.view())
                .run();
        }
        let sums = scratch("stack_product")?;
        draw.define("FINISH(P)", "(P)").target(View::whole(device, sums.texture())).run()?;
        carried = Some(sums);
    }
    match carried {
        Some(sums) => total(y, combine, &sums, shares, factors),
        None => Ok(()), // there always is a panel
    }
}

/// The ranges added up.
fn total(
    y: &mut Vector,
    combine: Combine<'_>,
    sums: &PooledTexture,
    shares: u32,
    factors: [f32; 2],
) -> Result<()> {
    let device = sums.device();
    let draw = Draw::new(device, glsl!("stack/total.frag"))
        .addressed("partial", View::whole(device, sums.texture()))
        .param("shares", shares as i32)
        .param("width", y.extent().width as i32)
        .param("factors", factors);
    combine.describe(draw).masked(combine.fills_padding(y)).target(y.view()).run()
}
