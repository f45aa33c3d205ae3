//! Products with sparse matrices: scattered as points, or gathered.

use super::Coefficient;
use super::product::{
    Accurate, Checked, Combine, ExactSum, Inlined, LinOp, Part, Product, Summand, Sums, is_exact,
};
use crate::data::{Gather, SparseFormat, SparseMatrix, Vector};
use crate::device::Device;
use crate::error::Result;
use crate::gl::{Attribute, Source, glsl};
use crate::host::Csr;
use crate::kernel::{Accum, Domain, Draw, Operand, Predicate, View};
use crate::profile::Workload;
use crate::shape::Shape;

/// *Cost*, *bound*: see [`ops::product`](super::product). *Source*: \[Krueger05\] 44.3.3.
impl LinOp for SparseMatrix {
    fn device(&self) -> &Device {
        self.device()
    }

    fn shape(&self) -> Shape {
        self.shape()
    }

    fn is_replayable(&self) -> bool {
        true
    }

    fn apply(&self, y: &mut Vector, terms: Checked<Product<'_>>) -> Result<()> {
        product(y, self, *terms, false)
    }

    fn apply_transposed(&self, y: &mut Vector, terms: Checked<Product<'_>>) -> Result<()> {
        product(y, self, *terms, true)
    }

    fn accurate(&self, out: &mut Vector, terms: Checked<Accurate<'_>>, part: Part) -> Result<bool> {
        summed(self, terms.alone(), Sums::Part(out, *terms, part))
    }

    fn accumulate(&self, sum: &mut ExactSum, terms: Checked<Summand<'_>>) -> Result<bool> {
        if !summed(self, *terms, Sums::Exact(sum))? {
            return Ok(false);
        }
        match sum.is_fine().then(|| self.rest()).transpose()?.flatten() {
            Some(rest) => rest.accumulate(sum, terms),
            None => Ok(true),
        }
    }

    fn inlined<'a>(&'a self, pass: Inlined<'a>) -> Result<Option<Inlined<'a>>> {
        if self.format() == SparseFormat::Points || !pass.fits(3) {
            return Ok(None);
        }
        let gather = self.gather(false)?;
        let slots = self.nnz().div_ceil(self.shape().rows.max(1));
        Ok(Some(pass.form(2, 6 * slots, |draw, alpha| gathered(draw, gather, self.scaling().factors(alpha)))))
    }

    /// Points are blended into what is there.
    fn accumulates(&self) -> bool {
        self.format() == SparseFormat::Points
    }

    fn workload(&self) -> Option<Workload> {
        self.work()
    }

    fn pattern(&self) -> Option<&Csr> {
        Some(self.pattern())
    }

    fn asymmetry(&self) -> Result<Option<(usize, usize, f64, f64)>> {
        Ok(self.asymmetry())
    }

    fn exponent(&self) -> Result<i32> {
        Ok(self.exponent())
    }
}

fn product(y: &mut Vector, a: &SparseMatrix, terms: Product<'_>, transposed: bool) -> Result<()> {
    let _scope = a.device().exclusive_scope()?;
    match a.format() {
        SparseFormat::Points => scatter(y, a, terms, transposed),
        _ => gather(y, a, terms, transposed, Predicate::Always),
    }
}

/// `α op(A) x` in several parts, where the device can.
fn summed(a: &SparseMatrix, terms: Summand<'_>, sums: Sums<'_>) -> Result<bool> {
    let Summand { transposed, alpha, x, .. } = terms;
    let device = a.device();
    if !is_exact(device) {
        return Ok(false);
    }
    let _scope = device.exclusive_scope()?;
    let (matrix, factors) = (a.gather(transposed)?, a.scaling().factors(alpha));
    let low = matrix.low.as_ref().map(|t| View::whole(device, t.texture()));
    let fills = sums.fills_padding();
    sums.run(&[()], |()| {
        let draw = gathering(device, glsl!("sparse/accurate.frag"), matrix, x, factors);
        terms.with_low(draw).carried("LOW", ("low", "low_texel(slot)"), low).masked(fills)
    })?;
    Ok(true)
}

/// A draw that gathers, and what all of those read first.
fn gathering<'a>(
    device: &'a Device,
    source: Source<'static>,
    gather: &'a Gather,
    x: &'a Vector,
    factors: [f32; 2],
) -> Draw<'a> {
    gathered(Draw::new(device, source).input("x", x.view()), gather, factors)
}

/// The matrix of a draw that gathers.
fn gathered<'a>(draw: Draw<'a>, gather: &'a Gather, factors: [f32; 2]) -> Draw<'a> {
    let [values, columns, slices] =
        [&gather.values, &gather.columns, &gather.slices].map(|t| View::whole(t.device(), t.texture()));
    draw.input("values", values)
        .unsigned("columns", columns)
        .unsigned("slices", slices)
        .param("factors", factors)
        .rounds(gather.rounds())
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
    let terms = Product::residual("sparse_residual", r, b, a, x)?;
    let _scope = a.device().exclusive_scope()?;
    gather(r, a, terms, false, predicate)
}

fn gather(
    y: &mut Vector,
    a: &SparseMatrix,
    terms: Product<'_>,
    transposed: bool,
    predicate: Predicate<'_>,
) -> Result<()> {
    let (matrix, factors) = (a.gather(transposed)?, a.scaling().factors(terms.factor()));
    let ending = terms.ending();
    ending
        .describe(gathering(a.device(), glsl!("sparse/gather.frag"), matrix, terms.x, factors))
        .masked(ending.fills_padding(y))
        .target(y.view())
        .only(predicate)
        .run()
}

fn scatter(y: &mut Vector, a: &SparseMatrix, terms: Product<'_>, transposed: bool) -> Result<()> {
    let mut alpha = terms.factor();
    let on_device = matches!(terms.alpha, Coefficient::Device(_));
    match terms.combine {
        Combine::Multiply(_) | Combine::Divide(_) | Combine::Max(_) | Combine::Min(_) => {
            return finished(y, a, terms, transposed);
        }
        _ if on_device => return finished(y, a, terms, transposed),
        Combine::Accumulate => {}
        Combine::Replace => y.set_zero()?,
        Combine::AddTo(z) => super::copy(y, z)?,
        Combine::Subtract(z) => super::neg(y, z)?,
        Combine::SubtractFrom(z) => {
            super::copy(y, z)?;
            alpha = -alpha;
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
        .input("x", terms.x.view())
        .param("factors", a.scaling().factors(alpha))
        .target(y.view())
        .on(Domain::Points(points))
        .accumulate(Accum::Add)
        .run()
}

/// What adding point by point cannot do is done with the whole sum.
fn finished(y: &mut Vector, a: &SparseMatrix, terms: Product<'_>, transposed: bool) -> Result<()> {
    let mut sum = Vector::zeros(y.device(), y.len())?;
    scatter(&mut sum, a, Product { combine: Combine::Accumulate, ..terms.partial() }, transposed)?;
    terms.rest().finish(y, &sum)
}
