//! The two CPU rungs: plain loops in 32 bits.

use super::{JacobiProblem, Weights};
use crate::host::NineBands;

/// A system and its iterate on the host.
pub(super) struct HostSweeps {
    bands: [Vec<f32>; 9],
    b: Vec<f32>,
    /// With `side + 1` zeros at either end, so that no band leaves it.
    x: Vec<f32>,
    next: Vec<f32>,
    padding: usize,
    omega: f32,
    by_bands: bool,
}

impl HostSweeps {
    pub fn new(problem: &JacobiProblem<'_>, weights: &Weights, by_bands: bool) -> Self {
        let a = problem.a;
        let padding = a.side() + 1;
        let mut x = vec![0.0; a.len() + 2 * padding];
        x.iter_mut().skip(padding).zip(problem.x).for_each(|(slot, value)| *slot = *value);
        HostSweeps {
            bands: std::array::from_fn(|k| a.band(k).iter().map(|v| *v as f32).collect()),
            b: problem.b.to_vec(),
            x,
            next: vec![0.0; a.len()],
            padding,
            omega: weights.omega as f32,
            by_bands,
        }
    }

    pub fn x(&self) -> &[f32] {
        self.x.get(self.padding..self.padding + self.b.len()).unwrap_or_default()
    }

    fn band(&self, band: usize) -> &[f32] {
        self.bands.get(band).map_or(&[], Vec::as_slice)
    }

    /// `x` as a band sees it: moved by the band's offset.
    fn shifted(&self, band: usize) -> &[f32] {
        let start = band / 3 * (self.padding - 1) + band % 3;
        self.x.get(start..start + self.b.len()).unwrap_or_default()
    }

    pub fn sweep(&mut self) {
        let mut next = std::mem::take(&mut self.next);
        if self.by_bands {
            self.product_by_bands(&mut next)
        } else {
            self.product_by_rows(&mut next)
        }
        let diagonal = self.band(NineBands::DD);
        for ((y, x), (b, d)) in next.iter_mut().zip(self.x()).zip(self.b.iter().zip(diagonal)) {
            *y = x + self.omega * ((b - *y) / d);
        }
        self.x.iter_mut().skip(self.padding).zip(&next).for_each(|(x, next)| *x = *next);
        self.next = next;
    }

    /// `y = A x`, one loop.
    fn product_by_rows(&self, y: &mut [f32]) {
        let three = |first: usize| {
            let band = |k: usize| self.band(k).iter().zip(self.shifted(k));
            let terms = band(first).zip(band(first + 1)).zip(band(first + 2));
            terms.map(|(((p, a), (q, b)), (r, c))| p * a + q * b + r * c)
        };
        for (y, ((low, own), high)) in y.iter_mut().zip(three(0).zip(three(3)).zip(three(6))) {
            *y = low + own + high;
        }
    }

    /// `y = A x`, a loop for each band.
    fn product_by_bands(&self, y: &mut [f32]) {
        y.fill(0.0);
        for (k, band) in self.bands.iter().enumerate() {
            y.iter_mut().zip(band.iter().zip(self.shifted(k))).for_each(|(y, (a, x))| *y += a * x);
        }
    }
}
