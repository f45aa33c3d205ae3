//! From the report of a program to what the book shows of it.

use serde_json::Value;

use crate::catalog::{self, Better, Chapter, Cpu};
use crate::record::{Check, Figure, Table};

/// The tables of a chapter. Numbers that are not there are left out; a table without any is, too.
pub fn tables(chapter: &Chapter, report: &Value) -> Vec<Table> {
    chapter
        .tables
        .iter()
        .map(|wanted| table(wanted, report))
        .filter(|table| !table.figures.is_empty())
        .collect()
}

fn table(wanted: &catalog::Table, report: &Value) -> Table {
    let shown = |row: &Value| wanted.only.iter().all(|(key, value)| text(at(row, key)) == *value);
    let rows: Vec<Value> = rows(wanted.rows, report).into_iter().filter(shown).collect();
    let figures = rows.iter().flat_map(|row| {
        let labels: Vec<String> = wanted.labels.iter().map(|(key, _)| text(at(row, key))).collect();
        let rows = &rows;
        wanted.figures.iter().filter_map(move |figure| {
            let number = |key: &str| Some(figure.factor * at(row, key).as_f64()?);
            let ends = ["least", "most"].map(|end| number(&format!("{}_{end}", figure.key)));
            Some(Figure {
                labels: labels.clone(),
                name: figure.name.to_owned(),
                unit: figure.unit.to_owned(),
                better: figure.better,
                value: number(figure.key)?,
                spread: ends[0].zip(ends[1]).map(|(least, most)| [least, most]),
                paper: figure.paper.and_then(number),
                cpu: on_cpu(figure, row, rows, report).map(|value| figure.factor * value),
                share: figure.share.and_then(|key| at(row, key).as_f64()),
            })
        })
    });
    let labels = wanted.labels.iter().map(|(_, heading)| (*heading).to_owned()).collect();
    Table { caption: wanted.caption.to_owned(), labels, figures: figures.collect() }
}

/// Rows of an array, of an object of numbers, or the report as the only one.
fn rows(path: &str, report: &Value) -> Vec<Value> {
    match if path.is_empty() { report } else { at(report, path) } {
        Value::Array(rows) => rows.clone(),
        whole if path.is_empty() => vec![whole.clone()],
        Value::Object(entries) => {
            entries.iter().map(|(name, value)| serde_json::json!({ "name": name, "value": value })).collect()
        }
        _ => Vec::new(),
    }
}

/// The best of what a CPU takes for the same; nothing beside the CPU itself.
fn on_cpu(figure: &catalog::Figure, row: &Value, rows: &[Value], report: &Value) -> Option<f64> {
    let all: Vec<f64> = match figure.cpu {
        Cpu::Nothing => return None,
        Cpu::Keys(keys) => {
            let of = |key: &&str| key.strip_prefix('/').map_or(at(row, key), |key| at(report, key)).as_f64();
            keys.iter().filter_map(of).collect()
        }
        Cpu::Rows { key, of, like } => {
            let is_cpu = |row: &Value| of.iter().any(|first| text(at(row, key)).starts_with(first));
            if is_cpu(row) {
                return None;
            }
            let alike =
                |other: &&Value| is_cpu(other) && like.iter().all(|key| at(other, key) == at(row, key));
            rows.iter().filter(alike).filter_map(|other| at(other, figure.key).as_f64()).collect()
        }
    };
    match figure.better {
        Better::More => all.into_iter().max_by(f64::total_cmp),
        _ => all.into_iter().min_by(f64::total_cmp),
    }
}

/// What lies at a path of keys with dots between them. A key with a dot in it comes first.
fn at<'a>(value: &'a Value, path: &str) -> &'a Value {
    let whole = &value[path];
    match path.split_once('.') {
        Some((first, rest)) if whole.is_null() => at(&value[first], rest),
        _ => whole,
    }
}

/// A value for people.
fn text(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        Value::Bool(yes) => if *yes { "yes" } else { "no" }.to_owned(),
        Value::Number(number) if number.is_f64() => {
            // Tolerances and the like: short as they are written.
            let number = number.as_f64().unwrap_or(f64::NAN);
            if (1e-2..1e6).contains(&number.abs()) {
                crate::text::three(number)
            } else {
                format!("{number:e}")
            }
        }
        Value::Array(all) if all.is_empty() => "none".to_owned(),
        Value::Array(all) => all.iter().map(text).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// What is shown as it is. An object becomes a line for each of its keys.
pub fn facts(chapter: &Chapter, report: &Value) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    for (key, heading) in chapter.facts {
        match at(report, key) {
            Value::Null => {}
            Value::Object(entries) => {
                facts.extend(entries.iter().map(|(name, value)| (name.replace('_', " "), text(value))));
            }
            value => facts.push(((*heading).to_owned(), text(value))),
        }
    }
    facts
}

/// The checks, if the report has such.
pub fn checks(report: &Value) -> Option<Vec<Check>> {
    let check = |check: &Value| {
        Some(Check {
            name: check["name"].as_str()?.to_owned(),
            bound: check["bound"].as_f64(),
            value: check["value"].as_f64(),
            pass: check["pass"].as_bool()?,
        })
    };
    report["checks"].as_array()?.iter().map(check).collect()
}
