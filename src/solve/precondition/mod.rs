//! Preconditioners: what all of them are, and one file for each.

mod approximate_inverse;
mod block_jacobi;
mod chebyshev;
mod incomplete;
mod jacobi;
#[cfg(feature = "direct")]
mod sparse_factors;

pub use approximate_inverse::{Fsai, Spai};
pub use block_jacobi::BlockJacobi;
pub use chebyshev::{Chebyshev, ChebyshevParams};
pub use incomplete::{IluParams, IncompleteCholesky, IncompleteLu};
pub use jacobi::Jacobi;
#[cfg(feature = "direct")]
pub use sparse_factors::SparseFactors;

use crate::data::Vector;
use crate::error::{Error, Result};
use crate::host::Csr;
use crate::ops::{self, Handle, LinOp, keeping};

/// An approximate inverse `z = M r`, symmetric and positive definite for conjugate gradients, least squares and MINRES.
#[diagnostic::on_unimplemented(
    note = "a type implements `Preconditioner` itself, or is a handle (`&`, `Rc`, `Box`) to one that does"
)]
pub trait Preconditioner {
    /// `z = M r`.
    fn apply(&self, z: &mut Vector, r: &Vector) -> Result<()>;

    /// The diagonal of `M`, if that is all there is to it: solvers then fold it into their own passes.
    fn diagonal(&self) -> Option<&Vector> {
        None
    }

    /// True if `M` is the identity.
    fn is_identity(&self) -> bool {
        false
    }

    /// Whether [`apply`](Self::apply) draws the same passes every time, for operands of the same layout: solvers may then draw again what it
    /// drew the first time, without calling it.
    fn is_replayable(&self) -> bool {
        false
    }

    /// `M` in 64 bits, where it has that on the host: Krylov methods then begin with `x + M (b - A x)`, up to three times while that
    /// gains ten times, and iterate from there (feature `direct`).
    fn on_host(&self) -> Option<&dyn HostInverse> {
        None
    }

    /// Whether it is for matrices so far from the identity that iterations in pairs are the quickest from the beginning: conjugate
    /// gradients then make them at once, of pairs and with [`Recurrence::Auto`](crate::solve::Recurrence::Auto).
    fn prefers_pairs(&self) -> bool {
        false
    }

    /// Why `M` is not symmetric and positive definite, where it knows that it is not ("has the diagonal entry -1 at 3"): methods that
    /// need it to be refuse it with that.
    fn indefinite(&self) -> Option<String> {
        None
    }
}

/// An inverse of a matrix on the host, such as one by factors: see [`Preconditioner::on_host`].
pub trait HostInverse {
    /// Returns `A⁻¹ r`, or what is close to it.
    ///
    /// # Errors
    /// Those of the inverse; they end the solve.
    fn solve(&self, r: &[f64]) -> Result<Vec<f64>>;
}

/// Forwards every function, the provided ones too.
#[deny(clippy::missing_trait_methods)]
impl<H: Handle<Target: Preconditioner>> Preconditioner for H {
    fn apply(&self, z: &mut Vector, r: &Vector) -> Result<()> {
        (**self).apply(z, r)
    }

    fn diagonal(&self) -> Option<&Vector> {
        (**self).diagonal()
    }

    fn is_identity(&self) -> bool {
        (**self).is_identity()
    }

    fn is_replayable(&self) -> bool {
        (**self).is_replayable()
    }

    fn on_host(&self) -> Option<&dyn HostInverse> {
        (**self).on_host()
    }

    fn prefers_pairs(&self) -> bool {
        (**self).prefers_pairs()
    }

    fn indefinite(&self) -> Option<String> {
        (**self).indefinite()
    }
}

/// Refuses a preconditioner that is known not to be symmetric and positive definite.
pub(in crate::solve) fn check_definite(op: &str, m: &dyn Preconditioner) -> Result<()> {
    match m.indefinite() {
        None => Ok(()),
        Some(why) => Err(Error::Unsupported {
            what: format!("{op} with a preconditioner that {why}"),
            why: "it has to be symmetric and positive definite there; bicgstab and gmres take any".to_owned(),
        }),
    }
}

/// The entries of an operator, which preconditioners that are set up on the host are made of.
pub(in crate::solve) fn entries<'a>(op: &str, a: &'a dyn LinOp) -> Result<&'a Csr> {
    a.pattern().ok_or_else(|| Error::Unsupported {
        what: op.to_owned(),
        why: "the operator does not give its entries (LinOp::pattern), as sparse and banded matrices do"
            .to_owned(),
    })
}

/// What is said of sparse factors where texla has none.
pub(in crate::solve) fn without_factors() -> Error {
    Error::Unsupported {
        what: "sparse factors".to_owned(),
        why: "texla was built without the feature `direct`".to_owned(),
    }
}

impl dyn Preconditioner + '_ {
    /// [`Preconditioner::apply`] by anybody's preconditioner.
    pub(in crate::solve) fn precondition(&self, z: &mut Vector, r: &Vector) -> Result<()> {
        keeping("Preconditioner::apply", z, |z| self.apply(z, r))
    }

    /// Whether it costs passes of its own beside those of an iteration.
    pub(in crate::solve) fn is_dear(&self) -> bool {
        !self.is_identity() && self.diagonal().is_none()
    }
}

/// `None` is the identity, for preconditioners that are chosen at run time.
///
/// ```
/// use texla::{BandedMatrix, Vector, solve::{CgParams, ConjugateGradient, Jacobi}};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let a = BandedMatrix::poisson_2d(dev, 16, 16)?;
/// let b = Vector::filled(dev, 256, 1.0)?;
/// for preconditioned in [false, true] {
///     let m = if preconditioned { Some(Jacobi::new(&a)?) } else { None };
///     let solver = ConjugateGradient::preconditioned(&a, m, CgParams::default())?;
///     assert!(solver.solve(&mut Vector::zeros(dev, 256)?, &b)?.converged());
/// }
/// # Ok::<(), texla::Error>(())
/// ```
#[deny(clippy::missing_trait_methods)]
impl<P: Preconditioner> Preconditioner for Option<P> {
    fn apply(&self, z: &mut Vector, r: &Vector) -> Result<()> {
        match self {
            None => Identity.apply(z, r),
            Some(m) => m.apply(z, r),
        }
    }

    fn diagonal(&self) -> Option<&Vector> {
        self.as_ref().and_then(P::diagonal)
    }

    fn is_identity(&self) -> bool {
        self.as_ref().is_none_or(P::is_identity)
    }

    fn is_replayable(&self) -> bool {
        self.as_ref().is_none_or(P::is_replayable)
    }

    fn on_host(&self) -> Option<&dyn HostInverse> {
        self.as_ref().and_then(P::on_host)
    }

    fn prefers_pairs(&self) -> bool {
        self.as_ref().is_some_and(P::prefers_pairs)
    }

    fn indefinite(&self) -> Option<String> {
        self.as_ref().and_then(P::indefinite)
    }
}

/// No preconditioner: `z = r`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Identity;

impl Preconditioner for Identity {
    fn apply(&self, z: &mut Vector, r: &Vector) -> Result<()> {
        ops::copy(z, r)
    }

    fn is_identity(&self) -> bool {
        true
    }
}
