//! What a solve may do before it hands back to its caller.
//!
//! A solve is written once, as an `async fn`: the compiler keeps what it has on its way, from one slice to the next. There is no
//! executor, and nobody is woken: [`now`] polls such a solve once, and what is on its way is waited for, and
//! [`Solving`](crate::solve::Solving) polls it once a slice, and nothing is. What a poll allows is a property of the poll, whatever
//! depth it reaches, and so it is kept beside the thread's stack, not in what is solved.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crate::data::{PendingRead, Scalar, Vector};
use crate::device::Device;
use crate::error::Result;
use crate::gl::Counters;
use crate::platform::Instant;

/// What a poll allows, and what has gone on outside of polls since the first one.
#[derive(Clone, Copy, Default)]
pub(in crate::solve) struct Allowed {
    /// Nothing is waited for; else everything, and there is no end before the last one.
    pub sliced: bool,
    /// When the slice ends.
    pub until: Option<Instant>,
    /// Iterations that it may still begin.
    pub left: Option<usize>,
    /// Some have been begun.
    pub begun: bool,
    /// What others have done on the device.
    pub elsewhere: Counters,
    /// Time between the slices.
    pub away: Duration,
}

thread_local! {
    static ALLOWED: Cell<Allowed> = Cell::default();
}

impl Allowed {
    /// Takes a step of this work with that.
    pub fn poll<W: Future + ?Sized>(self, work: std::pin::Pin<&mut W>) -> Poll<W::Output> {
        /// Puts back what a poll around this one allows, also where this one panics.
        struct Around(Allowed);
        impl Drop for Around {
            fn drop(&mut self) {
                ALLOWED.set(self.0);
            }
        }
        let _around = Around(ALLOWED.replace(self));
        work.poll(&mut Context::from_waker(Waker::noop()))
    }

    fn spent(&self, steps: usize) -> bool {
        let few = self.left.is_some_and(|left| left < steps);
        let late = || self.until.is_some_and(|until| Instant::now() >= until);
        // One is begun in any case, or there would be no end.
        self.left == Some(0) || self.begun && (few || late())
    }
}

/// Does all of it now, waiting for what is on its way.
pub(in crate::solve) fn now<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    loop {
        if let Poll::Ready(done) = Allowed::default().poll(work.as_mut()) {
            return done;
        }
    }
}

/// Values that are on their way: waited for, or of a slice left to the next one.
pub(in crate::solve) async fn arrived(sent: &PendingRead) -> Result<Vec<f32>> {
    poll_fn(|_| match ALLOWED.get().sliced {
        false => Poll::Ready(sent.wait()),
        true => sent.poll().transpose().map_or(Poll::Pending, Poll::Ready),
    })
    .await
}

/// The texel of a scalar. *Cost*: waits, as [`arrived`] does.
pub(in crate::solve) async fn texel(scalar: &Scalar) -> Result<[f32; 4]> {
    if !ALLOWED.get().sliced {
        return scalar.read_texel();
    }
    let mut texel = [f32::NAN; 4];
    let values = arrived(&scalar.read_texel_async()?).await?;
    texel.iter_mut().zip(values).for_each(|(t, value)| *t = value);
    Ok(texel)
}

/// The number in a scalar. *Cost*: as of [`texel`].
pub(in crate::solve) async fn number(scalar: Scalar) -> Result<f64> {
    let [value, ..] = texel(&scalar).await?;
    Ok(f64::from(value))
}

/// The elements of a vector. *Cost*: as of [`texel`].
pub(in crate::solve) async fn elements(v: &Vector) -> Result<Vec<f32>> {
    if ALLOWED.get().sliced { arrived(&v.read_async()?).await } else { v.read() }
}

/// Comes before so many iterations, which are begun in this slice if it has room for them, or has begun none: else in the next.
pub(in crate::solve) async fn begin(steps: usize) {
    poll_fn(|_| {
        let allowed = ALLOWED.get();
        if allowed.spent(steps) {
            return Poll::Pending;
        }
        let left = allowed.left.map(|left| left.saturating_sub(steps));
        ALLOWED.set(Allowed { left, begun: true, ..allowed });
        Poll::Ready(())
    })
    .await
}

/// Work with a scope around each of its slices: between them the state is the application's.
pub(in crate::solve) async fn scoped<T>(device: &Device, work: impl Future<Output = Result<T>>) -> Result<T> {
    let mut work = pin!(work);
    poll_fn(|context| match device.scope() {
        Ok(_scope) => work.as_mut().poll(context),
        Err(error) => Poll::Ready(Err(error)),
    })
    .await
}

/// What the device has done, without what others did between the slices.
pub(in crate::solve) fn counters(device: &Device) -> Counters {
    device.counters().since(&ALLOWED.get().elsewhere)
}

/// How long it is since this was asked before, without the time between the slices.
#[derive(Clone, Copy)]
pub(in crate::solve) struct Stopwatch {
    started: Instant,
    away: Duration,
}

impl Stopwatch {
    pub fn start() -> Self {
        Stopwatch { started: Instant::now(), away: ALLOWED.get().away }
    }

    /// Whether more than that has gone by, where there is a limit.
    pub fn is_past(&self, limit: Option<Duration>) -> bool {
        limit.is_some_and(|limit| self.elapsed() >= limit)
    }

    pub fn elapsed(&self) -> Duration {
        self.started.elapsed().saturating_sub(ALLOWED.get().away.saturating_sub(self.away))
    }
}
