//! The front of every solver: what is asked before a solve begins, and what the caller gets in the end.

use super::check::check_vectors;
use super::finite::Finite;
use super::iterate::Iterate;
use super::looks::Observer;
use super::null_space::consistent;
use super::report::SolveReport;
use super::{Limits, Method, drive};
use crate::data::Vector;
use crate::device::Scope;
use crate::error::Result;
use crate::ops;
use crate::solve::linop::LinOp;

/// A system `A x = b` that a solver has been asked for.
pub(in crate::solve) struct Asked<'a> {
    pub scope: Scope,
    /// To be looked at when the solver has sent off what it begins with.
    pub finite: Finite<'a>,
    /// The part of `b` that is orthogonal to the null space, where that is asked for and there is one.
    pub projected: Option<Vector>,
}

impl<'a> Asked<'a> {
    /// `x` and `b` fit, and whether they are finite is on the way. With a bound, `b` has to be
    /// [consistent](consistent) within it.
    pub fn of(
        op: &'static str,
        a: &dyn LinOp,
        x: &'a Vector,
        b: &'a Vector,
        bound: Option<f64>,
    ) -> Result<Self> {
        check_vectors(op, a, x, b)?;
        let scope = a.device().scope()?;
        let finite = Finite::ask(op, &[("x", x), ("b", b)])?;
        let projected = match bound {
            Some(bound) => consistent(op, a, b, bound).map_err(|error| finite.or(error))?,
            None => None,
        };
        Ok(Asked { scope, finite, projected })
    }
}

/// Solves `A x = b` by the method that `begin` makes for the start in `x`.
pub(in crate::solve) fn solve<M: Method>(
    op: &'static str,
    (a, x, b): (&dyn LinOp, &mut Vector, &Vector),
    limits: Limits,
    observe: &mut Observer<'_>,
    begin: impl FnOnce(&mut Iterate<'_>) -> Result<M>,
) -> Result<SolveReport> {
    let bound = M::CONSISTENT.then_some(limits.stop.relative);
    let Asked { scope: _scope, finite, projected } = Asked::of(op, a, x, b, bound)?;
    let mut at = Iterate::new(a, x, projected.as_ref().unwrap_or(b), None)?;
    let mut method = begin(&mut at).map_err(|error| finite.or(error))?;
    finite.check()?;
    let report = drive(&mut method, &mut at, limits, observe)?;
    // Into the caller's texture, which the application may hold.
    ops::copy(x, &at.x)?;
    Ok(report)
}
