//! Whether what a solver is given is finite: asked of the bits, since sums and extremes of shaders may lose a NaN.

use crate::data::{PendingRead, Vector};
use crate::error::{Error, Result};
use crate::ops;

/// Whether all elements of a vector are finite, on the way to the host.
///
/// Sent for before whatever is waited for anyway, and looked at after it, so that it costs no wait of its own.
pub(in crate::solve) struct AllFinite(PendingRead);

impl AllFinite {
    /// *Cost*: a reduction.
    pub fn ask(v: &Vector) -> Result<Self> {
        Ok(AllFinite(ops::nonfinite(v)?.read_async()?))
    }

    /// *Cost*: waits until the device has come to the count.
    pub fn wait(&self) -> Result<bool> {
        Ok(self.0.wait()?.first() == Some(&0.0))
    }
}

/// What solvers ask of a right-hand side besides, where it has elements that a device may take for zero: below the normal
/// range, and not zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::solve) enum Small {
    /// They are next to nothing beside its norm.
    BesideNorm,
    /// They are next to nothing beside the most negative element, if there is a negative one.
    BesideNegative,
    /// There are none: least squares may weigh them more than all others.
    None,
}

impl Small {
    /// Less than this share of the unit of residuals changes no verdict.
    const NOTHING: f64 = 1.0 / (1u64 << 40) as f64;

    /// What small elements are too large beside; nothing if they may be taken for zero.
    fn hidden(self, values: &[f32]) -> Option<f64> {
        let norm = |v: &mut dyn Iterator<Item = f64>| v.map(|v| v * v).sum::<f64>().sqrt();
        let all = || values.iter().map(|v| f64::from(*v));
        let small = || values.iter().filter(|v| v.is_subnormal()).map(|v| f64::from(*v));
        let lost = norm(&mut small());
        let unit = match self {
            Small::BesideNorm => norm(&mut all()),
            Small::BesideNegative => match all().fold(0.0, |most, v| f64::max(most, -v)) {
                0.0 => return None,
                most => most,
            },
            Small::None => 0.0,
        };
        (lost > Self::NOTHING * unit).then(|| small().fold(0.0, |m, v| f64::max(m, v.abs())))
    }

    /// Refuses a right-hand side of which too much may be lost.
    fn refuse(self, op: &'static str, values: &[f32]) -> Result<()> {
        let Some(lost) = self.hidden(values) else { return Ok(()) };
        let value = format!("with an element of {lost:e}");
        let expected = "elements within the normal range of 32-bit floats (1.2e-38 and more), or next to nothing beside \
                        the others: a device may take what lies below for zero";
        Err(Error::Parameter { op, name: "b", value, expected })
    }

    /// The same, asked of the device first. *Cost*: waits; a readback of `b` where there may be something to refuse.
    pub fn check(self, op: &'static str, b: &Vector) -> Result<()> {
        if ops::abnormal(b)?.read()? == 0.0 { Ok(()) } else { self.refuse(op, &b.read()?) }
    }
}

/// Whether a solver's operands are finite.
pub(in crate::solve) struct Finite<'a> {
    op: &'static str,
    asked: Vec<(&'static str, &'a Vector, AllFinite)>,
    small: Option<Small>,
}

impl<'a> Finite<'a> {
    /// Sends for the counts. *Cost*: a reduction for each operand.
    pub fn ask(op: &'static str, operands: &[(&'static str, &'a Vector)]) -> Result<Self> {
        let ask = |(name, v): &(&'static str, &'a Vector)| Ok((*name, *v, AllFinite::ask(v)?));
        Ok(Finite { op, asked: operands.iter().map(ask).collect::<Result<_>>()?, small: None })
    }

    /// The same of a system's vectors, and whether what may be lost of `b` is next to nothing.
    pub fn ask_system(op: &'static str, x: &'a Vector, b: &'a Vector, small: Small) -> Result<Self> {
        let of_b = AllFinite(ops::abnormal(b)?.read_async()?);
        Ok(Finite { op, asked: vec![("x", x, AllFinite::ask(x)?), ("b", b, of_b)], small: Some(small) })
    }

    /// Refuses the first operand that is not finite, with the place and the value, and a right-hand side of which too much
    /// may be lost. *Cost*: waits until the device has come to the counts; a readback of that operand where there may be
    /// something to refuse.
    pub fn check(&self) -> Result<()> {
        for (name, v, finite) in &self.asked {
            if finite.wait()? {
                continue;
            }
            let values = v.read()?;
            let broken = values.iter().enumerate().find(|(_, value)| !value.is_finite());
            if let Some((index, value)) = broken {
                let (what, value) = (format!("{}: {name}", self.op), f64::from(*value));
                return Err(Error::NonFinite { what, index, value });
            }
            self.small.map_or(Ok(()), |small| small.refuse(self.op, &values))?;
        }
        Ok(())
    }

    /// What is to blame for an error: an operand that is not finite, or what the error says.
    pub fn or(&self, error: Error) -> Error {
        self.check().err().unwrap_or(error)
    }
}
