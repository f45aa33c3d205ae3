//! A choice in words, and by them.

use std::fmt;
use std::str::FromStr;

use super::choice::{Choice, MethodKind, PreconditionerKind};
use crate::error::{Error, Result};
use crate::solve::krylov::MOST_RESTART;
use crate::solve::precondition::IluParams;

const MATCHED: &str = " of matched rows";
const UNMATCHED: &str = " of rows as they are";

/// In words, parameters included: "gmres(50) with ilut(20, 0.001) of matched rows". A third number is the tolerance of sweeps, where that
/// is not the default.
impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Choice { method, preconditioner, restart, ilu } = self;
        match method {
            MethodKind::Gmres => write!(f, "{method}({restart})")?,
            _ => write!(f, "{method}")?,
        }
        let tolerance = Some(ilu.tolerance).filter(|t| *t != IluParams::default().tolerance);
        match (preconditioner, tolerance) {
            (PreconditionerKind::None, _) => return Ok(()),
            (PreconditionerKind::Ilut, None) => {
                write!(f, " with {preconditioner}({}, {})", ilu.fill, ilu.drop)?;
            }
            (PreconditionerKind::Ilut, Some(t)) => {
                write!(f, " with {preconditioner}({}, {}, {t})", ilu.fill, ilu.drop)?;
            }
            (PreconditionerKind::Ilu0 | PreconditionerKind::Ic0, Some(t)) => {
                write!(f, " with {preconditioner}({t})")?;
            }
            _ => write!(f, " with {preconditioner}")?,
        }
        f.write_str(match self.takes_rows() {
            false => "",
            true if ilu.prepared => MATCHED,
            true => UNMATCHED,
        })
    }
}

/// By these words, in capital or small letters; parameters that are not said are the default ones: "cg with jacobi",
/// "gmres(100) with ilut(40, 0.00001)", "bicgstab2 with ilu0 of rows as they are".
///
/// *Errors*: [`Error::Parameter`], with the words that are not understood.
impl FromStr for Choice {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let small = text.trim().to_ascii_lowercase();
        let (spoken, prepared) = match (small.strip_suffix(MATCHED), small.strip_suffix(UNMATCHED)) {
            (Some(rest), _) => (rest, Some(true)),
            (_, Some(rest)) => (rest, Some(false)),
            _ => (small.as_str(), None),
        };
        let (method, preconditioner) =
            spoken.split_once(" with ").unwrap_or((spoken, PreconditionerKind::None.word()));
        let ((method, cycle), (preconditioner, numbers)) = (called(method), called(preconditioner));
        let mut choice = Choice::new(method.parse()?, preconditioner.parse()?);
        let not_understood =
            |expected| Error::Parameter { op: "choice", name: "words", value: format!("{text:?}"), expected };
        match (choice.method, cycle.as_slice()) {
            (_, []) => {}
            (MethodKind::Gmres, [restart]) => {
                let iterations = restart.parse().ok().filter(|m| (1..=MOST_RESTART).contains(m));
                choice.restart = iterations
                    .ok_or_else(|| not_understood("1 to 200 iterations of a cycle, as in gmres(50)"))?;
            }
            _ => {
                return Err(not_understood(
                    "a number in brackets after gmres alone: the iterations of a cycle",
                ));
            }
        }
        let tolerance = match (choice.preconditioner, numbers.as_slice()) {
            (_, []) => None,
            (PreconditionerKind::Ilut, [fill, drop, rest @ ..]) if rest.len() < 2 => {
                let numbers =
                    || not_understood("elements a row and a share of its norm, as in ilut(20, 0.001)");
                choice.ilu.fill = fill.parse().map_err(|_| numbers())?;
                choice.ilu.drop = drop.parse().map_err(|_| numbers())?;
                rest.first()
            }
            (PreconditionerKind::Ilu0 | PreconditionerKind::Ic0, [tolerance]) => Some(tolerance),
            _ => {
                return Err(not_understood(
                    "numbers in brackets as in ilut(20, 0.001), ilu0(0.01) and ic0(0.01)",
                ));
            }
        };
        if let Some(tolerance) = tolerance {
            choice.ilu.tolerance =
                tolerance.parse().map_err(|_| not_understood("a tolerance of sweeps, as in ilu0(0.01)"))?;
        }
        match prepared {
            Some(prepared) if choice.takes_rows() => choice.ilu.prepared = prepared,
            Some(_) => return Err(not_understood("matched rows of ilut and ilu0 alone")),
            None => {}
        }
        Ok(choice)
    }
}

/// A word and what stands in brackets after it.
fn called(text: &str) -> (&str, Vec<&str>) {
    match text.trim().strip_suffix(')').and_then(|text| text.split_once('(')) {
        Some((word, numbers)) => (word.trim(), numbers.split(',').map(str::trim).collect()),
        None => (text.trim(), Vec::new()),
    }
}
