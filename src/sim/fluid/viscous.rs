//! The operator of the implicit viscous step.

use super::kernels::{Draw, Space, number};
use crate::data::Vector;
use crate::device::Device;
use crate::error::Result;
use crate::gl::glsl;
use crate::kernel::Operand;
use crate::ops::{Combine, check_shape};
use crate::shape::Shape;
use crate::solve::LinOp;

/// What the viscous steps of all components have come to.
#[derive(Clone, Copy, Debug, PartialEq)]
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
        let inputs = vec![("f", f), ("free", self.free)];
        self.draw(out, inputs, vec![], "#define RIGHT_SIDE 1\n")
    }

    fn draw(
        &self,
        out: &mut Vector,
        inputs: Vec<(&'static str, &Vector)>,
        mut params: Vec<super::kernels::Parameter>,
        defines: &str,
    ) -> Result<()> {
        params.push(number("strength", self.strength));
        let (source, axis, defines) = (glsl!("fluid/viscous.frag"), self.axis, defines.to_owned());
        self.space.draw(self.free.device(), vec![out.view()], &Draw { source, axis, inputs, params, defines })
    }
}

impl LinOp for Viscous<'_> {
    fn device(&self) -> &Device {
        self.free.device()
    }

    fn shape(&self) -> Shape {
        Shape::new(self.free.len(), self.free.len())
    }

    fn apply(&self, y: &mut Vector, combine: Combine<'_>, alpha: f32, x: &Vector) -> Result<()> {
        check_shape("viscous step", "x", x.shape(), self.free.shape())?;
        check_shape("viscous step", "y", y.shape(), self.free.shape())?;
        if matches!(combine, Combine::Accumulate) {
            let mut sum = Vector::uninit(y.device(), y.len())?;
            self.apply(&mut sum, Combine::AddTo(y), alpha, x)?;
            std::mem::swap(y, &mut sum);
            return Ok(());
        }
        let mut inputs = vec![("f", x), ("free", self.free)];
        inputs.extend(combine.operand().map(|z| ("z", z)));
        let defines = format!("#define RIGHT_SIDE 0\n{}\n", combine.define());
        self.draw(y, inputs, vec![number("alpha", f64::from(alpha))], &defines)
    }
}
