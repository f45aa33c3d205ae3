//! The data of the figure, on the host: two full matrices, a symmetric positive definite system, a complementarity
//! problem. All are stated by rules, so that what their solutions have to be like is known beforehand.

/// What all rows of the figure work on. Matrices lie row by row.
pub struct Problem {
    pub n: usize,
    /// Iterations of conjugate gradients, and sweeps of projected Jacobi.
    pub iterations: usize,
    pub a: Vec<f32>,
    pub b: Vec<f32>,
    /// `H D H` with a reflection `H` and `D` spread evenly over `1 ..= condition`: full, of known spectrum.
    pub spd: Vec<f32>,
    pub condition: f64,
    pub spd_b: Vec<f32>,
    /// A diagonal between 1 and 2, and up to `1 / (2 n)` elsewhere: symmetric, diagonally dominant.
    pub lcp: Vec<f32>,
    pub lcp_b: Vec<f32>,
    /// `ω / a_ii`.
    pub lcp_d: Vec<f32>,
}

/// The relaxation of projected Jacobi (the paper writes it with the other sign).
pub const OMEGA: f32 = 0.9;

/// By how much the iterations bring the energy norm of the error down, at worst and without rounding.
pub const REDUCTION: f64 = 1e-7;

impl Problem {
    pub fn new(n: usize, iterations: usize) -> Self {
        let mut random = Random(n as u64);
        let a = random.values(n * n);
        let b = random.values(n * n);
        // Error bound of the method: 2 ((√κ - 1) / (√κ + 1))^k.
        let rate = REDUCTION.powf(1.0 / iterations as f64);
        let condition = ((1.0 + rate) / (1.0 - rate)).powi(2);
        let spd = reflected(n, condition, &mut random);
        let spd_b = random.values(n);
        let mut lcp = vec![0.0; n * n];
        for i in 0..n {
            lcp[i * n + i] = 1.5 + 0.5 * random.next();
            for j in 0..i {
                let value = (0.25 + 0.25 * random.next()) / n as f32;
                (lcp[i * n + j], lcp[j * n + i]) = (value, value);
            }
        }
        let lcp_b = random.values(n);
        let lcp_d = (0..n).map(|i| OMEGA / lcp[i * n + i]).collect();
        Problem { n, iterations, a, b, spd, condition, spd_b, lcp, lcp_b, lcp_d }
    }
}

/// `(1 - 2 v vᵀ) D (1 - 2 v vᵀ)` with `|v| = 1`.
fn reflected(n: usize, condition: f64, random: &mut Random) -> Vec<f32> {
    let v: Vec<f64> = (0..n).map(|_| f64::from(random.next())).collect();
    let length = v.iter().map(|v| v * v).sum::<f64>().sqrt();
    let v: Vec<f64> = v.iter().map(|v| v / length).collect();
    let step = (condition - 1.0) / (n.max(2) - 1) as f64;
    let d: Vec<f64> = (0..n).map(|i| 1.0 + step * i as f64).collect();
    let middle: f64 = v.iter().zip(&d).map(|(v, d)| v * v * d).sum();
    let element = |i: usize, j: usize| {
        let own = if i == j { d[i] } else { 0.0 };
        (own - 2.0 * (v[i] * v[j]) * (d[i] + d[j] - 2.0 * middle)) as f32
    };
    (0..n * n).map(|k| element(k / n, k % n)).collect()
}

/// Numbers between -1 and 1 by splitmix64: the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        // Full significands: sums of such numbers are rounded.
        (((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0) as f32
    }

    fn values(&mut self, n: usize) -> Vec<f32> {
        (0..n).map(|_| self.next()).collect()
    }
}
