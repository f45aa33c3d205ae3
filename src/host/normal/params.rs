//! Which parts of a normal form are looked for.

/// Whether a part of [`NormalForm`](super::NormalForm) is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum NormalPart {
    /// It is not.
    Off,
    /// It is, where the matrix has what it is for.
    #[default]
    On,
    /// It is, and a matrix that does not have what it is for is refused.
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

/// Parameters of [`NormalForm`](super::NormalForm): a part each, all of them [`On`](NormalPart::On) by default.
///
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
    /// Rows and columns of one entry are solved directly, and empty ones left out. Asserted: there is one at least.
    pub presolve: NormalPart,
    /// A matrix that is symmetric up to rounding becomes symmetric. Asserted: what is left of it after elimination is.
    pub symmetry: NormalPart,
    /// A matrix with a negative diagonal is negated. Asserted: all of the diagonal left after elimination is negative.
    pub sign: NormalPart,
    /// Unknowns of penalty rows are fixed. Asserted: there is one at least.
    pub penalties: NormalPart,
    /// Rows and columns are scaled by powers of two. Asserted: the diagonal left after elimination has no zero, and scales by it
    /// leave no entry above 2^100.
    pub scaling: NormalPart,
    /// Connected components are found, with those that have a null vector of constants. Asserted: there are two at least.
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
    /// Every part [`Off`](NormalPart::Off), to turn single ones on.
    ///
    /// ```
    /// use texla::host::{NormalForm, NormalParams, NormalPart, problems};
    /// let a = problems::poisson_1d(5).to_csr();
    /// assert!(NormalForm::new(&a, NormalParams::none())?.is_identity());
    /// assert!(!NormalForm::new(&a, NormalParams::none().with_scaling(NormalPart::On))?.is_identity());
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub const fn none() -> Self {
        let off = NormalPart::Off;
        Self { presolve: off, symmetry: off, sign: off, penalties: off, scaling: off, components: off }
    }
}
