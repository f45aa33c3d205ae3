//! Vectors, quaternions and frames in 64 bits: what rigid bodies need and no more.

use std::ops::{Add, AddAssign, Mul, Neg, Sub};

/// A vector in space; y points upwards.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vec3 {
    pub x: f64,
    pub y: f64,
    pub z: f64,
}

pub const fn vec3(x: f64, y: f64, z: f64) -> Vec3 {
    Vec3 { x, y, z }
}

pub const UP: Vec3 = vec3(0.0, 1.0, 0.0);

impl Vec3 {
    pub fn dot(self, other: Vec3) -> f64 {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    pub fn cross(self, other: Vec3) -> Vec3 {
        vec3(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )
    }

    pub fn length(self) -> f64 {
        self.dot(self).sqrt()
    }

    /// A vector of length 1 in the same direction; the vector must not be zero.
    pub fn unit(self) -> Vec3 {
        self * (1.0 / self.length())
    }

    /// Two unit vectors that are perpendicular to this unit vector and to each other.
    pub fn tangents(self) -> [Vec3; 2] {
        let axis = if self.x.abs() < 0.6 { vec3(1.0, 0.0, 0.0) } else { UP };
        let first = self.cross(axis).unit();
        [first, self.cross(first)]
    }

    pub fn to_array(self) -> [f64; 3] {
        [self.x, self.y, self.z]
    }
}

impl Add for Vec3 {
    type Output = Vec3;
    fn add(self, other: Vec3) -> Vec3 {
        vec3(self.x + other.x, self.y + other.y, self.z + other.z)
    }
}

impl AddAssign for Vec3 {
    fn add_assign(&mut self, other: Vec3) {
        *self = *self + other;
    }
}

impl Sub for Vec3 {
    type Output = Vec3;
    fn sub(self, other: Vec3) -> Vec3 {
        self + -other
    }
}

impl Neg for Vec3 {
    type Output = Vec3;
    fn neg(self) -> Vec3 {
        self * -1.0
    }
}

impl Mul<f64> for Vec3 {
    type Output = Vec3;
    fn mul(self, k: f64) -> Vec3 {
        vec3(k * self.x, k * self.y, k * self.z)
    }
}

/// A rotation: a unit quaternion, scalar part first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rotation {
    w: f64,
    v: Vec3,
}

impl Rotation {
    pub const NONE: Rotation = Rotation { w: 1.0, v: vec3(0.0, 0.0, 0.0) };

    /// The rotation about the vector's direction by its length in radians.
    pub fn about(turn: Vec3) -> Rotation {
        let angle = turn.length();
        // sin(a / 2) / a, by its series where the division would cancel.
        let scale = if angle < 1e-4 { 0.5 - angle * angle / 48.0 } else { (angle / 2.0).sin() / angle };
        Rotation { w: (angle / 2.0).cos(), v: turn * scale }
    }

    /// This rotation followed by another one, of unit length again.
    pub fn then(self, next: Rotation) -> Rotation {
        let w = next.w * self.w - next.v.dot(self.v);
        let v = self.v * next.w + next.v * self.w + next.v.cross(self.v);
        let scale = 1.0 / (w * w + v.dot(v)).sqrt();
        Rotation { w: w * scale, v: v * scale }
    }

    /// Where the three unit vectors are turned to.
    pub fn axes(self) -> [Vec3; 3] {
        let (w, Vec3 { x, y, z }) = (self.w, self.v);
        [
            vec3(1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)),
            vec3(2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x)),
            vec3(2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)),
        ]
    }

    pub fn to_array(self) -> [f64; 4] {
        [self.w, self.v.x, self.v.y, self.v.z]
    }
}
