//! The world: a wall of cubes, what is thrown at it, and a frame of time.

use crate::body::Cube;
use crate::collide;
use crate::contact::{self, Contact};
use crate::math::{Rotation, Vec3, vec3};
use crate::problem::{Model, Problem};

/// What moves, and the contacts of the last frame.
pub struct World {
    pub cubes: Vec<Cube>,
    pub model: Model,
    contacts: Vec<Contact>,
}

/// The wall's measures.
#[derive(Clone, Copy, Debug)]
pub struct Wall {
    pub columns: usize,
    pub rows: usize,
    /// The edge of a cube.
    pub edge: f64,
}

impl World {
    /// A wall in the plane z = 0, and a heavy cube on its way to it, which comes last.
    pub fn new(wall: Wall, model: Model) -> Self {
        let Wall { columns, rows, edge } = wall;
        let step = 1.02 * edge; // cubes of a row do not touch
        let mut cubes = Vec::new();
        for row in 0..rows {
            for column in 0..columns {
                // Every other row is shifted, as bricks are.
                let shift = if row % 2 == 0 { -0.15 } else { 0.15 };
                let x = (column as f64 - (columns as f64 - 1.0) / 2.0 + shift) * step;
                let place = vec3(x, (row as f64 + 0.5) * edge, 0.0);
                cubes.push(Cube::new(edge, 1.0, place, Rotation::NONE));
            }
        }
        let thrown = 1.5 * edge;
        let place = vec3(-0.7 * edge, 0.4 * rows as f64 * edge, 4.0 * edge);
        let mut cube = Cube::new(thrown, crate::env("PM",12.0), place, Rotation::about(vec3(0.5, 0.4, 0.3)));
        cube.velocity = vec3(1.0, 1.5, -crate::env("PV",14.0)) * edge;
        cube.spin = vec3(-3.0, 1.0, 0.5)*crate::env("PS",1.0);
        cubes.push(cube);
        World { cubes, model, contacts: Vec::new() }
    }

    /// Adds what gravity does to the velocities in a frame, and states the problem of the contacts.
    pub fn problem(&mut self) -> Problem {
        for cube in &mut self.cubes {
            cube.velocity += Vec3 { y: -self.model.gravity * self.model.dt, ..Vec3::default() };
        }
        self.contacts = contact::find(&self.cubes, &self.model, &self.contacts);
        self.state()
    }

    fn state(&self) -> Problem {
        let active = self.contacts.iter().filter(|contact| contact.active);
        Problem::new(&self.cubes, active, &self.model)
    }

    /// Looks for contacts that were taken for open and that these impulses would close, such as those behind a cube
    /// that has just been hit. With them the problem is another one, to be solved from where the last one ended.
    pub fn wider_problem(&mut self, problem: &Problem, x: &[f64]) -> Option<Problem> {
        self.keep(x);
        let mut now = self.cubes.clone();
        problem.apply(x, &mut now);
        let mut then = now.clone();
        then.iter_mut().for_each(|cube| cube.advance(self.model.dt));
        let mut found = false;
        for contact in &mut self.contacts {
            found |= contact.look_ahead(&now, &then, &self.model);
        }
        found.then(|| self.state())
    }

    /// Lets the impulses act and moves on by a frame.
    pub fn advance(&mut self, problem: &Problem, x: &[f64]) {
        self.keep(x);
        problem.apply(x, &mut self.cubes);
        for cube in &mut self.cubes {
            cube.advance(self.model.dt);
        }
    }

    fn keep(&mut self, x: &[f64]) {
        let active = self.contacts.iter_mut().filter(|contact| contact.active);
        for (contact, x) in active.zip(x.chunks(self.model.rows_each())) {
            contact.impulses.copy_from_slice(x);
        }
    }

    pub fn contacts(&self) -> usize {
        self.contacts.iter().filter(|contact| contact.active).count()
    }

    /// Kinetic and potential energy of all cubes.
    pub fn energy(&self) -> f64 {
        self.cubes.iter().map(|cube| cube.energy(self.model.gravity)).sum()
    }

    /// The deepest overlap of any two cubes, or of one and the floor, by the exact separating axes.
    pub fn deepest(&self) -> f64 {
        let mut deepest = 0.0f64;
        for (i, cube) in self.cubes.iter().enumerate() {
            deepest = deepest.max(collide::depth_in_floor(cube));
            for other in &self.cubes[i + 1..] {
                let apart = cube.position - other.position;
                let reach = 3f64.sqrt() * (cube.half + other.half);
                if apart.dot(apart) < reach * reach {
                    deepest = deepest.max(collide::depth(cube, other));
                }
            }
        }
        deepest
    }

    /// The height of the highest centre among the wall's cubes.
    pub fn top(&self) -> f64 {
        let wall = self.cubes.split_last().map_or(&[][..], |(_, wall)| wall);
        wall.iter().map(|cube| cube.position.y).fold(0.0, f64::max)
    }

    /// FNV-1a over the bits of all states.
    pub fn hash(&self, seed: u64) -> u64 {
        let numbers = self.cubes.iter().flat_map(Cube::state);
        let bytes = numbers.flat_map(|value| value.to_bits().to_le_bytes());
        bytes.fold(seed, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
    }
}
