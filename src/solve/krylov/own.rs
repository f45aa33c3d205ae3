//! Krylov methods of the application's own.

use std::fmt::Debug;

use super::solver::{KrylovMethod, Parts, Runs};
use crate::error::Result;
use crate::ops::{LinOp, Windows};
use crate::solve::drive::check::check_square;
use crate::solve::drive::iterate::Iterate;
use crate::solve::drive::report::Stop;
use crate::solve::precondition::Preconditioner;
use crate::solve::space::{Ends, Options, Recipe, Running, Space, Store};

/// The parameters of a Krylov method of the application's own.
///
/// [`Own`] makes them the method of a [`Krylov`](crate::solve::Krylov) solver: certified residuals, verdicts, slices, reports, pairs of
/// floats and draw-buffer limits are those of the library's methods. See [adding a method](crate::guide::adding).
pub trait OwnMethod: Clone + Debug {
    /// The formulas.
    type Recipe: Recipe;

    /// The name of the solver, for errors.
    const NAME: &'static str;

    /// When iterations stop.
    fn stop(&self) -> Stop;

    /// The most iterations, less than 2²⁴.
    fn max_iters(&self) -> usize {
        20_000
    }

    /// Refuses operators and preconditioners for which the method is not made. By default operators that are not square.
    ///
    /// # Errors
    ///
    /// The implementation's; [`Error::Matrix`](crate::Error::Matrix) by default.
    fn check(&self, a: &dyn LinOp, m: &dyn Preconditioner) -> Result<()> {
        let _ = m;
        check_square(Self::NAME, a)
    }

    /// Makes the recipe, with its registers and numbers from `store`.
    ///
    /// # Errors
    ///
    /// Those of the store.
    fn recipe(&self, store: &mut Store) -> Result<Self::Recipe>;
}

/// A method of the application's own, as the method of a [`Krylov`](crate::solve::Krylov) solver.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Own<T>(pub T);

impl<T: OwnMethod> KrylovMethod for Own<T> {
    const NAME: &'static str = T::NAME;

    fn stop(&self) -> Stop {
        self.0.stop()
    }

    fn max_iters(&self) -> usize {
        self.0.max_iters()
    }

    fn check(&self, a: &dyn LinOp, m: &dyn Preconditioner) -> Result<()> {
        self.0.check(a, m)
    }
}

impl<T: OwnMethod> Runs for Own<T> {
    const SOLVE: &'static str = T::NAME;
    type Run<'r>
        = Running<'r, OwnRecipe<T::Recipe>>
    where
        Self: 'r;

    async fn start<'r>(solver: Parts<'r, Self>, at: &mut Iterate<'_>) -> Result<Self::Run<'r>> {
        let Parts { m, params, .. } = solver;
        Running::new(m, at.is_double(), at, move |wide| {
            let mut store = solver.store(Windows::Balanced, wide, Options::default())?.checking();
            let recipe = OwnRecipe(params.0.recipe(&mut store)?);
            Ok((store, recipe))
        })
    }
}

/// A recipe of the application's, whose iterations may be anything each time.
pub(in crate::solve) struct OwnRecipe<R>(R);

impl<R: Recipe> Recipe for OwnRecipe<R> {
    const NAME: &'static str = R::NAME;
    const GROWTH: f64 = R::GROWTH;
    const LOSES: bool = R::LOSES;

    fn begin(&mut self, s: &mut Space<'_, '_>, keeps: bool) -> Result<()> {
        self.0.begin(s, keeps)
    }

    fn iterate(&mut self, s: &mut Space<'_, '_>) -> Result<()> {
        self.0.iterate(s)
    }

    fn rescale(&mut self, s: &mut Space<'_, '_>, factor: f32) -> Result<()> {
        self.0.rescale(s, factor)
    }

    fn tests_before(&self) -> bool {
        self.0.tests_before()
    }
}

impl<R> Ends for OwnRecipe<R> {
    fn repeats(&self) -> bool {
        false
    }
}
