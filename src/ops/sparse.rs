//! Products with sparse matrices: scattered as points, or gathered.

use super::product::{Accurate, Combine, Part, accumulate, check_product};
use crate::data::{Gather, SparseFormat, SparseMatrix, Vector};
use crate::device::Device;
use crate::error::Result;
use crate::gl::{Attribute, Source, glsl};
use crate::kernel::{Accum, Domain, Draw, Operand, Predicate, View};

/// `y = combine(α A x)` for a sparse matrix.
///
/// *Shapes*: `A` m x n, `x` n, `y` and the vector in `combine` m. *Cost*: gather: 1 draw; for each texel of `y` as many
/// slots as its slice is wide, 6 fetches each. Points: 1 clear or 1 draw for `combine`, and 1 draw of one point for
/// four nonzeros of a row. No readback. *Errors*: [`Error::ShapeMismatch`](crate::Error::ShapeMismatch),
/// [`Error::Parameter`](crate::Error::Parameter) for an `α` that is not finite. *Bound*: `γ_(k+2) (|α| |A| |x| + |z|)_i`
/// for k nonzeros in row i. *Source*: \[Krueger05\] 44.3.3.
pub fn sparse_product(
    y: &mut Vector,
    combine: Combine<'_>,
    alpha: f32,
    a: &SparseMatrix,
    x: &Vector,
) -> Result<()> {
    check_product("sparse_product", a.shape(), y, &combine, alpha, x)?;
    product(y, combine, alpha, a, x, false)
}

/// `y = combine(α Aᵀ x)` for a sparse matrix; `Aᵀ` is put on the device when it is first used.
///
/// *Shapes*: `A` m x n, `x` m, `y` and the vector in `combine` n. *Cost*, *errors* and *bound*: as
/// [`sparse_product`].
///
/// ```
/// use texla::{Shape, SparseFormat, SparseMatrix, Vector, host::Triplets, ops::{self, Combine}};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let t = Triplets::from_entries(Shape::new(2, 3), [(0, 0, 1.0), (0, 2, 2.0), (1, 1, 3.0)])?;
/// let a = SparseMatrix::from_triplets(dev, &t, SparseFormat::Points)?;
/// let x = Vector::from_slice(dev, &[1.0, 10.0])?;
/// let mut y = Vector::zeros(dev, 3)?;
/// ops::sparse_product_transposed(&mut y, Combine::Replace, 1.0, &a, &x)?;
/// assert_eq!(y.read()?, [1.0, 30.0, 2.0]);
/// # Ok::<(), texla::Error>(())
/// ```
pub fn sparse_product_transposed(
    y: &mut Vector,
    combine: Combine<'_>,
    alpha: f32,
    a: &SparseMatrix,
    x: &Vector,
) -> Result<()> {
    check_product("sparse_product_transposed", a.shape().transposed(), y, &combine, alpha, x)?;
    product(y, combine, alpha, a, x, true)
}

fn product(
    y: &mut Vector,
    combine: Combine<'_>,
    alpha: f32,
    a: &SparseMatrix,
    x: &Vector,
    transposed: bool,
) -> Result<()> {
    let _scope = a.device().scope()?;
    match a.format() {
        SparseFormat::Points => scatter(y, combine, alpha, a, x, transposed),
        _ => gather(y, combine, alpha, a, x, transposed, Predicate::Always),
    }
}

/// A draw that gathers, and what all of those read first.
fn gathering<'a>(
    device: &'a Device,
    source: Source<'static>,
    gather: &'a Gather,
    x: &'a Vector,
    factors: [f32; 2],
) -> Draw<'a> {
    let whole = |t| View::whole(device, t);
    Draw::new(device, source)
        .input("x", x.view())
        .input("values", whole(gather.values.texture()))
        .unsigned("columns", whole(gather.columns.texture()))
        .unsigned("slices", whole(gather.slices.texture()))
        .param("factors", factors)
}

/// `r = b - A x` in the texels for which the predicate holds; the others of `r` stay as they are. A matrix kept as
/// points is put on the device in the gather format too, when this is first used.
pub(crate) fn sparse_residual(
    r: &mut Vector,
    b: &Vector,
    a: &SparseMatrix,
    x: &Vector,
    predicate: Predicate<'_>,
) -> Result<()> {
    let combine = Combine::SubtractFrom(b);
    check_product("sparse_residual", a.shape(), r, &combine, 1.0, x)?;
    let _scope = a.device().scope()?;
    gather(r, combine, 1.0, a, x, false, predicate)
}

fn gather(
    y: &mut Vector,
    combine: Combine<'_>,
    alpha: f32,
    a: &SparseMatrix,
    x: &Vector,
    transposed: bool,
    predicate: Predicate<'_>,
) -> Result<()> {
    if matches!(combine, Combine::Accumulate) {
        return accumulate(y, |sum, combine| gather(sum, combine, alpha, a, x, transposed, predicate));
    }
    let (matrix, factors) = (a.gather(transposed)?, a.scaling().factors(alpha));
    combine
        .describe(gathering(a.device(), glsl!("sparse/gather.frag"), matrix, x, factors))
        .masked(combine.fills_padding(y))
        .target(y.view())
        .only(predicate)
        .run()
}

fn scatter(
    y: &mut Vector,
    combine: Combine<'_>,
    alpha: f32,
    a: &SparseMatrix,
    x: &Vector,
    transposed: bool,
) -> Result<()> {
    let mut alpha = alpha;
    match combine {
        Combine::Accumulate => {}
        Combine::Replace => y.set_zero()?,
        Combine::AddTo(z) => super::copy(y, z)?,
        Combine::Subtract(z) => super::neg(y, z)?,
        Combine::SubtractFrom(z) => {
            super::copy(y, z)?;
            alpha = -alpha;
        }
        Combine::Multiply(_) | Combine::Divide(_) | Combine::Max(_) | Combine::Min(_) => {
            let mut product = Vector::zeros(y.device(), y.len())?;
            scatter(&mut product, Combine::Accumulate, alpha, a, x, transposed)?;
            return combine.finish(y, 1.0, &product);
        }
    }
    let points = a.points(transposed)?;
    if points.is_empty() {
        return Ok(());
    }
    Draw::new(a.device(), glsl!("sparse/scatter.vert"))
        .placing(&[
            ("coefficients", Attribute::Vec4),
            ("columns", Attribute::UVec4),
            ("row", Attribute::UInt),
        ])
        .input("x", x.view())
        .param("factors", a.scaling().factors(alpha))
        .target(y.view())
        .on(Domain::Points(points))
        .accumulate(Accum::Add)
        .run()
}

/// `out = α op(A) x + β z` accumulated in double-float with the full coefficients, rounded once.
///
/// *Shapes*: as [`sparse_product`]. *Cost*: 1 draw; a matrix kept as points is put on the device in the gather format
/// too, when this is first used. *Errors*: [`Error::ShapeMismatch`](crate::Error::ShapeMismatch);
/// [`Error::Unsupported`](crate::Error::Unsupported) where the device has no exact form of two-sum. *Bound*: one
/// rounding, and about `k 2⁻⁴⁶ |A| |x|`.
pub fn sparse_accurate(out: &mut Vector, a: &SparseMatrix, terms: Accurate<'_>) -> Result<()> {
    sparse_part(out, a, terms, Part::Sum)
}

/// A part of that sum.
pub(crate) fn sparse_part(out: &mut Vector, a: &SparseMatrix, terms: Accurate<'_>, part: Part) -> Result<()> {
    let Accurate { transposed, alpha, x, plus } = terms;
    let op = "sparse_accurate";
    let shape = if transposed { a.shape().transposed() } else { a.shape() };
    check_product(op, shape, out, &Combine::Replace, alpha, x)?;
    if let Some((_, z)) = plus {
        super::check_shape(op, "z", z.shape(), out.shape())?;
    }
    let device = a.device();
    super::require_exact(device, op)?;
    let _scope = device.scope()?;
    let matrix = a.gather(transposed)?;
    let factors = a.scaling().factors(alpha);
    let low = matrix.low.as_ref().map(|t| View::whole(device, t.texture()));
    part.describe(gathering(device, glsl!("sparse/accurate.frag"), matrix, x, factors))
        .define("PART", part.name())
        .carried("LOW", ("low", "low_texel(slot)"), low)
        .carried("START", ("z", "beta * z(p)"), terms.z())
        .param("beta", terms.beta())
        .masked(terms.fills_padding(out))
        .target(out.view())
        .run()
}
