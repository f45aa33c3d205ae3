//! A fixed number of iterations, of which nothing is read back.

use super::{CgParams, ConjugateGradient};
use crate::data::{Scalar, Vector};
use crate::error::Result;
use crate::ops::{self, LinOp};
use crate::solve::drive::check::{check_count, check_given, check_vectors};
use crate::solve::drive::iterate::Iterate;
use crate::solve::drive::null_space::project_out;
use crate::solve::drive::report::Breakdown;
use crate::solve::drive::scales::{Scales, exponent_of};
use crate::solve::drive::state::{Bounds, Flag, Report};
use crate::solve::krylov::solver::Parts;
use crate::solve::precondition::Preconditioner;
use crate::solve::space::{Recipe as _, Space};

impl<A: LinOp, P: Preconditioner> ConjugateGradient<A, P> {
    /// `iterations` iterations towards `A x = b` from the guess in `x`, without a readback: the `solve(maxI)` of
    /// Listing 44-1. For steps of a simulation, which have a budget and no time to ask.
    ///
    /// The iterates freeze on the device once the recurrence's `‖r‖` is at most the bound of
    /// [`Stop`](crate::solve::Stop) times `‖b‖`; draws go on, so that their number is always the same. Nothing is
    /// certified: ask [`FixedRun::read`] how it went, or compute `b - A x`. Inner products are taken in units in which the
    /// largest element of `b` is about 1, whatever that is. Vectors are not: all that counts of `b`, `x` and `A b` should be
    /// within the range of normal floats, as it is with coefficients of about 1 for a `b` from about 1e-25 to 1e30.
    ///
    /// Nor is it asked whether `b` and `x` are finite: a NaN or an infinity made on the device is no error here, and shows
    /// as a breakdown, or in `x`. [`ops::nonfinite`](crate::ops::nonfinite) tells.
    ///
    /// What of `b` and `x` lies in the operator's [null space](crate::solve::LinOp::null_space) is left out, without a
    /// word: whether `b` is consistent is not asked.
    ///
    /// *Shapes*: `A` n x n, `x` and `b` n. *Cost*: as many times an iteration's, and about twelve draws; no upload, no
    /// readback. *Errors*: [`Error::ShapeMismatch`](crate::Error::ShapeMismatch); [`Error::Parameter`](crate::Error::Parameter) for
    /// 2²⁴ iterations or more. *Source*:
    /// \[Krueger05\] 44.3.5, 44.4.1.
    ///
    /// ```
    /// use texla::{BandedMatrix, Vector, solve::{CgParams, ConjugateGradient, Stop}};
    /// # let ctx = texla::Headless::new(Default::default())?;
    /// # let dev = ctx.device();
    /// let a = BandedMatrix::poisson_2d(dev, 8, 8)?;
    /// let b = Vector::filled(dev, 64, 1.0)?;
    /// let mut x = Vector::zeros(dev, 64)?;
    /// let cg = ConjugateGradient::new(&a, CgParams::default().with_stop(Stop::relative(1e-4)))?;
    /// let before = dev.counters();
    /// let run = cg.iterate(&mut x, &b, 20)?;
    /// assert_eq!(dev.counters().since(&before).readbacks, 0);
    /// let report = run.read()?; // the first call that waits
    /// assert!(report.met && report.iterations < 20);
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn iterate(&self, x: &mut Vector, b: &Vector, iterations: usize) -> Result<FixedRun> {
        self.parts().iterate(x, b, iterations)
    }

    /// As [`iterate`](Self::iterate) from `x = 0`, which is returned: without the residual of a start, a product in
    /// double-float that takes as long as some of the iterations.
    ///
    /// *Shapes*: `A` n x n, `b` and `x` n. *Cost*: as many times an iteration's, the last one of which updates `x` alone,
    /// and two reductions; where an iteration is a listing, three reductions and two draws; no upload, no readback.
    /// *Errors*: as `iterate`.
    ///
    /// ```
    /// use texla::{BandedMatrix, Vector, solve::{CgParams, ConjugateGradient}};
    /// # let ctx = texla::Headless::new(Default::default())?;
    /// # let dev = ctx.device();
    /// let a = BandedMatrix::poisson_2d(dev, 2, 1)?; // 4 -1; -1 4
    /// let b = Vector::from_slice(dev, &[3.0, 3.0])?;
    /// let (x, run) = ConjugateGradient::new(&a, CgParams::default())?.iterate_from_zero(&b, 2)?;
    /// assert_eq!(x.read()?, [1.0, 1.0]);
    /// assert!(run.read()?.met);
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn iterate_from_zero(&self, b: &Vector, iterations: usize) -> Result<(Vector, FixedRun)> {
        self.parts().iterate_from_zero(b, iterations)
    }

    /// The same of a checked `b`, for callers that keep the solution: they ask how it went when somebody wants to know.
    #[cfg(feature = "sim")]
    pub(crate) fn run_from_zero(&self, b: &Vector, iterations: usize) -> Result<(Vector, Scalar)> {
        let Ended { added: x, report, .. } = self.parts().fixed(None, b, iterations)?;
        Ok((x, report))
    }
}

impl Parts<'_, CgParams> {
    fn iterate(self, x: &mut Vector, b: &Vector, iterations: usize) -> Result<FixedRun> {
        let op = "ConjugateGradient::iterate";
        check_vectors(op, self.a, x, b)?;
        check_count(op, "iterations", iterations)?;
        let _scope = self.a.device().scope()?;
        let Ended { start, added, report } = self.fixed(Some(x), b, iterations)?;
        ops::add(x, &start, &added)?;
        Ok(FixedRun { report, overflown: ops::nonfinite(x)? })
    }

    fn iterate_from_zero(self, b: &Vector, iterations: usize) -> Result<(Vector, FixedRun)> {
        let op = "ConjugateGradient::iterate_from_zero";
        check_given(op, ("b", b), self.a.shape().rows, self.a.device())?;
        check_count(op, "iterations", iterations)?;
        let _scope = self.a.device().scope()?;
        let Ended { added: x, report, .. } = self.fixed(None, b, iterations)?;
        let overflown = ops::nonfinite(&x)?;
        Ok((x, FixedRun { report, overflown }))
    }

    /// So many iterations from a start or from zero.
    fn fixed(self, start: Option<&Vector>, b: &Vector, iterations: usize) -> Result<Ended> {
        let device = self.a.device().clone();
        // What lies in the null space cannot be asked about without waiting: it is left out.
        let mut projected = None;
        let b = match self.a.null_space() {
            [] => b,
            null_space => {
                let own = projected.insert(Vector::uninit(&device, b.len())?);
                ops::copy(own, b)?;
                project_out(own, null_space)?;
                &*own
            }
        };
        let matrix = (-f64::from(exponent_of(self.a)?.clamp(-125, 125))).exp2() as f32;
        let scales = Scales { norm_b: 1.0, from_zero: start.is_none(), residual: 1.0, matrix, first: None };
        let mut at = match start {
            Some(x) => Iterate::scaled(self.a, x, b, scales)?,
            None => Iterate::at_zero(self.a, b, scales)?,
        };
        let way = self.way(&mut at)?;
        let (mut store, mut recipe) = self.recipe(way, false)?;
        if start.is_some() {
            at.residual()?;
        }
        let threshold = self.params.stop.relative.powi(2) as f32;
        let bounds = Bounds { threshold, ceiling: Bounds::CEILING as f32, limit: iterations };
        store.restart(bounds, 0)?;
        store.relative_to(b, start.is_none())?;
        let mut space = Space { at: &mut at, m: self.m, own: &mut store };
        recipe.begin(&mut space, false)?;
        for left in (0..iterations).rev() {
            space.begins(left == 0);
            space.iterated(&mut recipe)?;
        }
        space.settle()?;
        let Iterate { x, y, .. } = at;
        Ok(Ended { start: x.high, added: y.into_inner().0, report: store.into_report() })
    }
}

#[cfg(feature = "sim")]
impl FixedReport {
    /// How a run to `x` went that left this report. *Cost*: a reduction, 2 readbacks.
    pub(crate) fn of(x: &Vector, report: &Scalar) -> Result<FixedReport> {
        told(report, &ops::nonfinite(x)?)
    }
}

/// What a fixed run leaves.
struct Ended {
    start: Vector,
    /// The solution is the start and this.
    added: Vector,
    report: Scalar,
}

/// How a [fixed number of iterations](ConjugateGradient::iterate) went; still on the device.
pub struct FixedRun {
    report: Scalar,
    /// How many elements of the iterate are not finite.
    overflown: Scalar,
}

shown!(FixedRun, |_run| "FixedRun");

/// What [`FixedRun::read`] finds.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct FixedReport {
    /// Updates of the iterate before it froze.
    pub iterations: usize,
    /// The recurrence's residual met the bound before the last iteration.
    pub met: bool,
    /// `p·Ap` or `r·Mr` was not positive, or `r·r` left the range of floats; the iterate froze before that.
    pub breakdown: Option<Breakdown>,
}

impl FixedRun {
    /// How it went. *Cost*: 1 readback of a texel, which waits for the device. An iterate that has left the range of floats,
    /// which no recurrence sees, is a [`breakdown`](FixedReport::breakdown) of `x`.
    pub fn read(&self) -> Result<FixedReport> {
        told(&self.report, &self.overflown)
    }
}

fn told(report: &Scalar, overflown: &Scalar) -> Result<FixedReport> {
    let overflown = overflown.read_async()?;
    let report = Report::from_texel(&report.read_texel()?);
    let overflown = overflown.wait()?.first().copied().unwrap_or(0.0);
    let breakdown = match report.flag {
        Flag::OutOfRange => Some(report.broken("r.r", "within the range of 32-bit floats")),
        _ if overflown > 0.0 => {
            let report = Report { value: f32::INFINITY, ..report };
            Some(report.broken("max |x_i|", "within the range of 32-bit floats"))
        }
        _ => report.breakdown(),
    };
    let met = report.flag == Flag::Met && breakdown.is_none();
    Ok(FixedReport { iterations: report.iterations, met, breakdown })
}
