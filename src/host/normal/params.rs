//! Parameters of normal forms.

/// Use of one part of [`NormalForm`](super::NormalForm).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum NormalPart {
    /// The part is skipped.
    Off,
    /// The part is used if it applies to the matrix.
    #[default]
    On,
    /// The part is used, and a matrix to which it does not apply is refused.
    Asserted,
}

impl NormalPart {
    pub(super) const fn is_off(self) -> bool {
        matches!(self, NormalPart::Off)
    }

    pub(super) const fn is_asserted(self) -> bool {
        matches!(self, NormalPart::Asserted)
    }
}

/// Parameters of [`NormalForm`](super::NormalForm). Every part is [`On`](NormalPart::On) by
/// default.
///
/// # Examples
/// ```
/// use texla::{Shape, host::{NormalForm, NormalParams, NormalPart, Triplets}};
/// let a = Triplets::from_dense(Shape::new(2, 2), &[2.0, 1.0, 1.5, 2.0])?.to_csr();
/// assert!(!NormalForm::new(&a, NormalParams::default())?.is_symmetric());
/// let params = NormalParams::default().with_symmetry(NormalPart::Asserted);
/// assert_eq!(
///     NormalForm::new(&a, params).unwrap_err().to_string(),
///     "NormalForm: the matrix has 1 at (0, 1) and 1.5 at (1, 0), expected a difference of at most 1.8e-12"
/// );
/// # Ok::<(), texla::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct NormalParams {
    /// Solve one-entry rows and columns directly and remove empty ones. Asserted: at least one
    /// unknown is eliminated so.
    pub presolve: NormalPart,
    /// Make a matrix symmetric that is so up to rounding. Asserted: it is, after elimination.
    pub symmetry: NormalPart,
    /// Negate a matrix of negative diagonal. Asserted: the whole diagonal is negative after
    /// elimination.
    pub sign: NormalPart,
    /// Fix the unknowns of penalty rows. Asserted: there is at least one such row.
    pub penalties: NormalPart,
    /// Scale rows and columns by powers of two. Asserted: after elimination the diagonal has no
    /// zero, and scaling by it leaves all entries below 2^100.
    pub scaling: NormalPart,
    /// Find connected components and their null vectors. Asserted: there are at least two after
    /// elimination.
    pub components: NormalPart,
}

with!(const NormalParams:
    with_presolve(presolve: NormalPart),
    with_symmetry(symmetry: NormalPart),
    with_sign(sign: NormalPart),
    with_penalties(penalties: NormalPart),
    with_scaling(scaling: NormalPart),
    with_components(components: NormalPart),
);

impl NormalParams {
    /// Returns parameters with every part [`Off`](NormalPart::Off).
    ///
    /// # Examples
    /// ```
    /// use texla::host::{NormalForm, NormalParams, NormalPart, problems};
    /// let a = problems::poisson_1d(5).to_csr();
    /// assert!(NormalForm::new(&a, NormalParams::none())?.is_identity());
    /// // A negative matrix is not in form.
    /// let a = a.with_values(&a.values().iter().map(|v| -v).collect::<Vec<_>>())?;
    /// assert!(NormalForm::new(&a, NormalParams::none())?.is_identity());
    /// assert!(!NormalForm::new(&a, NormalParams::none().with_sign(NormalPart::On))?.is_identity());
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub const fn none() -> Self {
        let off = NormalPart::Off;
        Self { presolve: off, symmetry: off, sign: off, penalties: off, scaling: off, components: off }
    }
}
