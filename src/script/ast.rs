//! A script as a tree. Its depth is bounded by the parser, so that walking and dropping it cannot exhaust the stack.

use super::names::Function;

/// An operator between two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Add,
    Sub,
    /// The matrix product, or scaling if one side is 1x1.
    Mul,
    /// Division by a 1x1.
    Div,
    /// `A \ b`, which is `solve(A, b)`.
    Solve,
    /// Element by element.
    Times,
    /// Element by element.
    Over,
}

impl Op {
    pub(super) fn sign(self) -> &'static str {
        match self {
            Op::Add => "+",
            Op::Sub => "-",
            Op::Mul => "*",
            Op::Div => "/",
            Op::Solve => "\\",
            Op::Times => ".*",
            Op::Over => "./",
        }
    }
}

/// An expression with its place: `start..end` in the text, and where an error points to.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Expr {
    pub(super) is: ExprKind,
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) at: u32,
    /// 1 more than that of the tallest expression inside.
    pub(super) height: u16,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum ExprKind {
    Number(f64),
    /// Among the arguments of a function only.
    Text(Box<str>),
    Name(Box<str>),
    Negate(Box<Expr>),
    Transpose(Box<Expr>),
    Binary(Op, Box<(Expr, Expr)>),
    Call(Function, Box<[Expr]>),
    Element(Box<str>, Box<[Subscript]>),
    /// The rows of `[ ; ]`.
    Literal(Box<[Box<[Expr]>]>),
}

/// What stands between the brackets of `A(..)`; everything counts from 1.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Subscript {
    /// `:`
    All,
    One(Expr),
    /// `first:last`
    Range(Expr, Expr),
}

impl Subscript {
    pub(super) fn height(&self) -> u16 {
        match self {
            Subscript::All => 0,
            Subscript::One(at) => at.height,
            Subscript::Range(first, last) => first.height.max(last.height),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Statement {
    pub(super) is: StatementKind,
    pub(super) at: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum StatementKind {
    /// `name = value`; `name += value` has become `name = name + value`.
    Assign {
        name: Box<str>,
        value: Expr,
    },
    /// `name(subscripts) = value`.
    AssignPart {
        name: Box<str>,
        subscripts: Box<[Subscript]>,
        value: Expr,
    },
    /// An expression alone: its value is printed, unless a `;` follows.
    Show {
        value: Expr,
        quiet: bool,
    },
    /// A function without a value.
    Act {
        function: Function,
        arguments: Box<[Expr]>,
    },
    Repeat {
        count: Expr,
        body: Box<[Statement]>,
    },
    Timing {
        on: bool,
    },
}
