//! Reduction of square systems: smaller, symmetric, of positive diagonal and in the range of
//! floats.

use crate::error::{Error, Result};
use crate::host::parallel::Threads;
use crate::host::{Csr, Triplets, number};
use eliminate::Plan;
use scale::Scales;
use symmetry::{Asymmetry, ROUNDING};

mod components;
mod eliminate;
mod params;
mod penalties;
mod scale;
mod summary;
mod sums;
mod symmetry;
mod vectors;

pub use components::{Component, Imbalance};
pub use params::{NormalParams, NormalPart};

/// Name of the operation in errors.
const OP: &str = "NormalForm";

/// A square system `A x = b` reduced to `A' y = b'`: unknowns that need no iteration are solved
/// directly, and the reduced matrix is symmetric, has a positive diagonal and lies within the range
/// of 32-bit floats as far as `A` allows it.
///
/// [`matrix`](Self::matrix) is `A'`, [`right`](Self::right) computes `b'` and
/// [`solution`](Self::solution) computes `x`, all in `f64`. The steps, in this order:
///
/// 1. **One-entry rows**: `a_ij x_j = b_i` gives `x_j`, which moves into `b` and may leave other
///    rows with one entry. Then **one-entry columns**: the only row that contains `x_j` gives it
///    after all other unknowns are solved. Both are repeated until none is left, so a triangular
///    matrix, in any order, is eliminated completely.
/// 2. **Penalty rows**, `|a_ii| > 2^26 Σ_(j≠i) |a_ij|`: `x_i` is fixed at `b_i / a_ii`, where known
///    unknowns have moved into `b_i`, and step 1 is repeated. A row is excluded if its elimination
///    would add more than 2^-20 of the largest entry of another row or column to an entry there, or
///    more than 2^-20 where the entries of the matching with the largest product are 1: its unknown
///    or its equation has another unit, or it belongs to the large block of a saddle point.
/// 3. **Empty rows and columns** are removed in pairs, so that the matrix stays square. An
///    unknown of an empty column is free, since no equation is left that contains it, and set to 0.
///    Surplus empty rows or columns stay as zeros. Stored zeros do not count as entries in any step
///    and are dropped.
/// 4. **Symmetry up to rounding**: if `|a_ij - a_ji| <= 2^-40 s_ij` for all pairs, `(A + Aᵀ) / 2`
///    replaces the matrix. `s_ij` is `√|a_ii a_jj|`, or, where either diagonal entry is 0, the
///    smaller of the largest entries of rows i and j.
/// 5. **Components**: the connected components of the pattern of `A + Aᵀ` are found, and for each
///    whether its rows and columns sum to zero. This comes after elimination, which may disconnect
///    the matrix. The matrix remains one; see [`components`](Self::components),
///    [`null_vectors`](Self::null_vectors) and [`imbalances`](Self::imbalances).
/// 6. **Sign**: if the whole diagonal is negative, the system is negated.
/// 7. **Scaling**: by `D^-1/2` on both sides, rounded to powers of two, so that
///    `1/2 <= |a'_ii| < 2` and no entry is rounded; by one factor for all where those of all differ
///    by four at most, and by none if that is within 2^±10. If the diagonal contains a zero, or if an entry
///    would reach 2^40, the largest entries of rows and columns are brought into `1/4 .. 2`
///    instead, with equal scales for rows and columns of a symmetric matrix. Others whose entries
///    are more than 2^40 apart begin from the matching with the largest product, as
///    [`Prepared`](crate::host::Prepared) does.
///
/// [`NormalParams`] turns each of these off, or asserts it.
///
/// Steps 2 and 4 change the system slightly; the others are exact up to the rounding of one
/// quotient for each eliminated unknown and of `b'`. [`right`](Self::right) and
/// [`solution`](Self::solution) are linear, so they map a residual `r = b - A x`, in place of `b`,
/// to a correction of `x`. A solve that used step 2 or 4 is therefore repeated with the residual of
/// the given system, usually once or twice.
///
/// # Cost
/// Constructing the form takes O(nnz) time and memory, up to a factor that grows more slowly than
/// log n (union-find); a matching besides where there may be penalty rows, and for the scales of
/// step 7 that need one. Each vector takes one walk through the eliminated entries.
///
/// # Source
/// E. Andersen, K. Andersen, 1995 (one-entry rows and columns in the presolve of linear programs);
/// D. Ruiz, 2001 (scaling by largest entries); T. Ogita, S. Rump, S. Oishi, 2005 (sums).
///
/// # Examples
/// ```
/// use texla::{Shape, host::{NormalForm, NormalParams, Triplets}};
/// // The first row gives x_0, the last one x_3 once x_2 is known.
/// let a = Triplets::from_dense(Shape::new(4, 4), &[
///     4.0, 0.0, 0.0, 0.0,
///     1.0, -8.0, 2.0, 0.0,
///     0.0, 2.0, -8.0, 0.0,
///     0.0, 0.0, 1.0, 5.0,
/// ])?.to_csr();
/// let form = NormalForm::new(&a, NormalParams::default())?;
/// assert_eq!(form.to_string(), "1 row solved directly; 1 column by back substitution; symmetric; negated");
/// assert_eq!((form.columns(), form.matrix().values()), (&[1, 2][..], &[8.0, -2.0, -2.0, 8.0][..]));
///
/// let b = a.mul_vec(&[1.0, 2.0, 3.0, 4.0])?;
/// assert_eq!(form.right(&b)?, [10.0, 20.0]);
/// // y = (2, 3) solves the reduced system.
/// assert_eq!(form.matrix().mul_vec(&[2.0, 3.0])?, [10.0, 20.0]);
/// assert_eq!(form.solution(&[2.0, 3.0], &b)?, [1.0, 2.0, 3.0, 4.0]);
/// # Ok::<(), texla::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct NormalForm {
    matrix: Csr,
    plan: Plan,
    /// The entries of the given matrix that are not part of the reduced one, at their places.
    rest: Csr,
    row_scales: Vec<f64>,
    column_scales: Vec<f64>,
    asymmetry: Option<Asymmetry>,
    negated: bool,
    components: Vec<Component>,
}

/// Numbers of unknowns that a [`NormalForm`] eliminates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Eliminated {
    /// Solved by one-entry rows.
    pub rows: usize,
    /// Solved by one-entry columns, after all others.
    pub columns: usize,
    /// Fixed by penalty rows.
    pub penalties: usize,
    /// In no equation that is left: set to 0.
    pub free: usize,
}

impl NormalForm {
    /// Reduces a square matrix.
    ///
    /// # Errors
    /// [`Error::Matrix`] if the matrix is not square, if an entry is not finite, or if a part that
    /// is [asserted](NormalPart::Asserted) does not apply.
    pub fn new(a: &Csr, params: NormalParams) -> Result<Self> {
        let has_zeros = check_matrix(a)?;
        let a = if has_zeros { a.nonzeros(|v| v) } else { a.clone() };
        // A matrix that equals its transpose is one.
        let transpose = |a: &Csr| {
            let exact = a.is_symmetric();
            (exact, if exact { a.clone() } else { a.transposed() })
        };
        let (exact, transposed) = transpose(&a);
        let plan = Plan::new(&a, &transposed, &params);
        let (reduced, rest, (exact, transposed)) = if plan.is_empty() {
            let none = Triplets::new(a.shape()).to_csr();
            (a, none, (exact, transposed))
        } else {
            let (reduced, rest) = plan.split(&a);
            let transposed = transpose(&reduced);
            (reduced, rest, transposed)
        };
        let measure = || if exact { Asymmetry::default() } else { symmetry::measure(&reduced, &transposed) };
        let asymmetry = (!params.symmetry.is_off()).then(measure);
        let symmetric = asymmetry.is_some_and(|found| found.ratio <= ROUNDING);
        let uneven = symmetric && asymmetry.is_some_and(|found| found.ratio > 0.0);
        let reduced = if uneven { symmetry::mean(&reduced, &transposed) } else { reduced };
        let components = if params.components.is_off() {
            Vec::new()
        } else {
            components::components(&reduced, symmetric, &transposed)
        };
        let n = reduced.shape().rows;
        let positive = reduced.diagonal().iter().position(|&d| d >= 0.0);
        let negated = !params.sign.is_off() && n > 0 && positive.is_none();
        let scales = if params.scaling.is_off() { Scales::none(n) } else { Scales::new(&reduced) };
        let power = |list: &[i32]| {
            let of = |e: &i32| crate::host::prepare::power(*e);
            Threads::all().made(list.len(), |i| list.get(i).map_or(1.0, of))
        };
        let form = Self {
            row_scales: power(&scales.rows),
            column_scales: power(&scales.columns),
            matrix: scales.apply(reduced, negated),
            plan,
            rest,
            asymmetry,
            negated,
            components,
        };
        form.check_asserted(&params, positive, &scales)?;
        Ok(form)
    }

    /// Refuses a matrix to which an asserted part does not apply.
    fn check_asserted(&self, params: &NormalParams, positive: Option<usize>, scales: &Scales) -> Result<()> {
        let refused = |detail: String| Err(Error::Matrix { op: OP, detail });
        let given = |list: &[usize], k: usize| list.get(k).copied().unwrap_or_default();
        let Eliminated { rows, columns, penalties, free } = self.eliminated();
        if params.presolve.is_asserted() && rows + columns + free == 0 {
            return refused(
                "has two entries or more in every row and column, expected a one-entry one".into(),
            );
        }
        if params.penalties.is_asserted() && penalties == 0 {
            return refused("has no penalty row, expected one at least".into());
        }
        if let Some(Asymmetry { row, column, entries: (a, b, size), .. }) = self.asymmetry
            && params.symmetry.is_asserted()
            && !self.is_symmetric()
        {
            // Places in the given matrix.
            let place = |i, j| format!("({}, {})", given(&self.plan.rows, i), given(&self.plan.columns, j));
            let (here, there, bound) = (place(row, column), place(column, row), ROUNDING * size);
            let (a, b) = (number(a), number(b));
            return refused(format!(
                "has {a} at {here} and {b} at {there}, expected a difference of at most {bound:.1e}"
            ));
        }
        if let Some(i) = positive.filter(|_| params.sign.is_asserted()) {
            let place = (given(&self.plan.rows, i), given(&self.plan.columns, i));
            return refused(format!("has no negative entry at {place:?}, expected a negative diagonal"));
        }
        if let Some((i, j)) = scales.given_up.filter(|_| params.scaling.is_asserted()) {
            let place = (given(&self.plan.rows, i), given(&self.plan.columns, j));
            let what = if i == j { "zero" } else { "an entry too large for its diagonal" };
            return refused(format!("has {what} at {place:?}, expected a diagonal to scale by"));
        }
        if params.components.is_asserted() && self.components.len() < 2 {
            let found = self.components.len();
            return refused(format!("has {found} connected components, expected two at least"));
        }
        Ok(())
    }

    /// Returns the reduced matrix `A'`, which is 0 x 0 if everything is eliminated.
    pub const fn matrix(&self) -> &Csr {
        &self.matrix
    }

    /// Returns the rows that are left: row `i` of the reduced matrix is row `rows()[i]` of the
    /// given one.
    pub fn rows(&self) -> &[usize] {
        &self.plan.rows
    }

    /// Returns the columns that are left: column `j` of the reduced matrix is column `columns()[j]`
    /// of the given one. They ascend.
    pub fn columns(&self) -> &[usize] {
        &self.plan.columns
    }

    /// Returns the factor of each row of the reduced matrix: a positive power of two, apart from
    /// the sign of a [negated](Self::is_negated) system.
    pub fn row_scales(&self) -> &[f64] {
        &self.row_scales
    }

    /// Returns the factor of each column of the reduced matrix: a positive power of two.
    pub fn column_scales(&self) -> &[f64] {
        &self.column_scales
    }

    /// Returns whether the reduced matrix is symmetric, exactly; false if
    /// [`NormalParams::symmetry`] is off.
    pub fn is_symmetric(&self) -> bool {
        self.asymmetry.is_some_and(|found| found.ratio <= ROUNDING)
    }

    /// Returns `max |a_ij - a_ji| / s_ij` after elimination, measured before `(A + Aᵀ) / 2` is
    /// taken: a matrix counts as symmetric up to 2^-40. `None` if [`NormalParams::symmetry`] is
    /// off.
    pub fn asymmetry(&self) -> Option<f64> {
        self.asymmetry.map(|found| found.ratio)
    }

    /// Returns whether the reduced system is negated.
    pub const fn is_negated(&self) -> bool {
        self.negated
    }

    /// Returns how many unknowns are eliminated by each step.
    pub const fn eliminated(&self) -> Eliminated {
        Eliminated {
            rows: self.plan.known.len() - self.plan.penalties,
            columns: self.plan.later.len(),
            penalties: self.plan.penalties,
            free: self.plan.free.len(),
        }
    }

    /// Returns the rows of the given matrix whose unknowns are all known from other rows, or that
    /// have no entry. The system has a solution only if they are satisfied: see
    /// [`imbalances`](Self::imbalances).
    pub fn empty_rows(&self) -> &[usize] {
        &self.plan.empty_rows
    }

    /// Returns the eliminated unknowns that are in no equation that is left, so that any value is part of a
    /// solution. They are 0 in every [`solution`](Self::solution).
    pub fn free_unknowns(&self) -> &[usize] {
        &self.plan.free
    }

    /// Returns the connected components of the reduced matrix, ordered by their first unknowns;
    /// empty if [`NormalParams::components`] is off.
    pub fn components(&self) -> &[Component] {
        &self.components
    }

    /// Returns a null vector of the reduced matrix, as pairs of place and value, for each component
    /// whose rows sum to zero.
    ///
    /// It is constant in the unknowns of the given system, so `1 / column_scales` in those of the
    /// reduced one. The corresponding null vector of the transposed matrix, for a component whose
    /// columns sum to zero, is `1 / row_scales`.
    ///
    /// # Examples
    /// ```
    /// use texla::{Shape, host::{NormalForm, NormalParams, Triplets}};
    /// // Two chains of three.
    /// let chain = |k| [(k, k, 1.0), (k, k + 1, -1.0), (k + 1, k, -1.0), (k + 1, k + 1, 1.0)];
    /// let a = Triplets::from_entries(Shape::new(6, 6), [0, 1, 3, 4].into_iter().flat_map(chain))?.to_csr();
    /// let form = NormalForm::new(&a, NormalParams::default())?;
    /// assert_eq!(form.to_string(), "symmetric; 2 components, 2 of them singular");
    /// assert_eq!(form.null_vectors()[1], [(3, 1.0), (4, 1.0), (5, 1.0)]);
    /// assert!(form.imbalances(&[1.0, 0.0, -1.0, 2.0, 2.0, -4.0])?.iter().all(|found| found.relative() == 0.0));
    /// assert_eq!(form.imbalances(&[1.0, 0.0, -1.0, 2.0, 0.0, -1.0])?[1].relative(), 1.0 / 3.0);
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn null_vectors(&self) -> Vec<Vec<(usize, f64)>> {
        let singular = self.components.iter().filter(|component| component.rows_sum_to_zero);
        let scale = |&k: &usize| self.column_scales.get(k).map(|scale| (k, scale.recip()));
        singular.map(|component| component.unknowns.iter().filter_map(scale).collect()).collect()
    }

    /// Returns whether the reduced system equals the given one, apart from stored zeros of the
    /// matrix.
    pub fn is_identity(&self) -> bool {
        let ones = |scales: &[f64]| scales.iter().all(|&s| s == 1.0);
        let even = !self.is_symmetric() || self.asymmetry() == Some(0.0);
        self.plan.is_empty() && even && !self.negated && ones(&self.row_scales) && ones(&self.column_scales)
    }
}

/// Refuses what is not square and finite. Whether an entry is zero.
fn check_matrix(a: &Csr) -> Result<bool> {
    /// Entries that are worth a thread.
    const MANY: usize = 1 << 16;
    if !a.shape().is_square() {
        return Err(Error::Matrix { op: OP, detail: format!("is {}, expected a square one", a.shape()) });
    }
    let parts = Threads::all().parts(a.nnz(), MANY, |part| {
        let values = a.values().get(part).unwrap_or_default();
        (values.iter().all(|v| v.is_finite()), values.contains(&0.0))
    });
    if !parts.iter().all(|(finite, _)| *finite)
        && let Some((i, j, v)) = a.entries().find(|entry| !entry.2.is_finite())
    {
        let detail = format!("has {} at ({i}, {j}), expected finite entries", number(v));
        return Err(Error::Matrix { op: OP, detail });
    }
    Ok(parts.into_iter().any(|(_, zero)| zero))
}

#[cfg(test)]
mod tests;
