//! How the fluid's kernels are described.

use crate::data::Vector;
use crate::device::Device;
use crate::error::{Result, check_finite};
use crate::gl::{Source, UniformValue};
use crate::kernel::{Draw, Operand};
use crate::shape::Grid;

/// Where a scalar lives, as an axis that is none.
pub(super) const CELLS: usize = 3;

/// A parameter of a kernel.
pub(super) type Parameter = (&'static str, UniformValue);

pub(super) fn number(name: &'static str, value: f64) -> Parameter {
    (name, UniformValue::Float(value as f32))
}

pub(super) fn triple(name: &'static str, value: [f64; 3]) -> Parameter {
    (name, UniformValue::Vec3(value.map(|v| v as f32)))
}

/// The grid and its sides, as every kernel of the fluid's sees them.
pub(super) struct Space {
    pub cells: Grid,
    pub ghosts: Vec<f32>,
}

impl Space {
    /// Axes along which there is more than one layer of cells, at least two.
    pub fn dimensions(&self) -> usize {
        if self.cells.nz > 1 { 3 } else { 2 }
    }

    /// A draw that is told about the grid and reads these inputs; `f`, `g` and the target live across an axis, or in
    /// [`CELLS`]. Refuses parameters that are no finite floats.
    pub fn draw<'a>(
        &self,
        device: &'a Device,
        source: Source<'static>,
        axis: usize,
        inputs: &[(&'static str, &'a Vector)],
        params: &[Parameter],
    ) -> Result<Draw<'a>> {
        for (name, value) in params {
            let what = || format!("{}: parameter `{name}`", source.name);
            match value {
                UniformValue::Float(v) => check_finite(&what(), [f64::from(*v)])?,
                UniformValue::Vec3(v) => check_finite(&what(), v.map(f64::from))?,
                _ => {}
            }
        }
        let has = |name: &str| inputs.iter().any(|(n, _)| *n == name);
        let draw = Draw::new(device, source)
            .define("DIMENSIONS", self.dimensions() as u32)
            .define("F_AXIS", axis as u32)
            .define("HAS_VELOCITY", has("u"))
            .define("HAS_F", has("f"))
            .define("HAS_G", has("g"))
            .param("cells", self.cells.sides().map(|n| i32::try_from(n).unwrap_or(i32::MAX)))
            .floats("ghosts", self.ghosts.clone())
            .masked(true);
        let draw = inputs.iter().fold(draw, |draw, (name, vector)| draw.input(*name, vector.view()));
        Ok(params.iter().fold(draw, |draw, (name, value)| draw.uniform(name, value.clone())))
    }
}
