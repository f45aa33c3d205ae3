//! The inner products of an iteration in one reduction: up to four sums, one in each channel.

use crate::data::{Scalar, Vector};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::gl::{Source, glsl};
use crate::kernel::{Draw, Operand};
use crate::ops::reduce::{Block, Partial, Stage, Windowed, block};
use crate::ops::{self, LinOp, ReducePlan, Windows, inlined};

/// Which inner products are summed: a block of `glsl/solve/dots.frag`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::solve) enum Dots {
    /// What makes d the best guess that it can be: -d.r and d.q
    #[cfg(feature = "sim")]
    Fit,
    /// r.z and r.r
    Residual,
    /// What a stationary method is judged by. The residual and the iterates are multiplied by powers of two first, so
    /// that squares keep within the range of floats.
    Progress { factors: [f32; 2] },
    /// What a solve asks of its vectors: see [`Facts`](super::facts::Facts).
    Facts,
    /// The same, and what bounds the error of v.
    Bounded,
    /// n.v and n.n of a pair v
    PairAlong,
}

impl Dots {
    /// Where the terms stand, and how stages after the first combine them.
    fn source(self) -> (Source<'static>, &'static str) {
        match self {
            Dots::PairAlong => (glsl!("double/dots.frag"), "OP_PAIRS"),
            _ => (glsl!("solve/dots.frag"), "OP_SUM"),
        }
    }

    fn block(self) -> Block {
        match self {
            Dots::PairAlong => ("#define ALONG 1\n#define X_PAIR 0\n#define Y_PAIR 1", &["x", "y", "y_low"]),
            #[cfg(feature = "sim")]
            Dots::Fit => ("#define FIT 1", &["d", "q", "r"]),
            Dots::Residual => ("#define RESIDUAL 1", &["r", "z"]),
            Dots::Progress { .. } => ("#define PROGRESS 1", &["r", "x", "kept"]),
            Dots::Facts => ("#define FACTS 1", &["x", "v"]),
            Dots::Bounded => ("#define FACTS 1\n#define BOUNDED 1", &["x", "v", "e"]),
        }
    }
}

/// Where the inner products of solvers are summed.
pub(in crate::solve) struct Reducer {
    pub device: Device,
    windows: Windows,
    /// By the power of two nearest to its inverse vectors are multiplied first, where only the device knows by which.
    scale: Option<Scalar>,
}

impl Reducer {
    pub fn new(device: &Device, windows: Windows) -> Self {
        Reducer { device: device.clone(), windows, scale: None }
    }

    /// What in units of that is the largest element, if sums are relative to one.
    pub fn scale(&self) -> Option<&Scalar> {
        self.scale.as_ref()
    }

    /// How windows are fetched.
    pub fn windows(&self) -> Windows {
        self.windows.fetched()
    }

    /// From now on in units in which the largest element of `b` is about 1; of conjugate gradients and their fit.
    /// *Cost*: a reduction.
    pub fn relative_to(&mut self, b: &Vector) -> Result<()> {
        self.scale = Some(ops::max_abs(b)?);
        Ok(())
    }

    /// The inner products but for the last window of each, which is left to the scalar step.
    pub fn sum(&self, dots: Dots, operands: &[&dyn Operand]) -> Result<Partial> {
        self.windowed(dots, operands, |stages| stages.to_a_window())
    }

    /// The inner products.
    pub fn totals(&self, dots: Dots, operands: &[&dyn Operand]) -> Result<Scalar> {
        self.windowed(dots, operands, |stages| {
            let total = Scalar::uninit(&self.device)?;
            let (partial, last) = stages.to_the_last()?;
            stages.draw(&last, partial.as_ref())?.target(total.view()).run()?;
            Ok(total)
        })
    }

    fn windowed<T>(
        &self,
        dots: Dots,
        operands: &[&dyn Operand],
        run: impl FnOnce(&Windowed<'_>) -> Result<T>,
    ) -> Result<T> {
        let Some(first) = operands.first() else {
            return Err(Error::Internal { place: "Reducer", detail: "inner products of no vector" });
        };
        let extent = first.view().extent;
        let plan = ReducePlan::on(&self.device, extent, self.windows.fetched(), operands.len());
        self.run(dots, &plan, run, &|draw| {
            let draw = self.in_units(block(draw, dots.block(), operands.iter().map(|v| v.view())));
            Ok(match dots {
                Dots::Progress { factors } => draw.param("factors", factors),
                _ => draw,
            })
        })
    }

    /// The same with `q = A d`, which is written nowhere: of `d`, `q` and `r`.
    #[cfg(feature = "sim")]
    pub fn sum_inlined(&self, dots: Dots, q: InlinedProduct<'_>, r: &Vector) -> Result<Partial> {
        let plan = ReducePlan::of_products(r.extent(), self.windows.fetched());
        let (lines, names) = dots.block();
        let own = names.get(2..).unwrap_or_default();
        self.run(dots, &plan, |stages| stages.to_a_window(), &|draw| {
            let others = own.len() + usize::from(self.scale.is_some());
            Ok(self.in_units(block(q.in_draw(draw, others)?, (lines, own), [r.view()])))
        })
    }

    pub fn in_units<'a>(&'a self, draw: Draw<'a>) -> Draw<'a> {
        match &self.scale {
            None => draw,
            Some(scale) => draw.define("SCALED", ()).input("scale", scale.view()),
        }
    }

    fn run<'a, T>(
        &'a self,
        dots: Dots,
        plan: &'a ReducePlan,
        run: impl FnOnce(&Windowed<'_>) -> Result<T>,
        terms: &'a dyn Fn(Draw<'a>) -> Result<Draw<'a>>,
    ) -> Result<T> {
        let device = &self.device;
        let (source, combine) = dots.source();
        let first = |_: &Stage| terms(Draw::new(device, source));
        run(&Windowed { device, op: "inner products", plan, combine, first: &first })
    }
}

/// `α A d` for passes that compute it where they read it.
#[derive(Clone, Copy)]
pub(in crate::solve) struct InlinedProduct<'a> {
    pub a: &'a dyn LinOp,
    pub alpha: f32,
    pub d: &'a Vector,
}

impl<'a> InlinedProduct<'a> {
    /// What it fetches for a texel, if passes that read so many other textures can.
    pub fn fetches(&self, others: usize) -> Result<Option<usize>> {
        let draw = Draw::new(self.a.device(), glsl!("solve/dots.frag"));
        Ok(inlined(self.a, draw, self.alpha, self.d, others)?.map(|(_, fetches)| fetches))
    }

    /// Makes it part of a draw that will name so many other inputs.
    pub fn in_draw(&self, draw: Draw<'a>, others: usize) -> Result<Draw<'a>> {
        let detail = "an operator whose product cannot be inlined";
        inlined(self.a, draw, self.alpha, self.d, others)?
            .map(|(draw, _)| draw)
            .ok_or(Error::Internal { place: "InlinedProduct", detail })
    }
}
