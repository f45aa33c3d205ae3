//! Jacobi sweeps with nine bands: one formula, and the rungs of a ladder of schedules \[Goeddeke05\].

mod host;
mod packed;
mod schedule;
mod smoother;
mod tutorial;

pub use schedule::{JacobiLayout, JacobiSchedule, JacobiStep};
pub use smoother::NineBandSmoother;

use host::HostSweeps;
use packed::{PackedState, PackedSweeps};
use tutorial::Tutorial;

use super::smoother::check_relaxation;
use crate::data::Vector;
use crate::device::Device;
use crate::error::{Error, Result, check_finite, check_values};
use crate::host::NineBands;
use crate::shape::Shape;

const OP: &str = "NineBandJacobi";

/// A system `A x = b` and where to start.
#[derive(Clone, Copy, Debug)]
pub struct JacobiProblem<'a> {
    /// The matrix.
    pub a: &'a NineBands,
    /// The right-hand side.
    pub b: &'a [f32],
    /// The start.
    pub x: &'a [f32],
}

/// Sweeps `x ← x + ω D⁻¹ (b - A x)` over one system with nine bands, or four at once, by any
/// [schedule](JacobiSchedule): the ladder of \[Goeddeke05\] and what texla adds to it. To solve, see
/// [`NineBandSmoother`].
///
/// *Shapes*: all matrices of one side; `b` and `x` as long as the matrix has rows. *Cost* of a sweep:
/// [`JacobiSchedule::draws`], no readback, no allocation; fetches an unknown: 12 (Red), 5 (Rgba), 4.5 to 3.2
/// (packed with 1 to 8 rows). *Bound* of a sweep, for every schedule: `γ_20 (|x| + ω / |a_ii| (|A| |x| + |b|))`.
/// *Source*: \[Goeddeke05\]; its steps go on in the next row at the ends of rows, as those on the host do. The packed
/// schedules need bands that are zero there.
///
/// ```
/// use texla::host::NineBands;
/// use texla::solve::{JacobiProblem, JacobiSchedule, NineBandJacobi};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let a = NineBands::laplace(2)?; // 8/3 on the diagonal, -1/3 elsewhere
/// let problem = JacobiProblem { a: &a, b: &[8.0; 4], x: &[0.0; 4] };
/// for schedule in JacobiSchedule::LADDER {
///     let problems = vec![problem; schedule.systems()];
///     let mut jacobi = NineBandJacobi::new(dev, &problems, schedule, 1.0)?;
///     jacobi.sweep(2)?; // 3, then (8 + 3 · 3 / 3) · 3 / 8
///     for x in &jacobi.read()? {
///         assert!(x.iter().all(|x| (x - 4.125).abs() < 1e-6), "{schedule:?}: {x:?}");
///     }
/// }
/// # Ok::<(), texla::Error>(())
/// ```
pub struct NineBandJacobi {
    device: Device,
    side: usize,
    sweeps: Sweeps,
}

shown!(NineBandJacobi, |s| "NineBandJacobi({0}x{0})", s.side);

enum Sweeps {
    Host(Box<HostSweeps>),
    Tutorial(Tutorial),
    Packed(PackedSweeps, PackedState),
}

impl NineBandJacobi {
    /// Makes ready: as many problems as [`JacobiSchedule::systems`] says.
    ///
    /// *Cost*: the uploads. *Errors*: [`Error::LengthMismatch`], [`Error::ShapeMismatch`] for matrices of several
    /// sides; [`Error::Matrix`] naming the first row whose diagonal is zero, or flushed to it, or for a packed schedule the
    /// first entry at the end of a row that is not zero; [`Error::NonFinite`];
    /// [`Error::Parameter`] for an ω that is not positive; [`Error::TooLarge`] past the texture size, and for rows of
    /// more than 2048 unknowns with one shader for all; [`Error::Unsupported`] for more rows than draw buffers.
    pub fn new(
        device: &Device,
        problems: &[JacobiProblem<'_>],
        schedule: JacobiSchedule,
        omega: f64,
    ) -> Result<Self> {
        let mismatch =
            |operand, found, expected| Err(Error::LengthMismatch { op: OP, operand, found, expected });
        let Some(first) = problems.first().filter(|_| problems.len() == schedule.systems()) else {
            return mismatch("problems", problems.len(), schedule.systems());
        };
        let side = first.a.side();
        let mut weights = Vec::with_capacity(problems.len());
        for problem in problems {
            let (found, expected) = (problem.a.side(), side);
            if found != expected {
                let [found, expected] = [found, expected].map(|n| Shape::new(n, n));
                return Err(Error::ShapeMismatch { op: OP, operand: "grid", found, expected });
            }
            for (operand, values) in [("b", problem.b), ("x", problem.x)] {
                if values.len() != problem.a.len() {
                    return mismatch(operand, values.len(), problem.a.len());
                }
                check_values(OP, values)?;
            }
            weights.push(Weights::new(OP, problem.a, omega)?);
        }
        let _scope = device.scope()?;
        let sweeps = match (schedule, weights.first()) {
            (JacobiSchedule::Tutorial(layout, step), _) => {
                Sweeps::Tutorial(Tutorial::new(device, problems, &weights, layout, step)?)
            }
            (JacobiSchedule::Packed { rows }, Some(weights)) => {
                let packed = PackedSweeps::new(OP, device, first.a, weights, rows)?;
                let (x, b) = (Vector::from_slice(device, first.x)?, Vector::from_slice(device, first.b)?);
                let state = packed.start(Some(&x), &b)?;
                Sweeps::Packed(packed, state)
            }
            (JacobiSchedule::HostLoop | JacobiSchedule::HostBands, Some(weights)) => {
                Sweeps::Host(Box::new(HostSweeps::new(first, weights, schedule == JacobiSchedule::HostBands)))
            }
            (_, None) => return mismatch("problems", 0, schedule.systems()),
        };
        Ok(NineBandJacobi { device: device.clone(), side, sweeps })
    }

    /// So many sweeps.
    ///
    /// *Errors*: those of GL alone. Iterates that grow past the range of floats are not looked for: to have divergence
    /// found, use [`NineBandSmoother`].
    pub fn sweep(&mut self, sweeps: usize) -> Result<()> {
        let _scope = self.device.scope()?;
        (0..sweeps).try_for_each(|_| match &mut self.sweeps {
            Sweeps::Host(host) => {
                host.sweep();
                Ok(())
            }
            Sweeps::Tutorial(tutorial) => tutorial.sweep(),
            Sweeps::Packed(packed, state) => packed.sweep(state),
        })
    }

    /// Copies the iterates to the host. *Cost*: 1 readback, which waits for the device; 1 draw where it is packed.
    pub fn read(&self) -> Result<Vec<Vec<f32>>> {
        let _scope = self.device.scope()?;
        match &self.sweeps {
            Sweeps::Host(host) => Ok(vec![host.x().to_vec()]),
            Sweeps::Tutorial(tutorial) => tutorial.read(),
            Sweeps::Packed(packed, state) => {
                let mut x = Vector::uninit(&self.device, self.side * self.side)?;
                packed.finish(&mut x, state)?;
                Ok(vec![x.read()?])
            }
        }
    }
}

/// What a sweep multiplies residuals by.
struct Weights {
    omega: f64,
    /// `ω / a_ii`
    inverse: Vec<f32>,
}

impl Weights {
    fn new(op: &'static str, a: &NineBands, omega: f64) -> Result<Self> {
        check_relaxation(op, omega, f64::from(f32::MAX), "positive and finite")?;
        let diagonal = a.band(NineBands::DD);
        if let Some((i, d)) = diagonal.iter().enumerate().find(|(_, d)| !(**d != 0.0 && d.is_finite())) {
            let detail = format!(
                "has the diagonal entry {d} in row {i} (counted from 0), expected a number other than 0"
            );
            return Err(Error::Matrix { op, detail });
        }
        let what = format!("{op}: omega a_ij / a_ii");
        for k in 0..9 {
            check_finite(op, a.band(k).iter().copied())?;
            check_finite(&what, a.band(k).iter().zip(diagonal).map(|(v, d)| omega * v / d))?;
        }
        check_finite(&format!("{op}: omega / a_ii"), diagonal.iter().map(|d| omega / d))?;
        // Devices flush what is below the normal floats: a zero to divide by, or sweeps that do nothing.
        let least = f64::from(f32::MIN_POSITIVE);
        let flushed = |(_, d): &(usize, &f64)| d.abs() < least || (omega / **d).abs() < least;
        if let Some((i, d)) = diagonal.iter().enumerate().find(flushed) {
            let detail = format!(
                "has the diagonal entry {d:e} in row {i} (counted from 0), expected it and omega / a_ii = {:e} to be {least:e} at least",
                omega / d
            );
            return Err(Error::Matrix { op, detail });
        }
        Ok(Weights { omega, inverse: diagonal.iter().map(|d| (omega / d) as f32).collect() })
    }
}
