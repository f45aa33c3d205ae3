//! Systems with sparse square matrices: in their normal form, by factors or by iterations, certified as they were given; and
//! remembered, so that another right-hand side takes no set-up.

use std::rc::Rc;

use super::ast::Expr;
use super::elementwise::Operand;
use super::error::ScriptErrorKind as Kind;
use super::room::{Charge, sparse_bytes};
use super::run::{At, Run};
use super::solvers::{Asked, PRECONDITIONER, VECTORS, VECTORS_OF_PAIRS};
use super::source::{Fault, Result};
use super::value::{Data, Value};
use crate::data::{StoredMatrix, Vector};
use crate::error::Error;
use crate::solve::{
    AutoParams, Components, DirectUse, HostReport, HostSystem, HostSystemParams, Precision, Stop, StopReason,
};

/// The last system, for as long as there is room for it beside all values.
pub(super) struct Remembered {
    /// Keeps the matrix, and its room.
    matrix: Value,
    tolerance: f64,
    system: Rc<HostSystem>,
    _room: [Charge; 2],
}

impl Run<'_> {
    /// The system of a sparse square matrix, where nothing is asked for by name that belongs to the matrix as it is.
    pub(super) fn system(
        &self,
        (value, expr): Operand<'_>,
        asked: Asked,
        tolerance: f64,
        max_iters: usize,
        at: u32,
    ) -> Result<Option<Rc<HostSystem>>> {
        let device = &self.state.device;
        let able = device.capabilities().exact_form.is_some() && !asked.is_by_name();
        let precise = matches!(asked.precision, None | Some(Precision::Auto));
        let Data::Sparse(a) = value.data() else { return Ok(None) };
        if !(able && precise && a.shape().is_square() && (**a).null_space().is_empty()) {
            return Ok(None);
        }
        if let Some(system) = self.remembered(a, tolerance) {
            return Ok(Some(system));
        }
        self.state.solver.take();
        let what = || format!("a solver for {} elements takes", a.shape());
        let of_matrix = sparse_bytes(device, (**a).pattern());
        // As it is on the host and in its normal form, and a preconditioner.
        let bytes = of_matrix.kept.saturating_add(PRECONDITIONER.saturating_mul(of_matrix.making));
        let room = self.taken(bytes, at, what)?;
        let auto = AutoParams::default().with_stop(Stop::relative(tolerance)).with_max_iters(max_iters);
        let near = (**a).near_null_space().cloned();
        let params = HostSystemParams::default().with_auto(auto).with_near_null_space(near);
        let refused = |e| Fault::new(at, self.refusal(e, expr, None));
        let mut system = HostSystem::on(Rc::clone(a), params.clone()).map_err(refused)?;
        let factors = match self.taken(system.bytes_of_factors(), at, what) {
            Ok(factors) => factors,
            Err(_) => {
                let params = params.with_direct(DirectUse::Never);
                system = HostSystem::on(Rc::clone(a), params).map_err(refused)?;
                self.taken(0, at, what)?
            }
        };
        let system = Rc::new(system);
        let (matrix, kept) = (value.clone(), Rc::clone(&system));
        self.state.solver.replace(Some(Remembered {
            matrix,
            tolerance,
            system: kept,
            _room: [room, factors],
        }));
        Ok(Some(system))
    }

    fn remembered(&self, a: &Rc<StoredMatrix>, tolerance: f64) -> Option<Rc<HostSystem>> {
        let solver = self.state.solver.borrow();
        let found = solver.as_ref().filter(|found| found.tolerance == tolerance)?;
        let same = matches!(found.matrix.data(), Data::Sparse(of) if Rc::ptr_eq(of, a));
        same.then(|| Rc::clone(&found.system))
    }

    /// The solution for one right-hand side.
    pub(super) fn solved_by(
        &self,
        system: &HostSystem,
        (b, start): (&Vector, &[f64]),
        tolerance: f64,
        expr: &Expr,
        at: u32,
    ) -> Result<Vector> {
        let (n, unsolved) =
            (start.len(), |detail| Fault::new(at, Kind::Unsolved { solver: "solve", detail }));
        let _work = self.room_to_work(VECTORS + VECTORS_OF_PAIRS, n, at)?;
        let b: Vec<f64> = b.read().at(at)?.into_iter().map(f64::from).collect();
        let solved = system.solve_observed(&b, start, |_| {});
        let (x, report) = solved.map_err(|e| Fault::new(at, self.refusal(e, expr, None)))?;
        if !report.converged() {
            return Err(unsolved(format!("{} {}", self.text(expr), told(&report, tolerance))));
        }
        let large = |(_, x): &(usize, &f64)| !(**x as f32).is_finite();
        if let Some((i, x)) = (1..).zip(&x).find(large) {
            return Err(unsolved(format!(
                "element {i} of the solution is {x:e}, past the range of 32-bit numbers"
            )));
        }
        Vector::from_f64(&self.state.device, &x).at(at)
    }
}

/// How a solve ended without an answer.
fn told(report: &HostReport, tolerance: f64) -> String {
    let HostReport { solved, by, .. } = report;
    match (solved.reason, solved.components) {
        (StopReason::NormOnly, Some(Components { omega, rows, of })) => {
            format!("by {by}: {rows} of {of} equations are off by up to {omega:.1e} of their terms")
        }
        (reason, _) => format!(
            "by {by}: {reason} after {} iterations, with a relative residual of {:.1e} in place of {tolerance:e}; a \
             third argument is another bound",
            solved.iterations, solved.true_residual
        ),
    }
}

/// What a right-hand side lacks that no solution reaches.
pub(super) fn unreached(name: &str, error: &Error) -> Option<String> {
    let Error::Inconsistent { found, bound, .. } = error else { return None };
    let expected = format!("expected at most {bound:.1e}");
    Some(format!("no x makes {name} x the right-hand side: a part of norm {found:.1e} is left, {expected}"))
}
