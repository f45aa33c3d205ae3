//! The contacts of a frame as a linear complementarity problem.

use texla::Shape;
use texla::host::{Csr, Triplets};

use crate::body::Cube;
use crate::contact::Contact;
use crate::math::Vec3;
use crate::support::Result;

/// Frames a second.
pub const RATE: f64 = 90.0;

/// How contacts are modelled.
#[derive(Clone, Copy, Debug)]
pub struct Model {
    /// Seconds from frame to frame.
    pub dt: f64,
    pub gravity: f64,
    /// Coefficient of friction; 0 is the paper's model.
    pub friction: f64,
    /// What is added to the diagonal of A, relative to it. Stacked faces have more contacts than they need, so that A
    /// alone would be singular.
    pub compliance: f64,
    /// Overlap that is left alone, so that resting cubes keep their contacts.
    pub slop: f64,
    /// By how much a frame may deepen an overlap before its problem is stated anew.
    pub tolerance: f64,
    /// The part of an overlap beyond the slop that is taken back in a frame.
    pub recovery: f64,
}

impl Model {
    /// Lengths are in edges of the wall's cubes, masses in theirs, times in seconds; an edge is a metre.
    pub fn new(friction: f64) -> Self {
        Model {
            dt: 1.0 / RATE,
            gravity: 9.81,
            friction,
            compliance: 0.02,
            slop: 0.005,
            tolerance: 0.002,
            recovery: 0.2,
        }
    }

    /// Unknowns of a contact: one impulse along the normal, or four along the edges of the cone of friction.
    pub fn rows_each(&self) -> usize {
        if self.friction > 0.0 { 4 } else { 1 }
    }

    /// What is added to the velocity with which bodies separate: they may close a gap, and an overlap beyond the slop
    /// opens slowly.
    fn bias(&self, gap: f64) -> f64 {
        if gap > 0.0 { gap / self.dt } else { self.recovery / self.dt * (gap + self.slop).min(0.0) }
    }
}

/// A row of the contact Jacobian J: how a unit impulse acts on the two bodies of a contact.
struct Row {
    first: usize,
    second: Option<usize>,
    linear: Vec3,
    /// The angular parts of both bodies.
    angular: [Vec3; 2],
}

/// x >= 0, A x + b >= 0, x.(A x + b) = 0: the impulses x along the rows of J, and the velocities A x + b with which
/// the bodies separate, with A = J M^-1 J^T (and the compliance) and b = J v + bias.
pub struct Problem {
    rows: Vec<Row>,
    /// 1 / mass and 1 / inertia of every body.
    inverse_mass: Vec<[f64; 2]>,
    pub a: Csr,
    pub b: Vec<f64>,
    /// The impulses of the frame before.
    pub start: Vec<f32>,
}

impl Problem {
    /// The problem of these contacts, for cubes whose velocities already hold what gravity adds.
    ///
    /// `drive` says how much is done about overlaps, from 0 to 1. A frame changes the energy by
    /// -|w + g dt|^2 / 2 - x.bias, where w is what the impulses add to the velocities and the square is weighted with the
    /// masses. So nothing but a negative bias can make it grow.
    pub fn new<'a>(
        cubes: &[Cube],
        contacts: impl Iterator<Item = &'a Contact>,
        model: &Model,
        drive: f64,
    ) -> Result<Self> {
        let inverse_mass: Vec<_> = cubes.iter().map(|cube| [1.0 / cube.mass, 1.0 / cube.inertia()]).collect();
        let (mut rows, mut b, mut start) = (Vec::new(), Vec::new(), Vec::new());
        for contact in contacts {
            let touch = contact.touch;
            for (linear, impulse) in
                directions(touch.normal, model.friction).into_iter().zip(&contact.impulses)
            {
                let moment = |body: usize| (touch.place - cubes[body].position).cross(linear);
                let angular =
                    [moment(contact.first), contact.second.map_or(Vec3::default(), |body| -moment(body))];
                let row = Row { first: contact.first, second: contact.second, linear, angular };
                let bias = model.bias(touch.gap) + contact.bend;
                b.push(row.velocity(cubes) + if bias < 0.0 { drive * bias } else { bias });
                start.push(*impulse);
                rows.push(row);
            }
        }
        let a = matrix(&rows, &inverse_mass, model.compliance)?;
        Ok(Problem { rows, inverse_mass, a, b, start })
    }

    /// The number of unknowns.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The elements of A row by row, zeros included.
    pub fn dense(&self) -> Vec<f64> {
        let mut values = vec![0.0; self.len() * self.len()];
        for (row, col, value) in self.a.entries() {
            values[row * self.len() + col] = value;
        }
        values
    }

    /// Lets the impulses act.
    pub fn apply(&self, x: &[f32], cubes: &mut [Cube]) {
        for (row, &x) in self.rows.iter().zip(x) {
            for (body, sign, angular) in row.sides() {
                let [per_mass, per_inertia] = self.inverse_mass[body];
                cubes[body].velocity += row.linear * (sign * per_mass * f64::from(x));
                cubes[body].spin += angular * (per_inertia * f64::from(x));
            }
        }
    }
}

/// J M^-1 J^T with a little more on the diagonal. The floor joins no contacts: it does not move.
fn matrix(rows: &[Row], inverse_mass: &[[f64; 2]], compliance: f64) -> Result<Csr> {
    let mut touching: Vec<Vec<(usize, f64, Vec3)>> = vec![Vec::new(); inverse_mass.len()];
    for (i, row) in rows.iter().enumerate() {
        for (body, sign, angular) in row.sides() {
            touching[body].push((i, sign, angular));
        }
    }
    let mut a = Triplets::new(Shape::new(rows.len(), rows.len()));
    // Body by body: what two bodies add at the same place is summed by `to_csr`.
    for (sides, [per_mass, per_inertia]) in touching.iter().zip(inverse_mass) {
        for &(i, sign, angular) in sides {
            for &(j, other_sign, other_angular) in sides {
                let value = per_mass * sign * other_sign * rows[i].linear.dot(rows[j].linear)
                    + per_inertia * angular.dot(other_angular);
                a.push(i, j, if i == j { value * (1.0 + compliance) } else { value })?;
            }
        }
    }
    Ok(a.to_csr())
}

impl Row {
    /// The bodies with the sign and the moment with which the impulse acts on them.
    fn sides(&self) -> impl Iterator<Item = (usize, f64, Vec3)> {
        let second = self.second.map(|body| (body, -1.0, self.angular[1]));
        [Some((self.first, 1.0, self.angular[0])), second].into_iter().flatten()
    }

    /// This row of J times the velocities.
    fn velocity(&self, cubes: &[Cube]) -> f64 {
        let part = |(body, sign, angular): (usize, f64, Vec3)| {
            sign * self.linear.dot(cubes[body].velocity) + angular.dot(cubes[body].spin)
        };
        self.sides().map(part).sum()
    }
}

/// The normal; with friction the four edges n +- mu t of the cone. x >= 0 along these with n.v +- mu t.v >= 0 is the
/// convex model of Anitescu (Optimization-based simulation of nonsmooth rigid multibody dynamics, Mathematical
/// Programming 105, 2006): A stays symmetric with a positive diagonal, and the price is that a sliding contact opens
/// by mu times the sliding speed times dt.
fn directions(normal: Vec3, friction: f64) -> Vec<Vec3> {
    if friction == 0.0 {
        return vec![normal];
    }
    let [s, t] = normal.tangents().map(|tangent| tangent * friction);
    vec![normal + s, normal - s, normal + t, normal - t]
}
