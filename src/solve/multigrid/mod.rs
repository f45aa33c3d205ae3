//! Multigrid: geometric for operators on grids, here; algebraic, `aggregation`. They share the cycle and the solution on the
//! coarsest level.

mod aggregation;
mod coarsest;
mod cycle;
mod hierarchy;
mod passes;
mod saddle_point;

pub use aggregation::{AggregationLevel, AggregationMultigrid, AggregationParams};
pub use cycle::Cycle;
pub use saddle_point::SaddlePoint;

use cycle::{Levels, Start, check_sweeps, cycles};
use hierarchy::Hierarchy;

use crate::data::{Side, Sides, Stencil, StencilParams, Vector};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::host::{FoundGrid, number};
use crate::kernel::Replays;
use crate::ops::LinOp;
use crate::shape::{Grid, Shape};
use crate::solve::drive::check::{check_square, check_vectors_of};
use crate::solve::drive::scales::times_power;
use crate::solve::precondition::{Preconditioner, entries};
use crate::solve::stationary::Smoother;

/// Parameters of [`Multigrid`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MultigridParams {
    /// Sweeps before and after the correction, 1 to 8.
    pub sweeps: usize,
    /// The cycle.
    pub cycle: Cycle,
}

with!(const MultigridParams:
    with_sweeps(sweeps: usize),
    with_cycle(cycle: Cycle),
);

impl Default for MultigridParams {
    fn default() -> Self {
        MultigridParams { sweeps: 2, cycle: Cycle::V }
    }
}

/// A multigrid cycle for `A x = b` with an operator on a grid: a [`Smoother`], and, begun from zero, a symmetric positive
/// definite [`Preconditioner`]. The number of iterations does not grow with the grid.
///
/// Grids are coarsened by two along each axis, those with much smaller weights later; unknowns are cells, so that four
/// (in space eight) become one. Sweeps are weighted Jacobi with the weights of a Chebyshev polynomial over the
/// frequencies that a coarser grid does not see. `P` interpolates linearly, takes values at sides and solid cells
/// into account, and `R = Pᵀ / 2^axes` is a reduction by a smaller viewport \[Krueger05\] 44.3.2. Coarser operators are
/// the same [`Stencil`] on larger cells. On the coarsest grid, of at most [`MOST_DENSE`](Self::MOST_DENSE) cells, a
/// dense inverse found on the host is applied.
///
/// Axes of odd length are halved downwards. A periodic one of odd length is not coarsened; where that leaves a large
/// coarsest grid, it is swept instead of solved, and iterations grow. With obstacles thinner than a coarse cell a cycle
/// by itself may diverge; as a preconditioner it still serves.
///
/// *Cost* of a V-cycle, with k sweeps: `2 k + 3` draws a level, 5 to 8 fetches a texel each, and the dense product; no
/// readback. Without obstacles a draw less where a level begins from zero and k is 2 or more (the first two sweeps are one
/// pass over `b`), and in the plane, where rows of a multiple of eight cells are halved, another (the correction and the first
/// sweep after it). So a cycle from zero on 512x512 takes 5 draws a level. *Source*: U. Trottenberg, C. Oosterlee, A. Schüller,
/// *Multigrid*, 2001, 2.8 (cell centres); J. Bolz et al., *Sparse matrix solvers on the GPU*, 2003, as \[Krueger05\]
/// cites it.
///
/// ```
/// use texla::solve::{CgParams, ConjugateGradient, Multigrid, MultigridParams, Stop, StopReason};
/// use texla::{Grid, Side, Sides, Stencil, StencilParams, Vector};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let grid = Grid::new_2d(128, 128);
/// let a = Stencil::new(dev, grid, StencilParams::new([1.0, 1.0, 0.0], Sides::all(Side::WALL)))?;
/// let b = Vector::from_slice(dev, &(0..grid.len()).map(|i| (i % 7) as f32 - 3.0).collect::<Vec<_>>())?;
/// let mut x = Vector::zeros(dev, grid.len())?;
/// let m = Multigrid::new(&a, MultigridParams::default())?;
/// let params = CgParams::default().with_stop(Stop::relative(1e-4).check_every(1));
/// let report = ConjugateGradient::preconditioned(&a, &m, params)?.solve(&mut x, &b)?;
/// assert_eq!(report.reason, StopReason::Converged);
/// assert!(report.iterations <= 10); // more than 100 without
/// # Ok::<(), texla::Error>(())
/// ```
pub struct Multigrid {
    hierarchy: Hierarchy,
    params: MultigridParams,
    replays: Replays<Start>,
    device: Device,
}

shown!(Multigrid, |m| "Multigrid({} grids, {:?})", m.hierarchy.levels.len(), m.params);

impl Multigrid {
    /// Coarser grids end at this many cells; a dense inverse is applied there.
    pub const MOST_DENSE: usize = coarsest::MOST_DENSE;

    /// Sets up all grids for a stencil, given as `&a` or as an `Rc`. Only its parameters are read: the multigrid keeps
    /// nothing of it, and may outlive it.
    ///
    /// *Cost*: on the host, proportional to the cells where there are obstacles, and the inverse of the coarsest
    /// operator; 1 upload, and 2 a level with obstacles. *Errors*: [`Error::Matrix`] for a shift or weight that is
    /// negative, or all of them zero; [`Error::Parameter`] for no sweeps or more than 8; [`Error::OutOfMemory`].
    pub fn new(a: impl AsRef<Stencil>, params: MultigridParams) -> Result<Self> {
        let a = a.as_ref();
        let op = "Multigrid";
        check_sweeps(op, params.sweeps)?;
        let numbers = [a.shift()].into_iter().chain(a.weights());
        if numbers.clone().any(|v| v < 0.0) || numbers.sum::<f64>() == 0.0 {
            let detail = format!(
                "has the shift {} and the weights {:?}, expected none negative and one positive",
                a.shift(),
                a.weights()
            );
            return Err(Error::Matrix { op, detail });
        }
        let device = a.device().clone();
        let _scope = device.scope()?;
        let hierarchy = Hierarchy::new(a)?;
        Ok(Multigrid { hierarchy, params, replays: Replays::default(), device: device.clone() })
    }

    /// Sets up all grids for a matrix, given as `&a` or as an `Rc`, whose [grid is found in its entries](crate::host::Csr::grid). Its
    /// coefficients along an axis are taken for equal: a preconditioner for all of those, a smoother for constant ones.
    ///
    /// # Errors
    /// Those of [`new`](Self::new); [`Error::Unsupported`] where no grid is found, and for an operator that does not give its
    /// entries; [`Error::Matrix`] for one that is not symmetric.
    pub fn of_matrix(a: impl LinOp, params: MultigridParams) -> Result<Self> {
        let op = "Multigrid::of_matrix";
        check_square(op, &a)?;
        let pattern = entries(op, &a)?;
        if let Some((i, j, one, other)) = a.asymmetry()? {
            let (one, other) = (number(one), number(other));
            let detail =
                format!("has {one} at ({i}, {j}) and {other} at ({j}, {i}), expected a symmetric matrix");
            return Err(Error::Matrix { op, detail });
        }
        let found = FoundGrid::new(pattern).ok_or_else(|| Error::Unsupported {
            what: op.to_owned(),
            why: "the entries are not those of an operator on a grid (Csr::grid); AggregationMultigrid takes others"
                .to_owned(),
        })?;
        let side = |share: f64| match share {
            0.0 => Side::Neumann,
            share => Side::Dirichlet { distance: 1.0 / share },
        };
        let [x, y, z] = found.axes.map(|axis| axis.shares.map(side));
        let weights = found.axes.map(|axis| axis.weight);
        let stencil = StencilParams::new(weights, Sides { x, y, z }).with_shift(found.shift);
        Self::new(Stencil::new(a.device(), found.grid(), stencil)?, params)
    }

    /// The grids, from the finest on.
    pub fn grids(&self) -> impl Iterator<Item = Grid> + '_ {
        self.hierarchy.levels.iter().map(|level| level.a.grid())
    }

    fn check(&self, op: &'static str, x: &Vector, b: &Vector) -> Result<()> {
        let n = self.grids().next().map_or(0, Grid::len);
        check_vectors_of(op, &self.device, Shape::new(n, n), x, b)
    }

    fn cycles(&self, x: &mut Vector, b: &Vector, start: (Start, usize)) -> Result<()> {
        cycles(self, self.params.cycle, x, b, start)
    }

    /// The right-hand side in units of the operator as it is kept here.
    fn scaled<'b>(&self, b: &'b Vector, room: &'b mut Option<Vector>) -> Result<&'b Vector> {
        if self.hierarchy.exponent == 0 {
            return Ok(b);
        }
        let out = room.insert(Vector::uninit(&self.device, b.len())?);
        times_power(out, -self.hierarchy.exponent, b)?;
        Ok(out)
    }
}

impl Levels for Multigrid {
    /// The residual, where the correction needs it.
    type Kept = Option<Vector>;

    fn device(&self) -> &Device {
        &self.device
    }

    fn replays(&self) -> Option<&Replays<Start>> {
        Some(&self.replays)
    }

    fn count(&self) -> usize {
        self.hierarchy.levels.len()
    }

    fn descend(
        &self,
        depth: usize,
        x: &mut Vector,
        b: &Vector,
        start: Start,
    ) -> Result<Option<(Vector, Self::Kept)>> {
        let Some((level, transfer, coarser)) = self.hierarchy.pair(depth) else { return Ok(None) };
        level.sweep(x, b, self.params.sweeps, start)?;
        let mut coarse_b = Vector::uninit(&self.device, coarser.a.grid().len())?;
        let mut r = Vector::uninit(&self.device, x.len())?;
        // r = b - A x
        level.residual(&mut r, transfer, x, b)?;
        // coarse_b = R r
        level.restrict(&mut coarse_b, transfer, coarser, &r)?;
        // Kept for the sweep, or dropped: the correction writes to its texture.
        Ok(Some((coarse_b, level.corrects_and_sweeps(transfer).then_some(r))))
    }

    fn ascend(&self, depth: usize, x: &mut Vector, b: &Vector, e: &Vector, r: Self::Kept) -> Result<()> {
        let Some((level, transfer, coarser)) = self.hierarchy.pair(depth) else { return Ok(()) };
        let sweeps = self.params.sweeps;
        // x = x + P e
        level.correct(x, transfer, coarser, e, r.as_ref().map(|r| (r, sweeps)))?;
        level.sweep(x, b, sweeps, Start::After(usize::from(r.is_some())))
    }

    fn solve(&self, x: &mut Vector, b: &Vector, start: Start) -> Result<bool> {
        let (Some(inverse), Some(level)) = (&self.hierarchy.inverse, self.hierarchy.levels.last()) else {
            return Ok(false);
        };
        coarsest::solve(inverse, (1.0, &level.a), x, b, start)?;
        Ok(true)
    }

    fn sweep_twice(&self, x: &mut Vector, b: &Vector, start: Start) -> Result<()> {
        self.hierarchy.levels.last().map_or(Ok(()), |level| level.sweep(x, b, 2, start))
    }
}

impl Smoother for Multigrid {
    fn smooth(&self, x: &mut Vector, b: &Vector, sweeps: usize) -> Result<()> {
        self.check("Multigrid::smooth", x, b)?;
        let _scope = self.device.scope()?;
        let mut room = None;
        let b = self.scaled(b, &mut room)?;
        self.cycles(x, b, (Start::After(0), sweeps))
    }
}

impl Preconditioner for Multigrid {
    /// One cycle from zero, up to a power of two for operators far from 1.
    fn apply(&self, z: &mut Vector, r: &Vector) -> Result<()> {
        self.check("Multigrid::apply", z, r)?;
        let _scope = self.device.scope()?;
        // A multiple of a preconditioner is as good as the preconditioner: no scaling.
        self.cycles(z, r, (Start::Zero, 1))
    }

    fn is_replayable(&self) -> bool {
        true
    }
}
