//! Singular systems: work orthogonally to the null space, and refuse what has no solution.

use super::dots::{Dots, Reducer};
use super::scales::times_power;
use super::slices::{number, texel};
use super::unknown::{Iterand, Right};
use crate::data::{Scalar, Unknowns, Vector, exponent};
use crate::error::{Error, Result};
use crate::gl::glsl;
use crate::kernel::{Draw, Operand};
use crate::ops::LinOp;
use crate::ops::{self, ReducePlan, Windows};

/// `v ← v - Σ (n·v / n·n) n` over the vectors `n` of a null space: what is left of `v` is orthogonal to them, within
/// rounding.
///
/// Solvers do this on their own. It is public for right-hand sides that are meant to be consistent and are little more
/// than rounding, which a solver would refuse: the divergence of a fluid that is nearly at rest.
///
/// Whether `v` is finite is not asked, as that would take a readback: what comes of a NaN or an infinity made on the
/// device is the device's own ([`ops::nonfinite`](crate::ops::nonfinite) tells). Vectors of zeros are passed over; squares of
/// all norms have to stay within the range of floats.
///
/// *Shapes*: all equal. *Cost*: a reduction and 2 draws for each vector of the null space; no readback. *Errors*:
/// [`Error::ShapeMismatch`], [`Error::WrongDevice`]; [`Error::Unsupported`] for a `v` borrowed from the host. *Bound*: of
/// what is left along a single `n`, `γ_(d+4) |n|·|v| / ‖n‖` with the longest chain `d` of the reduction.
///
/// ```
/// use texla::{Vector, solve::project_out};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let ones = Vector::filled(dev, 4, 1.0)?;
/// let mut v = Vector::from_slice(dev, &[1.0, 2.0, 3.0, 6.0])?;
/// project_out(&mut v, &[ones])?;
/// assert_eq!(v.read()?, [-2.0, -1.0, 0.0, 3.0]);
/// # Ok::<(), texla::Error>(())
/// ```
/// *Pairs*: of a [`DoubleVector`](crate::DoubleVector) the part is taken out in pairs; [`Error::Unsupported`] where the
/// device has no exact form of two-sum.
pub fn project_out(v: &mut impl Unknowns, null_space: &[Vector]) -> Result<()> {
    let (high, low) = v.parts_mut();
    project_parts(high, low, null_space)
}

/// The same of a vector that may have a low part.
pub(in crate::solve) fn project_parts(
    high: &mut Vector,
    mut low: Option<&mut Vector>,
    null_space: &[Vector],
) -> Result<()> {
    null_space.iter().try_for_each(|n| project(high, low.as_deref_mut(), n).map(|_| ()))
}

/// A copy of `x` without its part in the null space of `a`: a start. What is large is brought near 1 for that, since its sums
/// may leave the range; what is so large that differences may leave it stays as it is. *Cost*: waits for one number, if there
/// is a null space.
pub(in crate::solve) async fn start_in_range(
    a: &dyn LinOp,
    (x, x_low): (&Vector, Option<&Vector>),
) -> Result<Iterand> {
    /// Past this, sums of squares of 2²⁴ elements come near the end of the range.
    const LARGE: f64 = (1u64 << 40) as f64;
    /// Half the largest power of two.
    const LARGEST: f64 = LARGE * LARGE * LARGE * (1u64 << 6) as f64;
    // Arithmetic makes zero of what is below the normal range, where it does so at all: then for good.
    let mut start = Iterand { high: times(0, x)?, low: x_low.map(|low| times(0, low)).transpose()? };
    if a.null_space().is_empty() {
        return Ok(start);
    }
    let largest = number(ops::max_abs(&start.high)?).await?;
    if largest.is_finite() && largest >= LARGEST {
        return Ok(start);
    }
    let e = if largest.is_finite() && largest > LARGE { exponent(largest) } else { 0 };
    if e == 0 {
        project_out(&mut start, a.null_space())?;
        return Ok(start);
    }
    let mut near = start.times(-e)?;
    project_out(&mut near, a.null_space())?;
    near.times(e)
}

impl Iterand {
    /// `2^e` of it.
    fn times(&self, e: i32) -> Result<Self> {
        Ok(Iterand {
            high: times(e, &self.high)?,
            low: self.low.as_ref().map(|low| times(e, low)).transpose()?,
        })
    }
}

fn times(e: i32, x: &Vector) -> Result<Vector> {
    let mut out = Vector::uninit(x.device(), x.len())?;
    times_power(&mut out, e, x)?;
    Ok(out)
}

/// Takes the part along one vector out, and returns (coefficient, its low part, n.v, n.n) on the device.
fn project(v: &mut Vector, low: Option<&mut Vector>, n: &Vector) -> Result<Scalar> {
    let op = "project_out";
    v.writable(op)?;
    ops::check_shape(op, "null_space", n.shape(), v.shape())?;
    ops::check_device(op, "null_space", n.device(), v.device())?;
    let device = v.device().clone();
    let _scope = device.scope()?;
    let reducer = Reducer::new(&device, Windows::Balanced);
    let folded;
    let mut along = n;
    if n.extent() != v.extent() {
        // Borrowed from the host: read at the same texel as v, so it is first folded like that.
        let mut copy = Vector::uninit(&device, n.len())?;
        ops::copy(&mut copy, n)?;
        folded = copy;
        along = &folded;
    }
    let coefficient = Scalar::uninit(&device)?;
    let Some(low) = low else {
        let sums = reducer.sum(Dots::Residual, &[along, v])?;
        sums.left_to(Draw::new(&device, glsl!("solve/coefficient.frag"))).target(coefficient.view()).run()?;
        ops::accumulate_scaled(v, &coefficient, along)?;
        return Ok(coefficient);
    };
    ops::check_exact(op, &device)?;
    let sums = reducer.sum(Dots::PairAlong, &[along, v, low])?;
    sums.left_to(Draw::new(&device, glsl!("double/coefficient.frag"))).target(coefficient.view()).run()?;
    let fresh = || Vector::uninit(&device, along.len());
    let next = [fresh()?, fresh()?];
    ops::add_scaled_to_pair(next.each_ref(), &coefficient, along, [v, low])?;
    [*v, *low] = next;
    Ok(coefficient)
}

/// Below this exponent the elements of a projected `b` may come near the end of the range of floats.
const SMALL: i32 = -60;

/// Refuses a `b` whose projection, `2^e own`, has lost digits below the range of floats: what is solved is to be the system
/// that was given. *Cost*: waits.
async fn require_room(op: &'static str, projected: &Vector, own: &Vector, e: i32) -> Result<()> {
    /// More of its norm than this.
    const NOTHING: f64 = 1.0 / (1u32 << 30) as f64;
    let (mut back, mut lost) =
        (Vector::uninit(own.device(), own.len())?, Vector::uninit(own.device(), own.len())?);
    times_power(&mut back, -e, projected)?;
    ops::sub(&mut lost, own, &back)?;
    let (lost, norm) = (number(ops::norm2(&lost)?).await?, number(ops::norm2(own)?).await?);
    if lost <= NOTHING * norm {
        return Ok(());
    }
    let value = format!("with elements of at most 2^{}", e + 1);
    let expected = "large enough for its part orthogonal to the null space: that has elements below the normal range of \
                    32-bit floats (1.2e-38), which a device may take for zero";
    Err(Error::Parameter { op, name: "b", value, expected })
}

/// The part of `b` that is orthogonal to the null space of `a`, in pairs if asked for; none if there is no null space.
///
/// *Cost*: a readback for each of its vectors, and two; two more where `b` is small. *Errors*: [`Error::Inconsistent`] when the rest is larger than
/// `(t + γ_(d+3)) ‖b‖`: what a residual of `t` allows anyway, and what rounding the elements of `b` and summing them in
/// chains of `d` additions can come to.
pub(in crate::solve) async fn consistent(
    op: &'static str,
    a: &dyn LinOp,
    b: Right<'_>,
    pairs: bool,
    t: f64,
) -> Result<Option<Iterand>> {
    let null_space = a.null_space();
    if null_space.is_empty() || b.high.is_empty() {
        return Ok(None);
    }
    let device = a.device();
    let e = exponent(number(ops::max_abs(b.high)?).await?);
    let low = match b.low {
        Some(low) => Some(times(-e, low)?),
        None if pairs => Some(Vector::zeros(device, b.high.len())?),
        None => None,
    };
    let mut own = Iterand { high: times(-e, b.high)?, low };
    let norm = number(ops::norm2(&own.high)?).await?;
    let mut square = 0.0;
    for n in null_space {
        let coefficient = project(&mut own.high, own.low.as_mut(), n)?;
        let [_, _, along, length] = texel(&coefficient).await?.map(f64::from);
        square += along * along / length;
    }
    let chain = ReducePlan::on(device, own.high.extent(), Windows::Balanced, 2).longest_chain();
    // By how much elements are rounded, and their sums.
    let unit = if b.low.is_some() { f64::from(1u32 << 23).powi(-2) } else { f64::from(1u32 << 24).recip() };
    let ku = (chain as f64 + 3.0) * unit;
    let bound = (t + ku / (1.0 - ku)) * norm;
    let found = square.sqrt();
    if !found.is_finite() {
        // `b` is finite, as solvers have made sure.
        let what = format!("{op}: the part of b along the null space, n.b / n.n");
        return Err(Error::NonFinite { what, index: 0, value: found });
    }
    // Of a NaN nothing can be said to be small.
    let small = found <= bound;
    if !small {
        let unit = f64::from(e).exp2();
        return Err(Error::Inconsistent { op, found: found * unit, bound: bound * unit });
    }
    // Once more: the first time leaves what rounding makes of a part that may have been large.
    project_out(&mut own, null_space)?;
    let projected = own.times(e)?;
    if e < SMALL {
        require_room(op, &projected.high, &own.high, e).await?;
    }
    Ok(Some(projected))
}
