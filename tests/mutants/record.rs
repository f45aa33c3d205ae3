//! Which test compiles which texts, and how long it takes: found once for every build of a test.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::suite::{self, Outcome, Test};
use crate::texts::Store;

/// Tests that take longer are left out: mutants would take hours.
const LONGEST: Duration = Duration::from_secs(30);

/// A test that passes, and compiles shaders of ours.
pub struct Recorded {
    pub test: Test,
    /// When it was built.
    pub build: u64,
    pub seconds: f64,
    pub texts: Vec<String>,
}

/// An empty folder of this name.
pub fn emptied(path: PathBuf) -> PathBuf {
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

/// Runs every test that the record in `folder` does not know, or knows from another build. Also the names of those that
/// fail without a fault, and say nothing of one.
pub fn record(folder: &Path, store: &mut Store, tests: Vec<Test>) -> (Vec<Recorded>, Vec<String>) {
    let file = folder.join("record.json");
    let mut record: BTreeMap<String, Value> = fs::read_to_string(&file)
        .map_or_else(|_| BTreeMap::new(), |text| serde_json::from_str(&text).unwrap());
    let dump = emptied(folder.join("dump"));
    let (mut found, mut failing) = (Vec::new(), Vec::new());
    for test in tests {
        let modified = test.binary.metadata().unwrap().modified().unwrap();
        let build = modified.duration_since(UNIX_EPOCH).unwrap().as_millis() as u64;
        let mut entry = record.get(&test.name).cloned().unwrap_or_default();
        if entry["build"] != build {
            let (outcome, time) = suite::run(&test, None, &dump, LONGEST);
            let seconds = time.as_secs_f64();
            entry = json!({ "build": build, "outcome": format!("{outcome:?}"), "seconds": seconds,
                "texts": store.take(&dump) });
            println!(
                "{seconds:8.2} s  {} texts  {outcome:?}  {}",
                entry["texts"].as_array().unwrap().len(),
                test.name
            );
            record.insert(test.name.clone(), entry.clone());
            fs::write(&file, serde_json::to_string(&record).unwrap()).unwrap();
        }
        let texts: Vec<String> =
            entry["texts"].as_array().unwrap().iter().map(|t| t.as_str().unwrap().to_owned()).collect();
        if entry["outcome"] != format!("{:?}", Outcome::Passed) {
            println!("left out, since it has {} without a fault: {}", entry["outcome"], test.name);
            if entry["outcome"] == format!("{:?}", Outcome::Failed) {
                failing.push(test.name);
            }
        } else if !texts.is_empty() {
            let seconds = entry["seconds"].as_f64().unwrap();
            found.push(Recorded { test, build, seconds, texts });
        }
    }
    (found, failing)
}
