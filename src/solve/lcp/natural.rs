//! How far a vector is from solving the problem.

use super::partition::{Partition, Sums};
use super::solver::check_ratio;
use super::system::measured;
use super::table::Table;
use crate::data::{Unknowns, Vector, exponent};
use crate::error::Result;
use crate::kernel::Operand;
use crate::ops::{self, Accuracy, Accurate, LinOp};
use crate::shape::Shape;
use crate::solve::drive::finite::Small;
use crate::solve::drive::scales::{exponent_of, power};
use crate::solve::drive::slices::now;
use crate::solve::drive::unknown::{Right, exact_sum};
use crate::solve::judge::{LEAST_BOUND, LEAST_BOUND_OF_PAIRS};

/// What [`natural_residual`] finds.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct NaturalResidual {
    /// `max_i |min(x_i, (A x + b)_i)|`; infinite where `x` or `A x + b` is not finite.
    pub largest: f64,
    /// The same divided by that of zero, `max_i max(-b_i, 0)`, or by 1 where no `b_i` is negative.
    pub relative: f64,
    /// How exactly `A x + b` was computed.
    pub accuracy: Accuracy,
}

/// `max_i |min(x_i, (A x + b)_i)|`: zero for solutions of `x >= 0`, `A x + b >= 0`, `xᵀ(A x + b) = 0` and for nothing
/// else, whatever `x` is and wherever it comes from. What lies below 2⁻¹²⁰ of the largest `|b_i|`, product or negative
/// element of `x` has no room beside it in 32 bits, and counts as zero.
///
/// *Shapes*: `A` n x n, `x` and `b` n. *Cost*: a product in double-float where the operator has one, of
/// [pairs](crate::DoubleVector) one in [three floats](crate::ops::ExactSum); a reduction; 6 readbacks. *Errors*:
/// [`Error::ShapeMismatch`](crate::Error::ShapeMismatch); [`Error::Unsupported`](crate::Error::Unsupported) for pairs where the
/// operator has no [`accumulate`](LinOp::accumulate) or the device no exact two-sum;
/// [`Error::Parameter`](crate::Error::Parameter) for a `b` with an element more than 2¹³⁰ times larger than the most
/// negative one, or with one below the normal range that counts beside that. What has diverged is no error here but
/// infinite: a shader does not keep NaN, so elements are looked at one by one.
///
/// ```
/// use texla::{BandedMatrix, Vector, host::Triplets, solve::natural_residual};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let a = BandedMatrix::from_triplets(dev, &Triplets::from_diagonal(&[2.0, 4.0]))?;
/// let b = Vector::from_slice(dev, &[-1.0, 8.0])?;
/// let solution = Vector::from_slice(dev, &[0.5, 0.0])?;
/// assert_eq!(natural_residual(&a, &solution, &b)?.largest, 0.0);
/// let zero = Vector::zeros(dev, 2)?;
/// assert_eq!(natural_residual(&a, &zero, &b)?.relative, 1.0);
/// # Ok::<(), texla::Error>(())
/// ```
pub fn natural_residual<X: Unknowns, B: Unknowns>(a: &dyn LinOp, x: &X, b: &B) -> Result<NaturalResidual> {
    let op = "natural_residual";
    let ((x, x_low), right) = (x.parts(), Right::of(b));
    let b = right.high;
    ops::check_shape(op, "x", x.shape(), Shape::column(a.shape().cols))?;
    ops::check_shape(op, "b", b.shape(), Shape::column(a.shape().rows))?;
    ops::check_shape(op, "A", a.shape(), Shape::new(b.len(), b.len()))?;
    let device = a.device();
    let _scope = device.scope()?;
    let largest_b = f64::from(ops::max_abs(b)?.read()?);
    let least = if b.is_empty() { 0.0 } else { f64::from(ops::min_element(b)?.read()?) };
    let largest_x = f64::from(ops::max_abs(x)?.read()?);
    let least_x = if x.is_empty() { 0.0 } else { f64::from(ops::min_element(x)?.read()?) };
    let broken =
        NaturalResidual { largest: f64::INFINITY, relative: f64::INFINITY, accuracy: Accuracy::Single };
    if !(largest_b.is_finite() && largest_x.is_finite()) {
        return Ok(broken);
    }
    check_ratio(op, least, largest_b)?;
    let wanted = if x_low.is_some() || right.low.is_some() { LEAST_BOUND_OF_PAIRS } else { LEAST_BOUND };
    now(Small::BesideNegative.check(op, b, wanted))?;
    // Scaled by a power of two so that no sum of products leaves the range.
    let product = if largest_x == 0.0 { i32::MIN } else { exponent(largest_x) + exponent_of(a)? };
    // Nor does an element of x that is a residual itself; one that is not may.
    let negative = if least_x < 0.0 { exponent(-least_x) } else { i32::MIN };
    let scale = power(-exponent(largest_b).max(product).max(negative).clamp(-120, 120));
    let (w, accuracy) = if x_low.is_some() || right.low.is_some() {
        let parts: Vec<&Vector> = [x].into_iter().chain(x_low).collect();
        (exact_sum(a, (scale, right), scale, parts, false)?.into_rounded(), Accuracy::DoubleFloat)
    } else {
        let mut w = Vector::uninit(device, b.len())?;
        let terms = Accurate { transposed: false, alpha: scale, x, plus: Some((scale, b)) };
        let accuracy = ops::product_accurate(&mut w, a, terms)?;
        (w, accuracy)
    };
    // Read at the same texel as w, so a borrowed texture of another width is first folded like that.
    let mut folded = Vector::uninit(device, x.len())?;
    ops::copy(&mut folded, x)?;
    let goals = Table::filled(device, 1, [0.0, scale, 0.0, 0.0])?;
    let partition = Partition::single(device, x.len())?;
    let inputs = [folded.view(), w.view(), goals.view()];
    let parts = partition.sums(Sums::Natural { diagonal: false }, &inputs)?;
    let maxima = now(partition.read_maxima(&parts))?;
    let largest = measured(maxima.first().map_or(0.0, |m| m[0]), f64::from(scale));
    let relative = if least < 0.0 { largest / -least } else { largest };
    Ok(NaturalResidual { largest, relative, accuracy })
}
