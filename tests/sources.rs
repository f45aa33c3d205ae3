//! The guide's page of sources against the project: no item of a source is missing, what a row names exists, and
//! chapters of the book of tables are named by the items that they show.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

#[allow(dead_code)] // what a chapter shows is the example's
#[path = "../examples/tables/catalog/mod.rs"]
mod catalog;

/// An item of a source: its first cell.
type Items = Vec<String>;

/// Read off the sources themselves, one after the other; what has no number is there under its own name.
fn expected() -> Vec<(&'static str, Items)> {
    // `kind` of the numbers `from..=to` behind `prefix`.
    let run = |kind: &str, prefix: &str, from: u32, to: u32| -> Items {
        (from..=to).map(|k| format!("{kind} {prefix}{k}")).collect()
    };
    let named = |names: &[&str]| -> Items { names.iter().map(|name| (*name).to_owned()).collect() };
    vec![
        (
            "Krueger05",
            [
                run("Section", "44.", 1, 6),
                run("Section", "44.2.", 1, 3),
                run("Section", "44.3.", 1, 5),
                run("Section", "44.4.", 1, 1),
                run("Equation", "44-", 1, 7),
                run("Figure", "44-", 1, 10),
                run("Listing", "44-", 1, 1),
                run("Table", "44-", 1, 1),
                named(&["Program of 44.4, explicit", "Program of 44.4.1, implicit"]),
            ]
            .concat(),
        ),
        (
            "Moravanszky03",
            [
                run("Section", "", 1, 8),
                run("Section", "1.", 1, 2),
                run("Section", "2.", 1, 1),
                run("Section", "3.", 1, 5),
                run("Section", "4.", 1, 2),
                run("Figure", "", 1, 4),
            ]
            .concat(),
        ),
        (
            "Goeddeke05",
            named(&[
                "CPU implementation",
                "Mapping the CPU implementation to the GPU",
                "Substancial performance improvement by exploiting the SIMD model",
                "Multipass rendering to reduce shader complexity",
                "Including the vertex shader",
                "Results",
                "Table of Results",
            ]),
        ),
        (
            "Bajaj04",
            [
                run("Section", "", 1, 5),
                run("Section", "2.", 1, 3),
                run("Section", "2.3.", 1, 3),
                run("Section", "3.", 1, 5),
                run("Section", "4.", 1, 2),
                run("Section", "4.1.", 1, 3),
                run("Equation", "", 1, 11),
                run("Figure", "", 1, 14),
                run("Table", "", 1, 4),
            ]
            .concat(),
        ),
        (
            "BeyondVector",
            [
                run("Section", "28.", 4, 4),
                run("Section", "28.4.", 1, 4),
                run("Figure", "28.", 5, 7),
                run("Exercise", "28.4-", 1, 4),
            ]
            .concat(),
        ),
    ]
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: impl AsRef<Path>) -> Option<String> {
    std::fs::read_to_string(root().join(path)).ok()
}

thread_local! {
    /// Pages are checked by the dozen, and what exists stays the same.
    static ANSWERS: RefCell<HashMap<String, bool>> = RefCell::default();
}

/// An answer, looked up once for each kind and name.
fn once(kind: &str, name: &str, answer: impl Fn(&str) -> bool) -> bool {
    let key = format!("{kind} {name}");
    let known = ANSWERS.with_borrow(|answers| answers.get(&key).copied());
    known.unwrap_or_else(|| {
        let found = answer(name);
        ANSWERS.with_borrow_mut(|answers| answers.insert(key, found));
        found
    })
}

fn page() -> String {
    read("src/guide/sources.md").unwrap()
}

/// A row of a table: item, modules, tests, examples, chapters, remark.
struct Row {
    source: String,
    cells: [String; 6],
}

/// Rows by their sources. A table belongs to the heading of first order above it.
fn rows(page: &str) -> Result<Vec<Row>, String> {
    let (mut source, mut rows) = (String::new(), Vec::new());
    for line in page.lines() {
        if let Some(heading) = line.strip_prefix("# ") {
            source = heading.replace(['\\', '[', ']'], "");
        }
        let Some(line) = line.strip_prefix('|') else { continue };
        let cells: Vec<String> = line.trim_end_matches('|').split('|').map(|c| c.trim().to_owned()).collect();
        let found = cells.len();
        let cells = <[String; 6]>::try_from(cells).map_err(|_| format!("{found} cells: {line}"))?;
        if cells[0] != "item" && cells[0] != "---" {
            rows.push(Row { source: source.clone(), cells });
        }
    }
    Ok(rows)
}

/// The names in backticks of a cell, without what they link to; anything else in the cell is a mistake.
fn names(cell: &str) -> Result<Vec<&str>, String> {
    let mut names = Vec::new();
    for entry in cell.split(", ").filter(|entry| !entry.is_empty()) {
        let name = entry.strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
        names.push(name.ok_or_else(|| format!("`{entry}` is no list of names"))?);
    }
    Ok(names)
}

/// The paths that a cell links to, each under the name with which it ends.
fn links(cell: &str) -> Result<Vec<&str>, String> {
    let mut paths = Vec::new();
    for entry in cell.split(", ").filter(|entry| !entry.is_empty()) {
        let link = entry.strip_prefix("[`").and_then(|rest| rest.strip_suffix(')'));
        let (name, path) = link.and_then(|l| l.split_once("`](")).ok_or(format!("`{entry}` is no link"))?;
        let whole = path.strip_suffix(name).is_some_and(|before| before.ends_with("::"));
        if !whole {
            return Err(format!("`{name}` is not what {path} ends with"));
        }
        paths.push(path);
    }
    Ok(paths)
}

/// The words of a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// All text of a module, a file or a folder below `src`.
fn module(path: &str) -> Option<String> {
    fn collect(folder: &Path, text: &mut String) {
        let Ok(entries) = std::fs::read_dir(folder) else { return };
        let mut paths: Vec<_> = entries.map(|e| e.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                collect(&path, text);
            } else if path.extension().is_some_and(|e| e == "rs") {
                text.push_str(&std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    let mut text = read(format!("src/{path}.rs")).unwrap_or_default();
    collect(&root().join("src").join(path), &mut text);
    (!text.is_empty()).then_some(text)
}

/// What `lib.rs` takes from a module: `Vector` is in `data`.
fn exported_from(name: &str) -> Option<String> {
    let lib = read("src/lib.rs").unwrap();
    let uses = lib.split("\npub use ").skip(1).filter_map(|item| item.split(';').next());
    let found = uses.filter_map(|item| item.split_once("::")).find(|(_, of)| words(of).any(|w| w == name));
    found.map(|(module, _)| module.to_owned())
}

/// The module's own front: what it says is public.
fn front(path: &str) -> String {
    let texts = [format!("src/{path}/mod.rs"), format!("src/{path}.rs")].map(read);
    texts.into_iter().flatten().collect()
}

/// True if a path leads to something public: modules first, then an item that the last of them exports, then a member
/// that stands in the item's declaration or in one of its `impl`s.
fn resolves(path: &str) -> bool {
    let Some(path) = path.strip_prefix("crate::") else { return false };
    let mut rest: Vec<&str> = path.split("::").collect();
    let mut at = String::new();
    while let Some(name) = rest.first() {
        let deeper = if at.is_empty() { (*name).to_owned() } else { format!("{at}/{name}") };
        let public = format!("pub mod {name};");
        let from = if at.is_empty() { read("src/lib.rs").unwrap() } else { front(&at) };
        if module(&deeper).is_none() || !from.contains(&public) {
            break;
        }
        at = deeper;
        rest.remove(0);
    }
    let Some((item, members)) = rest.split_first() else { return true };
    let exported = if at.is_empty() {
        let Some(module) = exported_from(item) else { return false };
        at = module;
        true
    } else {
        let front = front(&at);
        let uses = front.split("\npub use ").skip(1).filter_map(|item| item.split(';').next());
        uses.flat_map(words).any(|w| w == *item) || declared(&front, item)
    };
    // What stands for all modules: a layer may export what another one declares.
    let text = module("").unwrap();
    let own = module(&at).unwrap();
    exported
        && declared(if declared(&own, item) { &own } else { &text }, item)
        && match members {
            [] => true,
            [member] => has_member(&text, item, member),
            _ => false,
        }
}

/// A public function, type, trait or constant of that name; a macro's functions are known by their rows.
fn declared(text: &str, name: &str) -> bool {
    let kinds = ["pub fn", "pub const fn", "pub struct", "pub enum", "pub trait", "pub const", "pub type"];
    let follows = |at: usize| !text[at..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let stands = |what: &str| text.match_indices(what).any(|(at, found)| follows(at + found.len()));
    kinds.iter().any(|kind| stands(&format!("{kind} {name}")))
        || (text.contains("pub fn $name") && stands(&format!("\n    {name}")))
}

/// A variant of an enum, or what an `impl` of the type makes public.
fn has_member(text: &str, of: &str, member: &str) -> bool {
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let bodies = |head: String| -> Vec<String> {
        let found = text.match_indices(&head).filter(|(at, found)| ends(&text[at + found.len()..]));
        found.filter_map(|(at, _)| text[at..].split("\n}").next().map(str::to_owned)).collect()
    };
    let variant = |body: &String| {
        body.lines().filter_map(|line| line.strip_prefix("    ")).any(|line| {
            line.strip_prefix(member)
                .is_some_and(|rest| [",", " {", "(", " ="].iter().any(|s| rest.starts_with(s)))
        })
    };
    let associated = |body: &String| declared(body, member);
    bodies(format!("pub enum {of}")).iter().any(variant)
        || ["impl ", "impl<'_> ", "impl<'a> ", "impl<A: LinOp, P: Preconditioner> "]
            .iter()
            .any(|i| bodies(format!("{i}{of}")).iter().any(associated))
}

/// True if `file::name` is a test.
fn is_test(name: &str) -> bool {
    let Some((file, test)) = name.split_once("::") else { return false };
    let Some(text) = read(format!("tests/{file}")) else { return false };
    text.split("#[test]\n").skip(1).any(|after| {
        let function = after.lines().find(|line| line.trim_start().starts_with("fn "));
        function.is_some_and(|line| line.trim_start().starts_with(&format!("fn {test}(")))
    })
}

/// True if one of the manifests lists this example.
fn is_example(name: &str) -> bool {
    let manifests = ["Cargo.toml", "examples/Cargo.toml", "benches/Cargo.toml"].map(|m| read(m).unwrap());
    manifests.iter().any(|text| lists(text, "example", name))
}

/// Whether a manifest has a target of this kind and name.
fn lists(manifest: &str, kind: &str, name: &str) -> bool {
    manifest.split(&format!("[[{kind}]]")).skip(1).any(|target| target.split('"').nth(1) == Some(name))
}

/// What is wrong with a page.
fn mistakes(page: &str) -> Vec<String> {
    let rows = match rows(page) {
        Ok(rows) => rows,
        Err(mistake) => return vec![mistake],
    };
    let mut wrong = Vec::new();
    for (source, items) in expected() {
        let found: Vec<&String> = rows.iter().filter(|r| r.source == source).map(|r| &r.cells[0]).collect();
        let known: BTreeSet<&String> = items.iter().collect();
        wrong
            .extend(items.iter().filter(|i| !found.contains(i)).map(|i| format!("{source}: no row for {i}")));
        wrong.extend(found.iter().filter(|i| !known.contains(*i)).map(|i| format!("{source} has no {i}")));
        let mut once = BTreeSet::new();
        wrong.extend(found.iter().filter(|i| !once.insert(**i)).map(|i| format!("{source}: {i} twice")));
    }
    for row in &rows {
        let [item, modules, tests, examples, chapters, remark] = &row.cells;
        let place = format!("{}, {item}", row.source);
        if !expected().iter().any(|(source, _)| *source == row.source) {
            wrong.push(format!("{place}: no source of this name"));
        }
        let mut check =
            |cell: Result<Vec<&str>, String>, what: &str, exists: &dyn Fn(&str) -> bool| match cell {
                Ok(names) => {
                    let missing = names.iter().filter(|name| !once(what, name, exists));
                    wrong.extend(missing.map(|name| format!("{place}: no {what} `{name}`")));
                }
                Err(mistake) => wrong.push(format!("{place}: {mistake}")),
            };
        check(links(modules), "module", &resolves);
        check(names(tests), "test", &is_test);
        check(names(examples), "example", &is_example);
        check(names(chapters), "chapter", &|name| catalog::chapters().any(|chapter| chapter.name == name));
        let shows = |c: &&catalog::Chapter| c.items.contains(&(row.source.as_str(), item.as_str()));
        let shown: Vec<String> = catalog::chapters().filter(shows).map(|c| format!("`{}`", c.name)).collect();
        if *chapters != shown.join(", ") {
            wrong.push(format!("{place}: its chapters are {}", shown.join(", ")));
        }
        let reason = remark.contains("nothing to build:");
        match (modules.is_empty(), tests.is_empty()) {
            (true, true) if examples.is_empty() && !reason => {
                wrong.push(format!("{place}: no reason why not"))
            }
            (true, false) | (false, true) => wrong.push(format!("{place}: a module goes with a test")),
            _ => {}
        }
    }
    for chapter in catalog::chapters() {
        let row =
            |item: &(&str, &str)| rows.iter().any(|r| (r.source.as_str(), r.cells[0].as_str()) == *item);
        let missing = chapter.items.iter().filter(|item| !row(item));
        wrong.extend(
            missing.map(|(source, item)| format!("chapter {}: no row for {source}, {item}", chapter.name)),
        );
    }
    wrong
}

/// Every table, figure and listing that an example prints is a chapter's; and a chapter that is no item's says of what
/// it is.
#[test]
fn chapters_are_of_items_and_what_has_an_example_has_a_chapter() {
    for row in rows(&page()).unwrap() {
        let [item, _, _, examples, chapters, _] = &row.cells;
        let printed = ["Table", "Figure", "Listing", "Exercise"].iter().any(|kind| item.starts_with(kind));
        assert!(
            !printed || examples.is_empty() || !chapters.is_empty(),
            "{}, {item}: no chapter",
            row.source
        );
    }
    for chapter in catalog::chapters().filter(|chapter| chapter.items.is_empty()) {
        assert!(
            ["device", "cavity"].contains(&chapter.name) || !chapter.is_of(true),
            "{}: of no item",
            chapter.name
        );
    }
    let mut names: Vec<&str> = catalog::chapters().map(|chapter| chapter.name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "a name twice");
    let exists = |program| match program {
        catalog::Program::Example(name) => is_example(name),
        catalog::Program::Bench(name) => lists(&read("benches/Cargo.toml").unwrap(), "bench", name),
    };
    assert!(catalog::chapters().all(|chapter| exists(chapter.program)));
}

#[test]
fn every_item_of_the_sources_has_its_row_and_what_is_named_exists() {
    let wrong = mistakes(&page());
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Each of these, done to the page as it is, is one mistake or more, and is told with what it is about.
#[test]
fn misspelled_names_and_missing_rows_are_noticed() {
    let page = page();
    let without = |item: &str| -> String {
        let rows = page.lines().filter(|line| !line.starts_with(&format!("| {item} |")));
        rows.map(|line| format!("{line}\n")).collect()
    };
    let cases = [
        (without("Figure 44-3"), "no row for Figure 44-3"),
        (without("Exercise 28.4-4"), "no row for Exercise 28.4-4"),
        (without("Including the vertex shader"), "no row for Including the vertex shader"),
        (page.replace("| Table 44-1 |", "| Table 44-2 |"), "Krueger05 has no Table 44-2"),
        (page.replace("| Figure 44-6 |", "| Figure 44-5 |"), "Figure 44-5 twice"),
        (
            page.replace("[`ColumnStack`](crate::ColumnStack)", "[`ColumnStak`](crate::ColumnStak)"),
            "crate::ColumnStak",
        ),
        (page.replace("(crate::Scalar)", "(crate::Vector)"), "`Scalar` is not what crate::Vector ends with"),
        (page.replace("sim::wave`](crate::sim::wave)", "sim::weve`](crate::sim::weve)"), "crate::sim::weve"),
        (page.replace("Scheme::Explicit", "Scheme::Explicitly"), "crate::sim::wave::Scheme::Explicitly"),
        (
            page.replace("ConjugateGradient::iterate", "ConjugateGradient::iterates"),
            "ConjugateGradient::iterates",
        ),
        (page.replace("Window::PAPERS", "Window::PAPER"), "crate::ops::Window::PAPER"),
        (page.replace("ops::madad", "ops::mada"), "crate::ops::mada"),
        (page.replace("layout.rs::diagrams", "layout.rs::diagram"), "no test `layout.rs::diagram`"),
        (page.replace("layout.rs::diagrams", "layouts.rs::diagrams"), "no test `layouts.rs::diagrams`"),
        // A function that is there, and no test.
        (page.replace("layout.rs::diagrams", "layout.rs::places"), "no test `layout.rs::places`"),
        (page.replace("| `smoke` | `smoke` |", "| `smokes` | `smoke` |"), "no example `smokes`"),
        (page.replace("| `smoke` | `smoke` |", "| `smoke` | `smokes` |"), "no chapter `smokes`"),
        (page.replace("| `smoke` | `smoke` |", "| `smoke` | `water` |"), "its chapters are `smoke`"),
        (page.replace("| `smoke` | `smoke` |", "| `smoke` | |"), "its chapters are `smoke`"),
        (page.replace("| `smoke` | `smoke` |", "| smoke | `smoke` |"), "`smoke` is no list of names"),
        (page.replace("nothing to build: previous work", ""), "Section 1.1: no reason why not"),
        (
            page.replace("| nothing to build: previous work |", "| `hello` |"),
            "Section 1.1: no reason why not",
        ),
        (page.replace("| `smoke` | by its caption", "| `smoke` | | by its caption"), "7 cells"),
        (page.replace("# \\[Bajaj04\\]", "# \\[Bajaj05\\]"), "Bajaj05, Section 1: no source of this name"),
    ];
    for (changed, text) in cases {
        assert_ne!(changed, page, "nothing was changed for: {text}");
        let wrong = mistakes(&changed);
        assert!(wrong.iter().any(|mistake| mistake.contains(text)), "{text} is not among {wrong:#?}");
    }
}
