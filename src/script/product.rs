//! Products. An operand with `'` is not transposed but multiplied as it lies: `A' * B` and `A * B'` have schedules of
//! their own.

use std::rc::Rc;

use super::ast::{Expr, ExprKind, Op};
use super::elementwise::Action;
use super::error::ScriptErrorKind as Kind;
use super::room::Charge;
use super::run::{At, Run};
use super::source::{Fault, Result};
use super::sparse::multiplied;
use super::value::{Data, Value};
use crate::data::{Matrix, Vector};
use crate::ops::{self, MatmulForm};
use crate::shape::Shape;

/// An operand of a product.
pub(super) struct Factor<'a> {
    value: Value,
    transposed: bool,
    expr: &'a Expr,
}

impl Factor<'_> {
    /// Of the operand as it is multiplied.
    fn shape(&self) -> Shape {
        if self.transposed { self.value.shape().transposed() } else { self.value.shape() }
    }
}

impl Run<'_> {
    /// An operand, with a transposition left to the product.
    pub(super) fn factor<'a>(&mut self, expr: &'a Expr) -> Result<Factor<'a>> {
        let (inner, transposed) = match &expr.is {
            ExprKind::Transpose(inner) => (inner.as_ref(), true),
            _ => (expr, false),
        };
        Ok(Factor { value: self.evaluate(inner)?, transposed, expr })
    }

    /// A value of its own with rows and columns exchanged.
    pub(super) fn transposed(&self, x: &Value, at: u32) -> Result<Value> {
        if x.shape() == Shape::new(1, 1) {
            return Ok(x.clone());
        }
        match x.data() {
            Data::Sparse(a) => self.sparse_transposed(a, at),
            Data::Matrix(a) if a.shape().rows == 1 => self.made(a.shape().transposed(), at, || a.row(0)),
            Data::Vector(x) => self.row_matrix(x, at),
            data => match self.matrix(data, at)? {
                Some((a, _room)) => {
                    let [room, _pieces] = self.room_to_move(x.shape().transposed(), at)?;
                    self.kept(a.transposed().at(at)?, room, at)
                }
                None => Ok(x.clone()),
            },
        }
    }

    /// A vector as a matrix with one row.
    pub(super) fn row_matrix(&self, x: &Vector, at: u32) -> Result<Value> {
        let shape = Shape::new(1, x.len());
        self.made(shape, at, || Matrix::from_vector_rows(x, shape))
    }

    /// `A * B`, where 1x1 scales.
    pub(super) fn product(&self, left: Factor<'_>, right: Factor<'_>, at: u32) -> Result<Value> {
        let one = Shape::new(1, 1);
        let (a, b) = (left.shape(), right.shape());
        if a == one || b == one {
            let of = |factor: &Factor<'_>| match factor.transposed {
                true => self.transposed(&factor.value, at),
                false => Ok(factor.value.clone()),
            };
            let (x, y) = (of(&left)?, of(&right)?);
            let operands = [(&x, left.expr), (&y, right.expr)];
            return self.elementwise(Action::Times, &operands, at, &String::new);
        }
        if a.cols != b.rows {
            let (left, right) = (self.operand(left.expr, a), self.operand(right.expr, b));
            let (l, r) = (&left.text, &right.text);
            let rule = format!("{l} * {r} needs as many rows in {r} as {l} has columns");
            return Err(Fault::new(at, Kind::Shapes { left, right, rule }));
        }
        let shape = Shape::new(a.rows, b.cols);
        match (left.value.data(), right.value.data()) {
            (Data::Sparse(_), Data::Sparse(_)) => self.needs_dense(right.expr),
            (Data::Sparse(s), Data::Vector(x)) if !right.transposed => {
                let _turning = self.room_to_turn(s, left.transposed, at)?;
                self.made(shape, at, || multiplied(s.as_ref(), left.transposed, x))
            }
            (Data::Sparse(s), other) => {
                let _turning = self.room_to_turn(s, left.transposed, at)?;
                let _columns = self.room_for_columns(shape, a.cols, at)?;
                let Some((b, _room)) = self.turned(other, right.transposed, at)? else {
                    return self.needs_dense(right.expr);
                };
                self.made(shape, at, || self.sparse_times_dense(s, left.transposed, &b))
            }
            (other, Data::Sparse(s)) => {
                // A S = (Sᵀ Aᵀ)ᵀ
                let _turning = self.room_to_turn(s, !right.transposed, at)?;
                let _columns = self.room_for_columns(shape.transposed(), a.cols, at)?;
                let Some((a, _room)) = self.turned(other, !left.transposed, at)? else {
                    return self.needs_dense(left.expr);
                };
                let _beside = self.room_as_matrix(shape.transposed(), at)?;
                self.made(shape, at, || self.sparse_times_dense(s, !right.transposed, &a)?.transposed())
            }
            _ => self.dense_product(&left, &right, at),
        }
    }

    /// [`matrix`](Self::matrix), with rows and columns exchanged where that is asked for.
    fn turned(&self, data: &Data, transposed: bool, at: u32) -> Result<Option<(Rc<Matrix>, Charge)>> {
        let Some((a, room)) = self.matrix(data, at)? else { return Ok(None) };
        if !transposed {
            return Ok(Some((a, room)));
        }
        // The columns of a matrix that were a vector are not needed any longer.
        let [turned, _pieces] = self.room_to_move(a.shape().transposed(), at)?;
        let made = Rc::new(a.transposed().at(at)?);
        drop(room);
        Ok(Some((made, turned)))
    }

    fn dense_product(&self, left: &Factor<'_>, right: &Factor<'_>, at: u32) -> Result<Value> {
        let device = &self.state.device;
        let shape = Shape::new(left.shape().rows, right.shape().cols);
        match (left.value.data(), left.transposed, right.value.data(), right.transposed) {
            (Data::Vector(x), true, Data::Vector(y), false) => {
                return self.scalar(ops::dot(x.as_ref(), y.as_ref()), at);
            }
            (Data::Vector(x), false, Data::Vector(y), true) => {
                return self.made(shape, at, || {
                    let mut c = Matrix::uninit(device, shape)?;
                    ops::outer(&mut c, 1.0, x, y)?;
                    Ok(c)
                });
            }
            (Data::Matrix(a), transposed, Data::Vector(x), false) => {
                return self.made(shape, at, || multiplied(a.as_ref(), transposed, x));
            }
            // xᵀ B = (Bᵀ x)ᵀ
            (Data::Vector(x), true, Data::Matrix(b), transposed) => {
                let _beside = self.room(shape.transposed(), at)?;
                let room = self.room(shape, at)?;
                let _work = self.room_to_work(2, shape.cols, at)?;
                let row =
                    multiplied(b.as_ref(), !transposed, x).and_then(|y| Matrix::from_vector_rows(&y, shape));
                return self.kept(row.at(at)?, room, at);
            }
            _ => {}
        }
        let (a, b) = (self.matrix(left.value.data(), at)?, self.matrix(right.value.data(), at)?);
        let (Some((a, _a)), Some((b, _b))) = (a, b) else { return self.needs_dense(left.expr) };
        let both = left.transposed && right.transposed;
        let form = match (left.transposed, right.transposed) {
            (true, false) => MatmulForm::TransposedA,
            (false, true) => MatmulForm::TransposedB,
            _ => MatmulForm::Plain,
        };
        // Of two that are transposed, the second is multiplied by the first.
        let (first, second) = if both { (b.shape(), a.shape()) } else { (a.shape(), b.shape()) };
        let room = self.room_as_matrix(shape, at)?;
        let _beside = if both { Some(self.room_as_matrix(shape.transposed(), at)?) } else { None };
        let work = ops::matmul_work(device, form, first, second);
        let _work = self.taken(work, at, || format!("multiplying {first} by {second} elements takes"))?;
        let made = || -> crate::Result<Matrix> {
            let mut c = Matrix::uninit(device, shape)?;
            match (left.transposed, right.transposed) {
                (false, false) => ops::matmul(&mut c, &a, &b)?,
                (true, false) => ops::matmul_at(&mut c, &a, &b)?,
                (false, true) => ops::matmul_bt(&mut c, &a, &b)?,
                // Aᵀ Bᵀ = (B A)ᵀ
                (true, true) => {
                    let mut product = Matrix::uninit(device, shape.transposed())?;
                    ops::matmul(&mut product, &b, &a)?;
                    ops::transpose(&mut c, &product)?;
                }
            }
            Ok(c)
        };
        self.kept(made().at(at)?, room, at)
    }

    /// An operator between two expressions.
    pub(super) fn binary(&mut self, op: Op, (left, right): &(Expr, Expr), at: u32) -> Result<Value> {
        if op == Op::Mul {
            let (left, right) = (self.factor(left)?, self.factor(right)?);
            return self.product(left, right, at);
        }
        let (x, y) = (self.evaluate(left)?, self.evaluate(right)?);
        if op == Op::Solve {
            return self.solve((&x, left), (&y, right), None, self.asked(), at);
        }
        if op == Op::Div && y.shape() != Shape::new(1, 1) {
            let operand = self.operand(right, y.shape());
            let (operand, found) = (operand.text, operand.shape.to_string());
            let expected = "1x1 behind `/`; `./` divides element by element, `A \\ b` solves A x = b".into();
            return Err(Fault::new(at, Kind::Operand { operand, found, expected }));
        }
        let whole = || format!("{} {} {}", self.text(left), op.sign(), self.text(right));
        self.elementwise(Action::of(op), &[(&x, left), (&y, right)], at, &whole)
    }
}
