//! Parts of a system that are coupled weakly and whose unknowns may be of other sizes: temperatures and displacements.

use super::Csr;

/// An entry that is this much smaller than the largest of its row couples weakly.
const WEAK: f64 = 1.0 / 1024.0;

/// A field has this share of the unknowns or more: what is smaller is part of the whole.
const LEAST: f64 = 1.0 / 64.0;

/// Fields count as no smaller than this beside the largest: a field of zeros has the rounding of what others do to it, but where no entry
/// connects it with others and its right-hand side is not zero.
const FLOOR: f64 = 1e-8;

impl Csr {
    /// For each row of a square matrix what it adds up to where all unknowns of a field are as large as the largest of it:
    /// `Σ_j |a_ij| max_k |x_k|`, k over the field of j. By the unknowns as they are, or in units of their diagonal entries
    /// (`√|a_jj| x_j`, in which displacements and pressures are comparable), whichever is less.
    ///
    /// *Cost*: O(nnz), twice.
    pub(crate) fn sizes_by_fields(&self, x: &[f64], b: &[f64]) -> Vec<f64> {
        let plain = self.by_fields(&vec![1.0; x.len()], (x, b));
        let own = self.by_fields(&self.units(), (x, b));
        plain.into_iter().zip(own).map(|(a, b)| a.min(b)).collect()
    }

    /// `√|a_jj|`; where that is zero, what makes the largest entry of the column 1 in these units.
    fn units(&self) -> Vec<f64> {
        let roots: Vec<f64> = self.diagonal().into_iter().map(|d| d.abs().sqrt()).collect();
        let root = |i: usize| roots.get(i).copied().filter(|root| *root > 0.0);
        let mut of_columns = vec![0.0; self.shape().cols];
        for (i, j, value) in self.entries().filter(|(_, j, _)| root(*j).is_none()) {
            if let (Some(slot), Some(root)) = (of_columns.get_mut(j), root(i)) {
                *slot = f64::max(*slot, value.abs() / root);
            }
        }
        let of = |(j, column): (usize, f64)| root(j).unwrap_or(if column > 0.0 { column } else { 1.0 });
        of_columns.into_iter().enumerate().map(of).collect()
    }

    fn by_fields(&self, units: &[f64], (x, b): (&[f64], &[f64])) -> Vec<f64> {
        let at = |list: &[f64], j: usize| list.get(j).copied().unwrap_or(1.0);
        let own = |j: usize, value: f64| value.abs() / at(units, j);
        let largest_of = |i: usize| self.row(i).map(|(j, value)| own(j, value)).fold(0.0, f64::max);
        let largest: Vec<f64> = (0..self.shape().rows).map(largest_of).collect();
        let groups = self.groups_by(|i, j, value| own(j, value) >= WEAK * at(&largest, i));
        let size =
            |unknowns: &[usize]| unknowns.iter().map(|j| at(units, *j) * at(x, *j).abs()).fold(0.0, f64::max);
        let whole = groups.iter().map(|group| size(group)).fold(0.0, f64::max);
        let mut sizes: Vec<f64> = units.iter().map(|unit| whole / unit).collect();
        for group in groups.iter().filter(|group| group.len() as f64 >= LEAST * x.len() as f64) {
            let (mut size, least) = (size(group), FLOOR * whole);
            let inside = |j: usize| group.binary_search(&j).is_ok();
            // Where nothing at all is given, what there is is rounding.
            let is_given = || group.iter().any(|i| b.get(*i).is_some_and(|b| *b != 0.0));
            let is_alone = || group.iter().all(|i| self.row(*i).all(|(j, _)| inside(j)));
            if size < least && !(is_alone() && is_given()) {
                size = least;
            }
            for j in group {
                sizes.get_mut(*j).into_iter().for_each(|slot| *slot = size / at(units, *j));
            }
        }
        (0..self.shape().rows)
            .map(|i| self.row(i).map(|(j, value)| value.abs() * at(&sizes, j)).sum())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::{Triplets, problems};
    use crate::shape::Shape;

    fn two(coupling: f64, second: f64) -> Csr {
        let grid = problems::poisson_2d(5, 5).to_csr();
        let all = grid.entries().flat_map(|(i, j, v)| [(i, j, v), (25 + i, 25 + j, second * v)]);
        let all = all.chain((0..25).map(|i| (25 + i, i, coupling)));
        Triplets::from_entries(Shape::new(50, 50), all).unwrap().to_csr()
    }

    /// Rows of a field are measured by it where what couples it is weak, and by the whole where it is not.
    #[test]
    fn fields_are_measured_by_themselves() {
        let x: Vec<f64> = (0..50).map(|i| if i < 25 { 1e6 } else { -2.0 }).collect();
        let b = |a: &Csr| a.mul_vec(&x).unwrap();
        let sizes = |a: &Csr| a.sizes_by_fields(&x, &b(a));
        // In the middle of the grid, and of the other.
        let weak = sizes(&two(1e-7, 1.0));
        assert_eq!((weak[12], weak[37]), (8e6, 16.0 + 0.1));
        let strong = sizes(&two(0.1, 1.0));
        assert_eq!((strong[12], strong[37]), (8e6, 8e6 + 1e5));
        // Nothing at all is no smaller than the floor.
        let alone: Vec<f64> = x.iter().map(|x| x.max(0.0)).collect();
        let sizes = |a: &Csr, b: f64| a.sizes_by_fields(&alone, &[b; 50])[37];
        assert!((sizes(&two(1e-7, 1.0), 1.0) - (0.1 + 8e-2)).abs() < 1e-12);
        let apart = two(0.0, 1.0).nonzeros(|v| v);
        assert_eq!(sizes(&apart, 1.0), 0.0);
        // But where its right-hand side is nothing, too.
        assert!((sizes(&apart, 0.0) - 8e-2).abs() < 1e-12);
    }

    /// Units of the unknowns make no difference: a second field in units so small that its coefficients are a million times
    /// larger is strong beside the first only as it is given.
    #[test]
    fn units_of_unknowns_do_not_matter() {
        let x: Vec<f64> = (0..50).map(|i| if i < 25 { 1.0 } else { 1e-6 }).collect();
        let sizes = two(1.0, 1e12).sizes_by_fields(&x, &[1.0; 50]);
        assert!((sizes[12] - 8.0).abs() < 1e-12);
        assert!((sizes[37] / 8e6 - 1.0).abs() < 1e-5, "{}", sizes[37]);
        // Of a saddle point the unknowns without a diagonal are in units of what couples them.
        let entries = [(0, 0, 1e10), (1, 1, 1e10), (0, 2, 1.0), (2, 0, 1.0), (1, 2, -1.0), (2, 1, -1.0)];
        let saddle = Triplets::from_entries(Shape::new(3, 3), entries).unwrap().to_csr();
        assert_eq!(saddle.units(), [1e5, 1e5, 1e-5]);
        assert_eq!(
            Triplets::new(Shape::new(2, 2)).to_csr().sizes_by_fields(&[1.0, 2.0], &[0.0; 2]),
            [0.0; 2]
        );
    }
}
