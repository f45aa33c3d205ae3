//! The passes that the solvers are made of: inner products, scalar steps, vector updates.

use std::rc::Rc;

use super::dots::{Dots, Partial, Reducer};
use crate::data::{Scalar, Vector};
use crate::device::Device;
use crate::error::Result;
use crate::gl::{Source, UniformValue, glsl};
use crate::kernel::{Compiled, Field, KernelSpec, Operand, ParamType, Pass, PingPong, View};
use crate::ops::Windows;

/// The report texel of glsl/include/solver.glsl and of glsl/lcp/control.frag.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Report {
    pub flag: Flag,
    pub iterations: usize,
    /// Squared norm of the recurrence's residual.
    pub rr: f32,
    /// The quantity that broke down.
    pub value: f32,
}

/// Why the iterates are frozen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flag {
    Running,
    Met,
    Curvature,
    Indefinite,
    OutOfRange,
    Exhausted,
    Stalled,
    /// The shadow residual of BiCGStab is orthogonal to the residual, or to what the direction is mapped to.
    Shadow,
    ShadowDirection,
}

impl Report {
    pub fn from_texel(texel: &[f32]) -> Self {
        let at = |i: usize| texel.get(i).copied().unwrap_or(0.0);
        let flag = match at(0) {
            0.0 => Flag::Running,
            1.0 => Flag::Met,
            2.0 => Flag::Curvature,
            3.0 => Flag::Indefinite,
            5.0 => Flag::Exhausted,
            6.0 => Flag::Stalled,
            7.0 => Flag::Shadow,
            8.0 => Flag::ShadowDirection,
            _ => Flag::OutOfRange,
        };
        Report { flag, iterations: at(1) as usize, rr: at(2), value: at(3) }
    }
}

/// What the device compares against: the bound on r.r, the value of r.r past which a run has failed, and the most
/// iterations.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub threshold: f32,
    pub ceiling: f32,
    pub limit: usize,
}

impl Bounds {
    /// Past this r.r has left the range of floats, or is about to.
    pub const CEILING: f64 = 3e38;
}

const PAIR: fn(&'static str) -> Field = |name| Field { name, kind: <[i32; 2]>::KIND };
const FLOAT: fn(&'static str) -> Field = |name| Field { name, kind: f32::KIND };

/// Where a recurrence stands when beta is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// At the end of an iteration.
    Iteration = 0,
    /// Before the first one: beta is 0.
    Start = 1,
    /// The residual was replaced: no iteration, but beta as at the end of one.
    Resume = 2,
}

/// The scalars of a solve, on the device, with the passes that change them.
pub(super) struct Steps {
    device: Device,
    reducer: Reducer,
    /// (alpha, beta or 0, frozen, flag).
    pub coefficients: Scalar,
    /// (beta, r.z, frozen, 0), when beta is computed in a step of its own.
    pub direction: PingPong<Scalar>,
    report: PingPong<Scalar>,
    bounds: Bounds,
    /// What the threshold is relative to, where only the device knows.
    unit: Option<Scalar>,
    /// Of least squares: the bound on the squared norm of `b - A x` itself.
    least: f32,
}

impl Steps {
    pub fn new(device: &Device, windows: Windows) -> Result<Self> {
        let zero = || Scalar::zero(device);
        Ok(Steps {
            device: device.clone(),
            reducer: Reducer { device: device.clone(), windows },
            coefficients: zero()?,
            direction: PingPong::new(zero()?, zero()?),
            report: PingPong::new(zero()?, zero()?),
            bounds: Bounds { threshold: 0.0, ceiling: 0.0, limit: 0 },
            unit: None,
            least: 0.0,
        })
    }

    /// From now on the threshold is multiplied by this scalar.
    pub fn relative_to(&mut self, unit: Scalar) {
        self.unit = Some(unit);
    }

    /// Of least squares: iterates freeze at this squared norm of `b - A x`, too.
    pub fn stop_at(&mut self, least: f32) {
        self.least = least;
    }

    /// Running again, with this many iterations done.
    pub fn reset(&mut self, bounds: Bounds, iterations: usize) -> Result<()> {
        self.bounds = bounds;
        *self.report.front_mut() = Scalar::from_texel(&self.device, [0.0, iterations as f32, 0.0, 0.0])?;
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

    fn kernel(&self, key: &str, describe: impl FnOnce() -> KernelSpec) -> Result<Rc<Compiled>> {
        self.device.kernel(key, describe)
    }

    fn step(
        &mut self,
        source: Source<'static>,
        outputs: &[&str],
        sums: &Partial,
        run: impl FnOnce(&Self, &Compiled, View<'_>, Vec<UniformValue>) -> Result<()>,
    ) -> Result<()> {
        let inputs: &[&str] = match source.name {
            "solve/merged_step.frag" => &["dots", "last"],
            "solve/alpha_step.frag" => &["dots", "last", "direction"],
            _ => &["dots", "last", "direction", "coefficients"],
        };
        let relative = self.unit.is_some();
        let kernel = self.kernel(&format!("{} {relative}", source.name), || {
            let entry = Field { name: "entry", kind: i32::KIND };
            let mut fields =
                vec![PAIR("source"), FLOAT("threshold"), FLOAT("ceiling"), FLOAT("limit"), entry];
            fields.extend((source.name == "solve/alpha_step.frag").then(|| FLOAT("least")));
            let unit: &[&str] = if relative { &["unit"] } else { &[] };
            let spec = KernelSpec::fragment(source, &[inputs, unit].concat(), &fields, outputs);
            if relative { spec.with("#define RELATIVE") } else { spec }
        })?;
        let params = vec![
            sums.source(),
            UniformValue::Float(self.bounds.threshold),
            UniformValue::Float(self.bounds.ceiling),
            UniformValue::Float(self.bounds.limit as f32),
        ];
        run(self, &kernel, sums.view(), params)
    }

    /// The inputs of a scalar step.
    fn with_unit<'a>(&'a self, mut inputs: Vec<View<'a>>) -> Vec<View<'a>> {
        inputs.extend(self.unit.as_ref().map(Operand::view));
        inputs
    }

    /// alpha and beta from one reduction: the scalars of an iteration in the merged schedule.
    pub fn merged_step(&mut self, vectors: &[&Vector], diagonal: bool) -> Result<()> {
        let sums = self.reducer.sum(Dots::Merged { diagonal }, vectors, [1.0; 2])?;
        let outputs = ["next_coefficients", "report"];
        self.step(glsl!("solve/merged_step.frag"), &outputs, &sums, |this, kernel, dots, mut params| {
            params.push(UniformValue::Int(0));
            let targets = vec![this.coefficients.view(), this.report.back().view()];
            let inputs = this.with_unit(vec![dots, this.report.front().view()]);
            this.device.execute(&Pass::new(kernel, targets, inputs).params(params))
        })?;
        self.report.swap();
        Ok(())
    }

    /// alpha = r.z / d.q; for least squares the sums are q.q and r.r.
    pub fn alpha_step(&mut self, dots: Dots, vectors: &[&Vector]) -> Result<()> {
        let sums = self.reducer.sum(dots, vectors, [1.0; 2])?;
        self.step(glsl!("solve/alpha_step.frag"), &["out"], &sums, |this, kernel, dots, mut params| {
            params.push(UniformValue::Int(0));
            params.push(UniformValue::Float(this.least));
            let inputs =
                this.with_unit(vec![dots, this.report.front().view(), this.direction.front().view()]);
            this.device.execute(&Pass::new(kernel, vec![this.coefficients.view()], inputs).params(params))
        })
    }

    /// beta = r'.z' / r.z, and the tests.
    pub fn beta_step(&mut self, r: &Vector, z: &Vector, entry: Entry) -> Result<()> {
        let sums = self.reducer.sum(Dots::Residual, &[r, z], [1.0; 2])?;
        let outputs = ["next_direction", "report"];
        self.step(glsl!("solve/beta_step.frag"), &outputs, &sums, |this, kernel, dots, mut params| {
            params.push(UniformValue::Int(entry as i32));
            let targets = vec![this.direction.back().view(), this.report.back().view()];
            let (report, direction) = (this.report.front().view(), this.direction.front().view());
            let inputs = this.with_unit(vec![dots, report, direction, this.coefficients.view()]);
            this.device.execute(&Pass::new(kernel, targets, inputs).params(params))
        })?;
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

    /// The three vector updates of an iteration in one pass.
    pub fn merged_update(
        &self,
        x: &mut PingPong<Vector>,
        r: &mut PingPong<Vector>,
        d: &mut PingPong<Vector>,
        q: &Vector,
        m: Option<&Vector>,
        x_scale: f32,
    ) -> Result<()> {
        let diagonal = u8::from(m.is_some());
        let kernel =
            self.kernel(if m.is_some() { "merged update diagonal" } else { "merged update" }, || {
                let names = ["x", "r", "d", "q", "coefficients", "m"];
                let used = names.get(..5 + usize::from(diagonal)).unwrap_or(&names);
                let source = glsl!("solve/merged_update.frag");
                KernelSpec::fragment(source, used, &[FLOAT("x_scale")], &["next_x", "next_r", "next_d"])
                    .with(&format!("#define DIAGONAL {diagonal}"))
            })?;
        let mut inputs =
            vec![x.front().view(), r.front().view(), d.front().view(), q.view(), self.coefficients.view()];
        inputs.extend(m.map(Operand::view));
        let targets = vec![x.back().view(), r.back().view(), d.back().view()];
        self.device
            .execute(&Pass::new(&kernel, targets, inputs).params(vec![UniformValue::Float(x_scale)]))?;
        x.swap();
        r.swap();
        d.swap();
        Ok(())
    }

    /// `y' = y + (factor alpha) v`.
    pub fn advance(&self, y: &mut PingPong<Vector>, factor: f32, v: &Vector) -> Result<()> {
        let kernel = self.kernel("advance", || {
            KernelSpec::fragment(
                glsl!("solve/advance.frag"),
                &["y", "v", "coefficients"],
                &[FLOAT("factor")],
                &["out"],
            )
        })?;
        let inputs = vec![y.front().view(), v.view(), self.coefficients.view()];
        let params = vec![UniformValue::Float(factor)];
        self.device.execute(&Pass::new(&kernel, vec![y.back().view()], inputs).params(params))?;
        y.swap();
        Ok(())
    }

    /// `d' = z + beta d`.
    pub fn turn(&self, d: &mut PingPong<Vector>, z: &Vector) -> Result<()> {
        let kernel = self.kernel("direction", || {
            KernelSpec::fragment(glsl!("solve/direction.frag"), &["d", "z", "direction"], &[], &["out"])
        })?;
        let inputs = vec![d.front().view(), z.view(), self.direction.front().view()];
        self.device.execute(&Pass::new(&kernel, vec![d.back().view()], inputs))?;
        d.swap();
        Ok(())
    }
}
