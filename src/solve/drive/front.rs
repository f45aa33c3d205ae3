//! The front of every solver: what is asked before a solve begins, and what the caller gets in the end.

use std::ops::{Deref, DerefMut};

use super::check::check_vectors;
use super::finite::{Finite, Small};
use super::iterate::Iterate;
use super::looks::Observer;
use super::null_space::consistent;
use super::report::SolveReport;
use super::slices::{counters, now, scoped};
use super::unknown::{Iterand, Right, check_right};
use super::{Limits, Method, drive};
use crate::data::{Unknowns, Vector};
use crate::device::Device;
use crate::error::Result;
use crate::ops::LinOp;
use crate::solve::solving::Solving;

/// What `solve`, `solve_observed` and `begin` of every solver run: the whole solve, written once.
pub(in crate::solve) trait Solver {
    /// The outcome of a solve.
    type Report;

    /// Solves from the start in `x`, telling `observe` at every poll how many iterations are done, and their residual.
    async fn solving<X: Unknowns, B: Unknowns>(
        &self,
        x: &mut X,
        b: &B,
        observe: &mut Observer<'_>,
    ) -> Result<Self::Report>;
}

/// Solves now, and waits for what is on its way.
pub(in crate::solve) fn run<S: Solver>(
    solver: &S,
    x: &mut impl Unknowns,
    b: &impl Unknowns,
    observe: &mut Observer<'_>,
) -> Result<S::Report> {
    now(solver.solving(x, b, observe))
}

/// The same solve, to be advanced by the caller.
pub(in crate::solve) fn begin<'s, S, X, B>(
    device: &Device,
    solver: S,
    x: X,
    b: B,
) -> Solving<'s, X, S::Report>
where
    S: Solver + 's,
    X: DerefMut<Target: Unknowns + Sized> + 's,
    B: Deref<Target: Unknowns + Sized> + 's,
{
    Solving::new(device, move |seen| async move {
        let mut x = x;
        let done = solver.solving(&mut *x, &*b, &mut |point| seen.set(Some(point))).await;
        (x, done)
    })
}

/// Refuses operands of a solve of `A x = b` that do not fit, before anything is drawn.
pub(in crate::solve) fn fits(
    op: &'static str,
    a: &dyn LinOp,
    (x, x_low): (&Vector, Option<&Vector>),
    b: Right<'_>,
) -> Result<()> {
    check_vectors(op, a, x, b.high)?;
    check_right(op, (x, x_low), b)
}

/// What begins a solve of operands that [fit](fits), in a scope: whether they are finite is on the way,
/// to be looked at when the solver has sent off what it begins with. Of a method that says so `b` has to be consistent within the
/// bound; the part of it that is orthogonal to the null space comes last, in pairs as unknowns are, if there is one. What residuals are relative to says
/// which elements of `b` may be too small.
pub(in crate::solve) async fn asked<'a>(
    op: &'static str,
    a: &dyn LinOp,
    (x, x_low): (&'a Vector, Option<&Vector>),
    b: Right<'a>,
    (bound, is_consistent): (f64, bool),
    small: Small,
) -> Result<(Finite<'a>, Option<Iterand>)> {
    let finite = Finite::ask(op, x, Some((b.high, small, bound)))?;
    let projected = match is_consistent {
        true => finite.blamed(consistent(op, a, b, x_low.is_some(), bound).await).await?,
        false => None,
    };
    Ok((finite, projected))
}

/// Solves `A x = b` by the method that `begin` makes for the start in `x`.
pub(in crate::solve) async fn solve<M: Method>(
    op: &'static str,
    system: (&dyn LinOp, &mut impl Unknowns, &impl Unknowns),
    limits: Limits,
    observe: &mut Observer<'_>,
    begin: impl AsyncFnOnce(&mut Iterate<'_>) -> Result<M>,
) -> Result<SolveReport> {
    let bound = (limits.stop.relative, M::CONSISTENT);
    iterated(op, system, bound, M::SMALL, async |at, finite| {
        let mut method = finite.blamed(begin(at).await).await?;
        at.lost = finite.check().await?;
        drive(&mut method, at, limits, observe).await
    })
    .await
}

/// Solves `A x = b` by what `run` does to the iterate that begins in `x`, with that asked which [`asked`] asks: `run` is to look at
/// whether operands are finite.
pub(in crate::solve) async fn iterated(
    op: &'static str,
    (a, x, b): (&dyn LinOp, &mut impl Unknowns, &impl Unknowns),
    bound: (f64, bool),
    small: Small,
    run: impl AsyncFnOnce(&mut Iterate<'_>, &Finite<'_>) -> Result<SolveReport>,
) -> Result<SolveReport> {
    let before = counters(a.device());
    let b = Right::of(b);
    fits(op, a, x.parts(), b)?;
    scoped(a.device(), async {
        let given = x.parts();
        let (finite, projected) = asked(op, a, given, b, bound, small).await?;
        // Whether the operator can do what pairs need, the first residual tells: nothing is written before that.
        let b = projected.as_ref().map_or(b, Right::of);
        let mut at = Iterate::new(a, given, b, finite.facts()).await?;
        let mut report = run(&mut at, &finite).await?;
        at.x.copy_to(x.parts_mut())?;
        report.pairs = at.is_double();
        report.readbacks_in_loop += at.corrections;
        Ok(report.counted(a.device(), &before))
    })
    .await
}
