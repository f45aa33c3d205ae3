//! The book of tables: every table and figure of the five papers, run on this device, beside what was printed and
//! beside a CPU, as a page that needs nothing else.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use catalog::{Chapter, chapters};
use compare::Comparison;
use record::{Book, Machine, Record};
use run::{INTERRUPTED, Plan};
use support::{CommonArgs, Failure, Progress, Report, Result, json, say};
use text::{count, duration};

mod book;
mod catalog;
mod chapter;
mod columns;
mod compare;
mod extract;
mod record;
mod results;
mod run;
#[path = "../support/mod.rs"]
mod support;
mod text;

/// The book of tables: runs every table and figure of the papers, and writes what they have come to as a page.
///
/// Interrupted, it goes on where it was when it is started again.
#[derive(clap::Parser)]
#[command(name = "tables")]
struct Args {
    #[command(flatten)]
    common: CommonArgs,
    /// Only these chapters, comma-separated; others stay as an earlier run has left them
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = known)]
    only: Vec<&'static Chapter>,
    /// Where the book goes: index.html, book.json, and a folder for each chapter
    #[arg(long, value_name = "DIR", default_value = "out/tables", value_hint = clap::ValueHint::DirPath)]
    out: PathBuf,
    /// Compare with the book in this folder, of an earlier run or of another device
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    against: Option<PathBuf>,
    /// Write the page again from what has been run, and run nothing
    #[arg(long, conflicts_with = "only")]
    page: bool,
    /// Write FILE from the books in the folders DIR, side by side, and run nothing
    #[arg(long, value_name = "FILE", conflicts_with_all = ["only", "page", "against"])]
    results: Option<PathBuf>,
    /// The folders of these books
    #[arg(value_name = "DIR", requires = "results", value_hint = clap::ValueHint::DirPath)]
    books: Vec<PathBuf>,
    /// Seconds after which a program is taken to hang, and ended [default: 7200, 900 with --quick]
    #[arg(long, value_name = "S")]
    limit: Option<u64>,
    /// Take the programs as they are built
    #[arg(long)]
    no_build: bool,
}

impl AsRef<CommonArgs> for Args {
    fn as_ref(&self) -> &CommonArgs {
        &self.common
    }
}

fn known(name: &str) -> Result<&'static Chapter, String> {
    let names = || chapters().map(|chapter| chapter.name).collect::<Vec<_>>().join(", ");
    chapters().find(|chapter| chapter.name == name).ok_or_else(|| format!("expected one of {}", names()))
}

fn main() -> ExitCode {
    support::main_with("tables", run)
}

fn run(args: &Args, report: &mut Report) -> Result {
    if let Some(file) = &args.results {
        if args.books.is_empty() {
            return Err(Failure::bad_input("--results: expected folders of books, DIR..."));
        }
        support::write_file(file, results::page(&args.books)?.as_bytes())?;
        say(format_args!("results     {}", file.display()));
        return Ok(());
    }
    // What is wrong with either folder is said before the work.
    let there = match &args.against {
        None => None,
        Some(folder) => Some(there(folder)?),
    };
    let _alone = if args.page { None } else { Some(alone(&args.out)?) };
    let before = Book::read(&args.out)?;
    let book = match (args.page, before) {
        (true, Some(book)) => book,
        (true, None) => return Err(none(&args.out)),
        (false, before) => run_chapters(args, before, report)?,
    };

    let comparison = there.as_ref().zip(args.against.as_ref());
    let comparison =
        comparison.map(|(there, folder)| Comparison::new(&book, there, folder.display().to_string()));
    let page = args.out.join("index.html");
    support::write_file(&page, book::page(&book, &args.out, comparison.as_ref())?.as_bytes())?;
    say(format_args!("page        {}", page.display()));
    for record in &book.chapters {
        report.row(json!({
            "chapter": record.name, "seconds": record.seconds, "exit": record.exit, "verdict": record.verdict(),
        }));
    }
    let failed = book.chapters.iter().filter(|record| !record.passed()).count();
    report.at_most("chapters that failed", 0.0, failed as f64);
    if let Some(comparison) = &comparison {
        compare(comparison, report);
    }
    if INTERRUPTED.load(Ordering::Relaxed) {
        return Err(Failure::unsolved("interrupted; the same command goes on from here"));
    }
    Ok(())
}

/// The folder of the book, made if need be, for this run alone until the file is closed.
fn alone(folder: &Path) -> Result<File> {
    let fault = |what: &dyn std::fmt::Display| {
        Failure::bad_input(format_args!("--out {}: expected a folder to write to: {what}", folder.display()))
    };
    std::fs::create_dir_all(folder).map_err(|error| fault(&error))?;
    let lock = File::create(folder.join("lock")).map_err(|error| fault(&error))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(fault(&"another run is writing its book there")),
        Err(TryLockError::Error(error)) => Err(fault(&error)),
    }
}

fn none(folder: &Path) -> Failure {
    Failure::bad_input(format_args!("{}: no {} there", folder.display(), record::FILE))
}

fn there(folder: &Path) -> Result<Book> {
    Book::read(folder)?.ok_or_else(|| none(folder))
}

/// Runs what is to be run; after every chapter the record is complete up to there.
fn run_chapters(args: &Args, before: Option<Book>, report: &mut Report) -> Result<Book> {
    let machine = machine(args, report)?;
    let limit = args.limit.unwrap_or(if args.common.quick { 900 } else { 7200 });
    let limit = Duration::from_secs(support::in_range("--limit", limit, 1..=86_400)?);
    let plan = Plan::new(&args.out, args.common.quick, args.common.api.map(|api| api.to_string()), limit)?;
    let named = |c: &Chapter| args.only.iter().any(|o| o.name == c.name);
    let quick = args.common.quick;
    let wanted: Vec<&Chapter> =
        chapters().filter(|c| if args.only.is_empty() { c.is_of(quick) } else { named(c) }).collect();
    let _ = ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::Relaxed)); // without it Ctrl-C ends all at once
    if !args.no_build {
        plan.build(&wanted)?;
    }

    let known = before.as_ref().map_or(Vec::new(), |book| book.chapters.clone());
    let estimate = |chapter: &Chapter| known.iter().find(|r| r.name == chapter.name).map(|r| r.seconds);
    let mut book = Book {
        schema: record::SCHEMA,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        machine,
        quick: args.common.quick,
        profile: plan.profile(),
        finished: false,
        chapters: Vec::new(),
    };
    // A book of the same kind is gone on with; one that is whole is begun anew, but for chapters that were not asked
    // for.
    let begun_before = before.is_some();
    let alike =
        before.filter(|b| (&b.machine, b.quick, &b.profile) == (&book.machine, book.quick, &book.profile));
    if begun_before && alike.is_none() {
        if !args.only.is_empty() {
            let message = "the book that is there is of another device, size or profile, and --only would leave nothing of it: \
                           name another --out";
            return Err(Failure::bad_input(message));
        }
        say("the book that is there is of another device, size or profile: begun anew");
    }
    let whole = alike.as_ref().is_some_and(|b| b.finished && b.chapters.iter().all(Record::passed));
    book.chapters = alike.map_or(Vec::new(), |b| b.chapters);
    book.chapters.retain(|record| match wanted.iter().find(|c| c.name == record.name) {
        Some(chapter) => args.only.is_empty() && !whole && plan.holds(chapter, record),
        None => chapters().any(|c| c.name == record.name),
    });
    let left: Vec<&Chapter> = wanted.iter().copied().filter(|c| book.chapter(c.name).is_none()).collect();
    if left.len() < wanted.len() {
        say(format_args!(
            "{} of {} done before",
            wanted.len() - left.len(),
            count(wanted.len(), "chapter", "chapters")
        ));
    }

    if !left.is_empty() {
        // What runs again takes its pictures with it: until it has ended, it is not in the book.
        book.write(&args.out)?;
    }
    let (begun, progress) = (Instant::now(), Progress::new("chapter", left.len() as u64));
    for (k, chapter) in left.iter().enumerate() {
        let rest: Option<f64> = left[k + 1..].iter().map(|c| estimate(c)).sum();
        let own = estimate(chapter);
        let note = |elapsed: Duration| {
            let still = own.zip(rest).map(|(own, rest)| (own - elapsed.as_secs_f64()).max(0.0) + rest);
            let still = still.map_or(String::new(), |s| format!("; about {} more", duration(s)));
            progress.note(format_args!("{}, {} to go{still}", chapter.name, left.len() - k - 1));
        };
        let Some(record) = plan.run(chapter, note)? else { break };
        let line = format!("{:<14} {:>9}  {}", chapter.name, duration(record.seconds), record.verdict());
        progress.line(line);
        book.chapters.push(record);
        book.chapters.sort_by_key(|record| chapters().position(|c| c.name == record.name));
        book.finished = chapters().filter(|c| c.is_of(quick)).all(|c| book.chapter(c.name).is_some());
        book.write(&args.out)?;
        progress.set(k as u64 + 1);
    }
    progress.finish();
    say(format_args!(
        "\n{} in {}",
        count(book.chapters.len(), "chapter", "chapters"),
        duration(begun.elapsed().as_secs_f64())
    ));
    Ok(book)
}

/// What the chapters will run on; they make contexts of their own.
fn machine(args: &Args, report: &mut Report) -> Result<Machine> {
    let context = args.common.headless(report)?;
    let device = context.device();
    Ok(Machine {
        device: context.name().to_owned(),
        driver: device.capabilities().version,
        api: device.api().to_string(),
        threads: std::thread::available_parallelism().map_or(1, usize::from),
    })
}

/// Says what has changed; what got worse is a failed check.
fn compare(comparison: &Comparison<'_>, report: &mut Report) {
    say(format_args!("\nagainst     {}", comparison.folder));
    for what in comparison.incomparable() {
        say(format_args!("times cannot be compared: {what}"));
    }
    comparison.changes().iter().for_each(say);
    let worse = comparison.worse();
    worse.iter().for_each(|what| say(format_args!("WORSE: {what}")));
    report.set("against", comparison.folder.as_str()).set("worse", worse.clone());
    report.set("changes", comparison.changes());
    report.at_most("what got worse against the other book", 0.0, worse.len() as f64);
}
