//! Forces on the velocity, and sources of scalars.

use super::Fluid;
use super::kernels::{CELLS, Parameter, number, triple};
use crate::data::Vector;
use crate::error::{Error, Result, check_finite};
use crate::gl::glsl;
use crate::kernel::Operand;
use crate::ops::{check_device, check_shape};

impl Fluid {
    /// A uniform acceleration: `u += dt a` on every free face.
    ///
    /// *Cost*: a draw for each component that changes. *Errors*: [`Error::NonFinite`], [`Error::Parameter`].
    pub fn accelerate(&mut self, acceleration: [f64; 3], dt: f64) -> Result<()> {
        self.rate("Fluid::accelerate", dt)?;
        check_finite("Fluid::accelerate: acceleration", acceleration)?;
        check_finite("Fluid::accelerate: dt acceleration", acceleration.map(|a| dt * a))?;
        self.each_axis(acceleration, |fluid, axis, a| {
            fluid.forced(axis, 0, vec![], vec![number("factor", dt * a)])
        })
    }

    /// A scalar pushes: `u += dt a (scalar)` with the mean of the two cells beside each face. Buoyancy is
    /// `a = [0, lift, 0]` with a temperature above the surroundings', or a negative `a` with a weight.
    ///
    /// *Shapes*: `scalar` has an element for each cell. *Cost*: a draw for each component that changes. *Errors*:
    /// [`Error::ShapeMismatch`], [`Error::NonFinite`], [`Error::Parameter`].
    pub fn buoyancy(&mut self, scalar: &Vector, acceleration: [f64; 3], dt: f64) -> Result<()> {
        self.rate("Fluid::buoyancy", dt)?;
        self.check_cells("Fluid::buoyancy", "scalar", scalar)?;
        check_finite("Fluid::buoyancy: acceleration", acceleration)?;
        check_finite("Fluid::buoyancy: dt acceleration", acceleration.map(|a| dt * a))?;
        self.each_axis(acceleration, |fluid, axis, a| {
            fluid.forced(axis, 1, vec![("scalar", scalar)], vec![number("factor", dt * a)])
        })
    }

    /// A force of the caller's on the faces across `axis`: `u += dt force`. The products are not checked: what exceeds
    /// the range of floats becomes infinite, and [`project_reported`](Self::project_reported) tells.
    ///
    /// *Shapes*: `force` as [`velocity`](Self::velocity)`(axis)`. *Cost*: 1 draw. *Errors*: [`Error::ShapeMismatch`],
    /// [`Error::IndexOutOfRange`] for an axis that the grid does not have, [`Error::Parameter`], [`Error::NonFinite`].
    pub fn force(&mut self, axis: usize, force: &Vector, dt: f64) -> Result<()> {
        self.rate("Fluid::force", dt)?;
        check_finite("Fluid::force: dt", [dt])?;
        check_device("Fluid::force", "force", force.device(), self.device())?;
        check_shape("Fluid::force", "force", force.shape(), self.velocity(axis)?.shape())?;
        let next = self.forced(axis, 3, vec![("other", force)], vec![number("factor", dt)])?;
        self.replace(axis, next);
        Ok(())
    }

    /// An impulse around a place: `u += velocity exp(-d² / radius²)`.
    ///
    /// *Cost*: a draw for each component that changes. *Errors*: [`Error::NonFinite`], [`Error::Parameter`].
    pub fn push(&mut self, centre: [f64; 3], radius: f64, velocity: [f64; 3]) -> Result<()> {
        check_finite("Fluid::push", velocity)?;
        let bell = self.bell("Fluid::push", centre, radius)?;
        self.each_axis(velocity, |fluid, axis, v| {
            fluid.forced(axis, 2, vec![], [bell.clone(), vec![number("factor", v)]].concat())
        })
    }

    /// A source of a scalar around a place: `field += amount exp(-d² / radius²)`, nothing in solid cells.
    ///
    /// *Shapes*: `field` has an element for each cell. *Cost*: 1 draw. *Errors*: [`Error::ShapeMismatch`],
    /// [`Error::NonFinite`], [`Error::Parameter`].
    pub fn splat(&self, field: &mut Vector, centre: [f64; 3], radius: f64, amount: f64) -> Result<()> {
        self.check_cells("Fluid::splat", "field", field)?;
        field.writable("Fluid::splat")?;
        check_finite("Fluid::splat", [amount])?;
        let bell = self.bell("Fluid::splat", centre, radius)?;
        let _scope = self.device().scope()?;
        let params = [bell, vec![number("factor", amount)]].concat();
        let mut next = self.added_to(CELLS, field, 2, vec![], params)?;
        std::mem::swap(field, &mut next);
        Ok(())
    }

    /// Vorticity confinement for a time `dt`: `u += dt ε h N × ω` with the curl `ω` and the unit vector `N` towards more
    /// of it. It gives back what interpolation smooths away; ε is [`FluidParams::confinement`](super::FluidParams).
    ///
    /// *Cost*: a draw for the curl (four targets in 3D), a draw for each component. *Errors*: [`Error::Parameter`],
    /// [`Error::NonFinite`]. *Source*: Fedkiw, Stam and Jensen 2001, section 3.
    pub fn confine(&mut self, dt: f64) -> Result<()> {
        self.rate("Fluid::confine", dt)?;
        let device = self.device().clone();
        let _scope = device.scope()?;
        let strength = dt * self.params.confinement;
        check_finite("Fluid::confine: dt confinement", [strength])?;
        let curl = self.curl()?;
        let names = if curl.len() == 1 { ["z", "", "", ""] } else { ["x", "y", "z", "size"] };
        for axis in 0..self.velocity.len() {
            let f = self.velocity(axis)?;
            let mut inputs = vec![("f", f)];
            inputs.extend(names.into_iter().zip(&curl));
            // The curl is multiplied by h already.
            let params = [number("factor", strength)];
            let out = Vector::uninit(&device, f.len())?;
            let draw = self.space.draw(&device, glsl!("fluid/confine.frag"), axis, &inputs, &params)?;
            self.hold(draw, axis).target(out.view()).run()?;
            self.replace(axis, out);
        }
        Ok(())
    }

    /// The curl in each cell times `h`: one vector in two dimensions, three and their length in three.
    fn curl(&self) -> Result<Vec<Vector>> {
        let count = if self.velocity.len() == 3 { 4 } else { 1 };
        let fresh = || Vector::uninit(self.device(), self.cells().len());
        let curl = (0..count).map(|_| fresh()).collect::<Result<Vec<_>>>()?;
        let inputs: Vec<_> = ["u", "v", "w"].into_iter().zip(&self.velocity).collect();
        let draw = self.space.draw(self.device(), glsl!("fluid/curl.frag"), CELLS, &inputs, &[])?;
        draw.targets(curl.iter().map(Operand::view)).run()?;
        Ok(curl)
    }

    /// The parameters of a bell, checked.
    fn bell(&self, op: &'static str, centre: [f64; 3], radius: f64) -> Result<Vec<Parameter>> {
        let h = self.params.cell;
        check_finite(op, centre)?;
        check_finite(op, centre.map(|c| c / h))?;
        if !(radius > 0.0 && h / radius <= f64::from(f32::MAX) && radius.is_finite()) {
            let (name, value) = ("radius", format!("{radius:e}"));
            let expected = "a positive, finite number, and more than 3e-39 cells";
            return Err(Error::Parameter { op, name, value, expected });
        }
        Ok(vec![triple("centre", centre.map(|c| c / h)), number("inverse_radius", h / radius)])
    }

    /// Replaces each component for which `amount` is not zero.
    fn each_axis(
        &mut self,
        amounts: [f64; 3],
        f: impl Fn(&Self, usize, f64) -> Result<Vector>,
    ) -> Result<()> {
        let device = self.device().clone();
        let _scope = device.scope()?;
        for (axis, amount) in amounts.into_iter().enumerate().take(self.velocity.len()) {
            if amount != 0.0 {
                let next = f(self, axis, amount)?;
                self.replace(axis, next);
            }
        }
        Ok(())
    }

    fn forced(
        &self,
        axis: usize,
        source: u8,
        inputs: Vec<(&'static str, &Vector)>,
        params: Vec<Parameter>,
    ) -> Result<Vector> {
        self.added_to(axis, self.velocity(axis)?, source, inputs, params)
    }

    fn added_to<'a>(
        &'a self,
        axis: usize,
        f: &'a Vector,
        kind: u8,
        mut inputs: Vec<(&'static str, &'a Vector)>,
        params: Vec<Parameter>,
    ) -> Result<Vector> {
        inputs.push(("f", f));
        let out = Vector::uninit(self.device(), f.len())?;
        let draw = self.space.draw(self.device(), glsl!("fluid/force.frag"), axis, &inputs, &params)?;
        let cells = self.fluid_cells.as_ref().filter(|_| axis == CELLS);
        self.hold(draw, axis)
            .input_if("fluid", cells.map(Operand::view))
            .define("SOURCE", kind)
            .target(out.view())
            .run()?;
        Ok(out)
    }
}
