//! The contacts of a frame as a linear complementarity problem.

use crate::body::Cube;
use crate::contact::Contact;
use crate::math::Vec3;

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
    /// The part of the rest that is taken back in a frame.
    pub recovery: f64,
}

impl Model {
    /// Unknowns of a contact: one impulse along the normal, or four along the edges of the cone of friction.
    pub fn rows_each(&self) -> usize {
        if self.friction > 0.0 { 4 } else { 1 }
    }

    /// The velocity that is to be added to that of the bodies towards each other: they may close a gap, and an overlap
    /// beyond the slop opens slowly.
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
    compliance: f64,
    pub b: Vec<f64>,
    /// The impulses of the frame before.
    pub start: Vec<f64>,
    /// The rows of each group of bodies that do not touch any other. The floor joins nothing: it does not move.
    pub groups: Vec<Vec<usize>>,
}

impl Problem {
    /// The problem of these contacts, for cubes whose velocities already hold what gravity adds.
    pub fn new<'a>(cubes: &[Cube], contacts: impl Iterator<Item = &'a Contact>, model: &Model) -> Self {
        let inverse_mass = cubes.iter().map(|cube| [1.0 / cube.mass, 1.0 / cube.inertia()]).collect();
        let (mut rows, mut b, mut start) = (Vec::new(), Vec::new(), Vec::new());
        for contact in contacts {
            let touch = contact.touch;
            for (k, linear) in directions(touch.normal, model.friction).into_iter().enumerate() {
                let moment = |body: usize| (touch.place - cubes[body].position).cross(linear);
                let angular =
                    [moment(contact.first), contact.second.map_or(Vec3::default(), |body| -moment(body))];
                let row = Row { first: contact.first, second: contact.second, linear, angular };
                b.push(row.velocity(cubes) + model.bias(touch.gap) + contact.bend);
                start.push(contact.impulses[k]);
                rows.push(row);
            }
        }
        let groups = groups(cubes.len(), &rows);
        Problem { rows, inverse_mass, compliance: model.compliance, b, start, groups }
    }

    /// The number of unknowns.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Element (i, j) of A.
    pub fn a(&self, i: usize, j: usize) -> f64 {
        let (p, q) = (&self.rows[i], &self.rows[j]);
        let mut sum = 0.0;
        for (body, sign, angular) in p.sides() {
            for (other, other_sign, other_angular) in q.sides() {
                if body == other {
                    let [per_mass, per_inertia] = self.inverse_mass[body];
                    sum += per_mass * sign * other_sign * p.linear.dot(q.linear)
                        + per_inertia * angular.dot(other_angular);
                }
            }
        }
        if i == j { sum * (1.0 + self.compliance) } else { sum }
    }

    /// The rows and columns of A that belong to some of the unknowns, row by row.
    pub fn dense(&self, rows: &[usize]) -> Vec<f64> {
        rows.iter().flat_map(|&i| rows.iter().map(move |&j| self.a(i, j))).collect()
    }

    /// Lets the impulses act.
    pub fn apply(&self, x: &[f64], cubes: &mut [Cube]) {
        for (row, &x) in self.rows.iter().zip(x) {
            for (body, sign, angular) in row.sides() {
                let [per_mass, per_inertia] = self.inverse_mass[body];
                cubes[body].velocity += row.linear * (sign * per_mass * x);
                cubes[body].spin += angular * (per_inertia * x);
            }
        }
    }
}

impl Row {
    /// The bodies with the sign and the moment with which the impulse acts on them.
    fn sides(&self) -> impl Iterator<Item = (usize, f64, Vec3)> {
        let second = self.second.map(|body| (body, -1.0, self.angular[1]));
        [Some((self.first, 1.0, self.angular[0])), second].into_iter().flatten()
    }

    /// This row of J times the velocities.
    fn velocity(&self, cubes: &[Cube]) -> f64 {
        self.sides()
            .map(|(body, sign, angular)| {
                sign * self.linear.dot(cubes[body].velocity) + angular.dot(cubes[body].spin)
            })
            .sum()
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

/// Rows by connected groups of bodies, in the order of their first rows.
fn groups(bodies: usize, rows: &[Row]) -> Vec<Vec<usize>> {
    let mut parent: Vec<usize> = (0..bodies).collect();
    fn root(parent: &mut [usize], mut body: usize) -> usize {
        while parent[body] != body {
            parent[body] = parent[parent[body]];
            body = parent[body];
        }
        body
    }
    for row in rows {
        if let Some(second) = row.second {
            let (a, b) = (root(&mut parent, row.first), root(&mut parent, second));
            parent[a.max(b)] = a.min(b);
        }
    }
    let mut place = vec![None; bodies];
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (i, row) in rows.iter().enumerate() {
        let root = root(&mut parent, row.first);
        let at = *place[root].get_or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[at].push(i);
    }
    groups
}
