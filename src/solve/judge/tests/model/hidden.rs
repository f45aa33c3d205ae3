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
    pub(super) fn by_components(&mut self, most: f64) -> Result<Event, String> {
        require!(Some(most) == self.most_of_a_row(), "asked for components past {most:e}");
        require!(self.components.is_none(), "asked for components twice");
        let omega = most * self.tape.pick([0.5, 1.0, 1.001, 1e6, f64::NAN]);
        let found = Components { omega, rows: 1, of: 4 };
        let found = self.tape.pick([Some(found), Some(found), None]);
        self.components = Some(found);
        Ok(Event::Components(found))
    }

    fn most_of_a_row(&self) -> Option<f64> {
        self.terms
            .components
            .map(|least| if least > 100.0 * self.terms.bound { least } else { 100.0 * self.terms.bound })
    }

    fn is_off(&self) -> bool {
        let most = self.most_of_a_row().unwrap_or(f64::NAN);
        self.components.flatten().is_some_and(|found| found.omega.is_nan() || found.omega > most)
    }

    /// Whether a verdict is the one that what was found asks for.
    pub(super) fn hides_nothing(&self, reason: StopReason) -> Result<(), String> {
        match reason {
            StopReason::Converged => {
                require!(
                    self.terms.components.is_some() == self.components.is_some(),
                    "converged by the norm alone"
                );
                require!(!self.is_off(), "converged with {:?}", self.components);
            }
            StopReason::NormOnly => require!(self.is_off(), "in the norm only, by {:?}", self.components),
            _ => {}
        }
        Ok(())
    }
}
