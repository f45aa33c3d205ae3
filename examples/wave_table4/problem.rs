//! The waves of [Bajaj04] section 4.2: w(k+1) = A w(k) - w(k-1) on a square, zero at both ends of its lines, which are what
//! is cut into blocks, and clamped across them. And the same in 64 bits, with a bound on how far 32 bits may be off.

use texla::Grid;
use texla::pack::StencilBoundary::{Copied, Dropped};
use texla::pack::{RepeatedExpression, instances};

/// λ²; the paper leaves it open.
pub const S: f64 = instances::COURANT_SQUARED;
/// The paper's a and b.
const A: f64 = 2.0 * (1.0 - 2.0 * S);
const B: f64 = S;
/// The largest sum of magnitudes in a row of A.
const ROW: f64 = A + 4.0 * B;
/// The largest row's roundings: five coefficients and products, and as many sums.
const ROUNDINGS: f64 = 8.0;
/// Unit roundoff of 32 bits; the last factor covers second order terms and the twin's own rounding.
const U: f64 = (1.0 + 1e-5) / 16_777_216.0;

/// A block row for all blocks: pieces of so many unknowns.
pub fn expression(size: usize, piece: usize) -> texla::Result<RepeatedExpression> {
    let taps = [([0, -1, 0], B), ([-1, 0, 0], B), ([0, 0, 0], A), ([1, 0, 0], B), ([0, 1, 0], B)];
    let sides = [[Dropped; 2], [Copied; 2], [Copied; 2]];
    RepeatedExpression::stencil(Grid::new_2d(size, size), size / piece, &taps, sides, true)
}

/// Some drops that have just fallen, as both of the first levels: the surface is at rest.
pub fn start(size: usize) -> Vec<f32> {
    // In sides of the square: where, how far they reach, how high.
    let drops = [
        (0.31, 0.36, 0.055, 1.0),
        (0.70, 0.55, 0.04, -0.8),
        (0.45, 0.81, 0.03, 0.9),
        (0.86, 0.12, 0.035, 0.7),
    ];
    let n = size as f64;
    let height = |i: usize| {
        let (x, y) = (((i % size) as f64 + 0.5) / n, ((i / size) as f64 + 0.5) / n);
        let bump = |&(at_x, at_y, radius, height): &(f64, f64, f64, f64)| {
            let q = ((x - at_x).powi(2) + (y - at_y).powi(2)) / radius.powi(2).max((3.0 / n).powi(2));
            height * (1.0 - q).max(0.0).powi(3)
        };
        drops.iter().map(bump).sum::<f64>() as f32
    };
    (0..size * size).map(height).collect()
}

/// The waves in 64 bits. What a device is off by grows by its own recurrence: from a step of the device's own values it
/// is at most `d`, and errors obey e⁺ = A e - e⁻ + d, so that `d` of a step that is j back comes in as U_j(A / 2) d. The
/// polynomial of Chebyshev is at most j + 1 on [-1, 1], where the spectrum of A / 2 lies for λ² <= 1/2, and A is symmetric:
/// ‖e‖ <= Σ (j + 1) ‖d‖.
pub struct Twin {
    size: usize,
    pub levels: [Vec<f64>; 2],
    /// Bounds on ‖e‖ of both levels, and Σ ‖d‖.
    off: [f64; 2],
    given: f64,
    /// Bound on how far a device's [energy] may have moved.
    pub drift: f64,
    /// At the start.
    pub energy: f64,
}

impl Twin {
    pub fn new(size: usize, start: &[f32]) -> Self {
        let level: Vec<f64> = start.iter().map(|&w| w.into()).collect();
        let energy = energy(size, &level, &level);
        Twin { size, levels: [level.clone(), level], off: [0.0; 2], given: 0.0, drift: 0.0, energy }
    }

    /// Norm of the newest level.
    pub fn norm(&self) -> f64 {
        norm(&self.levels[0])
    }

    /// Bound on the distance of a device's newest level.
    pub fn bound(&self) -> f64 {
        self.off[0]
    }

    /// How far values are off.
    pub fn distance(&self, found: &[f32]) -> f64 {
        // Too few are as bad as wrong ones.
        if found.len() != self.levels[0].len() {
            return f64::NAN;
        }
        found.iter().zip(&self.levels[0]).map(|(f, w)| (f64::from(*f) - w).powi(2)).sum::<f64>().sqrt()
    }

    pub fn step(&mut self) {
        let [now, before] = &mut self.levels;
        let mut magnitudes = 0.0;
        rows(self.size, now, |i, row, around| {
            magnitudes += (A * row.abs() + B * around.1 + before[i].abs()).powi(2);
            before[i] = A * row + B * around.0 - before[i];
        });
        // Of the device's values, not of these; and what is flushed to zero.
        let sizes = magnitudes.sqrt() + ROW * self.off[0] + self.off[1];
        let d = ROUNDINGS * (U * sizes + self.size as f64 * f64::from(f32::MIN_POSITIVE));
        self.given += d;
        self.off = [self.off[0] + self.given, self.off[0]];
        self.levels.swap(0, 1);
        // (w⁺ - w⁻)·d moves the energy, and ‖w⁺ - w‖² <= energy / (1 - 2 λ²).
        let fastest = ((self.energy + self.drift) / (1.0 - 2.0 * S)).sqrt();
        self.drift += 2.0 * fastest * d;
    }
}

/// Calls `each` with the number of each node, its value, and its neighbours' sum and sum of magnitudes.
fn rows(size: usize, w: &[f64], mut each: impl FnMut(usize, f64, (f64, f64))) {
    for y in 0..size {
        let row = |y: usize| &w[size * y..size * (y + 1)];
        let (here, low, high) = (row(y), row(y.saturating_sub(1)), row((y + 1).min(size - 1)));
        for x in 0..size {
            let west = if x > 0 { here[x - 1] } else { 0.0 };
            let east = if x + 1 < size { here[x + 1] } else { 0.0 };
            let around = [west, east, low[x], high[x]];
            let sums = around.iter().fold((0.0, 0.0), |(sum, size), w| (sum + w, size + w.abs()));
            each(size * y + x, here[x], sums);
        }
    }
}

/// w⁺·w⁺ + w·w - w⁺·A w, which a step without rounding keeps: ‖w⁺ - w‖² + λ² w⁺·L w with L = (2 - A) / λ².
pub fn energy(size: usize, next: &[f64], now: &[f64]) -> f64 {
    let (mut moving, mut bent) = (0.0, 0.0);
    rows(size, now, |i, row, (around, _)| {
        moving += (next[i] - row).powi(2);
        bent += next[i] * (4.0 * row - around);
    });
    moving + S * bent
}

fn norm(v: &[f64]) -> f64 {
    v.iter().map(|v| v * v).sum::<f64>().sqrt()
}
