//! The same steps in 64 bits, cell by cell, and how far 32 bits may be off.

use texla::Grid;
use texla::sim::fluid::{Boundaries, Boundary};

use crate::common::bounds::{U, gamma};
use crate::common::reference::max_abs;
use crate::common::worst::worst;

/// An array on the faces across `axis`, or in the cells for 3.
#[derive(Clone)]
pub struct Field {
    pub axis: usize,
    pub cells: Grid,
    pub values: Vec<f64>,
}

pub type Place = [i64; 3];

pub fn sides(cells: Grid, axis: usize) -> [i64; 3] {
    let mut n = cells.sides().map(|n| n as i64);
    if axis < 3 {
        n[axis] += 1;
    }
    n
}

/// All places of an array in order.
pub fn places(cells: Grid, axis: usize) -> Vec<Place> {
    let n = sides(cells, axis);
    let rows = (0..n[2]).flat_map(|z| (0..n[1]).map(move |y| (y, z)));
    rows.flat_map(|(y, z)| (0..n[0]).map(move |x| [x, y, z])).collect()
}

impl Field {
    pub fn new(cells: Grid, axis: usize, values: &[f32]) -> Self {
        assert_eq!(values.len(), places(cells, axis).len());
        Field { axis, cells, values: values.iter().map(|v| f64::from(*v)).collect() }
    }

    pub fn sides(&self) -> [i64; 3] {
        sides(self.cells, self.axis)
    }

    /// Where element (0, 0, 0) lies, in cells.
    pub fn origin(&self) -> [f64; 3] {
        [0, 1, 2].map(|a| if a == self.axis { 0.0 } else { 0.5 })
    }

    pub fn raw(&self, q: Place) -> f64 {
        let n = self.sides();
        self.values[(q[0] + n[0] * (q[1] + n[1] * q[2])) as usize]
    }

    pub fn clamped(&self, q: Place) -> Place {
        let n = self.sides();
        [0, 1, 2].map(|a| q[a].clamp(0, n[a] - 1))
    }

    /// The value, which may lie past a side.
    pub fn at(&self, sides: &Boundaries, q: Place) -> f64 {
        let c = self.clamped(q);
        let mut value = self.raw(c);
        for a in 0..3 {
            if self.axis < 3 && q[a] != c[a] {
                let (constant, factor) = ghost(sides, self.axis, a, q[a] > c[a]);
                value = constant + factor * value;
            }
        }
        value
    }

    /// The largest magnitude, ghosts included.
    pub fn largest(&self, sides: &Boundaries) -> f64 {
        let inside = max_abs(&self.values);
        let wall = [sides.x, sides.y, sides.z].into_iter().flatten().map(velocity);
        let wall = wall.flatten().map(f64::abs).fold(0.0, worst);
        if self.axis < 3 { inside + 2.0 * wall } else { inside }
    }

    /// Linear interpolation `d` cells from element `at`.
    pub fn sampled(&self, sides: &Boundaries, at: Place, d: [f64; 3]) -> f64 {
        let whole = d.map(f64::floor);
        let mut sum = 0.0;
        for corner in 0..8 {
            let bits = [corner & 1, corner >> 1 & 1, corner >> 2 & 1];
            let r = [0, 1, 2].map(|a| d[a] - whole[a]);
            let weight: f64 =
                [0, 1, 2].map(|a| if bits[a] == 1 { r[a] } else { 1.0 - r[a] }).into_iter().product();
            if weight != 0.0 {
                sum += weight * self.at(sides, [0, 1, 2].map(|a| at[a] + whole[a] as i64 + bits[a]));
            }
        }
        sum
    }
}

pub fn velocity(boundary: Boundary) -> [f64; 3] {
    match boundary {
        Boundary::NoSlip { velocity } | Boundary::Inflow { velocity } => velocity,
        _ => [0.0; 3],
    }
}

pub fn side(sides: &Boundaries, axis: usize, high: bool) -> Boundary {
    [sides.x, sides.y, sides.z][axis][usize::from(high)]
}

/// Constant and factor of what lies past a side.
fn ghost(sides: &Boundaries, component: usize, axis: usize, high: bool) -> (f64, f64) {
    match side(sides, axis, high) {
        Boundary::NoSlip { velocity } | Boundary::Inflow { velocity } if component != axis => {
            (f64::from((2.0 * velocity[component]) as f32), -1.0)
        }
        _ => (0.0, 1.0),
    }
}

/// The flow through which things are carried, at `rate` = time step over cell size.
pub struct Flow<'a> {
    pub velocity: &'a [Field],
    pub sides: &'a Boundaries,
    pub rate: f64,
}

impl Flow<'_> {
    fn velocity_at(&self, f: &Field, at: Place, d: [f64; 3]) -> [f64; 3] {
        let mut v = [0.0; 3];
        for (a, u) in self.velocity.iter().enumerate() {
            let shift = [0, 1, 2].map(|b| d[b] + f.origin()[b] - u.origin()[b]);
            v[a] = self.rate * u.sampled(self.sides, at, shift);
        }
        v
    }

    /// Displacement by the midpoint rule.
    pub fn traced(&self, f: &Field, at: Place, sign: f64) -> [f64; 3] {
        let n = f.cells.sides();
        let place = [0, 1, 2].map(|a| at[a] as f64 + f.origin()[a]);
        let kept = |d: [f64; 3]| [0, 1, 2].map(|a| d[a].clamp(-place[a], n[a] as f64 - place[a]));
        let half = kept(self.velocity_at(f, at, [0.0; 3]).map(|v| 0.5 * sign * v));
        kept(self.velocity_at(f, at, half).map(|v| sign * v))
    }

    pub fn advected(&self, f: &Field) -> Vec<f64> {
        places(f.cells, f.axis)
            .into_iter()
            .map(|at| f.sampled(self.sides, at, self.traced(f, at, -1.0)))
            .collect()
    }

    /// A scalar around solid cells, which are left out of the mean; and the weight of what is left.
    pub fn advected_around(&self, f: &Field, solid: &[bool]) -> Vec<(f64, f64)> {
        let weights = Field { values: solid.iter().map(|s| f64::from(u8::from(!s))).collect(), ..f.clone() };
        let values: Vec<f64> = weights.values.iter().zip(&f.values).map(|(w, v)| w * v).collect();
        let weighted = Field { values, ..f.clone() };
        let one = |(i, at): (usize, Place)| {
            let d = self.traced(f, at, -1.0);
            let weight = weights.sampled(self.sides, at, d);
            let value = weighted.sampled(self.sides, at, d) / weight;
            (if solid[i] { 0.0 } else { value }, weight)
        };
        places(f.cells, 3).into_iter().enumerate().map(one).collect()
    }

    /// Rounding error of a linear interpolation of numbers up to m: `a + r (b - a)` rounds three times, of sizes up
    /// to 2m, 2m and m, at each of as many levels as there are dimensions; its inputs' errors are averaged. A ghost is
    /// `c + factor v`, rounded once, per axis.
    fn interpolation(&self, f: &Field) -> f64 {
        let m = f.largest(self.sides);
        (5.0 * 3.0 + 3.0) * m * gamma(2)
    }

    /// How much a field changes by a cell at most, along any axis, ghosts included.
    fn steepness(&self, f: &Field) -> f64 {
        let mut steepest: f64 = 0.0;
        for at in places(f.cells, f.axis) {
            for a in 0..3 {
                for step in [-1, 1] {
                    let mut q = at;
                    q[a] += step;
                    steepest = worst(steepest, (f.at(self.sides, q) - f.raw(at)).abs());
                }
            }
        }
        steepest
    }

    /// Error of a traced displacement, along each axis, in cells.
    pub fn trace_bound(&self) -> f64 {
        let over = |g: &dyn Fn(&Field) -> f64| self.velocity.iter().map(g).fold(0.0, worst);
        let m = over(&|u| u.largest(self.sides));
        let steep = over(&|u| self.steepness(u));
        let rounding = over(&|u| self.interpolation(u));
        // Place of the sample: two roundings of numbers up to the displacement plus 1, and one in d - floor(d).
        let place = |d: f64| 3.0 * gamma(2) * (d + 1.0);
        let first = 0.5 * self.rate * (rounding + 3.0 * steep * place(0.0) + gamma(3) * m);
        let half = 0.5 * self.rate * m;
        1.01 * self.rate * (rounding + 3.0 * steep * (first + place(half)) + gamma(3) * m)
    }

    /// Error of [`advected`](Self::advected): that of the displacement times how steep the field is, and of the last
    /// interpolation.
    pub fn advection_bound(&self, f: &Field) -> f64 {
        let d = self.rate * self.velocity.iter().map(|u| u.largest(self.sides)).fold(0.0, worst);
        let place = self.trace_bound() + 2.0 * U * (d + 1.0);
        1.01 * (self.interpolation(f) + 3.0 * self.steepness(f) * place)
    }

    /// MacCormack's correction of `forth`, and the elements where the range of values to stay in may be that of another
    /// cell, since the place that the fluid comes from is on a boundary between cells within rounding.
    pub fn corrected(&self, f: &Field, forth: &Field) -> (Vec<f64>, Vec<bool>) {
        let near = self.trace_bound() + 1e-6;
        let one = |(i, at): (usize, Place)| {
            let from = self.traced(f, at, -1.0);
            let back = forth.sampled(self.sides, at, self.traced(f, at, 1.0));
            let base = [0, 1, 2].map(|a| at[a] + from[a].floor() as i64);
            let corners = (0..8).map(|c| [base[0] + (c & 1), base[1] + (c >> 1 & 1), base[2] + (c >> 2 & 1)]);
            let planar = f.cells.nz == 1;
            let corners = corners.filter(|q| !planar || q[2] == at[2]).map(|q| f.at(self.sides, q));
            let start = (forth.values[i], forth.values[i]);
            let (low, high) = corners.fold(start, |(l, h), v| (-worst(-l, -v), worst(h, v)));
            let doubtful = from.into_iter().any(|d| (d - d.round()).abs() < near && d != 0.0);
            ((forth.values[i] + 0.5 * (f.values[i] - back)).clamp(low, high), doubtful)
        };
        places(f.cells, f.axis).into_iter().enumerate().map(one).unzip()
    }

    /// Error of the correction: of `forth`, of the way back (its own interpolation of a field that is off by as much),
    /// and of three operations.
    pub fn correction_bound(&self, f: &Field, forth: &Field) -> f64 {
        let carried = self.advection_bound(f);
        let back = self.advection_bound(forth) + carried;
        carried + 0.5 * back + gamma(3) * 4.0 * f.largest(self.sides)
    }
}

/// What flows out of each cell, faces of area 1.
pub fn outflow(velocity: &[Field]) -> Vec<f64> {
    let cells = velocity[0].cells;
    let one = |q: Place| -> f64 {
        let across = |u: &Field| {
            let mut next = q;
            next[u.axis] += 1;
            u.raw(next) - u.raw(q)
        };
        velocity.iter().map(across).sum()
    };
    places(cells, 3).into_iter().map(one).collect()
}

/// The sum of the magnitudes in it.
pub fn outflow_size(velocity: &[Field]) -> Vec<f64> {
    let one = |q: Place| -> f64 {
        let across = |u: &Field| {
            let mut next = q;
            next[u.axis] += 1;
            u.raw(next).abs() + u.raw(q).abs()
        };
        velocity.iter().map(across).sum()
    };
    places(velocity[0].cells, 3).into_iter().map(one).collect()
}

/// 1 where a face is free, and the value where it is held.
pub fn faces(cells: Grid, axis: usize, sides: &Boundaries, solid: &[bool]) -> Vec<Option<f64>> {
    let n = cells.sides();
    let is_solid = |q: Place| {
        let inside = (0..3).all(|a| (0..n[a] as i64).contains(&q[a]));
        inside && !solid.is_empty() && solid[cells.index(q[0] as usize, q[1] as usize, q[2] as usize)]
    };
    let one = |q: Place| {
        let mut before = q;
        before[axis] -= 1;
        if is_solid(q) || is_solid(before) {
            return Some(0.0);
        }
        let high = q[axis] == n[axis] as i64;
        if q[axis] > 0 && !high {
            return None;
        }
        match side(sides, axis, high) {
            Boundary::Open => None,
            other => Some(f64::from(velocity(other)[axis] as f32)),
        }
    };
    places(cells, axis).into_iter().map(one).collect()
}

/// The difference of the pressure across each face; at open sides it is zero half a cell past the last cell.
pub fn pressure_steps(p: &Field, axis: usize) -> (Vec<f64>, Vec<f64>) {
    let value = |q: Place| {
        let c = p.clamped(q);
        if c == q { p.raw(c) } else { -p.raw(c) }
    };
    let one = |q: Place| {
        let mut before = q;
        before[axis] -= 1;
        (value(q) - value(before), value(q).abs() + value(before).abs())
    };
    places(p.cells, axis).into_iter().map(one).unzip()
}

/// `(1 + strength L) u` on free faces, with held neighbours and walls: what the implicit step equates to the old `u`.
pub fn viscous(u: &Field, held: &[Option<f64>], sides: &Boundaries, strength: f64) -> Vec<f64> {
    let planar = u.cells.nz == 1;
    let one = |(i, q): (usize, Place)| {
        if held[i].is_some() {
            return u.values[i];
        }
        let mut sum = 0.0;
        for a in (0..3).filter(|a| *a < 2 || !planar) {
            for step in [-1, 1] {
                let mut next = q;
                next[a] += step;
                sum += u.values[i] - u.at(sides, next);
            }
        }
        u.values[i] + strength * sum
    };
    places(u.cells, u.axis).into_iter().enumerate().map(one).collect()
}
