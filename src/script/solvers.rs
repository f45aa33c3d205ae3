//! `solve(A, b)`, `A \ b` and `lcp(M, q)`.

use super::ast::Expr;
use super::elementwise::{Action, Operand};
use super::error::ScriptErrorKind as Kind;
use super::format::number;
use super::room::{Charge, copy_bytes, matrix_bytes, sparse_bytes};

use super::run::{At, Run};
use super::source::{Fault, Result};
use super::systems::unreached;
use super::value::{Data, Value};
use crate::data::{DoubleVector, Vector};
use crate::device::Device;
use crate::error::Error;
use crate::shape::Shape;
use crate::solve::{
    Auto, AutoParams, AutoReport, Choice, LcpParams, LcpReport, LcpSolver, LinOp, MethodKind, Precision,
    PreconditionerKind, Recurrence, SolveReport, Stop, StopReason,
};

/// The bound on the relative residual if none is given.
const TOLERANCE: f64 = 1e-5;

/// Most iterations, beside ten for each unknown: exact arithmetic would do with one for each.
const ITERATIONS: usize = 1000;

/// The bound on the natural residual relative to the largest element of -q, if none is given.
const LCP_TOLERANCE: f64 = 1e-4;

/// Vectors that a solver works with, those of its certified residual included; where there is room for them, those of a cycle of GMRES
/// besides.
pub(super) const VECTORS: u64 = 16;
const CYCLE: u64 = 101;

/// The same of a solver for pairs.
pub(super) const VECTORS_OF_PAIRS: u64 = 48;

/// A preconditioner is no more than so many times the matrix.
pub(super) const PRECONDITIONER: u64 = 6;

/// What a script's `solve` is asked for: a bound, and by name digits, a method and a preconditioner.
#[derive(Clone, Copy, Default)]
pub(super) struct Asked {
    pub tolerance: Option<f64>,
    pub precision: Option<Precision>,
    pub method: Option<MethodKind>,
    pub preconditioner: Option<PreconditionerKind>,
    /// Both in one, with their parameters.
    pub choice: Option<Choice>,
}

impl Asked {
    /// Takes words for what they stand for: digits, a method and a preconditioner in any order, or digits and after them the two as
    /// one [choice](Choice). False where one stands for nothing, or for what another has said already.
    pub fn take(&mut self, words: &str) -> bool {
        if !words.contains('(') && !words.split_whitespace().any(|word| word.eq_ignore_ascii_case("with")) {
            return words.split_whitespace().all(|word| self.take_word(word));
        }
        let words = words.trim();
        let (first, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
        self.precision = first.parse().ok();
        let choice = if self.precision.is_some() { rest } else { words };
        self.choice = choice.parse().ok();
        self.choice.is_some()
    }

    fn take_word(&mut self, word: &str) -> bool {
        if let Ok(precision) = word.parse() {
            self.precision.replace(precision).is_none()
        } else if let Ok(method) = word.parse() {
            self.method.replace(method).is_none()
        } else if let Ok(preconditioner) = word.parse() {
            self.preconditioner.replace(preconditioner).is_none()
        } else {
            false
        }
    }

    /// The words for digits.
    pub fn digits() -> String {
        list(Precision::WORDS)
    }

    /// All that it takes, for messages.
    pub fn words() -> String {
        let [digits, methods, preconditioners] =
            [Self::digits(), list(MethodKind::WORDS), list(PreconditionerKind::WORDS)];
        format!(
            "words for digits ({digits}), a method ({methods}) and a preconditioner ({preconditioners}), one each, \
             or both with their parameters as in \"gmres(100) with ilut(40, 0.001)\""
        )
    }

    /// The method and the preconditioner.
    fn both(&self) -> (Option<MethodKind>, Option<PreconditionerKind>) {
        match self.choice {
            Some(choice) => (Some(choice.method), Some(choice.preconditioner)),
            None => (self.method, self.preconditioner),
        }
    }

    /// Whether a method or a preconditioner is asked for.
    pub fn is_by_name(&self) -> bool {
        self.method.is_some() || self.preconditioner.is_some() || self.choice.is_some()
    }

    /// The preconditioner, where it is made from entries that the operator does not give.
    fn lacks_entries(&self, a: &dyn LinOp) -> Option<PreconditionerKind> {
        use PreconditionerKind::{Chebyshev, Jacobi, None as Plain};
        let (method, preconditioner) = self.both();
        let least_squares = method == Some(MethodKind::Cgls) || !a.shape().is_square();
        preconditioner
            .filter(|kind| !matches!(kind, Plain | Jacobi | Chebyshev))
            .filter(|_| a.pattern().is_none() && !least_squares)
    }

    /// Whether iterations in pairs are asked for together with what does not take them.
    pub fn contradicts_itself(&self) -> bool {
        let (method, _) = self.both();
        let in_pairs = matches!(method, None | Some(MethodKind::Cg));
        self.precision == Some(Precision::Double) && !in_pairs
    }

    /// What is tried for a matrix; nothing leaves it to that.
    fn choices(&self, a: &dyn LinOp, has_room_for_cycles: bool) -> crate::Result<Vec<Choice>> {
        if let Some(choice) = self.choice {
            return Ok(vec![choice]);
        }
        let suggested = Auto::new(a, AutoParams::default().with_factors(false))?;
        let suggested = suggested.choices().iter().copied();
        let fits = |choice: &Choice| has_room_for_cycles || choice.method != MethodKind::Gmres;
        if let (None, None) = (self.method, self.preconditioner) {
            let all = suggested.len();
            let suggested: Vec<Choice> = suggested.filter(fits).collect();
            let in_pairs = self.precision == Some(Precision::Double)
                && suggested.first().is_some_and(|choice| choice.method == MethodKind::Cg);
            return Ok(match in_pairs {
                // All that iterations in pairs take.
                true => [PreconditionerKind::Jacobi, PreconditionerKind::None]
                    .map(|kind| Choice::new(MethodKind::Cg, kind))
                    .to_vec(),
                // The matrix says it, to the last resort.
                false if suggested.len() == all => Vec::new(),
                false => suggested,
            });
        }
        let mut methods: Vec<MethodKind> = self.method.into_iter().collect();
        if methods.is_empty() {
            methods.extend(suggested.filter(fits).map(|choice| choice.method));
            methods.dedup();
        }
        let preconditioner = self.preconditioner.unwrap_or(PreconditionerKind::None);
        Ok(methods.into_iter().map(|method| Choice::new(method, preconditioner)).collect())
    }
}

fn list<T>(words: &[(&str, T)]) -> String {
    words.iter().map(|(word, _)| format!("\"{word}\"")).collect::<Vec<_>>().join(", ")
}

impl Run<'_> {
    /// The room for what a solver works with: vectors, and what it looks at to see that the matrix is symmetric.
    fn room_to_solve(&self, a: &Data, at: u32) -> Result<[Charge; 3]> {
        let shape = a.shape();
        let vectors = self.room_to_work(VECTORS, shape.rows.max(shape.cols), at)?;
        Ok(match a {
            Data::Sparse(a) => {
                let turned = self.room_to_turn(a, true, at)?;
                let bytes =
                    sparse_bytes(&self.state.device, (**a).pattern()).making.saturating_mul(PRECONDITIONER);
                let made = self.taken(bytes, at, || format!("a preconditioner of {shape} elements takes"))?;
                [vectors, turned, made]
            }
            // The transpose, the difference, and where that is not zero the elements themselves.
            _ => {
                let transposed = self.room_as_matrix(shape.transposed(), at)?;
                let beside = if shape.is_square() {
                    self.taken(matrix_bytes(shape).max(copy_bytes(&self.state.device, shape)), at, || {
                        format!("comparing {shape} elements with their transpose takes")
                    })?
                } else {
                    // The norms of columns.
                    self.room_to_copy(shape, at)?
                };
                [vectors, transposed, beside]
            }
        })
    }

    /// `A x = b` for a square A, `min |b - A x|` for a rectangular one, for each column of b, from a start.
    pub(super) fn solve(
        &self,
        (a, a_expr): Operand<'_>,
        (b, b_expr): Operand<'_>,
        start: Option<Operand<'_>>,
        asked: Asked,
        at: u32,
    ) -> Result<Value> {
        let shape = a.shape();
        let precision = asked.precision.unwrap_or_default();
        if let Some(bound) = asked.tolerance.filter(|t| !(1e-18..1.0).contains(t)) {
            let detail = format!("the bound is {}, expected at least 1e-18 and less than 1", number(bound));
            return Err(Fault::new(at, Kind::Unsolved { solver: "solve", detail }));
        }
        if shape == Shape::new(1, 1) {
            return self.elementwise(Action::Over, &[(b, b_expr), (a, a_expr)], at, &String::new);
        }
        if shape.rows != b.shape().rows {
            let (left, right) = (self.operand(a_expr, shape), self.operand(b_expr, b.shape()));
            let (l, r) = (&left.text, &right.text);
            let rule = format!("solving {l} x = {r} needs as many rows in {r} as in {l}");
            return Err(Fault::new(at, Kind::Shapes { left, right, rule }));
        }
        let device = &self.state.device;
        let starts = self.starts(start, (a, a_expr), (b, b_expr), at)?;
        let tolerance = asked.tolerance.unwrap_or(TOLERANCE);
        let max_iters = ITERATIONS.saturating_add(shape.cols.saturating_mul(10)).min((1 << 24) - 1);
        if let Some(system) = self.system((a, a_expr), asked, tolerance, max_iters, at)? {
            let one = |b: &Vector, k| self.solved_by(&system, (b, &starts(k)), tolerance, a_expr, at);
            return self.by_right_hand_sides(shape.cols, (b, b_expr), one, at);
        }
        // A column is a matrix for this purpose, and a row of coefficients one equation.
        let column = match a.data() {
            Data::Vector(_) => self.matrix(a.data(), at)?,
            _ => None,
        };
        let (column, _room) = column.unzip();
        let column = column.map(Data::Matrix);
        let Some(operator) = column.as_ref().unwrap_or(a.data()).operator() else {
            return self.needs_dense(a_expr);
        };
        let _work = self.room_to_solve(column.as_ref().unwrap_or(a.data()), at)?;
        let refused = |e| Fault::new(at, self.refusal(e, a_expr, asked.lacks_entries(operator)));
        let cycle = self.room_to_work(CYCLE, shape.rows.max(shape.cols), at);
        let choices = asked.choices(operator, cycle.is_ok()).map_err(refused)?;
        let solved = |recurrence| {
            let params = AutoParams::default().with_stop(Stop::relative(tolerance)).with_max_iters(max_iters);
            Auto::new(operator, params.with_recurrence(recurrence).with_choices(choices.clone()))
        };
        let one = |b: &Vector, k: usize| -> Result<Vector> {
            let mut x = Vector::from_f64(device, &starts(k)).at(at)?;
            if matches!(precision, Precision::Single | Precision::Auto) {
                let report =
                    solved(Recurrence::Auto).and_then(|auto| auto.solve(&mut x, b)).map_err(refused)?;
                let able = precision == Precision::Auto && device.capabilities().exact_form.is_some();
                if is_solution(report.solved.reason, device) {
                    return Ok(x);
                }
                if !able {
                    return Err(Fault::new(at, self.unsolved(&report, tolerance, a_expr)));
                }
            }
            let _pairs = self.room_to_work(VECTORS_OF_PAIRS, shape.rows.max(shape.cols), at)?;
            let mut pairs = DoubleVector::from_vector(&x).at(at)?;
            let solver = solved(precision.recurrence()).map_err(refused)?;
            let report = solver.solve(&mut pairs, b).map_err(refused)?;
            if is_solution(report.solved.reason, device) {
                return Ok(pairs.into_parts().0);
            }
            Err(Fault::new(at, self.unsolved(&report, tolerance, a_expr)))
        };
        self.by_right_hand_sides(shape.cols, (b, b_expr), one, at)
    }

    /// Starts by the number of a right-hand side: zeros, the same for all, or a column for each.
    fn starts(
        &self,
        start: Option<Operand<'_>>,
        (a, a_expr): Operand<'_>,
        (b, b_expr): Operand<'_>,
        at: u32,
    ) -> Result<impl Fn(usize) -> Vec<f64>> {
        let (n, count) = (a.shape().cols, b.shape().cols);
        let mut columns: Vec<Vec<f64>> = Vec::new();
        if let Some((start, expr)) = start {
            let found = start.shape();
            if found.rows != n || found.cols != 1 && found.cols != count {
                let (left, right) = (self.operand(a_expr, a.shape()), self.operand(expr, found));
                let [l, r, b] = [&left.text, &right.text, &self.text(b_expr)];
                let rule = format!(
                    "a start needs as many rows as {l} has columns, and one column or those of {b}: {r}"
                );
                return Err(Fault::new(at, Kind::Shapes { left, right, rule }));
            }
            let (values, _room) = self.copied(start, at)?;
            let column =
                |k: usize| values.iter().skip(k).step_by(found.cols).map(|v| f64::from(*v)).collect();
            columns = (0..found.cols).map(column).collect();
        }
        Ok(move |k: usize| columns.get(k).or(columns.first()).cloned().unwrap_or_else(|| vec![0.0; n]))
    }

    /// The solutions of all right-hand sides, together; of each by its number.
    fn by_right_hand_sides(
        &self,
        n: usize,
        (b, b_expr): Operand<'_>,
        one: impl Fn(&Vector, usize) -> Result<Vector>,
        at: u32,
    ) -> Result<Value> {
        match b.data() {
            Data::Vector(b) => {
                let room = self.room(Shape::column(n), at)?;
                self.kept(one(b, 0)?, room, at)
            }
            data => {
                let Some((b, _room)) = self.matrix(data, at)? else { return self.needs_dense(b_expr) };
                // The columns by themselves, and together.
                let whole = Shape::new(n, b.shape().cols);
                let room = self.room_as_matrix(whole, at)?;
                let _columns = self.room_to_work(whole.cols as u64, whole.rows, at)?;
                let _together = self.room_for_columns(whole, b.shape().rows, at)?;
                let mut columns = Vec::new();
                for j in 0..b.shape().cols {
                    columns.push(one(&b.column(j).at(at)?, j).map_err(|fault| of_column(fault, j + 1))?);
                }
                let mut columns = columns.into_iter();
                let none = || Error::Internal { place: "solve", detail: "fewer solutions than columns" };
                let next = |_: &Vector| columns.next().ok_or_else(none);
                self.kept(self.by_columns(whole, &b, next).at(at)?, room, at)
            }
        }
    }

    /// `z >= 0`, `M z + q >= 0`, `zᵀ(M z + q) = 0`.
    pub(super) fn lcp(
        &self,
        (m, m_expr): Operand<'_>,
        (q, q_expr): Operand<'_>,
        tolerance: Option<f64>,
        precision: Option<Precision>,
        at: u32,
    ) -> Result<Value> {
        let device = &self.state.device;
        let shape = m.shape();
        if !shape.is_square() {
            let (operand, found) = (self.text(m_expr), shape.to_string());
            let expected = "as many rows as columns".into();
            return Err(Fault::new(m_expr.at, Kind::Operand { operand, found, expected }));
        }
        // [] is 0x0, and is as good a column of nothing as any.
        if shape.is_empty() && q.shape().is_empty() {
            return self.made(Shape::column(0), at, || Vector::zeros(device, 0));
        }
        if q.shape() != Shape::column(shape.rows) {
            let (left, right) = (self.operand(m_expr, shape), self.operand(q_expr, q.shape()));
            let (l, r) = (&left.text, &right.text);
            let rule = format!("lcp({l}, {r}) needs a column {r} with as many rows as {l}");
            return Err(Fault::new(at, Kind::Shapes { left, right, rule }));
        }
        let one = match m.data() {
            Data::Number(_) | Data::Scalar(_) => m.data().matrix(device).at(at)?.map(Data::Matrix),
            _ => None,
        };
        let Some(operator) = one.as_ref().unwrap_or(m.data()).operator() else {
            return self.needs_dense(m_expr);
        };
        let Some(q) = q.data().vector(device).at(at)? else { return self.needs_dense(q_expr) };
        let _work = self.room_to_solve(one.as_ref().unwrap_or(m.data()), at)?;
        let tolerance = tolerance.unwrap_or(LCP_TOLERANCE);
        let params = LcpParams { stop: Stop::relative(tolerance), ..LcpParams::default() };
        let room = self.room(Shape::column(shape.rows), at)?;
        let mut z = Vector::zeros(device, shape.rows).at(at)?;
        let precision = precision.unwrap_or(self.state.precision);
        let able = device.capabilities().exact_form.is_some();
        let mut solved = None;
        if !able || matches!(precision, Precision::Single | Precision::Auto) {
            let single = LcpSolver::new(operator, params).and_then(|solver| solver.solve(&mut z, &*q));
            solved = Some(single);
        }
        // Where 32 bits do not do, or are not to.
        let reached = matches!(&solved, Some(Ok(report)) if is_solution(report.outcome.reason, device));
        let refused = matches!(&solved, Some(Err(_)));
        if able && precision != Precision::Single && !reached && !refused {
            let _pairs = self.room_to_work(VECTORS_OF_PAIRS, shape.rows, at)?;
            let mut pairs = DoubleVector::from_vector(&z).at(at)?;
            solved = Some(LcpSolver::new(operator, params).and_then(|solver| solver.solve(&mut pairs, &*q)));
            z = pairs.into_parts().0;
        }
        let nothing = Error::Internal { place: "lcp", detail: "nothing was tried" };
        let detail = match solved.unwrap_or(Err(nothing)) {
            Ok(report) if is_solution(report.outcome.reason, device) => return self.kept(z, room, at),
            Ok(LcpReport { outcome, .. }) => format!(
                "{} after {} sweeps, with a natural residual of {:.1e} in place of {tolerance:e}; a third argument is \
                 another bound",
                outcome.reason,
                outcome.sweeps,
                outcome.residual(),
            ),
            Err(Error::Matrix { detail, .. }) => {
                let name = self.text(m_expr);
                let diagonal = operator.diagonal().at(at)?;
                // The library counts from 0.
                match (1..).zip(diagonal).find(|(_, d)| !(*d > 0.0 && d.is_finite())) {
                    Some((i, d)) => format!(
                        "{name}({i},{i}) is {}, expected a positive number on the diagonal: projected Jacobi does not \
                         apply",
                        number(d)
                    ),
                    None => format!("{name} {detail}"),
                }
            }
            Err(Error::Breakdown { quantity, value, expected, .. }) => {
                format!("{quantity} = {value:e}, expected {expected}")
            }
            Err(other) => return Err(Fault::new(at, Kind::Library(Box::new(other)))),
        };
        Err(Fault::new(at, Kind::Unsolved { solver: "lcp", detail }))
    }

    /// What the solver's refusal means for the script, also where the matrix does not give its entries to a preconditioner.
    pub(super) fn refusal(&self, error: Error, expr: &Expr, lacking: Option<PreconditionerKind>) -> Kind {
        let name = self.text(expr);
        if let Some(detail) = unreached(&name, &error) {
            return Kind::Unsolved { solver: "solve", detail };
        }
        let detail = match (error, lacking) {
            (Error::Matrix { detail, .. }, _) => format!("{name} {detail}"),
            (Error::Unsupported { .. }, Some(kind)) => {
                format!(
                    "{kind} is made from the entries, and {name} is dense: sparse({name}) gives what it needs"
                )
            }
            (other, _) => return Kind::Library(Box::new(other)),
        };
        Kind::Unsolved { solver: "solve", detail }
    }

    /// A solver that ended without an answer.
    fn unsolved(&self, AutoReport { solved, choice, .. }: &AutoReport, tolerance: f64, expr: &Expr) -> Kind {
        let SolveReport { reason, iterations, true_residual, least_squares_residual, .. } = solved;
        let detail = match solved.breakdown {
            Some(breakdown) => format!("{} by {choice}: {breakdown}", self.text(expr)),
            None => {
                let found = match least_squares_residual {
                    None => format!("a relative residual of {true_residual:.1e}"),
                    // Either would have done.
                    Some(own) => format!(
                        "relative residuals of {true_residual:.1e} (of the normal equations) and {own:.1e} (its own)"
                    ),
                };
                format!(
                    "{reason} after {iterations} iterations of {choice}, with {found} in place of {tolerance:e}; a third \
                     argument is another bound"
                )
            }
        };
        Kind::Unsolved { solver: "solve", detail }
    }
}

/// The same error of one of several right-hand sides, counted from 1.
fn of_column(fault: Fault, column: usize) -> Fault {
    let kind = match fault.kind {
        Kind::Unsolved { solver, detail } => {
            Kind::Unsolved { solver, detail: format!("column {column}: {detail}") }
        }
        kind => kind,
    };
    Fault { kind, ..fault }
}

/// A device without exact arithmetic cannot certify anything, but it can solve.
fn is_solution(reason: StopReason, device: &Device) -> bool {
    let cannot_certify = device.capabilities().exact_form.is_none();
    reason == StopReason::Converged || cannot_certify && reason == StopReason::Uncertified
}
