//! A solve under way: what is still to be tried, for how long, and what has been.

use std::collections::VecDeque;
use std::time::Duration;

use super::choice::{Choice, ChoiceParams, MethodKind, PreconditionerKind};
use super::memory::{Makes, Ready};
use super::{AutoEvent, GivenUp, Tried};
use crate::error::{Error, Result};
use crate::ops::LinOp;
use crate::solve::drive::report::{SolveReport, StopReason};
use crate::solve::drive::slices::Stopwatch;

/// A solve under way: what is still to be tried, and what has been.
pub(super) struct Course<'m, 's> {
    maker: &'m dyn Makes<'s>,
    waiting: VecDeque<Choice>,
    /// Choices whose share was short because of what they cost: what is left before the spare ones.
    again: VecDeque<Choice>,
    spare: VecDeque<Choice>,
    /// What has been made, and waits for what costs less.
    aside: Option<(Choice, Ready<'s>)>,
    pub tried: Vec<Tried>,
    /// The error of what was refused last.
    pub refused: Option<Error>,
    /// Iterations of all that was tried.
    pub done: usize,
    pub clock: Stopwatch,
}

/// A choice whose turn it is.
pub(super) struct Next {
    pub choice: Choice,
    /// What it costs shortens its share.
    pub by_cost: bool,
    pub is_last: bool,
}

impl<'m, 's> Course<'m, 's> {
    pub fn new(maker: &'m dyn Makes<'s>, waiting: VecDeque<Choice>, spare: VecDeque<Choice>) -> Self {
        let (again, tried) = (VecDeque::new(), Vec::new());
        let clock = Stopwatch::start();
        Course { maker, waiting, again, spare, aside: None, tried, refused: None, done: 0, clock }
    }

    pub fn next(&mut self) -> Option<Next> {
        let first = self.waiting.pop_front();
        let by_cost = first.is_some();
        let choice = match first.or_else(|| self.again.pop_front()) {
            Some(choice) => choice,
            // GMRES without help is left where nothing could be set up.
            None if self.spare.len() > 1 => {
                let gmres = self.spare.pop_front()?;
                let known = self.has_ended() || self.tried.iter().any(|tried| tried.choice == gmres);
                if known { self.spare.pop_front()? } else { gmres }
            }
            None => self.spare.pop_front()?,
        };
        let is_last = self.waiting.is_empty() && self.again.is_empty() && self.spare.is_empty();
        Some(Next { choice, by_cost, is_last })
    }

    /// The preconditioner of a choice.
    pub fn prepared(&mut self, a: &dyn LinOp, choice: Choice, params: ChoiceParams) -> Result<Ready<'s>> {
        if let Some((_, ready)) = self.aside.take_if(|(known, _)| *known == choice) {
            return Ok(ready);
        }
        self.maker.announce(&AutoEvent::Begins(choice));
        choice.check(a, params)?;
        self.maker.make(&choice)
    }

    pub fn give_up(&mut self, choice: Choice, [set_up, solving]: [Duration; 2], why: GivenUp) {
        if let GivenUp::Refused(error) = &why {
            self.refused = Some(error.clone());
        }
        let tried = Tried { choice, set_up, solving, why };
        self.maker.announce(&AutoEvent::GivenUp(&tried));
        self.maker.remember(choice, false);
        self.tried.push(tried);
    }

    /// What a run that has not led to the end says of others; its share may have been cut short by its cost.
    pub fn learn(&mut self, choice: Choice, solved: &SolveReport, was_short: bool) {
        if choice.method == MethodKind::Cg && has_negative_curvature(solved) {
            self.is_indefinite();
        }
        if was_short && solved.reason == StopReason::MaxIterations {
            self.again.push_back(choice);
        }
    }

    pub fn has_ended(&self) -> bool {
        self.tried.iter().any(|tried| matches!(tried.why, GivenUp::Ended(_)))
    }

    /// What costs so much to apply waits for what costs little. Whether it does.
    pub fn defers(&mut self, choice: Choice, ready: &Ready<'s>) -> bool {
        let cheap = Choice::new(MethodKind::BiCgStab2, PreconditionerKind::Jacobi);
        let at = self.waiting.iter().position(|waiting| *waiting == cheap);
        let (true, Some(at)) = (ready.products.is_some_and(|p| p > MOST_PRODUCTS), at) else { return false };
        self.waiting.remove(at);
        self.waiting.push_front(choice);
        self.waiting.push_front(cheap);
        self.aside = Some((choice, ready.clone()));
        true
    }

    /// Iterations in which a choice has to show that it is the better one, by what costs more and waits: for 200 cycles' worth of
    /// products, one cycle at least; without multigrid a hundred.
    pub fn few(&self, choice: Choice, products: Option<f64>) -> usize {
        let multigrid = Choice::new(MethodKind::Cg, PreconditionerKind::Amg);
        match (choice.method, products) {
            (MethodKind::Gmres, Some(products)) => {
                ((200.0 / (1.0 + products)).min(10.0) as usize).max(1) * choice.restart
            }
            (MethodKind::Cg, _) if !choice.is_dear() && self.waiting.contains(&multigrid) => 100,
            _ => usize::MAX,
        }
    }

    /// Conjugate gradients have met a direction of negative curvature: MINRES is what such matrices take.
    fn is_indefinite(&mut self) {
        self.waiting.retain(|choice| choice.method != MethodKind::Cg);
        if let Some(at) = self.waiting.iter().position(|choice| choice.method == MethodKind::Minres)
            && let Some(minres) = self.waiting.remove(at)
        {
            self.waiting.push_front(minres);
        }
    }
}

/// An application of a preconditioner may cost so many products before something else is tried first.
const MOST_PRODUCTS: f64 = 60.0;

/// Iterations after which a choice has to have led on.
pub(super) fn share(choice: Choice, n: usize) -> usize {
    match choice.method {
        // Ten cycles.
        MethodKind::Gmres => 10 * choice.restart,
        MethodKind::BiCgStab => 300,
        MethodKind::BiCgStab2 => 150,
        // What may go on in pairs has to find out first that it should.
        MethodKind::Cg if !choice.is_dear() => (8 * n).clamp(2000, 16_000),
        // In exact arithmetic n iterations are all that is needed, with a good preconditioner a fraction.
        MethodKind::Cg | MethodKind::Minres => (2 * n).clamp(500, 4000),
        MethodKind::Cgls => (4 * n).clamp(1000, 8000),
    }
}

/// The breakdown that shows a matrix indefinite.
fn has_negative_curvature(solved: &SolveReport) -> bool {
    solved.breakdown.is_some_and(|broken| broken.quantity == "p.Ap" && broken.value < 0.0)
}
