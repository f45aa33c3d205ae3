//! Faults in the shaders, and which tests notice them: `make mutants`.
//!
//! Neither the library nor the tests know of it. Mesa writes down every shader text that a test compiles
//! (`MESA_SHADER_DUMP_PATH`) and takes another one in its place (`MESA_SHADER_READ_PATH`); the `#line`s in a text say
//! which file and line each of its lines is. So no build is needed for a fault, and whatever can be started can be tried.
//!
//! A fault counts if a text that some test compiles has it in a line that is compiled in, and the driver accepts it. The
//! tests with such a text run one after the other, the ones that know this file best first, until one fails or hangs.
//!
//! - `TEXLA_MUTANTS_ONLY`: part of the name of the files to look at; several with commas.
//! - `TEXLA_MUTANTS_TESTS`: part of the name of the test targets to run, likewise.
//! - `TEXLA_MUTANTS_COUNT`: faults a file, 4 if it is not said.
//! - `TEXLA_MUTANTS_SECONDS`: for how long tests are tried for one fault, by the time they take without; 60.
//!
//! What has been found is in `out/mutants`, and kept: faults that were noticed by a test as it is built now are not tried
//! again, the others are.
//! Remove the folder to begin anew.

#[path = "../common/mod.rs"]
mod common;
mod compile;
mod equivalent;
mod record;
mod sites;
mod suite;
mod texts;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use common::random::Rng;
use compile::Compiler;
use record::{Recorded, emptied};
use serde_json::{Value, json};
use sites::{Fault, faults};
use suite::{Outcome, Test};
use texts::{Store, Text, files};

/// How to have tests of what is there now.
pub const BUILD: &str = "run `cargo test --all-features --tests --no-run`";

/// Chooses the faults.
const SEED: u64 = 13;

/// So many of the texts that hold a line are looked at, to see whether it is compiled in.
const LOOKED_AT: usize = 48;

/// Past this many times what a test takes without a fault, and some seconds, it hangs.
const PATIENCE: f64 = 5.0;

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|v| !v.is_empty())
}

fn number(name: &str, default: usize) -> usize {
    variable(name)
        .map_or(default, |v| v.parse().unwrap_or_else(|_| panic!("{name} is `{v}`, expected a number")))
}

/// Whether a variable that lists parts of names, if it is set, has one of this name.
fn wanted(variable_name: &str, name: &str) -> bool {
    variable(variable_name).is_none_or(|parts| parts.split(',').any(|part| name.contains(part)))
}

fn silent(file: &str) -> bool {
    equivalent::SILENT.iter().any(|(name, _)| *name == file)
}

fn limit(seconds: f64) -> Duration {
    Duration::from_secs_f64(5.0 + PATIENCE * seconds)
}

/// Writes every text that holds the fault's line, with the fault, to where Mesa looks for it; says which these are.
fn put(fault: &Fault, store: &Store, read: &Path) -> HashSet<String> {
    let holding = store.texts.values().filter_map(|text| Some((text, text.place(&fault.file, fault.line)?)));
    holding
        .map(|(text, place)| {
            let file = read.join(&text.name);
            if !file.exists() {
                fs::write(file, text.with(place, &fault.text)).unwrap();
            }
            text.name.clone()
        })
        .collect()
}

/// Runs one test with a fault in place. A fault in a probe makes texts that no test has compiled before: they are written
/// down on the way, get the fault too, and the test runs again.
fn noticed(fault: &Fault, test: &Test, limit: Duration, store: &mut Store, folder: &Path) -> Option<Outcome> {
    let read = emptied(folder.join("read"));
    let dump = folder.join("dump");
    let mut holding = put(fault, store, &read);
    loop {
        match suite::run(test, Some(&read), &dump, limit).0 {
            Outcome::Passed => {}
            outcome => {
                store.take(&dump);
                return Some(outcome);
            }
        }
        store.take(&dump);
        let before = holding.len();
        holding = put(fault, store, &read);
        if holding.len() == before {
            return None;
        }
    }
}

/// Whether some of the texts that hold the fault's line, of which a few are looked at, have it compiled in, and the driver
/// accepts it in all of these; then those texts that may have it.
fn valid<'a>(fault: &Fault, holding: &[&'a Text], compiler: &Compiler) -> Option<Vec<&'a Text>> {
    let (seen, unseen) = holding.split_at(holding.len().min(LOOKED_AT));
    let mut reached = Vec::new();
    for text in seen {
        let Some(place) = text.place(&fault.file, fault.line) else { continue };
        // Tests offer texts that the driver refuses, too.
        if compiler.accepts(text, place, &text.lines[place]) && compiler.reaches(text, place) {
            if !compiler.accepts(text, place, &fault.text) {
                return None;
            }
            reached.push(*text);
        }
    }
    let found = !reached.is_empty();
    reached.extend(unseen);
    found.then_some(reached)
}

/// Tests that compile one of these texts: quick ones first, those whose text few others have, and those that have noticed
/// faults in this file before.
fn order<'a>(
    recorded: &'a [Recorded],
    texts: &HashSet<String>,
    good: &BTreeMap<String, usize>,
) -> Vec<&'a Recorded> {
    let mut sharing: HashMap<&String, f64> = HashMap::new();
    let used = |r: &'a Recorded| r.texts.iter().filter(|t| texts.contains(*t));
    recorded.iter().flat_map(used).for_each(|text| *sharing.entry(text).or_default() += 1.0);
    let mut users: Vec<_> = recorded
        .iter()
        .filter_map(|r| {
            let own: f64 = used(r).map(|text| 1.0 / sharing[text]).sum();
            let earlier = good.get(&r.test.name).copied().unwrap_or(0);
            (own > 0.0).then(|| ((1.0 + r.seconds) / own / (1.0 + 4.0 * earlier as f64), r))
        })
        .collect();
    users.sort_by(|a, b| a.0.total_cmp(&b.0));
    users.into_iter().map(|(_, r)| r).collect()
}

/// What became of one fault.
#[derive(Clone)]
struct Verdict {
    fault: Fault,
    /// The test, and how: none if nothing has noticed.
    by: Option<(String, String)>,
    /// When the test that noticed it was built.
    build: Option<u64>,
    tried: usize,
    left: usize,
}

impl Verdict {
    fn json(&self) -> Value {
        json!({ "file": self.fault.file, "line": self.fault.line + 1, "column": self.fault.column + 1,
            "change": self.fault.change, "text": self.fault.text.trim(),
            "by": self.by.as_ref().map(|b| &b.0), "how": self.by.as_ref().map(|b| &b.1),
            "build": self.build, "tried": self.tried, "left": self.left })
    }
}

/// Verdicts of an earlier run, by the names of faults.
fn earlier(file: &Path) -> HashMap<String, Value> {
    let all = fs::read_to_string(file).map_or(Value::Null, |text| serde_json::from_str(&text).unwrap());
    let all = all.as_array().cloned().unwrap_or_default();
    let key = |v: &Value| {
        format!(
            "{}:{}:{} {}",
            v["file"].as_str().unwrap(),
            v["line"],
            v["column"],
            v["change"].as_str().unwrap()
        )
    };
    all.into_iter().map(|v| (key(&v), v)).collect()
}

struct Run {
    folder: PathBuf,
    store: Store,
    recorded: Vec<Recorded>,
    compiler: Compiler,
    earlier: HashMap<String, Value>,
    count: usize,
    seconds: f64,
}

impl Run {
    fn file(&mut self, file: &str, text: &str) -> Vec<Verdict> {
        let mut verdicts: Vec<Verdict> = Vec::new();
        let mut candidates = faults(file, text);
        let mut rng = Rng::new(file.bytes().fold(SEED, |h, b| h.wrapping_mul(31).wrapping_add(u64::from(b))));
        rng.shuffle(&mut candidates);
        let mut good = BTreeMap::new();
        for fault in candidates {
            if verdicts.len() == self.count {
                break;
            }
            if equivalent::reason(&fault).is_some() {
                continue;
            }
            let mut holding: Vec<&Text> =
                self.store.texts.values().filter(|t| t.place(file, fault.line).is_some()).collect();
            holding.sort_by_key(|t| &t.name);
            rng.clone().shuffle(&mut holding);
            let Some(reached) = valid(&fault, &holding, &self.compiler) else { continue };
            let reached: HashSet<String> = reached.into_iter().map(|t| t.name.clone()).collect();
            let verdict = self.fault(fault, &reached, &good);
            if let Some((by, _)) = &verdict.by {
                *good.entry(by.clone()).or_insert(0) += 1;
            }
            println!(
                "{}  {}",
                verdict.fault.name(),
                verdict.by.as_ref().map_or_else(
                    || format!(
                        "SURVIVES {} tests, {} not tried: {}",
                        verdict.tried,
                        verdict.left,
                        verdict.fault.text.trim()
                    ),
                    |(by, how)| format!("{how} {by} (test {})", verdict.tried)
                )
            );
            self.earlier.insert(verdict.fault.name(), verdict.json());
            let all: Vec<&Value> = self.earlier.values().collect();
            fs::write(self.folder.join("results.json"), serde_json::to_string_pretty(&all).unwrap()).unwrap();
            verdicts.push(verdict);
        }
        verdicts
    }

    fn fault(&mut self, fault: Fault, reached: &HashSet<String>, good: &BTreeMap<String, usize>) -> Verdict {
        // What another build of the test has noticed says nothing of this one.
        let same_build = |old: &&Value| {
            let of = |r: &&Recorded| old["by"] == r.test.name.as_str();
            self.recorded.iter().find(of).is_some_and(|r| old["build"] == r.build)
        };
        let known = self.earlier.get(&fault.name()).filter(|old| old["text"] == fault.text.trim());
        let old = known.filter(same_build);
        let noted =
            old.and_then(|old| Some((old["by"].as_str()?, old["how"].as_str()?, old["tried"].as_u64()?)));
        if let Some((by, how, tried)) = noted {
            return Verdict {
                by: Some((by.to_owned(), how.to_owned())),
                build: old.and_then(|old| old["build"].as_u64()),
                tried: tried as usize,
                left: 0,
                fault,
            };
        }
        let users = order(&self.recorded, reached, good);
        let (mut tried, mut spent) = (0, 0.0);
        for user in &users {
            if tried > 0 && spent + user.seconds > self.seconds {
                continue;
            }
            tried += 1;
            spent += user.seconds;
            let outcome = noticed(&fault, &user.test, limit(user.seconds), &mut self.store, &self.folder);
            if let Some(outcome) = outcome {
                let by = Some((user.test.name.clone(), format!("{outcome:?}").to_lowercase()));
                return Verdict { fault, by, build: Some(user.build), tried, left: 0 };
            }
        }
        Verdict { fault, by: None, build: None, tried, left: users.len() - tried }
    }
}

#[test]
#[ignore = "half an hour or more; run by make mutants"]
fn every_kernel_is_noticed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("out/mutants");
    let mut store = Store::open(&folder.join("texts"));
    let tests = suite::tests(|target| wanted("TEXLA_MUTANTS_TESTS", target));
    let (recorded, failing) = record::record(&folder, &mut store, tests);
    println!("{} tests compile {} texts", recorded.len(), store.texts.len());
    let mut run = Run {
        earlier: earlier(&folder.join("results.json")),
        compiler: Compiler::new(),
        count: number("TEXLA_MUTANTS_COUNT", 4),
        seconds: number("TEXLA_MUTANTS_SECONDS", 60) as f64,
        folder,
        store,
        recorded,
    };
    let mut unnoticed = Vec::new();
    let mut all = Vec::new();
    let mut table = String::new();
    for (file, text) in files().into_iter().filter(|(file, _)| wanted("TEXLA_MUTANTS_ONLY", file)) {
        let verdicts = run.file(&file, &text);
        let by: BTreeSet<&str> = verdicts
            .iter()
            .filter_map(|v| v.by.as_ref())
            .map(|(by, _)| by.split("::").next().unwrap())
            .collect();
        let count = verdicts.iter().filter(|v| v.by.is_some()).count();
        let by = by.into_iter().collect::<Vec<_>>().join(", ");
        table += &format!("| `{file}` | {} | {count} | {by} |\n", verdicts.len());
        if count == 0 && !silent(&file) {
            unnoticed.push(file);
        }
        all.extend(verdicts);
    }
    let survivors: Vec<&Verdict> = all.iter().filter(|v| v.by.is_none()).collect();
    println!("\n| file | faults | noticed | by |\n|---|---:|---:|---|\n{table}");
    println!("{} of {} faults noticed. Survivors:", all.len() - survivors.len(), all.len());
    for v in survivors {
        println!(
            "- `{}` ({} tests, {} not tried): `{}`",
            v.fault.name(),
            v.tried,
            v.left,
            v.fault.text.trim()
        );
    }
    assert!(unnoticed.is_empty(), "no test notices a fault in {unnoticed:?}");
    assert!(failing.is_empty(), "these fail without a fault: {failing:?}");
}

/// Faults have to be found before they can be tried, and each has a name of its own.
#[test]
fn every_file_has_places_for_faults() {
    for (file, text) in files() {
        let faults = faults(&file, &text);
        let names: BTreeSet<String> = faults.iter().map(Fault::name).collect();
        assert_eq!(names.len(), faults.len(), "{file}: two faults of one name");
        assert!(!names.is_empty() || silent(&file), "{file} has no place for a fault");
        for fault in faults {
            let was = text.lines().nth(fault.line).unwrap();
            assert_ne!(fault.text, was, "{}", fault.name());
        }
    }
}

#[test]
fn faults_that_are_listed_as_equivalent_exist() {
    for (file, line, why) in equivalent::EQUIVALENT {
        let (_, text) = files().into_iter().find(|(name, _)| name == file).unwrap();
        let known = faults(file, &text).iter().any(|fault| fault.text.trim() == *line);
        assert!(known && !why.is_empty(), "{file}: no fault makes `{line}`");
    }
}

/// What the whole run rests on, with the test that drives every shader: texts are written down and are what the files
/// say, every file is among them, and a fault is noticed where it is compiled in and changes something, and only there.
#[test]
fn a_fault_is_noticed() {
    let compiler = Compiler::new();
    if !compiler.mesa() {
        eprintln!("not looked at: only Mesa writes shader texts down");
        return;
    }
    let folder = emptied(common::scratch::folder().join("mutants"));
    let mut store = Store::open(&folder.join("texts"));
    let dump = emptied(folder.join("dump"));
    let limit = Duration::from_secs(300);
    let all = Test::named("shaders", "every_file_and_every_operation_compile_in_both_dialects");
    assert_eq!(suite::run(&all, None, &dump, limit).0, Outcome::Passed);
    store.take(&dump);
    for (file, text) in files() {
        let lines: Vec<&str> = text.lines().collect();
        let held: Vec<&Text> = store.texts.values().filter(|t| t.files().any(|f| f == file)).collect();
        assert!(!held.is_empty(), "no test compiles {file}");
        for text in held {
            let missing = (0..lines.len())
                .find(|i| !lines[*i].starts_with("#include") && text.place(&file, *i).is_none());
            assert_eq!(missing, None, "{file}: the tests were built from another text: {BUILD}");
        }
    }

    let fault = |file: &str, was: &str, with: &str| {
        let (_, text) = files().into_iter().find(|(name, _)| name == file).unwrap();
        let (line, found) = text.lines().enumerate().find(|(_, line)| line.contains(was)).unwrap();
        let text = found.replace(was, with);
        Fault { file: file.to_owned(), line, column: 0, change: String::new(), text }
    };
    let compiled = |store: &Store, fault: &Fault| {
        let holding = |text: &&Text| text.place(&fault.file, fault.line).is_some();
        let texts: Vec<&Text> = store.texts.values().filter(holding).collect();
        valid(fault, &texts, &compiler).is_some()
    };
    let small = Test::named("repack", "between_any_two_layouts");
    let shift = fault("include/layout.glsl", "int k = e.x * cols + e.y;", "int k = e.x * cols - e.y;");
    assert!(compiled(&store, &shift));
    assert_eq!(noticed(&shift, &small, limit, &mut store, &folder), Some(Outcome::Failed));
    // The same text but for a comment.
    let nothing = fault("include/layout.glsl", "int k = e.x * cols + e.y;", "int k = e.x * cols + e.y; // !");
    assert_eq!(noticed(&nothing, &small, limit, &mut store, &folder), None);
    // The driver refuses it; and a line that the bits-as-integers form of exact arithmetic leaves out.
    let refused = fault("include/layout.glsl", "int k = e.x * cols + e.y;", "int k = e.x.x.y;");
    assert!(!compiled(&store, &refused));
    let precise: Vec<&Text> =
        store.texts.values().filter(|t| t.lines.iter().any(|l| l == "#define TEXLA_EXACT 1")).collect();
    let left_out = fault("include/exact.glsl", "#define EXACT precise", "#define EXACT highp");
    assert!(!precise.is_empty() && valid(&left_out, &precise, &compiler).is_none());
}
