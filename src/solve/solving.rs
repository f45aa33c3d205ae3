//! A solve that goes on when the caller says so.

use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use super::drive::report::{HistoryPoint, ResidualKind};
use super::drive::slices::Allowed;
use crate::device::Device;
use crate::error::Result;
use crate::gl::Counters;
use crate::platform::Instant;

/// How far [`Solving::advance`] goes at once: whichever is reached first, and where nothing is asked for as far as it can without
/// waiting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Slice {
    /// No iteration is begun after this time, by the host's clock. What the device has still to do of those begun is not in it:
    /// where that takes longer than the host takes to ask for it, [`iterations`](Self::iterations) bound it.
    pub time: Option<Duration>,
    /// No more iterations than these; of sweeps that are tested [now and
    /// then](crate::solve::StationaryParams::test_every) no fewer than those up to the next test, which belong together.
    pub iterations: Option<usize>,
}

with!(const Slice:
    with_time(time: Option<Duration>),
    with_iterations(iterations: Option<usize>),
);

impl Slice {
    /// So much time.
    pub const fn time(time: Duration) -> Self {
        Slice { time: Some(time), iterations: None }
    }

    /// So many iterations; of none nothing is begun, but what has been sent for is looked at.
    pub const fn iterations(iterations: usize) -> Self {
        Slice { time: None, iterations: Some(iterations) }
    }
}

/// How far a solve has come.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SolveProgress {
    /// Iterations that the last look has seen; more may have been begun.
    pub iterations: usize,
    /// The relative residual after those, once one is known.
    pub residual: Option<f64>,
    /// How that was found: it is certified at the start, at times on the way, and at the end.
    pub kind: Option<ResidualKind>,
    /// Nothing is left to do: [`Solving::finish`] does not wait.
    pub done: bool,
}

/// A solve that is advanced a slice of work at a time, for an application that draws frames in between: made by `begin` of
/// [`ConjugateGradient`](crate::solve::ConjugateGradient), [`Auto`](crate::solve::Auto) and the others, whose `solve` is this, run
/// to the end. Iterates are the same bit by bit, and so are iterations, verdict and certified residual, however it is cut into
/// slices: what freezes iterates is a flag on the device.
///
/// *A slice* ends where its [time or its iterations](Slice) are used up; or where `solve` would wait, for a look, for a norm on
/// which it goes on or for the certificate: that is asked after again by the next slice, and nothing is waited for. Each is a
/// [scope](crate::Device::scope) of its own: between them the GL state is the application's, and other operations of the same device
/// change nothing. Those are not counted in the report.
///
/// *In a browser* nothing that is waited for comes before the task has ended: a loop over slices within one task never does. Return
/// to the page between slices, as by `requestAnimationFrame`; natively a loop is fine.
///
/// Iterations that no look has seen may be one in twenty-five of all, or one in ten of those expected: where a look takes a
/// frame to come back, as in a browser, that is what a frame does. [`Stop::check_every`](crate::solve::Stop::check_every) with `k` lets it be `2 k`.
///
/// What is not cut: an iteration; what a method or a [choice](crate::solve::Choice) sets up on the host; an operator, a
/// preconditioner or a smoother that waits by itself.
///
/// What `x` holds is read in the first slices, and written in the last one: it is as it was before that, and after an error. Dropped
/// before the end, a solve frees what it holds, and what it owns.
///
/// *Cost* over `solve`: a scope and a poll a slice, and one allocation. *Panics*: where an operator of the application's has panicked in
/// a slice, every further one and `finish` do; drop the solve.
///
/// ```
/// use texla::solve::{CgParams, ConjugateGradient, Slice};
/// use texla::{BandedMatrix, Vector};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let a = BandedMatrix::poisson_2d(dev, 16, 16)?;
/// let b = Vector::filled(dev, 256, 1.0)?;
/// let solver = ConjugateGradient::new(&a, CgParams::default())?;
///
/// let mut x = Vector::zeros(dev, 256)?;
/// let mut solving = solver.begin(&mut x, &b);
/// let mut frames = 0;
/// while !solving.advance(Slice::iterations(5))?.done {
///     frames += 1; // draw one
/// }
/// let (_, report) = solving.finish();
/// let report = report?;
/// assert!(report.converged() && frames >= report.iterations / 5);
///
/// let mut again = Vector::zeros(dev, 256)?;
/// let whole = solver.solve(&mut again, &b)?;
/// assert_eq!((whole.iterations, whole.true_residual), (report.iterations, report.true_residual));
/// assert_eq!(again.read()?, x.read()?);
/// # Ok::<(), texla::Error>(())
/// ```
///
/// A struct of the application can have one that owns what it works on:
///
/// ```
/// use std::rc::Rc;
/// use texla::solve::{CgParams, ConjugateGradient, Slice, SolveReport, Solving};
/// use texla::{BandedMatrix, Device, Vector};
///
/// struct Heat(Solving<'static, Box<Vector>, SolveReport>);
///
/// impl Heat {
///     fn new(dev: &Device) -> texla::Result<Self> {
///         let a = Rc::new(BandedMatrix::poisson_2d(dev, 16, 16)?);
///         let (x, b) = (Vector::zeros(dev, 256)?, Vector::filled(dev, 256, 1.0)?);
///         Ok(Heat(ConjugateGradient::new(a, CgParams::default())?.begin(Box::new(x), Box::new(b))))
///     }
/// }
///
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let mut heat = Heat::new(dev)?;
/// while !heat.0.advance(Slice::iterations(8))?.done {}
/// let (x, report) = heat.0.finish();
/// assert!(report?.converged() && x.read()?[0] > 0.7);
/// # Ok::<(), texla::Error>(())
/// ```
pub struct Solving<'s, X, R> {
    device: Device,
    stage: Stage<'s, X, R>,
    seen: Rc<Cell<Option<HistoryPoint>>>,
    /// The device's counters when the last slice ended, and what of them is this solve's own.
    left: (Counters, Counters),
    /// When that was, and how long nothing has been done altogether.
    left_at: Instant,
    away: Duration,
}

/// What is left to do, or what has come of it.
enum Stage<'s, X, R> {
    UnderWay(Pin<Box<dyn Future<Output = (X, Result<R>)> + 's>>),
    Ended(X, Result<R>),
}

impl<X, R> fmt::Debug for Solving<'_, X, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Solving({:?})", self.progress())
    }
}

impl<'s, X, R> Solving<'s, X, R> {
    pub(in crate::solve) fn new<W: Future<Output = (X, Result<R>)> + 's>(
        device: &Device,
        work: impl FnOnce(Rc<Cell<Option<HistoryPoint>>>) -> W,
    ) -> Self {
        let seen = Rc::default();
        Solving {
            device: device.clone(),
            stage: Stage::UnderWay(Box::pin(work(Rc::clone(&seen)))),
            seen,
            left: (device.counters(), Counters::default()),
            left_at: Instant::now(),
            away: Duration::ZERO,
        }
    }

    /// Goes on, for a slice at most, and tells how far it is. Does not wait.
    ///
    /// *Errors*: [`Error::HostGl`](crate::Error::HostGl) when an error of the application's is pending: it is reported here and
    /// cleared, and the next slice goes on. Those of the solver's `solve` end it: `x` is as it was, and every further slice has the
    /// same error.
    pub fn advance(&mut self, slice: Slice) -> Result<SolveProgress> {
        let _scope = match &self.stage {
            Stage::UnderWay(_) => Some(self.device.scope()?),
            Stage::Ended(..) => None,
        };
        let until = slice.time.and_then(|time| Instant::now().checked_add(time));
        self.go(Allowed { sliced: true, until, left: slice.iterations, ..Allowed::default() });
        match &self.stage {
            Stage::Ended(_, Err(error)) => Err(error.clone()),
            _ => Ok(self.progress()),
        }
    }

    /// How far it is. *Cost*: nothing.
    pub fn progress(&self) -> SolveProgress {
        let seen = self.seen.get();
        SolveProgress {
            iterations: seen.map_or(0, |point| point.iteration),
            residual: seen.map(|point| point.residual),
            kind: seen.map(|point| point.kind),
            done: matches!(self.stage, Stage::Ended(..)),
        }
    }

    /// Goes on to the end, and gives back `x`, and what has come of it. *Cost*: waits, unless it is [done](SolveProgress::done).
    /// *Errors*: those of the solver's `solve`. So a pending error of the application's ends it, and `x` is as it was;
    /// [`advance`](Self::advance) tells of it and goes on.
    pub fn finish(mut self) -> (X, Result<R>) {
        loop {
            match self.stage {
                Stage::Ended(x, done) => return (x, done),
                Stage::UnderWay(_) => self.go(Allowed::default()),
            }
        }
    }

    fn go(&mut self, allowed: Allowed) {
        let Stage::UnderWay(work) = &mut self.stage else { return };
        let (_, own) = self.left;
        self.away += self.left_at.elapsed();
        let elsewhere = self.device.counters().since(&own);
        let polled = Allowed { elsewhere, away: self.away, ..allowed }.poll(work.as_mut());
        let now = self.device.counters();
        (self.left, self.left_at) = ((now, now.since(&elsewhere)), Instant::now());
        if let Poll::Ready((x, done)) = polled {
            self.stage = Stage::Ended(x, done);
        }
    }
}
