//! The recurrence in pairs of floats: for systems whose directions 32 bits do not hold.

use crate::data::{DoubleVector, Scalar, Vector, exponent};
use crate::error::{Error, Result};
use crate::gl::{Source, glsl};
use crate::kernel::{Draw, Operand, PingPong};
use crate::ops::reduce::Partial;
use crate::ops::{self, Windows};
use crate::solve::drive::dots::{Dots, Reducer};
use crate::solve::drive::iterate::{Iterate, Low};
use crate::solve::drive::scales::power;
use crate::solve::drive::state::Bounds;
use crate::solve::drive::verdict::Kept;
use crate::solve::krylov::steps::Entry;
use crate::solve::precondition::Preconditioner;

/// Direction and scalars of conjugate gradients in pairs, as in a listing: alpha and beta of their own reductions, since 32
/// bits of either cost half as many iterations again. The residual moves before beta is found, whose
/// reduction then reads nothing else, and `y` with it, while the direction is at hand.
pub(super) struct InPairs {
    /// The diagonal of the preconditioner, read at the same texels as vectors.
    m: Option<Vector>,
    d: PingPong<DoubleVector>,
    /// `A d`, of two numbers that may have to be settled.
    q: [Vector; 2],
    /// `y` is updated every second time, from two directions: the iteration before has left that to the next one.
    owes: bool,
    reducer: Reducer,
    /// (alpha, its low part, frozen, flag), and those of the iteration before.
    coefficients: PingPong<Scalar>,
    /// (r.Mr, beta) as pairs.
    state: PingPong<Scalar>,
    report: PingPong<Scalar>,
    bounds: Bounds,
    /// By what residuals were scaled when `d` and `r.Mr` were found.
    scale: f32,
    /// By what the matrix is: more than makes it about 1, see [`ROOM`].
    matrix_scale: f32,
}

/// By how much `A d` is larger than for a matrix of about 1, whatever the matrix is. That is stored at 2^-20 to 2^60, and `d`
/// is multiplied by what is missing: by 2^-40 at least, where 2^-60 would lose low parts below the range of floats, and by 2^40
/// at most, so that directions may grow.
const ROOM: f64 = (1u32 << 20) as f64;

impl InPairs {
    /// For an iterate that is [widened](Iterate::widen), and a preconditioner that is a diagonal or none: any other gives 32
    /// bits.
    pub fn new(m: &dyn Preconditioner, windows: Windows, at: &Iterate<'_>) -> Result<Self> {
        let (device, n) = (at.a.device(), at.b.len());
        let zeros = || DoubleVector::zeros(device, n);
        if let Some(diagonal) = m.diagonal() {
            ops::check_shape(
                "ConjugateGradient::solve",
                "Preconditioner::diagonal",
                diagonal.shape(),
                at.b.shape(),
            )?;
            ops::check_device(
                "ConjugateGradient::solve",
                "Preconditioner::diagonal",
                diagonal.device(),
                device,
            )?;
        }
        let pair = || Ok::<_, Error>(PingPong::new(Scalar::zero(device)?, Scalar::zero(device)?));
        Ok(InPairs {
            m: m.diagonal().map(Kept::copied).transpose()?,
            d: PingPong::new(zeros()?, zeros()?),
            q: [Vector::uninit(device, n)?, Vector::uninit(device, n)?],
            owes: false,
            reducer: Reducer::new(device, windows),
            coefficients: pair()?,
            state: pair()?,
            report: pair()?,
            bounds: Bounds { threshold: 0.0, ceiling: 0.0, limit: 0 },
            scale: at.scale,
            matrix_scale: (f64::from(at.matrix_scale) * ROOM).min(125f64.exp2()) as f32,
        })
    }

    pub fn report(&self) -> &Scalar {
        self.report.front()
    }

    /// With the residual just recomputed: afresh, or keeping the direction, which is scaled as residuals are now.
    pub fn restart(
        &mut self,
        at: &mut Iterate<'_>,
        bounds: Bounds,
        iterations: usize,
        keep: bool,
    ) -> Result<()> {
        self.bounds = bounds;
        let device = &self.reducer.device;
        *self.report.front_mut() = Scalar::from_texel(device, [0.0, iterations as f32, 0.0, 0.0])?;
        let factor = at.scale / self.scale;
        self.scale = at.scale;
        if !keep {
            self.d.front_mut().set_zero()?;
        } else if factor != 1.0 {
            let (now, next) = self.d.split();
            let (high, low) = next.parts_mut();
            ops::scaled(high, factor, now.high())?;
            ops::scaled(low, factor, now.low())?;
            self.d.swap();
        }
        // None is frozen.
        *self.coefficients.front_mut() = Scalar::zero(device)?;
        self.weigh(at, if keep { Entry::Resume } else { Entry::Start })?;
        // The direction kept has been turned already.
        if keep { Ok(()) } else { self.turn(at) }
    }

    pub fn iterate(&mut self, at: &mut Iterate<'_>) -> Result<()> {
        // q = A d
        let d = self.d.front();
        self.q = ops::pair_product(at.a, self.matrix_scale, d)?;
        // alpha = r.Mr / d.q
        let [q, q_low] = &self.q;
        let sums = self.reducer.sum(Dots::PairCurvature, &[d.high(), d.low(), q, q_low])?;
        let step = self.step(glsl!("solve/pair_alpha.frag"), &sums).param("limit", self.bounds.limit as f32);
        step.target(self.coefficients.back().view()).run()?;
        self.coefficients.swap();
        // r = r - alpha q, and every second time y = y + alpha d of both
        self.advance(at)?;
        // beta = r.Mr / (r.Mr of before)
        self.weigh(at, Entry::Iteration)?;
        // d = M r + beta d
        self.turn(at)
    }

    /// Moves `y` along the last direction, where that is left to the next iteration: there is none.
    pub fn settle(&mut self, at: &mut Iterate<'_>) -> Result<()> {
        if !std::mem::take(&mut self.owes) {
            return Ok(());
        }
        let x_scale = self.x_scale(at);
        let (y, y_low) = (&mut at.y, &mut low_of(&mut at.low)?.y);
        let draw = self.along(self.d.back()).define("RESIDUAL", false);
        self.adding(draw, (y, y_low, x_scale), None).run()?;
        y.swap();
        y_low.swap();
        Ok(())
    }

    /// By what an update of the unknown is multiplied to be one of `x`: two powers of two, whose product may be no float where
    /// [`ROOM`] makes up for that.
    fn x_scale(&self, at: &Iterate<'_>) -> [f32; 2] {
        let e = exponent(f64::from(self.matrix_scale)) - exponent(f64::from(at.scale));
        [e - e / 2, e / 2].map(power)
    }

    /// A scalar step from sums and what is known.
    fn step<'s>(&'s self, source: Source<'static>, sums: &'s Partial) -> Draw<'s> {
        sums.left_to(Draw::new(&self.reducer.device, source))
            .input("last", self.report.front().view())
            .input("state", self.state.front().view())
    }

    /// The residual, and every second time `y`.
    fn advance(&mut self, at: &mut Iterate<'_>) -> Result<()> {
        let x_scale = self.x_scale(at);
        let Low { y: y_low, r: r_low } = low_of(&mut at.low)?;
        let (y, r) = (&mut at.y, &mut at.r);
        let [q, q_low] = &self.q;
        let draw = self
            .along(self.d.front())
            .define("RESIDUAL", true)
            .input("q", q.view())
            .input("q_low", q_low.view())
            .input("r", r.front().view())
            .input("r_low", r_low.front().view())
            .targets([r.back().view(), r_low.back().view()]);
        // Where the next direction is to go lies the one before.
        if self.owes {
            self.adding(draw, (y, y_low, x_scale), Some(self.d.back())).run()?;
            y.swap();
            y_low.swap();
        } else {
            draw.define("ADDS", false).input("coefficients", self.coefficients.front().view()).run()?;
        }
        r.swap();
        r_low.swap();
        self.owes = !self.owes;
        Ok(())
    }

    /// A draw of what moves along this direction.
    fn along<'s>(&'s self, d: &'s DoubleVector) -> Draw<'s> {
        Draw::new(&self.reducer.device, glsl!("solve/pair_advance.frag"))
            .input("d", d.high().view())
            .input("d_low", d.low().view())
    }

    /// With `y`, and the direction of before where that is owed.
    fn adding<'s>(
        &'s self,
        draw: Draw<'s>,
        (y, y_low, x_scale): (&'s PingPong<Vector>, &'s PingPong<Vector>, [f32; 2]),
        before: Option<&'s DoubleVector>,
    ) -> Draw<'s> {
        draw.define("ADDS", true)
            .define("BOTH", before.is_some())
            .input("coefficients", self.coefficients.front().view())
            .input("y", y.front().view())
            .input("y_low", y_low.front().view())
            .input_if("before", before.map(|d| d.high().view()))
            .input_if("before_low", before.map(|d| d.low().view()))
            .input_if("then", before.map(|_| self.coefficients.back().view()))
            .param("x_scale", x_scale)
            .targets([y.back().view(), y_low.back().view()])
    }

    /// beta, and the tests.
    fn weigh(&mut self, at: &mut Iterate<'_>, entry: Entry) -> Result<()> {
        let (r, low) = (at.r.front(), low_of(&mut at.low)?.r.front());
        let m = self.m.as_ref().map(|m| m as &dyn Operand);
        let operands: Vec<&dyn Operand> = [r as &dyn Operand, low].into_iter().chain(m).collect();
        let sums = self.reducer.sum(Dots::PairResidual { diagonal: m.is_some() }, &operands)?;
        self.step(glsl!("solve/pair_beta.frag"), &sums)
            .input("coefficients", self.coefficients.front().view())
            .param("entry", entry as i32)
            .param("threshold", self.bounds.threshold)
            .param("ceiling", self.bounds.ceiling)
            .target(self.state.back().view())
            .target(self.report.back().view())
            .run()?;
        self.state.swap();
        self.report.swap();
        Ok(())
    }

    /// The next direction.
    fn turn(&mut self, at: &mut Iterate<'_>) -> Result<()> {
        let (r, low) = (at.r.front(), low_of(&mut at.low)?.r.front());
        let (d, next) = (self.d.front(), self.d.back());
        Draw::new(&self.reducer.device, glsl!("solve/pair_direction.frag"))
            .define("DIAGONAL", self.m.is_some())
            .input("r", r.view())
            .input("r_low", low.view())
            .input("d", d.high().view())
            .input("d_low", d.low().view())
            .input("coefficients", self.coefficients.front().view())
            .input("state", self.state.front().view())
            .input_if("m", self.m.as_ref().map(Operand::view))
            .targets([next.high().view(), next.low().view()])
            .run()?;
        self.d.swap();
        Ok(())
    }
}

fn low_of(low: &mut Option<Low>) -> Result<&mut Low> {
    low.as_mut().ok_or(Error::Internal { place: "InPairs", detail: "an iterate without low parts" })
}
