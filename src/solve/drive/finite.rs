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

/// Whether a solver's operands are finite.
pub(in crate::solve) struct Finite<'a> {
    op: &'static str,
    asked: Vec<(&'static str, &'a Vector, AllFinite)>,
}

impl<'a> Finite<'a> {
    /// Sends for the counts. *Cost*: a reduction for each operand.
    pub fn ask(op: &'static str, operands: &[(&'static str, &'a Vector)]) -> Result<Self> {
        let ask = |(name, v): &(&'static str, &'a Vector)| Ok((*name, *v, AllFinite::ask(v)?));
        Ok(Finite { op, asked: operands.iter().map(ask).collect::<Result<_>>()? })
    }

    /// Refuses the first operand that is not finite, with the place and the value. *Cost*: waits until the device has
    /// come to the counts; a readback of that operand where there is something to refuse.
    pub fn check(&self) -> Result<()> {
        for (name, v, finite) in &self.asked {
            if finite.wait()? {
                continue;
            }
            let values = v.read()?;
            let index = values.iter().position(|value| !value.is_finite()).unwrap_or_default();
            let value = values.get(index).copied().map_or(f64::NAN, f64::from);
            return Err(Error::NonFinite { what: format!("{}: {name}", self.op), index, value });
        }
        Ok(())
    }

    /// What is to blame for an error: an operand that is not finite, or what the error says.
    pub fn or(&self, error: Error) -> Error {
        self.check().err().unwrap_or(error)
    }
}
