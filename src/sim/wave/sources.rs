//! What sets the surface moving.

use super::{Boundary, Wave};
use crate::data::Vector;
use crate::device::Device;
use crate::error::{Error, Result, check_finite};
use crate::gl::glsl;
use crate::kernel::Kernel;
use crate::ops;
use crate::shape::Shape;

/// A drop: a smooth bump around a point.
///
/// `height (1 - q)³` with `q = (distance / radius)²`, and nothing past the radius; balanced, `height (1 - q)³ (1 - 5 q)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drop {
    /// Where, in the units of the cell's edge; `[0, 0]` is the corner of the grid. On periodic axes its images count.
    pub centre: [f64; 2],
    /// How far it reaches: between 1e-18 and 1e18 cells.
    pub radius: f64,
    /// Its height in the middle; negative for a hollow.
    pub height: f64,
    /// The rim gives what the middle gets: the mean level stays.
    pub balanced: bool,
}

crate::params! {
    /// Of `glsl/wave/drop.frag`.
    pub struct Bump {
        centre: [f32; 2],
        period: [f32; 2],
        frequency: [f32; 2],
        inverse_square: f32,
        height: f32,
        balance: f32,
        nx: i32,
    }
}

pub(super) fn kernel(device: &Device) -> Result<Kernel<Bump>> {
    Kernel::new(device, "wave/drop.frag", ["y"], glsl!("wave/drop.frag").text)
}

impl Wave {
    /// Adds a drop to the displacement; what moves goes on moving.
    ///
    /// *Cost*: 1 draw. *Errors*: [`Error::Parameter`] for a radius out of range, [`Error::NonFinite`].
    pub fn drop(&mut self, drop: Drop) -> Result<()> {
        let bump = self.bump_params(drop)?;
        let (y, next) = self.y.split();
        self.bump.run(next, [y], &bump)?;
        self.y.swap();
        Ok(())
    }

    /// A drop as a vector of its own: the shape of a [force](Self::step_forced). *Cost*: 1 draw. *Errors*: as
    /// [`drop`](Self::drop).
    pub fn bump(&self, drop: Drop) -> Result<Vector> {
        let bump = self.bump_params(drop)?;
        let mut shape = Vector::zeros(&self.device, self.params.grid.len())?;
        let zero = Vector::zeros(&self.device, self.params.grid.len())?;
        self.bump.run(&mut shape, [&zero], &bump)?;
        Ok(shape)
    }

    /// Adds `factor x` to the displacement; what moves goes on moving.
    ///
    /// *Cost*: 1 draw. *Errors*: [`Error::ShapeMismatch`], [`Error::NonFinite`].
    pub fn displace(&mut self, factor: f64, x: &Vector) -> Result<()> {
        self.check_source("Wave::displace", factor, x)?;
        let (y, next) = self.y.split();
        ops::axpy(next, factor as f32, x, y)?;
        self.y.swap();
        Ok(())
    }

    /// Adds `factor x` to the rate of change: a blow. *Cost* and *errors*: as [`displace`](Self::displace).
    pub fn strike(&mut self, factor: f64, x: &Vector) -> Result<()> {
        let factor = factor * self.params.dt;
        self.check_source("Wave::strike", factor, x)?;
        let (v, next) = self.v.split();
        ops::axpy(next, factor as f32, x, v)?;
        self.v.swap();
        Ok(())
    }

    fn check_source(&self, op: &'static str, factor: f64, x: &Vector) -> Result<()> {
        ops::check_device(op, "x", x.device(), &self.device)?;
        ops::check_shape(op, "x", x.shape(), Shape::column(self.params.grid.len()))?;
        check_finite(op, [factor])
    }

    fn bump_params(&self, drop: Drop) -> Result<Bump> {
        let p = &self.params;
        let [x, y] = drop.centre.map(|c| c / p.cell);
        let radius = drop.radius / p.cell;
        check_finite("Drop: centre, height", [x, y, drop.height])?;
        // Its square and the inverse of that are floats.
        if !(1e-18..=1e18).contains(&radius) {
            let (op, name, value) = ("Wave::drop", "radius", format!("{:e}", drop.radius));
            return Err(Error::Parameter { op, name, value, expected: "between 1e-18 and 1e18 cells" });
        }
        let cells = [p.grid.nx as f32, p.grid.ny as f32];
        let sides = [p.boundaries.x, p.boundaries.y];
        let periodic = sides.map(|sides| sides == [Boundary::Periodic; 2]);
        let of = |axis: usize, value: f32| if periodic.get(axis) == Some(&true) { value } else { 0.0 };
        let [nx, ny] = cells;
        Ok(Bump {
            centre: [x as f32, y as f32],
            period: [of(0, nx), of(1, ny)],
            frequency: [of(0, 1.0 / nx), of(1, 1.0 / ny)],
            inverse_square: radius.powi(-2) as f32,
            height: drop.height as f32,
            balance: if drop.balanced { 5.0 } else { 0.0 },
            // Of no cells there is no division.
            nx: i32::try_from(p.grid.nx).unwrap_or(i32::MAX).max(1),
        })
    }
}
