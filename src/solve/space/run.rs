//! A recipe as the driver sees it.

use super::{Ends, Recipe, Space, Store};
use crate::data::Scalar;
use crate::error::Result;
use crate::solve::drive::iterate::Iterate;
use crate::solve::drive::state::{Bounds, Report};
use crate::solve::drive::{After, Method};
use crate::solve::precondition::Preconditioner;

/// What makes a recipe, and the places that it works on, in floats or in pairs.
pub(in crate::solve) type Made<'m, R> = dyn Fn(bool) -> Result<(Store, R)> + 'm;

/// A recipe at work.
pub(in crate::solve) struct Running<'m, R> {
    pub m: &'m dyn Preconditioner,
    pub store: Store,
    recipe: R,
    /// The recurrence in pairs may take over.
    widens: bool,
    make: Box<Made<'m, R>>,
    /// By what residuals were scaled when the direction was found.
    scale: f32,
}

impl<'m, R: Recipe + Ends> Running<'m, R> {
    pub fn new(
        m: &'m dyn Preconditioner,
        widens: bool,
        at: &Iterate<'_>,
        make: impl Fn(bool) -> Result<(Store, R)> + 'm,
    ) -> Result<Self> {
        let (store, recipe) = make(false)?;
        Ok(Running { m, store, recipe, widens, make: Box::new(make), scale: at.scale })
    }

    pub fn recipe_mut(&mut self) -> &mut R {
        &mut self.recipe
    }

    fn in_space<T>(
        &mut self,
        at: &mut Iterate<'_>,
        run: impl FnOnce(&mut R, &mut Space<'_, '_>) -> Result<T>,
    ) -> Result<T> {
        run(&mut self.recipe, &mut Space { at, m: self.m, own: &mut self.store })
    }
}

impl<R: Recipe + Ends> Method for Running<'_, R> {
    const NAME: &'static str = R::NAME;
    const GROWTH: f64 = R::GROWTH;

    fn restart(&mut self, at: &mut Iterate<'_>, bounds: Bounds, iterations: usize, keep: bool) -> Result<()> {
        let rescaled = at.take_rescaled();
        self.store.restart(bounds, iterations)?;
        let factor = at.scale / std::mem::replace(&mut self.scale, at.scale);
        let keep = keep && (!rescaled || self.store.is_wide());
        self.in_space(at, |recipe, space| {
            space.renewed()?;
            if keep && factor != 1.0 {
                recipe.rescale(space, factor)?;
            }
            recipe.begin(space, keep)
        })
    }

    fn iterate(&mut self, at: &mut Iterate<'_>) -> Result<()> {
        self.in_space(at, |recipe, space| {
            space.begins(false);
            space.iterated(recipe)
        })
    }

    fn finish(&mut self, at: &mut Iterate<'_>) -> Result<()> {
        self.in_space(at, |recipe, space| {
            space.settle()?;
            recipe.finish(space)
        })
    }

    fn dear(&self) -> bool {
        self.m.is_dear()
    }

    fn report(&self) -> &Scalar {
        self.store.report()
    }

    fn tests_before_updating(&self) -> bool {
        self.recipe.tests_before()
    }

    fn reports_bound(&self) -> bool {
        self.recipe.reports_bound(self.m.is_dear())
    }

    fn is_wide(&self) -> bool {
        self.store.is_wide()
    }

    fn widens(&self) -> bool {
        self.widens && !self.is_wide()
    }

    fn widen(&mut self, at: &mut Iterate<'_>) -> Result<()> {
        at.widen()?;
        (self.store, self.recipe) = (self.make)(true)?;
        self.scale = at.scale;
        Ok(())
    }

    fn loses_what_it_has(&self) -> bool {
        R::LOSES
    }

    fn spell(&self, is_double: bool) -> Option<usize> {
        self.recipe.spell(is_double && !self.dear() && !self.is_wide())
    }

    fn attempt(&mut self, failed: usize) {
        self.recipe.attempt(failed);
    }

    fn after(&mut self, last: &Report) -> After {
        self.recipe.after(last)
    }
}
