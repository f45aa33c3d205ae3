//! The inner loop of every solver: iterate, and look through a fence as often as little may be in vain.

use std::collections::VecDeque;

use crate::data::PendingRead;
use crate::device::Device;
use crate::error::Result;

/// What is seen while a solve runs: iterations done and the relative residual.
pub(in crate::solve) type Observer<'a> = dyn FnMut(usize, f64) + 'a;

/// Something to be iterated that freezes by itself, by a flag on the device.
pub(in crate::solve) trait Iterated {
    fn device(&self) -> &Device;

    /// One iteration, without a readback.
    fn iterate(&mut self) -> Result<()>;

    /// Sends for the report texels as they are after the last iteration.
    fn look(&self) -> Result<PendingRead>;

    /// What report texels that have arrived say.
    fn seen(&self, texels: &[f32]) -> Seen;

    /// Iterations that one call of [`iterate`](Self::iterate) stands for.
    fn steps(&self) -> usize {
        1
    }

    /// Whether an iteration costs so much more than a look that none is begun unseen.
    fn dear(&self) -> bool {
        false
    }
}

/// What a look has found.
pub(in crate::solve) struct Seen {
    pub iterations: usize,
    /// Relative.
    pub residual: f64,
    pub frozen: bool,
}

/// Draws and changes of the render target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::solve) struct Cost {
    pub draws: u64,
    pub passes: u64,
}

/// What all runs of a solve have come to together.
#[derive(Default)]
pub(in crate::solve) struct Work {
    /// Relative residuals where they were looked at.
    pub history: Vec<(usize, f64)>,
    pub async_checks: u64,
    pub readbacks: u64,
    /// Draws after the iterates had frozen.
    pub in_vain: u64,
    /// Of the last run's first iteration, and of its second one: that does not pay for what the first one set up.
    pub first: Cost,
    pub second: Option<Cost>,
}

impl Work {
    /// Of an iteration.
    pub fn cost(&self) -> Cost {
        self.second.unwrap_or(self.first)
    }
}

/// How far a run goes, and how often it is looked at.
#[derive(Clone, Copy)]
pub(in crate::solve) struct Course {
    /// Iterations between two looks, where the caller has a wish.
    pub every: Option<usize>,
    /// Iterations done before.
    pub begin: usize,
    /// Calls of [`Iterated::iterate`] that are useful: past them only the one that notices.
    pub most: usize,
}

impl Course {
    /// Of all iterations, one in so many may be in vain: in a solve runs are frozen two or three times, and all count.
    const IN_VAIN: usize = 25;

    /// Calls up to the next look, and how many may be on their way past the last look that found iterates running: what
    /// a look takes to arrive is bridged by as much again.
    fn pace(&self, iterated: &impl Iterated, seen: usize) -> (usize, usize) {
        let steps = iterated.steps().max(1);
        if let Some(every) = self.every {
            let calls = every.div_ceil(steps);
            return (calls, 2 * calls);
        }
        let done = self.begin + steps * seen;
        let ahead = if iterated.dear() { 0 } else { (done / Self::IN_VAIN).max(1) };
        let unseen = 1 + ahead / steps;
        (unseen / 2, unseen)
    }
}

/// Iterates until a look finds everything frozen, and returns what that look has seen.
///
/// The flag on the device freezes iterates, whenever that is noticed: results do not depend on timing. With nothing on
/// its way but what [`Course::pace`] allows, what runs in vain is a few in a hundred iterations, or one.
pub(in crate::solve) fn run_until_frozen(
    iterated: &mut impl Iterated,
    course: Course,
    work: &mut Work,
    observe: &mut Observer<'_>,
) -> Result<Vec<f32>> {
    let start = iterated.device().counters();
    // With the calls before each.
    let mut looks: VecDeque<(usize, PendingRead)> = VecDeque::new();
    let (mut done, mut seen) = (0, 0);
    let frozen = 'run: loop {
        let (mut calls, unseen) = course.pace(iterated, seen);
        calls = calls.clamp(1, course.most.saturating_sub(done).max(1));
        while let Some((at, look)) = looks.front() {
            let wait = done - seen + calls > unseen || done >= course.most;
            let Some(texels) = (if wait { Some(look.wait()?) } else { look.poll()? }) else { break };
            let found = iterated.seen(&texels);
            if work.history.last().is_none_or(|(k, _)| *k < found.iterations) {
                work.history.push((found.iterations, found.residual));
                observe(found.iterations, found.residual);
            }
            if found.frozen {
                // In the call that made the last update, or in the next one.
                let updates = found.iterations.saturating_sub(course.begin).div_ceil(iterated.steps().max(1));
                let noticed = (updates + 1).clamp(seen + 1, *at);
                work.in_vain += (done - noticed) as u64 * work.cost().draws;
                break 'run texels;
            }
            seen = *at;
            looks.pop_front();
        }
        for _ in 0..calls {
            let before = iterated.device().counters();
            iterated.iterate()?;
            done += 1;
            if done <= 2 {
                let one = iterated.device().counters().since(&before);
                let cost = Cost { draws: one.draws, passes: one.passes };
                if done == 1 {
                    (work.first, work.second) = (cost, None);
                } else {
                    work.second = Some(cost);
                }
            }
        }
        looks.push_back((done, iterated.look()?));
    };
    let counted = iterated.device().counters().since(&start);
    work.async_checks += counted.async_checks;
    work.readbacks += counted.readbacks;
    Ok(frozen)
}
