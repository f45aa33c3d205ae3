//! The inner products of an iteration in one reduction: up to four sums, one in each channel.

use crate::data::Vector;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::gl::glsl;
use crate::kernel::{Draw, Operand, PooledTexture, View};
use crate::ops::{ReducePlan, Windows};
use crate::shape::Extent;

/// Which inner products are summed: a block of `glsl/solve/dots.frag`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dots {
    /// Conjugate gradients with one reduction.
    Merged {
        diagonal: bool,
    },
    /// d.q
    Product,
    /// q.q and r.r
    LeastSquares,
    /// r.z and r.r
    Residual,
    /// What a stationary method is judged by.
    Progress,
    /// Of the first half of an iteration of BiCGStab, and of the second.
    Alpha,
    Omega,
}

impl Dots {
    /// The text that selects the block, and the names of the vectors in it.
    fn block(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Dots::Merged { diagonal: true } => {
                ("#define MERGED 1\n#define DIAGONAL 1", &["d", "q", "r", "m"])
            }
            Dots::Merged { diagonal: false } => ("#define MERGED 1\n#define DIAGONAL 0", &["d", "q", "r"]),
            Dots::Product => ("#define PRODUCT 1", &["d", "q"]),
            Dots::LeastSquares => ("#define LEAST_SQUARES 1", &["q", "r"]),
            Dots::Residual => ("#define RESIDUAL 1", &["r", "z"]),
            Dots::Progress => ("#define PROGRESS 1", &["r", "x", "kept"]),
            Dots::Alpha => ("#define ALPHA 1", &["h", "v", "r"]),
            Dots::Omega => ("#define OMEGA 1", &["t", "s", "h"]),
        }
    }
}

/// Where the inner products of solvers are summed.
pub(super) struct Reducer {
    pub device: Device,
    pub windows: Windows,
}

/// Partial sums, at most a window of them: what is left to the scalar step.
pub(super) struct Partial {
    texture: PooledTexture,
    extent: Extent,
}

impl Partial {
    /// As the input `dots` of a scalar step.
    pub fn view(&self) -> View<'_> {
        View::part(self.texture.device(), self.texture.texture(), self.extent)
    }

    /// The uniform `source` of a scalar step.
    pub fn source(&self) -> [i32; 2] {
        pair(self.extent.width, self.extent.height)
    }
}

fn pair(width: u32, height: u32) -> [i32; 2] {
    [width as i32, height as i32]
}

impl Reducer {
    /// All but the last stage of the inner products. `factors` are powers of two, by which some vectors are multiplied
    /// first, so that squares keep within the range of floats.
    pub fn sum(&self, dots: Dots, vectors: &[&Vector], factors: [f32; 2]) -> Result<Partial> {
        let wrong = |detail| Error::Internal { place: "Reducer::sum", detail };
        let Some(first_vector) = vectors.first() else { return Err(wrong("inner products of no vector")) };
        let (define, names) = dots.block();
        let plan = ReducePlan::new(first_vector.extent(), self.windows, self.device.is_software());
        let mut partial: Option<Partial> = None;
        let count = plan.stages().len();
        // The scalar step sums the last window itself; only a vector of one window has no stage to leave to it.
        for stage in plan.stages().iter().take((count - 1).max(1)) {
            let target = self.device.scratch(stage.target, "inner products")?;
            let view = View::part(&self.device, target.texture(), stage.target);
            let draw = match &partial {
                None => {
                    let first = Draw::new(&self.device, glsl!("solve/dots.frag")).lines(define);
                    let inputs = vectors.iter().zip(names);
                    inputs.fold(first, |draw, (v, name)| draw.input(*name, v.view()))
                }
                Some(from) => Draw::new(&self.device, glsl!("reduce/window.frag"))
                    .lines("#define OP_SUM 1")
                    .input("x", from.view()),
            };
            let draw = stage.describe(draw);
            match &partial {
                None if dots == Dots::Progress => draw.param("factors", factors),
                None => draw,
                Some(_) => draw.param("tail", [0i32; 4]),
            }
            .target(view)
            .run()?;
            partial = Some(Partial { texture: target, extent: stage.target });
        }
        partial.ok_or(wrong("a reduction of no stage"))
    }
}
