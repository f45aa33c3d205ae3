//! The grids of a multigrid cycle: what is coarsened, and what lies between a grid and the next.

use super::coarsest::{MOST_DENSE, dense, inverse};
use crate::data::{Matrix, Side, Sides, Stencil, StencilParams, Vector};
use crate::error::Result;
use crate::shape::Grid;

/// Operators whose exponent is within this stay as they are.
const ORDINARY: i32 = 20;

/// An axis waits for another whose weight is more than this times its own: across weak coupling errors do not become
/// smooth by sweeps.
const MUCH_STRONGER: f64 = 2.5;

pub(super) struct Hierarchy {
    /// From the finest on; all but the last have a transfer.
    pub levels: Vec<Level>,
    /// The inverse on the last grid, or its pseudo-inverse.
    pub inverse: Option<Matrix>,
    /// The operator is kept divided by two to this.
    pub exponent: i32,
}

pub(super) struct Level {
    pub a: Stencil,
    /// To the next grid.
    pub transfer: Option<Transfer>,
}

/// Between a grid and the next coarser one.
pub(super) struct Transfer {
    /// Which axes are coarsened.
    pub coarse: [bool; 3],
    /// What interpolation is multiplied by at the ends of each axis: first cell, last but one, last.
    pub ends: [[f64; 3]; 3],
    /// The same for every cell, where solid ones make each its own case.
    pub scales: Option<Vector>,
}

impl Hierarchy {
    pub fn new(a: &Stencil) -> Result<Self> {
        // Exact, and only where it matters: products of large or small numbers are to stay in range.
        let exponent = if a.exponent().abs() <= ORDINARY { 0 } else { a.exponent() };
        let scale = f64::from(-exponent).exp2();
        let scaled = StencilParams::new(a.weights().map(|w| w * scale), a.sides())
            .with_shift(a.shift() * scale)
            .with_solid(a.solids());
        let mut current = Stencil::new(a.device(), a.grid(), scaled)?;
        let mut levels = Vec::new();
        while current.grid().len() > MOST_DENSE
            && let Some((transfer, coarser)) = coarsen(&current)?
        {
            levels.push(Level { a: current, transfer: Some(transfer) });
            current = coarser;
        }
        let n = current.grid().len();
        let inverse = if n > MOST_DENSE { None } else { Some(dense(a.device(), n, inverse(&current)?)?) };
        levels.push(Level { a: current, transfer: None });
        Ok(Hierarchy { levels, inverse, exponent })
    }

    /// A level that is not the last, what leads to the next, and that one.
    pub fn pair(&self, depth: usize) -> Option<(&Level, &Transfer, &Level)> {
        let level = self.levels.get(depth)?;
        Some((level, level.transfer.as_ref()?, self.levels.get(depth + 1)?))
    }
}

/// Which axes to coarsen next.
fn choose(a: &Stencil) -> [bool; 3] {
    let grid = a.grid().sides();
    let sides = a.sides().axes();
    let weights = a.weights();
    let able: [bool; 3] = std::array::from_fn(|axis| {
        let (n, w) = (grid.get(axis).copied().unwrap_or(0), weights.get(axis).copied().unwrap_or(0.0));
        let wraps = sides.get(axis).is_some_and(|ends| ends.contains(&Side::Periodic));
        w > 0.0 && n >= 4 && !(wraps && n % 2 == 1)
    });
    let strongest = able.iter().zip(weights).filter(|(able, _)| **able).fold(0.0f64, |m, (_, w)| m.max(w));
    let mut chosen = able;
    chosen.iter_mut().zip(weights).for_each(|(c, w)| *c = *c && w * MUCH_STRONGER >= strongest);
    chosen
}

/// The next coarser grid with its operator, unless no axis can be coarsened.
fn coarsen(a: &Stencil) -> Result<Option<(Transfer, Stencil)>> {
    let coarse = choose(a);
    if !coarse.contains(&true) {
        return Ok(None);
    }
    let (grid, sides) = (a.grid(), a.sides());
    let mut ends = [[1.0; 3]; 3];
    let mut counts = grid.sides();
    let mut weights = a.weights();
    let mut axes = sides.axes();
    let along = counts.iter_mut().zip(&mut weights).zip(&mut axes).zip(&mut ends).zip(coarse);
    for ((((count, weight), sides), ends), coarse) in along {
        if coarse {
            let odd = *count % 2 == 1;
            (*sides, *ends) = halve(*sides, odd);
            *count /= 2;
            *weight /= 4.0;
        }
    }
    let [nx, ny, nz] = counts;
    let [x, y, z] = axes;
    let coarser = Grid::new_3d(nx, ny, nz);
    let solid = solid(a, coarser, coarse);
    let params = StencilParams::new(weights, Sides { x, y, z }).with_shift(a.shift()).with_solid(&solid);
    let operator = Stencil::new(a.device(), coarser, params)?;
    let scales = if a.solids().is_empty() {
        None
    } else {
        Some(Vector::from_f64(a.device(), &scales(a, &operator, coarse, ends))?)
    };
    Ok(Some((Transfer { coarse, ends, scales }, operator)))
}

/// The sides of an axis in units of the coarser cells, and what interpolation is multiplied by at its ends.
///
/// Between the last coarse centre and a side values go linearly to zero at it, or are constant where nothing flows.
/// Bilinear weights sum to 3/4 there, to 1/4 in the cell that is left over of an odd number.
fn halve(sides: [Side; 2], odd: bool) -> ([Side; 2], [f64; 3]) {
    // Distance of the last coarse centre from the last cell.
    let beyond = if odd { 1.5 } else { 0.5 };
    let [low, high] = sides;
    let coarser = |side, shift| match side {
        Side::Dirichlet { distance } => Side::Dirichlet { distance: (distance + shift) / 2.0 },
        other => other,
    };
    let reach = |side, cell: f64, centre: f64| match side {
        Side::Dirichlet { distance } => (distance + cell) / (distance + centre),
        _ => 1.0,
    };
    let scales = match (low, high) {
        (Side::Periodic, _) => [1.0; 3],
        _ if odd => {
            [reach(low, 0.0, 0.5) / 0.75, reach(high, 1.0, beyond) / 0.75, reach(high, 0.0, beyond) / 0.25]
        }
        _ => [reach(low, 0.0, 0.5) / 0.75, 1.0, reach(high, 0.0, beyond) / 0.75],
    };
    ([coarser(low, 0.5), coarser(high, beyond)], scales)
}

/// A coarse cell is solid when all its cells are.
fn solid(a: &Stencil, coarser: Grid, coarse: [bool; 3]) -> Vec<bool> {
    if a.solids().is_empty() {
        return Vec::new();
    }
    let mut all = vec![true; coarser.len()];
    for (i, solid) in a.solids().iter().enumerate() {
        let (x, y, z) = a.grid().place(i);
        let [cx, cy, cz] = parents([x, y, z], coarser, coarse);
        if let Some(cell) = all.get_mut(coarser.index(cx, cy, cz)) {
            *cell &= *solid;
        }
    }
    all
}

/// The coarse cell that a cell is part of; what is left over of an odd number joins the last.
fn parents(cell: [usize; 3], coarser: Grid, coarse: [bool; 3]) -> [usize; 3] {
    let mut parent = cell;
    for ((at, n), coarse) in parent.iter_mut().zip(coarser.sides()).zip(coarse) {
        if coarse {
            *at = (*at / 2).min(n.saturating_sub(1));
        }
    }
    parent
}

/// For every cell what its interpolation is multiplied by, so that the weights of coarse cells that exist and are not
/// solid sum to what they should.
fn scales(a: &Stencil, coarser: &Stencil, coarse: [bool; 3], ends: [[f64; 3]; 3]) -> Vec<f64> {
    let sides = a.sides().axes();
    (0..a.grid().len())
        .map(|i| {
            if a.is_solid(i) {
                return 0.0;
            }
            let (x, y, z) = a.grid().place(i);
            // Along each axis: up to two coarse cells with their weights, and what these should sum to.
            let mut wanted = 1.0;
            let mut candidates = vec![([0usize; 3], 1.0f64)];
            for axis in 0..3 {
                let of = |v: [usize; 3]| v.get(axis).copied().unwrap_or(0);
                let (at, n, count) = (of([x, y, z]), of(a.grid().sides()), of(coarser.grid().sides()));
                let set = |mut c: [usize; 3], value| {
                    if let Some(slot) = c.get_mut(axis) {
                        *slot = value;
                    }
                    c
                };
                if !coarse.get(axis).copied().unwrap_or(false) {
                    candidates.iter_mut().for_each(|(c, _)| *c = set(*c, at));
                    continue;
                }
                let wraps = sides.get(axis).is_some_and(|s| s.contains(&Side::Periodic));
                let own = at / 2;
                let other = if at % 2 == 1 { Some(own + 1) } else { own.checked_sub(1) };
                let other = other.filter(|j| *j < count).or(match wraps {
                    true if at % 2 == 1 => Some(0),
                    true => Some(count.saturating_sub(1)),
                    false => None,
                });
                let pair: Vec<(usize, f64)> = [(Some(own).filter(|j| *j < count), 0.75), (other, 0.25)]
                    .into_iter()
                    .filter_map(|(j, w)| j.map(|j| (j, w)))
                    .collect();
                let inside: f64 = pair.iter().map(|(_, w)| w).sum();
                let [first, next, last] = ends.get(axis).copied().unwrap_or([1.0; 3]);
                let factor = if at == 0 { first } else { 1.0 }
                    * if at + 2 == n { next } else { 1.0 }
                    * if at + 1 == n { last } else { 1.0 };
                wanted *= inside * factor;
                candidates = candidates
                    .iter()
                    .flat_map(|(c, w)| pair.iter().map(move |(j, v)| (set(*c, *j), w * v)))
                    .collect();
            }
            let sum: f64 = candidates
                .iter()
                .filter(|(c, _)| {
                    let [cx, cy, cz] = *c;
                    !coarser.is_solid(coarser.grid().index(cx, cy, cz))
                })
                .map(|(_, w)| w)
                .sum();
            if sum > 0.0 { wanted / sum } else { 0.0 }
        })
        .collect()
}
