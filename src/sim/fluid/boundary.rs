//! What happens at the sides of the box and at obstacles, as arrays for the device: pure arithmetic.

use crate::data::{Side, Sides, Stencil};
use crate::error::{Error, Result, check_finite};
use crate::host::number;
use crate::shape::Grid;

/// What happens at one side of the box.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Boundary {
    /// A wall that the fluid sticks to. It may move along itself, as a lid does; across itself its velocity is zero.
    NoSlip {
        /// The wall's velocity.
        velocity: [f64; 3],
    },
    /// A wall without friction.
    FreeSlip,
    /// The fluid has this velocity here, inwards or outwards.
    Inflow {
        /// The fluid's velocity.
        velocity: [f64; 3],
    },
    /// The pressure is zero: the fluid leaves and enters as it will.
    Open,
}

impl Boundary {
    /// A wall at rest that the fluid sticks to.
    pub const WALL: Boundary = Boundary::NoSlip { velocity: [0.0; 3] };

    fn velocity(self) -> [f64; 3] {
        match self {
            Boundary::NoSlip { velocity } | Boundary::Inflow { velocity } => velocity,
            Boundary::FreeSlip | Boundary::Open => [0.0; 3],
        }
    }

    /// How `component` goes on past a side across `axis`: constant and factor of the value inside.
    fn ghost(self, component: usize, axis: usize) -> [f64; 2] {
        match self {
            // The mean of both is the wall's velocity, half-way between them.
            Boundary::NoSlip { velocity } | Boundary::Inflow { velocity } if component != axis => {
                [2.0 * velocity.get(component).copied().unwrap_or(0.0), -1.0]
            }
            _ => [0.0, 1.0],
        }
    }
}

/// The six sides of the box; the first of each pair is the one where the coordinate is zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Boundaries {
    /// Left and right.
    pub x: [Boundary; 2],
    /// Bottom and top.
    pub y: [Boundary; 2],
    /// Back and front; without effect in two dimensions.
    pub z: [Boundary; 2],
}

impl Boundaries {
    /// The same on all sides.
    pub const fn all(boundary: Boundary) -> Self {
        Boundaries { x: [boundary; 2], y: [boundary; 2], z: [boundary; 2] }
    }

    /// The pair of sides across an axis.
    pub(super) fn across(&self, axis: usize) -> [Boundary; 2] {
        match axis {
            0 => self.x,
            1 => self.y,
            _ => self.z,
        }
    }

    /// What the pressure meets at the sides: zero where they are open, no flux elsewhere.
    pub(super) fn pressure_sides(&self) -> Sides {
        let side = |boundary| if boundary == Boundary::Open { Side::WALL } else { Side::Neumann };
        Sides { x: self.x.map(side), y: self.y.map(side), z: self.z.map(side) }
    }

    /// What the implicit viscous step of a component meets around the faces that it decides: given velocities on the faces at
    /// the sides across its own axis, at the others no flux or a wall half a cell away.
    #[cfg(feature = "pack")]
    pub(super) fn viscous_sides(&self, component: usize) -> Sides {
        let side = |axis: usize| {
            self.across(axis).map(|boundary| match boundary {
                Boundary::Open | Boundary::FreeSlip if axis != component => Side::Neumann,
                Boundary::Open => Side::Neumann,
                _ if axis == component => Side::DIRICHLET,
                _ => Side::WALL,
            })
        };
        Sides { x: side(0), y: side(1), z: side(2) }
    }

    /// The numbers that shaders go on past sides with: for each component and each axis, constant and factor at the
    /// low and at the high side.
    pub(super) fn ghosts(&self) -> Vec<f32> {
        let pairs = (0..3).flat_map(|c| (0..3).map(move |a| (c, a)));
        let of = |(c, a)| self.across(a).into_iter().flat_map(move |b| b.ghost(c, a));
        pairs.flat_map(of).map(|v| v as f32).collect()
    }

    /// Refuses what is not finite, and walls that move across themselves.
    pub(super) fn check(&self, dimensions: usize) -> Result<()> {
        for axis in 0..dimensions {
            for side in self.across(axis) {
                let velocity = side.velocity();
                check_finite("Boundaries", velocity)?;
                let across = velocity.get(axis).copied().unwrap_or(0.0);
                if matches!(side, Boundary::NoSlip { .. }) && across != 0.0 {
                    let (name, value) = ("velocity", format!("{} across the side", number(across)));
                    let expected = "a wall that moves along itself only (or Boundary::Inflow)";
                    return Err(Error::Parameter { op: "Fluid::new", name, value, expected });
                }
            }
        }
        Ok(())
    }
}

/// The grid of the faces across an axis: one more of them than cells along it.
pub(super) fn faces(cells: Grid, axis: usize) -> Grid {
    match axis {
        0 => Grid { nx: cells.nx + 1, ..cells },
        1 => Grid { ny: cells.ny + 1, ..cells },
        2 => Grid { nz: cells.nz + 1, ..cells },
        _ => cells,
    }
}

/// What is known of the faces across one axis before anything flows.
pub(super) struct Faces {
    /// 1 where the fluid decides, 0 where the velocity is given.
    pub free: Vec<f32>,
    /// The given velocity, 0 elsewhere.
    pub held: Vec<f32>,
}

impl Faces {
    /// Of the faces across `axis`; `solid` has no element where nothing is solid.
    pub fn new(cells: Grid, axis: usize, boundaries: &Boundaries, solid: &[bool]) -> Self {
        let grid = faces(cells, axis);
        let (mut free, mut held) = (Vec::with_capacity(grid.len()), Vec::with_capacity(grid.len()));
        let is_solid = |q: [usize; 3]| {
            let [x, y, z] = q;
            solid.get(cells.index(x, y, z)).copied().unwrap_or(false)
        };
        let end = [cells.nx, cells.ny, cells.nz].get(axis).copied().unwrap_or(0);
        for q in places(grid) {
            let k = q.get(axis).copied().unwrap_or(0);
            let [low, high] = boundaries.across(axis);
            let side = if k == 0 {
                Some(low)
            } else if k == end {
                Some(high)
            } else {
                None
            };
            let before = (k > 0).then(|| shifted(q, axis));
            let after = (k < end).then_some(q);
            let blocked = [before, after].into_iter().flatten().any(is_solid);
            let (f, h) = match side {
                _ if blocked => (0.0, 0.0),
                None | Some(Boundary::Open) => (1.0, 0.0),
                Some(side) => (0.0, side.velocity().get(axis).copied().unwrap_or(0.0)),
            };
            free.push(f);
            held.push(h as f32);
        }
        Faces { free, held }
    }
}

/// The cell below a face.
fn shifted(mut q: [usize; 3], axis: usize) -> [usize; 3] {
    if let Some(k) = q.get_mut(axis) {
        *k = k.saturating_sub(1);
    }
    q
}

/// All places of a grid in order.
pub(super) fn places(grid: Grid) -> impl Iterator<Item = [usize; 3]> {
    let rows = (0..grid.nz).flat_map(move |z| (0..grid.ny).map(move |y| (y, z)));
    rows.flat_map(move |(y, z)| (0..grid.nx).map(move |x| [x, y, z]))
}

/// Refuses closed regions into which more flows than out of them: no pressure can make that free of divergence. The
/// regions are those of the pressure's null space, and the single cells that its matrix has closed beside `solid`.
pub(super) fn check_balance(all: &[Faces], cells: Grid, poisson: &Stencil, solid: &[bool]) -> Result<()> {
    if all.iter().flat_map(|faces| &faces.held).all(|held| *held == 0.0) {
        return Ok(());
    }
    for region in poisson.null_space() {
        let inside = region.read()?;
        check_region(all, cells, |i| inside.get(i).is_some_and(|v| *v != 0.0))?;
    }
    for (cell, _) in poisson.solids().iter().zip(solid).enumerate().filter(|(_, (now, was))| **now && !**was)
    {
        check_region(all, cells, |i| i == cell)?;
    }
    Ok(())
}

fn check_region(all: &[Faces], cells: Grid, contains: impl Fn(usize) -> bool) -> Result<()> {
    let is_inside = |[x, y, z]: [usize; 3]| contains(cells.index(x, y, z));
    let (mut net, mut size) = (0.0, 0.0);
    for (axis, on) in all.iter().enumerate() {
        let end = cells.sides().get(axis).copied().unwrap_or(0);
        for (q, held) in places(faces(cells, axis)).zip(&on.held).filter(|(_, held)| **held != 0.0) {
            // Held velocities other than zero are those of the sides.
            let (k, held) = (q.get(axis).copied().unwrap_or(0), f64::from(*held));
            if k == 0 && is_inside(q) {
                net += held;
                size += held.abs();
            } else if k == end && is_inside(shifted(q, axis)) {
                net -= held;
                size += held.abs();
            }
        }
    }
    if f64::abs(net) > 1e-6 * size {
        let (name, value) =
            ("boundaries", format!("{net:e} times a face of net inflow into a closed region"));
        let expected = "as much inflow as outflow, or an open side";
        return Err(Error::Parameter { op: "Fluid::new", name, value, expected });
    }
    Ok(())
}
