//! Chebyshev polynomials: a preconditioner that needs nothing but products.

use super::Preconditioner;
use crate::data::Vector;
use crate::error::{Error, Result};
use crate::gl::glsl;
use crate::host::{Csr, number};
use crate::kernel::{Draw, Operand, Replays};
use crate::ops::{self, Combine, LinOp};
use crate::solve::drive::check::check_vectors;
use crate::solve::precondition::Jacobi;

/// Parameters of [`Chebyshev`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ChebyshevParams {
    /// Degree of the polynomial, 1 to 64: one product less than that an application.
    pub degree: usize,
    /// The largest eigenvalue of `D⁻¹ A` over the smallest that the polynomial is made for, more than 1: what lies below is left to
    /// the method.
    pub ratio: f64,
}

with!(const ChebyshevParams:
    with_degree(degree: usize),
    with_ratio(ratio: f64),
);

impl Default for ChebyshevParams {
    fn default() -> Self {
        ChebyshevParams { degree: 4, ratio: 30.0 }
    }
}

/// A polynomial in `D⁻¹ A`, with the diagonal `D`, that is near its inverse on an interval `[λ / ratio, λ]` of eigenvalues: as many
/// steps of the Chebyshev iteration from zero as its degree,
/// `z ← z + ρ'ρ (z - z_before) + (2 ρ' / δ) D⁻¹ (r - A z)`, where `θ` and `δ` are the middle and half the width of the interval,
/// `ρ = δ / θ` at first and `ρ' = 1 / (2 θ / δ - ρ)`.
///
/// `A` and `D` are multiplied by the power of two by which [`Jacobi`] is, which makes a multiple of this. Symmetric and positive
/// definite where `A` is: `λ` is a bound of the largest eigenvalue, the greatest sum of
/// `|a_ij| / sqrt(a_ii a_jj)` over a row where the entries are known, or 1.2 times what a power iteration of 12 products estimates,
/// whichever is less.
///
/// *Cost* of an application: a product and a pass for each degree but the first, which is a pass alone. No reduction: where inner
/// products are what an iteration waits for, a polynomial does more between two of them.
///
/// *Source*: Y. Saad, *Iterative Methods for Sparse Linear Systems* (2003), 12.3.
///
/// ```
/// use texla::{BandedMatrix, Vector, solve::{CgParams, CgSchedule, Chebyshev, ChebyshevParams, ConjugateGradient}};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let a = BandedMatrix::poisson_2d(dev, 32, 32)?;
/// let b = Vector::filled(dev, 1024, 1.0)?;
/// let m = Chebyshev::new(&a, ChebyshevParams::default())?;
/// let iterations = |report: texla::solve::SolveReport| report.iterations;
/// let cg = ConjugateGradient::new(&a, CgParams::default())?;
/// let plain = iterations(cg.solve(&mut Vector::zeros(dev, 1024)?, &b)?);
/// let cg = ConjugateGradient::preconditioned(&a, &m, CgParams::default())?;
/// let fewer = iterations(cg.solve(&mut Vector::zeros(dev, 1024)?, &b)?);
/// assert!(5 * fewer <= 2 * plain, "{fewer} in place of {plain}");
/// # Ok::<(), texla::Error>(())
/// ```
pub struct Chebyshev<A> {
    a: A,
    polynomial: Polynomial,
}

/// The polynomial, whatever the operator's type is.
struct Polynomial {
    inverse: Jacobi,
    /// `(ρ'ρ, 2 ρ' / δ)` of each step; of the first `(0, 1 / θ)`.
    steps: Vec<[f32; 2]>,
    largest: f64,
    replays: Replays<()>,
}

shown!([A: LinOp] Chebyshev<A>, |m| "Chebyshev({}, degree {})", m.a.shape(), m.polynomial.steps.len());

impl<A: LinOp> Chebyshev<A> {
    /// For a symmetric positive definite operator, borrowed, shared or owned: see
    /// [`Krylov`](crate::solve::Krylov#ownership).
    ///
    /// *Cost*: 1 upload, 12 products, 2 numbers waited for. *Errors*: [`Error::Parameter`]; [`Error::Matrix`] naming the first row
    /// whose diagonal is not positive; [`Error::Unsupported`] when the operator does not know its diagonal.
    pub fn new(a: A, params: ChebyshevParams) -> Result<Self> {
        let polynomial = Polynomial::new(&a, params)?;
        Ok(Chebyshev { a, polynomial })
    }

    /// The bound on the eigenvalues of `D⁻¹ A` that the polynomial is made for.
    pub fn largest(&self) -> f64 {
        self.polynomial.largest
    }
}

impl Polynomial {
    fn new(a: &dyn LinOp, params: ChebyshevParams) -> Result<Self> {
        let op = "Chebyshev";
        let ChebyshevParams { degree, ratio } = params;
        if !(1..=64).contains(&degree) {
            return Err(Error::Parameter {
                op,
                name: "degree",
                value: degree.to_string(),
                expected: "1 to 64",
            });
        }
        if !(ratio > 1.0 && ratio <= 1e6) {
            let expected = "more than 1, 10^6 at most";
            return Err(Error::Parameter { op, name: "ratio", value: number(ratio), expected });
        }
        let _scope = a.device().scope()?;
        let inverse = Jacobi::positive(op, a)?;
        let known = a.pattern().map(bound);
        let largest = known.unwrap_or(f64::INFINITY).min(1.2 * estimate(a, &inverse)?);
        let (theta, delta) = (0.5 * largest * (1.0 + 1.0 / ratio), 0.5 * largest * (1.0 - 1.0 / ratio));
        let mut rho = delta / theta;
        let mut steps = vec![[0.0, (1.0 / theta) as f32]];
        for _ in 1..degree {
            let next = 1.0 / (2.0 * theta / delta - rho);
            steps.push([(next * rho) as f32, (2.0 * next / delta) as f32]);
            rho = next;
        }
        Ok(Polynomial { inverse, steps, largest, replays: Replays::default() })
    }

    fn apply(&self, a: &dyn LinOp, z: &mut Vector, r: &Vector) -> Result<()> {
        let device = a.device();
        check_vectors("Chebyshev::apply", a, z, r)?;
        let _scope = device.scope()?;
        let fresh = || Vector::uninit(device, r.len());
        match a.is_replayable() {
            true => self.replays.run(device, ((), 1), z, &[r], &fresh, &|z| self.describe(a, z, r)),
            false => self.describe(a, z, r),
        }
    }

    /// The passes of an application, said anew.
    fn describe(&self, a: &dyn LinOp, z: &mut Vector, r: &Vector) -> Result<()> {
        let device = a.device();
        let fresh = || Vector::uninit(device, r.len());
        let m = self.inverse.values();
        let [mut now, mut before] = [None::<Vector>, None];
        for (k, [momentum, factor]) in self.steps.iter().enumerate() {
            let rest = match &now {
                None => None,
                Some(now) => {
                    let mut rest = fresh()?;
                    ops::product(&mut rest, Combine::SubtractFrom(r), self.inverse.unit(), a, now)?;
                    Some(rest)
                }
            };
            let next = if k + 1 < self.steps.len() { Some(fresh()?) } else { None };
            Draw::new(device, glsl!("solve/chebyshev.frag"))
                .define("STEP", k.min(2) as u32)
                .input("m", m.view())
                .input("r", rest.as_ref().unwrap_or(r).view())
                .input_if("z", now.as_ref().map(Operand::view))
                .input_if("before", before.as_ref().map(Operand::view))
                .param("momentum", *momentum)
                .param("factor", *factor)
                .masked(true)
                .target(next.as_ref().unwrap_or(z).view())
                .run()?;
            before = std::mem::replace(&mut now, next);
        }
        Ok(())
    }
}

/// The greatest sum of `|a_ij| / sqrt(a_ii a_jj)` over a row: no eigenvalue of `D^-½ A D^-½` is larger.
fn bound(a: &Csr) -> f64 {
    let roots: Vec<f64> = a.diagonal().into_iter().map(|d| d.sqrt()).collect();
    let root = |j: u32| roots.get(j as usize).copied().unwrap_or(1.0);
    let sum = |(cols, values): (&[u32], &[f64])| {
        cols.iter().zip(values).map(|(j, v)| v.abs() / root(*j)).sum::<f64>()
    };
    a.rows().zip(&roots).map(|(row, own)| sum(row) / own).fold(0.0, f64::max)
}

/// The largest eigenvalue of `D⁻¹ A`, mostly from below: by how much products enlarge a vector in the end. Of a diagonal scaled to
/// 1 they are a few, and so many powers of them stay in the range of floats.
fn estimate(a: &dyn LinOp, inverse: &Jacobi) -> Result<f64> {
    const STEPS: [i32; 2] = [4, 8];
    let n = a.shape().rows;
    let fresh = || Vector::uninit(a.device(), n);
    let (mut x, mut w) = (fresh()?, fresh()?);
    // Any vector that no eigenvector is orthogonal to for a reason.
    Draw::new(a.device(), glsl!("solve/shadow.frag")).param("seed", 7).masked(true).target(x.view()).run()?;
    let mut norm = [0.0; 2];
    for (norm, steps) in norm.iter_mut().zip(STEPS) {
        for _ in 0..steps {
            ops::product(&mut w, Combine::Replace, inverse.unit(), a, &x)?;
            inverse.apply(&mut x, &w)?;
        }
        *norm = f64::from(ops::norm2(&x)?.read()?);
    }
    let [before, after] = norm;
    let grown = (after / before).powf(1.0 / f64::from(STEPS[1]));
    // An operator of nothing, or of no rows.
    Ok(if grown.is_finite() && grown > 0.0 { grown } else { 1.0 })
}

impl<A: LinOp> Preconditioner for Chebyshev<A> {
    fn apply(&self, z: &mut Vector, r: &Vector) -> Result<()> {
        self.polynomial.apply(&self.a, z, r)
    }

    fn is_replayable(&self) -> bool {
        self.a.is_replayable()
    }
}
