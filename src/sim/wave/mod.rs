//! The wave equation in two dimensions, `y_tt + d y_t = c² Δy + f` \[Krueger05\] 44.4: membranes and shallow water.
//!
//! The state is the displacement `y` and its increment `v = y_n - y_(n-1)`. A step finds the increment's own change
//! `δ = y_(n+1) - 2 y_n + y_(n-1)`, which is small, and adds twice: `v ← v + δ`, `y ← y + v`. Against the two levels
//! that the paper keeps, rounding errors of large numbers do not pile up; and the start `δ = 0` of the solver is the
//! extrapolation `2 y_n - y_(n-1)`.
//!
//! With `A = -h² Δ`, `α = (c dt / h)²` and losses `s` (damping, and absorbing sides) a step solves
//!
//! `(1 + s + θ α A) δ = -α A y - 2 s v + dt² f`
//!
//! where `θ` is 0 for [`Scheme::Explicit`] and 1/4 for [`Scheme::CrankNicholson`]. For
//! [`Scheme::CurrentAndNext`] it is 1/2, with `y + v / 2` in place of `y` on the right.

mod energy;
mod operator;
mod params;
mod report;
mod sources;

pub use params::{Boundaries, Boundary, Scheme, WaveParams};
pub use report::StepReport;
pub use sources::Drop;

use crate::data::{Scalar, Stencil, Vector};
use crate::device::Device;
use crate::error::{Error, Result, check_finite};
use crate::gl::glsl;
use crate::kernel::{Draw, Kernel, NoParams, Operand, PingPong, Turns};
use crate::ops::{self, Combine, inlined};
use crate::shape::Shape;
use crate::solve::{CgParams, ConjugateGradient, LinOp, Stop};

/// Waves on a grid.
///
/// *Cost* of a [`step`](Self::step): 1 draw for [`Scheme::Explicit`], which writes displacement and increment. For the
/// implicit schemes 2, the right-hand side and the step, between them a reduction that finds the largest element of that
/// side, and conjugate gradients, [`iterations`](Self::iterations) of them, whatever the right-hand side is: once the
/// residual is met, the iterates are frozen. That is, as a rule, `2 + max(s, 2)` draws for each iteration, where a reduction has
/// [`s` stages](crate::ops::ReducePlan::stages); on a GPU, which computes products within reductions, often one fewer
/// (without three draw buffers more, and before them). [`Scheme::CurrentAndNext`] takes a draw more; losses and a force are
/// part of the right-hand side's. So the number of draws
/// depends on the parameters, the device and its profile alone, and nothing is read back.
///
/// *Range*: waves of any height move alike, as long as what counts of the step's right-hand side, which is about `α` times
/// the displacement's second differences, lies within the normal range of floats; below it steps are less accurate than the
/// tolerance, or nothing moves, and [`report`](Self::report) says so.
///
/// ```
/// use texla::sim::wave::{Drop, Wave, WaveParams};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let params = WaveParams::new(48, 32).with_dt(2.0); // two cells a step
/// let mut wave = Wave::new(dev, params)?;
/// wave.drop(Drop { centre: [24.0, 16.0], radius: 6.0, height: 1.0, balanced: true })?;
/// let before = wave.energy()?.read()?;
/// for _ in 0..100 {
///     wave.step()?;
/// }
/// let after = wave.energy()?.read()?;
/// assert!((after / before - 1.0).abs() < 1e-3);
/// assert!(wave.report()?.unwrap().residual <= 2e-5);
/// # Ok::<(), texla::Error>(())
/// ```
pub struct Wave {
    device: Device,
    params: WaveParams,
    iterations: usize,
    /// `A`.
    stiffness: Box<dyn LinOp>,
    /// Solves with `1 + s + θ α A`, of an implicit scheme.
    implicit: Option<ConjugateGradient<Stencil>>,
    losses: Option<Losses>,
    y: PingPong<Vector>,
    v: PingPong<Vector>,
    /// The right-hand side and the solution of the last step.
    g: Vector,
    delta: Vector,
    /// How the solve of the last step went.
    run: Option<Scalar>,
    advance: Kernel<NoParams>,
    bump: Kernel<sources::Bump>,
    /// Steps of an explicit scheme without a force.
    turns: Turns,
    steps: u64,
}

/// The losses `s` as a step needs them.
struct Losses {
    /// `-2 s`.
    twice: Vector,
    /// `1 / (1 + s)`.
    inverse: Vector,
}

impl Wave {
    /// A surface at rest.
    ///
    /// *Cost*: up to 2 uploads. *Errors*: [`Error::Parameter`] for what makes no sense, and for
    /// [`Scheme::Explicit`] past its limit, which the message states; [`Error::TooLarge`],
    /// [`Error::OutOfMemory`].
    pub fn new(device: &Device, params: WaveParams) -> Result<Self> {
        params.check()?;
        let _scope = device.scope()?;
        let n = params.grid.len();
        let zeros = || Vector::zeros(device, n);
        let losses = match params.losses() {
            None => None,
            Some(s) => {
                let twice: Vec<f64> = s.iter().map(|s| -2.0 * s).collect();
                let inverse: Vec<f64> = s.iter().map(|s| 1.0 / (1.0 + s)).collect();
                let twice = Vector::from_f64(device, &twice)?;
                Some(Losses { twice, inverse: Vector::from_f64(device, &inverse)? })
            }
        };
        let cg = CgParams::default().with_stop(Stop::relative(params.tolerance));
        let implicit = match params.scheme.is_implicit() {
            true => Some(ConjugateGradient::new(operator::matrix(device, &params)?, cg)?),
            false => None,
        };
        let body = glsl!("wave/advance.frag").text;
        Ok(Wave {
            iterations: params.iterations(),
            stiffness: Box::new(operator::stiffness(device, &params)?),
            implicit,
            losses,
            y: PingPong::new(zeros()?, zeros()?),
            v: PingPong::new(zeros()?, zeros()?),
            g: zeros()?,
            delta: zeros()?,
            run: None,
            advance: Kernel::with_outputs(device, "wave/advance.frag", ["y", "v", "d"], 2, body)?,
            bump: sources::kernel(device)?,
            turns: Turns::default(),
            steps: 0,
            device: device.clone(),
            params,
        })
    }

    /// Starts anew, from these values and rates of change; of second order for all but [`Scheme::CurrentAndNext`].
    ///
    /// *Shapes*: as many elements as cells. *Cost*: that of a step, and one draw; 4 draws for [`Scheme::Explicit`], 2 for
    /// [`Scheme::CurrentAndNext`]. *Errors*: [`Error::ShapeMismatch`],
    /// [`Error::WrongDevice`].
    pub fn start(&mut self, displacement: &Vector, rate: &Vector) -> Result<()> {
        let shape = Shape::column(self.params.grid.len());
        ops::check_shape("Wave::start", "displacement", displacement.shape(), shape)?;
        ops::check_shape("Wave::start", "rate", rate.shape(), shape)?;
        ops::check_device("Wave::start", "displacement", displacement.device(), &self.device)?;
        ops::check_device("Wave::start", "rate", rate.device(), &self.device)?;
        let _scope = self.device.clone().scope()?;
        ops::copy(self.y.front_mut(), displacement)?;
        let dt = self.params.dt as f32;
        (self.steps, self.run) = (0, None);
        if self.params.scheme == Scheme::CurrentAndNext {
            return ops::scaled(self.v.front_mut(), dt, rate);
        }
        // Backwards and forwards the same but for the rate: 2 v = 2 dt rate - δ.
        let minus_alpha = self.minus_alpha();
        ops::product(&mut self.g, Combine::Replace, minus_alpha, self.stiffness.as_ref(), self.y.front())?;
        self.change()?;
        ops::axpby(self.v.front_mut(), dt, rate, -0.5, &self.delta)?;
        self.run = None;
        Ok(())
    }

    /// Moves on by `dt`. *Cost*: see [`Wave`]. *Errors*: those of the device.
    pub fn step(&mut self) -> Result<()> {
        self.step_with(None)
    }

    /// Moves on by `dt` under the force `factor force`, in units of `y_tt`: a continuous source is a shape times
    /// something like `(ω wave.time()).sin()`.
    ///
    /// *Cost*: as [`step`](Self::step), and a fetch more. *Errors*: [`Error::ShapeMismatch`]; [`Error::NonFinite`] for the
    /// factor.
    pub fn step_forced(&mut self, force: &Vector, factor: f64) -> Result<()> {
        let op = "Wave::step_forced";
        ops::check_device(op, "force", force.device(), &self.device)?;
        ops::check_shape(op, "force", force.shape(), Shape::column(self.params.grid.len()))?;
        let scale = factor * self.params.dt.powi(2);
        check_finite("Wave::step_forced: factor, factor dt²", [factor, scale])?;
        self.step_with(Some((force, scale as f32)))
    }

    fn step_with(&mut self, force: Option<(&Vector, f32)>) -> Result<()> {
        let _scope = self.device.clone().scope()?;
        if self.params.scheme == Scheme::CurrentAndNext {
            // The solution is not needed any more.
            ops::axpy(&mut self.delta, 0.5, self.v.front(), self.y.front())?;
            self.right(&self.delta, force)?.target(self.g.view()).run()?;
        } else if self.implicit.is_some() {
            self.right(self.y.front(), force)?.target(self.g.view()).run()?;
        } else {
            let operands = [self.y.front(), self.v.front(), self.y.back(), self.v.back()].map(Operand::view);
            let [_, _, targets @ ..] = operands;
            let draw = || self.right(self.y.front(), force)?.targets(targets).run();
            match force {
                Some(_) => draw()?,
                None => self.turns.draw(&self.device, self.steps as usize, &operands, draw)?,
            }
        }
        if self.implicit.is_some() {
            self.change()?;
            let (y, next_y) = self.y.split();
            let (v, next_v) = self.v.split();
            self.advance.with([y, v, &self.delta], &NoParams).run_many([next_y, next_v])?;
        }
        self.y.swap();
        self.v.swap();
        self.steps += 1;
        Ok(())
    }

    /// A pass that computes the right-hand side, for these displacements; of an explicit scheme, one that makes the step.
    fn right<'a>(&'a self, x: &'a Vector, force: Option<(&'a Vector, f32)>) -> Result<Draw<'a>> {
        /// What it reads besides the displacements, at most.
        const OTHERS: usize = 4;
        let draw = Draw::new(&self.device, glsl!("wave/right.frag"));
        let Some((draw, _)) = inlined(self.stiffness.as_ref(), draw, self.minus_alpha(), x, OTHERS)? else {
            let detail = "a stencil whose product cannot be inlined";
            return Err(Error::Internal { place: "Wave", detail });
        };
        let explicit = self.implicit.is_none();
        let losses = self.losses.as_ref();
        Ok(draw
            .define("EXPLICIT", explicit)
            .define("LOSSES", losses.is_some())
            .define("FORCED", force.is_some())
            .input_if("v", (explicit || losses.is_some()).then(|| self.v.front().view()))
            .input_if("twice", losses.map(|losses| losses.twice.view()))
            .input_if("divided", losses.filter(|_| explicit).map(|losses| losses.inverse.view()))
            .input_if("force", force.map(|(force, _)| force.view()))
            .param("scale", force.map_or(0.0, |(_, scale)| scale))
            .masked(true))
    }

    /// `(1 + s + θ α A) δ = g`.
    fn change(&mut self) -> Result<()> {
        match (&self.implicit, &self.losses) {
            (Some(cg), _) => {
                let (delta, run) = cg.run_from_zero(&self.g, self.iterations)?;
                (self.delta, self.run) = (delta, Some(run));
                Ok(())
            }
            (None, Some(losses)) => ops::mul(&mut self.delta, &self.g, &losses.inverse),
            (None, None) => ops::copy(&mut self.delta, &self.g),
        }
    }

    fn minus_alpha(&self) -> f32 {
        -self.params.alpha() as f32
    }

    /// What the simulation was made with.
    pub fn params(&self) -> &WaveParams {
        &self.params
    }

    /// Iterations of conjugate gradients in a step; 0 for an explicit scheme.
    pub fn iterations(&self) -> usize {
        self.iterations
    }

    /// The displacement `y`: element `x + nx y` is the value at the centre of that cell. Its
    /// [texture](Vector::texture) is another one after every step.
    pub fn displacement(&self) -> &Vector {
        self.y.front()
    }

    /// The last increment `y_n - y_(n-1)`.
    pub fn increment(&self) -> &Vector {
        self.v.front()
    }

    /// Steps since the start.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Time since the start.
    pub fn time(&self) -> f64 {
        self.steps as f64 * self.params.dt
    }

    /// The device that the waves live on.
    pub fn device(&self) -> &Device {
        &self.device
    }
}

impl std::fmt::Debug for Wave {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Wave({:?}, step {})", self.params, self.steps)
    }
}
