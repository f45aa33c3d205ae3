//! Right-hand sides, starts and solutions of normal forms.

use super::components::Imbalance;
use super::eliminate::Pivot;
use super::sums::{Sum, residual};
use super::{NormalForm, OP};
use crate::error::{Error, Result};
use crate::host::number;
use crate::host::parallel::Threads;

impl NormalForm {
    /// Reduces a right-hand side or a residual of the given system to `b'`.
    ///
    /// `b'_i = ± row_scales_i (b_k - Σ_j a_kj x_j)`, where k is `rows()[i]`, j runs over the
    /// unknowns of one-entry and penalty rows, and the sign is that of
    /// [`is_negated`](Self::is_negated). Sums are compensated.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`]; [`Error::Parameter`] for an element that is not finite;
    /// [`Error::Matrix`] if a result overflows.
    pub fn right(&self, b: &[f64]) -> Result<Vec<f64>> {
        let op = "NormalForm::right";
        let x = self.known(op, b)?;
        let sign = if self.is_negated() { -1.0 } else { 1.0 };
        let mut right = vec![0.0; self.rows().len()];
        let failed = Threads::all().blocks(&mut right, |begin, block| {
            let rows = self.rows().iter().zip(self.row_scales()).skip(begin);
            let mut failed = None;
            for (slot, (&row, scale)) in block.iter_mut().zip(rows) {
                *slot = sign * scale * self.residual(row, b, &x).0;
                if !slot.is_finite() {
                    failed = failed.or(Some((row, *slot)));
                }
            }
            failed
        });
        match failed.into_iter().flatten().next() {
            Some((row, value)) => Err(too_large("right-hand side", row, value)),
            None => Ok(right),
        }
    }

    /// Reduces a start for the given system: `y_j = x_k / column_scales_j`, where k is
    /// `columns()[j]`.
    ///
    /// # Errors
    /// As for [`right`](Self::right).
    pub fn start(&self, x: &[f64]) -> Result<Vec<f64>> {
        self.check("NormalForm::start", "x", x, self.given())?;
        let (columns, scales) = (self.columns(), self.column_scales());
        let one = |(column, scale): (&usize, &f64)| x.get(*column).copied().unwrap_or_default() / scale;
        let start =
            Threads::all().made(columns.len(), |j| columns.get(j).zip(scales.get(j)).map_or(0.0, one));
        match first_not_finite(&start) {
            Some((j, value)) => Err(too_large("start", columns.get(j).copied().unwrap_or_default(), value)),
            None => Ok(start),
        }
    }

    /// Expands a solution `y` of the reduced system to the solution `x` for the right-hand side
    /// `b`.
    ///
    /// Unknowns of one-entry and penalty rows are computed from `b`, free ones are 0, and those of
    /// one-entry columns follow by back substitution. Sums are compensated, so that every row
    /// solved directly is satisfied up to the rounding of its quotient.
    ///
    /// If `y` solves the reduced system for `right(r)`, with the residual `r = b - A x`, then
    /// `solution(y, r)` is the correction of `x`.
    ///
    /// # Errors
    /// As for [`right`](Self::right).
    ///
    /// # Examples
    /// ```
    /// use texla::{Shape, host::{NormalForm, NormalParams, NormalPart, Triplets}};
    /// // A penalty of 1e9 for x_0 = 1.
    /// let a = Triplets::from_dense(Shape::new(3, 3), &[1e9, -1.0, 0.0, -1.0, 2.0, -1.0, 0.0, -1.0, 2.0])?.to_csr();
    /// let form = NormalForm::new(&a, NormalParams::default().with_scaling(NormalPart::Off))?;
    /// assert_eq!(form.to_string(), "1 penalty row fixed; symmetric");
    /// let solve = |b: &[f64]| {
    ///     // [2 -1; -1 2] has the inverse [2 1; 1 2] / 3.
    ///     let right = form.right(b)?;
    ///     let y = [(2.0 * right[0] + right[1]) / 3.0, (right[0] + 2.0 * right[1]) / 3.0];
    ///     form.solution(&y, b)
    /// };
    /// let b = [1e9, 0.0, 0.0];
    /// let mut x = solve(&b)?;
    /// for bound in [1.0, 1e-6] {
    ///     let residual: Vec<f64> = b.iter().zip(a.mul_vec(&x)?).map(|(b, ax)| b - ax).collect();
    ///     assert!(residual.iter().all(|r| r.abs() < bound));
    ///     x.iter_mut().zip(solve(&residual)?).for_each(|(x, correction)| *x += correction);
    /// }
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn solution(&self, y: &[f64], b: &[f64]) -> Result<Vec<f64>> {
        let op = "NormalForm::solution";
        self.check(op, "y", y, self.columns().len())?;
        let mut x = self.known(op, b)?;
        let scales = self.column_scales();
        let scaled =
            Threads::all().made(y.len(), |j| y.get(j).zip(scales.get(j)).map_or(0.0, |(y, scale)| scale * y));
        if let Some((j, value)) = first_not_finite(&scaled) {
            return Err(too_large("solution", self.columns().get(j).copied().unwrap_or_default(), value));
        }
        if scaled.len() == x.len() {
            // Of all columns.
            x = scaled;
        } else {
            for (&column, value) in self.columns().iter().zip(scaled) {
                x.get_mut(column).into_iter().for_each(|x| *x = value);
            }
        }
        for pivot in self.plan.later.iter().rev() {
            self.solve(*pivot, b, &mut x)?;
        }
        Ok(x)
    }

    /// Returns sums of a right-hand side that are zero if the system has a solution, up to
    /// rounding: one for each [empty row](Self::empty_rows), then one for each component whose
    /// columns sum to zero.
    ///
    /// # Errors
    /// As for [`right`](Self::right).
    ///
    /// # Examples
    /// ```
    /// use texla::{Shape, host::{NormalForm, NormalParams, Triplets}};
    /// // x_0 = 1 and 2 x_0 = 3.
    /// let a = Triplets::from_dense(Shape::new(2, 2), &[1.0, 0.0, 2.0, 0.0])?.to_csr();
    /// let form = NormalForm::new(&a, NormalParams::default())?;
    /// assert_eq!(form.to_string(), "1 row solved directly; 1 free unknown set to zero; 1 row without unknowns");
    /// assert_eq!((form.empty_rows(), form.free_unknowns()), (&[1][..], &[1][..]));
    /// assert_eq!(form.imbalances(&[1.0, 3.0])?[0].relative(), 1.0 / 5.0);
    /// assert_eq!(form.imbalances(&[1.0, 2.0])?[0].relative(), 0.0);
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn imbalances(&self, b: &[f64]) -> Result<Vec<Imbalance>> {
        let x = self.known("NormalForm::imbalances", b)?;
        let rows = self.empty_rows().iter().map(|&row| {
            let (sum, size) = self.residual(row, b, &x);
            Imbalance::Row { row, sum, size }
        });
        let balanced = self.components().iter().enumerate().filter(|(_, found)| found.columns_sum_to_zero);
        let components = balanced.map(|(component, found)| {
            let (mut sum, mut size) = (Sum::default(), 0.0);
            for row in found.unknowns.iter().filter_map(|&k| self.rows().get(k)) {
                let (value, magnitude) = self.residual(*row, b, &x);
                sum.add(value);
                size += magnitude;
            }
            Imbalance::Component { component, sum: sum.value(), size }
        });
        Ok(rows.chain(components).collect())
    }

    /// Extends a left vector of the reduced matrix: if `v` times that matrix is zero, the result `w` times the given one
    /// is, up to what steps 2 and 4 change. It is zero in rows of one-entry columns and in empty rows.
    #[cfg_attr(not(feature = "direct"), allow(dead_code))]
    pub(crate) fn left(&self, v: &[f64]) -> Vec<f64> {
        let mut w = vec![0.0; self.given()];
        for ((&row, scale), v) in self.rows().iter().zip(self.row_scales()).zip(v) {
            w.get_mut(row).into_iter().for_each(|slot| *slot = scale * v);
        }
        let columns = self.rest.transposed();
        // No row has an entry in a column that is eliminated after it.
        for pivot in self.plan.known.iter().rev() {
            let at = |i: usize| w.get(i).copied().unwrap_or_default();
            let others = columns.row(pivot.column).filter(|(i, _)| *i != pivot.row);
            let sum: f64 = others.map(|(i, value)| value * at(i)).sum();
            w.get_mut(pivot.row).into_iter().for_each(|slot| *slot = -sum / pivot.value);
        }
        w
    }

    /// Returns the number of unknowns of the given system.
    fn given(&self) -> usize {
        self.rest.shape().rows
    }

    /// Computes the unknowns of one-entry and penalty rows. All others are 0.
    fn known(&self, op: &'static str, b: &[f64]) -> Result<Vec<f64>> {
        self.check(op, "b", b, self.given())?;
        let mut x = vec![0.0; b.len()];
        for pivot in &self.plan.known {
            self.solve(*pivot, b, &mut x)?;
        }
        Ok(x)
    }

    /// Computes the unknown of a row from its other unknowns in `x`, where unknown ones are 0.
    fn solve(&self, pivot: Pivot, b: &[f64], x: &mut [f64]) -> Result<()> {
        if let Some(x) = x.get_mut(pivot.column) {
            *x = 0.0;
        }
        let value = self.residual(pivot.row, b, x).0 / pivot.value;
        if !value.is_finite() {
            return Err(too_large("solution", pivot.column, value));
        }
        if let Some(x) = x.get_mut(pivot.column) {
            *x = value;
        }
        Ok(())
    }

    /// Returns `b_i - Σ_j a_ij x_j` and the sum of magnitudes, over entries outside of the reduced
    /// matrix.
    fn residual(&self, row: usize, b: &[f64], x: &[f64]) -> (f64, f64) {
        residual(b.get(row).copied().unwrap_or_default(), self.rest.row_slices(row), x)
    }

    fn check(&self, op: &'static str, operand: &'static str, list: &[f64], expected: usize) -> Result<()> {
        let found = list.len();
        if found != expected {
            return Err(Error::LengthMismatch { op, operand, found, expected });
        }
        if let Some((k, v)) = first_not_finite(list) {
            let value = format!("{} at index {k}", number(v));
            return Err(Error::Parameter { op, name: operand, value, expected: "finite numbers" });
        }
        Ok(())
    }
}

fn first_not_finite(list: &[f64]) -> Option<(usize, f64)> {
    let all = Threads::all().of_blocks(list, |block| block.iter().all(|v| v.is_finite()));
    if all.into_iter().all(|finite| finite) {
        return None;
    }
    list.iter().copied().enumerate().find(|(_, v)| !v.is_finite())
}

/// Error for an element of a result that overflows.
fn too_large(what: &'static str, index: usize, value: f64) -> Error {
    let value = number(value);
    let detail = format!("gives {value} for element {index} of the {what}, expected a finite number");
    Error::Matrix { op: OP, detail }
}
