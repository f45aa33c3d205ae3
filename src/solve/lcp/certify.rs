//! The loop around the sweeps: run until frozen, recompute the residuals in double-float, judge, go on or stop.

use super::report::{LcpOutcome, LcpParams, LcpReport};
use super::run::{Aim, Run};
use super::system::{Measured, Residual};
use crate::error::Result;
use crate::ops::Accuracy;
use crate::solve::drive::looks::{Course, Observer, Work, run_until_frozen};
use crate::solve::drive::report::StopReason;
use crate::solve::drive::scales::FAR;
use crate::solve::drive::state::Flag;
use crate::solve::drive::unknown::Iterand;
use crate::solve::drive::verdict::{
    AT_ONCE_OF_PAIRS, Kept, LEAST_BOUND, LEAST_BOUND_OF_PAIRS, WORTH_ANOTHER, hides, next_aim,
};

/// How far a problem has come.
struct Progress {
    flag: Flag,
    sweeps: usize,
    aim: f64,
    /// The recomputed residual when the sweeps had last met their aim.
    fell_short: Option<f64>,
    /// Of pairs: the recomputed residual, how many runs in a row have hardly changed it, and whether the last one was to meet the
    /// bound.
    residual: f64,
    in_vain: usize,
    last_aim: bool,
    best: Option<Residual>,
    ended: Option<StopReason>,
}

impl Progress {
    /// What a recomputed residual means, after a run that has ended with `self.flag`.
    fn judge(&mut self, residual: Residual, accuracy: Accuracy, bound: f64, double: bool) {
        let residual = residual.larger();
        let hardly = residual > WORTH_ANOTHER * self.residual;
        self.residual = residual;
        self.ended = if residual <= bound {
            let least = if double { LEAST_BOUND_OF_PAIRS } else { LEAST_BOUND };
            Some(accuracy.verdict(bound, least))
        } else {
            match self.flag {
                Flag::OutOfRange => Some(StopReason::Diverged),
                // The sweeps' own units have room for what those of the caller do not.
                Flag::Met | Flag::Stalled if residual.is_infinite() => Some(StopReason::Diverged),
                Flag::Exhausted => Some(StopReason::MaxIterations),
                // A correction of 32 bits that comes to a halt may be half of the way for pairs.
                Flag::Stalled if double && !hardly => None,
                Flag::Stalled => Some(StopReason::Stagnated),
                Flag::Met if double => {
                    self.in_vain = if hardly { self.in_vain + 1 } else { 0 };
                    self.aim *= if self.last_aim { 0.5 } else { 1.0 };
                    (self.in_vain > 1).then_some(StopReason::Stagnated)
                }
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
pub(super) async fn drive(
    run: &mut Run<'_>,
    params: &LcpParams,
    observe: &mut Observer<'_>,
) -> Result<LcpReport<Vec<LcpOutcome>>> {
    let bound = params.stop.relative;
    let double = run.is_double();
    let start = || Progress {
        flag: Flag::Running,
        sweeps: 0,
        aim: bound,
        fell_short: None,
        residual: f64::INFINITY,
        in_vain: 0,
        last_aim: true,
        best: None,
        ended: None,
    };
    let mut all: Vec<Progress> = run.problems().iter().map(|_| start()).collect();
    let mut best: Option<Iterand> = None;
    let mut work = Work::default();
    let mut certifications = 0;
    loop {
        let Measured { residuals, accuracy, w } = run.certify().await?;
        certifications += 1;
        // What meets the bound has to do so whatever rounding has done.
        let met = residuals.iter().any(|r| r.larger() <= bound);
        let surely = match accuracy {
            Accuracy::DoubleFloat if met => run.largest_residuals(&w).await?,
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
                best = Some(run.x.copied()?);
                let mut zero = run.x.copied()?;
                zero.set_zero()?;
                run.x = run.choose(&run.x, &zero, &far)?;
                continue;
            }
        }
        // The sweeps' own units may have room for what the caller's have not, and then no look has told.
        let lost = residuals.iter().any(|r| r.larger().is_infinite());
        if lost && !work.history.is_empty() {
            // Of the sweeps of the last look, which has told of another residual.
            match work.history.last_mut() {
                Some((sweeps, residual)) if *sweeps >= run.done => *residual = f64::INFINITY,
                _ => work.history.push((run.done, f64::INFINITY)),
            }
        }
        if work.history.is_empty() {
            work.history.push((0, residuals.iter().map(|r| r.larger()).fold(0.0, f64::max)));
        }
        // The best iterate of every problem, and back to it where a problem has ended with a worse one.
        let mut worse = Vec::with_capacity(all.len());
        for ((problem, residual), surely) in all.iter_mut().zip(&residuals).zip(&surely) {
            if problem.ended.is_none() {
                let judged = if residual.larger() <= bound { surely } else { residual };
                problem.judge(*judged, accuracy, bound, double);
            }
            let improved = problem.best.is_none_or(|b| residual.larger() <= b.larger());
            if improved {
                problem.best = Some(*residual);
            }
            worse.push(!improved);
        }
        let kept = match &best {
            Some(best) if worse.contains(&true) => run.choose(&run.x, best, &worse)?,
            _ => run.x.copied()?,
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
            .iter_mut()
            .map(|p| {
                let mut aim = p.aim;
                if double {
                    (aim, p.last_aim) = next_aim(p.residual, p.aim, AT_ONCE_OF_PAIRS);
                }
                Aim {
                    residual: p.ended.is_none().then_some(aim),
                    sweeps: params.max_sweeps.saturating_sub(p.sweeps),
                }
            })
            .collect();
        run.done = all.iter().map(|p| p.sweeps).max().unwrap_or(0);
        run.restart(&aims, w)?;
        let most = aims.iter().filter(|a| a.residual.is_some()).map(|a| a.sweeps + 1).max().unwrap_or(1);
        // Each problem has an aim of its own.
        let course = Course { every: params.stop.every, begin: run.done, most, aim: None };
        let frozen = run_until_frozen(run, course, &mut work, observe).await?;
        run.gather_up()?;
        for (problem, report) in all.iter_mut().zip(Run::reports(&frozen)) {
            if problem.ended.is_none() {
                problem.flag = report.flag;
                problem.sweeps += report.iterations;
            }
        }
    }
    let (relaxations, spectrum) = (run.relaxations().await?, run.eigenvalues().await?);
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
