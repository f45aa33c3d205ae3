//! Nine-band sweeps for the solvers.

use super::Weights;
use super::packed::PackedSweeps;
use super::schedule::JacobiSchedule;
use crate::data::Vector;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::host::NineBands;
use crate::kernel::Replays;
use crate::shape::Shape;
use crate::solve::drive::check::check_vectors_of;
use crate::solve::precondition::Preconditioner;
use crate::solve::stationary::Smoother;

/// Weighted Jacobi for a matrix with nine bands, by the [best](JacobiSchedule::best) schedule: what
/// [`WeightedJacobi`](crate::solve::WeightedJacobi) computes, in one draw a sweep.
///
/// As a [`Smoother`] it goes into [`Stationary`](crate::solve::Stationary), which tests the residual and finds
/// divergence; as a [`Preconditioner`] it is some sweeps from zero, symmetric for symmetric `A`, and positive definite
/// where the spectrum of `ω D⁻¹ A` lies within (0, 2). The operator itself is a
/// [`BandedMatrix`](crate::BandedMatrix) of [`NineBands::to_triplets`].
///
/// *Cost* of k sweeps: k + 3 draws, 13 to 18 fetches a texel each, and 6 or so to bring vectors into rows and back;
/// no readback. So ask for several sweeps at once. *Bound* of a sweep: `γ_20 (|x| + ω / |a_ii| (|A| |x| + |b|))`.
/// *Source*: \[Goeddeke05\].
///
/// ```
/// use texla::host::NineBands;
/// use texla::solve::{NineBandSmoother, Stationary, StationaryParams, StopReason};
/// use texla::{BandedMatrix, Vector};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let a = NineBands::laplace(15)?;
/// let jacobi = NineBandSmoother::new(dev, &a, 0.9)?;
/// let operator = BandedMatrix::from_triplets(dev, &a.to_triplets())?;
/// let b = Vector::filled(dev, 225, 1.0)?;
/// let mut x = Vector::zeros(dev, 225)?;
/// let report = Stationary::new(&operator, &jacobi, StationaryParams::default())?.solve(&mut x, &b)?;
/// assert_eq!(report.reason, StopReason::Converged);
/// let middle = 0.07367 * 16.0 * 16.0; // of the continuous problem
/// assert!((x.element(112)? / middle - 1.0).abs() < 0.01);
/// # Ok::<(), texla::Error>(())
/// ```
pub struct NineBandSmoother {
    sweeps: PackedSweeps,
    device: Device,
    unknowns: usize,
    preconditioning: usize,
    /// So many sweeps at a time, from zero or not.
    replays: Replays<(usize, bool)>,
}

/// Sweeps that are recorded as one stretch at most.
const RECORDED: usize = 64;

shown!(NineBandSmoother, |s| "NineBandSmoother({} unknowns)", s.unknowns);

impl NineBandSmoother {
    /// Makes ready for `a`, with two sweeps as a preconditioner.
    ///
    /// *Cost*: 2 uploads, 36 bytes an unknown. *Errors*: [`Error::Matrix`] naming the first row whose diagonal is zero,
    /// or whose diagonal or inverse is flushed to it, or the first entry at the end of a row that is not zero;
    /// [`Error::Parameter`] for an ω that is not positive; [`Error::NonFinite`] where entries over the diagonal leave the range
    /// of floats; [`Error::TooLarge`] past the texture size, which has to hold two texels for each unknown of a row.
    pub fn new(device: &Device, a: &NineBands, omega: f64) -> Result<Self> {
        let _scope = device.scope()?;
        let op = "NineBandSmoother";
        let weights = Weights::new(op, a, omega)?;
        let rows = match JacobiSchedule::best(device, a.side()) {
            JacobiSchedule::Packed { rows } => rows,
            _ => 1,
        };
        let sweeps = PackedSweeps::new(op, device, a, &weights, rows)?;
        let (device, unknowns, replays) = (device.clone(), a.len(), Replays::default());
        Ok(NineBandSmoother { sweeps, device, unknowns, preconditioning: 2, replays })
    }

    /// The same with another number of sweeps as a preconditioner. *Errors*: [`Error::Parameter`] for none.
    pub fn preconditioning(mut self, sweeps: usize) -> Result<Self> {
        if sweeps == 0 {
            let (op, name, value) = ("NineBandSmoother::preconditioning", "sweeps", "0".into());
            return Err(Error::Parameter { op, name, value, expected: "at least 1" });
        }
        self.preconditioning = sweeps;
        Ok(self)
    }

    fn check(&self, op: &'static str, x: &Vector, b: &Vector) -> Result<()> {
        check_vectors_of(op, &self.device, Shape::new(self.unknowns, self.unknowns), x, b)
    }

    /// So many sweeps, from what `x` holds or from zero.
    fn run(&self, x: &mut Vector, b: &Vector, count: usize, from_zero: bool) -> Result<()> {
        let describe = |x: &mut Vector| {
            let mut state = self.sweeps.start((!from_zero).then_some(&*x), b)?;
            (0..count).try_for_each(|_| self.sweeps.sweep(&mut state))?;
            self.sweeps.finish(x, &state)
        };
        if count > RECORDED {
            return describe(x);
        }
        let fresh = || Vector::uninit(&self.device, b.len());
        self.replays.run(&self.device, ((count, from_zero), 1), x, &[b], &fresh, &describe)
    }
}

impl Smoother for NineBandSmoother {
    fn smooth(&self, x: &mut Vector, b: &Vector, sweeps: usize) -> Result<()> {
        self.check("NineBandSmoother::smooth", x, b)?;
        let _scope = self.device.scope()?;
        if sweeps == 0 {
            return Ok(());
        }
        self.run(x, b, sweeps, false)
    }
}

impl Preconditioner for NineBandSmoother {
    fn apply(&self, z: &mut Vector, r: &Vector) -> Result<()> {
        self.check("NineBandSmoother::apply", z, r)?;
        let _scope = self.device.scope()?;
        self.run(z, r, self.preconditioning, true)
    }
}
