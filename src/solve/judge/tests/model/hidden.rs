//! What is asked besides the norm of the residual: another residual, and rows that a norm hides.

use super::super::super::Event;
use super::Model;
use crate::ops::Accuracy;
use crate::solve::drive::report::{Components, StopReason};

/// What was found, where the operator tells it.
pub(super) type Found = Option<Components>;

impl Model<'_> {
    pub(super) fn certify_other(&mut self) -> Result<Event, String> {
        let Some(other) = self.x.other else { return Err("certified what was not measured".to_owned()) };
        require!(self.accuracy == Accuracy::DoubleFloat, "certified what was computed in 32 bits");
        require!(other.measured <= self.terms.bound, "certified what does not meet the bound");
        Ok(Event::Rounding(other.rounding))
    }

    /// What is met in the norm may be met by all equations, by some, or nobody can tell.
    pub(super) fn by_components(&mut self) -> Result<Event, String> {
        require!(self.terms.components, "asked for components that nobody can tell");
        require!(self.components.is_none(), "asked for components twice");
        let omega = self.terms.bound * self.tape.pick([0.5, 100.0, 100.1, 1e6, f64::NAN]);
        let found = Components { omega, rows: 1, of: 4 };
        let found = self.tape.pick([Some(found), Some(found), None]);
        self.components = Some(found);
        Ok(Event::Components(found))
    }

    fn is_off(&self) -> bool {
        let bound = self.terms.bound;
        self.components.flatten().is_some_and(|found| found.omega.is_nan() || found.omega > 100.0 * bound)
    }

    /// Whether a verdict is the one that what was found asks for.
    pub(super) fn hides_nothing(&self, reason: StopReason) -> Result<(), String> {
        match reason {
            StopReason::Converged => {
                require!(self.terms.components == self.components.is_some(), "converged by the norm alone");
                require!(!self.is_off(), "converged with {:?}", self.components);
            }
            StopReason::NormOnly => require!(self.is_off(), "in the norm only, by {:?}", self.components),
            _ => {}
        }
        Ok(())
    }
}
