//! Books of several devices side by side, as a page of Markdown.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::book::date;
use crate::catalog::{Chapter, chapters};
use crate::columns::{caption, columns};
use crate::record::{Book, Figure, Record, Table};
use crate::support::{Failure, Result};
use crate::text::{count, duration};

/// A book, called by the name of its folder.
struct Named {
    name: String,
    book: Book,
}

/// The books of these folders, in their order.
pub fn page(folders: &[PathBuf]) -> Result<String> {
    let books: Vec<Named> = folders.iter().map(|folder| named(folder)).collect::<Result<_>>()?;
    if let Some(twice) =
        books.iter().enumerate().find_map(|(k, b)| books[..k].iter().find(|o| o.name == b.name))
    {
        return Err(Failure::bad_input(format_args!("two folders are called {}", twice.name)));
    }
    if let Some(other) = books.iter().find(|b| b.book.quick != books[0].book.quick) {
        let [quick, full] = if other.book.quick { [other, &books[0]] } else { [&books[0], other] };
        return Err(Failure::bad_input(format_args!(
            "{} is of a quick run and {} of a full one: nothing in them is of the same size",
            quick.name, full.name
        )));
    }
    let mut page = String::from(HEAD);
    page.push_str(&devices(&books));
    for chapter in chapters() {
        page.push_str(&section(chapter, &books));
    }
    Ok(page)
}

const HEAD: &str = "\
<!-- Written by `cargo run --example tables -- --results FILE DIR...`. Change nothing here by hand. -->

# Results

What the tables and figures of the papers, and the benchmarks, come to on each device, from records that `make tables` has written.
**Quote ratios, not times**: machines are shared. \"To paper\" and \"to CPU\" say how many times as good a number is as the paper's and as
the best that a CPU did in the same run; \"rounds\" are the least and the most, \"ceiling\" is the share of the best draw that does
nothing but write or read. How the books were made is said [beside them](results/README.md); dated measurements of single steps,
and what was tried in vain, are in [the journal](JOURNAL.md).

";

fn named(folder: &Path) -> Result<Named> {
    let fault = |what: &str| Failure::bad_input(format_args!("{}: {what}", folder.display()));
    let book = crate::there(folder)?;
    let whole = folder.canonicalize().map_err(|error| fault(&error.to_string()))?;
    let name = whole.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| fault("a folder without a name"))?;
    Ok(Named { name: name.to_owned(), book })
}

fn devices(books: &[Named]) -> String {
    let mut text = String::from(
        "| | device | driver | CPU | run | of commit | chapters |\n|---|---|---|---|---|---|---|\n",
    );
    for Named { name, book } in books {
        let days = book.chapters.iter().map(|record| record.begun);
        let day = days.max().map_or(String::new(), |last| date(last).chars().take(16).collect());
        let passed = book.chapters.iter().filter(|record| record.passed()).count();
        let machine = &book.machine;
        let commits: BTreeSet<&str> = book.chapters.iter().filter_map(|r| r.commit.as_deref()).collect();
        text += &row([
            name.clone(),
            machine.device.clone(),
            format!("{}, {}", machine.driver, machine.api),
            count(machine.threads, "thread", "threads"),
            format!("{day}{}", if book.quick { ", quick" } else { "" }),
            commits.into_iter().collect::<Vec<_>>().join(", "),
            format!("{passed} of {} passed", chapters().filter(|c| c.is_of(book.quick)).count()),
        ]);
    }
    text
}

fn row(cells: impl IntoIterator<Item = String>) -> String {
    let cells: Vec<String> = cells.into_iter().map(|cell| plain(&cell)).collect();
    format!("| {} |\n", cells.join(" | "))
}

/// What a driver or a folder is called is text, and nothing else.
fn plain(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('|', "\\|").replace(['\n', '\r'], " ")
}

/// The records of a chapter, each with the name of its device; nothing if no device has run it.
fn section(chapter: &Chapter, books: &[Named]) -> String {
    let records: Vec<(&str, &Record)> =
        books.iter().filter_map(|b| Some((b.name.as_str(), b.book.chapter(chapter.name)?))).collect();
    if records.is_empty() {
        return String::new();
    }
    let mut text = format!("\n## {}\n\n{}. {}\n\n", chapter.title, chapter.source, chapter.reading);
    for (name, record) in &records {
        text += &format!("- {}: {}, {}\n", plain(name), plain(&record.verdict()), duration(record.seconds));
    }
    for wanted in chapter.tables {
        let tables: Vec<(&str, &Table)> = records
            .iter()
            .filter_map(|(name, r)| Some((*name, r.tables.iter().find(|t| t.caption == wanted.caption)?)))
            .collect();
        text += &table(&tables);
    }
    text
}

/// A line for each figure that a device has, in the order of the first that has it.
fn table(tables: &[(&str, &Table)]) -> String {
    let Some((_, first)) = tables.first() else { return String::new() };
    let key = |f: &Figure| (f.labels.clone(), f.name.clone());
    let mut lines: Vec<&Figure> = Vec::new();
    for figure in tables.iter().flat_map(|(_, table)| &table.figures) {
        if !lines.iter().any(|line| key(line) == key(figure)) {
            lines.push(figure);
        }
    }
    let named = first.names() > 1;
    let find = |table: &'_ Table, f: &Figure| table.figures.iter().position(|other| key(other) == key(f));

    // What the paper prints is the same for all devices.
    let mut heads: Vec<String> = first.labels.clone();
    heads.extend(named.then(|| "what".to_owned()));
    let labels = heads.len();
    let paper = lines.iter().any(|f| f.paper.is_some());
    let mut rows: Vec<Vec<String>> = lines.iter().map(|f| f.labels.clone()).collect();
    for (row, f) in rows.iter_mut().zip(&lines) {
        row.extend(named.then(|| f.name.clone()));
    }
    for (heading, column) in columns().into_iter().filter(|(heading, _)| *heading == "paper" && paper) {
        heads.push(heading.to_owned());
        rows.iter_mut().zip(&lines).for_each(|(row, f)| row.push(column(f)));
    }
    for (name, table) in tables {
        for (heading, column) in columns().into_iter().filter(|(heading, _)| *heading != "paper") {
            if table.figures.iter().all(|f| column(f).is_empty()) {
                continue;
            }
            heads.push(if heading == "here" { format!("**{name}**") } else { heading.to_owned() });
            for (row, f) in rows.iter_mut().zip(&lines) {
                row.push(find(table, f).map_or(String::new(), |k| column(&table.figures[k])));
            }
        }
    }
    let rule = (0..heads.len()).map(|k| if k < labels { "---" } else { "---:" }.to_owned());
    let mut text = format!("\n**{}**\n\n{}{}", caption(first), row(heads.clone()), row(rule));
    rows.into_iter().for_each(|cells| text += &row(cells));
    text
}
