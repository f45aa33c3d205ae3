//! A point light, a glass sphere and a diffuse square: [-1, 1]^2 in the plane z = 0.

use texla::host::number;

use crate::support::{Failure, Result, worst};

/// The sphere all but lies on the square.
pub const CENTRE: [f32; 3] = [0.0, 0.0, 0.53];
pub const RADIUS: f32 = 0.52;
/// What glass absorbs of red, green and blue light on a way of length 1, as the exponent of a decay.
pub const ABSORPTION: [f64; 3] = [0.34, 0.12, 0.20];

/// The scene as the user wants it.
#[derive(Clone, Copy, Debug)]
pub struct Scene {
    pub light: [f32; 3],
    /// Refractive indices for red, green and blue light.
    pub indices: [f32; 3],
}

impl Scene {
    /// A light from above the sphere; `index` is that of green light, and Abbe's number `abbe` says how far red and blue
    /// lie from it: `(index - 1) / abbe` from each other.
    pub fn new(light: [f32; 3], index: f32, abbe: f32) -> Result<Self> {
        let [x, y, z] = light;
        if !(x.abs() <= 4.0 && y.abs() <= 4.0 && (1.0..=8.0).contains(&z)) {
            return Err(Failure::bad_input(format_args!(
                "--light {}: expected x and y from -4 to 4 and z from 1 to 8, above the sphere",
                light.map(number).join(" ")
            )));
        }
        crate::support::in_range("--ior", index, 0.5..=3.0)?;
        crate::support::in_range("--abbe", abbe, 10.0..=1e6)?;
        let indices = [-0.5, 0.0, 0.5].map(|d| 1.0 + (index - 1.0) * (1.0 + d / abbe));
        Ok(Scene { light, indices })
    }

    /// The cone from the light that holds square and sphere: its axis, a unit vector, and one less the cosine of its
    /// half angle, which is below a right angle.
    pub fn cone(&self) -> ([f64; 3], f64) {
        let from_light = |p: [f64; 3]| {
            let d = [0, 1, 2].map(|k| p[k] - f64::from(self.light[k]));
            let length = norm(d);
            (d.map(|v| v / length), length)
        };
        let (axis, _) = from_light([0.0; 3]);
        let angle = |d: [f64; 3]| (0..3).map(|k| axis[k] * d[k]).sum::<f64>().clamp(-1.0, 1.0).acos();
        let corners = [[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]];
        let square = corners.map(|[x, y]| angle(from_light([x, y, 0.0]).0)).into_iter().fold(0.0, worst);
        let (centre, distance) = from_light(CENTRE.map(f64::from));
        let sphere = angle(centre) + (f64::from(RADIUS) / distance).asin();
        (axis, 1.0 - square.max(sphere).cos())
    }

    /// Photons of one colour that a texel in the middle of the square would receive, were there no sphere, of `photons`
    /// sent in each colour.
    pub fn expected(&self, photons: f64, size: usize) -> f64 {
        let light = self.light.map(f64::from);
        let texel = (2.0 / size as f64).powi(2);
        let solid_angle = texel * light[2] / norm(light).powi(3);
        photons * solid_angle / (std::f64::consts::TAU * self.cone().1)
    }
}

fn norm(d: [f64; 3]) -> f64 {
    d.iter().map(|v| v * v).sum::<f64>().sqrt()
}
