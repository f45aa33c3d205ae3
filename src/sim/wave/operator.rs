//! The two operators of a wave, as stencils.

use super::params::{Boundaries, Boundary, WaveParams};
use crate::data::{Side, Sides, Stencil, StencilParams};
use crate::device::Device;
use crate::error::Result;

/// The sides of a stencil; what absorbs is `absorbing`.
fn sides(boundaries: Boundaries, absorbing: Side) -> Sides {
    let side = |boundary| match boundary {
        Boundary::Reflecting => Side::Neumann,
        Boundary::Fixed => Side::WALL,
        Boundary::Absorbing => absorbing,
        Boundary::Periodic => Side::Periodic,
    };
    Sides { x: boundaries.x.map(side), y: boundaries.y.map(side), z: [Side::Neumann; 2] }
}

/// `A = -h² Δ`: what absorbs takes no part in it, for nothing depends on the displacement there.
pub(super) fn stiffness(device: &Device, p: &WaveParams) -> Result<Stencil> {
    let sides = sides(p.boundaries, Side::Neumann);
    Stencil::new(device, p.grid, StencilParams::new([1.0, 1.0, 0.0], sides))
}

/// `1 + s + θ α A`. An absorbing side adds `s = c dt / 2 h` to the diagonal, as a Dirichlet side does at the distance
/// at which `θ α` divided by it is just that.
pub(super) fn matrix(device: &Device, p: &WaveParams) -> Result<Stencil> {
    let weight = p.scheme.theta() * p.alpha();
    let absorbing = Side::Dirichlet { distance: weight / p.side_loss() };
    let params = StencilParams::new([weight, weight, 0.0], sides(p.boundaries, absorbing));
    Stencil::new(device, p.grid, params.with_shift(1.0 + p.uniform_loss()))
}
