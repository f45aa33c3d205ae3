//! What the complementarity tests share: problems, and the f64 view of them.

pub use crate::common::bounds::bits;
pub use crate::common::systems::entries;
use crate::common::systems::{apply, csr, mapped};
use crate::common::worst::worst;
use crate::common::{random, reference};
use texla::host::Csr;
use texla::solve::{LcpOutcome, LcpParams, LcpReport, LcpSolver, Stop, StopReason};
use texla::{Device, MatrixFormat, Result, StoredMatrix, Vector};

/// `x >= 0`, `A x + b >= 0`, `xᵀ(A x + b) = 0`, with `b` as the device gets it.
#[derive(Clone)]
pub struct Lcp {
    pub name: String,
    pub a: Csr,
    pub b: Vec<f64>,
}

impl Lcp {
    pub fn new(name: &str, a: Csr, b: impl IntoIterator<Item = f64>) -> Self {
        let b: Vec<f64> = b.into_iter().map(|v| f64::from(v as f32)).collect();
        assert_eq!(b.len(), a.shape().rows, "{name}");
        Lcp { name: name.to_owned(), a, b }
    }

    pub fn n(&self) -> usize {
        self.b.len()
    }

    /// The problem whose solution is `x` where that is positive, with `A x + b = slack` elsewhere.
    pub fn with_solution(name: &str, a: Csr, x: &[f64], slack: &[f64]) -> Self {
        let product = apply(&a, x);
        let b = product.iter().zip(x).zip(slack).map(|((p, x), w)| if *x > 0.0 { -p } else { w - p });
        Lcp::new(name, a, b.collect::<Vec<_>>())
    }

    /// `max_i max(-b_i, 0)`: what residuals are relative to. 1 where no `b_i` is negative.
    pub fn unit(&self) -> f64 {
        match self.b.iter().map(|v| -v).fold(0.0, worst) {
            0.0 => 1.0,
            unit => unit,
        }
    }

    /// `max |min(d_i x_i, (A x + b)_i)| / max_i max(-b_i, 0)` in f64, with `d = 1` or the diagonal.
    pub fn residuals(&self, x: &[f32]) -> (f64, f64) {
        let x = reference::widen(x);
        let w = reference::add(&apply(&self.a, &x), &self.b);
        let worst = |x: &[f64]| reference::max_abs(&reference::min2(x, &w)) / self.unit();
        (worst(&x), worst(&reference::mul(&self.a.diagonal(), &x)))
    }

    /// True but for rounding.
    pub fn symmetric(&self) -> bool {
        let t = self.a.transposed();
        let v: Vec<f64> = random::uniform(41, self.n()).iter().map(|v| f64::from(*v)).collect();
        let apart = reference::max_abs(&reference::sub(&apply(&self.a, &v), &apply(&t, &v)));
        apart <= 1e-12 * self.a.norm1()
    }

    /// `A` and `b` times powers of two.
    pub fn scaled(&self, e: i32, f: i32) -> Self {
        Lcp {
            name: format!("{}, A 2^{e}, b 2^{f}", self.name),
            a: mapped(&self.a, |v| v * 2f64.powi(e)),
            b: self.b.iter().map(|v| v * 2f64.powi(f)).collect(),
        }
    }
}

/// A matrix from its rows.
pub fn dense(n: usize, rows: &[f64]) -> Csr {
    assert_eq!(rows.len(), n * n);
    entries(n, n, rows.iter().enumerate().filter(|(_, v)| **v != 0.0).map(|(k, v)| (k / n, k % n, *v)))
}

/// The normal contacts of a running-bond wall, `J M⁻¹ Jᵀ` with unit masses and two contacts for each pair of bricks that
/// touch: symmetric, singular (a brick rests on more contacts than it needs), `λ_max(D⁻¹ A)` about 4.4. The bricks
/// begin to fall.
pub fn wall(width: usize, height: usize) -> Lcp {
    // Row by row: the bodies of a contact with the sign of its normal and the lever.
    let mut contacts: Vec<Vec<(usize, f64, f64)>> = Vec::new();
    let centre = |i: usize, j: usize| i as f64 + 0.5 * (j % 2) as f64;
    for j in 0..height {
        for i in 0..width {
            let (brick, x) = (j * width + i, centre(i, j));
            if j == 0 {
                contacts.extend([-0.5, 0.5].map(|lever| vec![(brick, 1.0, lever)]));
                continue;
            }
            for below in 0..width {
                let other = centre(below, j - 1);
                let (low, high) = ((x - 0.5).max(other - 0.5), (x + 0.5).min(other + 0.5));
                if high > low {
                    let pair =
                        |at: f64| vec![(brick, 1.0, at - x), ((j - 1) * width + below, -1.0, other - at)];
                    contacts.extend([pair(low), pair(high)]);
                }
            }
        }
    }
    let inertia = 6.0;
    let mut triplets = Vec::new();
    for (r, one) in contacts.iter().enumerate() {
        for (c, other) in contacts.iter().enumerate() {
            let shared = one.iter().flat_map(|p| other.iter().filter(|q| q.0 == p.0).map(move |q| (p, q)));
            let terms: Vec<f64> = shared.map(|(p, q)| p.1 * q.1 + inertia * p.2 * q.2).collect();
            if !terms.is_empty() {
                triplets.push((r, c, terms.iter().sum()));
            }
        }
    }
    let n = contacts.len();
    // A time step's fall of every brick, with a little unrest.
    let unrest = random::uniform(7, 2 * width * height);
    let speed =
        |body: usize| (-0.1635 + 0.01 * f64::from(unrest[2 * body]), 0.01 * f64::from(unrest[2 * body + 1]));
    let b = contacts.iter().map(|c| {
        c.iter().map(|(body, sign, lever)| sign * speed(*body).0 + lever * speed(*body).1).sum::<f64>()
    });
    Lcp::new(&format!("wall {width}x{height}"), entries(n, n, triplets), b.collect::<Vec<_>>())
}

/// Unit diagonal, and `c` between all pairs within groups of `group`: `λ_max(D⁻¹ A) = 1 + (group - 1) c`; then rows and
/// columns scaled, which leaves that as it is.
pub fn correlated(groups: usize, group: usize, c: f64) -> Csr {
    let n = groups * group;
    let s: Vec<f64> = random::nonzero(3, n).iter().map(|v| f64::from(v.abs())).collect();
    let of = |g: usize| (0..group * group).map(move |k| (g * group + k / group, g * group + k % group));
    let value = |(i, j): (usize, usize)| (i, j, if i == j { 1.0 } else { c } * s[i] * s[j]);
    entries(n, n, (0..groups).flat_map(of).map(value))
}

/// A solution with about half of its elements zero, and its slack.
pub fn mixed(seed: u64, n: usize) -> (Vec<f64>, Vec<f64>) {
    let v = random::uniform(seed, n);
    let x = v.iter().map(|v| f64::from(v.max(0.0))).collect();
    (x, v.iter().map(|v| f64::from((-v).max(0.0))).collect())
}

/// The obstacle problem of a membrane on a grid.
pub fn obstacle(k: usize) -> Lcp {
    let a = texla::host::problems::poisson_2d(k, k).to_csr();
    let at = |i: usize| ((i % k) as f64 / k as f64, (i / k) as f64 / k as f64);
    let b = (0..k * k).map(|i| if (7.0 * at(i).0).sin() * (5.0 * at(i).1).cos() > 0.0 { -1.0 } else { 0.75 });
    Lcp::new(&format!("obstacle {k}x{k}"), a, b.collect::<Vec<_>>())
}

/// `I + a K` with a dense antisymmetric `K`: positive definite and as far from symmetric as one likes.
pub fn turning(n: usize, a: f64) -> Lcp {
    let k = random::uniform(11, n * n);
    let skew = |i: usize, j: usize| a * f64::from(k[i * n + j] - k[j * n + i]) / (n as f64).sqrt();
    let all = (0..n * n).map(|e| (e / n, e % n, f64::from(u8::from(e / n == e % n)) + skew(e / n, e % n)));
    let b: Vec<f64> = random::uniform(12, n).iter().map(|v| f64::from(*v)).collect();
    Lcp::new(&format!("turning {a}"), entries(n, n, all), b)
}

/// Flow and diffusion in one dimension.
pub fn flow(n: usize, speed: f64) -> Lcp {
    let row = |i: usize| [(i, i, 2.0), (i, i.wrapping_sub(1), -1.0 - speed), (i, i + 1, speed - 1.0)];
    let a = entries(n, n, (0..n).flat_map(row).filter(|e| e.1 < n));
    let b = (0..n).map(|i| if (9.0 * i as f64 / n as f64).sin() > 0.0 { -1.0 } else { 0.75 });
    Lcp::new(&format!("flow {speed}"), a, b.collect::<Vec<_>>())
}

/// A triangular P-matrix with unit diagonal, far from normal.
pub fn triangular(n: usize) -> Lcp {
    let v = random::uniform(13, n * n + n);
    let lower = (0..n * n).filter(|k| k % n < k / n).map(|k| (k / n, k % n, 2.0 * f64::from(v[k])));
    let a = entries(n, n, lower.chain((0..n).map(|i| (i, i, 1.0))).collect::<Vec<_>>());
    Lcp::new(&format!("triangular {n}"), a, v[n * n..].iter().map(|v| f64::from(*v)).collect::<Vec<_>>())
}

/// Problems that converge, of different kinds.
pub fn generated() -> Vec<Lcp> {
    let dominant = csr(&random::spd(1, 151, 0.05));
    let (x, slack) = mixed(4, 151);
    let contacts = correlated(8, 16, 0.1);
    let (y, other) = mixed(5, 128);
    vec![
        Lcp::with_solution("dominant", dominant, &x, &slack),
        Lcp::with_solution("correlated", contacts, &y, &other),
        wall(4, 4),
        obstacle(24),
        turning(30, 0.5),
        turning(30, 3.0),
        flow(100, 0.5),
        flow(100, 3.0),
        triangular(20),
    ]
}

pub fn params(tol: f64) -> LcpParams {
    LcpParams::default().with_stop(Stop::relative(tol))
}

/// Solves from zero. The result is not negative and its padding is zero.
pub fn solve(
    device: &Device,
    lcp: &Lcp,
    format: MatrixFormat,
    params: LcpParams,
) -> Result<(Vec<f32>, LcpReport)> {
    let a = StoredMatrix::new(device, lcp.a.clone(), format)?;
    let b = Vector::from_f64(device, &lcp.b)?;
    let mut x = Vector::zeros(device, lcp.n())?;
    let report = LcpSolver::new(&a, params)?.solve(&mut x, &b)?;
    crate::common::harness::assert_padded(&x, &lcp.name);
    let x = x.read()?;
    assert!(x.iter().all(|v| *v >= 0.0), "{}: {x:?}", lcp.name);
    Ok((x, report))
}

/// What is said is so: both residuals, and the verdict on them.
#[track_caller]
pub fn assert_honest(lcp: &Lcp, x: &[f32], outcome: &LcpOutcome, bound: f64) {
    let (natural, scaled) = lcp.residuals(x);
    // The device rounds A x + b once, after sums whose errors are about 2^-46 of their terms.
    let close = |said: f64, is: f64| (said - is).abs() <= 1e-6 * is + 1e-11;
    let (said, other) = (outcome.natural_residual, outcome.scaled_residual);
    assert!(close(said, natural), "{}: {said:e} is said, {natural:e} is so", lcp.name);
    assert!(close(other, scaled), "{}: {other:e} is said, {scaled:e} is so", lcp.name);
    let met = natural <= bound * 1.001 && scaled <= bound * 1.001;
    let claimed = outcome.reason == StopReason::Converged;
    assert!(met || !claimed, "{}: converged with {natural:e} and {scaled:e}", lcp.name);
}
