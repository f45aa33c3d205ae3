//! The front of the Krylov methods: one solver, whose method is the type of its parameters.

use std::fmt;
use std::ops::{Deref, DerefMut};

use crate::data::Unknowns;
use crate::error::Result;
use crate::ops::{LinOp, Windows};
use crate::solve::drive::front::{self, Solver};
use crate::solve::drive::iterate::Iterate;
use crate::solve::drive::looks::Observer;
use crate::solve::drive::report::{HistoryPoint, SolveReport, Stop};
use crate::solve::drive::{Limits, Method};
use crate::solve::precondition::{Identity, Preconditioner};
use crate::solve::solving::Solving;
use crate::solve::space::{Iterations, Options, Store};

/// A solver of `A x = b` by the Krylov method whose parameters are `M`, with the preconditioner `P`.
///
/// | alias | parameters | for |
/// |---|---|---|
/// | [`ConjugateGradient`](crate::solve::ConjugateGradient) | [`CgParams`](crate::solve::CgParams) | symmetric positive definite matrices |
/// | [`FlexibleConjugateGradient`](crate::solve::FlexibleConjugateGradient) | [`FlexibleCgParams`](crate::solve::FlexibleCgParams) | the same, with preconditioners that vary |
/// | [`Minres`](crate::solve::Minres) | [`MinresParams`](crate::solve::MinresParams) | symmetric matrices |
/// | [`BiCgStab`](crate::solve::BiCgStab) | [`BiCgStabParams`](crate::solve::BiCgStabParams) | square matrices |
/// | [`Gmres`](crate::solve::Gmres) | [`GmresParams`](crate::solve::GmresParams) | square matrices |
/// | [`Cgls`](crate::solve::Cgls) | [`CglsParams`](crate::solve::CglsParams) | least squares with matrices of any shape |
///
/// The aliases describe the methods, what each refuses, and what an iteration costs.
///
/// # Ownership
///
/// `A` is any [`LinOp`] and `P` any [`Preconditioner`], by value or through a
/// [handle](crate::ops::Handle). The choice decides who owns the matrix; draws and bits are the same.
///
/// | argument | the solver | use |
/// |---|---|---|
/// | `&a` | borrows the matrix | within a function |
/// | `Rc` of it | shares it, and is `'static` | a struct that has the matrix and its solver |
/// | `a` | owns it; [`operator`](Self::operator) lends it | the matrix is needed nowhere else |
/// | `&dyn LinOp`, `Rc<dyn LinOp>`, `Box<dyn LinOp>` | as above | the kind of matrix is known at run time alone |
///
/// Solvers of an operator and a preconditioner that are `Clone` are `Clone`; references and `Rc` are.
/// A solver that borrows has no destructor of its own, so that the matrix may be changed or dropped
/// while the solver is in scope but not used any more. GL objects are freed with their last owner.
///
/// ```
/// use std::rc::Rc;
/// use texla::{BandedMatrix, Device, Vector, solve::{CgParams, ConjugateGradient, Jacobi}};
///
/// struct Heat {
///     a: Rc<BandedMatrix>,
///     solver: ConjugateGradient<Rc<BandedMatrix>, Jacobi>,
///     x: Vector,
/// }
///
/// impl Heat {
///     fn new(dev: &Device) -> texla::Result<Self> {
///         let a = Rc::new(BandedMatrix::poisson_2d(dev, 16, 16)?);
///         let m = Jacobi::new(&a)?; // reads the diagonal, and keeps nothing of the matrix
///         let solver = ConjugateGradient::preconditioned(a.clone(), m, CgParams::default())?;
///         Ok(Heat { a, solver, x: Vector::zeros(dev, 256)? })
///     }
///
///     fn step(&mut self, b: &Vector) -> texla::Result<usize> {
///         Ok(self.solver.solve(&mut self.x, b)?.iterations)
///     }
/// }
///
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let mut heat = Heat::new(dev)?;
/// let b = Vector::filled(dev, 256, 1.0)?;
/// assert!((10..50).contains(&heat.step(&b)?));
/// assert_eq!(heat.step(&b)?, 0); // begins at the solution
/// assert_eq!(heat.a.shape().rows, 256);
/// assert_eq!(Rc::strong_count(&heat.a), 2); // the field and the solver
/// # Ok::<(), texla::Error>(())
/// ```
///
/// # Reuse
///
/// Keep a solver for as long as its matrix: its first solve records the passes of an iteration, and later
/// ones replay them, with any `x` and any `b` of about the same norm (the same power of two); not of GMRES,
/// nor of a [recipe](crate::solve::Recipe) of a user's. On a GPU that takes a seventh off the time of a
/// small system.
/// Recordings keep the textures of the matrix and the preconditioner until the last clone of the solver is
/// dropped, or [`Device::trim`](crate::Device::trim) is called.
///
/// A struct that is to hold any matrix and any preconditioner names trait objects:
///
/// ```
/// use std::rc::Rc;
/// use texla::{BandedMatrix, Vector};
/// use texla::solve::{
///     AggregationMultigrid, AggregationParams, Gmres, GmresParams, LinOp, Preconditioner,
/// };
///
/// struct Any(Gmres<Rc<dyn LinOp>, Rc<dyn Preconditioner>>);
///
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let a: Rc<dyn LinOp> = Rc::new(BandedMatrix::poisson_2d(dev, 40, 40)?);
/// // A preconditioner that multiplies by the matrix shares it.
/// let m = AggregationMultigrid::new(a.clone(), AggregationParams::default())?;
/// let m: Rc<dyn Preconditioner> = Rc::new(m);
/// let any = Any(Gmres::preconditioned(a, m, GmresParams::default())?);
/// let report = any.0.solve(&mut Vector::zeros(dev, 1600)?, &Vector::filled(dev, 1600, 1.0)?)?;
/// assert!(report.converged() && report.iterations < 12, "{report}");
/// # Ok::<(), texla::Error>(())
/// ```
#[derive(Clone)]
pub struct Krylov<M, A, P = Identity> {
    params: M,
    a: A,
    m: P,
    iterations: Iterations,
}

/// A Krylov method, as the type of its parameters: which systems it takes, and when it stops.
///
/// [`Krylov`] solves by it. For the time being texla alone implements it.
#[expect(private_bounds, reason = "what runs a method is not public yet")]
pub trait KrylovMethod: Runs + Clone + fmt::Debug {
    /// The name of its solver, for errors and `Debug`.
    const NAME: &'static str;

    /// When iterations stop.
    fn stop(&self) -> Stop;

    /// The most iterations.
    fn max_iters(&self) -> usize;

    /// Refuses an operator, a preconditioner or parameters that the method is known not to work with.
    ///
    /// # Errors
    ///
    /// [`Error::Matrix`](crate::Error::Matrix), [`Error::Parameter`](crate::Error::Parameter),
    /// [`Error::Unsupported`](crate::Error::Unsupported).
    fn check(&self, a: &dyn LinOp, m: &dyn Preconditioner) -> Result<()>;
}

/// How a method begins a run.
pub(in crate::solve) trait Runs: Sized {
    /// The name of the solver's `solve`, for errors.
    const SOLVE: &'static str;

    /// A recurrence under way.
    type Run<'r>: Method
    where
        Self: 'r;

    /// Sets up a run for an iterate whose residual is not known yet.
    async fn start<'r>(solver: Parts<'r, Self>, at: &mut Iterate<'_>) -> Result<Self::Run<'r>>;
}

/// Parameters, operator and preconditioner of a [`Krylov`], whatever types it has them by: methods are
/// compiled for these once.
pub(in crate::solve) struct Parts<'s, M> {
    pub a: &'s dyn LinOp,
    pub m: &'s dyn Preconditioner,
    pub params: &'s M,
    /// Iterations as they have been drawn.
    pub iterations: &'s Iterations,
}

impl<M> Clone for Parts<'_, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for Parts<'_, M> {}

impl<M> Parts<'_, M> {
    /// Where a recipe keeps what it has, with the iterations that have been drawn.
    pub fn store(&self, windows: Windows, wide: bool, options: Options) -> Result<Store> {
        Ok(Store::new(self.a.device(), windows, wide, options)?.keeping(self.iterations))
    }
}

impl<M: KrylovMethod> Parts<'_, M> {
    async fn solve<X: Unknowns, B: Unknowns>(
        self,
        x: &mut X,
        b: &B,
        observe: &mut Observer<'_>,
    ) -> Result<SolveReport> {
        let limits = Limits { stop: self.params.stop(), max_iters: self.params.max_iters() };
        front::solve(M::SOLVE, (self.a, x, b), limits, observe, async |at| {
            at.correct_start(self.m, limits.stop.relative)?;
            M::start(self, at).await
        })
        .await
    }
}

impl<M: KrylovMethod, A: LinOp> Krylov<M, A> {
    /// Makes a solver without preconditioner.
    ///
    /// # Errors
    ///
    /// [`Error::Matrix`](crate::Error::Matrix) for an operator that the method is known not to work with,
    /// such as one that is not square; [`Error::Parameter`](crate::Error::Parameter). The method's page
    /// says more.
    pub fn new(a: A, params: M) -> Result<Self> {
        Self::preconditioned(a, Identity, params)
    }
}

impl<M: KrylovMethod, A: LinOp, P: Preconditioner> Krylov<M, A, P> {
    /// Makes a solver with a preconditioner.
    ///
    /// # Errors
    ///
    /// As [`new`](Krylov::new), and [`Error::Unsupported`](crate::Error::Unsupported) for a preconditioner
    /// that the method is known not to work with, such as one that is
    /// [not definite](Preconditioner::indefinite).
    pub fn preconditioned(a: A, m: P, params: M) -> Result<Self> {
        params.stop().check(M::NAME)?;
        params.check(&a, &m)?;
        Ok(Krylov { params, a, m, iterations: Iterations::default() })
    }

    /// Returns the operator.
    pub fn operator(&self) -> &A {
        &self.a
    }

    /// Returns the preconditioner.
    pub fn preconditioner(&self) -> &P {
        &self.m
    }

    /// Returns the parameters.
    pub fn params(&self) -> &M {
        &self.params
    }

    /// Solves `A x = b` from the initial guess in `x`; [`Cgls`](crate::solve::Cgls) minimises `‖b - A x‖`.
    ///
    /// For an operator with a [null space](LinOp::null_space), the solution is the one orthogonal to it.
    /// Not converging is no error, nor is a breakdown: see [`SolveReport::reason`].
    ///
    /// # Errors
    ///
    /// After any of them `x` is as it was.
    ///
    /// - [`Error::ShapeMismatch`](crate::Error::ShapeMismatch), [`Error::WrongDevice`](crate::Error::WrongDevice)
    ///   for operands that do not fit;
    /// - [`Error::NonFinite`](crate::Error::NonFinite) for an `x` or a `b` with a NaN or an infinity;
    /// - [`Error::Inconsistent`](crate::Error::Inconsistent) for a `b` with a part in the null space, but of
    ///   least squares;
    /// - [`Error::Unsupported`](crate::Error::Unsupported) for [pairs](crate::DoubleVector) where the operator
    ///   or the device has no exact product, and for a `b` of pairs with an `x` of 32 bits;
    /// - [`Error::TooLarge`](crate::Error::TooLarge), [`Error::OutOfMemory`](crate::Error::OutOfMemory) for the
    ///   method's vectors;
    /// - what the method's page names.
    pub fn solve<X: Unknowns, B: Unknowns>(&self, x: &mut X, b: &B) -> Result<SolveReport> {
        self.solve_observed(x, b, |_| {})
    }

    /// Solves as [`solve`](Self::solve) does, and calls `observe` at every poll with the number of iterations
    /// and the relative residual by the recurrence.
    ///
    /// # Errors
    ///
    /// As [`solve`](Self::solve).
    pub fn solve_observed<X: Unknowns, B: Unknowns>(
        &self,
        x: &mut X,
        b: &B,
        mut observe: impl FnMut(HistoryPoint),
    ) -> Result<SolveReport> {
        front::run(self, x, b, &mut observe)
    }

    /// Begins the same solve, to be advanced a [slice](crate::solve::Slice) at a time: see [`Solving`].
    ///
    /// `x` and `b` are borrowed (`&mut x`, `&b`) or owned (boxed, and `b` in an `Rc` too). The solver is
    /// cloned: with an operator and a preconditioner by reference or `Rc` that copies handles.
    ///
    /// # Cost
    ///
    /// Nothing is drawn, nor refused, before the first slice.
    pub fn begin<'s, X, B>(&self, x: X, b: B) -> Solving<'s, X, SolveReport>
    where
        Self: Clone + 's,
        X: DerefMut<Target: Unknowns + Sized> + 's,
        B: Deref<Target: Unknowns + Sized> + 's,
    {
        front::begin(self.a.device(), self.clone(), x, b)
    }

    /// How many iterations are recorded.
    #[cfg(test)]
    pub(crate) fn recorded(&self) -> usize {
        self.iterations.count()
    }

    pub(super) fn parts(&self) -> Parts<'_, M> {
        Parts { a: &self.a, m: &self.m, params: &self.params, iterations: &self.iterations }
    }
}

impl<M: KrylovMethod, A: LinOp, P: Preconditioner> Solver for Krylov<M, A, P> {
    type Report = SolveReport;

    async fn solving<X: Unknowns, B: Unknowns>(
        &self,
        x: &mut X,
        b: &B,
        observe: &mut Observer<'_>,
    ) -> Result<SolveReport> {
        self.parts().solve(x, b, observe).await
    }
}

shown!([M: KrylovMethod, A: LinOp, P] Krylov<M, A, P>, |s| "{}({}, {:?})", M::NAME, s.a.shape(), s.params);
