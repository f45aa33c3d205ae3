//! Regions of a grid that nothing passes out of: what a singular operator cannot tell apart.

use super::Stencil;
use crate::data::Vector;
use crate::error::{Error, Result};

/// Most regions that a singular operator may have: each is a vector that solvers project out.
pub const MOST_REGIONS: usize = 64;

/// A vector of ones for each region of cells connected with one another, where nothing but differences counts.
pub(super) fn null_space(a: &Stencil) -> Result<Vec<Vector>> {
    let n = a.grid.len();
    let closed = a.shift == 0.0 && n > 0;
    if !closed {
        return Ok(Vec::new());
    }
    let ends = a.sides.axes();
    let axes = a.grid.sides().into_iter().zip(a.weights).zip(ends);
    if a.solid.is_empty() {
        // Without obstacles sides decide, and the region is all of the grid unless an axis takes no part.
        let fixed = axes.clone().any(|((_, w), ends)| w != 0.0 && ends.iter().any(|s| s.share() != 0.0));
        if fixed {
            return Ok(Vec::new());
        }
        if axes.clone().all(|((count, weight), _)| weight != 0.0 || count == 1) {
            return Ok(vec![Vector::filled(&a.device, n, 1.0)?]);
        }
    }
    let regions = regions(a);
    if regions.len() > MOST_REGIONS {
        let found = regions.len();
        let detail = format!(
            "falls into {found} regions of cells with nothing between them and no fixed value, expected at most \
             {MOST_REGIONS}"
        );
        return Err(Error::Matrix { op: "Stencil", detail });
    }
    let ones = |region: &Vec<usize>| {
        let mut values = vec![0.0; n];
        for &i in region {
            if let Some(value) = values.get_mut(i) {
                *value = 1.0;
            }
        }
        Vector::from_slice(&a.device, &values)
    };
    regions.iter().map(ones).collect()
}

/// The cells of each region without a fixed value.
fn regions(a: &Stencil) -> Vec<Vec<usize>> {
    let n = a.grid.len();
    let mut seen: Vec<bool> = (0..n).map(|i| a.is_solid(i)).collect();
    let mut found = Vec::new();
    for start in 0..n {
        if seen.get(start).copied().unwrap_or(true) {
            continue;
        }
        let (mut region, mut fixed, mut next) = (Vec::new(), false, vec![start]);
        if let Some(mark) = seen.get_mut(start) {
            *mark = true;
        }
        while let Some(i) = next.pop() {
            region.push(i);
            let row = a.row(i);
            // What exceeds the flux to neighbours is a fixed value at a side: compared exactly, term by term.
            fixed |= a.directions(i).any(|(d, j)| {
                j.is_none() && a.sides.axes().as_flattened().get(d).is_some_and(|s| s.share() != 0.0)
            });
            for (j, _) in row.others {
                if let Some(mark) = seen.get_mut(j)
                    && !*mark
                {
                    *mark = true;
                    next.push(j);
                }
            }
        }
        if !fixed {
            found.push(region);
        }
    }
    found
}
