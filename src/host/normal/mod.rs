//! Systems brought into a form that iterations work on best: smaller, symmetric, positive and in range.

use crate::error::{Error, Result};
use crate::host::{Csr, Triplets, number};
use eliminate::Plan;
use scale::Scales;
use std::borrow::Cow;
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

/// The name in errors.
const OP: &str = "NormalForm";

/// A square system `A x = b` reduced to `A' y = b'`: what needs no iteration is solved directly, and the rest is symmetric, of
/// positive diagonal and within the range of 32-bit floats where `A` allows it.
///
/// [`matrix`](Self::matrix) is `A'`, [`right`](Self::right) is `b'` and [`solution`](Self::solution) is `x`, each in 64 bits. In turn:
///
/// 1. **One-entry rows** `a_ij x_j = b_i` give `x_j`, which moves into `b` and may leave other rows with one entry. Then
///    **one-entry columns**: the only row with `x_j` gives it once all others are known. Both until none is left, so that a
///    triangular matrix, in whatever order, leaves nothing.
/// 2. **Penalty rows**, `|a_ii| > 2^26 Σ_(j≠i) |a_ij|`, fix `x_i = b_i / a_ii`, and part 1 is repeated. What this neglects is found
///    by the true residual, as below. Rows of this kind whose elimination would change another row or column by more than
///    2^-20 of its largest entry are no penalties: unknowns in other units, or the large block of a saddle point.
/// 3. **Empty** rows and columns are left out in pairs, for the matrix to stay square: unknowns in no equation are zero. Surplus ones
///    stay, as zeros. Stored zeros count as none in all of this and are dropped.
/// 4. **Symmetry up to rounding**, `|a_ij - a_ji| <= 2^-40 s_ij` for all pairs: `(A + Aᵀ) / 2` takes the place of the matrix. Here
///    `s_ij = √|a_ii a_jj|`, or the largest entry of row i or j, whichever is less, where either diagonal entry is zero.
/// 5. **Components**: connected parts of the pattern of `A + Aᵀ`, of what elimination has left, since it can cut a matrix in parts. Each
///    is asked whether its rows and columns sum to zero: [`components`](Self::components), [`null_vectors`](Self::null_vectors). The
///    matrix stays one.
/// 6. **Sign**: `-A' y = -b'` where all of the diagonal is negative.
/// 7. **Scales**: `D^-1/2 A' D^-1/2` in powers of two, which round nothing: `1/2 <= |a'_ii| < 2`. Where the diagonal has a zero, or
///    this leaves an entry of 2^100 or more, the largest entry of every row and column is brought within 1/4 and 2 instead (by
///    the same scales for rows and columns if the matrix is symmetric).
///
/// [`NormalParams`] turns parts off, or asserts them.
///
/// Parts 2 and 4 change the system a little; the others but for the rounding of single divisions not at all. Both maps are linear: for a residual `r = b - A x`, which
/// takes the place of `b`, they give the correction of `x`. So a solve that used these parts is repeated with the true
/// residual, once or twice: each time gains 2^20 or more of what part 2 neglects.
///
/// *Cost*: O(nnz) time and memory, or nearly so, for the form; a walk through the eliminated entries for each vector. *Source*:
/// elimination of one-entry rows and columns is that of the presolve of linear programming, E. Andersen, K. Andersen, 1995; D. Ruiz, 2001 (scales); T. Ogita,
/// S. Rump, S. Oishi, 2005 (sums).
///
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
/// assert_eq!(form.to_string(), "1 row solved directly; 1 column by back substitution; symmetric; negated; scaled");
/// assert_eq!((form.columns(), form.matrix().values()), (&[1, 2][..], &[0.5, -0.125, -0.125, 0.5][..]));
///
/// let b = a.mul_vec(&[1.0, 2.0, 3.0, 4.0])?;
/// assert_eq!(form.right(&b)?, [2.5, 5.0]);
/// // y = (8, 12) solves the reduced system.
/// assert_eq!(form.matrix().mul_vec(&[8.0, 12.0])?, [2.5, 5.0]);
/// assert_eq!(form.solution(&[8.0, 12.0], &b)?, [1.0, 2.0, 3.0, 4.0]);
/// # Ok::<(), texla::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct NormalForm {
    matrix: Csr,
    plan: Plan,
    /// Entries of the given matrix outside of what elimination has left, in their places.
    rest: Csr,
    row_scales: Vec<f64>,
    column_scales: Vec<f64>,
    asymmetry: Option<Asymmetry>,
    negated: bool,
    components: Vec<Component>,
}

/// How many unknowns [`NormalForm`] solves apart from its matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Eliminated {
    /// By one-entry rows.
    pub rows: usize,
    /// By one-entry columns, after all others.
    pub columns: usize,
    /// By penalty rows.
    pub penalties: usize,
    /// In no equation: zero.
    pub free: usize,
}

impl NormalForm {
    /// Finds the form of a square matrix.
    ///
    /// *Errors*: [`Error::Matrix`] for a matrix that is not square, that has an entry that is not finite, or that lacks what a
    /// part is [asserted](NormalPart::Asserted) to find.
    pub fn new(a: &Csr, params: NormalParams) -> Result<Self> {
        check_matrix(a)?;
        let a = if a.values().contains(&0.0) { Cow::Owned(a.nonzeros(|v| v)) } else { Cow::Borrowed(a) };
        let transposed = a.transposed();
        let plan = Plan::new(&a, &transposed, &params);
        let (reduced, rest, transposed) = if plan.is_empty() {
            let shape = a.shape();
            (a.into_owned(), Triplets::new(shape).to_csr(), transposed)
        } else {
            let (reduced, rest) = plan.split(&a);
            let transposed = reduced.transposed();
            (reduced, rest, transposed)
        };
        let asymmetry = (!params.symmetry.is_off()).then(|| symmetry::measure(&reduced, &transposed));
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
        let power = |list: &[i32]| list.iter().map(|&e| crate::host::prepare::power(e)).collect();
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

    /// Refuses a matrix that lacks what a part is asserted to find.
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
            // Where the entries are in the given matrix.
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

    /// The reduced matrix `A'`, without rows if elimination has left none.
    pub const fn matrix(&self) -> &Csr {
        &self.matrix
    }

    /// Row `i` of the reduced matrix is row `rows()[i]` of the given one.
    pub fn rows(&self) -> &[usize] {
        &self.plan.rows
    }

    /// Column `j` of the reduced matrix is column `columns()[j]` of the given one.
    pub fn columns(&self) -> &[usize] {
        &self.plan.columns
    }

    /// The factor of each row of the reduced matrix, a power of two; the sign aside.
    pub fn row_scales(&self) -> &[f64] {
        &self.row_scales
    }

    /// The factor of each column of the reduced matrix, a power of two.
    pub fn column_scales(&self) -> &[f64] {
        &self.column_scales
    }

    /// Whether the reduced matrix is exactly symmetric; false where this was not asked for.
    pub fn is_symmetric(&self) -> bool {
        self.asymmetry.is_some_and(|found| found.ratio <= ROUNDING)
    }

    /// `max |a_ij - a_ji| / s_ij` of what elimination has left, before `(A + Aᵀ) / 2`: symmetric up to 2^-40. None where this was not
    /// asked for.
    pub fn asymmetry(&self) -> Option<f64> {
        self.asymmetry.map(|found| found.ratio)
    }

    /// Whether the reduced system is negated.
    pub const fn is_negated(&self) -> bool {
        self.negated
    }

    /// How many unknowns are solved apart, and how.
    pub const fn eliminated(&self) -> Eliminated {
        Eliminated {
            rows: self.plan.known.len() - self.plan.penalties,
            columns: self.plan.later.len(),
            penalties: self.plan.penalties,
            free: self.plan.free.len(),
        }
    }

    /// Rows of the given matrix that have no entry, or only such of known unknowns: without a solution unless their right-hand
    /// side is zero too ([`imbalances`](Self::imbalances)).
    pub fn empty_rows(&self) -> &[usize] {
        &self.plan.empty_rows
    }

    /// Unknowns of the given system that are in no equation and are zero in every [`solution`](Self::solution).
    pub fn free_unknowns(&self) -> &[usize] {
        &self.plan.free
    }

    /// The connected components of the reduced matrix, in the order of their first unknowns; none where they were not asked for.
    pub fn components(&self) -> &[Component] {
        &self.components
    }

    /// A null vector of the reduced matrix for each component whose rows sum to zero: its elements `(place, value)`.
    ///
    /// They are constants in the unknowns of the given system, `1 / column_scales` in those of the reduced one. Those of the
    /// transposed matrix are `1 / row_scales` on components whose columns sum to zero.
    ///
    /// ```
    /// use texla::{Shape, host::{NormalForm, NormalParams, Triplets}};
    /// // Two chains of three.
    /// let chain = |k| [(k, k, 1.0), (k, k + 1, -1.0), (k + 1, k, -1.0), (k + 1, k + 1, 1.0)];
    /// let a = Triplets::from_entries(Shape::new(6, 6), [0, 1, 3, 4].into_iter().flat_map(chain))?.to_csr();
    /// let form = NormalForm::new(&a, NormalParams::default())?;
    /// assert_eq!(form.to_string(), "symmetric; scaled; 2 components, 2 of them singular");
    /// // A diagonal of 1, 2, 1 is scaled to 1, 1/2, 1.
    /// assert_eq!(form.null_vectors()[1], [(3, 1.0), (4, 2.0), (5, 1.0)]);
    /// assert!(form.imbalances(&[1.0, 0.0, -1.0, 2.0, 2.0, -4.0])?.iter().all(|found| found.relative() == 0.0));
    /// assert_eq!(form.imbalances(&[1.0, 0.0, -1.0, 2.0, 0.0, -1.0])?[1].relative(), 1.0 / 3.0);
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn null_vectors(&self) -> Vec<Vec<(usize, f64)>> {
        let singular = self.components.iter().filter(|component| component.rows_sum_to_zero);
        let scale = |&k: &usize| self.column_scales.get(k).map(|scale| (k, scale.recip()));
        singular.map(|component| component.unknowns.iter().filter_map(scale).collect()).collect()
    }

    /// Whether the reduced system is the given one, stored zeros of the matrix aside.
    pub fn is_identity(&self) -> bool {
        let ones = |scales: &[f64]| scales.iter().all(|&s| s == 1.0);
        let even = !self.is_symmetric() || self.asymmetry() == Some(0.0);
        self.plan.is_empty() && even && !self.negated && ones(&self.row_scales) && ones(&self.column_scales)
    }
}

fn check_matrix(a: &Csr) -> Result<()> {
    if !a.shape().is_square() {
        return Err(Error::Matrix { op: OP, detail: format!("is {}, expected a square one", a.shape()) });
    }
    if let Some((i, j, v)) = a.entries().find(|entry| !entry.2.is_finite()) {
        let detail = format!("has {} at ({i}, {j}), expected finite entries", number(v));
        return Err(Error::Matrix { op: OP, detail });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
