//! From text to tokens, one at a time: no list of them is kept.

use super::error::{ScriptErrorKind as Kind, quoted};
use super::source::{Fault, Result};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Lexeme<'a> {
    Number(f64),
    Name(&'a str),
    Text(&'a str),
    /// An operator or a sign, as written.
    Sign(&'static str),
    Newline,
    End,
}

/// A token with its place, and whether blanks stand beside it: inside `[ ]` they separate elements.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub(super) is: Lexeme<'a>,
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) blank_before: bool,
    pub(super) blank_after: bool,
}

/// The longest match counts, so longer signs stand first.
const SIGNS: [&str; 21] = [
    ".*", "./", ".'", "+=", "-=", "*=", "/=", "=", "+", "-", "*", "/", "\\", "'", "(", ")", "[", "]", ",",
    ";", ":",
];

pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Lexer { text, at: if text.starts_with('\u{feff}') { 3 } else { 0 } }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Moves on by `length` bytes and returns them.
    fn take(&mut self, length: usize) -> &'a str {
        let taken = self.rest().get(..length).unwrap_or_default();
        self.at += taken.len();
        taken
    }

    fn take_while(&mut self, belongs: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        self.take(rest.find(|c| !belongs(c)).unwrap_or(rest.len()))
    }

    pub(super) fn next(&mut self) -> Result<Token<'a>> {
        let blanks = self.take_while(is_blank).len();
        if self.rest().starts_with('#') {
            self.take_while(|c| !matches!(c, '\n' | '\r'));
        }
        let start = self.at as u32;
        let is = self.lexeme(start)?;
        let blank_after = self.rest().starts_with(is_blank);
        Ok(Token { is, start, end: self.at as u32, blank_before: blanks > 0, blank_after })
    }

    fn lexeme(&mut self, start: u32) -> Result<Lexeme<'a>> {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Ok(Lexeme::End) };
        let digit_at = |i: usize| rest.as_bytes().get(i).is_some_and(u8::is_ascii_digit);
        match first {
            '\n' => {
                self.take(1);
                Ok(Lexeme::Newline)
            }
            '\r' => {
                self.take(if rest.starts_with("\r\n") { 2 } else { 1 });
                Ok(Lexeme::Newline)
            }
            '"' => self.text(start),
            c if c.is_ascii_digit() || (c == '.' && digit_at(1)) => self.number(start),
            c if is_name_start(c) => Ok(Lexeme::Name(self.take_while(is_name_part))),
            other => {
                let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) else {
                    let (found, expected) = (quoted(&other.escape_debug().to_string()), hint(other).into());
                    return Err(Fault::new(start, Kind::Syntax { found, expected }));
                };
                self.take(sign.len());
                Ok(Lexeme::Sign(sign))
            }
        }
    }

    fn text(&mut self, start: u32) -> Result<Lexeme<'a>> {
        self.take(1);
        let text = self.take_while(|c| !matches!(c, '"' | '\n' | '\r'));
        if self.take(1) != "\"" {
            let (found, expected) = ("a text without end".into(), "another `\"` on the same line".into());
            return Err(Fault::new(start, Kind::Syntax { found, expected }));
        }
        Ok(Lexeme::Text(text))
    }

    fn at_dotted_sign(&self) -> bool {
        [".*", "./", ".'"].iter().any(|sign| self.rest().starts_with(sign))
    }

    fn number(&mut self, start: u32) -> Result<Lexeme<'a>> {
        self.take_while(|c| c.is_ascii_digit());
        // The point of `1.*A` belongs to the operator.
        if self.rest().starts_with('.') && !self.at_dotted_sign() {
            self.take(1);
            self.take_while(|c| c.is_ascii_digit());
        }
        if self.rest().starts_with(['e', 'E']) {
            self.take(1);
            if self.rest().starts_with(['+', '-']) {
                self.take(1);
            }
            self.take_while(|c| c.is_ascii_digit());
        }
        if !self.at_dotted_sign() {
            // What hangs on belongs to the mistake.
            self.take_while(|c| is_name_part(c) || c == '.');
        }
        let written = self.text.get(start as usize..self.at).unwrap_or_default();
        let fault = |why| Fault::new(start, Kind::Number { found: quoted(written), why });
        let value: f64 = written
            .parse()
            .map_err(|_| fault("it is written like 12, 0.5 or 1e-6, with an operator before what follows"))?;
        match value as f32 {
            near if !near.is_finite() => Err(fault("the largest 32-bit float is about 3.4e38")),
            0.0 if value != 0.0 => Err(fault("the smallest 32-bit float is about 1.4e-45")),
            _ => Ok(Lexeme::Number(value)),
        }
    }
}

/// What to write in place of a character that means nothing.
fn hint(c: char) -> &'static str {
    match c {
        '%' | '!' => "a statement, or `#` before a comment",
        '^' => "an operator: powers are written as products, x .* x",
        '{' | '}' => "`(`, `[` or an operator",
        '&' | '|' | '<' | '>' | '~' => "an operator: there are no comparisons",
        '.' => "an operator such as `.*` or `./`",
        c if c.is_whitespace() => "plain spaces or tabs",
        _ => "a number, a name or an operator",
    }
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t')
}

/// Whether a text is a name and nothing else.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(is_name_start) && text.chars().all(is_name_part)
}

fn is_name_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

fn is_name_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
