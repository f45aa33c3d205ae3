//! Outer products.

use crate::data::{Matrix, Vector};
use crate::error::{Error, Result};
use crate::gl::glsl;
use crate::kernel::{Domain, Draw, Operand, View};
use crate::ops::check_shape;
use crate::shape::Shape;

/// `C_ij = α x_i y_j`.
///
/// *Shapes*: `x` n, `y` m, `C` n x m. *Cost*: 1 draw a tile, 2 fetches a texel. *Errors*: [`Error::ShapeMismatch`],
/// [`Error::WrongDevice`], [`Error::Parameter`] for an `α` that is not finite.
///
/// ```
/// use texla::{Matrix, Shape, Vector, ops};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let (x, y) = (Vector::from_slice(dev, &[1., 2.])?, Vector::from_slice(dev, &[3., 4., 5.])?);
/// let mut c = Matrix::zeros(dev, Shape::new(2, 3))?;
/// ops::outer(&mut c, 10.0, &x, &y)?;
/// assert_eq!(c.read()?, [30., 40., 50., 60., 80., 100.]);
/// # Ok::<(), texla::Error>(())
/// ```
pub fn outer(c: &mut Matrix, alpha: f32, x: &Vector, y: &Vector) -> Result<()> {
    let op = "outer";
    check_shape(op, "x", x.shape(), Shape::column(c.shape().rows))?;
    check_shape(op, "y", y.shape(), Shape::column(c.shape().cols))?;
    if !alpha.is_finite() {
        let (name, value, expected) = ("alpha", alpha.to_string(), "a finite number");
        return Err(Error::Parameter { op, name, value, expected });
    }
    let device = c.device().clone();
    let _scope = device.exclusive_scope()?;
    c.tiles().try_for_each(|tile| {
        let (row, col) = tile.origin;
        let from = [col as i32, (row / 4) as i32];
        let all = ([0, 0], tile.shape);
        if tile.shape.is_empty() {
            return Ok(());
        }
        outer_part(&tile.part(), all, (&x.view(), false), (&y.view(), false), from, alpha)
    })
}

/// A rectangle of an outer product: where it lies among the target's texels and how many elements it has; either
/// operand, and whether it is a row of a matrix; the first column and the first texel row that meet it.
pub(super) fn outer_part(
    target: &View<'_>,
    (at, shape): ([u32; 2], Shape),
    (x, x_row): (&View<'_>, bool),
    (y, y_row): (&View<'_>, bool),
    from: [i32; 2],
    alpha: f32,
) -> Result<()> {
    let (width, height) = (shape.cols as u32, shape.rows.div_ceil(4) as u32);
    Draw::new(target.device, glsl!("dense/outer.frag"))
        .define("X_ROW", x_row)
        .define("Y_ROW", y_row)
        .input("x", *x)
        .input("y", *y)
        .param("origin", [from[0] - at[0] as i32, from[1] - at[1] as i32])
        .param("alpha", alpha)
        .masked(true)
        .target(*target)
        .on(Domain::Rect { x: at[0], y: at[1], width, height })
        .run()
}
