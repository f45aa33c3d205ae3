//! The inner products of an iteration in one reduction: up to four sums, one in each channel.

use crate::data::Vector;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::gl::glsl;
use crate::kernel::{Draw, Operand};
use crate::ops::reduce::{Block, Partial, Stage, Windowed, block};
use crate::ops::{ReducePlan, Windows};

/// Which inner products are summed: a block of `glsl/solve/dots.frag`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::solve) enum Dots {
    /// Conjugate gradients with one reduction.
    Merged {
        diagonal: bool,
    },
    /// d.q, r.q, q.q and r.r
    Predicting,
    /// q.q and r.r
    LeastSquares,
    /// r.z and r.r
    Residual,
    /// What a stationary method is judged by. The residual and the iterates are multiplied by powers of two first, so
    /// that squares keep within the range of floats.
    Progress {
        factors: [f32; 2],
    },
    /// Of the first half of an iteration of BiCGStab, and of the second.
    Alpha,
    Omega,
}

impl Dots {
    fn block(self) -> Block {
        match self {
            Dots::Merged { diagonal: true } => {
                ("#define MERGED 1\n#define DIAGONAL 1", &["d", "q", "r", "m"])
            }
            Dots::Merged { diagonal: false } => ("#define MERGED 1\n#define DIAGONAL 0", &["d", "q", "r"]),
            Dots::Predicting => ("#define PREDICTING 1", &["d", "q", "r"]),
            Dots::LeastSquares => ("#define LEAST_SQUARES 1", &["q", "r"]),
            Dots::Residual => ("#define RESIDUAL 1", &["r", "z"]),
            Dots::Progress { .. } => ("#define PROGRESS 1", &["r", "x", "kept"]),
            Dots::Alpha => ("#define ALPHA 1", &["h", "v", "r"]),
            Dots::Omega => ("#define OMEGA 1", &["t", "s", "h"]),
        }
    }
}

/// Where the inner products of solvers are summed.
pub(in crate::solve) struct Reducer {
    pub device: Device,
    pub windows: Windows,
}

impl Reducer {
    /// The inner products but for the last window of each, which is left to the scalar step.
    pub fn sum(&self, dots: Dots, vectors: &[&Vector]) -> Result<Partial> {
        let Some(vector) = vectors.first() else {
            return Err(Error::Internal { place: "Reducer::sum", detail: "inner products of no vector" });
        };
        let device = &self.device;
        let plan = ReducePlan::new(vector.extent(), self.windows.fetched(), device.is_software());
        let first = |_: &Stage| {
            let draw = Draw::new(device, glsl!("solve/dots.frag"));
            let draw = block(draw, dots.block(), vectors.iter().map(|v| v.view()));
            match dots {
                Dots::Progress { factors } => draw.param("factors", factors),
                _ => draw,
            }
        };
        Windowed { device, op: "inner products", plan: &plan, combine: "OP_SUM", first: &first }.to_a_window()
    }
}
