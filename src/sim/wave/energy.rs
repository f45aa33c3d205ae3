//! The energy that the schemes keep.

use super::{Scheme, Wave};
use crate::data::{Scalar, Vector};
use crate::error::Result;
use crate::ops::{self, Combine};

impl Wave {
    /// The energy `½ ∫ y_t² + c² |∇y|²`, in the discrete form that the scheme keeps:
    ///
    /// `h²/2 |v/dt|² + c²/2 ȳ·A ȳ` with `ȳ = (y_n + y_(n-1)) / 2`; for [`Scheme::Explicit`] `y_n·A y_(n-1)` in place
    /// of `ȳ·A ȳ`.
    ///
    /// Without losses and forces it stays as it is, but for rounding and for what the solver leaves; losses can only
    /// lower it. [`Scheme::CurrentAndNext`] keeps no such form: it lowers this one.
    ///
    /// *Cost*: 3 draws and two reductions; no readback.
    pub fn energy(&self) -> Result<Scalar> {
        let _scope = self.device.scope()?;
        let p = &self.params;
        let (y, v) = (self.y.front(), self.v.front());
        let explicit = p.scheme == Scheme::Explicit;
        let mut mean = Vector::zeros(&self.device, y.len())?;
        ops::axpy(&mut mean, if explicit { -1.0 } else { -0.5 }, v, y)?;
        let mut stress = Vector::zeros(&self.device, y.len())?;
        ops::product(&mut stress, Combine::Replace, 1.0, self.stiffness.as_ref(), &mean)?;
        let potential = ops::dot(if explicit { y } else { &mean }, &stress)?;
        let kinetic = ops::norm_squared(v)?;
        let mut energy = Scalar::zero(&self.device)?;
        let (mass, tension) = (0.5 * (p.cell / p.dt).powi(2), 0.5 * p.speed.powi(2));
        ops::axpby(&mut energy, mass as f32, &kinetic, tension as f32, &potential)?;
        Ok(energy)
    }
}
