//! A chapter of the page: its tables, its pictures, its checks.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{Markup, html};

use crate::book::date;
use crate::catalog::Chapter;
use crate::columns::{caption, columns, or_empty, with_unit};
use crate::compare::{Change, Comparison};
use crate::record::{Check, Figure, Record, Table};
use crate::support::{Result, read_file};
use crate::text::{count, duration, three, times};

/// Of a picture.
const MOST_BYTES: u64 = 64 << 20;

pub fn section(
    chapter: &Chapter,
    record: &Record,
    folder: &Path,
    comparison: Option<&Comparison<'_>>,
) -> Result<Markup> {
    let pictures =
        record.pictures.iter().map(|(file, alt)| picture(&folder.join(chapter.name).join(file), alt));
    let pictures = pictures.collect::<Result<Vec<Markup>>>()?;
    let reference = format!("{}-heading", chapter.name);
    Ok(html! {
        section id=(chapter.name) aria-labelledby=(reference) {
            h2 id=(reference) { (chapter.title) }
            p.quiet { (chapter.source) }
            p.reading { (chapter.reading) }
            p { (verdict(record)) }
            @for picture in pictures { (picture) }
            @for table in &record.tables { (figures(chapter.name, table, comparison)) }
            @if !record.facts.is_empty() {
                dl.facts { @for (name, value) in &record.facts { dt { (name) } dd { (value) } } }
            }
            (checks(chapter.name, &record.checks))
            p.quiet {
                code { (record.example) @for flag in &record.flags { " " (flag) } }
                ", " (duration(record.seconds)) ", " (date(record.begun))
                @if let Some(commit) = &record.commit { ", commit " (commit) }
            }
        }
    })
}

/// In words: colour says nothing that they do not.
pub fn verdict(record: &Record) -> Markup {
    html! { span.(if record.passed() { "passed" } else { "failed" }) { (record.verdict()) } }
}

/// Nothing is fetched: the picture stands in the page.
fn picture(path: &Path, alt: &str) -> Result<Markup> {
    let bytes = read_file(path, MOST_BYTES)?;
    let kind = if path.extension().is_some_and(|e| e == "svg") { "image/svg+xml" } else { "image/png" };
    let source = format!("data:{kind};base64,{}", STANDARD.encode(bytes));
    Ok(html! { figure { img src=(source) alt=(alt); figcaption aria-hidden="true" { (alt) } } })
}

/// Only columns that say something.
fn figures(chapter: &str, table: &Table, comparison: Option<&Comparison<'_>>) -> Markup {
    let other = |f: &Figure| comparison?.find(chapter, &table.caption, f);
    let mut columns = columns();
    columns.push(("there", Box::new(|f| or_empty(other(f).map(|o| with_unit(f, o.figure.value))))));
    columns.push((
        "to there",
        Box::new(|f| {
            or_empty(other(f).map(|o| format!("{}{}", times(f.over(o.figure.value)), mark(o.change))))
        }),
    ));
    columns.retain(|(_, column)| table.figures.iter().any(|f| !column(f).is_empty()));
    let named = table.names() > 1;
    let caption = caption(table);
    html! {
        h3 { (caption) }
        div.scroll tabindex="0" role="region" aria-label=(format!("{chapter}: {caption}")) {
            table {
                thead { tr {
                    @for label in &table.labels { th scope="col" { (label) } }
                    @if named { th scope="col" { "what" } }
                    @for (heading, _) in &columns { th.n scope="col" { (heading) } }
                } }
                tbody { @for f in &table.figures { tr {
                    @for (k, label) in f.labels.iter().enumerate() {
                        @if k == 0 { th.labels scope="row" { (label) } } @else { td.labels { (label) } }
                    }
                    @if named { td.labels { (f.name) } }
                    @for (heading, column) in &columns {
                        td.n.here[*heading == "here"].mark[column(f).ends_with('!')] { (column(f)) }
                    }
                } } }
            }
        }
    }
}

/// Words, so that colour is not needed.
fn mark(change: Change) -> &'static str {
    match change {
        Change::Same => "",
        Change::Better => " better!",
        Change::Worse => " WORSE!",
        Change::Count => " CHANGED!",
    }
}

fn checks(chapter: &str, checks: &[Check]) -> Markup {
    let failed = checks.iter().filter(|check| !check.pass).count();
    let number = |value: Option<f64>| value.map_or("-".to_owned(), three);
    let heading = match failed {
        0 => format!("{}, all pass", count(checks.len(), "check", "checks")),
        failed => format!("{} of {} FAIL", failed, count(checks.len(), "check", "checks")),
    };
    html! {
        @if !checks.is_empty() {
            details open[failed > 0] {
                summary { (heading) }
                div.scroll tabindex="0" role="region" aria-label=(format!("{chapter}: checks")) {
                    table {
                        thead { tr {
                            th scope="col" { "check" }
                            th.n scope="col" { "bound" }
                            th.n scope="col" { "value" }
                            th scope="col" { "verdict" }
                        } }
                        tbody { @for check in checks { tr {
                            th scope="row" { (check.name) }
                            td.n { (number(check.bound)) }
                            td.n { (number(check.value)) }
                            td { @if check.pass { "pass" } @else { span.failed { "FAIL" } } }
                        } } }
                    }
                }
            }
        }
    }
}
