//! The same on the CPU: plain loops in 32 bits for the time, in 64 bits for the check.

use crate::support::worst;
use crate::{DARK, Settings};

const WEIGHTS: [f64; 3] = [0.2126, 0.7152, 0.0722];

/// What the reductions find.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// The largest channel of all pixels.
    pub largest: f64,
    /// The largest luminance.
    pub brightest: f64,
    /// The mean of log(delta + L).
    pub mean_log: f64,
    /// And of its magnitude.
    pub mean_size: f64,
}

pub fn luminance(pixel: [f64; 3]) -> f64 {
    pixel.iter().zip(WEIGHTS).map(|(v, w)| v * w).sum::<f64>().max(0.0)
}

/// In 64 bits.
pub fn find(pixels: &[[f32; 3]]) -> Found {
    let wide = || pixels.iter().map(|p| p.map(f64::from));
    let largest = wide().flatten().fold(f64::MIN, worst);
    let brightest = wide().map(luminance).fold(0.0, worst);
    let logs = || wide().map(|p| (DARK * brightest + luminance(p)).ln());
    let count = pixels.len() as f64;
    let (mean_log, mean_size) = (logs().sum::<f64>() / count, logs().map(f64::abs).sum::<f64>() / count);
    Found { largest, brightest, mean_log, mean_size }
}

/// A pixel on the screen, each channel from 0 to 1, by what has been found.
pub fn map(pixel: [f32; 3], found: &Found, settings: &Settings, reinhard: bool) -> [f64; 3] {
    let mut light = pixel.map(|v| f64::from(v).max(0.0));
    if reinhard {
        let exposure = settings.key / found.mean_log.exp();
        let l = exposure * luminance(light);
        let w = settings.white.unwrap_or(exposure * found.brightest);
        let factor = exposure * (1.0 + l / (w * w)) / (1.0 + l);
        light.iter_mut().for_each(|v| *v *= factor);
    } else {
        light.iter_mut().for_each(|v| *v /= found.largest);
    }
    light.map(|v| {
        let v = v.clamp(0.0, 1.0);
        if v <= 0.003_130_8 { 12.92 * v } else { 1.055 * v.powf(1.0 / 2.4) - 0.055 }
    })
}

/// All steps in 32 bits, as a program without a GPU would take them.
pub mod plain {
    use crate::Settings;

    pub fn luminances(pixels: &[[f32; 3]]) -> Vec<f32> {
        pixels.iter().map(|[r, g, b]| (0.2126 * r + 0.7152 * g + 0.0722 * b).max(0.0)).collect()
    }

    pub fn largest(values: &[f32]) -> f32 {
        let mut most = f32::MIN;
        values.iter().for_each(|v| most = most.max(*v));
        most
    }

    pub fn mean_log(luminances: &[f32], delta: f32) -> f64 {
        luminances.iter().map(|l| f64::from((delta + l).ln())).sum::<f64>() / luminances.len() as f64
    }

    /// Reinhard's operator.
    pub fn reinhard(
        pixels: &[[f32; 3]],
        [brightest, mean_log]: [f32; 2],
        settings: &Settings,
    ) -> Vec<[f32; 3]> {
        let exposure = settings.key as f32 / mean_log.exp();
        let white = settings.white.map_or(exposure * brightest, |white| white as f32);
        let mapped = |pixel: &[f32; 3]| {
            let [r, g, b] = pixel.map(|v| v.max(0.0));
            let l = exposure * (0.2126 * r + 0.7152 * g + 0.0722 * b);
            let factor = exposure * ((1.0 + l / (white * white)) / (1.0 + l));
            [r, g, b].map(|v| encoded(factor * v))
        };
        pixels.iter().map(mapped).collect()
    }

    fn encoded(v: f32) -> f32 {
        let v = v.clamp(0.0, 1.0);
        if v <= 0.003_130_8 { 12.92 * v } else { 1.055 * v.powf(1.0 / 2.4) - 0.055 }
    }

    /// All of it.
    pub fn run(pixels: &[[f32; 3]], dark: f32, settings: &Settings) -> Vec<[f32; 3]> {
        let luminances = luminances(pixels);
        let brightest = largest(&luminances);
        let mean_log = mean_log(&luminances, dark * brightest);
        reinhard(pixels, [brightest, mean_log as f32], settings)
    }
}
