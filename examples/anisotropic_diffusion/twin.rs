//! The tensor as coefficients, the same steps in 64 bits, and what they start from.

/// A constant tensor, as the nine coefficients of an explicit step: u + t div(D grad u).
pub struct Tensor {
    taps: Vec<([i32; 3], f64)>,
}

impl Tensor {
    /// Diffusion of 1 along `angle` and of `across` across it, for a time step `t`: for D = (a b; b c)
    ///
    /// > t (a (u_e - 2 u + u_w) + c (u_n - 2 u + u_s) + b/2 (u_ne + u_sw - u_nw - u_se)).
    pub fn new(angle: f64, across: f64, t: f64) -> Self {
        let (sin, cos) = angle.sin_cos();
        let [a, c] = [cos * cos + across * sin * sin, sin * sin + across * cos * cos].map(|d| t * d);
        let b = 0.5 * t * (1.0 - across) * sin * cos;
        let all = [
            ([0, 0, 0], 1.0 - 2.0 * (a + c)),
            ([-1, 0, 0], a),
            ([1, 0, 0], a),
            ([0, -1, 0], c),
            ([0, 1, 0], c),
            ([1, 1, 0], b),
            ([-1, -1, 0], b),
            ([-1, 1, 0], -b),
            ([1, -1, 0], -b),
        ];
        Tensor { taps: all.into_iter().filter(|(_, v)| *v != 0.0).collect() }
    }

    pub fn taps(&self) -> Vec<([i32; 3], f64)> {
        self.taps.clone()
    }

    /// So many steps of an image of rows of `width`, around at all sides.
    pub fn steps(&self, width: usize, start: &[f32], steps: usize) -> Vec<f64> {
        let height = start.len() / width;
        let mut now: Vec<f64> = start.iter().map(|&u| f64::from(u)).collect();
        for _ in 0..steps {
            let at = |x: usize, y: usize, [dx, dy, _]: [i32; 3]| {
                let [x, y] = [(x, dx, width), (y, dy, height)]
                    .map(|(i, d, n)| (i as i64 + i64::from(d)).rem_euclid(n as i64) as usize);
                now[width * y + x]
            };
            let value = |i: usize| {
                let (x, y) = (i % width, i / width);
                self.taps.iter().map(|&(offset, v)| v * at(x, y, offset)).sum()
            };
            now = (0..now.len()).map(value).collect();
        }
        now
    }

    /// What the device may be off by in the 2-norm after so many steps.
    ///
    /// The matrix is symmetric with eigenvalues from -1 to 1, so what a step is off by never grows in later ones; it is
    /// `γ_(k+2) |A| |u|` for k taps, a rounding of each coefficient included, and no step's image is longer than the first.
    pub fn bound(&self, start: &[f32], steps: usize) -> f64 {
        let unit = (self.taps.len() + 2) as f64 / 16_777_216.0;
        let sum: f64 = self.taps.iter().map(|(_, v)| v.abs()).sum();
        let length = start.iter().map(|&u| f64::from(u).powi(2)).sum::<f64>().sqrt();
        // A hundredth for the errors of the errors.
        1.01 * steps as f64 * unit * sum * length
    }
}

/// Distance in the 2-norm; NaN if anything found is no number.
pub fn apart(found: &[f32], expected: &[f64]) -> f64 {
    found.iter().zip(expected).map(|(f, e)| (f64::from(*f) - e).powi(2)).sum::<f64>().sqrt()
}

/// An image in three channels.
pub struct Scene {
    pub width: usize,
    pub height: usize,
    pub channels: [Vec<f32>; 3],
}

impl Scene {
    /// Broad stripes along `angle`, under noise that is the same every time.
    pub fn pattern(size: usize, angle: f64) -> Self {
        let mut state = 1u32;
        let mut noise = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / 16_777_216.0 - 0.5
        };
        let (sin, cos) = angle.sin_cos();
        let mut pixel = |i: usize| {
            let (x, y) = ((i % size) as f64, (i / size) as f64);
            let wave = (0.2 * (cos * y - sin * x)).sin() as f32;
            let base = [0.5 + 0.35 * wave, 0.45 - 0.2 * wave, 0.4 - 0.3 * wave];
            base.map(|v| (v + 0.5 * noise()).clamp(0.0, 1.0))
        };
        let pixels: Vec<[f32; 3]> = (0..size * size).map(&mut pixel).collect();
        Scene::of(size, size, &pixels)
    }

    /// A user's image, from its first column, in whole blocks; none if there is not one.
    pub fn cropped(width: usize, height: usize, pixels: &[[f32; 3]]) -> Option<Self> {
        let kept = width - width % super::BLOCK;
        let rows = pixels.chunks(width).flat_map(|row| row[..kept].to_vec());
        (kept > 0).then(|| Scene::of(kept, height, &rows.collect::<Vec<_>>()))
    }

    fn of(width: usize, height: usize, pixels: &[[f32; 3]]) -> Self {
        Scene { width, height, channels: [0, 1, 2].map(|c| pixels.iter().map(|p| p[c]).collect()) }
    }

    /// This beside another of its size, as bytes of sRGB.
    pub fn beside(&self, other: &[Vec<f32>]) -> Vec<u8> {
        let level = |v: f32| {
            let v = v.clamp(0.0, 1.0);
            let v = if v <= 0.003_130_8 { 12.92 * v } else { 1.055 * v.powf(1.0 / 2.4) - 0.055 };
            (255.0 * v).round() as u8
        };
        let row = |y: usize| {
            [&self.channels[..], other].into_iter().flat_map(move |image| {
                (self.width * y..self.width * (y + 1))
                    .flat_map(move |i| [0, 1, 2].map(|c| level(image[c][i])))
            })
        };
        (0..self.height).flat_map(row).collect()
    }
}
