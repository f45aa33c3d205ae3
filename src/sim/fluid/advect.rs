//! Advection of velocity and scalars.

use super::kernels::{CELLS, number};
use super::{Advection, Fluid};
use crate::data::Vector;
use crate::error::Result;
use crate::gl::{Source, glsl};
use crate::kernel::Operand;

impl Fluid {
    /// Carries the velocity along with itself for a time `dt`.
    ///
    /// *Cost*: a draw for each component, two with [`Advection::MacCormack`]; no readback. *Errors*:
    /// [`Error::Parameter`](crate::Error::Parameter) for a `dt` that is not positive. *Source*: Stam 1999, section 2.2;
    /// Selle et al. 2008.
    pub fn advect(&mut self, dt: f64) -> Result<()> {
        let rate = self.rate("Fluid::advect", dt)?;
        let device = self.device().clone();
        let _scope = device.scope()?;
        let mut next = Vec::with_capacity(self.velocity.len());
        for (axis, f) in self.velocity.iter().enumerate() {
            next.push(self.carried(axis, f, rate, self.params.advection)?);
        }
        self.velocity = next;
        Ok(())
    }

    /// Carries a scalar in the cells, such as dye or temperature, along with the fluid for a time `dt`.
    ///
    /// *Shapes*: `field` has an element for each cell. *Cost*: a draw, two with [`Advection::MacCormack`]. *Errors*:
    /// [`Error::ShapeMismatch`](crate::Error::ShapeMismatch), [`Error::Parameter`](crate::Error::Parameter).
    pub fn transport(&self, field: &mut Vector, dt: f64) -> Result<()> {
        let rate = self.rate("Fluid::transport", dt)?;
        self.check_cells("Fluid::transport", "field", field)?;
        field.writable("Fluid::transport")?;
        let _scope = self.device().scope()?;
        let mut next = self.carried(CELLS, field, rate, self.params.advection)?;
        std::mem::swap(field, &mut next);
        Ok(())
    }

    /// `f` after a step, in a vector of its own.
    fn carried(&self, axis: usize, f: &Vector, rate: f64, advection: Advection) -> Result<Vector> {
        let mut forth = Vector::uninit(self.device(), f.len())?;
        self.trace(glsl!("fluid/advect.frag"), &mut forth, axis, vec![("f", f)], rate)?;
        if advection == Advection::SemiLagrangian {
            return Ok(forth);
        }
        let mut corrected = Vector::uninit(self.device(), f.len())?;
        let inputs = vec![("f", f), ("g", &forth)];
        self.trace(glsl!("fluid/maccormack.frag"), &mut corrected, axis, inputs, rate)?;
        Ok(corrected)
    }

    fn trace<'a>(
        &'a self,
        source: Source<'static>,
        out: &mut Vector,
        axis: usize,
        fields: Vec<(&'static str, &'a Vector)>,
        rate: f64,
    ) -> Result<()> {
        let mut inputs: Vec<_> = ["u", "v", "w"].into_iter().zip(&self.velocity).collect();
        inputs.extend(fields);
        let draw = self.space.draw(self.device(), source, axis, &inputs, &[number("rate", rate)])?;
        let solids = self.fluid_cells.as_ref().filter(|_| axis == CELLS);
        self.hold(draw, axis)
            .input_if("fluid", solids.map(Operand::view))
            .define("SOLIDS", solids.is_some())
            .target(out.view())
            .run()
    }
}
