//! `trace.glsl` once more for the CPU, with any numbers: the loop that the device is compared with, and in numbers that
//! know their error the twin that it is held to.

use crate::scene::{CENTRE, RADIUS, Scene};
use crate::support::bounded::Number;

/// How a photon went: not by the sphere, off its outside, or through it and so many reflections inside.
pub const PATHS: [&str; 6] = [
    "past the sphere",
    "off the sphere",
    "through it",
    "1 reflection inside",
    "2 reflections inside",
    "3 reflections inside",
];
pub const DIRECT: usize = 0;
pub const MIRRORED: usize = 1;
pub const THROUGH: usize = 2;

/// What a photon came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Plane,
    Away,
    Absorbed,
}

#[derive(Clone, Copy, Debug)]
pub struct Fate<T> {
    /// Of the plane; zero for what never meets it.
    pub at: [T; 2],
    pub path: usize,
    pub end: End,
    /// Whether a device has to decide the same at every step.
    pub sure: bool,
}

type V3<T> = [T; 3];

fn dot<T: Number>(a: V3<T>, b: V3<T>) -> T {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// `a + s b`.
fn along<T: Number>(a: V3<T>, s: T, b: V3<T>) -> V3<T> {
    [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]]
}

fn crosses<T: Number>(d: &mut V3<T>, n: V3<T>, eta: T, chance: T, sure: &mut bool) -> bool {
    let one = T::of(1.0);
    let incident = -dot(*d, n);
    let sine2 = eta * eta * (one - incident * incident);
    if sine2.below(one, sure) {
        let refracted = (one - sine2).root();
        let s = (eta * incident - refracted) / (eta * incident + refracted);
        let p = (eta * refracted - incident) / (eta * refracted + incident);
        if !chance.below(T::of(0.5) * (s * s + p * p), sure) {
            *d = along(d.map(|v| eta * v), eta * incident - refracted, n);
            return true;
        }
    }
    *d = along(*d, T::of(2.0) * incident, n);
    false
}

/// Follows a photon: `way` is its direction and free path.
pub fn trace<T: Number>(scene: &Scene, colour: usize, way: [f32; 4], chances: [f32; 4]) -> Fate<T> {
    let [x, y, z, mut left] = way.map(T::of);
    let mut d = [x, y, z];
    let (zero, index, radius) = (T::of(0.0), T::of(scene.indices[colour]), T::of(RADIUS));
    let centre = CENTRE.map(T::of);
    let light = scene.light.map(T::of);
    let mut at = [light[0] - centre[0], light[1] - centre[1], light[2] - centre[2]];
    let (mut path, mut sure) = (DIRECT, true);
    let nothing = |path, end, sure| Fate { at: [zero; 2], path, end, sure };
    let nearest = dot(at, d);
    let aside = along(at, -nearest, d);
    let depth2 = radius * radius - dot(aside, aside);
    if nearest.below(zero, &mut sure) && zero.below(depth2, &mut sure) {
        at = along(at, -nearest - depth2.root(), d);
        let normal = at.map(|v| v / radius);
        if crosses(&mut d, normal, T::of(1.0) / index, T::of(chances[0]), &mut sure) {
            path = THROUGH;
            let mut inside = true;
            for chance in &chances[1..] {
                let chord = T::of(-2.0) * dot(d, at);
                if left.below(chord, &mut sure) {
                    return nothing(path, End::Absorbed, sure);
                }
                left = left - chord;
                at = along(at, chord, d);
                let normal = at.map(|v| -(v / radius));
                inside = !crosses(&mut d, normal, index, T::of(*chance), &mut sure);
                if !inside {
                    break;
                }
                path += 1;
            }
            if inside {
                return nothing(path, End::Absorbed, sure);
            }
        } else {
            path = MIRRORED;
        }
    }
    if !d[2].below(zero, &mut sure) {
        return nothing(path, End::Away, sure);
    }
    let way = (at[2] + centre[2]) / -d[2];
    let at = [0, 1].map(|k| at[k] + centre[k] + way * d[k]);
    Fate { at, path, end: End::Plane, sure }
}

/// The texel of a square of `size` texels a side, or none where a photon missed the square.
pub fn texel<T: Number>(fate: &Fate<T>, size: usize, sure: &mut bool) -> Option<usize> {
    if fate.end != End::Plane {
        return None;
    }
    let (side, half) = (T::of(size as f32), T::of(0.5));
    let q = fate.at.map(|v| (half * v + half) * side);
    // One after the other: a miss that is sure on one side is sure.
    for v in q {
        if v.below(T::of(0.0), sure) || !v.below(side, sure) {
            return None;
        }
    }
    let [x, y] = q.map(|v| {
        let cell = v.value().floor().clamp(0.0, size as f64 - 1.0) as usize;
        // The texel's own edges; those of the square have been looked at.
        let _ = cell > 0 && v.below(T::of(cell as f32), sure);
        let _ = cell + 1 < size && v.below(T::of(cell as f32 + 1.0), sure);
        cell
    });
    Some(y * size + x)
}
