//! Incomplete factors by elimination, row by row (Y. Saad, *Iterative Methods for Sparse Linear Systems*, 2003, 10.3 and 10.4).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Row, at, from_rows, row_of};
use crate::error::{Error, Result};
use crate::host::{Csr, number};

/// `(I + lower) D (I + upper)`, of strict triangles.
pub(crate) struct Factors {
    pub lower: Csr,
    pub diagonal: Vec<f64>,
    pub upper: Csr,
    /// The columns of the matrix in the order in which they are those of the factors.
    pub columns: Vec<usize>,
}

/// What a row keeps beside what it has.
#[derive(Clone, Copy)]
enum Keep {
    /// Nothing: the pattern stays.
    Pattern,
    /// So many elements in each triangle; none less than this share of the row's norm. A pivot that is less than `pivot` times
    /// another element of its row gives way to that.
    Largest { fill: usize, drop: f64, pivot: f64 },
}

/// ILU(0): no element where the matrix has none.
pub(crate) fn ilu0(a: &Csr) -> Result<Factors> {
    Ok(eliminated(a, Keep::Pattern, |_, d| d))
}

/// ILUT: in each triangle of a row the largest elements, as many as the matrix has there and `fill` more, and none less than `drop`
/// times the norm of the row. With `exchanges` columns change places where a pivot is small beside the rest of its row (ILUTP): factors
/// of a matrix that does not dominate its diagonal would grow without end.
pub(crate) fn ilut(a: &Csr, fill: usize, drop: f64, exchanges: bool) -> Result<Factors> {
    let pivot = if exchanges { 0.1 } else { 0.0 };
    Ok(eliminated(a, Keep::Largest { fill, drop, pivot }, |_, d| d))
}

/// IC(0) as `(I + L) D (I + L)ᵀ`: ILU(0) of a symmetric matrix. Where a pivot is not positive, or next to nothing beside the diagonal,
/// all of it is made larger and elimination begun again.
pub(crate) fn ic0(a: &Csr) -> Result<Factors> {
    const NEXT_TO_NOTHING: f64 = 1e-8;
    let diagonal = a.diagonal();
    if let Some((i, d)) = diagonal.iter().enumerate().find(|(_, d)| !(**d > 0.0 && d.is_finite())) {
        let d = number(*d);
        let detail =
            format!("has the diagonal entry {d} at {i} (counted from 0), expected a positive number");
        return Err(Error::Matrix { op: "IncompleteCholesky", detail });
    }
    let mut shift = 0.0;
    loop {
        let factors = eliminated(a, Keep::Pattern, |_, d| d * (1.0 + shift));
        let suits = factors.diagonal.iter().zip(&diagonal).all(|(pivot, d)| *pivot > NEXT_TO_NOTHING * d);
        // With a diagonal that dominates, no pivot is less than what is left of it.
        if suits || shift > 1e6 {
            let upper = factors.lower.transposed();
            return Ok(Factors { upper, ..factors });
        }
        shift = if shift == 0.0 { 1e-3 } else { 2.0 * shift };
    }
}

/// A row under elimination: values by column, and which columns have one.
struct Work {
    values: Vec<f64>,
    present: Vec<bool>,
    columns: Vec<u32>,
}

impl Work {
    fn add(&mut self, j: u32, value: f64, may_be_new: bool) -> bool {
        let place = j as usize;
        let (Some(slot), Some(present)) = (self.values.get_mut(place), self.present.get_mut(place)) else {
            return false;
        };
        if *present {
            *slot += value;
            return false;
        }
        if may_be_new {
            (*slot, *present) = (value, true);
            self.columns.push(j);
        }
        may_be_new
    }

    fn value(&self, j: u32) -> f64 {
        at(&self.values, j as usize)
    }

    fn set(&mut self, j: u32, value: f64) {
        if let Some(slot) = self.values.get_mut(j as usize) {
            *slot = value;
        }
    }

    /// Empties it.
    fn clear(&mut self) {
        for j in self.columns.drain(..) {
            if let (Some(slot), Some(present)) =
                (self.values.get_mut(j as usize), self.present.get_mut(j as usize))
            {
                (*slot, *present) = (0.0, false);
            }
        }
    }
}

/// Which column stands where.
struct Places {
    columns: Vec<u32>,
    places: Vec<u32>,
}

impl Places {
    fn place(&self, column: u32) -> usize {
        self.places.get(column as usize).map_or(usize::MAX, |place| *place as usize)
    }

    fn column(&self, place: usize) -> u32 {
        self.columns.get(place).copied().unwrap_or(u32::MAX)
    }

    fn exchange(&mut self, one: usize, other: usize) {
        if one.max(other) < self.columns.len() {
            self.columns.swap(one, other);
            for place in [one, other] {
                let column = self.column(place) as usize;
                if let Some(slot) = self.places.get_mut(column) {
                    *slot = place as u32;
                }
            }
        }
    }
}

/// Elimination of a square matrix whose diagonal is what a function makes of it.
fn eliminated(a: &Csr, keep: Keep, of_diagonal: impl Fn(usize, f64) -> f64) -> Factors {
    let n = a.shape().rows;
    let all: Vec<u32> = (0..n as u32).collect();
    let mut order = Places { columns: all.clone(), places: all };
    let mut work = Work { values: vec![0.0; n], present: vec![false; n], columns: Vec::new() };
    let mut lower: Vec<Row> = Vec::with_capacity(n);
    // Rows of U without their diagonal, by columns of the matrix as long as those may change places.
    let mut upper: Vec<Row> = Vec::with_capacity(n);
    let mut diagonal: Vec<f64> = Vec::with_capacity(n);
    let mut next = BinaryHeap::new();
    for i in 0..n {
        let (cols, values) = row_of(a, i);
        for (j, v) in cols.iter().zip(values) {
            work.add(*j, if *j as usize == i { of_diagonal(i, *v) } else { *v }, true);
        }
        work.add(order.column(i), 0.0, true);
        let norm = values.iter().map(|v| v * v).sum::<f64>().sqrt();
        let (least, grows) = match keep {
            Keep::Pattern => (0.0, false),
            Keep::Largest { drop, .. } => (drop * norm, true),
        };
        next.extend(work.columns.iter().map(|j| order.place(*j)).filter(|place| *place < i).map(Reverse));
        while let Some(Reverse(k)) = next.pop() {
            let column = order.column(k);
            let factor = work.value(column) / at(&diagonal, k);
            // What it would take off is judged in the units of the row.
            if factor == 0.0 || grows && work.value(column).abs() < least {
                work.set(column, 0.0);
                continue;
            }
            work.set(column, factor);
            for (j, v) in upper.get(k).into_iter().flatten() {
                if work.add(*j, -factor * v, grows) && order.place(*j) < i {
                    next.push(Reverse(order.place(*j)));
                }
            }
        }
        if let Keep::Largest { pivot, .. } = keep
            && pivot > 0.0
        {
            let right = work.columns.iter().filter(|j| order.place(**j) >= i && work.value(**j).is_finite());
            let largest = right.max_by(|x, y| work.value(**x).abs().total_cmp(&work.value(**y).abs()));
            if let Some(j) = largest.copied()
                && work.value(order.column(i)).abs() < pivot * work.value(j).abs()
            {
                order.exchange(i, order.place(j));
            }
        }
        let own = work.value(order.column(i));
        // A pivot that is next to nothing beside its row would make the next ones next to all.
        let size = if norm > 0.0 { norm } else { 1.0 };
        let tiny = match keep {
            Keep::Pattern => 1e-10 * size,
            Keep::Largest { drop, .. } => (1e-4 * drop).max(1e-10) * size,
        };
        diagonal.push(if own.abs() >= tiny { own } else { tiny.copysign(own) });
        let part = |is_part: &dyn Fn(usize) -> bool, unit: f64| -> Row {
            let is_part = |j: &&u32| is_part(order.place(**j));
            let of = |j: &u32| (*j, work.value(*j));
            let mut row: Row = work.columns.iter().filter(is_part).map(of).collect();
            row.retain(|(_, v)| *v != 0.0 && v.is_finite() && v.abs() * unit >= least);
            if let Keep::Largest { fill, .. } = keep {
                let most = cols.iter().filter(is_part).count() + fill;
                if row.len() > most {
                    row.sort_by(|x, y| y.1.abs().total_cmp(&x.1.abs()).then(x.0.cmp(&y.0)));
                    row.truncate(most);
                }
            }
            row
        };
        // Factors of the lower triangle are shares of pivots of about the row's size.
        lower.push(part(&|place| place < i, norm));
        upper.push(part(&|place| place > i, 1.0));
        work.clear();
    }
    // Columns stay where they are from now on; those of L have since they were pivots.
    let placed = |(row, pivot): (Row, f64)| {
        let mut row: Row = row.into_iter().map(|(j, v)| (order.place(j) as u32, v / pivot)).collect();
        row.sort_unstable_by_key(|entry| entry.0);
        row
    };
    let lower: Vec<Row> = lower.into_iter().map(|row| placed((row, 1.0))).collect();
    let upper: Vec<Row> = upper.into_iter().zip(diagonal.iter().copied()).map(placed).collect();
    Factors {
        lower: from_rows(a.shape(), lower),
        upper: from_rows(a.shape(), upper),
        diagonal,
        columns: order.columns.into_iter().map(|j| j as usize).collect(),
    }
}
