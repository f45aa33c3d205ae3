//! Camera and light as matrices, column by column as GL takes them.

use crate::math::{UP, Vec3};

pub type Mat4 = [f64; 16];

/// The product a b.
pub fn product(a: &Mat4, b: &Mat4) -> Mat4 {
    std::array::from_fn(|at| {
        let (column, row) = (at / 4, at % 4);
        (0..4).map(|k| a[4 * k + row] * b[4 * column + k]).sum()
    })
}

/// The world as seen from `eye`, looking along -z at `at`.
pub fn look_at(eye: Vec3, at: Vec3) -> Mat4 {
    let back = (eye - at).unit();
    let right = UP.cross(back).unit();
    let up = back.cross(right);
    let [x, y, z] = [right, up, back].map(|axis| -axis.dot(eye));
    [
        right.x, up.x, back.x, 0.0, //
        right.y, up.y, back.y, 0.0, //
        right.z, up.z, back.z, 0.0, //
        x, y, z, 1.0,
    ]
}

/// A perspective view with this vertical angle in radians.
pub fn perspective(angle: f64, aspect: f64, near: f64, far: f64) -> Mat4 {
    let scale = 1.0 / (angle / 2.0).tan();
    let mut m = [0.0; 16];
    m[0] = scale / aspect;
    m[5] = scale;
    m[10] = (near + far) / (near - far);
    m[11] = -1.0;
    m[14] = 2.0 * near * far / (near - far);
    m
}

/// A parallel view of a box of this half width and height, from 0 to `far` along -z.
pub fn parallel(half: f64, far: f64) -> Mat4 {
    let mut m = [0.0; 16];
    m[0] = 1.0 / half;
    m[5] = 1.0 / half;
    m[10] = -2.0 / far;
    m[14] = -1.0;
    m[15] = 1.0;
    m
}

pub fn to_f32(m: &Mat4) -> [f32; 16] {
    m.map(|v| v as f32)
}
