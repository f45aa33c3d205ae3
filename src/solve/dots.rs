//! The inner products of an iteration in one reduction: up to four sums, one in each channel.

use crate::data::Vector;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::gl::{UniformValue, glsl};
use crate::kernel::{Field, KernelSpec, Operand, ParamType, Pass, PooledTexture, View};
use crate::ops::{ReducePlan, Windows};
use crate::shape::Extent;

const PAIR: fn(&'static str) -> Field = |name| Field { name, kind: <[i32; 2]>::KIND };
const TAIL: Field = Field { name: "tail", kind: <[i32; 4]>::KIND };
const FACTORS: Field = Field { name: "factors", kind: <[f32; 2]>::KIND };

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
    pub fn source(&self) -> UniformValue {
        pair(self.extent.width, self.extent.height)
    }
}

fn pair(width: u32, height: u32) -> UniformValue {
    UniformValue::IVec2([width as i32, height as i32])
}

impl Reducer {
    /// All but the last stage of the inner products. `factors` are powers of two, by which some vectors are multiplied
    /// first, so that squares keep within the range of floats.
    pub fn sum(&self, dots: Dots, vectors: &[&Vector], factors: [f32; 2]) -> Result<Partial> {
        let wrong = |detail| Error::Internal { place: "Reducer::sum", detail };
        let Some(first_vector) = vectors.first() else { return Err(wrong("inner products of no vector")) };
        let (define, names) = dots.block();
        let scaled = dots == Dots::Progress;
        let first = |window: &str| {
            self.device.kernel(&format!("dots {dots:?} {window}"), || {
                let mut fields = vec![PAIR("window"), PAIR("source")];
                fields.extend(scaled.then_some(FACTORS));
                let spec = KernelSpec::fragment(glsl!("solve/dots.frag"), names, &fields, &["out"]);
                spec.with(define).with(window)
            })
        };
        let middle = |window: &str| {
            self.device.kernel(&format!("dots middle {window}"), || {
                let fields = [PAIR("window"), PAIR("source"), TAIL];
                let spec = KernelSpec::fragment(glsl!("reduce/window.frag"), &["x"], &fields, &["out"]);
                spec.with("#define OP_SUM 1").with(window)
            })
        };
        let plan = ReducePlan::new(first_vector.extent(), self.windows, self.device.is_software());
        let mut partial: Option<Partial> = None;
        let count = plan.stages().len();
        // The scalar step sums the last window itself; only a vector of one window has no stage to leave to it.
        for stage in plan.stages().iter().take((count - 1).max(1)) {
            let target = self.device.scratch(stage.target, "inner products")?;
            let view = View::part(&self.device, target.texture(), stage.target);
            let constant = stage.defines();
            let (window, source) = (stage.window, stage.source);
            let mut params = vec![pair(window.width, window.height), pair(source.width, source.height)];
            match &partial {
                None => {
                    params.extend(scaled.then_some(UniformValue::Vec2(factors)));
                    let inputs = vectors.iter().map(|v| v.view()).collect();
                    let kernel = first(&constant)?;
                    self.device.execute(&Pass::new(&kernel, vec![view], inputs).params(params))?;
                }
                Some(from) => {
                    params.push(UniformValue::IVec4([0; 4]));
                    let kernel = middle(&constant)?;
                    self.device.execute(&Pass::new(&kernel, vec![view], vec![from.view()]).params(params))?;
                }
            }
            partial = Some(Partial { texture: target, extent: stage.target });
        }
        partial.ok_or(wrong("a reduction of no stage"))
    }
}
