//! Methods and preconditioners by name, and a pair of them made ready for a matrix.

use std::rc::Rc;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::platform::Instant;
use crate::solve::drive::report::{SolveReport, Stop};
use crate::solve::held::HeldLinOp;
use crate::solve::krylov::{
    BiCgStab, BiCgStabParams, CgParams, Cgls, CglsParams, ConjugateGradient, Gmres, GmresParams, Minres,
    MinresParams, Recurrence,
};
use crate::solve::multigrid::{AggregationMultigrid, AggregationParams};
use crate::solve::precondition::{
    BlockJacobi, Chebyshev, ChebyshevParams, Fsai, Identity, IluParams, IncompleteCholesky, IncompleteLu,
    Jacobi, Preconditioner, Spai,
};

/// The methods of Krylov by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MethodKind {
    /// [`ConjugateGradient`], for symmetric positive definite matrices.
    Cg,
    /// [`Minres`], for symmetric ones.
    Minres,
    /// [`BiCgStab`], for square ones.
    BiCgStab,
    /// The same with polynomials of the second degree, [`BiCgStabParams::ell`].
    BiCgStab2,
    /// [`Gmres`], for square ones.
    Gmres,
    /// [`Cgls`], least squares of any shape.
    Cgls,
}

words!(MethodKind, "method": "cg" => Cg, "minres" => Minres, "bicgstab" => BiCgStab, "bicgstab2" => BiCgStab2, "gmres" => Gmres, "cgls" => Cgls);

/// The preconditioners by name, but for those that need to know a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PreconditionerKind {
    /// [`Identity`].
    None,
    /// [`Jacobi`]: for MINRES of absolute values, for least squares of the columns' norms.
    Jacobi,
    /// [`BlockJacobi`].
    BlockJacobi,
    /// [`Chebyshev`] with its default parameters.
    Chebyshev,
    /// [`Fsai`] on the pattern of the matrix.
    Fsai,
    /// [`Fsai`] on that of its square.
    FsaiSquared,
    /// [`Spai`] on the pattern of the matrix.
    Spai,
    /// [`Spai`] on that of its square.
    SpaiSquared,
    /// [`IncompleteLu`] on the pattern of the matrix, ILU(0).
    Ilu0,
    /// [`IncompleteLu`] with fill, ILUT.
    Ilut,
    /// [`IncompleteCholesky`].
    Ic0,
    /// [`AggregationMultigrid`] with its default parameters.
    Amg,
}

words!(PreconditionerKind, "preconditioner":
    "none" => None,
    "jacobi" => Jacobi,
    "block-jacobi" => BlockJacobi,
    "chebyshev" => Chebyshev,
    "fsai" => Fsai,
    "fsai2" => FsaiSquared,
    "spai" => Spai,
    "spai2" => SpaiSquared,
    "ilu0" => Ilu0,
    "ilut" => Ilut,
    "ic0" => Ic0,
    "amg" => Amg,
);

/// A method with a preconditioner, by name: what [`Auto`](super::Auto) chooses, and what one asks for to have the same again. It is
/// written in words, and read from them.
///
/// ```
/// use texla::{BandedMatrix, Vector, solve::{Choice, ChoiceParams, MethodKind, PreconditionerKind}};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let a = BandedMatrix::poisson_2d(dev, 16, 16)?;
/// let choice = Choice::new(MethodKind::Gmres, PreconditionerKind::Ilut).with_restart(20);
/// assert_eq!(choice.to_string(), "gmres(20) with ilut(20, 0.001) of matched rows");
/// assert_eq!("gmres(20) with ilut".parse::<Choice>()?, choice);
/// let solver = choice.prepare(&a, ChoiceParams::default())?;
/// let mut x = Vector::zeros(dev, 256)?;
/// let report = solver.solve(&mut x, &Vector::filled(dev, 256, 1.0)?)?;
/// assert!(report.converged() && report.iterations < 20, "{report}");
/// # Ok::<(), texla::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Choice {
    /// The method.
    pub method: MethodKind,
    /// The preconditioner.
    pub preconditioner: PreconditionerKind,
    /// Iterations of a cycle of [`Gmres`].
    pub restart: usize,
    /// Of [`IncompleteLu`]; ILU(0) has no fill, whatever this says.
    pub ilu: IluParams,
}

with!(Choice:
    with_restart(restart: usize),
    with_ilu(ilu: IluParams),
);

/// How far a [`Choice`] goes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ChoiceParams {
    /// Most iterations, less than 2²⁴.
    pub max_iters: usize,
    /// When to stop.
    pub stop: Stop,
    /// In what conjugate gradients iterate for unknowns that are pairs.
    pub recurrence: Recurrence,
}

with!(const ChoiceParams:
    with_max_iters(max_iters: usize),
    with_stop(stop: Stop),
    with_recurrence(recurrence: Recurrence),
);

impl Default for ChoiceParams {
    fn default() -> Self {
        ChoiceParams { max_iters: 20_000, stop: Stop::default(), recurrence: Recurrence::default() }
    }
}

impl Choice {
    /// These, with default parameters.
    pub fn new(method: MethodKind, preconditioner: PreconditionerKind) -> Self {
        let GmresParams { restart, .. } = GmresParams::default();
        Choice { method, preconditioner, restart, ilu: IluParams::default() }
    }

    /// Whether rows are matched to columns and scaled first.
    pub fn prepares(&self) -> bool {
        self.takes_rows() && self.ilu.prepared
    }

    /// Whether rows could be.
    pub(super) fn takes_rows(&self) -> bool {
        matches!(self.preconditioner, PreconditionerKind::Ilu0 | PreconditionerKind::Ilut)
    }

    /// Whether the preconditioner is more than a diagonal.
    pub(super) fn is_dear(&self) -> bool {
        !matches!(self.preconditioner, PreconditionerKind::None | PreconditionerKind::Jacobi)
    }

    /// The method with a preconditioner that is at hand, in place of the one that is named.
    ///
    /// *Errors*: those of the method.
    pub fn with_preconditioner<'a>(
        &self,
        a: impl Into<HeldLinOp<'a>>,
        m: Box<dyn Preconditioner + 'a>,
        params: ChoiceParams,
    ) -> Result<Chosen<'a>> {
        let made = Chosen { a: a.into(), m: m.into(), choice: *self, params, set_up: Duration::ZERO };
        made.checked()?;
        Ok(made)
    }

    /// Makes the preconditioner for a matrix, which may be most of the work. The matrix is borrowed or shared: see [`HeldLinOp`].
    ///
    /// *Errors*: those of the method and of the preconditioner, which say what they do not take.
    pub fn prepare<'a>(&self, a: impl Into<HeldLinOp<'a>>, params: ChoiceParams) -> Result<Chosen<'a>> {
        let a = a.into();
        // The method's own checks come before those of its preconditioner, and cost less.
        self.with_preconditioner(a.clone(), Box::new(Identity), params)?;
        let started = Instant::now();
        let m = self.preconditioner_for(&a)?;
        let set_up = started.elapsed();
        Ok(Chosen { set_up, ..self.with_preconditioner(a, m, params)? })
    }

    fn preconditioner_for<'a>(&self, held: &HeldLinOp<'a>) -> Result<Box<dyn Preconditioner + 'a>> {
        let a = &**held;
        let least_squares = self.method == MethodKind::Cgls;
        Ok(match self.preconditioner {
            PreconditionerKind::None => Box::new(Identity),
            PreconditionerKind::Jacobi => Box::new(match self.method {
                MethodKind::Cgls => Jacobi::for_least_squares(a)?,
                MethodKind::Minres => Jacobi::absolute(a)?,
                MethodKind::Cg => Jacobi::positive("Jacobi", a)?,
                _ => Jacobi::new(a)?,
            }),
            other if least_squares => {
                return Err(Error::Unsupported {
                    what: format!("{other} for least squares"),
                    why: "they ask for an inverse of AᵀA, and it is one of A; jacobi is one of its diagonal"
                        .to_owned(),
                });
            }
            PreconditionerKind::BlockJacobi => Box::new(BlockJacobi::new(a)?),
            PreconditionerKind::Chebyshev => {
                Box::new(Chebyshev::new(held.clone(), ChebyshevParams::default())?)
            }
            PreconditionerKind::Fsai => Box::new(Fsai::new(a, 1)?),
            PreconditionerKind::FsaiSquared => Box::new(Fsai::new(a, 2)?),
            PreconditionerKind::Spai => Box::new(Spai::new(a, 1)?),
            PreconditionerKind::SpaiSquared => Box::new(Spai::new(a, 2)?),
            PreconditionerKind::Ilu0 => Box::new(IncompleteLu::new(a, self.ilu.with_fill(0))?),
            PreconditionerKind::Ilut => Box::new(IncompleteLu::new(a, self.ilu)?),
            PreconditionerKind::Ic0 => Box::new(IncompleteCholesky::new(a, self.ilu.tolerance)?),
            PreconditionerKind::Amg => {
                Box::new(AggregationMultigrid::new(held.clone(), AggregationParams::default())?)
            }
        })
    }
}

/// A [`Choice`] made ready for a matrix; a clone shares what was made.
#[derive(Clone)]
pub struct Chosen<'a> {
    a: HeldLinOp<'a>,
    m: Rc<dyn Preconditioner + 'a>,
    choice: Choice,
    params: ChoiceParams,
    set_up: Duration,
}

shown!(Chosen<'_>, |s| "Chosen({}, {})", s.a.shape(), s.choice);

impl Chosen<'_> {
    /// What was chosen.
    pub fn choice(&self) -> Choice {
        self.choice
    }

    /// How long it took to make the preconditioner.
    pub fn set_up(&self) -> Duration {
        self.set_up
    }

    fn cg(&self) -> Result<ConjugateGradient<'_>> {
        let ChoiceParams { max_iters, stop, recurrence } = self.params;
        let params = CgParams { max_iters, stop, recurrence, ..CgParams::default() };
        ConjugateGradient::preconditioned(&*self.a, self.m.as_ref(), params)
    }

    fn minres(&self) -> Result<Minres<'_>> {
        let ChoiceParams { max_iters, stop, .. } = self.params;
        Minres::preconditioned(
            &*self.a,
            self.m.as_ref(),
            MinresParams { max_iters, stop, ..MinresParams::default() },
        )
    }

    fn bicgstab(&self) -> Result<BiCgStab<'_>> {
        let ChoiceParams { max_iters, stop, .. } = self.params;
        let ell = if self.choice.method == MethodKind::BiCgStab2 { 2 } else { 1 };
        let params = BiCgStabParams { max_iters, stop, ell, ..BiCgStabParams::default() };
        BiCgStab::preconditioned(&*self.a, self.m.as_ref(), params)
    }

    fn gmres(&self) -> Result<Gmres<'_>> {
        let ChoiceParams { max_iters, stop, .. } = self.params;
        let params = GmresParams { max_iters, stop, restart: self.choice.restart, ..GmresParams::default() };
        Gmres::preconditioned(&*self.a, self.m.as_ref(), params)
    }

    fn cgls(&self) -> Result<Cgls<'_>> {
        let ChoiceParams { max_iters, stop, .. } = self.params;
        Cgls::preconditioned(
            &*self.a,
            self.m.as_ref(),
            CglsParams { max_iters, stop, ..CglsParams::default() },
        )
    }

    fn checked(&self) -> Result<()> {
        match self.choice.method {
            MethodKind::Cg => self.cg().map(|_| ()),
            MethodKind::Minres => self.minres().map(|_| ()),
            MethodKind::BiCgStab | MethodKind::BiCgStab2 => self.bicgstab().map(|_| ()),
            MethodKind::Gmres => self.gmres().map(|_| ()),
            MethodKind::Cgls => self.cgls().map(|_| ()),
        }
    }

    solves! {
        /// Solves `A x = b`, from the initial guess in `x`, as the method does: [`ConjugateGradient::solve`] and so on.
        ///
        /// *Errors*: as of those.
        "iterations" => SolveReport, |solver, x, b, observe| {
            match solver.choice.method {
                MethodKind::Cg => solver.cg()?.solving(x, b, observe).await,
                MethodKind::Minres => solver.minres()?.solving(x, b, observe).await,
                MethodKind::BiCgStab | MethodKind::BiCgStab2 => solver.bicgstab()?.solving(x, b, observe).await,
                MethodKind::Gmres => solver.gmres()?.solving(x, b, observe).await,
                MethodKind::Cgls => solver.cgls()?.solving(x, b, observe).await,
            }
        }
    }

    /// The same with other limits, for a part of a longer solve.
    pub(super) fn limited(&mut self, max_iters: usize) {
        self.params.max_iters = max_iters;
    }
}
