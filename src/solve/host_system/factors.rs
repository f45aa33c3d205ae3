//! The reduced system by sparse factors on the host, where texla has them, and in what order that and iterations are tried.

#[cfg(feature = "direct")]
use std::borrow::Cow;
#[cfg(feature = "direct")]
use std::collections::HashSet;
#[cfg(feature = "direct")]
use std::time::Duration;

#[cfg(feature = "direct")]
use super::SolvedBy;
use super::{HostSystem, Road};
#[cfg(feature = "direct")]
use crate::error::Result;
#[cfg(feature = "direct")]
use crate::host::aggregate::{is_damped, suits};
#[cfg(feature = "direct")]
use crate::host::{Csr, DirectPlan};
#[cfg(feature = "direct")]
use crate::solve::auto::{Attempt, AutoEvent, GivenUp};

/// Use of sparse factors ([`Direct`](crate::host::Direct), feature `direct`) by a [`HostSystem`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DirectUse {
    /// By what they are predicted to take: first where that is less than the set-up of multigrid, or where that does not suit the
    /// matrix and it is less than 15 s for Cholesky's and 2 s for others and for vectors in nodes; last up to 2 minutes, after iterations
    /// have taken as long; predicted only then for more than 600,000 unknowns that multigrid suits (100,000 without symmetry). Never where it is more than [`Stop::within`](crate::solve::Stop::within).
    #[default]
    ByCost,
    /// Iterations alone.
    Never,
    /// Where iterations fail, whatever it takes.
    Last,
    /// Before iterations, whatever it takes.
    First,
}

words!(DirectUse, "use of sparse factors": "by-cost" => ByCost, "never" => Never, "last" => Last, "first" => First);

#[cfg(not(feature = "direct"))]
impl HostSystem {
    pub(super) fn plan(&mut self) {
        let empty = self.normal.matrix().shape().rows == 0;
        self.roads = vec![if empty { Road::Elimination } else { Road::Iterations }];
    }
}

#[cfg(feature = "direct")]
impl HostSystem {
    /// In what order the roads are tried.
    pub(super) fn plan(&mut self) {
        use DirectUse::{ByCost, First, Last, Never};
        if self.normal.matrix().shape().rows == 0 {
            self.roads = vec![Road::Elimination];
            return;
        }
        let (iterations, factors) = (Road::Iterations, Road::Factors);
        self.roads = match self.params.direct {
            Never => vec![iterations],
            ByCost if !self.params.null_space.is_empty() => vec![iterations],
            // Where the grid is known, nothing is sooner than multigrid, whose set-up is none.
            ByCost if self.is_large_grid() => vec![iterations],
            // To predict what factors take would take as long as the set-up of multigrid.
            ByCost if self.is_large() => {
                self.patience = Some(Duration::from_secs(10));
                vec![iterations, factors, iterations]
            }
            First => vec![factors, iterations],
            Last => vec![iterations, factors],
            ByCost => match DirectPlan::new(self.normal.matrix()) {
                Ok(plan) => {
                    let roads = self.by_cost(&plan);
                    *self.order.get_mut() = Some(plan).filter(|_| roads.contains(&factors));
                    roads
                }
                Err(error) => {
                    let why = GivenUp::Refused(error);
                    self.refused.push(Attempt { what: factors.name().to_owned(), took: Duration::ZERO, why });
                    vec![iterations]
                }
            },
        };
    }

    fn is_large_grid(&self) -> bool {
        /// Below, factors are there before shaders are compiled.
        const LARGE: usize = 50_000;
        let matrix = self.normal.matrix();
        matrix.shape().rows > LARGE && self.normal.is_symmetric() && matrix.grid().is_some()
    }

    fn by_cost(&mut self, plan: &DirectPlan) -> Vec<Road> {
        let (matrix, iterations, factors) = (self.normal.matrix(), Road::Iterations, Road::Factors);
        let seconds = plan.seconds();
        let within = self.params.auto.stop.within;
        if !plan.is_feasible() || within.is_some_and(|within| seconds > within.as_secs_f64()) {
            return vec![iterations];
        }
        // The set-up of multigrid takes that long on the host, which is most of such a solve on any device.
        let multigrid = 0.03 + 1.5e-6 * matrix.shape().rows as f64;
        // Multigrid takes vectors in nodes too, in more iterations than others.
        let most = if plan.is_positive() && self.nodes().is_none() { 15.0 } else { 2.0 };
        if seconds <= multigrid
            || seconds <= most && !(plan.is_positive() && suits(matrix, Some(&self.scaled_ones())))
        {
            return vec![factors, iterations];
        }
        // At most twice what the better of the two takes.
        self.patience = Some(Duration::from_secs_f64(seconds.max(2.0)));
        vec![iterations, factors, iterations]
    }

    /// What scaling has made of ones.
    fn scaled_ones(&self) -> Vec<f64> {
        self.normal.column_scales().iter().map(|s| s.recip()).collect()
    }

    /// Whether it suits aggregation, and is so large that iterations have ended before factors are predicted.
    fn is_large(&self) -> bool {
        /// Without symmetry: below, factors take less than a second where diffusion is in the plane.
        const LARGE: usize = 100_000;
        /// Cholesky's factors are predicted sooner.
        const LARGE_SYMMETRIC: usize = 600_000;
        /// With less bandwidth factors take no longer in space.
        const NARROW: usize = 30;
        let (matrix, symmetric) = (self.normal.matrix(), self.normal.is_symmetric());
        // The scales are made where the rest holds.
        let is_suited =
            |ones: &[f64]| (symmetric || is_damped(matrix, Some(ones))) && suits(matrix, Some(ones));
        matrix.shape().rows > if symmetric { LARGE_SYMMETRIC } else { LARGE }
            && matrix.bandwidth() >= NARROW
            && matrix.diagonal().iter().all(|d| *d > 0.0)
            && is_suited(&self.scaled_ones())
    }

    /// The order of elimination; an error if factors are tried by what they cost, and that is too much.
    fn planned(&self, matrix: &Csr) -> Result<DirectPlan> {
        let plan = self.order.take().map_or_else(|| DirectPlan::new(matrix), Ok)?;
        let within = self.params.auto.stop.within.map_or(f64::INFINITY, |within| within.as_secs_f64());
        if self.params.direct == DirectUse::ByCost && !(plan.is_feasible() && plan.seconds() <= within) {
            return Err(plan.is_too_much());
        }
        Ok(plan)
    }

    pub(super) fn factored(&self, right: &[f64]) -> Result<(Vec<f64>, SolvedBy)> {
        let made = self.direct.get_or_init(|| {
            let matrix = self.pinned();
            let plan = self.planned(&matrix)?;
            if let Some(hear) = &self.heard {
                hear(&AutoEvent::Factors { seconds: plan.seconds() });
            }
            plan.factor(&matrix)
        });
        let direct = made.as_ref().map_err(Clone::clone)?;
        let mut right = right.to_vec();
        self.project(&mut right);
        let mut y = direct.solve(&right)?;
        self.take_out(&mut y);
        Ok((y, SolvedBy::Factors { cholesky: direct.is_cholesky() }))
    }

    /// The reduced matrix, regular: with a diagonal entry doubled in each component whose rows sum to zero. Of a consistent right-hand
    /// side that unknown is then zero, and all equations hold.
    fn pinned(&self) -> Cow<'_, Csr> {
        let matrix = self.normal.matrix();
        let diagonal = |k: usize| matrix.row(k).find(|(j, v)| *j == k && *v != 0.0).is_some();
        let singular = self.normal.components().iter().filter(|component| component.rows_sum_to_zero);
        let pins: HashSet<usize> = singular
            .filter_map(|component| component.unknowns.iter().copied().find(|k| diagonal(*k)))
            .collect();
        if pins.is_empty() {
            return Cow::Borrowed(matrix);
        }
        Cow::Owned(matrix.clone().map(|i, j, v| if i == j && pins.contains(&i) { 2.0 * v } else { v }))
    }
}
