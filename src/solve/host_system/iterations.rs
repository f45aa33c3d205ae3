//! The reduced system by iterations on the device.

use std::cell::Cell;
use std::rc::Rc;

use super::units::{largest, mapped, power_of};
use super::{HostSystem, Under};
use crate::data::{DoubleVector, StoredMatrix, Vector};
use crate::error::Result;
use crate::host::NearNullSpace;
use crate::solve::auto::{Auto, AutoEvent, AutoReport};
use crate::solve::drive::front::Solver;
use crate::solve::drive::report::{HistoryPoint, Stop};

impl HostSystem {
    /// The reduced system by iterations, of a right-hand side that is so large beside the one given.
    pub(super) async fn iterated(
        &self,
        right: &[f64],
        (relative, left_of_all): (f64, f64),
        under: &mut Under<'_, '_>,
    ) -> Result<(Vec<f64>, AutoReport)> {
        let device = self.given.device();
        let unit = power_of(largest(right));
        // What is below the range of floats then is far below the last digit of pairs.
        let in_range = |v: f64| if v.abs() < 1e-30 { 0.0 } else { v };
        let mut right = mapped(right, |_, v| in_range(v / unit));
        self.project(&mut right);
        let auto = match self.reduced.get() {
            Some(auto) => auto,
            None => {
                let a = match self.is_as_given() {
                    true => Rc::clone(&self.given),
                    false => Rc::new(self.stored()?),
                };
                let made = Auto::new(a, self.params.auto.clone().with_factors(false))?;
                let made = match &self.heard {
                    Some(hear) => {
                        let (hear, last) = (Rc::clone(hear), Cell::new(None));
                        // What goes on in a correction has begun already.
                        made.heard(move |event| match event {
                            AutoEvent::Begins(choice) if last.replace(Some(*choice)) == Some(*choice) => {}
                            event => {
                                if matches!(event, AutoEvent::GivenUp(_)) {
                                    last.set(None);
                                }
                                hear(event);
                            }
                        })
                    }
                    None => made,
                };
                self.reduced.get_or_init(|| made)
            }
        };
        let given = self.params.auto.stop;
        let left = given.within.map(|within| within.saturating_sub(under.started.elapsed()));
        let within = left.into_iter().chain(under.patience).min();
        let before = under.iterations();
        let left = self.params.auto.max_iters.saturating_sub(before);
        let auto = auto.stopping(Stop { relative, within, ..given }, left);
        // Runs go on from each other: each is relative to what the one before it has left.
        let Under { observe, .. } = under;
        let left_of_all = if left_of_all.is_finite() { left_of_all } else { 1.0 };
        let mut observe = |point: HistoryPoint| {
            observe(HistoryPoint { residual: point.residual * left_of_all, ..point.after(before) });
        };
        let (y, report) = if self.pairs() {
            let mut y = DoubleVector::zeros(device, right.len())?;
            let b = DoubleVector::from_f64(device, &right)?;
            let report = auto.solving(&mut y, &b, &mut observe).await?;
            (y.read()?, report)
        } else {
            let mut y = Vector::zeros(device, right.len())?;
            let report = auto.solving(&mut y, &Vector::from_f64(device, &right)?, &mut observe).await?;
            (y.read()?.into_iter().map(f64::from).collect(), report)
        };
        Ok((mapped(&y, |_, v| v * unit), report))
    }

    /// Whether iterations have the matrix as it was given.
    pub(super) fn is_as_given(&self) -> bool {
        let regular = self.normal.components().iter().all(|component| !component.rows_sum_to_zero);
        regular && self.normal.is_identity() && self.apart.is_none() && self.nodes().is_none()
    }

    /// Takes out what no solution of a singular system leaves: what there is of it has been found to be within the bound.
    pub(super) fn project(&self, right: &mut [f64]) {
        if self.normal.is_symmetric() && self.params.null_space.is_empty() {
            self.take_out(right);
        }
    }

    /// Takes the null vectors that were found out of a vector.
    pub(super) fn take_out(&self, list: &mut [f64]) {
        for vector in self.normal.null_vectors() {
            let at = |list: &[f64], i: usize| list.get(i).copied().unwrap_or_default();
            let [dot, square] = vector
                .iter()
                .fold([0.0; 2], |[dot, square], (i, v)| [dot + v * at(list, *i), square + v * v]);
            for (i, v) in vector {
                list.get_mut(i).into_iter().for_each(|r| *r -= dot / square * v);
            }
        }
    }

    /// The null vectors that were said, in the unknowns of the normal form; those that it eliminates are zero there.
    fn said_null_space(&self) -> Result<Vec<Vec<f64>>> {
        let start = |vector: &Vec<f64>| self.normal.start(vector);
        let said = self.params.null_space.iter().map(start).collect::<Result<Vec<_>>>()?;
        Ok(said.into_iter().filter(|vector| vector.iter().any(|v| *v != 0.0)).collect())
    }

    /// What is said of smooth errors, or is found of nodes in the matrix as given, in the unknowns of the normal form; or else what
    /// scaling has made of the vector of ones.
    fn near_null_space(&self) -> Option<NearNullSpace> {
        let scales = self.normal.column_scales();
        if let Some(space) = self.nodes() {
            return space.of_columns(self.normal.columns(), scales);
        }
        let scaled = scales.iter().any(|s| *s != 1.0);
        scaled.then(|| NearNullSpace::new(vec![scales.iter().map(|s| s.recip()).collect()]).ok()).flatten()
    }

    /// Of the system as given: what is said, or nodes that are found.
    pub(super) fn nodes(&self) -> Option<&NearNullSpace> {
        let found = || NearNullSpace::found(self.matrix()).filter(|_| self.normal.is_symmetric());
        self.params.near_null_space.as_ref().or_else(|| self.nodes.get_or_init(found).as_ref())
    }

    /// The matrix of the normal form, with what scaling has made of the vector of ones.
    fn stored(&self) -> Result<StoredMatrix> {
        let (device, normal) = (self.given.device(), &self.normal);
        let mut stored = StoredMatrix::new(device, normal.matrix().clone(), self.params.format)?;
        // Nodes need symmetry.
        let takes_vectors = normal.is_symmetric() || self.params.near_null_space.is_none();
        if let Some(space) = self.near_null_space().filter(|_| takes_vectors) {
            stored = stored.with_near_null_space(space)?;
        }
        if !normal.is_symmetric() {
            return Ok(stored);
        }
        let said = self.said_null_space()?;
        let singular = if said.is_empty() { normal.null_vectors() } else { Vec::new() };
        if said.len() + singular.len() > StoredMatrix::MOST_NULL_VECTORS {
            return Ok(stored);
        }
        let n = stored.shape().rows;
        let whole = |part: Vec<(usize, f64)>| {
            let mut whole = vec![0.0; n];
            part.into_iter().for_each(|(i, v)| whole.get_mut(i).into_iter().for_each(|slot| *slot = v));
            whole
        };
        stored.with_null_space(&singular.into_iter().map(whole).chain(said).collect::<Vec<_>>())
    }
}
