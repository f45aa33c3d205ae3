//! In how many digits a system is solved.

use crate::solve::krylov::Recurrence;

/// In what a system is solved, where that is asked for by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Precision {
    /// Unknowns of 32 bits.
    Single,
    /// Unknowns that are [pairs of floats](crate::DoubleVector), iterated in 32 bits.
    Refined,
    /// Unknowns that are pairs, iterated in pairs ([`Recurrence::Double`]): for systems that are symmetric positive definite.
    Double,
    /// Pairs where method, operator and device can, iterated in 32 bits and in pairs from where that gains nothing; in scripts from
    /// where 32 bits do not come to the bound.
    #[default]
    Auto,
}

words!(Precision, "precision": "single" => Single, "refined" => Refined, "double" => Double, "auto" => Auto);

impl Precision {
    /// In what conjugate gradients iterate for pairs.
    pub fn recurrence(self) -> Recurrence {
        match self {
            Precision::Refined => Recurrence::Single,
            Precision::Double => Recurrence::Double,
            _ => Recurrence::Auto,
        }
    }
}
