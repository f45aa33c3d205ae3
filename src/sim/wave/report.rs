//! How well the last step was solved.

use super::Wave;
use crate::data::Vector;
use crate::error::Result;
use crate::ops::{self, Accurate};
use crate::solve::{Breakdown, FixedReport};

/// What [`Wave::report`] finds.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct StepReport {
    /// `‖g - M δ‖ / ‖g‖` of the step's linear system, recomputed (in double-float where the device can).
    pub residual: f64,
    /// Iterations before the iterates froze.
    pub iterations: usize,
    /// The recurrence met the tolerance before the last iteration, and `residual` is within it too.
    pub met: bool,
    /// What the solver met that its theory excludes: the waves have left the [range](Wave) of the solver.
    pub breakdown: Option<Breakdown>,
}

impl Wave {
    /// How well the last step's linear system was solved; `None` before the first step and for an explicit scheme.
    ///
    /// Where elements of `g` that count lie below the normal range of floats, the step is not solved to the tolerance, and
    /// `met` is false.
    ///
    /// *Cost*: 1 product, two norms and a reduction; 4 readbacks.
    pub fn report(&self) -> Result<Option<StepReport>> {
        let (Some(cg), Some(run)) = (&self.implicit, &self.run) else { return Ok(None) };
        let _scope = self.device.scope()?;
        let run = FixedReport::of(&self.delta, run)?;
        let mut residual = Vector::zeros(&self.device, self.g.len())?;
        let terms = Accurate::residual(1.0, &self.g, &self.delta);
        ops::product_accurate(&mut residual, cg.operator(), terms)?;
        let [residual, norm] = [ops::norm2(&residual)?.read()?, ops::norm2(&self.g)?.read()?].map(f64::from);
        let residual = if norm > 0.0 { residual / norm } else { residual };
        // Of waves that nearly vanish the recurrence believes too much.
        let met = run.met && residual <= self.params.tolerance;
        Ok(Some(StepReport { residual, iterations: run.iterations, met, breakdown: run.breakdown }))
    }
}
