//! Photons with random directions, made on the CPU and passed on as points.

use crate::scene::{ABSORPTION, Scene};

/// Photons in a draw: a multiple of the three colours.
pub const BATCH: usize = 3 << 15;

/// SplitMix64 (G. Steele, D. Lea, C. Flood, 2014): a stream for each state.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut random = Random(seed);
        random.0 = random.next() ^ stream.wrapping_mul(0xD134_2543_DE82_EF95);
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// From 0 to 1, 1 excluded; 24 bits, which 32-bit floats hold.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 40) as f64 / 16_777_216.0
    }
}

/// Photons as points: direction and free path in glass, then the chances at the four surfaces.
#[derive(Default)]
pub struct Photons {
    pub ways: Vec<[f32; 4]>,
    pub chances: Vec<[f32; 4]>,
}

/// Where photons start for: stratified over the cone of the scene. Three photons, one of each colour, share a direction
/// and their chances, so that only the glass separates them.
pub struct Source {
    axes: [[f64; 3]; 3],
    height: f64,
    /// Directions in all, and in a row of strata.
    directions: usize,
    columns: usize,
    seed: u64,
    photons: usize,
}

impl Source {
    pub fn new(scene: &Scene, photons: usize, seed: u64) -> Self {
        let (z, height) = scene.cone();
        // Any two axes across: the one that z is least along comes first.
        let least = (0..3).min_by(|a, b| z[*a].abs().total_cmp(&z[*b].abs())).unwrap_or(0);
        let mut x = [0.0; 3];
        x[least] = 1.0;
        let along = z[least];
        x = [0, 1, 2].map(|k| x[k] - along * z[k]);
        let length = x.iter().map(|v| v * v).sum::<f64>().sqrt();
        x = x.map(|v| v / length);
        let y = [z[1] * x[2] - z[2] * x[1], z[2] * x[0] - z[0] * x[2], z[0] * x[1] - z[1] * x[0]];
        let directions = photons.div_ceil(3);
        // Strata as long as wide halfway out, where a turn around the axis is longer than the way from the axis.
        let columns = ((directions as f64 * std::f64::consts::PI).sqrt().ceil() as usize).max(1);
        Source { axes: [x, y, z], height, directions, columns, seed, photons }
    }

    /// Batches of photons, the last one smaller.
    pub fn batches(&self) -> usize {
        self.photons.div_ceil(BATCH)
    }

    /// The photons of one batch.
    pub fn batch(&self, batch: usize) -> Photons {
        let (from, to) = (batch * BATCH, ((batch + 1) * BATCH).min(self.photons));
        let mut random = Random::new(self.seed, batch as u64);
        let mut photons = Photons::default();
        for first in (from..to).step_by(3) {
            let direction = self.direction(first / 3, &mut random);
            let free = -(1.0 - random.unit()).ln();
            let chances = [(); 4].map(|()| random.unit() as f32);
            for absorption in ABSORPTION.iter().take(to - first) {
                let [x, y, z] = direction;
                photons.ways.push([x, y, z, (free / absorption) as f32]);
                photons.chances.push(chances);
            }
        }
        photons
    }

    /// A direction of stratum `k`, every one of the same solid angle: rows around the axis, the last one shorter.
    fn direction(&self, k: usize, random: &mut Random) -> [f32; 3] {
        let start = k / self.columns * self.columns;
        let columns = self.columns.min(self.directions - start);
        let out = (start as f64 + random.unit() * columns as f64) / self.directions as f64;
        let angle = std::f64::consts::TAU * ((k - start) as f64 + random.unit()) / columns as f64;
        let cosine = 1.0 - self.height * out;
        let sine = (1.0 - cosine * cosine).max(0.0).sqrt();
        let [x, y, z] = &self.axes;
        [0, 1, 2].map(|k| (sine * (angle.cos() * x[k] + angle.sin() * y[k]) + cosine * z[k]) as f32)
    }
}
