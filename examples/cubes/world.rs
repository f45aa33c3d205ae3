//! The world: a wall of cubes, what is thrown at it, and a frame of time.

use crate::body::Cube;
use crate::collide;
use crate::contact::{self, Contact};
use crate::math::{Rotation, Vec3, vec3};
use crate::problem::{Model, Problem};
use crate::support::{Result, worst};

/// What moves, and the contacts of the last frame.
pub struct World {
    pub cubes: Vec<Cube>,
    /// How each cube is painted: red, green, blue.
    pub paint: Vec<[f32; 3]>,
    pub model: Model,
    contacts: Vec<Contact>,
}

/// The wall's measures in cubes.
#[derive(Clone, Copy, Debug)]
pub struct Wall {
    pub columns: usize,
    pub rows: usize,
}

impl Wall {
    /// The paper's 60 cubes.
    pub const PAPERS: Wall = Wall { columns: 10, rows: 6 };
}

/// A problem is stated anew at most so many times in a frame.
const ROUNDS: usize = 4;

impl World {
    /// A wall in the plane z = 0, and a heavy cube on its way to it, which comes last.
    pub fn new(wall: Wall, model: Model) -> Self {
        let (mut cubes, mut paint) = (Vec::new(), Vec::new());
        for row in 0..wall.rows {
            for column in 0..wall.columns {
                // Every other row is shifted, as bricks are, and cubes of a row do not touch.
                let shift = if row % 2 == 0 { -0.15 } else { 0.15 };
                let x = 1.02 * (column as f64 - (wall.columns as f64 - 1.0) / 2.0 + shift);
                cubes.push(Cube::new(1.0, 1.0, vec3(x, row as f64 + 0.5, 0.0), Rotation::NONE));
                paint.push(brick(wall, row, column));
            }
        }
        let place = vec3(-0.7, 0.4 * wall.rows as f64, 4.0);
        let mut thrown = Cube::new(1.5, 12.0, place, Rotation::about(vec3(0.5, 0.4, 0.3)));
        thrown.velocity = vec3(1.0, 1.5, -15.0);
        thrown.spin = vec3(-3.0, 1.0, 0.5);
        cubes.push(thrown);
        paint.push([0.06, 0.09, 0.16]);
        World { cubes, paint, model, contacts: Vec::new() }
    }

    /// Moves on by a frame with impulses that `solve` finds.
    ///
    /// Contacts that are open and stay so are left out of the problem. Where its impulses close such a gap, as behind a
    /// cube that has just been hit, it is stated anew and solved from where the last one ended; so it is, with less
    /// done about overlaps, should the energy have grown.
    pub fn step(&mut self, mut solve: impl FnMut(&Problem) -> Result<Vec<f32>>) -> Result {
        let energy = self.energy();
        for cube in &mut self.cubes {
            cube.velocity += Vec3 { y: -self.model.gravity * self.model.dt, ..Vec3::default() };
        }
        self.contacts = contact::find(&self.cubes, &self.model, &self.contacts);
        let (mut round, mut drive) = (0, 1.0);
        loop {
            let active = self.contacts.iter().filter(|contact| contact.active);
            let problem = Problem::new(&self.cubes, active, &self.model, drive)?;
            let x = solve(&problem)?;
            let active = self.contacts.iter_mut().filter(|contact| contact.active);
            for (contact, x) in active.zip(x.chunks(self.model.rows_each())) {
                contact.impulses.copy_from_slice(x);
            }
            let mut now = self.cubes.clone();
            problem.apply(&x, &mut now);
            let mut then = now.clone();
            then.iter_mut().for_each(|cube| cube.advance(self.model.dt));
            round += 1;
            let mut again = false;
            if round < ROUNDS {
                for contact in &mut self.contacts {
                    again |= contact.look_ahead(&now, &then, &self.model);
                }
            }
            if again {
                continue;
            }
            if drive == 0.0 || self.energy_of(&then) <= energy {
                self.cubes = then;
                return Ok(());
            }
            (round, drive) = (ROUNDS, if drive > 0.2 { drive / 2.0 } else { 0.0 });
        }
    }

    /// Kinetic and potential energy of all cubes.
    pub fn energy(&self) -> f64 {
        self.energy_of(&self.cubes)
    }

    fn energy_of(&self, cubes: &[Cube]) -> f64 {
        cubes.iter().map(|cube| cube.energy(self.model.gravity)).sum()
    }

    /// The deepest overlap of any two cubes, or of one and the floor, by their separating axes: relative to the edge of
    /// the smaller cube.
    pub fn deepest(&self) -> f64 {
        let mut deepest = 0.0f64;
        for (i, cube) in self.cubes.iter().enumerate() {
            deepest = worst(deepest, collide::depth_in_floor(cube) / (2.0 * cube.half));
            for other in &self.cubes[i + 1..] {
                let edge = 2.0 * cube.half.min(other.half);
                if collide::within(cube, other, 0.0) {
                    deepest = worst(deepest, collide::depth(cube, other) / edge);
                }
            }
        }
        deepest
    }

    /// The height of the highest centre among the wall's cubes.
    pub fn top(&self) -> f64 {
        let wall = self.cubes.split_last().map_or(&[][..], |(_, wall)| wall);
        wall.iter().map(|cube| cube.position.y).fold(0.0, worst)
    }

    /// FNV-1a over the bits of all states.
    pub fn hash(&self) -> u64 {
        let numbers = self.cubes.iter().flat_map(Cube::state);
        let bytes = numbers.flat_map(|value| value.to_bits().to_le_bytes());
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    }
}

/// From red at the floor to yellow at the top, with some cubes darker.
fn brick(wall: Wall, row: usize, column: usize) -> [f32; 3] {
    let (low, high) = ([0.62, 0.11, 0.06], [0.95, 0.58, 0.14]);
    let up = row as f32 / (wall.rows.max(2) - 1) as f32;
    let shade = 0.86 + 0.14 * ((7 * row + 5 * column) % 4) as f32 / 3.0;
    std::array::from_fn(|k| shade * (low[k] + (high[k] - low[k]) * up))
}
