//! The functions that have a value.

use super::ast::{Expr, ExprKind};
use super::elementwise::{Action, Operand, filled};
use super::error::ScriptErrorKind as Kind;
use super::names::Function;
use super::reductions::Over;
use super::run::{At, MAX_COUNT, Run};
use super::solvers::Asked;
use super::source::{Fault, Result};
use super::value::{Data, Value};
use crate::data::{Matrix, Vector};
use crate::ops;
use crate::shape::Shape;
use crate::solve::Precision;

/// Whether an argument is this text, or the constant `inf` for the text of that name.
pub(super) fn says(expr: &Expr, word: &str) -> bool {
    match &expr.is {
        ExprKind::Text(text) => text.eq_ignore_ascii_case(word),
        ExprKind::Name(name) => word == "inf" && name.eq_ignore_ascii_case(word),
        _ => false,
    }
}

/// Whether this argument, counted from 0, may be a text.
fn takes_a_word(function: Function, argument: usize) -> bool {
    match function {
        Function::Max | Function::Min | Function::Sum | Function::Norm => argument == 1,
        Function::Solve | Function::Lcp => argument == 3,
        _ => false,
    }
}

/// One row or one column; `[]` counts as one too, so that its sum is 0.
pub(super) fn is_vector(shape: Shape) -> bool {
    shape.rows == 1 || shape.cols == 1 || shape == Shape::default()
}

impl Run<'_> {
    /// The value of a call. The parser has counted the arguments.
    pub(super) fn call(&mut self, function: Function, arguments: &[Expr], at: u32) -> Result<Value> {
        if let (Function::Load, [file]) = (function, arguments) {
            return self.load(file);
        }
        let mut values = Vec::new();
        for (i, argument) in arguments.iter().enumerate() {
            match &argument.is {
                ExprKind::Text(_) if takes_a_word(function, i) => {}
                _ => values.push((self.evaluate(argument)?, argument)),
            }
        }
        // Words are no operands.
        let operands: Vec<Operand<'_>> = values.iter().map(|(value, expr)| (value, *expr)).collect();
        let Some((x, expr)) = operands.first().copied() else { return self.number(0.0, at) };
        let whole = || {
            let texts: Vec<String> = arguments.iter().map(|a| self.text(a)).collect();
            format!("{}({})", function.name(), texts.join(", "))
        };
        let elementwise = |action| self.elementwise(action, &operands, at, &whole);
        match (function, operands.as_slice()) {
            (Function::Zeros | Function::Ones, _) => {
                let shape = self.shape_of(&operands)?;
                self.filled(shape, if function == Function::Ones { 1.0 } else { 0.0 }, at)
            }
            (Function::Eye, _) => {
                let n = self.extent((x, expr))?;
                self.made(Shape::new(n, n), at, || Matrix::identity(&self.state.device, n))
            }
            (Function::Full, _) => self.to_dense(x, at),
            (Function::Sparse, _) => self.to_sparse(x, at),
            (Function::Diag, _) => self.diagonal(x, at),
            (Function::Rows, _) => self.number(x.shape().rows as f64, at),
            (Function::Cols | Function::Columns, _) => self.number(x.shape().cols as f64, at),
            (Function::Numel, _) => self.number(x.shape().len() as f64, at),
            (Function::Size, [_]) => {
                let Shape { rows, cols } = x.shape();
                self.dense(Shape::new(1, 2), &[rows as f32, cols as f32], at)
            }
            (Function::Size, [_, (k, k_expr), ..]) => {
                let k = self.whole(k, k_expr, "the dimension, 1 for rows or 2 for columns,", 1..=2)?;
                self.number((if k == 1 { x.shape().rows } else { x.shape().cols }) as f64, at)
            }
            (Function::Nnz, _) => {
                let count = match x.data() {
                    Data::Sparse(a) => a.pattern().nnz(),
                    _ => self.copied(x, at)?.0.iter().filter(|v| **v != 0.0).count(),
                };
                self.number(count as f64, at)
            }
            (Function::Abs, _) => elementwise(Action::Abs),
            (Function::Sqrt, _) => match x.data() {
                Data::Number(value) if *value < 0.0 => {
                    let (operand, found) = (self.text(expr), super::format::number(*value));
                    let expected = "no negative number under a root".into();
                    Err(Fault::new(expr.at, Kind::Operand { operand, found, expected }))
                }
                _ => elementwise(Action::Sqrt),
            },
            (Function::Max, [_, _]) => elementwise(Action::Max),
            (Function::Min, [_, _]) => elementwise(Action::Min),
            (Function::Divz, _) => elementwise(Action::OrZero),
            (Function::Mad, _) => elementwise(Action::MulAdd),
            (Function::Madad, _) => elementwise(Action::Madad),
            (Function::Max | Function::Min | Function::Sum, _) => {
                let over = match arguments.get(1) {
                    None if is_vector(x.shape()) => Over::All,
                    None => Over::Columns,
                    Some(word) if says(word, "all") => Over::All,
                    Some(word) if word.is == ExprKind::Number(1.0) => Over::Columns,
                    Some(word) if word.is == ExprKind::Number(2.0) => Over::Rows,
                    Some(word) if function == Function::Sum => {
                        return self.unknown_word(word, "\"all\", 1 or 2");
                    }
                    Some(word) => return self.unknown_word(word, "\"all\""),
                };
                self.reduced(function, (x, expr), over, at)
            }
            (Function::Dot, [_, (y, y_expr), ..]) => self.dot((x, expr), (y, y_expr), at),
            (Function::NormSquared, _) => self.dot((x, expr), (x, expr), at),
            (Function::Norm, _) => self.norm((x, expr), arguments.get(1), at),
            (Function::Trace, _) => self.trace((x, expr), at),
            (Function::Solve, [a, b]) => self.solve(*a, *b, None, self.asked(), at),
            (Function::Solve, [a, b, (tolerance, t_expr), rest @ ..]) => {
                let t = self.one_number(tolerance, t_expr, "the bound on the relative residual")?;
                let mut asked = Asked { tolerance: Some(t), ..Asked::default() };
                let is_start = |expr: &Expr| arguments.len() == 4 && !matches!(expr.is, ExprKind::Text(_));
                if let Some(said) = arguments.get(3).filter(|said| !is_start(said)) {
                    let known = match &said.is {
                        ExprKind::Text(words) => asked.take(words),
                        _ => false,
                    };
                    if !known {
                        return self.unknown_word(said, &Asked::words());
                    }
                    if asked.contradicts_itself() {
                        let expected = "with \"double\" no method but cg (\"refined\" takes all)";
                        return self.unknown_word(said, expected);
                    }
                }
                let precision = asked.precision.or(self.asked().precision);
                self.solve(*a, *b, rest.first().copied(), Asked { precision, ..asked }, at)
            }
            (Function::Lcp, [m, q, rest @ ..]) => {
                let t = match rest.first() {
                    None => None,
                    Some((t, t_expr)) => {
                        Some(self.one_number(t, t_expr, "the bound on the natural residual")?)
                    }
                };
                let precision = match arguments.get(3).map(|said| (said, &said.is)) {
                    None => None,
                    Some((_, ExprKind::Text(word))) if word.parse::<Precision>().is_ok() => word.parse().ok(),
                    Some((said, _)) => return self.unknown_word(said, &Asked::digits()),
                };
                self.lcp(*m, *q, t, precision, at)
            }
            _ => self.unknown_word(arguments.last().unwrap_or(expr), "a number or a matrix"),
        }
    }

    /// What `solve` is asked for where the script does not say.
    pub(super) fn asked(&self) -> Asked {
        Asked { precision: Some(self.state.precision), ..Asked::default() }
    }

    /// The error of an argument that should have been another.
    pub(super) fn unknown_word<T>(&self, expr: &Expr, expected: &str) -> Result<T> {
        let (found, expected) = (format!("`{}`", self.text(expr)), expected.to_owned());
        Err(Fault::new(expr.at, Kind::Syntax { found, expected }))
    }

    fn extent(&self, (value, expr): Operand<'_>) -> Result<usize> {
        Ok(self.whole(value, expr, "the number of rows or columns", 0..=MAX_COUNT)? as usize)
    }

    /// n for n x n, or rows and columns.
    fn shape_of(&self, operands: &[Operand<'_>]) -> Result<Shape> {
        let extents = operands.iter().map(|operand| self.extent(*operand)).collect::<Result<Vec<_>>>()?;
        Ok(match extents.as_slice() {
            [rows, cols] => Shape::new(*rows, *cols),
            other => other.first().map_or(Shape::default(), |n| Shape::new(*n, *n)),
        })
    }

    fn filled(&self, shape: Shape, value: f32, at: u32) -> Result<Value> {
        let device = &self.state.device;
        match shape {
            Shape { rows: 1, cols: 1 } => Ok(Value::number(f64::from(value))),
            _ => self.made(shape, at, || filled(device, shape, value.into())),
        }
    }

    /// The diagonal of a matrix, or the matrix with this diagonal.
    fn diagonal(&self, x: &Value, at: u32) -> Result<Value> {
        let device = &self.state.device;
        let n = x.shape().len();
        match x.data() {
            Data::Number(_) | Data::Scalar(_) => Ok(x.clone()),
            Data::Sparse(a) => {
                let length = x.shape().rows.min(x.shape().cols);
                let _twice = self.room_to_work(3, length, at)?;
                let diagonal: Vec<f32> = a.pattern().diagonal().into_iter().map(|v| v as f32).collect();
                self.dense(Shape::column(diagonal.len()), &diagonal, at)
            }
            Data::Matrix(a) if a.shape().rows != 1 => {
                let shape = Shape::column(a.shape().rows.min(a.shape().cols));
                self.made(shape, at, || a.diagonal())
            }
            data => {
                // The columns, the identity, and their product.
                let whole = Shape::new(n, n);
                let (room, _beside) = (self.room(whole, at)?, [self.room(whole, at)?, self.room(whole, at)?]);
                let _vectors = self.room_to_work(2, n, at)?;
                let Some(x) = data.vector(device).at(at)? else { return Ok(x.clone()) };
                let spread = || -> crate::Result<Matrix> {
                    let (ones, mut columns) =
                        (Vector::filled(device, n, 1.0)?, Matrix::uninit(device, Shape::new(n, n))?);
                    ops::outer(&mut columns, 1.0, &x, &ones)?;
                    let mut out = Matrix::uninit(device, columns.shape())?;
                    ops::mul(&mut out, &columns, &Matrix::identity(device, n)?)?;
                    Ok(out)
                };
                self.kept(spread().at(at)?, room, at)
            }
        }
    }
}
