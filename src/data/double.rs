//! A column vector of pairs of floats.

use std::ops::Range;

use super::Vector;
use crate::device::Device;
use crate::error::{Error, Result, check_values};
use crate::host::parallel::Threads;
use crate::shape::{Extent, Shape};

/// A column vector whose elements are unevaluated sums of two 32-bit floats, 48 bits of significand or more in the range
/// of floats: unknowns and right-hand sides for which 32 bits are too few.
///
/// Both parts are [`Vector`]s, so that a host draws or samples either: the high part is the element rounded to 32 bits. The
/// low part is at most half a unit in the last place of it, as everything here leaves it.
///
/// Of a value in 64 bits the pair keeps all of it but a relative error of 2⁻⁴⁹; less where the low part would lie below
/// the normal range of floats, 1.2e-38.
///
/// ```
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let x = texla::DoubleVector::from_f64(dev, &[1.0 + 2f64.powi(-40), 0.1])?;
/// assert_eq!(x.high().read()?, [1.0, 0.1f32]);
/// let read = x.read()?;
/// assert_eq!(read[0], 1.0 + 2f64.powi(-40));
/// assert!((read[1] - 0.1).abs() < 0.1 * 2f64.powi(-48));
/// # Ok::<(), texla::Error>(())
/// ```
pub struct DoubleVector {
    high: Vector,
    low: Vector,
}

/// Both parts of a value.
fn split(value: f64) -> (f32, f32) {
    let high = value as f32;
    let low = (value - f64::from(high)) as f32;
    // Devices may take for zero what lies below the normal range.
    (high, if low.is_normal() { low } else { 0.0 })
}

impl DoubleVector {
    /// A vector of zeros.
    ///
    /// *Cost*: 2 clears. *Errors*: [`Error::TooLarge`] past the texture area; [`Error::OutOfMemory`].
    pub fn zeros(device: &Device, length: usize) -> Result<Self> {
        Ok(DoubleVector { high: Vector::zeros(device, length)?, low: Vector::zeros(device, length)? })
    }

    /// A vector with these elements.
    ///
    /// *Cost*: 2 uploads. *Errors*: [`Error::NonFinite`] with the index of the first value that is not finite, or
    /// overflows 32 bits; [`Error::TooLarge`], [`Error::OutOfMemory`].
    pub fn from_f64(device: &Device, values: &[f64]) -> Result<Self> {
        Vector::check_length(device, values.len())?;
        let (high, low) = split_all("DoubleVector::from_f64", values)?;
        Ok(DoubleVector { high: Vector::from_slice(device, &high)?, low: Vector::from_slice(device, &low)? })
    }

    pub(crate) fn of_parts(high: Vector, low: Vector) -> Self {
        DoubleVector { high, low }
    }

    /// Replaces all elements. *Cost*: 2 uploads. *Errors*: [`Error::LengthMismatch`], [`Error::NonFinite`].
    pub fn write(&mut self, values: &[f64]) -> Result<()> {
        let op = "DoubleVector::write";
        if values.len() != self.len() {
            let (found, expected) = (values.len(), self.len());
            return Err(Error::LengthMismatch { op, operand: "values", found, expected });
        }
        let (high, low) = split_all(op, values)?;
        self.high.write(&high)?;
        self.low.write(&low)
    }

    /// Sets every element to zero. *Cost*: 2 clears.
    pub fn set_zero(&mut self) -> Result<()> {
        self.high.set_zero()?;
        self.low.set_zero()
    }

    /// Copies the elements to the host; the sum of two floats is exact in 64 bits but where they are more than 53 bits apart, and
    /// rounded to 53 there: what a solve has certified is the pair ([`high`](Self::high), [`low`](Self::low)).
    /// *Cost*: 2 readbacks, which wait for the device.
    pub fn read(&self) -> Result<Vec<f64>> {
        Ok(joined(&self.high.read()?, &self.low.read()?))
    }

    /// The elements rounded to 32 bits: a texture to draw or sample.
    pub fn high(&self) -> &Vector {
        &self.high
    }

    /// What rounding has left of them.
    pub fn low(&self) -> &Vector {
        &self.low
    }

    /// Takes both parts out.
    pub(crate) fn into_parts(self) -> (Vector, Vector) {
        (self.high, self.low)
    }

    pub(crate) fn parts_mut(&mut self) -> (&mut Vector, &mut Vector) {
        (&mut self.high, &mut self.low)
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.high.len()
    }

    /// True for a vector of no elements.
    pub fn is_empty(&self) -> bool {
        self.high.is_empty()
    }

    /// As many rows, and one column.
    pub fn shape(&self) -> Shape {
        self.high.shape()
    }

    /// Width and height of either texture in texels.
    pub fn extent(&self) -> Extent {
        self.high.extent()
    }

    /// Where the vector lives.
    pub fn device(&self) -> &Device {
        self.high.device()
    }
}

shown!(DoubleVector, |v| "DoubleVector({})", v.len());

/// High and low parts, of values that 32 bits hold at all.
pub(super) fn split_all(what: &'static str, values: &[f64]) -> Result<(Vec<f32>, Vec<f32>)> {
    /// Values that are worth a thread.
    const MANY: usize = 1 << 14;
    let threads = Threads::all();
    let is_usual = |v: &f64| *v == 0.0 || (*v as f32).is_normal();
    let usual = |part: Range<usize>| values.get(part).unwrap_or_default().iter().all(is_usual);
    if !threads.parts(values.len(), MANY, usual).into_iter().all(|usual| usual) {
        check_values(what, &values.iter().map(|v| *v as f32).collect::<Vec<f32>>())?;
    }
    let parts = |i: usize| split(values.get(i).copied().unwrap_or_default());
    Ok((threads.made(values.len(), |i| parts(i).0), threads.made(values.len(), |i| parts(i).1)))
}

/// What those parts leave of the values, unless it is nothing, or below the normal range as they may be themselves.
pub(super) fn rest_of(values: &[f64]) -> Option<Vec<f32>> {
    let rest = values.iter().map(|v| {
        let (high, low) = split(*v);
        (v - f64::from(high) - f64::from(low)) as f32
    });
    let rest: Vec<f32> = rest.map(|v| if v.is_normal() { v } else { 0.0 }).collect();
    rest.iter().any(|v| *v != 0.0).then_some(rest)
}

/// The values that these are the parts of.
pub(super) fn joined(high: &[f32], low: &[f32]) -> Vec<f64> {
    let at = |list: &[f32], i: usize| f64::from(list.get(i).copied().unwrap_or_default());
    Threads::all().made(high.len().min(low.len()), |i| at(high, i) + at(low, i))
}
