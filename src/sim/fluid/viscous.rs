//! The operator of the implicit viscous step.

use super::kernels::{Parameter, Space, number};
use crate::data::Vector;
use crate::device::Device;
use crate::error::Result;
use crate::gl::glsl;
use crate::kernel::{Draw, Operand};
use crate::ops::{Checked, LinOp, Product};
use crate::shape::Shape;

/// What the viscous steps of all components have come to.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ViscousReport {
    /// The most iterations that a component took.
    pub iterations: usize,
    /// The largest relative residual of a component; nothing with a fixed number of iterations.
    pub residual: Option<f64>,
    /// Every component met the bound, as recomputed in 32 bits; nothing with a fixed number of iterations.
    pub met: Option<bool>,
}

/// `1 + strength L` on the faces across an axis, `L` the five- or seven-point Laplacian with the conditions of the
/// sides; the identity in rows that are held. Symmetric and positive definite for every strength.
pub(super) struct Viscous<'a> {
    pub space: &'a Space,
    pub axis: usize,
    pub free: &'a Vector,
    /// Viscosity times time step over the square of the cell size.
    pub strength: f64,
}

impl Viscous<'_> {
    /// The right-hand side: `f`, what neighbours that are held add, and what the walls do.
    pub fn right_side(&self, out: &mut Vector, f: &Vector) -> Result<()> {
        let draw = self.draw(f, &[])?;
        draw.define("RIGHT_SIDE", true).target(out.view()).run()
    }

    /// A draw that reads `f` and is told these parameters.
    fn draw<'a>(&'a self, f: &'a Vector, params: &[Parameter]) -> Result<Draw<'a>> {
        let params = [params, &[number("strength", self.strength)]].concat();
        let inputs = [("f", f), ("free", self.free)];
        self.space.draw(self.free.device(), glsl!("fluid/viscous.frag"), self.axis, &inputs, &params)
    }
}

impl LinOp for Viscous<'_> {
    fn device(&self) -> &Device {
        self.free.device()
    }

    fn shape(&self) -> Shape {
        Shape::new(self.free.len(), self.free.len())
    }

    fn apply(&self, y: &mut Vector, terms: Checked<Product<'_>>) -> Result<()> {
        let draw = self.draw(terms.x, &[number("alpha", f64::from(terms.factor()))])?;
        terms.ending().describe(draw.define("RIGHT_SIDE", false)).target(y.view()).run()
    }
}
