//! What the library computes: a wave through two slits, and how bright a screen behind them would be.

use std::f32::consts::TAU;

use texla::kernel::{Kernel, PingPong};
use texla::{Device, Result, Scalar, Vector, ops};

texla::params! {
    /// Width in texels of four cells, height in rows, and the source's height in this step.
    struct Wave { width: i32, height: i32, drive: f32 }
}

/// Sizes in cells.
pub struct Setting {
    pub grid: (usize, usize),
    pub wall: usize,
    pub slits: [usize; 4],
    pub wavelength: f32,
    pub steps: usize,
    medium: Vec<f32>,
    keep: Vec<f32>,
}

/// The wave and what it has left behind.
pub struct Field {
    pub surface: Vector,
    pub intensity: Vector,
    /// The strongest intensity on the screen.
    pub largest: Scalar,
}

/// (c dt / dx)^2: half a cell a step.
const SPEED: f32 = 0.25;

impl Setting {
    pub fn new((w, h): (usize, usize), steps: usize) -> Self {
        let wavelength = w as f32 / 34.0;
        let (wall, centre) = (w * 3 / 10, h as f32 / 2.0);
        let edge = |at: f32| (centre + at * wavelength).round() as usize;
        let slits = [edge(-3.1), edge(-1.9), edge(1.9), edge(3.1)];
        let mut medium = vec![SPEED; w * h];
        let mut keep = vec![1.0f32; w * h];
        let sponge = w / 16;
        for y in 0..h {
            for x in 0..w {
                let open = (slits[0]..slits[1]).contains(&y) || (slits[2]..slits[3]).contains(&y);
                if x.abs_diff(wall) <= w / 128 && !open {
                    (medium[y * w + x], keep[y * w + x]) = (0.0, 0.0);
                    continue;
                }
                // Waves that leave the picture fade instead of coming back.
                let depth = sponge.saturating_sub((w - 1 - x).min(y).min(h - 1 - y));
                keep[y * w + x] = 1.0 - 0.3 * (depth as f32 / sponge as f32).powi(2);
            }
        }
        Setting { grid: (w, h), wall, slits, wavelength, steps, medium, keep }
    }

    /// The source's height: a wave that sets in gently.
    fn drive(&self, step: usize) -> f32 {
        let phase = TAU * SPEED.sqrt() / self.wavelength * step as f32;
        phase.sin() * (phase / (3.0 * TAU)).min(1.0)
    }

    /// Steps in which the screen is exposed: the last four periods.
    fn exposed(&self, step: usize) -> bool {
        step + (4.0 * self.wavelength / SPEED.sqrt()) as usize >= self.steps
    }

    /// Computes on the device; nothing is read back.
    pub fn on_the_device(&self, dev: &Device) -> Result<Field> {
        let (w, h) = self.grid;
        let inputs = ["now", "before", "medium", "keep"];
        let kernel = Kernel::<Wave>::new(dev, "wave", inputs, include_str!("wave.frag"))?;
        let medium = Vector::from_slice(dev, &self.medium)?;
        let keep = Vector::from_slice(dev, &self.keep)?;
        let zeros = || Vector::zeros(dev, w * h);
        let (mut now, mut before, mut next) = (zeros()?, zeros()?, zeros()?);
        let mut intensity = PingPong::new(zeros()?, zeros()?);

        let _app_state = dev.scope()?; // saved once for all steps
        for step in 0..self.steps {
            let wave = Wave { width: w as i32 / 4, height: h as i32, drive: self.drive(step) };
            kernel.run(&mut next, [&now, &before, &medium, &keep], &wave)?;
            // next -> now -> before -> next
            std::mem::swap(&mut before, &mut now);
            std::mem::swap(&mut now, &mut next);
            if self.exposed(step) {
                let (sum, out) = intensity.split();
                ops::mul_add(out, &now, &now, sum)?;
                intensity.swap();
            }
        }
        let (intensity, mut seen) = intensity.into_inner();
        let on_screen = |k: usize| f32::from(u8::from(k % w == self.screen()));
        let screen = Vector::from_slice(dev, &(0..w * h).map(on_screen).collect::<Vec<_>>())?;
        ops::mul(&mut seen, &intensity, &screen)?;
        let largest = ops::max_abs(&seen)?;
        Ok(Field { surface: now, intensity, largest })
    }

    /// The column in which the screen stands.
    pub fn screen(&self) -> usize {
        self.grid.0 - self.grid.0 / 12
    }

    /// The same, cell by cell on the CPU: the surface and the intensity.
    pub fn on_the_cpu(&self) -> (Vec<f32>, Vec<f32>) {
        let (w, h) = self.grid;
        let (mut now, mut before, mut next) = (vec![0.0f32; w * h], vec![0.0; w * h], vec![0.0; w * h]);
        let mut intensity = vec![0.0f32; w * h];
        for step in 0..self.steps {
            for y in 0..h {
                for x in 0..w {
                    let k = y * w + x;
                    let u = now[k];
                    let west = if x == 0 { 0.0 } else { now[k - 1] };
                    let east = if x == w - 1 { 0.0 } else { now[k + 1] };
                    let south = if y == 0 { 0.0 } else { now[k - w] };
                    let north = if y == h - 1 { 0.0 } else { now[k + w] };
                    let laplacian = west + east + south + north - 4.0 * u;
                    next[k] = u + self.keep[k] * (u - before[k]) + self.medium[k] * laplacian;
                }
                next[y * w..y * w + 4].fill(self.drive(step));
            }
            std::mem::swap(&mut before, &mut now);
            std::mem::swap(&mut now, &mut next);
            if self.exposed(step) {
                intensity.iter_mut().zip(&now).for_each(|(i, u)| *i += u * u);
            }
        }
        (now, intensity)
    }
}
