//! The vectors and tables of a solve, and its sweeps.

use std::collections::BTreeSet;

use super::partition::Sums;
use super::report::Relaxation;
use super::system::{Elements, Measured, Problem, Residual, System, measured};
use super::table::{Table, texels};
use crate::data::{PendingRead, Vector};
use crate::device::Device;
use crate::error::Result;
use crate::gl::glsl;
use crate::kernel::{Draw, Operand, PingPong};
use crate::ops::{self, Combine};
use crate::solve::drive::looks::{Iterated, Seen};
use crate::solve::drive::report::{HistoryPoint, ResidualKind};
use crate::solve::drive::scales::times_power;
use crate::solve::drive::state::{Flag, Report};
use crate::solve::drive::unknown::Iterand;

/// Sweeps from one test to the next: a test costs about as many draws as a sweep.
pub(super) const TEST_EVERY: usize = 8;

/// Sweeps without progress after which a problem of so many unknowns is given up. What happens at one end is felt at the
/// other after as many sweeps as there are unknowns, at worst.
fn patience(rows: usize) -> f32 {
    rows.saturating_mul(2).max(1024) as f32
}

/// How a problem goes into a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Aim {
    /// The relative residual to reach; none for a problem that stays as it is.
    pub residual: Option<f64>,
    /// Most sweeps.
    pub sweeps: usize,
}

/// A solve under way.
pub(super) struct Run<'a> {
    system: System<'a>,
    /// The iterate, scaled.
    pub x: Iterand,
    /// Where sweeps stand while a run is under way: in place of that, or of pairs at a correction of it. Residuals of pairs are
    /// small, but not so small that these were better kept in units of their own.
    own: Vector,
    /// What sweeps for pairs have for a right-hand side: `A x + b`.
    r: Option<Vector>,
    before: Vector,
    spare: Vector,
    /// `A x + b` for `x` and for `before`.
    w: PingPong<Vector>,
    control: PingPong<Table>,
    report: PingPong<Table>,
    goals: Table,
    spectrum: Table,
    adapts: bool,
    sweep: usize,
    /// Where a problem may use up its sweeps, so that a test is due.
    limits: BTreeSet<usize>,
    /// Sweeps of the runs before this one.
    pub done: usize,
}

impl<'a> Run<'a> {
    /// From the scaled start `x`.
    pub fn new(system: System<'a>, x: Iterand, relaxation: Relaxation) -> Result<Self> {
        // See glsl/lcp/control.frag: omega, or 0 where it is to be found; 0 with momentum, -1 without.
        let (control, adapts) = match relaxation {
            Relaxation::Accelerated => ([0.0, 0.0, 0.0, 0.0], true),
            Relaxation::Estimated => ([0.0, -1.0, 0.0, 0.0], true),
            Relaxation::Fixed(omega) => ([omega, -1.0, 0.0, 0.0], false),
        };
        let device = system.partition.device();
        let problems = system.problems.len();
        let fresh = || Vector::uninit(device, x.high.len());
        let table = || Table::filled(device, problems, [0.0; 4]);
        Ok(Run {
            own: fresh()?,
            r: None,
            before: fresh()?,
            spare: fresh()?,
            w: PingPong::new(fresh()?, fresh()?),
            control: PingPong::new(Table::filled(device, problems, control)?, table()?),
            report: PingPong::new(table()?, table()?),
            goals: system.units()?,
            spectrum: table()?,
            adapts,
            sweep: 0,
            limits: BTreeSet::new(),
            done: 0,
            x,
            system,
        })
    }

    pub fn problems(&self) -> &[Problem] {
        &self.system.problems
    }

    /// Both residuals of every problem. *Cost*: waits.
    ///
    /// What is certified is what the caller gets: first `x` loses what it has no room for without the scale.
    pub async fn certify(&mut self) -> Result<Measured> {
        let unit = self.system.unit;
        if unit != 0 {
            for part in [Some(&mut self.x.high), self.x.low.as_mut()].into_iter().flatten() {
                let mut unscaled = Vector::uninit(part.device(), part.len())?;
                times_power(&mut unscaled, unit, part)?;
                times_power(part, -unit, &unscaled)?;
            }
        }
        self.system.residuals(self.elements(), &self.goals).await
    }

    /// The largest that both residuals can be, whatever rounding has done to the recomputed `w`. *Cost*: waits.
    pub async fn largest_residuals(&self, w: &Vector) -> Result<Vec<Residual>> {
        self.system.largest_residuals(self.elements(), w, &self.goals).await
    }

    fn elements(&self) -> Elements<'_> {
        (&self.x.high, self.x.low.as_ref())
    }

    /// Whether unknowns are pairs.
    pub fn is_double(&self) -> bool {
        self.x.low.is_some()
    }

    /// Sets the problems with an aim running from the present iterate, whose `A x + b` is `w`; their relaxation stays what it was.
    pub fn restart(&mut self, aims: &[Aim], w: Vector) -> Result<()> {
        let device = self.system.partition.device().clone();
        let goals: Vec<_> = aims
            .iter()
            .zip(self.problems())
            .map(|(aim, p)| {
                [(aim.residual.unwrap_or(0.0) * p.norm) as f32, p.unit, aim.sweeps as f32, patience(p.rows)]
            })
            .collect();
        let frozen = Flag::Met as u8 as f32;
        let reports: Vec<_> = aims
            .iter()
            .map(|aim| [if aim.residual.is_some() { 0.0 } else { frozen }, 0.0, 0.0, 0.0])
            .collect();
        self.goals = Table::floats(&device, &goals)?;
        *self.report.front_mut() = Table::floats(&device, &reports)?;
        self.sweep = 0;
        self.limits = aims.iter().filter(|a| a.residual.is_some()).map(|a| a.sweeps).collect();
        if self.is_double() {
            self.r = Some(w);
            self.own.set_zero()?;
            return self.before.set_zero();
        }
        std::mem::swap(&mut self.own, &mut self.x.high);
        ops::copy(&mut self.before, &self.own)
    }

    /// Hands what sweeps have come to on to the iterate.
    pub fn gather_up(&mut self) -> Result<()> {
        match &self.x.low {
            Some(low) => self.x = corrected([&self.x.high, low], &self.own)?,
            None => std::mem::swap(&mut self.own, &mut self.x.high),
        }
        Ok(())
    }

    /// The flags and the sweeps of every problem in report texels that have arrived.
    pub fn reports(values: &[f32]) -> Vec<Report> {
        texels(values).iter().map(|t| Report::from_texel(t)).collect()
    }

    /// Relaxation of every problem, and whether it has momentum. *Cost*: waits.
    pub async fn relaxations(&self) -> Result<Vec<(f64, bool)>> {
        Ok(self.control.front().read().await?.iter().map(|c| (f64::from(c[0]), c[1] >= 0.0)).collect())
    }

    /// The estimates of `λ_max(D⁻¹ A)`, if there are any. *Cost*: waits.
    pub async fn eigenvalues(&self) -> Result<Vec<f64>> {
        let Some(spectrum) = self.system.spectrum else { return Ok(Vec::new()) };
        Ok(spectrum.read().await?.iter().map(|s| f64::from(s[0])).collect())
    }

    /// The test at the present sweep.
    fn test(&mut self) -> Result<()> {
        let System { inverses, partition, spectrum, .. } = &self.system;
        let mut inputs = vec![
            self.own.view(),
            self.w.front().view(),
            inverses.view(),
            self.before.view(),
            self.w.back().view(),
            self.goals.view(),
        ];
        let sums = match &self.x.low {
            None => Sums::Sweep,
            Some(low) => {
                inputs.extend([self.x.high.view(), low.view()]);
                Sums::Correction
            }
        };
        let parts = partition.sums(sums, &inputs)?;
        Draw::new(partition.device(), glsl!("lcp/control.frag"))
            .input("part_a", parts.a.view())
            .input("part_b", parts.b.view())
            .input("control", self.control.front().view())
            .input("report", self.report.front().view())
            .input("goals", self.goals.view())
            .input("spectrum", spectrum.unwrap_or(&self.spectrum).view())
            .unsigned("ranges", partition.ranges())
            .param("sweep", self.sweep as f32)
            .param("adapts", i32::from(self.adapts))
            .targets([self.control.back().view(), self.report.back().view()])
            .run()?;
        self.control.swap();
        self.report.swap();
        Ok(())
    }

    /// The update of the iterate.
    fn update(&mut self) -> Result<()> {
        let System { inverses, partition, .. } = &self.system;
        let draw = Draw::new(partition.device(), glsl!("lcp/sweep.frag"));
        let draw = if self.is_double() { draw.define("PAIRS", 1u8) } else { draw };
        let draw = draw
            .input_if("base", self.x.low.as_ref().map(|_| self.x.high.view()))
            .input("x", self.own.view())
            .input("before", self.before.view())
            .input("w", self.w.front().view())
            .input("w_before", self.w.back().view())
            .input("inverses", inverses.view())
            .input("control", self.control.front().view())
            .input("report", self.report.front().view())
            .param("sweep", self.sweep as f32);
        partition.run(draw, &mut self.spare)?;
        // What was before is the next spare one.
        std::mem::swap(&mut self.before, &mut self.own);
        std::mem::swap(&mut self.own, &mut self.spare);
        Ok(())
    }

    /// `x` or `y`, problem by problem: `y` where `second`.
    pub fn choose(&self, x: &Iterand, y: &Iterand, second: &[bool]) -> Result<Iterand> {
        let high = self.choose_part(&x.high, &y.high, second)?;
        let low = match (&x.low, &y.low) {
            (Some(x), Some(y)) => Some(self.choose_part(x, y, second)?),
            _ => None,
        };
        Ok(Iterand { high, low })
    }

    fn choose_part(&self, x: &Vector, y: &Vector, second: &[bool]) -> Result<Vector> {
        let partition = self.system.partition;
        let choice: Vec<_> = second.iter().map(|y| [f32::from(u8::from(*y)), 0.0, 0.0, 0.0]).collect();
        let choice = Table::floats(partition.device(), &choice)?;
        let mut chosen = Vector::uninit(partition.device(), x.len())?;
        let draw = Draw::new(partition.device(), glsl!("lcp/choose.frag"))
            .input("x", x.view())
            .input("y", y.view())
            .input("choice", choice.view());
        partition.run(draw, &mut chosen)?;
        Ok(chosen)
    }
}

/// `max(x + y, 0)` as a pair.
pub(super) fn corrected([high, low]: [&Vector; 2], y: &Vector) -> Result<Iterand> {
    let fresh = || Vector::uninit(y.device(), y.len());
    let sum = [fresh()?, fresh()?];
    Draw::new(y.device(), glsl!("lcp/gather.frag"))
        .input("x", high.view())
        .input("x_low", low.view())
        .input("y", y.view())
        .targets(sum.each_ref().map(Operand::view))
        .run()?;
    let [high, low] = sum;
    Ok(Iterand { high, low: Some(low) })
}

impl Iterated for Run<'_> {
    fn device(&self) -> &Device {
        self.system.partition.device()
    }

    fn iterate(&mut self) -> Result<()> {
        let System { a, matrix_scale, b, .. } = &self.system;
        // w = A x + b, of pairs A y + (A x + b)
        let b = self.r.as_ref().unwrap_or(b);
        ops::product(self.w.split().1, Combine::AddTo(b), *matrix_scale, *a, &self.own)?;
        self.w.swap();
        if self.sweep.is_multiple_of(TEST_EVERY) || self.limits.contains(&self.sweep) {
            // the bound by |min(x, w)|, ω by s.As / As.D⁻¹As, momentum by w.s, where s = x - before
            self.test()?;
        }
        // x = max(y - ω D⁻¹ (A y + b), 0), where y = x + β s
        self.update()?;
        self.sweep += 1;
        Ok(())
    }

    fn look(&self) -> Result<PendingRead> {
        self.report.front().send()
    }

    fn seen(&self, values: &[f32]) -> Seen {
        let reports = Self::reports(values);
        let iterations = self.done + reports.iter().map(|r| r.iterations).max().unwrap_or(0);
        let relative = reports.iter().zip(self.problems()).map(|(r, p)| measured(r.rr, p.norm));
        let residual = relative.fold(0.0, f64::max);
        Seen {
            iterations,
            residual: HistoryPoint::new(iterations, residual, ResidualKind::Recurrence),
            frozen: reports.iter().all(|r| r.flag != Flag::Running),
        }
    }
}
