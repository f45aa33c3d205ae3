//! The viscous step by enhanced block Jacobi: the faces that the fluid decides, as a grid of their own.

use super::Fluid;
use super::boundary::Boundary;
use super::viscous::Viscous;
use crate::data::{Stencil, StencilParams, Vector};
use crate::error::Result;
use crate::gl::glsl;
use crate::kernel::{Draw, Operand};
use crate::shape::Grid;
use crate::solve::{EnhancedBlockJacobi, Smoother, SolveReport, Stationary, StationaryParams};

/// Sweeps between two tests of the residual: few are needed.
const TEST_EVERY: usize = 4;

/// `1 + strength L` on the free faces across an axis.
pub(super) struct Lines {
    strength: f64,
    /// The first of them among all faces.
    first: [usize; 3],
    a: Stencil,
    jacobi: EnhancedBlockJacobi,
}

impl Lines {
    fn inner(&self) -> Grid {
        self.a.grid()
    }

    /// The draw between all faces and the free ones.
    fn between<'a>(&self, draw: Draw<'a>, embed: bool) -> Draw<'a> {
        let integers = |all: [usize; 3]| all.map(|n| i32::try_from(n).unwrap_or(i32::MAX));
        draw.define("EMBED", embed)
            .param("first", integers(self.first))
            .param("inner", integers(self.inner().sides()))
    }
}

impl Fluid {
    pub(super) fn diffuse_by_lines(&mut self, axis: usize, strength: f64) -> Result<Option<SolveReport>> {
        self.lines.resize_with(self.velocity.len(), || None);
        let known = self.lines.get(axis).and_then(Option::as_ref);
        if known.is_none_or(|lines| lines.strength != strength) {
            let made = self.lines(axis, strength, known)?;
            if let Some(lines) = self.lines.get_mut(axis) {
                *lines = made;
            }
        }
        let (Some(Some(lines)), Some(u), Some([free, _])) =
            (self.lines.get(axis), self.velocity.get(axis), self.faces.get(axis))
        else {
            return Ok(None);
        };
        let device = self.device();
        let mut b = Vector::uninit(device, u.len())?;
        Viscous { space: &self.space, axis, free, strength }.right_side(&mut b, u)?;
        let cut = |f: &Vector| -> Result<Vector> {
            let out = Vector::uninit(device, lines.inner().len())?;
            let draw = self.space.draw(device, glsl!("fluid/inner.frag"), axis, &[("f", f)], &[])?;
            lines.between(draw, false).target(out.view()).run()?;
            Ok(out)
        };
        let (mut x, b) = (cut(u)?, cut(&b)?);
        let report = match self.params.viscous_iterations {
            None => {
                let stop = self.params.viscous_stop;
                let params = StationaryParams { stop, test_every: TEST_EVERY, ..StationaryParams::default() };
                Some(Stationary::new(&lines.a, &lines.jacobi, params)?.solve(&mut x, &b)?)
            }
            Some(count) => {
                lines.jacobi.smooth(&mut x, &b, count)?;
                None
            }
        };
        let next = Vector::uninit(device, u.len())?;
        let draw = self.space.draw(device, glsl!("fluid/inner.frag"), axis, &[("g", &x)], &[])?;
        self.hold(lines.between(draw, true), axis).target(next.view()).run()?;
        self.replace(axis, next);
        Ok(report)
    }

    /// Makes ready; nothing where the fluid decides no face. Lines that are known have the same pattern, if anything flows in both:
    /// what has been chosen for them stays.
    fn lines(&self, axis: usize, strength: f64, known: Option<&Lines>) -> Result<Option<Lines>> {
        let held = |side: Boundary| usize::from(side != Boundary::Open);
        let [low, high] = self.params.boundaries.across(axis).map(held);
        let (mut sides, mut first, mut weights) = (self.faces(axis).sides(), [0; 3], [0.0; 3]);
        if let (Some(side), Some(first)) = (sides.get_mut(axis), first.get_mut(axis)) {
            *side = side.saturating_sub(low + high);
            *first = low;
        }
        weights.iter_mut().take(self.space.dimensions()).for_each(|weight| *weight = strength);
        let [nx, ny, nz] = sides;
        let grid = Grid::new_3d(nx, ny, nz);
        if grid.is_empty() {
            return Ok(None);
        }
        let params = StencilParams::new(weights, self.params.boundaries.viscous_sides(axis)).with_shift(1.0);
        let a = Stencil::new(self.device(), grid, params)?;
        let jacobi = match known.filter(|known| (known.strength == 0.0) == (strength == 0.0)) {
            Some(known) => known.jacobi.renewed(&a)?,
            None => EnhancedBlockJacobi::from_stencil(&a, None)?,
        };
        Ok(Some(Lines { strength, first, a, jacobi }))
    }
}
