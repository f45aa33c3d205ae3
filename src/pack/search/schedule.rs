//! How annealing cools, where it starts, when it stops.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::host::number;
use crate::pack::{Cost, LinearExpression, Packing};

/// An annealing schedule: at step s, `proposals` swaps are proposed at the temperature T_s = T_0 rate^s, and one that raises
/// the cost by d is accepted with probability exp(-d / (k T_s)).
///
/// *Source*: \[Bajaj04\] section 2.3.3, Figure 4. The paper leaves the numbers open.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
#[doc(alias = "Schedule")]
#[doc(alias = "annealing schedule")]
pub struct CoolingSchedule {
    /// T_0, in units of the cost.
    pub temperature: f64,
    /// What the temperature is multiplied by after each step; at most 1.
    pub rate: f64,
    /// Number of temperatures.
    pub steps: u32,
    /// Swaps proposed at each.
    pub proposals: u64,
    /// k, which the paper keeps apart from T.
    pub boltzmann: f64,
}

with!(const CoolingSchedule:
    with_temperature(temperature: f64),
    with_rate(rate: f64),
    with_steps(steps: u32),
    with_proposals(proposals: u64),
    with_boltzmann(boltzmann: f64),
);

/// For counts of instructions, 1.5 million proposals: through the temperatures at which the instances of the paper freeze. From
/// random orders alone, all six reach the paper's costs with each of 20 seeds within 200 million proposals (`benches/packing.rs`):
///
/// | instance | cost | median of proposals | most |
/// |---|---|---|---|
/// | `wave2d` | 63 | 8.3e6 | 3.2e7 |
/// | `rk20` | 14 | 4.3e3 | 1.3e4 |
/// | `gs64` | 72 | 3.6e6 | 1.9e7 |
/// | `poisson2d_s8` | 4 | 9 | 52 |
/// | `poisson3d_s40` | 20 | 2.5e7 | 1.2e8 |
/// | `wave_s32` | 24 | 2.4e6 | 1.3e7 |
impl Default for CoolingSchedule {
    fn default() -> Self {
        Self { temperature: 0.6, rate: 0.969, steps: 20, proposals: 75_000, boltzmann: 1.0 }
    }
}

impl CoolingSchedule {
    /// The default, with proposals in proportion to the number of unknowns from 64 on, but not so many that the limits end the
    /// first run: no more than half of the limit of proposals, or half a million for each second.
    ///
    /// Independent orders cool further: a swap of rows alone changes half as much, and freezes later.
    pub fn fitted<C>(e: &LinearExpression, independent: bool, limits: &SearchLimits<'_, C>) -> Self {
        let further = Self { rate: 0.93, steps: 25, proposals: 60_000, ..Self::default() };
        let schedule = if independent { further } else { Self::default() };
        let steps = u64::from(schedule.steps);
        let wanted = schedule.proposals * (e.unknowns() as u64).div_ceil(64);
        let of_proposals = limits.proposals.unwrap_or(u64::MAX) / 2 / steps;
        let of_time = limits.time.map_or(u64::MAX, |time| (time.as_secs_f64() * 5e5) as u64 / steps);
        Self { proposals: wanted.min(of_proposals).min(of_time).max(1), ..schedule }
    }

    /// Swaps proposed in all.
    pub fn total(&self) -> u64 {
        self.proposals.saturating_mul(u64::from(self.steps))
    }

    pub(crate) fn check(&self, op: &'static str) -> Result<()> {
        let positive = |x: f64| x > 0.0 && x.is_finite();
        let finite = "a positive, finite number";
        for (name, value, good, expected) in [
            ("temperature", self.temperature, positive(self.temperature), finite),
            ("boltzmann", self.boltzmann, positive(self.boltzmann), finite),
            ("rate", self.rate, self.rate > 0.0 && self.rate <= 1.0, "a factor in (0, 1]"),
        ] {
            if !good {
                return Err(Error::Parameter { op, name, value: number(value), expected });
            }
        }
        check_budget(op, "steps", u64::from(self.steps))?;
        check_budget(op, "proposals", self.proposals)
    }
}

/// Where annealing starts.
#[derive(Clone, Debug, PartialEq, Default)]
#[non_exhaustive]
pub enum Start {
    /// At a random order, another for each restart. What freezes best.
    #[default]
    Random,
    /// At the order given with the expression.
    Identity,
    /// At this packing.
    Given(Packing),
}

/// What is told how far a search is.
pub type Report<'a, C> = dyn Fn(&Progress<C>) + Sync + 'a;

/// What ends a search, whichever comes first.
///
/// All but `time` and `interrupt` give the same result on every machine, with any number of threads.
#[non_exhaustive]
#[doc(alias = "Limits")]
pub struct SearchLimits<'a, C> {
    /// Wall-clock time.
    pub time: Option<Duration>,
    /// Swaps proposed in all, looked at every 1024 of each run: it may end that much later.
    pub proposals: Option<u64>,
    /// Runs of the schedule.
    pub restarts: Option<u64>,
    /// Stops once the cost is this or less.
    pub target: Option<C>,
    /// Stops once this is set, by another thread or a signal's handler.
    pub interrupt: Option<&'a AtomicBool>,
    /// Called now and then, from any thread.
    pub progress: Option<&'a Report<'a, C>>,
}

shown!([C: std::fmt::Debug] SearchLimits<'_, C>, |limits| "SearchLimits({:?}, {:?} proposals, {:?} restarts, target {:?})", limits.time, limits.proposals, limits.restarts, limits.target);

with!(['a, C] SearchLimits<'a, C>:
    with_time(time: Option<Duration>),
    with_proposals(proposals: Option<u64>),
    with_restarts(restarts: Option<u64>),
    with_target(target: Option<C>),
    with_interrupt(interrupt: Option<&'a AtomicBool>),
    with_progress(progress: Option<&'a Report<'a, C>>),
);

/// 20 million proposals: some seconds.
impl<C> Default for SearchLimits<'_, C> {
    fn default() -> Self {
        let proposals = Some(20_000_000);
        Self { time: None, proposals, restarts: None, target: None, interrupt: None, progress: None }
    }
}

impl<C: Copy> Clone for SearchLimits<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: Copy> Copy for SearchLimits<'_, C> {}

impl<C: Cost> SearchLimits<'_, C> {
    pub(crate) fn check(&self, op: &'static str) -> Result<()> {
        for (name, limit) in [("proposals", self.proposals), ("restarts", self.restarts)] {
            limit.map_or(Ok(()), |limit| check_budget(op, name, limit))?;
        }
        let expected = "more than nothing";
        if self.time == Some(Duration::ZERO) {
            return Err(Error::Parameter { op, name: "time", value: "0 s".to_owned(), expected });
        }
        if (self.time, self.proposals, self.restarts) == (None, None, None) {
            let (value, expected) = ("none".to_owned(), "a limit of time, proposals or restarts");
            return Err(Error::Parameter { op, name: "limits", value, expected });
        }
        Ok(())
    }
}

fn check_budget(op: &'static str, name: &'static str, budget: u64) -> Result<()> {
    if budget == 0 {
        return Err(Error::Parameter { op, name, value: "0".to_owned(), expected: "at least 1" });
    }
    Ok(())
}

/// How far a search is.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress<C> {
    /// Number of the run that reports.
    pub restart: u64,
    /// Its temperature.
    pub temperature: f64,
    /// Its cost now.
    pub cost: C,
    /// The least cost of all runs so far.
    pub best: C,
    /// Swaps proposed so far, by all runs.
    pub proposals: u64,
    /// Since the start.
    pub elapsed: Duration,
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[doc(alias = "StopReason")]
pub enum SearchStop {
    /// The target is reached, or the lower bound: nothing less costs less.
    Target,
    /// All proposals are used up.
    Proposals,
    /// All restarts are done.
    Restarts,
    /// The time is over.
    Time,
    /// Interrupted from outside.
    Interrupted,
    /// There is no evaluator for an expression of this size ([`most_unknowns`](crate::pack::CostModel::most_unknowns)): the
    /// identity, what was given and the seeds have been priced, and nothing was searched from there.
    Size,
}
