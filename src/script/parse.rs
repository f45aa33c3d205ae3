//! Statements: from tokens to a tree. No GL, and no work that grows faster than the text.

use super::ast::{ExprKind, Op, Statement, StatementKind, Subscript};
use super::error::{ScriptError, ScriptErrorKind as Kind, quoted};
use super::expression::{Inside, node};
use super::lex::{Lexeme, Lexer, Token};
use super::names::{Function, reserved};
use super::source::{Fault, Result, Source};

/// Longest script in bytes. Large data belong into files.
pub const MAX_SOURCE: usize = 1 << 20;

/// Deepest nesting of brackets and loops, and the tallest tree of operators (a sum of so many terms is as tall).
pub const MAX_DEPTH: u16 = 100;

/// A script that has been read and found well-formed; [`Interpreter::run`](super::Interpreter::run) runs it.
#[derive(Clone, Debug, PartialEq)]
#[doc(alias = "Program")]
pub struct Script {
    pub(super) source: Source,
    pub(super) statements: Box<[Statement]>,
}

/// Reads a script; `name` stands for it in errors. Needs no GL, and runs nothing.
///
/// *Cost*: linear in the text; memory below 128 times the text.
///
/// *Errors*: the first [`ScriptError`] with line and column. Any bytes are accepted as input and none panics: what is
/// no UTF-8, longer than [`MAX_SOURCE`] or nested deeper than [`MAX_DEPTH`] is refused like any other mistake.
///
/// ```
/// use texla::script::parse;
/// assert!(parse("# a comment\nA = [1 2; 3 4]\nprint(A' * A)\n", "demo").is_ok());
/// let e = parse("x = 1e99", "demo").unwrap_err();
/// assert!(e.to_string().starts_with("demo: line 1, column 5: `1e99` is no number"));
/// ```
pub fn parse(source: impl AsRef<[u8]>, name: &str) -> Result<Script, ScriptError> {
    let bytes = source.as_ref();
    let name = name.to_owned();
    if bytes.len() > MAX_SOURCE {
        let (what, limit) = (format!("the script has {} bytes", bytes.len()), MAX_SOURCE as u64);
        return Err(Source { name, text: String::new() }.error(Fault::new(0, Kind::Limit { what, limit })));
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(e) => {
            let at = e.valid_up_to();
            let byte = bytes.get(at).copied().unwrap_or_default();
            let text = String::from_utf8_lossy(bytes).into_owned();
            return Err(Source { name, text }.error(Fault::new(at as u32, Kind::Encoding { byte })));
        }
    };
    let source = Source { name, text };
    let statements = Parser::new(&source.text).and_then(|mut parser| parser.program());
    match statements {
        Ok(statements) => Ok(Script { source, statements }),
        Err(fault) => Err(source.error(fault)),
    }
}

/// The parser: one token of lookahead.
pub(super) struct Parser<'a> {
    lexer: Lexer<'a>,
    pub(super) token: Token<'a>,
    /// The bracket that tokens are in now: newlines and blanks mean something else in each.
    pub(super) inside: Inside,
    depth: u16,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Result<Self> {
        let mut lexer = Lexer::new(text);
        let token = lexer.next()?;
        Ok(Parser { lexer, token, inside: Inside::Statement, depth: 0 })
    }

    /// Moves to the next token and returns the one before.
    pub(super) fn advance(&mut self) -> Result<Token<'a>> {
        let before = self.token;
        let mut blanks = false;
        loop {
            self.token = self.lexer.next()?;
            if self.inside != Inside::Parentheses || self.token.is != Lexeme::Newline {
                break;
            }
            blanks = true;
        }
        self.token.blank_before |= blanks;
        Ok(before)
    }

    pub(super) fn at_sign(&self, sign: &str) -> bool {
        matches!(self.token.is, Lexeme::Sign(s) if s == sign)
    }

    /// `=` or `+=` and its like.
    pub(super) fn at_assignment(&self) -> bool {
        matches!(self.token.is, Lexeme::Sign("=" | "+=" | "-=" | "*=" | "/="))
    }

    fn at_name(&self, name: &str) -> bool {
        matches!(self.token.is, Lexeme::Name(n) if n == name)
    }

    /// The error of the current token.
    pub(super) fn unexpected<T>(&self, expected: impl Into<String>) -> Result<T> {
        let found = match self.token.is {
            Lexeme::Number(_) => "a number".into(),
            Lexeme::Name(name) => quoted(name),
            Lexeme::Text(text) => format!("the text {}", quoted(text)),
            Lexeme::Sign(sign) => quoted(sign),
            Lexeme::Newline => "the end of the line".into(),
            Lexeme::End => "the end of the script".into(),
        };
        Err(Fault::new(self.token.start, Kind::Syntax { found, expected: expected.into() }))
    }

    /// Runs `f` one level deeper.
    pub(super) fn nested<T>(&mut self, f: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        check_height(self.depth, self.token.start)?;
        self.depth += 1;
        let made = f(self);
        self.depth -= 1;
        made
    }

    fn program(&mut self) -> Result<Box<[Statement]>> {
        let statements = self.statements()?;
        match self.token.is {
            Lexeme::End => Ok(statements),
            _ => self.unexpected("a statement: no `repeat` is open that this could end"),
        }
    }

    /// Statements up to an `end` or the end of the script.
    fn statements(&mut self) -> Result<Box<[Statement]>> {
        let mut statements = Vec::new();
        loop {
            while self.token.is == Lexeme::Newline {
                self.advance()?;
            }
            if self.token.is == Lexeme::End || self.at_name("end") {
                return Ok(statements.into());
            }
            statements.push(self.statement()?);
            if !matches!(self.token.is, Lexeme::Newline | Lexeme::End) {
                return self.unexpected("an operator or the end of the line");
            }
        }
    }

    fn statement(&mut self) -> Result<Statement> {
        let at = self.token.start;
        let is = match self.token.is {
            Lexeme::Name("repeat") => self.repeat()?,
            Lexeme::Name("timing") => self.timing()?,
            Lexeme::Name(name) if Function::find(name).is_some_and(|f| !f.has_value()) => self.act(name)?,
            _ => self.assignment_or_value()?,
        };
        if self.at_sign(";") {
            self.advance()?;
        }
        Ok(Statement { is, at })
    }

    fn repeat(&mut self) -> Result<StatementKind> {
        let start = self.advance()?.start;
        let count = self.expression()?;
        if self.at_sign(";") {
            self.advance()?;
        }
        if !matches!(self.token.is, Lexeme::Newline | Lexeme::End) {
            return self.unexpected("an operator or the end of the line");
        }
        let body = self.nested(Self::statements)?;
        if self.token.is == Lexeme::End {
            return Err(Fault::new(start, Kind::Unfinished { what: "the loop" }));
        }
        self.advance()?; // `end`
        Ok(StatementKind::Repeat { count, body })
    }

    fn timing(&mut self) -> Result<StatementKind> {
        self.advance()?;
        let on = self.at_name("on");
        if !on && !self.at_name("off") {
            return self.unexpected("`on` or `off`");
        }
        self.advance()?;
        Ok(StatementKind::Timing { on })
    }

    fn act(&mut self, name: &str) -> Result<StatementKind> {
        let at = self.advance()?.start;
        let Some(function) = Function::find(name) else { return self.unexpected("a statement") };
        if !self.at_sign("(") {
            return self.unexpected(format!("`(` after {name}"));
        }
        let (arguments, _) = self.arguments(function, at)?;
        Ok(StatementKind::Act { function, arguments })
    }

    fn assignment_or_value(&mut self) -> Result<StatementKind> {
        let target = self.expression()?;
        let op = match self.token.is {
            Lexeme::Sign("=") => None,
            Lexeme::Sign("+=") => Some(Op::Add),
            Lexeme::Sign("-=") => Some(Op::Sub),
            Lexeme::Sign("*=") => Some(Op::Mul),
            Lexeme::Sign("/=") => Some(Op::Div),
            _ => return Ok(StatementKind::Show { value: target, quiet: self.at_sign(";") }),
        };
        let at = target.start;
        let (name, subscripts) = match &target.is {
            ExprKind::Name(name) => (name.clone(), None),
            ExprKind::Element(name, subscripts) => (name.clone(), Some(subscripts.clone())),
            ExprKind::Call(function, _) => return Err(taken(function.name(), "a function", at)),
            _ => return self.unexpected("an operator or the end of the line; left of `=` stands a variable"),
        };
        if let Some(what) = reserved(&name) {
            return Err(taken(&name, what, at));
        }
        let sign = self.advance()?.start;
        let mut value = self.expression()?;
        if let Some(op) = op {
            let place = at..value.end;
            value = node(ExprKind::Binary(op, Box::new((target, value))), place, sign)?;
        }
        Ok(match subscripts {
            None => StatementKind::Assign { name, value },
            Some(subscripts) => StatementKind::AssignPart { name, subscripts, value },
        })
    }

    /// What stands between `(` and `)` after the name of a variable.
    pub(super) fn subscripts(&mut self) -> Result<(Box<[Subscript]>, u32)> {
        let mut subscripts = Vec::new();
        let (_, end) = self.bracket(Inside::Parentheses, |parser| {
            loop {
                subscripts.push(parser.subscript()?);
                if !parser.at_sign(",") {
                    return Ok(());
                }
                parser.advance()?;
            }
        })?;
        Ok((subscripts.into(), end))
    }

    fn subscript(&mut self) -> Result<Subscript> {
        if self.at_sign(":") {
            self.advance()?;
            return Ok(Subscript::All);
        }
        let first = self.expression()?;
        if !self.at_sign(":") {
            return Ok(Subscript::One(first));
        }
        self.advance()?;
        Ok(Subscript::Range(first, self.expression()?))
    }
}

/// The error of an assignment to a name that means something already.
pub(super) fn taken(name: &str, what: &'static str, at: u32) -> Fault {
    Fault::new(at, Kind::Reserved { name: quoted(name), what })
}

/// Refuses to go deeper than [`MAX_DEPTH`].
pub(super) fn check_height(height: u16, at: u32) -> Result {
    if height < MAX_DEPTH {
        return Ok(());
    }
    let what = format!("brackets, loops or operators are nested more than {MAX_DEPTH} deep");
    Err(Fault::new(at, Kind::Limit { what, limit: u64::from(MAX_DEPTH) }))
}
