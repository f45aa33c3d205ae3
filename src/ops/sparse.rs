//! Products with sparse matrices: scattered as points, or gathered.

use super::product::{Accurate, Combine, Part, accumulate, check_product};
use crate::data::{Gather, SparseFormat, SparseMatrix, Vector};
use crate::device::Device;
use crate::error::Result;
use crate::gl::{Attribute, UniformValue, glsl};
use crate::kernel::{
    Accum, Domain, Field, InputSpec, KernelSpec, Operand, ParamType, Pass, Predicate, StageSpec, View,
};

const FACTORS: Field = Field { name: "factors", kind: <[f32; 2]>::KIND };

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

fn gather_inputs<'a>(device: &'a Device, gather: &'a Gather, x: &'a Vector) -> Vec<View<'a>> {
    let whole = |t| View::whole(device, t);
    vec![
        x.view(),
        whole(gather.values.texture()),
        whole(gather.columns.texture()),
        whole(gather.slices.texture()),
    ]
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
    let device = a.device();
    let matrix = a.gather(transposed)?;
    let z = combine.operand();
    let masked = combine.fills_padding(y);
    let kernel = device.kernel(&format!("gather {} {masked}", combine.define()), || {
        let mut spec =
            KernelSpec::fragment(glsl!("sparse/gather.frag"), &["x", "values"], &[FACTORS], &["out"])
                .with_unsigned("columns")
                .with_unsigned("slices")
                .with(combine.define());
        spec.inputs.extend(z.map(|_| InputSpec::float("z")));
        if masked { spec.masked() } else { spec }
    })?;
    let mut inputs = gather_inputs(device, matrix, x);
    inputs.extend(z.map(Operand::view));
    let params = vec![UniformValue::Vec2(a.scaling().factors(alpha))];
    device.execute(&Pass::new(&kernel, vec![y.view()], inputs).params(params).only(predicate))
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
    let device = a.device();
    let points = a.points(transposed)?;
    if points.is_empty() {
        return Ok(());
    }
    let kernel = device.kernel("scatter", || {
        let source = glsl!("sparse/scatter.vert");
        let attributes = vec![
            ("coefficients".to_owned(), Attribute::Vec4),
            ("columns".to_owned(), Attribute::UVec4),
            ("row".to_owned(), Attribute::UInt),
        ];
        KernelSpec {
            stage: StageSpec::Points { attributes, mask: false },
            ..KernelSpec::fragment(source, &["x"], &[FACTORS], &[])
        }
    })?;
    let params = vec![UniformValue::Vec2(a.scaling().factors(alpha))];
    let pass = Pass::new(&kernel, vec![y.view()], vec![x.view()]).params(params);
    device.execute(&pass.on(Domain::Points(points)).accumulate(Accum::Add))
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
    let masked = plus.is_some_and(|(_, z)| z.extent() != out.extent());
    let defines = format!("{}#define PART {}", part.define(), part.name());
    let key = format!("gather accurate {} {} {masked} {defines}", matrix.low.is_some(), plus.is_some());
    let kernel = device.kernel(&key, || {
        let fields = [FACTORS, Field { name: "beta", kind: f32::KIND }];
        let low = if matrix.low.is_some() { "low_texel(slot)" } else { "vec4(0.0)" };
        let start = if plus.is_some() { "beta * z(p)" } else { "vec4(0.0)" };
        let mut spec =
            KernelSpec::fragment(glsl!("sparse/accurate.frag"), &["x", "values"], &fields, &["out"])
                .with_unsigned("columns")
                .with_unsigned("slices")
                .with(&format!("{defines}\n#define LOW {low}\n#define START {start}"));
        spec.inputs.extend(matrix.low.as_ref().map(|_| InputSpec::float("low")));
        spec.inputs.extend(plus.map(|_| InputSpec::float("z")));
        if masked { spec.masked() } else { spec }
    })?;
    let mut inputs = gather_inputs(device, matrix, x);
    inputs.extend(matrix.low.as_ref().map(|t| View::whole(device, t.texture())));
    inputs.extend(plus.map(|(_, z)| z.view()));
    let params = vec![
        UniformValue::Vec2(a.scaling().factors(alpha)),
        UniformValue::Float(plus.map_or(0.0, |(beta, _)| beta)),
    ];
    device.execute(&Pass::new(&kernel, vec![out.view()], inputs).params(params))
}
