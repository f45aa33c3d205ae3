//! The inner loop of every solver: iterate without waiting, and look through a polled fence now and then.

use std::collections::VecDeque;

use crate::data::PendingRead;
use crate::device::Device;
use crate::error::Result;

/// What is seen while a solve runs: iterations done and the relative residual.
pub(in crate::solve) type Observer<'a> = dyn FnMut(usize, f64) + 'a;

/// Looks under way at one time; past this the oldest is waited for, so that the host cannot run ahead for ever.
const LOOKS: usize = 3;

/// Something to be iterated that freezes by itself, by a flag on the device.
pub(in crate::solve) trait Iterated {
    fn device(&self) -> &Device;

    /// One iteration, without a readback.
    fn iterate(&mut self) -> Result<()>;

    /// Sends for the report texels as they are after the last iteration.
    fn look(&self) -> Result<PendingRead>;

    /// What report texels that have arrived say.
    fn seen(&self, texels: &[f32]) -> Seen;
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

/// Iterates until a look finds everything frozen, and returns what that look has seen. At most `most` iterations
/// are useful: past them only the one that notices. Nothing here waits for the device, but for looks long under way.
pub(in crate::solve) fn run_until_frozen(
    iterated: &mut impl Iterated,
    every: usize,
    most: usize,
    work: &mut Work,
    observe: &mut Observer<'_>,
) -> Result<Vec<f32>> {
    let start = iterated.device().counters();
    let mut looks: VecDeque<PendingRead> = VecDeque::new();
    let mut done = 0;
    let frozen = loop {
        let mut before = iterated.device().counters();
        for _ in 0..every.min(most.saturating_sub(done).max(1)) {
            iterated.iterate()?;
            done += 1;
            if done <= 2 {
                let before = std::mem::replace(&mut before, iterated.device().counters());
                let one = iterated.device().counters().since(&before);
                let cost = Cost { draws: one.draws, passes: one.passes };
                if done == 1 {
                    (work.first, work.second) = (cost, None);
                } else {
                    work.second = Some(cost);
                }
            }
        }
        looks.push_back(iterated.look()?);
        let mut frozen = None;
        while let Some(look) = looks.front() {
            let texels = if looks.len() > LOOKS { Some(look.wait()?) } else { look.poll()? };
            let Some(texels) = texels else { break };
            looks.pop_front();
            let seen = iterated.seen(&texels);
            if work.history.last().is_none_or(|(k, _)| *k < seen.iterations) {
                work.history.push((seen.iterations, seen.residual));
                observe(seen.iterations, seen.residual);
            }
            if seen.frozen {
                frozen = Some(texels);
                break;
            }
        }
        if let Some(texels) = frozen {
            break texels;
        }
    };
    let counted = iterated.device().counters().since(&start);
    work.async_checks += counted.async_checks;
    work.readbacks += counted.readbacks;
    Ok(frozen)
}
