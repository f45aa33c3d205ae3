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

    fn cell(&self, row: usize, column: usize) -> &str {
        self.rows[row].get(column).map_or("", String::as_str)
    }

    fn is_numeric(&self, column: usize) -> bool {
        let numeric = |cell: &str| match cell {
            "" | "-" | "inf" | "-inf" | "NaN" => true,
            _ => cell.starts_with(|c: char| c.is_ascii_digit() || "+-.<>".contains(c)),
        };
        self.rows.len() > 1 && (1..self.rows.len()).all(|row| numeric(self.cell(row, column)))
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let plan: Vec<(usize, bool)> = (0..columns)
            .map(|column| {
                let cells = (0..self.rows.len()).map(|row| self.cell(row, column).chars().count());
                (cells.max().unwrap_or(0), self.is_numeric(column))
            })
            .collect();
        for row in 0..self.rows.len() {
            let mut line = String::new();
            for (column, &(width, numeric)) in plan.iter().enumerate() {
                let cell = self.cell(row, column);
                let gap = if column == 0 { "" } else { "  " };
                line +=
                    &if numeric { format!("{gap}{cell:>width$}") } else { format!("{gap}{cell:<width$}") };
            }
            writeln!(f, "{}", line.trim_end())?;
            if row == 0 {
                let rule: Vec<String> = plan.iter().map(|&(width, _)| "-".repeat(width)).collect();
                writeln!(f, "{}", rule.join("  "))?;
            }
        }
        Ok(())
    }
}
