//! Gauss-Seidel and successive over-relaxation by colours.

mod colouring;
mod sweepable;

pub use sweepable::Sweepable;

use colouring::Colouring;

use super::smoother::{Smoother, check_relaxation, nonzero_diagonal};
use crate::data::{Vector, exponent};
use crate::error::{Error, Result, check_finite};
use crate::gl::glsl;
use crate::kernel::{Accum, Draw, Mask, Operand, Predicate, Replays};
use crate::ops;
use crate::solve::drive::check::check_vectors;
use crate::solve::drive::scales::{exponent_of, times_power};
use crate::solve::precondition::Preconditioner;

/// The way in which a sweep of [`GaussSeidel`] goes through the unknowns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// Colour by colour, and within a texel from its first unknown to its last.
    #[default]
    Forward,
    /// The other way round.
    Backward,
    /// Forward, then backward: for symmetric `A` a symmetric iteration, as conjugate gradients need it.
    Symmetric,
}

/// Most colours of [`GaussSeidel`]: each costs two draws a sweep, and a depth texture.
pub const MOST_COLOURS: usize = 64;

/// Gauss-Seidel, and successive over-relaxation (SOR) for `ω != 1`: unknown after unknown,
/// `x_i ← x_i + ω / a_ii (b - A x)_i` with the newest of all others.
///
/// The unknowns are visited in the order (colour, texel, lane). What has a colour is a *texel*, four consecutive unknowns:
/// no entry of `A` leads from one texel to another of the same colour, so that all texels of a colour can be swept at
/// once, and within a texel the four unknowns follow one another by substitution. So this is Gauss-Seidel in that order
/// and no approximation of it. Grids with the five- or seven-point operator whose rows are a multiple of four long have
/// two colours, the checkerboard of texels, and are consistently ordered: D. Young's theory holds, `ρ = ρ(Jacobi)²`, and
/// the best ω is `2 / (1 + √(1 - ρ(Jacobi)²))`. Other matrices are coloured greedily.
///
/// A colour's texels are chosen by the depth test: a mask for each colour, written once. Where the device drops what the
/// mask leaves out in blocks of several texels, a checkerboard gains nothing by that, and two colours cost as much as
/// two sweeps of Jacobi, for which Gauss-Seidel is twice as fast (`ρ(Jacobi)²`); SOR is what gains. Where colours lie
/// together in the texture, a sweep costs little more than a product.
///
/// As a [`Preconditioner`] it is one sweep from zero. Conjugate gradients need [`Direction::Symmetric`] (SSOR); with few
/// colours ω = 1 is best there, and halves the iterations of Jacobi on grids.
///
/// *Cost* of a sweep: for each colour a product and 1 draw, or 2 where the device does not blend floats
/// ([`Accum`](crate::kernel::Accum)); a symmetric sweep twice that. *Bound*: that of the product, times `ω / |a_ii|`, and a rounding of `x`, in every
/// step. *Source*: D. Young, *Iterative methods for solving partial difference equations of elliptic type*, Trans. AMS 76,
/// 1954; \[BeyondVector\] 28.4.1 for the depth test.
///
/// ```
/// use texla::{BandedMatrix, Vector};
/// use texla::solve::{Direction, GaussSeidel, Stationary, StationaryParams, Stop, StopReason};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let a = BandedMatrix::poisson_2d(dev, 32, 32)?;
/// let jacobi = (std::f64::consts::PI / 33.0).cos();
/// let best = 2.0 / (1.0 + (1.0 - jacobi * jacobi).sqrt());
/// let sor = GaussSeidel::new(&a, best, Direction::Forward)?;
/// assert_eq!(sor.colours(), 2);
/// let (b, mut x) = (Vector::filled(dev, 1024, 1.0)?, Vector::zeros(dev, 1024)?);
/// let params = StationaryParams::default().with_stop(Stop::relative(1e-4));
/// let report = Stationary::new(&a, &sor, params)?.solve(&mut x, &b)?;
/// assert_eq!(report.reason, StopReason::Converged);
/// assert!(report.iterations < 100, "{report:?}"); // Jacobi: 2000
/// # Ok::<(), texla::Error>(())
/// ```
pub struct GaussSeidel<A> {
    a: A,
    sweeps: Sweeps,
}

/// What was made ready for an operator, whatever its type is.
struct Sweeps {
    direction: Direction,
    /// `2^e ω / a_ii`, the largest about 1, and `2^-e`.
    weights: Vector,
    factor: f32,
    forward: Triangle,
    backward: Triangle,
    masks: Vec<Mask>,
    /// Sweeps, from zero or not.
    replays: Replays<bool>,
}

shown!(
    [A: Sweepable] GaussSeidel<A>,
    |s| "GaussSeidel({}, {:?}, {} colours)",
    s.a.shape(),
    s.sweeps.direction,
    s.sweeps.masks.len()
);

/// What couples the unknowns of a texel, in one direction: see `glsl/solve/substitute.frag`.
struct Triangle {
    near: Option<Vector>,
    far: Option<Vector>,
}

const OP: &str = "GaussSeidel";

impl<A: Sweepable> GaussSeidel<A> {
    /// Colours the texels of `a` and writes the masks. `omega` is 1 for Gauss-Seidel, and lies between 0
    /// and 2. The operator is borrowed, shared or owned: see [`Krylov`](crate::solve::Krylov#ownership).
    ///
    /// *Cost*: on the host, a pass over the entries (and over those of `Aᵀ`, unless `a` is symmetric); 2 to 6 uploads,
    /// and an upload and a draw for each colour. *Errors*: [`Error::Matrix`] when `a` is not square, naming the first
    /// row whose diagonal is zero, or when it takes more than [`MOST_COLOURS`]; [`Error::Parameter`];
    /// [`Error::NonFinite`] where `1 / a_ii` or `a_ij / a_ii` leaves the range of floats.
    pub fn new(a: A, omega: f64, direction: Direction) -> Result<Self> {
        let sweeps = Sweeps::new(&a, omega, direction)?;
        Ok(GaussSeidel { a, sweeps })
    }

    /// Number of colours.
    pub fn colours(&self) -> usize {
        self.sweeps.masks.len()
    }
}

impl Sweeps {
    fn new(a: &dyn Sweepable, omega: f64, direction: Direction) -> Result<Self> {
        check_relaxation(OP, omega, 2.0, "more than 0 and less than 2")?;
        let diagonal = nonzero_diagonal(OP, a)?;
        let device = &a.device().clone();
        let _scope = device.scope()?;
        let smallest = diagonal.iter().fold(f64::MAX, |m, d| m.min(d.abs()));
        let e = if diagonal.is_empty() { 0 } else { exponent(smallest) };
        check_finite("GaussSeidel: 1 / a_ii", [f64::from(-e).exp2()])?;
        let weights: Vec<f64> = diagonal.iter().map(|d| omega * f64::from(e).exp2() / d).collect();
        let triangle = |forward| {
            let used = match direction {
                Direction::Symmetric => true,
                Direction::Forward => forward,
                Direction::Backward => !forward,
            };
            if used {
                Triangle::new(a, omega, &diagonal, forward)
            } else {
                Ok(Triangle { near: None, far: None })
            }
        };
        Ok(Sweeps {
            direction,
            weights: Vector::from_f64(device, &weights)?,
            factor: f64::from(-e).exp2() as f32,
            forward: triangle(true)?,
            backward: triangle(false)?,
            masks: masks(a)?,
            replays: Replays::default(),
        })
    }

    /// A sweep in one direction. With `from_zero`, `x` is zero, and the first colour's residual is `b` itself.
    fn sweep(
        &self,
        a: &dyn Sweepable,
        x: &mut Vector,
        b: &Vector,
        r: &mut Vector,
        forward: bool,
        from_zero: bool,
    ) -> Result<()> {
        let first = if forward { 0 } else { self.masks.len().saturating_sub(1) };
        let visit = |(colour, mask): (usize, &Mask)| {
            if from_zero && colour == first {
                return self.step(x, b, mask, forward);
            }
            a.residual_where(r, b, x, Predicate::If(mask))?;
            self.step(x, r, mask, forward)
        };
        let mut masks = self.masks.iter().enumerate();
        if forward { masks.try_for_each(visit) } else { masks.rev().try_for_each(visit) }
    }

    /// Adds a colour's step to `x`, from its residual.
    fn step(&self, x: &mut Vector, r: &Vector, mask: &Mask, forward: bool) -> Result<()> {
        let triangle = if forward { &self.forward } else { &self.backward };
        let [near, far] = [&triangle.near, &triangle.far].map(Option::as_ref);
        Draw::new(self.weights.device(), glsl!("solve/substitute.frag"))
            .define("NEAR", near.is_some())
            .define("FAR", far.is_some())
            .define("FORWARD", forward)
            .param("factor", self.factor)
            .input("w", self.weights.view())
            .input("r", r.view())
            .input_if("near", near.map(Operand::view))
            .input_if("far", far.map(Operand::view))
            .only(Predicate::If(mask))
            .target(x.view())
            .accumulate(Accum::Add)
            .run()
    }

    fn run(
        &self,
        a: &dyn Sweepable,
        x: &mut Vector,
        b: &Vector,
        sweeps: usize,
        from_zero: bool,
    ) -> Result<()> {
        let device = a.device();
        let _scope = device.scope()?;
        let fresh = || Vector::uninit(device, b.len());
        let describe = |x: &mut Vector, from_zero: bool| {
            let mut r = fresh()?;
            match self.direction {
                Direction::Forward => self.sweep(a, x, b, &mut r, true, from_zero),
                Direction::Backward => self.sweep(a, x, b, &mut r, false, from_zero),
                Direction::Symmetric => {
                    self.sweep(a, x, b, &mut r, true, from_zero)?;
                    self.sweep(a, x, b, &mut r, false, false)
                }
            }
        };
        let first = sweeps.min(usize::from(from_zero));
        for (from_zero, times) in [(true, first), (false, sweeps - first)] {
            match a.is_replayable() {
                true => self
                    .replays
                    .run(device, (from_zero, times), x, &[b], &fresh, &|x| describe(x, from_zero))?,
                false => (0..times).try_for_each(|_| describe(x, from_zero))?,
            }
        }
        Ok(())
    }
}

impl Triangle {
    fn new(a: &dyn Sweepable, omega: f64, diagonal: &[f64], forward: bool) -> Result<Self> {
        let device = a.device();
        let padded = diagonal.len().next_multiple_of(4);
        let (mut near, mut far) = (vec![0.0; padded], vec![0.0; padded]);
        for (i, j, value) in a.rows().entries() {
            if i / 4 != j / 4 || i == j || (j < i) != forward {
                continue;
            }
            let share = omega * value / diagonal.get(i).copied().unwrap_or(1.0);
            let slot = match i.abs_diff(j) {
                1 => near.get_mut(i),
                2 => far.get_mut(i.min(j)),
                _ => far.get_mut(i / 4 * 4 + 2),
            };
            if let Some(slot) = slot {
                *slot = share;
            }
        }
        let upload = |values: Vec<f64>| {
            let any = values.iter().any(|v| *v != 0.0);
            if any { Vector::from_f64(device, &values).map(Some) } else { Ok(None) }
        };
        Ok(Triangle { near: upload(near)?, far: upload(far)? })
    }
}

/// A mask for each colour.
fn masks(a: &dyn Sweepable) -> Result<Vec<Mask>> {
    let device = a.device();
    let rows = a.rows();
    let Colouring { colours, count } = Colouring::new(rows, rows.is_symmetric());
    if count > MOST_COLOURS {
        let detail = format!("takes {count} colours, expected at most {MOST_COLOURS}: its rows are too full");
        return Err(Error::Matrix { op: OP, detail });
    }
    let of = |t: usize| colours.get(t).copied().unwrap_or(0) as f32;
    let values: Vec<f32> = (0..rows.shape().rows).map(|i| of(i / 4)).collect();
    let coloured = Vector::from_slice(device, &values)?;
    let mask = |colour: usize| {
        Draw::new(device, glsl!("solve/colour.frag"))
            .input("colours", coloured.view())
            .param("colour", colour as f32)
            .mask(coloured.view())
    };
    (0..count).map(mask).collect()
}

impl<A: Sweepable> Smoother for GaussSeidel<A> {
    fn smooth(&self, x: &mut Vector, b: &Vector, sweeps: usize) -> Result<()> {
        check_vectors("GaussSeidel::smooth", &self.a, x, b)?;
        self.sweeps.run(&self.a, x, b, sweeps, false)
    }
}

impl<A: Sweepable> Preconditioner for GaussSeidel<A> {
    /// One sweep from zero, times `2^e` with the exponent of `A`, so that `z` is about as large as `r`: half of it before
    /// and half after, so that neither side of the sweep comes near an end of the range. Nothing is done where that is 16 at most, as
    /// of stencils: it costs three passes.
    fn apply(&self, z: &mut Vector, r: &Vector) -> Result<()> {
        check_vectors("GaussSeidel", &self.a, z, r)?;
        let _scope = self.a.device().scope()?;
        z.set_zero()?;
        let e = exponent_of(&self.a)?;
        if e.abs() <= 4 {
            return self.sweeps.run(&self.a, z, r, 1, true);
        }
        let mut scaled = Vector::uninit(r.device(), r.len())?;
        times_power(&mut scaled, e / 2, r)?;
        self.sweeps.run(&self.a, z, &scaled, 1, true)?;
        times_power(&mut scaled, e - e / 2, z)?;
        ops::copy(z, &scaled)
    }
}
