//! A preconditioner by its name, made for a matrix.

use crate::data::Vector;
use crate::error::{Error, Result};
use crate::ops::LinOp;
use crate::solve::auto::choice::{Choice, MethodKind, PreconditionerKind};
use crate::solve::multigrid::{
    AggregationMultigrid, AggregationParams, Multigrid, MultigridParams, SaddlePoint,
};
#[cfg(feature = "direct")]
use crate::solve::precondition::SparseFactors;
#[cfg(not(feature = "direct"))]
use crate::solve::precondition::without_factors;
use crate::solve::precondition::{
    BlockJacobi, Chebyshev, ChebyshevParams, Fsai, HostInverse, Identity, IncompleteCholesky, IncompleteLu,
    Jacobi, Preconditioner, Spai,
};

/// What has been made, and what of it multiplies by the matrix.
pub(super) enum Made<A> {
    Alone(Box<dyn Preconditioner>),
    Chebyshev(Box<Chebyshev<A>>),
    Amg(Box<AggregationMultigrid<A>>),
}

impl<A: LinOp> Made<A> {
    /// What a choice names, and what an application of it costs, in products, where that varies.
    pub fn new(choice: &Choice, a: A) -> Result<(Self, Option<f64>)> {
        let kind = choice.preconditioner;
        let diagonal = matches!(kind, PreconditionerKind::None | PreconditionerKind::Jacobi);
        if choice.method == MethodKind::Cgls && !diagonal {
            return Err(Error::Unsupported {
                what: format!("{kind} for least squares"),
                why: "they ask for an inverse of AᵀA, and it is one of A; jacobi is one of its diagonal"
                    .to_owned(),
            });
        }
        let alone: Box<dyn Preconditioner> = match kind {
            PreconditionerKind::None => Box::new(Identity),
            PreconditionerKind::Jacobi => Box::new(match choice.method {
                MethodKind::Cgls => Jacobi::for_least_squares(&a)?,
                MethodKind::Minres => Jacobi::absolute(&a)?,
                MethodKind::Cg => Jacobi::positive("Jacobi", &a)?,
                _ => Jacobi::new(&a)?,
            }),
            PreconditionerKind::BlockJacobi => Box::new(BlockJacobi::new(&a)?),
            PreconditionerKind::Fsai => Box::new(Fsai::new(&a, 1)?),
            PreconditionerKind::FsaiSquared => Box::new(Fsai::new(&a, 2)?),
            PreconditionerKind::Spai => Box::new(Spai::new(&a, 1)?),
            PreconditionerKind::SpaiSquared => Box::new(Spai::new(&a, 2)?),
            PreconditionerKind::Ilu0 | PreconditionerKind::Ilut => {
                let none = kind == PreconditionerKind::Ilu0;
                let params = if none { choice.ilu.with_fill(0) } else { choice.ilu };
                let m = IncompleteLu::new(&a, params)?;
                let products = a.pattern().map(|a| m.multiplications() / a.nnz().max(1) as f64);
                return Ok((Made::Alone(Box::new(m)), products));
            }
            PreconditionerKind::Ic0 => Box::new(IncompleteCholesky::new(&a, choice.ilu.tolerance)?),
            PreconditionerKind::Chebyshev => {
                let m = Chebyshev::new(a, ChebyshevParams::default())?;
                return Ok((Made::Chebyshev(Box::new(m)), None));
            }
            PreconditionerKind::Amg => {
                let m = AggregationMultigrid::new(a, AggregationParams::default())?;
                return Ok((Made::Amg(Box::new(m)), None));
            }
            PreconditionerKind::Saddle => Box::new(SaddlePoint::new(&a)?),
            PreconditionerKind::Geometric => Box::new(Multigrid::of_matrix(&a, MultigridParams::default())?),
            #[cfg(feature = "direct")]
            PreconditionerKind::Factors => Box::new(SparseFactors::feasible(&a)?),
            #[cfg(not(feature = "direct"))]
            PreconditionerKind::Factors => return Err(without_factors()),
        };
        Ok((Made::Alone(alone), None))
    }

    fn inner(&self) -> &dyn Preconditioner {
        match self {
            Made::Alone(m) => m.as_ref(),
            Made::Chebyshev(m) => m.as_ref(),
            Made::Amg(m) => m.as_ref(),
        }
    }
}

impl<A: LinOp> Preconditioner for Made<A> {
    fn apply(&self, z: &mut Vector, r: &Vector) -> Result<()> {
        self.inner().apply(z, r)
    }

    fn diagonal(&self) -> Option<&Vector> {
        self.inner().diagonal()
    }

    fn is_identity(&self) -> bool {
        self.inner().is_identity()
    }

    fn is_replayable(&self) -> bool {
        self.inner().is_replayable()
    }

    fn on_host(&self) -> Option<&dyn HostInverse> {
        self.inner().on_host()
    }

    fn prefers_pairs(&self) -> bool {
        self.inner().prefers_pairs()
    }

    fn indefinite(&self) -> Option<String> {
        self.inner().indefinite()
    }
}
