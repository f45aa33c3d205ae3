//! Saddle points: symmetric systems `(K Bᵀ; B -C)` whose unknowns without a positive diagonal entry are multipliers or pressures.

use super::aggregate::suits;
use super::{Csr, Triplets};
use crate::error::Result;

/// A full second block has at most so many products for each entry of the matrix.
const MOST_PRODUCTS: usize = 20;

impl Csr {
    /// Which unknowns of a symmetric matrix are those of the second block: their diagonal entries are not positive, each is coupled to
    /// one whose entry is, and they are no more than half. Empty where the matrix is no saddle point.
    ///
    /// *Cost*: O(nnz).
    pub(crate) fn second_block(&self) -> Vec<bool> {
        let second: Vec<bool> = self.diagonal().into_iter().map(|d| d.is_nan() || d <= 0.0).collect();
        let is_first = |j: usize| second.get(j) == Some(&false);
        let count = second.iter().filter(|is| **is).count();
        let coupled = |i: usize| self.row(i).any(|(j, value)| value != 0.0 && is_first(j));
        let all = second.iter().enumerate().filter(|(_, is)| **is).all(|(i, _)| coupled(i));
        if count == 0 || 2 * count > second.len() || !all { Vec::new() } else { second }
    }

    /// `K` beside an approximation of `S = B K⁻¹ Bᵀ + C`, without couplings between them: a positive matrix by which MINRES is
    /// preconditioned. With `D` the diagonal of `K`: the diagonal of `B D⁻¹ Bᵀ + C` where `K` maps `vector` (ones) to nearly zero, so that
    /// `S` is near the identity in its units (Stokes), and the whole of it elsewhere, and where `D` is near `K` (Darcy, constraints).
    pub(crate) fn beside_schur(&self, second: &[bool], vector: Option<&[f64]>) -> Result<Csr> {
        let is_second = |j: usize| second.get(j).copied().unwrap_or_default();
        let diagonal = self.diagonal();
        let d = |j: usize| diagonal.get(j).copied().unwrap_or(1.0);
        let seconds = || (0..self.shape().rows).filter(|i| is_second(*i));
        let firsts = |i: usize| self.row(i).filter(move |(j, _)| !is_second(*j));
        let k = self.entries().filter(|(i, j, _)| !is_second(*i) && !is_second(*j));
        let mut all = Triplets::from_entries(self.shape(), k)?;
        let products: usize = seconds().flat_map(firsts).map(|(j, _)| self.row_slices(j).0.len()).sum();
        let first = self.first_block(second);
        let whole = products <= MOST_PRODUCTS * self.nnz()
            && (first.is_near_its_diagonal() || !suits(&first, vector));
        for i in seconds() {
            for (j, value) in firsts(i) {
                let couples = self.row(j).filter(|(k, _)| is_second(*k) && (whole || *k == i));
                for (k, other) in couples {
                    all.push(i, k, value * other / d(j))?;
                }
            }
            for (k, value) in self.row(i).filter(|(k, _)| is_second(*k) && (whole || *k == i)) {
                all.push(i, k, -value)?;
            }
        }
        Ok(all.to_csr())
    }

    fn is_near_its_diagonal(&self) -> bool {
        let sum = |is: bool| {
            self.entries().filter(|(i, j, _)| (i == j) == is).map(|(_, _, v)| v.abs()).sum::<f64>()
        };
        sum(false) <= 0.5 * sum(true)
    }

    /// `K`, with a one for each unknown of the second block.
    fn first_block(&self, second: &[bool]) -> Csr {
        let is_second = |j: usize| second.get(j).copied().unwrap_or_default();
        let kept = self.clone().nonzeros(|v| v);
        kept.map(|i, j, v| if is_second(i) || is_second(j) { f64::from(i == j) } else { v }).nonzeros(|v| v)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::problems;
    use crate::shape::Shape;

    fn made(n: usize, entries: impl IntoIterator<Item = (usize, usize, f64)>) -> Csr {
        Triplets::from_entries(Shape::new(n, n), entries).unwrap().to_csr()
    }

    #[test]
    fn unknowns_without_a_positive_diagonal_are_the_second_block() {
        let constrained = [(0, 0, 2.0), (1, 1, 4.0), (0, 2, 1.0), (2, 0, 1.0), (1, 2, -1.0), (2, 1, -1.0)];
        assert_eq!(made(3, constrained).second_block(), [false, false, true]);
        // More of these than of others, one that is coupled to none, and a positive matrix.
        let many = [(0, 0, 2.0), (0, 1, 1.0), (1, 0, 1.0), (0, 2, 1.0), (2, 0, 1.0)];
        assert_eq!(made(3, many).second_block(), Vec::<bool>::new());
        let alone = [(0, 0, 2.0), (1, 1, 2.0), (2, 3, 1.0), (3, 2, 1.0)];
        assert_eq!(made(4, alone).second_block(), Vec::<bool>::new());
        assert_eq!(problems::poisson_2d(4, 4).to_csr().second_block(), Vec::<bool>::new());
        assert_eq!(made(0, []).second_block(), Vec::<bool>::new());
    }

    /// `K` diagonal: all of `B D⁻¹ Bᵀ + C`. `K` a chain: its diagonal.
    #[test]
    fn the_schur_complement_is_whole_where_k_is_its_diagonal() {
        let b = [(0, 4, 1.0), (1, 4, -1.0), (1, 5, 2.0), (2, 5, 3.0)];
        let both = b.into_iter().flat_map(|(i, j, v)| [(i, j, v), (j, i, v)]).chain([(5, 5, -0.5)]);
        let diagonal = (0..4).map(|i| (i, i, 2.0 + 2.0 * (i % 2) as f64));
        let a = made(6, diagonal.chain(both.clone()));
        let s = a.beside_schur(&a.second_block(), None).unwrap();
        let want = [(4, 4, 0.75), (4, 5, -0.5), (5, 4, -0.5), (5, 5, 1.0 + 4.5 + 0.5)];
        let found: Vec<_> = s.entries().filter(|(i, j, _)| *i > 3 || *j > 3).collect();
        assert_eq!(found, want);
        let chain = problems::poisson_1d(4).to_csr();
        let a = made(6, chain.entries().chain(both));
        let s = a.beside_schur(&a.second_block(), None).unwrap();
        let found: Vec<_> = s.entries().filter(|(i, j, _)| *i > 3 || *j > 3).collect();
        assert_eq!(found, [(4, 4, 1.0), (5, 5, 2.0 + 4.5 + 0.5)]);
        let own: Vec<_> = s.entries().filter(|(i, _, _)| *i < 4).collect();
        assert_eq!(own, chain.entries().collect::<Vec<_>>());
    }
}
