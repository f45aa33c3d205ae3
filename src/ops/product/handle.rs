//! Operators by reference, shared or boxed.

use std::ops::Deref;
use std::rc::Rc;

use super::{Accurate, Checked, ExactSum, Inlined, LinOp, Part, Product, Summand};
use crate::data::Vector;
use crate::device::Device;
use crate::error::Result;
use crate::host::{Csr, NearNullSpace};
use crate::profile::Workload;
use crate::shape::Shape;

/// A pointer to an operator, a preconditioner or a smoother, which stands for what it points to.
///
/// A handle to a [`LinOp`] is a [`LinOp`], and the same holds for
/// [`Preconditioner`](crate::solve::Preconditioner), [`Smoother`](crate::solve::Smoother) and
/// [`Sweepable`](crate::solve::Sweepable). References, [`Rc`] and [`Box`] are handles, to `dyn LinOp`
/// and the like as well. A pointer type of the application becomes one by an empty implementation.
///
/// Where [`LinOp`] is imported, `a.pattern()` of an `a: Rc<StoredMatrix>` is [`LinOp::pattern`], which is
/// optional; `(*a).pattern()` is the matrix's own function of that name. Of an `a: &StoredMatrix` both are.
///
/// ```
/// use std::{ops::Deref, rc::Rc};
/// use texla::ops::Handle;
/// use texla::solve::{CgParams, ConjugateGradient, LinOp};
/// use texla::{BandedMatrix, Vector};
///
/// /// A matrix of the application's cache.
/// #[derive(Clone)]
/// struct Cached(Rc<BandedMatrix>);
///
/// impl Deref for Cached {
///     type Target = BandedMatrix;
///     fn deref(&self) -> &BandedMatrix { &self.0 }
/// }
///
/// impl Handle for Cached {}
///
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let a = Cached(Rc::new(BandedMatrix::poisson_2d(dev, 8, 8)?));
/// assert_eq!(LinOp::shape(&a).rows, 64);
/// let cg = ConjugateGradient::new(a, CgParams::default())?;
/// let report = cg.solve(&mut Vector::zeros(dev, 64)?, &Vector::filled(dev, 64, 1.0)?)?;
/// assert!(report.converged());
/// # Ok::<(), texla::Error>(())
/// ```
pub trait Handle: Deref {}

impl<T: ?Sized> Handle for &T {}
impl<T: ?Sized> Handle for Rc<T> {}
impl<T: ?Sized> Handle for Box<T> {}

/// Forwards every function, the provided ones too.
#[deny(clippy::missing_trait_methods)]
impl<H: Handle<Target: LinOp>> LinOp for H {
    fn device(&self) -> &Device {
        (**self).device()
    }

    fn shape(&self) -> Shape {
        (**self).shape()
    }

    fn apply(&self, y: &mut Vector, terms: Checked<Product<'_>>) -> Result<()> {
        (**self).apply(y, terms)
    }

    fn apply_transposed(&self, y: &mut Vector, terms: Checked<Product<'_>>) -> Result<()> {
        (**self).apply_transposed(y, terms)
    }

    fn accurate(&self, out: &mut Vector, terms: Checked<Accurate<'_>>, part: Part) -> Result<bool> {
        (**self).accurate(out, terms, part)
    }

    fn accumulate(&self, sum: &mut ExactSum, terms: Checked<Summand<'_>>) -> Result<bool> {
        (**self).accumulate(sum, terms)
    }

    fn accumulates(&self) -> bool {
        (**self).accumulates()
    }

    fn inlined<'a>(&'a self, pass: Inlined<'a>) -> Result<Option<Inlined<'a>>> {
        (**self).inlined(pass)
    }

    fn workload(&self) -> Option<Workload> {
        (**self).workload()
    }

    fn pattern(&self) -> Option<&Csr> {
        (**self).pattern()
    }

    fn diagonal(&self) -> Result<Vec<f64>> {
        (**self).diagonal()
    }

    fn column_squares(&self) -> Result<Vec<f64>> {
        (**self).column_squares()
    }

    fn asymmetry(&self) -> Result<Option<(usize, usize, f64, f64)>> {
        (**self).asymmetry()
    }

    fn null_space(&self) -> &[Vector] {
        (**self).null_space()
    }

    fn near_null_space(&self) -> Option<&NearNullSpace> {
        (**self).near_null_space()
    }

    fn is_replayable(&self) -> bool {
        (**self).is_replayable()
    }

    fn exponent(&self) -> Result<i32> {
        (**self).exponent()
    }
}
