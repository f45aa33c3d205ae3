//! What sparse factors are predicted to take.

use crate::host::DirectPlan;

/// Predictions for one core, as measured in 2026 on one with vectors of 512 bits: Cholesky within two times from 3e8 to 8e11
/// multiplications. LU with a dense row may take far longer: the pattern of `A + Aᵀ` is not what it is ordered by.
pub(super) struct Cost {
    pub seconds: f64,
    entries: usize,
    cholesky: bool,
}

impl Cost {
    /// Entries of factors that are still made: 2 GB of Cholesky's, 1 GB of others.
    const MOST: [usize; 2] = [500_000_000, 100_000_000];

    pub fn of(plan: &DirectPlan) -> Cost {
        let (entries, multiplications) = (plan.entries() as f64, plan.multiplications());
        let cholesky = plan.is_positive();
        // Columns of Cholesky's are made in blocks; of others one by one.
        let seconds = match cholesky {
            true => 4e-9 * entries + 1.4e-11 * multiplications,
            false => 2.5e-8 * entries + 1e-9 * multiplications,
        };
        Cost { seconds, entries: plan.entries(), cholesky }
    }

    pub fn is_feasible(&self) -> bool {
        let [cholesky, others] = Self::MOST;
        self.entries <= if self.cholesky { cholesky } else { others } && self.seconds <= 120.0
    }

    /// Whether factors come before iterations for `n` unknowns.
    pub fn comes_first(&self, n: usize, aggregates: impl FnOnce() -> bool) -> bool {
        // The set-up of multigrid takes that long on the host, which is most of such a solve on any device.
        let multigrid = 0.03 + 1.5e-6 * n as f64;
        let most = if self.cholesky { 15.0 } else { 2.0 };
        self.seconds <= multigrid || self.seconds <= most && !(self.cholesky && aggregates())
    }
}
