//! The page: one file that needs no other and no network.

use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::catalog::{Chapter, chapters};
use crate::chapter;
use crate::compare::Comparison;
use crate::record::{Book, Record};
use crate::support::Result;
use crate::text::{count, duration};

/// The book in `folder` as a page.
pub fn page(book: &Book, folder: &Path, comparison: Option<&Comparison<'_>>) -> Result<String> {
    let known = book.chapters.iter().filter_map(|r| Some((chapters().find(|c| c.name == r.name)?, r)));
    let all: Vec<(&Chapter, &Record)> = known.collect();
    let bodies = all.iter().map(|(c, record)| chapter::section(c, record, folder, comparison));
    let bodies = bodies.collect::<Result<Vec<Markup>>>()?;
    let machine = &book.machine;
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                // Or a browser asks the server for one.
                link rel="icon" href="data:,";
                title { "The book of tables: " (machine.device) }
                style { (PreEscaped(include_str!("book.css"))) }
            }
            body {
                header {
                    h1 { "The book of tables" }
                    p { "Every table and figure of the five papers that texla is built on, run here, beside what was \
                         printed." }
                    dl.facts {
                        dt { "device" } dd { (machine.device) }
                        dt { "driver" } dd { (machine.driver) ", " (machine.api) }
                        dt { "CPU" } dd { (count(machine.threads, "thread", "threads")) }
                        dt { "run" } dd { (if book.quick { "quick: small sizes" } else { "full size" })
                            ", programs of the profile " (book.profile) }
                        dt { "texla" } dd { (book.version) @for commit in commits(book) { ", commit " (commit) } }
                        dt { "chapters" } dd { (summary(book, &all)) }
                    }
                    @if book.profile == "dev" {
                        p.note { "These programs were built for tests, hardly optimised. What a GPU or its \
                                  rasteriser does is as fast as ever, but times of a CPU are several times too long: \
                                  for those, " code { "make tables FULL=1" } "." }
                    }
                }
                main {
                    (how_to_read(comparison.is_some()))
                    @if let Some(comparison) = comparison { (compared(comparison)) }
                    nav aria-label="Chapters" {
                        h2 { "Chapters" }
                        ol {
                            @for (chapter, record) in &all {
                                li { a href={ "#" (chapter.name) } { (chapter.title) } ": " (chapter::verdict(record)) }
                            }
                        }
                    }
                    @for body in bodies { (body) }
                }
            }
        }
    };
    Ok(page.into_string())
}

/// Of the chapters, each once.
fn commits(book: &Book) -> Vec<&str> {
    let mut commits: Vec<&str> = book.chapters.iter().filter_map(|record| record.commit.as_deref()).collect();
    commits.sort_unstable();
    commits.dedup();
    commits
}

fn summary(book: &Book, all: &[(&Chapter, &Record)]) -> String {
    let passed = all.iter().filter(|(_, record)| record.passed()).count();
    let checks: usize = all.iter().map(|(_, record)| record.checks.len()).sum();
    let seconds: f64 = all.iter().map(|(_, record)| record.seconds).sum();
    let of = if book.finished {
        String::new()
    } else {
        format!(" of {}", chapters().filter(|c| c.is_of(book.quick)).count())
    };
    format!(
        "{}{of}, {passed} passed, {} in {}",
        all.len(),
        count(checks, "check", "checks"),
        duration(seconds)
    )
}

/// A date, for people and machines.
pub fn date(seconds: u64) -> String {
    httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(seconds.min(250_000_000_000)))
}

fn how_to_read(compared: bool) -> Markup {
    html! {
        section #how {
            h2 { "How to read it" }
            ul.reading {
                li {
                    b { "paper" } " is what the source prints, for its own machine; "
                    b { "here" } " is this device, the median of the rounds."
                }
                li { b { "to paper" } " and " b { "to CPU" } " are ratios: 2x is twice as good as that, whether less \
                                                              is better or more." }
                li { b { "CPU" } " is the best that a CPU did with the same in the same run: a library or plain \
                                  loops, as the rows say." }
                li { b { "ceiling" } " is the share of what the device can do at all: of the best draw that does \
                                      nothing but write or read." }
                li { b { "rounds" } " are the least and the most; where there is nothing, it was done once. Quote \
                                     ratios, not times: machines are shared." }
                li { "Every program checks its own results, against 64 bits and derived bounds: passed or FAILED, \
                      with every check, below its tables." }
                li { "Counts, such as instructions or draws, are the same on every machine of a kind. A change in \
                      one is a change of the program." }
                li { "A software rasteriser is a test bed: a CPU library is faster there, and only ratios within the \
                      device say anything." }
                li { "Rows are the chapter's own; raw reports lie beside this page, a folder a chapter: report.json \
                      and log.txt." }
                @if compared {
                    li { b { "there" } " is the other book. A change is marked where the rounds of both do not touch \
                                        (or, of single runs, are more than 1.5x apart), and a changed count always." }
                } @else {
                    li { "Another run or another device is put beside this one by " code { "--against DIR" } "." }
                }
            }
        }
    }
}

fn compared(comparison: &Comparison<'_>) -> Markup {
    let (worse, changes, differ) = (comparison.worse(), comparison.changes(), comparison.incomparable());
    let machine = &comparison.other().machine;
    html! {
        section #against {
            h2 { "Against another book" }
            p.quiet { (comparison.folder) ": " (machine.device) ", " (machine.driver) ", " (machine.api) }
            @if !differ.is_empty() {
                p.note { b { "Incomparable" } " as measurements, and shown all the same: " (differ.join("; ")) "." }
            }
            @if worse.is_empty() {
                p.passed { "No check got worse." }
            } @else {
                p.failed { (count(worse.len(), "thing", "things")) " got worse:" }
                ul { @for what in &worse { li { (what) } } }
            }
            @if changes.is_empty() {
                p { "No time or rate changed beyond both spreads." }
            } @else {
                details {
                    summary { (count(changes.len(), "time or rate", "times and rates")) " changed beyond both spreads" }
                    ul { @for what in &changes { li { (what) } } }
                }
            }
        }
    }
}
