//! The loop between a judge and what carries out its orders.

use super::looks::Observer;
use crate::error::Result;
use crate::solve::judge::{Event, Judge, Order, Verdict};

/// What a judge gives its orders to: a method and its iterate.
pub(in crate::solve) trait Executor {
    /// Carries out an order other than the last one, and tells what it found.
    async fn carry_out(&mut self, order: Order, observe: &mut Observer<'_>) -> Result<Event>;
}

/// Carries out the judge's orders until it orders the end.
pub(in crate::solve) async fn execute(
    mut judge: Judge,
    executor: &mut impl Executor,
    observe: &mut Observer<'_>,
) -> Result<Verdict> {
    let mut event = Event::Done;
    loop {
        event = match judge.next(event) {
            Order::End(verdict) => return Ok(verdict),
            order => executor.carry_out(order, observe).await?,
        };
    }
}
