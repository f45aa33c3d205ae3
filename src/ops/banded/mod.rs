//! Products with banded matrices.

mod dense;
mod folded;
mod plan;

use plan::{BandText, Term, generate};

use super::product::{
    Accurate, Checked, Ending, ExactSum, Inlined, LinOp, Part, Product, Summand, Sums, is_exact,
};
use crate::data::{BESIDE_BANDS, Band, BandedMatrix, Vector, bands_a_pass};
use crate::device::Device;
use crate::error::Result;
use crate::gl::{Source, glsl};
use crate::host::Csr;
use crate::kernel::{Draw, Operand, PooledTexture, Predicate, View};
use crate::profile::Workload;
use crate::shape::Shape;

/// A pass over diagonals.
struct Diagonals<'a> {
    a: &'a BandedMatrix,
    bands: &'a [Band],
    text: BandText,
    x: &'a Vector,
    x_low: Option<&'a Vector>,
}

impl<'a> Diagonals<'a> {
    /// The draw, with what all of them read first and are told.
    fn draw(&self, source: Source<'static>, term: Term, alpha: f32) -> Draw<'a> {
        let draw = Draw::new(self.a.device(), source);
        self.told(draw.lines_made(generate, self.text.words(term)).input("x", self.x.view()), alpha)
    }

    /// What every draw is told, and the diagonals.
    fn told(&self, draw: Draw<'a>, alpha: f32) -> Draw<'a> {
        let a = self.a;
        // Where both parts of a pair have texels: one of a host's texture may have more than it needs.
        let areas = [self.x].into_iter().chain(self.x_low).map(|x| x.extent().area());
        let source_texels = areas.min().and_then(|area| i32::try_from(area).ok()).unwrap_or(i32::MAX);
        // No array is empty.
        let mut shifts = self.text.shifts().to_vec();
        shifts.resize(shifts.len().max(1), 0);
        let pair = |band: &Band| match band {
            Band::Constant { high, low } => [*high, *low],
            Band::Stored { .. } => [0.0, 0.0],
        };
        let mut constants: Vec<f32> = self.bands.iter().flat_map(pair).collect();
        constants.resize(constants.len().max(2), 0.0);
        let draw = draw
            .ints("shifts", shifts)
            .floats("constants", constants)
            .param("factors", a.scaling.factors(alpha))
            .param("source_texels", source_texels);
        self.bands.iter().enumerate().fold(draw, |draw, (i, band)| draw.input_if(("d", i), stored(band)))
    }

    /// Remainders too, where they are kept.
    fn remainders(&self, draw: Draw<'a>) -> Draw<'a> {
        let all = self.bands.iter().enumerate();
        all.fold(draw, |draw, (i, band)| draw.input_if(("d", i, "_low"), remainder(band)))
    }
}

/// The texture of a stored diagonal.
fn stored(band: &Band) -> Option<View<'_>> {
    match band {
        Band::Stored { high, .. } => Some(View::whole(high.device(), high.texture())),
        Band::Constant { .. } => None,
    }
}

/// And of what its rounding has left.
fn remainder(band: &Band) -> Option<View<'_>> {
    match band {
        Band::Stored { low: Some(low), .. } => Some(View::whole(low.device(), low.texture())),
        _ => None,
    }
}

/// Offsets of the diagonals of `A` or of `Aᵀ`, in the order in which `A` stores them.
fn signed_offsets(a: &BandedMatrix, transposed: bool) -> Vec<i64> {
    let sign = if transposed { -1 } else { 1 };
    a.offsets().iter().map(|o| sign * o).collect()
}

/// The diagonals of each pass. A matrix without entries still takes one: zero, combined.
fn groups<'a>(offsets: &'a [i64], a: &'a BandedMatrix, per_pass: usize) -> Vec<(&'a [i64], &'a [Band])> {
    if offsets.is_empty() {
        return vec![(&[], &[])];
    }
    offsets.chunks(per_pass).zip(a.bands.chunks(per_pass)).collect()
}

/// *Cost*, *bound*: see [`ops::product`](crate::ops::product). *Source*: \[Krueger05\] 44.3.3.
impl LinOp for BandedMatrix {
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
        product(y, self, *terms, false, Predicate::Always)
    }

    fn apply_transposed(&self, y: &mut Vector, terms: Checked<Product<'_>>) -> Result<()> {
        product(y, self, *terms, true, Predicate::Always)
    }

    fn accurate(&self, out: &mut Vector, terms: Checked<Accurate<'_>>, part: Part) -> Result<bool> {
        Ok(is_exact(self.device())
            && accurate(self, terms.alone(), Sums::Part(out, *terms, part)).map(|_| true)?)
    }

    fn accumulate(&self, sum: &mut ExactSum, terms: Checked<Summand<'_>>) -> Result<bool> {
        Ok(is_exact(self.device()) && accumulate(self, *terms, sum).map(|()| true)?)
    }

    fn inlined<'a>(&'a self, pass: Inlined<'a>) -> Result<Option<Inlined<'a>>> {
        let (x, bands) = (pass.x(), self.bands.as_slice());
        let aligned = bands.iter().filter_map(stored).all(|band| band.extent == x.extent());
        if !aligned || !pass.fits(bands.len()) {
            return Ok(None);
        }
        let text = BandText::new(self.offsets(), bands, false, true);
        let lines = text.words(Term::Inlined);
        let fetches = text.shifts().len() + bands.iter().filter_map(stored).count();
        let all = Diagonals { a: self, bands, text, x, x_low: None };
        Ok(Some(pass.form(1, fetches, |draw, alpha| all.told(draw.lines_made(generate, lines), alpha))))
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

/// `r = b - A x` in the texels for which the predicate holds; the others of `r` stay as they are.
pub(crate) fn banded_residual(
    r: &mut Vector,
    b: &Vector,
    a: &BandedMatrix,
    x: &Vector,
    predicate: Predicate<'_>,
) -> Result<()> {
    let terms = Product::residual("banded_residual", r, b, a, x)?;
    product(r, a, terms, false, predicate)
}

fn product(
    y: &mut Vector,
    a: &BandedMatrix,
    terms: Product<'_>,
    transposed: bool,
    predicate: Predicate<'_>,
) -> Result<()> {
    let device = a.device();
    let _scope = device.exclusive_scope()?;
    let offsets = signed_offsets(a, transposed);
    let groups = groups(&offsets, a, bands_a_pass(device));
    let count = groups.len();
    let mut partial: Option<PooledTexture> = None;
    for (i, (offsets, bands)) in groups.into_iter().enumerate() {
        let last = i + 1 == count;
        let text = BandText::new(offsets, bands, transposed, terms.x.extent() == y.extent());
        let ending = if last { terms.ending() } else { Ending::NONE };
        let masked = text.has_constants() || ending.fills_padding(y);
        let draw = Diagonals { a, bands, text, x: terms.x, x_low: None }
            .draw(glsl!("banded/product.frag"), Term::Single, terms.factor())
            .carried(
                "FIRST_TERM",
                ("partial", "partial_here()"),
                partial.as_ref().map(|t| View::whole(device, t.texture())),
            )
            .define("LAST", last);
        let draw = ending.describe(draw).masked(masked).only(predicate);
        if last {
            draw.target(y.view()).run()?;
        } else {
            let sum = device.texture(y.extent(), crate::gl::Format::Rgba32F, "partial sum")?;
            draw.target(View { tail: y.view().tail, ..View::whole(device, sum.texture()) }).run()?;
            partial = Some(sum);
        }
    }
    Ok(())
}

/// `α op(A) x`, by what pairs leave of coefficients, too, where that counts.
fn accumulate(a: &BandedMatrix, terms: Summand<'_>, sum: &mut ExactSum) -> Result<()> {
    accurate(a, terms, Sums::Exact(sum))?;
    match sum.is_fine().then(|| a.rest()).transpose()?.flatten() {
        Some(rest) => accumulate(rest, terms, sum),
        None => Ok(()),
    }
}

/// `α op(A) x` in several parts: of two the one not asked for is the texture given back.
fn accurate(a: &BandedMatrix, terms: Summand<'_>, sums: Sums<'_>) -> Result<Option<PooledTexture>> {
    let Summand { transposed, alpha, x, x_low, .. } = terms;
    let device = a.device();
    let _scope = device.exclusive_scope()?;
    let units = device.gl().caps.borrow().texture_units as usize;
    let beside = if x_low.is_some() { 2 + sums.carried() } else { BESIDE_BANDS };
    let per_pass = (units.saturating_sub(beside) / 2).clamp(1, 6);
    let offsets = signed_offsets(a, transposed);
    let aligned = [x].into_iter().chain(x_low).all(|x| x.extent() == sums.extent());
    let fills = sums.fills_padding();
    let diagonals = |(offsets, bands)| {
        let text = BandText::new(offsets, bands, transposed, aligned);
        Diagonals { a, bands, text, x, x_low }
    };
    let passes: Vec<_> = groups(&offsets, a, per_pass).into_iter().map(diagonals).collect();
    sums.run(&passes, |pass| {
        let term = if x_low.is_some() { Term::Paired } else { Term::Accurate };
        let draw = pass.draw(glsl!("banded/accurate.frag"), term, alpha);
        pass.remainders(terms.with_low(draw)).masked(pass.text.has_constants() || fills)
    })
}
