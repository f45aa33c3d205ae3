//! Element by element: the operations that are the same for numbers, scalars, vectors and matrices, with 1x1 operands
//! broadcast to the shape of the others.

use super::ast::{Expr, Op};
use super::error::ScriptErrorKind as Kind;
use super::room::Charge;
use super::run::{At, Run};
use super::source::{Fault, Result};
use super::value::{Data, Value};
use crate::data::{Matrix, Scalar, Vector};
use crate::device::Device;
use crate::ops::{self, Coefficient, Elements};
use crate::shape::Shape;

/// An operation, with its factor where that stays a factor.
#[derive(Clone, Copy)]
pub(super) enum Action<'a> {
    Neg,
    Abs,
    Sqrt,
    Add,
    Sub,
    Times,
    Over,
    /// A quotient, or 0 where the divisor is 0.
    OrZero,
    Max,
    Min,
    /// `a + b .* c`
    MulAdd,
    /// `a + (b + c) .* d`
    Madad,
    /// Times a 1x1.
    Scale(Coefficient<'a>),
    /// Plus a 1x1.
    Shift(Coefficient<'a>),
    /// The larger of the operand and a 1x1.
    AtLeast(Coefficient<'a>),
    /// `a + b * c` with a 1x1 c
    AddScaled(Coefficient<'a>),
}

impl Action<'_> {
    /// The operation of an operator between equal shapes.
    pub(super) fn of(op: Op) -> Self {
        match op {
            Op::Add => Action::Add,
            Op::Sub => Action::Sub,
            Op::Mul | Op::Times => Action::Times,
            Op::Div | Op::Over | Op::Solve => Action::Over,
        }
    }

    /// On the device; `None` for another number of operands than the operation has.
    fn draw<T: Elements>(self, operands: &[&T]) -> crate::Result<Option<T>> {
        let Some(first) = operands.first() else { return Ok(None) };
        let mut out = first.like()?;
        match (self, operands) {
            (Action::Neg, [x]) => ops::neg(&mut out, x),
            (Action::Abs, [x]) => ops::abs(&mut out, x),
            (Action::Sqrt, [x]) => ops::sqrt(&mut out, x),
            (Action::Add, [x, y]) => ops::add(&mut out, x, y),
            (Action::Sub, [x, y]) => ops::sub(&mut out, x, y),
            (Action::Times, [x, y]) => ops::mul(&mut out, x, y),
            (Action::Over, [x, y]) => ops::div(&mut out, x, y),
            (Action::OrZero, [x, y]) => ops::div_or_zero(&mut out, x, y),
            (Action::Max, [x, y]) => ops::max(&mut out, x, y),
            (Action::Min, [x, y]) => ops::min(&mut out, x, y),
            (Action::MulAdd, [a, b, c]) => ops::mul_add(&mut out, b, c, a),
            (Action::Madad, [a, b, c, d]) => ops::madad(&mut out, a, b, c, d),
            (Action::Scale(a), [x]) => ops::scaled(&mut out, a, x),
            (Action::Shift(a), [x]) => ops::add_constant(&mut out, x, a),
            (Action::AtLeast(a), [x]) => ops::max_constant(&mut out, x, a),
            (Action::AddScaled(c), [a, b]) => ops::axpy(&mut out, c, b, a),
            _ => return Ok(None),
        }?;
        Ok(Some(out))
    }

    /// On the host, in 64 bits.
    fn number(self, operands: &[f64]) -> Option<f64> {
        Some(match (self, operands) {
            (Action::Neg, [x]) => -x,
            (Action::Abs, [x]) => x.abs(),
            (Action::Sqrt, [x]) => x.sqrt(),
            (Action::Add, [x, y]) => x + y,
            (Action::Sub, [x, y]) => x - y,
            (Action::Times, [x, y]) => x * y,
            (Action::OrZero, [_, 0.0]) => 0.0,
            (Action::Over | Action::OrZero, [x, y]) => x / y,
            (Action::Max, [x, y]) => x.max(*y),
            (Action::Min, [x, y]) => x.min(*y),
            (Action::MulAdd, [a, b, c]) => a + b * c,
            (Action::Madad, [a, b, c, d]) => a + (b + c) * d,
            _ => return None,
        })
    }

    /// On dense data, all of one kind; `None` where they are not.
    fn run(self, operands: &[&Data]) -> crate::Result<Option<Data>> {
        macro_rules! all_of_one_kind {
            ($($kind:ident)*) => {$({
                let same = operands.iter().map(|data| match data {
                    Data::$kind(x) => Some(x.as_ref()),
                    _ => None,
                });
                if let Some(same) = same.collect::<Option<Vec<_>>>() {
                    return Ok(self.draw(&same)?.map(Data::from));
                }
            })*};
        }
        all_of_one_kind!(Scalar Vector Matrix);
        Ok(None)
    }
}

/// An operand: its value, and what it is called in errors.
pub(super) type Operand<'a> = (&'a Value, &'a Expr);

impl Run<'_> {
    /// The result of host arithmetic.
    pub(super) fn number(&self, value: f64, at: u32) -> Result<Value> {
        match value as f32 {
            near if !near.is_finite() => Err(Fault::new(at, Kind::NotFinite { value })),
            // It would be lost, without a word, where a device first meets it.
            0.0 if value != 0.0 => Err(Fault::new(at, Kind::TooSmall { value })),
            _ => Ok(Value::number(value)),
        }
    }

    /// An operation on operands of equal shape, or of shape 1x1. `whole` is how errors call it.
    pub(super) fn elementwise(
        &self,
        action: Action<'_>,
        operands: &[Operand<'_>],
        at: u32,
        whole: &dyn Fn() -> String,
    ) -> Result<Value> {
        let data: Vec<&Data> = operands.iter().map(|(value, _)| value.data()).collect();
        let numbers = data.iter().map(|data| match data {
            Data::Number(value) => Some(*value),
            _ => None,
        });
        if let Some(value) = numbers.collect::<Option<Vec<f64>>>().and_then(|v| action.number(&v)) {
            return self.number(value, at);
        }
        let shape = self.common(operands, at, whole)?;
        if data.iter().any(|data| matches!(data, Data::Sparse(_))) {
            return self.sparse_elementwise(action, operands, at);
        }
        let room = self.room(shape, at)?;
        if shape != Shape::new(1, 1)
            && let Some(made) = short(action, &data).at(at)?
        {
            return self.kept(made, room, at);
        }
        let equal = data.iter().map(|data| self.broadcast(data, shape, at)).collect::<Result<Vec<_>>>()?;
        match action.run(&equal.iter().map(|(data, _)| data).collect::<Vec<_>>()).at(at)? {
            Some(made) => self.kept(made, room, at),
            None => {
                let (place, detail) = ("elementwise", "operands of equal shapes are of different kinds");
                Err(Fault::new(at, Kind::Library(Box::new(crate::Error::Internal { place, detail }))))
            }
        }
    }

    /// The shape of the operands that are not 1x1, which must all be equal.
    fn common(&self, operands: &[Operand<'_>], at: u32, whole: &dyn Fn() -> String) -> Result<Shape> {
        let one = Shape::new(1, 1);
        let mut larger = operands.iter().filter(|(value, _)| value.shape() != one);
        let Some((first, first_expr)) = larger.next() else { return Ok(one) };
        let shape = first.shape();
        match larger.find(|(other, _)| other.shape() != shape) {
            None => Ok(shape),
            Some((other, other_expr)) => {
                let left = self.operand(first_expr, shape);
                let right = self.operand(other_expr, other.shape());
                let rule = format!("{} needs equal shapes, or 1x1", whole());
                Err(Fault::new(at, Kind::Shapes { left, right, rule }))
            }
        }
    }

    /// A 1x1 on the device in this shape, with the room that takes; anything else as it is.
    fn broadcast(&self, data: &Data, shape: Shape, at: u32) -> Result<(Data, Option<Charge>)> {
        let device = &self.state.device;
        let one = shape == Shape::new(1, 1);
        let Some(value) = data.coefficient() else { return Ok((data.clone(), None)) };
        match data {
            Data::Number(value) if one => Ok((Scalar::new(device, *value as f32).at(at)?.into(), None)),
            _ if one => Ok((data.clone(), None)),
            _ => {
                let room = self.room(shape, at)?;
                Ok((filled(device, shape, value).at(at)?, Some(room)))
            }
        }
    }
}

/// A 1x1 in every element of a shape.
pub(super) fn filled(device: &Device, shape: Shape, value: Coefficient<'_>) -> crate::Result<Data> {
    if shape.cols == 1 {
        let mut x = Vector::uninit(device, shape.rows)?;
        ops::fill(&mut x, value)?;
        return Ok(x.into());
    }
    let mut a = Matrix::uninit(device, shape)?;
    ops::fill(&mut a, value)?;
    Ok(a.into())
}

/// In one draw, where the operation exists with a constant.
fn short(action: Action<'_>, operands: &[&Data]) -> crate::Result<Option<Data>> {
    let constant = operands.last().and_then(|data| data.coefficient());
    let other = operands.first().and_then(|data| data.coefficient());
    match (action, operands, other, constant) {
        (Action::Times, [x, _], None, Some(a)) | (Action::Times, [_, x], Some(a), None) => {
            Action::Scale(a).run(&[x])
        }
        (Action::Add, [x, _], None, Some(a)) | (Action::Add, [_, x], Some(a), None) => {
            Action::Shift(a).run(&[x])
        }
        (Action::Sub, [x, _], None, Some(Coefficient::Host(a))) => {
            Action::Shift(Coefficient::Host(-a)).run(&[x])
        }
        (Action::Max, [x, _], None, Some(a)) | (Action::Max, [_, x], Some(a), None) => {
            Action::AtLeast(a).run(&[x])
        }
        (Action::MulAdd, [a, b, _], None, Some(c)) => Action::AddScaled(c).run(&[a, b]),
        _ => Ok(None),
    }
}
