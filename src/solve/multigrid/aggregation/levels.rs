//! The levels: found on the host, scaled, and put on the device.

use std::borrow::Cow;

use super::{OP, unsupported};
use crate::data::{Matrix, StoredMatrix, Vector, exponent};
use crate::error::{Error, Result};
use crate::host::aggregate::{
    Fine, coarser, coarser_by_blocks, coarser_of_any, largest_eigenvalue, largest_row_sum, null_vectors,
    orthonormal,
};
use crate::host::parallel::Threads;
use crate::host::{Csr, NearNullSpace, number};
use crate::ops::LinOp;
use crate::solve::drive::scales::power;
use crate::solve::multigrid::coarsest::{MOST_DENSE, dense, full, invert, invert_any};
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
    /// Whether smooth errors are several vectors.
    pub is_of_vectors: bool,
    /// Whether the matrix is.
    pub is_symmetric: bool,
}

pub(super) struct Level {
    /// None on the finest: that is the caller's.
    pub a: Option<StoredMatrix>,
    /// The matrix stands for this times itself.
    pub unit: f32,
    /// `D⁻¹` is `scale w` in these units; without `w` a number.
    pub w: Option<Vector>,
    pub scale: f32,
    /// Of `D⁻¹ A`; a bound on it where that is not symmetric.
    pub largest_eigenvalue: f64,
    pub one_pass: bool,
    /// `P` and `R`.
    pub transfer: Option<[StoredMatrix; 2]>,
}

/// A matrix under way: as its entries are, with what the device divides rows and columns by.
struct Scaled<'a> {
    a: Cow<'a, Csr>,
    diagonal: Vec<f64>,
    roots: Vec<f64>,
}

impl<'a> Scaled<'a> {
    /// The finest matrix; with a near-null vector, whose elements are `v`, multiplied by them from both sides, so that it maps the
    /// vector of ones nearly to zero.
    fn finest(a: &'a Csr, diagonal: Vec<f64>, unit: f64, near_null: Option<&[f64]>) -> Scaled<'a> {
        let Some(v) = near_null else {
            let roots = vec![unit.sqrt(); diagonal.len()];
            return Scaled { a: Cow::Borrowed(a), diagonal, roots };
        };
        let of = |i: usize| v.get(i).copied().unwrap_or(1.0);
        Scaled {
            a: Cow::Owned(a.clone().map(|i, j, entry| of(i) * entry * of(j))),
            diagonal: diagonal.iter().zip(v).map(|(d, v)| v * d * v).collect(),
            roots: v.iter().map(|v| unit.sqrt() * v).collect(),
        }
    }

    fn fine(&self, largest_eigenvalue: f64) -> Fine<'_> {
        Fine { a: &self.a, diagonal: &self.diagonal, largest_eigenvalue }
    }

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

    /// The inverse of those, where the last level is small enough, on what is orthogonal to those of these vectors that the matrix
    /// maps to zero.
    fn inverse(&self, vectors: &[Vec<f64>], symmetric: bool) -> Result<Vec<f64>> {
        let n = self.a.shape().rows;
        let one = |i: usize| self.diagonal.get(i).map_or(1.0, |d| d.sqrt());
        let mut matrix = full(&self.a.as_ref().clone().map(|i, j, v| v / (one(i) * one(j))));
        // Pivots of a diagonal of ones that are smaller than their rounding say nothing.
        let least = n as f64 * f64::EPSILON;
        let back = |i: usize| self.root(i) / one(i);
        let back = |inverse: Vec<f64>| {
            let all = inverse.into_iter().enumerate();
            all.map(|(at, v)| v * (back(at / n.max(1)) * back(at % n.max(1)))).collect()
        };
        if !symmetric {
            let inverse = invert_any(matrix, n, least).map(back);
            return inverse.ok_or_else(|| Error::Matrix {
                op: OP,
                detail: format!("its coarsest level, of {n} unknowns, is singular to working precision"),
            });
        }
        // What the matrix maps to zero has no inverse: with the projector on it, in these units, there is one.
        let null = null_vectors(&self.a, vectors).into_iter();
        let null: Vec<Vec<(usize, f64)>> =
            orthonormal(null.map(|vector| vector.into_iter().map(|(i, v)| (i, v * one(i))).collect()));
        add_projectors(&mut matrix, n, &null, 1.0);
        let mut inverse = invert(matrix, n, least).ok_or_else(|| {
            indefinite(format!("its coarsest level, of {n} unknowns, has a pivot that is not positive"))
        })?;
        add_projectors(&mut inverse, n, &null, -1.0);
        Ok(back(inverse))
    }
}

fn add_projectors(matrix: &mut [f64], n: usize, vectors: &[Vec<(usize, f64)>], factor: f64) {
    for vector in vectors {
        for (i, v) in vector {
            for (j, w) in vector {
                if let Some(slot) = matrix.get_mut(i * n + j) {
                    *slot += factor * v * w;
                }
            }
        }
    }
}

/// What makes levels on the host, and nothing on the device.
#[derive(Clone, Copy)]
struct Host {
    threads: Threads,
    is_symmetric: bool,
}

/// The next coarser matrix, and what the device gets of it.
struct Next {
    p: Csr,
    r: Csr,
    a: Csr,
    below: Scaled<'static>,
    largest_eigenvalue: f64,
    space: Option<NearNullSpace>,
}

impl Host {
    /// Of `D⁻¹ A`, or a bound on it.
    fn largest_eigenvalue(self, a: &Csr, diagonal: &[f64]) -> f64 {
        match self.is_symmetric {
            true => largest_eigenvalue(self.threads, a, diagonal),
            false => largest_row_sum(self.threads, a, diagonal),
        }
    }

    /// What comes after a level, unless that is the last.
    fn next(
        self,
        current: &Scaled<'_>,
        largest_eigenvalue: f64,
        space: Option<&NearNullSpace>,
        theta: f64,
    ) -> Result<Option<Next>> {
        if current.a.shape().rows <= MOST_DENSE {
            return Ok(None);
        }
        let (threads, fine) = (self.threads, current.fine(largest_eigenvalue));
        let coarser = match space {
            None if self.is_symmetric => coarser(threads, fine, theta)?.map(|next| (next, None)),
            None => coarser_of_any(threads, fine, theta)?.map(|next| (next, None)),
            Some(space) => coarser_by_blocks(threads, fine, space)?.map(|(next, space)| (next, Some(space))),
        };
        let Some((next, space)) = coarser else { return Ok(None) };
        let below = Scaled::coarser(next.a)?;
        Ok(Some(Next {
            p: next.prolongator.map(|i, j, v| v * (current.root(i) / below.root(j))),
            r: next.restriction.map(|j, i, v| v * (current.root(i) / below.root(j))),
            a: below.entries(),
            largest_eigenvalue: self.largest_eigenvalue(&below.a, &below.diagonal),
            below,
            space,
        }))
    }
}

impl Hierarchy {
    pub fn new(a: &dyn LinOp, pattern: &Csr, is_symmetric: bool, threads: Threads) -> Result<Self> {
        let device = a.device();
        let host = Host { threads, is_symmetric };
        let stored = |m| StoredMatrix::rounded(device, m);
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
            largest_eigenvalue: host.largest_eigenvalue(pattern, &diagonal),
            one_pass: prefers_one_pass(a, extent),
            transfer: None,
        };
        let space = match a.near_null_space() {
            Some(space) => {
                space.check(OP, diagonal.len())?;
                Some(Cow::Borrowed(space))
            }
            None if is_symmetric => NearNullSpace::found(pattern).map(Cow::Owned),
            None => None,
        };
        // One vector above zero scales the matrix, so that it is that of ones.
        let vector = space.as_ref().and_then(|space| space.scalar());
        let mut current = Scaled::finest(pattern, diagonal, unit, vector);
        let mut space = space.filter(|space| space.scalar().is_none());
        let is_of_vectors = space.is_some();
        if is_of_vectors && !is_symmetric {
            return Err(unsupported(
                "a near-null space of several vectors is taken for symmetric matrices only",
            ));
        }
        let mut levels = Vec::new();
        let mut theta = THETA;
        let mut next = host.next(&current, level.largest_eigenvalue, space.as_deref(), theta)?;
        while let Some(made) = next {
            theta /= 2.0;
            let Next { p, r, a, below, largest_eigenvalue, space: coarser_space } = made;
            // The device gets this level while the host makes what comes after it.
            let (after, on_device) = threads.beside(
                || host.next(&below, largest_eigenvalue, coarser_space.as_ref(), theta),
                || Ok::<_, Error>(([stored(p)?, stored(r)?], stored(a)?)),
            );
            let (transfer, a) = on_device?;
            next = after?;
            level.transfer = Some(transfer);
            levels.push(level);
            let extent = Vector::uninit(device, below.diagonal.len())?.extent();
            level = Level {
                unit: 1.0,
                w: None,
                scale: 1.0,
                largest_eigenvalue,
                one_pass: prefers_one_pass(&a, extent),
                a: Some(a),
                transfer: None,
            };
            (current, space) = (below, coarser_space.map(Cow::Owned));
        }
        levels.push(level);
        let n = current.a.shape().rows;
        let ones = [vec![1.0; n]];
        let vectors = space.as_ref().map_or(&ones[..], |space| space.vectors());
        let inverse = match n {
            ..=MOST_DENSE => Some(dense(device, n, current.inverse(vectors, is_symmetric)?)?),
            _ => None,
        };
        Ok(Hierarchy { levels, inverse, exponent, is_of_vectors, is_symmetric })
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
