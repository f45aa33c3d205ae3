//! The numbers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;

use serde_json::{Value, json};
use texla::Device;

use crate::judge::Fault;
use crate::systems::System;

/// An answer that is false, with what is needed to have it again.
struct Found {
    fault: Fault,
    seed: u64,
    api: String,
    method: String,
    format: String,
    system: String,
    detail: String,
}

#[derive(Default)]
pub struct Table {
    pub systems: usize,
    /// Families of methods that have converged.
    pub converged: BTreeSet<&'static str>,
    /// By method and verdict.
    counts: BTreeMap<(String, String), usize>,
    found: Vec<Found>,
}

/// The variant's name.
pub fn name(error: &texla::Error) -> String {
    let text = format!("{error:?}");
    text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_owned()
}

impl Table {
    pub fn count(&mut self, method: &str, said: &str) {
        *self.counts.entry((method.to_owned(), said.to_owned())).or_insert(0) += 1;
    }

    pub fn fault(
        &mut self,
        fault: Fault,
        method: &str,
        format: &str,
        system: &System,
        device: &Device,
        detail: &str,
    ) {
        self.found.push(Found {
            fault,
            seed: system.seed,
            api: device.api().to_string(),
            method: method.to_owned(),
            format: format.to_owned(),
            system: system.name.clone(),
            detail: detail.to_owned(),
        });
    }

    pub fn verdicts(&self) -> usize {
        // What has changed on its way is counted once more.
        let own = |method: &str, said: &str| !said.starts_with("refused") && !method.ends_with(", changed");
        self.counts.iter().filter(|((method, said), _)| own(method, said)).map(|(_, n)| n).sum()
    }

    pub fn false_answers(&self) -> usize {
        self.found.len()
    }

    /// By kind of fault and method.
    fn faults(&self) -> BTreeMap<(Fault, &str), usize> {
        let mut all = BTreeMap::new();
        self.found.iter().for_each(|f| *all.entry((f.fault, f.method.as_str())).or_insert(0) += 1);
        all
    }

    /// Into the folder for what runs leave behind.
    pub fn write(&self, name: &str) {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("out");
        let mut counts = serde_json::Map::new();
        for ((method, said), n) in &self.counts {
            counts.entry(method).or_insert_with(|| json!({}))[said] = json!(n);
        }
        let of = |f: &Found| {
            json!({ "fault": format!("{:?}", f.fault), "seed": f.seed, "api": f.api, "method": f.method,
                "format": f.format, "system": f.system, "detail": f.detail })
        };
        let found: Vec<Value> = self.found.iter().map(of).collect();
        let all = json!({ "systems": self.systems, "verdicts": self.verdicts(), "counts": counts,
            "false": self.false_answers(), "found": found });
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(format!("{name}.json")), format!("{all:#}\n")).unwrap();
        std::fs::write(folder.join(format!("{name}.txt")), format!("{self}\n")).unwrap();
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Repeats listed of each kind and method.
        const LISTED: usize = 4;
        let mut last = "";
        for ((method, said), n) in &self.counts {
            let shown = if method == last { "" } else { method.as_str() };
            writeln!(f, "{shown:32} {said:28} {n:6}")?;
            last = method;
        }
        for ((fault, method), n) in self.faults() {
            writeln!(f, "\nfalse: {fault:?}, {method}: {n}")?;
            let same = self.found.iter().filter(|x| x.fault == fault && x.method == method);
            for x in same.take(LISTED) {
                writeln!(f, "  seed {} {} {}: {}; {}", x.seed, x.api, x.format, x.system, x.detail)?;
            }
        }
        let (n, false_answers) = (self.verdicts(), self.false_answers());
        write!(f, "\n{} systems, {n} verdicts, {false_answers} false", self.systems)
    }
}
