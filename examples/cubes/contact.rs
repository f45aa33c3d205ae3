//! The contacts of a frame, and what they remember of the frame before.

use crate::body::Cube;
use crate::collide::{self, Facing, Touch};
use crate::math::Vec3;
use crate::problem::Model;
use crate::support::worst;

/// Two bodies that touch or are about to.
#[derive(Clone, Debug)]
pub struct Contact {
    pub first: usize,
    /// The other cube; none is the floor.
    pub second: Option<usize>,
    pub touch: Touch,
    /// Whether it is part of the problem.
    pub active: bool,
    /// Its point on either body and the normal, in the frames of the bodies that they turn with.
    anchors: [Vec3; 2],
    normal: Vec3,
    /// How much faster than their velocities say the bodies approach because they turn: see [`Self::look_ahead`].
    pub bend: f64,
    /// Along each row of the contact: those found in the frame before, then those of this frame.
    pub impulses: Vec<f32>,
}

/// A contact this close to one of the frame before, relative to half an edge, is the same one.
const SAME: f64 = 0.2;

/// Contacts that are left with a smaller gap than this, relative to half an edge, are part of the problem.
const MARGIN: f64 = 0.01;

/// All contacts that can come about within a frame, with impulses from those before.
pub fn find(cubes: &[Cube], model: &Model, before: &[Contact]) -> Vec<Contact> {
    let mut contacts = Vec::new();
    let mut add = |first: usize, second: Option<usize>, touches: Vec<Touch>| {
        for touch in touches {
            let mut contact = Contact::new(cubes, first, second, touch);
            let same = before.iter().filter(|c| (c.first, c.second) == (first, second));
            let nearest = same
                .map(|c| ((c.anchors[0] - contact.anchors[0]).length(), c))
                .min_by(|(p, _), (q, _)| p.total_cmp(q))
                .filter(|(distance, _)| *distance < SAME * cubes[first].half);
            contact.impulses = nearest.map_or(vec![0.0; model.rows_each()], |(_, c)| c.impulses.clone());
            contact.active = contact.gap_ahead(cubes, model.dt) < MARGIN * cubes[first].half;
            contacts.push(contact);
        }
    };
    // An impact can give any cube the speed of the fastest.
    let fastest = cubes.iter().map(Cube::fastest).fold(0.0, worst);
    for (i, cube) in cubes.iter().enumerate() {
        let margin = MARGIN * cube.half + 1.5 * model.dt * fastest;
        add(i, None, collide::with_floor(cube, margin));
        for (j, other) in cubes.iter().enumerate().skip(i + 1) {
            add(i, Some(j), collide::between(cube, other, margin));
        }
    }
    contacts
}

impl Contact {
    fn new(cubes: &[Cube], first: usize, second: Option<usize>, touch: Touch) -> Self {
        let half = touch.normal * (touch.gap / 2.0);
        let other = second.map(|body| &cubes[body]);
        let at =
            [cubes[first].to_local(touch.place + half), place_on(other, touch.place - half, Cube::to_local)];
        let normal = match touch.facing {
            Facing::First => cubes[first].turned_back(touch.normal),
            Facing::Second => place_on(other, touch.normal, Cube::turned_back),
            Facing::Edges(..) => touch.normal,
        };
        Contact { first, second, touch, active: false, anchors: at, normal, bend: 0.0, impulses: Vec::new() }
    }

    /// The gap after a frame with these velocities, as if the normal stayed.
    fn gap_ahead(&self, cubes: &[Cube], dt: f64) -> f64 {
        let at = |body: usize| cubes[body].velocity_at(self.touch.place - cubes[body].position);
        let relative = at(self.first) - self.second.map_or(Vec3::default(), at);
        self.touch.gap + dt * relative.dot(self.touch.normal)
    }

    /// The gap of the same features in another place.
    fn gap_at(&self, cubes: &[Cube]) -> f64 {
        let first = &cubes[self.first];
        let other = self.second.map(|body| &cubes[body]);
        let normal = match self.touch.facing {
            Facing::First => first.turned(self.normal),
            Facing::Second => place_on(other, self.normal, Cube::turned),
            Facing::Edges(i, j) => {
                let across = other.map_or(self.normal, |other| first.axes[i].cross(other.axes[j]));
                match across.length() {
                    parallel if parallel < 1e-6 => self.normal,
                    _ if across.dot(self.normal) < 0.0 => -across.unit(),
                    _ => across.unit(),
                }
            }
        };
        let [p, q] = self.anchors;
        normal.dot(first.to_world(p) - place_on(other, q, Cube::to_world))
    }

    /// Compares with what a frame with these velocities leads to. A contact that closes, or opens less than asked for,
    /// since bodies turn while they move, takes part with a bias that makes up for it.
    pub fn look_ahead(&mut self, now: &[Cube], then: &[Cube], model: &Model) -> bool {
        let gap = self.gap_at(then);
        if gap > self.touch.gap.min(0.0) - model.tolerance {
            return false;
        }
        self.active = true;
        self.bend = ((gap - self.gap_ahead(now, model.dt)) / model.dt).min(0.0);
        true
    }
}

/// Maps with the frame of a cube, or of the floor, which stays where it is.
fn place_on(cube: Option<&Cube>, p: Vec3, map: impl Fn(&Cube, Vec3) -> Vec3) -> Vec3 {
    cube.map_or(p, |cube| map(cube, p))
}
