//! Whether what a solver is given is finite, and none of it too small.

use super::facts::Facts;
use super::slices::elements;
use crate::data::Vector;
use crate::error::{Error, Result};

/// What solvers ask of a right-hand side besides, where it has elements that a device may take for zero: below the normal
/// range, and not zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::solve) enum Small {
    /// They are next to nothing beside its norm, of which what is lost is told.
    BesideNorm,
    /// They are next to nothing beside the most negative element, if there is a negative one.
    BesideNegative,
    /// There are none: least squares may weigh them more than all others.
    None,
}

impl Small {
    /// Less than this share of the unit of residuals changes no verdict; of bounds so close that it would, a quarter.
    const NOTHING: f64 = 1.0 / (1u64 << 40) as f64;

    /// Which share of the unit of residuals is lost where small elements are taken for zero.
    fn lost(self, values: &[f32]) -> f64 {
        let norm = |v: &mut dyn Iterator<Item = f64>| v.map(|v| v * v).sum::<f64>().sqrt();
        let all = || values.iter().map(|v| f64::from(*v));
        let small = || values.iter().filter(|v| v.is_subnormal()).map(|v| f64::from(*v));
        let lost = norm(&mut small());
        if lost == 0.0 {
            return 0.0;
        }
        let unit = match self {
            Small::BesideNorm => norm(&mut all()),
            Small::BesideNegative => match all().fold(0.0, |most, v| f64::max(most, -v)) {
                0.0 => return 0.0,
                most => most,
            },
            Small::None => 0.0,
        };
        lost / unit
    }

    /// Refuses a right-hand side of which too much may be lost for this bound; which share is.
    fn refuse(self, op: &'static str, values: &[f32], bound: f64) -> Result<f64> {
        let lost = self.lost(values);
        if lost <= Self::NOTHING.min(bound / 4.0) {
            return Ok(lost);
        }
        let small = values.iter().filter(|v| v.is_subnormal()).fold(0.0f32, |m, v| m.max(v.abs()));
        let value = format!("one with an element of {small:e}");
        let expected = "elements within the normal range of 32-bit floats (1.2e-38 and more), or next to nothing beside \
                        the others: a device may take what lies below for zero";
        Err(Error::Parameter { op, name: "b", value, expected })
    }

    /// The same, asked of the device first. *Cost*: waits; a readback of `b` where there may be something to refuse.
    pub async fn check(self, op: &'static str, b: &Vector, bound: f64) -> Result<f64> {
        if Facts::ask(b, b)?.is_normal().await? {
            Ok(0.0)
        } else {
            self.refuse(op, &elements(b).await?, bound)
        }
    }
}

/// Whether a solver's operands are finite.
pub(in crate::solve) struct Finite<'a> {
    op: &'static str,
    x: &'a Vector,
    /// And whether what may be lost of it is next to nothing for this bound.
    b: Option<(&'a Vector, Small, f64)>,
    facts: Facts,
}

impl<'a> Finite<'a> {
    /// Sends for the facts. *Cost*: a reduction, or two.
    pub fn ask(op: &'static str, x: &'a Vector, b: Option<(&'a Vector, Small, f64)>) -> Result<Self> {
        Ok(Finite { op, x, b, facts: Facts::ask(x, b.map_or(x, |(b, ..)| b))? })
    }

    /// What has been asked of `x` and `b`.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Refuses the first operand that is not finite, with the place and the value, and a right-hand side of which too much
    /// may be lost; which share of the unit of residuals is. *Cost*: waits until the device has come to the counts; a readback of that operand where there may be
    /// something to refuse.
    pub async fn check(&self) -> Result<f64> {
        if !self.facts.is_finite().await? {
            self.refuse("x", &elements(self.x).await?)?;
        }
        let Some((b, small, bound)) = self.b else { return Ok(0.0) };
        if self.facts.is_normal().await? {
            return Ok(0.0);
        }
        let values = elements(b).await?;
        self.refuse("b", &values)?;
        small.refuse(self.op, &values, bound)
    }

    fn refuse(&self, name: &str, values: &[f32]) -> Result<()> {
        match values.iter().enumerate().find(|(_, value)| !value.is_finite()) {
            Some((index, value)) => {
                let (what, value) = (format!("{}: {name}", self.op), f64::from(*value));
                Err(Error::NonFinite { what, index, value })
            }
            None => Ok(()),
        }
    }

    /// The same, or what is to blame for an error: an operand that is not finite, or what the error says.
    pub async fn blamed<T>(&self, done: Result<T>) -> Result<T> {
        match done {
            Ok(done) => Ok(done),
            Err(error) => Err(self.check().await.err().unwrap_or(error)),
        }
    }
}
