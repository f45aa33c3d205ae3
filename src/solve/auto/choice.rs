//! Methods and preconditioners by name, and a pair of them made ready for a matrix.

use std::ops::{Deref, DerefMut};
use std::rc::Rc;
use std::time::Duration;

use super::made::Made;
use crate::data::Unknowns;
use crate::error::Result;
use crate::ops::LinOp;
use crate::platform::Instant;
use crate::solve::drive::front::{self, Solver};
use crate::solve::drive::looks::Observer;
use crate::solve::drive::report::{HistoryPoint, SolveReport, Stop};
use crate::solve::krylov::{
    BiCgStabParams, CgParams, CglsParams, GmresParams, Krylov, KrylovMethod, MinresParams, Recurrence,
};
use crate::solve::precondition::{Identity, IluParams, Preconditioner};
use crate::solve::solving::Solving;

/// The methods of Krylov by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MethodKind {
    /// [`ConjugateGradient`](crate::solve::ConjugateGradient), for symmetric positive definite matrices.
    Cg,
    /// [`Minres`](crate::solve::Minres), for symmetric ones.
    Minres,
    /// [`BiCgStab`](crate::solve::BiCgStab), for square ones.
    BiCgStab,
    /// The same with polynomials of the second degree, [`BiCgStabParams::ell`].
    BiCgStab2,
    /// [`Gmres`](crate::solve::Gmres), for square ones.
    Gmres,
    /// [`Cgls`](crate::solve::Cgls), least squares of any shape.
    Cgls,
}

words!(MethodKind, "method": "cg" => Cg, "minres" => Minres, "bicgstab" => BiCgStab, "bicgstab2" => BiCgStab2, "gmres" => Gmres, "cgls" => Cgls);

/// The preconditioners by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PreconditionerKind {
    /// [`Identity`].
    None,
    /// [`Jacobi`](crate::solve::Jacobi): for MINRES of absolute values, for least squares of the columns' norms.
    Jacobi,
    /// [`BlockJacobi`](crate::solve::BlockJacobi).
    BlockJacobi,
    /// [`Chebyshev`](crate::solve::Chebyshev) with its default parameters.
    Chebyshev,
    /// [`Fsai`](crate::solve::Fsai) on the pattern of the matrix.
    Fsai,
    /// [`Fsai`](crate::solve::Fsai) on that of its square.
    FsaiSquared,
    /// [`Spai`](crate::solve::Spai) on the pattern of the matrix.
    Spai,
    /// [`Spai`](crate::solve::Spai) on that of its square.
    SpaiSquared,
    /// [`IncompleteLu`](crate::solve::IncompleteLu) on the pattern of the matrix, ILU(0).
    Ilu0,
    /// [`IncompleteLu`](crate::solve::IncompleteLu) with fill, ILUT.
    Ilut,
    /// [`IncompleteCholesky`](crate::solve::IncompleteCholesky).
    Ic0,
    /// [`AggregationMultigrid`](crate::solve::AggregationMultigrid) with its default parameters.
    Amg,
    /// [`SaddlePoint`](crate::solve::SaddlePoint).
    Saddle,
    /// [`Multigrid::of_matrix`](crate::solve::Multigrid::of_matrix), on the grid found in the entries.
    Geometric,
    /// [`SparseFactors`](crate::solve::SparseFactors), where they are [feasible](crate::host::DirectPlan::is_feasible) (feature
    /// `direct`).
    Factors,
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
    "saddle" => Saddle,
    "geometric" => Geometric,
    "factors" => Factors,
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
    /// Iterations of a cycle of [`Gmres`](crate::solve::Gmres).
    pub restart: usize,
    /// Of [`IncompleteLu`](crate::solve::IncompleteLu); ILU(0) has no fill, whatever this says.
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
        a: impl LinOp + 'a,
        m: impl Preconditioner + 'a,
        params: ChoiceParams,
    ) -> Result<Chosen<'a>> {
        self.chosen(Rc::new(a), Rc::new(m), params)
    }

    /// Makes the preconditioner for a matrix, which may be most of the work. The matrix is borrowed, shared or owned: see
    /// [`Krylov`](crate::solve::Krylov#ownership).
    ///
    /// *Errors*: those of the method and of the preconditioner, which say what they do not take.
    pub fn prepare<'a>(&self, a: impl LinOp + 'a, params: ChoiceParams) -> Result<Chosen<'a>> {
        let a: Rc<dyn LinOp + 'a> = Rc::new(a);
        // The method's own checks come before those of its preconditioner, and cost less.
        self.check(&a, params)?;
        let started = Instant::now();
        let (m, _) = Made::new(self, Rc::clone(&a))?;
        let set_up = started.elapsed();
        Ok(Chosen { set_up, ..self.chosen(a, Rc::new(m), params)? })
    }

    /// Refuses what the method is known not to work with, before a preconditioner is made.
    pub(super) fn check(&self, a: &dyn LinOp, params: ChoiceParams) -> Result<()> {
        self.chosen(Rc::new(a), Rc::new(Identity), params).map(|_| ())
    }

    pub(super) fn chosen<'a>(
        &self,
        a: Rc<dyn LinOp + 'a>,
        m: Rc<dyn Preconditioner + 'a>,
        params: ChoiceParams,
    ) -> Result<Chosen<'a>> {
        let made = Chosen { a, m, choice: *self, params, set_up: Duration::ZERO };
        made.checked()?;
        Ok(made)
    }
}

/// A method for the operands of a [`Chosen`].
type Prepared<'s, M> = Krylov<M, &'s dyn LinOp, &'s dyn Preconditioner>;

/// A [`Choice`] made ready for a matrix; a clone shares what was made.
#[derive(Clone)]
pub struct Chosen<'a> {
    a: Rc<dyn LinOp + 'a>,
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

    fn by<M: KrylovMethod>(&self, params: M) -> Result<Prepared<'_, M>> {
        Krylov::preconditioned(&*self.a, &*self.m, params)
    }

    fn cg(&self) -> Result<Prepared<'_, CgParams>> {
        let ChoiceParams { max_iters, stop, recurrence } = self.params;
        self.by(CgParams { max_iters, stop, recurrence, ..CgParams::default() })
    }

    fn minres(&self) -> Result<Prepared<'_, MinresParams>> {
        let ChoiceParams { max_iters, stop, .. } = self.params;
        self.by(MinresParams { max_iters, stop, ..MinresParams::default() })
    }

    fn bicgstab(&self) -> Result<Prepared<'_, BiCgStabParams>> {
        let ChoiceParams { max_iters, stop, .. } = self.params;
        let ell = if self.choice.method == MethodKind::BiCgStab2 { 2 } else { 1 };
        self.by(BiCgStabParams { max_iters, stop, ell, ..BiCgStabParams::default() })
    }

    fn gmres(&self) -> Result<Prepared<'_, GmresParams>> {
        let ChoiceParams { max_iters, stop, .. } = self.params;
        self.by(GmresParams { max_iters, stop, restart: self.choice.restart, ..GmresParams::default() })
    }

    fn cgls(&self) -> Result<Prepared<'_, CglsParams>> {
        let ChoiceParams { max_iters, stop, .. } = self.params;
        self.by(CglsParams { max_iters, stop, ..CglsParams::default() })
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

    /// Solves `A x = b`, from the initial guess in `x`, as the method does: [`Krylov::solve`].
    ///
    /// # Errors
    ///
    /// As there.
    pub fn solve<X: Unknowns, B: Unknowns>(&self, x: &mut X, b: &B) -> Result<SolveReport> {
        self.solve_observed(x, b, |_| {})
    }

    /// Solves as [`solve`](Self::solve) does, and calls `observe` at every poll with the number of
    /// iterations and the relative residual.
    pub fn solve_observed<X: Unknowns, B: Unknowns>(
        &self,
        x: &mut X,
        b: &B,
        mut observe: impl FnMut(HistoryPoint),
    ) -> Result<SolveReport> {
        front::run(self, x, b, &mut observe)
    }

    /// Begins the same solve, to be advanced a [slice](crate::solve::Slice) at a time: see
    /// [`Krylov::begin`](crate::solve::Krylov::begin).
    pub fn begin<'s, X, B>(&self, x: X, b: B) -> Solving<'s, X, SolveReport>
    where
        Self: 's,
        X: DerefMut<Target: Unknowns + Sized> + 's,
        B: Deref<Target: Unknowns + Sized> + 's,
    {
        front::begin(self.a.device(), self.clone(), x, b)
    }

    /// The same, whose preconditioner has taken that long to make.
    pub(super) fn after(self, set_up: Duration) -> Self {
        Chosen { set_up, ..self }
    }

    /// The same with other limits, for a part of a longer solve.
    pub(super) fn limited(&mut self, max_iters: usize, within: Option<Duration>) {
        self.params.max_iters = max_iters;
        self.params.stop.within = within;
    }
}

impl Solver for Chosen<'_> {
    type Report = SolveReport;

    async fn solving<X: Unknowns, B: Unknowns>(
        &self,
        x: &mut X,
        b: &B,
        observe: &mut Observer<'_>,
    ) -> Result<SolveReport> {
        match self.choice.method {
            MethodKind::Cg => self.cg()?.solving(x, b, observe).await,
            MethodKind::Minres => self.minres()?.solving(x, b, observe).await,
            MethodKind::BiCgStab | MethodKind::BiCgStab2 => self.bicgstab()?.solving(x, b, observe).await,
            MethodKind::Gmres => self.gmres()?.solving(x, b, observe).await,
            MethodKind::Cgls => self.cgls()?.solving(x, b, observe).await,
        }
    }
}
