//! The inner loop of every solver: iterate, and look through a fence as often as little may be in vain.

use std::collections::VecDeque;
use std::time::Duration;

use super::report::{HistoryPoint, ResidualKind};
use super::slices::{Stopwatch, arrived, begin, counters};
use super::state::Flag;
use crate::data::PendingRead;
use crate::device::Device;
use crate::error::{Error, Result};

/// Is called with each point of the history of a solve, while that runs.
pub(in crate::solve) type Observer<'a> = dyn FnMut(HistoryPoint) + 'a;

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
    /// After so many iterations: what is summed on the way to an iteration's end is of its beginning.
    pub residual: HistoryPoint,
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
    /// Relative residuals, certified or polled.
    pub history: Vec<HistoryPoint>,
    /// The last ones that were polled, and the start's: (iterations, residual).
    polled: VecDeque<(usize, f64)>,
    pub async_checks: u64,
    pub readbacks: u64,
    /// Draws after the iterates had frozen.
    pub in_vain: u64,
    /// Of the last run's first iteration, and of its second one: that does not pay for what the first one set up.
    pub first: Cost,
    pub second: Option<Cost>,
}

impl Work {
    /// A residual that a poll has found, unless that is of an iterate whose residual is known.
    fn polled(&mut self, point: HistoryPoint, observe: &mut Observer<'_>) {
        if self.polled.back().is_none_or(|(k, _)| *k < point.iteration) {
            self.polled.push_back((point.iteration, point.residual));
            self.polled.drain(..self.polled.len().saturating_sub(Course::OF_LATE));
        }
        if self.history.last().is_none_or(|last| last.iteration < point.iteration) {
            self.history.push(point);
            observe(point);
        }
    }

    /// A residual recomputed after so many iterations, in place of what was polled of the same iterate.
    pub fn certified(&mut self, iterations: usize, residual: f64, observe: &mut Observer<'_>) {
        let last = self.history.pop_if(|last| last.iteration >= iterations);
        let iteration = last.map_or(iterations, |last| last.iteration);
        let point = HistoryPoint::new(iteration, residual, ResidualKind::Certified);
        if self.history.is_empty() {
            self.polled = VecDeque::from([(iteration, residual)]);
        }
        self.history.push(point);
        if last != Some(point) {
            observe(point);
        }
    }

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
    /// The relative residual at which iterates freeze, where they do at one.
    pub aim: Option<f64>,
    /// When all of it began, and how long that may take.
    pub clock: (Stopwatch, Option<Duration>),
}

/// How iterates have been found at the end.
pub(in crate::solve) struct Last {
    pub texels: Vec<f32>,
    /// They are not frozen: time is over.
    pub out_of_time: bool,
}

impl Last {
    /// The flag of a report that is one of these texels.
    pub fn flag(&self, flag: Flag) -> Flag {
        if self.out_of_time && flag == Flag::Running { Flag::OutOfTime } else { flag }
    }
}

impl Course {
    /// Of all iterations, one in so many may be in vain: in a solve runs are frozen two or three times, and all count.
    const IN_VAIN: usize = 25;

    /// Of those that are expected to be useful, one in so many may turn out not to be.
    const MISJUDGED: usize = 10;

    /// Residuals may fall by so much more in an iteration, in logarithms, than they have of late.
    const FASTER: f64 = 1.5;

    /// How many looks are of late.
    const OF_LATE: usize = 8;

    /// Before anything is known: a good preconditioner's iteration divides residuals by about as much.
    const FIRST_FALL: f64 = 4.6;

    /// Calls up to the next look, and how many may be on their way past the last look that found iterates running: what
    /// a look takes to arrive is bridged by as much again.
    fn pace(&self, iterated: &impl Iterated, seen: usize, work: &Work) -> (usize, usize) {
        let steps = iterated.steps().max(1);
        if let Some(every) = self.every {
            let calls = every.div_ceil(steps);
            return (calls, 2 * calls);
        }
        let done = self.begin + steps * seen;
        let unknown = if iterated.dear() { 0 } else { (done / Self::IN_VAIN).max(1) };
        // However it goes, no more than this is in vain, all runs together.
        let misjudged = (work.in_vain / work.cost().draws.max(1)) as usize * steps;
        let spare = (done / Self::MISJUDGED).max(1).saturating_sub(misjudged);
        let known = self.expected(work).saturating_sub(1).min(spare);
        let unseen = 1 + unknown.max(known) / steps;
        (unseen / 2, unseen)
    }

    /// Iterations that it will take at least, if residuals go on as they have or not much faster.
    fn expected(&self, work: &Work) -> usize {
        let (Some(aim), Some((_, residual))) = (self.aim, work.polled.back()) else { return 0 };
        let pairs = work.polled.iter().zip(work.polled.iter().skip(1));
        let falls =
            pairs.map(|((k, before), (l, after))| (before / after).ln() / l.saturating_sub(*k) as f64);
        let fall = falls.reduce(f64::max).unwrap_or(Self::FIRST_FALL).max(0.0);
        // Saturates: of no fall there is no end.
        ((residual / aim).ln() / (Self::FASTER * fall)).ceil().max(0.0) as usize
    }
}

/// Iterates until a look finds everything frozen or time is over, and returns what that look has seen.
///
/// The flag on the device freezes iterates, whenever that is noticed: results do not depend on timing. With nothing on
/// its way but what [`Course::pace`] allows, what runs in vain is a few in a hundred iterations, or one.
pub(in crate::solve) async fn run_until_frozen(
    iterated: &mut impl Iterated,
    course: Course,
    work: &mut Work,
    observe: &mut Observer<'_>,
) -> Result<Last> {
    let start = counters(iterated.device());
    // With the calls before each.
    let mut looks: VecDeque<(usize, PendingRead)> = VecDeque::new();
    let (mut done, mut seen) = (0, 0);
    let last = 'run: loop {
        let (clock, limit) = course.clock;
        if done > 0 && clock.is_past(limit) {
            let look = looks.pop_back().map_or_else(|| iterated.look(), |(_, look)| Ok(look))?;
            let texels = arrived(&look).await?;
            let found = iterated.seen(&texels);
            work.polled(found.residual, observe);
            break 'run Last { texels, out_of_time: !found.frozen };
        }
        let (mut calls, unseen) = course.pace(iterated, seen, work);
        calls = calls.clamp(1, course.most.saturating_sub(done).max(1));
        while let Some((at, look)) = looks.front() {
            let wait = done - seen + calls > unseen || done >= course.most;
            let Some(texels) = (if wait { Some(arrived(look).await?) } else { look.poll()? }) else { break };
            let found = iterated.seen(&texels);
            work.polled(found.residual, observe);
            if found.frozen {
                // In the call that made the last update, or in the next one.
                let updates = found.iterations.saturating_sub(course.begin).div_ceil(iterated.steps().max(1));
                let noticed = (updates + 1).clamp(seen + 1, *at);
                work.in_vain += (done - noticed) as u64 * work.cost().draws;
                break 'run Last { texels, out_of_time: false };
            }
            // One call past the last one notices, in every method that counts and tests.
            if *at > course.most.saturating_mul(2).saturating_add(8) {
                let value = "one that goes on past the most iterations".into();
                let expected = "counts() in each iteration, and meets() or will_meet()";
                return Err(Error::Parameter { op: "Recipe::iterate", name: "text", value, expected });
            }
            seen = *at;
            looks.pop_front();
        }
        for _ in 0..calls {
            begin(iterated.steps().max(1)).await;
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
    let counted = counters(iterated.device()).since(&start);
    work.async_checks += counted.async_checks;
    work.readbacks += counted.readbacks;
    Ok(last)
}
