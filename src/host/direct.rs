//! Sparse Cholesky and LU factors on the host, by the crate faer.

use faer::MatMut;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::solvers::LltError;
use faer::sparse::linalg::cholesky::SymbolicCholeskyRaw;
use faer::sparse::linalg::{cholesky, lu};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, Par, Side};

use crate::error::{Error, Result};
use crate::host::prepare::matching;
use crate::host::{Csr, Triplets};

/// Name of the operation in errors.
const OP: &str = "Direct";

/// An order of elimination for a square sparse matrix, with the number of entries that factors have in it.
///
/// # Cost
/// O(nnz) for the orders of grids and networks; no values are computed.
#[derive(Debug)]
pub struct DirectPlan {
    /// Of the pattern of `A + Aᵀ`.
    symbolic: cholesky::SymbolicCholesky<u32>,
    is_positive: bool,
}

/// The factors of a square sparse matrix: `A = L Lᵀ` where it is symmetric positive definite, `P A Q = L U` elsewhere.
///
/// # Cost
/// Some 40 to 100 ns for each entry of the factors, on one core; 8 bytes for each.
///
/// # Errors
/// `Error::Matrix` from constructors, if the matrix is not square, not finite, or singular.
///
/// # Source
/// P. Amestoy, T. Davis, I. Duff, 1996 (order by minimum degree); T. Davis, J. Gilbert, S. Larimore, E. Ng, 2004 (COLAMD).
///
/// # Examples
/// ```
/// use texla::host::{Direct, problems};
/// let a = problems::poisson_2d(20, 20).to_csr();
/// let direct = Direct::new(&a)?;
/// assert!(direct.is_cholesky());
/// let x = direct.solve(&a.mul_vec(&vec![1.0; 400])?)?;
/// assert!(x.iter().all(|x| (x - 1.0).abs() < 1e-12));
/// # Ok::<(), texla::Error>(())
/// ```
#[derive(Debug)]
pub struct Direct {
    n: usize,
    factors: Factors,
}

#[derive(Debug)]
enum Factors {
    Cholesky(cholesky::SymbolicCholesky<u32>, Vec<f64>),
    Lu(lu::SymbolicLu<u32>, lu::NumericLu<u32, f64>),
}

/// A matrix in compressed columns, which the rows of `Aᵀ` are.
struct Columns<'a> {
    starts: Vec<u32>,
    rows: &'a [u32],
    n: usize,
}

impl<'a> Columns<'a> {
    fn new(a: &'a Csr) -> Result<Self> {
        let starts =
            a.row_ptr().iter().map(|&start| u32::try_from(start)).collect::<std::result::Result<_, _>>();
        let too_many = |_| Error::Matrix { op: OP, detail: "has more than 2^32 entries".into() };
        Ok(Columns { starts: starts.map_err(too_many)?, rows: a.cols(), n: a.shape().rows })
    }

    fn symbolic(&self) -> SymbolicSparseColMatRef<'_, u32> {
        SymbolicSparseColMatRef::new_checked(self.n, self.n, &self.starts, None, self.rows)
    }
}

impl DirectPlan {
    /// Finds an order of minimum degree.
    ///
    /// # Errors
    /// [`Error::Matrix`] if the matrix is not square or an entry is not finite; [`Error::OutOfMemory`].
    pub fn new(a: &Csr) -> Result<Self> {
        let shape = a.shape();
        if !shape.is_square() {
            return Err(Error::Matrix { op: OP, detail: format!("is {shape}, expected a square one") });
        }
        if let Some((i, j, v)) = a.entries().find(|(_, _, v)| !v.is_finite()) {
            return Err(Error::Matrix {
                op: OP,
                detail: format!("has {v} at ({i}, {j}), expected finite entries"),
            });
        }
        let symmetric = a.is_symmetric();
        let union;
        let pattern = if symmetric {
            a
        } else {
            // With entries on the diagonal, as factors exchange rows: else the union says nothing of them.
            let matched;
            let a = if a.diagonal().contains(&0.0) {
                let order: Vec<usize> = (0..shape.cols).collect();
                matched = a.reordered(&matching(a).rows, &order);
                &matched
            } else {
                a
            };
            let both = a.entries().flat_map(|(i, j, _)| [(i, j, 1.0), (j, i, 1.0)]);
            union = Triplets::from_entries(shape, both)?.to_csr();
            &union
        };
        let columns = Columns::new(pattern)?;
        let (order, params) = (Default::default(), Default::default());
        let symbolic = cholesky::factorize_symbolic_cholesky(columns.symbolic(), Side::Lower, order, params);
        let symbolic = symbolic.map_err(|e| failed(&e))?;
        let is_positive = symmetric && a.diagonal().iter().all(|d| *d > 0.0);
        Ok(DirectPlan { symbolic, is_positive })
    }

    /// Returns the number of entries of both factors, as far as the pattern tells: exchanged rows add to those of LU.
    pub fn entries(&self) -> usize {
        2 * self.symbolic.len_val()
    }

    /// Returns the multiplications that Cholesky factors take, as far as the pattern tells: the sum of the squares of the columns'
    /// lengths. Those of LU take twice as many.
    pub fn multiplications(&self) -> f64 {
        let square = |n: usize| (n as f64).powi(2);
        match self.symbolic.raw() {
            SymbolicCholeskyRaw::Simplicial(all) => {
                let pairs = all.col_ptr().iter().zip(all.col_ptr().iter().skip(1));
                pairs.map(|(begin, end)| square(end.saturating_sub(*begin) as usize)).sum()
            }
            SymbolicCholeskyRaw::Supernodal(all) => {
                let bounds = all.supernode_begin().iter().zip(all.supernode_end()).enumerate();
                let of = |(s, (begin, end)): (usize, (&u32, &u32))| {
                    let below = all.supernode(s).pattern().len();
                    let width = end.saturating_sub(*begin) as usize;
                    (1..=width).map(|k| square(below + k)).sum::<f64>()
                };
                bounds.map(of).sum()
            }
        }
    }

    /// Returns the seconds that factors are predicted to take on one core.
    ///
    /// Measured in 2026 on a core with vectors of 512 bits: Cholesky's within two times from 3e8 to 8e11 multiplications. LU is not
    /// ordered by the pattern of `A + Aᵀ`, which is counted here with entries on the diagonal: it may take far longer, or less.
    pub fn seconds(&self) -> f64 {
        let (entries, multiplications) = (self.entries() as f64, self.multiplications());
        // Columns of Cholesky's are made in blocks; of others one by one.
        match self.is_positive {
            true => 4e-9 * entries + 1.4e-11 * multiplications,
            false => 2.5e-8 * entries + 1e-9 * multiplications,
        }
    }

    /// Returns whether factors are predicted to take at most two minutes, and 2 GB for those of Cholesky or 1 GB for others.
    pub fn is_feasible(&self) -> bool {
        let most = if self.is_positive { 500_000_000 } else { 100_000_000 };
        self.entries() <= most && self.seconds() <= 120.0
    }

    /// The error of factors that would be made only if they took little.
    pub(crate) fn is_too_much(&self) -> Error {
        Error::Unsupported {
            what: "sparse factors of this matrix".to_owned(),
            why: format!(
                "they are predicted to have {} entries and to take {:.0} s; SparseFactors::new makes them all the same",
                self.entries(),
                self.seconds()
            ),
        }
    }

    /// Returns whether the matrix may be positive definite: it is symmetric, and its diagonal is positive.
    pub fn is_positive(&self) -> bool {
        self.is_positive
    }

    /// Computes the factors of the matrix that the plan was made for.
    ///
    /// # Errors
    /// [`Error::Matrix`] if the matrix is singular; [`Error::OutOfMemory`].
    pub fn factor(self, a: &Csr) -> Result<Direct> {
        let columns = Columns::new(a)?;
        // Of `Aᵀ`, whose columns are the rows of `A`.
        let values = SparseColMatRef::new(columns.symbolic(), a.values());
        let n = columns.n;
        if self.is_positive
            && let Some(factors) = cholesky_factors(self.symbolic, values)?
        {
            return Ok(Direct { n, factors });
        }
        lu_factors(values).map(|factors| Direct { n, factors })
    }
}

impl Direct {
    /// Plans and factors a matrix.
    ///
    /// # Errors
    /// Those of [`DirectPlan::new`] and [`DirectPlan::factor`].
    pub fn new(a: &Csr) -> Result<Self> {
        DirectPlan::new(a)?.factor(a)
    }

    /// Returns whether the factors are those of Cholesky.
    pub fn is_cholesky(&self) -> bool {
        matches!(self.factors, Factors::Cholesky(..))
    }

    /// Solves `A x = b`.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`]; [`Error::Matrix`] if the matrix is singular to working precision, so that an element of `x` is
    /// not finite.
    pub fn solve(&self, b: &[f64]) -> Result<Vec<f64>> {
        self.solved(b, false)
    }

    /// Solves `Aᵀ x = b`.
    ///
    /// # Errors
    /// As for [`solve`](Self::solve).
    pub fn solve_transposed(&self, b: &[f64]) -> Result<Vec<f64>> {
        self.solved(b, true)
    }

    fn solved(&self, b: &[f64], transposed: bool) -> Result<Vec<f64>> {
        if b.len() != self.n {
            return Err(Error::LengthMismatch { op: OP, operand: "b", found: b.len(), expected: self.n });
        }
        let mut x = b.to_vec();
        let right = MatMut::from_column_major_slice_mut(&mut x, self.n, 1);
        match &self.factors {
            Factors::Cholesky(symbolic, values) => {
                let mut memory = memory(symbolic.solve_in_place_scratch::<f64>(1, Par::Seq))?;
                let factors = cholesky::LltRef::new(symbolic, values);
                factors.solve_in_place_with_conj(Conj::No, right, Par::Seq, MemStack::new(&mut memory));
            }
            // The factors are those of `Aᵀ`.
            Factors::Lu(symbolic, numeric) if transposed => {
                let mut memory = memory(symbolic.solve_in_place_scratch::<f64>(1, Par::Seq))?;
                let factors = lu::LuRef::new_unchecked(symbolic, numeric);
                factors.solve_in_place_with_conj(Conj::No, right, Par::Seq, MemStack::new(&mut memory));
            }
            Factors::Lu(symbolic, numeric) => {
                let mut memory = memory(symbolic.solve_transpose_in_place_scratch::<f64>(1, Par::Seq))?;
                let factors = lu::LuRef::new_unchecked(symbolic, numeric);
                factors.solve_transpose_in_place_with_conj(
                    Conj::No,
                    right,
                    Par::Seq,
                    MemStack::new(&mut memory),
                );
            }
        }
        if x.iter().all(|x| x.is_finite()) {
            return Ok(x);
        }
        Err(Error::Matrix { op: OP, detail: "is singular to working precision".into() })
    }
}

/// The factors, or `None` if the matrix is not positive definite.
fn cholesky_factors(
    symbolic: cholesky::SymbolicCholesky<u32>,
    a: SparseColMatRef<'_, u32, f64>,
) -> Result<Option<Factors>> {
    let mut values: Vec<f64> = Vec::new();
    values.try_reserve_exact(symbolic.len_val()).map_err(|e| failed(&e))?;
    values.resize(symbolic.len_val(), 0.0);
    let mut memory = memory(symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default()))?;
    let factored = symbolic.factorize_numeric_llt(
        &mut values,
        a,
        Side::Lower,
        Default::default(),
        Par::Seq,
        MemStack::new(&mut memory),
        Default::default(),
    );
    match factored {
        Ok(_) => Ok(Some(Factors::Cholesky(symbolic, values))),
        Err(LltError::NonPositivePivot { .. }) => Ok(None),
    }
}

fn lu_factors(a: SparseColMatRef<'_, u32, f64>) -> Result<Factors> {
    let symbolic = lu::factorize_symbolic_lu(a.symbolic(), lu_params(&a)).map_err(|e| failed(&e))?;
    let mut numeric = lu::NumericLu::new();
    let mut memory = memory(symbolic.factorize_numeric_lu_scratch::<f64>(Par::Seq, Default::default()))?;
    let factored = symbolic.factorize_numeric_lu(
        &mut numeric,
        a,
        Par::Seq,
        MemStack::new(&mut memory),
        Default::default(),
    );
    match factored.map(|_| ()) {
        Ok(()) => Ok(Factors::Lu(symbolic, numeric)),
        Err(faer::sparse::linalg::LuError::SymbolicSingular { .. }) => {
            Err(Error::Matrix { op: OP, detail: "is singular by its pattern alone".into() })
        }
        Err(error) => Err(failed(&error)),
    }
}

/// Where a row or a column is full beside others, the pattern of `Aᵀ A`, by which columns are put in blocks, is full too: they are
/// then made one by one, as they turn out.
fn lu_params(a: &SparseColMatRef<'_, u32, f64>) -> lu::LuSymbolicParams<'static> {
    let n = a.ncols();
    let full = 16.max((10.0 * (n as f64).sqrt()) as usize);
    let mut rows = vec![0; n];
    for i in a.row_idx() {
        rows.get_mut(*i as usize).into_iter().for_each(|count| *count += 1);
    }
    let column = (0..n).map(|j| a.col_range(j).len()).max().unwrap_or_default();
    let longest = rows.into_iter().max().unwrap_or_default().max(column);
    let mut params = lu::LuSymbolicParams::default();
    if longest > full {
        params.supernodal_flop_ratio_threshold = faer::sparse::linalg::SupernodalThreshold::FORCE_SIMPLICIAL;
        let share = full as f64 / n.max(1) as f64;
        (params.colamd_params.dense_row, params.colamd_params.dense_col) = (share, share);
    }
    params
}

fn memory(need: faer::dyn_stack::StackReq) -> Result<MemBuffer> {
    MemBuffer::try_new(need).map_err(|e| failed(&e))
}

fn failed(error: &dyn std::fmt::Debug) -> Error {
    Error::Matrix { op: OP, detail: format!("cannot be factored: {error:?}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::problems;

    fn error(x: &[f64], want: impl Fn(usize) -> f64) -> f64 {
        x.iter().enumerate().map(|(i, x)| (x - want(i)).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn systems_of_both_kinds_are_solved() {
        let want = |i: usize| 1.0 + (i % 7) as f64;
        for n in [1, 2, 3, 17, 40] {
            let spd = problems::poisson_2d(n, n + 1).to_csr();
            let size = spd.shape().rows;
            // An upwind term, and an order of rows that has zeros on the diagonal.
            let wind = spd.entries().map(|(i, j, v)| (i, j, if j + 1 == i { 0.5 * v } else { v }));
            let wind = Triplets::from_entries(spd.shape(), wind).unwrap().to_csr();
            let turned = wind.entries().map(|(i, j, v)| ((i + 1) % size, j, v));
            let turned = Triplets::from_entries(spd.shape(), turned).unwrap().to_csr();
            let x: Vec<f64> = (0..size).map(want).collect();
            for (name, a, cholesky) in
                [("spd", &spd, true), ("wind", &wind, size == 1 || n == 1), ("turned", &turned, size == 1)]
            {
                let direct = Direct::new(a).unwrap();
                assert!(name == "wind" || direct.is_cholesky() == cholesky, "{name} {n}");
                let found = direct.solve(&a.mul_vec(&x).unwrap()).unwrap();
                assert!(error(&found, want) < 1e-10, "{name} {n}: {:e}", error(&found, want));
                let found = direct.solve_transposed(&a.mul_vec_transposed(&x).unwrap()).unwrap();
                assert!(error(&found, want) < 1e-10, "{name} {n}, transposed: {:e}", error(&found, want));
            }
        }
    }

    #[test]
    fn what_cholesky_cannot_factor_lu_does() {
        // Symmetric with a positive diagonal, of eigenvalues 3 and -1.
        let a = Triplets::from_dense(crate::Shape::new(2, 2), &[1.0, 2.0, 2.0, 1.0]).unwrap().to_csr();
        assert!(DirectPlan::new(&a).unwrap().is_positive());
        let direct = Direct::new(&a).unwrap();
        assert!(!direct.is_cholesky());
        assert!(error(&direct.solve(&[5.0, 4.0]).unwrap(), |i| 1.0 + i as f64) < 1e-14);
    }

    #[test]
    fn what_has_no_factors_is_refused() {
        let of = |rows, cols, values: &[f64]| {
            Triplets::from_dense(crate::Shape::new(rows, cols), values).unwrap().to_csr()
        };
        let refused = |a: &Csr| {
            Direct::new(a).and_then(|d| d.solve(&vec![1.0; a.shape().rows])).unwrap_err().to_string()
        };
        assert!(refused(&of(1, 2, &[1.0, 2.0])).contains("is 1x2, expected a square one"));
        assert!(refused(&of(2, 2, &[1.0, 2.0, 2.0, 4.0])).contains("singular"));
        assert!(refused(&of(2, 2, &[0.0, 1.0, 0.0, 2.0])).contains("singular"));
        assert!(refused(&of(2, 2, &[0.0; 4])).contains("singular"));
        let direct = Direct::new(&of(1, 1, &[2.0])).unwrap();
        assert!(matches!(
            direct.solve(&[1.0, 2.0]),
            Err(Error::LengthMismatch { found: 2, expected: 1, .. })
        ));
        assert_eq!(Direct::new(&of(0, 0, &[])).unwrap().solve(&[]).unwrap(), []);
    }

    #[test]
    fn a_full_row_does_not_fill_the_rest() {
        // A floating grid with its mean value: the row and the column of that are full, and the rest is singular.
        let side = 40;
        let n = side * side;
        let grid = problems::poisson_2d(side, side).to_csr();
        let degree = |i: usize| grid.row(i).filter(|(j, _)| *j != i).count() as f64;
        let inner = grid.entries().map(|(i, j, v)| (i, j, if i == j { degree(i) } else { v }));
        let mean = (0..n).flat_map(|i| [(i, n, 1.0), (n, i, 1.0)]);
        let a = Triplets::from_entries(crate::Shape::new(n + 1, n + 1), inner.chain(mean)).unwrap().to_csr();
        let direct = Direct::new(&a).unwrap();
        let Factors::Lu(_, lu::NumericLu { .. }) = &direct.factors else { panic!("{direct:?}") };
        let want = |i: usize| (i as f64).sin();
        let x: Vec<f64> = (0..=n).map(want).collect();
        assert!(error(&direct.solve(&a.mul_vec(&x).unwrap()).unwrap(), want) < 1e-9);
        let columns = Columns::new(&a).unwrap();
        let params = lu_params(&SparseColMatRef::new(columns.symbolic(), a.values()));
        assert!(params.colamd_params.dense_row < 0.5, "{params:?}");
        let columns = Columns::new(&grid).unwrap();
        let params = lu_params(&SparseColMatRef::new(columns.symbolic(), grid.values()));
        assert_eq!(params.colamd_params.dense_row, 0.5, "{params:?}");
    }

    #[test]
    fn fill_is_counted_with_entries_on_the_diagonal() {
        // Three diagonals, whose rows and columns are in orders of their own.
        let n = 3001;
        let row = |i: usize| i * 1009 % n;
        let col = |j: usize| j * 271 % n;
        let of = |i: usize| {
            let beside = (i + 1 < n).then(|| [(row(i), col(i + 1), -1.0), (row(i + 1), col(i), -1.5)]);
            [(row(i), col(i), 4.0)].into_iter().chain(beside.into_iter().flatten())
        };
        let a = Triplets::from_entries(crate::Shape::new(n, n), (0..n).flat_map(of)).unwrap().to_csr();
        let plan = DirectPlan::new(&a).unwrap();
        assert!(plan.entries() < 6 * n, "{}", plan.entries());
    }

    #[test]
    fn fill_is_counted_before_it_is_made() {
        // A band of 20 in the order of rows; minimum degree needs less.
        let a = problems::poisson_2d(20, 20).to_csr();
        let plan = DirectPlan::new(&a).unwrap();
        assert!(plan.entries() > a.nnz() && plan.entries() < 2 * 20 * 400, "{}", plan.entries());
    }
}
