//! This book beside an earlier one, or one of another device.

use crate::catalog::Better;
use crate::record::{Book, Check, Figure, Record};
use crate::text::times;

/// Figures of single runs have no spread: what is less far apart than this is no news.
const SINGLE: f64 = 1.5;

/// What has become of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change {
    /// Within the spreads, or neither better nor worse.
    Same,
    Better,
    Worse,
    /// A count that does not depend on the machine.
    Count,
}

/// How a figure was there.
pub struct Other<'a> {
    pub figure: &'a Figure,
    pub change: Change,
}

/// Two books.
pub struct Comparison<'a> {
    here: &'a Book,
    there: &'a Book,
    pub folder: String,
}

impl<'a> Comparison<'a> {
    pub fn new(here: &'a Book, there: &'a Book, folder: String) -> Self {
        Comparison { here, there, folder }
    }

    pub fn other(&self) -> &Book {
        self.there
    }

    /// Why times and counts of the two cannot be compared; they are shown all the same.
    pub fn incomparable(&self) -> Vec<String> {
        let (here, there) = (self.here, self.there);
        let size = |book: &Book| if book.quick { "quick" } else { "full" }.to_owned();
        let machine = |book: &Book| {
            let machine = &book.machine;
            format!("{}, {}, {}", machine.device, machine.driver, machine.api)
        };
        let pairs = [
            ("device", machine(there), machine(here)),
            ("size of the run", size(there), size(here)),
            ("profile", there.profile.clone(), here.profile.clone()),
            ("CPU threads", there.machine.threads.to_string(), here.machine.threads.to_string()),
        ];
        let differ = pairs.into_iter().filter(|(_, there, here)| there != here);
        differ.map(|(what, there, here)| format!("{what}: {there} there, {here} here")).collect()
    }

    /// Programs did the same work.
    fn same_work(&self) -> bool {
        self.here.quick == self.there.quick
    }

    fn same_device(&self) -> bool {
        let key = |book: &Book| {
            (book.machine.device.clone(), book.machine.driver.clone(), book.machine.api.clone())
        };
        self.same_work() && key(self.here) == key(self.there)
    }

    /// What the other book says of a figure of this one.
    pub fn find(&self, chapter: &str, caption: &str, figure: &Figure) -> Option<Other<'a>> {
        let tables = &self.there.chapter(chapter)?.tables;
        let figures = &tables.iter().find(|table| table.caption == caption)?.figures;
        let other = figures.iter().find(|f| f.labels == figure.labels && f.name == figure.name)?;
        // Of another size nothing is better or worse.
        let change = if self.same_work() { change(figure, other) } else { Change::Same };
        Some(Other { figure: other, change })
    }

    /// All that has changed for the worse and no machine's speed explains, a line each: what the exit code is of.
    pub fn worse(&self) -> Vec<String> {
        let mut worse = Vec::new();
        for there in &self.there.chapters {
            let name = &there.name;
            match self.here.chapter(name) {
                // A run of some chapters says nothing of the others.
                None if self.here.finished && self.same_work() && there.passed() => {
                    worse.push(format!("{name}: passed there, missing here"))
                }
                None => {}
                Some(here) => {
                    if there.passed() && !here.passed() {
                        worse.push(format!("{name}: passed there, {} here", here.verdict()));
                    }
                    worse.extend(self.checks(there, here).map(|what| format!("{name}: {what}")));
                    if self.same_device() {
                        worse.extend(self.counts(here).map(|what| format!("{name}: {what}")));
                        worse.extend(
                            missing(there, here).map(|what| format!("{name}: {what}, is missing here")),
                        );
                    }
                }
            }
        }
        worse
    }

    fn checks(&self, there: &'a Record, here: &'a Record) -> impl Iterator<Item = String> {
        there.checks.iter().enumerate().filter(|(_, check)| check.pass).filter_map(|(k, check)| {
            // Of several with one name the first belongs to the first.
            let earlier = there.checks[..k].iter().filter(|other| other.name == check.name).count();
            let what = match here.checks.iter().filter(|other| other.name == check.name).nth(earlier) {
                Some(other) if !other.pass => "fails here",
                Some(other) if crossed(check, other) => "is past its bound here",
                // On one device a bound moves with the program alone.
                Some(other)
                    if self.same_device()
                        && crossed(check, &Check { bound: check.bound, ..other.clone() }) =>
                {
                    "is past the bound of there here"
                }
                None if self.same_device() => "is missing here",
                _ => return None,
            };
            Some(format!("check \"{}\" passed there and {what}", check.name))
        })
    }

    fn counts(&self, here: &'a Record) -> impl Iterator<Item = String> {
        let figures =
            here.tables.iter().flat_map(|table| table.figures.iter().map(|f| (table.caption.as_str(), f)));
        figures.filter_map(|(caption, figure)| {
            let other = self.find(&here.name, caption, figure)?;
            let [before, after] = [other.figure.value, figure.value];
            (other.change == Change::Count)
                .then(|| format!("{}: {before} there, {after} here", place(figure)))
        })
    }

    /// Figures whose change is beyond both spreads, a line each.
    pub fn changes(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for record in &self.here.chapters {
            for table in &record.tables {
                for figure in &table.figures {
                    let Some(other) = self.find(&record.name, &table.caption, figure) else { continue };
                    let word = match other.change {
                        Change::Same | Change::Count => continue,
                        Change::Better => "better",
                        Change::Worse => "worse",
                    };
                    let ratio = times(figure.over(other.figure.value));
                    lines.push(format!("{}: {}: {word}, {ratio}", record.name, place(figure)));
                }
            }
        }
        lines
    }
}

/// Which figure it is, for people.
fn place(figure: &Figure) -> String {
    figure.labels.iter().chain([&figure.name]).cloned().collect::<Vec<_>>().join(", ")
}

/// Counts that the other run had. Which rows have times, some programs let the times decide.
fn missing<'a>(there: &'a Record, here: &'a Record) -> impl Iterator<Item = String> + 'a {
    there.tables.iter().flat_map(|table| {
        let other = here.tables.iter().find(|other| other.caption == table.caption);
        let has = move |f: &Figure| {
            other.is_some_and(|t| t.figures.iter().any(|o| o.labels == f.labels && o.name == f.name))
        };
        let counts = table.figures.iter().filter(|f| f.better == Better::Same);
        counts.filter(move |f| !has(f)).map(|f| format!("{}: {}", table.caption, place(f)))
    })
}

/// Whether a value has gone over its bound, whatever the check says: from which side it comes the earlier run tells.
fn crossed(before: &Check, after: &Check) -> bool {
    let (Some(bound), Some(was), Some(limit)) = (before.bound, before.value, after.bound) else {
        return false;
    };
    let Some(is) = after.value else { return true };
    match was.total_cmp(&bound) {
        std::cmp::Ordering::Less => is > limit,
        std::cmp::Ordering::Greater => is < limit,
        // Nothing is allowed of what is counted, and there was nothing.
        std::cmp::Ordering::Equal => bound == 0.0 && is > limit,
    }
}

/// What has become of `other` in `figure`.
fn change(figure: &Figure, other: &Figure) -> Change {
    let range = |f: &Figure| match f.spread {
        // One round is none to speak of.
        Some([least, most]) if least < most => [least.min(f.value), most.max(f.value)],
        _ => [f.value / SINGLE.sqrt(), f.value * SINGLE.sqrt()],
    };
    let ([low, high], [other_low, other_high]) = (range(figure), range(other));
    let apart = low > other_high || high < other_low;
    match figure.better {
        Better::Same if figure.value != other.value => Change::Count,
        Better::Less | Better::More if apart => match figure.over(other.value) > 1.0 {
            true => Change::Better,
            false => Change::Worse,
        },
        _ => Change::Same,
    }
}
