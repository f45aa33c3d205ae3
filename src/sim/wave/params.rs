//! What a wave simulation is told, and what follows from it without a device.

use crate::error::{Error, Result, check_finite};
use crate::host::number;
use crate::shape::Grid;
use crate::solve::Stop;

/// How a step is made. `A` is `-h² Δ` on the grid, `α = (c dt / h)²`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scheme {
    /// Central differences (Equations 44-5, 44-6): `y⁺ - 2 y + y⁻ = -α A y`. A draw a step, and stable only up to
    /// `c dt / h = 1/√2`.
    Explicit,
    /// The average over three levels of time: `y⁺ - 2 y + y⁻ = -α A (y⁺ + 2 y + y⁻) / 4`. Stable for every step and of
    /// second order; it keeps a discrete [energy](super::Wave::energy), so that waves neither grow nor fade.
    #[default]
    CrankNicholson,
    /// The average of the current and the next level to the letter of \[Krueger05\] 44.4.1, Equation 44-7:
    /// `y⁺ - 2 y + y⁻ = -α A (y⁺ + y) / 2`. Stable for every step, of first order, and damped: the amplitude of a mode
    /// `A y = λ y` with `α λ < 16` falls by the factor `1 / √(1 + α λ / 2)` in every step.
    CurrentAndNext,
}

impl Scheme {
    /// The weight of the next level.
    pub(super) fn theta(self) -> f64 {
        match self {
            Scheme::Explicit => 0.0,
            Scheme::CrankNicholson => 0.25,
            Scheme::CurrentAndNext => 0.5,
        }
    }

    pub(super) fn is_implicit(self) -> bool {
        self != Scheme::Explicit
    }
}

/// What a wave meets at a side of the grid. Sides lie on the outer faces of the cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Boundary {
    /// A wall that the surface slides along: `∂y/∂n = 0`, the wave comes back upright.
    #[default]
    Reflecting,
    /// The surface is held: `y = 0`, the wave comes back upside down.
    Fixed,
    /// `∂y/∂t + c ∂y/∂n = 0`, the condition of first order of Engquist and Majda (1977), as the flux out of the side's
    /// cells: the step's matrix stays symmetric, and energy can only leave. Of a wave that meets the side at the angle
    /// `φ` the share `(1 - cos φ) / (1 + cos φ)` of the amplitude comes back: 0 head on, 3 % at 20°, 17 % at 45°.
    /// Since a flux is taken at the cell's centre, so does `π h / 2 L` of a wavelength `L`: 5 % for 32 cells.
    Absorbing,
    /// The opposite side follows; both sides of an axis or none.
    Periodic,
}

/// What each side does: that of the lowest and that of the highest coordinate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Boundaries {
    /// The sides at `x = 0` and `x = nx h`.
    pub x: [Boundary; 2],
    /// The sides at `y = 0` and `y = ny h`.
    pub y: [Boundary; 2],
}

impl Boundaries {
    /// The same on all four sides.
    pub const fn all(boundary: Boundary) -> Self {
        Boundaries { x: [boundary; 2], y: [boundary; 2] }
    }
}

/// Parameters of a [`Wave`](super::Wave).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct WaveParams {
    /// Cells; unknowns are values at their centres, element `x + nx y`.
    pub grid: Grid,
    /// Edge `h` of a cell.
    pub cell: f64,
    /// Wave speed `c`.
    pub speed: f64,
    /// Time step.
    pub dt: f64,
    /// What the sides do.
    pub boundaries: Boundaries,
    /// `d` in `y_tt + d y_t = c² Δy`: amplitudes fall as `exp(-d t / 2)`.
    pub damping: f64,
    /// How a step is made.
    pub scheme: Scheme,
    /// Bound on the relative residual of the linear system of an implicit step.
    pub tolerance: f64,
    /// Iterations of an implicit step; `None` for as many as the condition number and the tolerance ask for, but no more
    /// than 16 beyond the number of cells, and refused past 2000.
    pub iterations: Option<usize>,
    /// Take an explicit step past its limit for what it is.
    pub allow_unstable: bool,
}

with!(const WaveParams:
    with_grid(grid: Grid),
    with_cell(cell: f64),
    with_speed(speed: f64),
    with_dt(dt: f64),
    with_boundaries(boundaries: Boundaries),
    with_damping(damping: f64),
    with_scheme(scheme: Scheme),
    with_tolerance(tolerance: f64),
    with_iterations(iterations: Option<usize>),
    with_allow_unstable(allow_unstable: bool),
);

/// Iterations of a step that have to be asked for in [`WaveParams::iterations`].
const MOST_ITERATIONS: usize = 2000;

impl WaveParams {
    /// A basin of `nx` x `ny` cells of size 1 with reflecting sides, wave speed 1, steps of 0.5 by
    /// [`Scheme::CrankNicholson`].
    pub const fn new(nx: usize, ny: usize) -> Self {
        WaveParams {
            grid: Grid::new_2d(nx, ny),
            cell: 1.0,
            speed: 1.0,
            dt: 0.5,
            boundaries: Boundaries::all(Boundary::Reflecting),
            damping: 0.0,
            scheme: Scheme::CrankNicholson,
            tolerance: 1e-5,
            iterations: None,
            allow_unstable: false,
        }
    }

    /// Cells that a wave crosses in a step: `c dt / h`.
    pub fn courant(&self) -> f64 {
        self.speed * self.dt / self.cell
    }

    /// The largest stable time step of [`Scheme::Explicit`]: `h / (c √2)`; `h / c` where waves run along one axis alone,
    /// and infinite for a single cell between walls.
    pub fn explicit_limit(&self) -> f64 {
        self.cell / (self.speed * self.axes().sqrt())
    }

    /// `α = (c dt / h)²`.
    pub(super) fn alpha(&self) -> f64 {
        self.courant().powi(2)
    }

    /// Axes and their cells with what the two sides do.
    fn along(&self) -> [(usize, [Boundary; 2]); 2] {
        [(self.grid.nx, self.boundaries.x), (self.grid.ny, self.boundaries.y)]
    }

    /// Axes along which `A` is not zero: each adds at most 4 to its eigenvalues.
    fn axes(&self) -> f64 {
        let moves = |(cells, sides): &(usize, [Boundary; 2])| *cells > 1 || sides.contains(&Boundary::Fixed);
        self.along().iter().filter(|axis| moves(axis)).count() as f64
    }

    /// The condition number of an implicit step's matrix, at most: from the rows' sums.
    pub fn condition(&self) -> f64 {
        let theta_alpha = self.scheme.theta() * self.alpha();
        let least = 1.0 + self.uniform_loss();
        let axis = |(cells, sides): (usize, [Boundary; 2])| {
            let absorbing = sides.iter().filter(|s| **s == Boundary::Absorbing).count() as f64;
            let loss = self.side_loss();
            let stiff = if cells > 1 || sides.contains(&Boundary::Fixed) { 4.0 * theta_alpha } else { 0.0 };
            match (cells, absorbing) {
                (_, 0.0) => stiff,
                (0 | 1, sides) => sides * loss + stiff,
                // A cell at the side has a neighbour less.
                _ => stiff.max(0.5 * stiff + loss),
            }
        };
        let most: f64 = self.along().into_iter().map(axis).sum();
        (least + most) / least
    }

    /// Iterations after which conjugate gradients have met the tolerance, by the theory:
    /// `‖r_k‖ <= 2 √κ ((√κ - 1) / (√κ + 1))^k ‖r_0‖`; but no more than the number of cells, after which they end without
    /// rounding, and 16 for the rounding. 0 for an explicit scheme.
    pub fn iterations(&self) -> usize {
        if !self.scheme.is_implicit() {
            return 0;
        }
        let root = self.condition().sqrt();
        let needed = (2.0 * root / self.tolerance).ln() / ((root + 1.0) / (root - 1.0)).ln();
        let most = self.grid.len().saturating_add(16).min((1 << 24) - 1); // a float counts to 2^24
        // With a condition number of 1 the first iteration solves.
        self.iterations.unwrap_or((needed.ceil() as usize).clamp(1, most))
    }

    /// `d dt / 2`.
    pub(super) fn uniform_loss(&self) -> f64 {
        0.5 * self.damping * self.dt
    }

    /// `s` in `y⁺ - 2 y + y⁻ + s (y⁺ - y⁻) = ...`, cell by cell; `None` where nothing is lost.
    pub(super) fn losses(&self) -> Option<Vec<f64>> {
        let [x, y] = self.along().map(|(cells, sides)| self.side_losses(cells, sides));
        let uniform = self.uniform_loss();
        let at_sides = x.iter().chain(&y).any(|s| *s > 0.0);
        let all = || y.iter().flat_map(|y| x.iter().map(move |x| uniform + x + y)).collect();
        (at_sides || uniform > 0.0).then(all)
    }

    /// What an absorbing side adds in its cells: `c dt / 2 h`.
    pub(super) fn side_loss(&self) -> f64 {
        0.5 * self.courant()
    }

    /// What absorbing sides add along an axis.
    fn side_losses(&self, cells: usize, sides: [Boundary; 2]) -> Vec<f64> {
        let [low, high] = sides.map(|s| if s == Boundary::Absorbing { self.side_loss() } else { 0.0 });
        let loss = |i| if i == 0 { low } else { 0.0 } + if i + 1 == cells { high } else { 0.0 };
        (0..cells).map(loss).collect()
    }

    /// *Errors*: [`Error::Parameter`], for an explicit scheme past its limit with the limit.
    pub(super) fn check(&self) -> Result<()> {
        let op = "Wave::new";
        let fail = |name, value, expected| Err(Error::Parameter { op, name, value, expected });
        for (name, value) in [("cell", self.cell), ("speed", self.speed), ("dt", self.dt)] {
            if !(value > 0.0 && value.is_finite()) {
                return fail(name, number(value), "a positive number");
            }
        }
        if !(self.damping >= 0.0 && self.damping.is_finite()) {
            return fail("damping", number(self.damping), "0 or a positive number");
        }
        if self.grid.nz != 1 {
            return fail("grid.nz", self.grid.nz.to_string(), "1: waves run in two dimensions");
        }
        for (name, sides) in [("boundaries.x", self.boundaries.x), ("boundaries.y", self.boundaries.y)] {
            if sides.contains(&Boundary::Periodic) && sides != [Boundary::Periodic; 2] {
                return fail(name, format!("{sides:?}"), "both sides of an axis periodic, or none");
            }
        }
        Stop::relative(self.tolerance).check(op)?;
        if self.iterations.is_some_and(|k| k >= 1 << 24) {
            return fail("iterations", self.iterations().to_string(), "less than 2^24");
        }
        // A limit that is met but for the rounding of its own computation is met.
        let past = self.dt > self.explicit_limit() * (1.0 + 1e-12);
        if self.scheme == Scheme::Explicit && past && !self.allow_unstable {
            let (dt, limit) = (number(self.dt), number(self.explicit_limit()));
            let value = format!("{dt} (c dt / h = {:.4}; the limit is dt = {limit})", self.courant());
            let expected = "c dt / h <= 1/√axes for Scheme::Explicit, an implicit scheme, or allow_unstable";
            return fail("dt", value, expected);
        }
        // What the device has to hold, before anything else is told of it.
        let (least, most) = (f64::from(f32::MIN_POSITIVE), f64::from(f32::MAX));
        let alpha = self.alpha();
        if alpha < least {
            let (value, expected) = (
                format!("{:e} (c dt / h = {:e})", self.speed, self.courant()),
                "c dt / h of 1.1e-19 at least",
            );
            return fail("speed", value, expected);
        }
        let loss = self.uniform_loss();
        if loss != 0.0 && !(least..=0.25 * most).contains(&loss) {
            let value = format!("{:e} (d dt / 2 = {loss:e})", self.damping);
            return fail("damping", value, "d dt / 2 of 0, or between 1.2e-38 and 8.5e37");
        }
        let energies = [self.cell.powi(2) / self.dt.powi(2), self.speed.powi(2)];
        check_finite("Wave::new: alpha, h²/dt², c²", [alpha, energies[0], energies[1]])?;
        if self.iterations.is_none() && self.iterations() > MOST_ITERATIONS {
            let value = format!(
                "{} (c dt / h = {:e}: {} iterations a step)",
                self.dt,
                self.courant(),
                self.iterations()
            );
            return fail("dt", value, "a step of 2000 iterations at most, or WaveParams::iterations given");
        }
        Ok(())
    }
}
