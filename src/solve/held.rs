//! What solvers keep of what they are made of: borrowed, or shared.

use std::ops::Deref;
use std::rc::Rc;

use super::{Preconditioner, Smoother, Sweepable};
use crate::ops::LinOp;

/// Borrowed for `'a`, or shared. They are of two types so that what is shared is `'static`: with an `Rc<T>` of the borrowed
/// one, dropping a solver would be a use of what it borrows, and programs that only borrow would no longer compile (a solve
/// that ends a function in the edition of 2021; a matrix that is changed while its solver is still in scope).
enum Hold<'a, T: ?Sized, S: ?Sized> {
    Borrowed(&'a T),
    Shared(Rc<S>),
}

impl<T: ?Sized, S: ?Sized> Clone for Hold<'_, T, S> {
    fn clone(&self) -> Self {
        match self {
            Hold::Borrowed(held) => Hold::Borrowed(held),
            Hold::Shared(held) => Hold::Shared(Rc::clone(held)),
        }
    }
}

/// A reference or a handle to anything that has a trait.
macro_rules! held {
    ($(#[$about:meta])* $held:ident, $of:ident) => {
        $(#[$about])*
        #[derive(Clone)]
        pub struct $held<'a>(Hold<'a, dyn $of + 'a, dyn $of>);

        shown!($held<'_>, |held| "{}({})", stringify!($held), match held.0 {
            Hold::Borrowed(_) => "borrowed",
            Hold::Shared(_) => "shared",
        });

        impl<'a> Deref for $held<'a> {
            type Target = dyn $of + 'a;

            fn deref(&self) -> &Self::Target {
                match &self.0 {
                    Hold::Borrowed(held) => *held,
                    Hold::Shared(held) => held.as_ref(),
                }
            }
        }

        impl<'a, T: $of> From<&'a T> for $held<'a> {
            fn from(held: &'a T) -> Self {
                $held(Hold::Borrowed(held))
            }
        }

        impl<'a> From<&'a (dyn $of + 'a)> for $held<'a> {
            fn from(held: &'a (dyn $of + 'a)) -> Self {
                $held(Hold::Borrowed(held))
            }
        }

        impl<T: $of + 'static> From<Rc<T>> for $held<'_> {
            fn from(held: Rc<T>) -> Self {
                $held(Hold::Shared(held))
            }
        }

        impl From<Rc<dyn $of>> for $held<'_> {
            fn from(held: Rc<dyn $of>) -> Self {
                $held(Hold::Shared(held))
            }
        }
    };
}

held! {
    /// The operator of a solver or preconditioner: borrowed (`&a`), or shared (`Rc`).
    ///
    /// What takes an operator takes `impl Into<HeldLinOp>`, so that this name is seldom written. Of `&a` comes a solver
    /// that borrows it. Of an [`Rc`] comes one that holds what it needs, such as a `ConjugateGradient<'static>`, which a
    /// struct of the application can have beside the matrix; with `Rc::new(a)` and no other handle the solver is the only owner. The draws
    /// are the same, and so are the bits.
    ///
    /// What is shared borrows nothing itself (it is `'static`): so a solver that borrows can be dropped after what it has
    /// borrowed, as a reference can. A `Box<dyn LinOp>` becomes an `Rc` by [`Rc::from`], and of a matrix in a box or an `Rc`
    /// that is only to be borrowed one writes `&*a`.
    ///
    /// *Cost*: none. GL objects go with the last owner, in whatever order owners drop.
    ///
    /// ```
    /// use std::rc::Rc;
    /// use texla::{BandedMatrix, Device, Vector, solve::{CgParams, ConjugateGradient, Jacobi}};
    ///
    /// struct Heat {
    ///     a: Rc<BandedMatrix>,
    ///     solver: ConjugateGradient<'static>,
    ///     x: Vector,
    /// }
    ///
    /// impl Heat {
    ///     fn new(dev: &Device) -> texla::Result<Self> {
    ///         let a = Rc::new(BandedMatrix::poisson_2d(dev, 16, 16)?);
    ///         let m = Rc::new(Jacobi::new(&*a)?); // made of it, not kept: it is asked once
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
    /// assert_eq!(heat.step(&b)?, 0); // it goes on from the solution
    /// assert_eq!(heat.a.shape().rows, 256);
    /// assert_eq!(Rc::strong_count(&heat.a), 2); // the field and the solver
    /// # Ok::<(), texla::Error>(())
    /// ```
    HeldLinOp, LinOp
}

held! {
    /// The preconditioner of a solver: borrowed (`&m`), or shared (`Rc`), as [`HeldLinOp`] is.
    ///
    /// ```
    /// use std::rc::Rc;
    /// use texla::{BandedMatrix, Vector};
    /// use texla::solve::{AggregationMultigrid, AggregationParams, Gmres, GmresParams, Preconditioner};
    /// # let ctx = texla::Headless::new(Default::default())?;
    /// # let dev = ctx.device();
    /// let a = Rc::new(BandedMatrix::poisson_2d(dev, 40, 40)?);
    /// // A preconditioner that multiplies holds the matrix as well.
    /// let m: Rc<dyn Preconditioner> = Rc::new(AggregationMultigrid::new(a.clone(), AggregationParams::default())?);
    /// let solver: Gmres<'static> = Gmres::preconditioned(a, m, GmresParams::default())?;
    /// let report = solver.solve(&mut Vector::zeros(dev, 1600)?, &Vector::filled(dev, 1600, 1.0)?)?;
    /// assert!(report.converged() && report.iterations < 12, "{report}");
    /// # Ok::<(), texla::Error>(())
    /// ```
    HeldPreconditioner, Preconditioner
}

held! {
    /// The smoother of [`Stationary`](super::Stationary): borrowed, or shared, as [`HeldLinOp`] is.
    HeldSmoother, Smoother
}

held! {
    /// The operator of [`GaussSeidel`](super::GaussSeidel): borrowed, or shared, as [`HeldLinOp`] is.
    HeldSweepable, Sweepable
}
