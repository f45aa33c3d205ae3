//! Algebraic multigrid: levels made from the entries of a matrix alone.

mod levels;

use std::ops::Range;

use super::coarsest;
use super::cycle::{Cycle, Levels, Start, check_sweeps, cycles, omega};
use crate::data::{StoredMatrix, Vector};
use crate::device::Device;
use crate::error::{Error, Result, check_finite};
use crate::host::Csr;
use crate::host::parallel::Threads;
use crate::kernel::Replays;
use crate::ops::{self, Combine, LinOp};
use crate::solve::drive::check::{check_square, check_vectors};
use crate::solve::drive::scales::times_power;
use crate::solve::precondition::Preconditioner;
use crate::solve::stationary::{Smoother, Sweep, Sweeper};
use levels::{Hierarchy, Level};

const OP: &str = "AggregationMultigrid";

/// Sweeps damp the eigenvalues of `D⁻¹ A` from the largest down to this part of it: the coarser level sees the others.
const LOW: f64 = 0.25;

/// The weight of sweeps where the matrix is not symmetric, by the largest row sum of `|D⁻¹ A|`: 0.6 where rows sum to zero.
const PART: f64 = 1.2;

/// Parameters of [`AggregationMultigrid`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AggregationParams {
    /// Sweeps before and after the correction, 1 to 8; 0 for 1, or 2 where smooth errors are several vectors
    /// ([`NearNullSpace`](crate::host::NearNullSpace)) and where the matrix is not symmetric.
    pub sweeps: usize,
    /// The cycle.
    pub cycle: Cycle,
    /// Threads that set it up on the host, 0 for one on each core. The levels are the same, bit for bit, for any number.
    pub threads: usize,
}

with!(const AggregationParams:
    with_sweeps(sweeps: usize),
    with_cycle(cycle: Cycle),
    with_threads(threads: usize),
);

impl Default for AggregationParams {
    fn default() -> Self {
        AggregationParams { sweeps: 0, cycle: Cycle::V, threads: 0 }
    }
}

/// Algebraic multigrid by smoothed aggregation for `A x = b`, with a sparse `A` that need not come from a grid: a [`Smoother`], and,
/// begun from zero, a [`Preconditioner`], symmetric positive definite where `A` is. For elliptic problems, with transport too, the
/// number of iterations grows little with that of the unknowns. On a grid the geometric [`Multigrid`](super::Multigrid) is quicker.
///
/// Unknowns with strong connections (`|a_ij| > θ √(a_ii a_jj)`, θ = 0.08, half of that on each next level) become aggregates,
/// which are the unknowns of the next level: `P = (I - ω D⁻¹ A_F) T`, where `T` is 1 at an unknown's aggregate, `A_F` has the
/// strong entries and the others added to its diagonal, and ω = 4/3 / λ_max(D⁻¹ A_F). Unknowns without strong connections
/// are left to sweeps. The coarser matrix is `Pᵀ A P`. All of that is done on the host in 64 bits, and put on the device
/// scaled to a diagonal of ones, so that matrices of any size stay in range. Sweeps are weighted Jacobi with the weights of a
/// Chebyshev polynomial. On the coarsest level, of at most 256 unknowns, a dense inverse is applied; a larger one without
/// strong connections is swept instead. Parts whose rows sum to zero are inverted on what is orthogonal to a constant, so that singular
/// matrices are taken.
///
/// An operator with a [near-null space](LinOp::near_null_space) has that in place of ones, and so has one in whose entries
/// [nodes with several unknowns](crate::host::Blocks::found) are found: aggregates are then made of nodes, all connections count as strong,
/// and each has as many unknowns as vectors are independent on it, which are orthonormal columns of `T` there.
///
/// A matrix that is not symmetric, for [`Gmres`](crate::solve::Gmres) and [`BiCgStab`](crate::solve::BiCgStab): the next one is
/// `R A P`, where `Rᵀ` is made as `P` is, of `Aᵀ`. A connection counts by the larger of its two entries, all entries smooth, and
/// instead of `λ_max` stands the largest row sum of `|D⁻¹ A|`. Sweeps are weighted Jacobi with 1.2 divided by that, which damps
/// where no diagonal entry is less than what its row has beside it. Upwind differences are such; central ones are only where
/// diffusion between neighbours is at least as strong as transport.
///
/// *Cost* of a V-cycle from zero, with k sweeps, on a level: `2 k + 2` draws, one more on the finest if its diagonal is not
/// constant, and more of [points](crate::SparseFormat::Points); a product with `Pᵀ`, one with `P`, `2 k` with `A`; no readback.
/// What is [stored](StoredMatrix) besides `A` comes to 1.8 times what a five-point `A` takes as gathered rows. *Source*: P. Vaněk, J.
/// Mandel, M. Brezina, *Algebraic multigrid by smoothed aggregation for second and fourth order elliptic problems*, 1996; M. Sala, R.
/// Tuminaro, *A new Petrov-Galerkin smoothed aggregation preconditioner for nonsymmetric linear systems*, 2008.
///
/// ```
/// use texla::solve::{AggregationMultigrid, AggregationParams, CgParams, ConjugateGradient, Stop, StopReason};
/// use texla::{MatrixFormat, StoredMatrix, Vector, host::problems};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let a = StoredMatrix::new(dev, problems::poisson_2d(96, 96).to_csr(), MatrixFormat::Auto)?;
/// let b = Vector::from_f64(dev, &a.pattern().mul_vec(&[1.0; 96 * 96])?)?;
/// let mut x = Vector::zeros(dev, b.len())?;
/// let m = AggregationMultigrid::new(&a, AggregationParams::default())?;
/// assert_eq!(m.levels().count(), 3);
/// let params = CgParams::default().with_stop(Stop::relative(1e-5).check_every(1));
/// let report = ConjugateGradient::preconditioned(&a, &m, params)?.solve(&mut x, &b)?;
/// assert_eq!(report.reason, StopReason::Converged);
/// assert!(report.iterations <= 8); // more than 130 without
/// # Ok::<(), texla::Error>(())
/// ```
#[doc(alias = "amg")]
pub struct AggregationMultigrid<A> {
    a: A,
    device: Device,
    hierarchy: Hierarchy,
    params: AggregationParams,
    replays: Replays<Start>,
}

shown!(
    [A: LinOp] AggregationMultigrid<A>,
    |m| "AggregationMultigrid({}, {} levels, {:?})",
    m.a.shape(),
    m.hierarchy.levels.len(),
    m.params
);

/// A level of [`AggregationMultigrid`], as it stands on the device but for rounding to 32 bits.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct AggregationLevel<'a> {
    /// The matrix: the caller's on the finest level, scaled to a diagonal of ones on others.
    pub a: &'a Csr,
    /// From the next level to this one, none on the last. The next matrix is `R A P`, where the finest `A` is divided by
    /// two to the exponent of its smallest diagonal entry (at most 100 either way).
    pub p: Option<&'a Csr>,
    /// From this level to the next one, none on the last: `Pᵀ` where `A` is symmetric.
    pub r: Option<&'a Csr>,
    /// About the largest eigenvalue of `D⁻¹ A`, as sweeps take it; where `A` is not symmetric, a bound on all of them.
    pub largest_eigenvalue: f64,
}

/// An iterate that need not be written: `start` times `b`, or times what `x` holds.
#[derive(Clone, Copy)]
pub(super) struct Lazy {
    start: f32,
    of_b: bool,
}

impl Lazy {
    const WRITTEN: Lazy = Lazy { start: 1.0, of_b: false };

    fn of<'v>(&self, x: &'v Vector, b: &'v Vector) -> &'v Vector {
        if self.of_b { b } else { x }
    }
}

impl<A: LinOp> AggregationMultigrid<A> {
    /// Sets up all levels of an operator that is borrowed, shared or owned: see
    /// [`Krylov`](crate::solve::Krylov#ownership).
    ///
    /// *Cost*: on the host, proportional to the entries of all levels, and the inverse of the coarsest; uploads of
    /// the three matrices of every level but the finest. *Errors*: [`Error::Matrix`] when `a` is not square, or
    /// has a diagonal entry that is not positive, naming the place, or is found not to be positive definite, or singular and not
    /// symmetric, or where rows with very many entries fill a coarser matrix; [`Error::Unsupported`] when the operator does not know its entries, and for a near-null space of several vectors
    /// without symmetry; [`Error::NonFinite`];
    /// [`Error::Parameter`] for more than 8 sweeps; [`Error::LengthMismatch`] for a near-null space of another size;
    /// [`Error::TooLarge`], [`Error::OutOfMemory`].
    pub fn new(a: A, params: AggregationParams) -> Result<Self> {
        let (device, hierarchy) = set_up(&a, &params)?;
        let sweeps = match params.sweeps {
            0 if hierarchy.is_of_vectors || !hierarchy.is_symmetric => 2,
            0 => 1,
            given => given,
        };
        let params = params.with_sweeps(sweeps);
        Ok(AggregationMultigrid { a, device, hierarchy, params, replays: Replays::default() })
    }

    /// The levels, from the finest on.
    pub fn levels(&self) -> impl Iterator<Item = AggregationLevel<'_>> {
        self.hierarchy.levels.iter().filter_map(|level| {
            Some(AggregationLevel {
                a: level.a.as_ref().map(StoredMatrix::pattern).or_else(|| self.a.pattern())?,
                p: level.transfer.as_ref().map(|[p, _]| p.pattern()),
                r: level.transfer.as_ref().map(|[_, r]| r.pattern()),
                largest_eigenvalue: level.largest_eigenvalue,
            })
        })
    }

    /// Sweeps before and after the correction.
    pub fn sweeps(&self) -> usize {
        self.params.sweeps
    }

    fn cycles(&self) -> Cycles<'_> {
        let AggregationMultigrid { a, device, hierarchy, params, replays } = self;
        Cycles { a, device, hierarchy, params, replays }
    }
}

/// The operator, borrowed for the time of a cycle, with all that was set up for it.
struct Cycles<'m> {
    a: &'m dyn LinOp,
    device: &'m Device,
    hierarchy: &'m Hierarchy,
    params: &'m AggregationParams,
    replays: &'m Replays<Start>,
}

fn set_up(a: &dyn LinOp, params: &AggregationParams) -> Result<(Device, Hierarchy)> {
    check_sweeps(OP, params.sweeps.max(1))?;
    check_square(OP, a)?;
    let Some(pattern) = a.pattern() else {
        return Err(unsupported("the operator does not provide its entries"));
    };
    ops::check_shape(OP, "pattern", pattern.shape(), a.shape())?;
    check_finite(OP, pattern.values().iter().copied())?;
    let is_symmetric = a.asymmetry()?.or_else(|| pattern.asymmetry()).is_none();
    let device = a.device().clone();
    let _scope = device.scope()?;
    let hierarchy = Hierarchy::new(a, pattern, is_symmetric, Threads::new(params.threads))?;
    Ok((device.clone(), hierarchy))
}

impl Cycles<'_> {
    fn sweeper<'l>(&'l self, level: &'l Level) -> Sweeper<'l> {
        let a: &dyn LinOp = level.a.as_ref().map_or(self.a, |a| a);
        Sweeper { a, w: level.w.as_ref(), one_pass: level.one_pass }
    }

    /// The weight of a sweep, in units of the level.
    fn factor(&self, level: &Level, k: usize, count: usize) -> f32 {
        let largest = level.largest_eigenvalue;
        let weight = match self.hierarchy.is_symmetric {
            true => omega([LOW, 1.0].map(|part| part * largest), k, count),
            false => (PART / largest) as f32,
        };
        level.scale * weight
    }

    /// The sweeps of `count` that are left.
    fn sweep(
        &self,
        level: &Level,
        x: &mut Vector,
        b: &Vector,
        lazy: Lazy,
        left: Range<usize>,
    ) -> Result<Lazy> {
        let (sweeper, count) = (self.sweeper(level), left.end);
        let mut room = None;
        let mut lazy = lazy;
        for k in left {
            let numbers = Sweep { start: lazy.start, unit: level.unit, factor: self.factor(level, k, count) };
            let mut next = Vector::uninit(self.device, x.len())?;
            sweeper.sweep(&mut next, lazy.of(x, b), b, numbers, &mut room)?;
            std::mem::swap(x, &mut next);
            lazy = Lazy::WRITTEN;
        }
        Ok(lazy)
    }

    /// `count` sweeps, as far as they need passes of their own.
    fn sweeps(&self, level: &Level, x: &mut Vector, b: &Vector, start: Start, count: usize) -> Result<Lazy> {
        match start {
            Start::After(k) => self.sweep(level, x, b, Lazy::WRITTEN, k..count),
            Start::Zero => {
                // The first is a multiple of D⁻¹ b.
                if let Some(w) = &level.w {
                    ops::mul(x, w, b)?;
                }
                let lazy = Lazy { start: self.factor(level, 0, count), of_b: level.w.is_none() };
                self.sweep(level, x, b, lazy, 1..count)
            }
        }
    }
}

impl Levels for Cycles<'_> {
    type Kept = Lazy;

    fn device(&self) -> &Device {
        self.device
    }

    fn replays(&self) -> Option<&Replays<Start>> {
        self.a.is_replayable().then_some(self.replays)
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
    ) -> Result<Option<(Vector, Lazy)>> {
        let Some((level, [_, restriction])) = self.hierarchy.transfer(depth) else { return Ok(None) };
        let lazy = self.sweeps(level, x, b, start, self.params.sweeps)?;
        let mut r = Vector::uninit(self.device, x.len())?;
        // r = b - A x
        let alpha = lazy.start * level.unit;
        ops::product(&mut r, Combine::SubtractFrom(b), alpha, self.sweeper(level).a, lazy.of(x, b))?;
        let mut coarse_b = Vector::uninit(self.device, restriction.shape().rows)?;
        ops::product(&mut coarse_b, Combine::Replace, 1.0, restriction, &r)?;
        Ok(Some((coarse_b, lazy)))
    }

    fn ascend(&self, depth: usize, x: &mut Vector, b: &Vector, e: &Vector, lazy: Lazy) -> Result<()> {
        let Some((level, [prolongator, _])) = self.hierarchy.transfer(depth) else { return Ok(()) };
        let mut next = Vector::uninit(self.device, x.len())?;
        // x = x + P e, but for the factor that the next sweep multiplies by.
        ops::product(&mut next, Combine::AddTo(lazy.of(x, b)), 1.0 / lazy.start, prolongator, e)?;
        std::mem::swap(x, &mut next);
        self.sweep(level, x, b, Lazy { of_b: false, ..lazy }, 0..self.params.sweeps).map(drop)
    }

    fn solve(&self, x: &mut Vector, b: &Vector, start: Start) -> Result<bool> {
        let (Some(inverse), Some(level)) = (&self.hierarchy.inverse, self.hierarchy.levels.last()) else {
            return Ok(false);
        };
        coarsest::solve(inverse, (level.unit, self.sweeper(level).a), x, b, start)?;
        Ok(true)
    }

    fn sweep_twice(&self, x: &mut Vector, b: &Vector, start: Start) -> Result<()> {
        let Some(level) = self.hierarchy.levels.last() else { return Ok(()) };
        self.sweeps(level, x, b, start, 2).map(drop)
    }
}

impl<A: LinOp> Smoother for AggregationMultigrid<A> {
    fn smooth(&self, x: &mut Vector, b: &Vector, sweeps: usize) -> Result<()> {
        check_vectors("AggregationMultigrid::smooth", &self.a, x, b)?;
        let _scope = self.device.scope()?;
        let mut room = None;
        let b = match self.hierarchy.exponent {
            0 => b,
            e => {
                let scaled = room.insert(Vector::uninit(&self.device, b.len())?);
                times_power(scaled, -e, b)?;
                scaled
            }
        };
        cycles(&self.cycles(), self.params.cycle, x, b, (Start::After(0), sweeps))
    }
}

impl<A: LinOp> Preconditioner for AggregationMultigrid<A> {
    /// One cycle from zero, up to a power of two.
    fn apply(&self, z: &mut Vector, r: &Vector) -> Result<()> {
        check_vectors("AggregationMultigrid::apply", &self.a, z, r)?;
        let _scope = self.device.scope()?;
        // A multiple of a preconditioner is as good as the preconditioner: no scaling.
        cycles(&self.cycles(), self.params.cycle, z, r, (Start::Zero, 1))
    }

    fn is_replayable(&self) -> bool {
        self.a.is_replayable()
    }

    /// Of vector problems: what sweeps and aggregates leave of them takes twice as many iterations where these begin again.
    fn prefers_pairs(&self) -> bool {
        self.hierarchy.is_of_vectors
    }
}

fn unsupported(why: &str) -> Error {
    Error::Unsupported { what: OP.into(), why: why.into() }
}
