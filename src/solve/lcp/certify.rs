//! The executor of complementarity problems: each has a judge of its own, and what they order is done for all at once.

use super::report::{LcpOutcome, LcpParams, LcpReport};
use super::run::{Aim, Run};
use super::system::{Measured as Found, Residual};
use crate::data::Vector;
use crate::error::{Error, Result};
use crate::solve::drive::looks::{Course, Observer, Work, run_until_frozen};
use crate::solve::drive::scales::FAR;
use crate::solve::drive::slices::Stopwatch;
use crate::solve::drive::unknown::Iterand;
use crate::solve::drive::verdict::Kept;
use crate::solve::judge::{
    AT_ONCE_OF_PAIRS, After, Event, Judge, LEAST_BOUND, LEAST_BOUND_OF_PAIRS, Measured, Order, Policy, Ran,
    Sweeps, Terms, Verdict,
};

/// One of the problems.
struct Problem {
    judge: Judge,
    /// What is to be done for it next.
    order: Order,
    sweeps: usize,
    /// The residuals of its iterate, with all that rounding may have done to them where that was asked for, and of the copy.
    residual: Residual,
    surely: Residual,
    copy: Option<Residual>,
}

impl Problem {
    fn new(terms: Terms) -> Self {
        let mut judge = Judge::new(terms);
        let order = judge.next(Event::Done);
        let residual = Residual { natural: f64::INFINITY, scaled: f64::INFINITY };
        Problem { judge, order, sweeps: 0, residual, surely: residual, copy: None }
    }

    fn tell(&mut self, event: Event) {
        self.order = self.judge.next(event);
    }
}

/// All problems under way.
struct Solve<'r, 'a> {
    run: &'r mut Run<'a>,
    all: Vec<Problem>,
    /// The copies of all iterates.
    copy: Option<Iterand>,
    /// `A x + b` as it was recomputed last.
    w: Option<Vector>,
    work: Work,
    clock: Stopwatch,
    certifications: usize,
    /// The larger residual of the worst problem as it was recomputed last.
    worst: f64,
}

/// The end of a solve.
pub(super) struct Done {
    pub report: LcpReport<Vec<LcpOutcome>>,
    /// The larger residual of the worst problem as it was recomputed last, whatever is returned.
    pub last: f64,
}

/// Solves; the result is in `run.x`.
pub(super) async fn drive(run: &mut Run<'_>, params: &LcpParams, observe: &mut Observer<'_>) -> Result<Done> {
    let all =
        run.problems().iter().map(|p| Problem::new(terms(params, run.is_double(), p.trivial))).collect();
    let mut solve = Solve {
        run,
        all,
        copy: None,
        w: None,
        work: Work::default(),
        clock: Stopwatch::start(),
        certifications: 0,
        worst: 0.0,
    };
    while let Some(order) = solve.next() {
        solve.carry_out(order, params, observe).await?;
    }
    solve.report(observe).await
}

/// The larger residual of the worst problem.
fn worst(residuals: &[Residual]) -> f64 {
    residuals.iter().map(|r| r.larger()).fold(0.0, f64::max)
}

/// Sweeps of one problem, of which zero may be known to be a solution.
fn terms(params: &LcpParams, pairs: bool, trivial: bool) -> Terms {
    Terms {
        bound: params.stop.relative,
        least: if pairs { LEAST_BOUND_OF_PAIRS } else { LEAST_BOUND },
        max_iters: params.max_sweeps,
        from_zero: false,
        restarts: false,
        far: FAR,
        zero_solves: trivial,
        reports_rounding: false,
        components: None,
        policy: Policy::Sweeps(Sweeps {
            pairs,
            at_once: if pairs { AT_ONCE_OF_PAIRS } else { 0.0 },
            forgives: true,
        }),
    }
}

/// When orders for different problems are carried out: a run waits for everything else.
fn rank(order: &Order) -> usize {
    match order {
        Order::Recompute => 0,
        Order::Certify | Order::CertifyOther | Order::Components(_) => 1,
        Order::Keep => 2,
        Order::TakeBack | Order::Back | Order::Widen => 3,
        Order::FromZero => 4,
        Order::Run(_) => 5,
        Order::End(_) => 6,
    }
}

impl Solve<'_, '_> {
    /// The next order, of one problem or of several; none when all have ended.
    fn next(&self) -> Option<Order> {
        let first = self.all.iter().map(|p| p.order).min_by_key(rank)?;
        (!matches!(first, Order::End(_))).then_some(first)
    }

    async fn carry_out(
        &mut self,
        order: Order,
        params: &LcpParams,
        observe: &mut Observer<'_>,
    ) -> Result<()> {
        let asked: Vec<bool> = self.all.iter().map(|p| rank(&p.order) == rank(&order)).collect();
        match order {
            Order::Recompute => return self.recompute(&asked, observe).await,
            Order::Certify => return self.certify(&asked).await,
            Order::Run(_) => return self.sweep(params, observe).await,
            Order::Keep => {
                self.copy = Some(match &self.copy {
                    Some(copy) if asked.contains(&false) => self.run.choose(copy, &self.run.x, &asked)?,
                    _ => self.run.x.copied()?,
                });
                self.of_asked(&asked, |p| p.copy = Some(p.residual));
            }
            Order::TakeBack => {
                if let Some(copy) = &self.copy {
                    self.run.x = self.run.choose(&self.run.x, copy, &asked)?;
                }
                self.of_asked(&asked, |p| p.residual = p.copy.unwrap_or(p.residual));
            }
            Order::FromZero => {
                let mut zero = self.run.x.copied()?;
                zero.set_zero()?;
                self.run.x = self.run.choose(&self.run.x, &zero, &asked)?;
                // The start stays a candidate: as good as it is whatever rounding has done.
                self.of_asked(&asked, |p| p.copy = p.copy.map(|_| p.surely));
            }
            // Of recurrences, of methods with two residuals, and of linear systems.
            Order::Back | Order::Widen | Order::CertifyOther | Order::Components(_) | Order::End(_) => {}
        }
        self.of_asked(&asked, |p| p.tell(Event::Done));
        Ok(())
    }

    fn of_asked(&mut self, asked: &[bool], change: impl FnMut(&mut Problem)) {
        self.all.iter_mut().zip(asked).filter_map(|(p, asked)| asked.then_some(p)).for_each(change);
    }

    async fn recompute(&mut self, asked: &[bool], observe: &mut Observer<'_>) -> Result<()> {
        let Found { residuals, accuracy, w } = self.run.certify().await?;
        self.certifications += 1;
        self.w = Some(w);
        self.worst = worst(&residuals);
        self.work.certified(self.sweeps(), self.worst, observe);
        for ((problem, residual), asked) in self.all.iter_mut().zip(residuals).zip(asked) {
            if *asked {
                (problem.residual, problem.surely) = (residual, residual);
                problem.tell(Event::Residual(Measured { own: residual.larger(), other: None, accuracy }));
            }
        }
        Ok(())
    }

    async fn certify(&mut self, asked: &[bool]) -> Result<()> {
        let Some(w) = &self.w else { return Err(nothing_measured()) };
        let surely = self.run.largest_residuals(w).await?;
        for ((problem, surely), asked) in self.all.iter_mut().zip(surely).zip(asked) {
            if *asked {
                problem.surely = surely;
                problem.tell(Event::Rounding(surely.larger() - problem.residual.larger()));
            }
        }
        Ok(())
    }

    /// Most sweeps of a problem.
    fn sweeps(&self) -> usize {
        self.all.iter().map(|p| p.sweeps).max().unwrap_or(0)
    }

    async fn sweep(&mut self, params: &LcpParams, observe: &mut Observer<'_>) -> Result<()> {
        let aims: Vec<Aim> = self
            .all
            .iter()
            .map(|p| match p.order {
                Order::Run(run) => {
                    Aim { residual: Some(run.aim), sweeps: run.limit.saturating_sub(p.sweeps) }
                }
                _ => Aim { residual: None, sweeps: 0 },
            })
            .collect();
        let Some(w) = self.w.take() else { return Err(nothing_measured()) };
        self.run.done = self.sweeps();
        self.run.restart(&aims, w)?;
        let most = aims.iter().filter(|a| a.residual.is_some()).map(|a| a.sweeps + 1).max().unwrap_or(1);
        // Each problem has an aim of its own.
        let clock = (self.clock, params.stop.within);
        let course = Course { every: params.stop.every, begin: self.run.done, most, aim: None, clock };
        let last = run_until_frozen(self.run, course, &mut self.work, observe).await?;
        self.run.gather_up()?;
        for (problem, report) in self.all.iter_mut().zip(Run::reports(&last.texels)) {
            if let Order::Run(run) = problem.order {
                problem.sweeps += report.iterations;
                let (flag, iterations, recurrence) = (last.flag(report.flag), problem.sweeps, run.aim);
                problem.tell(Event::Ended(Ran { flag, iterations, recurrence, after: After::Judge }));
            }
        }
        Ok(())
    }

    async fn report(mut self, observe: &mut Observer<'_>) -> Result<Done> {
        let returned: Vec<Residual> = self.all.iter().map(|p| p.residual).collect();
        self.work.certified(self.sweeps(), worst(&returned), observe);
        let (relaxations, spectrum) = (self.run.relaxations().await?, self.run.eigenvalues().await?);
        let outcome = self.all.iter().zip(relaxations).enumerate().map(|(i, (p, (omega, accelerated)))| {
            let Order::End(Verdict { reason, .. }) = p.order else { return Err(nothing_measured()) };
            Ok(LcpOutcome {
                reason,
                sweeps: p.sweeps,
                natural_residual: p.residual.natural,
                scaled_residual: p.residual.scaled,
                omega,
                lambda_max: spectrum.get(i).copied(),
                accelerated,
            })
        });
        let one = self.work.cost().draws;
        let report = LcpReport {
            outcome: outcome.collect::<Result<_>>()?,
            certifications: self.certifications,
            async_checks: self.work.async_checks,
            readbacks_in_loop: self.work.readbacks,
            draws_in_vain: self.work.in_vain,
            draws_per_sweep: one,
            draws_per_test: self.work.first.draws.saturating_sub(one),
            history: self.work.history,
        };
        Ok(Done { report, last: self.worst })
    }
}

fn nothing_measured() -> Error {
    Error::Internal { place: "LcpSolver", detail: "a run without a residual" }
}
