//! What the book shows, as data: a file for each source, and in it a chapter for each of its tables and figures. The
//! figures of the sources are typed once, in the program that prints them beside its own.

mod bajaj04;
mod benches;
mod beside;
mod beyond_vector;
mod goeddeke05;
mod krueger05;
mod moravanszky03;

/// A program, what it is told, and what of its report is shown.
pub struct Chapter {
    pub name: &'static str,
    pub title: &'static str,
    /// Where in the source.
    pub source: &'static str,
    /// Rows of `src/guide/sources.md` that name it: source and item. `tests/sources.rs` holds both to each other.
    #[allow(dead_code)]
    pub items: &'static [(&'static str, &'static str)],
    pub program: Program,
    pub flags: &'static [&'static str],
    /// What it is to write.
    pub outputs: &'static [Output],
    /// How to read it.
    pub reading: &'static str,
    pub tables: &'static [Table],
    /// Keys of the report that are shown as they are, with their headings.
    pub facts: &'static [(&'static str, &'static str)],
}

impl Chapter {
    /// Whether a book has it: a quick one leaves out what is nothing but times.
    pub fn is_of(&self, quick: bool) -> bool {
        !(quick && matches!(self.program, Program::Bench(_)))
    }
}

/// What runs, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    Example(&'static str),
    Bench(&'static str),
}

impl Program {
    pub fn name(self) -> &'static str {
        match self {
            Program::Example(name) | Program::Bench(name) => name,
        }
    }
}

/// A file, and the flag that asks for it.
pub struct Output {
    pub flag: &'static str,
    pub file: &'static str,
    /// What is to be seen on it; nothing for a file that is not shown.
    pub alt: &'static str,
    /// The flag takes the folder.
    pub folder: bool,
}

pub const fn output(flag: &'static str, file: &'static str, alt: &'static str) -> Output {
    Output { flag, file, alt, folder: false }
}

/// The name of a plot's file. The one place that says in which format programs draw them.
macro_rules! plot {
    ($name:literal) => {
        concat!($name, ".svg")
    };
}
pub(crate) use plot;

/// Rows of a report.
pub struct Table {
    pub caption: &'static str,
    /// The key of an array, or of an object of numbers, whose names then stand under `name` and the numbers under
    /// `value`. Empty: the report itself is the only row.
    pub rows: &'static str,
    /// Only rows that have these values.
    pub only: &'static [(&'static str, &'static str)],
    /// Keys by which rows are told apart, and their headings.
    pub labels: &'static [(&'static str, &'static str)],
    pub figures: &'static [Figure],
}

/// A number of each row. Paths of keys have dots between them.
pub struct Figure {
    pub key: &'static str,
    pub name: &'static str,
    pub unit: &'static str,
    pub better: Better,
    /// From what stands in the report to the unit.
    pub factor: f64,
    /// The key of what the source prints.
    pub paper: Option<&'static str>,
    pub cpu: Cpu,
    /// The key of the share of the device's ceiling.
    pub share: Option<&'static str>,
}

/// Which of two numbers is the better one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    Less,
    More,
    /// A count that does not depend on the machine: any change is one of the program.
    Same,
    /// Neither; it says what a row is about.
    Neither,
}

/// What a CPU takes for the same.
#[derive(Clone, Copy)]
pub enum Cpu {
    Nothing,
    /// The least of these keys, of the row or behind a slash of the report.
    Keys(&'static [&'static str]),
    /// The best of the rows that are a CPU's, as this label begins, and like this one by those.
    Rows {
        key: &'static str,
        of: &'static [&'static str],
        like: &'static [&'static str],
    },
}

/// A figure without anything beside it.
pub const fn figure(key: &'static str, name: &'static str, unit: &'static str, better: Better) -> Figure {
    Figure { key, name, unit, better, factor: 1.0, paper: None, cpu: Cpu::Nothing, share: None }
}

/// Seconds in the report, shown as milliseconds.
pub const fn milliseconds(key: &'static str, name: &'static str) -> Figure {
    Figure { factor: 1e3, ..figure(key, name, "ms", Better::Less) }
}

impl Figure {
    pub const fn paper(self, key: &'static str) -> Self {
        Figure { paper: Some(key), ..self }
    }

    pub const fn cpu(self, cpu: Cpu) -> Self {
        Figure { cpu, ..self }
    }

    pub const fn share(self, key: &'static str) -> Self {
        Figure { share: Some(key), ..self }
    }
}

/// All chapters in the order of the book.
pub fn chapters() -> impl Iterator<Item = &'static Chapter> {
    let papers: [&[Chapter]; 6] = [
        beside::DEVICE,
        krueger05::CHAPTERS,
        moravanszky03::CHAPTERS,
        goeddeke05::CHAPTERS,
        bajaj04::CHAPTERS,
        beyond_vector::CHAPTERS,
    ];
    papers.into_iter().chain([beside::CHAPTERS, benches::CHAPTERS]).flatten()
}
