//! What can go wrong in a script, and where.

use std::fmt;

use crate::error::Error;
use crate::host::{printable, printable_lines};
use crate::shape::Shape;

/// Why a script was refused or stopped, with the place. Its text shows the line with a caret under the place:
///
/// ```
/// let e = texla::script::parse("x = 1\ny = (2 + * 3)\n", "demo").unwrap_err();
/// assert_eq!((e.line, e.column), (2, 10));
/// let text = "demo: line 2, column 10: found `*`, expected a value\n    y = (2 + * 3)\n             ^";
/// assert_eq!(e.to_string(), text);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ScriptError {
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// What is wrong. Its text is the message alone, without the place.
    pub kind: ScriptErrorKind,
    pub(super) shown: Box<Shown>,
}

/// What an error shows of the script.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shown {
    pub(super) name: String,
    pub(super) excerpt: String,
    pub(super) caret: usize,
}

impl ScriptError {
    /// The name under which the script was parsed.
    pub fn name(&self) -> &str {
        &self.shown.name
    }

    /// True if the script ends too early: a prompt reads another line before it complains.
    ///
    /// ```
    /// use texla::script::parse;
    /// assert!(parse("repeat 3", "").unwrap_err().is_unfinished());
    /// assert!(parse("A = [1 2", "").unwrap_err().is_unfinished());
    /// assert!(!parse("A = ]", "").unwrap_err().is_unfinished());
    /// ```
    pub fn is_unfinished(&self) -> bool {
        matches!(self.kind, ScriptErrorKind::Unfinished { .. })
    }
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ScriptError { line, column, kind, shown } = self;
        let Shown { name, excerpt, caret } = shown.as_ref();
        if !name.is_empty() {
            write!(f, "{}: ", printable(name))?;
        }
        let kind = printable_lines(&kind.to_string());
        write!(f, "line {line}, column {column}: {kind}\n    {excerpt}\n    {:caret$}^", "")
    }
}

impl std::error::Error for ScriptError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            ScriptErrorKind::Library(error) => Some(error.as_ref()),
            _ => None,
        }
    }
}

/// An operand as an error names it: by its text in the script, with its shape.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Operand {
    /// The text, or words for it where it is long.
    pub text: String,
    /// Rows and columns.
    pub shape: Shape,
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}", self.text, self.shape)
    }
}

/// The kinds of [`ScriptError`]. Text of the script is cut after 40 characters.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptErrorKind {
    /// The script is not UTF-8.
    #[error("the byte 0x{byte:02x} is no UTF-8 text")]
    Encoding {
        /// The first byte that does not belong.
        byte: u8,
    },
    /// The text or its nesting exceeds a fixed limit.
    #[error("{what}, the limit is {limit}")]
    Limit {
        /// What is too large.
        what: String,
        /// The largest that is accepted.
        limit: u64,
    },
    /// A word or sign that does not belong here.
    #[error("found {found}, expected {expected}")]
    Syntax {
        /// What stands there.
        found: String,
        /// What could stand there.
        expected: String,
    },
    /// A number that is none, or that no 32-bit float can hold.
    #[error("{found} is no number: {why}")]
    Number {
        /// The number as written.
        found: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The text ends before a bracket, a text or a loop does.
    #[error("the script ends before {what} that begins here")]
    Unfinished {
        /// What has no end.
        what: &'static str,
    },
    /// A variable with the name of a function, a constant or a keyword.
    #[error("{name} is {what}: choose another name for the variable")]
    Reserved {
        /// The name.
        name: String,
        /// What the name already means.
        what: &'static str,
    },
    /// A function with too few or too many arguments.
    #[error("{function} has {found} arguments, expected {expected}")]
    Arguments {
        /// The function.
        function: &'static str,
        /// Number of arguments given.
        found: usize,
        /// The arguments that belong there.
        expected: &'static str,
    },
    /// An action such as `print` where a value is needed.
    #[error("{function} gives no value: it stands on a line of its own")]
    NoValue {
        /// The function.
        function: &'static str,
    },
    /// A variable or function that does not exist.
    #[error("{name} is not defined{}", similar.map(|s| format!("; did you mean `{s}`?")).unwrap_or_default())]
    Undefined {
        /// The name.
        name: String,
        /// A function whose name differs only in case.
        similar: Option<&'static str>,
    },
    /// The shapes of two operands do not fit each other.
    #[error("{left} and {right}: {rule}")]
    Shapes {
        /// The operand on the left.
        left: Box<Operand>,
        /// The operand on the right.
        right: Box<Operand>,
        /// What would fit, in words.
        rule: String,
    },
    /// The shape or the kind of one operand does not fit the operation.
    #[error("{operand} is {found}, expected {expected}")]
    Operand {
        /// The operand as written.
        operand: String,
        /// What it is.
        found: String,
        /// What would fit, in words.
        expected: String,
    },
    /// A count, a size or an index that is no whole number in its range.
    #[error("{what} is {found}, expected a whole number from {from} to {to}")]
    Whole {
        /// What the number is for.
        what: String,
        /// The number.
        found: String,
        /// The smallest that is accepted.
        from: u64,
        /// The largest that is accepted.
        to: u64,
    },
    /// Host arithmetic that leaves the range of 32-bit floats.
    #[error("the result is {}, expected a finite 32-bit float", super::format::number(*.value))]
    NotFinite {
        /// The result in 64 bits.
        value: f64,
    },
    /// Host arithmetic whose result is not zero and is less than any 32-bit float but that.
    #[error(
        "the result is {}, expected a 32-bit float: the smallest is about 1.4e-45",
        super::format::number(*.value)
    )]
    TooSmall {
        /// The result in 64 bits.
        value: f64,
    },
    /// A solver gave up.
    #[error("{solver}: {detail}")]
    Unsolved {
        /// The solver.
        solver: &'static str,
        /// What it says.
        detail: String,
    },
    /// A file that cannot be read or written.
    #[error("{path}: {message}")]
    File {
        /// The path as it was opened.
        path: String,
        /// What is wrong with it.
        message: String,
    },
    /// A file that the program around the script keeps from it.
    #[error("{path}: {why}")]
    FileReserved {
        /// The path as it would have been opened.
        path: String,
        /// What the program does with it.
        why: &'static str,
    },
    /// The application does not let scripts read or write files.
    #[error("this program gives scripts no access to files")]
    FilesForbidden,
    /// Standard output, or what takes its place, could not be written.
    #[error("cannot write the output: {message}")]
    Output {
        /// The system's message.
        message: String,
        /// Nobody reads it any more (a closed pipe).
        closed: bool,
    },
    /// The library refused or failed.
    #[error(transparent)]
    Library(Box<Error>),
}

/// At most 40 characters of the script's text, in quotes.
pub(super) fn quoted(text: &str) -> String {
    let head: String = text.chars().take(40).collect();
    let dots = if head.len() < text.len() { "..." } else { "" };
    format!("`{head}{dots}`")
}
