//! The enhanced block Jacobi method.

use super::block_vector::BlockVector;
use super::blocks::BlockExpression;
use super::{BlockParams, BlockPlan, BlockUse};
use crate::data::{Side, Stencil, Vector, exponent};
use crate::device::Device;
use crate::error::{Error, Result, check_finite};
use crate::pack::{Order, Program, RepeatedExpression, StencilBoundary};
use crate::shape::Shape;
use crate::solve::drive::check::check_vectors_of;
use crate::solve::precondition::Preconditioner;
use crate::solve::stationary::{Direction, Smoother};

/// Enhanced block Jacobi: Jacobi's iteration quad by quad, each with the newest values of the quads before it.
///
/// Of quad k of every block, with D the diagonal of the block S of `A`,
///
/// > x_k ← D⁻¹ (b - (A - D) x)_k
///
/// for k = 0, 1, ..., where x has the new values of quads 0 to k - 1. With quads in natural order few unknowns of a
/// line see a new neighbour, with folded ones nearly all: the order that takes the fewest instructions converges faster too.
/// In iterations Jacobi ≥ this ≥ this in the folded order ≥ Gauss-Seidel, by the residual.
///
/// As a [`Smoother`] it goes into [`Stationary`](crate::solve::Stationary), which tests the residual, finds divergence, and keeps
/// out of the null space of a singular operator (Neumann on all sides); as a [`Preconditioner`] it is one iteration from zero
/// through the quads and one back, which is symmetric for symmetric `A`, and positive definite wherever D less the couplings within
/// quads and between blocks is: for the Laplacian but for the narrow grids that [`from_stencil`](Self::from_stencil) names. The
/// operator itself is a [`Stencil`](crate::Stencil), or a matrix made of [`RepeatedExpression::to_triplets`].
///
/// At a side that is [`Copied`](crate::pack::StencilBoundary::Copied) across the lines the block's own old value stands in for
/// the one outside, at one that is [`Scaled`](crate::pack::StencilBoundary::Scaled) its multiple: D is there what it is
/// everywhere, 4 or 6 for the Laplacian, for b too. Along the lines D is the true diagonal.
///
/// *Shapes*: `x` and `b` of all [unknowns](RepeatedExpression::unknowns), in natural order. *Cost* of k sweeps: k q draws for
/// the q quads of a block, or k times as many as a [chosen](Self::chosen) schedule has; 2 q / t to bring x and b into the
/// layout by draws of t targets, and 1 back (1 more for every 14 quads or so); for a block of each sweep the instructions and
/// fetches of the [program](Self::program); no readback, and no matrix fetched. *Bound* of a quad's step, for m terms in a row:
/// `γ_(m+4) |D⁻¹| (|A - D| |x| + |b|)`. *Source*: \[Bajaj04\] section 4.1.
///
/// ```
/// use texla::pack::Order;
/// use texla::solve::{EnhancedBlockJacobi, Stationary, StationaryParams, StopReason};
/// use texla::{Grid, Side, Sides, Stencil, StencilParams, Vector};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let (grid, neumann) = (Grid::new_2d(8, 8), [Side::Neumann; 2]);
/// let sides = Sides { x: [Side::DIRICHLET; 2], y: neumann, z: neumann };
/// let operator = Stencil::new(dev, grid, StencilParams::new([1.0, 1.0, 0.0], sides))?;
/// let jacobi = EnhancedBlockJacobi::from_stencil(&operator, None)?; // lines folded in four, as in Figure 10(b)
/// let plain = EnhancedBlockJacobi::from_stencil(&operator, Some(&Order::identity(8)))?;
/// assert_eq!([&jacobi, &plain].map(|jacobi| jacobi.program().counts().total()), [8, 10]);
/// let (b, mut x) = (Vector::filled(dev, 64, 1.0)?, Vector::zeros(dev, 64)?);
/// let report = Stationary::new(&operator, &jacobi, StationaryParams::default())?.solve(&mut x, &b)?;
/// assert_eq!(report.reason, StopReason::Converged);
/// assert!((x.element(3)? - 10.0).abs() < 1e-3); // (i + 1) (8 - i) / 2 in every line
/// # Ok::<(), texla::Error>(())
/// ```
pub struct EnhancedBlockJacobi {
    iteration: BlockExpression,
    unknowns: usize,
    /// 1 / D, by the unknowns of a block.
    inverse: Vec<f64>,
    /// A power of two that takes the largest of them to about 1.
    factor: f64,
}

shown!(EnhancedBlockJacobi, |s| "EnhancedBlockJacobi({} unknowns)", s.unknowns);

const OP: &str = "EnhancedBlockJacobi";

impl EnhancedBlockJacobi {
    /// Makes ready for the matrix `a`, whose b is not looked at, with the unknowns of each block in this order.
    ///
    /// *Errors*: [`Error::Matrix`] naming the first row of a block whose diagonal is zero, or over which 1 is no normal
    /// float; otherwise as [`BlockExpression::new`].
    pub fn new(device: &Device, a: &RepeatedExpression, order: &Order) -> Result<Self> {
        Self::with(device, a, order, BlockParams::default())
    }

    /// The same in the order and layout, and by the schedule, that are [chosen](BlockPlan::choose) for this device; and what was
    /// chosen: of Poisson's equation the folded order with its quads in two colours, of which each is drawn at once.
    ///
    /// *Errors*: as [`new`](Self::new) and [`BlockPlan::choose`].
    pub fn chosen(device: &Device, a: &RepeatedExpression) -> Result<(Self, BlockPlan)> {
        let plan = BlockPlan::choose(device, &a.jacobi()?, BlockUse::Iterate)?;
        Ok((Self::with(device, a, &plan.order, plan.params)?, plan))
    }

    /// The same in a layout and by a schedule of one's own, which make no difference to results.
    ///
    /// *Errors*: as [`new`](Self::new) and [`BlockExpression::with`]; [`Error::Parameter`] for an iteration that subtracts b.
    pub fn with(device: &Device, a: &RepeatedExpression, order: &Order, params: BlockParams) -> Result<Self> {
        if params.subtract_b {
            let (name, value) = ("subtract_b", "true".to_owned());
            let expected = "false: an iteration adds D^-1 b";
            return Err(Error::Parameter { op: OP, name, value, expected });
        }
        let iteration = a.jacobi()?;
        let diagonal = a.block().matrix().diagonal();
        let inverse: Vec<f64> = diagonal.iter().map(|d| 1.0 / d).collect();
        check_finite("EnhancedBlockJacobi: 1 / a_ii", inverse.iter().copied())?;
        if let Some(i) = inverse.iter().position(|v| !(*v as f32).is_normal()) {
            let detail = format!(
                "has the diagonal entry {:e} in row {i} of a block, expected 1 over it to be a normal 32-bit float",
                diagonal.get(i).copied().unwrap_or_default()
            );
            return Err(Error::Matrix { op: OP, detail });
        }
        let largest = inverse.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let factor = f64::from(-exponent(largest)).exp2();
        let _scope = device.scope()?;
        let iteration = BlockExpression::of(device, &iteration, order, params, &[BlockUse::Iterate])?;
        Ok(Self { iteration, unknowns: a.unknowns(), inverse, factor })
    }

    /// The same for a stencil, in two or three dimensions, with any of its sides: blocks are its lines along x. Without an
    /// `order` it is [chosen](Self::chosen), with the layout and the schedule: most lines are [folded in four](Order::accordion),
    /// their quads in two colours.
    ///
    /// Along x a side is in the coefficients of S. Across, `DIRICHLET` drops what is outside, `Neumann` clamps, and given
    /// values d cells from the last unknown stand in as 1 - 1/d times the block's own old ones: minus these at a
    /// [`WALL`](Side::WALL). For weights that are positive and a shift that is not negative it converges where the stencil is not
    /// singular; only lines of one quad, free or periodic at both ends, with nothing across them but walls and even numbers of
    /// periodic lines, leave a checkerboard as it is where the shift is zero. There conjugate gradients break down with it, too.
    ///
    /// *Cost*: one compilation for each draw; without an `order` a search on the host, some 0.05 s for lines of 512 and 1 s for
    /// lines of 8,192; with a profile several searches. *Errors*: [`Error::Matrix`] for obstacles, whose rows are not
    /// like the others, and for sides across x closer than half a cell, with which no splitting of this form need converge;
    /// [`Error::Parameter`] for an empty grid; otherwise as [`new`](Self::new).
    pub fn from_stencil(a: &Stencil, order: Option<&Order>) -> Result<Self> {
        let expression = expression(a)?;
        match order {
            Some(order) => Self::new(a.device(), &expression, order),
            None => Ok(Self::chosen(a.device(), &expression)?.0),
        }
    }

    /// The same for another stencil, in this one's order and layout and by its schedule: nothing is searched for. Made for
    /// coefficients that change where the pattern stays, as with the length of a step in time; for another pattern the order is as
    /// right, if not the best.
    ///
    /// *Cost*: a compilation for each draw. *Errors*: as [`from_stencil`](Self::from_stencil);
    /// [`Error::LengthMismatch`] for lines of another length.
    pub fn renewed(&self, a: &Stencil) -> Result<Self> {
        Self::with(a.device(), &expression(a)?, self.iteration.order(), self.iteration.params())
    }

    /// The program that runs for a block.
    pub fn program(&self) -> &Program {
        self.iteration.program()
    }

    fn check(&self, op: &'static str, x: &Vector, b: &Vector) -> Result<()> {
        check_vectors_of(op, self.iteration.device(), Shape::new(self.unknowns, self.unknowns), x, b)
    }

    /// D⁻¹ b times `factor`.
    fn weighted(&self, op: &'static str, b: &Vector, factor: f64) -> Result<BlockVector> {
        let weight = |i: usize| self.inverse.get(i).map_or(0.0, |v| (factor * v) as f32);
        self.iteration.pack_weighted(op, b, weight)
    }
}

/// The rows of a stencil as those of one block, its side in the coefficients or behind the rectangle.
fn expression(a: &Stencil) -> Result<RepeatedExpression> {
    if a.grid().is_empty() {
        let (name, value) = ("a", format!("on a {}", a.grid()));
        return Err(Error::Parameter { op: OP, name, value, expected: "a stencil on one cell or more" });
    }
    let solid = a.solids().iter().filter(|solid| **solid).count();
    if solid > 0 {
        let detail = format!(
            "has obstacles in {solid} of {} cells, expected none: one block row stands for all",
            a.grid().len()
        );
        return Err(Error::Matrix { op: OP, detail });
    }
    let mut taps = vec![([0; 3], a.shift() + 2.0 * a.weights().iter().sum::<f64>())];
    for (axis, weight) in a.weights().into_iter().enumerate().filter(|(_, weight)| *weight != 0.0) {
        let offset = |step| std::array::from_fn(|k| if k == axis { step } else { 0 });
        taps.extend([-1, 1].map(|step| (offset(step), -weight)));
    }
    let mut sides = [[StencilBoundary::Dropped; 2]; 3];
    for (axis, (sides, found)) in sides.iter_mut().zip(a.sides().axes()).enumerate() {
        let across = axis > 0 && a.weights().get(axis).is_some_and(|weight| *weight != 0.0);
        for (side, found) in sides.iter_mut().zip(found) {
            *side = match (found, 1.0 - found.share()) {
                (Side::Periodic, _) => StencilBoundary::Periodic,
                (Side::Neumann, _) => StencilBoundary::Copied,
                (_, 0.0) => StencilBoundary::Dropped,
                (Side::Dirichlet { distance }, factor) if across && factor < -1.0 => {
                    let detail = format!(
                        "has given values {distance} cells outside along axis {axis}, expected half a cell or more along all but axis 0"
                    );
                    return Err(Error::Matrix { op: OP, detail });
                }
                (_, factor) => StencilBoundary::Scaled(factor),
            };
        }
    }
    RepeatedExpression::stencil(a.grid(), 1, &taps, sides, true)
}

impl Smoother for EnhancedBlockJacobi {
    fn smooth(&self, x: &mut Vector, b: &Vector, sweeps: usize) -> Result<()> {
        let op = "EnhancedBlockJacobi::smooth";
        self.check(op, x, b)?;
        let _scope = self.iteration.device().scope()?;
        if sweeps == 0 {
            return Ok(());
        }
        let (mut state, b) = (self.iteration.pack(x)?, self.weighted(op, b, 1.0)?);
        self.iteration.iterate(&mut state, &b, sweeps, Direction::Forward)?;
        self.iteration.unpack(x, &state)
    }
}

impl Preconditioner for EnhancedBlockJacobi {
    /// One iteration from zero, forward and back, times a power of two: `z` is about as large as `r`.
    fn apply(&self, z: &mut Vector, r: &Vector) -> Result<()> {
        let op = "EnhancedBlockJacobi::apply";
        self.check(op, z, r)?;
        let _scope = self.iteration.device().scope()?;
        let (mut state, r) = (self.iteration.zeros()?, self.weighted(op, r, self.factor)?);
        self.iteration.iterate(&mut state, &r, 1, Direction::Symmetric)?;
        self.iteration.unpack(z, &state)
    }
}
