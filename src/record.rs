//! Values as text: a heading, then a line `name = value` for each field.

use crate::error::{Error, Result};

/// A field that is written and read.
pub(crate) enum Field<'a> {
    /// One line of text.
    Word(&'a mut String),
    Flag(&'a mut bool),
    Count(&'a mut u32),
    /// 64 bits, in hexadecimal digits.
    Mark(&'a mut u64),
    Seconds(&'a mut f64),
    /// A number from 0 to 1.
    Share(&'a mut f64),
    Choice(&'a mut dyn Choice),
}

/// One of a few words.
pub(crate) trait Choice {
    fn word(&self) -> &'static str;
    /// Takes a word, or says which there are.
    fn choose(&mut self, word: &str) -> std::result::Result<(), &'static str>;
}

/// A field with its name.
pub(crate) type Named<'a> = (&'static str, Field<'a>);

impl Field<'_> {
    fn write(&self) -> String {
        match self {
            Field::Word(word) => word.replace(['\n', '\r'], " "),
            Field::Flag(flag) => flag.to_string(),
            Field::Count(count) => count.to_string(),
            Field::Mark(mark) => format!("{mark:016x}"),
            Field::Seconds(number) | Field::Share(number) => format!("{number:e}"),
            Field::Choice(choice) => choice.word().to_owned(),
        }
    }

    /// Takes a value, or says what was expected.
    fn read(self, text: &str) -> std::result::Result<(), &'static str> {
        let number = |most: f64| {
            let valid = |n: &f64| n.is_sign_positive() && (0.0..=most).contains(n);
            text.parse().ok().filter(valid)
        };
        match self {
            Field::Word(word) => {
                text.clone_into(word);
                Ok(())
            }
            Field::Flag(flag) => text.parse().map(|v| *flag = v).map_err(|_| "true or false"),
            Field::Count(count) => text.parse().map(|v| *count = v).map_err(|_| "a whole number below 2^32"),
            Field::Mark(mark) => {
                u64::from_str_radix(text, 16).map(|v| *mark = v).map_err(|_| "16 hexadecimal digits")
            }
            Field::Seconds(seconds) => number(f64::MAX).map(|v| *seconds = v).ok_or("seconds, 0 or more"),
            Field::Share(share) => number(1.0).map(|v| *share = v).ok_or("a number from 0 to 1"),
            Field::Choice(choice) => choice.choose(text),
        }
    }
}

/// What is written as such a text.
pub(crate) trait Record: Default {
    /// The first line.
    const HEADING: &'static str;
    /// What it is, for errors.
    const WHAT: &'static str;

    /// All fields, in the order of the text.
    fn fields(&mut self) -> Vec<Named<'_>>;

    /// The heading, and a line for each field; numbers with as many digits as it takes to read them back exactly.
    fn text(mut self) -> String {
        let lines = self.fields().into_iter().map(|(name, field)| format!("{name} = {}\n", field.write()));
        format!("{}\n{}", Self::HEADING, lines.collect::<String>())
    }

    /// Reads a text; lines after the heading may stand in any order. *Errors*: [`Error::File`] with the line, what was found
    /// and what was expected: another heading, a name that is unknown, doubled or missing, a value of another kind.
    fn read(text: &str) -> Result<Self> {
        let fail = |line: usize, expected: &str| {
            let found = text.lines().nth(line).unwrap_or("the end").chars().take(60).collect::<String>();
            let detail = format!("line {}: found `{found}`, expected {expected}", line + 1);
            Error::File { path: Self::WHAT.into(), detail }
        };
        if text.lines().next() != Some(Self::HEADING) {
            return Err(fail(0, &format!("`{}`", Self::HEADING)));
        }
        let mut made = Self::default();
        let mut missing = made.fields();
        for (line, content) in text.lines().enumerate().skip(1) {
            let (name, value) = content.split_once(" = ").ok_or_else(|| fail(line, "`name = value`"))?;
            let Some(place) = missing.iter().position(|(known, _)| *known == name) else {
                return Err(fail(line, &format!("a name not given before, of `{}`", names(&missing))));
            };
            missing.remove(place).1.read(value).map_err(|expected| fail(line, expected))?;
        }
        if missing.is_empty() {
            drop(missing);
            return Ok(made);
        }
        Err(fail(text.lines().count(), &format!("`{} = ...`", names(&missing))))
    }
}

fn names(fields: &[Named<'_>]) -> String {
    fields.iter().map(|(name, _)| *name).collect::<Vec<_>>().join("`, `")
}
