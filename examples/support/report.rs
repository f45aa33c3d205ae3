//! The JSON report, the same envelope for every example.

use std::path::Path;

use serde_json::{Value, json};

use super::clock::Rounds;
use super::files::write_file;
use super::outcome::Result;
use super::table::Table;

/// Rows, checks and further keys of one run. Keys keep the order in which they were set.
#[derive(Debug, Clone, Default)]
pub struct Report {
    example: String,
    /// Device, driver and API.
    names: [Option<String>; 3],
    rows: Vec<Value>,
    checks: Vec<Check>,
    extra: Value,
}

#[derive(Debug, Clone)]
struct Check {
    name: String,
    bound: f64,
    value: f64,
    pass: bool,
}

impl Report {
    pub fn new(example: &str) -> Self {
        Self { example: example.to_owned(), extra: json!({}), ..Self::default() }
    }

    /// Names the device, its driver and the API in use; without it these keys are null.
    pub fn device(
        &mut self,
        device: impl Into<String>,
        driver: impl Into<String>,
        api: impl ToString,
    ) -> &mut Self {
        self.names = [device.into(), driver.into(), api.to_string()].map(Some);
        self
    }

    /// Adds a row, such as `json!({ "n": 64, "ms": 0.3 })`. `json!` turns non-finite floats into null.
    pub fn row(&mut self, row: Value) -> &mut Self {
        self.rows.push(row);
        self
    }

    /// Adds a check whose verdict the caller has found.
    pub fn check(
        &mut self,
        name: impl Into<String>,
        bound: impl Into<f64>,
        value: impl Into<f64>,
        pass: bool,
    ) -> &mut Self {
        self.checks.push(Check { name: name.into(), bound: bound.into(), value: value.into(), pass });
        self
    }

    /// Adds the check `value <= bound`; NaN fails.
    pub fn at_most(
        &mut self,
        name: impl Into<String>,
        bound: impl Into<f64>,
        value: impl Into<f64>,
    ) -> &mut Self {
        let (bound, value) = (bound.into(), value.into());
        self.check(name, bound, value, value <= bound)
    }

    /// Adds the check `value >= bound`; NaN fails.
    pub fn at_least(
        &mut self,
        name: impl Into<String>,
        bound: impl Into<f64>,
        value: impl Into<f64>,
    ) -> &mut Self {
        let (bound, value) = (bound.into(), value.into());
        self.check(name, bound, value, value >= bound)
    }

    /// Adds a key beside the envelope's own, which win where the names collide.
    pub fn set(&mut self, key: &str, value: impl Into<Value>) -> &mut Self {
        self.extra[key] = value.into();
        self
    }

    /// Adds the keys of [`Rounds::put`] beside the envelope's own.
    pub fn rounds(&mut self, key: &str, rounds: &Rounds) -> &mut Self {
        rounds.put(&mut self.extra, key);
        self
    }

    /// Whether every check so far has passed.
    pub fn passed(&self) -> bool {
        self.checks.iter().all(|check| check.pass)
    }

    pub fn to_json(&self) -> Value {
        let [device, driver, api] = &self.names;
        let checks: Vec<Value> = self.checks.iter().map(Check::to_json).collect();
        let mut all = json!({
            "schema": 1, "example": self.example, "version": env!("CARGO_PKG_VERSION"),
            "device": device, "driver": driver, "api": api, "rows": self.rows, "checks": checks,
        });
        for (key, value) in self.extra.as_object().into_iter().flatten() {
            if all.get(key).is_none() {
                all[key] = value.clone();
            }
        }
        all
    }

    /// Writes the report; a path that cannot be written is bad input.
    pub fn write(&self, path: &Path) -> Result {
        write_file(path, format!("{:#}\n", self.to_json()).as_bytes())
    }

    /// Prints the checks as a table; nothing where there are none.
    pub fn print_checks(&self) {
        if self.checks.is_empty() {
            return;
        }
        let mut table = Table::new(["check", "bound", "value", "verdict"]);
        for check in &self.checks {
            let verdict = if check.pass { "pass" } else { "FAIL" };
            table.row([&check.name, &number(check.bound), &number(check.value), verdict]);
        }
        table.print();
    }
}

impl Check {
    fn to_json(&self) -> Value {
        json!({ "name": self.name, "bound": self.bound, "value": self.value, "pass": self.pass })
    }
}

/// A float for a table: plain where that is short, with an exponent elsewhere.
fn number(value: f64) -> String {
    let size = value.abs();
    if value == value.trunc() && size < 1e9 {
        format!("{value}")
    } else if (1e-2..1e4).contains(&size) {
        format!("{value:.4}")
    } else {
        format!("{value:.3e}")
    }
}
