//! Vectors as grids with one element a texel, and back [Krueger05] 44.3.4.

use crate::data::{Plane, Vector};
use crate::error::{Error, Result};
use crate::gl::glsl;
use crate::kernel::{Draw, Operand};
use crate::shape::Shape;

/// Numbers of elements of a vector or a texture, which 32 bits hold.
pub(super) fn value(n: usize) -> i32 {
    i32::try_from(n).unwrap_or(i32::MAX)
}

/// `out(x, y) = v[y width + x]`: a vector in natural order as a grid that an application samples (`unpack` of the
/// paper's water demo).
///
/// *Shapes*: `v` has `width · height` elements. *Cost*: 1 draw, 1 fetch an element, 4 bytes written; no allocation and
/// no readback. *Errors*: [`Error::ShapeMismatch`], [`Error::WrongDevice`]. *Source*: \[Krueger05\] 44.3.4, 44.4.
///
/// ```
/// use texla::{Plane, Vector, ops};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let v = Vector::from_slice(dev, &[1., 2., 3., 4., 5., 6.])?;
/// let mut plane = Plane::zeros(dev, 3, 2)?;
/// ops::vector_to_plane(&mut plane, &v)?;
/// let mut back = Vector::zeros(dev, 6)?;
/// ops::plane_to_vector(&mut back, &plane)?;
/// assert_eq!(back.read()?, [1., 2., 3., 4., 5., 6.]);
/// # Ok::<(), texla::Error>(())
/// ```
#[doc(alias = "unpack")]
pub fn vector_to_plane(out: &mut Plane, v: &Vector) -> Result<()> {
    super::check_shape("vector_to_plane", "v", v.shape(), Shape::column(out.len()))?;
    run(out, v, 0)
}

/// `out(x, y) = v[first + y width + x]`: a slice of a vector, such as a layer of a three-dimensional grid.
///
/// *Shapes*: `v` has at least `first + width · height` elements. *Cost*: as [`vector_to_plane`]. *Errors*:
/// [`Error::IndexOutOfRange`], [`Error::WrongDevice`].
///
/// ```
/// use texla::{Plane, Vector, ops};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let v = Vector::from_slice(dev, &[1., 2., 3., 4., 5., 6., 7., 8.])?; // 2 x 2 x 2
/// let mut plane = Plane::zeros(dev, 2, 2)?;
/// ops::slice_to_plane(&mut plane, &v, 4)?;
/// assert_eq!(plane.read()?, [5., 6., 7., 8.]);
/// # Ok::<(), texla::Error>(())
/// ```
#[doc(alias = "unpack_from")]
pub fn slice_to_plane(out: &mut Plane, v: &Vector, first: usize) -> Result<()> {
    let end = first.saturating_add(out.len());
    if end > v.len() {
        let (what, index, bound) = ("slice_to_plane: last element", end - 1, v.len());
        return Err(Error::IndexOutOfRange { what, index, bound });
    }
    run(out, v, first)
}

fn run(out: &mut Plane, v: &Vector, first: usize) -> Result<()> {
    super::check_device("vector_to_plane", "v", v.device(), out.device())?;
    Draw::new(out.device(), glsl!("repack/unpack.frag"))
        .input("x", v.view())
        .param("first", value(first))
        .param("width", value(out.width()))
        .target(out.view())
        .run()
}

/// `out[y width + x] = plane(x, y)`: back to a vector in natural order (`repack` of the paper's water demo).
///
/// *Shapes*: `out` has `width · height` elements. *Cost*: 1 draw, 4 fetches a texel; no allocation and no readback.
/// *Errors*: [`Error::ShapeMismatch`], [`Error::WrongDevice`], [`Error::Unsupported`] when `out` is borrowed from the
/// host. *Source*: \[Krueger05\] 44.3.4, 44.4. *Example*: at [`vector_to_plane`].
#[doc(alias = "pack")]
pub fn plane_to_vector(out: &mut Vector, plane: &Plane) -> Result<()> {
    super::check_shape("plane_to_vector", "out", out.shape(), Shape::column(plane.len()))?;
    super::check_device("plane_to_vector", "plane", plane.device(), out.device())?;
    Draw::new(plane.device(), glsl!("repack/pack.frag"))
        .addressed("x", plane.view())
        .param("width", value(plane.width().max(1)))
        .param("count", value(plane.len()))
        .target(out.view())
        .run()
}
