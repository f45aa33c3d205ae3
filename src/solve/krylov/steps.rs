//! The passes that the methods of conjugate gradients are made of: inner products, scalar steps, vector updates.

use crate::data::{Scalar, Vector};
use crate::device::Device;
use crate::error::Result;
use crate::gl::{Source, glsl};
use crate::kernel::{Draw, Operand, PingPong};
use crate::ops::reduce::Partial;
use crate::ops::{LinOp, Windows};
use crate::solve::drive::dots::{Dots, InlinedProduct, Reducer};
use crate::solve::drive::iterate::Iterate;
use crate::solve::drive::state::Bounds;

/// Where a recurrence stands when beta is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// At the end of an iteration, which it counts.
    Iteration = 0,
    /// Before the first one: beta is 0.
    Start = 1,
    /// The residual was replaced: no iteration, but beta as at the end of one.
    Resume = 2,
}

/// The scalars of a solve, on the device, with the passes that change them.
pub(super) struct Steps {
    reducer: Reducer,
    /// (alpha, beta or 0, frozen, flag), and those of the step before.
    coefficients: PingPong<Scalar>,
    /// (beta, r.z, frozen, 0), when beta is computed in a step of its own.
    pub direction: PingPong<Scalar>,
    report: PingPong<Scalar>,
    bounds: Bounds,
    /// What the threshold is relative to, where only the device knows.
    unit: Option<Scalar>,
    /// The next merged step finds that.
    finds_unit: bool,
    /// Of least squares: the bound on the squared norm of `b - A x` itself.
    least: f32,
}

/// `q = A d`: in a vector, or computed by the passes that need it.
#[derive(Clone, Copy)]
pub(super) enum Mapped<'a> {
    Written(&'a Vector),
    /// By the operator, times this.
    Inlined(&'a dyn LinOp, f32),
}

/// What the passes of an iteration of the merged schedules read: not the vectors that take turns, where that is `b` still.
#[derive(Clone, Copy)]
pub(super) struct AtHand<'a> {
    pub r: &'a Vector,
    pub d: &'a Vector,
    /// The direction before, along which `y` is yet to move.
    pub before: Option<&'a Vector>,
}

impl Steps {
    /// Textures that the merged update reads besides the direction and the operator.
    pub const UPDATED: usize = 6;

    pub fn new(device: &Device, windows: Windows) -> Result<Self> {
        let zero = || Scalar::zero(device);
        Ok(Steps {
            reducer: Reducer { device: device.clone(), windows },
            coefficients: PingPong::new(zero()?, zero()?),
            direction: PingPong::new(zero()?, zero()?),
            report: PingPong::new(zero()?, zero()?),
            bounds: Bounds { threshold: 0.0, ceiling: 0.0, limit: 0 },
            unit: None,
            finds_unit: false,
            least: 0.0,
        })
    }

    /// From now on the threshold is multiplied by this scalar.
    pub fn relative_to(&mut self, unit: Scalar) {
        self.unit = Some(unit);
    }

    /// From now on by the squared norm of the residual that the next merged step meets.
    pub fn relative_to_next(&mut self) -> Result<()> {
        (self.unit, self.finds_unit) = (Some(Scalar::uninit(&self.reducer.device)?), true);
        Ok(())
    }

    /// Of least squares: iterates freeze at this squared norm of `b - A x`, too.
    pub fn stop_at(&mut self, least: f32) {
        self.least = least;
    }

    /// Running again, with this many iterations done.
    pub fn reset(&mut self, bounds: Bounds, iterations: usize) -> Result<()> {
        self.bounds = bounds;
        *self.report.front_mut() =
            Scalar::from_texel(&self.reducer.device, [0.0, iterations as f32, 0.0, 0.0])?;
        Ok(())
    }

    /// The report after the last step.
    pub fn report(&self) -> &Scalar {
        self.report.front()
    }

    /// The report after the last step, for good.
    pub fn into_report(self) -> Scalar {
        self.report.into_inner().0
    }

    /// A scalar step: what all of them are told and read first. The report before it is `last`.
    fn step<'a>(&'a self, source: Source<'static>, sums: &'a Partial, entry: Entry) -> Draw<'a> {
        let Bounds { threshold, ceiling, limit } = self.bounds;
        let relative = self.unit.is_some() && !self.finds_unit;
        let draw = sums
            .left_to(Draw::new(&self.reducer.device, source))
            .input("last", self.report.front().view())
            .param("threshold", threshold)
            .param("ceiling", ceiling)
            .param("limit", limit as f32)
            .param("entry", entry as i32);
        if relative { draw.define("RELATIVE", ()) } else { draw }
    }

    /// The input that comes last, where there is one.
    fn with_unit<'a>(&'a self, draw: Draw<'a>) -> Draw<'a> {
        draw.input_if("unit", self.unit.as_ref().filter(|_| !self.finds_unit).map(Operand::view))
    }

    /// alpha and beta from one reduction: the scalars of an iteration in the merged schedule.
    pub fn merged_step(&mut self, at: AtHand<'_>, q: Mapped<'_>, m: Option<&Vector>) -> Result<()> {
        let AtHand { r, d, .. } = at;
        let dots = Dots::Merged { diagonal: m.is_some() };
        let sums = match q {
            Mapped::Written(q) => {
                let vectors = [d, q, r].into_iter().chain(m).map(|v| v as &dyn Operand);
                self.reducer.sum(dots, &vectors.collect::<Vec<_>>())?
            }
            Mapped::Inlined(a, alpha) => {
                let vectors = [r].into_iter().chain(m).map(|v| v as &dyn Operand);
                let product = InlinedProduct { a, alpha, d, d_low: None };
                self.reducer.sum_inlined(dots, product, &vectors.collect::<Vec<_>>())?
            }
        };
        let step = self.step(glsl!("solve/merged_step.frag"), &sums, Entry::Iteration);
        let step = self.with_unit(step).target(self.coefficients.back().view());
        let step = step.define("FINDS_UNIT", self.finds_unit).target(self.report.back().view());
        let unit = self.unit.as_ref().filter(|_| self.finds_unit);
        step.targets(unit.map(Operand::view)).run()?;
        self.finds_unit = false;
        self.coefficients.swap();
        self.report.swap();
        Ok(())
    }

    /// alpha = r.z / d.q, and r'.r' as it will be: the iteration that meets the bound is found out before the next
    /// preconditioning.
    pub fn predicting_step(&mut self, d: &Vector, q: &Vector, r: &Vector) -> Result<()> {
        let sums = self.reducer.sum(Dots::Predicting, &[d, q, r])?;
        let step = self
            .step(glsl!("solve/predicting_step.frag"), &sums, Entry::Iteration)
            .input("direction", self.direction.front().view());
        let step = self.with_unit(step).target(self.coefficients.front().view());
        step.target(self.report.back().view()).run()?;
        self.report.swap();
        Ok(())
    }

    /// alpha = r.z / q.q of least squares, from the sums q.q and r.r.
    pub fn alpha_step(&mut self, q: &Vector, r: &Vector) -> Result<()> {
        let sums = self.reducer.sum(Dots::LeastSquares, &[q, r])?;
        let step = self
            .step(glsl!("solve/alpha_step.frag"), &sums, Entry::Iteration)
            .input("direction", self.direction.front().view())
            .param("least", self.least);
        self.with_unit(step).target(self.coefficients.front().view()).run()
    }

    /// beta = r'.z' / r.z, and the tests.
    pub fn beta_step(&mut self, r: &Vector, z: &Vector, entry: Entry) -> Result<()> {
        let sums = self.reducer.sum(Dots::Residual, &[r, z])?;
        let step = self
            .step(glsl!("solve/beta_step.frag"), &sums, entry)
            .input("direction", self.direction.front().view())
            .input("coefficients", self.coefficients.front().view());
        self.with_unit(step).target(self.direction.back().view()).target(self.report.back().view()).run()?;
        self.report.swap();
        self.direction.swap();
        Ok(())
    }

    /// Begins with the preconditioned residual `z` for a direction, or goes on with the one at hand: `d = z + beta d`
    /// for a residual that has been replaced.
    pub fn begin(
        &mut self,
        d: &mut PingPong<Vector>,
        r: &Vector,
        z: Vector,
        keep_direction: bool,
    ) -> Result<()> {
        self.beta_step(r, &z, if keep_direction { Entry::Resume } else { Entry::Start })?;
        if keep_direction {
            return self.turn(d, &z);
        }
        *d.front_mut() = z;
        Ok(())
    }

    /// The vector updates of an iteration in one pass: that of `y` too, or not.
    pub fn merged_update(
        &self,
        Iterate { y, r, .. }: &Iterate<'_>,
        at: AtHand<'_>,
        next_d: &Vector,
        (q, m): (Mapped<'_>, Option<&Vector>),
        (adds, x_scale): (bool, f32),
    ) -> Result<()> {
        let draw = Draw::new(&self.reducer.device, glsl!("solve/merged_update.frag"));
        let draw = match q {
            Mapped::Written(q) => draw.input("d", at.d.view()).input("q", q.view()),
            Mapped::Inlined(a, alpha) => {
                InlinedProduct { a, alpha, d: at.d, d_low: None }.in_draw(draw, Self::UPDATED)?
            }
        };
        let draw = draw
            .define("DIAGONAL", m.is_some())
            .define("ADDS", adds)
            .define("BOTH", at.before.is_some())
            .input("r", at.r.view())
            .input("coefficients", self.coefficients.front().view())
            .input_if("m", m.map(Operand::view))
            .masked(matches!(q, Mapped::Inlined(..)))
            .targets([r.back().view(), next_d.view()]);
        if !adds {
            return draw.run();
        }
        let draw = draw.input("y", y.front().view()).param("x_scale", x_scale).target(y.back().view());
        self.with_before(draw, at.before).run()
    }

    /// The inputs of an update for the step before too.
    fn with_before<'a>(&'a self, draw: Draw<'a>, before: Option<&'a Vector>) -> Draw<'a> {
        draw.input_if("before", before.map(Operand::view))
            .input_if("then", before.map(|_| self.coefficients.back().view()))
    }

    /// `y' = y + (factor alpha) v`, and before that the same by the direction and the alpha of the step before, if that is
    /// given.
    pub fn advance(
        &self,
        y: &mut PingPong<Vector>,
        factor: f32,
        v: &Vector,
        before: Option<&Vector>,
    ) -> Result<()> {
        let draw = Draw::new(&self.reducer.device, glsl!("solve/advance.frag"))
            .define("BOTH", before.is_some())
            .input("y", y.front().view())
            .input("v", v.view())
            .input("coefficients", self.coefficients.front().view())
            .param("factor", factor);
        self.with_before(draw, before).target(y.back().view()).run()?;
        y.swap();
        Ok(())
    }

    /// `y' = y + (x_scale alpha) d` and `r' = r - alpha q`, in one pass where the device has two draw buffers.
    pub fn advance_both(
        &self,
        (y, x_scale, d): (&mut PingPong<Vector>, f32, &Vector),
        (r, q): (&mut PingPong<Vector>, &Vector),
    ) -> Result<()> {
        let device = &self.reducer.device;
        if device.gl().caps.borrow().max_draw_buffers < 2 {
            self.advance(y, x_scale, d, None)?;
            return self.advance(r, -1.0, q, None);
        }
        Draw::new(device, glsl!("solve/advance_both.frag"))
            .input("y", y.front().view())
            .input("d", d.view())
            .input("r", r.front().view())
            .input("q", q.view())
            .input("coefficients", self.coefficients.front().view())
            .param("x_scale", x_scale)
            .targets([y.back().view(), r.back().view()])
            .run()?;
        y.swap();
        r.swap();
        Ok(())
    }

    /// `d' = z + beta d`.
    pub fn turn(&self, d: &mut PingPong<Vector>, z: &Vector) -> Result<()> {
        Draw::new(&self.reducer.device, glsl!("solve/direction.frag"))
            .input("d", d.front().view())
            .input("z", z.view())
            .input("direction", self.direction.front().view())
            .target(d.back().view())
            .run()?;
        d.swap();
        Ok(())
    }
}
