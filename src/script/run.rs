//! Running statements, and the way from an expression to its value.

use std::io::{self, BufWriter, Write};
use std::rc::Rc;
use std::time::Duration;

use super::ast::{Expr, ExprKind, Statement, StatementKind};
use super::error::{Operand, ScriptErrorKind as Kind, quoted};
use super::interpreter::Interpreter;
use super::names::Function;
use super::place::Place;
use super::room::{self, Charge};
use super::source::{Fault, Result, Source};
use super::value::{Data, Value};
use super::{elementwise::Action, format};
use crate::data::{Matrix, Scalar, Vector};
use crate::host::printable;
use crate::platform::Instant;
use crate::shape::Shape;

/// Largest count, size or index: what a 32-bit integer holds.
pub(super) const MAX_COUNT: u64 = i32::MAX as u64;

/// One run of a program.
pub(super) struct Run<'a> {
    pub(super) state: &'a mut Interpreter,
    pub(super) source: &'a Source,
    pub(super) out: &'a mut dyn Write,
}

/// The place of the script that an error of the library belongs to.
pub(super) trait At<T> {
    fn at(self, at: u32) -> Result<T>;
}

impl<T> At<T> for crate::Result<T> {
    fn at(self, at: u32) -> Result<T> {
        self.map_err(|e| Fault::new(at, Kind::Library(Box::new(e))))
    }
}

impl Run<'_> {
    /// Goes on from a place to the end, or until this time, but for one statement at least; whether that was the end. Statements of
    /// the script are timed where that is asked for: a loop counts as one.
    pub(super) fn advance(
        &mut self,
        statements: &[Statement],
        place: &mut Place,
        until: Option<Instant>,
    ) -> Result<bool> {
        let mut since = Instant::now();
        while let (Some(statement), Some(outer)) = (place.statement(statements), statements.get(place.next)) {
            let outermost = place.next;
            self.statement(statement, place)?;
            if place.next != outermost {
                let spent = std::mem::take(&mut place.spent);
                self.time(outer, spent, since)?;
                since = Instant::now();
            }
            if until.is_some_and(|until| Instant::now() >= until) {
                place.spent += since.elapsed();
                break;
            }
        }
        Ok(place.next >= statements.len())
    }

    /// Prints how long a statement took, in all: the time spent earlier, and since then.
    fn time(&mut self, statement: &Statement, spent: Duration, since: Instant) -> Result {
        if !self.state.timing || matches!(statement.is, StatementKind::Timing { .. }) {
            return Ok(());
        }
        self.state.device.finish().at(statement.at)?;
        let ms = (spent + since.elapsed()).as_secs_f64() * 1e3;
        let line = self.source.line(statement.at);
        let written = writeln!(self.out, "# line {line}: {ms:.3} ms").and_then(|()| self.out.flush());
        written.map_err(|e| Fault::new(statement.at, output(&e)))
    }

    /// Runs a statement and passes it; of a loop only the beginning.
    fn statement(&mut self, statement: &Statement, place: &mut Place) -> Result {
        let at = statement.at;
        let limit = self.state.limits.statements;
        if place.done >= limit {
            return Err(Fault::new(
                at,
                Kind::Limit { what: "the script runs more statements".into(), limit },
            ));
        }
        place.done += 1;
        match &statement.is {
            StatementKind::Assign { name, value } => {
                let value = self.evaluate(value)?;
                self.state.variables.insert(name.to_string(), value);
            }
            StatementKind::AssignPart { name, subscripts, value } => {
                self.assign_part(name, subscripts, value, at)?;
            }
            StatementKind::Show { value, quiet } => {
                let shown = self.evaluate(value)?;
                if !quiet {
                    self.show(&[(Some(shown), value)])?;
                }
            }
            StatementKind::Act { function, arguments } => self.act(*function, arguments, at)?,
            StatementKind::Repeat { count, body } => {
                let times = self.evaluate(count)?;
                let times = self.whole(&times, count, "the number of repetitions", 0..=MAX_COUNT)?;
                place.enter(body.len(), times);
                return Ok(());
            }
            StatementKind::Timing { on } => self.state.timing = *on,
        }
        place.pass();
        Ok(())
    }

    /// The functions without a value.
    fn act(&mut self, function: Function, arguments: &[Expr], at: u32) -> Result {
        match (function, arguments) {
            (Function::Save, [value, file]) => {
                let saved = self.evaluate(value)?;
                self.save(&saved, value, file)
            }
            _ => {
                let mut shown = Vec::new();
                for argument in arguments {
                    let text = matches!(argument.is, ExprKind::Text(_));
                    shown.push((if text { None } else { Some(self.evaluate(argument)?) }, argument));
                }
                debug_assert!(function == Function::Print, "{at}");
                self.show(&shown)
            }
        }
    }

    /// Texts and 1x1 side by side; everything else on lines of its own.
    fn show(&mut self, values: &[(Option<Value>, &Expr)]) -> Result {
        let mut out = BufWriter::new(&mut *self.out);
        let mut begun = false;
        for (value, expr) in values {
            let failed = |e: io::Error| Fault::new(expr.at, output(&e));
            let word = match (value.as_ref().map(Value::data), &expr.is) {
                (None, ExprKind::Text(text)) => printable(text).into_owned(),
                (Some(Data::Number(value)), _) => format::number(*value),
                (Some(Data::Scalar(scalar)), _) => format::number(f64::from(scalar.read().at(expr.at)?)),
                (data, _) => {
                    if begun {
                        writeln!(out).map_err(failed)?;
                    }
                    begun = false;
                    let written = match data {
                        Some(Data::Sparse(a)) => format::sparse(&mut out, a.pattern()),
                        _ => {
                            let shape = value.as_ref().map(Value::shape).unwrap_or_default();
                            let room = self.state.take_to_copy(shape);
                            let _room = room.map_err(|kind| Fault::new(expr.at, kind))?;
                            let values = value.as_ref().map_or(Ok(Vec::new()), Value::read).at(expr.at)?;
                            format::matrix(&mut out, shape, &values)
                        }
                    };
                    written.map_err(failed)?;
                    continue;
                }
            };
            write!(out, "{}{word}", if begun { " " } else { "" }).map_err(failed)?;
            begun = true;
        }
        let ended = if begun { writeln!(out) } else { Ok(()) };
        let at = values.first().map_or(0, |(_, expr)| expr.at);
        ended.and_then(|()| out.flush()).map_err(|e| Fault::new(at, output(&e)))
    }

    /// The value of an expression.
    pub(super) fn evaluate(&mut self, expr: &Expr) -> Result<Value> {
        match &expr.is {
            ExprKind::Number(value) => Ok(Value::number(*value)),
            ExprKind::Name(name) => self.variable(name, expr.at).cloned(),
            ExprKind::Negate(inner) => {
                let value = self.evaluate(inner)?;
                self.elementwise(Action::Neg, &[(&value, inner)], expr.at, &String::new)
            }
            ExprKind::Transpose(inner) => {
                let value = self.evaluate(inner)?;
                self.transposed(&value, expr.at)
            }
            ExprKind::Binary(op, sides) => self.binary(*op, sides, expr.at),
            ExprKind::Call(function, arguments) => self.call(*function, arguments, expr.at),
            ExprKind::Element(name, subscripts) => self.part(name, subscripts, expr.at),
            ExprKind::Literal(rows) => self.literal(rows, expr.at),
            ExprKind::Text(_) => {
                let (found, expected) = ("a text".to_owned(), "a number or a matrix".to_owned());
                Err(Fault::new(expr.at, Kind::Syntax { found, expected }))
            }
        }
    }

    pub(super) fn variable(&self, name: &str, at: u32) -> Result<&Value> {
        if let Some(value) = self.state.variables.get(name).or_else(|| self.state.constants.get(name)) {
            return Ok(value);
        }
        let (similar, name) = (Function::similar(name), quoted(name));
        Err(Fault::new(at, Kind::Undefined { name, similar }))
    }

    /// Takes the room for a dense value. Whatever a script makes, values and what they are made from, is made after this.
    pub(super) fn room(&self, shape: Shape, at: u32) -> Result<Charge> {
        self.taken(room::dense_bytes(&self.state.device, shape), at, || format!("{shape} elements take"))
    }

    /// The room for a dense value that is first made as a matrix; with one column it becomes a vector beside it.
    pub(super) fn room_as_matrix(&self, shape: Shape, at: u32) -> Result<Charge> {
        let first = if shape.cols == 1 { room::matrix_bytes(shape) } else { 0 };
        let bytes = first.saturating_add(room::dense_bytes(&self.state.device, shape));
        self.taken(bytes, at, || format!("{shape} elements take"))
    }

    /// The same for one whose elements come from other places: where tiles meet, one is put together piece by piece.
    pub(super) fn room_to_move(&self, shape: Shape, at: u32) -> Result<[Charge; 2]> {
        let pieces = room::pieces_bytes(&self.state.device, shape);
        let pieces = self.taken(pieces, at, || format!("putting {shape} elements together takes"))?;
        Ok([self.room_as_matrix(shape, at)?, pieces])
    }

    /// The room for a copy of a dense value between host and device, elements and texels.
    pub(super) fn room_to_copy(&self, shape: Shape, at: u32) -> Result<Charge> {
        self.state.take_to_copy(shape).map_err(|kind| Fault::new(at, kind))
    }

    /// The room for so many vectors that an operation works with.
    pub(super) fn room_to_work(&self, vectors: u64, len: usize, at: u32) -> Result<Charge> {
        let bytes = room::vector_bytes(&self.state.device, len).saturating_mul(vectors);
        self.taken(bytes, at, || format!("{vectors} vectors of {len} elements to work with take"))
    }

    /// The room for so many entries while they are put in the order of a sparse matrix.
    pub(super) fn room_to_sort(&self, shape: Shape, entries: usize, at: u32) -> Result<Charge> {
        let bytes = room::sorting_bytes(shape, entries);
        self.taken(bytes, at, || format!("sorting {entries} entries of {shape} elements takes"))
    }

    /// So many bytes of the room, for what takes them.
    pub(super) fn taken(&self, bytes: u64, at: u32, what: impl Fn() -> String) -> Result<Charge> {
        self.state.take(bytes, what).map_err(|kind| Fault::new(at, kind))
    }

    /// All elements of a value on the host, with the room that they take there.
    pub(super) fn copied(&self, value: &Value, at: u32) -> Result<(Vec<f32>, Charge)> {
        let room = self.room_to_copy(value.shape(), at)?;
        Ok((value.read().at(at)?, room))
    }

    /// A value of this shape, made when there is room for it.
    pub(super) fn made<D: Into<Data>>(
        &self,
        shape: Shape,
        at: u32,
        make: impl FnOnce() -> crate::Result<D>,
    ) -> Result<Value> {
        let room = self.room(shape, at)?;
        self.kept(make().at(at)?, room, at)
    }

    /// Data for which room has been taken, in the type that belongs to their shape.
    pub(super) fn kept(&self, data: impl Into<Data>, room: Charge, at: u32) -> Result<Value> {
        Ok(Value::new(data.into().canonical().at(at)?, room))
    }

    /// A 1x1 on the device.
    pub(super) fn scalar(&self, made: crate::Result<Scalar>, at: u32) -> Result<Value> {
        made.at(at).map(Value::scalar)
    }

    /// Elements of the host's, row by row.
    pub(super) fn dense(&self, shape: Shape, values: &[f32], at: u32) -> Result<Value> {
        let device = &self.state.device;
        match (shape.rows, shape.cols, values) {
            (1, 1, [value]) => self.number(f64::from(*value), at),
            (_, 1, _) => self.made(shape, at, || Vector::from_slice(device, values)),
            _ => self.made(shape, at, || Matrix::from_rows(device, shape, values)),
        }
    }

    /// Dense data in the columns of a matrix, with the room for it where it is another one; a sparse matrix stays out.
    pub(super) fn matrix(&self, data: &Data, at: u32) -> Result<Option<(Rc<Matrix>, Charge)>> {
        let shape = data.shape();
        let bytes = match data {
            Data::Vector(_) => room::matrix_bytes(shape),
            _ => 0,
        };
        let room = self.taken(bytes, at, || format!("{shape} elements take"))?;
        Ok(data.matrix(&self.state.device).at(at)?.map(|a| (a, room)))
    }

    /// A 1x1 as a number on the host.
    pub(super) fn to_number(&self, value: &Value, at: u32) -> Result<f64> {
        match value.data() {
            Data::Number(value) => Ok(*value),
            Data::Scalar(scalar) => Ok(f64::from(scalar.read().at(at)?)),
            _ => Ok(value.read().at(at)?.first().copied().map_or(0.0, f64::from)),
        }
    }

    /// A number in place of which a matrix is an error.
    pub(super) fn one_number(&self, value: &Value, expr: &Expr, what: &str) -> Result<f64> {
        if value.shape() == Shape::new(1, 1) {
            return self.to_number(value, expr.at);
        }
        let (operand, found) = (self.text(expr), value.shape().to_string());
        let expected = format!("1x1: {what}");
        Err(Fault::new(expr.at, Kind::Operand { operand, found, expected }))
    }

    /// A whole number within a range.
    pub(super) fn whole(
        &self,
        value: &Value,
        expr: &Expr,
        what: &str,
        range: std::ops::RangeInclusive<u64>,
    ) -> Result<u64> {
        let number = self.one_number(value, expr, what)?;
        let (from, to) = range.into_inner();
        if number.fract() == 0.0 && number >= from as f64 && number <= to as f64 {
            return Ok(number as u64);
        }
        let (what, found) = (what.to_owned(), format::number(number));
        Err(Fault::new(expr.at, Kind::Whole { what, found, from, to }))
    }

    /// An operand's text, cut where it is long.
    pub(super) fn text(&self, expr: &Expr) -> String {
        const LONGEST: usize = 30;
        let text = self.source.slice(expr.start, expr.end).split_whitespace().collect::<Vec<_>>().join(" ");
        if text.chars().count() <= LONGEST {
            return text;
        }
        text.chars().take(LONGEST - 3).chain("...".chars()).collect()
    }

    pub(super) fn operand(&self, expr: &Expr, shape: Shape) -> Box<Operand> {
        Box::new(Operand { text: self.text(expr), shape })
    }
}

/// Output that could not be written.
fn output(error: &io::Error) -> Kind {
    Kind::Output { message: error.to_string(), closed: error.kind() == io::ErrorKind::BrokenPipe }
}
