//! Element-wise operations whose result replaces an operand.

use super::elementwise::{ADD, AXPY, Coefficient, Elements, MINUS_SCALED, MUL_ADD, SCALE, run};
use crate::error::{Error, Result};

/// Runs an operation whose output replaces one of its inputs: into a pooled texture, which then changes places.
fn in_place<T: Elements>(x: &mut T, f: impl FnOnce(&mut T, &T) -> Result<()>) -> Result<()> {
    if !x.view().texture.is_owned() {
        // It would silently change places with a texture of texla's, and the host would see no result.
        let why = "a texture borrowed from the host is read-only".into();
        return Err(Error::Unsupported { what: "an operation in place".into(), why });
    }
    let mut out = x.like()?;
    f(&mut out, x)?;
    std::mem::swap(x, &mut out);
    Ok(())
}

/// `x_i = a x_i`, in place: the result's texture is another one from the pool.
///
/// *Cost*: 1 draw, 1 fetch a texel. *Errors*: [`Error::Parameter`].
pub fn scale<'a, T: Elements>(x: &mut T, a: impl Into<Coefficient<'a>>) -> Result<()> {
    let a = a.into();
    in_place(x, |out, x| run(&SCALE, out, &[x], &[a]))
}

/// `x_i = x_i + y_i`, in place: the result's texture is another one from the pool.
///
/// The paper accumulates by additive blending into the target; drawing to another texture gives the same sums, needs no
/// float blending, and is two to three times as fast (`benches/JOURNAL.md`).
///
/// *Shapes*: equal. *Cost*: 1 draw, 2 fetches a texel. *Errors*: [`Error::ShapeMismatch`]. *Source*:
/// \[Moravanszky03\] 3.2, 3.5 (`add(b)`).
///
/// ```
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// use texla::{Vector, ops};
/// let (mut x, y) = (Vector::from_slice(dev, &[1.0, 2.0])?, Vector::from_slice(dev, &[10.0, 20.0])?);
/// ops::accumulate(&mut x, &y)?;
/// assert_eq!(x.read()?, [11.0, 22.0]);
/// ops::accumulate_scaled(&mut x, -1.0, &y)?;
/// assert_eq!(x.read()?, [1.0, 2.0]);
/// ops::accumulate_product(&mut x, &y, &y)?;
/// assert_eq!(x.read()?, [101.0, 402.0]);
/// # Ok::<(), texla::Error>(())
/// ```
pub fn accumulate<T: Elements>(x: &mut T, y: &T) -> Result<()> {
    in_place(x, |out, x| run(&ADD, out, &[x, y], &[]))
}

/// `x_i = a y_i + x_i`, in place as [`accumulate`]: the paper's `mad(b, c)`.
///
/// *Shapes*: equal. *Cost*: 1 draw, 2 fetches a texel. *Errors*: [`Error::ShapeMismatch`], [`Error::Parameter`].
/// *Source*: \[Moravanszky03\] 3.5. Its `mad(a, b, c)`, which does not accumulate, is [`axpy`](crate::ops::axpy).
pub fn accumulate_scaled<'a, T: Elements>(x: &mut T, a: impl Into<Coefficient<'a>>, y: &T) -> Result<()> {
    let a = a.into();
    in_place(x, |out, x| run(&AXPY, out, &[y, x], &[a]))
}

/// `x_i = x_i - a y_i`, in place as [`accumulate`]: `subtractVector(q, r, 1, alpha)` of \[Krueger05\] Listing 44-1.
///
/// *Shapes*: equal. *Cost*: 1 draw, 2 fetches a texel. *Errors*: [`Error::ShapeMismatch`], [`Error::Parameter`].
///
/// ```
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// use texla::{Scalar, Vector, ops};
/// let (mut x, y) = (Vector::from_slice(dev, &[1.0, 2.0])?, Vector::from_slice(dev, &[10.0, 20.0])?);
/// ops::subtract_scaled(&mut x, &Scalar::new(dev, 0.5)?, &y)?; // x - y / 2
/// assert_eq!(x.read()?, [-4.0, -8.0]);
/// ops::scale_and_add(&mut x, 2.0, &y)?; // 2 x + y
/// assert_eq!(x.read()?, [2.0, 4.0]);
/// # Ok::<(), texla::Error>(())
/// ```
pub fn subtract_scaled<'a, T: Elements>(x: &mut T, a: impl Into<Coefficient<'a>>, y: &T) -> Result<()> {
    let a = a.into();
    in_place(x, |out, x| run(&MINUS_SCALED, out, &[y, x], &[a]))
}

/// `x_i = a x_i + y_i`, in place as [`accumulate`]: the direction of conjugate gradients, `addVector(p, p, 1, beta)` of
/// \[Krueger05\] Listing 44-1.
///
/// *Shapes*: equal. *Cost*: 1 draw, 2 fetches a texel. *Errors*: [`Error::ShapeMismatch`], [`Error::Parameter`].
/// *Example*: at [`subtract_scaled`].
pub fn scale_and_add<'a, T: Elements>(x: &mut T, a: impl Into<Coefficient<'a>>, y: &T) -> Result<()> {
    let a = a.into();
    in_place(x, |out, x| run(&AXPY, out, &[x, y], &[a]))
}

/// `x_i = y_i z_i + x_i`, in place as [`accumulate`]: the paper's `mad(a, b)`.
///
/// *Shapes*: equal. *Cost*: 1 draw, 3 fetches a texel. *Errors*: [`Error::ShapeMismatch`]. *Source*:
/// \[Moravanszky03\] 3.5. [`mul_add`](crate::ops::mul_add) does not accumulate.
pub fn accumulate_product<T: Elements>(x: &mut T, y: &T, z: &T) -> Result<()> {
    in_place(x, |out, x| run(&MUL_ADD, out, &[y, z, x], &[]))
}
