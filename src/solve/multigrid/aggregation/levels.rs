//! The levels: found on the host, scaled, and put on the device.

use std::borrow::Cow;

use super::OP;
use crate::data::{Matrix, MatrixFormat, StoredMatrix, Vector, exponent};
use crate::error::{Error, Result};
use crate::host::aggregate::{coarser, largest_eigenvalue};
use crate::host::{Csr, number};
use crate::ops::LinOp;
use crate::solve::drive::scales::power;
use crate::solve::multigrid::coarsest::{MOST_DENSE, dense, full, invert};
use crate::solve::stationary::prefers_one_pass;

/// Which connections count as strong on the finest level; half of it on the next, and so on.
const THETA: f64 = 0.08;

pub(super) struct Hierarchy {
    /// From the finest on; all but the last have a transfer.
    pub levels: Vec<Level>,
    /// The inverse on the last level, unless that is too large.
    pub inverse: Option<Matrix>,
    /// The finest matrix stands divided by two to this.
    pub exponent: i32,
}

pub(super) struct Level {
    /// None on the finest: that is the caller's.
    pub a: Option<StoredMatrix>,
    /// The matrix stands for this times itself.
    pub unit: f32,
    /// `D⁻¹` is `scale w` in these units; without `w` a number.
    pub w: Option<Vector>,
    pub scale: f32,
    /// Of `D⁻¹ A`.
    pub largest_eigenvalue: f64,
    pub one_pass: bool,
    /// `P` and `Pᵀ`.
    pub transfer: Option<[StoredMatrix; 2]>,
}

/// A matrix under way: as its entries are, with what the device divides rows and columns by.
struct Scaled<'a> {
    a: Cow<'a, Csr>,
    diagonal: Vec<f64>,
    roots: Vec<f64>,
}

impl Scaled<'_> {
    fn root(&self, i: usize) -> f64 {
        self.roots.get(i).copied().unwrap_or(1.0)
    }

    /// With ones on its diagonal.
    fn coarser(a: Csr) -> Result<Scaled<'static>> {
        let diagonal = positive_diagonal(&a, " of a coarser level")?;
        let roots = diagonal.iter().map(|d| d.sqrt()).collect();
        Ok(Scaled { a: Cow::Owned(a), diagonal, roots })
    }

    /// The entries as the device has them.
    fn entries(&self) -> Csr {
        let of = |i, j, v| if i == j { 1.0 } else { v / (self.root(i) * self.root(j)) };
        self.a.as_ref().clone().map(of)
    }

    /// The inverse of those, where the last level is small enough.
    fn inverse(&self) -> Result<Vec<f64>> {
        let n = self.a.shape().rows;
        let at = |v: &[f64], i: usize| v.get(i).copied().unwrap_or(1.0);
        let ones: Vec<f64> = self.diagonal.iter().map(|d| d.sqrt()).collect();
        let matrix = full(&self.a.as_ref().clone().map(|i, j, v| v / (at(&ones, i) * at(&ones, j))));
        // Pivots of a diagonal of ones that are smaller than their rounding say nothing.
        let inverse = invert(matrix, n, n as f64 * f64::EPSILON).ok_or_else(|| {
            indefinite(format!("its coarsest level, of {n} unknowns, has a pivot that is not positive"))
        })?;
        let back = |i: usize| self.root(i) / at(&ones, i);
        Ok(inverse
            .into_iter()
            .enumerate()
            .map(|(at, v)| v * (back(at / n.max(1)) * back(at % n.max(1))))
            .collect())
    }
}

impl Hierarchy {
    pub fn new(a: &dyn LinOp, pattern: &Csr) -> Result<Self> {
        let device = a.device();
        let stored = |m| StoredMatrix::new(device, m, MatrixFormat::Auto);
        let diagonal = positive_diagonal(pattern, "")?;
        let smallest = diagonal.iter().copied().fold(f64::INFINITY, f64::min);
        // Far enough for all that fits 32 bits, with factors that are normal floats.
        let exponent = if smallest.is_finite() { exponent(smallest).clamp(-100, 100) } else { 0 };
        let unit = f64::from(exponent).exp2();
        let inverse: Vec<f64> = diagonal.iter().map(|d| unit / d).collect();
        let constant = inverse.first().copied().filter(|first| inverse.iter().all(|w| w == first));
        let w = if constant.is_some() { None } else { Some(Vector::from_f64(device, &inverse)?) };
        let extent = Vector::uninit(device, diagonal.len())?.extent();
        let mut level = Level {
            a: None,
            unit: power(-exponent),
            w,
            scale: constant.unwrap_or(1.0) as f32,
            largest_eigenvalue: largest_eigenvalue(pattern, &diagonal)?,
            one_pass: prefers_one_pass(a, extent),
            transfer: None,
        };
        let roots = vec![unit.sqrt(); diagonal.len()];
        let mut current = Scaled { a: Cow::Borrowed(pattern), diagonal, roots };
        let mut theta = THETA;
        let mut levels = Vec::new();
        while current.a.shape().rows > MOST_DENSE
            && let Some(next) = coarser(&current.a, theta)?
        {
            let below = Scaled::coarser(next.a)?;
            let p = next.prolongator.map(|i, j, v| v * (current.root(i) / below.root(j)));
            let r = next.restriction.map(|j, i, v| v * (current.root(i) / below.root(j)));
            level.transfer = Some([stored(p)?, stored(r)?]);
            levels.push(level);
            let a = stored(below.entries())?;
            let extent = Vector::uninit(device, below.diagonal.len())?.extent();
            level = Level {
                unit: 1.0,
                w: None,
                scale: 1.0,
                largest_eigenvalue: largest_eigenvalue(&below.a, &below.diagonal)?,
                one_pass: prefers_one_pass(&a, extent),
                a: Some(a),
                transfer: None,
            };
            (current, theta) = (below, theta / 2.0);
        }
        levels.push(level);
        let n = current.a.shape().rows;
        let inverse = if n > MOST_DENSE { None } else { Some(dense(device, n, current.inverse()?)?) };
        Ok(Hierarchy { levels, inverse, exponent })
    }

    /// A level that is not the last, with what leads to the next and back.
    pub fn transfer(&self, depth: usize) -> Option<(&Level, &[StoredMatrix; 2])> {
        let level = self.levels.get(depth)?;
        Some((level, level.transfer.as_ref()?))
    }
}

fn positive_diagonal(a: &Csr, whose: &str) -> Result<Vec<f64>> {
    let diagonal = a.diagonal();
    if let Some((i, d)) = diagonal.iter().enumerate().find(|(_, d)| !(**d > 0.0 && d.is_finite())) {
        let d = number(*d);
        return Err(indefinite(format!("the diagonal entry{whose} at {i} (counted from 0) is {d}")));
    }
    Ok(diagonal)
}

fn indefinite(why: String) -> Error {
    Error::Matrix { op: OP, detail: format!("is not positive definite: {why}") }
}
