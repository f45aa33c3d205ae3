//! The water: an implicit wave on a square pool, and what falls into it.

use texla::gl::Counters;
use texla::sim::wave::{Drop, Wave, WaveParams};
use texla::{Device, Scalar};

use crate::render::SIDE;
use crate::support::Result;

/// Steps a second of pool time, and how many a picture is apart from the next.
pub const RATE: f64 = 60.0;
pub const STEPS: usize = 2;
const SPEED: f64 = 0.6;
/// Bound on the relative residual of a step.
pub const TOLERANCE: f64 = 1e-4;

/// The pool between two pictures.
pub struct Pool {
    pub wave: Wave,
    rain: Option<Rain>,
    /// Waits, on the device, until someone wants to know: the energy after every step, and whether something fell in.
    energies: Vec<(Scalar, bool)>,
    draws: Vec<u64>,
    waited: u64,
    fell: bool,
}

impl Pool {
    pub fn new(device: &Device, cells: usize, rain: bool) -> Result<Self> {
        let params = WaveParams::new(cells, cells)
            .with_cell(SIDE / cells as f64)
            .with_speed(SPEED)
            .with_dt(1.0 / RATE)
            .with_damping(0.22)
            .with_tolerance(TOLERANCE);
        Ok(Pool {
            wave: Wave::new(device, params)?,
            rain: rain.then(Rain::default),
            energies: Vec::new(),
            draws: Vec::new(),
            waited: 0,
            fell: false,
        })
    }

    /// Something falls in at a place on [-1, 1]².
    pub fn drop_at(&mut self, [x, y]: [f32; 2], radius: f64, height: f64) -> Result {
        let centre = [x, y].map(|c| f64::from(c) + 0.5 * SIDE);
        // A narrow drop on a coarse grid would be noise.
        let radius = radius.max(4.0 * self.wave.params().cell);
        self.wave.drop(Drop { centre, radius, height, balanced: true })?;
        self.fell = true;
        Ok(())
    }

    /// Moves on to the next picture. Nothing is read back.
    pub fn advance(&mut self, keep_energies: bool) -> Result {
        (0..STEPS).try_for_each(|_| self.step(keep_energies))
    }

    /// Moves on by a step.
    pub fn step(&mut self, keep_energies: bool) -> Result {
        let falling = self.rain.as_mut().and_then(|rain| rain.next(self.wave.time()));
        if let Some((place, radius, height)) = falling {
            self.drop_at(place, radius, height)?;
        }
        let device = self.wave.device().clone();
        let before = device.counters();
        self.wave.step()?;
        let Counters { draws, readbacks, async_checks, .. } = device.counters().since(&before);
        self.waited += readbacks + async_checks;
        if keep_energies {
            self.draws.push(draws);
            self.energies.push((self.wave.energy()?, std::mem::take(&mut self.fell)));
        }
        Ok(())
    }

    /// Draws of each step so far.
    pub fn draws(&self) -> &[u64] {
        &self.draws
    }

    /// Readbacks and looks in all steps so far.
    pub fn waited(&self) -> u64 {
        self.waited
    }

    /// The energy after every step, and whether something had fallen in before it.
    pub fn energies(&self) -> Result<Vec<(f64, bool)>> {
        let read = |(energy, fell): &(Scalar, bool)| Ok((f64::from(energy.read()?), *fell));
        self.energies.iter().map(read).collect()
    }
}

/// Drops at times, places and sizes that are always the same.
struct Rain {
    state: u64,
    next: f64,
    fallen: usize,
}

impl Default for Rain {
    fn default() -> Self {
        Rain { state: 0x9e37_79b9_7f4a_7c15, next: 0.0, fallen: 0 }
    }
}

impl Rain {
    /// A number from 0 to 1 (xorshift64*, G. Marsaglia, S. Vigna).
    fn random(&mut self) -> f64 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        (self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 40) as f64 / 16_777_216.0
    }

    /// Place, radius and height of a drop, if it is time for one.
    fn next(&mut self, time: f64) -> Option<([f32; 2], f64, f64)> {
        if time < self.next {
            return None;
        }
        self.fallen += 1;
        self.next += 0.12 + 0.36 * self.random();
        let [x, y, size] = [self.random(), self.random(), self.random()];
        let place = [1.7 * x - 0.85, 1.7 * y - 0.85].map(|c| c as f32);
        Some(match self.fallen {
            1 => ([-0.18, 0.22], 0.20, -0.085),
            _ => (place, 0.07 + 0.07 * size, -0.022 - 0.030 * size),
        })
    }
}
