//! Elements, blocks and literals. Indices count from 1.

use std::ops::Range;
use std::rc::Rc;

use super::ast::{Expr, Subscript};
use super::error::ScriptErrorKind as Kind;
use super::run::{At, Run};
use super::source::{Fault, Result};
use super::sparse;
use super::value::{Data, Value};
use crate::data::Matrix;
use crate::ops;
use crate::shape::Shape;

/// Rows and columns counted from 0, and whether both were given as single numbers.
struct Place {
    rows: Range<usize>,
    cols: Range<usize>,
    single: bool,
}

impl Place {
    fn shape(&self) -> Shape {
        Shape::new(self.rows.len(), self.cols.len())
    }
}

/// The error of a block of a sparse variable.
fn no_blocks<T>(name: &str, at: u32) -> Result<T> {
    let expected = format!("a dense matrix for blocks: full({name}) makes one");
    Err(Fault::new(at, Kind::Operand { operand: name.to_owned(), found: "sparse".to_owned(), expected }))
}

impl Run<'_> {
    /// `name(subscripts)`: a single element becomes a number on the host, a block stays on the device.
    pub(super) fn part(&mut self, name: &str, subscripts: &[Subscript], at: u32) -> Result<Value> {
        let whole = self.variable(name, at)?.clone();
        let place = self.place(name, whole.shape(), subscripts, at)?;
        let (row, col) = (place.rows.start, place.cols.start);
        match whole.data() {
            Data::Number(_) if place.single => Ok(whole),
            Data::Scalar(scalar) if place.single => self.number(f64::from(scalar.read().at(at)?), at),
            Data::Vector(x) if place.single => self.number(f64::from(x.element(row).at(at)?), at),
            Data::Sparse(a) if place.single => self.number(sparse::element(a, row, col), at),
            data => {
                let Some((a, _room)) = self.matrix(data, at)? else { return no_blocks(name, at) };
                if place.single {
                    return self.number(f64::from(a.element(row, col).at(at)?), at);
                }
                let [room, _pieces] = self.room_to_move(place.shape(), at)?;
                self.kept(a.block(row, col, place.shape()).at(at)?, room, at)
            }
        }
    }

    /// `name(subscripts) = value`. The variable keeps its shape.
    pub(super) fn assign_part(
        &mut self,
        name: &str,
        subscripts: &[Subscript],
        expr: &Expr,
        at: u32,
    ) -> Result {
        let value = self.evaluate(expr)?;
        let whole = self.variable(name, at)?.clone();
        let place = self.place(name, whole.shape(), subscripts, at)?;
        let (shape, found) = (place.shape(), value.shape());
        if found != shape && found != Shape::new(1, 1) {
            let (operand, found) = (self.text(expr), found.to_string());
            let expected = format!("{shape}, as the part of {name} that it replaces, or 1x1");
            return Err(Fault::new(expr.at, Kind::Operand { operand, found, expected }));
        }
        let device = self.state.device.clone();
        let block = match value.data().coefficient() {
            Some(number) => {
                let room = self.room_as_matrix(shape, at)?;
                let mut block = Matrix::uninit(&device, shape).at(at)?;
                ops::fill(&mut block, number).at(at)?;
                Some((Rc::new(block), room))
            }
            None => self.matrix(value.data(), at)?,
        };
        let Some((block, _room)) = block else { return self.needs_dense(expr) };
        let (row, col) = (place.rows.start, place.cols.start);
        // The part is put into new textures, which then take the place of the old ones.
        let _anew = self.room_to_move(whole.shape(), at)?;
        drop((whole, value));
        let Some(variable) = self.state.variables.get_mut(name) else { return Ok(()) };
        // Data that nothing else shares change in place.
        if let Data::Matrix(own) = variable.data_mut()
            && let Some(own) = Rc::get_mut(own)
        {
            return own.set_block(row, col, &block).at(at);
        }
        let variable = variable.clone();
        let Some((old, _room)) = self.matrix(variable.data(), at)? else { return no_blocks(name, at) };
        let room = self.room_as_matrix(old.shape(), at)?;
        let mut new = Matrix::uninit(&device, old.shape()).at(at)?;
        ops::copy(&mut new, &old).at(at)?;
        new.set_block(row, col, &block).at(at)?;
        let value = self.kept(new, room, at)?;
        self.state.variables.insert(name.to_owned(), value);
        Ok(())
    }

    /// One subscript for a vector, two for a matrix.
    fn place(&mut self, name: &str, shape: Shape, subscripts: &[Subscript], at: u32) -> Result<Place> {
        let all = |n: usize| 0..n;
        let (rows, cols) = match subscripts {
            [one] if shape.cols == 1 => (self.range(name, one, "index", shape.rows)?, (all(1), true)),
            [one] if shape.rows == 1 => ((all(1), true), self.range(name, one, "index", shape.cols)?),
            [row, col] => {
                (self.range(name, row, "row", shape.rows)?, self.range(name, col, "column", shape.cols)?)
            }
            _ => {
                let (operand, found) = (name.to_owned(), shape.to_string());
                let expected = "two subscripts, row and column, or a vector with one".into();
                return Err(Fault::new(at, Kind::Operand { operand, found, expected }));
            }
        };
        Ok(Place { rows: rows.0, cols: cols.0, single: rows.1 && cols.1 })
    }

    /// A subscript counted from 0, and whether it is a single number.
    fn range(
        &mut self,
        name: &str,
        subscript: &Subscript,
        what: &str,
        bound: usize,
    ) -> Result<(Range<usize>, bool)> {
        let what = format!("the {what} in {name}(..)");
        let n = bound as u64;
        match subscript {
            Subscript::All => Ok((0..bound, false)),
            Subscript::One(expr) => {
                let value = self.evaluate(expr)?;
                let index = self.whole(&value, expr, &what, 1..=n)? as usize;
                Ok((index - 1..index, true))
            }
            Subscript::Range(first_expr, last_expr) => {
                let first = self.evaluate(first_expr)?;
                let last = self.evaluate(last_expr)?;
                // `3:2` is empty, as is `1:0`.
                let first = self.whole(&first, first_expr, &what, 1..=n.saturating_add(1))? as usize;
                let last = self.whole(&last, last_expr, &what, 0..=n)? as usize;
                Ok((first - 1..last.max(first - 1), false))
            }
        }
    }

    /// `[ .. ]`, whose elements may be matrices.
    pub(super) fn literal(&mut self, rows: &[Box<[Expr]>], at: u32) -> Result<Value> {
        let mut parts: Vec<Vec<(Value, &Expr)>> = Vec::new();
        for row in rows {
            let mut values = Vec::new();
            for expr in row {
                let value = self.evaluate(expr)?;
                // `[]` is nothing, wherever it stands.
                if value.shape() != Shape::default() {
                    values.push((value, expr));
                }
            }
            if !values.is_empty() {
                parts.push(values);
            }
        }
        let shape = self.joined_shape(&parts)?;
        let number = |(value, expr): &(Value, &Expr)| match value.data() {
            Data::Number(value) => Some((*value, expr.at)),
            _ => None,
        };
        if let Some(numbers) = parts.iter().flatten().map(number).collect::<Option<Vec<_>>>() {
            if let Some((value, at)) = numbers.iter().find(|(v, _)| !(*v as f32).is_finite()) {
                return Err(Fault::new(*at, Kind::NotFinite { value: *value }));
            }
            if let [(value, _)] = numbers.as_slice() {
                return self.number(*value, at);
            }
            let _copy = self.room_to_copy(shape, at)?;
            let numbers: Vec<f32> = numbers.into_iter().map(|(v, _)| v as f32).collect();
            return self.dense(shape, &numbers, at);
        }
        let room = self.room_as_matrix(shape, at)?;
        let _anew = self.room_to_move(shape, at)?;
        let mut whole = Matrix::zeros(&self.state.device, shape).at(at)?;
        let mut row = 0;
        for values in &parts {
            let (mut col, mut height) = (0, 0);
            for (value, expr) in values {
                let Some((block, _room)) = self.matrix(value.data(), expr.at)? else {
                    return self.needs_dense(expr);
                };
                whole.set_block(row, col, &block).at(expr.at)?;
                col += block.shape().cols;
                height = block.shape().rows;
            }
            row += height;
        }
        self.kept(whole, room, at)
    }

    /// The shape of all parts together: equal heights in a row, equal widths of the rows.
    fn joined_shape(&self, parts: &[Vec<(Value, &Expr)>]) -> Result<Shape> {
        let mut whole: Option<(Shape, &Expr)> = None;
        for values in parts {
            let mut row: Option<(Shape, &Expr)> = None;
            for (value, expr) in values {
                let shape = value.shape();
                match &mut row {
                    None => row = Some((shape, expr)),
                    Some((so_far, first)) => {
                        if so_far.rows != shape.rows {
                            let rule = "what stands side by side needs equal numbers of rows";
                            return self.unequal((first, *so_far), (expr, shape), rule);
                        }
                        so_far.cols = so_far.cols.saturating_add(shape.cols);
                    }
                }
            }
            let Some((shape, expr)) = row else { continue };
            match &mut whole {
                None => whole = Some((shape, expr)),
                Some((so_far, first)) => {
                    if so_far.cols != shape.cols {
                        let (found, expected) = (shape.cols, so_far.cols);
                        let operand = format!("the row that begins with {}", self.text(expr));
                        let found = format!("{found} wide");
                        let expected =
                            format!("{expected}, as the row that begins with {}", self.text(first));
                        return Err(Fault::new(expr.at, Kind::Operand { operand, found, expected }));
                    }
                    so_far.rows = so_far.rows.saturating_add(shape.rows);
                }
            }
        }
        Ok(whole.map_or(Shape::default(), |(shape, _)| shape))
    }

    fn unequal<T>(&self, left: (&Expr, Shape), right: (&Expr, Shape), rule: &str) -> Result<T> {
        let at = right.0.at;
        let (left, right) = (self.operand(left.0, left.1), self.operand(right.0, right.1));
        Err(Fault::new(at, Kind::Shapes { left, right, rule: rule.to_owned() }))
    }
}
