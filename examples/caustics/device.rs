//! The photons on the device: traced in the vertex stage, and scattered.

use std::time::Instant;

use texla::kernel::{Accum, Points, PointsKernel};
use texla::{Device, Result, Scalar, Vector, ops};

use crate::photons::{BATCH, Source};
use crate::scene::{CENTRE, RADIUS, Scene};
use crate::twin::PATHS;

texla::params! {
    /// The scene as the shader sees it.
    struct Lens { light: [f32; 3], centre: [f32; 3], radius: f32, indices: [f32; 3], size: f32 }
}

/// Tallies behind the square: for each way of a photon, whether it got away or was absorbed.
pub const TALLIES: usize = 3 * PATHS.len();

/// The square's texels row by row, red, green and blue and nothing; then the tallies, four numbers each too.
pub struct Map {
    vector: Vector,
    size: usize,
    /// Uploading, tracing and scattering.
    pub seconds: f64,
}

pub struct Tracer {
    device: Device,
    lens: Lens,
    size: usize,
    map: PointsKernel<Lens>,
    fates: PointsKernel<Lens>,
}

impl Tracer {
    pub fn new(device: &Device, scene: &Scene, size: usize) -> Result<Self> {
        let kernel = |name, body: &str| {
            let body = format!("{}\n{body}", include_str!("trace.glsl"));
            PointsKernel::new(device, name, [], 2, &body)
        };
        Ok(Tracer {
            device: device.clone(),
            lens: Lens {
                light: scene.light,
                centre: CENTRE,
                radius: RADIUS,
                indices: scene.indices,
                size: size as f32,
            },
            size,
            map: kernel("caustics/map", include_str!("map.glsl"))?,
            fates: kernel("caustics/fates", include_str!("fates.glsl"))?,
        })
    }

    /// Sends all photons.
    pub fn scatter(&self, source: &Source, mut after_each: impl FnMut(usize)) -> Result<Map> {
        let mut vector = Vector::zeros(&self.device, 4 * (self.size * self.size + TALLIES))?;
        let mut seconds = 0.0;
        for batch in 0..source.batches() {
            let photons = source.batch(batch);
            let started = Instant::now();
            let points = Points::new(&self.device, &[&photons.ways, &photons.chances])?;
            self.map.with([], &points, &self.lens).accumulate(Accum::Add).run(&mut vector)?;
            self.device.finish()?;
            seconds += started.elapsed().as_secs_f64();
            after_each(batch);
        }
        Ok(Map { vector, size: self.size, seconds })
    }

    /// What becomes of the photons of one batch, four numbers each: see `fates.glsl`.
    pub fn fates(&self, source: &Source, batch: usize) -> Result<Vec<f32>> {
        let photons = source.batch(batch);
        let points = Points::new(&self.device, &[&photons.ways, &photons.chances])?;
        let mut fates = Vector::zeros(&self.device, 4 * BATCH)?;
        self.fates.with([], &points, &self.lens).run(&mut fates)?;
        fates.read()
    }
}

impl Map {
    pub fn vector(&self) -> &Vector {
        &self.vector
    }

    /// All photons, and those on the square: two reductions. Whole numbers up to 2^24 are summed exactly.
    pub fn totals(&self) -> Result<[f64; 2]> {
        let device = self.vector.device();
        let texels = 4 * self.size * self.size;
        let square: Vec<f32> = (0..self.vector.len()).map(|i| f32::from(i < texels)).collect();
        let square = Vector::from_slice(device, &square)?;
        let mut landed = Scalar::zero(device)?;
        ops::dot_into(&mut landed, &self.vector, &square)?;
        Ok([f64::from(ops::sum(&self.vector)?.read()?), f64::from(landed.read()?)])
    }

    pub fn read(&self) -> Result<Vec<f32>> {
        self.vector.read()
    }
}
