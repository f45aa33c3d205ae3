//! What a book is made of, as it lies in `book.json`: read again by the page, by comparisons, and by a run that goes on
//! where one was interrupted.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::catalog::Better;
use crate::support::{Failure, Result, read_file, write_file};

/// Of the format below.
pub const SCHEMA: u64 = 1;
pub const FILE: &str = "book.json";
/// Far more than a book has.
const MOST_BYTES: u64 = 64 << 20;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Book {
    pub schema: u64,
    pub version: String,
    pub machine: Machine,
    pub quick: bool,
    /// The profile of cargo that programs are built in.
    pub profile: String,
    /// False while chapters are missing that were asked for.
    pub finished: bool,
    pub chapters: Vec<Record>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    pub device: String,
    pub driver: String,
    pub api: String,
    /// Of the CPU.
    pub threads: usize,
}

/// A chapter that has been run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    pub name: String,
    pub example: String,
    pub flags: Vec<String>,
    /// Of the project, if it is under git; with `+` if files had changed.
    pub commit: Option<String>,
    /// Seconds since 1970, at its start.
    pub begun: u64,
    pub seconds: f64,
    /// None where a signal or the time limit ended it.
    pub exit: Option<i32>,
    /// Why it failed, as far as it is known.
    pub error: Option<String>,
    pub tables: Vec<Table>,
    pub facts: Vec<(String, String)>,
    pub checks: Vec<Check>,
    /// Files in the chapter's folder, each with what is to be seen on it.
    pub pictures: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    pub caption: String,
    /// Headings of the labels.
    pub labels: Vec<String>,
    pub figures: Vec<Figure>,
}

/// A number with what stands beside it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    pub labels: Vec<String>,
    pub name: String,
    pub unit: String,
    pub better: Better,
    pub value: f64,
    /// Least and most of the rounds.
    pub spread: Option<[f64; 2]>,
    pub paper: Option<f64>,
    pub cpu: Option<f64>,
    /// Of the device's ceiling.
    pub share: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    pub name: String,
    /// None where it is not finite.
    pub bound: Option<f64>,
    pub value: Option<f64>,
    pub pass: bool,
}

impl Record {
    pub fn passed(&self) -> bool {
        self.exit == Some(0) && self.checks.iter().all(|check| check.pass)
    }

    /// What a reader has to know first.
    pub fn verdict(&self) -> String {
        let failed = self.checks.iter().filter(|check| !check.pass).count();
        match (&self.error, failed) {
            (None, 0) if self.exit == Some(0) => {
                format!("passed: {}", crate::text::count(self.checks.len(), "check", "checks"))
            }
            (Some(error), 0) => format!("FAILED: {error}"),
            (_, 0) => "FAILED".to_owned(),
            (_, failed) => {
                format!("FAILED: {failed} of {}", crate::text::count(self.checks.len(), "check", "checks"))
            }
        }
    }
}

impl Table {
    /// How many things it counts.
    pub fn names(&self) -> usize {
        let names = self.figures.iter().map(|f| f.name.as_str());
        names.collect::<std::collections::BTreeSet<_>>().len()
    }
}

impl Figure {
    /// How many times as good as another value of it.
    pub fn over(&self, other: f64) -> f64 {
        match self.better {
            Better::Less => other / self.value,
            _ => self.value / other,
        }
    }
}

impl Book {
    pub fn chapter(&self, name: &str) -> Option<&Record> {
        self.chapters.iter().find(|record| record.name == name)
    }

    /// Nothing where the folder has no book; what is no book is bad input.
    pub fn read(folder: &Path) -> Result<Option<Book>> {
        let path = folder.join(FILE);
        if !path.exists() {
            return Ok(None);
        }
        let fault =
            |what: &dyn std::fmt::Display| Failure::bad_input(format_args!("{}: {what}", path.display()));
        if !path.is_file() && !path.is_dir() {
            return Err(fault(&"expected a file")); // a pipe would be waited for
        }
        let bytes = read_file(&path, MOST_BYTES)?;
        let value: Value =
            serde_json::from_slice(&bytes).map_err(|e| fault(&format_args!("no JSON: {e}")))?;
        // The schema first: another one explains all other differences.
        match value.get("schema").map(Value::as_u64) {
            Some(Some(SCHEMA)) => {}
            Some(Some(other)) => return Err(fault(&format_args!("schema {other}, expected {SCHEMA}"))),
            _ => return Err(fault(&"no book of tables: it names no schema")),
        }
        let book: Book =
            serde_json::from_value(value).map_err(|e| fault(&format_args!("no book of tables: {e}")))?;
        book.check().map_err(|what| fault(&what))?;
        Ok(Some(book))
    }

    /// What types do not say.
    fn check(&self) -> Result<(), String> {
        for (k, record) in self.chapters.iter().enumerate() {
            let place = |what: &str| Err(format!("chapter {}: {what}", record.name));
            if self.chapters[..k].iter().any(|other| other.name == record.name) {
                return place("is there twice");
            }
            if !record.seconds.is_finite() || record.seconds < 0.0 {
                return place("no number of seconds");
            }
            // Names become parts of paths.
            let plain =
                |name: &str| !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\']);
            if !plain(&record.name) || !record.pictures.iter().all(|(file, _)| plain(file)) {
                return place("expected plain names of chapter and pictures");
            }
            let figures =
                || record.tables.iter().flat_map(|t| t.figures.iter().map(move |f| (t.labels.len(), f)));
            if figures().any(|(labels, figure)| figure.labels.len() != labels) {
                return place("a figure has not the labels of its table");
            }
            // Means and units are computed: their last digits are not those of the ends.
            let outside = |f: &Figure| {
                let slack = 1e-9 * f.value.abs();
                f.spread.is_some_and(|[least, most]| !(least - slack <= f.value && f.value <= most + slack))
            };
            if figures().any(|(_, figure)| outside(figure)) {
                return place("a figure lies outside its spread");
            }
        }
        Ok(())
    }

    pub fn write(&self, folder: &Path) -> Result {
        let text = serde_json::to_string_pretty(self).map_err(Failure::unsolved)?;
        write_file(&folder.join(FILE), (text + "\n").as_bytes())
    }
}
