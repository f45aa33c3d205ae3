//! How far a run of a script has come, so that it can go on later.

use std::time::Duration;

use super::ast::{Statement, StatementKind};

/// The statement to come, in the script and in each loop around it.
#[derive(Debug, Default)]
pub(super) struct Place {
    /// In the script, where a loop is one statement.
    pub(super) next: usize,
    /// From the outside inwards.
    loops: Vec<Level>,
    /// Statements run so far, each round of a loop counted.
    pub(super) done: u64,
    /// Time spent on the statement of the script that is under way.
    pub(super) spent: Duration,
}

/// The statement to come of a loop's body, of so many, and how often the body runs again.
#[derive(Debug)]
struct Level {
    next: usize,
    length: usize,
    again: u64,
}

impl Place {
    /// The statement to come; none at the end.
    pub(super) fn statement<'s>(&self, statements: &'s [Statement]) -> Option<&'s Statement> {
        self.loops.iter().try_fold(statements.get(self.next)?, |outer, level| match &outer.is {
            StatementKind::Repeat { body, .. } => body.get(level.next),
            _ => None,
        })
    }

    /// Past a statement that has been run: to the next one, to the next round of a loop, or out of it.
    pub(super) fn pass(&mut self) {
        while let Some(level) = self.loops.last_mut() {
            level.next += 1;
            if level.next < level.length {
                return;
            }
            if let Some(again) = level.again.checked_sub(1) {
                (level.next, level.again) = (0, again);
                return;
            }
            self.loops.pop();
        }
        self.next += 1;
    }

    /// Into the loop to come, of so many statements; past one in which nothing is done, which however often takes no time.
    pub(super) fn enter(&mut self, length: usize, times: u64) {
        match times.checked_sub(1) {
            Some(again) if length > 0 => self.loops.push(Level { next: 0, length, again }),
            _ => self.pass(),
        }
    }

    /// To the end of so many statements.
    pub(super) fn end(&mut self, statements: usize) {
        self.loops.clear();
        self.next = statements;
    }
}
