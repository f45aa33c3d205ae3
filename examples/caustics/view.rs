//! The pictures: the square from above, and the scene with the sphere.

use texla::kernel::{Domain, Kernel};
use texla::{Result, Vector};

use crate::device::Map;
use crate::scene::{ABSORPTION, CENTRE, RADIUS, Scene};
use crate::support::bytes_of;

texla::params! {
    struct Window { side: i32, expected: f32, wanted: f32 }
}

texla::params! {
    struct Camera {
        side: i32, pixels: i32, from_above: i32, eye: [f32; 3], forward: [f32; 3], right: [f32; 3], up: [f32; 3],
        view: f32, light: [f32; 3], centre: [f32; 3], radius: f32, index: f32, absorption: [f32; 3],
    }
}

/// Photons in a window: their number is then off by a fifteenth or so.
const WANTED: f32 = 240.0;
/// Where the camera is, what it looks at, and the tangent of half its angle.
const EYE: [f32; 3] = [0.95, -3.10, 1.45];
const AIM: [f32; 3] = [0.06, -0.10, 0.30];
const VIEW: f32 = 0.37;
/// Rows of texels in a draw, so that none takes long.
const BAND: u32 = 16;

/// Draws the pictures that are wanted, of the scene and from above: three bytes a pixel, row by row from the top.
pub fn draw(
    map: &Map,
    scene: &Scene,
    photons: usize,
    size: usize,
    wanted: [bool; 2],
) -> Result<[Option<Vec<u8>>; 2]> {
    let device = map.vector().device();
    let texels = 4 * size * size;
    let mut density = Vector::zeros(device, texels)?;
    let mut picture = Vector::zeros(device, texels)?;
    let smooth = Kernel::<Window>::new(device, "caustics/density", ["map"], include_str!("density.frag"))?;
    let camera = Kernel::<Camera>::new(device, "caustics/scene", ["density"], include_str!("scene.frag"))?;
    let expected = scene.expected(photons as f64 / 3.0, size) as f32;
    let window = Window { side: size as i32, expected, wanted: WANTED };
    let bands = |extent: texla::Extent| {
        (0..extent.height).step_by(BAND as usize).map(move |y| Domain::Rect {
            x: 0,
            y,
            width: extent.width,
            height: BAND.min(extent.height - y),
        })
    };
    for band in bands(density.extent()) {
        smooth.with([map.vector()], &window).on(band).run(&mut density)?;
    }
    let mut pictures = [None, None];
    for (k, (made, _)) in pictures.iter_mut().zip(wanted).enumerate().filter(|(_, (_, wanted))| *wanted) {
        let params = params(scene, size, k == 1);
        for band in bands(picture.extent()) {
            camera.with([&density], &params).on(band).run(&mut picture)?;
        }
        *made = Some(bytes_of(&picture.read()?));
    }
    Ok(pictures)
}

fn params(scene: &Scene, size: usize, from_above: bool) -> Camera {
    let unit = |v: [f32; 3]| {
        let length = v.iter().map(|v| v * v).sum::<f32>().sqrt();
        v.map(|v| v / length)
    };
    let cross = |a: [f32; 3], b: [f32; 3]| {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    };
    let forward = unit([0, 1, 2].map(|k| AIM[k] - EYE[k]));
    let right = unit(cross(forward, [0.0, 0.0, 1.0]));
    Camera {
        side: size as i32,
        pixels: size as i32,
        from_above: i32::from(from_above),
        eye: EYE,
        forward,
        right,
        up: cross(right, forward),
        view: VIEW,
        light: scene.light,
        centre: CENTRE,
        radius: RADIUS,
        index: scene.indices[1],
        absorption: ABSORPTION.map(|a| a as f32),
    }
}
