//! A script's text: from offsets in it to lines, columns and excerpts.

use super::error::{ScriptError, ScriptErrorKind, Shown};
use crate::host::printable;

/// The text of a script and the name that stands for it in errors.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Source {
    pub(super) name: String,
    pub(super) text: String,
}

/// An error at a byte offset, before anyone has looked up the line.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) at: u32,
    pub(super) kind: ScriptErrorKind,
}

impl Fault {
    pub(super) fn new(at: u32, kind: ScriptErrorKind) -> Self {
        Fault { at, kind }
    }
}

/// Result of whatever can fail at a place of the script.
pub(super) type Result<T = (), E = Fault> = std::result::Result<T, E>;

/// Characters of a long line that an error shows on either side of the place.
const AROUND: usize = 60;

impl Source {
    /// The text between two offsets.
    pub(super) fn slice(&self, start: u32, end: u32) -> &str {
        self.text.get(start as usize..end as usize).unwrap_or_default()
    }

    /// Line of an offset, counted from 1. Lines end with LF, CR LF or CR.
    pub(super) fn line(&self, at: u32) -> usize {
        let before = self.text.get(..at as usize).unwrap_or(&self.text);
        let breaks = before.bytes().filter(|b| *b == b'\n').count();
        let returns = before.bytes().filter(|b| *b == b'\r').count();
        breaks + returns - before.matches("\r\n").count() + 1
    }

    /// The error with line, column, and the line itself.
    pub(super) fn error(&self, fault: Fault) -> ScriptError {
        let Fault { at, kind } = fault;
        let (before, after) = self.text.split_at_checked(at as usize).unwrap_or((&self.text, ""));
        let is_break = |c: char| matches!(c, '\n' | '\r');
        let head = before.rsplit(is_break).next().unwrap_or_default();
        let tail = after.split(is_break).next().unwrap_or_default();
        let column = head.chars().count();
        let skipped = column.saturating_sub(AROUND);
        let mut excerpt = String::from(if skipped > 0 { "..." } else { "" });
        // Tabs as blanks, so that the caret stands where it should.
        let shown = |part: String| printable(&part).replace('\t', " ");
        excerpt.push_str(&shown(head.chars().skip(skipped).collect()));
        let caret = excerpt.chars().count();
        excerpt.push_str(&shown(tail.chars().take(AROUND).collect()));
        if tail.chars().nth(AROUND).is_some() {
            excerpt.push_str("...");
        }
        let (name, line) = (self.name.clone(), self.line(at));
        let shown = Box::new(Shown { name, excerpt, caret });
        ScriptError { line, column: column + 1, kind, shown }
    }
}
