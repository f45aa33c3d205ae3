//! Expressions: operators by precedence, brackets, and the blanks that matter inside `[ ]`.

use super::ast::{Expr, ExprKind, Op, Subscript};
use super::error::ScriptErrorKind as Kind;
use super::lex::Lexeme;
use super::names::{Function, is_keyword};
use super::parse::{Parser, check_height, taken};
use super::source::{Fault, Result};

/// The bracket that tokens are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inside {
    /// None: a newline ends the statement.
    Statement,
    /// `( )`: a newline is a blank.
    Parentheses,
    /// `[ ]`: a newline ends a row, and a blank may end an element.
    Literal,
}

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Result<Expr> {
        self.nested(|parser| parser.binary(0))
    }

    /// The operator at the current token, with its precedence.
    fn operator(&self) -> Option<(Op, u8)> {
        let Lexeme::Sign(sign) = self.token.is else { return None };
        let operator = match sign {
            "+" => (Op::Add, 1),
            "-" => (Op::Sub, 1),
            "*" => (Op::Mul, 2),
            "/" => (Op::Div, 2),
            "\\" => (Op::Solve, 2),
            ".*" => (Op::Times, 2),
            "./" => (Op::Over, 2),
            _ => return None,
        };
        // `[1 -2]` has two elements, `[1 - 2]` and `[1-2]` have one.
        let begins_an_element = operator.1 == 1
            && self.inside == Inside::Literal
            && self.token.blank_before
            && !self.token.blank_after;
        if begins_an_element { None } else { Some(operator) }
    }

    /// Operators of at least this precedence, from the left.
    fn binary(&mut self, least: u8) -> Result<Expr> {
        let mut left = self.signed()?;
        while let Some((op, precedence)) = self.operator().filter(|(_, p)| *p >= least) {
            let at = self.advance()?.start;
            let right = self.binary(precedence + 1)?;
            let (start, end) = (left.start, right.end);
            left = node(ExprKind::Binary(op, Box::new((left, right))), start..end, at)?;
        }
        Ok(left)
    }

    fn signed(&mut self) -> Result<Expr> {
        let minus = self.at_sign("-");
        if !minus && !self.at_sign("+") {
            return self.postfix();
        }
        let start = self.advance()?.start;
        let inner = self.nested(Self::signed)?;
        let end = inner.end;
        match (minus, inner.is) {
            (true, ExprKind::Number(value)) => leaf(ExprKind::Number(-value), start..end),
            (true, is) => node(ExprKind::Negate(Box::new(Expr { is, ..inner })), start..end, start),
            (false, is) => Ok(Expr { is, ..inner }),
        }
    }

    /// A value with any number of `'` behind it.
    fn postfix(&mut self) -> Result<Expr> {
        let mut value = self.primary()?;
        while self.at_sign("'") || self.at_sign(".'") {
            if self.inside == Inside::Literal && self.token.blank_before {
                return self.unexpected("an element; texts are written with double quotes");
            }
            let token = self.advance()?;
            let start = value.start;
            value = transposed(value, start..token.end, token.start)?;
        }
        Ok(value)
    }

    fn primary(&mut self) -> Result<Expr> {
        let (start, end) = (self.token.start, self.token.end);
        match self.token.is {
            Lexeme::Number(value) => {
                self.advance()?;
                leaf(ExprKind::Number(value), start..end)
            }
            Lexeme::Name(name) if !is_keyword(name) => self.named(name),
            Lexeme::Sign("(") => {
                let (inner, end) = self.bracket(Inside::Parentheses, Self::expression)?;
                Ok(Expr { start, end, ..inner })
            }
            Lexeme::Sign("[") => {
                let (rows, end) = self.bracket(Inside::Literal, Self::rows)?;
                node(ExprKind::Literal(rows), start..end, start)
            }
            Lexeme::Text(_) => self.unexpected("a value; texts stand among the arguments of functions"),
            _ => self.unexpected("a value"),
        }
    }

    /// A variable, an element of one, or a call.
    fn named(&mut self, name: &str) -> Result<Expr> {
        let token = self.advance()?;
        let (start, end) = (token.start, token.end);
        // `[A (1)]` has two elements.
        let bracket = self.at_sign("(") && !(self.inside == Inside::Literal && self.token.blank_before);
        match (Function::find(name), bracket) {
            (Some(function), true) => {
                let (arguments, end) = self.arguments(function, start)?;
                let mut arguments = Vec::from(arguments);
                if !function.has_value() {
                    return Err(Fault::new(start, Kind::NoValue { function: function.name() }));
                }
                if function == Function::Transpose
                    && let Some(argument) = arguments.pop()
                {
                    return transposed(argument, start..end, start);
                }
                node(ExprKind::Call(function, arguments.into()), start..end, start)
            }
            (Some(_), false) if self.at_assignment() => Err(taken(name, "a function", start)),
            (Some(function), false) => self.unexpected(format!("`(` after the function {}", function.name())),
            (None, true) => {
                let (subscripts, end) = self.subscripts()?;
                node(ExprKind::Element(name.into(), subscripts), start..end, start)
            }
            (None, false) => leaf(ExprKind::Name(name.into()), start..end),
        }
    }

    /// The arguments of a function between `(` and `)`, and where they end.
    pub(super) fn arguments(&mut self, function: Function, at: u32) -> Result<(Box<[Expr]>, u32)> {
        let mut arguments = Vec::new();
        let (_, end) = self.bracket(Inside::Parentheses, |parser| {
            while !parser.at_sign(")") {
                arguments.push(parser.argument()?);
                if !parser.at_sign(",") {
                    break;
                }
                parser.advance()?;
                if parser.at_sign(")") {
                    return parser.unexpected("another argument");
                }
            }
            Ok(())
        })?;
        if let Some(expected) = function.refuses(arguments.len()) {
            let (function, found) = (function.name(), arguments.len());
            return Err(Fault::new(at, Kind::Arguments { function, found, expected }));
        }
        Ok((arguments.into(), end))
    }

    fn argument(&mut self) -> Result<Expr> {
        let (start, end) = (self.token.start, self.token.end);
        if let Lexeme::Text(text) = self.token.is {
            self.advance()?;
            return leaf(ExprKind::Text(text.into()), start..end);
        }
        self.expression()
    }

    /// What `f` reads between the bracket at the current token and the one that closes it, and the end of that.
    pub(super) fn bracket<T>(
        &mut self,
        inside: Inside,
        f: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<(T, u32)> {
        let closing = if inside == Inside::Literal { "]" } else { ")" };
        let start = self.token.start;
        let around = std::mem::replace(&mut self.inside, inside);
        self.advance()?;
        let made = f(self);
        if self.token.is == Lexeme::End {
            let what = if inside == Inside::Literal { "the bracket `[`" } else { "the bracket `(`" };
            // Whatever was missed inside, more text could still bring it.
            let inner = made.err().filter(|fault| matches!(fault.kind, Kind::Unfinished { .. }));
            return Err(inner.unwrap_or(Fault::new(start, Kind::Unfinished { what })));
        }
        let made = made?;
        if !self.at_sign(closing) {
            return self.unexpected(match inside {
                Inside::Literal => "an element, `,`, `;` or `]`".to_owned(),
                _ => "an operator, `,` or `)`".to_owned(),
            });
        }
        let end = self.token.end;
        self.inside = around;
        self.advance()?;
        Ok((made, end))
    }

    /// The rows of a literal. Rows end with `;` or a newline, elements with `,` or a blank.
    fn rows(&mut self) -> Result<Box<[Box<[Expr]>]>> {
        let mut rows = Vec::new();
        loop {
            while self.at_sign(";") || self.token.is == Lexeme::Newline {
                self.advance()?;
            }
            if self.at_sign("]") || self.token.is == Lexeme::End {
                return Ok(rows.into());
            }
            rows.push(self.row()?);
        }
    }

    fn row(&mut self) -> Result<Box<[Expr]>> {
        let mut row = Vec::new();
        loop {
            row.push(self.expression()?);
            if self.at_sign(",") {
                self.advance()?;
            } else if self.row_ends() {
                return Ok(row.into());
            } else if !self.token.blank_before {
                return self.unexpected("an operator, a blank, `,`, `;` or `]`");
            }
        }
    }

    fn row_ends(&self) -> bool {
        self.at_sign(";") || self.at_sign("]") || matches!(self.token.is, Lexeme::Newline | Lexeme::End)
    }
}

/// An expression without others inside.
fn leaf(is: ExprKind, place: std::ops::Range<u32>) -> Result<Expr> {
    node(is, place.clone(), place.start)
}

/// An expression, unless the tree grows too tall.
pub(super) fn node(is: ExprKind, place: std::ops::Range<u32>, at: u32) -> Result<Expr> {
    let inside = match &is {
        ExprKind::Number(_) | ExprKind::Text(_) | ExprKind::Name(_) => 0,
        ExprKind::Negate(inner) | ExprKind::Transpose(inner) => inner.height,
        ExprKind::Binary(_, sides) => sides.0.height.max(sides.1.height),
        ExprKind::Call(_, arguments) => tallest(arguments),
        ExprKind::Literal(rows) => rows.iter().map(|row| tallest(row)).max().unwrap_or(0),
        ExprKind::Element(_, subscripts) => subscripts.iter().map(Subscript::height).max().unwrap_or(0),
    };
    check_height(inside, at)?;
    Ok(Expr { is, start: place.start, end: place.end, at, height: inside + 1 })
}

fn tallest(all: &[Expr]) -> u16 {
    all.iter().map(|e| e.height).max().unwrap_or(0)
}

/// Two transpositions are none.
fn transposed(value: Expr, place: std::ops::Range<u32>, at: u32) -> Result<Expr> {
    match value.is {
        ExprKind::Transpose(inner) => Ok(Expr { start: place.start, end: place.end, ..*inner }),
        _ => node(ExprKind::Transpose(Box::new(value)), place, at),
    }
}
