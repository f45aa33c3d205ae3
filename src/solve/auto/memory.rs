//! What solves of a matrix have shown, and its preconditioners.

use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use super::choice::Choice;
use super::made::Made;
use super::{Auto, AutoEvent};
use crate::error::Result;
use crate::ops::LinOp;
use crate::platform::Instant;
use crate::solve::precondition::Preconditioner;

/// What solves of a matrix have shown.
pub(super) struct Memory<A> {
    /// What was made last, and what it was made for.
    last: Option<(Choice, Rc<Made<Rc<A>>>)>,
    /// What has led to a solution.
    worked: Option<(Choice, Rc<Made<Rc<A>>>)>,
    failed: Vec<Choice>,
}

impl<A> Default for Memory<A> {
    fn default() -> Self {
        Memory { last: None, worked: None, failed: Vec::new() }
    }
}

/// A preconditioner ready for a choice.
#[derive(Clone)]
pub(super) struct Ready<'s> {
    pub m: Rc<dyn Preconditioner + 's>,
    /// What an application costs, in products, where that varies.
    pub products: Option<f64>,
    pub set_up: Duration,
}

/// The matrix and what is known of it, whatever its type is.
pub(super) trait Makes<'s> {
    fn make(&self, choice: &Choice) -> Result<Ready<'s>>;

    /// In which order these are tried: first what has worked, last what has failed.
    fn ordered(&self, choices: &[Choice]) -> VecDeque<Choice>;

    fn remember(&self, choice: Choice, converged: bool);

    fn announce(&self, event: &AutoEvent<'_>);
}

impl<'s, A: LinOp + 's> Makes<'s> for Auto<A> {
    fn make(&self, choice: &Choice) -> Result<Ready<'s>> {
        let mut memory = self.memory.borrow_mut();
        if let Some((known, m)) = &memory.worked
            && known == choice
        {
            return Ok(Ready {
                m: Rc::clone(m) as Rc<dyn Preconditioner + 's>,
                products: None,
                set_up: Duration::ZERO,
            });
        }
        let started = Instant::now();
        let (made, products) = Made::new(choice, Rc::clone(&self.a))?;
        let made = Rc::new(made);
        memory.last = Some((*choice, Rc::clone(&made)));
        Ok(Ready { m: made, products, set_up: started.elapsed() })
    }

    fn ordered(&self, choices: &[Choice]) -> VecDeque<Choice> {
        let memory = self.memory.borrow();
        let worked = memory.worked.as_ref().map(|(choice, _)| *choice);
        let rank = |choice: &Choice| match () {
            () if worked == Some(*choice) => 0,
            () if memory.failed.contains(choice) => 2,
            () => 1,
        };
        let mut ordered = choices.to_vec();
        ordered.sort_by_key(rank);
        ordered.into()
    }

    fn remember(&self, choice: Choice, converged: bool) {
        let mut memory = self.memory.borrow_mut();
        let last = memory.last.take().filter(|(made, _)| *made == choice);
        if converged {
            memory.failed.retain(|failed| *failed != choice);
            memory.worked = last.or(memory.worked.take().filter(|(known, _)| *known == choice));
        } else if !memory.failed.contains(&choice) {
            memory.failed.push(choice);
            memory.worked.take_if(|(known, _)| *known == choice);
        }
    }

    fn announce(&self, event: &AutoEvent<'_>) {
        if let Some(hear) = &self.heard {
            hear(event);
        }
    }
}
