//! Rigid cubes.

use crate::math::{Rotation, Vec3};

/// A rigid cube of uniform density.
#[derive(Clone, Debug)]
pub struct Cube {
    /// Half the edge.
    pub half: f64,
    pub mass: f64,
    pub position: Vec3,
    pub velocity: Vec3,
    /// Angular velocity.
    pub spin: Vec3,
    rotation: Rotation,
    /// The directions of the edges: the rotation as a matrix.
    pub axes: [Vec3; 3],
}

impl Cube {
    /// A cube at rest.
    pub fn new(edge: f64, mass: f64, position: Vec3, rotation: Rotation) -> Self {
        let none = Vec3::default();
        let axes = rotation.axes();
        Cube { half: edge / 2.0, mass, position, velocity: none, spin: none, rotation, axes }
    }

    /// The moment of inertia, m edge^2 / 6. A cube's tensor is this multiple of the identity, so it does not turn with
    /// the cube, and free cubes keep their spin.
    pub fn inertia(&self) -> f64 {
        self.mass * 4.0 * self.half * self.half / 6.0
    }

    pub fn rotation(&self) -> Rotation {
        self.rotation
    }

    /// Moves on with the present velocities.
    pub fn advance(&mut self, dt: f64) {
        self.position += self.velocity * dt;
        self.rotation = self.rotation.then(Rotation::about(self.spin * dt));
        self.axes = self.rotation.axes();
    }

    /// A direction in the cube's own frame as one in the world.
    pub fn turned(&self, v: Vec3) -> Vec3 {
        self.axes[0] * v.x + self.axes[1] * v.y + self.axes[2] * v.z
    }

    /// A direction in the world as one in the cube's own frame.
    pub fn turned_back(&self, v: Vec3) -> Vec3 {
        let [x, y, z] = self.axes.map(|axis| axis.dot(v));
        Vec3 { x, y, z }
    }

    /// A place in the cube's own frame as one in the world.
    pub fn to_world(&self, p: Vec3) -> Vec3 {
        self.position + self.turned(p)
    }

    /// A place in the world as one in the cube's own frame.
    pub fn to_local(&self, p: Vec3) -> Vec3 {
        self.turned_back(p - self.position)
    }

    /// The eight corners.
    pub fn corners(&self) -> [Vec3; 8] {
        std::array::from_fn(|corner| {
            let side = |axis: usize| if corner >> axis & 1 == 1 { self.half } else { -self.half };
            self.to_world(Vec3 { x: side(0), y: side(1), z: side(2) })
        })
    }

    /// Velocity of the cube's material at a place, relative to its centre.
    pub fn velocity_at(&self, arm: Vec3) -> Vec3 {
        self.velocity + self.spin.cross(arm)
    }

    /// No point of the cube is faster than this.
    pub fn fastest(&self) -> f64 {
        self.velocity.length() + 3f64.sqrt() * self.half * self.spin.length()
    }

    /// Half the extent along a unit vector.
    pub fn reach(&self, direction: Vec3) -> f64 {
        self.half * self.axes.iter().map(|axis| axis.dot(direction).abs()).sum::<f64>()
    }

    /// Kinetic energy, and the potential energy above the floor.
    pub fn energy(&self, gravity: f64) -> f64 {
        0.5 * self.mass * self.velocity.dot(self.velocity)
            + 0.5 * self.inertia() * self.spin.dot(self.spin)
            + self.mass * gravity * self.position.y
    }

    /// All numbers of the state, for comparing runs bit by bit.
    pub fn state(&self) -> impl Iterator<Item = f64> {
        let vectors = [self.position, self.velocity, self.spin].map(Vec3::to_array);
        vectors.into_iter().flatten().chain(self.rotation.to_array())
    }
}
