//! Smoothers: what improves an iterate a little, and weighted Jacobi as the simplest of them.

use std::rc::Rc;

use super::sweep::{OTHERS, Sweep, Sweeper, prefers_one_pass, ways};
use crate::data::{Vector, exponent};
use crate::error::{Error, Result, check_finite};
use crate::gl::glsl;
use crate::host::number;
use crate::kernel::{Draw, Replays};
use crate::ops::{self, Handle, LinOp, inlined};
use crate::profile::Workload;
#[cfg(feature = "sim")]
use crate::shape::Shape;
use crate::solve::drive::check::{check_vectors, square_diagonal};
use crate::solve::precondition::Preconditioner;

/// An iteration `x ← x + M (b - A x)` with some approximate inverse `M`, to be repeated: by
/// [`Stationary`](crate::solve::Stationary) until the residual is small, or a few times within another method.
///
/// What [`Stationary`](crate::solve::Stationary) builds on: a sweep is linear, `x` and `b` multiplied by a power of two come
/// out multiplied by it; the same arguments give the same bits; nothing is read back.
#[diagnostic::on_unimplemented(
    note = "a type implements `Smoother` itself, or is a handle (`&`, `Rc`, `Box`) to one that does"
)]
pub trait Smoother {
    /// Improves `x` for `A x = b` by so many sweeps.
    ///
    /// *Errors*: [`Error::ShapeMismatch`]; [`Error::Unsupported`] for an `x` borrowed from the host, whose texture
    /// could not change places with another.
    fn smooth(&self, x: &mut Vector, b: &Vector, sweeps: usize) -> Result<()>;
}

/// Forwards every function.
#[deny(clippy::missing_trait_methods)]
impl<H: Handle<Target: Smoother>> Smoother for H {
    fn smooth(&self, x: &mut Vector, b: &Vector, sweeps: usize) -> Result<()> {
        (**self).smooth(x, b, sweeps)
    }
}

/// Weighted (damped) Jacobi: `x ← x + ω D⁻¹ (b - A x)` with the diagonal `D` of `A`.
///
/// As a [`Preconditioner`] it is one sweep from zero, `z = ω D⁻¹ r`, up to a power of two. It converges if the spectrum
/// of `D⁻¹ A` lies within `(0, 2/ω)`. As a smoother for the Laplacian, ω = 4/5 in two dimensions and 6/7 in three damp
/// the upper half of the frequencies best.
///
/// *Cost* of a sweep: for bands, stencils and gathered rows 1 draw with the fetches of a product and 2 more a texel; for
/// others, and where the device's [profile](crate::Device::set_profile) predicts that it takes less, a product, and 1 draw
/// of 3 fetches. *Bound* of a sweep for k terms in a row:
/// `γ_(k+6) ω / |a_ii| (|A| |x| + |b|) + u |x|`. *Source*: \[Krueger05\] 44.3 (solvers on matrix and vector operations);
/// U. Trottenberg, C. Oosterlee, A. Schüller, *Multigrid*, 2001, 2.1 (the weights).
///
/// ```
/// use texla::{BandedMatrix, Vector, host::Triplets, solve::{Smoother, WeightedJacobi}};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let a = BandedMatrix::from_triplets(dev, &Triplets::from_entries(
///     texla::Shape::new(2, 2), [(0, 0, 2.0), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 4.0)])?)?;
/// let b = Vector::from_slice(dev, &[4.0, 8.0])?;
/// let mut x = Vector::zeros(dev, 2)?;
/// let jacobi = WeightedJacobi::new(&a, 1.0)?;
/// jacobi.smooth(&mut x, &b, 1)?;
/// assert_eq!(x.read()?, [2.0, 2.0]);
/// jacobi.smooth(&mut x, &b, 1)?;
/// assert_eq!(x.read()?, [1.0, 1.5]);
/// # Ok::<(), texla::Error>(())
/// ```
pub struct WeightedJacobi<A> {
    a: A,
    weights: JacobiWeights,
    /// So many sweeps at a time.
    replays: Replays<usize>,
}

/// `ω D⁻¹`, which takes a look at every row to make: kept where the same operator comes again.
#[derive(Clone)]
pub(crate) struct JacobiWeights {
    /// `2^e ω / a_ii`, the largest about 1.
    scaled: Rc<Vector>,
    /// `2^-e`
    factor: f32,
}

shown!([A: LinOp] WeightedJacobi<A>, |s| "WeightedJacobi({})", s.a.shape());

impl<A: LinOp> WeightedJacobi<A> {
    /// Makes ready for `a`, which is borrowed, shared or owned: see
    /// [`Krylov`](crate::solve::Krylov#ownership).
    ///
    /// *Cost*: 1 upload. *Errors*: [`Error::Matrix`] when `a` is not square, or naming the first row whose diagonal is
    /// zero; [`Error::Unsupported`] when the operator does not know its diagonal; [`Error::Parameter`] for an ω that
    /// is not positive; [`Error::NonFinite`] where `1 / a_ii` leaves the range of floats.
    pub fn new(a: A, omega: f64) -> Result<Self> {
        let weights = JacobiWeights::new(&a, omega)?;
        Ok(WeightedJacobi { a, weights, replays: Replays::default() })
    }

    /// What [`new`](Self::new) has made ready.
    #[cfg(feature = "sim")]
    pub(crate) fn weights(&self) -> JacobiWeights {
        self.weights.clone()
    }

    /// Of the operator that the weights were made for. *Errors*: [`Error::ShapeMismatch`], [`Error::WrongDevice`] for another one.
    #[cfg(feature = "sim")]
    pub(crate) fn with_weights(a: A, weights: JacobiWeights) -> Result<Self> {
        let (op, n) = ("WeightedJacobi", weights.scaled.len());
        ops::check_shape(op, "a", a.shape(), Shape::new(n, n))?;
        ops::check_device(op, "a", a.device(), weights.scaled.device())?;
        Ok(WeightedJacobi { a, weights, replays: Replays::default() })
    }

    /// What a sweep comes to; `None` where the operator does not say ([`LinOp::workload`]).
    ///
    /// *Errors*: those of making its pass ready, of an operator that is nobody's own.
    ///
    /// ```
    /// use texla::{BandedMatrix, solve::WeightedJacobi};
    /// # let ctx = texla::Headless::new(Default::default())?;
    /// # let dev = ctx.device();
    /// let a = BandedMatrix::poisson_2d(dev, 16, 16)?; // vectors of 8 x 8 texels, two diagonals that are not constant
    /// let sweep = WeightedJacobi::new(&a, 0.8)?.workload()?.unwrap();
    /// assert_eq!((sweep.draws, sweep.fetches.own, sweep.fetches.shifted), (1.0, 64.0 * 5.0, 64.0 * 4.0));
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn workload(&self) -> Result<Option<Workload>> {
        self.weights.workload(&self.a)
    }
}

impl JacobiWeights {
    fn new(a: &dyn LinOp, omega: f64) -> Result<Self> {
        let op = "WeightedJacobi";
        check_relaxation(op, omega, f64::from(f32::MAX), "positive and finite")?;
        let diagonal = nonzero_diagonal(op, a)?;
        let smallest = diagonal.iter().fold(f64::MAX, |m, d| m.min(d.abs()));
        let e = if diagonal.is_empty() { 0 } else { exponent(smallest) };
        check_finite("WeightedJacobi: 1 / a_ii", [f64::from(-e).exp2()])?;
        let scale = f64::from(e).exp2();
        let weights: Vec<f64> = diagonal.iter().map(|d| omega * scale / d).collect();
        let scaled = Rc::new(Vector::from_f64(a.device(), &weights)?);
        Ok(JacobiWeights { scaled, factor: f64::from(-e).exp2() as f32 })
    }

    fn workload(&self, a: &dyn LinOp) -> Result<Option<Workload>> {
        let draw = Draw::new(a.device(), glsl!("solve/relax.frag"));
        let able = inlined(a, draw, 1.0, &self.scaled, OTHERS)?.is_some();
        let one_pass = able && self.prefers_one_pass(a);
        Ok(self.ways(a).into_iter().find(|(way, _)| *way == one_pass).map(|(_, work)| work))
    }

    /// A sweep in one pass, and by a product and an update.
    fn ways(&self, a: &dyn LinOp) -> Vec<(bool, Workload)> {
        ways(a, self.scaled.extent())
    }

    /// Whether a sweep is one pass where it can be: where that is not predicted to take longer.
    fn prefers_one_pass(&self, a: &dyn LinOp) -> bool {
        prefers_one_pass(a, self.scaled.extent())
    }

    fn smooth(
        &self,
        (a, replays): (&dyn LinOp, &Replays<usize>),
        x: &mut Vector,
        b: &Vector,
        sweeps: usize,
    ) -> Result<()> {
        check_vectors("WeightedJacobi::smooth", a, x, b)?;
        let device = a.device();
        let _scope = device.scope()?;
        if sweeps == 0 {
            return Ok(());
        }
        let sweeper = Sweeper { a, w: Some(&self.scaled), one_pass: self.prefers_one_pass(a) };
        let sweep = Sweep { start: 1.0, unit: 1.0, factor: self.factor };
        let fresh = || Vector::uninit(device, b.len());
        let describe = |x: &mut Vector, count: usize| {
            let mut room = None;
            let mut next = fresh()?;
            for _ in 0..count {
                sweeper.sweep(&mut next, x, b, sweep, &mut room)?;
                std::mem::swap(x, &mut next);
            }
            Ok(())
        };
        if !a.is_replayable() {
            return describe(x, sweeps);
        }
        // After two sweeps `x` is in the texture in which it was.
        [(2, sweeps / 2), (1, sweeps % 2)].into_iter().try_for_each(|(count, times)| {
            replays.run(device, (count, times), x, &[b], &fresh, &|x| describe(x, count))
        })
    }
}

impl<A: LinOp> Smoother for WeightedJacobi<A> {
    fn smooth(&self, x: &mut Vector, b: &Vector, sweeps: usize) -> Result<()> {
        self.weights.smooth((&self.a, &self.replays), x, b, sweeps)
    }
}

impl<A: LinOp> Preconditioner for WeightedJacobi<A> {
    fn apply(&self, z: &mut Vector, r: &Vector) -> Result<()> {
        ops::mul(z, self.weights.scaled.as_ref(), r)
    }

    fn diagonal(&self) -> Option<&Vector> {
        Some(&self.weights.scaled)
    }
}

/// Refuses relaxations that are not positive, or not below `bound`.
pub(super) fn check_relaxation(
    op: &'static str,
    omega: f64,
    bound: f64,
    expected: &'static str,
) -> Result<()> {
    if omega > 0.0 && omega < bound {
        return Ok(());
    }
    Err(Error::Parameter { op, name: "omega", value: number(omega), expected })
}

/// The diagonal of a square operator, none of it zero.
pub(super) fn nonzero_diagonal(op: &'static str, a: &dyn LinOp) -> Result<Vec<f64>> {
    let diagonal = square_diagonal(op, a)?;
    if let Some((i, d)) = diagonal.iter().enumerate().find(|(_, d)| !(**d != 0.0 && d.is_finite())) {
        let d = number(*d);
        let detail =
            format!("has the diagonal entry {d} in row {i} (counted from 0), expected a number other than 0");
        return Err(Error::Matrix { op, detail });
    }
    Ok(diagonal)
}
