//! Right-hand sides of singular matrices.

use super::HostSystem;
use super::units::{norm2, power_of};
use crate::error::{Error, Result};
use crate::host::Imbalance;

impl HostSystem {
    /// Refuses a right-hand side that no `x` comes within the bound of.
    pub(super) fn check_consistent(&self, b: &[f64]) -> Result<()> {
        let distance = |found: &Imbalance| match *found {
            Imbalance::Row { sum, .. } => sum.powi(2),
            Imbalance::Component { component, sum, .. } => {
                let size = self.normal.components().get(component).map_or(1, |c| c.unknowns.len());
                sum.powi(2) / size.max(1) as f64
            }
        };
        let found = self.normal.imbalances(b)?.iter().map(distance).sum::<f64>().sqrt();
        let along = |vector: &Vec<f64>| {
            let [part, own] = [norm2(b), norm2(vector)].map(power_of);
            let dot: f64 = vector.iter().zip(b).map(|(v, b)| (v / own) * (b / part)).sum();
            dot.abs() * part * own / norm2(vector)
        };
        let found =
            self.params.null_space.iter().map(along).filter(|part| !part.is_nan()).fold(found, f64::max);
        let bound = self.params.auto.stop.relative * norm2(b);
        if found > bound { Err(Error::Inconsistent { op: "HostSystem", found, bound }) } else { Ok(()) }
    }
}
