//! Where the camera stands, and what lies under a pixel.

use crate::support::angles::{cosine, sine};

pub type Vec3 = [f32; 3];

fn cross(a: Vec3, b: Vec3) -> Vec3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub fn unit(v: Vec3) -> Vec3 {
    let length = v.iter().map(|c| c * c).sum::<f32>().sqrt();
    v.map(|c| c / length)
}

/// A camera that circles around the pool.
#[derive(Clone, Copy, Debug)]
pub struct Camera {
    /// Around the vertical axis, in radians.
    pub turn: f32,
    /// Above the horizon, in radians.
    pub lift: f32,
    pub distance: f32,
}

/// What the camera looks at, and the tangent of half its vertical angle.
const AT: Vec3 = [0.04, -0.16, 0.14];
const HALF: f32 = 0.31;

impl Default for Camera {
    fn default() -> Self {
        Camera { turn: 0.50, lift: 0.43, distance: 2.42 }
    }
}

impl Camera {
    pub fn eye(&self) -> Vec3 {
        let (sin, cos) = (|angle: f32| sine(angle.into()) as f32, |angle: f32| cosine(angle.into()) as f32);
        let (flat, up) = (self.distance * cos(self.lift), self.distance * sin(self.lift));
        [AT[0] + flat * sin(self.turn), AT[1] + up, AT[2] + flat * cos(self.turn)]
    }

    /// Right, up and forward.
    pub fn axes(&self) -> [Vec3; 3] {
        let eye = self.eye();
        let forward = unit([AT[0] - eye[0], AT[1] - eye[1], AT[2] - eye[2]]);
        let right = unit(cross(forward, [0.0, 1.0, 0.0]));
        [right, cross(right, forward), forward]
    }

    /// Tangents of half the angles of view.
    pub fn half_view(aspect: f32) -> [f32; 2] {
        [HALF * aspect, HALF]
    }

    /// Where the water is that a pixel shows, on [-1, 1]²; from the upper left corner, in shares of the picture.
    pub fn water_at(&self, [x, y]: [f32; 2], aspect: f32) -> Option<[f32; 2]> {
        let [right, up, forward] = self.axes();
        let [wide, high] = Self::half_view(aspect);
        let (a, b) = (wide * (2.0 * x - 1.0), high * (1.0 - 2.0 * y));
        let d: Vec3 = std::array::from_fn(|k| forward[k] + a * right[k] + b * up[k]);
        let eye = self.eye();
        let t = -eye[1] / d[1];
        let p = [eye[0] + t * d[0], eye[2] + t * d[2]];
        (t > 0.0 && p.iter().all(|c| c.abs() < 1.0)).then_some(p)
    }
}
