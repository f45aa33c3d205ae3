//! The loop around the sweeps: run until frozen, recompute the residuals in double-float, judge, go on or stop.

use super::report::{LcpOutcome, LcpParams, LcpReport};
use super::run::{Aim, Run};
use super::system::{Measured, Residual};
use crate::data::Vector;
use crate::error::Result;
use crate::ops::{self, Accuracy};
use crate::solve::drive::looks::{Course, Iterated, Observer, Work, run_until_frozen};
use crate::solve::drive::report::StopReason;
use crate::solve::drive::scales::FAR;
use crate::solve::drive::state::Flag;
use crate::solve::drive::verdict::LEAST_BOUND;
use crate::solve::drive::verdict::{WORTH_ANOTHER, hides};

/// How far a problem has come.
struct Progress {
    flag: Flag,
    sweeps: usize,
    aim: f64,
    /// The recomputed residual when the sweeps had last met their aim.
    fell_short: Option<f64>,
    best: Option<Residual>,
    ended: Option<StopReason>,
}

impl Progress {
    /// What a recomputed residual means, after a run that has ended with `self.flag`.
    fn judge(&mut self, residual: Residual, accuracy: Accuracy, bound: f64) {
        let residual = residual.larger();
        self.ended = if residual <= bound {
            Some(accuracy.verdict(bound, LEAST_BOUND))
        } else {
            match self.flag {
                Flag::OutOfRange => Some(StopReason::Diverged),
                // The sweeps' own units have room for what those of the caller do not.
                Flag::Met | Flag::Stalled if residual.is_infinite() => Some(StopReason::Diverged),
                Flag::Exhausted => Some(StopReason::MaxIterations),
                Flag::Stalled => Some(StopReason::Stagnated),
                Flag::Met if self.fell_short.is_some_and(|last| residual > WORTH_ANOTHER * last) => {
                    Some(StopReason::Stagnated)
                }
                Flag::Met => {
                    // The sweeps promise what 64 bits do not confirm: closer.
                    self.fell_short = Some(residual);
                    self.aim *= 0.5;
                    None
                }
                _ => None,
            }
        };
    }
}

/// Solves; the result is in `run.x`.
pub(super) fn drive(
    run: &mut Run<'_>,
    params: &LcpParams,
    observe: &mut Observer<'_>,
) -> Result<LcpReport<Vec<LcpOutcome>>> {
    let bound = params.stop.relative;
    let start =
        || Progress { flag: Flag::Running, sweeps: 0, aim: bound, fell_short: None, best: None, ended: None };
    let mut all: Vec<Progress> = run.problems().iter().map(|_| start()).collect();
    let mut best: Option<Vector> = None;
    let mut work = Work::default();
    let mut certifications = 0;
    loop {
        let Measured { residuals, accuracy, w } = run.certify()?;
        certifications += 1;
        // What meets the bound has to do so whatever rounding has done.
        let met = residuals.iter().any(|r| r.larger() <= bound);
        let surely = match accuracy {
            Accuracy::DoubleFloat if met => run.largest_residuals(&w)?,
            _ => residuals.clone(),
        };
        if certifications == 1 {
            // Where a start is that far off, or so large that nobody can tell, zero is the better one.
            let far: Vec<bool> = (residuals.iter().zip(&surely).zip(run.problems()))
                .map(|((r, surely), p)| {
                    let hidden = r.larger() <= bound
                        && surely.larger() > bound
                        && hides(surely.larger() - r.larger(), bound);
                    hidden || p.trivial || r.larger() > FAR
                })
                .collect();
            if far.contains(&true) {
                // The start stays a candidate: as good as it is whatever rounding has done.
                for ((problem, surely), _) in all.iter_mut().zip(&surely).zip(&far).filter(|(_, far)| **far) {
                    problem.best = Some(*surely);
                }
                best = Some(copy_of(&run.x)?);
                let zero = Vector::zeros(run.device(), run.x.len())?;
                run.x = run.choose(&run.x, &zero, &far)?;
                continue;
            }
        }
        // The sweeps' own units may have room for what the caller's have not, and then no look has told.
        let lost = residuals.iter().any(|r| r.larger().is_infinite());
        if lost && !work.history.is_empty() {
            work.history.push((run.done, f64::INFINITY));
        }
        if work.history.is_empty() {
            work.history.push((0, residuals.iter().map(|r| r.larger()).fold(0.0, f64::max)));
        }
        // The best iterate of every problem, and back to it where a problem has ended with a worse one.
        let mut worse = Vec::with_capacity(all.len());
        for ((problem, residual), surely) in all.iter_mut().zip(&residuals).zip(&surely) {
            if problem.ended.is_none() {
                let judged = if residual.larger() <= bound { surely } else { residual };
                problem.judge(*judged, accuracy, bound);
            }
            let improved = problem.best.is_none_or(|b| residual.larger() <= b.larger());
            if improved {
                problem.best = Some(*residual);
            }
            worse.push(!improved);
        }
        let kept = match &best {
            Some(best) if worse.contains(&true) => run.choose(&run.x, best, &worse)?,
            _ => copy_of(&run.x)?,
        };
        let back: Vec<bool> = all.iter().zip(&worse).map(|(p, w)| *w && p.ended.is_some()).collect();
        if back.contains(&true) {
            run.x = run.choose(&run.x, &kept, &back)?;
        }
        best = Some(kept);
        if all.iter().all(|p| p.ended.is_some()) {
            break;
        }
        let aims: Vec<Aim> = all
            .iter()
            .map(|p| Aim {
                residual: p.ended.is_none().then_some(p.aim),
                sweeps: params.max_sweeps.saturating_sub(p.sweeps),
            })
            .collect();
        run.done = all.iter().map(|p| p.sweeps).max().unwrap_or(0);
        run.restart(&aims)?;
        let most = aims.iter().filter(|a| a.residual.is_some()).map(|a| a.sweeps + 1).max().unwrap_or(1);
        // Each problem has an aim of its own.
        let course = Course { every: params.stop.every, begin: run.done, most, aim: None };
        let frozen = run_until_frozen(run, course, &mut work, observe)?;
        for (problem, report) in all.iter_mut().zip(Run::reports(&frozen)) {
            if problem.ended.is_none() {
                problem.flag = report.flag;
                problem.sweeps += report.iterations;
            }
        }
    }
    let (relaxations, spectrum) = (run.relaxations()?, run.eigenvalues()?);
    let outcome = all.iter().zip(relaxations).enumerate().map(|(i, (p, (omega, accelerated)))| LcpOutcome {
        reason: p.ended.unwrap_or(StopReason::MaxIterations),
        sweeps: p.sweeps,
        natural_residual: p.best.map_or(f64::INFINITY, |r| r.natural),
        scaled_residual: p.best.map_or(f64::INFINITY, |r| r.scaled),
        omega,
        lambda_max: spectrum.get(i).copied(),
        accelerated,
    });
    let one = work.cost().draws;
    Ok(LcpReport {
        outcome: outcome.collect(),
        certifications,
        async_checks: work.async_checks,
        readbacks_in_loop: work.readbacks,
        draws_in_vain: work.in_vain,
        draws_per_sweep: one,
        draws_per_test: work.first.draws.saturating_sub(one),
        history: work.history,
    })
}

fn copy_of(x: &Vector) -> Result<Vector> {
    let mut copy = Vector::uninit(x.device(), x.len())?;
    ops::copy(&mut copy, x)?;
    Ok(copy)
}
