//! Tables on standard output.

use std::fmt;

use super::outcome::say;

/// Rows of text under a heading. Columns of numbers are aligned to the right.
#[derive(Debug, Clone)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new(heading: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { rows: vec![heading.into_iter().map(Into::into).collect()] }
    }

    /// Adds a row; missing cells stay empty.
    pub fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) -> &mut Self {
        self.rows.push(cells.into_iter().map(Into::into).collect());
        self
    }

    pub fn print(&self) {
        say(self.to_string().trim_end_matches('\n'));
    }

    /// From the heading down; missing ones are empty.
    fn column(&self, column: usize) -> impl Iterator<Item = &str> {
        self.rows.iter().map(move |row| row.get(column).map_or("", String::as_str))
    }
}

fn is_numeric(cell: &str) -> bool {
    matches!(cell, "" | "-" | "inf" | "-inf" | "NaN")
        || cell.starts_with(|c: char| c.is_ascii_digit() || "+-.<>".contains(c))
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let mut lines = vec![Vec::new(); self.rows.len() + 1];
        for column in 0..columns {
            let width = self.column(column).map(|cell| cell.chars().count()).max().unwrap_or(0);
            let numeric = self.rows.len() > 1 && self.column(column).skip(1).all(is_numeric);
            let aligned = |cell| if numeric { format!("{cell:>width$}") } else { format!("{cell:<width$}") };
            let mut cells: Vec<String> = self.column(column).map(aligned).collect();
            cells.insert(1, "-".repeat(width));
            lines.iter_mut().zip(cells).for_each(|(line, cell)| line.push(cell));
        }
        lines.iter().try_for_each(|line| writeln!(f, "{}", line.join("  ").trim_end()))
    }
}
